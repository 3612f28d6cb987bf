"""Stones as bits along the four directions of a board up to 20×20: a row of k is a few shifts away.

A cell lies on one row, one column, one diagonal and one antidiagonal. Each of these lines is a word in `lines`, one
such array a player; a cell's bit is its x on its row and its y on the other three. Boards up to 8×8 have words of 8
bits, up to 16×16 of 16 bits: a small state is copied faster, and on a GPU more of them fit into the cache.
"""

from __future__ import annotations

import numpy as np

from tengen.rules.bits import lowest_bit
from tengen.rules.contract import kernel, stone_key

MARGIN = 6  # empty bits around a line, where a few cells to either side of a stone are asked about
WORDS = {8: np.uint8, 16: np.uint16, 20: np.uint32}  # by how many columns and rows there are at most


def record_for(columns, rows, *more):
    """The record of a game on that board, with `more` fields of its own (first, so that no record begins another)."""
    limit = min(limit for limit in WORDS if limit >= max(columns, rows))
    fields = [
        ("lines", WORDS[limit], (2, 6 * limit)),  # the stones of each player; see `line_index`
        ("key", np.uint64),
        ("ply", np.int16),
        ("last", np.int16),  # the action played last, plus one; zero at the start
        ("to_play", np.uint8),
        ("result", np.int8),
    ]
    return np.dtype([*more, *fields], align=True)


@kernel
def line_index(lines, direction, x, y):
    """Which of `lines` goes through (x, y): its row (direction 0), column (1), diagonal (2) or antidiagonal (3).

    Rows come first, then columns, diagonals (x = y in the middle) and antidiagonals, each with room for the limit.
    The index is unsigned: Numba asks of a signed one whether it counts from the end.
    """
    limit = len(lines) // 6
    if direction == 0:
        return np.uint32(y)
    if direction == 1:
        return np.uint32(limit + x)
    if direction == 2:
        return np.uint32(3 * limit + x - y)
    return np.uint32(4 * limit + x + y)


@kernel
def is_set(lines, x, y):
    """Whether there is a stone at (x, y)."""
    return (lines[y] >> np.uint32(x)) & np.uint32(1) != 0


@kernel
def is_empty(lines, x, y):
    """Whether neither player has a stone at (x, y)."""
    return not (is_set(lines[0], x, y) or is_set(lines[1], x, y))


@kernel
def flip(lines, x, y):
    """Places a stone at (x, y), or takes it away again."""
    lines[line_index(lines, 0, x, y)] ^= np.uint32(1) << np.uint32(x)
    for direction in range(1, 4):
        lines[line_index(lines, direction, x, y)] ^= np.uint32(1) << np.uint32(y)


@kernel
def place(columns, state, action):
    """The player to move places a stone; the turn passes. Returns the stone's x and y."""
    y = np.uint32(np.uint32(action) // np.uint32(columns))
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
    row, column = lines[line_index(lines, 0, x, y)], lines[line_index(lines, 1, x, y)]
    diagonal, antidiagonal = lines[line_index(lines, 2, x, y)], lines[line_index(lines, 3, x, y)]
    for _ in range(length - 1):  # after i steps, a set bit begins a row of i + 1
        row &= row >> np.uint32(1)
        column &= column >> np.uint32(1)
        diagonal &= diagonal >> np.uint32(1)
        antidiagonal &= antidiagonal >> np.uint32(1)
    return (row | column | diagonal | antidiagonal) != 0


@kernel
def line_through(stones, direction, x, y):
    """The stones on the line through (x, y), and the bit of (x, y); there are MARGIN empty bits below and above."""
    word = np.uint64(stones[line_index(stones, direction, x, y)])
    return word << np.uint64(MARGIN), (x if direction == 0 else y) + MARGIN


@kernel
def points_of_line(columns, rows, direction, x, y):
    """The points of the board on the line through (x, y), as `line_through` numbers them."""
    low, high = 0, columns - 1 if direction == 0 else rows - 1
    if direction == 2:  # x = y + slant
        low, high = max(0, y - x), min(rows - 1, columns - 1 + y - x)
    elif direction == 3:  # x = slant − y
        low, high = max(0, x + y - columns + 1), min(rows - 1, x + y)
    length = np.uint64(high - low + 1)
    return ((np.uint64(1) << length) - np.uint64(1)) << np.uint64(low + MARGIN)


@kernel
def empty_cells(columns, rows, lines, actions):
    """Writes the empty cells into `actions`, rising; returns how many."""
    count, full = np.uint32(0), np.uint32((np.uint64(1) << np.uint64(columns)) - np.uint64(1))
    for y in range(rows):
        empty = np.uint32(full & ~(lines[0, y] | lines[1, y]))
        while empty != 0:
            actions[count] = y * columns + lowest_bit(empty)
            count = np.uint32(count + 1)
            empty = np.uint32(empty & (empty - np.uint32(1)))
    return np.int64(count)


@kernel
def encode_stones(columns, rows, state, planes):
    """Four planes: own stones, the opponent's, the last move, and ones everywhere if the first player is to move."""
    to_play, last = state.to_play, state.last
    for y in range(rows):
        own, other = np.uint64(state.lines[to_play, y]), np.uint64(state.lines[1 - to_play, y])
        for x in range(columns):
            cell, bit = y * columns + x, np.uint64(1) << np.uint64(x)
            planes[0, cell] = own & bit != 0
            planes[1, cell] = other & bit != 0
            planes[2, cell] = cell + 1 == last
            planes[3, cell] = to_play == 0


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
