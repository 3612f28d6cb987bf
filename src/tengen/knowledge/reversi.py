"""Reversi by mobility, corners and stability. Discs themselves count for little until the end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tengen.games.reversi import inner_columns, moves_of
from tengen.rules.bits import ONE, count_bits
from tengen.rules.contract import kernel, legal, rules
from tengen.search.evaluation import NO_NOTES


class Mobility(NamedTuple):
    """Moves and frontier, corners and the cells beside them, discs along edges that can never be flipped."""

    moves: int = 10
    frontier: int = 4
    corner: int = 80
    beside: int = 25  # a disc diagonally beside an empty corner
    stable: int = 20

    @property
    def scale(self):
        return 250.0

    def record(self, game):
        return NO_NOTES


@kernel
def corners_of(size):
    """The four corners."""
    last = np.uint64(size - 1)
    return ONE | ONE << last | ONE << np.uint64(size) * last | ONE << (np.uint64(size + 1) * last)


@kernel
def dilate(size, cells):
    """The cells and their eight neighbours."""
    width = np.uint64(size)
    inner = inner_columns(size)
    left = inner | inner << ONE  # all columns but the first
    right = inner | inner >> ONE  # all but the last
    cells |= ((cells & right) << ONE) | ((cells & left) >> ONE)
    return cells | cells << width | cells >> width


@kernel
def stable_edges(size, own):
    """Own discs in unbroken rows along the edges from an own corner: nothing flips these."""
    width = np.uint64(size)
    stable = own & corners_of(size)
    first, last = (ONE << width) - ONE, ((ONE << width) - ONE) << (width * np.uint64(size - 1))
    column = np.uint64(0)
    for y in range(size):
        column |= ONE << np.uint64(y * size)
    sides = column | column << np.uint64(size - 1)
    for _ in range(size - 2):
        stable |= own & (first | last) & ((stable << ONE) | (stable >> ONE))
        stable |= own & sides & ((stable << width) | (stable >> width))
    return stable


@kernel
def merits(evaluation, game, own, other, board):
    """All that speaks for one player."""
    size = game.size
    empty = board & ~(own | other)
    corners = corners_of(size)
    risky = dilate(size, corners & empty) & ~corners & inner_columns(size)
    risky &= ~(((ONE << np.uint64(size)) - ONE) | ((ONE << np.uint64(size)) - ONE) << np.uint64(size * (size - 1)))
    score = evaluation.moves * count_bits(moves_of(game, own, other))
    score -= evaluation.frontier * count_bits(own & dilate(size, empty))
    score += evaluation.corner * count_bits(own & corners) - evaluation.beside * count_bits(own & risky)
    return score + evaluation.stable * count_bits(stable_edges(size, own))


@rules(Mobility)
def evaluate(evaluation, game, state, notes):
    board = ~np.uint64(0) >> np.uint64(64 - game.size * game.size)
    own, other = state.discs[state.to_play], state.discs[1 - state.to_play]
    return merits(evaluation, game, own, other, board) - merits(evaluation, game, other, own, board)


@rules(Mobility)
def candidates(evaluation, game, state, notes, actions, scores):
    """Corners first, the cells beside empty ones last."""
    count = legal(game, state, actions)
    corners = corners_of(game.size)
    taken = state.discs[0] | state.discs[1]
    risky = dilate(game.size, corners & ~taken)
    for i in range(count):
        scores[i] = 0
        if actions[i] < game.size * game.size:
            cell = ONE << np.uint64(actions[i])
            scores[i] = 20000 if cell & corners else -10000 if cell & risky else 0
    return count
