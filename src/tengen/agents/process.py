"""Other people's engines: a process that is spoken to line by line, over real pipes.

`Engine` knows no protocol. It starts a process, says lines, hears lines, and ends the process whatever happens; what an
engine does wrong becomes one EngineError with its last words. `gtp.py` and `gomocup.py` speak through it.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import IO, Self

from tengen.agents.guard import GROUP_OF_ITS_OWN, KILL, WORD, end_engine, guard, kill_group
from tengen.rules.errors import BadParameter, TengenError
from tengen.search.limits import Clock, Decision

TIMEOUT = 120.0  # seconds that an engine may take for one command
START_UP = 60.0  # seconds until it answers at all
PATIENCE = 1.0  # seconds to wait before a process that should end is asked less kindly
LAST_WORDS = 8  # lines of each stream that an error quotes
LONGEST_LINE = 10_000  # bytes
MOST_LINES = 10_000  # of one answer, and of what was said without being asked
GAMES_OF_DEBIAN = "/usr/games"  # where Debian installs engines; not on every PATH

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # no protocol gives these a meaning


class EngineError(TengenError):
    """An engine that cannot be started, does not answer, dies, or says what makes no sense."""


def find_program(name: str) -> str | None:
    """The path of a program: on PATH, else where Debian puts games."""
    return shutil.which(name) or shutil.which(name, path=GAMES_OF_DEBIAN)


class Listener(threading.Thread):
    """Reads a pipe to its end, so that the engine never blocks on it, and remembers the last lines.

    It is a daemon and knows the pipe alone: an engine that nobody holds any more can be collected while it listens.
    """

    def __init__(self, pipe: IO[bytes], heard: queue.SimpleQueue[str | None] | None = None):
        super().__init__(daemon=True)
        self.pipe, self.heard = pipe, heard
        self.last_words: deque[str] = deque(maxlen=LAST_WORDS)
        self.start()

    def run(self) -> None:
        is_whole = True
        with self.pipe:
            while line := self.pipe.readline(LONGEST_LINE):
                is_new, is_whole = is_whole, line.endswith(b"\n")
                if not is_new:  # the rest of a line that is too long to mean anything
                    continue
                text = CONTROL.sub("", line.decode(errors="replace")).rstrip()
                if text:
                    self.last_words.append(text)
                if self.heard is not None:
                    if self.heard.qsize() > MOST_LINES:  # nobody asked for that much: memory is not endless
                        break
                    self.heard.put(text)
        if self.heard is not None:
            self.heard.put(None)


def stop(process: subprocess.Popen[bytes], word: str, listeners: Sequence[Listener], farewell: str) -> None:
    """Say goodbye, terminate, kill: afterwards the process and what it started are gone, and no zombie is left."""
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):
        process.stdin.write(farewell.encode() + b"\n")
        process.stdin.flush()
    with contextlib.suppress(OSError):
        process.stdin.close()
    for end in (signal.SIGTERM, KILL, KILL):
        try:
            process.wait(PATIENCE)
            break
        except subprocess.TimeoutExpired:
            kill_group(process.pid, end)
    end_engine(process.pid, word)  # a script may have left its engine behind
    guard.ended(process.pid, word)
    for listener in listeners:
        listener.join(PATIENCE)


class EngineProcess:
    """A process that is told lines and says lines.

    After a failure the process is gone, since nobody could tell which line its next answer belongs to. The process ends
    with `close`, with the `with` block, when the engine is garbage collected, and at exit; if we are killed, a guard
    ends it.
    """

    example = "gtp:gnugo --mode gtp"  # of a command line, for who gave none
    farewell = "quit"  # the line that asks the engine to end

    def __init__(self, command: str | Sequence[str], timeout: float = TIMEOUT):
        words = read_command(command, self.example) if isinstance(command, str) else list(command)
        self.name = Path(words[0]).name
        self.command = shlex.join([self.name, *words[1:]])  # for people: which engine, and how strong
        self.timeout = timeout
        program = find_program(words[0])
        if program is None:
            raise EngineError(f"there is no program {words[0]!r}, neither on PATH nor in {GAMES_OF_DEBIAN}")
        pipe, word = subprocess.PIPE, secrets.token_hex(8)
        command, told = [program, *words[1:]], os.environ | {WORD: word}
        try:
            self.process = subprocess.Popen(
                command,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                env=told,
                start_new_session=True,  # so its number is that of its group, too
                creationflags=GROUP_OF_ITS_OWN,
            )
        except OSError as reason:
            raise EngineError(f"{program} cannot be started: {reason.strerror}") from None
        assert self.process.stdout is not None and self.process.stderr is not None
        self.heard: queue.SimpleQueue[str | None] = queue.SimpleQueue()  # None: there will be no more
        self.output = Listener(self.process.stdout, self.heard)
        self.errors = Listener(self.process.stderr)
        self._stop = weakref.finalize(self, stop, self.process, word, (self.output, self.errors), self.farewell)
        guard.begun(self.process.pid, word)

    @property
    def is_open(self) -> bool:
        """Whether nobody has ended the process yet."""
        return self._stop.alive

    def close(self) -> None:
        """Ends the process, if it has not ended yet."""
        self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def say(self, line: str) -> None:
        """Tells the engine a line. That it is dead is told by `receive`."""
        if not self.is_open:
            raise EngineError(f"{self.name} cannot be asked {line!r}: it was stopped before")
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # a broken pipe
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()

    def receive(self, command: str, timeout: float, deadline: float, hint: str = "") -> str:
        """The next line that the engine says in answer to `command`, until `deadline`.

        Raises EngineError if there is none in time, or if the engine has died.
        """
        try:
            line = self.heard.get(timeout=max(deadline - monotonic(), 0))
        except queue.Empty:
            raise self.failure(f"did not answer {command!r} within {timeout:g} s{hint}") from None
        if line is None:
            raise self.failure(f"died at {command!r}{self._exit_status()}")
        return line

    def failure(self, what: str) -> EngineError:
        """Ends the engine and says what it did, with its last words."""
        kill_group(self.process.pid)
        self.close()
        report = [f"{self.name} {what}", f"command: {self.command}"]
        for stream, listener in (("stdout", self.output), ("stderr", self.errors)):
            report += [f"{stream}: {line[:200]}" for line in list(listener.last_words)]
        return EngineError("\n    ".join(report))

    def _exit_status(self) -> str:
        """How a process ended whose output has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self.process.wait(PATIENCE)
            return f" (exit status {status})" if status >= 0 else f" (signal {-status})"
        return " (it closed its output, and lives)"


def read_command(text: str, example: str) -> list[str]:
    """The words of a command line, as a shell would split it."""
    try:
        words = shlex.split(text)
    except ValueError as reason:
        raise BadParameter(f"{text!r} is not a command line: {str(reason).lower()}") from None
    if not words:
        raise BadParameter(f"an engine needs a command line: {example}")
    return words


def decide(action: int, clock: Clock, value: float | None = None, note: str = "") -> Decision:
    """A decision of which nothing but the action is known."""
    return Decision(
        action, value, policy={action: 1.0}, principal_variation=(action,), seconds=clock.seconds, note=note
    )
