"""Connect four: stones fall to the bottom of a column; four in a row wins.

Each player's stones are the bits of one word, columns of rows + 1 bits: the spare bit on top keeps lines from wrapping.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from tengen.rules.bits import ONE
from tengen.rules.board import Between, Coordinates, bits_board, check_turn, check_winner
from tengen.rules.contract import DRAW, earlier_winner, kernel, mix, rules
from tengen.rules.errors import BadDiagram, BadMove
from tengen.rules.kernels import entry

RECORD = np.dtype(
    [
        ("stones", np.uint64, 2),
        ("heights", np.int8, 8),  # stones in each column
        ("ply", np.int8),
        ("last", np.int8),  # the column played last, plus one; zero at the start
        ("to_play", np.uint8),
        ("result", np.int8),
    ],
    align=True,
)


class Connect4(NamedTuple):
    """stones fall; four in a row wins, a full board is a draw"""

    columns: Annotated[int, Between(4, 8)] = 7
    rows: Annotated[int, Between(4, 7)] = 6

    title = "Connect four"
    planes = ("own stones", "opponent's stones", "last move", "first player to move")
    move_pattern = r"\d"
    drawing = "holes"
    row_length = 4
    levels = ("uct:playouts=10", "uct:playouts=50", "uct:playouts=300", "alphabeta:depth=8", "alphabeta:time=1")

    @property
    def shape(self):
        return self.rows, self.columns

    @property
    def actions(self):
        return self.columns

    @property
    def coordinates(self):
        return Coordinates(self.rows, self.columns, letters="12345678")

    @property
    def symmetries(self):
        cells = np.arange(self.rows * self.columns).reshape(self.shape)
        return np.stack([cells.ravel(), cells[:, ::-1].ravel()])

    @property
    def action_symmetries(self):
        return np.stack([np.arange(self.columns), np.arange(self.columns)[::-1]])

    def record(self):
        return RECORD

    def action_text(self, action):
        return str(action + 1)

    def parse_action(self, text):
        if text not in list("12345678"[: self.columns]):
            raise BadMove(f"{text!r} is not a column; they are 1 to {self.columns}")
        return int(text) - 1

    def why_illegal(self, state, action):
        return "is full"

    def board(self, state):
        bits = np.arange(self.columns) * (self.rows + 1) + np.arange(self.rows)[::-1, None]  # [rows, columns]
        return bits_board(state.stones, bits)

    def setup(self, states, board, to_play):
        check_turn(board, to_play)
        floating = (board[:-1] > 0) & (board[1:] == 0)
        if floating.any():
            y, x = np.argwhere(floating)[0]
            raise BadDiagram(f"the stone in column {x + 1}, row {y + 1} from the top, floats above an empty cell")
        fill(self, states, board, to_play)
        check_winner(states[0].result, to_play)


@rules(Connect4)
def start(game, state):
    pass  # an empty board is all zeros


@rules(Connect4)
def legal(game, state, actions):
    count = 0
    for column in range(game.columns):
        if state.heights[column] < game.rows:
            actions[count] = column
            count += 1
    return count


@rules(Connect4)
def play(game, state, action):
    player = state.to_play
    drop(game, state, action, player)
    if has_four(game, state.stones[player]):
        state.result = player + 1
    elif state.ply == game.columns * game.rows:
        state.result = DRAW
    state.last = action + 1
    state.to_play = 1 - player


@kernel
def drop(game, state, column, player):
    bit = column * (game.rows + 1) + state.heights[column]
    state.stones[player] |= ONE << np.uint64(bit)
    state.heights[column] += 1
    state.ply += 1


@kernel
def has_four(game, stones):
    """Two neighbours, and two neighbours two steps on: up, across, and along both diagonals."""
    up, across = np.uint64(1), np.uint64(game.rows + 1)
    pairs = stones & (stones >> up)
    found = pairs & (pairs >> np.uint64(2))
    for step in (across, across - up, across + up):
        pairs = stones & (stones >> step)
        found |= pairs & (pairs >> (step + step))
    return found != 0


@rules(Connect4)
def outcome(game, state):
    return state.result


@rules(Connect4)
def key(game, state):
    return mix(mix(state.stones[0]) ^ state.stones[1])


@rules(Connect4)
def encode(game, state, planes):
    own, other = state.stones[state.to_play], state.stones[1 - state.to_play]
    for y in range(game.rows):
        for x in range(game.columns):
            height = game.rows - 1 - y
            bit, cell = np.uint64(x * (game.rows + 1) + height), y * game.columns + x
            planes[0, cell] = (own >> bit) & ONE
            planes[1, cell] = (other >> bit) & ONE
            planes[2, cell] = x + 1 == state.last and height + 1 == state.heights[x]
            planes[3, cell] = state.to_play == 0


@entry
def fill(game, states, board, to_play):
    """Sets up a diagram whose stones have fallen; four in a row on it have won."""
    state = states[0]
    for y in range(game.rows - 1, -1, -1):
        for x in range(game.columns):
            if board[y, x] > 0:
                drop(game, state, x, board[y, x] - 1)
    if state.ply == game.columns * game.rows:
        state.result = DRAW
    for player in range(2):
        if has_four(game, state.stones[player]):
            state.result = earlier_winner(state.result, player, to_play)
    state.to_play = to_play
