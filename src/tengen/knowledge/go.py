"""Go by a simple estimate of area: an empty point belongs to the colour whose stones are nearer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tengen.games.go import EDGE, EMPTY, cell_of
from tengen.rules.contract import kernel, legal, rules

NEUTRAL = 4  # as near to one colour as to the other; else an owner is a stone


class Area(NamedTuple):
    """Stones, and empty points by the nearest stone."""

    unit: int = 10  # of a score, for one point: komi has halves

    @property
    def scale(self):
        return 10.0 * self.unit

    def record(self, game):
        cells = (game.shape[0] + 1) * (game.shape[0] + 2) + 1
        return np.dtype(
            [("queue", np.uint16, cells), ("owner", np.int8, cells), ("distance", np.int8, cells)], align=True
        )


@rules(Area)
def evaluate(evaluation, game, state, notes):
    """Both colours spread from all their stones at once, at the same pace."""
    length, at, total = 0, 0, 0
    for cell in range(len(notes.owner)):
        notes.owner[cell], notes.distance[cell] = state.cells[cell], 0
        if state.cells[cell] != EMPTY and state.cells[cell] != EDGE:
            notes.queue[length] = cell
            length += 1
    while at < length:
        cell = np.int64(notes.queue[at])
        at += 1
        owner = notes.owner[cell]
        if owner != NEUTRAL:
            total += 1 if owner == 1 else -1
        for step in (-game.size - 1, -1, 1, game.size + 1):
            length = claim(notes, cell + step, owner, notes.distance[cell] + 1, length)
    score = np.int64(round(evaluation.unit * (total - game.komi - game.handicap)))
    return score if state.to_play == 0 else -score


@kernel
def claim(notes, cell, owner, distance, length):
    """A colour reaches a cell; if the other did so at the same distance, it is nobody's. Returns the queue's length."""
    if notes.owner[cell] == EMPTY:
        notes.owner[cell], notes.distance[cell] = owner, distance
        notes.queue[length] = cell
        return length + 1
    if notes.owner[cell] != EDGE and notes.distance[cell] == distance and notes.owner[cell] != owner:
        notes.owner[cell] = NEUTRAL
    return length


@rules(Area)
def candidates(evaluation, game, state, notes, actions, scores):
    """Points beside stones, and the last move's neighbours, are looked at first; a pass last."""
    count = legal(game, state, actions)
    for i in range(count):
        scores[i] = -1
        if actions[i] < game.size * game.size:
            cell, scores[i] = cell_of(game, actions[i]), 0
            for step in (-game.size - 1, -1, 1, game.size + 1):
                scores[i] += state.cells[cell + step] != EMPTY and state.cells[cell + step] != EDGE
    return count
