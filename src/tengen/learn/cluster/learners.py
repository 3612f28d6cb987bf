"""Several GPUs that learn together: each draws its share of every batch, and torch adds up their gradients.

The driver is the first of them; the others are actors. All hold the same weights, the same optimiser, the same games,
and so make the same step. One that dies takes the step with it: the run ends, and goes on from its last checkpoint.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
import ray
import torch
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from tengen.games import load_game
from tengen.learn.replay import Replay
from tengen.learn.run import RunError
from tengen.learn.selfplay import Games
from tengen.learn.settings import Settings
from tengen.learn.targets import NamedTarget, foresee
from tengen.learn.trainer import Trainer
from tengen.rules.game import Game

PATIENCE = timedelta(seconds=120)  # with a learner that does not answer


class HeldGpu(NamedTuple):
    """A GPU of the driver's machine that Ray gives to nobody else."""

    node: str
    holder: Any


class Holder:
    """Does nothing, on the GPU that the driver uses."""

    def number(self) -> int:
        return int(ray.get_gpu_ids()[0])


def hold_gpu() -> HeldGpu | None:
    """Takes the driver's GPU from Ray's books, if it stands there: no worker is to play on it."""
    node = ray.get_runtime_context().get_node_id()
    gpus = sum(one["Resources"].get("GPU", 0) for one in ray.nodes() if one["NodeID"] == node)
    if gpus < 1:
        return None
    where = NodeAffinitySchedulingStrategy(node, soft=False)
    holder: Any = ray.remote(Holder).options(num_cpus=0, num_gpus=1, scheduling_strategy=where).remote()
    torch.cuda.set_device(ray.get(holder.number.remote()))
    return HeldGpu(node, holder)


class Together(nn.Module):
    """A network as torch's data parallelism takes it: asked for all that it foresees, by being called."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, board: torch.Tensor) -> Any:
        return foresee(self.model, board)


class SharedNetwork(nn.Module):
    """A network whose gradients are the mean of all learners'."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.parallel = DistributedDataParallel(Together(model))

    def forward(self, board: torch.Tensor) -> Any:
        return self.parallel(board)


class SharedTrainer(Trainer):
    """A trainer that is one of several: it draws its share of each batch, from its own copy of the replay."""

    def __init__(self, game: Game, settings: Settings, rank: int, count: int, device: str):
        share = max(1, settings.training.batch // count)
        super().__init__(game, replace(settings, training=replace(settings.training, batch=share)), 1, device)
        self.rank = rank
        self.replicas = [SharedNetwork(self.model)]

    def answers(self, model: Any, board: torch.Tensor) -> Any:
        return model(board)

    def train(
        self, replay: Replay, steps: int, rate: float, seed: list[int], is_stopped: Callable[[], bool]
    ) -> dict[str, float]:
        """As `Trainer.train`, but for stopping: none may leave the others waiting for its gradients."""
        return super().train(replay, steps, rate, [*seed, self.rank], lambda: False)


def join(address: str, rank: int, count: int, device: str) -> None:
    """Joins this process to the other learners."""
    backend = "nccl" if device == "cuda" else "gloo"
    where = f"tcp://{address}"
    distributed.init_process_group(backend, init_method=where, rank=rank, world_size=count, timeout=PATIENCE)


class LearnerActor:
    """A learner beside the driver, as an actor: it does what the driver does, at the same time."""

    def __init__(self, spec: str, settings: Settings, address: str, rank: int, count: int, device: str):
        self.game = load_game(spec)
        join(address, rank, count, device)
        self.trainer = SharedTrainer(self.game, settings, rank, count, device)
        self.replay = Replay(self.game, self.trainer.targets)

    def node(self) -> str:
        return ray.get_runtime_context().get_node_id()

    def save(self) -> dict[str, np.ndarray]:
        return self.trainer.save()

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        self.trainer.restore(arrays)

    def add(self, generation: int, games: Games, window: int) -> None:
        self.replay.add(generation, Games(*(np.array(column) for column in games)), window)

    def train(self, steps: int, rate: float, seed: list[int]) -> None:
        self.trainer.train(self.replay, steps, rate, seed, lambda: False)


class FirstTrainer(SharedTrainer):
    """The driver's trainer, which passes every call on to the other learners."""

    def __init__(self, game: Game, settings: Settings, count: int, device: str, others: list[Any]):
        self.others = others
        super().__init__(game, settings, 0, count, device)

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        super().restore(arrays)
        ray.get([other.restore.remote(arrays) for other in self.others])

    def train(
        self, replay: Replay, steps: int, rate: float, seed: list[int], is_stopped: Callable[[], bool]
    ) -> dict[str, float]:
        under_way = [other.train.remote(steps, rate, seed) for other in self.others]
        try:
            terms = super().train(replay, steps, rate, seed, is_stopped)
            ray.get(under_way)
        except (RuntimeError, ray.exceptions.RayError) as reason:
            raise RunError(
                f"a learner was lost ({reason}): the same command goes on from the last checkpoint"
            ) from reason
        return terms


class FirstReplay(Replay):
    """The driver's replay, which sends all games to the other learners, too."""

    def __init__(self, game: Game, targets: list[NamedTarget], others: list[Any]):
        super().__init__(game, targets)
        self.others = others

    def add(self, generation: int, games: Games, window: int) -> None:
        self.send(generation, games, window)
        super().add(generation, games, window)

    def send(self, generation: int, games: Games, window: int) -> None:
        shared = ray.put(games)
        ray.get([other.add.remote(generation, shared, window) for other in self.others])


class Learners:
    """`count` learners; the first is this process."""

    def __init__(self, count: int):
        self.count, self.others = count, list[Any]()

    def begin(self, game: Game, settings: Settings, device: str) -> tuple[Trainer, Replay]:
        """Actors for all but the first, which is this process."""
        address = free_address()
        options = {"num_gpus": 1, "num_cpus": 0} if device == "cuda" else {"num_gpus": 0, "num_cpus": 0}
        actor = ray.remote(LearnerActor).options(max_restarts=0, **options)
        self.others = [
            actor.remote(game.spec, settings, address, rank, self.count, device) for rank in range(1, self.count)
        ]
        try:
            join(address, 0, self.count, device)
        except RuntimeError as reason:
            raise RunError(f"the learners did not meet at {address}: {reason}; try again") from reason
        trainer = FirstTrainer(game, settings, self.count, device, self.others)
        return trainer, FirstReplay(game, trainer.targets, self.others)

    def gpus(self) -> list[str]:
        """The machine of each learner that is an actor."""
        return ray.get([other.node.remote() for other in self.others])

    def show(self, replay: Replay) -> None:
        """Sends the other learners the games that the driver has found in its folder."""
        if isinstance(replay, FirstReplay):
            for generation, games in replay.generations.items():
                replay.send(generation, games, 10**12)

    def close(self) -> None:
        for other in self.others:
            ray.kill(other)
        if self.others:
            distributed.destroy_process_group()


def free_address() -> str:
    """Where learners meet: this machine, on a port that is free."""
    with socket.socket() as place:
        place.bind(("", 0))
        return f"{ray.util.get_node_ip_address()}:{place.getsockname()[1]}"
