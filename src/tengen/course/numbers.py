"""Entry points that read numbers out of a search's own kernels, so that what is shown is what was compared."""

from __future__ import annotations

import math

import numpy as np

from tengen.rules.kernels import entry
from tengen.search.evaluation import evaluate, take_notes
from tengen.search.gumbel import corrected, logit_of, weigh
from tengen.search.tree import ROOT
from tengen.search.uct import backup, best_child, ucb1


@entry
def weigh_edges(game, nodes, edges, node, exploration, urgency, terms):
    """What `best_edge` compares the edges of a node by: terms[i] = Q and U. It decides; a test holds us to it."""
    first, count, total, visits = nodes[node].first, nodes[node].count, np.float32(0), 0
    for i in range(first, first + count):
        total += edges[i].value
        visits += edges[i].visits
    unseen = np.float32(0)
    if urgency >= 0 and visits > 0:
        unseen = total / np.float32(visits) - np.float32(urgency)
    scale = np.float32(exploration * math.sqrt(visits))
    for i in range(count):
        edge = edges[first + i]
        tried = np.float32(edge.visits)
        terms[i, 0] = edge.value / tried if tried > 0 else unseen
        terms[i, 1] = scale * edge.prior / (np.float32(1) + tried)


@entry
def weigh_root(game, nodes, edges, scores, value_scale, terms):
    """What Gumbel compares the root's edges by: terms[i] = Gumbel number, logit, σ(completed q), and their sum.

    `scores` [actions] are Gumbel numbers and logits together.
    """
    first = nodes[ROOT].first
    scale, unseen = weigh(nodes, edges, ROOT, value_scale)
    for i in range(nodes[ROOT].count):
        edge = edges[first + i]
        terms[i, 1] = logit_of(edge)
        terms[i, 0] = scores[edge.action] - terms[i, 1]
        terms[i, 2] = corrected(np.float32(0), edge, scale, unseen)
        terms[i, 3] = corrected(scores[edge.action], edge, scale, unseen)


@entry
def weigh_children(game, means, visits, parent_visits, exploration, scores):
    """UCB1 of each child."""
    for i in range(len(means)):
        scores[i] = ucb1(means[i], visits[i], parent_visits, exploration)


@entry
def choose_child(game, nodes, parent, exploration):
    """The child that UCT goes to."""
    return best_child(nodes, parent, exploration)


@entry
def count_result(game, nodes, path, result):
    """UCT's backup of a result along a path."""
    backup(nodes, path, len(path), result)


@entry
def judge(game, evaluation, states, notes):
    """An evaluation's word for states[0], for the player to move; notes[0] is blank."""
    take_notes(evaluation, game, states[0], notes[0])
    return evaluate(evaluation, game, states[0], notes[0])
