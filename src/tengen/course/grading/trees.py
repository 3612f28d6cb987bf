"""The assignments on trees: minimax and alpha-beta."""

from __future__ import annotations

import random
from typing import Any

from tengen.course.alphabeta import SEVEN_LEVELS, read_tree
from tengen.course.grading.questions import Assignment, Question, expect
from tengen.course.grading.sandbox import StudentCode
from tengen.search import gametree

LECTURE: gametree.Tree = [[3, 12, 8], [2, 7, 1], [14, 5, 2]]
TREES = 25

MINIMAX_STARTER = '''"""Minimax. A tree is a number, a leaf's value for MAX, or a list of trees."""


def minimax(tree, is_max):
    """The value of the tree; is_max says whether MAX moves at its root. Players take turns."""
    raise NotImplementedError


def best_move(tree, is_max):
    """The index of the first of the best moves at the root."""
    raise NotImplementedError
'''
ALPHABETA_STARTER = '''"""Alpha-beta. A tree is a number, a leaf's value for MAX, or a list of trees."""


def alphabeta(tree, is_max):
    """[value, leaves]: the value of the tree, and the leaves' values in the order in which they were looked at.

    Children are looked at from left to right; a node is left as soon as alpha >= beta.
    """
    raise NotImplementedError
'''


def random_trees(seed: int) -> list[Any]:
    rng = random.Random(seed)

    def tree(depth: int) -> Any:
        if depth == 0 or rng.random() < 0.1:
            return rng.randint(-20, 20)
        return [tree(depth - 1) for _ in range(rng.randint(1, 4))]

    return [[tree(4) for _ in range(3)] for _ in range(TREES)]


def ask_minimax(code: StudentCode, tree: Any, is_max: bool) -> None:
    expect(code.call("minimax", tree, is_max), gametree.minimax(tree, is_max), f"minimax({tree}, {is_max})")


def judge_random_minimax(code: StudentCode) -> None:
    for number, tree in enumerate(random_trees(1)):
        ask_minimax(code, tree, number % 2 == 0)


def judge_best_moves(code: StudentCode) -> None:
    for number, tree in enumerate([LECTURE, *random_trees(2)]):
        is_max = number % 2 == 0
        values = [gametree.minimax(child, not is_max) for child in tree]
        right = values.index(max(values) if is_max else min(values))
        expect(code.call("best_move", tree, is_max), right, f"best_move({tree}, {is_max})")


def right_alphabeta(tree: Any, is_max: bool) -> list[Any]:
    root = gametree.alphabeta(tree, is_max)
    return [root.value, [node.value for node in root.nodes() if not node.children]]


def ask_alphabeta(code: StudentCode, tree: Any, is_max: bool) -> None:
    expect(code.call("alphabeta", tree, is_max), right_alphabeta(tree, is_max), f"alphabeta({tree}, {is_max})")


def judge_values(code: StudentCode) -> None:
    for number, tree in enumerate(random_trees(3)):
        answer, is_max = code.call("alphabeta", tree, number % 2 == 0), number % 2 == 0
        value = answer[0] if isinstance(answer, list) and answer else answer
        expect(value, gametree.minimax(tree, is_max), f"the value of {tree}")


def judge_leaves(code: StudentCode) -> None:
    for number, tree in enumerate(random_trees(4)):
        ask_alphabeta(code, tree, number % 2 == 0)


MINIMAX = Assignment(
    "minimax",
    "values and best moves of written trees",
    MINIMAX_STARTER,
    (
        Question("a leaf", 1, lambda code: ask_minimax(code, 7, True)),
        Question("the lecture's tree", 2, lambda code: ask_minimax(code, LECTURE, True)),
        Question("MIN moves first", 2, lambda code: ask_minimax(code, LECTURE, False)),
        Question("any tree", 3, judge_random_minimax),
        Question("the best move", 2, judge_best_moves),
    ),
)
ALPHABETA = Assignment(
    "alphabeta",
    "the same values from fewer leaves",
    ALPHABETA_STARTER,
    (
        Question("the lecture's tree", 2, lambda code: ask_alphabeta(code, LECTURE, True)),
        Question("a beta cut", 2, lambda code: ask_alphabeta(code, [[-3, -12, -8], [-2, -7, -1]], False)),
        Question("the value of any tree", 2, judge_values),
        Question("the leaves of any tree", 3, judge_leaves),
        Question("seven levels", 1, lambda code: ask_alphabeta(code, read_tree(SEVEN_LEVELS).bare(), True)),
    ),
)
