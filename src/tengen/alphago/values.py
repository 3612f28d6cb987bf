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
from tengen.alphago.settings import cosine
from tengen.alphago.stage import Arrays, Boards, Learner, Metrics, StageTraining, mixed
from tengen.knowledge.go_planes import PLANES
from tengen.learn.run import Damaged, RunError
from tengen.learn.run import packed as as_safetensors
from tengen.nets.metadata import NetError
from tengen.nets.policy9 import PolicyNet, find_plane_net
from tengen.nets.runtime import read_net
from tengen.rules.contract import DRAW, ONGOING
from tengen.rules.game import Game

POLICY = "policy.onnx"  # in the folder of a run: who plays
AT_ONCE = 8192  # held-out positions


class ValueSamples(NamedTuple):
    """Positions, one a game, and how their games ended."""

    planes: np.ndarray  # [games, 27, bytes]: packed
    values: np.ndarray  # [games]: for the player to move

    @staticmethod
    def join(parts: list[ValueSamples]) -> ValueSamples:
        return ValueSamples(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def play_samples(game: Game, policy: Policy, times: np.ndarray, seed: int, longest: int) -> ValueSamples:
    """Plays a game for each of the times [games] at which a random move is made; games that end before it are lost."""
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

    def prepare(self) -> None:
        own, path = self.settings.training, self.run.folder / POLICY
        if not path.exists():
            if not self.settings.policy.net:
                raise NetError("nothing says which policy plays: --set policy.net=runs/rl9")
            self.run.keep(POLICY, read_net(find_plane_net(self.settings.policy.net)))
        PolicyNet(path).check_for(self.game)
        model, metadata = import_net(path, self.game)
        model = model.to(self.device, memory_format=torch.channels_last).eval()  # type: ignore[call-overload]
        self.player = player_of(model, self.game, self.device, metadata)
        model = new_network(self.game, self.metadata())
        self.learner = Learner(model, self.device, own.weight_decay, own.longest_gradient)
        self.boards: Boards | None = None

    def begin(self) -> None:
        self.run.read(POLICY)  # from now on its hash is known

    def save(self) -> Arrays:
        return self.learner.save("value")

    def restore(self, arrays: Arrays) -> None:
        try:
            self.run.read(POLICY)
        except Damaged as reason:
            raise RunError(f"{reason}: put the policy back that the run began with (policy.net)") from reason
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
        """Reads all samples, and holds some games out: every so-manieth."""
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
        if self.boards is None:
            self._load()
        assert self.boards is not None
        self.watcher.doing("learning")
        own, began = self.settings.training, time.monotonic()
        played = self.settings.samples.generations
        rate = cosine(own.learning_rate, (number - 1 - played) / (self.settings.run.generations - played))
        random = torch.Generator(self.device.type).manual_seed(1000 * self.settings.run.seed + number)
        total = torch.zeros((), device=self.device)
        self.learner.model.train()
        for _ in range(own.steps):
            if self.is_stopped:
                return {}
            chosen, turns = self.boards.draw(own.batch, random)
            with mixed(self.device):
                guesses = self.learner.model(self.boards.planes(chosen, turns))
            loss = functional.mse_loss(guesses.float(), self.values[chosen])
            self.learner.step(loss, rate)
            total += loss.detach()
            self.steps += 1
        return {
            **self.errors(),
            "learning_rate": rate,
            "seconds_per_step": (time.monotonic() - began) / own.steps,
            "loss": {"value": float(total) / own.steps},
        }

    @torch.no_grad()
    def errors(self) -> Metrics:
        """The mean squared error on held-out games, and that of always saying the mean of the others."""
        self.learner.model.eval()
        total = 0.0
        for chosen in torch.arange(len(self.held_out), device=self.device).split(AT_ONCE):
            with mixed(self.device):
                guesses = self.learner.model(self.held_out.planes(chosen)).float()
            total += float((guesses - self.held_out_values[chosen]).square().sum())
        mean = float((self.held_out_values - self.values.mean()).square().mean())
        error = total / len(self.held_out)
        return {"held_out_error": error, "mean_error": mean, "saved": 1 - error / mean}
