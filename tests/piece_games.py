"""Games for tests of what is drawn: one with pieces of several kinds, one on hexagons."""

from pathlib import Path

KINGS_AND_PAWNS = Path(__file__).parent.parent / "examples" / "kings_and_pawns.py"

# Whoever connects two sides of a board of hexagons wins; the second player may begin by taking over the first stone.
BRIDGES = """
from typing import NamedTuple

import numpy as np

from tengen.rules.board import Coordinates
from tengen.rules.contract import kernel, rules, stone_key

RECORD = np.dtype([("cells", np.int8, 16), ("ply", np.int16), ("to_play", np.uint8), ("result", np.int8)], align=True)
SWAP = 16


class Bridges(NamedTuple):
    shape = (4, 4)
    actions = 17
    planes = ("stones",)
    players = ("Red", "Blue")
    drawing = "hexagons"
    sides = ("top bottom", "left right")
    coordinates = Coordinates(4, 4, from_top=True)
    move_pattern = r"swap|[a-d][1-4]"
    symmetries = np.arange(16).reshape(1, 16)
    action_symmetries = np.arange(17).reshape(1, 17)

    def record(self):
        return RECORD

    def board(self, state):
        return state.cells.reshape(self.shape)

    def action_text(self, action):
        return "swap" if action == SWAP else self.coordinates.text(action)

    def parse_action(self, text):
        return SWAP if text.lower() == "swap" else self.coordinates.cell(text)

    def from_to(self, action):
        return None, None if action == SWAP else action


@rules(Bridges)
def start(game, state):
    pass


@rules(Bridges)
def legal(game, state, actions):
    count = 0
    for cell in range(16):
        if state.cells[cell] == 0:
            actions[count] = cell
            count += 1
    if state.ply == 1:
        actions[count] = SWAP
        count += 1
    return count


@rules(Bridges)
def play(game, state, action):
    player = state.to_play
    if action == SWAP:
        for cell in range(16):
            if state.cells[cell] != 0:
                state.cells[cell] = player + 1
    else:
        state.cells[action] = player + 1
    state.ply += 1
    state.to_play = 1 - player
    if connects(state, player):
        state.result = player + 1


@kernel
def connects(state, player):
    reached = 0
    for cell in range(16):
        if (cell // 4 if player == 0 else cell % 4) == 0 and state.cells[cell] == player + 1:
            reached |= 1 << cell
    for _ in range(16):
        for cell in range(16):
            if reached >> cell & 1:
                for way in range(6):
                    x = cell % 4 + (1, 0, -1, -1, 0, 1)[way]
                    y = cell // 4 + (0, 1, 1, 0, -1, -1)[way]
                    if 0 <= x < 4 and 0 <= y < 4 and state.cells[4 * y + x] == player + 1:
                        reached |= 1 << (4 * y + x)
    for cell in range(16):
        if reached >> cell & 1 and (cell // 4 if player == 0 else cell % 4) == 3:
            return True
    return False


@rules(Bridges)
def outcome(game, state):
    return state.result


@rules(Bridges)
def key(game, state):
    result = np.uint64(state.to_play)
    for cell in range(16):
        if state.cells[cell] != 0:
            result ^= stone_key(cell, state.cells[cell] - 1)
    return result ^ stone_key(16, 0) if state.ply == 1 else result


@rules(Bridges)
def encode(game, state, planes):
    for cell in range(16):
        planes[0, cell] = state.cells[cell]


"""
