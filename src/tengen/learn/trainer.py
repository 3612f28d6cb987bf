"""Steps of gradient descent on the replay: the papers' loss, (z − v)² − πᵀ log p + c·‖θ‖², each term by itself."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional

from tengen.learn import weights
from tengen.learn.replay import Replay, Samples
from tengen.learn.run import Arrays
from tengen.learn.settings import Settings
from tengen.learn.targets import NamedTarget, add_heads, foresee, load_targets
from tengen.nets.export import weights_of
from tengen.nets.layers import folded, unfold
from tengen.nets.networks import build_model
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game

GAMES, POSITIONS = 8, 512  # that are played, and looked at, to see what a net meets


class Trainer:
    """A model and its optimiser."""

    def __init__(self, game: Game, settings: Settings, workers: int = 1, device: str = "cpu"):
        torch.manual_seed(settings.run.seed)
        torch.set_num_threads(1)  # torch's own threads collapse when a core is busy; ours do not
        self.game, self.settings, self.device = game, settings.training, torch.device(device)
        self.targets = load_targets(settings.net.targets, game)
        names = [one.name for one in self.targets]
        self.terms = "value", "policy", *names, "entropy", "weights"  # entropy: the least that `policy` can be
        self.model = new_model(game, settings).to(self.device, memory_format=torch.channels_last)
        self.optimiser = new_optimiser(self.model, settings)
        others = min(workers, self.settings.batch) - 1
        self.replicas = [self.model, *(replica(self.model) for _ in range(others))]
        self.workers = ThreadPoolExecutor(len(self.replicas))
        self.steps = 0

    def train(
        self, replay: Replay, steps: int, rate: float, seed: list[int], is_stopped: Callable[[], bool]
    ) -> dict[str, float]:
        """Makes `steps` steps at the learning rate `rate`; returns the mean of each term of the loss."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        for model in self.replicas:
            model.train()
        terms = torch.zeros(len(self.terms))
        for samples in self._batches(replay, steps, seed):
            if is_stopped():
                break
            terms += self._step(samples)
            self.steps += 1
        return self._means(terms, steps)

    def _means(self, terms: torch.Tensor, steps: int) -> dict[str, float]:
        """The mean of each term, and of the loss."""
        means = dict(zip(self.terms, (terms / max(steps, 1)).tolist(), strict=True))
        return {"total": sum(means[name] for name in means if name != "entropy"), **means}

    def _batches(self, replay: Replay, steps: int, seed: list[int]) -> Iterator[Samples]:
        """Batches, each made while the step before is under way."""
        random = np.random.default_rng(seed)
        with ThreadPoolExecutor(1) as maker:
            waiting = maker.submit(replay.sample, self.settings.batch, random)
            for step in range(steps):
                samples = waiting.result()
                if step + 1 < steps:
                    waiting = maker.submit(replay.sample, self.settings.batch, random)
                yield samples

    def _step(self, samples: Samples) -> torch.Tensor:
        """One step; returns the terms of the loss. Each replica has its share of the batch, on its thread."""
        shares = samples.split(len(self.replicas))
        terms = torch.stack(list(self.workers.map(self._differentiate, self.replicas, shares))).mean(0)
        for weight, *others in zip(*(model.parameters() for model in self.replicas), strict=True):
            for other in others:
                weight.grad += other.grad
            weight.grad /= len(self.replicas)
        self.optimiser.step()
        weights = loss_of_weights(self.model, self.settings.weight_decay)
        return torch.cat([terms, weights.view(1).cpu()])

    def _differentiate(self, model: Any, samples: Samples) -> torch.Tensor:
        """The gradient of the loss on some samples, in the replica; the optimiser itself sees to the weights' term."""
        arrays = samples.planes, samples.policies, samples.values, *samples.targets
        planes, policies, values, *wanted = (torch.from_numpy(array).to(self.device) for array in arrays)
        board = planes.view(len(planes), -1, *self.game.shape).contiguous(memory_format=torch.channels_last)
        terms = loss_terms(self.answers(model, board), policies, values, self.targets, wanted)
        model.zero_grad()
        terms.sum().backward()
        entropy = -torch.xlogy(policies, policies).sum(1).mean()
        return torch.cat([terms.detach(), entropy.view(1)]).cpu()

    def answers(self, model: Any, board: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Logits, values, and the answers of the targets' heads."""
        return foresee(model, board)

    def save(self) -> Arrays:
        """The number of steps, the weights and the optimiser's state, as arrays by name."""
        return {"steps": np.array(self.steps), **weights.saved(self.model, self.optimiser)}

    def begin_with(self, arrays: Arrays, name: str) -> None:
        """Takes over weights of the same architecture, perhaps of another board; `name` is for errors."""
        with misfits_explained(name):
            self.model.load_state_dict({key: torch.from_numpy(array.copy()) for key, array in arrays.items()})

    def begin_with_net(self, net: bytes, name: str) -> None:
        """Takes over the weights in a net's file; norms are recovered from positions of games that its policy plays."""
        playing = folded(self.model).cpu()
        with misfits_explained(name):
            left = playing.load_state_dict(weights_of(onnx.load_from_string(net)), strict=False)
            missing = [key for key in left.missing_keys if not key.startswith("foreseen.")]
            if wrong := [*missing, *left.unexpected_keys]:
                raise RuntimeError(f"it differs in {', '.join(wrong)}")
        unfold(self.model, playing, typical_planes(self.game, playing))

    def restore(self, arrays: Arrays) -> None:
        """Takes over what `save` returned."""
        self.steps = int(arrays["steps"])
        weights.restore(self.model, self.optimiser, arrays)


@torch.no_grad()
def typical_planes(game: Game, playing: nn.Module, seed: int = 1) -> torch.Tensor:
    """Positions of games whose moves are drawn by a network's policy: [positions, planes, rows, columns]."""
    random, positions, seen = np.random.default_rng(seed), [game.start()] * GAMES, list[torch.Tensor]()
    for _ in range(game.cells):
        seen.append(torch.from_numpy(np.stack([position.encode() for position in positions])))
        chances = torch.softmax(playing(seen[-1])[0].double(), 1).numpy()
        for number, position in enumerate(positions):
            legal = position.legal_actions
            likely = chances[number, legal] + 1e-9
            after = position.play(int(random.choice(legal, p=likely / likely.sum())))
            positions[number] = after if after.outcome is None else game.start()
    return torch.cat(seen[:: -(-GAMES * game.cells // POSITIONS)])


@contextmanager
def misfits_explained(name: str) -> Iterator[None]:
    """Turns torch's error about weights that do not fit into one about `training.start`."""
    try:
        yield
    except RuntimeError as reason:
        wrong = str(reason).splitlines()[1].strip() if "\n" in str(reason) else str(reason)
        raise BadParameter(f"training.start={name}: its net is not of this form: {wrong}") from None


def loss_terms(
    answers: tuple[torch.Tensor, ...],
    policies: torch.Tensor,
    values: torch.Tensor,
    targets: list[NamedTarget],
    wanted: Sequence[torch.Tensor],
) -> torch.Tensor:
    """The terms of the loss except that of the weights: value, policy, and each target's times its weight."""
    logits, guesses, *others = answers
    value = functional.mse_loss(guesses.float(), values)
    policy = -(policies * functional.log_softmax(logits.float(), 1)).sum(1).mean()
    own = [
        target.weight * target.loss(said.float(), numbers)
        for (_, target), said, numbers in zip(targets, others, wanted, strict=True)
    ]
    return torch.stack([value, policy, *own])


def new_model(game: Game, settings: Settings) -> Any:
    """The network of a run, with fresh weights, and a head for each of its targets."""
    targets = load_targets(settings.net.targets, game)
    return add_heads(build_model(game, settings.architecture()), game, targets)


def replica(model: Any) -> Any:
    """A model that shares the memory of the weights and has its own gradients."""
    other = copy.deepcopy(model)
    for weight, same in zip(other.parameters(), model.parameters(), strict=True):
        weight.data = same.data
    return other


@torch.no_grad()
def loss_of_weights(model: nn.Module, decay: float) -> torch.Tensor:
    """c·‖θ‖²."""
    squares = [weight.square().sum() for weight in model.parameters() if weight.ndim > 1]
    return decay * torch.stack(squares).sum()


def new_optimiser(model: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """AdamW, which shrinks weights apart from the loss; or Adam with c·‖θ‖² in it."""
    training, is_adam = settings.training, settings.training.optimiser == "adam"
    decay = 2 * training.weight_decay if is_adam else training.weight_decay
    kinds = weights.kinds_of_weights(model, decay)
    is_cuda = next(model.parameters()).is_cuda
    how: dict[str, Any] = {"fused": True, "capturable": True} if is_cuda else {}
    return (torch.optim.Adam if is_adam else torch.optim.AdamW)(kinds, lr=training.learning_rate, **how)
