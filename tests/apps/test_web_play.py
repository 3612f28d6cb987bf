"""Playing and analysing in a real browser: what a person does is done, what a person sees is read off the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from web_browser import PATIENCE, PHONE, PROJECTOR, expect, open_page

import tengen
from tengen.records.files import read_records
from tengen.records.sgf import read_variations
from tengen.rules.game import Position

STATIC = Path(tengen.__file__).parent / "apps" / "web" / "static"
WORDS = ("words.js", "play/words.js")
MOST_BYTES = 200_000


def link(game: str, moves: str = "", first: str = "person", second: str = "person", page: str = "play") -> str:
    """The hash that holds a position."""
    sides = f"&first={first}&second={second}" if page == "play" else ""
    return f"#/{page}?game={game}&moves={moves.replace(' ', '-')}{sides}"


def position_on(page: Any, game: str) -> Position:
    """The position that the page shows, by the moves of its link."""
    moves = re.search(r"moves=([^&]*)", page.evaluate("location.hash"))
    return tengen.load_game(game).from_moves(moves[1].replace("-", " ") if moves else "")


def stones_on(page: Any) -> list[int]:
    """The stones that a screen reader finds, cell by cell."""
    names = page.locator("svg.board [role=gridcell]").evaluate_all(
        "cells => cells.map(c => c.getAttribute('aria-label'))"
    )
    words = {"Black": 1, "X": 1, "Red": 1, "White": 2, "O": 2, "Yellow": 2}
    return [next((words[part] for part in name.split(", ") if part in words), 0) for name in names]


def expect_stones(page: Any, stones: list[int]) -> None:
    """Waits until the board shows these: a status that reads as it did before says nothing of a click."""
    for _ in range(PATIENCE // 50):
        if stones_on(page) == stones:
            return
        page.wait_for_timeout(50)
    assert stones_on(page) == stones


def expect_frames(page: Any, count: int) -> None:
    """Waits until the page, which counts its frames, has drawn so many more."""
    wanted = page.evaluate("window.frames_") + count
    for _ in range(PATIENCE // 50):
        if page.evaluate("window.frames_") >= wanted:
            return
        page.wait_for_timeout(50)
    assert page.evaluate("window.frames_") >= wanted


def cell(page: Any, number: int) -> Any:
    return page.locator(f'svg.board [data-cell="{number}"]').first


def action(page: Any, name: str) -> Any:
    return page.locator(f'[data-action="{name}"]').first


def play_on(page: Any, position: Position) -> None:
    """Makes a legal move in the middle of those there are; passes if nothing else is left, or the game could go on."""
    game, legal = position.game, position.legal_actions
    text = game.action_text(legal[len(legal) // 2])
    if game.name == "go" or text == "pass":
        action(page, "pass").click()
    elif game.name == "connect4":
        cell(page, int(text) - 1).click()
    else:
        cell(page, legal[len(legal) // 2]).click()


GAMES = (
    "tictactoe",
    "mnk:m=4,n=4,k=3",
    "connect4:columns=5,rows=4",
    "gomoku:size=6",
    "renju:size=7",
    "reversi:size=4",
    "go:size=3",
)


@pytest.mark.parametrize("game", GAMES)
def test_a_whole_game_against_an_agent(chrome: Any, site: str, game: str) -> None:
    with open_page(chrome, site + link(game, second="beginner"), motion="no-preference") as page:
        for _ in range(60):
            expect(page.locator(".status")).to_have_text(re.compile("Your move|Black has no move|wins|draw"))
            if page.locator(".status.over").count():
                break
            before = position_on(page, game)
            assert before.to_play == 0
            play_on(page, before)
            expect(page.locator(".moves > li:not(.note)").nth(before.ply)).to_be_visible()
        end = position_on(page, game)
        assert end.outcome is not None
        expect_stones(page, end.board.ravel().tolist())
        drawn = page.locator(".layer-stones .stone")
        expect(drawn).to_have_count(int((end.board > 0).sum()))  # once all that turns or falls has come to rest
        winner = end.outcome.winner
        who = {None: "A draw", 0: "(Black|X|Red) wins", 1: "(White|O|Yellow) wins"}[winner]
        expect(page.locator(".status")).to_have_text(re.compile(who))
        rows = game.startswith(("tictactoe", "mnk", "connect4", "gomoku", "renju"))
        assert (page.locator(".winning-line, .winning-ring").count() > 0) == (rows and winner is not None)
        assert action(page, "resign").is_disabled()


def test_a_move_is_one_round_trip(chrome: Any, site: str) -> None:
    """The page sends one message for a move, and no request; all else is in the answers to that message."""
    sent: list[dict[str, Any]] = []
    heard: list[dict[str, Any]] = []
    asked: list[str] = []
    with open_page(chrome, "about:blank") as page:
        page.on("request", lambda request: "/api/" in request.url and asked.append(request.url))

        def joined(opened: Any) -> None:
            opened.on("framesent", lambda frame: sent.append(json.loads(frame)))
            opened.on("framereceived", lambda frame: heard.append(json.loads(frame)))

        page.on("websocket", joined)
        page.goto(site + link("connect4", second="uct:playouts=50"))
        for number in range(3):
            expect(page.locator(".status")).to_have_text("Your move (Red)")
            for each in (sent, heard, asked):
                each.clear()
            cell(page, 35 + number).click()
            expect(page.locator(".moves > li:not(.note)")).to_have_count(2 * number + 2)
            assert [(message["type"], len(message["moves"])) for message in sent] == [("think", 2 * number + 1)]
            kinds = [answer["type"] for answer in heard if answer["type"] not in ("note", "waiting", "thought")]
            assert kinds == ["position", "move"]
            assert {answer["id"] for answer in heard} == {sent[0]["id"]}
            assert asked == []
        end = position_on(page, "connect4")
        expect_stones(page, end.board.ravel().tolist())


def test_undo_variations_and_navigation(chrome: Any, site: str) -> None:
    with open_page(chrome, site + link("connect4", second="easy")) as page:
        cell(page, 3).click()
        expect(page.locator(".moves > li")).to_have_count(2)
        action(page, "undo").click()  # both plies
        expect(page.locator('[role=gridcell][aria-label*="Red"]')).to_have_count(0)
        assert action(page, "undo").is_disabled()
        cell(page, 0).click()
        expect(page.locator(".moves > li")).to_have_count(2)
        expect(page.locator(".variation")).to_have_count(1)
        page.locator(".variation .move").click()  # back to what was taken back
        expect(page.locator(".moves > li .move[aria-current]")).to_have_text("14")
        page.get_by_role("button", name="To the end").click()
        expect(page.locator(".moves > li .move[aria-current] .move-number")).to_have_text("2")
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".moves > li .move[aria-current] .move-number")).to_have_text("1")
        expect(page.get_by_role("button", name="Let it play")).to_be_visible()
        page.get_by_role("button", name="Remove the variation").click()
        expect(page.locator(".variation")).to_have_count(0)


def test_two_people_resign_swap_and_restart(chrome: Any, site: str) -> None:
    with open_page(chrome, site + link("gomoku:size=9", "e5 d5")) as page:
        expect(page.locator(".status")).to_have_text("Black to move")
        action(page, "resign").click()
        expect(page.locator(".status")).to_have_text("Black resigned; White wins")
        action(page, "undo").click()
        expect(page.locator(".status")).to_have_text("Black to move")
        action(page, "restart").click()
        expect_stones(page, [0] * 81)
        expect(page.locator(".status")).to_have_text("Black to move")
        page.goto(site + link("gomoku:size=9", "e5", second="beginner").replace("moves=e5&", "moves=&"))
        expect(page.locator(".player").first).to_contain_text("You")
        action(page, "swap sides").click()  # now the agent begins
        expect(page.locator(".player").first).to_contain_text("Beginner")
        expect(page.locator(".moves > li:not(.note)")).to_have_count(1)


def test_two_agents_play_by_themselves_and_can_be_paused(chrome: Any, site: str) -> None:
    with open_page(chrome, site + link("connect4", first="uct:time=1", second="uct:time=1")) as page:
        action(page, "pause").click()
        action(page, "go on").click()
        page.evaluate(f"location.hash = '{link('tictactoe', first='beginner', second='easy')}'")
        expect(page.locator(".status.over")).to_have_text(re.compile("wins|draw"))
        assert position_on(page, "tictactoe").outcome is not None
        page.evaluate(f"location.hash = '{link('tictactoe', 'b2', second='gtp:sh')}'")
        expect(page.locator(".status")).to_contain_text("no agent is called 'gtp'")  # and the game goes on:
        action(page, "swap sides").click()
        expect(page.locator(".status")).to_have_text("Your move (O)")


def test_a_hasty_person_plays_once(chrome: Any, site: str) -> None:
    """Two clicks before the first has come back are one move, and nothing is asked that the server would refuse."""
    with open_page(chrome, site + link("gomoku:size=9")) as page:
        expect(page.locator("svg.board")).to_be_visible()
        press = (
            "n => document.querySelector(`[data-cell='${n}']`).dispatchEvent(new MouseEvent('click', {bubbles: true}))"
        )
        page.evaluate(f"() => [40, 40, 41].forEach({press})")
        expect(page.locator(".moves > li:not(.note)")).to_have_count(1)
        expect(page.locator(".status")).to_have_text("White to move")
        page.evaluate(f"() => [41, 42].forEach({press})")
        expect(page.locator(".moves > li:not(.note)")).to_have_count(2)
        assert sum(stone > 0 for stone in stones_on(page)) == 2
        page.locator('nav a[href="#/analyse"]').click()  # the game goes along
        expect(page.locator(".analyse .moves > li")).to_have_count(2)
        page.go_back()
        expect(page.locator(".play .moves > li")).to_have_count(2)


def test_the_dialog_begins_a_game(chrome: Any, site: str) -> None:
    with open_page(chrome, site) as page:
        expect(page.locator("svg.board")).to_be_visible()
        action(page, "new game").click()
        dialog = page.get_by_role("dialog")
        dialog.locator("#game").select_option("gomoku")
        dialog.locator("#parameter-size").fill("8")
        dialog.locator("#parameter-rule").select_option("standard")
        dialog.locator("#player-1").select_option("person")
        dialog.locator("#player-2").select_option("other…")
        dialog.get_by_role("textbox", name="Agent, as on the command line").last.fill("uct:playouts=20")
        dialog.locator("#begins").select_option("two")
        dialog.locator("#time").select_option("0.5")
        dialog.get_by_role("button", name="Start").click()
        expect(page.locator(".moves > li:not(.note)")).to_have_count(1)  # the agent has begun
        assert position_on(page, "gomoku:size=8,rule=standard").ply == 1
        expect(page.locator(".player").first).to_contain_text("uct:playouts=20")
        page.reload()  # the link holds the game
        expect(page.locator(".moves > li:not(.note)")).to_have_count(1)


def test_the_dialog_offers_what_is_shown(chrome: Any, site: str) -> None:
    """A game of a link, whatever was chosen last time; and after the sides were swapped."""
    with open_page(chrome, site) as page:
        expect(page.locator("svg.board")).to_be_visible()
        page.evaluate('localStorage.setItem("play", \'{"players": ["person", "medium"], "begins": "random"}\')')
        page.goto("about:blank")
        page.goto(site + link("gomoku:size=9,rule=renju", second="easy") + "&clock=30")

        def offered() -> list[str]:
            action(page, "new game").click()
            ids = ("game", "parameter-size", "parameter-rule", "player-1", "player-2", "begins", "clock")
            values = [page.locator(f"dialog #{name}").input_value() for name in ids]
            page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
            return values

        assert offered() == ["gomoku", "9", "renju", "person", "easy", "one", "30"]
        expect(page.locator(".player").first).to_contain_text("You")
        action(page, "swap sides").click()
        expect(page.locator(".player").first).to_contain_text("Easy")
        assert offered()[3:5] == ["easy", "person"]


def test_why_a_press_plays_nothing(chrome: Any, site: str) -> None:
    """Kindly and briefly, one reason at a time, by pointer and by keyboard."""
    with open_page(chrome, site + link("gomoku:size=9", "e5")) as page:
        said = page.locator(".toast")
        cell(page, 40).click()
        expect(said).to_have_text("e5 is taken.")
        cell(page, 40).focus()
        page.keyboard.press("Enter")
        expect(said).to_have_text("e5 is taken.")  # in place of the first
        cases = (
            (link("connect4:columns=4,rows=4", "1 1 1 1"), 8, "Column 1 is full."),
            (link("reversi:size=4"), 0, "a1 would turn nothing over."),
            (link("go:size=5", "b1 c1 a2 b2 e5 a1"), 20, "a1 is taken."),
            (link("tictactoe", "a1 b1 a2 b2 a3"), 8, "The game is over."),
            (link("gomoku:size=9", "e5", second="uct:time=60"), 0, "It is White's turn."),
            (link("tictactoe", page="analyse", moves="a1"), 6, "a1 is taken."),
            (link("tictactoe", page="analyse", moves="a1 b1 a2 b2 a3"), 8, "The game is over."),
        )
        for hash_, number, reason in cases:
            page.goto("about:blank")
            page.goto(site + hash_)
            expect(page.locator("svg.board")).to_be_visible()
            if "turn." in reason:
                expect(page.locator(".status")).to_have_text("White is thinking …")
            cell(page, number).click()
            expect(said).to_have_text(reason)
            moves = re.search(r"moves=([^&]*)", hash_)
            assert moves is not None and f"moves={moves[1]}" in page.evaluate("location.hash") + "moves="  # unchanged
        page.locator("#language").click()
        cell(page, 8).click()
        expect(said.last).to_have_text("对局已结束。")


def test_what_was_expected_goes_with_the_game(chrome: Any, site: str) -> None:
    """An agent that has won, or whose opponent resigned, has nothing left to expect."""
    with open_page(chrome, site + link("tictactoe", "a1 b2 b1", second="strongest")) as page:
        expect(page.locator(".moves > li:not(.note)")).to_have_count(4)
        expect(page.locator(".thought")).to_contain_text("Expects")
        expect(page.locator(".thought")).not_to_contain_text(" 0 looked at")
        action(page, "resign").click()
        expect(page.locator(".thought")).to_be_hidden()
        page.evaluate(f"location.hash = '{link('tictactoe', 'a1 b2 b1 a2 c3', second='strongest')}'")
        expect(page.locator(".status.over")).to_have_text("O wins")
        expect(page.locator(".thought")).to_be_hidden()


# Selects whose longest option, and buttons whose words, are wider than themselves.
CUT = """() => {
  const isSeen = (element) => element.checkVisibility() && element.getBoundingClientRect().width > 0;
  const isCut = (element) => {
    if (element.tagName !== "SELECT") return element.scrollWidth > element.clientWidth + 1;
    const twin = element.cloneNode(true);
    twin.style.cssText = "position: absolute; width: auto; min-width: 0; max-width: none";
    element.parentNode.append(twin);
    const needed = twin.offsetWidth;
    twin.remove();
    return needed > element.offsetWidth + 1;
  };
  const all = [...document.querySelectorAll("select, button, .player-names b")];
  return all.filter((one) => isSeen(one) && isCut(one)).map((one) => one.id || one.textContent);
}"""


@pytest.mark.parametrize("size", [PHONE, PROJECTOR], ids=["phone", "projector"])
def test_no_word_is_cut(chrome: Any, site: str, size: dict[str, int]) -> None:
    with open_page(chrome, site, size=size) as page:
        expect(page.locator("svg.board")).to_be_visible()
        for language in ("en", "zh"):
            for game in ("gomoku", "go", "mnk"):
                page.evaluate(f"location.hash = '{link(game, second='uct:playouts=100000,exploration=0.25')}'")
                expect(page.locator(".player").last).to_contain_text("uct:playouts=100000,exploration=0.25")
                action(page, "new game").click()
                assert page.evaluate(CUT) == [], (game, language)
                if game == "gomoku":
                    name = page.locator("dialog .field", has=page.locator("#parameter-size")).locator("span")
                    shown = name.evaluate("name => getComputedStyle(name, '::after').content + name.dataset.range")
                    assert "attr" not in shown and shown.count("5 – 20") == 2
                page.keyboard.press("Escape")
            for name, field in (
                ("learn", "[name=preset]"),
                ("arena", "#game"),
                ("explore/wumpus", "[data-field=agent]"),
            ):
                page.evaluate(f"location.hash = '#/{name}'")
                expect(page.locator(field)).to_be_attached()
                page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
                assert page.evaluate(CUT) == [], (name, language)
            page.evaluate(f"location.hash = '{link('gomoku')}'")
            expect(page.locator("svg.board")).to_be_visible()
            page.locator("#language").click()
            expect(page.locator("svg.board")).to_be_visible()


def test_a_pass_is_analysed(chrome: Any, site: str) -> None:
    with open_page(chrome, site + link("go:size=5", "c3", page="analyse")) as page:
        action(page, "move pass").click()
        expect(page.locator(".moves .move[aria-current]")).to_have_text("2pass")
        action(page, "move pass").click()
        expect(page.locator('[data-action^="move "]')).to_have_count(0)  # the game is over


def test_a_long_search_is_seen_and_stopped(chrome: Any, site: str) -> None:
    """The page goes on drawing while an agent thinks; the agent, stopped, plays its best."""
    with open_page(chrome, site + link("gomoku:size=9", "e5", second="person"), motion="no-preference") as page:
        page.evaluate("window.frames_ = 0; (function count() { window.frames_ += 1; requestAnimationFrame(count); })()")
        page.evaluate(f"location.hash = '{link('gomoku:size=9', 'e5', second='uct:time=60')}'")
        expect(page.locator(".heat").first).to_be_attached()
        expect(page.locator(".chances")).to_contain_text("%")
        expect(page.locator(".status")).to_have_text("White is thinking …")
        expect_frames(page, 10)  # bench/web.py has how long they take
        expect(page.locator(".status")).to_have_text("White is thinking …")
        action(page, "stop").click()
        expect(page.locator(".moves > li")).to_have_count(2)
        expect(page.locator(".status")).to_have_text("Your move (Black)")


def test_a_hint_and_where_renju_forbids(chrome: Any, site: str) -> None:
    with open_page(chrome, site + link("renju:size=9", "e7 a1 e6 c1 c5 e1 d5 g1")) as page:
        expect(page.locator(".forbidden-mark")).to_have_count(1)
        point = page.locator('[role=gridcell][aria-label^="e5,"]')
        expect(point).to_have_attribute("aria-label", "e5, empty, forbidden: double three")
        point.click()
        expect(page.locator(".toast")).to_have_text("e5: forbidden (double three)")
        action(page, "hint").click()
        expect(page.locator(".status")).to_have_text(re.compile(r"Try [a-i]\d"))
        assert page.locator(".heat.best").count() == 1


def test_sgf_goes_out_and_comes_back(chrome: Any, site: str, tmp_path: Path) -> None:
    moves = "c3 d4 c4 d3 e5 b2"
    with open_page(chrome, site + link("gomoku:size=7", moves), expected=("400", "records/read")) as page:
        expect(page.locator(".moves > li")).to_have_count(6)
        with page.expect_download() as waiting:
            action(page, "save").click()
        path = tmp_path / "game.sgf"
        waiting.value.save_as(path)
        (record,) = read_records(path)
        assert record.game.spec == "gomoku:size=7"
        assert [record.game.action_text(a) for a in record.moves] == moves.split()
        action(page, "restart").click()
        expect(page.locator(".moves > li:not(.note)")).to_have_count(0)
        action(page, "load").click()
        page.locator("#record-file").set_input_files(path)
        expect(page.locator(".moves > li:not(.note)")).to_have_count(6)
        expect_stones(page, record.end().board.ravel().tolist())
        action(page, "load").click()
        page.locator("#record-text").fill("a1 b1 zz")
        page.get_by_role("dialog").get_by_role("button", name="Read").click()
        expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("zz")
        page.locator("#record-text").fill("a1b1 c1")
        page.get_by_role("dialog").get_by_role("button", name="Read").click()
        expect(page.locator(".moves > li:not(.note)")).to_have_count(3)


def test_variations_go_out_and_come_back(chrome: Any, site: str, tmp_path: Path) -> None:
    """A line, a second one beside it, and one beside that: saved, loaded, and each is there."""
    with open_page(chrome, site + link("gomoku:size=7", "c3 d4 c4 d3")) as page:
        here = page.locator(".moves > li .move[aria-current]")
        for ply, move in ((2, "e5"), (3, "e4"), (3, "a1"), (1, "g7")):
            page.locator(".moves > li > .move").nth(ply - 1).click()
            expect(here.locator(".move-number")).to_have_text(str(ply))
            cell(page, tengen.load_game("gomoku:size=7").parse_action(move)).click()
            expect(here).to_have_text(re.compile(f"{move}$"))
        with page.expect_download() as waiting:
            action(page, "save").click()
        path = tmp_path / "game.sgf"
        waiting.value.save_as(path)
        (record,), (variations, problems) = read_records(path), read_variations(path.read_bytes())
        text = record.game.action_text
        assert [text(action) for action in record.moves] == ["c3", "g7"]
        lines = [(line.of, line.ply, [text(action) for action in line.moves]) for line in variations]
        assert (lines, problems) == ([(0, 1, ["d4", "e5", "a1"]), (1, 2, ["c4", "d3"]), (1, 3, ["e4"])], [])
        action(page, "restart").click()
        expect(page.locator(".moves > li:not(.note)")).to_have_count(0)
        action(page, "load").click()
        page.locator("#record-file").set_input_files(path)
        expect(page.locator(".moves > li > .move")).to_have_count(2)
        page.locator(".variation .move").get_by_text("d4").click()
        expect(page.locator(".moves > li > .move")).to_have_text(["1c3", "2d4", "3e5", "4a1"])
        expect(page.locator(".variation .move")).to_have_text(["g7", "c4", "e4"])
        page.locator(".variation .move").get_by_text("c4").click()
        expect(page.locator(".moves > li > .move")).to_have_text(["1c3", "2d4", "3c4", "4d3"])


def test_a_bad_link_is_said_and_a_board_is_shown(chrome: Any, site: str) -> None:
    with open_page(chrome, site + link("gomoku:size=7", "z9")) as page:
        expect(page.locator(".toast.problem")).to_contain_text("z9")
        expect(page.locator("svg.board")).to_be_visible()


def test_a_short_game_is_analysed(chrome: Any, site: str) -> None:
    """Only the centre holds the draw against a corner: that is the one mistake, and it is named with what was right."""
    moves = "a1 b1 a3 a2 b2 c3"
    with open_page(chrome, site + link("tictactoe", moves, page="analyse")) as page:
        expect(page.locator(".heat").first).to_be_attached()
        page.locator("#analysis-time").select_option("0.1")
        action(page, "whole game").click()
        expect(page.locator('[data-action="cancel"]')).to_be_attached()
        expect(page.locator('[data-action="cancel"]')).to_have_count(0)
        expect(page.locator(".mistakes li")).to_have_text(["2b1?? −50 %→ b2"])
        curve = page.locator(".graph-curve").get_attribute("d")
        assert len(re.findall(r"[ML]", curve)) == 7  # one point before the first move and after each
        expect(page.locator(".graph-dot.blunder")).to_have_count(1)
        expect(page.locator(".boards .chances")).to_contain_text("X 100 %")
        page.locator(".mistakes li .move").first.click()
        expect(page.locator(".moves .move[aria-current] .move-number")).to_have_text("2")
        expect(page.locator(".mark.tone-good")).to_have_count(1)


def test_what_is_expected_is_shown_as_ghosts_and_agents_stand_side_by_side(chrome: Any, site: str) -> None:
    with open_page(chrome, site + link("tictactoe", "a1 b2", page="analyse")) as page:
        page.locator("#agent-1").select_option("other…")
        page.get_by_role("textbox", name="Agent, as on the command line").fill("puct:net=uniform,simulations=200")
        page.keyboard.press("Tab")
        row = page.locator(".candidates tbody tr").first
        expect(row.locator("td")).to_have_count(5)  # a net has a policy, too
        row.hover()
        expect(page.locator(".ghost").first).to_be_attached()
        expect(page.locator(".ghost .stone-number").first).to_have_text("1")
        page.mouse.move(1, 1)
        expect(page.locator(".ghost")).to_have_count(0)
        page.locator('[data-heat="policy"]').click()
        expect(page.locator(".heat-text").first).to_have_text("14")  # seven moves, the same each
        action(page, "add agent").click()
        action(page, "add agent").click()
        expect(page.locator("svg.board")).to_have_count(3)
        expect(page.locator(".agent-card .candidates tbody")).to_have_count(3)
        assert action(page, "add agent").is_disabled()
        expect(page.locator(".boards .chances").nth(2)).to_contain_text("%")


def test_keyboard_alone(chrome: Any, site: str) -> None:
    with open_page(chrome, site + link("tictactoe")) as page:
        expect(page.locator("svg.board")).to_be_visible()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # skip to the board
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "b2, empty"
        page.keyboard.press("Enter")
        expect(page.locator('[role=gridcell][aria-label="b2, X, last move"]')).to_be_attached()
        for key in ("ArrowUp", "ArrowLeft", "Space"):
            page.keyboard.press(key)
        expect(page.locator('[role=gridcell][aria-label="a3, O, last move"]')).to_be_attached()
        page.keyboard.press("u")
        expect(page.locator('[role=gridcell][aria-label="a3, empty"]')).to_be_attached()
        expect(page.locator("#live")).to_have_text("Taken back")


def test_a_finger_on_a_small_board_points_first(chrome: Any, site: str) -> None:
    with open_page(chrome, site + link("go"), size=PHONE, has_touch=True) as page:
        point = page.locator('[role=gridcell][aria-label^="q16,"]')
        point.tap()
        expect(page.locator(".crosshair")).to_be_attached()
        assert stones_on(page) == [0] * 361
        point.tap()
        expect(page.locator('[role=gridcell][aria-label="q16, Black, last move"]')).to_be_attached()
        page.evaluate(f"location.hash = '{link('tictactoe')}'")
        page.locator('[role=gridcell][aria-label^="a1,"]').tap()  # a large cell is played at once
        expect(page.locator('[role=gridcell][aria-label="a1, X, last move"]')).to_be_attached()


def test_the_connection_may_be_lost(chrome: Any, site: str) -> None:
    """An agent whose connection breaks off is asked again over the next."""
    sockets: list[Any] = []
    with open_page(chrome, "about:blank") as page:

        def joined(route: Any) -> None:
            server = route.connect_to_server()
            sockets.append((route, server))

        page.route_web_socket("**/api/socket", joined)
        page.goto(site + link("gomoku:size=9", "e5", second="uct:time=30"))
        expect(page.locator(".heat").first).to_be_attached()
        sockets[0][0].close()
        expect(page.locator(".toast")).to_contain_text("connection is lost")
        expect(page.locator(".heat").first).to_be_attached()
        action(page, "stop").click()
        expect(page.locator(".moves > li")).to_have_count(2)
        assert len(sockets) == 2


def test_chinese_is_chosen_and_kept(chrome: Any, site: str) -> None:
    with open_page(chrome, site + link("renju"), language="zh-CN") as page:
        expect(page.locator("nav a").first).to_have_text("对局")
        expect(page.locator(".status")).to_have_text("轮到黑棋")
        assert page.evaluate("document.documentElement.lang") == "zh-Hans"
        page.locator("#language").click()
        expect(page.locator(".status")).to_have_text("Black to move")
        page.reload()
        expect(page.locator(".status")).to_have_text("Black to move")
        page.locator("#theme").click()
        page.locator("#theme").click()
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_both_languages_say_everything(chrome: Any, site: str) -> None:
    with open_page(chrome, site) as page:
        for name in WORDS:
            words = page.evaluate(f"import('/{name}').then((module) => module.words)")
            assert {key for key in words["en"] if key not in words["zh"]} == set(), name
            for key, text in words["zh"].items():
                english = words["en"].get(key, text)  # only Chinese tells of levels: English comes from the server
                assert set(re.findall(r"{\w+}", text)) == set(re.findall(r"{\w+}", english)), (name, key)


@pytest.mark.parametrize("size", [PHONE, PROJECTOR], ids=["phone", "projector"])
def test_nothing_is_wider_than_the_window(chrome: Any, site: str, size: dict[str, int]) -> None:
    with open_page(chrome, site, size=size) as page:
        expect(page.locator("svg.board")).to_be_visible()
        for _ in range(2):  # in both languages
            for name, game in (("play", "go"), ("play", "connect4"), ("analyse", "reversi"), ("analyse", "gomoku")):
                page.evaluate(f"location.hash = '{link(game, page=name)}'")
                skin = {"go": "wood", "gomoku": "wood", "connect4": "frame", "reversi": "felt"}[game]
                expect(page.locator(f".{name} svg.board.{skin}")).to_be_visible()
                assert page.evaluate("document.scrollingElement.scrollWidth") <= size["width"], (name, game)
                box = page.locator("svg.board").bounding_box()
                assert box["y"] + box["height"] <= size["height"], (name, game)
            page.locator("#language").click()
            expect(page.locator("svg.board")).to_be_visible()


def test_little_is_loaded(chrome: Any, site: str) -> None:
    """All that the page of a game needs, and all that there is, in bytes."""
    with open_page(chrome, "about:blank") as page:
        loaded: dict[str, int] = {}
        page.on("response", lambda response: loaded.update({response.url: len(response.body())}))
        page.goto(site + link("gomoku"))
        expect(page.locator("svg.board")).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert any(url.endswith("board.js") for url in loaded)
        assert sum(loaded.values()) < MOST_BYTES, json.dumps(loaded, indent=1)
        painted = page.evaluate("performance.getEntriesByName('first-contentful-paint').length")
        assert painted == 1


def test_no_page_brings_html_or_code_in_strings() -> None:
    """Data is only ever text: nowhere does a page make elements or code of a string."""
    for path in STATIC.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert word not in re.sub(r"//.*|/\*[\s\S]*?\*/", "", text), f"{path.name}: {word}"
        assert not re.search(r"https?://(?!www\.w3\.org/)", text), f"{path.name} names a place elsewhere"
