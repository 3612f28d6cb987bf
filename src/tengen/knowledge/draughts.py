"""Draughts by men and kings, and where they stand. A capture at the horizon is carried out: it must be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tengen.games.draughts import (
    ENGLISH,
    SQUARES,
    bit_of_square,
    cell_of_bit,
    far_row,
    is_forward,
    moved,
    size_of,
    upward,
)
from tengen.rules.bits import ONE, count_bits, lowest_bit
from tengen.rules.contract import kernel, legal, rules
from tengen.search.evaluation import NO_NOTES

COUNT = (32, 50)  # of squares
CENTRE = (  # squares of the middle columns and rows
    np.uint64(sum(1 << square + square // 8 for square in (9, 10, 13, 14, 17, 18, 21, 22))),
    np.uint64(sum(1 << square + square // 10 for square in (16, 17, 18, 21, 22, 23, 26, 27, 28, 31, 32, 33))),
)


class Formation(NamedTuple):
    """What men and kings are worth, men far advanced, men that guard the back row, pieces in the centre, free steps."""

    man: int = 100
    king: int = 140
    row: int = 1  # for every row that a man has gone
    guard: int = 12  # for a man on its own back row, while there are men to be kept from it
    centre: int = 4
    step: int = 4  # for every square that a piece may step on
    turn: int = 3  # for being the one to move
    chase: int = 4  # for each row or column that a lone opponent is nearer, to who is ahead

    @classmethod
    def of(cls, game):
        """A king that flies is worth more than three men."""
        return cls() if game.parameters.rule == ENGLISH else cls(king=330, row=2, guard=3, centre=3, step=2)

    @property
    def scale(self):
        return 200.0

    def record(self, game):
        return NO_NOTES


@rules(Formation)
def evaluate(evaluation, game, state, notes):
    """With fewer pieces on the board, an advantage is worth more: who is ahead exchanges."""
    player, other = state.to_play, 1 - state.to_play
    there = ~state.jumped  # what was jumped is as good as gone
    own_men, own_kings = state.men[player], state.kings[player]
    men, kings = state.men[other] & there, state.kings[other] & there
    empty = SQUARES[game.rule] & ~(own_men | own_kings | men | kings)
    worth = evaluation.man * (count_bits(own_men) - count_bits(men))
    worth += evaluation.king * (count_bits(own_kings) - count_bits(kings))
    pieces = count_bits(own_men | own_kings | men | kings)
    if worth != 0 and (own_kings if worth > 0 else kings) != 0 and pieces < 9:
        nearness = evaluation.chase * nearness_of(game, own_men | own_kings, men | kings)
        worth += nearness if worth > 0 else -nearness
    worth += worth * (COUNT[game.rule] - pieces) // (2 * COUNT[game.rule])
    worth += places(evaluation, game, player, own_men, own_kings, empty, men != 0)
    return worth - places(evaluation, game, other, men, kings, empty, own_men != 0) + evaluation.turn


@kernel
def places(evaluation, game, player, men, kings, empty, is_guarding):
    """What the places of one player's pieces are worth."""
    centre = CENTRE[game.rule]
    score = evaluation.centre * (count_bits(men & centre) + 2 * count_bits(kings & centre))
    score += evaluation.row * rows_gone(game, player, men)
    if is_guarding:
        score += evaluation.guard * count_bits(men & far_row(game, 1 - player))
    for direction in range(4):
        steppers = men | kings if is_forward(game, player, direction) else kings
        score += evaluation.step * count_bits(moved(game, steppers, direction, 1) & empty)
    return score


@kernel
def nearness_of(game, own, others):
    """How near two sets of pieces are to each other: the less, the more steps apart their nearest neighbours are."""
    total = 0
    while own != 0:
        here, nearest, rest = cell_of_bit(game, lowest_bit(own)), 0, others
        own &= own - ONE
        while rest != 0:
            there = cell_of_bit(game, lowest_bit(rest))
            rest &= rest - ONE
            size = size_of(game)
            apart = max(abs(here // size - there // size), abs(here % size - there % size))
            nearest = max(nearest, size - apart)
        total += nearest
    return total


@kernel
def rows_gone(game, player, men):
    """How many rows a player's men have gone from their back row, all together."""
    total, size = 0, size_of(game)
    row = (ONE << np.uint64(size // 2)) - ONE
    for y in range(size):
        there = men & row << bit_of_square(game, y * size // 2)
        total += count_bits(there) * (size - 1 - y if player == upward(game) else y)
    return total


@rules(Formation)
def candidates(evaluation, game, state, notes, actions, scores):
    """Steps of men come first that are near the far row; captures are few."""
    count = legal(game, state, actions)
    cells, forward = size_of(game) * size_of(game), state.to_play == upward(game)
    for i in range(count):
        y = actions[i] % cells // size_of(game)
        scores[i] = size_of(game) - y if forward else y
    return count


@rules(Formation)
def threats(evaluation, game, state, notes, actions, scores):
    """Captures, and nothing else, if there are any."""
    if state.captures == 0:
        return 0
    count = legal(game, state, actions)
    for i in range(count):
        scores[i] = 0
    return -count
