"""Games that are files of somebody's own, for tests: one that comes along as an example, and two small ones."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from pathlib import Path

from tengen.games import load_game
from tengen.learn.settings import load_settings
from tengen.records.record import Record
from tengen.records.sgf import write_sgf

ROOT = Path(__file__).parent.parent.parent
PAWNS = Path(tempfile.mkdtemp()) / "pawns.py"  # the example, by a name that no game of ours has
atexit.register(shutil.rmtree, PAWNS.parent, ignore_errors=True)
shutil.copy(ROOT / "examples" / "breakthrough.py", PAWNS)

# Two runners on two columns. A step can be made in two ways, one may stay, and what is no move ends in a KeyError.
LITTLE_RACE = """
from typing import NamedTuple

import numpy as np

from tengen.rules.board import Coordinates
from tengen.rules.contract import rules, stone_key

RECORD = np.dtype([("places", np.int8, 2), ("ply", np.int16), ("to_play", np.uint8)], align=True)
WAYS = ("go", "run", "stay")


class LittleRace(NamedTuple):
    most_plies: int = 20

    shape = (3, 2)
    actions = 18
    planes = ("stones",)
    move_pattern = r"[ab][123]-[a-z]+"
    symmetries = np.arange(6).reshape(1, 6)
    action_symmetries = np.arange(18).reshape(1, 18)

    def record(self):
        return RECORD

    def board(self, state):
        board = np.zeros(6, np.int8)
        for player in range(2):
            board[state.places[player]] = player + 1
        return board.reshape(self.shape)

    def action_text(self, action):
        return f"{Coordinates(3, 2).text(action // 3)}-{WAYS[action % 3]}"

    def parse_action(self, text):
        point, way = text.split("-")
        return 3 * Coordinates(3, 2).cell(point) + {"go": 0, "run": 1, "stay": 2}[way]


@rules(LittleRace)
def start(game, state):
    state.places[0] = 4
    state.places[1] = 1


@rules(LittleRace)
def legal(game, state, actions):
    for way in range(3):
        actions[way] = 3 * state.places[state.to_play] + way
    return 3


@rules(LittleRace)
def play(game, state, action):
    if action % 3 != 2:
        state.places[state.to_play] += -2 if state.to_play == 0 else 2
    state.ply += 1
    state.to_play = 1 - state.to_play


@rules(LittleRace)
def outcome(game, state):
    if state.places[0] < 2:
        return 1
    if state.places[1] > 3:
        return 2
    return 3 if state.ply >= game.most_plies else 0


@rules(LittleRace)
def key(game, state):
    return stone_key(state.places[0], 0) ^ stone_key(state.places[1], 1) ^ np.uint64(state.to_play)


@rules(LittleRace)
def encode(game, state, planes):
    planes[0, :] = 0
    for player in range(2):
        planes[0, state.places[player]] = 1 if player == state.to_play else -1
"""

# On three rows and two columns the first puts dominoes upright, the second across; who cannot has lost.
DOMINOES = """
from typing import NamedTuple

import numpy as np

from tengen.rules.board import Coordinates
from tengen.rules.contract import rules, stone_key

RECORD = np.dtype([("board", np.int8, 6), ("to_play", np.uint8)], align=True)
POINTS = Coordinates(3, 2)
OTHERS = (2, 1)


class Dominoes(NamedTuple):
    shape = (3, 2)
    actions = 12
    planes = ("stones",)
    move_pattern = r"[ab][123][ab][123]"
    symmetries = np.arange(6).reshape(1, 6)
    action_symmetries = np.arange(12).reshape(1, 12)

    def record(self):
        return RECORD

    def board(self, state):
        return state.board.reshape(self.shape)

    def action_text(self, action):
        cell = action % 6
        return POINTS.text(cell) + POINTS.text(min(5, cell + OTHERS[action // 6]))

    def parse_action(self, text):
        cell = POINTS.cell(text[:2])
        return cell + 6 * {2: 0, 1: 1}[POINTS.cell(text[2:]) - cell]


@rules(Dominoes)
def start(game, state):
    pass


@rules(Dominoes)
def legal(game, state, actions):
    count = 0
    for cell in range(6):
        fits = cell < 4 if state.to_play == 0 else cell % 2 == 0
        if fits and state.board[cell] == 0 and state.board[cell + 2 - state.to_play] == 0:
            actions[count] = cell + 6 * state.to_play
            count += 1
    return count


@rules(Dominoes)
def play(game, state, action):
    cell = action % 6
    state.board[cell] = state.to_play + 1
    state.board[cell + 2 - state.to_play] = state.to_play + 1
    state.to_play = 1 - state.to_play


@rules(Dominoes)
def outcome(game, state):
    for cell in range(6):
        fits = cell < 4 if state.to_play == 0 else cell % 2 == 0
        if fits and state.board[cell] == 0 and state.board[cell + 2 - state.to_play] == 0:
            return 0
    return 2 - state.to_play


@rules(Dominoes)
def key(game, state):
    found = np.uint64(state.to_play)
    for cell in range(6):
        if state.board[cell] > 0:
            found ^= stone_key(cell, state.board[cell] - 1)
    return found


@rules(Dominoes)
def encode(game, state, planes):
    for cell in range(6):
        stone = state.board[cell]
        planes[0, cell] = 0 if stone == 0 else (1 if stone == state.to_play + 1 else -1)
"""


def write_run(folder: Path, spec: str, moves: str = "") -> None:
    """A run folder as training leaves it, but for its weights; with one game of an evaluation."""
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("# format 1\n" + load_settings(spec).text())
    line = {"generation": 1, "seconds": 2.0, "games": 10, "positions": 200, "plies": 20.0, "positions_per_second": 99.0}
    (folder / "metrics.jsonl").write_text(json.dumps({**line, "loss": {"total": 2.0}}) + "\n")
    (folder / "games").mkdir()
    record = Record.of(load_game(spec).from_moves(moves), ("generation 1", "uct:playouts=1000"))
    (folder / "games" / "000001.sgf").write_text(write_sgf(record))
