"""Minimax and alpha-beta in words and as pictures, and how much the order of moves saves.

What is told is a `Walk`: the search itself is `search/gametree.py`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from statistics import mean
from typing import Any

from tengen.course.alphabeta import Spot, Step, Walk
from tengen.course.pictures import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    MARGIN,
    ORANGE,
    PALE_BLUE,
    PALE_ORANGE,
    SOFT,
    Chart,
    Picture,
    Shape,
    check_count,
    places,
)
from tengen.course.reproduce.lecture import best_first, leaves, random_tree
from tengen.report.charts import Line
from tengen.rules.errors import BadParameter
from tengen.search.gametree import Node, Tree, alphabeta, minimax

MOST_DRAWN = 130
COLUMN, LEVEL, REACH = 54, 92, 19  # between two leaves, between two levels, from a node's middle to its edge
MOST_LEAVES = 20_000  # of a random tree


def number(value: float | None, infinite: str = "") -> str:
    return infinite if value is None else f"{value:g}".replace("-", "−")


def window(alpha: float | None, beta: float | None) -> str:
    return f"[{number(alpha, '−∞')}, {number(beta, '+∞')}]"


def mover(spot: Spot) -> str:
    return "MAX" if spot.is_max else "MIN"


def reason(spot: Spot) -> str:
    """A cut in the search's own words."""
    if not spot.cut:
        return ""
    alpha, beta = -inf if spot.alpha is None else spot.alpha, inf if spot.beta is None else spot.beta
    return Node((), spot.is_max, alpha, beta, spot.value or 0.0, spot.cut).reason()


def children_of(walk: Walk) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for spot in walk.spots:
        if spot.parent is not None:
            found.setdefault(spot.parent, []).append(spot.id)
    return found


# In words


def tree_text(walk: Walk, with_cuts: bool) -> Iterator[str]:
    """The tree, a line for each node: with its minimax value, or with what alpha-beta made of it."""
    below = children_of(walk)

    def lines(at: int, lead: str, branch: str) -> Iterator[str]:
        spot = walk.spots[at]
        yield lead + branch + (cut_words(spot) if with_cuts else value_words(spot))
        deeper = lead + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
        if with_cuts and not spot.is_seen:
            return
        for child in below.get(at, []):
            yield from lines(child, deeper, "└─ " if child == below[at][-1] else "├─ ")

    yield from lines(0, "", "")


def value_words(spot: Spot) -> str:
    name = f"{spot.name} " if spot.name else ""
    return f"{name}{number(spot.minimax)}" if spot.is_leaf else f"{name}{mover(spot)} {number(spot.minimax)}"


def cut_words(spot: Spot) -> str:
    name = f"{spot.name} " if spot.name else ""
    if not spot.is_seen:
        return f"{name}not looked at"
    if spot.is_leaf:
        return f"{name}{number(spot.value)}"
    words = f"{name}{mover(spot)} {window(spot.alpha, spot.beta)} → {number(spot.value)}"
    return f"{words}   {reason(spot)}" if spot.cut else words


def step_text(walk: Walk, step: Step) -> str:
    """One thing that alpha-beta did, in words."""
    spot = walk.spots[step.at]
    name = spot.name or ("the root" if spot.parent is None else f"node {spot.id}")
    bounds = window(step.alpha, step.beta)
    if step.kind == "cut":
        return f"cut    {name}: {reason(spot)}; {len(step.pruned)} left out"
    if step.kind == "leaf":
        return f"leaf   {name} is {number(step.value)}"
    if step.kind == "enter":
        return f"enter  {name}, {mover(spot)}, with {bounds}"
    if step.kind == "leave":
        return f"leave  {name} with {number(step.value)}"
    what = {"raise": "raises α", "lower": "lowers β", "keep": "changes nothing"}[step.kind]
    return f"told   {name}: {number(step.value)} so far, {what}: {bounds}"


def counts_text(walk: Walk) -> list[tuple[str, ...]]:
    """How much each order makes alpha-beta look at, as rows of a table."""
    words = {"minimax": "minimax", "written": "alpha-beta as written", "best": "best move first"}
    words |= {"worst": "worst move first", "guess": "ordered by the evaluation"}
    head = ("", "nodes", "leaves")
    return [head, *((words[name], f"{walk.nodes[name]:,}", f"{walk.leaves[name]:,}") for name in walk.nodes)]


# As a picture


def draw_walk(walk: Walk, with_cuts: bool = True) -> Picture:
    """The tree: △ is MAX's turn, ▽ MIN's; what alpha-beta never looked at is faint."""
    check_count(len(walk.spots), MOST_DRAWN, "nodes")
    below, spots = children_of(walk), {}
    for at, (column, level) in places(below).items():
        spots[at] = MARGIN + (column + 0.5) * COLUMN, MARGIN + REACH + 16 + level * LEVEL
    picture = Picture("alpha-beta" if with_cuts else "minimax")
    picture.width = max(x for x, _ in spots.values()) + COLUMN / 2 + MARGIN
    picture.height = max(y for _, y in spots.values()) + REACH + 16 + MARGIN
    for at, (x, y) in spots.items():
        spot = walk.spots[at]
        if spot.parent is not None:
            above_x, above_y = spots[spot.parent]
            is_faint = with_cuts and not spot.is_seen
            picture.line(above_x, above_y, x, y, edge=FAINT if is_faint else SOFT, is_dashed=is_faint)
            if spot.name and not spot.is_leaf:
                picture.write((x + above_x) / 2, (y + above_y) / 2, spot.name, size=11, colour=SOFT)
    for at, (x, y) in spots.items():
        draw_spot(picture, walk.spots[at], x, y, with_cuts)
    return picture


def draw_spot(picture: Picture, spot: Spot, x: float, y: float, with_cuts: bool) -> None:
    is_faint = with_cuts and not spot.is_seen
    up = -REACH if spot.is_max else REACH
    edge = FAINT if is_faint else BLUE if spot.is_max else ORANGE
    looks: dict[str, Any] = {"fill": "#ffffff" if is_faint else PALE_BLUE if spot.is_max else PALE_ORANGE, "edge": edge}
    if spot.is_leaf:
        picture.box(
            x - REACH, y - 12, 2 * REACH, 24, **{**looks, "fill": "#ffffff", "edge": FAINT if is_faint else INK}
        )
    else:
        corners = ((x, y + up), (x + 1.15 * REACH, y - up), (x - 1.15 * REACH, y - up))
        picture.items.append(Shape(corners, **looks))
    value = spot.minimax if not with_cuts else spot.value
    text = (spot.name or "?") if is_faint else number(value)
    middle = 0 if spot.is_leaf else -0.35 * up
    picture.write(x, y + middle, text, size=12, colour=FAINT if is_faint else INK, is_bold=not is_faint)
    if spot.is_leaf and spot.name and not is_faint:
        picture.write(x, y + 22, spot.name, size=11, colour=SOFT)
    if with_cuts and not spot.is_leaf and spot.is_seen:
        picture.write(x, y - REACH - 9, window(spot.alpha, spot.beta), size=10, colour=SOFT)
        if spot.cut:
            picture.write(x, y + REACH + 10, f"{spot.cut} cut", size=11, colour=GREEN, is_bold=True)


# Orders


ORDERINGS = {  # how often the best child comes first; the others are at random
    "worst first": -1.0,
    "random": 0.0,
    "best first in 1 of 2": 0.5,
    "best first in 9 of 10": 0.9,
    "best first": 1.0,
}


@dataclass(frozen=True)
class Study:
    """Leaves that alpha-beta looks at in random trees of a branching and several heights, by order."""

    branching: int
    heights: list[int]
    leaves: dict[str, list[float]]  # [heights], on average

    def laws(self) -> dict[str, list[float]]:
        """What the lecture names: b^h, b^(3h/4), b^(h/2)."""
        powers = {"b^h": 1.0, "b^(3h/4)": 0.75, "b^(h/2)": 0.5}
        return {name: [self.branching ** (power * h) for h in self.heights] for name, power in powers.items()}

    def chart(self) -> Chart:
        lines = [
            Line(name, [(float(h), y) for h, y in zip(self.heights, counts, strict=True)])
            for name, counts in (self.laws() | self.leaves).items()
        ]
        return Chart(f"Leaves looked at, {self.branching} moves at each node", lines, "plies", is_logarithmic=True)


def reordered(tree: Tree, share: float, rng: random.Random, is_max: bool = True) -> Tree:
    """The tree with the best child of a node first in so great a share of the nodes, or (−1) with the worst first."""
    if not isinstance(tree, list):
        return tree
    children = list(tree)
    if share < 0:
        children.sort(key=lambda child: minimax(child, not is_max), reverse=not is_max)
    elif rng.random() < share:
        best = (max if is_max else min)(children, key=lambda child: minimax(child, not is_max))
        children.sort(key=lambda child: child is not best)
    return [reordered(child, share, rng, not is_max) for child in children]


def study_orders(branching: int = 4, height: int = 6, trees: int = 5, seed: int = 1) -> Study:
    """Alpha-beta on random trees of each height up to `height`, in orders from the worst to the best."""
    if not (branching >= 2 and height >= 1 and trees >= 1 and branching**height <= MOST_LEAVES):
        raise BadParameter(
            f"{branching} moves and {height} plies: 2 moves and 1 ply at least, and {MOST_LEAVES:,} leaves at most"
        )
    rng, heights = random.Random(seed), list(range(1, height + 1))
    found: dict[str, list[float]] = {name: [] for name in ORDERINGS}
    for h in heights:
        drawn = [random_tree(rng, branching, h) for _ in range(trees)]
        for name, share in ORDERINGS.items():
            trees_ordered = (best_first(tree) if share == 1 else reordered(tree, share, rng) for tree in drawn)
            found[name].append(mean(leaves(alphabeta(tree)) for tree in trees_ordered))
    return Study(branching, heights, found)
