"""Kept lines and singular extension beside plain definitions; their effect counted."""

import random

import pytest

from tengen.course.beyond import guessed_tree, study_extensions, study_margins
from tengen.rules.errors import BadParameter
from tengen.search.gametree import alphabeta, minimax
from tengen.search.selective import Guessed, back_up_to, extend_singular, keep_lines, look_ahead, singular_child


def leaf(guess, *below):
    return Guessed(guess, below)


def test_a_depth_asks_the_guesses():
    tree = leaf(0, leaf(5, leaf(1), leaf(9)), leaf(4, leaf(3), leaf(2)))
    assert look_ahead(tree, 1).values == [5, 4] and look_ahead(tree, 2).values == [1, 2]
    assert (look_ahead(tree, 1).best, look_ahead(tree, 2).best) == (0, 1)
    assert (look_ahead(tree, 1).nodes, look_ahead(tree, 2).nodes) == (3, 7)
    assert back_up_to(tree, 2, True).way == (1, 1)


def test_a_kept_line_can_lose_its_place_and_a_second_can_earn_it():
    """Move 1 seems best and loses a piece at once; of the others, the second kept line shows its strength."""
    tree = leaf(0, leaf(5, leaf(-20)), leaf(4, leaf(30)), leaf(3, leaf(3)))
    assert look_ahead(tree, 1).best == 0
    assert keep_lines(tree, 1, 1, 1).values == [-20, 4, 3]
    assert keep_lines(tree, 1, 2, 1).values == [-20, 30, 3]
    assert keep_lines(tree, 1, 0, 1).values == look_ahead(tree, 1).values


def test_all_lines_kept_at_depth_one_look_one_ply_deeper():
    rng = random.Random(1)
    for _ in range(50):
        tree = guessed_tree(rng, 3, 4)
        assert keep_lines(tree, 1, 3, 2).values == look_ahead(tree, 3).values
        assert look_ahead(tree, 4).values == [back_up_to(child, 9, False).value for child in tree.below]


def test_a_singular_move_is_followed():
    """A move that leads its siblings is searched deeper, and only it."""
    tree = leaf(0, leaf(30, leaf(-9)), leaf(4, leaf(-99)), leaf(3, leaf(-99)))
    assert singular_child(tree, 15, True) == 0 and singular_child(tree, 27, True) is None
    assert singular_child(tree, 1, False) == 2
    look = extend_singular(tree, 1, 15, 1)
    assert (look.values, look.nodes) == ([-9, 4, 3], 5)
    assert extend_singular(tree, 1, 27, 1).values == look_ahead(tree, 1).values
    deeper = leaf(0, tree, leaf(1, leaf(2)))
    assert extend_singular(deeper, 2, 1, 1, is_max=False).values == [4, 2]  # MAX's singular reply falls to −9


def test_without_a_lead_nothing_is_extended():
    rng = random.Random(2)
    for _ in range(30):
        tree = guessed_tree(rng, 3, 4)
        found, plain = extend_singular(tree, 2, 1e9, 2), look_ahead(tree, 2)
        assert (found.values, found.nodes) == (plain.values, plain.nodes)


def test_their_effect_is_counted():
    """Each kept line costs nodes and finds the best move more often; two more plies find it oftenest."""
    found = {each.name: each for each in study_extensions(120, seed=1)}
    nodes = [found[name].nodes for name in ("2 plies", "1 line kept", "2 lines kept", "3 lines kept", "4 plies")]
    assert nodes == sorted(nodes)
    assert found["2 plies"].right < found["3 lines kept"].right < found["4 plies"].right
    assert found["2 plies"].loss > found["2 lines kept"].loss > found["4 plies"].loss
    assert found["2 plies"].nodes < found["singular extension"].nodes < found["4 plies"].nodes
    with pytest.raises(BadParameter):
        study_extensions(0)


def random_tree(rng, depth):
    return rng.random() if depth == 0 else [random_tree(rng, depth - 1) for _ in range(3)]


def test_a_margin_of_zero_is_alphabeta():
    rng = random.Random(3)
    for _ in range(20):
        tree = random_tree(rng, 5)
        assert alphabeta(tree, margin=0.0) == alphabeta(tree)
        assert alphabeta(tree).value == minimax(tree)


def test_narrow_windows_are_cut_and_what_that_costs():
    found = study_margins(8, seed=2)
    assert [each.leaves for each in found] == sorted((each.leaves for each in found), reverse=True)
    assert found[0].error == 0 and found[0].right == 1
    assert all(each.worst <= each.margin + 1e-12 for each in found)
    assert found[-1].leaves < 0.5 * found[0].leaves
