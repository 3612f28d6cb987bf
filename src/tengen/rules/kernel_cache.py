"""Machine code on disk: a file for each entry point and signature, private to the user, since what lies there is run.

A file is a checksum and what Numba needs to load the code. It is taken only if nobody else could have written it, and
what is damaged is compiled anew. Processes that need the same code wait for the one that compiles it.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numba.core import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

if TYPE_CHECKING:
    from filelock import BaseFileLock

MAGIC = b"tengen kernel 1\n"
HASH = hashlib.sha256
LONGEST_NAME = 120  # characters of a file's name before its hash
LONGEST_UNUSED = 60 * 86400.0  # seconds after which a kernel leaves the cache …
MOST_BYTES = 2**30  # … or where there are more than that, the oldest first
LONGEST_WAIT = 300.0  # seconds for another process that compiles the same; then it is compiled here, too
OURS = re.compile(  # kernels; those for a GPU, as numba-cuda names files; what killed processes left half written
    r"[^.].*\.kernel|\w+\.\w+_[0-9a-f]{16}_[0-9a-f]{12}-.+\.nb[ic]|\..+\.kernel\.\d+\.part"
)
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Untrusted(OSError):
    """A folder or a file that somebody else may have written to."""


class KernelCache(NullCache):
    """What Numba asks before it compiles one entry point, and tells afterwards. Nothing that fails here stops it."""

    def __init__(self, folder: Path | None, name: str, game: str):
        self.folder, self.name, self.game = folder, name, game  # without a folder, nothing is kept
        self.lock: BaseFileLock | None = None  # held while we compile what others wait for

    @property
    def cache_path(self) -> str:
        return str(self.folder or "")

    def has(self, signature: Any, target: Any) -> bool:
        """Whether the machine code for a signature is there."""
        path = self._path(signature, target.codegen())
        return path is not None and path.exists()

    def load_overload(self, signature: Any, target: Any) -> CompileResult | None:
        """The machine code for a signature, if it is there. If it is not, we are the one who compiles it."""
        target.refresh()
        path = self._path(signature, target.codegen())
        found = self._load(path, target)
        if found is None:
            if (tell := _hearing.get()) is not None:
                tell()
            if path is not None and self._is_our_turn(path):
                found = self._load(path, target)  # somebody may have been quicker
        if found is not None:
            self.release()
        else:
            announce(self.game, path is not None and os.access(path.parent, os.W_OK))
        return found

    def save_overload(self, signature: Any, result: CompileResult) -> None:
        try:
            path = self._path(signature, result.codegen)
            if result.library.has_dynamic_globals or any(not part.can_cache for part in result.lifted):
                warn_of_lost_kernels(f"{self.name} holds addresses of this process")
            elif path is not None:
                write_sealed(path, dumps(result._reduce()))
                tidy(path.parent)
        except OSError as reason:
            warn_of_lost_kernels(str(reason))
        finally:
            self.release()

    def release(self) -> None:
        """Lets those compile who wait for us."""
        if self.lock is not None:
            self.lock.release()
            self.lock = None

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        """One file for what is compiled for these types, on this kind of processor."""
        if self.folder is None:
            return None
        key = HASH(repr((signature, codegen.magic_tuple())).encode()).hexdigest()[:16]
        return self.folder / f"{self.name}.{key}.kernel"

    def _load(self, path: Path | None, target: Any) -> CompileResult | None:
        if path is None:
            return None
        try:
            found = CompileResult._rebuild(target, *pickle.loads(read_sealed(path)))
            with suppress(OSError):
                os.utime(path)  # it was used: see `tidy`
            return found
        except FileNotFoundError:
            return None
        except Exception:  # of a file that another version wrote, anything can be raised
            with suppress(OSError):
                path.unlink()
            return None

    def _is_our_turn(self, path: Path) -> bool:
        """Waits until nobody else compiles the same."""
        from filelock import FileLock, Timeout  # it takes a while, and most starts compile nothing

        self.release()
        # not a lock of this thread: whoever ends the compiling lets it go
        lock = FileLock(path.with_suffix(".lock"), timeout=LONGEST_WAIT, thread_local=False)
        try:
            lock.acquire()
        except (OSError, Timeout):
            return False
        self.lock = lock
        return True


# What is said meanwhile.

_hearing: ContextVar[Callable[[], None] | None] = ContextVar("hearing", default=None)


@contextmanager
def telling(say: Callable[[], None]) -> Iterator[None]:
    """Within, `say` is called before something is compiled, or waited for while another process compiles it."""
    token = _hearing.set(say)
    try:
        yield
    finally:
        _hearing.reset(token)


@cache
def announce(game: str, is_kept: bool) -> None:
    """Says in one line a game on stderr that something is compiled."""
    kept = "; it is kept on disk" if is_kept else ""
    print(f"tengen: compiling a part of {game}{kept}", file=sys.stderr, flush=True)


def read_sealed(path: Path) -> bytes:
    """What was written, if it is whole and by us; raises Untrusted or ValueError if not."""
    with path.open("rb") as file:
        check_ours(os.fstat(file.fileno()), path)
        head, content = file.read(len(MAGIC) + HASH().digest_size), file.read()
    if head != MAGIC + HASH(content).digest():
        raise ValueError(f"{path} is damaged")
    return content


def write_sealed(path: Path, content: bytes) -> None:
    """Writes a file with its checksum, whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(MAGIC + HASH(content).digest() + content)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


# What there is, and what goes.


def kept_in(folder: Path) -> list[tuple[float, int, Path]]:
    """Our files in a folder: when each was last used, its size, and its path, the newest first."""
    found = []
    for path in folder.rglob("*"):
        if not OURS.fullmatch(path.name):
            continue
        with suppress(FileNotFoundError):
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    return sorted(found, reverse=True)


def tidy(folder: Path, longest: float = LONGEST_UNUSED, most: int = MOST_BYTES) -> int:
    """Deletes what was not used for so many seconds, and the oldest beyond so many bytes; returns how many."""
    kept, deleted, now = 0, 0, time.time()
    for used, size, path in kept_in(folder):
        kept += size
        if kept > most or now - used > longest:
            with suppress(OSError):  # another process may have been quicker, or reads it
                path.unlink()
                if path.suffix == ".kernel":
                    path.with_suffix(".lock").unlink(missing_ok=True)
                deleted += 1
    return deleted


# Who could have written it.


def cache_folder() -> Path:
    """Where compiled kernels are kept; raises Untrusted, or another OSError, where they cannot be."""
    if config.CACHE_DIR:
        folder = Path(config.CACHE_DIR)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or home_folder() / ".cache") / "tengen"
        folder = home / "kernels"
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    check_private(folder)
    return folder


def home_folder() -> Path:
    try:
        return Path.home()
    except RuntimeError as reason:  # a user without a name, as containers have them
        raise OSError("there is no home folder") from reason


def check_private(folder: Path) -> None:
    """Raises Untrusted if anybody but the user and the administrator can put files into a folder, or replace it.

    Where systems know no such rights, nothing is checked.
    """
    check_ours(folder.lstat(), folder)
    for path in {*folder.absolute().parents, *folder.resolve().parents}:
        check_owner(path.lstat(), path, is_parent=True)  # of a link: whoever owns it can point it elsewhere
        check_ours(path.stat(), path, is_parent=True)


def check_ours(status: os.stat_result, path: Path, is_parent: bool = False) -> None:
    """Raises Untrusted unless a file or folder is ours, and only we write to it.

    A folder above ours may be the administrator's, and others may write to it if they cannot remove what is ours there.
    """
    if not hasattr(os, "getuid"):
        return
    if stat.S_ISLNK(status.st_mode):
        raise Untrusted(f"{path} is a link")
    check_owner(status, path, is_parent)
    is_shared = status.st_mode & OTHERS_WRITE and not (is_parent and status.st_mode & stat.S_ISVTX)
    if is_shared and not _is_private_group(status):
        raise Untrusted(f"others may write to {path}; chmod go-w it once you know that nobody did")


def check_owner(status: os.stat_result, path: Path, is_parent: bool = False) -> None:
    """Raises Untrusted if a file, folder or link is somebody else's; one above ours may be the administrator's."""
    if hasattr(os, "getuid") and status.st_uid != os.getuid() and not (is_parent and status.st_uid == 0):
        raise Untrusted(f"{path} belongs to somebody else")


def _is_private_group(status: os.stat_result) -> bool:
    """Whether only the group may write besides its owner, and is the owner's alone, as many systems make it."""
    if status.st_mode & stat.S_IWOTH:
        return False
    import grp
    import pwd

    try:
        name, group = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    return group.gr_name == name and set(group.gr_mem) <= {name}


@cache
def cache_for_all() -> Path | None:
    """The folder of compiled kernels, looked at once; None, with a word of why, if nothing can be kept."""
    try:
        return cache_folder()
    except OSError as reason:
        warn_of_lost_kernels(str(reason))
        return None


@cache
def warn_of_lost_kernels(reason: str) -> None:
    print(f"tengen: compiled kernels cannot be kept ({reason}); set XDG_CACHE_HOME", file=sys.stderr, flush=True)


def file_name(text: str) -> str:
    """A text that can stand in a file's name."""
    return re.sub(r"\W", "_", text)[-LONGEST_NAME:]
