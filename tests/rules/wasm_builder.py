"""Builds a module for tests, in a process of its own: NUMBA_OPT=0 python wasm_builder.py GAME FOLDER."""

import json
import sys
from pathlib import Path

import numpy as np

from tengen.games import load_game
from tengen.rules.contract import start
from tengen.rules.plain import run_plain
from tengen.rules.playouts import count_paths, roll_out
from tengen.rules.wasm import Export, build, text_of
from tengen.search import uct

PLAYOUTS, PLAYOUTS_OF_UCT, DEPTH, SEED = 200, 2000, 3, 12345


def root_of(game):
    """A state that begins a game; in plain Python, since what is compiled here is of no use to anybody else."""
    states = game.new_states(1)
    run_plain(set_up, game.parameters, states)
    return states


def set_up(game, states):
    start(game, states[0])


def arguments(game, playouts=1, nodes=8):
    """What the entry points are called with, here and in Node."""
    root, scratch, actions = root_of(game), game.new_states(1), np.zeros(game.actions, np.int32)
    tree, sizes, path = np.zeros(nodes, uct.NODE), np.zeros(1, np.int64), np.zeros(uct.DEEPEST, np.int32)
    counts, picks = np.zeros(DEPTH, np.int64), np.zeros(DEPTH, np.int64)
    seed = np.uint64(SEED)
    return {
        "roll_out": (game.parameters, root, scratch, actions, playouts, seed, np.zeros(4, np.int64)),
        "count_paths": (
            game.parameters, np.repeat(root, DEPTH), np.zeros((DEPTH, game.actions), np.int32), counts, picks, DEPTH,
        ),
        "new_tree": (game.parameters, root, tree, sizes, seed),
        "run": (game.parameters, root, scratch, actions, tree, sizes, path, playouts, seed, 1.0),
    }  # fmt: skip


if __name__ == "__main__":
    game, folder = load_game(sys.argv[1]), Path(sys.argv[2])
    given = arguments(game)
    entries = {"roll_out": roll_out, "count_paths": count_paths, "new_tree": uct.new_tree, "run": uct.run}
    module = build(Export(name, entry, given[name]) for name, entry in entries.items())
    (folder / "module.wasm").write_bytes(module.code)
    (folder / "module.json").write_text(text_of(module.contents))
    (folder / "root.bin").write_bytes(given["run"][1].tobytes())
    facts = {"parameters": list(game.parameters), "actions": game.actions}
    (folder / "game.json").write_text(json.dumps(facts))
