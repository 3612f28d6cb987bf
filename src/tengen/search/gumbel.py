"""Gumbel AlphaZero at the root: a few actions drawn without replacement share the simulations by sequential halving.

Each action has a Gumbel number g. The actions with the highest g + logit are tried, the worse half is dropped again
and again by g + logit + σ(q), and the last one is played. That improves on the prior even with two simulations.
Where PUCT counts visits, the policy here is the prior corrected by what was found: softmax(logit + σ(completed q)).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from tengen.rules.contract import kernel
from tengen.search.tree import LOST, NONE, ROOT, UNKNOWN, WON

VISIT_SCALE = 50.0  # σ(q) = (VISIT_SCALE + the most visits of an action) · value_scale · q


@cache
def halving_schedule(considered: int, simulations: int) -> np.ndarray:
    """How many visits the action of each simulation has had already, so that halving falls out of it.

    All considered actions are visited in turn; after an equal share of the simulations the better half goes on.
    """
    phases = max(1, math.ceil(math.log2(considered)))
    schedule: list[int] = []
    visits = 0
    while len(schedule) < simulations:
        rounds = max(1, simulations // (phases * considered))
        for _ in range(rounds):
            schedule += [visits] * considered
            visits += 1
        considered = max(2, considered // 2)
    return np.array(schedule[:simulations], np.int32)


@kernel
def value_of_edge(edge):
    """Q, or what is proven."""
    if edge.proven != UNKNOWN:
        return np.float32(1) if edge.proven == WON else np.float32(-1) if edge.proven == LOST else np.float32(0)
    return edge.value / np.float32(max(edge.visits, 1))


@kernel
def mixed_value(nodes, edges, node):
    """What an action never visited is thought to be worth: the network's value, and what was found, by its visits."""
    first, visits, priors, found = np.int64(nodes[node].first), 0, np.float32(0), np.float32(0)
    for i in range(first, first + nodes[node].count):
        if edges[i].visits > 0:
            visits += edges[i].visits
            priors += edges[i].prior
            found += edges[i].prior * value_of_edge(edges[i])
    if visits == 0:
        return nodes[node].value
    return (nodes[node].value + np.float32(visits) * found / max(priors, np.float32(1e-9))) / np.float32(1 + visits)


@kernel
def sigma_scale(nodes, edges, node, value_scale):
    """How much a value weighs against a logit: more, the more has been tried."""
    first, most = np.int64(nodes[node].first), 0
    for i in range(first, first + nodes[node].count):
        most = max(most, edges[i].visits)
    return np.float32((VISIT_SCALE + most) * value_scale)


@kernel
def improved_logit(edge, scale, unseen):
    """logit + σ(completed q)."""
    value = value_of_edge(edge) if edge.visits > 0 else unseen
    return np.float32(math.log(max(edge.prior, np.float32(1e-9)))) + scale * value


@kernel
def halving_edge(nodes, edges, gumbels, visits, value_scale):
    """The root's edge for the next simulation: of those with that many visits, the best; NONE if there are none."""
    first, best, highest = np.int64(nodes[ROOT].first), NONE, np.float32(-1e30)
    scale, unseen = sigma_scale(nodes, edges, ROOT, value_scale), mixed_value(nodes, edges, ROOT)
    for i in range(first, first + nodes[ROOT].count):
        if edges[i].visits + edges[i].losses == visits and edges[i].proven != LOST:
            score = gumbels[i - first] + improved_logit(edges[i], scale, unseen)
            if score > highest:
                best, highest = i, score
    return best


@kernel
def improved_policy(nodes, edges, value_scale, policy):
    """Writes softmax(logit + σ(completed q)) for the root's edges into `policy` [edges]."""
    first, count = np.int64(nodes[ROOT].first), np.int64(nodes[ROOT].count)
    scale, unseen = sigma_scale(nodes, edges, ROOT, value_scale), mixed_value(nodes, edges, ROOT)
    highest, total = np.float32(-1e30), np.float32(0)
    for i in range(count):
        policy[i] = improved_logit(edges[first + i], scale, unseen)
        highest = max(highest, policy[i])
    for i in range(count):
        policy[i] = math.exp(policy[i] - highest)
        total += policy[i]
    for i in range(count):
        policy[i] /= total


@kernel
def improve(nodes, edges, gumbels, value_scale, policy):
    """Writes the root's improved policy; returns the edge to play, the best of those visited most."""
    improved_policy(nodes, edges, value_scale, policy)
    first, most = np.int64(nodes[ROOT].first), 0
    for i in range(first, first + nodes[ROOT].count):
        if edges[i].proven == WON:
            return i
        if edges[i].proven != LOST:
            most = max(most, edges[i].visits)
    best = halving_edge(nodes, edges, gumbels, most, value_scale)
    return first if best == NONE else best
