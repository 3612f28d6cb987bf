"""Alpha-beta on a tree written down, with every window, value and cut: for paper, blackboards and tests.

A tree is a number (a leaf's value for MAX) or a list of trees. MAX moves at the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf

Tree = float | list["Tree"]


@dataclass
class Node:
    """What alpha-beta did at one node; all values are MAX's."""

    path: tuple[int, ...]  # which child at each level
    is_max: bool
    alpha: float  # when the node was entered
    beta: float
    value: float = 0.0
    cut: str = ""  # "alpha" or "beta": whose bound made the other children needless
    children: list[Node] = field(default_factory=list)
    pruned: list[tuple[int, ...]] = field(default_factory=list)  # paths of the children never looked at

    def nodes(self) -> Iterator[Node]:
        """This node and all that were looked at below it, in that order."""
        yield self
        for child in self.children:
            yield from child.nodes()

    def reason(self) -> str:
        """A cut in words."""
        if self.cut == "alpha":
            return f"alpha cut: MIN can have {self.value:g} here, and MAX has {self.alpha:g} elsewhere"
        if self.cut == "beta":
            return f"beta cut: MAX can have {self.value:g} here, and MIN allows only {self.beta:g} elsewhere"
        return ""


def alphabeta(
    tree: Tree,
    is_max: bool = True,
    alpha: float = -inf,
    beta: float = inf,
    path: tuple[int, ...] = (),
    margin: float = 0.0,
) -> Node:
    """Searches a tree, children from left to right.

    An alpha cut is made below a MIN node whose value is no more than alpha; a beta cut below a MAX node whose value is
    no less than beta. With a margin, cuts are also made where the window is no wider than it: what the node could still
    gain is thought too little, and it counts as no better than what the other bound has. Fewer nodes are looked at, but
    the value is no longer sure to be minimax's.
    """
    node = Node(path, is_max, alpha, beta)
    if not isinstance(tree, list):
        node.value = tree
        return node
    node.value = -inf if is_max else inf
    for i, child in enumerate(tree):
        found = alphabeta(child, not is_max, alpha, beta, (*path, i), margin)
        node.children.append(found)
        if is_max:
            node.value = max(node.value, found.value)
            alpha = max(alpha, node.value)
        else:
            node.value = min(node.value, found.value)
            beta = min(beta, node.value)
        if alpha >= beta - margin and i + 1 < len(tree):
            node.cut = "beta" if is_max else "alpha"
            node.pruned = [(*path, j) for j in range(i + 1, len(tree))]
            node.value = max(node.value, beta) if is_max else min(node.value, alpha)
            break
    return node


def minimax(tree: Tree, is_max: bool = True) -> float:
    """The tree's value, every leaf looked at."""
    if not isinstance(tree, list):
        return tree
    values = [minimax(child, not is_max) for child in tree]
    return max(values) if is_max else min(values)
