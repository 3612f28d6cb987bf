"""Files that are there whole or not at all."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

PART = ".part"  # the end of a name under which a file is being written


def write_file(path: Path, content: bytes) -> None:
    """Writes a file so that at every moment the old one or the new one is there, whole; raises OSError.

    Two who write the same file at once disturb each other: folders that are written again and again are locked.
    """
    part = path.with_name(f".{path.name}{PART}")
    try:
        with part.open("wb") as file:
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
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file
