"""Go by a simple estimate of area: an empty point belongs to the colour whose stones are nearer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tengen.games.go import EDGE, EMPTY, PASS, Go, cell_of, empty_cells, illegal_kind, list_captured, move
from tengen.rules.contract import advance, below, first_seed, kernel, legal, rules
from tengen.rules.game import Game
from tengen.rules.kernels import entry

NEUTRAL = 4  # as near to one colour as to the other; else an owner is a stone


def is_go(game: Game) -> bool:
    """Whether a game is Go by these rules, which Go's knowledge can work on."""
    return isinstance(game.parameters, Go)


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


@entry
def uniform_go(game, root, states, actions, repeats, number, longest):
    """Go as OpenSpiel rolls it out: any legal action, a pass too, with the same chance, drawn until one is legal."""
    seed = first_seed(number)
    for _ in range(repeats):
        states[0] = root[0]
        state = states[0]
        count = empty_cells(game, state, actions)
        while state.over == 0 and state.ply < longest:
            seed = advance(seed)
            pick = below(seed, count + 1)
            if pick == count:
                move(game, state, PASS)
            elif illegal_kind(game, state, actions[pick]) == 0:
                move(game, state, actions[pick])
                if state.over == 0:
                    count -= 1
                    actions[pick] = actions[count]
                    count = list_captured(state, actions, count)
