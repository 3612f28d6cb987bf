"""Processes that are not ours to wait for: whether they live, and that they end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable

PATIENCE = 60.0  # seconds for what is soon so, on a machine that has other things to do


def is_there(number: int) -> bool:
    """Whether a process lives; one that has ended may be left as a zombie where nobody waits for it."""
    told = subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True)
    return told.stdout.strip()[:1] not in ("", "Z")


def await_so(is_so: Callable[[], bool]) -> None:
    """Waits for what is soon so."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def await_end(*numbers: int) -> None:
    """Waits for processes that soon end by themselves; whatever happens, nothing of them is left."""
    try:
        await_so(lambda: not any(map(is_there, numbers)))
    finally:
        for number in numbers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
