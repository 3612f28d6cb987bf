"""Many searches side by side: one row a position, one question a row and step, so a network's batch is always full.

Everything a row needs stands in its own slice of flat arrays, and nothing is allocated: CPU threads take a group of
rows each, and on CUDA a thread can take one row. Each row goes at its own pace: as soon as its search is done it can go
on to the next position, without waiting for the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tengen.rules.contract import JIT_OPTIONS, advance, encode, kernel
from tengen.rules.game import Game
from tengen.rules.kernels import entry
from tengen.search.chance import draw_gammas, draw_weighted
from tengen.search.evaluators import Evaluator, priors_of
from tengen.search.gumbel import (
    forget_gumbels,
    halving_edge,
    halving_schedule,
    improve,
    likeliest_edges,
    race_edges,
)
from tengen.search.tree import (
    EDGE,
    LOST,
    NO_CHILD,
    NODE,
    NONE,
    ROOT,
    UNKNOWN,
    WON,
    backup,
    begin_simulation,
    bring_forward,
    check_actions,
    clear_tree,
    keep_subtree,
    open_node,
)

PUCT, GUMBEL = 0, 1
LONGEST = 128  # plies of one simulation


class Plan(NamedTuple):
    """How rows are searched. Fields are int or float and stay so: kernels are compiled for their types."""

    root: int = GUMBEL
    simulations: int = 32
    exploration: float = 1.5  # as in Puct
    urgency: float = 0.25
    considered: int = 16  # as in Gumbel
    gumbel_noise: int = 1  # 0: the actions most likely by the prior, the same every time
    value_scale: float = 1.0
    noise: float = 0.25  # PUCT: the share of Dirichlet noise in the root's priors …
    noise_total: float = 10.0  # … whose α is this over the number of legal actions
    temperature: float = 1.0  # PUCT: actions are drawn by visits to the power of 1 / temperature
    annealing: int = 0  # PUCT: plies of a game in which the temperature falls to 0; 0: it stays as it is
    chance_plies: int = 10  # so long chance has a say in what is played; then the best is, whatever was explored
    prior_temperature: float = 1.0  # of self-play: it searches with exp(logit / temperature)
    keep: int = 0  # PUCT: whether the subtree of the action played is kept


PROGRESS = np.dtype(
    [
        ("seed", np.uint64),
        ("done", np.int32),  # simulations of this search
        ("length", np.int16),  # of the path to the leaf that waits for an answer; 0: that is the root
    ],
    align=True,
)


class Rows(NamedTuple):
    """The memory of searches side by side; the first axis is the row, but for what is spare, and schedules."""

    progress: Any  # [rows]: a PROGRESS each
    roots: Any
    leaves: Any
    root_words: Any  # [rows, words]: roots, leaves and edges once more, in words as long as the record allows:
    leaf_words: Any  # CUDA copies a record byte by byte
    edge_words: Any
    nodes: Any  # [rows, nodes]
    edges: Any  # [rows, edges]
    sizes: Any  # [rows, 2]: nodes and edges in use
    paths: Any  # [rows, plies, 2]
    scores: Any  # [rows, actions]: see gumbel.py
    actions: Any  # [rows, legal actions]: scratch memory
    weights: Any  # [rows, legal actions]: the policy of a search that is done, by edge
    planes: Any  # [rows, planes, cells]: what the network is selected
    shown: Any  # [rows · planes · cells]: the same once more
    spare_nodes: Any  # [1 or rows, nodes]: for moving a tree
    spare_edges: Any
    schedules: Any  # [considered + 1, simulations]: see gumbel.py


class Row(NamedTuple):
    """The memory of one search: what `Rows` has, for one row."""

    progress: Any  # a PROGRESS
    root: Any
    leaf: Any
    root_words: Any  # [words]
    leaf_words: Any
    nodes: Any  # [nodes]
    edges: Any  # [edges]
    sizes: Any  # [2]
    path: Any  # [plies, 2]
    scores: Any  # [actions]
    actions: Any  # [legal actions]
    weights: Any
    planes: Any  # [planes, cells]
    spare_nodes: Any  # [nodes]
    spare_edges: Any
    schedules: Any  # as in Rows


@njit(inline="always", **JIT_OPTIONS)
def row_of(rows, i, actions, weights, planes):
    """Row i, with its places for actions, weights and planes. (Records cannot be returned in a tuple, but for a
    function that is part of its caller.)"""
    return Row(
        rows.progress[i],
        rows.roots[i],
        rows.leaves[i],
        rows.root_words[i],
        rows.leaf_words[i],
        rows.nodes[i],
        rows.edges[i],
        rows.sizes[i],
        rows.paths[i],
        rows.scores[i],
        actions,
        weights,
        planes,
        rows.spare_nodes[i % len(rows.spare_nodes)],
        rows.spare_edges[i % len(rows.spare_edges)],
        rows.schedules,
    )


def row_shapes(game: Game, plan: Plan, count: int, spare: int = 1) -> dict[str, tuple[tuple[int, ...], Any]]:
    """The shape and the kind of each array of `count` rows, of which `spare` move their trees at the same time."""
    nodes = (2 if plan.keep else 1) * plan.simulations + 2
    edges, actions, state = nodes * game.most_legal, game.most_legal, game.parameters.record()
    return {
        "progress": ((count,), PROGRESS),
        "roots": ((count,), state),
        "leaves": ((count,), state),
        "nodes": ((count, nodes), NODE),
        "edges": ((count, edges), EDGE),
        "sizes": ((count, 2), np.int64),
        "paths": ((count, LONGEST, 2), np.int32),
        "scores": ((count, game.actions), np.float32),
        "actions": ((count, actions), np.int32),
        "weights": ((count, actions), np.float32),
        "planes": ((count, len(game.planes), game.cells), np.float32),
        "spare_nodes": ((spare, nodes if plan.keep else 1), NODE),
        "spare_edges": ((spare, edges if plan.keep else 1), EDGE),
        "schedules": ((plan.considered + 1, plan.simulations), np.int32),
    }


def new_rows(game: Game, plan: Plan, count: int, seed: int) -> Rows:
    """Memory for `count` rows, each with a random sequence of its own."""
    arrays = {name: np.zeros(shape, kind) for name, (shape, kind) in row_shapes(game, plan, count).items()}
    arrays |= initial_values(game, plan, count, seed)
    views = views_of(arrays)
    arrays = {name: array.view(np.recarray) if array.dtype.names else array for name, array in arrays.items()}
    return Rows(**arrays, **views)


def views_of(arrays: dict[str, Any]) -> dict[str, Any]:
    """What rows have in the same memory once more."""
    words = {"root_words": "roots", "leaf_words": "leaves", "edge_words": "edges"}
    views = {name: as_words(arrays[records]) for name, records in words.items()}
    return views | {"shown": arrays["planes"].reshape(-1)}


def as_words(records: Any) -> Any:
    """An array of records, of NumPy or of a GPU, as an array of words [records, words] in the same memory."""
    size = records.dtype.itemsize
    kind = next(kind for kind in (np.uint64, np.uint32, np.uint16, np.uint8) if size % np.dtype(kind).itemsize == 0)
    return records.view(kind).reshape(len(records), -1)


@kernel
def copy_words(source, target):
    """Copies one record, eight words at a time: a GPU waits for all that it reads before it writes the first."""
    size, most = np.uint32(len(source)), np.uint32(len(source) // 8 * 8)
    for start in range(0, most, 8):
        k = np.uint32(start)
        a, b, c, d = source[k], source[k + 1], source[k + 2], source[k + 3]
        e, f, g, h = source[k + 4], source[k + 5], source[k + 6], source[k + 7]
        target[k], target[k + 1], target[k + 2], target[k + 3] = a, b, c, d
        target[k + 4], target[k + 5], target[k + 6], target[k + 7] = e, f, g, h
    for k in range(most, size):
        target[np.uint32(k)] = source[np.uint32(k)]


def initial_values(game: Game, plan: Plan, count: int, seed: int) -> dict[str, np.ndarray]:
    """What rows must hold before they begin: seeds, and the schedules of halving."""
    check_actions(game.actions)
    schedules = np.zeros((plan.considered + 1, plan.simulations), np.int32)
    for considered in range(1, plan.considered + 1):
        schedules[considered] = halving_schedule(considered, plan.simulations)
    rows = np.zeros(count, PROGRESS)
    rows["seed"] = np.random.default_rng(seed).integers(2**64, size=count, dtype=np.uint64)
    return {"progress": rows, "schedules": schedules}


@kernel
def select_root(row):
    """A new search begins: its root waits for the network."""
    row.progress.done = row.progress.length = 0


@njit(inline="always", **JIT_OPTIONS)
def selected_state(row):
    """The state that waits for the network: the root, or the leaf at the end of the path."""
    return row.root if row.progress.length == 0 else row.leaf


@kernel
def expand_and_backup(game, plan, row, priors, value):
    """Expands the selected state by the network's priors [actions], and backs its value up, which is for the player to
    move there. Then the row is ready for `select_leaf`."""
    if row.progress.length == 0:
        clear_tree(row.nodes, row.edges, row.sizes)
    state = selected_state(row)
    node = open_node(game, row.nodes, row.edges, row.sizes, state, priors, value, row.actions)
    attach_and_backup(plan, row, node, value if state.to_play == 0 else -value)
    copy_words(row.root_words, row.leaf_words)


@kernel
def attach_and_backup(plan, row, node, value):
    """Hangs a new node to the end of the path and backs its value up, which is for the first player; or, if it is the
    root, adds the noise of one."""
    length = np.int64(row.progress.length)
    if length == 0:
        add_root_noise(plan, row)
    else:
        row.edges[row.path[length - 1, 1]].child = node
        backup(row.nodes, row.edges, row.path, length, np.float32(value))
        row.progress.done += 1


@kernel
def select_leaf(game, plan, row):
    """Simulates until a leaf waits for the network: True; or until the search is done: False.

    The leaf is a copy of the root, where each simulation begins.
    """
    progress, nodes, edges = row.progress, row.nodes, row.edges
    considered = min(np.int64(plan.considered), np.int64(nodes[ROOT].count))
    while progress.done < plan.simulations and nodes[ROOT].proven == UNKNOWN:
        first = NONE
        if plan.root == GUMBEL:
            visits = row.schedules[considered, progress.done]
            first = halving_edge(nodes, edges, row.scores, visits, plan.value_scale)
        length = begin_simulation(game, nodes, edges, row.leaf, plan.exploration, plan.urgency, first, row.path)
        if length > 0:
            progress.length = length
            return True
        progress.done += 1
        copy_words(row.root_words, row.leaf_words)
    return False


@kernel
def add_root_noise(plan, row):
    """What chance adds at a root: Gumbel numbers, or noise in the priors."""
    progress, nodes, edges = row.progress, row.nodes, row.edges
    first, count = np.int64(nodes[ROOT].first), np.int64(nodes[ROOT].count)
    if plan.root == GUMBEL and plan.gumbel_noise:
        progress.seed = race_edges(nodes, edges, progress.seed, plan.considered, row.scores)
    elif plan.root == GUMBEL:
        likeliest_edges(nodes, edges, plan.considered, row.scores)
    elif plan.noise > 0:
        share, noise = np.float64(np.float32(plan.noise)), row.weights[:count]
        progress.seed = draw_gammas(progress.seed, plan.noise_total / count, noise)
        for k in range(count):
            prior = edges[first + k].prior
            edges[first + k].prior = prior + share * np.float64(noise[k] - prior)
        bring_forward(nodes, edges, ROOT)


@kernel
def root_policy(plan, row, ply):
    """The search of a row is done: writes its policy into `weights`, by edge; returns the edge to play.

    PUCT's policy is the visits, of which what is proven lost has none; a proven win is the whole policy.
    """
    progress, nodes, edges, weights = row.progress, row.nodes, row.edges, row.weights
    if plan.root == GUMBEL:
        if ply >= plan.chance_plies:
            forget_gumbels(nodes, edges, row.scores)
        return improve(nodes, edges, row.scores, plan.value_scale, weights)
    first, count, proven = np.int64(nodes[ROOT].first), np.int64(nodes[ROOT].count), nodes[ROOT].proven
    total, best = np.float32(0), 0
    for k in range(count):
        edge = edges[first + k]
        is_out = edge.proven != WON if proven == WON else edge.proven == LOST and proven != LOST
        weights[k] = np.float32(0) if is_out else max(np.float32(edge.visits), np.float32(1e-6))
        total += weights[k]
        if weights[k] > weights[best]:
            best = k
    for k in range(count):
        weights[k] /= total
    temperature = plan.temperature
    if plan.annealing > 0:
        temperature *= 1.0 - ply / plan.annealing
    if temperature > 0 and ply < plan.chance_plies:
        progress.seed = advance(progress.seed)
        best = draw_weighted(progress.seed, weights[:count], 1.0 / temperature)
    return first + best


@kernel
def follow_edge(plan, row, edge):
    """After the move of an edge, which is played already: a new search. True if the network must be selected about its
    root, and not if the tree below the edge is kept."""
    nodes, edges, sizes = row.nodes, row.edges, row.sizes
    child = np.int64(edges[edge].child)
    select_root(row)
    if not plan.keep or child == NO_CHILD:
        return True
    keep_subtree(nodes, edges, row.spare_nodes, row.spare_edges, sizes, child)
    for k in range(sizes[0]):
        nodes[k] = row.spare_nodes[k]
    for k in range(sizes[1]):
        edges[k] = row.spare_edges[k]
    add_root_noise(plan, row)
    copy_words(row.root_words, row.leaf_words)
    return False


@entry
def begin_searches(game, rows):
    """Begins the search of every row."""
    for i in range(len(rows.progress)):
        row = row_of(rows, i, rows.actions[i], rows.weights[i], rows.planes[i])
        select_root(row)
        encode(game, row.root, row.planes)


@entry
def continue_searches(game, plan, rows, priors, values, waiting):
    """Rows that wait [rows] take in their answers; what is done no longer waits, and its edge stands in its `done`."""
    for i in range(len(rows.progress)):
        if waiting[i]:
            row = row_of(rows, i, rows.actions[i], rows.weights[i], rows.planes[i])
            expand_and_backup(game, plan, row, priors[i], values[i])
            waiting[i] = select_leaf(game, plan, row)
            if waiting[i]:
                encode(game, row.leaf, row.planes)
            else:
                row.progress.done = root_policy(plan, row, plan.chance_plies)


def search_all(game: Game, plan: Plan, states: np.ndarray, evaluator: Evaluator, seed: int = 1) -> np.ndarray:
    """The actions [states] that searches of `states`, all of games that are not over, choose."""
    rows = new_rows(game, plan, len(states), seed)
    rows.roots[:] = states
    waiting = np.ones(len(states), np.bool_)
    begin_searches(game.parameters, rows)
    while waiting.any():
        selected = np.flatnonzero(waiting)
        priors, values = np.zeros((len(states), game.actions), np.float32), np.zeros(len(states), np.float32)
        logits, values[selected] = evaluator(rows.planes[selected])
        priors[selected] = priors_of(logits)
        continue_searches(game.parameters, plan, rows, priors, values, waiting)
    return np.array([rows.edges[i, rows.progress[i].done].action for i in range(len(states))])
