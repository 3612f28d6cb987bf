"""A tournament in a folder: its games in a store as they end, its report, a bar while it is played."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tengen.arena.cluster import connected, play_on_cluster
from tengen.arena.report import Summary, write_tournament_report
from tengen.arena.tournament import Results, Tournament, play_tournament
from tengen.arena.workers import play_pairings
from tengen.games import load_game
from tengen.records.disk import lock
from tengen.records.record import Record
from tengen.records.store import Store
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game

REPORT = "report.html"


def tournament(
    game: Game | str,
    agents: Sequence[str],
    games: int = 20,
    folder: Path | str | None = None,
    opening: int = 2,
    seed: int = 1,
    move_time: float | None = None,
    workers: int | None = None,
) -> Summary:
    """Plays `games` games between each pair of agents; returns `.ratings`, `.pairs` and `.records`.

    Each opening of so many random plies is played with both colours, on all cores. With a folder every game is kept
    there, with a report; the same call goes on with a tournament that was stopped.
    """
    played = load_game(game) if isinstance(game, str) else game
    plan = Tournament.of(played, agents, plies=opening, seed=seed, move_time=move_time)
    if folder is not None:
        return Summary(play_in_folder(plan, games, Path(folder), workers))
    return Summary(play_tournament(plan, games, workers=workers).in_order())


def play_in_folder(
    tournament: Tournament, games: int, folder: Path, workers: int | None = None, cluster: str = ""
) -> list[Record]:
    """Plays a tournament with a bar; its games and its report are in the folder, from which it resumes."""
    pairs = len(tournament.agents) * (len(tournament.agents) - 1) // 2
    with (
        connected(cluster) if cluster else nullcontext(),
        progress_bar(games * pairs, "games") as (bar, task),
        opened(folder, tournament) as store,
    ):
        say_at_the_end(f"stopped: the games so far are in {folder}, and the same command goes on")

        def progress(results: Results, fresh: list[Record]) -> bool:
            bar.update(task, completed=len(results.games))
            return True

        play = play_on_cluster if cluster else play_pairings
        records = play_tournament(tournament, games, store, workers, progress, play).in_order()
    write_report(folder, tournament, records)
    return records


def say_at_the_end(words: str) -> None:
    """Makes Ctrl-C end the program with the message `words`; every game is stored as soon as it ends."""

    def end(number: int, frame: object) -> None:
        print(f"\n{words}", file=sys.stderr, flush=True)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, end)


@contextmanager
def progress_bar(total: int, words: str) -> Iterator[tuple[Progress, Any]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(file=sys.stderr)
    with Progress(*columns, console=console, transient=True, refresh_per_second=2) as bar:
        yield bar, bar.add_task(words, total=total)


@contextmanager
def opened(folder: Path | None, tournament: Tournament) -> Iterator[Store | None]:
    """The store of a folder, if there is one; another tournament's is refused."""
    if folder is None:
        yield None
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = lock(folder / "lock")
    except BlockingIOError:
        raise BadParameter(f"another process plays in {folder}: wait for it, or give another --out") from None
    except OSError as reason:
        raise BadParameter(f"{folder} cannot be used: {reason.strerror}") from None
    with held, Store(folder / "games.db") as store:
        settings = tournament.settings()
        if any(match.settings != settings for match in store.matches()):
            raise BadParameter(f"{folder} holds another tournament, or one with other settings: give another --out")
        yield store


def write_report(folder: Path | None, tournament: Tournament, records: list[Record]) -> Path | None:
    """Writes the report and returns its path."""
    if folder is None or not records:
        return None
    title = " – ".join(tournament.names) if len(tournament.names) == 2 else f"{len(tournament.names)} agents"
    return write_tournament_report(folder / REPORT, records, f"{tournament.game.spec}: {title}")
