"""Alpha-beta on a tree that can be drawn: one written down, or that of a position of a small game.

The search is `search/gametree.py`, which keeps every window, value and cut. Here its nodes get names, all that it never
looked at is put beside them, and what it did is told in the order in which it did it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from tengen.course.numbers import judge
from tengen.course.traces import rounded
from tengen.knowledge.evaluations import EVALUATIONS, evaluation_for
from tengen.report.shapes import tints_of
from tengen.rules.errors import BadParameter, TengenError
from tengen.rules.game import Position
from tengen.search import gametree
from tengen.search.evaluation import new_notes
from tengen.search.gametree import Node, Tree

ORDERS = ("written", "best", "worst", "guess")
MOST_NODES, DEEPEST, LONGEST_TEXT = 2000, 12, 10_000
LARGEST_VALUE = 1e6
WIN = 100  # a won game, where an evaluation has a say; more than it ever says of the games that can be drawn
LECTURE = "[[3, 12, 8], [2, x=7, y=1], [14, 5, 2]]"  # x and y are never looked at: any value would do
SEVEN_LEVELS = """[[[[[[4, 9], [2, 7]], [[5, 3], [8, 6]]], [[[1, 7], [3, 2]], [[9, 4], [6, 5]]]],
  [[[[2, 6], [8, 1]], [[3, 9], [5, 7]]], [[[6, 2], [4, 8]], [[1, 5], [9, 3]]]]],
 [[[[[7, 3], [1, 9]], [[2, 8], [4, 6]]], [[[5, 1], [9, 7]], [[8, 2], [3, 4]]]],
  [[[[9, 5], [6, 3]], [[1, 4], [7, 2]]], [[[3, 8], [2, 9]], [[4, 6], [5, 1]]]]]]"""
EXAMPLES = {"lecture": LECTURE, "deep": SEVEN_LEVELS}

TOKEN = re.compile(r"\s*(?:([\[(])|([\])])|(,)|(?:([A-Za-z]\w{0,11})\s*=\s*)?([-+−]?\d+(?:\.\d+)?)|(\S))")


class BadTree(TengenError):
    """A tree that cannot be read."""


@dataclass(frozen=True)
class Branch:
    """A tree whose nodes have names: a leaf has a value, MAX's; any other node has branches."""

    name: str = ""
    value: float = 0.0
    branches: tuple[Branch, ...] = ()
    guess: float = 0.0  # what it seems to be worth before it is searched, MAX's
    board: tuple[int, ...] | None = None

    def bare(self) -> Tree:
        """The tree as the search takes it."""
        return [branch.bare() for branch in self.branches] if self.branches else self.value

    def walk(self, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Branch]]:
        """Every node with its path, parents before their children, from left to right."""
        yield path, self
        for i, branch in enumerate(self.branches):
            yield from branch.walk((*path, i))


@dataclass(frozen=True)
class Spot:
    """A node of the drawing. What alpha-beta never looked at has no window and no value of its own."""

    id: int
    parent: int | None
    name: str
    is_max: bool
    is_leaf: bool
    minimax: float  # its value when every leaf is looked at
    is_seen: bool
    alpha: float | None = None  # when it was entered; None is −∞
    beta: float | None = None  # None is +∞
    value: float | None = None  # what alpha-beta found: exact, or a bound where the window closed
    cut: str = ""  # "alpha" or "beta"
    board: list[int] | None = None


@dataclass(frozen=True)
class Step:
    """One thing that alpha-beta did.

    `enter` a node with its window · a `leaf` has its value · a node is told of a child and may `raise` alpha or `lower`
    beta, or `keep` both · a `cut` leaves its other children out · `leave` it with its value.
    """

    kind: str
    at: int
    alpha: float | None
    beta: float | None
    value: float | None = None  # of the node so far
    child: int | None = None  # that it has just heard of
    cut: str = ""
    pruned: list[int] = field(default_factory=list)  # the first node of everything that is left out


@dataclass(frozen=True)
class Walk:
    """Alpha-beta on a tree, and minimax beside it."""

    text: str  # the tree as it can be typed
    value: float
    spots: list[Spot]
    steps: list[Step]
    nodes: dict[str, int]  # that are looked at: by minimax, and by alpha-beta in each order
    leaves: dict[str, int]
    best: str  # the name of the root's best child, or its number
    shape: tuple[int, int] | None = None
    players: tuple[str, str] = ("MAX", "MIN")
    drawing: str = "cells"  # what the board looks like, as the game says
    tints: tuple[str, str] = ("black", "white")  # the colours of the players' pieces


# Trees that are typed in


def read_tree(text: str) -> Branch:
    """The tree of a text such as `[[3, 12, 8], [2, x=7, y=1], [14, 5, 2]]`; round brackets and no commas will do."""
    if len(text) > LONGEST_TEXT:
        raise BadTree(f"the tree has {len(text)} characters; {LONGEST_TEXT} is the most")
    open_nodes: list[list[Branch]] = [[]]
    count = at = 0
    while match := TOKEN.match(text, at):
        at, (opens, closes, _, name, number, wrong) = match.end(), match.groups()
        if wrong:
            raise BadTree(f"{wrong!r} at character {at} is no part of a tree; a leaf is a number or a name=number")
        if opens:
            open_nodes.append([])
        elif closes:
            close_node(open_nodes, at)
        elif number:
            open_nodes[-1].append(Branch(name or "", leaf_value(number)))
        count += bool(opens or number)
        if len(open_nodes) > DEEPEST + 1 or count > MOST_NODES:
            raise BadTree(f"a tree has {MOST_NODES} nodes and {DEEPEST} levels at most")
    if len(open_nodes) > 1:
        raise BadTree(f"{len(open_nodes) - 1} brackets are open at the end")
    top = open_nodes[0]
    if not top:
        raise BadTree(f"there is no tree; write one as {LECTURE}")
    return top[0] if len(top) == 1 else Branch(branches=tuple(top))


def close_node(open_nodes: list[list[Branch]], at: int) -> None:
    if len(open_nodes) == 1:
        raise BadTree(f"the bracket at character {at} closes nothing")
    branches = open_nodes.pop()
    if not branches:
        raise BadTree(f"the brackets that close at character {at} are empty; a node has a child at least")
    open_nodes[-1].append(Branch(branches=tuple(branches)))


def leaf_value(number: str) -> float:
    value = float(number.replace("−", "-"))
    if abs(value) > LARGEST_VALUE:
        raise BadTree(f"{number} is too large for a leaf; {LARGEST_VALUE:g} is the most")
    return value


def write_tree(branch: Branch) -> str:
    """The text that `read_tree` makes the tree of; names that it cannot read are left out."""
    if branch.branches:
        return f"[{', '.join(write_tree(each) for each in branch.branches)}]"
    is_named = re.fullmatch(r"[A-Za-z]\w{0,11}", branch.name)
    return f"{branch.name}={branch.value:g}" if is_named else f"{branch.value:g}"


# Trees of positions


def game_tree(position: Position, depth: int) -> Branch:
    """All that can happen in `depth` plies; MAX is the player to move. Leaves are what the game, or e(s), says of them.

    e(s) is the evaluation that knows the game: for tic-tac-toe the lecture's, lines open to MAX less lines open to MIN.
    A won game counts 100 if e(s) has a say anywhere in the tree, else 1.
    """
    if position.outcome is not None:
        raise BadParameter("the game is over: there is nothing to search; take a move back")
    if not 1 <= depth <= DEEPEST:
        raise BadParameter(f"depth={depth}: 1 to {DEEPEST} plies can be drawn")
    budget = [MOST_NODES]
    is_whole = [True]
    estimate = estimator(position)

    def build(here: Position, left: int, name: str) -> Branch:
        budget[0] -= 1
        if budget[0] < 0:
            raise BadParameter(
                f"{depth} plies from here are over {MOST_NODES} nodes; look less deep, or play some moves"
            )
        board = tuple(here.owners.ravel().tolist())
        if here.outcome is not None:
            value = float(here.outcome.value_for(position.to_play))
            return Branch(name, math.copysign(WIN, value) if value else 0.0, (), WIN * value, board)
        guess = estimate(here)
        if left == 0:
            is_whole[0] = False
            return Branch(name, guess, (), guess, board)
        text, after = here.game.action_text, {action: here.play(action) for action in here.legal_actions}
        if any(then.to_play == here.to_play for then in after.values() if then.outcome is None):
            raise BadParameter(f"a player of {here.game.spec} may move twice in a row, and MAX and MIN take turns here")
        below = tuple(build(then, left - 1, text(action)) for action, then in after.items())
        return Branch(name, 0.0, below, guess, board)

    tree = build(position, depth, "")
    return in_ones(tree) if is_whole[0] else tree


def in_ones(branch: Branch) -> Branch:
    """The tree with ±1 for won games."""
    return replace(branch, value=branch.value / WIN, branches=tuple(in_ones(each) for each in branch.branches))


def estimator(root: Position) -> Callable[[Position], float]:
    """e(s): what the game's evaluation says of a position, for the player to move at the root."""
    game = root.game
    name = "lines" if EVALUATIONS["lines"].knows(game) else None
    evaluation: Any = evaluation_for(game, name)

    def estimate(position: Position) -> float:
        score = float(judge(game.parameters, evaluation, position.states, new_notes(evaluation, game, 1)))
        score = max(min(score, WIN - 1), 1 - WIN)
        return score if position.to_play == root.to_play else 0.0 - score

    return estimate


# The walk


def in_order(branch: Branch, order: str, is_max: bool) -> Branch:
    """The tree with each node's children `best` first, `worst` first, by what they seem (`guess`), or as written."""
    children = [in_order(each, order, not is_max) for each in branch.branches]
    if order == "guess":
        children.sort(key=lambda each: each.guess, reverse=is_max)
    elif order != "written":
        values = {id(each): gametree.minimax(each.bare(), not is_max) for each in children}
        children.sort(key=lambda each: values[id(each)], reverse=is_max == (order == "best"))
    return replace(branch, branches=tuple(children))


def walk(tree: Branch, order: str = "written", is_max: bool = True) -> Walk:
    """Alpha-beta on a tree, step by step, and how much it looks at in every order."""
    if order not in ORDERS:
        raise BadParameter(f"order={order!r}: it is one of {', '.join(ORDERS)}")
    has_guesses = any(branch.guess for _, branch in tree.walk())
    if order == "guess" and not has_guesses:
        raise BadParameter("order=guess: the leaves of a tree that is typed in tell nothing of its nodes; use best")
    nodes, leaves = {"minimax": count(tree)}, {"minimax": count(tree, is_leaf=True)}
    chosen = root = None
    for each in ORDERS:
        if each != "guess" or has_guesses:
            ordered = in_order(tree, each, is_max)
            found = gametree.alphabeta(ordered.bare(), is_max)
            seen = list(found.nodes())
            nodes[each], leaves[each] = len(seen), sum(not node.children for node in seen)
            if each == order:
                chosen, root = ordered, found
    assert chosen is not None and root is not None
    numbers = {path: number for number, (path, _) in enumerate(chosen.walk())}
    return Walk(
        text=write_tree(tree),
        value=rounded(root.value),
        spots=spots_of(chosen, root, numbers, is_max),
        steps=list(steps_of(root, numbers)),
        nodes=nodes,
        leaves=leaves,
        best=best_child(chosen, root),
    )


def count(tree: Branch, is_leaf: bool = False) -> int:
    return sum(not (is_leaf and branch.branches) for _, branch in tree.walk())


def best_child(tree: Branch, root: Node) -> str:
    """What the root's first child with its value is called; without a name, its number."""
    best = next((i for i, child in enumerate(root.children) if child.value == root.value), 0)
    return (tree.branches[best].name if tree.branches else "") or str(best + 1)


def spots_of(tree: Branch, root: Node, numbers: dict[tuple[int, ...], int], is_max: bool) -> list[Spot]:
    """The nodes of the drawing, in the order of their numbers."""
    seen = {node.path: node for node in root.nodes()}
    spots = []
    for path, branch in tree.walk():
        mover_is_max = is_max == (len(path) % 2 == 0)
        spot = Spot(
            id=numbers[path],
            parent=numbers[path[:-1]] if path else None,
            name=branch.name,
            is_max=mover_is_max,
            is_leaf=not branch.branches,
            minimax=rounded(gametree.minimax(branch.bare(), mover_is_max)),
            is_seen=path in seen,
            board=list(branch.board) if branch.board else None,
        )
        if node := seen.get(path):
            window = {"alpha": bound(node.alpha), "beta": bound(node.beta)}
            spot = replace(spot, **window, value=rounded(node.value), cut=node.cut)  # type: ignore[arg-type]
        spots.append(spot)
    return spots


def steps_of(node: Node, numbers: dict[tuple[int, ...], int]) -> Iterator[Step]:
    """What was done at a node and below it. Windows between two children follow from the values found."""
    at, alpha, beta = numbers[node.path], node.alpha, node.beta
    yield Step("enter", at, bound(alpha), bound(beta))
    if not node.children:
        yield Step("leaf", at, bound(alpha), bound(beta), rounded(node.value))
        return
    value = -math.inf if node.is_max else math.inf
    for child in node.children:
        yield from steps_of(child, numbers)
        value = max(value, child.value) if node.is_max else min(value, child.value)
        kind = "keep"
        if node.is_max and value > alpha:
            kind, alpha = "raise", value
        elif not node.is_max and value < beta:
            kind, beta = "lower", value
        yield Step(kind, at, bound(alpha), bound(beta), rounded(value), numbers[child.path])
    if node.cut:
        pruned = [numbers[path] for path in node.pruned]
        yield Step("cut", at, bound(alpha), bound(beta), rounded(node.value), cut=node.cut, pruned=pruned)
    yield Step("leave", at, bound(alpha), bound(beta), rounded(node.value))


def bound(value: float) -> float | None:
    """A bound as it is told: infinite ones are None."""
    return rounded(value) if math.isfinite(value) else None


def walk_position(position: Position, depth: int, order: str = "written") -> Walk:
    """Alpha-beta on what can happen from a position."""
    tree = game_tree(position, depth)
    game = position.game
    told = walk(tree, order)
    return replace(told, shape=game.shape, players=game.players, drawing=game.drawing, tints=tints_of(game))


def walk_text(text: str, order: str = "written", is_max: bool = True) -> Walk:
    """Alpha-beta on a tree that was typed in."""
    return walk(read_tree(text), order, is_max)
