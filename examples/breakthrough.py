"""Breakthrough: pawns step forward or diagonally forward, capture diagonally, and win on the far row.

A whole game in one file: copy it and change the rules. The page docs/add-a-game.md walks through it.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from tengen.rules.board import Between, Coordinates
from tengen.rules.contract import kernel, rules, stone_key
from tengen.rules.errors import BadMove

# The state: one NumPy record with room for the largest board. `ply` and `to_play` are required.
RECORD = np.dtype(
    [
        ("cells", np.int8, 64),  # 0 empty, 1 a pawn of the first player, 2 of the second; row 0 is at the top
        ("pawns", np.int8, 2),  # how many each has
        ("ply", np.int16),
        ("to_play", np.uint8),
        ("result", np.int8),
    ],
    align=True,
)


# The game: its parameters, and what Python asks about it.


class Breakthrough(NamedTuple):
    """reach the far row with a pawn, or capture them all"""

    size: Annotated[int, Between(4, 8)] = 8

    planes = ("own pawns", "opponent's pawns", "first player to move")
    move_pattern = r"[a-h]\d[a-h]\d"

    @property
    def shape(self):
        return self.size, self.size

    @property
    def actions(self):
        return self.size**4  # from one cell to another: from · cells + to

    def record(self):
        return RECORD

    def board(self, state):
        return state.cells[: self.size**2].reshape(self.shape)

    def setup(self, states, board, to_play):
        state = states[0]
        state.cells[: self.size**2] = board.ravel()
        state.pawns[:] = (board == 1).sum(), (board == 2).sum()
        state.to_play = to_play
        if (board[0] == 1).any() or state.pawns[1] == 0:
            state.result = 1
        elif (board[-1] == 2).any() or state.pawns[0] == 0:
            state.result = 2

    def action_text(self, action):
        points, cells = Coordinates(*self.shape), self.size**2
        return points.text(action // cells) + points.text(action % cells)

    def parse_action(self, text):
        points, cells = Coordinates(*self.shape), self.size**2
        if len(text) != 4:
            raise BadMove(f"{text!r} is not a move; write where a pawn stands and where it goes: a2a3")
        return points.cell(text[:2]) * cells + points.cell(text[2:])

    @property
    def symmetries(self):
        cells = np.arange(self.size**2).reshape(self.shape)
        return np.stack([cells.ravel(), cells[:, ::-1].ravel()])  # as it is, and left for right

    @property
    def action_symmetries(self):
        cells = self.size**2
        begin, end = np.divmod(np.arange(self.actions), cells)
        return np.stack([image[begin] * cells + image[end] for image in self.symmetries])


# The rules: plain functions that Numba compiles, for a CPU and for a GPU.


@rules(Breakthrough)
def start(game, state):
    for x in range(2 * game.size):
        state.cells[x] = 2
        state.cells[game.size * game.size - 1 - x] = 1
    state.pawns[0] = state.pawns[1] = 2 * game.size


@rules(Breakthrough)
def legal(game, state, actions):
    cells, count = game.size * game.size, 0
    for cell in range(cells):
        if state.cells[cell] == state.to_play + 1:
            for dx in range(-1, 2):
                target = target_of(game, state, cell, dx)
                if target >= 0:
                    actions[count] = cell * cells + target
                    count += 1
    return count


@kernel
def target_of(game, state, cell, dx):
    """Where a pawn lands, or −1: straight ahead only on an empty cell, diagonally not on one's own pawn."""
    x, y = cell % game.size + dx, cell // game.size
    y += -1 if state.to_play == 0 else 1
    if not (0 <= x < game.size and 0 <= y < game.size):
        return -1
    there = state.cells[y * game.size + x]
    is_free = there == 0 or (dx != 0 and there == 2 - state.to_play)
    return y * game.size + x if is_free else -1


@rules(Breakthrough)
def play(game, state, action):
    cells, player = game.size * game.size, state.to_play
    begin, end = action // cells, action % cells
    if state.cells[end] != 0:
        state.pawns[1 - player] -= 1
    state.cells[begin] = 0
    state.cells[end] = player + 1
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
    result = np.uint64(state.to_play)
    for cell in range(game.size * game.size):
        if state.cells[cell] != 0:
            result ^= stone_key(cell, state.cells[cell] - 1)
    return result


@rules(Breakthrough)
def encode(game, state, planes):
    for cell in range(game.size * game.size):
        planes[0, cell] = state.cells[cell] == state.to_play + 1
        planes[1, cell] = state.cells[cell] == 2 - state.to_play
        planes[2, cell] = state.to_play == 0
