"""A student's code in a process of its own: asked over a pipe, waited for no longer than is allowed, killed whole."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from time import perf_counter
from typing import Any

from tengen.course.grading import student
from tengen.rules.errors import TengenError

MEMORY = 1 << 30  # bytes
STARTING = 10.0  # seconds, to load the file
TOTAL = 60.0  # seconds of one grading
LONGEST_LINE = 2 * student.LONGEST_ANSWER


class Wrong(TengenError):
    """An answer that is not right, or none, and why: for the student."""


class StudentCode:
    """The functions of a file. After a crash or a timeout the next question gets a fresh process."""

    def __init__(self, path: Path, total: float = TOTAL, memory: int = MEMORY):
        if not path.is_file():
            raise TengenError(f"there is no file {path}")
        self.path, self.memory = path.resolve(), memory
        self.ends = perf_counter() + total
        self.process: subprocess.Popen[bytes] | None = None
        self.lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.folder = tempfile.TemporaryDirectory()

    def __enter__(self) -> StudentCode:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.folder.cleanup()

    def call(self, function: str, *arguments: Any, seconds: float = 5.0) -> Any:
        """What a function answers. Raises Wrong if it raises, ends, or takes longer."""
        if self.process is None:
            self.start()
        assert self.process is not None and self.process.stdin is not None
        request = json.dumps({"call": function, "arguments": arguments})
        with contextlib.suppress(OSError):  # it has ended: there will be no answer
            self.process.stdin.write(request.encode() + b"\n")
            self.process.stdin.flush()
        return self.told(seconds, function)

    def start(self) -> None:
        left = max(1, int(self.ends - perf_counter()) + 1)
        command = [sys.executable, "-I", str(Path(student.__file__)), str(self.path), str(self.memory), str(left)]
        environment = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
        threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.folder.name,
            env=environment | threads,
            start_new_session=True,
        )
        self.lines = queue.SimpleQueue()
        threading.Thread(target=self.listen, args=(self.process, self.lines), daemon=True).start()
        self.told(STARTING, "the file")

    @staticmethod
    def listen(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes]) -> None:
        """Hands lines on; an empty one is the end."""
        assert process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while line := process.stdout.readline(LONGEST_LINE):
                lines.put(line)
        lines.put(b"")

    def told(self, seconds: float, what: str) -> Any:
        """The next answer."""
        left = self.ends - perf_counter()
        try:
            line = self.lines.get(timeout=max(0.0, min(seconds, left)))
        except queue.Empty:
            self.kill()
            allowed = f"{seconds:g} s" if seconds < left else "the time of the whole grading"
            raise Wrong(f"{what} took longer than {allowed}") from None
        if not line:
            self.kill()
            raise Wrong(f"{what} ended the program")
        try:
            told = json.loads(line)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            self.kill()
            raise Wrong(f"{what}: its answer cannot be read")
        if "error" in told:
            if what == "the file":
                self.kill()
            raise Wrong(f"{what}: {told['error']}")
        return told.get("answer")

    def kill(self) -> None:
        """Ends the process and all that it has started in its session."""
        if self.process is None:
            return
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self.process = None
