"""python bench/gpu.py: every game's rules as CUDA kernels, beside one CPU core. Needs an NVIDIA GPU and numba-cuda.

The rules are the files that the CPU runs, unchanged. First it is shown that the same seeds give the same random games
on both, ply by ply; then random playouts a second are measured, one CUDA thread a game.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
if not hasattr(np, "row_stack"):  # numba-cuda 0.30 asks NumPy for a name that 2.5 no longer has
    np.row_stack = np.vstack

from numba import cuda

from tengen.games import load_game
from tengen.rules.contract import (
    ONGOING,
    advance,
    below,
    encode,
    first_seed,
    kernel,
    key,
    legal,
    outcome,
    play,
    rollout,
    start,
)
from tengen.rules.kernels import entry
from tengen.rules.playouts import playouts

SPECS = [
    "tictactoe",
    "connect4",
    "gomoku:size=8",
    "gomoku",
    "gomoku:rule=renju",
    "reversi",
    "hex",
    "go:size=9",
    "go:size=19",
]
TRACED, PLIES = 2048, 300  # games compared, and how far
SLOTS, BLOCK = 1 << 16, 64  # threads for the measurement


@kernel
def trace(game, state, actions, planes, number, history):
    """One game of uniformly random moves; history [plies] gets a hash of each ply's action, key and planes."""
    start(game, state)
    seed = first_seed(number)
    for ply in range(len(history)):
        history[ply] = 0
        if outcome(game, state) == ONGOING:
            count = legal(game, state, actions)
            seed = advance(seed)
            action = actions[below(seed, count)]
            play(game, state, action)
            encode(game, state, planes)
            total = 0
            for plane in range(planes.shape[0]):
                for cell in range(planes.shape[1]):
                    total += np.int64(planes[plane, cell]) * (plane * 1000 + cell + 1)
            history[ply] = key(game, state) ^ np.uint64(action + 1) ^ (np.uint64(total) << np.uint64(20))


@entry
def trace_on_cpu(game, states, actions, planes, histories):
    for slot in range(len(states)):
        trace(game, states[slot], actions, planes, slot, histories[slot])


@cuda.jit
def trace_on_gpu(game, states, actions, planes, histories):
    slot = cuda.grid(1)
    if slot < len(states):
        trace(game, states[slot], actions[slot], planes[slot], slot, histories[slot])


@cuda.jit
def roll_out_on_gpu(game, root, states, actions, repeats, wins):
    slot = cuda.grid(1)
    if slot < len(states):
        seed = first_seed(slot)
        for _ in range(repeats):
            states[slot] = root[0]
            seed = rollout(game, states[slot], actions[slot], seed)
            wins[slot] += outcome(game, states[slot]) == 1


def same_games(game) -> tuple[bool, int]:
    """Whether GPU and CPU play the same games, and how many plies were compared."""
    planes = len(game.planes), game.cells
    on_cpu = np.zeros((TRACED, PLIES), np.uint64)
    trace_on_cpu(
        game.parameters,
        game.new_states(TRACED),
        np.empty(game.actions, np.int32),
        np.empty(planes, np.uint8),
        on_cpu,
    )
    on_gpu = cuda.device_array((TRACED, PLIES), np.uint64)
    trace_on_gpu[TRACED // BLOCK, BLOCK](
        game.parameters,
        cuda.to_device(game.new_states(TRACED)),
        cuda.device_array((TRACED, game.actions), np.int32),
        cuda.device_array((TRACED, *planes), np.uint8),
        on_gpu,
    )
    return np.array_equal(on_gpu.copy_to_host(), on_cpu), int((on_cpu != 0).sum())


def gpu_rate(game, repeats: int) -> tuple[float, float]:
    """Playouts a second, and the share that the first player won."""
    arrays = [
        cuda.to_device(array)
        for array in (game.start().states, game.new_states(SLOTS), np.empty((SLOTS, game.actions), np.int32))
    ]
    wins = cuda.to_device(np.zeros(SLOTS, np.int32))
    roll_out_on_gpu[SLOTS // BLOCK, BLOCK](game.parameters, *arrays, 1, wins)
    cuda.synchronize()
    begin = time.perf_counter()
    roll_out_on_gpu[SLOTS // BLOCK, BLOCK](game.parameters, *arrays, repeats, wins)
    cuda.synchronize()
    return SLOTS * repeats / (time.perf_counter() - begin), wins.copy_to_host().sum() / SLOTS / (repeats + 1)


def cpu_rate(game, count: int) -> tuple[float, float]:
    position = game.start()
    playouts(position, 1, seed=1)
    begin = time.perf_counter()
    results = playouts(position, count, seed=1)
    return count / (time.perf_counter() - begin), results.first_wins / count


def main() -> int:
    print(
        f"{'game':20} {'same games':>11} {'plies':>9} {'GPU /s':>13} {'CPU core /s':>13} {'ratio':>7}  first wins",
        flush=True,
    )
    failed = 0
    for spec in sys.argv[1:] or SPECS:
        game = load_game(spec)
        begin = time.perf_counter()
        try:
            same, plies = same_games(game)
            gpu, gpu_wins = gpu_rate(game, 8)
            cpu, cpu_wins = cpu_rate(game, 20_000)
        except Exception as reason:
            print(f"{spec:20} failed: {type(reason).__name__}: {str(reason)[-1500:]}")
            failed += 1
            continue
        failed += not same
        print(
            f"{spec:20} {'yes' if same else 'NO':>11} {plies:>9,} {gpu:>13,.0f} {cpu:>13,.0f} {gpu / cpu:>6.0f}×"
            f"  {gpu_wins:.3f} {cpu_wins:.3f}   ({time.perf_counter() - begin:.0f} s in all)",
            flush=True,
        )
    return failed


if __name__ == "__main__":
    sys.exit(main())
