"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

PART = ".part"  # the end of a name under which a file is being written


def write_file(path: Path, content: bytes) -> None:
    """Writes a file so that at every moment the old one or the new one is there, whole; raises OSError."""
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
