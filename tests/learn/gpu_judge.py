"""python gpu_judge.py GAME ROOT STEPS OUT: some steps of self-play by CUDA kernels, on a GPU or in Numba's simulator.

A stand-in takes the network's place: what it says of a position can be written exactly, and does not depend on where
it is computed. Everything that a step leaves behind is written to OUT.
"""

from __future__ import annotations

import sys

import numpy as np

from tengen.games import load_game
from tengen.learn.selfplay import Opening, Trajectory, begin_games, new_trajectories, play_on
from tengen.search.lockstep import GUMBEL, PUCT, Plan, Rows, new_rows, views_of

ROWS, LONGEST, OPENING = 30, 100, Opening(plies=3, near=2, columns=9)
PLANS = {
    "gumbel": Plan(GUMBEL, simulations=8, considered=4, chance_plies=1000),
    "puct": Plan(PUCT, simulations=8, chance_plies=4, keep=1),
}


def stand_in(planes: np.ndarray, actions: int) -> tuple[np.ndarray, np.ndarray]:
    """Priors [rows, actions] and values [rows] by whole numbers alone."""
    seen = planes.reshape(len(planes), -1).astype(np.int64)
    number = (seen * (1 + np.arange(seen.shape[1]) * 37 % 101)).sum(1)
    priors = 1 + (number[:, np.newaxis] * 31 + np.arange(actions) * 17) % 23
    return (priors / 8).astype(np.float32), ((number % 9 - 4) / 8).astype(np.float32)


def traces(rows: Rows, trajectory: Trajectory) -> dict[str, np.ndarray]:
    """What must be the same wherever it was computed."""
    done = np.arange(trajectory.moves.shape[1]) < np.maximum(trajectory.plies, trajectory.ended)[:, np.newaxis]
    return {
        "seeds": rows.progress["seed"],
        "visits": np.array(
            [edges["visits"][: sizes[1]].sum() for edges, sizes in zip(rows.edges, rows.sizes, strict=True)]
        ),
        "first visits": np.array([edges["visits"][:4] for edges in rows.edges]) * (np.arange(4) < rows.sizes[:, 1:]),
        "plies": np.array(trajectory.plies),
        "moves": trajectory.moves * done,
        "policies": np.asarray(trajectory.policies * done[..., np.newaxis], np.float16),  # as they are learned
        "results": np.array(trajectory.results),
    }


def by_cpu(spec: str, plan: Plan, steps: int) -> dict[str, np.ndarray]:
    game = load_game(spec)
    rows, trajectory = new_rows(game, plan, ROWS, 1), new_trajectories(game, ROWS, LONGEST)
    begin_games(game.parameters, rows, trajectory, OPENING, True)
    for _ in range(steps):
        play_on(game.parameters, plan, rows, trajectory, *stand_in(rows.planes, game.actions))
        begin_games(game.parameters, rows, trajectory, OPENING, False)
    return traces(rows, trajectory)


def by_cuda(spec: str, plan: Plan, steps: int) -> dict[str, np.ndarray]:
    from numba import cuda

    from tengen.learn.gpu.kernels import begin_rows, play_rows
    from tengen.rules.cuda import THREADS, grid, scratch_shapes

    game, is_simulated = load_game(spec), "simulator" in cuda.jit.__module__
    rows, trajectory = new_rows(game, plan, ROWS, 1), new_trajectories(game, ROWS, LONGEST)
    if plan.keep:  # threads move their trees at the same time
        spare = {name: np.zeros((ROWS, *getattr(rows, name).shape[1:]), getattr(rows, name).dtype) for name in SPARE}
        rows = rows._replace(**{name: array.view(np.recarray) for name, array in spare.items()})
    put = (lambda array: array) if is_simulated else (lambda array: cuda.to_device(np.asarray(array)))
    there, trajectory = (type(part)(*(put(array) for array in part)) for part in (rows, trajectory))
    there = there._replace(**views_of(there._asdict()))
    scratch = scratch_shapes(game)
    shape, constants = grid(ROWS), (game.parameters, plan, *scratch)
    blocks, threads = grid(ROWS, scratch[0][0])[0], scratch[0][0] + 1 if is_simulated else THREADS  # at least one helps
    begin_rows[shape](game.parameters, OPENING, there, trajectory, put(np.ones(ROWS, np.int32)))
    for _ in range(steps):
        planes = there.planes if is_simulated else there.planes.copy_to_host()
        priors, values = stand_in(planes, game.actions)
        play_rows[blocks, threads](*constants, there, trajectory, put(priors.reshape(-1)), put(values))
        which = trajectory.ended.copy() if is_simulated else trajectory.ended  # the simulator writes arguments back
        begin_rows[shape](game.parameters, OPENING, there, trajectory, which)
    if not is_simulated:
        there, trajectory = (type(part)(*(array.copy_to_host() for array in part)) for part in (there, trajectory))
    return traces(there, trajectory)


SPARE = ("spare_nodes", "spare_edges")

if __name__ == "__main__":
    spec, root, steps, out = sys.argv[1:]
    np.savez(out, **by_cuda(spec, PLANS[root], int(steps)))
