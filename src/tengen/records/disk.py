"""Files that are there whole or not at all, and files that one process holds at a time."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from time import sleep
from typing import IO, Any

PART = ".part"  # the end of a name under which a file is being written
LOOKS = (0.0, 0.002, 0.01)  # seconds before each attempt at a lock: who only looks at one holds it for an instant
_looking = threading.Lock()


def write_file(path: Path, content: bytes) -> None:
    """Writes a file so that at every moment the old one or the new one is there, whole; raises OSError.

    Two who write the same file at once disturb each other: folders that are written again and again are locked.
    """
    part = path.with_name(f".{path.name}{PART}")
    part.unlink(missing_ok=True)
    try:
        with part.open("xb") as file:  # a new file: a link that lay there is not followed
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def lock(path: Path) -> IO[str]:
    """A file that nobody else can lock while it is open; raises BlockingIOError if somebody has."""
    file = path.open("a")
    try:
        if not _take(file):
            raise BlockingIOError(errno.EAGAIN, "somebody else has locked it", str(path))
    except OSError:
        file.close()
        raise
    return file


def wait_for_lock(file: IO[Any]) -> None:
    """Locks an open file as soon as nobody else does; whoever inherits the file holds the lock, too."""
    from filelock import lock_descriptor

    lock_descriptor(file.fileno())


def is_locked(file: IO[Any]) -> bool:
    """Whether somebody holds the lock of an open file. Two who look at once do not see each other."""
    return not _take(file, is_look=True)


def _take(file: IO[Any], is_look: bool = False) -> bool:
    """Locks an open file if nobody else does, for an instant if it is only a look; returns whether it could."""
    from filelock import lock_descriptor, unlock_descriptor  # it takes a while, and few commands lock anything

    for pause in LOOKS:
        sleep(pause)
        with _looking:
            if lock_descriptor(file.fileno(), blocking=False):
                if is_look:
                    unlock_descriptor(file.fileno())
                return True
    return False
