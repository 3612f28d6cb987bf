"""Unconditional life, and small places read to their end."""

import numpy as np
import pytest

from tengen import load_game
from tengen.knowledge.go_life import living, sure_owners
from tengen.knowledge.go_reading import Reader
from tengen.knowledge.go_tactics import POSITIONS

READ = ("nakade", "eye shape", "race", "ko", "snapback")


def drawn(board, diagram):
    """Whose points are sure, drawn as the diagram is: X and O for owners."""
    owners = sure_owners(board)
    return "/".join("".join(".XO"[value] for value in row) for row in owners)


@pytest.mark.parametrize(
    ("diagram", "sure"),
    [
        (".X.X./XXXXX/...../...../.....", "XXXXX/XXXXX/...../...../....."),  # two eyes
        (".XX.X/XX.XX/...../...../.....", "...../...../...../...../....."),  # the second eye is open to below
        ("..X../XXX../...../...../.....", "...../...../...../...../....."),  # one eye of two points
        (".X.XX/XXXXX/OOOOO/O.O.O/OOOOO", "XXXXX/XXXXX/OOOOO/OOOOO/OOOOO"),  # two points are two eyes
        (".X.XO/XXXX./.OO../...../.....", "XXXX./XXXX./...../...../....."),
    ],
)
def test_benson(diagram, sure):
    board = load_game("go:size=5").from_board(diagram, "X").board
    assert drawn(board, diagram) == sure


def test_what_stands_inside_unconditional_life_is_lost():
    board = load_game("go:size=7").from_board(".X.X.X./XXXXXXX/XO..OXX/XXXXXXX/......./......./.......", "O").board
    assert living(board, 1)[2].all()  # no room for two eyes beside the walls
    board = load_game("go:size=7").from_board(".X.X.X./XXXXXXX/X.....X/X.....X/X.O...X/X.....X/XXXXXXX", "O").board
    assert not living(board, 1)[4, 2]  # here there is


def read(diagram, points, player, size=7, komi=0.5):
    position = load_game(f"go:size={size},komi={komi}").from_board(diagram, "X")
    cells = [position.game.coordinates.cell(point) for point in points.split()]
    return Reader(position, 20_000).read(cells, player), position


def is_small(tactic):
    """Whether a tactic is a fight of the lowest four rows, with few empty points."""
    return tactic.kind in READ and tactic.diagram.rpartition("XXXXXXXXX/")[2].count(".") <= 11


WALLS = ".X.X.X./XXXXXXX/"
SEKI = WALLS + "OOOOOXX/O.OOOX./OOOOOXX/XXXXOX./.XX.OXX"


def test_a_seki_is_nobodys_to_begin():
    points = "a1 d1 b4 a2 b2 c2 d2 b1 c1 a3 b3 c3 d3 e3 a4 c4 d4 e4 a5 b5 c5 d5 e5 e2 e1"
    readings = [read(SEKI, points, player)[0] for player in (0, 1)]
    assert [reading.first for reading in readings] == [None, None]
    assert readings[0].score == readings[1].score
    assert readings[0].owners[6, 3] == 0  # d1


def test_a_ko_is_worth_what_it_is_worth():
    diagram = "..XO.../..XO.../..XO.../.XO.O../..XO.../..XO.../..XO..."
    (first, position), (second, _) = (read(diagram, "c4 d4", player) for player in (0, 1))
    assert position.game.action_text(first.first) == position.game.action_text(second.first) == "d4"
    assert first.score - second.score == 4  # the stone, its point, the ko's other point


@pytest.mark.parametrize("tactic", [one for one in POSITIONS if is_small(one)], ids=lambda one: one.title)
def test_tactics_are_read(tactic):
    """All of the lowest four rows are one place: eye shapes, races, ko and the snapback come out as they should."""
    position = tactic.position()
    empty = [cell for cell in range(45, 81) if position.board.flat[cell] == 0]
    reading = Reader(position, 300_000).read(empty, position.to_play)
    assert position.game.action_text(reading.first) in tactic.answers


def test_what_is_too_much_is_said_to_be_unknown():
    position = load_game("go:size=9").start()
    assert Reader(position, 1000).read(list(range(30)), 0) is None
    assert Reader(position, 1000).read(list(range(60)), 0) is None
    assert np.all(sure_owners(position.board) == 0)
