"""Breakthrough: pawns step forward, straight or diagonally; they capture diagonally, and win on the far row.

Each player's pawns are the bits of one word, bit y · size + x. An action is one of six directions (up-left, up,
up-right, down-left, down, down-right) and the cell that a pawn leaves: direction · cells + cell.
"""

from __future__ import annotations

import re
from typing import Annotated, NamedTuple

import numpy as np

from tengen.rules.bits import ONE, lowest_bit
from tengen.rules.board import Between, Coordinates, bits_board
from tengen.rules.contract import kernel, mix, rules
from tengen.rules.errors import BadMove

OFF_BOARD = re.compile(r"#(\d{1,3})")  # the name of a step off the board

RECORD = np.dtype(
    [("pawns", np.uint64, 2), ("ply", np.int16), ("to_play", np.uint8), ("result", np.int8)],
    align=True,
)


class Breakthrough(NamedTuple):
    """reach the far row with a pawn, or capture them all"""

    size: Annotated[int, Between(4, 8)] = 8

    players = ("White", "Black")
    planes = ("own pawns", "opponent's pawns", "first player to move")
    move_planes = 6
    move_pattern = r"[a-h]\d[a-h]\d|#\d+"
    usual_sizes = (5, 6, 8)

    @property
    def shape(self):
        return self.size, self.size

    @property
    def actions(self):
        return 6 * self.size**2

    @property
    def most_legal(self):
        return 6 * self.size  # three steps for each of two rows of pawns

    def record(self):
        return RECORD

    def board(self, state):
        return bits_board(state.pawns, np.arange(self.size**2).reshape(self.shape))

    def setup(self, states, board, to_play):
        state = states[0]
        for cell, owner in enumerate(board.ravel().tolist()):
            if owner:
                state.pawns[owner - 1] |= np.uint64(1 << cell)
        state.to_play = to_play
        if (board[0] == 1).any() or not (board == 2).any():
            state.result = 1
        elif (board[-1] == 2).any() or not (board == 1).any():
            state.result = 2

    def from_to(self, action):
        direction, begin = divmod(int(action), self.size**2)
        y, x = begin // self.size + (-1 if direction < 3 else 1), begin % self.size + direction % 3 - 1
        is_there = 0 <= y < self.size and 0 <= x < self.size
        return (begin, y * self.size + x) if is_there else (None, None)

    def action_text(self, action):
        begin, end = self.from_to(action)
        points = Coordinates(*self.shape)
        return f"#{action}" if end is None else points.text(begin) + points.text(end)

    def parse_action(self, text):
        if (match := OFF_BOARD.fullmatch(text)) and int(match[1]) < self.actions:
            if self.from_to(int(match[1]))[1] is None:
                return int(match[1])
        if len(text) != 4:
            raise BadMove(f"{text!r} is not a move; write where a pawn stands and where it goes: a2a3")
        points = Coordinates(*self.shape)
        begin, end = points.cell(text[:2]), points.cell(text[2:])
        for direction in range(6):
            if self.from_to(direction * self.size**2 + begin) == (begin, end):
                return direction * self.size**2 + begin
        raise BadMove(f"no pawn goes from {text[:2]} to {text[2:]}: it takes one step ahead")

    @property
    def symmetries(self):
        cells = np.arange(self.size**2).reshape(self.shape)
        return np.stack([cells.ravel(), cells[:, ::-1].ravel()])  # as it is, and left for right

    @property
    def action_symmetries(self):
        cells = self.size**2
        direction, begin = np.divmod(np.arange(self.actions), cells)
        mirrored = np.array([2, 1, 0, 5, 4, 3])[direction] * cells + self.symmetries[1][begin]
        return np.stack([np.arange(self.actions), mirrored])


@rules(Breakthrough)
def start(game, state):
    two_rows = (ONE << np.uint64(2 * game.size)) - ONE
    state.pawns[0], state.pawns[1] = two_rows << np.uint64(game.size * (game.size - 2)), two_rows


@rules(Breakthrough)
def legal(game, state, actions):
    player = np.int64(state.to_play)
    own, other = state.pawns[player], state.pawns[1 - player]
    width, count = np.uint64(game.size), 0
    ahead = own >> width if player == 0 else own << width
    for side in range(3):
        ends = beside(game, ahead, side - 1) & ~own & board_of(game)
        if side == 1:
            ends &= ~other
        back = beside(game, ends, 1 - side)
        begins = back << width if player == 0 else back >> width
        first = (3 * player + side) * game.size * game.size
        while begins != 0:
            actions[count] = first + lowest_bit(begins)
            begins &= begins - ONE
            count += 1
    return count


@rules(Breakthrough)
def play(game, state, action):
    cells, player = game.size * game.size, state.to_play
    direction, begin = action // cells, action % cells
    end = begin + (-game.size if player == 0 else game.size) + direction % 3 - 1
    state.pawns[player] ^= ONE << np.uint64(begin) | ONE << np.uint64(end)
    state.pawns[1 - player] &= ~(ONE << np.uint64(end))
    far_row = 0 if player == 0 else game.size - 1
    if end // game.size == far_row or state.pawns[1 - player] == 0:
        state.result = player + 1
    state.ply += 1
    state.to_play = 1 - player


@rules(Breakthrough)
def outcome(game, state):
    return state.result


@rules(Breakthrough)
def key(game, state):
    return mix(mix(state.pawns[0]) ^ state.pawns[1]) + np.uint64(state.to_play)


@rules(Breakthrough)
def encode(game, state, planes):
    own, other = state.pawns[state.to_play], state.pawns[1 - state.to_play]
    for cell in range(game.size * game.size):
        planes[0, cell] = own >> np.uint64(cell) & ONE
        planes[1, cell] = other >> np.uint64(cell) & ONE
        planes[2, cell] = state.to_play == 0


@kernel
def board_of(game):
    """All cells."""
    return ~np.uint64(0) >> np.uint64(64 - game.size * game.size)


@kernel
def left_column(game):
    """The first cell of each row."""
    column = np.uint64(0)
    for y in range(game.size):
        column |= ONE << np.uint64(y * game.size)
    return column


@kernel
def beside(game, pawns, columns):
    """All pawns one column to the left (−1) or to the right (1), without those that leave the board; or as they are."""
    if columns == 0:
        return pawns
    left = left_column(game)
    return (pawns & ~left) >> ONE if columns < 0 else (pawns << ONE) & ~left
