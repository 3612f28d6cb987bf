"""Gumbel AlphaZero at the root: a few actions drawn without replacement share the simulations by sequential halving.

Each action has a Gumbel number g. The actions with the highest g + logit are tried, the worse half is dropped again
and again by g + logit + σ(q), and the last one is played. That improves on the prior even with two simulations.
Where PUCT counts visits, the policy here is the prior corrected by what was found: softmax(logit + σ(completed q)).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from tengen.rules.contract import advance, kernel
from tengen.search.chance import uniform
from tengen.search.tree import LOST, NONE, ROOT, UNKNOWN, WON, bring_forward, swap_untried

VISIT_SCALE = 50.0  # σ(q) = (VISIT_SCALE + the most visits of an action) · value_scale · q
LEAST_PRIOR = np.float32(1e-9)  # what is less likely is taken to be as likely as that


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
def weigh(nodes, edges, node, value_scale):
    """How much a value weighs against a logit (more, the more has been tried), and what an action never visited is
    thought to be worth: the network's value, and what was found, by its visits.

    There is no branch: so a GPU can read several edges before it looks at the first.
    """
    first, most, visits, priors, found = np.int64(nodes[node].first), 0, 0, np.float32(0), np.float64(0)
    for i in range(first, first + nodes[node].tried):
        edge = edges[np.uint32(i)]
        prior = edge.prior if edge.visits > 0 else np.float32(0)
        most = max(most, edge.visits)
        visits += edge.visits
        priors += prior
        found += np.float64(prior) * np.float64(value_of_edge(edge))
    mean = np.float32(found) / max(priors, np.float32(1e-9))
    unseen = np.float32((nodes[node].value + np.float64(visits) * np.float64(mean)) / np.float64(1 + visits))
    return np.float32((VISIT_SCALE + most) * value_scale), unseen


@kernel
def prior_of(edge):
    """The prior, which is never 0 here."""
    return max(edge.prior, LEAST_PRIOR)


@kernel
def logit_of(edge):
    """The logarithm of the prior: the network's logit, but for what all edges have in common."""
    return np.float32(math.log(np.float64(prior_of(edge))))


@kernel
def corrected(logit, edge, scale, unseen):
    """logit + σ(completed q)."""
    value = value_of_edge(edge) if edge.visits > 0 else unseen
    return np.float32(logit + np.float64(scale) * np.float64(value))


@kernel
def draw_edges(nodes, edges, scores, considered):
    """Makes g + logit of each g in `scores` [actions]; brings the edges of a fresh root with the highest to the front.

    There are `considered` of them, or as many as there are.
    """
    first, count = np.int64(nodes[ROOT].first), np.int64(nodes[ROOT].count)
    for i in range(first, first + count):
        scores[edges[i].action] += logit_of(edges[i])
    drawn = min(np.int64(considered), count)
    for i in range(first, first + count):
        place = min(i, first + drawn - 1)
        if i == place or scores[edges[i].action] > scores[edges[place].action]:
            swap_untried(edges, i, place)
            while place > first and scores[edges[place].action] > scores[edges[place - 1].action]:
                swap_untried(edges, place, place - 1)
                place -= 1
    nodes[ROOT].tried = drawn
    bring_forward(nodes, edges, ROOT)


@kernel
def race_edges(nodes, edges, seed, considered, scores):
    """As `draw_edges`, by numbers of its own, for which fewer are drawn; returns the next seed.

    If each edge arrives at a time of the exponential distribution, its rate the prior, then −log(time) is g + logit. So
    the highest scores belong to the first to arrive. When the next one does, the sum of the priors of all that have not
    arrived decides; who it is, their priors do.
    """
    first, count = np.int64(nodes[ROOT].first), np.int64(nodes[ROOT].count)
    drawn, time, left = min(np.int64(considered), count), np.float64(0), np.float64(0)
    for i in range(first, first + count):
        left += prior_of(edges[np.uint32(i)])
    for i in range(first, first + drawn):
        seed = advance(seed)
        time -= math.log(uniform(seed)) / left
        seed = advance(seed)
        wanted, place = np.float32(uniform(seed) * left), np.uint32(i)
        while place + 4 < first + count:  # four at a time, as long as they are passed one by one: a GPU waits once
            ahead = wanted - prior_of(edges[place]) - prior_of(edges[place + 1])
            ahead = ahead - prior_of(edges[place + 2]) - prior_of(edges[place + 3])
            if ahead < 0:
                break
            wanted, place = ahead, np.uint32(place + 4)
        while place + 1 < first + count and wanted >= prior_of(edges[place]):
            wanted -= prior_of(edges[place])
            place = np.uint32(place + 1)
        left -= prior_of(edges[place])
        scores[np.uint32(edges[place].action)] = -math.log(time)
        swap_untried(edges, np.uint32(i), place)
    nodes[ROOT].tried = drawn
    bring_forward(nodes, edges, ROOT)
    return seed


@kernel
def likeliest_edges(nodes, edges, considered, scores):
    """As `draw_edges` where every g is 0."""
    for drawn in range(min(np.int64(considered), np.int64(nodes[ROOT].count))):
        nodes[ROOT].tried = drawn
        bring_forward(nodes, edges, ROOT)
        edge = edges[np.uint32(nodes[ROOT].first + drawn)]
        scores[np.uint32(edge.action)] = logit_of(edge)
    nodes[ROOT].tried += 1
    bring_forward(nodes, edges, ROOT)


@kernel
def forget_gumbels(nodes, edges, scores):
    """What is left in `scores` of the edges tried is their logit."""
    first = np.int64(nodes[ROOT].first)
    for i in range(first, first + nodes[ROOT].tried):
        edge = edges[np.uint32(i)]
        scores[np.uint32(edge.action)] = logit_of(edge)


@kernel
def halving_edge(nodes, edges, scores, visits, value_scale):
    """The root's edge for the next simulation: of those drawn with that many visits, the best; NONE if none is left."""
    first, best, highest = np.int64(nodes[ROOT].first), NONE, np.float32(-1e30)
    scale, unseen = weigh(nodes, edges, ROOT, value_scale)
    for i in range(first, first + nodes[ROOT].tried):
        edge = edges[np.uint32(i)]
        if edge.visits + edge.losses == visits and edge.proven != LOST:
            score = corrected(scores[np.uint32(edge.action)], edge, scale, unseen)
            if score > highest:
                best, highest = i, score
    return best


@kernel
def improved_policy(nodes, edges, value_scale, policy):
    """Writes softmax(logit + σ(completed q)) for the root's edges into `policy` [edges].

    That is P · exp(σ), scaled to a sum of 1; σ is the same for all that was never visited.
    """
    first, count, tried = np.int64(nodes[ROOT].first), np.int64(nodes[ROOT].count), np.int64(nodes[ROOT].tried)
    scale, unseen = weigh(nodes, edges, ROOT, value_scale)
    highest = corrected(np.float32(0), edges[np.uint32(first)], scale, unseen)
    for i in range(1, min(tried + 1, count)):  # the one after the tried stands for all that follow
        highest = max(highest, corrected(np.float32(0), edges[np.uint32(first + i)], scale, unseen))
    factor, total = np.float32(0), np.float64(0)
    for i in range(count):
        edge = edges[np.uint32(first + i)]
        if i <= tried:
            factor = np.float32(math.exp(np.float64(corrected(np.float32(0), edge, scale, unseen) - highest)))
        policy[i] = np.float64(prior_of(edge)) * np.float64(factor)
        total += policy[i]
    share = np.float32(1 / total)
    for i in range(count):
        policy[i] *= share


@kernel
def improve(nodes, edges, scores, value_scale, policy):
    """Writes the root's improved policy; returns the edge to play, the best of those visited most."""
    improved_policy(nodes, edges, value_scale, policy)
    first, most = np.int64(nodes[ROOT].first), 0
    for i in range(first, first + nodes[ROOT].tried):
        edge = edges[np.uint32(i)]
        if edge.proven == WON:
            return i
        if edge.proven != LOST:
            most = max(most, edge.visits)
    best = halving_edge(nodes, edges, scores, most, value_scale)
    return first if best == NONE else best
