"""A pile of counters: take one to three. Who takes one moves again; who takes the last wins.

A game whose players do not take turns, and whose planes are not whole numbers.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from tengen.rules.board import Between
from tengen.rules.contract import mix, rules

RECORD = np.dtype([("left", np.int32), ("ply", np.int16), ("to_play", np.uint8), ("result", np.int8)], align=True)


class Pile(NamedTuple):
    """take one to three; who takes the last wins"""

    size: Annotated[int, Between(3, 30)] = 9

    planes = ("share of counters left", "first player to move")
    actions = 3

    @property
    def shape(self):
        return 1, self.size

    @property
    def action_symmetries(self):
        return np.arange(3)[np.newaxis]

    @property
    def symmetries(self):
        return np.arange(self.size)[np.newaxis]

    def record(self):
        return RECORD

    def board(self, state):
        return np.arange(self.size) < state.left

    def action_text(self, action):
        return f"take{action + 1}"


@rules(Pile)
def start(game, state):
    state.left = game.size


@rules(Pile)
def legal(game, state, actions):
    count = min(3, state.left)
    for action in range(count):
        actions[action] = action
    return count


@rules(Pile)
def play(game, state, action):
    state.left -= action + 1
    state.ply += 1
    if state.left == 0:
        state.result = state.to_play + 1
    if action > 0:
        state.to_play = 1 - state.to_play


@rules(Pile)
def outcome(game, state):
    return state.result


@rules(Pile)
def key(game, state):
    return mix(np.uint64(2 * state.left + state.to_play))


@rules(Pile)
def encode(game, state, planes):
    for cell in range(game.size):
        planes[0, cell] = state.left / game.size
        planes[1, cell] = state.to_play == 0
