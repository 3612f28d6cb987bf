"""`rl9`: a policy that plays earlier versions of itself, and learns from who won.

REINFORCE: a move becomes likelier by how its game ended. With training.method = "plain" that is all, as in the 9×9
paper's algorithm 1, and about as unstable as there.

By default it is kept stable. A generation plays many games against one opponent of the pool, half of them with each
colour. What a move is worth is how its game ended less what a second network, the baseline, expected of the position.
Updates are clipped: no move's chance is changed by more than a share in one generation. Entropy is rewarded and the
distance from the supervised policy has a price, both a little.

Norms stay as the records left them. Every few generations the policy plays a match against the supervised one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from tengen.alphago.games import Lockstep, Policy, both_seats, play_match
from tengen.alphago.networks import ValueNetwork, export_net, import_net
from tengen.alphago.stage import AT_ONCE, Arrays, Boards, Learner, Metrics, StageTraining, as_boards, mixed
from tengen.knowledge.go_planes import EYE, LARGE_SELF_ATARI, LIBERTIES_AFTER, PLANES
from tengen.learn.loop import result_of
from tengen.learn.run import Damaged, net_name
from tengen.learn.settings import cosine
from tengen.nets.policy9 import PlaneNetMetadata, PolicyNet
from tengen.rules.contract import FIRST
from tengen.rules.game import Game

NEVER = -1e9  # the logit of a move that is not played
SUPERVISED = "the supervised policy"


class Experience(NamedTuple):
    """A generation's games, position by position."""

    actions: torch.Tensor  # [n]
    values: torch.Tensor  # [n]: how the game ended for the player to move
    advantages: torch.Tensor  # [n]: the value less the baseline, scaled
    log_chances: torch.Tensor  # [n]: of the actions when they were played


class ReinforceTraining(StageTraining):
    """Learns to win, from the policy of records on."""

    start_net = net_name(0)
    start_setting, start_example = "policy.start", "runs/sl9"

    def prepare(self) -> None:
        own, first = self.settings.training, self.run.net_path(0)
        model, self.first_metadata = import_net(first, self.game)
        self.reference = self.at_rest(import_net(first, self.game)[0])
        self.learner = Learner(model.eval(), self.device, longest_gradient=own.longest_gradient)
        small = ValueNetwork(PLANES, self.game.shape, own.baseline_channels, own.baseline_layers)
        self.baseline = Learner(small, self.device, longest_gradient=own.longest_gradient)

    def save(self) -> Arrays:
        return {**self.learner.save("policy"), **self.baseline.save("baseline")}

    def restore(self, arrays: Arrays) -> None:
        self.learner.restore("policy", arrays)
        self.baseline.restore("baseline", arrays)

    def model_to_write(self) -> nn.Module:
        return self.learner.model

    def metadata(self) -> PlaneNetMetadata:
        return replace(self.first_metadata, run=self.run.folder.name, step=self.steps)

    def is_kept(self, generation: int) -> bool:
        return generation % self.settings.pool.every == 0

    def pool(self) -> list[int]:
        """The generations whose nets are opponents: the first, and the newest of those that were kept.

        Other nets are deleted. One that is missing, in a folder that was moved without it, is no opponent.
        """
        kept = [number for number in range(1, self.counters.generation + 1) if self.is_kept(number)]
        newest = kept[max(0, len(kept) - self.settings.pool.most + 1) :]
        for number in set(kept) - set(newest):
            self.run.drop(net_name(number))
        return [0, *filter(self._is_whole, newest)]

    def _is_whole(self, number: int) -> bool:
        """Whether the net of an opponent is what was saved; one that is not is deleted, with a message."""
        if not self.run.net_path(number).exists():
            return False
        try:
            self.run.read(net_name(number))
        except Damaged as reason:
            self.watcher.say(f"{reason}: generation {number} is no opponent any more")
            self.run.drop(net_name(number))
            return False
        return True

    def generation(self, number: int) -> Metrics:
        random = np.random.default_rng([self.settings.run.seed, number])
        opponent, order = int(random.choice(self.pool())), self.order_of(number)
        other = self._player(self.at_rest(import_net(self.run.net_path(opponent), self.game)[0]))
        rounds: list[Metrics] = []
        while len(rounds) < self.settings.play.rounds:
            rounds.append(self._round(other, random, order))
            if self.is_stopped:
                return {}
        metrics = {**mean_of(rounds), "opponent": opponent}
        if number % self.settings.evaluation.every == 0 or number == self.settings.run.generations:
            metrics["matches"] = [self._match(number)]
        return metrics

    def _round(self, other: Policy, random: np.random.Generator, order: torch.Generator) -> Metrics:
        """Games against another policy, and what is learned from them."""
        began, own = time.monotonic(), self.settings.play
        self.watcher.doing("playing")
        table = Lockstep(self.game, both_seats(own.games), int(random.integers(2**62)), own.longest, own.temperature)
        table.randoms[:, 1] = random.integers(0, own.opening + 1, own.games)
        moves = table.play((self._player(self.learner.model), other), self._stopped, keep=True)
        if self.is_stopped:
            return {}
        played = time.monotonic() - began
        self.watcher.doing("learning")
        rows = np.concatenate([part.rows for part in moves])
        boards = Boards(self.game, np.concatenate([part.planes for part in moves]), self.device)
        actions, values = np.concatenate([part.actions for part in moves]), table.values()
        experience, explained = self._experience(boards, actions, values[rows])
        measured = self._learn(boards, experience, order)
        self.counters.games += own.games
        self.counters.positions += len(actions)
        return {
            **measured,
            **explained,
            "score": float((values.mean() + 1) / 2),
            "first_wins": float((table.results == FIRST).mean()),
            "plies": float(table.states.ply.mean()),
            "positions_per_second": 2 * len(actions) / played,
        }

    def _player(self, model: nn.Module) -> Policy:
        return player_of(model, self.game, self.device, self.metadata())

    def _experience(self, boards: Boards, actions: np.ndarray, values: np.ndarray) -> tuple[Experience, Metrics]:
        """The games as experience, and the share of the results' variance that the baseline explained before."""
        chosen = torch.as_tensor(actions, device=self.device)
        ends = torch.as_tensor(values, device=self.device)
        if self.settings.is_plain:
            return Experience(chosen, ends, ends, torch.zeros_like(ends)), {}
        expected, chances = torch.zeros_like(ends), torch.zeros_like(ends)
        self.baseline.model.eval()
        with torch.no_grad():
            for part in torch.arange(len(boards), device=self.device).split(AT_ONCE):
                planes = boards.planes(part)
                expected[part] = self._evaluate(self.baseline.model, planes)
                chances[part] = log_policy(self._evaluate(self.learner.model, planes), planes).gather(
                    1, chosen[part, None]
                )[:, 0]
        left = ends - expected
        explained = 1 - float(left.var() / ends.var().clamp_min(1e-6))
        scaled = (left - left.mean()) / left.std().clamp_min(1e-3)
        return Experience(chosen, ends, scaled, chances), {"explained": explained}

    def _evaluate(self, model: nn.Module, planes: torch.Tensor) -> torch.Tensor:
        with mixed(self.device):
            return model(planes).float()

    def _learn(self, boards: Boards, experience: Experience, random: torch.Generator) -> Metrics:
        """Epochs over the positions in a random order."""
        own = self.settings.training
        rate = cosine(own.learning_rate, self.done)
        totals, count = torch.zeros(5, device=self.device), 0
        self.baseline.model.train()
        for _ in range(own.epochs):
            order = torch.randperm(len(boards), device=self.device, generator=random)
            for part in order.split(own.batch):
                if self.is_stopped:
                    return {}
                if len(part) < min(own.batch, len(order)) // 2:  # a remnant would be a step as large as others
                    continue
                totals += self._step(boards.planes(part), Experience(*(column[part] for column in experience)), rate)
                count += 1
                self.steps += 1
        gain, error, entropy, distance, clipped = (totals / max(count, 1)).tolist()
        measured = {"entropy": entropy, "distance": distance, "learning_rate": rate}
        if self.settings.is_plain:
            return {**measured, "loss": {"policy": -gain}}
        return {**measured, "clipped": clipped, "loss": {"policy": -gain, "baseline": error}}

    def _step(self, planes: torch.Tensor, experience: Experience, rate: float) -> torch.Tensor:
        """One step of the policy, one of the baseline; gain, baseline's error, entropy, distance, share clipped."""
        own = self.settings.training
        logs = log_policy(self._evaluate(self.learner.model, planes), planes)
        with torch.no_grad():
            supervised = log_policy(self._evaluate(self.reference, planes), planes)
        chances, played = logs.exp(), logs.gather(1, experience.actions[:, None])[:, 0]
        entropy = -(chances * logs).sum(1).mean()
        distance = (chances * (logs - supervised)).sum(1).mean()
        if self.settings.is_plain:
            gain = (played * experience.advantages).mean()
            self.learner.step(-gain, rate)
            nothing = torch.zeros_like(gain)
            return torch.stack([gain, nothing, entropy, distance, nothing]).detach()
        change = (played - experience.log_chances).exp()
        bounded = change.clamp(1 - own.clip, 1 + own.clip)
        gain = torch.minimum(change * experience.advantages, bounded * experience.advantages).mean()
        self.learner.step(own.distance * distance - gain - own.entropy * entropy, rate)
        error = functional.mse_loss(self._evaluate(self.baseline.model, planes), experience.values)
        self.baseline.step(error, own.baseline_rate)
        clipped = (change != bounded).float().mean()
        return torch.stack([gain, error, entropy, distance, clipped]).detach()

    def _match(self, number: int) -> Metrics:
        """The policy against the supervised one."""
        self.watcher.doing("evaluation")
        policies = (self._player(self.learner.model), self._player(self.reference))
        seed = self.settings.run.seed * 10**9 + number * 10**5
        own = self.settings.evaluation
        score = play_match(self.game, policies, own.games, seed, self.settings.play.longest, self._stopped)
        return result_of(SUPERVISED, score)


def mean_of(rounds: Sequence[Metrics]) -> Metrics:
    """What was measured in each of several rounds, on average."""
    return {
        name: mean_of([one[name] for one in rounds]) if isinstance(value, dict) else fmean(one[name] for one in rounds)
        for name, value in rounds[0].items()
    }


def log_policy(logits: torch.Tensor, planes: torch.Tensor) -> torch.Tensor:
    """Logarithms of the chances with which `games.draw_move` draws each move; very low where it never does."""
    legal = (planes[:, LIBERTIES_AFTER:LARGE_SELF_ATARI].sum(1) > 0) & (planes[:, EYE] == 0)
    is_passing = torch.ones((len(planes), 1), dtype=torch.bool, device=planes.device)
    allowed = torch.cat([legal.flatten(1), is_passing], 1)
    return functional.log_softmax(torch.where(allowed, logits, torch.full_like(logits, NEVER)), 1)


def player_of(model: nn.Module, game: Game, device: torch.device, metadata: PlaneNetMetadata) -> Policy:
    """A network as a policy of games: on a CPU through ONNX Runtime, which is quicker there than torch."""
    if device.type == "cpu":
        return in_parts(PolicyNet(export_net(model, game, metadata)))

    def evaluate(planes: np.ndarray) -> np.ndarray:
        shown = torch.from_numpy(planes).to(device, non_blocking=True)
        with torch.inference_mode(), mixed(device):
            return model(as_boards(shown, game)).float().cpu().numpy()

    return in_parts(evaluate)


def in_parts(policy: Callable[[np.ndarray], np.ndarray]) -> Policy:
    """The policy, evaluated for at most AT_ONCE positions at a time."""

    def evaluate(planes: np.ndarray) -> np.ndarray:
        if len(planes) <= AT_ONCE:
            return policy(planes)
        return np.concatenate([policy(planes[at : at + AT_ONCE]) for at in range(0, len(planes), AT_ONCE)])

    return evaluate
