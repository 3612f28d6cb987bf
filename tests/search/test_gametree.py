"""The lecture's alpha-beta tree, number by number; and any other tree."""

import random
from math import inf

from tengen.search.gametree import alphabeta, minimax

LECTURE = [[3, 12, 8], [2, 7, 1], [14, 5, 2]]  # x and y, which are pruned, are 7 and 1 here


def test_the_lecture():
    """Value 3; the second MIN node stops after its first leaf, by an alpha cut; nothing else is cut."""
    root = alphabeta(LECTURE)
    assert root.value == 3
    assert [child.value for child in root.children] == [3, 2, 2]
    assert [(child.alpha, child.beta) for child in root.children] == [(-inf, inf), (3, inf), (3, inf)]
    assert [child.cut for child in root.children] == ["", "alpha", ""]
    assert [child.pruned for child in root.children] == [[], [(1, 1), (1, 2)], []]
    assert root.children[1].reason() == "alpha cut: MIN can have 2 here, and MAX has 3 elsewhere"
    looked_at = [node.value for node in root.nodes() if len(node.path) == 2]
    assert looked_at == [3, 12, 8, 2, 14, 5, 2]


def test_a_beta_cut():
    """The lecture's tree turned over: MAX below MIN."""
    root = alphabeta([[-3, -12, -8], [-2, -7, -1]], is_max=False)
    assert (root.value, root.children[1].cut, root.children[1].pruned) == (-3, "beta", [(1, 1), (1, 2)])
    assert root.children[1].reason() == "beta cut: MAX can have -2 here, and MIN allows only -3 elsewhere"


def random_tree(rng, depth):
    if depth == 0 or rng.random() < 0.1:
        return rng.randrange(-9, 10)
    return [random_tree(rng, depth - 1) for _ in range(rng.randrange(1, 4))]


def test_it_equals_minimax_and_looks_at_less():
    rng, saved = random.Random(5), 0
    for _ in range(300):
        tree = random_tree(rng, 5)
        root = alphabeta(tree)
        assert root.value == minimax(tree)
        saved += sum(len(node.pruned) for node in root.nodes())
        for node in root.nodes():  # a cut is where the window closed
            assert (node.cut == "alpha") == (bool(node.pruned) and not node.is_max and node.value <= node.alpha)
            assert (node.cut == "beta") == (bool(node.pruned) and node.is_max and node.value >= node.beta)
    assert saved > 1000
