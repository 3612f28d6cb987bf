"""What the three stages share: a run folder that survives a kill, a loop of generations, weights to and from arrays.

The folder is that of every other run (`learn/run.py`): settings, a line of metrics a generation, checkpoints, nets and
a report. What chance decides comes from the run's seed and the number of the generation.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from tengen.alphago.dataset import PLANES
from tengen.alphago.networks import export_net
from tengen.alphago.report import write_report
from tengen.alphago.settings import PATHS, Stage, read_stage
from tengen.games import load_game
from tengen.learn import weights
from tengen.learn.events import EventFile
from tengen.learn.run import Arrays, Counters, Damaged, Run, RunError, net_name
from tengen.learn.training import Watcher, repeat
from tengen.nets.policy9 import PlaneNetMetadata
from tengen.rules.errors import BadParameter, TengenError
from tengen.rules.game import Game

Metrics = dict[str, Any]


class StageRun(Run):
    """A run folder of a stage; games are not kept in it."""

    settings: Any

    def _check_settings(self) -> None:
        """The settings of a run stay as they are, but for where files lie."""
        path = self.folder / "config.toml"
        if not path.exists():
            self._begin()
            return
        there = read_stage(type(self.settings), path)
        for table, keys in vars(there).items():
            for key, value in vars(keys).items():
                wanted = getattr(getattr(self.settings, table), key)
                if value != wanted and f"{table}.{key}" not in PATHS:
                    raise RunError(
                        f"{self.folder} was begun with {table}.{key} = {value}, not {wanted}; "
                        "give another folder with --run, or the settings that it was begun with"
                    )

    def save_arrays(self, counters: Counters, arrays: Arrays) -> None:
        """Saves a generation: what `newest` gives back."""
        self._seal(counters, self._write_state(counters, arrays))
        self._tidy(counters.generation)


class StageTraining:
    """A stage that is open: `go_on` until it is complete, or stopped."""

    kind = "policy"  # of the net that it trains

    def __init__(self, folder: Path, settings: Stage, watcher: Watcher, device: str = "cpu"):
        torch.set_num_threads(1)  # torch's own threads collapse when a core is busy
        watcher.doing("getting ready")
        self.run = StageRun(folder, settings, watcher.say)  # type: ignore[arg-type]
        self.settings: Any = self.run.settings
        self.game: Game = load_game(self.settings.run.game)
        self.watcher, self.device, self.is_stopped = watcher, torch.device(device), False
        torch.manual_seed(self.settings.run.seed)
        self.counters, self.steps = Counters(), 0
        try:
            self._open()
            self.events = EventFile(folder / "events", self.steps)
        except TengenError:
            self.run.abandon()
            raise

    def _open(self) -> None:
        """Gets ready, and goes on from the newest checkpoint if there is one."""
        self.prepare()
        found = self.run.newest()
        if found is None:
            self.begin()
            return
        self.counters, arrays = found
        self.steps = int(arrays["steps"])
        self.restore(arrays)
        self._check_net()
        self.watcher.say(f"going on after generation {self.counters.generation}")

    def _check_net(self) -> None:
        """The net of the newest generation is written again if it is not what was saved: its weights are."""
        try:
            if self.model_to_write() is not None:
                self.run.read(net_name(self.counters.generation))
        except Damaged as reason:
            self.watcher.say(f"{reason}: it is written again, from the weights of the checkpoint")
            self._write_net()

    def _write_net(self) -> None:
        """The net of a generation, for playing, if there is one yet."""
        if (model := self.model_to_write()) is not None:
            self.run.keep(net_name(self.counters.generation), export_net(model, self.game, self.metadata()))

    # What a stage does in its own way.

    def prepare(self) -> None:
        """Makes networks and reads data; the run may be new or not."""

    def begin(self) -> None:
        """What a new run does first."""

    def restore(self, arrays: Arrays) -> None:
        """Goes on where `save` was called."""

    def save(self) -> Arrays:
        """All that must outlive the process, but for the counters."""
        raise NotImplementedError

    def generation(self, number: int) -> Metrics:
        """Does the work of a generation, and says what was measured. When it is stopped, nothing of it is kept."""
        raise NotImplementedError

    def model_to_write(self) -> nn.Module | None:
        """The network whose net is written after the generation."""
        raise NotImplementedError

    # What they all do.

    def close(self) -> None:
        self.events.close()
        self.run.close()

    @property
    def is_complete(self) -> bool:
        return self.counters.generation >= self.settings.run.generations

    @property
    def done(self) -> float:
        """The share of the run that is done."""
        return self.counters.generation / self.settings.run.generations

    def go_on(self, seconds: float = float("inf")) -> None:
        """Generations until the run is complete, stopped, or the time is over."""
        repeat(self._generation, lambda: self.is_complete or self.is_stopped, seconds)
        if self.counters.generation:
            self.run.check_there()
            write_report(self.run.folder)

    def _generation(self) -> None:
        began, number = time.monotonic(), self.counters.generation + 1
        metrics = self.generation(number)
        if self.is_stopped:
            return
        if not all(math.isfinite(value) for value in metrics.get("loss", {}).values()):
            raise RunError(
                f"the loss is {metrics['loss']} in generation {number}, which is not saved: "
                "begin a new run with a lower training.learning_rate"
            )
        self.counters.generation = number
        self.counters.seconds += time.monotonic() - began
        names = ("generation", "seconds", "games", "positions")
        metrics = {**{name: getattr(self.counters, name) for name in names}, "step": self.steps, **metrics}
        self._write_net()
        self.run.add_metrics(metrics)
        self.run.save_arrays(self.counters, {**self.save(), "steps": np.array(self.steps)})
        if not self.is_kept(number - 1):
            self.run.drop(net_name(number - 1))
        self.events.add(self.steps, scalars(metrics))
        if number % 10 == 0:
            write_report(self.run.folder)
        self.watcher.show(metrics)

    def is_kept(self, number: int) -> bool:
        """Whether the net of a generation stays when there is a newer one."""
        return False

    def metadata(self) -> PlaneNetMetadata:
        """What is written into the net's file."""
        net, folder = self.settings.net, self.run.folder.name
        return PlaneNetMetadata(self.kind, self.game.spec, "go27", net.channels, net.layers, folder, self.steps)


def scalars(metrics: Metrics) -> dict[str, float]:
    """What TensorBoard draws: every number, by a name with a slash."""
    numbers = {f"run/{name}": value for name, value in metrics.items() if isinstance(value, int | float)}
    numbers |= {f"loss/{name}": value for name, value in metrics.get("loss", {}).items()}
    return numbers | {f"score/{match['opponent']}": match["rate"] for match in metrics.get("matches", [])}


class Learner:
    """A network and its optimiser, AdamW, which shrinks weights apart from the loss."""

    def __init__(self, model: nn.Module, device: torch.device, decay: float = 0.0, longest_gradient: float = 0.0):
        self.model: nn.Module = model.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.longest_gradient = longest_gradient
        self.optimiser = torch.optim.AdamW(weights.kinds_of_weights(model, decay), fused=device.type == "cuda")

    def step(self, loss: torch.Tensor, rate: float) -> None:
        """One step down the gradient of a loss."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        if self.longest_gradient:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.longest_gradient)
        self.optimiser.step()

    def save(self, name: str) -> Arrays:
        """Weights and the optimiser's numbers, as arrays by names that begin with `name`."""
        return weights.saved(self.model, self.optimiser, f"{name}.")

    def restore(self, name: str, arrays: Arrays) -> None:
        """Goes on where `save` was called."""
        weights.restore(self.model, self.optimiser, arrays, f"{name}.")


class Boards:
    """Positions on a device, a bit a point; drawn as planes, each under a symmetry of the board."""

    def __init__(self, game: Game, packed: np.ndarray, device: torch.device):
        self.game, self.packed = game, torch.as_tensor(packed, device=device)
        self.shifts = torch.arange(8, dtype=torch.uint8, device=device)
        self.sources = torch.as_tensor(np.argsort(game.symmetries, 1), device=device)
        self.actions = torch.as_tensor(game.action_symmetries, device=device)

    def __len__(self) -> int:
        return len(self.packed)

    def draw(self, count: int, random: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """So many positions, and a symmetry for each."""
        device = self.packed.device
        chosen = torch.randint(len(self.packed), (count,), device=device, generator=random)
        return chosen, torch.randint(len(self.sources), (count,), device=device, generator=random)

    def planes(self, chosen: torch.Tensor, turns: torch.Tensor | None = None) -> torch.Tensor:
        """The chosen positions [n], perhaps turned [n]: [n, 27, rows, columns], of floats."""
        bits = (self.packed[chosen].unsqueeze(3) >> self.shifts) & 1
        planes = bits.flatten(2)[:, :, : self.game.cells]
        if turns is not None:
            planes = planes.gather(2, self.sources[turns][:, None, :].expand(-1, PLANES, -1))
        return as_boards(planes, self.game)

    def turned(self, actions: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
        """Where the symmetries send actions."""
        return self.actions[turns, actions]


def as_boards(planes: torch.Tensor, game: Game) -> torch.Tensor:
    """Planes [n, 27, cells] as a network takes them."""
    return planes.view(len(planes), -1, *game.shape).to(torch.float32).contiguous(memory_format=torch.channels_last)


def mixed(device: torch.device) -> torch.autocast:
    """bfloat16 where that is safe, on a GPU; nothing elsewhere."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


def stage_device(name: str) -> str:
    """The device of a stage: games are played on the CPU's cores, networks on the GPU if there is one."""
    if name not in ("auto", "cpu", "cuda"):
        raise BadParameter(f"device {name!r} is unknown; choose from auto, cpu, cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise BadParameter("there is no CUDA device here; use --device cpu")
    return "cuda" if name != "cpu" and torch.cuda.is_available() else "cpu"
