"""The same games and the same searches in WebAssembly: Node runs what is built for a browser."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from wasm_builder import DEPTH, PLAYOUTS, PLAYOUTS_OF_UCT, SEED, arguments

from tengen.apps.web import server
from tengen.games import load_game
from tengen.rules.errors import TengenError
from tengen.rules.playouts import perft, roll_out
from tengen.rules.wasm import build
from tengen.search import uct

pytest.importorskip("ziglang", reason="wasm-ld comes with ziglang, which is not installed")
driver = pytest.importorskip("playwright._impl._driver", reason="Node comes with playwright, which is not installed")
HERE = Path(__file__).parent
KERNELS = Path(server.__file__).parent / "static" / "wasm" / "kernels.js"


def on_this_cpu(game):
    """What random games, a count and UCT come to."""
    given = arguments(game, PLAYOUTS)
    roll_out(*given["roll_out"])
    tree = arguments(game, PLAYOUTS_OF_UCT, PLAYOUTS_OF_UCT + 1)
    seed = uct.new_tree(*tree["new_tree"])
    done, following = uct.run(*tree["run"][:8], np.uint64(seed), 1.0)
    nodes, sizes = tree["run"][4:6]
    return {
        "results": given["roll_out"][-1].tolist(),
        "leaves": perft(game.start(), DEPTH),
        "done": done,
        "next": str(following),
        "tree": hashlib.sha256(nodes[: sizes[0]].tobytes()).hexdigest(),
        "visits": int(nodes["visits"][0]),
    }


def in_node(spec, folder):
    """The same in WebAssembly, and what the module asks of its surroundings."""
    builder = [sys.executable, str(HERE / "wasm_builder.py"), spec, str(folder)]
    subprocess.run(builder, env={**os.environ, "NUMBA_OPT": "0"}, check=True)
    node = driver.compute_driver_executable()[0]
    numbers = [str(number) for number in (PLAYOUTS, PLAYOUTS_OF_UCT, DEPTH, SEED)]
    command = [node, str(HERE / "wasm_judge.mjs"), str(KERNELS), str(folder), *numbers]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


SPECS = ["connect4", "reversi:size=6"]
OTHERS = ["tictactoe", "gomoku:size=9", "gomoku:rule=renju", "go:size=9", "chess", "draughts", "hex", "breakthrough"]


@pytest.mark.parametrize("spec", [*SPECS, *(pytest.param(spec, marks=pytest.mark.long) for spec in OTHERS)])
def test_the_same_games_and_the_same_tree(spec, tmp_path):
    there, here = in_node(spec, tmp_path), on_this_cpu(load_game(spec))
    assert there.pop("imports") == ["log"]
    assert there == here


def test_numba_must_not_optimise():
    with pytest.raises(TengenError, match="NUMBA_OPT=0"):
        build([])
