"""Work that outlives a page: a command of ours in a process of its own, found again by whoever looks later.

A job goes on when its page is closed, and when the server ends: only its own end or a stop ends it. It has three files:

    NAME.json   its state and the reason for it, the number of its process, and what whoever started it wants to know
    NAME.lock   locked as long as the process lives
    NAME.log    what it said

The lock is the process's own: it inherits the open file, and the kernel lets go of it however the process ends. While
it is locked, the number in the state file is that of our process and of no other, which the next server may stop, too.
Once it is not, a state of "running" means that no server was there to write down how the job ended. Windows passes no
open file on like that: there pages start nothing, and show what was started in a terminal.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Path as InPath
from pydantic import BaseModel, Field, ValidationError

from tengen.apps.web.folders import LARGEST_FACTS, plain
from tengen.records.disk import is_locked, wait_for_lock, write_file
from tengen.rules.errors import TengenError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.=-]{0,47}")  # of a job, and of its files
TENGEN = (sys.executable, "-P", "-m", "tengen")  # -P: what lies in a job's folder is no module
JOBS = ".jobs"  # their folder, among what they work on
TAIL = 4096  # bytes of a log that are read
LONGEST_REASON = 500  # characters
ASKED = (signal.SIGINT, signal.SIGTERM)  # by these a process is asked to end


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


State = Literal["starting", "running", "stopping", "stopped", "complete", "failed"]
ALIVE = ("starting", "running", "stopping")


class Job(BaseModel):
    """A job: what its state file says, and its name."""

    name: str = Field(default="", exclude=True)
    state: State = "starting"
    reason: str = Field(default="", max_length=LONGEST_REASON)  # why it failed
    process: int = Field(default=0, gt=1)  # 0 for a moment, when it is being started
    metadata: dict[str, Any] = {}  # what whoever started it wants to know later

    @property
    def is_running(self) -> bool:
        return self.state in ALIVE


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

    def check_allowed(self) -> None:
        """Refuses whatever changes something where that is not allowed."""
        if self.advice:
            raise NotAllowed(self.advice)

    def find(self, name: str) -> Job | None:
        """The job of a name, if there ever was one."""
        job, is_alive = self._read(name), is_held(self._path(name, "lock"))
        if job is None or is_alive == job.is_running:
            return job
        return Job(name=name) if is_alive else self._ended(job)  # nobody could write a state; no server saw the end

    def _read(self, name: str) -> Job | None:
        """What a state file says; of one that is damaged, the name."""
        try:
            with open(self._path(name, "json"), "rb", opener=plain) as file:
                return Job.model_validate_json(file.read(LARGEST_FACTS)).model_copy(update={"name": name})
        except OSError:
            return None
        except ValidationError:
            return Job(name=name)

    def _ended(self, job: Job, code: int | None = None) -> Job:
        """How a job ended: with one of our errors, or a traceback, at the end of its log; or by its exit code."""
        said, state, reason = last_lines(self._path(job.name, "log")), "stopped", ""
        is_error = said and said[-1].startswith("tengen: ") and not said[-1].startswith("tengen: compiling")
        if is_error or any(line.startswith("Traceback") for line in said):
            state, reason = "failed", said[-1].removeprefix("tengen: ")[:LONGEST_REASON]
        elif job.state == "running" and code == 0:
            state = "complete"
        elif job.state == "running" and code is not None and code < 0 and -code not in ASKED:
            state, reason = "failed", f"it was ended by signal {-code} ({signal.strsignal(-code)})"
        return job.model_copy(update={"state": state, "reason": reason})

    @contextmanager
    def starting(self) -> Iterator[None]:
        """One start at a time, whichever server it comes from: what is made within, nobody else makes meanwhile."""
        self.check_allowed()
        try:
            with self._locked():
                if running := self.running():
                    raise JobError(f"{running[0].name} is running: stop it first, or wait for its end")
                yield
        except OSError as reason:
            raise JobError(f"it cannot be started: {reason.strerror}") from reason

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Nobody else writes a state file meanwhile."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "lock", "a", opener=plain) as file:
            wait_for_lock(file)
            yield

    def begin(self, name: str, arguments: Sequence[str], folder: Path, metadata: Mapping[str, Any]) -> None:
        """Runs the command with arguments, in a folder, for whoever is `starting` it."""
        if name not in (known := self.names()) and len(known) >= self.most:
            raise JobError(
                f"{len(known)} jobs that were started from pages are kept, which is all there is room for: delete "
                f"some, of each its folder NAME, and in {JOBS} beside it NAME.json, NAME.lock and NAME.log"
            )
        job, log_path = Job(name=name, metadata=dict(metadata)), self._path(name, "log")
        self._write(job)  # from now on no number of an earlier process is known
        with open(self._path(name, "lock"), "a", opener=plain) as held, open(log_path, "wb", opener=plain) as log:
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
                    self._path(name, "json").unlink()
                raise
            self._write(job.model_copy(update={"state": "running", "process": process.pid}))
        threading.Thread(target=self._watch, args=(name, process), daemon=True).start()

    def _watch(self, name: str, process: subprocess.Popen[bytes]) -> None:
        """Waits for the end of a process that we started, and writes down how it ended."""
        code = process.wait()
        with suppress(OSError), self._locked():
            job = self._read(name)
            if job is not None and job.process == process.pid and not is_held(self._path(name, "lock")):
                self._write(self._ended(job, code))

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
        with suppress(OSError), self._locked():  # it ends even where nothing can be written
            self._write(job.model_copy(update={"state": "stopping"}))
        with suppress(ProcessLookupError):
            os.killpg(job.process, signal.SIGTERM)

    def _write(self, job: Job) -> None:
        write_file(self._path(job.name, "json"), job.model_dump_json().encode())

    def _path(self, name: str, ending: str) -> Path:
        return self.folder / f"{checked_name(name)}.{ending}"


def is_held(path: Path) -> bool:
    """Whether a process holds the lock of a plain file. Over a network only what may be written can be locked."""
    try:
        with open(path, "r+b" if os.access(path, os.W_OK) else "rb", opener=plain) as file:
            return is_locked(file)
    except OSError:
        return False


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
