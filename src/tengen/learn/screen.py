"""A training run on the screen: a table that is kept up to date, or lines where there is no terminal."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from tengen.arena.report import signed
from tengen.learn.settings import Settings


class Screen:
    """Shows how a run goes on: a table that is kept up to date, or lines where there is no terminal."""

    def __init__(self, settings: Settings, folder: Path, seconds: float = float("inf")):
        self.settings, self.folder, self.end = settings, folder, time.monotonic() + seconds
        self.console, self.live = Console(), None if not sys.stdout.isatty() else Live(refresh_per_second=4)
        self.metrics: dict[str, Any] = {}
        self.evaluated: dict[str, Any] = {}  # the metrics of the last generation that was evaluated
        self.activity = ""

    def say(self, text: str) -> None:
        (self.live.console if self.live else self.console).print(text, highlight=False, markup=False, soft_wrap=True)

    def doing(self, what: str) -> None:
        self.activity = what
        self._refresh()

    def show(self, metrics: dict[str, Any]) -> None:
        self.metrics = metrics
        if "matches" in metrics:
            self.evaluated = metrics
        self._refresh()
        if self.live is None:
            print("; ".join(f"{name} {value}" for name, value in self.lines() if value), flush=True)

    def _refresh(self) -> None:
        if self.live is not None:
            table = Table(show_header=False, title=f"{self.settings.run.game} · {self.folder}", title_justify="left")
            for name, value in self.lines():
                table.add_row(name, value)
            self.live.update(table)

    def lines(self) -> list[tuple[str, str]]:
        """What a person wants to know, each with its name."""
        now, last = self.metrics, self.settings.run.generations
        if not now:
            return [("now", self.activity)]
        loss = now["loss"]
        terms = " + ".join(f"{name} {loss[name]:.3f}" for name in loss if name not in ("total", "entropy"))
        lines = [
            ("generation", f"{now['generation']} of {last}" + (f", now {self.activity}" if self.live else "")),
            ("games", f"{now['games']:,} with {now['positions']:,} positions, {now['plies']:.1f} plies on average"),
            (
                "speed",
                f"{now['positions_per_second']:,.0f} positions/s, {now['evaluations_per_second']:,.0f} simulations/s",
            ),
            ("loss", f"{now['loss']['total']:.3f} = {terms}"),
            ("first player", f"wins {now['first_wins']:.0%}, draws {now['draws']:.0%}"),
        ]
        for match in self.evaluated.get("matches", []):
            interval = f"{match['low']:.0%} to {match['high']:.0%}, at generation {self.evaluated['generation']}"
            lines.append((f"against {match['opponent']}", f"{match['rate']:.1%} ({interval})"))
        if "rating" in self.evaluated:
            lines.append(("rating", f"{signed(self.evaluated['rating'])} Elo"))
        if "mistakes" in self.evaluated:
            lines.append(
                ("mistakes", f"{self.evaluated['mistakes']:.2%} of all positions, {self.evaluated['losing']} lose")
            )
        return [*lines, ("time", f"{clock(now['seconds'])}, left {clock(self._left())}")]

    def _left(self) -> float:
        """Seconds to the run's end, at the pace so far, or until the time that was given is over."""
        done = self.metrics["generation"]
        whole = self.metrics["seconds"] / done * (self.settings.run.generations - done)
        return min(whole, max(0.0, self.end - time.monotonic()))


def clock(seconds: float) -> str:
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
