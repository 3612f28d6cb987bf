"""The lecture's evaluation for tic-tac-toe, and for every other m,n,k-game: lines that are still open."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tengen.knowledge.lines import TOTALS, change_of_lines, worth_of_lines
from tengen.rules.bits import count_bits
from tengen.rules.contract import kernel, legal, rules
from tengen.rules.lines import MARGIN, flip, has_row, line_through, points_of_line
from tengen.search.evaluation import WIN


class OpenLines(NamedTuple):
    """The lecture's e(s) for tic-tac-toe and its kin: rows still open to one player less rows open to the other."""

    columns: int
    rows: int
    row: int  # how many stones win
    urgent: int = 0  # whether a row's last stone is the only candidate
    weight: int = 1  # 0 for nothing but who can still win

    @property
    def scale(self):
        return 8.0

    def record(self, game):
        return TOTALS


@rules(OpenLines)
def judge_line(evaluation, own, other, points):
    free = points & ~other
    for _ in range(evaluation.row - 1):
        free &= free >> np.uint64(1)
    return count_bits(free)


@rules(OpenLines)
def take_notes(evaluation, game, state, notes):
    for player in range(2):
        notes.totals[player] = worth_of_lines(evaluation, state, player)


@rules(OpenLines)
def follow(evaluation, game, before, after, action, notes):
    y = action // evaluation.columns
    x = action - y * evaluation.columns
    for player in range(2):
        notes.totals[player] += change_of_lines(evaluation, before, after, player, x, y)


@rules(OpenLines)
def evaluate(evaluation, game, state, notes):
    return evaluation.weight * (notes.totals[state.to_play] - notes.totals[1 - state.to_play])


@rules(OpenLines)
def bounds(evaluation, game, state, notes):
    """Who has no row open cannot win any more."""
    lowest = 0 if notes.totals[1 - state.to_play] == 0 else -WIN
    highest = 0 if notes.totals[state.to_play] == 0 else WIN
    return lowest, highest


@rules(OpenLines)
def candidates(evaluation, game, state, notes, actions, scores):
    """All that is legal; or, if the evaluation looks for rows, a row's last stone, or the other's, before all else."""
    count = legal(game, state, actions)
    for i in range(count):
        scores[i] = rows_through(evaluation, state, actions[i]) << 16
    if evaluation.urgent:
        for turn in range(2):
            player = state.to_play if turn == 0 else 1 - state.to_play
            for i in range(count):
                if completes(evaluation, state.lines[player], actions[i]):
                    actions[0] = actions[i]
                    return 1
    return count


@kernel
def rows_through(evaluation, state, action):
    """How many rows through a cell are still open, to either player: two stones there count more than one."""
    y = action // evaluation.columns
    x = action - y * evaluation.columns
    total, row = 0, evaluation.row
    for direction in range(4):
        first, at = line_through(state.lines[0], direction, x, y)
        second, at = line_through(state.lines[1], direction, x, y)
        points = points_of_line(evaluation.columns, evaluation.rows, direction, x, y)
        for start in range(max(at - row + 1, MARGIN), at + 1):
            window = ((np.uint64(1) << np.uint64(row)) - np.uint64(1)) << np.uint64(start)
            if window & ~points == 0 and (window & first == 0 or window & second == 0):
                total += 1 + 3 * count_bits(window & (first | second))
    return total


@kernel
def completes(evaluation, stones, action):
    """Whether one more stone completes a row."""
    y = np.uint32(action // evaluation.columns)
    x = np.uint32(action - y * evaluation.columns)
    flip(stones, x, y)
    found = has_row(stones, x, y, evaluation.row)
    flip(stones, x, y)
    return found
