"""What the three stages share: the loop of a run, nets in the run's folder, networks that learn, boards on a device.

Randomness comes from the run's seed and the number of the generation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from tengen.alphago.dataset import PLANES
from tengen.alphago.networks import export_net
from tengen.alphago.settings import Stage
from tengen.games import load_game
from tengen.learn import weights
from tengen.learn.loop import Metrics, RunLoop, Watcher
from tengen.learn.run import Arrays, Damaged, RunError, net_name
from tengen.learn.settings import cosine
from tengen.nets.metadata import NetError
from tengen.nets.policy9 import PlaneNetMetadata, PolicyNet, find_plane_net
from tengen.nets.runtime import read_net
from tengen.rules.game import Game

AT_ONCE = 8192  # positions that a network evaluates at once
Measure = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], tuple[torch.Tensor, ...]]  # see `learn`


class StageTraining(RunLoop):
    """An open run of a stage."""

    kind = "policy"  # of the net that it trains
    start_net = ""  # the file in the run's folder with the policy that the stage starts from, if it needs one
    start_setting, start_example = "", ""  # the setting that names this policy, and a value to suggest
    learner: Learner
    boards: Boards  # the positions to learn from

    def __init__(self, folder: Path, settings: Stage, watcher: Watcher, device: str = "cpu"):
        torch.set_num_threads(1)  # torch's own threads collapse when a core is busy
        watcher.doing("getting ready")
        self.device, self.steps = torch.device(device), 0
        own: Any = settings
        torch.manual_seed(own.run.seed)
        super().__init__(folder, settings, load_game(own.run.game), watcher)

    @property
    def step(self) -> int:
        return self.steps

    def _open(self) -> None:
        if self.start_net:
            self._keep_start()
        self.prepare()
        found = self.run.newest()
        if self.start_net:  # in a new run its hash is known from now on
            self._check_start(lambda: self.run.read(self.start_net))
        if found is None:
            return
        self.counters, arrays = found
        self.steps = int(arrays["steps"])
        self.restore(arrays)
        self._check_net()
        self.watcher.say(f"going on after generation {self.counters.generation}")

    def _keep_start(self) -> None:
        """Copies the policy to start from into the folder of a new run."""
        path, (table, _, key) = self.run.folder / self.start_net, self.start_setting.partition(".")
        if not path.exists():
            source = getattr(getattr(self.settings, table), key)
            if not source:
                raise NetError(f"no policy to start from is given: --set {self.start_setting}={self.start_example}")
            self.run.keep(self.start_net, read_net(find_plane_net(source)))
        self._check_start(lambda: PolicyNet(path).check_for(self.game))

    def _check_start(self, check: Callable[[], object]) -> None:
        """Says what to do if `check` finds that the policy of the run is not as it was."""
        try:
            check()
        except (NetError, Damaged) as reason:
            raise RunError(f"{reason}: put the policy back that the run began from ({self.start_setting})") from reason

    def _check_net(self) -> None:
        """Writes the net of the newest generation again, from the weights of the checkpoint, if it is damaged."""
        try:
            if self.model_to_write() is not None:
                self.run.read(net_name(self.counters.generation))
        except Damaged as reason:
            self.watcher.say(f"{reason}: it is written again, from the weights of the checkpoint")
            self._write_net()

    def _write_net(self) -> None:
        """Writes the net of the newest generation, if there is one yet."""
        if (model := self.model_to_write()) is not None:
            self.run.keep(net_name(self.counters.generation), export_net(model, self.game, self.metadata()))

    # What differs between stages.

    def prepare(self) -> None:
        """Makes networks and reads data, for a new run and for one that is resumed."""

    def restore(self, arrays: Arrays) -> None:
        """Takes over what `save` returned."""

    def save(self) -> Arrays:
        """The weights and all else, except the counters, that a checkpoint must hold."""
        raise NotImplementedError

    def generation(self, number: int) -> Metrics:
        """Does the work of a generation and returns its metrics; if it was stopped, they are not used."""
        raise NotImplementedError

    def model_to_write(self) -> nn.Module | None:
        """The network to write as the generation's net."""
        raise NotImplementedError

    # What is the same in all.

    @property
    def done(self) -> float:
        """The share of the run that is done."""
        return self.counters.generation / self.settings.run.generations

    def _generation(self) -> None:
        began, number = time.monotonic(), self.counters.generation + 1
        metrics = self.generation(number)
        if self.is_stopped:
            return
        self._check_losses(number, metrics.get("loss", {}))
        self.counters.generation = number
        self.counters.seconds += time.monotonic() - began
        self._write_net()
        self._finish(metrics, {**self.save(), "steps": np.array(self.steps)}, number % 10 == 0)

    def is_kept(self, generation: int) -> bool:
        return False

    def metadata(self) -> PlaneNetMetadata:
        """The metadata of the net that is written."""
        net, folder = self.settings.net, self.run.folder.name
        return PlaneNetMetadata(self.kind, self.game.spec, "go27", net.channels, net.layers, folder, self.steps)

    def order_of(self, number: int) -> torch.Generator:
        """The random numbers by which generation `number` draws positions."""
        return torch.Generator(self.device.type).manual_seed(1000 * self.settings.run.seed + number)

    def at_rest(self, model: nn.Module) -> nn.Module:
        """The network on the run's device, for playing only."""
        model = model.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        return model.eval().requires_grad_(False)

    def learn(self, number: int, done: float, measure: Measure) -> tuple[list[float], Metrics]:
        """Makes the steps of generation `number`, with the learning rate after the share `done` of the training.

        `measure` gets the network's answers, the positions and their symmetries; of the tensors that it returns the
        first is the loss. Returns the mean of each, and the metrics of learning; nothing if the run is stopped.
        """
        self.watcher.doing("learning")
        own, began, totals = self.settings.training, time.monotonic(), list[Any]()
        random, rate = self.order_of(number), cosine(own.learning_rate, done)
        self.learner.model.train()
        for _ in range(own.steps):
            if self.is_stopped:
                return [], {}
            chosen, turns = self.boards.draw(own.batch, random)
            with mixed(self.device):
                answers = self.learner.model(self.boards.planes(chosen, turns))
            measured = measure(answers.float(), chosen, turns)
            self.learner.step(measured[0], rate)
            sums = totals or [0] * len(measured)
            totals = [total + one.detach() for total, one in zip(sums, measured, strict=True)]
            self.steps += 1
        seconds = (time.monotonic() - began) / own.steps
        return [float(total) / own.steps for total in totals], {"learning_rate": rate, "seconds_per_step": seconds}

    @torch.no_grad()
    def answers(self, boards: Boards, chosen: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """The chosen positions [n] in parts, each with the network's answers."""
        self.learner.model.eval()
        for part in chosen.split(AT_ONCE):
            with mixed(self.device):
                answers = self.learner.model(boards.planes(part)).float()
            yield part, answers


class Learner:
    """A network and its optimiser, AdamW, which shrinks weights apart from the loss."""

    def __init__(self, model: nn.Module, device: torch.device, decay: float = 0.0, longest_gradient: float = 0.0):
        self.model: nn.Module = model.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.longest_gradient = longest_gradient
        self.optimiser = torch.optim.AdamW(weights.kinds_of_weights(model, decay), fused=device.type == "cuda")

    def step(self, loss: torch.Tensor, rate: float) -> None:
        """One step down the gradient of `loss`, at the learning rate `rate`."""
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
        """Takes over what `save` returned under the same name."""
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
        """`count` random positions, by number [count], and a random symmetry for each [count]."""
        device = self.packed.device
        chosen = torch.randint(len(self.packed), (count,), device=device, generator=random)
        return chosen, torch.randint(len(self.sources), (count,), device=device, generator=random)

    def planes(self, chosen: torch.Tensor, turns: torch.Tensor | None = None) -> torch.Tensor:
        """The planes of the chosen positions [n], under the symmetries `turns` [n]: floats [n, 27, rows, columns]."""
        bits = (self.packed[chosen].unsqueeze(3) >> self.shifts) & 1
        planes = bits.flatten(2)[:, :, : self.game.cells]
        if turns is not None:
            planes = planes.gather(2, self.sources[turns][:, None, :].expand(-1, PLANES, -1))
        return as_boards(planes, self.game)

    def turned(self, actions: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
        """Where the symmetries `turns` [n] send `actions` [n]."""
        return self.actions[turns, actions]


def as_boards(planes: torch.Tensor, game: Game) -> torch.Tensor:
    """Planes [n, 27, cells] as a network takes them."""
    return planes.view(len(planes), -1, *game.shape).to(torch.float32).contiguous(memory_format=torch.channels_last)


def mixed(device: torch.device) -> torch.autocast:
    """bfloat16 where that is safe, on a GPU; nothing elsewhere."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")
