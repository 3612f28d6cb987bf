"""`tengen train sl9`, `rl9`, `value9`: the stages of the AlphaGo way on the screen, a line a generation."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console

from tengen.alphago.settings import load_stage
from tengen.learn.start import go_on, torch_needed

STAGES = {  # where each stage is; torch is imported only when one begins
    "sl9": ("tengen.alphago.supervised", "SupervisedTraining"),
    "rl9": ("tengen.alphago.reinforce", "ReinforceTraining"),
    "value9": ("tengen.alphago.values", "ValueTraining"),
}
FIGURES = {  # what is shown of the metrics, and how
    "top1": "top-1 {:.1%}",
    "top5": "top-5 {:.1%}",
    "held_out_loss": "held-out loss {:.3f}",
    "score": "against the pool {:.1%}",
    "first_wins": "Black wins {:.0%}",
    "plies": "{:.0f} plies",
    "entropy": "entropy {:.2f}",
    "distance": "distance {:.3f}",
    "explained": "baseline explains {:.0%}",
    "held_out_error": "held-out error {:.4f}",
    "mean_error": "of the mean {:.4f}",
    "samples": "{:,.0f} samples",
    "positions_per_second": "{:,.0f} positions/s",
    "seconds_per_step": "{:.4f} s a step",
}


class ProgressLines:
    """Shows how a stage goes on."""

    def __init__(self, last: int):
        self.last, self.console = last, Console()

    def say(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def doing(self, what: str) -> None:
        if self.console.is_terminal:
            self.console.print(f"… {what}", end="\r", highlight=False, markup=False)

    def show(self, metrics: dict[str, Any]) -> None:
        parts = [f"generation {metrics['generation']} of {self.last}"]
        parts += [f"{name} {value:.4f}" for name, value in metrics.get("loss", {}).items()]
        parts += [text.format(metrics[name]) for name, text in FIGURES.items() if name in metrics]
        for match in metrics.get("matches", []):
            parts.append(f"against {match['opponent']} {match['rate']:.1%} ({match['low']:.1%} to {match['high']:.1%})")
        self.say("; ".join([*parts, f"{metrics['seconds']:.0f} s"]))


def train_stage(stage: str, folder: Path | None, device: str, minutes: float | None, changes: list[str]) -> None:
    """Trains a stage until it is complete, or for `minutes`; resumes one that was begun in `folder`."""
    module, name = STAGES[stage]
    with torch_needed():
        from tengen.learn.loop import device_of
        from tengen.learn.run import disk_errors_explained

        training_kind = getattr(import_module(module), name)
    settings = load_stage(stage, changes)
    folder = folder or Path("runs") / stage
    lines = ProgressLines(settings.run.generations)
    with disk_errors_explained(folder):
        training = training_kind(folder, settings, lines, device_of(device, has_kernels=False))
        go_on(training, 60 * minutes if minutes is not None else float("inf"), lines.say)
