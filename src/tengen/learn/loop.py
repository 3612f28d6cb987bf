"""The loop of every run: generations until it is complete, stopped, or out of time; each is measured and saved."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import torch

from tengen.arena.match import Score
from tengen.learn.events import EventFile
from tengen.learn.report import write_report
from tengen.learn.run import Arrays, Counters, Run, RunError, net_name
from tengen.learn.settings import Tables
from tengen.rules.errors import BadParameter, TengenError
from tengen.rules.game import Game

Metrics = dict[str, Any]  # a line of metrics.jsonl


class Watcher(Protocol):
    """Shows the progress of a run."""

    def say(self, text: str) -> None: ...

    def doing(self, what: str) -> None: ...

    def show(self, metrics: Metrics) -> None: ...


class RunLoop:
    """An open run: call `go_on` until the run is complete or stopped. Subclasses say what a generation is."""

    counted: tuple[str, ...] = ("generation", "seconds", "games", "positions")  # counters that are metrics

    def __init__(self, folder: Path, settings: Tables, game: Game, watcher: Watcher):
        self.run = Run(folder, settings, watcher.say)
        self.settings: Any = self.run.settings
        self.game, self.watcher, self.is_stopped, self.counters = game, watcher, False, Counters()
        try:
            self._open()
            self.events = EventFile(folder / "events", self.step)
        except TengenError:
            self.run.abandon()
            raise

    def _open(self) -> None:
        """Makes networks and reads data; goes on from the newest checkpoint if there is one."""
        raise NotImplementedError

    @property
    def step(self) -> int:
        """How many steps of training the run has made."""
        raise NotImplementedError

    def _generation(self) -> None:
        """Does a generation and saves it with `_finish`; nothing of a generation that is stopped is kept."""
        raise NotImplementedError

    def is_kept(self, generation: int) -> bool:
        """Whether the net of a generation stays when there is a newer one."""
        raise NotImplementedError

    def close(self) -> None:
        """Releases the run's folder: another process may open it."""
        self.events.close()
        self.run.close()

    @property
    def is_complete(self) -> bool:
        return self.counters.generation >= self.settings.run.generations

    def _stopped(self) -> bool:
        return self.is_stopped

    def go_on(self, seconds: float = float("inf")) -> None:
        """Does generations until the run is complete or stopped, or `seconds` are over."""
        repeat(self._generation, lambda: self.is_complete or self.is_stopped, seconds)
        if self.counters.generation:
            self.run.check_there()
            write_report(self.run.folder, self.game)

    def _check_losses(self, generation: int, losses: dict[str, float]) -> None:
        """Refuses to go on from a loss that is not a finite number."""
        for loss in losses.values():
            if not math.isfinite(loss):
                raise RunError(
                    f"the loss is {loss} in generation {generation}, which is not saved: "
                    "begin a new run with a lower training.learning_rate"
                )

    def _finish(
        self, metrics: Metrics, arrays: Arrays, is_reported: bool, games: Arrays | None = None, oldest: int = 0
    ) -> None:
        """Saves a generation (metrics first, since the checkpoint says how long they are) and shows its metrics."""
        generation = self.counters.generation
        counts = {name: getattr(self.counters, name) for name in self.counted}
        metrics = {**counts, "step": self.step, **metrics}
        self.run.add_metrics(metrics)
        self.run.save(self.counters, arrays, games, oldest)
        if not self.is_kept(generation - 1):
            self.run.drop(net_name(generation - 1))
        self.events.add(self.step, scalars(metrics))
        if is_reported:
            write_report(self.run.folder, self.game)
        self.watcher.show(metrics)


def repeat(generation: Callable[[], None], is_over: Callable[[], bool], seconds: float) -> None:
    """Calls `generation` until `is_over()`, or until `seconds` are over.

    One more generation begins if half of it still fits into the time, judged by the last one.
    """
    end, took = time.monotonic() + seconds, 0.0
    while not is_over() and (began := time.monotonic()) + took / 2 < end:
        generation()
        took = time.monotonic() - began


def result_of(opponent: str, score: Score) -> Metrics:
    """A match against `opponent` as an entry of the metrics."""
    low, high = score.interval()
    counts = {"wins": score.wins, "draws": score.draws, "losses": score.losses}
    return {"opponent": opponent, **counts, "rate": score.rate, "low": low, "high": high}


def scalars(metrics: Metrics) -> dict[str, float]:
    """The numbers of a line of metrics that TensorBoard draws, by tag: `loss/value`."""
    numbers = {f"run/{name}": value for name, value in metrics.items() if isinstance(value, int | float)}
    numbers |= {f"loss/{name}": value for name, value in metrics.get("loss", {}).items()}
    first = metrics.get("matches", [])[:1]
    return numbers | {f"score/{match['opponent']}": match["rate"] for match in first}


def device_of(name: str, has_kernels: bool = True) -> str:
    """The device to train on, "cpu" or "cuda"; `auto` is the GPU if there is one.

    A run that also plays on the GPU (`has_kernels`) needs numba-cuda for it.
    """
    if name not in ("auto", "cpu", "cuda"):
        raise BadParameter(f"device {name!r} is unknown; choose from auto, cpu, cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise BadParameter("there is no CUDA device here; use --device cpu")
    if name == "cpu" or not torch.cuda.is_available():
        return "cpu"
    if has_kernels and find_spec("numba_cuda") is None:
        if name == "cuda":
            raise BadParameter("self-play on a GPU needs numba-cuda: pip install 'tengen[cuda]'")
        return "cpu"
    return "cuda"
