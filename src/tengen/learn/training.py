"""A training run: generations of self-play and gradient descent, evaluated now and then, saved after each.

Everything that chance decides comes from the run's seed and the number of the generation, and games under way are saved
with the rest: a run that was killed and gone on with ends with the very weights of one that never was.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch

from tengen.agents.specs import load_agent
from tengen.arena.match import Score, score_of
from tengen.arena.ratings import ratings
from tengen.learn.events import EventFile
from tengen.learn.ladder import named_player, net_player, play_ladder_match, truth_of
from tengen.learn.replay import Replay
from tengen.learn.report import write_report
from tengen.learn.run import Counters, Damaged, Run, RunError, net_name, newest_weights
from tengen.learn.selfplay import Games, Group, play_groups
from tengen.learn.settings import Settings
from tengen.learn.targets import load_targets
from tengen.learn.trainer import Trainer, new_model
from tengen.nets.export import export_onnx
from tengen.nets.metadata import NetError, NetMetadata
from tengen.nets.runtime import Net, find_net, read_trusted
from tengen.records.record import Record
from tengen.records.sgf import write_sgf
from tengen.rules.contract import DRAW, FIRST
from tengen.rules.errors import BadParameter, TengenError
from tengen.rules.game import Game
from tengen.search.evaluators import RandomSymmetry

SAMPLES = 2  # games of each kind in a file of samples


class Watcher(Protocol):
    """Who is told how a run goes on."""

    def say(self, text: str) -> None: ...

    def doing(self, what: str) -> None: ...

    def show(self, metrics: dict[str, Any]) -> None: ...


class GenerationGames(NamedTuple):
    """The self-play of a generation."""

    games: Games
    evaluations: int
    seconds: float
    more: dict[str, Any] = {}  # what else is to be measured of it


class Training:
    """A run that is open: `go_on` until it is complete, or stopped."""

    def __init__(self, folder: Path, settings: Settings, game: Game, watcher: Watcher, device: str = "cpu"):
        watcher.doing("getting ready")
        if settings.evaluation.every:
            load_agent(settings.evaluation.opponent, game)  # a wrong one is told now, not after the first generations
        if settings.evaluation.gating and device != "cpu":
            raise BadParameter("evaluation.gating is for --device cpu: elsewhere the newest weights play")
        new_model(game, settings)  # likewise its network and its targets
        self.run = Run(folder, settings, watcher.say)
        self.settings = settings = self.run.settings
        self.game, self.watcher, self.device, self.is_stopped = game, watcher, device, False
        self.counters = Counters()
        try:
            self.trainer, self.replay, self.groups = self._team()
            self._restore()
            self.events = EventFile(folder / "events", self.trainer.steps)
        except TengenError:
            self.run.abandon()
            raise
        self.truth = truth_of(game) if settings.evaluation.exact else None
        if settings.evaluation.exact and self.truth is None:
            watcher.say(f"{game.spec} has too many positions: evaluation.exact is left out")

    def close(self) -> None:
        """Nothing is held any more: another process may go on."""
        self.trainer.workers.shutdown()
        self.events.close()
        self.run.close()

    def _team(self) -> tuple[Trainer, Replay, list[Any]]:
        """Who learns, from what, and who plays."""
        return (on_gpu if self.device == "cuda" else on_cpu)(self.game, self.settings)

    def _restore(self) -> None:
        """Goes on from the newest checkpoint, if there is one."""
        found = self.run.newest()
        if found is None:
            if start := self.settings.training.start:
                begin_with(self.trainer, start)
                self.trainer.restore(self.trainer.save())  # several learners begin with the same weights
            self._write_net(0)
            return
        self.counters, arrays = found
        self.trainer.restore({name: array for name, array in arrays.items() if not name.startswith("group")})
        for number, group in enumerate(self.groups):
            prefix = f"group{number}."
            if saved := {name[len(prefix) :]: arrays[name] for name in arrays if name.startswith(prefix)}:
                group.restore(saved)  # a cluster saves no games under way
        for generation, saved in self.run.games():
            self.replay.generations[generation] = Games(**saved)
        self._net(self.counters.generation)
        self.watcher.say(f"going on after generation {self.counters.generation}")

    @property
    def is_complete(self) -> bool:
        return self.counters.generation >= self.settings.run.generations

    def go_on(self, seconds: float = float("inf")) -> None:
        """Generations until the run is complete, stopped, or the time is over."""
        repeat(self._generation, lambda: self.is_complete or self.is_stopped, seconds)
        if self.counters.generation:
            self.run.check_there()
            write_report(self.run.folder, self.game)

    def _generation(self) -> None:
        """Plays, learns, evaluates, saves. If it is stopped before its end, nothing of it is kept."""
        began, generation = time.monotonic(), self.counters.generation + 1
        self.watcher.doing("self-play")
        games, evaluations, seconds, more = self._play(generation)
        if self.is_stopped:
            return
        self.watcher.doing("training")
        losses = self._learn(generation, games)
        if self.is_stopped:
            return
        if not math.isfinite(losses["total"]):
            raise RunError(
                f"the loss is {losses['total']} in generation {generation}, which is not saved: "
                "begin a new run with a lower training.learning_rate"
            )
        self.counters.generation = generation
        self.counters.games += len(games.lengths)
        self.counters.evaluations += evaluations
        self._write_net(generation)
        metrics = {
            "step": self.trainer.steps,
            "replay": len(self.replay),
            "loss": losses,
            "learning_rate": self.settings.learning_rate(generation),
            "plies": float(games.lengths.mean()),
            "first_wins": float((games.results == FIRST).mean()),
            "draws": float((games.results == DRAW).mean()),
            "positions_per_second": len(games.moves) / seconds,
            "evaluations_per_second": evaluations / seconds,
            **more,
        }
        if self._is_evaluated(generation):
            self.watcher.doing("evaluation")
            metrics |= self._evaluate(generation, games)
        self.counters.seconds += time.monotonic() - began
        self._save(metrics, games)

    def _play(self, generation: int) -> GenerationGames:
        """The games of a generation; not all of them if the run is stopped."""
        began, before = time.monotonic(), sum(group.evaluations for group in self.groups)
        games = play_groups(self.groups, self._evaluators(generation), self.settings.selfplay.positions, self._stopped)
        evaluations = sum(group.evaluations for group in self.groups) - before
        return GenerationGames(games, evaluations, time.monotonic() - began)

    def _stopped(self) -> bool:
        return self.is_stopped

    def _evaluators(self, generation: int) -> list[Any]:
        """The net that plays, for each group; a GPU takes the trainer's own."""
        if self.device == "cuda":
            return [self.trainer.model for _ in self.groups]
        gated = self.settings.evaluation.gating > 0
        net = self._net(self.counters.best if gated else generation - 1)
        if not self.settings.selfplay.symmetry:
            return [net for _ in self.groups]
        seed = [self.settings.run.seed, generation]
        return [RandomSymmetry(net, self.game, [*seed, number]) for number in range(len(self.groups))]

    def _learn(self, generation: int, games: Games) -> dict[str, float]:
        """Adds the games to the replay, and makes as many steps as they are worth."""
        training = self.settings.training
        self.counters.positions += len(games.moves)
        self.replay.add(generation, games, self.settings.window(self.counters.positions))
        learned = int(games.policies.any(axis=1).sum())  # random moves are not
        steps = max(1, round(training.samples * learned / training.batch))
        rate = self.settings.learning_rate(generation)
        return self.trainer.train(self.replay, steps, rate, [self.settings.run.seed, generation], self._stopped)

    def _rating(self, generation: int) -> float | None:
        """The rating of a generation that was evaluated."""
        results, name = self.counters.results, f"generation {generation}"
        is_rated = any(result[0] == name for result in results)
        return ratings(results, self.settings.evaluation.opponent)[name] if is_rated else None

    def _write_net(self, generation: int) -> None:
        """The net of a generation, for playing."""
        metadata = NetMetadata.of(
            self.game,
            self.settings.architecture(),
            run=self.run.folder.name,
            step=self.trainer.steps,
            rating=self._rating(generation),
        )
        self.run.keep(net_name(generation), export_onnx(self.trainer.model, metadata))

    def _net(self, generation: int) -> Net:
        """A net of the run as it was written. The newest is written again if it is damaged, and replaces others."""
        newest = self.counters.generation
        try:
            return Net(self.run.read(net_name(generation)))
        except (Damaged, NetError) as reason:  # what an older version wrote has no hash
            if generation != newest:
                self.watcher.say(f"{reason}: generation {newest} takes the place of generation {generation}")
                self.counters.best = newest
                return self._net(newest)
            self.watcher.say(f"{reason}: it is written again, from the weights of generation {newest}")
            self._write_net(newest)
            return Net(self.run.read(net_name(newest)))

    def _is_evaluated(self, generation: int) -> bool:
        every = self.settings.evaluation.every
        return bool(every) and (generation % every == 0 or generation >= self.settings.run.generations)

    def _evaluate(self, generation: int, games: Games) -> dict[str, Any]:
        """Matches against the ladder, a fixed opponent and the best net so far; and, in a small game, the truth."""
        own, name = self.settings.evaluation, f"generation {generation}"
        net, earlier = self._net(generation), self._net(self.counters.best)
        player = net_player(self.game, net, own.simulations, own.exploration)
        ladder = {own.opponent: named_player(self.game, own.opponent)}
        if self.counters.best != generation:  # or the best net so far is lost
            best = net_player(self.game, earlier, own.simulations, own.exploration)
            ladder[f"generation {self.counters.best}"] = best
        found: dict[str, Any] = {"matches": []}
        samples = [self._sample(games, number) for number in range(min(SAMPLES, len(games.lengths)))]
        for opponent, maker in ladder.items():
            opening = own.opening if opponent == own.opponent else max(own.opening, 2)  # two nets repeat themselves
            players = {name: player, opponent: maker}
            records = play_ladder_match(self.game, players, own.games, opening, seed=1000 * generation)
            score = score_of(name, records)
            found["matches"].append(result_of(opponent if opponent == own.opponent else "the best net before", score))
            self.counters.results.append([name, opponent, score.wins, score.draws, score.losses])
            samples += records[:SAMPLES]
        found["rating"] = self._rating(generation)
        if score.rate > max(own.gating, 0.5):
            self.counters.best = generation
        if self.truth is not None:
            worse, losing = self.truth.mistakes(self.game, net, own.simulations, own.exploration)
            found |= {"mistakes": worse / len(self.truth.positions), "losing": losing}
        self.run.write(f"games/{generation:06}.sgf", write_sgf(*samples).encode())
        self._write_net(generation)
        return found

    def _sample(self, games: Games, number: int) -> Record:
        """A game of self-play."""
        begin = int(games.lengths[:number].sum())
        moves = games.moves[begin : begin + int(games.lengths[number])].tolist()
        return Record.of(self.game.from_actions(moves), ("self-play", "self-play"))

    def _save(self, metrics: dict[str, Any], games: Games) -> None:
        """Metrics first, then the checkpoint, which says how long they are."""
        counters = self.counters
        names = ("generation", "seconds", "games", "positions", "evaluations")
        metrics = {**{name: getattr(counters, name) for name in names}, **metrics}
        self.run.add_metrics(metrics)
        arrays = self.trainer.save()
        for number, group in enumerate(self.groups):
            arrays |= {f"group{number}.{name}": array for name, array in group.save().items()}
        self.run.save(counters, arrays, games._asdict(), min(self.replay.generations))
        before = counters.generation - 1
        if before != counters.best and not self._is_evaluated(before):
            self.run.drop(net_name(before))
        self.events.add(self.trainer.steps, scalars(metrics))
        if "matches" in metrics:
            write_report(self.run.folder, self.game)
        self.watcher.show(metrics)


def begin_with(trainer: Trainer, start: str) -> None:
    """Gives a trainer the weights of a run, of a net's file, or of a net that comes with us."""
    if Path(start).is_dir():
        trainer.begin_with(newest_weights(Path(start)), start)
        return
    net = read_trusted(find_net(start))
    shown, planes = Net(net).metadata.planes, trainer.game.planes
    if shown != planes:
        raise BadParameter(
            f"training.start={start}: it was shown {', '.join(shown)}; this game has {', '.join(planes)}"
        )
    trainer.begin_with_net(net, start)


def repeat(generation: Callable[[], None], is_over: Callable[[], bool], seconds: float) -> None:
    """Generations until it is over, or the time is.

    A generation is whole or not begun: one more is begun if half of it still fits, by how long the last one took.
    """
    end, took = time.monotonic() + seconds, 0.0
    while not is_over() and (began := time.monotonic()) + took / 2 < end:
        generation()
        took = time.monotonic() - began


def on_cpu(game: Game, settings: Settings, plays: bool = True) -> tuple[Trainer, Replay, list[Any]]:
    """Who learns, from what, and who plays: a thread a group; nobody if others play."""
    own, count, opening = settings.selfplay, settings.run.groups if plays else 0, settings.opening(game)
    common = settings.plan(), own.games, settings.longest(game)
    groups = [Group(game, *common, 1000 * settings.run.seed + number, opening) for number in range(count)]
    trainer = Trainer(game, settings, settings.run.groups)
    return trainer, Replay(game, trainer.targets), groups


def on_gpu(game: Game, settings: Settings, plays: bool = True) -> tuple[Trainer, Replay, list[Any]]:
    """The same, all of it on a GPU."""
    from tengen.learn.gpu.ahead import compile_ahead
    from tengen.learn.gpu.replay import GpuReplay
    from tengen.learn.gpu.selfplay import GpuGroup
    from tengen.learn.gpu.trainer import GpuTrainer

    targets = load_targets(settings.net.targets, game)
    if plays:
        needs_end = any(one.target.needs_end for one in targets)
        compile_ahead(game, settings.plan(), settings.opening(game), needs_end)
    own, count, trainer = settings.selfplay, settings.run.groups if plays else 0, GpuTrainer(game, settings)
    common = settings.plan(), trainer.model, own.games, settings.longest(game)
    shown = settings.opening(game), own.symmetry
    groups = [GpuGroup(game, *common, 1000 * settings.run.seed + number, *shown) for number in range(count)]
    return trainer, GpuReplay(game, targets), groups


def result_of(opponent: str, score: Score) -> dict[str, Any]:
    """A match as the metrics have it."""
    low, high = score.interval()
    counts = {"wins": score.wins, "draws": score.draws, "losses": score.losses}
    return {"opponent": opponent, **counts, "rate": score.rate, "low": low, "high": high}


def scalars(metrics: dict[str, Any]) -> dict[str, float]:
    """What TensorBoard draws: every number, by a name with a slash."""
    numbers = {f"run/{name}": value for name, value in metrics.items() if isinstance(value, int | float)}
    numbers |= {f"loss/{name}": value for name, value in metrics["loss"].items()}
    first = metrics.get("matches", [])[:1]
    return numbers | {f"score/{match['opponent']}": match["rate"] for match in first}


def device_of(name: str) -> str:
    """The device to train on; `auto` is the GPU if there is one."""
    if name not in ("auto", "cpu", "cuda"):
        raise BadParameter(f"device {name!r} is unknown; choose from auto, cpu, cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise BadParameter("there is no CUDA device here; use --device cpu")
    if name == "cpu" or not torch.cuda.is_available():
        return "cpu"
    if find_spec("numba_cuda") is None:
        if name == "cuda":
            raise BadParameter("self-play on a GPU needs numba-cuda: pip install 'tengen[cuda]'")
        return "cpu"
    return "cuda"
