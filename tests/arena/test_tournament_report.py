"""The report of a tournament: one page that holds, shows what the records say, and plays every game through."""

import html
import json
import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from html_pages import check_page

import tengen
from tengen.arena.report import figures, signed, write_tournament_report
from tengen.records.record import Record
from tengen.report.pages import script_hash
from tengen.report.replays import choose_replays, draw_replays, encode, make_replay, ranges_text, result_words
from tengen.rules.errors import TengenError

BREAKTHROUGH = str(Path(__file__).parent.parent.parent / "examples" / "breakthrough.py")
NASTY = "</script><img src=x onerror=\"document.title='owned'\"><!--"


def random_record(spec, seed, players=("a", "b"), opening=2):
    rng, position = random.Random(seed), tengen.load_game(spec).start()
    while position.outcome is None:
        position = position.play(rng.choice(position.legal_actions))
    seconds = tuple(rng.random() * 10 ** rng.randrange(-4, 1) for _ in range(position.ply - opening))
    return replace(Record.of(position, players), opening=opening, seconds=seconds, date="2025-01-02")


@pytest.fixture(scope="module")
def records():
    """A round robin of three on a small board, with a game that ended early and one without a result."""
    pairs = [("strong", "weak"), ("weak", NASTY), (NASTY, "strong")]
    games = [
        random_record("gomoku:size=6", 100 * i + j, pair if j % 2 else pair[::-1])
        for i, pair in enumerate(pairs)
        for j in range(8)
    ]
    games[3] = replace(games[3], result="B+F", ending=f"the engine said {NASTY}")
    games[20] = replace(games[20], result="?")
    return games


def data_of(text):
    return json.loads(re.search(r'id="replay-data">(.*?)</script>', text, re.DOTALL)[1])


def test_the_page_shows_the_tournament(records, tmp_path):
    page = write_tournament_report(tmp_path / "new" / "report.html", records, "Three & a half", ["a <note>"])
    text, elements = check_page(page)
    assert text.startswith("Three & a half Tengen tournament report Three & a half gomoku:size=6 · 2025-01-02 a <note>")
    for said in ("Games 24", "Players 3", "Without result 1", "Ended early 1", "Moving first is worth", NASTY):
        assert said in text
    assert f"4 {' – '.join(records[3].players)} B+F the engine said {NASTY}" in text
    assert elements.count("script") == 2
    assert not list(page.parent.glob("*.partial"))


def test_the_cross_table_counts_every_game_twice(records, tmp_path):
    text = write_tournament_report(tmp_path / "r.html", records, "t").read_text()
    cells = [tuple(map(int, cell)) for cell in re.findall(r"<td title[^>]*>(\d+) / (\d+) / (\d+)<", text)]
    assert len(cells) == 6
    assert sum(map(sum, cells)) == 2 * 23
    assert sum(wins for wins, _, _ in cells) == sum(losses for _, losses, _ in cells)
    own = [record for record in records if set(record.players) == {"strong", "weak"}]
    wins = sum(1 for r in own if r.outcome.winner is not None and r.players[r.outcome.winner] == "strong")
    losses = sum(1 for r in own if r.outcome.winner is not None and r.players[r.outcome.winner] == "weak")
    assert f"strong against weak: {100 * (wins + (8 - wins - losses) / 2) / 8:.3g}% of the points" in text
    assert f">{wins} / {losses} / {8 - wins - losses}<" in text


@pytest.mark.parametrize(
    "spec", ["tictactoe", "connect4", "reversi", "go:size=5", "go:size=9,handicap=2", BREAKTHROUGH]
)
def test_what_a_replay_says_is_what_was_played(spec):
    """Whatever captures, flips or moves away: the changes alone lead to every board."""
    record = random_record(spec, 5, opening=0)
    replay = make_replay(1, record)
    board = record.game.start().board.ravel().copy()
    changes = [[int(code, 36) for code in ply.split(".") if code] for ply in replay.changes.split(",")]
    for codes, position in zip(changes, list(record.positions())[1:], strict=True):
        for code in codes:
            board[code // 3] = code % 3
        assert (board == position.board.ravel()).all()
    assert [int(action, 36) for action in replay.actions.split(",")] == list(record.moves)
    assert len(replay.changes) + len(replay.actions) < 4000


def test_the_stone_that_was_played_comes_first():
    game = tengen.load_game("reversi").from_moves("d3")
    replay = make_replay(1, Record.of(game))
    cell = tengen.load_game("reversi").parse_action("d3")
    assert replay.changes == encode([[3 * cell + 1, 3 * tengen.load_game("reversi").parse_action("d4") + 1]])


def test_at_most_so_many_boards(records, tmp_path):
    chosen, left_out = choose_replays(records, 5)
    assert [replay.number for replay in chosen] == [1, 2, 4, 9, 17]  # 4 ended early; then the first of every pair
    assert set(left_out) == set(range(1, 25)) - {1, 2, 4, 9, 17}
    text, _ = check_page(write_tournament_report(tmp_path / "r.html", records, "t", most_boards=5))
    assert "19 of 24 games are not shown here only 5 games have boards: 3, 5–8, 10–16, 18–24" in text
    assert ranges_text([1, 2, 3, 5, 7, 8]) == "1–3, 5, 7–8"


def test_a_record_that_cannot_be_played_is_named(tmp_path):
    game = tengen.load_game("tictactoe")
    wrong = Record(game, (4, 4), ("a", "b"), "B+")
    text, _ = check_page(write_tournament_report(tmp_path / "r.html", [wrong, random_record("tictactoe", 1)], "t"))
    assert "1 of 2 games are not shown here cannot be played through: b2 is occupied at move 2: 1" in text


def test_times_that_are_none(tmp_path):
    record = replace(random_record("tictactoe", 1), seconds=(float("nan"), float("inf"), -1.0, 0.0, 1e-9))
    check_page(page := write_tournament_report(tmp_path / "r.html", [record], "t"))
    assert data_of(page.read_text())["games"][0][-1] == [None, None, -1_000_000, 0, 0]
    strange = replace(record, opening=99, ending="x" * 10**6)
    assert write_tournament_report(tmp_path / "r.html", [strange], "t").stat().st_size < 200_000


def test_nothing_and_next_to_nothing(tmp_path):
    assert "No game has a result yet." in check_page(write_tournament_report(tmp_path / "r.html", [], "empty"))[0]
    lonely = Record(tengen.load_game("tictactoe"), (), ("", ""), "?")
    assert "Without result 1" in check_page(write_tournament_report(tmp_path / "r.html", [lonely], "one"))[0]
    assert draw_replays([]) == ""
    one, _ = check_page(write_tournament_report(tmp_path / "r.html", [random_record("tictactoe", 3)], "one"))
    assert "cannot be told" in one


def test_hundreds_of_games_are_small(tmp_path):
    base = [random_record("gomoku:size=9", seed) for seed in range(20)]
    page = write_tournament_report(tmp_path / "r.html", base * 15, "many")
    assert page.stat().st_size < 300 * 2500
    check_page(page)


def test_words():
    go = tengen.load_game("go")
    assert result_words(Record(go, (), result="W+3.5")) == "White wins by 3.5"
    assert result_words(Record(go, (), result="B+T", ending="took\n 3 s")) == "Black wins (took 3 s)"
    assert result_words(Record(go, ())) == "no result"
    assert [signed(elo) for elo in (31.4, -0.2, 0.2, -1204)] == ["+31", "0", "0", "−1,204"]


def test_figures(records, tmp_path):
    pytest.importorskip("matplotlib")
    paths = figures(tmp_path / "pictures", records)
    assert [path.name for path in paths] == ["ratings.png", "cross-table.png", "move-times.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
    timeless = [replace(record, seconds=(), players=("$x^$", "b")) for record in records]
    assert len(figures(tmp_path, timeless)) == 2
    with pytest.raises(TengenError, match="no game has a result"):
        figures(tmp_path, [])


def test_figures_without_matplotlib(records, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(TengenError, match="pip install matplotlib"):
        figures(tmp_path, records)


# In a browser.


def opened(chromium, folder, page, fragment="", script=""):
    """The page as the browser has it once its scripts, and ours, have run."""
    if script:
        text = page.read_text(encoding="utf-8").replace("</body>", f"<script>{script}</script></body>")
        text = text.replace("script-src ", f"script-src '{script_hash(script)}' ", 1)
        page = page.with_name("scripted.html")
        page.write_text(text, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    address = f"{page.as_uri()}{fragment}"
    command = [chromium, *options, f"--user-data-dir={folder / 'profile'}", "--dump-dom", address]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def stones_on(dom, shape):
    """The board that the browser shows: [rows, columns]."""
    board = np.zeros(shape, int)
    stage = dom[dom.index('class="stage"') :]
    stage = stage[stage.index("</defs>") : stage.index("</svg>")]
    pattern = r'data-piece="([12])(\+?)" transform="translate\(([\d.]+) ([\d.]+)\)"'
    for stone, _, x, y in re.findall(pattern, stage):
        board[round((float(y) - 24) / 40 - 0.5), round((float(x) - 24) / 40 - 0.5)] = int(stone)
    return board, len(re.findall(r'data-piece="[12]\+"', stage))


def test_a_browser_plays_games_through(chromium, tmp_path, records):
    games = [random_record(spec, 7) for spec in ("reversi", "go:size=5", "tictactoe", "connect4")]
    page = write_tournament_report(tmp_path / "r.html", games, "four games")
    for number, ply in ((1, 30), (2, 12)):
        dom = opened(chromium, tmp_path, page, f"#game-{number}-{ply}")
        board, last = stones_on(dom, games[number - 1].game.shape)
        assert (board == list(games[number - 1].positions())[ply].board).all()
        assert last <= 1
        assert f"Move {ply} of {len(games[number - 1].moves)}" in dom
    keys = """
      const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
      document.querySelector("[data-go=first]").click();
      for (let i = 0; i < 5; i++) press("ArrowRight");
      press("ArrowLeft");
      document.querySelector("[data-go=next]").click();
      document.querySelector("[data-go=back]").click();
    """
    board, last = stones_on(opened(chromium, tmp_path, page, "#game-4", keys), (6, 7))
    assert (board == list(games[3].positions())[4].board).all()
    assert last == 1


def test_a_script_that_is_not_ours_does_not_run(chromium, tmp_path, records):
    page = write_tournament_report(tmp_path / "r.html", records, "t")
    text = page.read_text(encoding="utf-8")
    assert text.index("Content-Security-Policy") < text.index("<title>")
    page.write_text(text.replace("</body>", "<script>document.title = 'theirs'</script></body>"), encoding="utf-8")
    dom = opened(chromium, tmp_path, page)
    assert "<title>t</title>" in dom
    assert "of 24 games" in dom  # ours does


def test_names_stay_names_in_a_browser(chromium, tmp_path, records):
    page = write_tournament_report(tmp_path / "r.html", records, "t")
    filtering = """
      const who = document.querySelector(".replay .who"), how = document.querySelector(".replay .how");
      who.value = [...who.options].find((option) => option.text === "strong").value;
      how.value = "0";
      who.dispatchEvent(new Event("change"));
    """
    dom = opened(chromium, tmp_path, page, "#game-9", filtering)
    assert "<title>t</title>" in dom
    assert "<img" not in dom
    assert html.escape(NASTY, quote=False) in dom
    wins = sum(
        1
        for record in records
        if record.outcome is not None
        and record.outcome.winner is not None
        and record.players[record.outcome.winner] == "strong"
    )
    assert f"{wins} of 24 games" in dom
