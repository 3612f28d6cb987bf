"""Tic-tac-toe's tree: counts that are known, the lecture's e(s), and what minimax costs."""

import random

import pytest

from tengen import load_game
from tengen.course.tictactoe_tree import (
    children_of_class,
    class_of,
    count_tree,
    draw_e_boards,
    draw_reduced_tree,
    e_boards,
    measure_minimax,
    open_rows,
)
from tengen.knowledge.evaluations import evaluation_for
from tengen.rules.errors import BadParameter
from tengen.search.limits import Limit
from tengen.search.minimax import Minimax


def test_counts_that_are_known():
    found = count_tree()
    assert (found.total("positions"), found.total("classes")) == (5478, 765)
    assert (found.games, found.reduced_games) == (255_168, 26_830)
    assert found.total("sequences") == 549_946  # minimax's 549,945 and the root
    assert found.classes[:4] == [1, 3, 12, 38]
    assert found.games < 362_880  # the lecture's bound


def test_classes_are_the_orbits_of_symmetry():
    """Two boards have one class if and only if a rotation or reflection of the square makes them equal."""
    game, rng = load_game("tictactoe"), random.Random(2)
    for _ in range(50):
        moves = rng.sample(range(9), 4)
        image = rng.choice(game.symmetries)
        position, turned = game.start(), game.start()
        for cell in moves:
            position, turned = position.play(cell), turned.play(int(image[cell]))
        assert class_of(position) == class_of(turned)
    corners = {class_of(game.start().play(cell)) for cell in (0, 2, 6, 8)}
    edges = {class_of(game.start().play(cell)) for cell in (1, 3, 5, 7)}
    assert len(corners) == len(edges) == 1 and corners != edges
    assert len(children_of_class(game.start())) == 3


def test_the_lectures_three_values():
    """8 − 8, 6 − 4 and 3 − 3, counted row by row and said by the evaluation that plays."""
    for board in e_boards():
        assert f"{board.first} − {board.second} = {board.value:g}" == board.printed
    assert [(board.first, board.second) for board in e_boards()] == [(8, 8), (6, 4), (3, 3)]


def test_open_rows_have_no_mark_of_the_other():
    position = load_game("tictactoe").from_moves("b2 b1")
    assert (4, 7, 1) not in open_rows(position, 0)
    assert len(open_rows(position, 0)) == 6 and all(4 not in row for row in open_rows(position, 1))


def test_minimaxs_time_and_space():
    """Nodes are those of the minimax that plays; all at once b·m wait, one at a time m + 1 (with the root)."""
    game = load_game("tictactoe")
    for depth in (1, 2, 3, 4):
        found = measure_minimax(depth)
        decision = Minimax(game, evaluation_for(game, "lines")).search(game.start(), Limit(depth=depth))
        assert found.nodes == decision.nodes + 1
        assert found.one_by_one == depth + 1
        assert found.at_once == 1 + sum(9 - ply for ply in range(depth))
    with pytest.raises(BadParameter):
        measure_minimax(10)


def test_pictures():
    svg = draw_reduced_tree().svg()
    assert svg.count("× 8") == 6 and svg.count("× 4") == 8 and svg.count("× 1<") == 2  # 72 nodes two plies down
    assert all(f">{words}</text>" in draw_e_boards().svg() for words in ("8 − 8 = 0", "6 − 4 = 2", "3 − 3 = 0"))
    with pytest.raises(BadParameter):
        draw_reduced_tree(3)
