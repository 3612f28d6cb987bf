"""Connect four by its open lines: fours that one player can still complete less those of the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tengen.rules.bits import ONE, count_bits, lowest_bit
from tengen.rules.contract import kernel, rules
from tengen.search.evaluation import NO_NOTES


class OpenFours(NamedTuple):
    """Places for four in a row, by how many stones stand there already; central columns are looked at first."""

    place: int = 1  # for four in a row
    two: int = 2  # more, with two stones there
    three: int = 8  # and with three

    @property
    def scale(self):
        return 40.0

    def record(self, game):
        return NO_NOTES


@kernel
def worth_of_lines(evaluation, own, free, step):
    """Lines of four in one direction on which only `own` stands."""
    places = free & (free >> step)
    places &= places >> (step + step)
    zero, one, two, three = own, own >> step, own >> (step + step), own >> (step + step + step)
    pairs, either = (zero & one) | (two & three), (zero | one) & (two | three)
    has_two = (pairs | either) & places
    has_three = ((zero & one & (two | three)) | (two & three & (zero | one))) & places
    return (
        evaluation.place * count_bits(places)
        + evaluation.two * count_bits(has_two)
        + evaluation.three * count_bits(has_three)
    )


@kernel
def bottom_of(game):
    """The lowest cell of each column."""
    bottom = np.uint64(0)
    for column in range(game.columns):
        bottom |= ONE << np.uint64(column * (game.rows + 1))
    return bottom


@kernel
def completing(game, own, board):
    """The cells on which one more stone makes four in a row, taken or not."""
    height = np.uint64(game.rows + 1)
    cells = (own << ONE) & (own << np.uint64(2)) & (own << np.uint64(3))
    for step in (height - ONE, height, height + ONE):
        two = (own << step) & (own << (step + step))
        cells |= two & (own << (step + step + step)) | two & (own >> step)
        two = (own >> step) & (own >> (step + step))
        cells |= two & (own >> (step + step + step)) | two & (own << step)
    return cells & board


@rules(OpenFours)
def evaluate(evaluation, game, state, notes):
    height = np.uint64(game.rows + 1)
    board = bottom_of(game) * ((ONE << np.uint64(game.rows)) - ONE)
    own, other, score = state.stones[state.to_play], state.stones[1 - state.to_play], 0
    for step in (ONE, height - ONE, height, height + ONE):
        score += worth_of_lines(evaluation, own, board & ~other, step)
        score -= worth_of_lines(evaluation, other, board & ~own, step)
    return score


@rules(OpenFours)
def candidates(evaluation, game, state, notes, actions, scores):
    """A four to make, or to stop, comes before all else; what lets the other make one on top of it is left out.

    If all is left out, the game is lost whatever is played. Ordered by the places for fours it makes, then by column.
    """
    height = np.uint64(game.rows + 1)
    bottom = bottom_of(game)
    board = bottom * ((ONE << np.uint64(game.rows)) - ONE)
    own, other = state.stones[state.to_play], state.stones[1 - state.to_play]
    possible = (own | other) + bottom & board  # where a stone would fall
    wins, losses = completing(game, own, board) & possible, completing(game, other, board)
    good = possible & ~(losses >> ONE)
    if wins != 0:
        good = wins & (~wins + ONE)
    elif losses & possible != 0:
        good = losses & possible
        good &= ~good + ONE
    if good == 0:
        good = possible & (~possible + ONE)
    count = 0
    while good != 0:
        cell = good & (~good + ONE)
        good ^= cell
        column = lowest_bit(cell) // np.int64(height)
        actions[count] = column
        places = completing(game, own | cell, board) & ~(own | other)
        scores[count] = (count_bits(places) << 15) - abs(2 * column + 1 - game.columns)
        count += 1
    return count
