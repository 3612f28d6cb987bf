"""`value9`: who wins from here, if the policy plays on? One position of each game.

A policy plays against itself to a random time; there one move is drawn at random from all legal ones, so that the
positions are not only those that the policy likes; then it plays on to the end. The position after the random move is
kept, with the result. Only then the value net learns: from one position a game nothing can be learned by heart that
another position of the same game would give away. Some games are held out, and the error on them stands beside that of
always saying the mean.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import torch
from safetensors.numpy import load
from torch import nn
from torch.nn import functional

from tengen.alphago.dataset import packed
from tengen.alphago.games import Lockstep, Policy
from tengen.alphago.networks import import_net, new_network
from tengen.alphago.reinforce import player_of
from tengen.alphago.stage import Arrays, Boards, Learner, Metrics, StageTraining
from tengen.knowledge.go_planes import PLANES
from tengen.learn.run import RunError
from tengen.learn.run import packed as as_safetensors
from tengen.rules.contract import DRAW, ONGOING
from tengen.rules.game import Game


class ValueSamples(NamedTuple):
    """Positions, one a game, and how their games ended."""

    planes: np.ndarray  # [games, 27, bytes]: packed
    values: np.ndarray  # [games]: for the player to move

    @staticmethod
    def join(parts: list[ValueSamples]) -> ValueSamples:
        return ValueSamples(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def play_samples(game: Game, policy: Policy, times: np.ndarray, seed: int, longest: int) -> ValueSamples:
    """Plays a game for each ply in `times` [games], of a random move; games that end before it are lost."""
    table = Lockstep(game, np.zeros(len(times), np.uint8), seed, longest)
    table.randoms[:, 0], table.randoms[:, 1] = times, times + 1
    rows, planes, movers = [], [np.zeros((0, PLANES, (game.cells + 7) // 8), np.uint8)], []
    while len(going := np.flatnonzero(table.results == ONGOING)):
        now = table.states.ply[going] == times[going]
        table.step(going, policy)
        fresh = going[now]
        fresh = fresh[table.results[fresh] == ONGOING]
        rows.append(fresh)
        planes.append(packed(table.planes[fresh]))
        movers.append(table.states.to_play[fresh].astype(np.int8))
    table.workers.shutdown()
    ends, players = table.results[np.concatenate(rows)], np.concatenate(movers)
    values = np.where(ends == DRAW, 0, np.where(ends == players + 1, 1, -1)).astype(np.float32)
    return ValueSamples(np.concatenate(planes), values)


class ValueTraining(StageTraining):
    """Plays first, then learns."""

    kind = "value"
    start_net = "policy.onnx"  # the policy that plays
    start_setting, start_example = "policy.net", "runs/rl9"

    def prepare(self) -> None:
        own = self.settings.training
        model, metadata = import_net(self.run.folder / self.start_net, self.game)
        self.player = player_of(self.at_rest(model), self.game, self.device, metadata)
        model = new_network(self.game, self.metadata())
        self.learner = Learner(model, self.device, own.weight_decay, own.longest_gradient)

    def save(self) -> Arrays:
        return self.learner.save("value")

    def restore(self, arrays: Arrays) -> None:
        self.learner.restore("value", arrays)

    def model_to_write(self) -> nn.Module | None:
        return self.learner.model if self.steps else None

    def generation(self, number: int) -> Metrics:
        return self._play(number) if number <= self.settings.samples.generations else self._learn(number)

    def _shard(self, number: int) -> str:
        return f"data/{number:06}.safetensors"

    def _play(self, number: int) -> Metrics:
        """The positions of a generation's games, which are kept in a file."""
        self.watcher.doing("playing")
        own, began, parts = self.settings.samples, time.monotonic(), list[ValueSamples]()
        random = np.random.default_rng([self.settings.run.seed, number])
        for begin in range(0, own.games, own.at_once):
            times = random.integers(0, own.latest + 1, min(own.at_once, own.games - begin))
            parts.append(play_samples(self.game, self.player, times, int(random.integers(2**62)), own.longest))
            if self.is_stopped:
                return {}
        samples = ValueSamples.join(parts)
        self.run.keep(self._shard(number), as_safetensors(samples._asdict()))
        self.counters.games += own.games
        self.counters.positions += len(samples.values)
        seconds = time.monotonic() - began
        return {"samples": len(samples.values), "games_per_second": own.games / seconds}

    def _load(self) -> None:
        """Reads all samples, and holds out a random share of the games."""
        parts = []
        for number in range(1, self.settings.samples.generations + 1):
            try:
                parts.append(ValueSamples(**load(self.run.read(self._shard(number)))))
            except Exception as reason:  # safetensors has errors of its own
                raise RunError(f"its samples cannot be read ({reason}): begin a new run") from reason
        samples = ValueSamples.join(parts)
        random = np.random.default_rng(self.settings.run.seed)
        is_held_out = random.random(len(samples.values)) < self.settings.samples.held_out
        self.boards = Boards(self.game, samples.planes[~is_held_out], self.device)
        self.values = torch.as_tensor(samples.values[~is_held_out], device=self.device)
        self.held_out = Boards(self.game, samples.planes[is_held_out], self.device)
        self.held_out_values = torch.as_tensor(samples.values[is_held_out], device=self.device)
        if not len(self.values) or not len(self.held_out_values):
            raise RunError(f"{self.run.folder} has too few samples; set samples.games higher in a new run")
        self.watcher.say(f"{len(self.values):,} positions to learn from, {len(self.held_out_values):,} held out")

    def _learn(self, number: int) -> Metrics:
        def measure(guesses: torch.Tensor, chosen: torch.Tensor, turns: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return (functional.mse_loss(guesses, self.values[chosen]),)

        if not hasattr(self, "boards"):
            self._load()
        played = self.settings.samples.generations
        done = (number - 1 - played) / (self.settings.run.generations - played)
        means, metrics = self.learn(number, done, measure)
        return {**self.errors(), **metrics, "loss": {"value": means[0]}} if means else {}

    def errors(self) -> Metrics:
        """The mean squared error on held-out games, and that of always saying the mean of the others."""
        total = 0.0
        for chosen, guesses in self.answers(self.held_out, torch.arange(len(self.held_out), device=self.device)):
            total += float((guesses - self.held_out_values[chosen]).square().sum())
        mean = float((self.held_out_values - self.values.mean()).square().mean())
        error = total / len(self.held_out)
        return {"held_out_error": error, "mean_error": mean, "saved": 1 - error / mean}
