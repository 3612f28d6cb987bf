"""The m,n,k-games: k of one's own in a row on a board of m columns and n rows. Tic-tac-toe is 3,3,3."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from tengen.rules import lines
from tengen.rules.board import Between, check_turn, check_winner
from tengen.rules.contract import DRAW, ONGOING, advance, below, earlier_winner, rules
from tengen.rules.kernels import entry


class MNK(NamedTuple):
    """k in a row on m columns and n rows; a full board is a draw"""

    m: Annotated[int, Between(1, 20)] = 3
    n: Annotated[int, Between(1, 20)] = 3
    k: Annotated[int, Between(1, 20)] = 3

    title = "m,n,k"
    names = {"tictactoe": {"m": 3, "n": 3, "k": 3}}
    titles = {"tictactoe": "Tic-tac-toe"}
    planes = ("own stones", "opponent's stones", "last move", "first player to move")
    drawing = "marks"

    @property
    def shape(self):
        return self.n, self.m

    @property
    def row_length(self):
        return self.k

    @property
    def levels(self):
        cells = self.m * self.n
        if cells <= 9:
            return "uct:playouts=4", "uct:playouts=10", "uct:playouts=40", "alphabeta:depth=5", "alphabeta:time=1"
        weaker = tuple(f"uct:playouts={times * cells}" for times in (2, 8, 40))
        return *weaker, "alphabeta:nodes=20000", "alphabeta:time=1"

    def record(self):
        return lines.record_for(self.m, self.n)

    def board(self, state):
        return lines.stones(state, *self.shape)

    def setup(self, states, board, to_play):
        check_turn(board, to_play)
        fill(self, states, board, to_play)
        check_winner(states[0].result, to_play)


@rules(MNK)
def start(game, state):
    pass  # an empty board is all zeros


@rules(MNK)
def legal(game, state, actions):
    return lines.empty_cells(game.m, game.n, state.lines, actions)


@rules(MNK)
def play(game, state, action):
    player = state.to_play
    x, y = lines.place(game.m, state, action)
    if lines.has_row(state.lines[player], x, y, game.k):
        state.result = player + 1
    elif state.ply == game.m * game.n:
        state.result = DRAW


@rules(MNK)
def outcome(game, state):
    return state.result


@rules(MNK)
def key(game, state):
    return state.key


@rules(MNK)
def encode(game, state, planes):
    lines.encode_stones(game.m, game.n, state, planes)


@rules(MNK)
def rollout(game, state, actions, seed):
    """The empty cells are listed once: a cell stays legal until it is taken."""
    count = legal(game, state, actions)
    while state.result == ONGOING:
        seed = advance(seed)
        pick = below(seed, count)
        play(game, state, actions[pick])
        count -= 1
        actions[pick] = actions[count]
    return seed


@entry
def fill(game, states, board, to_play):
    """Sets up a diagram; a row of k on it has won."""
    state = states[0]
    lines.set_up(state, board, to_play)
    if state.ply == game.m * game.n:
        state.result = DRAW
    for y in range(game.n):
        for x in range(game.m):
            for player in range(2):
                if board[y, x] == player + 1 and lines.has_row(state.lines[player], x, y, game.k):
                    state.result = earlier_winner(state.result, player, to_play)
