"""Many searches side by side: one row a position, one question a row and step, so a network's batch is always full.

Everything a row needs stands in its own slice of flat arrays, and nothing is allocated: CPU threads take a group of
rows each, and on CUDA a thread can take one row. Each row goes at its own pace: as soon as its search is done it can go
on to the next position, without waiting for the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tengen.rules.contract import advance, encode, kernel
from tengen.rules.game import Game
from tengen.rules.kernels import entry
from tengen.search.chance import draw_gammas, draw_gumbels, draw_weighted
from tengen.search.evaluators import Evaluator
from tengen.search.gumbel import halving_edge, halving_schedule, improve
from tengen.search.tree import (
    EDGE,
    LOST,
    NODE,
    NONE,
    ROOT,
    UNKNOWN,
    WON,
    begin_simulation,
    check_actions,
    finish_simulation,
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
    rollouts: float = 0.0
    considered: int = 16  # as in Gumbel
    gumbel_noise: float = 1.0
    value_scale: float = 1.0
    noise: float = 0.25  # PUCT: the share of Dirichlet noise in the root's priors …
    noise_total: float = 10.0  # … whose α is this over the number of legal actions
    temperature: float = 1.0  # PUCT: actions are drawn by visits to the power of 1 / temperature
    chance_plies: int = 10  # so long chance has a say in what is played; then the best is, whatever was explored
    keep: int = 0  # PUCT: whether the subtree of the action played is kept


ROW = np.dtype(
    [
        ("seed", np.uint64),
        ("done", np.int32),  # simulations of this search
        ("length", np.int16),  # of the path to the leaf that waits for an answer; 0: that is the root
    ],
    align=True,
)


class Rows(NamedTuple):
    """The memory of searches side by side; the first axis is the row, but for what is spare, and schedules."""

    rows: Any
    roots: Any
    leaves: Any
    nodes: Any  # [rows, nodes]
    edges: Any  # [rows, edges]
    sizes: Any  # [rows, 2]: nodes and edges in use
    paths: Any  # [rows, plies, 2]
    gumbels: Any  # [rows, actions]
    actions: Any  # [rows, actions]: scratch memory
    weights: Any  # [rows, actions]: the policy of a search that is done, by edge
    planes: Any  # [rows, planes, cells]: what the network is asked
    spare_nodes: Any  # [1 or rows, nodes]: for moving a tree
    spare_edges: Any
    schedules: Any  # [considered + 1, simulations]: see gumbel.py


def new_rows(game: Game, plan: Plan, count: int, seed: int) -> Rows:
    """Memory for `count` rows, each with a random sequence of its own."""
    check_actions(game.actions)
    nodes = (2 if plan.keep else 1) * plan.simulations + 2
    edges = nodes * game.actions
    schedules = np.zeros((plan.considered + 1, plan.simulations), np.int32)
    for considered in range(1, plan.considered + 1):
        schedules[considered] = halving_schedule(considered, plan.simulations)
    rows = np.zeros(count, ROW)
    rows["seed"] = np.random.default_rng(seed).integers(2**64, size=count, dtype=np.uint64)
    return Rows(
        rows=rows.view(np.recarray),
        roots=game.new_states(count),
        leaves=game.new_states(count),
        nodes=np.zeros((count, nodes), NODE).view(np.recarray),
        edges=np.zeros((count, edges), EDGE).view(np.recarray),
        sizes=np.zeros((count, 2), np.int64),
        paths=np.zeros((count, LONGEST, 2), np.int32),
        gumbels=np.zeros((count, game.actions), np.float32),
        actions=np.zeros((count, game.actions), np.int32),
        weights=np.zeros((count, game.actions), np.float32),
        planes=np.zeros((count, len(game.planes), game.cells), np.float32),
        spare_nodes=np.zeros((1, nodes if plan.keep else 1), NODE).view(np.recarray),
        spare_edges=np.zeros((1, edges if plan.keep else 1), EDGE).view(np.recarray),
        schedules=schedules,
    )


@kernel
def begin_search(game, rows, i):
    """A new search of row i: the network is asked about the root itself."""
    rows.rows[i].done = rows.rows[i].length = 0
    encode(game, rows.roots[i], rows.planes[i])


@kernel
def go_on(game, plan, rows, i, logits, value):
    """Row i hears the answer to its question. True if it has another one; False if its search is done."""
    row = rows.rows[i]
    nodes, edges, sizes, actions = rows.nodes[i], rows.edges[i], rows.sizes[i], rows.actions[i]
    if row.length == 0:
        sizes[0] = sizes[1] = 0
        open_node(game, nodes, edges, sizes, rows.roots[i], logits, value, actions)
        disturb(plan, rows, i)
    else:
        leaf, path, length = rows.leaves[i], rows.paths[i], np.int64(row.length)
        row.seed = finish_simulation(
            game, nodes, edges, sizes, leaf, path, length, logits, value, actions, plan.rollouts, row.seed
        )
        row.done += 1
    return ask(game, plan, rows, i)


@kernel
def ask(game, plan, rows, i):
    """Simulates until the network must be asked: True; or until the search is done: False."""
    row, nodes, edges = rows.rows[i], rows.nodes[i], rows.edges[i]
    considered = min(np.int64(plan.considered), np.int64(nodes[ROOT].count))
    while row.done < plan.simulations and nodes[ROOT].proven == UNKNOWN:
        rows.leaves[i] = rows.roots[i]
        first = NONE
        if plan.root == GUMBEL:
            visits = rows.schedules[considered, row.done]
            first = halving_edge(nodes, edges, rows.gumbels[i], visits, plan.value_scale)
        length = begin_simulation(
            game, nodes, edges, rows.leaves[i], plan.exploration, plan.urgency, first, rows.paths[i]
        )
        if length > 0:
            row.length = length
            encode(game, rows.leaves[i], rows.planes[i])
            return True
        row.done += 1
    return False


@kernel
def disturb(plan, rows, i):
    """What chance adds at a root: Gumbel numbers, or noise in the priors."""
    row, root, edges = rows.rows[i], rows.nodes[i][ROOT], rows.edges[i]
    first, count = np.int64(root.first), np.int64(root.count)
    if plan.root == GUMBEL:
        row.seed = draw_gumbels(row.seed, plan.gumbel_noise, rows.gumbels[i][:count])
    elif plan.noise > 0:
        noise = rows.weights[i][:count]
        row.seed = draw_gammas(row.seed, plan.noise_total / count, noise)
        for k in range(count):
            edges[first + k].prior += np.float32(plan.noise) * (noise[k] - edges[first + k].prior)


@kernel
def conclude(plan, rows, i, ply):
    """The search of row i is done: writes its policy into `weights`, by edge; returns the edge to play.

    PUCT's policy is the visits, of which what is proven lost has none; a proven win is the whole policy.
    """
    row, nodes, edges, weights = rows.rows[i], rows.nodes[i], rows.edges[i], rows.weights[i]
    if plan.root == GUMBEL:
        if ply >= plan.chance_plies:
            rows.gumbels[i][:] = 0
        return improve(nodes, edges, rows.gumbels[i], plan.value_scale, weights)
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
    if plan.temperature > 0 and ply < plan.chance_plies:
        row.seed = advance(row.seed)
        best = draw_weighted(row.seed, weights[:count], 1.0 / plan.temperature)
    return first + best


@kernel
def follow_edge(game, plan, rows, i, edge):
    """After the move of an edge, which is played already: keeps the tree below it, or asks anew. As `ask`."""
    nodes, edges, sizes = rows.nodes[i], rows.edges[i], rows.sizes[i]
    child = np.int64(edges[edge].child)
    begin_search(game, rows, i)
    if not plan.keep or child == NONE:
        return True
    spare_nodes, spare_edges = rows.spare_nodes[i % len(rows.spare_nodes)], rows.spare_edges[i % len(rows.spare_edges)]
    keep_subtree(nodes, edges, spare_nodes, spare_edges, sizes, child)
    for k in range(sizes[0]):
        nodes[k] = spare_nodes[k]
    for k in range(sizes[1]):
        edges[k] = spare_edges[k]
    disturb(plan, rows, i)
    return ask(game, plan, rows, i)


@entry
def begin_searches(game, rows):
    """Every row begins to search its root."""
    for i in range(len(rows.rows)):
        begin_search(game, rows, i)


@entry
def continue_searches(game, plan, rows, logits, values, waiting):
    """Rows that wait [rows] hear their answers; what is done no longer waits, and its edge stands in its `done`."""
    for i in range(len(rows.rows)):
        if waiting[i] and not go_on(game, plan, rows, i, logits[i], values[i]):
            waiting[i] = False
            rows.rows[i].done = conclude(plan, rows, i, plan.chance_plies)


def search_all(game: Game, plan: Plan, states: np.ndarray, evaluator: Evaluator, seed: int = 1) -> np.ndarray:
    """The actions that searches of many states, all of games that go on, come to: [states]."""
    rows = new_rows(game, plan, len(states), seed)
    rows.roots[:] = states
    waiting = np.ones(len(states), np.bool_)
    begin_searches(game.parameters, rows)
    while waiting.any():
        asked = np.flatnonzero(waiting)
        logits, values = np.zeros((len(states), game.actions), np.float32), np.zeros(len(states), np.float32)
        logits[asked], values[asked] = evaluator(rows.planes[asked])
        continue_searches(game.parameters, plan, rows, logits, values, waiting)
    return np.array([rows.edges[i, rows.rows[i].done].action for i in range(len(states))])
