"""Expectimax and expectiminimax: Russell and Norvig's values, and any tree beside a plain judge."""

import random
from fractions import Fraction

import pytest

from tengen.course.alphabeta import BadTree
from tengen.course.chance_trees import choice_text, dice_lines, draw_dice, expectiminimax, read_dice_tree
from tengen.rules.errors import BadParameter
from tengen.search.gametree import minimax


def value_of(text, **options):
    return expectiminimax(read_dice_tree(text), **options).value


def test_values_are_more_than_an_order():
    """Russell and Norvig: 2.1 against 1.3; with the leaves stretched, in the same order, 21 against 40.9."""
    for name, values, best in (("dice", (2.1, 1.3), 0), ("stretched", (21, 40.9), 1)):
        root = expectiminimax(read_dice_tree(name))
        assert [float(each.value) for each in root.below] == pytest.approx(values)
        assert root.best() == best


def test_chance_between_max_and_min():
    root = expectiminimax(read_dice_tree("coins"))
    assert [node.kind for node in (root, root.below[0], root.below[0].below[0])] == ["MAX", "chance", "MIN"]
    assert (root.value, [each.value for each in root.below]) == (3, [3, -1])
    assert value_of("coins", is_alone=True) == Fraction(4 + 7, 2)  # nobody is MIN
    assert value_of("coins", is_max=False) == Fraction(6 + 5, 2)  # MIN moves first, then MAX
    assert list(dice_lines(root))[:3] == ["MAX 3", "├─ chance 3", "│  ├─ 0.5: MIN 2"]
    assert choice_text(root) == "the value is 3, by move 1"


def random_tree(rng, depth):
    """A tree as text, and its value by a plain judge, for MAX to move and for MIN."""
    if depth == 0:
        leaf = rng.randint(-9, 9)
        return str(leaf), leaf, leaf
    found = [random_tree(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.4:
        weights = [rng.randint(0, 4) for _ in found]
        weights[0] += 1
        chances = [Fraction(weight, sum(weights)) for weight in weights]
        text = ", ".join(f"{p}: {each[0]}" for p, each in zip(chances, found, strict=True))
        means = [sum(p * each[i] for p, each in zip(chances, found, strict=True)) for i in (1, 2)]
        return f"{{{text}}}", *means
    return f"[{', '.join(each[0] for each in found)}]", max(each[2] for each in found), min(each[1] for each in found)


def test_any_tree_beside_a_plain_judge():
    rng = random.Random(4)
    for _ in range(200):
        text, for_max, for_min = random_tree(rng, rng.randint(1, 5))
        assert value_of(text) == for_max
        assert value_of(text, is_max=False) == for_min


def test_without_dice_it_is_minimax():
    assert value_of("[[3, 12, 8], [2, 7, 1], [14, 5, 2]]") == minimax([[3, 12, 8], [2, 7, 1], [14, 5, 2]])


def test_the_picture_shows_values_and_chances():
    svg = draw_dice(expectiminimax(read_dice_tree("dice"))).svg()
    assert all(f">{words}</text>" in svg for words in ("2.1", "1.3", "0.9", "0.1"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not finished"),
        ("[1, 2", "not finished"),
        ("[1 2]", "here stands"),
        ("[]", "no number"),
        ("{0.5: 1, 0.4: 2}", "1 together"),
        ("{-1: 1, 2: 2}", "0 at least"),
        ("{0.5 1}", "here stands :"),
        ("[1, x]", "no number"),
        ("[1/0]", "divides by zero"),
        ("[9999999]", "too large"),
        ("[1] 2", "ended before"),
        ("[" * 40, "12 levels"),
        ("[" + "1," * 3000 + "1]", "2000 nodes"),
        ("1 " * 9000, "10000 is the most"),
    ],
)
def test_bad_trees_are_refused(text, words):
    with pytest.raises(BadTree, match=words):
        read_dice_tree(text)


def test_nobody_chooses_at_a_node_of_chance():
    with pytest.raises(BadParameter, match="nobody chooses"):
        choice_text(expectiminimax(read_dice_tree("{1: 2}")))
