"""The kernels of a run on a GPU, compiled before they are needed, in a process that leaves them on disk.

Most of a first start is Numba's compiler. Meanwhile a run imports what it needs, and makes its network ready. What
cannot be compiled here is compiled where it is launched, which also says what is wrong.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
from numba import typeof

from tengen.games import load_game
from tengen.learn.gpu import kernels
from tengen.learn.selfplay import Opening, new_trajectories
from tengen.rules.cuda import GpuEntry, scratch_shapes
from tengen.rules.game import Game
from tengen.search.lockstep import Plan, new_rows

KERNELS = "play_rows", "begin_rows", "search_rows", "set_up_rows"


def kernel_of(name: str) -> GpuEntry:
    return getattr(kernels, name)


def constants_of(name: str, game: Game, plan: Plan, opening: Opening) -> tuple[Any, ...]:
    """What a kernel is compiled for."""
    own = {"play_rows": (plan, *scratch_shapes(game)), "begin_rows": (opening,)}
    return game.parameters, *own.get(name, ())


def arguments_of(name: str, game: Game, plan: Plan) -> tuple[Any, ...]:
    """Arrays of the kinds that a kernel is launched with; how long they are is not compiled into it."""
    rows, trajectory, longs = new_rows(game, plan, 2, 1), new_trajectories(game, 2, 2), np.zeros(2, np.int64)
    planes, bytes_, floats = rows.planes.astype(np.uint8), np.zeros(2, np.int8), np.zeros(2, np.float32)
    rows = rows._replace(planes=planes, shown=planes.reshape(-1))
    moved = rows.roots, rows.root_words, trajectory.blank, trajectory.moves.reshape(-1), longs, longs
    return {
        "play_rows": (rows, trajectory, floats, floats),
        "begin_rows": (rows, trajectory, trajectory.ended),
        "search_rows": (rows,),
        "set_up_rows": (*moved, planes, bytes_),
        "list_legal": (*moved, rows.actions),
        "end_rows": (*moved, np.zeros((2, game.cells), np.int8), floats),
    }[name]


def compile_ahead(game: Game, plan: Plan, opening: Opening, needs_end: bool) -> None:
    """Begins to compile the kernels that are not on disk yet. Whoever launches one of them waits for all."""
    is_spread = game.most_legal < game.actions
    names = [*KERNELS, *["list_legal"] * is_spread, *["end_rows"] * needs_end]
    wanted = {name: constants_of(name, game, plan, opening) for name in names}
    try:
        missing = {name: constants for name, constants in wanted.items() if not kernel_of(name).is_kept(constants)}
    except OSError:  # nothing can be left on disk
        return
    if missing:
        command = [sys.executable, "-m", __name__, game.spec, json.dumps(plan), json.dumps(opening), *missing]
        environment, quiet = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, subprocess.DEVNULL
        process = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)
        for name, constants in missing.items():
            kernel_of(name).wait_for(process, constants)


def main(spec: str, plan: str, opening: str, *names: str) -> None:
    """Compiles kernels for a game, a plan and an opening."""
    game, own = load_game(spec), Plan(*json.loads(plan))
    for name in names:
        native = kernel_of(name).compiled(constants_of(name, game, own, Opening(*json.loads(opening))))
        native.compile(tuple(typeof(argument) for argument in arguments_of(name, game, own)))


if __name__ == "__main__":
    main(*sys.argv[1:])
