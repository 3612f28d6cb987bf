"""The documents' experiments, each by one command: so far the Gobang paper's move times (its figure 7)."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tengen.agents.specs import PRESETS, load_agent
from tengen.games import load_game
from tengen.rules.errors import TengenError

SIZES = (9, 11, 15)
OPENING = 2  # random plies that begin each game


def reproduce_gobang(folder: Path, games: int, plies: int, seed: int) -> None:
    """Each algorithm plays itself on each board; writes a table and a figure of the time that its moves took."""
    from rich.console import Console
    from rich.progress import track

    figure()  # if there is nothing to draw with, that is said before the work begins
    names = [name for name in PRESETS if name.startswith("gobang")]
    runs = [(name, size) for name in names for size in SIZES]
    times = {}  # [games, plies] of seconds; NaN where the game was over
    for name, size in track(runs, "move times", console=Console(file=sys.stderr), transient=True):
        times[name, size] = np.array([move_times(name, size, plies, seed + i) for i in range(games)])
    folder.mkdir(parents=True, exist_ok=True)
    table = times_table(names, times)
    (folder / "gobang-move-times.md").write_text(table)
    draw_times(folder / "gobang-move-times.svg", names, times)
    print(f"{table}\nwritten to {folder}")


def move_times(name: str, size: int, plies: int, seed: int) -> list[float]:
    """Seconds for each move of a game that an agent plays against itself, after a random opening."""
    game = load_game(f"gomoku:size={size}")
    agent, position, rng = load_agent(name, game), game.start(), random.Random(seed)
    for _ in range(OPENING):
        position = position.play(rng.choice(position.legal_actions))
    seconds: list[float] = []
    while position.outcome is None and len(seconds) < plies:
        decision = agent.choose(position)
        seconds.append(decision.seconds)
        position = position.play(decision.action)
    return seconds + [float("nan")] * (plies - len(seconds))


def times_table(names: list[str], times: dict[tuple[str, int], np.ndarray]) -> str:
    """Mean milliseconds a move, algorithm by board, in Markdown."""
    head = "| algorithm | is | " + " | ".join(f"{size}×{size}" for size in SIZES) + " |"
    rows = [head, "|---|---|" + "---:|" * len(SIZES)]
    for name in names:
        cells = " | ".join(f"{1000 * np.nanmean(times[name, size]):.1f} ms" for size in SIZES)
        rows.append(f"| {name} | `{PRESETS[name]}` | {cells} |")
    return "\n".join(rows) + "\n"


def figure() -> Any:
    """An empty figure."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise TengenError("figures need matplotlib: pip install tengen[train]") from None
    return Figure(figsize=(12, 4), layout="constrained")


def draw_times(path: Path, names: list[str], times: dict[tuple[str, int], np.ndarray]) -> None:
    """Mean time a move against the move's number, one panel a board."""
    drawing = figure()
    for i, size in enumerate(SIZES):
        axes = drawing.add_subplot(1, len(SIZES), i + 1)
        for name in names:
            seen = times[name, size]
            lasted = ~np.isnan(seen).all(axis=0)
            moves = OPENING + 1 + np.flatnonzero(lasted)
            axes.plot(moves, np.nanmean(seen[:, lasted], axis=0), label=name, linewidth=1.2)
        axes.set(title=f"{size}×{size}", xlabel="move number", yscale="log")
        axes.grid(alpha=0.3)
    drawing.axes[0].set_ylabel("seconds a move")
    drawing.axes[-1].legend(fontsize="small")
    drawing.savefig(path, format="svg", metadata={"Date": None})
