"""max^n, paranoid search and teams: Russell and Norvig's tree, and laws on random ones."""

import random

import pytest

from tengen.course.alphabeta import BadTree
from tengen.course.many_players import (
    PayoffTree,
    draw_payoffs,
    in_teams,
    max_n,
    paranoid,
    payoff_lines,
    read_payoff_tree,
    read_teams,
    value_text,
    way_text,
)
from tengen.rules.errors import BadParameter
from tengen.search.gametree import alphabeta


def test_russell_and_norvigs_tree():
    """Tuples as the book backs them up: C's, B's, A's."""
    root = max_n(read_payoff_tree("three"))
    assert [each.payoffs for b in root.below for each in b.below] == [(1, 2, 6), (6, 1, 2), (1, 5, 2), (5, 4, 5)]
    assert [b.payoffs for b in root.below] == [(1, 2, 6), (1, 5, 2)]
    assert (root.payoffs, way_text(root)) == ((1, 2, 6), "A1 B1 C1")
    assert next(iter(payoff_lines(root))) == "A (1, 2, 6)"


def test_fear_costs():
    tree = read_payoff_tree("afraid")
    assert max_n(tree).payoffs[0] == 9
    afraid = paranoid(tree)
    assert (afraid.payoffs[0], value_text("paranoid", afraid)) == (2, "2 at least, for A")


def random_tree(rng, depth, players):
    if depth == 0:
        return PayoffTree(tuple(float(rng.randint(0, 9)) for _ in range(players)))
    return PayoffTree(below=tuple(random_tree(rng, depth - 1, players) for _ in range(rng.randint(1, 3))))


def test_nobody_can_do_better_alone():
    """max^n is an equilibrium: at each node, no other child gives the mover more."""
    rng = random.Random(5)
    for _ in range(100):
        waiting = [max_n(random_tree(rng, 4, 3))]
        for node in waiting:
            waiting += node.below
            if node.below:
                assert node.payoffs[node.player] == max(child.payoffs[node.player] for child in node.below)
                assert node.payoffs == node.below[node.chosen].payoffs


def test_two_players_of_a_zero_sum_game_are_minimax():
    rng = random.Random(6)

    def zero_sum(tree):
        if not tree.below:
            return PayoffTree((tree.payoffs[0], -tree.payoffs[0]))
        return PayoffTree(below=tuple(map(zero_sum, tree.below)))

    def bare(tree):
        return [bare(child) for child in tree.below] if tree.below else tree.payoffs[0]

    for _ in range(100):
        tree = zero_sum(random_tree(rng, 4, 2))
        value = alphabeta(bare(tree)).value
        assert max_n(tree).payoffs[0] == paranoid(tree).payoffs[0] == in_teams(tree, [[0], [1]]).payoffs[0] == value


def test_a_paranoid_player_is_sure_of_its_value():
    """Whatever the others do: no more than max^n's players would let it have, if they are its enemies."""
    rng = random.Random(7)
    for _ in range(50):
        tree = random_tree(rng, 3, 3)
        sure = paranoid(tree).payoffs[0]
        enemies = [[0], [1, 2]]
        assert sure <= max(child.payoffs[0] for child in in_teams(tree, enemies).below) or not tree.below
        best = max(min(leaf[0] for leaf in child.leaves()) for child in tree.below)
        assert sure >= best


def test_one_team_of_all_takes_the_best_sum():
    rng = random.Random(8)
    for _ in range(50):
        tree = random_tree(rng, 4, 3)
        assert sum(in_teams(tree, [[0, 1, 2]]).payoffs) == max(sum(leaf) for leaf in tree.leaves())


def test_the_picture_shows_every_tuple():
    svg = draw_payoffs(max_n(read_payoff_tree("three"))).svg()
    assert svg.count("(1, 2, 6)") == 4 and "(7, 7, 1)" in svg


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "write one tree"),
        ("[(1,2)", "write one tree"),
        ("(1,2)]", "closes nothing"),
        ("[]", "closes nothing"),
        ("[(1,2), (1,2,3)]", "what each player gets"),
        ("[(1)]", "what each player gets"),
        ("[(1,x)]", "no leaf"),
        ("[(1,nan)]", "1,000,000 at most"),
        ("[1]", "no part of a tree"),
        ("[" * 20, "12 levels"),
        ("(1,2)" * 3000, "10000 is the most"),
    ],
)
def test_bad_trees_are_refused(text, words):
    with pytest.raises(BadTree, match=words):
        read_payoff_tree(text)


@pytest.mark.parametrize("text", ["", "AB", "AB,BC", "AD,B,C"])
def test_bad_teams_are_refused(text):
    with pytest.raises(BadParameter, match="in one team"):
        read_teams(text, 3)
