"""Evaluations that are sums over the lines of a board, one for each player: a stone changes four lines.

The evaluation says what a line is worth to one player (`judge_line`), and has the board's `columns` and `rows`.
"""

from __future__ import annotations

import numpy as np

from tengen.rules.contract import generic, kernel
from tengen.rules.lines import line_through, points_of_line

TOTALS = np.dtype([("totals", np.int32, 2)])  # for each player


@generic(required=False)
def judge_line(evaluation, own, other, points):
    """What a line is worth to the player whose stones on it are `own`."""
    return 0


@kernel
def worth_of_line(evaluation, state, player, direction, x, y):
    """What the line through (x, y) is worth to a player."""
    own, _ = line_through(state.lines[player], direction, x, y)
    other, _ = line_through(state.lines[1 - player], direction, x, y)
    return judge_line(evaluation, own, other, points_of_line(evaluation.columns, evaluation.rows, direction, x, y))


@kernel
def worth_of_lines(evaluation, state, player):
    """All lines, each by the point where it enters the board."""
    total, columns, rows = 0, evaluation.columns, evaluation.rows
    for y in range(rows):
        total += worth_of_line(evaluation, state, player, 0, 0, y)
        if y > 0:
            total += worth_of_line(evaluation, state, player, 2, 0, y)
            total += worth_of_line(evaluation, state, player, 3, columns - 1, y)
    for x in range(columns):
        for direction in range(1, 4):
            total += worth_of_line(evaluation, state, player, direction, x, 0)
    return total


@kernel
def change_of_lines(evaluation, before, after, player, x, y):
    """What a stone on (x, y) changes for a player."""
    change = 0
    for direction in range(4):
        change += worth_of_line(evaluation, after, player, direction, x, y)
        change -= worth_of_line(evaluation, before, player, direction, x, y)
    return change
