"""Pieces of several kinds, hexagons and coloured sides in the web app: what a page is told, and what it makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from file_games import write_run
from piece_games import BRIDGES, KINGS_AND_PAWNS

from tengen.apps.web.replays import replay_of
from tengen.apps.web.server import new_app
from tengen.apps.web.settings import ServerSettings
from tengen.apps.web.thinking import shown_line
from tengen.apps.web.views import view_of
from tengen.games import load_game
from tengen.records.record import Record
from tengen.report.shapes import PATHS
from tengen.rules.game import Game

TURN = "    state.to_play = 1 - player\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Kings and pawns; bridges; and bridges in which the first player's second move is a double one."""
    folder = tmp_path_factory.mktemp("games")
    bridges, twice = folder / "bridges.py", folder / "twice.py"
    bridges.write_text(BRIDGES)
    assert BRIDGES.count(TURN) == 1
    twice.write_text(BRIDGES.replace(TURN, "    state.to_play = player if state.ply == 3 else 1 - player\n"))
    return KINGS_AND_PAWNS, bridges, twice


@pytest.fixture(scope="module")
def games(files: tuple[Path, ...]) -> tuple[Game, ...]:
    return tuple(load_game(str(path)) for path in files)


# What a page is told.


def test_a_view_names_its_pieces(games: tuple[Game, ...]) -> None:
    view = view_of(games[0].start())
    assert [(piece.symbol, piece.owner, piece.name, piece.shape) for piece in view.pieces] == [
        ("P", 0, "pawn", "pawn"),
        ("K", 0, "king", "king"),
        ("p", 1, "pawn", "pawn"),
        ("k", 1, "king", "king"),
    ]
    assert [piece.path for piece in view.pieces[:2]] == [PATHS["pawn"], PATHS["king"]]
    assert (view.tints, view.sides, view.drawing) == (("white", "black"), None, "cells")
    assert view.board[:12] == [0, 0, 0, 4, 0, 0, 3, 3, 3, 3, 3, 3]
    stones = view_of(load_game("tictactoe").start())
    assert [(piece.owner, piece.path) for piece in stones.pieces] == [(0, None), (1, None)]


def test_moves_are_shown_as_players_write_them(games: tuple[Game, ...]) -> None:
    view = view_of(games[0].from_moves("b4 e3"))
    assert (view.moves, view.shown, view.movers) == (["b2t", "e5t"], ["b4", "e3"], [0, 1])
    assert (view.facts, view_of(games[0].start()).facts) == ("e4", "")
    assert view.texts["d2ur"] == "dxe3" and view.texts["d1r"] == "Ke1"
    assert set(view.texts) == set(view.legal) == set(view.cells) == set(view.origins)
    assert (view.cells["d2ur"], view.origins["d2ur"]) == (22, 27)
    assert view_of(load_game("tictactoe").start()).texts == {}


def test_what_was_captured_in_passing(games: tuple[Game, ...]) -> None:
    """Black's pawn goes from e5 to e3, beside White's on d3, and is captured by a move to e4."""
    passing = games[0].from_board("3k2/pppppp/6/3P2/PPP1PP/3K2", "b").play("e5t")
    assert passing.facts == "e4"
    taken = view_of(passing.play("d3ur"))
    assert (taken.captured, taken.last, taken.last_origin) == ([22], 16, 21)


def test_a_swap_is_no_cell(games: tuple[Game, ...]) -> None:
    view = view_of(games[1].from_moves("b2"))
    assert "swap" in view.legal and "swap" not in view.cells
    assert (view.drawing, view.sides, view.tints) == ("hexagons", ("top bottom", "left right"), ("red", "blue"))
    swapped = view_of(games[1].from_moves("b2 swap"))
    assert (swapped.last, swapped.board[5], swapped.flipped) == (None, 2, [5])


def test_who_moved_is_told_where_turns_do_not_alternate(games: tuple[Game, ...]) -> None:
    view = view_of(games[2].from_moves("a1 b1 c1 d1 a2"))
    assert (view.movers, view.to_play) == ([0, 1, 0, 0, 1], 0)


def test_a_replay_tells_the_same(games: tuple[Game, ...]) -> None:
    replay = replay_of(Record.of(games[0].from_moves("b4 e3 dxe3")))
    assert (replay.shown, replay.movers, replay.origins) == (["b4", "e3", "dxe3"], [0, 1, 0], [25, 10, 27])
    assert replay.changes[2] == [5 * 22 + 1, 5 * 27]


def test_a_line_is_written_from_position_to_position(games: tuple[Game, ...]) -> None:
    position = games[0].start()
    line = [games[0].parse_action(text) for text in ("b2t", "e5t", "d2ur")]
    assert shown_line(position, line) == ["b4", "e3", "dxe3"]


# What it makes of it.


@pytest.fixture(scope="module")
def opened(chromium: str, tmp_path_factory: pytest.TempPathFactory, files: tuple[Path, ...]) -> Iterator[Any]:
    """Opens pages of an app that serves the three games."""
    from web_browser import browser, open_page, running_server

    folder = tmp_path_factory.mktemp("site")
    write_run(folder / "runs" / "mine", str(KINGS_AND_PAWNS), "b4 e3 dxe3")
    settings = ServerSettings(runs=folder / "runs", contests=folder / "contests", games=files)
    with running_server(new_app(settings)) as url, browser(chromium) as chrome:
        yield lambda address, **options: open_page(chrome, f"{url}#/{address}", **options)


def cell(page: Any, number: int) -> Any:
    return page.locator(f'svg.board [data-cell="{number}"]').first


def moves(page: Any) -> Any:
    return page.locator(".moves > li .move > span:nth-child(2)")


def test_pieces_are_seen_named_and_moved(opened: Any) -> None:
    from web_browser import expect

    with opened("play?game=kings-and-pawns&first=person&second=person") as page:
        pieces = page.locator(".layer-stones .piece")
        expect(pieces).to_have_count(14)
        assert page.locator(".layer-stones .tint-white").count() == 7
        expect(page.locator(".player .piece.tint-white path.piece-body")).to_have_attribute("d", PATHS["king"])
        expect(cell(page, 33)).to_have_attribute("aria-label", "d1, White king, can move")
        expect(cell(page, 3)).to_have_attribute("aria-label", "d6, Black king")
        cell(page, 25).click()
        expect(page.locator(".target-dot")).to_have_count(2)
        cell(page, 13).hover()
        expect(page.locator(".layer-hover .tint-white path.piece-body")).to_have_attribute("d", PATHS["pawn"])
        cell(page, 13).click()
        expect(moves(page)).to_have_text(["b4"])
        expect(cell(page, 13)).to_have_attribute("aria-label", "b4, White pawn, last move")
        expect(page.locator(".last-cell")).to_have_count(2)
        expect(page.locator(".facts")).to_have_text("Beside the board: b3")
        cell(page, 10).focus()
        for key in ("Enter", "ArrowDown", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        expect(moves(page)).to_have_text(["b4", "e3"])
        cell(page, 27).click()
        cell(page, 22).click()
        expect(moves(page)).to_have_text(["b4", "e3", "dxe3"])
        expect(pieces).to_have_count(13)
        assert "moves=b2t-e5t-d2ur" in page.evaluate("location.hash")
        page.locator(".steps [data-action=back]").click()
        expect(pieces).to_have_count(14)
        expect(moves(page)).to_have_text(["b4", "e3", "dxe3"])


def test_stones_on_hexagons(opened: Any) -> None:
    """What is pressed is the hexagon, not its box; a swap is a button."""
    from web_browser import expect

    with opened("play?game=bridges&first=person&second=person") as page:
        expect(page.locator("svg.board.comb path.cell")).to_have_count(16)
        expect(page.locator(".side-band.tint-red")).to_have_count(1)
        expect(page.locator(".side-band.tint-blue")).to_have_count(1)
        box = cell(page, 5).bounding_box()
        page.mouse.click(box["x"] + 2, box["y"] + 2)  # in its box, but the neighbour's
        expect(moves(page)).to_have_text(["b1"])
        expect(page.locator(".layer-stones .stone")).to_have_count(1)
        expect(cell(page, 1)).to_have_attribute("aria-label", "b1, Red, last move")
        page.get_by_role("button", name="Swap", exact=True).click()
        expect(moves(page)).to_have_text(["b1", "swap"])
        expect(cell(page, 1)).to_have_attribute("aria-label", "b1, Blue")
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(cell(page, 5)).to_have_attribute("aria-label", "b2, Red, last move")
        cell(page, 6).hover()
        expect(page.locator(".layer-hover .stone")).to_have_count(1)
        stone, hexagon = page.locator(".layer-stones .stone-body").last.bounding_box(), cell(page, 5).bounding_box()
        for side, length in (("x", "width"), ("y", "height")):
            assert abs(stone[side] + stone[length] / 2 - hexagon[side] - hexagon[length] / 2) < 1
    with opened("analyse?game=bridges&moves=b2-c2") as page:
        expect(page.locator(".heat.best")).to_have_count(1)
    with opened("explore/mcts") as page:
        page.locator('[data-field="example"]').select_option("own")
        page.locator('[data-field="game"]').select_option("bridges")
        expect(page.locator(".editor-board svg.board.comb")).to_be_visible()
        root = page.locator(".tree-card").first
        expect(root.locator("circle.stamp")).to_have_count(16)
        cell(page, 5).click()
        expect(root.locator(".stamp-stone.tint-red")).to_have_count(1)


def test_whoever_moves_twice_is_not_answered_between(opened: Any) -> None:
    from web_browser import expect

    with opened("play?game=twice&first=person&second=beginner") as page:
        cell(page, 5).click()
        expect(moves(page)).to_have_count(2)
        expect(page.locator(".status")).to_have_text(re.compile("^Your move"))
        free = page.locator('svg.board [role=gridcell][aria-label$="empty"]')
        free.first.click()
        expect(moves(page)).to_have_count(3)
        expect(page.locator(".status")).to_have_text(re.compile("^Your move"))
        page.wait_for_timeout(1000)
        expect(moves(page)).to_have_count(3)
        free.last.click()
        expect(moves(page)).to_have_count(5)
        expect(page.locator(".status")).to_have_text(re.compile("Your move|wins"))
        page.locator('[data-action="undo"]').click()
        expect(page.locator(".moves .move[aria-current]")).to_contain_text("3")


def test_a_replay_shows_pieces(opened: Any) -> None:
    from web_browser import expect

    with opened("learn?run=mine") as page:
        page.get_by_role("button", name="To the start").click()
        for taken, said in ((0, "b4"), (0, "e3"), (1, "Move 3 of 3")):
            page.get_by_role("button", name="A move on").click()
            expect(page.locator(".replay .layer-stones .piece")).to_have_count(14 - taken)
            expect(page.locator(".replay-said")).to_contain_text(said)
            expect(page.locator(".replay .last-cell")).to_have_count(2)
