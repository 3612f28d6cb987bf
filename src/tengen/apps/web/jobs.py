"""Work that outlives a page: a command of ours in a process of its own, found again by whoever looks later.

A job goes on when its page is closed, and when the server ends: only its own end or a stop ends it. A folder holds two
files for each job:

    NAME.json   the number of its process and what is known of it; locked as long as the process lives
    NAME.log    what it said

The lock is the process's own: it inherits the open file, and the kernel lets go of it however the process ends. So a
number that stands in a locked file is that of our process and of no other, which the next server may stop, too. Windows
passes no open file on like that: there pages start nothing, and show what was started in a terminal.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import IO, Annotated, Any, Literal

from fastapi import Path as InPath

from tengen.apps.web.folders import LARGEST_FACTS, plain
from tengen.records.disk import is_locked, wait_for_lock
from tengen.rules.errors import TengenError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.=-]{0,47}")  # of a job, and of its files
TENGEN = (sys.executable, "-P", "-m", "tengen")  # -P: what lies in a job's folder is no module
JOBS = ".jobs"  # their folder, among what they work on
TAIL = 4096  # bytes of a log that are read
LONGEST_PROBLEM = 500  # characters


class JobError(TengenError):
    """A job that cannot be started or stopped now."""


class NotAllowed(JobError):
    """A job that nobody may start or stop from where they ask."""


class BadName(TengenError):
    """A name that we do not give to a file."""


class Missing(TengenError):
    """Nothing is called so."""


Name = Annotated[str, InPath(max_length=48, pattern=f"^{NAME.pattern}$")]  # as part of an address


def checked_name(name: str) -> str:
    """A name that can stand for a file: nothing in it leads elsewhere."""
    if not NAME.fullmatch(name):
        raise BadName("a name has up to 48 letters, digits and - _ . =, and begins with a letter or a digit")
    return name


def free_name(stem: str, taken: Collection[str]) -> str:
    """The name itself, or with the first number that nothing else has."""
    numbered = (f"{stem}-{number}" if number > 1 else stem for number in count(1))
    return next(name for name in numbered if name not in taken)


@dataclass(frozen=True)
class Job:
    """What is known of a job now."""

    name: str
    is_running: bool
    process: int = 0  # 0 for a moment, when it is being started
    facts: Mapping[str, Any] = field(default_factory=dict)
    said: tuple[str, ...] = ()  # the last lines of its log

    @property
    def problem(self) -> str:
        """Why it ended, if not as it should: its last line, if that is one of our errors or the end of a traceback."""
        last = self.said[-1] if self.said else ""
        is_error = last.startswith("tengen: ") and not last.startswith("tengen: compiling")
        if self.is_running or not (is_error or any(line.startswith("Traceback") for line in self.said)):
            return ""
        return last.removeprefix("tengen: ")[:LONGEST_PROBLEM]


State = Literal["running", "stopped", "complete", "failed"]


def state_of(folder: Path, job: Job | None, is_complete: bool) -> State:
    """How it stands with what a job works on. Whoever works in a folder locks it, also from a terminal."""
    if job is not None and job.is_running:
        return "running"
    with suppress(OSError), _open_to_look(folder / "lock") as file:
        if is_locked(file):
            return "running"
    if is_complete:
        return "complete"
    return "failed" if job is not None and job.problem else "stopped"


class Jobs:
    """The jobs of one folder, one at a time; `command` is what they run, before its arguments.

    Two on one machine would share its cores, and be done no sooner than one after the other. No more than `most` are
    kept. `advice` says why nothing may be started or stopped here; empty if it may.
    """

    def __init__(self, folder: Path, command: Sequence[str] = TENGEN, most: int = 100, advice: str = ""):
        self.folder, self.command, self.most, self.advice = folder, command, most, advice

    def names(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.json") if NAME.fullmatch(path.stem))

    def running(self) -> list[Job]:
        return [job for name in self.names() if (job := self.find(name)) is not None and job.is_running]

    def check_idle(self) -> None:
        """Refuses to start anything while something is running."""
        if running := self.running():
            raise JobError(f"{running[0].name} is running: stop it first, or wait for its end")

    def check_allowed(self) -> None:
        """Refuses whatever changes something where that is not allowed."""
        if self.advice:
            raise NotAllowed(self.advice)

    def find(self, name: str) -> Job | None:
        """The job of a name, if there ever was one."""
        try:
            with _open_to_look(self._path(name)) as file:
                is_running, text = is_locked(file), file.read(LARGEST_FACTS)
        except OSError:
            return None
        facts: dict[str, Any] = {}
        with suppress(ValueError, RecursionError):
            facts = json.loads(text)
        if not isinstance(facts, dict):
            facts = {}
        process = facts.pop("process", 0)
        known = process if isinstance(process, int) and process > 1 else 0
        return Job(name, is_running, known, facts, tuple(last_lines(self.folder / f"{name}.log")))

    def start(self, name: str, arguments: Sequence[str], folder: Path, facts: Mapping[str, Any]) -> None:
        """Runs the command with arguments, in a folder; refused if enough is running."""
        with self.starting():
            self.begin(name, arguments, folder, facts)

    @contextmanager
    def starting(self) -> Iterator[None]:
        """One start at a time, whichever server it comes from: what is made within, nobody else makes meanwhile."""
        self.check_allowed()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with open(self.folder / "lock", "a", opener=plain) as file:
                wait_for_lock(file)
                self.check_idle()
                yield
        except OSError as reason:
            raise JobError(f"it cannot be started: {reason.strerror}") from reason

    def begin(self, name: str, arguments: Sequence[str], folder: Path, facts: Mapping[str, Any]) -> None:
        """The same as `start`, for whoever has begun `starting`."""
        if name not in (known := self.names()) and len(known) >= self.most:
            raise JobError(
                f"{len(known)} jobs that were started from pages are kept, which is all there is room for: delete "
                f"some, of each its folder NAME, and in {JOBS} beside it NAME.json and NAME.log"
            )
        with open(self._path(name), "a+", encoding="utf-8", opener=plain) as held, self._log(name) as log:
            wait_for_lock(held)  # whoever looks at it lets go at once
            try:
                process = subprocess.Popen(
                    [*self.command, *arguments],
                    cwd=folder,
                    env=environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # a Ctrl-C in the server's terminal is not meant for it
                    pass_fds=[held.fileno()],
                )
            except OSError:
                if name not in known:
                    self._path(name).unlink()
                raise
            held.truncate(0)
            held.write(json.dumps({"process": process.pid, **facts}))
        threading.Thread(target=process.wait, daemon=True).start()  # or it would stay in the kernel's list when it ends

    def stop(self, name: str) -> None:
        """Asks the job and all that it started to end; a second time it is no longer asked."""
        self.check_allowed()
        job = self.find(name)
        if job is None or not job.is_running:
            raise JobError(
                f"{name} is not running, or was started elsewhere: only what was started here is stopped here"
            )
        if not job.process:
            raise JobError(f"{name} is just being started: try again")
        with suppress(ProcessLookupError):
            os.killpg(job.process, signal.SIGTERM)

    def _path(self, name: str) -> Path:
        return self.folder / f"{checked_name(name)}.json"

    def _log(self, name: str) -> IO[bytes]:
        return open(self.folder / f"{name}.log", "wb", opener=plain)


def _open_to_look(path: Path) -> IO[bytes]:
    """Opens a plain file to look at its lock. Over a network only what may be written can be locked."""
    return open(path, "r+b" if os.access(path, os.W_OK) else "rb", opener=plain)


def last_lines(path: Path) -> list[str]:
    """The end of a file of text, without empty lines."""
    try:
        with open(path, "rb", opener=plain) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
            text = file.read(TAIL).decode("utf-8", "replace")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip()]


def environment() -> dict[str, str]:
    """Ours, with folders of modules that do not depend on where a process begins."""
    own = {name: value for name, value in os.environ.items() if name != "TENGEN_PASSWORD"}  # which is ours alone
    if path := own.get("PYTHONPATH"):
        own["PYTHONPATH"] = os.pathsep.join(os.path.abspath(part) for part in path.split(os.pathsep) if part)
    return own
