"""The Gobang paper's evaluation function, as it stands there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tengen.knowledge.gomoku import points_near
from tengen.knowledge.lines import TOTALS, change_of_lines, worth_of_lines
from tengen.rules.bits import count_bits
from tengen.rules.contract import kernel, legal, rules
from tengen.rules.lines import is_set


class Gobang(NamedTuple):
    """The Gobang paper's f = 3x + 2y + z + 100·N₁ + 50·N₂ + 20·N₃, all as differences of the two players.

    x, y, z: stones in the core, at an edge, in a corner (an edge is a fifth of the board wide); N₁: open fours, N₂:
    fours, N₃: open threes.
    """

    columns: int
    rows: int
    region: int = 0  # candidates are points this near to a stone; 0 for all
    graded: int = 0  # whether the search looks less deep the farther a point is from all stones

    @property
    def is_complete(self):
        return self.region == 0

    @property
    def scale(self):
        return 100.0

    def record(self, game):
        return TOTALS


@rules(Gobang)
def judge_line(evaluation, own, other, points):
    empty = points & ~(own | other)
    open_fours = count_bits(shape(own, empty, 0b011110, 0b100001))
    fours = -2 * open_fours  # each is a four at either end, too
    for gap in range(5):
        fours += count_bits(shape(own, empty, 0b11111 ^ 1 << gap, 1 << gap))
    broken = shape(own, empty, 0b010110, 0b101001) | shape(own, empty, 0b011010, 0b100101)
    solid = shape(own, empty, 0b01110, 0b10001)  # and room on one side to become an open four
    solid &= (empty << np.uint64(1)) | (empty >> np.uint64(5))
    return 100 * open_fours + 50 * fours + 20 * count_bits(broken | solid)


@kernel
def shape(own, empty, stones, gaps):
    """Where a shape begins: own stones on the bits of `stones`, empty points on those of `gaps`."""
    found = ~np.uint64(0)
    for bit in range(6):
        if stones >> bit & 1:
            found &= own >> np.uint64(bit)
        if gaps >> bit & 1:
            found &= empty >> np.uint64(bit)
    return found


@kernel
def worth_of_place(evaluation, x, y):
    """3 in the core, 2 at an edge, 1 in a corner."""
    margin = max(1, evaluation.columns // 5)
    at_side = x < margin or x >= evaluation.columns - margin
    at_end = y < margin or y >= evaluation.rows - margin
    return 3 - at_side - at_end


@rules(Gobang)
def take_notes(evaluation, game, state, notes):
    for player in range(2):
        notes.totals[player] = worth_of_lines(evaluation, state, player)
        for y in range(evaluation.rows):
            for x in range(evaluation.columns):
                if is_set(state.lines[player], x, y):
                    notes.totals[player] += worth_of_place(evaluation, x, y)


@rules(Gobang)
def follow(evaluation, game, before, after, action, notes):
    y = action // evaluation.columns
    x = action - y * evaluation.columns
    for player in range(2):
        notes.totals[player] += change_of_lines(evaluation, before, after, player, x, y)
    notes.totals[before.to_play] += worth_of_place(evaluation, x, y)


@rules(Gobang)
def evaluate(evaluation, game, state, notes):
    return notes.totals[state.to_play] - notes.totals[1 - state.to_play]


@rules(Gobang)
def candidates(evaluation, game, state, notes, actions, scores):
    count = points_near(game, state, evaluation.region, actions) if evaluation.region else 0
    if count == 0:
        count = legal(game, state, actions)
    for i in range(count):
        scores[i] = 0
    return count


@rules(Gobang)
def plies_for(evaluation, game, state, action):
    """A ply for each point's distance from the nearest stone, up to three; on an empty board one."""
    if not evaluation.graded or state.ply == 0:
        return 1
    y = action // evaluation.columns
    x = action - y * evaluation.columns
    for distance in range(1, 3):
        for dy in range(-distance, distance + 1):
            for dx in range(-distance, distance + 1):
                if is_stone(evaluation, state, x + dx, y + dy):
                    return distance
    return 3


@kernel
def is_stone(evaluation, state, x, y):
    """Whether there is a stone on a point; outside the board there is none."""
    if x < 0 or y < 0 or x >= evaluation.columns or y >= evaluation.rows:
        return False
    return is_set(state.lines[0], x, y) or is_set(state.lines[1], x, y)
