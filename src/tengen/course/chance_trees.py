"""Trees with dice: expectiminimax on a tree written down, and expectimax where nobody plays against MAX.

A tree is a leaf's value for MAX, a list of trees in [ ] for a player's moves, or { } for what chance may do, each with
its probability: `[{0.9: 2, 0.1: 3}, {0.9: 1, 0.1: 4}]`. MAX moves at the root; below, players take turns, whatever
chance does between. All is computed in fractions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from tengen.course.alphabeta import BadTree
from tengen.course.pictures import (
    BLUE,
    GREEN,
    INK,
    MARGIN,
    ORANGE,
    PALE_BLUE,
    PALE_GREEN,
    PALE_ORANGE,
    SOFT,
    Picture,
    Shape,
    check_count,
    places,
)
from tengen.rules.errors import BadParameter

MOST_NODES, DEEPEST, LONGEST_TEXT, MOST_DRAWN = 2000, 12, 10_000, 60
LARGEST = 10**6
EXAMPLES = {  # Russell and Norvig's: the same order of leaves, another move
    "dice": "[{0.9: 2, 0.1: 3}, {0.9: 1, 0.1: 4}]",
    "stretched": "[{0.9: 20, 0.1: 30}, {0.9: 1, 0.1: 400}]",
    "coins": "[{1/2: [2, 4], 1/2: [7, 4]}, {1/2: [6, 0], 1/2: [5, -2]}]",
}
TOKEN = re.compile(r"\s*(?:([\[{])|([\]}])|(,)|(:)|([-+−]?\d+(?:\.\d+)?(?:/\d+)?)|(\S))")
MAX, MIN, CHANCE, LEAF = "MAX", "MIN", "chance", "leaf"


@dataclass(frozen=True)
class DiceTree:
    """A written tree: a leaf, a player's moves, or chance's outcomes."""

    value: Fraction = Fraction(0)
    below: tuple[DiceTree, ...] = ()
    chances: tuple[Fraction, ...] = ()  # of each tree below, if chance moves here

    @property
    def is_leaf(self) -> bool:
        return not self.below

    def count(self) -> int:
        return 1 + sum(each.count() for each in self.below)


@dataclass(frozen=True)
class DiceNode:
    """A node with its value."""

    kind: str  # MAX, MIN, chance or leaf
    value: Fraction
    below: tuple[DiceNode, ...] = ()
    chances: tuple[Fraction, ...] = ()

    def best(self) -> int:
        """The first child whose value a player's node has."""
        return next(i for i, child in enumerate(self.below) if child.value == self.value)


# The values


def expectiminimax(tree: DiceTree, is_max: bool = True, is_alone: bool = False) -> DiceNode:
    """Every node's value, from the leaves up.

    MAX takes the greatest value, MIN the least; a chance node is worth the mean of its outcomes, each weighed by its
    probability. If MAX is alone, no node is MIN's: that is expectimax.
    """
    if tree.is_leaf:
        return DiceNode(LEAF, tree.value)
    if tree.chances:
        below = tuple(expectiminimax(each, is_max, is_alone) for each in tree.below)
        mean = sum((p * each.value for p, each in zip(tree.chances, below, strict=True)), Fraction(0))
        return DiceNode(CHANCE, mean, below, tree.chances)
    below = tuple(expectiminimax(each, is_alone or not is_max, is_alone) for each in tree.below)
    values = [each.value for each in below]
    return DiceNode(MAX if is_max else MIN, max(values) if is_max else min(values), below)


# Reading


class DiceTreeReader:
    """Reads one tree from a text, and says where it cannot."""

    def __init__(self, text: str):
        if len(text) > LONGEST_TEXT:
            raise BadTree(f"the tree has {len(text)} characters; {LONGEST_TEXT} is the most")
        self.tokens = [(match.lastindex, match[match.lastindex or 0], match.end()) for match in TOKEN.finditer(text)]
        self.at = self.count = 0

    def look(self) -> tuple[int | None, str, int]:
        """The next word: its kind, the word, where it ends."""
        if self.at == len(self.tokens):
            raise BadTree(f"the tree is not finished; write one as {EXAMPLES['dice']}")
        return self.tokens[self.at]

    def take(self, words: str) -> None:
        """The next word, which must be one of these."""
        _, word, end = self.look()
        if word not in words.split():
            raise BadTree(f"{word!r} at character {end}: here stands {' or '.join(words.split())}")
        self.at += 1

    def number(self) -> Fraction:
        kind, word, end = self.look()
        if kind != 5:
            raise BadTree(f"{word!r} at character {end} is no number")
        self.at += 1
        try:
            value = Fraction(word.replace("−", "-"))
        except ZeroDivisionError:
            raise BadTree(f"{word} divides by zero") from None
        if abs(value) > LARGEST:
            raise BadTree(f"{word} is too large; {LARGEST:,} is the most")
        return value

    def tree(self, depth: int = 0) -> DiceTree:
        self.count += 1
        if depth > DEEPEST or self.count > MOST_NODES:
            raise BadTree(f"a tree has {MOST_NODES} nodes and {DEEPEST} levels at most")
        _, word, end = self.look()
        if word not in ("[", "{"):
            return DiceTree(self.number())
        self.at += 1
        below, chances = [], []
        while True:
            if word == "{":
                chances.append(self.number())
                self.take(":")
            below.append(self.tree(depth + 1))
            if self.look()[1] != ",":
                break
            self.at += 1
        self.take("}" if word == "{" else "]")
        if chances and (min(chances) < 0 or sum(chances) != 1):
            told = " + ".join(map(str, chances))
            raise BadTree(f"chances at character {end}: {told} = {sum(chances)}; they are 0 at least, and 1 together")
        return DiceTree(below=tuple(below), chances=tuple(chances))


def read_dice_tree(text: str) -> DiceTree:
    """The tree of a text, or of the name of an example."""
    reader = DiceTreeReader(EXAMPLES.get(text, text))
    tree = reader.tree()
    if reader.at < len(reader.tokens):
        raise BadTree(f"{reader.look()[1]!r} at character {reader.look()[2]}: the tree has ended before")
    return tree


# In words


def number_text(value: Fraction) -> str:
    """A fraction as a decimal where that is short and exact, else as it is."""
    decimal = f"{float(value):.6g}"
    is_exact = "e" not in decimal and Fraction(decimal) == value
    return (decimal if is_exact else str(value)).replace("-", "−")


def dice_lines(node: DiceNode, lead: str = "", branch: str = "", label: str = "") -> Iterator[str]:
    """The tree, a line for each node, outcomes of chance with their probability."""
    name = "" if node.kind == LEAF else f"{node.kind} "
    yield f"{lead}{branch}{label}{name}{number_text(node.value)}"
    deeper = lead + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
    for i, child in enumerate(node.below):
        told = f"{number_text(node.chances[i])}: " if node.chances else ""
        yield from dice_lines(child, deeper, "└─ " if i + 1 == len(node.below) else "├─ ", told)


# As a picture

COLUMN, LEVEL, REACH = 62, 84, 20


def draw_dice(root: DiceNode) -> Picture:
    """△ is MAX's turn, ▽ MIN's, ○ chance's; probabilities stand at the branches."""
    nodes, children = [root], {}
    parents: dict[int, tuple[int, int]] = {}
    for at, node in enumerate(nodes):
        children[at] = list(range(len(nodes), len(nodes) + len(node.below)))
        parents |= {child: (at, i) for i, child in enumerate(children[at])}
        nodes += node.below
        check_count(len(nodes), MOST_DRAWN, "nodes")
    spots = {
        at: (MARGIN + (column + 0.5) * COLUMN, MARGIN + REACH + level * LEVEL)
        for at, (column, level) in places(children).items()
    }
    picture = Picture("expectiminimax")
    picture.width = max(x for x, _ in spots.values()) + COLUMN / 2 + MARGIN
    picture.height = max(y for _, y in spots.values()) + REACH + MARGIN
    for at, (above, i) in parents.items():
        (x, y), (above_x, above_y) = spots[at], spots[above]
        is_chosen = nodes[above].kind in (MAX, MIN) and nodes[above].best() == i
        picture.line(above_x, above_y, x, y, edge=GREEN if is_chosen else SOFT, thickness=2.4 if is_chosen else 1.2)
        if nodes[above].chances:
            text = number_text(nodes[above].chances[i])
            picture.write((x + above_x) / 2 + 4, (y + above_y) / 2, text, size=11, colour=SOFT, anchor="start")
    for at, (x, y) in spots.items():
        draw_dice_node(picture, nodes[at], x, y)
    return picture


def draw_dice_node(picture: Picture, node: DiceNode, x: float, y: float) -> None:
    text = number_text(node.value)
    if node.kind == LEAF:
        picture.box(x - REACH, y - 12, 2 * REACH, 24, fill="#ffffff", edge=INK)
    elif node.kind == CHANCE:
        picture.items.append(Shape(round_shape(x, y, REACH), fill=PALE_GREEN, edge=GREEN))
    else:
        up = -REACH if node.kind == MAX else REACH
        corners = ((x, y + up), (x + 1.25 * REACH, y - up), (x - 1.25 * REACH, y - up))
        fill, edge = (PALE_BLUE, BLUE) if node.kind == MAX else (PALE_ORANGE, ORANGE)
        picture.items.append(Shape(corners, fill=fill, edge=edge))
        y -= 0.35 * up
    picture.write(x, y, text, size=11, is_bold=True)


def round_shape(x: float, y: float, radius: float) -> tuple[tuple[float, float], ...]:
    """A circle, as a polygon of 24 corners."""
    from math import cos, pi, sin

    return tuple((x + radius * cos(pi * i / 12), y + radius * sin(pi * i / 12)) for i in range(24))


def choice_text(root: DiceNode) -> str:
    """What the player at the root should do."""
    if root.kind in (CHANCE, LEAF):
        raise BadParameter("nobody chooses at the root of this tree; begin with [ … ]")
    return f"the value is {number_text(root.value)}, by move {root.best() + 1}"
