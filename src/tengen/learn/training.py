"""A training run: generations of self-play and gradient descent, evaluated now and then, saved after each.

Everything that chance decides comes from the run's seed and the number of the generation, and games under way are saved
with the rest: a run that was killed and gone on with ends with the very weights of one that never was.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

from tengen.agents.specs import load_agent
from tengen.arena.match import score_of
from tengen.arena.ratings import ratings
from tengen.learn.ladder import named_player, net_player, play_ladder_match, truth_of
from tengen.learn.loop import RunLoop, Watcher, result_of
from tengen.learn.replay import Replay
from tengen.learn.run import Damaged, net_name, newest_weights
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
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game
from tengen.search.evaluators import RandomSymmetry

SAMPLES = 2  # games of each kind in a file of samples


class GenerationGames(NamedTuple):
    """The self-play of a generation."""

    games: Games
    evaluations: int
    seconds: float
    more: dict[str, Any] = {}  # what else is to be measured of it


class Training(RunLoop):
    """An open run of self-play and training."""

    counted = (*RunLoop.counted, "evaluations")

    def __init__(self, folder: Path, settings: Settings, game: Game, watcher: Watcher, device: str = "cpu"):
        watcher.doing("getting ready")
        if settings.evaluation.every:
            load_agent(settings.evaluation.opponent, game)  # a wrong one is told now, not after the first generations
        if settings.evaluation.gating and device != "cpu":
            raise BadParameter("evaluation.gating is for --device cpu: elsewhere the newest weights play")
        new_model(game, settings)  # likewise its network and its targets
        self.device = device
        super().__init__(folder, settings, game, watcher)
        self.truth = truth_of(game) if settings.evaluation.exact else None
        if settings.evaluation.exact and self.truth is None:
            watcher.say(f"{game.spec} has too many positions: evaluation.exact is left out")

    def close(self) -> None:
        self.trainer.workers.shutdown()
        super().close()

    def _team(self) -> tuple[Trainer, Replay, list[Any]]:
        """The trainer, the replay it learns from, and the groups that play."""
        return (on_gpu if self.device == "cuda" else on_cpu)(self.game, self.settings)

    @property
    def step(self) -> int:
        return self.trainer.steps

    def _open(self) -> None:
        self.trainer, self.replay, self.groups = self._team()
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

    def _generation(self) -> None:
        """Plays, learns, evaluates, saves."""
        began, generation = time.monotonic(), self.counters.generation + 1
        self.watcher.doing("self-play")
        games, evaluations, seconds, more = self._play(generation)
        if self.is_stopped:
            return
        self.watcher.doing("training")
        losses = self._learn(generation, games)
        if self.is_stopped:
            return
        self._check_losses(generation, losses)
        self.counters.generation = generation
        self.counters.games += len(games.lengths)
        self.counters.evaluations += evaluations
        self._write_net(generation)
        metrics = {
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
        """Plays the games of a generation; fewer if the run is stopped."""
        began, before = time.monotonic(), sum(group.evaluations for group in self.groups)
        games = play_groups(self.groups, self._evaluators(generation), self.settings.selfplay.positions, self._stopped)
        evaluations = sum(group.evaluations for group in self.groups) - before
        return GenerationGames(games, evaluations, time.monotonic() - began)

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
        """Adds the games to the replay and makes the steps for them; returns the terms of the loss."""
        training = self.settings.training
        self.counters.positions += len(games.moves)
        self.replay.add(generation, games, self.settings.window(self.counters.positions))
        learned = int(games.policies.any(axis=1).sum())  # random moves are not
        steps = training.steps or max(1, round(training.samples * learned / training.batch))
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

    def is_kept(self, generation: int) -> bool:
        return generation == self.counters.best or self._is_evaluated(generation)

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
        arrays = self.trainer.save()
        for number, group in enumerate(self.groups):
            arrays |= {f"group{number}.{name}": array for name, array in group.save().items()}
        self._finish(metrics, arrays, "matches" in metrics, games._asdict(), min(self.replay.generations))


def begin_with(trainer: Trainer, start: str) -> None:
    """Gives a trainer the weights of `start`: a run's folder, a net's file, or a net that we ship."""
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


def on_cpu(game: Game, settings: Settings, plays: bool = True) -> tuple[Trainer, Replay, list[Any]]:
    """The trainer, its replay, and the groups that play on a CPU, a thread each; no groups unless `plays`."""
    own, count, opening = settings.selfplay, settings.run.groups if plays else 0, settings.opening(game)
    common = settings.plan(), own.games, settings.longest(game)
    groups = [Group(game, *common, 1000 * settings.run.seed + number, opening) for number in range(count)]
    trainer = Trainer(game, settings, settings.run.groups)
    return trainer, Replay(game, trainer.targets), groups


def on_gpu(game: Game, settings: Settings, plays: bool = True) -> tuple[Trainer, Replay, list[Any]]:
    """The same on a GPU."""
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
