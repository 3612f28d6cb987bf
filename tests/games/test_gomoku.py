"""Gomoku: three rules for five in a row; Renju's forbidden points in diagrams and beside an independent judge."""

import contextlib
import random

import numpy as np
import pytest
from judges import plain_winner
from renju.check_forbid import get_foul_type

from tengen import load_game
from tengen.rules.errors import BadDiagram, IllegalMove

SHAPES = {  # rows through the middle of an empty 15×15 board; * is the point asked about, X plays it
    "XX*XXX": "overline",
    "XX*XX": None,  # five
    "X.X*X.X": "double-four",
    "X.XX*.X": "double-four",
    "XX.X*.XX": "double-four",
    "OXX*X.": None,  # one four
    ".XX*.": None,  # one three
}


def renju(picture, to_play="X"):
    """The position of a row in the middle of the board; white stones elsewhere even the count."""
    row = picture.replace("*", ".")
    stones = np.full((15, 15), ".")
    stones[7, 3 : 3 + len(row)] = list(row)
    spare = [(y, x) for y in (0, 14) for x in range(0, 15, 2)]
    for y, x in spare[: row.count("X") - row.count("O")]:
        stones[y, x] = "O"
    return load_game("renju").from_board("/".join("".join(line) for line in stones), to_play)


@pytest.mark.parametrize(("picture", "kind"), SHAPES.items())
def test_shapes_on_one_line(picture, kind):
    position = renju(picture)
    assert position.forbidden().get(7 * 15 + 3 + picture.index("*")) == kind


def test_double_three_and_the_message():
    picture = """
        . . . . . . . . .
        . . . . . . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        O . O . O . O . ."""
    position = load_game("gomoku:size=9,rule=renju").from_board(picture)
    assert position.forbidden() == {position.game.parse_action("e5"): "double-three"}
    with pytest.raises(IllegalMove, match=r"e5 is forbidden \(double-three\) at move 1"):
        position.play("e5")


def test_a_three_that_cannot_become_a_straight_four_does_not_count():
    """The vertical three is blocked at one end by White and at the other by the edge of its room."""
    picture = """
        . . . . O . . . .
        . . . . . . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X . . . . .
        . . . . O . . . .
        . . . . . . . . .
        . . . . . . . . .
        O . O . . . . . ."""
    position = load_game("gomoku:size=9,rule=renju").from_board(picture)
    assert position.forbidden() == {}


def test_five_wins_where_it_would_be_forbidden():
    """The stone that makes five may make two fours and two threes besides."""
    picture = """
        . . . . . . . . . . . . . . .
        . . . . . . . . . . . . . . .
        . . . . . . . . . . . . . . .
        . . . . . . . . . . . . . . .
        . . . . . . . X . . . . . . .
        . . . . . . . X . . . . . . .
        . . . . . . . X . . . . . . .
        . . . X X X X . . . . . . . .
        . . . . . . . . X . . . . . .
        . . . . . . . . . X . . . . .
        . . . . . . . . . . . . . . .
        . . . . . . . . . . . . . . .
        . . . . . . . . . . . . . . .
        O . O . O . O . O . O . O . .
        O . O . . . . . . . . . . . ."""
    position = load_game("renju").from_board(picture)
    end = position.play("h8")
    assert end.outcome is not None
    assert end.outcome.winner == 0


@pytest.mark.parametrize(
    ("rule", "black_wins", "white_wins"), [("freestyle", True, True), ("standard", False, False), ("renju", None, True)]
)
def test_six_in_a_row(rule, black_wins, white_wins):
    game = load_game(f"gomoku:size=9,rule={rule}")
    black = game.from_moves("a9 a1 b9 c1 c9 e1 e9 g1 f9 i1")
    if black_wins is None:
        assert black.forbidden() == {game.parse_action("d9"): "overline"}
    else:
        assert (black.play("d9").outcome is not None) == black_wins
    white = game.from_moves("a1 a9 c1 b9 e1 c9 g1 e9 i1 f9 i3")
    assert (white.play("d9").outcome is not None) == white_wins


@pytest.mark.parametrize("rule", ["freestyle", "standard"])
@pytest.mark.parametrize("size", [5, 6, 15, 20])
def test_winner_against_plain_judge(rule, size):
    game, rng = load_game(f"gomoku:size={size},rule={rule}"), random.Random(size)
    for _ in range(12):
        position = game.start()
        while position.outcome is None:
            assert plain_winner(position.board, 5, exactly=rule == "standard") == 0
            position = position.play(rng.choice(position.legal_actions))
        winner = plain_winner(position.board, 5, exactly=rule == "standard")
        assert position.outcome.winner == (None if winner == 0 else winner - 1)


def crowded_board(rng):
    """A board as in the middle of a game: black stones close together, so that many lines cross."""
    board = np.zeros((15, 15), int)
    centre = rng.integers(4, 11, 2)

    def scatter(stone, count, width):
        while count:
            x, y = np.clip(np.round(rng.normal(centre, width)).astype(int), 0, 14)
            if board[y, x] == 0:
                board[y, x] = stone
                count -= 1

    stones = rng.integers(8, 30)
    scatter(1, stones, 2.5)
    scatter(2, stones // 2, 3.5)
    free = np.argwhere(board == 0)
    for y, x in free[rng.choice(len(free), stones - stones // 2, replace=False)]:
        board[y, x] = 2
    return board


def crowded_position(game, rng):
    """Such a board on which nobody has won, and its position."""
    while True:
        board = crowded_board(rng)
        with contextlib.suppress(BadDiagram):
            position = game.from_board("/".join("".join(".XO"[s] for s in row) for row in board))
            if position.outcome is None:
                return board, position


@pytest.mark.parametrize("positions", [200, pytest.param(2000, marks=pytest.mark.long)])
def test_forbidden_points_against_an_independent_judge(positions):
    """Every empty point of crowded positions, the reason included."""
    game, rng = load_game("renju"), np.random.default_rng(2024)
    kinds = {None: 0, "double-three": 1, "double-four": 2, "overline": 3}
    found = dict.fromkeys(kinds, 0)
    for _ in range(positions):
        board, position = crowded_position(game, rng)
        forbidden, rows = position.forbidden(), board.tolist()
        for cell in np.flatnonzero(board == 0):
            kind = forbidden.get(int(cell))
            assert kinds[kind] == get_foul_type(rows, int(cell) // 15, int(cell) % 15), f"{cell}\n{position}"
            found[kind] += 1
    assert min(found.values()) > positions // 20, found


def test_forbidden_points_are_not_legal():
    game, rng = load_game("renju"), np.random.default_rng(5)
    for _ in range(50):
        board, position = crowded_position(game, rng)
        empty = set(np.flatnonzero(board == 0).tolist())
        assert set(position.legal_actions) == empty - set(position.forbidden())


def test_no_allowed_point_left_is_a_draw():
    """The last empty point would be an overline."""
    picture = """
        X X . X X X O
        O X X X X O O
        O O O X O X X
        X O X X O O O
        O O X O O X O
        X O O X O O O
        X X X O X O X"""
    position = load_game("gomoku:size=7,rule=renju").from_board(picture, "X")
    assert position.outcome is not None
    assert position.outcome.winner is None
    assert load_game("gomoku:size=7,rule=standard").from_board(picture, "X").outcome is None
