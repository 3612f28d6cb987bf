"""A training run from its preset to its last generation, on the screen; Ctrl-C ends it gently."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from tengen.games import load_game
from tengen.learn.screen import Screen
from tengen.learn.settings import load_settings
from tengen.rules.errors import TengenError


def train(
    preset: str,
    folder: Path | str | None = None,
    device: str = "auto",
    minutes: float | None = None,
    changes: Sequence[str] = (),
    cluster: str = "",
    learners: int = 1,
) -> Path:
    """Trains a net by self-play; returns the folder of the run, by default runs/PRESET.

    `preset` is the name of a preset, a TOML file or a game; `changes` are settings, such as "net.blocks=4".
    Training ends when the run is complete or after `minutes`; the same call resumes it. With `cluster`, the address
    of a Ray cluster, its machines play the games, and `learners` GPUs learn together.
    """
    with torch_needed():
        from tengen.learn.loop import device_of
        from tengen.learn.run import disk_errors_explained
        from tengen.learn.training import Training
    device = device_of(device)
    settings = load_settings(preset, changes, device)
    game = load_game(settings.run.game)
    folder = Path(folder or Path("runs") / Path(preset.partition(":")[0]).stem)
    seconds = 60 * minutes if minutes is not None else float("inf")
    screen = Screen(settings, folder, seconds)
    with disk_errors_explained(folder), ExitStack() as connection:
        if cluster:
            from tengen.arena.cluster import connected

            connection.enter_context(connected(cluster))
            from tengen.learn.cluster.driver import ClusterTraining

            training: Training = ClusterTraining(folder, settings, game, screen, device, learners)
        else:
            training = Training(folder, settings, game, screen, device)
        go_on(training, seconds, screen.say, screen.live)
    screen.say(f"play against it: tengen play {game.spec} --second puct:net={folder}")
    return folder


@contextmanager
def torch_needed() -> Iterator[None]:
    """Says how to install what training imports and is not there."""
    try:
        yield
    except ModuleNotFoundError as reason:
        advice = "pip install 'tengen[train]', or in a clone: make train"
        raise TengenError(f"training needs {reason.name}: {advice}") from reason


def go_on(training: Any, seconds: float, say: Callable[[str], None], display: Any = None) -> None:
    """Trains until the run is complete, `seconds` are over, or Ctrl-C; closes the run and says how far it got."""
    with stopped_gently(training, say), display or nullcontext():
        training.go_on(seconds)
    training.close()
    say_end(training, training.run.folder, say)


@contextmanager
def stopped_gently(training: Any, say: Callable[[str], None]) -> Iterator[None]:
    """Within, Ctrl-C ends a run with what was saved last; a second one ends it at once."""
    from tengen.learn.run import what_is_saved  # it needs what training needs, which players do without

    def stop(number: int, frame: object) -> None:
        if training.is_stopped:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        training.is_stopped = True
        say(f"stopping; {what_is_saved(training.run.folder)} (press Ctrl-C again to stop at once)")

    if threading.current_thread() is not threading.main_thread():  # only there can it be heard
        yield
        return
    kept = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def say_end(training: Any, folder: Path, say: Callable[[str], None]) -> None:
    """Says how far a run has got, and where its report is, if there is one yet."""
    from tengen.learn.run import what_is_saved

    done = f"generation {training.counters.generation} of {training.settings.run.generations}"
    how = "complete" if training.is_complete else f"after {done}; {what_is_saved(folder)}"
    report = folder / "report.html"
    say(f"{folder}: {how}." + (f" Report: {report}" if report.exists() else ""))
