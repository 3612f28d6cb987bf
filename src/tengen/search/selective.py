"""Looking deeper where it matters, on trees written down: several kept lines, and singular extension.

A `Guessed` tree says of each node what an evaluation thinks of it, MAX's value; a node without children is worth its
guess exactly. `look_ahead` is minimax to a depth; `keep_lines` and `extend_singular` spend a few nodes beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Guessed:
    """A tree with a guess at every node."""

    guess: float
    below: tuple[Guessed, ...] = ()


@dataclass
class MoveValues:
    """What a search thinks of the root's moves, and how many nodes it looked at."""

    values: list[float]  # of each move, MAX's
    nodes: int
    is_max: bool

    @property
    def best(self) -> int:
        """The first of the best moves."""
        return self.values.index(max(self.values) if self.is_max else min(self.values))


@dataclass(frozen=True)
class Backed:
    """A value backed up from a depth: with the way to the node that has it, and the nodes looked at."""

    value: float
    way: tuple[int, ...]
    nodes: int


def back_up_to(tree: Guessed, depth: int, is_max: bool) -> Backed:
    """Minimax to a depth, where the guesses stand for what lies below."""
    if depth == 0 or not tree.below:
        return Backed(tree.guess, (), 1)
    found = [back_up_to(child, depth - 1, not is_max) for child in tree.below]
    values = [each.value for each in found]
    i = values.index(max(values) if is_max else min(values))
    return Backed(values[i], (i, *found[i].way), 1 + sum(each.nodes for each in found))


def look_ahead(tree: Guessed, depth: int, is_max: bool = True) -> MoveValues:
    """Minimax to a depth of 1 at least, for each of the root's moves."""
    found = [back_up_to(child, depth - 1, not is_max) for child in tree.below]
    return MoveValues([each.value for each in found], 1 + sum(each.nodes for each in found), is_max)


def keep_lines(tree: Guessed, depth: int, lines: int, more: int, is_max: bool = True) -> MoveValues:
    """Minimax to a depth; then, of the best moves' lines, as many as are kept, the ends are searched `more` plies on.

    A line's deeper value takes the place of its end's guess, and is backed up again. With one line kept, only the move
    that seemed best can lose its place; with several, another can also earn it.
    """
    found = [back_up_to(child, depth - 1, not is_max) for child in tree.below]
    look = MoveValues([each.value for each in found], 1 + sum(each.nodes for each in found), is_max)
    kept = sorted(range(len(found)), key=lambda i: look.values[i], reverse=is_max)[:lines]
    for i in kept:
        end, mover = tree.below[i], not is_max
        for step in found[i].way:
            end, mover = end.below[step], not mover
        deeper = back_up_to(end, more, mover)
        look.nodes += deeper.nodes - 1
        look.values[i] = replaced(tree.below[i], depth - 1, not is_max, found[i].way, deeper.value)
    return look


def replaced(tree: Guessed, depth: int, is_max: bool, way: tuple[int, ...], value: float) -> float:
    """Minimax to a depth, with another value at the end of a way. (What was looked at is known: it counts no more.)"""
    if not way:
        return value
    values = [
        replaced(child, depth - 1, not is_max, way[1:], value)
        if i == way[0]
        else back_up_to(child, depth - 1, not is_max).value
        for i, child in enumerate(tree.below)
    ]
    return max(values) if is_max else min(values)


def extend_singular(tree: Guessed, depth: int, lead: float, more: int, is_max: bool = True) -> MoveValues:
    """Minimax to a depth, where a node that is clearly better than its siblings is followed some plies on.

    At the depth, a child whose guess leads all its siblings' by `lead` at least, for the player who chooses it, is
    singular: it is searched `more` plies deeper before its value counts.
    """

    def visit(node: Guessed, left: int, mover: bool) -> tuple[float, int]:
        if left == 0 or not node.below:
            return node.guess, 1
        values, nodes = [], 1
        alone = singular_child(node, lead, mover) if left == 1 else None
        for i, child in enumerate(node.below):
            value, count = visit(child, left - 1, not mover)
            if i == alone:
                deeper = back_up_to(child, more, not mover)
                value, count = deeper.value, deeper.nodes
            values.append(value)
            nodes += count
        return (max(values) if mover else min(values)), nodes

    if depth == 1:
        alone = singular_child(tree, lead, is_max)
        found = [back_up_to(child, more if i == alone else 0, not is_max) for i, child in enumerate(tree.below)]
        return MoveValues([each.value for each in found], 1 + sum(each.nodes for each in found), is_max)
    found_values = [visit(child, depth - 1, not is_max) for child in tree.below]
    return MoveValues([value for value, _ in found_values], 1 + sum(nodes for _, nodes in found_values), is_max)


def singular_child(node: Guessed, lead: float, is_max: bool) -> int | None:
    """The child that leads its siblings by so much, if there is one."""
    sign = 1 if is_max else -1
    order = sorted(range(len(node.below)), key=lambda i: -sign * node.below[i].guess)
    if len(order) < 2 or sign * (node.below[order[0]].guess - node.below[order[1]].guess) < lead:
        return None
    return order[0]
