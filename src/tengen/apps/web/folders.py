"""Reading folders that may hold anything: those of runs and contests, which come from elsewhere, too.

A file is read if it is a plain file of bounded size; a pipe would be waited for, a device never ends, and a link leads
out of the folder. A store is asked for a bounded time, and only if its tables are tables. What is wrong with a folder
is a BadFolder, which says so and nothing of where the folder is.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tengen.records.record import RecordError
from tengen.records.store import HEADING, Heading, Store, StoreError
from tengen.rules.errors import TengenError

LARGEST_CONFIG, LONGEST_LINE = 2**16, 500  # bytes; a key of very many parts takes TOML's reader for ever
LARGEST_FACTS = 2**20
LARGEST_METRICS = 2**26
LARGEST_GAMES = 2**24
MOST_FILES = 20_000  # of one kind in a folder
LONGEST_WAIT = 3.0  # seconds until whoever writes to a store has done so
LONGEST_QUERY = 2.0  # seconds that a store may then take for all that one page asks
LONGEST_VALUE = 2**18  # bytes of a text in a store
STEPS = 1000  # of SQLite between two looks at the clock
WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)


class BadFolder(TengenError):
    """A folder of a run or a contest that cannot be read."""

    def __init__(self, reason: str):
        super().__init__(f"its folder cannot be read: {reason}")


def plain(path: str, flags: int) -> int:
    """An `opener` for open(), which opens plain files alone, follows no link and waits for nobody."""
    try:
        file = os.open(path, flags | WITHOUT_WAITING, 0o666)
    except OSError as reason:
        raise OSError(reason.errno, "it is a link") if reason.errno == errno.ELOOP else reason from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is no plain file")
    return file


def is_plain(path: Path) -> bool:
    """Whether something is a plain file, and no link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def read_file(path: Path, most: int) -> bytes:
    """A whole plain file; raises BadFolder if it is none or too long, FileNotFoundError if it is not there."""
    try:
        with open(path, "rb", opener=plain) as file:
            content = file.read(most + 1)
    except FileNotFoundError:
        raise
    except OSError as reason:
        raise BadFolder(f"{path.name}: {reason.strerror}") from None
    if len(content) > most:
        raise BadFolder(f"{path.name} has more than {most:,} bytes")
    return content


def read_config(path: Path) -> dict[str, Any]:
    """A run's settings, table by table; empty if there are none, or they are damaged."""
    try:
        content = read_file(path, LARGEST_CONFIG)
    except FileNotFoundError:
        return {}
    if max(map(len, content.split(b"\n"))) > LONGEST_LINE:
        raise BadFolder(f"a line of {path.name} has more than {LONGEST_LINE} characters")
    try:
        return tomllib.loads(content.decode())
    except ValueError:
        return {}
    except RecursionError:
        raise BadFolder(f"{path.name} holds lists in lists without end") from None


def files_of(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder that fit a pattern."""
    found: list[Path] = []
    for path in folder.glob(pattern):
        if len(found) == MOST_FILES:
            raise BadFolder(f"it has more than {MOST_FILES:,} files {pattern}")
        found.append(path)
    return found


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Whatever goes wrong within is wrong with the folder that is read: nobody knows what stands in one."""
    try:
        yield
    except (StoreError, RecordError) as reason:
        raise BadFolder(str(reason).replace(f"{folder}{os.sep}", "")) from reason
    except TengenError:
        raise
    except OSError as reason:
        raise BadFolder(reason.strerror or type(reason).__name__) from reason
    except Exception as reason:  # the one place where any will do: wrong types, numbers and depths without bounds
        raise BadFolder(type(reason).__name__) from reason


class NothingYet(BadFolder):
    """A store in which nobody has written."""


class Glance(Store):
    """A store that is looked at for a moment: nothing is changed in it, and nothing in it can take long."""

    def _connect(self) -> sqlite3.Connection:
        for end in ("", "-journal", "-wal", "-shm"):  # SQLite would wait for a pipe
            path = self.path.with_name(self.path.name + end)
            if os.path.lexists(path) and not is_plain(path):  # not by opening it: to close it would end SQLite's locks
                raise BadFolder(f"{path.name} is no plain file")
        uri = f"{self.path.absolute().as_uri()}?mode=rw"  # what a killed writer left is put right, or not to be read
        connection = sqlite3.connect(uri, uri=True, timeout=LONGEST_WAIT, isolation_level=None)
        self.end = time.monotonic() + LONGEST_WAIT + LONGEST_QUERY
        connection.set_progress_handler(lambda: time.monotonic() > self.end, STEPS)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        return connection

    def _prepare(self) -> None:
        self._run("PRAGMA query_only = ON")
        if self._is_empty():
            raise NothingYet(f"{self._name} is empty")
        super()._prepare()
        names = "name IN ('games', 'matches')"
        tables = self._run(f"SELECT count(*) FROM sqlite_master WHERE {names} AND sql LIKE 'CREATE TABLE%'").fetchone()
        for name in ("games", "matches"):
            made_up = self._run("SELECT count(*) FROM pragma_table_xinfo(?) WHERE hidden <> 0", name).fetchone()
            if tables[0] != 2 or made_up[0]:
                raise BadFolder(f"{self._name}: its tables are not those that we write")
        self.end = time.monotonic() + LONGEST_QUERY

    def newest(self, skip: int, most: int) -> list[Heading]:
        """The games that ended last, in short."""
        return [
            Heading(*row)
            for row in self._all(f"SELECT {HEADING} FROM games ORDER BY id DESC LIMIT ? OFFSET ?", most, skip)
        ]

    def spec_of(self, number: int) -> str | None:
        """The game of a number, as a spec; None if there is none."""
        found = self._all("SELECT game FROM games WHERE id = ?", number)
        return str(found[0][0]) if found else None
