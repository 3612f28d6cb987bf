"""How much of the network's speed is left for learning: self-play and one tree beside ONNX Runtime alone, and a peer.

    python bench/learning.py                # OpenSpiel's Python AlphaZero needs jax flax optax orbax-checkpoint chex
    python bench/learning.py --threads 1,2,4,8,16      # only: how self-play grows with threads

Ratios count: everything is measured in turns, several times, and the best of each is taken.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tengen.games import load_game
from tengen.learn.selfplay import Group, Opening
from tengen.nets.export import export_onnx
from tengen.nets.metadata import Architecture, NetMetadata
from tengen.nets.networks import build_model
from tengen.nets.runtime import Net
from tengen.rules.game import Game
from tengen.search.limits import Limit
from tengen.search.lockstep import Plan
from tengen.search.puct import Puct

ROUNDS = 4
BATCHES = (8, 16, 32, 64, 128, 256)
Rate = Callable[[float], float]  # measures for some seconds; so many a second


def new_net(game: Game) -> Net:
    """An untrained resnet of 3 blocks and 32 channels."""
    return Net(export_onnx(build_model(game, Architecture()), NetMetadata.of(game, Architecture())))


def repeated(work: Callable[[], int]) -> Rate:
    """Does it again and again; `work` says how much it did."""

    def rate(seconds: float) -> float:
        begin, done = time.perf_counter(), 0
        while time.perf_counter() < begin + seconds:
            done += work()
        return done / (time.perf_counter() - begin)

    return rate


def side_by_side(rates: list[Rate]) -> Rate:
    """Several at once, a thread each: all together."""

    def rate(seconds: float) -> float:
        with ThreadPoolExecutor(len(rates)) as pool:
            return sum(pool.map(lambda one: one(seconds), rates))

    return rate


def network(net: Net, game: Game, batch: int) -> Rate:
    planes = np.random.default_rng(1).integers(2, size=(batch, len(game.planes), game.cells)).astype(np.float32)
    return repeated(lambda: len(net(planes)[1]))


def selfplay(net: Any, game: Game, seed: int, games: int = 64) -> Rate:
    """Simulations of one group, as in training."""
    group = Group(game, Plan(simulations=32, value_scale=0.25), games, 4 * game.cells + 100, seed, Opening(4))

    def rate(seconds: float) -> float:
        begin, before = time.perf_counter(), group.evaluations
        group.play(net, 10**9, lambda: time.perf_counter() > begin + seconds)
        return (group.evaluations - before) / (time.perf_counter() - begin)

    return rate


def one_tree(net: Net, game: Game) -> Rate:
    search = Puct(game, net, batch=8, memory=256)

    def work() -> int:
        search.position = None
        return search.search(game.start(), Limit(simulations=2000)).nodes

    return repeated(work)


def open_spiel() -> Rate | None:
    """OpenSpiel's own MCTS bot with its own evaluator and a resnet of the same size, as its actors run it."""
    try:
        import pyspiel
        from open_spiel.python.algorithms import mcts
        from open_spiel.python.algorithms.alpha_zero import evaluator, model_nnx
    except ImportError as reason:
        print(f"OpenSpiel's AlphaZero was not measured: {reason}")
        return None
    game = pyspiel.load_game("connect_four")
    folder = tempfile.mkdtemp()
    shape = game.observation_tensor_shape()
    model = model_nnx.Model.build_model("resnet", shape, game.num_distinct_actions(), 32, 3, 1e-4, 1e-3, folder)
    answers = evaluator.AlphaZeroEvaluator(game, model)

    def work() -> int:
        answers._cache.clear()
        bot = mcts.MCTSBot(
            game,
            2,
            100,
            answers,
            solve=False,
            child_selection_fn=mcts.SearchNode.puct_value,
            dont_return_chance_node=True,
        )
        bot.mcts_search(game.new_initial_state())
        return 100

    work()
    return repeated(work)


def best(rates: dict[str, Rate], seconds: float) -> dict[str, float]:
    """The best of several rounds, in which all take turns."""
    found = dict.fromkeys(rates, 0.0)
    for _ in range(ROUNDS):
        for name, rate in rates.items():
            found[name] = max(found[name], rate(seconds))
    return found


def scaling(counts: list[int], seconds: float) -> None:
    """Self-play and the network alone on so many threads, as a table."""
    print("threads  Gomoku 8×8, 3×32        ratio   Go 9×9, 6×64   ratio   (simulations/s)")
    games = [
        (load_game("gomoku:size=8"), Architecture()),
        (load_game("go:size=9"), Architecture(blocks=6, channels=64)),
    ]
    nets = [Net(export_onnx(build_model(game, own), NetMetadata.of(game, own))) for game, own in games]
    first: list[float] = []
    for count in counts:
        rates = {
            game.spec: side_by_side([selfplay(net, game, seed) for seed in range(count)])
            for (game, _), net in zip(games, nets, strict=True)
        }
        found = list(best(rates, seconds).values())
        first = first or [rate / count for rate in found]
        shown = "   ".join(f"{rate:12,.0f}   {rate / one:10.2f}×" for rate, one in zip(found, first, strict=True))
        print(f"{count:7}  {shown}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--threads", help="numbers of threads, with commas")
    given = parser.parse_args()
    seconds = given.seconds
    if given.threads:
        scaling([int(count) for count in given.threads.split(",")], seconds)
        return
    cores = os.cpu_count() or 1
    game = load_game("gomoku:size=8")
    net, constant = new_net(game), (np.zeros((64, game.actions), np.float32), np.zeros(64, np.float32))
    for group in (selfplay(net, game, 1), one_tree(net, game)):
        group(0.1)  # compiled before anything is measured
    rates = {f"network, batch {n}": side_by_side([network(net, game, n)] * cores) for n in BATCHES}
    rates |= {
        "self-play": side_by_side([selfplay(net, game, seed) for seed in range(cores)]),
        "trees alone": selfplay(lambda planes: constant, game, 9),
        "network, one thread, batch 8": network(net, game, 8),
        "one tree, batch 8": one_tree(net, game),
    }
    found = best(rates, seconds)
    alone = max(found[name] for name in rates if name.startswith("network, batch"))
    print(f"gomoku:size=8, resnet 3×32, {cores} threads; a second")
    for name, rate in found.items():
        print(f"  {name:30}{rate:12,.0f}")
    print(f"self-play makes {found['self-play'] / alone:.0%} of what the network alone does at its best batch")
    print(f"a simulation's work in the tree: {1e6 / found['trees alone']:.2f} µs on one core")
    share = found["one tree, batch 8"] / found["network, one thread, batch 8"]
    print(f"one tree makes {share:.0%} of the network's own rate")
    peer = open_spiel()
    if peer is not None:
        game = load_game("connect4")
        both = best({"ours": selfplay(new_net(game), game, 1), "OpenSpiel": peer}, seconds)
        ratio = both["ours"] / both["OpenSpiel"]
        print(
            f"connect4, one thread: {both['ours']:,.0f} simulations/s; OpenSpiel {both['OpenSpiel']:,.0f}: {ratio:.0f}×"
        )


if __name__ == "__main__":
    main()
