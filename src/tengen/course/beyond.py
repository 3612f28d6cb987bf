"""What the lecture's other improvements gain: kept lines, singular extension, cuts where the window is narrow.

They are tried on many random trees whose end is known. Each move of a tree adds a random step to the score, good for
its player or bad, and what an evaluation guesses of a node is the score so far: near the truth, as evaluations are, but
blind for what comes. Counted are the nodes looked at, how often the move that is chosen is truly best, and how much a
choice loses on average.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tengen.course.reproduce.lecture import leaves, random_tree
from tengen.rules.errors import BadParameter
from tengen.search.gametree import Node, alphabeta, minimax
from tengen.search.selective import Guessed, MoveValues, back_up_to, extend_singular, keep_lines, look_ahead

BRANCHING, HEIGHT, DEPTH, MORE = 5, 5, 2, 2
MOST_TREES = 5000
MARGINS = (0.0, 0.05, 0.1, 0.2)  # of values drawn from 0 to 1
NARROW = 4, 6  # moves and plies of the trees in which narrow windows are cut


@dataclass(frozen=True)
class ExtensionEffect:
    """One way to search, over all trees."""

    name: str
    nodes: float  # looked at, on average
    right: float  # how often the move was truly best
    loss: float  # by how much a choice falls short of the best, on average


def guessed_tree(rng: random.Random, branching: int = BRANCHING, height: int = HEIGHT, score: int = 0) -> Guessed:
    """A random tree: each move adds −9 to 9 to the score. A won or lost piece (±30) comes once in ten moves."""
    if height == 0:
        return Guessed(score)
    below = []
    for _ in range(branching):
        step = rng.choice((-30, 30)) if rng.random() < 0.1 else rng.randint(-9, 9)
        below.append(guessed_tree(rng, branching, height - 1, score + step))
    return Guessed(score, tuple(below))


def searches(depth: int = DEPTH, more: int = MORE) -> dict[str, Callable[[Guessed], MoveValues]]:
    """The ways to search that are compared."""
    return {
        f"{depth} plies": partial(look_ahead, depth=depth),
        "1 line kept": partial(keep_lines, depth=depth, lines=1, more=more),
        "2 lines kept": partial(keep_lines, depth=depth, lines=2, more=more),
        "3 lines kept": partial(keep_lines, depth=depth, lines=3, more=more),
        "singular extension": partial(extend_singular, depth=depth, lead=15, more=more),
        f"{depth + more} plies": partial(look_ahead, depth=depth + more),
    }


def study_extensions(trees: int = 500, seed: int = 1) -> list[ExtensionEffect]:
    """Every way to search, on the same random trees."""
    check_trees(trees)
    rng = random.Random(seed)
    totals = {name: [0.0, 0.0, 0.0] for name in searches()}
    for _ in range(trees):
        tree = guessed_tree(rng)
        truth = [back_up_to(child, HEIGHT, False).value for child in tree.below]
        for name, search in searches().items():
            look, total = search(tree), totals[name]
            total[0] += look.nodes
            total[1] += truth[look.best] == max(truth)
            total[2] += max(truth) - truth[look.best]
    return [ExtensionEffect(name, *(each / trees for each in total)) for name, total in totals.items()]


@dataclass(frozen=True)
class NarrowCut:
    """Alpha-beta that also cuts where the window is no wider than a margin."""

    margin: float
    leaves: float  # looked at, on average
    right: float  # how often the move chosen is truly best
    error: float  # of the root's value, on average
    worst: float  # the greatest error


def study_margins(trees: int = 30, seed: int = 1) -> list[NarrowCut]:
    """Each margin, on the same random trees with values from 0 to 1."""
    check_trees(trees)
    rng = random.Random(seed)
    drawn = [random_tree(rng, *NARROW) for _ in range(trees)]
    truth = [minimax(tree) for tree in drawn]
    found = []
    for margin in MARGINS:
        roots = [alphabeta(tree, margin=margin) for tree in drawn]
        errors = [abs(root.value - value) for root, value in zip(roots, truth, strict=True)]
        looked_at = sum(leaves(root) for root in roots) / trees
        pairs = zip(drawn, roots, truth, strict=True)
        right = sum(minimax(tree[chosen_move(root)], False) == value for tree, root, value in pairs) / trees  # type: ignore[index]
        found.append(NarrowCut(margin, looked_at, right, sum(errors) / trees, max(errors)))
    return found


def chosen_move(root: Node) -> int:
    """The first move with the root's value."""
    return next(i for i, child in enumerate(root.children) if child.value == root.value)


def check_trees(trees: int) -> None:
    if not 1 <= trees <= MOST_TREES:
        raise BadParameter(f"trees={trees}: 1 to {MOST_TREES}")
