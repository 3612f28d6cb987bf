"""Reversi (Othello) on 4×4, 6×6 or 8×8: a move must flip; who cannot flip passes; the game ends when neither can.

Each player's discs are the bits of one word, bit y · size + x. All eight directions work alike: a run of the
opponent's discs grows from one's own by shifts, and what it runs into is a move (or, from a move, closes a flip).
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from tengen.rules.bits import ONE, count_bits, lowest_bit
from tengen.rules.board import Between, Coordinates, bits_board
from tengen.rules.contract import DRAW, FIRST, SECOND, kernel, mix, rules
from tengen.rules.errors import BadParameter
from tengen.rules.kernels import entry

RECORD = np.dtype(
    [
        ("discs", np.uint64, 2),
        ("moves", np.uint64),  # where the player to move may play; zero if only a pass is left
        ("ply", np.int16),
        ("last", np.int16),  # the action played last, plus one; zero at the start
        ("to_play", np.uint8),
        ("over", np.int8),
    ],
    align=True,
)


class Reversi(NamedTuple):
    """outflank to flip; most discs win"""

    size: Annotated[int, Between(4, 8)] = 8

    names = {"othello": {"size": 8}}
    planes = ("own discs", "opponent's discs", "legal moves", "first player to move")
    players = ("Black", "White")
    drawing = "discs"
    usual_sizes = (4, 6, 8)
    scoring = "discs"
    levels = ("uct:playouts=10", "uct:playouts=50", "alphabeta:depth=1", "alphabeta:depth=4", "alphabeta:time=1")
    sgf_number = 2
    gtp_name = "Othello"
    gtp_passes = False  # GRhino has no word for a pass: who cannot move is skipped

    def validate(self):
        if self.size % 2:
            raise BadParameter(f"size={self.size} is odd; Reversi boards are 4, 6 or 8 wide")

    @property
    def shape(self):
        return self.size, self.size

    @property
    def actions(self):
        return self.size * self.size + 1  # the last one is a pass

    @property
    def coordinates(self):
        return Coordinates(self.size, self.size, from_top=True)

    def record(self):
        return RECORD

    def board(self, state):
        return bits_board(state.discs, np.arange(self.size * self.size).reshape(self.shape))

    def setup(self, states, board, to_play):
        fill(self, states, board, to_play)

    def why_illegal(self, state, action):
        if action == self.size * self.size:
            return "is not allowed while a move flips something"
        return "is occupied" if self.board(state).flat[action] else "flips nothing"


@rules(Reversi)
def start(game, state):
    corner = (game.size // 2 - 1) * (game.size + 1)  # the upper left of the four cells in the centre
    state.discs[0] = ONE << np.uint64(corner + 1) | ONE << np.uint64(corner + game.size)
    state.discs[1] = ONE << np.uint64(corner) | ONE << np.uint64(corner + game.size + 1)
    state.moves = moves_of(game, state.discs[0], state.discs[1])


@rules(Reversi)
def legal(game, state, actions):
    moves, count = state.moves, 0
    while moves != 0:
        actions[count] = lowest_bit(moves)
        count += 1
        moves &= moves - ONE
    if count == 0:
        actions[0] = game.size * game.size
        count = 1
    return count


@rules(Reversi)
def play(game, state, action):
    player = state.to_play
    own, other = state.discs[player], state.discs[1 - player]
    if action < game.size * game.size:
        flipped = flips_of(game, own, other, ONE << np.uint64(action))
        own ^= flipped | ONE << np.uint64(action)
        other ^= flipped
        state.discs[player], state.discs[1 - player] = own, other
    state.moves = moves_of(game, other, own)
    if state.moves == 0 and moves_of(game, own, other) == 0:
        state.over = 1
    state.ply += 1
    state.last = action + 1
    state.to_play = 1 - player


@rules(Reversi)
def outcome(game, state):
    if state.over == 0:
        return 0
    margin = count_bits(state.discs[0]) - count_bits(state.discs[1])
    return FIRST if margin > 0 else SECOND if margin < 0 else DRAW


@rules(Reversi)
def score(game, state):
    return float(count_bits(state.discs[0]) - count_bits(state.discs[1]))


@rules(Reversi)
def territory(game, state, owners):
    for cell in range(game.size * game.size):
        mask = ONE << np.uint64(cell)
        owners[cell] = 1 if state.discs[0] & mask != 0 else 2 if state.discs[1] & mask != 0 else 0


@rules(Reversi)
def key(game, state):
    return mix(mix(state.discs[0]) ^ state.discs[1]) + np.uint64(state.to_play)


@rules(Reversi)
def encode(game, state, planes):
    own, other = state.discs[state.to_play], state.discs[1 - state.to_play]
    for cell in range(game.size * game.size):
        planes[0, cell] = (own >> np.uint64(cell)) & ONE
        planes[1, cell] = (other >> np.uint64(cell)) & ONE
        planes[2, cell] = (state.moves >> np.uint64(cell)) & ONE
        planes[3, cell] = state.to_play == 0


@kernel
def inner_columns(size):
    """All cells but the first and the last column: a disc there is never flipped from left or right."""
    if size == 8:
        return np.uint64(0x7E7E7E7E7E7E7E7E)
    if size == 6:
        return np.uint64(0b011110_011110_011110_011110_011110_011110)
    return np.uint64(0b0110_0110_0110_0110)


@kernel
def run_up(begin, through, step):
    """The cells of `through` that follow `begin` without a gap, towards higher bits: up to six."""
    run = through & (begin << step)
    run |= through & (run << step)
    pairs = through & (through << step)
    run |= pairs & (run << (step + step))
    return run | (pairs & (run << (step + step)))


@kernel
def run_down(begin, through, step):
    """The same towards lower bits."""
    run = through & (begin >> step)
    run |= through & (run >> step)
    pairs = through & (through >> step)
    run |= pairs & (run >> (step + step))
    return run | (pairs & (run >> (step + step)))


@kernel
def moves_of(game, own, other):
    """The empty cells where `own` flips something."""
    size = np.uint64(game.size)
    inner = other & inner_columns(game.size)
    moves = (run_up(own, inner, ONE) << ONE) | (run_down(own, inner, ONE) >> ONE)
    moves |= (run_up(own, other, size) << size) | (run_down(own, other, size) >> size)
    for step in (size - ONE, size + ONE):
        moves |= (run_up(own, inner, step) << step) | (run_down(own, inner, step) >> step)
    board = ~np.uint64(0) >> (np.uint64(64) - size * size)
    return moves & board & ~(own | other)


@kernel
def closed(run, beyond, own):
    """A run of flips, if there is an own disc beyond it."""
    return run if beyond & own != 0 else np.uint64(0)


@kernel
def flips_of(game, own, other, move):
    """The discs of `other` that a disc of `own` on `move` flips."""
    size = np.uint64(game.size)
    inner = other & inner_columns(game.size)
    up, down = run_up(move, inner, ONE), run_down(move, inner, ONE)
    flips = closed(up, up << ONE, own) | closed(down, down >> ONE, own)
    up, down = run_up(move, other, size), run_down(move, other, size)
    flips |= closed(up, up << size, own) | closed(down, down >> size, own)
    for step in (size - ONE, size + ONE):
        up, down = run_up(move, inner, step), run_down(move, inner, step)
        flips |= closed(up, up << step, own) | closed(down, down >> step, own)
    return flips


@entry
def fill(game, states, board, to_play):
    """Sets up a diagram."""
    state = states[0]
    for y in range(game.size):
        for x in range(game.size):
            if board[y, x] > 0:
                state.discs[board[y, x] - 1] |= ONE << np.uint64(y * game.size + x)
    own, other = state.discs[to_play], state.discs[1 - to_play]
    state.moves = moves_of(game, own, other)
    state.over = state.moves == 0 and moves_of(game, other, own) == 0
    state.to_play = to_play
