"""Is a game sound? `tengen check`, and the short look at a file of one's own before it is first played or trained."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tengen import __version__
from tengen.apps.options import print_json
from tengen.rules.errors import GameFileError, TengenError
from tengen.rules.plugins import file_spec

if TYPE_CHECKING:
    from tengen.rules.check import Report

FIRST_LOOK = 2.0  # seconds of random games before a changed file is played
LONGEST_LOOK = 300.0  # seconds, compiling included


def check_and_tell(spec: str, games: int, seconds: float | None, as_json: bool) -> bool:
    """Checks a game and prints what was found; returns whether it is sound. An endless rule ends the process."""
    os.environ.setdefault("NUMBA_BOUNDSCHECK", "1")  # before Numba is imported: a wild index is then an error
    from tengen.games import load_game
    from tengen.rules.check import Report, check
    from tengen.rules.whereabouts import Watchdog

    def give_up(told: str) -> None:
        tell(Report(spec, [told]), games, as_json)
        sys.stdout.flush()
        os._exit(1)  # nothing stops a kernel

    watchdog = Watchdog(give_up)
    try:
        report = check(load_game(spec), games, progress=lambda law: say(law, as_json), seconds=seconds)
    except TengenError as reason:
        report = Report(spec, [str(reason)])
    finally:
        watchdog.end()  # else it would take whatever this process waits for later for an endless rule
    tell(report, games, as_json)
    return report.ok


def say(law: str, as_json: bool) -> None:
    if not as_json:
        print(f"  checking that {law}", flush=True)


def tell(report: Report, games: int, as_json: bool) -> None:
    if as_json:
        print_json({"ok": report.ok, "problems": report.problems})
    elif report.ok:
        print(f"{report.game} is sound: {games} random games, {report.positions} positions")
    else:
        print(f"{report.game} is not sound:")
        for problem in report.problems:
            print(f"  - {problem}")


def refuse_unsound(spec: str) -> None:
    """Refuses a game's file that a short check finds fault with. A file that has passed is not looked at again."""
    named = file_spec(spec)
    if named is None or not named[0].is_file():
        return
    mark = mark_of(named[0])
    if mark is not None and mark.exists():
        return
    print(f"tengen: {named[0]} is new or has changed: checking it", file=sys.stderr, flush=True)
    problems = problems_of(spec)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise GameFileError(f"{spec} is not sound: {problems[0]}{more}; see tengen check {spec}")
    if mark is not None:
        with suppress(OSError):
            mark.parent.mkdir(exist_ok=True)
            mark.touch()


def mark_of(path: Path) -> Path | None:
    """The empty file that says that this text of a game's file has passed; None where nothing can be kept."""
    from tengen.rules.kernel_cache import cache_folder

    name = hashlib.sha256(__version__.encode() + path.read_bytes()).hexdigest()[:32]
    with suppress(OSError):
        return cache_folder() / "checked" / name
    return None


def problems_of(spec: str) -> list[str]:
    """What a short check finds, in a process of its own: what does not end, or crashes, is ended."""
    command = [sys.executable, "-m", "tengen", "check", spec, "--json", "--time", str(FIRST_LOOK)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, timeout=LONGEST_LOOK)
    except subprocess.TimeoutExpired:
        return [f"the check did not end within {LONGEST_LOOK:g} s"]
    try:
        problems: list[str] = json.loads(done.stdout)["problems"]
    except (ValueError, KeyError):
        return [f"its rules crash (exit status {done.returncode})"]
    return problems
