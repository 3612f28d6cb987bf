"""A game of a user's own file in a browser: stones are picked up and put down, and every page bears it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from file_games import LITTLE_RACE, PAWNS, write_run

from tengen.apps.web.server import new_app
from tengen.apps.web.settings import ServerSettings
from tengen.games import load_game
from tengen.report.steps import step_of
from tengen.rules.game import Position


@pytest.fixture
def opened(chromium: str, tmp_path: Path, race: Path, dominoes: Path) -> Iterator[Any]:
    """Opens pages of an app that serves three files."""
    from web_browser import browser, open_page, running_server

    settings = ServerSettings(runs=tmp_path / "runs", contests=tmp_path / "contests", games=(PAWNS, race, dominoes))
    with running_server(new_app(settings)) as url, browser(chromium) as chrome:
        yield lambda address, **options: open_page(chrome, f"{url}#/{address}", **options)


def cell(page: Any, number: int) -> Any:
    return page.locator(f'svg.board [data-cell="{number}"]').first


def position_on(page: Any, game: str) -> Position:
    """The position that the page shows, by the moves of its link."""
    moves = re.search(r"moves=([^&]*)", page.evaluate("location.hash"))
    return load_game(game).from_moves(moves[1].replace("-", " ") if moves else "")


def step(page: Any, position: Position, action: int) -> None:
    """Picks a stone up, sees where it may go, and puts it down."""
    chosen = step_of(position, action)
    assert chosen.origin is not None and chosen.cell is not None
    steps = {step_of(position, other) for other in position.legal_actions}
    cell(page, chosen.origin).click()
    assert page.locator(".picked-stone").count() == 1
    assert page.locator(".target-dot, .target-ring").count() == sum(one.origin == chosen.origin for one in steps)
    cell(page, chosen.cell).click()


def test_a_whole_game_against_a_level(opened: Any) -> None:
    """From the page's own dialog to the end, by clicks and once by the keyboard."""
    from web_browser import expect

    spec = f"{PAWNS}:size=4"
    with opened("play?game=tictactoe&first=person&second=person") as page:
        page.locator('[data-action="new game"]').first.click()
        page.locator("dialog #game").select_option("pawns")
        page.locator("dialog #parameter-size").fill("4")
        page.locator("dialog #player-1").select_option("person")
        page.locator("dialog #player-2").select_option("beginner")
        page.locator("dialog #begins").select_option("one")
        page.locator("dialog").get_by_role("button", name="Start").click()
        expect(page.locator("svg.board.tiles")).to_be_visible()
        for turn in range(60):
            expect(page.locator(".status")).to_have_text(re.compile("Your move|wins"))
            if page.locator(".status.over").count():
                break
            before = position_on(page, spec)
            assert before.to_play == 0
            legal = before.legal_actions
            if turn == 0:
                press(page, before, legal[0])
            else:
                step(page, before, legal[len(legal) // 2])
            expect(page.locator(".moves > li:not(.note)").nth(before.ply)).to_be_visible()
        end = position_on(page, spec)
        assert end.outcome is not None and end.outcome.winner is not None
        expect(page.locator(".status")).to_have_text(f"{'XO'[end.outcome.winner]} wins")
        expect(page.locator(".layer-stones .stone")).to_have_count(int((end.board > 0).sum()))
        expect(page.locator(".origin-mark")).to_have_count(1)
        assert "game=pawns:size=4" in page.evaluate("location.hash")


def press(page: Any, position: Position, action: int) -> None:
    """The same by the keyboard: a stone is picked up, let go, and picked up again."""
    from web_browser import expect

    origin, target = step_of(position, action).origin, step_of(position, action).cell
    assert origin is not None and target is not None
    name = re.compile("X, can move$")
    expect(cell(page, origin)).to_have_attribute("aria-label", name)
    cell(page, origin).focus()
    page.keyboard.press("Enter")
    expect(cell(page, origin)).to_have_attribute("aria-label", re.compile("picked up$"))
    expect(cell(page, target)).to_have_attribute("aria-label", re.compile("can go here$"))
    expect(page.locator("#live")).to_have_text(re.compile("is picked up; it has [1-3] moves"))
    page.keyboard.press("Escape")
    expect(cell(page, origin)).to_have_attribute("aria-label", name)
    page.keyboard.press("Enter")
    columns = position.game.shape[1]
    page.keyboard.press("ArrowUp")
    for _ in range(abs(target % columns - origin % columns)):
        page.keyboard.press("ArrowRight" if target % columns > origin % columns else "ArrowLeft")
    page.keyboard.press(" ")


def test_moves_that_are_one_step_and_moves_that_are_none(opened: Any) -> None:
    """Which of two moves is meant is asked; a move without a cell is a button; a link holds texts with hyphens."""
    from web_browser import expect

    with opened("play?game=little-race&first=person&second=person") as page:
        cell(page, 2).click()
        expect(page.locator(".toast")).to_have_text("Pick up the stone that is to move, then choose where it goes.")
        page.locator('[data-action="move a1-stay"]').click()
        expect(page.locator(".moves > li .move[aria-current]")).to_contain_text("a1-stay")
        cell(page, 1).click()
        cell(page, 0).click()  # elsewhere: it is let go
        expect(page.locator(".picked-stone")).to_have_count(0)
        cell(page, 1).click()
        cell(page, 3).click()
        page.locator('dialog [data-action="choose b3-run"]').click()
        expect(page.locator(".moves > li .move[aria-current]")).to_contain_text("b3-run")
        page.reload()
        expect(page.locator(".moves > li")).to_have_count(2)
        expect(cell(page, 3)).to_have_attribute("aria-label", "b2, O, last move")
        page.locator('[data-action="copy moves"]').wait_for()


def test_a_finger_on_a_small_board(opened: Any) -> None:
    """To pick a stone up takes one tap, to play two: the first points."""
    from web_browser import expect

    size = {"width": 220, "height": 500}
    with opened("play?game=pawns&first=person&second=person", size=size, has_touch=True) as page:
        expect(cell(page, 48)).to_have_attribute("aria-label", "a2, X, can move")
        assert cell(page, 48).bounding_box()["width"] < 26
        cell(page, 48).tap()
        expect(page.locator(".picked-stone")).to_have_count(1)
        cell(page, 40).tap()
        expect(page.locator(".crosshair")).to_have_count(1)
        expect(page.locator(".picked-stone")).to_have_count(1)
        cell(page, 40).tap()
        expect(page.locator(".moves > li .move[aria-current]")).to_contain_text("a2a3")


def test_the_other_pages_bear_it(opened: Any, tmp_path: Path) -> None:
    from web_browser import expect

    write_run(tmp_path / "runs" / "mine", f"{PAWNS}:size=4", "b2a3 b4a3")
    (tmp_path / "runs" / "mine" / "nets").mkdir()
    (tmp_path / "runs" / "mine" / "nets" / "000001.onnx").touch()
    with opened("analyse?game=pawns:size=4&moves=b2a3") as page:
        row = page.locator("tr[data-move]").first
        expect(row).to_be_visible()
        expect(page.locator(".heat.best")).to_have_count(1)
        row.hover()
        expect(page.locator(".ghost")).to_have_count(1)
        row.locator("button").click()
        expect(page.locator(".moves > li .move[aria-current] .move-number")).to_have_text("2")
        spots = page.locator(".heat")
        expect(spots.first).to_be_visible()
        cells = spots.evaluate_all("spots => spots.map((spot) => spot.dataset.heat)")
        assert len(cells) == len(set(cells))  # one spot a cell, however many moves end there
    with opened("learn?run=mine") as page:
        expect(page.locator(".run-head")).to_contain_text("Pawns 4×4")
        page.get_by_role("button", name="To the end").click()
        expect(page.locator(".replay-said")).to_contain_text("Move 2 of 2")
        expect(page.locator(".replay .stone")).to_have_count(14)
        page.get_by_label("Preset").select_option("pawns")
        expect(page.locator("#parameter-size")).to_have_value("8")
        page.get_by_label("Preset").select_option("tictactoe")
        expect(page.locator("#parameter-size")).to_have_count(0)
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_url(re.compile("#/play"))
        expect(cell(page, 8)).to_have_attribute("aria-label", "a2, X, can move")
        assert "second=run:mine" in page.evaluate("decodeURIComponent(location.hash)")
    with opened("arena") as page:
        page.locator("#game").select_option("pawns")
        page.locator("#parameter-size").fill("4")
        page.locator("#parameter-size").press("Tab")
        agents = page.locator(".arena-agent select")
        expect(agents.first.locator("option[value='run:mine']")).to_have_text("mine · newest net")
    with opened("explore/mcts", language="zh-CN") as page:
        expect(page.get_by_role("heading").first).to_be_attached()


def test_nets_of_runs_are_offered_where_they_fit(opened: Any, tmp_path: Path) -> None:
    """In a new game, in an analysis and in a match; in another game, somebody else plays in their place."""
    from web_browser import expect

    nets = tmp_path / "runs" / "mine" / "nets"
    write_run(nets.parent, f"{PAWNS}:size=4")
    nets.mkdir()
    for generation in (1, 20):
        (nets / f"{generation:06}.onnx").touch()
    offered = [("run:mine", "mine · newest net"), ("run:mine@1", "mine · generation 1")]
    listed = "all => all.map((one) => [one.value, one.label])"
    with opened("play?game=pawns:size=4&first=person&second=easy") as page:
        page.locator('[data-action="new game"]').first.click()
        player = page.locator("dialog #player-2")
        expect(player.locator("optgroup option")).to_have_count(2)
        assert player.locator("optgroup option").evaluate_all(listed) == [list(one) for one in offered]
        player.select_option("run:mine@1")
        page.locator("dialog #player-1").select_option("other…")
        page.locator("dialog #parameter-size").fill("5")
        page.locator("dialog #parameter-size").press("Tab")
        expect(player.locator("optgroup option")).to_have_count(0)
        expect(player).to_have_value("medium")
        expect(page.locator("dialog #player-1")).to_have_value("other…")  # whatever is being typed is left alone
        page.locator("dialog #parameter-size").fill("4")
        page.locator("dialog #parameter-size").press("Tab")
        page.locator("dialog #player-1").select_option("person")
        player.select_option("run:mine")
        page.locator("dialog").get_by_role("button", name="Start").click()
        expect(page.locator(".player").last).to_contain_text("mine · newest net")
        assert "second=run:mine" in page.evaluate("decodeURIComponent(location.hash)")
        page.locator('[data-action="new game"]').first.click()
        expect(player).to_have_value("run:mine")
    with opened("analyse?game=pawns:size=4") as page:
        expect(page.locator("#agent-1 optgroup option")).to_have_count(2)
        page.locator('[data-action="add agent"]').first.click()
        expect(page.locator("#agent-2 optgroup option")).to_have_count(2)
    with opened("arena") as page:
        page.locator("#game").select_option("pawns")
        page.locator("#parameter-size").fill("4")
        page.locator("#parameter-size").press("Tab")
        agents = page.locator(".arena-agent select")
        expect(agents.first.locator("optgroup option")).to_have_count(2)
        agents.first.select_option("run:mine@1")
        page.locator("#parameter-size").fill("5")
        page.locator("#parameter-size").press("Tab")
        expect(agents.first.locator("optgroup option")).to_have_count(0)
        expect(agents).to_have_count(2)


def test_a_press_on_any_cell_of_a_domino_plays_it(opened: Any) -> None:
    from web_browser import expect

    with opened("play?game=dominoes&first=person&second=person") as page:
        cell(page, 4).hover()
        expect(page.locator(".layer-hover .hovered > *")).to_have_count(2)
        cell(page, 4).click()  # no domino has its first half there
        expect(page.locator(".moves > li .move[aria-current]")).to_contain_text("a2a1")
        expect(page.locator(".last-stone")).to_have_count(2)
        for number in (2, 4):
            expect(cell(page, number)).to_have_attribute("aria-label", re.compile("X, last move$"))
        cell(page, 0).click()
        expect(cell(page, 0)).to_have_attribute("aria-label", re.compile("O, last move$"))  # until then nobody can move
        cell(page, 3).click()  # b3 is taken: b2 is the first half of one domino
        expect(page.locator(".moves > li .move[aria-current]")).to_contain_text("b2b1")
        expect(page.locator(".status")).to_have_text("X wins")


def test_both_halves_of_a_domino_are_marked_in_a_replay(opened: Any, tmp_path: Path, dominoes: Path) -> None:
    from web_browser import expect

    write_run(tmp_path / "runs" / "mine", str(dominoes), "a2a1 a3b3 b2b1")
    write_run(tmp_path / "runs" / "pawns", f"{PAWNS}:size=4", "b2a3 b4a3")
    with opened("learn?run=mine") as page:
        page.get_by_role("button", name="To the start").click()
        for halves in ((2, 4), (0, 1), (3, 5)):
            page.get_by_role("button", name="A move on").click()
            expect(page.locator(".replay .last-stone")).to_have_count(2)
            for number in halves:
                expect(cell(page, number)).to_have_attribute("aria-label", re.compile("last move$"))
        page.locator('[data-focus="run-pawns"]').click()
        expect(page.locator(".replay .stone")).to_have_count(14)
        for name in ("To the start", "A move on"):
            page.get_by_role("button", name=name).click()
        expect(page.locator(".replay .last-stone")).to_have_count(1)
        expect(page.locator(".replay .origin-mark")).to_have_count(1)  # where the pawn came from


def test_its_search_is_explored(opened: Any) -> None:
    """Its tree where that can be read, its alpha-beta; and moves that no cell stands for."""
    from web_browser import expect

    with opened("explore/mcts") as page:
        page.locator('[data-field="example"]').select_option("own")
        game = page.locator('[data-field="game"]')
        assert {"dominoes", "little-race"} < set(game.locator("option").evaluate_all("all => all.map((o) => o.value)"))
        assert game.locator("option[value=pawns]").count() == 0  # too many actions for a tree
        game.select_option("dominoes")
        expect(page.locator(".editor-board svg.board.tiles")).to_be_visible()
        expect(page.locator(".tree-card")).to_have_count(5)  # the root, and four dominoes
        game.select_option("little-race")
        page.locator('.editor [data-action="move a1-stay"]').click()
        expect(page.locator(".editor [role=status]")).to_have_text("O to move")
    with opened("explore/alphabeta") as page:
        page.locator('[data-field="source"]').select_option("position")
        page.locator('[data-field="game"]').select_option("pawns")
        expect(page.locator(".editor-board svg.board.tiles")).to_be_visible()
        expect(page.get_by_text("nothing is known of it")).to_be_visible()


def test_which_run_learn_opens_on_and_what_it_says_of_others(opened: Any, tmp_path: Path, race: Path) -> None:
    """The newest, until somebody chooses; a file that is not served is told of; a refusal goes with its run."""
    from web_browser import expect

    runs = tmp_path / "runs"
    hidden = tmp_path / "hidden.py"
    hidden.write_text(LITTLE_RACE)
    for age, (name, spec) in enumerate((("fresh", str(race)), ("strange", str(hidden)), ("tied", str(race)))):
        write_run(runs / name, spec)
        when = time.time() - 100 * age
        os.utime(runs / name / "config.toml", (when, when))
    config = runs / "tied" / "config.toml"
    text = re.sub(r"(?m)^opponent = .*$", 'opponent = "gtp:command=gnugo"', config.read_text())
    config.write_text(text)
    os.utime(config, (when, when))
    with opened("learn", expected=("409", "Failed to load resource")) as page:
        head = page.locator(".run-head")
        expect(head.get_by_role("heading")).to_have_text("fresh")
        expect(page.locator(".run-name b")).to_have_text(["fresh", "strange", "tied"])
        page.locator('[data-focus="run-tied"]').click()
        expect(head.get_by_role("heading")).to_have_text("tied")
        head.get_by_role("button", name="Go on").click()
        expect(page.locator(".toast.problem")).to_have_count(1)
        page.locator('[data-focus="run-strange"]').click()
        expect(head.get_by_role("heading")).to_have_text("strange")
        assert page.locator(".toast.problem").count() == 0
        expect(head.get_by_role("button", name="Go on")).to_be_disabled()
        expect(head).to_contain_text("tengen serve --game FILE, or tengen train")
        expect(page.locator(".learn-games")).to_contain_text("a file that is not served")
        page.locator("#nav a", has_text="Play").click()
        expect(page.locator("svg.board")).to_be_visible()
        page.locator("#nav a", has_text="Learn").click()
        expect(head.get_by_role("heading")).to_have_text("strange")


def test_a_page_begins_with_the_operators_game_and_says_that_it_gets_ready(opened: Any) -> None:
    from web_browser import expect

    with opened("arena") as page:
        held: list[Any] = []

        def joined(route: Any) -> None:
            server = route.connect_to_server()
            route.on_message(lambda message: held.append(lambda: server.send(message)))

        page.route_web_socket("**/api/socket", joined)
        page.reload()
        for address, drawn in (
            ("play", "svg.board"),
            ("explore/mcts", ".tree-card"),
            ("explore/alphabeta", ".tree-card"),
            ("analyse?game=little-race", "svg.board"),
        ):
            page.evaluate(f"location.hash = '#/{address}'")
            expect(page.locator(".patience")).to_contain_text("Getting the game ready")
            assert page.locator(drawn).count() == 0
            held.pop()()
            expect(page.locator(drawn).first).to_be_visible()
            expect(page.locator(".patience")).to_have_count(0)
            assert address != "play" or "game=pawns&" in page.evaluate("location.hash")


def test_how_a_line_and_a_cell_are_read(opened: Any) -> None:
    """Off the view where it says; off a move's text only where all texts are points."""
    with opened("play?game=tictactoe&first=person&second=person") as page:
        found = page.evaluate(
            """import("./board.js").then(({ cellOf, ghostsOf }) => {
              const empty = { game: "x", shape: [3, 3], board: Array(9).fill(0), to_play: 0, cells: {}, origins: {} };
              const points = { ...empty, cells: { a1: 6, b2: 4 } };
              const moves = { ...empty, cells: { a1a2: 3 }, origins: { a1a2: 6 } };
              const odd = { ...empty, cells: { a1: 0 } };
              const cells = (view, line) => ghostsOf(view, line).map((ghost) => ghost.cell);
              return [
                cellOf(points, "c3"), cells(points, ["a1", "pass", "b2"]),
                cellOf(moves, "a1a2"), cellOf(moves, "b2"), cells(moves, ["a1a2", "b3b2"]),
                cellOf(odd, "a1"), cellOf(odd, "b2"), cells(odd, ["a1", "b2"]),
              ];
            })"""
        )
        assert found == [2, [6, 4], 3, None, [3], 0, None, [0]]
