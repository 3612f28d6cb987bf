"""Evaluations: the documents' formulas by hand, notes that keep up, tables judged by brute force, sound cuts."""

import random
from functools import cache

import numpy as np
import pytest
from judges import assess_position, keep_notes, random_position

from tengen import load_agent, load_game
from tengen.knowledge import gomoku
from tengen.knowledge.evaluations import EVALUATIONS, evaluation_for
from tengen.rules.errors import BadParameter
from tengen.rules.kernels import entry
from tengen.search.alphabeta import AlphaBeta, Refinements
from tengen.search.evaluation import Plain, new_notes, take_notes
from tengen.search.limits import Limit

ALL = [
    ("mnk:m=7,n=4,k=3", "rows"),
    ("tictactoe", "lines"),
    ("connect4", "fours"),
    ("gomoku:size=9", "patterns"),
    ("gomoku:size=9,rule=standard", "patterns"),
    ("gomoku:size=9,rule=renju", "patterns"),
    ("gomoku:size=20", "patterns"),
    ("gomoku:size=11", "gobang"),
    ("hex:size=6", "circuit"),
]


@pytest.mark.parametrize(("spec", "name"), ALL)
def test_notes_keep_up(spec, name):
    """After every move of random games, the notes that followed equal notes taken from nothing."""
    game, rng = load_game(spec), random.Random(spec)
    evaluation = evaluation_for(game, name)
    for _ in range(4):
        position, states, notes = game.start(), game.new_states(2), new_notes(evaluation, game, 2)
        states[0] = position.states[0]
        begin_notes(game.parameters, evaluation, states, notes)
        while position.outcome is None:
            action = rng.choice(position.legal_actions)
            position = position.play(action)
            notes[1] = np.zeros((), notes.dtype)
            keep_notes(game.parameters, evaluation, states, notes, action)
            assert notes[0] == notes[1], position


@entry
def begin_notes(game, evaluation, states, notes):
    take_notes(evaluation, game, states[0], notes[0])


def score_of(spec, name, board, to_play):
    game = load_game(spec)
    return assess_position(game.from_board(board, to_play), evaluation_for(game, name))[0]


@pytest.mark.parametrize(
    ("board", "to_play", "expected"),
    [
        (".../.X./...", "O", -4),  # all 8 lines are open to X, 4 to O
        ("O../.X./...", "X", 5 - 4),
        (".O./.X./...", "X", 6 - 4),
        ("OX./XX./OO.", "X", 2 - 2),
    ],
)
def test_the_lectures_evaluation(board, to_play, expected):
    """e(s): lines open to the player to move less lines open to the other."""
    assert score_of("tictactoe", "lines", board, to_play) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("...............", 0),
        ("...X...........", 3),  # core
        ("X..............", 2),  # an edge
        ("....XXXX.......", 12 + 100),
        ("....XXXXO......", 12 - 3 + 50),
        ("...OXXXXO......", 12 - 6),
        ("....XX.XX......", 12 + 50),
        ("....XXX........", 9 + 20),
        ("....XX.X.......", 9 + 20),
        ("...OXXX........", 9 - 3),
        ("..O.XXX.O......", 9 - 2 - 3),  # closed in: it never becomes an open four
    ],
)
def test_the_gobang_papers_evaluation(row, expected):
    """f of one row in the middle of the board, for Black to move."""
    rows = ["." * 15] * 7 + [row] + ["." * 15] * 7
    assert score_of("gomoku", "gobang", "/".join(rows), "X") == expected


def test_a_corner_counts_one():
    assert score_of("gomoku", "gobang", "/".join(["X" + "." * 14] + ["." * 15] * 14), "X") == 1


@pytest.mark.parametrize(
    ("board", "expected"),
    [
        (".../.X./...", 9),
        ("X.O/X.O/X.O", 0),  # the middle is nobody's
        ("X../.../..O", 0),
        ("XX./.../..O", 4 - 2),  # three points are as near to one as to the other
    ],
)
def test_area_by_the_nearest_stone(board, expected):
    """In tenths of a point, for Black to move."""
    assert score_of("go:size=3,komi=0", "area", board, "X") == 10 * expected


@cache
def plainly_made(own, blocked, is_exact):
    """What a stone in the middle of eleven points makes, by trying every further stone."""
    stones = own | {5}
    low = high = 5
    while low - 1 in stones:
        low -= 1
    while high + 1 in stones:
        high += 1
    if high - low + 1 >= 5:
        return gomoku.NOTHING if is_exact and high - low + 1 > 5 else gomoku.FIVE
    free = set(range(11)) - stones - blocked
    made = sorted((plainly_made(own | {point}, blocked, is_exact) for point in free), reverse=True)
    if made.count(gomoku.FIVE) > 1:
        return gomoku.OPEN_FOUR
    after = {
        gomoku.FIVE: gomoku.FOUR,
        gomoku.OPEN_FOUR: gomoku.OPEN_THREE,
        gomoku.FOUR: gomoku.THREE,
        gomoku.OPEN_THREE: gomoku.OPEN_TWO,
        gomoku.THREE: gomoku.TWO,
        gomoku.OPEN_TWO: gomoku.ONE,
        gomoku.TWO: gomoku.ONE,
    }
    return after.get(made[0], gomoku.NOTHING) if made else gomoku.NOTHING


@pytest.mark.parametrize(("rule", "is_exact"), [("freestyle", False), ("standard", True)])
def test_what_a_stone_makes(rule, is_exact):
    table = gomoku.tables_for(load_game(f"gomoku:rule={rule}").parameters)[0]
    rng, seen = random.Random(1), set()
    points = [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]  # without the middle
    for _ in range(1500):
        cells = [rng.choice("..XXO") for _ in points]
        own = frozenset(point for point, cell in zip(points, cells, strict=True) if cell == "X")
        blocked = frozenset(point for point, cell in zip(points, cells, strict=True) if cell == "O")
        index = sum(1 << i for i, cell in enumerate(cells) if cell == "X")
        index |= sum(1 << 10 + i for i, cell in enumerate(cells) if cell == "O")
        assert table[index] == plainly_made(own, blocked, is_exact)
        seen.add(int(table[index]))
    assert seen == set(range(9))


@pytest.mark.parametrize(
    ("spec", "plies"),
    [
        ("connect4", (24, 34)),
        ("mnk:m=4,n=4,k=4", (3, 8)),
        ("hex:size=4", (1, 8)),
        ("gomoku:size=9", (70, 76)),
        ("gomoku:size=9,rule=renju", (70, 76)),
        pytest.param("gomoku:size=5", (9, 16), marks=pytest.mark.long),
        pytest.param("gomoku:size=5,rule=renju", (9, 16), marks=pytest.mark.long),
    ],
)
def test_what_candidates_leave_out_does_not_matter(spec, plies):
    """Searched to the end, the candidates' value is that of all legal moves: what is forced is forced indeed."""
    game, rng = load_game(spec), random.Random(spec)
    knowing = AlphaBeta(game, evaluation_for(game, region=0), memory=4)
    plain = AlphaBeta(game, Plain(), memory=4)
    for _ in range(25):
        position = random_position(game, rng, rng.randint(*plies))
        knowing.forget()
        plain.forget()
        found, expected = (search.search(position, Limit(depth=40)) for search in (knowing, plain))
        assert found.value == expected.value, position


def test_names():
    game = load_game("reversi")
    with pytest.raises(BadParameter, match=r"the evaluation 'gobang' does not know reversi; .*none would do"):
        evaluation_for(game, "gobang")
    assert set(EVALUATIONS) >= {"patterns", "gobang", "lines", "fours", "mobility", "area", "none"}
    with pytest.raises(BadParameter, match="evaluation=gobng is unknown; did you mean 'gobang'"):
        load_agent("alphabeta:evaluation=gobng", load_game("gomoku"))


def test_threats_are_seen_beyond_the_horizon():
    """A search of one ply sees a win by fours of five plies, with quiescence."""
    game = load_game("gomoku")
    position = game.from_moves("h8 a1 i8 a3 j8 g8 h9 a5 h10 a7")  # k8 makes a four, then h11 an open one
    evaluation = evaluation_for(game)
    seen = AlphaBeta(game, evaluation, memory=1).search(position, Limit(depth=1))
    unseen = AlphaBeta(game, evaluation, Refinements(quiescence=0, extension=0), memory=1)
    assert seen.value == 1
    assert unseen.search(position, Limit(depth=1)).value < 1
