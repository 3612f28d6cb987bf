"""Stones as bits along the four directions of a board up to 20×20: a row of k is a few shifts away.

A cell lies on one row, one column, one diagonal and one antidiagonal. Each of these lines is a word of 32 bits in
`lines` [LINES], one such array a player; a cell's bit is its x on its row and its y on the other three.
"""

from __future__ import annotations

import numpy as np

from tengen.rules.bits import lowest_bit
from tengen.rules.contract import kernel, stone_key

LIMIT = 20  # columns and rows at most
COLUMNS, DIAGONALS, ANTIDIAGONALS = LIMIT, 3 * LIMIT, 4 * LIMIT  # line x = 0, line x = y, line x + y = 0; row y is y
LINES = 6 * LIMIT

RECORD = np.dtype(
    [
        ("lines", np.uint32, (2, LINES)),  # the stones of each player
        ("key", np.uint64),
        ("ply", np.int16),
        ("last", np.int16),  # the action played last, plus one; zero at the start
        ("to_play", np.uint8),
        ("result", np.int8),
    ],
    align=True,
)


@kernel
def is_set(lines, x, y):
    """Whether there is a stone at (x, y)."""
    return (lines[y] >> np.uint32(x)) & np.uint32(1) != 0


@kernel
def flip(lines, x, y):
    """Places a stone at (x, y), or takes it away again."""
    across, down = np.uint32(1) << np.uint32(x), np.uint32(1) << np.uint32(y)
    lines[y] ^= across
    lines[np.uint32(COLUMNS + x)] ^= down
    lines[np.uint32(DIAGONALS + x - y)] ^= down
    lines[np.uint32(ANTIDIAGONALS + x + y)] ^= down


@kernel
def place(columns, state, action):
    """The player to move places a stone; the turn passes. Returns the stone's x and y."""
    y = np.uint32(np.uint32(action) // np.uint32(columns))  # unsigned: Numba then asks less of an index
    x = np.uint32(action - y * columns)
    flip(state.lines[state.to_play], x, y)
    state.key ^= stone_key(action, state.to_play)
    state.ply += 1
    state.last = action + 1
    state.to_play = 1 - state.to_play
    return x, y


@kernel
def has_row(lines, x, y, length):
    """Whether `length` stones or more stand in a row on a line through (x, y)."""
    row, column = lines[y], lines[np.uint32(COLUMNS + x)]
    diagonal, antidiagonal = lines[np.uint32(DIAGONALS + x - y)], lines[np.uint32(ANTIDIAGONALS + x + y)]
    for _ in range(length - 1):  # after i steps, a set bit begins a row of i + 1
        row &= row >> np.uint32(1)
        column &= column >> np.uint32(1)
        diagonal &= diagonal >> np.uint32(1)
        antidiagonal &= antidiagonal >> np.uint32(1)
    return (row | column | diagonal | antidiagonal) != 0


@kernel
def empty_cells(columns, rows, lines, actions):
    """Writes the empty cells into `actions`, rising; returns how many."""
    count = 0
    full = (np.uint64(1) << np.uint64(columns)) - np.uint64(1)
    for y in range(rows):
        empty = full & ~np.uint64(lines[0, y] | lines[1, y])
        while empty != 0:
            actions[count] = y * columns + lowest_bit(empty)
            count += 1
            empty &= empty - np.uint64(1)
    return count


@kernel
def encode_stones(columns, rows, state, planes):
    """Four planes: own stones, the opponent's, the last move, and ones everywhere if the first player is to move."""
    own, other = state.lines[state.to_play], state.lines[1 - state.to_play]
    for y in range(rows):
        for x in range(columns):
            cell = y * columns + x
            planes[0, cell] = is_set(own, x, y)
            planes[1, cell] = is_set(other, x, y)
            planes[2, cell] = cell + 1 == state.last
            planes[3, cell] = state.to_play == 0


@kernel
def set_up(state, board, to_play):
    """Fills an empty state from `board` [rows, columns] of 0, 1, 2. Rows of stones are the caller's to judge."""
    rows, columns = board.shape
    for y in range(rows):
        for x in range(columns):
            if board[y, x] > 0:
                flip(state.lines[board[y, x] - 1], x, y)
                state.key ^= stone_key(y * columns + x, board[y, x] - 1)
                state.ply += 1
    state.to_play = to_play


def stones(state, rows, columns):
    """The board as Python sees it: [rows, columns] of 0, 1, 2."""
    bits = (state.lines[:, :rows, None] >> np.arange(columns, dtype=np.uint32)) & 1  # [players, rows, columns]
    return (bits[0] + 2 * bits[1]).astype(np.int8)
