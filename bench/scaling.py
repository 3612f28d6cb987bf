"""What a cluster costs, and how far it goes: local runs and runs on Ray in turns, and a model checked with sleepers.

    python bench/scaling.py overhead     # as many workers as cores, beside a local run: positions/s, bytes moved
    python bench/scaling.py model        # 1, 2, 4, 8 workers that sleep, beside what the model says; then many machines
    python bench/scaling.py learning     # tic-tac-toe, local and on a cluster, several seeds: mistakes at the end
    python bench/scaling.py gpu          # a GPU that plays beside cores, one that learns, one that learns over NCCL

The model: a worker's slice takes as long as it plays, and a round trip; the driver spends a little time on each slice
and on each byte; the learner learns from so many positions a second. The slowest of them decides.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import ray
from torch import distributed

from tengen import __version__
from tengen.games import load_game
from tengen.learn.cluster.driver import ClusterTraining
from tengen.learn.cluster.learners import SharedTrainer, join
from tengen.learn.cluster.pool import WorkerPool
from tengen.learn.cluster.worker import Post, Slice, Weights
from tengen.learn.replay import Replay
from tengen.learn.selfplay import Games, Group, play_groups
from tengen.learn.settings import Settings, load_settings
from tengen.learn.targets import load_targets
from tengen.learn.training import Training
from tengen.nets.export import export_onnx
from tengen.nets.metadata import NetMetadata
from tengen.nets.networks import build_model
from tengen.nets.runtime import Net
from tengen.search.evaluators import RandomSymmetry, Uniform

STORE = 500 * 2**20
STUBS = (1, 2, 4, 8)
NAP = 0.25  # seconds that a sleeper takes for a slice
POSITIONS, ACTIONS = 256, 225  # of its slices: 15×15 boards, as large a slice as one core's
NETWORK = 1.25e9  # bytes/s: 10 Gbit/s at the learner's machine


@contextmanager
def ray_here(cores: int) -> Any:
    """A cluster of this machine alone, which counts so many cores."""
    ray.init(
        address="local",
        num_cpus=cores,
        object_store_memory=STORE,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        _system_config={"worker_niceness": 0},  # Ray lets everybody else go first; here both sides are equal
    )
    try:
        yield
    finally:
        ray.shutdown()


# Overhead.


class Clock:
    """Watches a run: how many positions there were when."""

    def __init__(self) -> None:
        self.marks: list[tuple[float, int]] = []
        self.metrics: dict[str, Any] = {}

    def say(self, text: str) -> None:
        print(f"    ({text})", flush=True)

    def doing(self, what: str) -> None:
        pass

    def show(self, metrics: dict[str, Any]) -> None:
        self.metrics = metrics
        self.say(f"generation {metrics['generation']}: {metrics['positions']:,} positions so far")
        self.marks.append((time.perf_counter(), metrics["positions"]))

    def rate(self) -> float:
        """Positions a second, from the end of the first generation on: what begins, compiles."""
        (begin, before), (end, after) = self.marks[0], self.marks[-1]
        return (after - before) / (end - begin)


def whole_run(kind: type[Training], settings: Settings) -> Clock:
    """A run from its beginning to its end."""
    watcher = Clock()
    with tempfile.TemporaryDirectory() as folder:
        training = kind(Path(folder) / "run", settings, load_game(settings.run.game), watcher)
        training.go_on()
        training.close()
    return watcher


def untrained(settings: Settings) -> bytes:
    game = load_game(settings.run.game)
    architecture = settings.architecture()
    return export_onnx(build_model(game, architecture), NetMetadata.of(game, architecture))


def selfplay_here(settings: Settings, model: bytes, seconds: float) -> float:
    """Positions/s of self-play alone, in threads."""
    game, own, count = load_game(settings.run.game), settings.selfplay, settings.run.groups
    common, opening = (settings.plan(), own.games, settings.longest(game)), settings.opening(game)
    groups = [Group(game, *common, seed, opening) for seed in range(count)]
    net = Net(model)

    def play() -> int:
        evaluators: list[Any] = [RandomSymmetry(net, game, number) for number in range(count)]
        return len(play_groups(groups, evaluators, own.positions).moves)

    play()
    return repeated(play, seconds)


def selfplay_there(settings: Settings, model: bytes, seconds: float) -> tuple[float, float]:
    """The same on a cluster, without a learner; and how many bytes of a position came in."""
    here = str(Path.cwd())
    pool = WorkerPool(
        lambda device, number: Post(settings, device, "cpu", number, __version__, here), settings.selfplay.positions
    )
    pool.announce(Weights(0, 0, {"cpu": [ray.put(model)]}), len(model))
    pool.begin()
    sizes: list[tuple[int, int]] = []

    def play() -> int:
        came = pool.harvest(settings.selfplay.positions, 0, lambda: False).slices
        sizes.extend((slice.size, slice.positions) for slice in came)
        return sum(slice.positions for slice in came)

    play()
    play()
    rate = repeated(play, seconds)
    pool.close()
    return rate, sum(size for size, _ in sizes) / sum(count for _, count in sizes)


def repeated(work: Callable[[], int], seconds: float) -> float:
    begin, done = time.perf_counter(), 0
    while time.perf_counter() < begin + seconds:
        done += work()
    return done / (time.perf_counter() - begin)


def overhead(options: argparse.Namespace) -> None:
    cores = os.cpu_count() or 1
    changes = [f"run.groups={cores}", f"run.generations={options.generations}", "evaluation.every=0", "run.seed=1"]
    settings = load_settings(options.preset, [*changes, f"selfplay.positions={options.positions}"])
    model = untrained(settings)
    alone: dict[str, list[float]] = {"local": [], "cluster": []}
    runs: dict[str, list[float]] = {"local": [], "cluster": []}
    with ray_here(cores):
        for _ in range(options.rounds):
            alone["local"].append(selfplay_here(settings, model, options.seconds))
            rate, size = selfplay_there(settings, model, options.seconds)
            alone["cluster"].append(rate)
            runs["local"].append(whole_run(Training, settings).rate())
            watched = whole_run(ClusterTraining, settings)
            runs["cluster"].append(watched.rate())
    print(f"{settings.run.game}, {cores} cores, {cores} workers, {options.rounds} rounds; positions a second")
    for name, rates in (("self-play alone", alone), ("whole runs", runs)):
        local, cluster = (statistics.median(rates[where]) for where in ("local", "cluster"))
        ratios = [there / here for here, there in zip(rates["local"], rates["cluster"], strict=True)]
        spread = f"{min(ratios):.0%} to {max(ratios):.0%}"
        print(f"  {name:16} local {local:8,.0f}   cluster {cluster:8,.0f}   {cluster / local:.0%} (rounds {spread})")
    told = watched.metrics["cluster"]
    print(f"  a position moves {size:,.0f} bytes (its policy {2 * load_game(settings.run.game).actions})")
    print(f"  a net has {len(model):,} bytes, which move once for each generation and machine")
    print(f"  weights are {told['weight_age']:.1f} steps old on average, at most {told['oldest_weights']}")


# The model.


class Sleeper:
    """A worker that sleeps instead of thinking."""

    nap = NAP
    positions = POSITIONS

    def __init__(self, name: str, post: Post):
        self.name, count = name, self.positions
        self.games = Games(
            np.full(count // 32 or 1, 32, np.int32),
            np.zeros(count // 32 or 1, np.int8),
            np.zeros(count, np.int16),
            np.ones((count, ACTIONS), np.float16),
        )

    def play(self, number: int, weights: Weights, positions: int) -> Slice:
        time.sleep(self.nap)
        return Slice(self.name, number, 0, 0, self.games, 0, self.nap)


class Hurried(Sleeper):
    """So quick that eight of them come near to what the driver can take."""

    nap = NAP / 25


class Eager(Sleeper):
    """Does not even sleep: what comes in then is all that the driver can take."""

    nap = 0.0


class EagerSmall(Eager):
    positions = 1


def slices_per_second(kind: type, workers: int, seconds: float, settings: Settings) -> float:
    """So many slices of that kind come in from so many workers."""
    with ray_here(workers):
        pool = WorkerPool(
            lambda device, number: Post(settings, device, "cpu", number, __version__, "."), 4096, kind=kind
        )
        pool.announce(Weights(0, 0, {"cpu": [None]}), 0)
        pool.begin()
        take = 16 * kind.positions  # type: ignore[attr-defined]

        def harvest() -> int:
            return len(pool.harvest(take, 0, lambda: False).slices)

        while len(pool.members) < workers or not all(member.games for member in pool.members.values()):
            harvest()
        rate = repeated(harvest, seconds)
        pool.close()
    return rate


class Costs(NamedTuple):
    """What the model knows."""

    round_trip: float  # seconds between two slices of a worker
    slice: float  # seconds of the driver for each slice
    byte: float  # and for each of its bytes

    def slices(self, workers: float, nap: float, size: float) -> float:
        """Slices a second: as workers play them, or as the driver takes them."""
        return min(workers / (nap + self.round_trip), 1 / self.driver(size))

    def driver(self, size: float) -> float:
        return self.slice + size * self.byte


SIZE = POSITIONS * (2 * ACTIONS + 2) + POSITIONS // 32 * 5  # bytes of a sleeper's slice


def calibrate(settings: Settings, seconds: float) -> Costs:
    one = slices_per_second(Sleeper, 1, seconds, settings)
    small = slices_per_second(EagerSmall, 8, seconds, settings)
    large = slices_per_second(Eager, 8, seconds, settings)
    return Costs(max(0.0, 1 / one - NAP), 1 / small, max(0.0, (1 / large - 1 / small) / SIZE))


def model(options: argparse.Namespace) -> None:
    settings = load_settings("gomoku15")
    costs = calibrate(settings, options.seconds)
    print(f"round trip {1e3 * costs.round_trip:.1f} ms; the driver takes {1e6 * costs.slice:.0f} µs a slice", end="")
    print(f" and {1e9 * costs.byte:.2f} ns a byte ({1e-6 / max(costs.byte, 1e-12):,.0f} MB/s)")
    print(f"sleepers, slices of {SIZE:,} bytes: slices a second")
    print(f"  {'nap':>8} {'workers':>8} {'model':>8} {'measured':>9}")
    for kind in (Sleeper, Hurried):
        for workers in STUBS:
            said = costs.slices(workers, kind.nap, SIZE)
            found = slices_per_second(kind, workers, options.seconds, settings)
            print(f"  {kind.nap:6g} s {workers:8} {said:8.1f} {found:9.1f}  {found / said - 1:+.1%}", flush=True)
    read_out(costs, options)


def read_out(costs: Costs, options: argparse.Namespace) -> None:
    """The model for many machines: what each part could bear, in positions a second; the least of them decides."""
    size = 2 * options.actions + 2  # bytes of a position
    print(f"{options.cores} cores a machine of {options.core:g} positions/s, slices of {options.slice} positions,")
    print(f"{size} bytes a position,", end=" ")
    print(f"a learner of {options.learner:,.0f} positions/s, {NETWORK / 1e9:g} GB/s of network; positions/s:")
    print(f"  {'machines':>8} {'workers':>12} {'driver':>12} {'network':>12} {'learner':>12}   decided by")
    nap = options.slice / options.core
    for machines in (1, 10, 100, 1000):
        workers = machines * options.cores
        parts = {
            "workers": workers * options.slice / (nap + costs.round_trip),
            "driver": options.slice / costs.driver(options.slice * size),
            "network": NETWORK / size,
            "learner": options.learner,
        }
        least = min(parts, key=lambda name: parts[name])
        print(f"  {machines:8} " + " ".join(f"{value:12,.0f}" for value in parts.values()) + f"   {least}")
    net = options.net * 1e6
    print(
        f"weights of {options.net:g} MB to 1,000 machines: {1000 * net / NETWORK:.1f} s if all came from the learner's"
    )
    print("machine; Ray lets machines that have a copy hand it on")


# Learning.


def learning(options: argparse.Namespace) -> None:
    """The same budget, local and on a cluster: the share of all positions in which a mistake is made at the end."""
    found: dict[str, list[float]] = {"local": [], "cluster": []}
    cores = os.cpu_count() or 1
    with ray_here(cores):
        for seed in range(1, options.seeds + 1):
            for name, kind in (("local", Training), ("cluster", ClusterTraining)):
                changes = [f"run.seed={seed}", f"run.generations={options.generations}", f"run.groups={cores}"]
                watched = whole_run(kind, load_settings("tictactoe", [*changes, "evaluation.every=1000"]))
                found[name].append(watched.metrics["mistakes"])
                print(f"  seed {seed} {name:8} {watched.metrics['mistakes']:.2%} mistakes", flush=True)
    for name, shares in found.items():
        low, high = interval(shares)
        print(f"{name:8} {statistics.mean(shares):.2%} ({low:.2%} to {high:.2%}, 95%)")


def interval(values: list[float]) -> tuple[float, float]:
    """Student's 95% interval of the mean."""
    from scipy.stats import t

    mean, wide = statistics.mean(values), statistics.stdev(values) / len(values) ** 0.5
    reach = float(t.ppf(0.975, len(values) - 1)) * wide
    return mean - reach, mean + reach


# GPUs.


def gpu(options: argparse.Namespace) -> None:
    """On a machine with one GPU: it plays beside cores, then learns while they play, then learns over NCCL."""
    own = [f"selfplay.positions={options.positions}", "run.generations=3", "evaluation.every=0"]
    own += ["run.groups=2", "training.samples=0.25"]  # whoever learns on cores has them taken by those who play
    for device in ("cpu", "cuda"):
        with ray_here(options.cores):
            print(f"a cluster of {ray.cluster_resources().get('GPU', 0):.0f} GPU and {options.cores} cores", flush=True)
            workers, metrics = run_on(device, load_settings("gomoku8", own, device))
        played = {kind: [one for one in workers if one["device"] == kind] for kind in ("cpu", "cuda")}
        shares = ", ".join(
            f"{len(members)} on {kind} with {sum(one['games'] for one in members):,} games at "
            f"{sum(one['positions_per_second'] for one in members):,.0f} positions/s"
            for kind, members in played.items()
        )
        print(f"learning on {device}: loss {metrics['loss']}; workers: {shares}", flush=True)
    print("over NCCL, steps 1 to 20 and 101 to 120:", *(f"{loss:.3f}" for loss in learn_over_nccl(own)))


def run_on(device: str, settings: Settings) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A short run; its workers, and the metrics of the last generation."""
    watcher = Clock()
    with tempfile.TemporaryDirectory() as folder:
        training = ClusterTraining(Path(folder) / "run", settings, load_game(settings.run.game), watcher, device)
        training.go_on()
        workers = training.pool.standing()["workers"]
        training.close()
    return workers, watcher.metrics


def learn_over_nccl(changes: list[str]) -> list[float]:
    """The loss at first and later of a learner that is alone in its group."""
    settings = load_settings("gomoku8", changes)
    game = load_game(settings.run.game)
    group = Group(game, settings.plan(), 64, settings.longest(game), 1, settings.opening(game))
    replay = Replay(game, load_targets(settings.net.targets, game))
    replay.add(1, group.play(Uniform(game), 2048, lambda: False), 10**6)
    join("127.0.0.1:29500", 0, 1, "cuda")
    trainer = SharedTrainer(game, settings, 0, 1, "cuda")
    losses = [trainer.train(replay, steps, 2e-3, [1], lambda: False)["total"] for steps in (20, 80, 20)]
    distributed.destroy_process_group()
    return [losses[0], losses[2]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    benches = parser.add_subparsers(required=True)
    bench = benches.add_parser("overhead")
    bench.set_defaults(run=overhead)
    bench.add_argument("--preset", default="gomoku8")
    bench.add_argument("--rounds", type=int, default=3)
    bench.add_argument("--seconds", type=float, default=20.0)
    bench.add_argument("--generations", type=int, default=6)
    bench.add_argument("--positions", type=int, default=4096)
    bench = benches.add_parser("model")
    bench.set_defaults(run=model)
    bench.add_argument("--seconds", type=float, default=10.0)
    bench.add_argument("--cores", type=int, default=16, help="of a machine")
    bench.add_argument("--core", type=float, default=300.0, help="positions/s of a core")
    bench.add_argument("--actions", type=int, default=64, help="of the game: 64 on 8×8, 225 on 15×15")
    bench.add_argument("--slice", type=int, default=256, help="positions")
    bench.add_argument("--learner", type=float, default=270_000.0, help="positions/s that it learns from")
    bench.add_argument("--net", type=float, default=1.2, help="megabytes of the weights")
    bench = benches.add_parser("learning")
    bench.set_defaults(run=learning)
    bench.add_argument("--seeds", type=int, default=5)
    bench.add_argument("--generations", type=int, default=55)
    bench = benches.add_parser("gpu")
    bench.set_defaults(run=gpu)
    bench.add_argument("--cores", type=int, default=4)
    bench.add_argument("--positions", type=int, default=16_384)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
