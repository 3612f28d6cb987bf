"""python bench/gpu_search.py [GAME ROWS CHANNELS GROUPS]…: self-play on one GPU beside its network alone.

6 blocks, 32 simulations a move, Gumbel. Rates are simulations a second over some 60 moves of each game, once games are
at all stages (late ones cost more in Go), each group on a thread of its own, as in training: while one reads its
finished games, the GPU has the others' steps. `alone` is the network's own rate on batches of the same size, in the
same process, and `trees` a step without its network, by itself.
bench/peer_gpu.py is the same with pgx and mctx. To see what one step of the trees waits for:

    ncu --set full --profile-from-start off python bench/gpu_search.py go:size=9 16384 64 1
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from tengen.games import load_game
from tengen.learn.gpu.selfplay import GpuGroup
from tengen.learn.selfplay import Opening
from tengen.nets.graph import GraphNet, recorded
from tengen.nets.metadata import Architecture
from tengen.nets.networks import build_model
from tengen.search.lockstep import Plan

CASES = [
    ("gomoku:size=9", 16384, 64, 2),
    ("reversi", 16384, 64, 2),
    ("reversi", 32768, 64, 2),
    ("connect4", 16384, 64, 2),
    ("go:size=9", 16384, 64, 2),
    ("go:size=9", 16384, 64, 3),
    ("go:size=9", 8192, 128, 2),
]
SIMULATIONS = 32
SETTLED = 2  # games that a row has ended, on average, before the measurement
STRETCH, MEASURED = 16, 62  # moves of each game: until those that ended are counted, and measured


def milliseconds(work, times: int = 100) -> float:
    """What one call costs on the GPU."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    work()
    begin.record()
    for _ in range(times):
        work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / times


def trees_alone(group: GpuGroup) -> float:
    """Milliseconds that a step's trees take with nothing beside them, the mean of four moves; a profiler sees one."""
    net, trees = (recorded(work, group.stream) for work in (group.net.answer, group._expand_and_backup))
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    took, steps = 0.0, 4 * group.search_steps
    with torch.cuda.stream(group.stream):
        for step in range(1, steps + 1):
            net.replay()
            begin.record()
            trees.replay()
            end.record()
            end.synchronize()
            took += begin.elapsed_time(end)
            if step % group.search_steps == 0:
                group._look()
        torch.cuda.profiler.start()
        group._expand_and_backup()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
    return took / steps


def play(groups: list[GpuGroup], moves: int) -> int:
    """So many moves of each game, as `GpuGroup.play` makes them; how many games ended."""

    def play_one(group: GpuGroup) -> int:
        return sum(len(group.play_a_move().lengths) for _ in range(moves))

    with ThreadPoolExecutor(len(groups)) as pool:
        games = sum(pool.map(play_one, groups))
    torch.cuda.synchronize()  # the last moves were only begun
    return games


def measure(spec: str, rows: int, channels: int, count: int) -> None:
    game, began = load_game(spec), time.perf_counter()
    torch.manual_seed(1)
    model = build_model(game, Architecture(blocks=6, channels=channels)).cuda()
    plan, longest = Plan(simulations=SIMULATIONS, value_scale=0.25, chance_plies=1000), 4 * game.cells + 100
    groups = [GpuGroup(game, plan, model, rows, longest, seed, Opening(4)) for seed in range(count)]
    torch.cuda.synchronize()
    ready = time.perf_counter() - began
    net = GraphNet(game, model, rows)
    stream = torch.cuda.Stream()
    graph = recorded(net.answer, stream)
    ended = 0
    while ended < SETTLED * rows * count:
        ended += play(groups, STRETCH)
    began = time.perf_counter()
    games = play(groups, MEASURED)
    took = time.perf_counter() - began
    with torch.cuda.stream(stream):  # the GPU is as warm as before
        alone = milliseconds(graph.replay, 1000)
    steps = MEASURED * count * groups[0].search_steps
    rate, network = steps * rows / took, 1000 * rows / alone
    print(
        f"{spec:14} {count}×{rows:6} rows 6×{channels:3}: {rate / 1e6:.2f} M simulations/s, network alone "
        f"{network / 1e6:.2f} M/s: {rate / network:.1%}; a step {1000 * took / steps:.2f} ms, network {alone:.2f}, "
        f"trees {trees_alone(groups[0]):.2f}, {games} games, "
        f"{torch.cuda.max_memory_allocated() / 2**30:.0f} GiB by torch, ready in {ready:.0f} s",
        flush=True,
    )


if __name__ == "__main__":
    given = sys.argv[1:]
    cases = [(s, int(r), int(c), int(g)) for s, r, c, g in zip(*(given[i::4] for i in range(4)), strict=True)]
    for case in cases or CASES:
        measure(*case)
