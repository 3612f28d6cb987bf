"""python bench/envs.py [--gpu] [--peer] [--count COUNT] [GAME …]: steps a second of many games side by side.

A step is a random legal action in every game, with planes and masks of all positions that follow; games begin again
when they end. Ours takes one core, or with --gpu a GPU, where it is launched by Python or replayed as a CUDA graph.
--peer has pgx do the same in turn: a loop within one jitted function, on all cores or on the GPU. It needs jax and pgx.
For one core each: taskset -c 0 python bench/envs.py --peer
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from tengen.envs import CudaVectorEnv, VectorEnv

PEERS = {  # our game, that of pgx
    "connect4": "connect_four",
    "tictactoe": "tic_tac_toe",
    "gomoku:size=9": None,
    "reversi": "othello",
    "go:size=9": "go_9x9",
}
ROUNDS, SECONDS, TOGETHER = 3, 1.0, 64  # steps that are done before somebody looks at the clock
Work = Callable[[], None]  # does TOGETHER steps of all games


def on_cpu(spec: str, count: int) -> Work:
    env = VectorEnv(spec, count)

    def work() -> None:
        for _ in range(TOGETHER):
            env.step(env.random_actions())

    return work


def on_gpu(spec: str, count: int, is_graph: bool) -> Work:
    import torch

    from tengen.nets.graph import recorded

    env = CudaVectorEnv(spec, count)

    def step() -> None:
        env.step(env.random_actions())

    once = recorded(step, torch.cuda.Stream()).replay if is_graph else step

    def work(env: CudaVectorEnv = env) -> None:  # a graph does not keep the memory that it writes to
        for _ in range(TOGETHER):
            once()
        torch.cuda.synchronize()

    return work


def by_pgx(name: str, count: int, on_gpu: bool) -> Work | None:
    """The same by pgx, if it is installed: the whole of a state is carried from step to step, so all of it is made."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # what ours needs is left
    try:
        import jax
        import jax.numpy as jnp
        import pgx
    except ImportError as reason:
        print(f"no peer: {reason}")
        return None
    jax.config.update("jax_platforms", "cuda" if on_gpu else "cpu")
    env = pgx.make(name)
    begun = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(1), count))

    def step(_, carried):
        state, key = carried
        key, own = jax.random.split(key)
        actions = jax.random.categorical(own, jnp.where(state.legal_action_mask, 0.0, -jnp.inf))
        state = jax.vmap(env.step)(state, actions)
        over = state.terminated | state.truncated
        keep = lambda new, old: jnp.where(over.reshape(-1, *[1] * (old.ndim - 1)), new, old)  # noqa: E731
        return jax.tree_util.tree_map(keep, begun, state), key

    steps = jax.jit(lambda state, key: jax.lax.fori_loop(0, TOGETHER, step, (state, key)))
    carried = [begun, jax.random.PRNGKey(2)]

    def work() -> None:
        carried[:] = jax.block_until_ready(steps(*carried))

    return work


def rate_of(work: Work, count: int) -> float:
    """Steps of one game a second."""
    begin, done = time.perf_counter(), 0
    while (passed := time.perf_counter() - begin) < SECONDS:
        work()
        done += TOGETHER * count
    return done / passed


def measure(spec: str, count: int, peer: str | None, gpu: bool) -> None:
    """A row of the table for each way of ours, the peer beside it."""
    ways = {"": on_cpu(spec, count)} if not gpu else {f", {way}": on_gpu(spec, count, way == "graph") for way in GPU}
    theirs = by_pgx(peer, count, gpu) if peer else None
    works = [*ways.values(), *([theirs] if theirs else [])]
    for work in works:
        for _ in range(8):
            work()  # compiled, and games at all stages
    rounds = [[rate_of(work, count) for work in works] for _ in range(ROUNDS)]
    rates = [statistics.median(column) for column in zip(*rounds, strict=True)]
    for way, ours in zip(ways, rates, strict=False):
        beside = f"{rates[-1] / 1e6:10.2f}{ours / rates[-1]:9.1f}×" if theirs else f"{'–':>10}{'–':>10}"
        print(f"{spec + way:28}{count:8}{ours / 1e6:10.2f}{beside}", flush=True)


GPU = "launched", "graph"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=list(PEERS))
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--peer", action="store_true")
    parser.add_argument("--count", type=int, help="games side by side (1,024; on a GPU 65,536)")
    given = parser.parse_args()
    count = given.count or (65536 if given.gpu else 1024)
    print(f"million steps a second, medians of {ROUNDS}\n{'':28}{'games':>8}{'tengen':>10}{'pgx':>10}{'ratio':>10}")
    for spec in given.games:
        measure(spec, count, PEERS.get(spec) if given.peer else None, given.gpu)


if __name__ == "__main__":
    main()
