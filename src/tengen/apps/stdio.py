"""The pipes of an engine that other programs begin: what it says, and whether anybody is there to hear it."""

from __future__ import annotations

import os
import select
import stat
import sys
import threading
from typing import IO


def protocol_output() -> IO[str]:
    """The stdout that there was. From now on whatever else is printed, even by a library in C, goes to stderr."""
    sys.stdout.flush()
    output = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", errors="replace", newline="\n")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return output


def end_when_nobody_hears(output: IO[str]) -> None:
    """The process ends at once, whatever it does, when the other side of its output is closed.

    A search that nobody waits for would go on otherwise until it writes. Windows cannot be asked: there it does.
    """
    if hasattr(select, "poll"):
        threading.Thread(target=_await_hangup, args=(output.fileno(),), daemon=True).start()


def _await_hangup(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, 0)  # errors and hang-ups are always told
    if any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll()):
        os._exit(0)


def is_written_ahead(source: IO[bytes]) -> bool:
    """Whether all lines were there from the beginning, in a file: its end does not say that anybody has left."""
    return stat.S_ISREG(os.fstat(source.fileno()).st_mode)
