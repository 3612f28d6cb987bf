"""The folder of a training run: whatever happens to the process, what was saved last is whole and can be gone on with.

    config.toml               the settings, spelled out
    metrics.jsonl             one line a generation; metrics.lost.jsonl: lines that a run went back behind
    checkpoints/000012.json   says what belongs together after generation 12: files with their hashes, and counters
    checkpoints/000012.safetensors   weights, optimiser, games under way
    replay/000012.safetensors        the games of generation 12; those out of the window are deleted
    nets/000012.onnx          nets for playing: the newest, and those that were evaluated
    games/000012.sgf, events/, report.html

A file is written under another name, flushed to the disk and renamed. A generation is saved when its .json is there.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from tengen.learn.settings import Tables
from tengen.records import disk
from tengen.rules.errors import TengenError

FORMAT = 1  # of the folder: what another number means, this version does not know
MARKER = f"# format {FORMAT}\n".encode()  # how config.toml begins
KEPT = 3  # checkpoints
OURS = re.compile(r"(?:checkpoints|replay|nets|games|data)/\.?(\d{6,})\.(?:json|safetensors|onnx|sgf)(?:\.part)?")
FOLDERS = ("checkpoints", "replay", "nets", "games", "events", "data")
FILES = ("lock", "config.toml", "metrics.jsonl", "metrics.lost.jsonl", "report.html", "cluster.json", "policy.onnx")

Arrays = dict[str, np.ndarray]


class RunError(TengenError):
    """A run folder that cannot be gone on with, or not now."""


class Damaged(RunError):
    """A file that is not what was saved; what else cannot be read may be read later."""


@dataclass
class Counters:
    """How far a run has got."""

    generation: int = 0
    games: int = 0
    positions: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    best: int = 0  # the generation of the strongest net so far
    results: list[list[Any]] = field(default_factory=list)  # of matches: two players, then wins, draws and losses


@contextmanager
def disk_errors_explained(folder: Path) -> Iterator[None]:
    """Turns an OSError into a RunError that says what is saved of the run in `folder`."""
    try:
        yield
    except OSError as reason:
        words = f"{reason.filename or folder}: {reason.strerror or reason}"
        raise RunError(f"{words}. Put that right; {what_is_saved(folder)}") from reason


def what_is_saved(folder: Path) -> str:
    """A sentence on what the same command would resume from."""
    try:
        if not folder.exists():
            return f"{folder} was moved or deleted, and what was saved with it"
        paths = checkpoints(folder)
    except OSError:
        return "what is saved cannot be read"
    if paths:
        return f"generation {int(paths[-1].stem)} is saved, and the same command goes on from there"
    return "no generation is saved yet, and the same command begins anew"


def write_file(path: Path, content: bytes) -> None:
    """Writes a file of the run, whole or not at all; raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        disk.write_file(path, content)
    except OSError as reason:
        raise OSError(reason.errno, reason.strerror, str(path)) from reason


def checkpoints(folder: Path) -> list[Path]:
    """The manifests of a run's checkpoints, the newest last; raises OSError if the folder cannot be read."""
    there = folder / "checkpoints"
    names = sorted(os.listdir(there)) if there.exists() else []
    return [there / name for name in names if re.fullmatch(r"\d{6,}\.json", name)]


def check_kinds(folder: Path) -> None:
    """Refuses a folder in place of a run's file, and other such things: reading a named pipe would never end."""
    for path in (folder / name for name in FOLDERS):
        if os.path.lexists(path) and not path.is_dir():
            raise RunError(f"{path} is not a folder, which a run keeps there: move it away")
    ours = [path for path in folder.glob("*/*") if generation_of(path) is not None]
    for path in [*(folder / name for name in FILES), *ours]:
        if os.path.lexists(path) and not path.is_file():
            raise RunError(f"{path} is not a plain file, which a run keeps there: move it away")


def generation_of(path: Path) -> int | None:
    """Of which generation a file in one of a run's folders is; None if it is none of ours."""
    own = OURS.fullmatch(f"{path.parent.name}/{path.name}")
    return int(own[1]) if own else None


def hash_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def packed(arrays: Arrays) -> bytes:
    """Arrays as safetensors, which would write the memory of one that is not contiguous in a wrong order."""
    return save({name: np.array(array, order="C") for name, array in arrays.items()})


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a checkpoint; raises Damaged if it is not what was written."""
    try:
        manifest = json.loads(path.read_bytes())
        wanted = manifest.pop("hash")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise Damaged(f"{path} is damaged") from None
    if hash_of(json.dumps(manifest).encode()) != wanted:
        raise Damaged(f"{path} is damaged")
    return manifest


def read_checked(path: Path, wanted: str) -> bytes:
    """A file's content, if it has that hash."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise Damaged(f"{path} is missing") from None
    if hash_of(content) != wanted:
        raise Damaged(f"{path} is damaged")
    return content


def newest_checkpoint(folder: Path) -> dict[str, Any]:
    """The manifest of a run's newest checkpoint. Another process may have the run open."""
    check_kinds(folder)
    paths = checkpoints(folder)
    if not paths:
        raise RunError(f"{folder} is no run with a checkpoint")
    return read_manifest(paths[-1])


def newest_weights(folder: Path) -> Arrays:
    """The model's weights in the newest checkpoint of a run."""
    ((name, wanted),) = newest_checkpoint(folder)["state"].items()
    arrays = load(read_checked(folder / name, wanted))
    return {key.removeprefix("model."): array for key, array in arrays.items() if key.startswith("model.")}


def newest_games(folder: Path) -> Iterator[tuple[int, Arrays]]:
    """The games that a run learns from at its newest checkpoint, generation by generation."""
    for name, wanted in newest_checkpoint(folder)["games"].items():
        yield int(Path(name).stem), load(read_checked(folder / name, wanted))


def game_of_run(folder: Path) -> str:
    """The game of a run as its settings name it; nothing is loaded, and no file of a game is run."""
    path = folder / "config.toml"
    try:
        named = tomllib.loads(path.read_text(encoding="utf-8"))["run"]["game"]
    except OSError as reason:
        raise RunError(f"{folder} is no run: {path.name} cannot be read ({reason.strerror})") from reason
    except (ValueError, KeyError, TypeError, RecursionError) as reason:
        raise RunError(f"{path} is damaged: it does not say which game the run plays") from reason
    return str(named)


class Run:
    """An open run folder, which no other process can open at the same time."""

    def __init__(self, folder: Path, settings: Tables, say: Callable[[str], None] = print):
        self.folder, self.say = folder, say
        self.settings: Any = settings
        try:
            folder.mkdir(parents=True, exist_ok=True)
            check_kinds(folder)
            self._lock = disk.lock(folder / "lock")
        except BlockingIOError:
            raise RunError(f"{folder} is in use by another process; give another folder with --run") from None
        except OSError as reason:
            raise RunError(f"{folder} cannot be used: {reason.strerror}") from reason
        self._games: dict[str, str] = {}  # the files of the window, with their hashes
        self._kept: dict[str, str] = {}  # other files that the run itself reads again, with theirs
        self._is_new = False
        try:
            self._check_settings()
        except TengenError:
            self.abandon()
            raise

    def close(self) -> None:
        self._lock.close()

    def abandon(self) -> None:
        """The run cannot be opened after all. One that never began leaves nothing, which would bind the next."""
        if self._is_new:
            for name in ["config.toml", *self._kept]:
                self.drop(name)
            for name in FOLDERS:
                with suppress(OSError):  # it is not there, or not empty
                    (self.folder / name).rmdir()
        self.close()

    def _check_settings(self) -> None:
        """Begins a run, or refuses settings that differ from those that it was begun with."""
        path = self.folder / "config.toml"
        if not path.exists():
            self.settings = self.settings.resumed()
            self._begin()
            return
        if not path.read_bytes().startswith(MARKER):
            raise RunError(f"{self.folder} was made by another version of Tengen, in another format than {FORMAT}")
        there = self.settings.read(path)
        self.settings = self.settings.resumed(there)
        for table, keys in vars(there).items():
            for key, value in vars(keys).items():
                wanted = getattr(getattr(self.settings, table), key)
                if value != wanted and f"{table}.{key}" not in self.settings.movable:
                    raise RunError(
                        f"{self.folder} was begun with {table}.{key} = {value}, not {wanted}; "
                        "give another folder with --run, or the settings that it was begun with"
                    )

    def _begin(self) -> None:
        """A new run writes its settings."""
        if any(other.name != "lock" for other in self.folder.iterdir()):
            raise RunError(f"{self.folder} holds other files and no run; give a new folder with --run")
        self._is_new = True
        write_file(self.folder / "config.toml", MARKER + self.settings.text().encode())

    # Saving

    def save(self, counters: Counters, arrays: Arrays, games: Arrays | None = None, oldest: int = 0) -> None:
        """Saves a generation: the arrays of all that learns and plays, and the games that were played in it, if any.

        Games before generation `oldest` are out of the window, and are deleted once no checkpoint needs them.
        """
        state = f"checkpoints/{counters.generation:06}.safetensors"
        content = {state: self.write(state, packed(arrays))}
        if games is not None:
            played = f"replay/{counters.generation:06}.safetensors"
            self._games = {path: known for path, known in self._games.items() if int(Path(path).stem) >= oldest}
            self._games[played] = self.write(played, packed(games))
        self._write_manifest(counters, content)
        self._tidy(oldest)

    def _write_manifest(self, counters: Counters, state: dict[str, str]) -> None:
        """Writes the file that says what belongs to a checkpoint; from then on the generation is saved."""
        manifest = {
            "counters": vars(counters),
            "state": state,
            "games": self._games,
            "files": self._kept,
            "metrics": self._metrics_size(),
        }
        signed = {**manifest, "hash": hash_of(json.dumps(manifest).encode())}
        self.write(f"checkpoints/{counters.generation:06}.json", json.dumps(signed).encode())

    def write(self, name: str, content: bytes) -> str:
        """Writes a file of the folder, and returns its hash."""
        self.check_there()
        write_file(self.folder / name, content)
        return hash_of(content)

    def keep(self, name: str, content: bytes) -> None:
        """Writes a file that is to be read again: a checkpoint will say which content is right."""
        self._kept[name] = self.write(name, content)

    def read(self, name: str) -> bytes:
        """The content that was kept as `name`; raises Damaged if it has changed, as far as its hash is known."""
        path = self.folder / name
        if name not in self._kept and path.exists():
            self._kept[name] = hash_of(path.read_bytes())
        return read_checked(path, self._kept.get(name, ""))

    def drop(self, name: str) -> None:
        """Deletes a file that was kept."""
        self._kept.pop(name, None)
        (self.folder / name).unlink(missing_ok=True)

    def check_there(self) -> None:
        """Raises RunError if the folder is not the one that was opened: half of a run is not written in its place."""
        with suppress(FileNotFoundError):
            there = (self.folder / "lock").stat()
            if os.path.samestat(there, os.fstat(self._lock.fileno())) and (self.folder / "config.toml").exists():
                return
        raise RunError(f"{self.folder} was moved or deleted while its run went on, and what was saved with it")

    def _tidy(self, oldest: int) -> None:
        """Deletes all but the newest checkpoints and the games that they need."""
        for path in checkpoints(self.folder)[:-KEPT]:
            path.unlink()
            path.with_suffix(".safetensors").unlink(missing_ok=True)
        for path in self.folder.glob("replay/*.safetensors"):
            if int(path.stem) < oldest - KEPT:
                path.unlink(missing_ok=True)

    # Going on

    def newest(self) -> tuple[Counters, Arrays] | None:
        """The newest checkpoint that is whole, or None if the run has none yet; later work is cleared away."""
        paths = checkpoints(self.folder)
        for path in reversed(paths):
            try:
                manifest = read_manifest(path)
                (state,) = (read_checked(self.folder / name, wanted) for name, wanted in manifest["state"].items())
            except Damaged as reason:
                self.say(f"{reason}: going back to the checkpoint before")
                continue
            counters, self._games = Counters(**manifest["counters"]), manifest["games"]
            kept = manifest.get("files", {})  # which older versions did not write
            self._kept = {name: known for name, known in kept.items() if (self.folder / name).exists()}
            self._clear_after(counters.generation, manifest["metrics"])
            return counters, load(state)
        if paths:
            raise RunError(f"{self.folder}: none of its {len(paths)} checkpoints is whole")
        self._check_new()
        self._clear_after(0, 0)
        (self.folder / "checkpoints").mkdir(exist_ok=True)
        return None

    def _check_new(self) -> None:
        """Refuses to begin anew where generations were saved; who is killed in the first leaves some of it."""
        metrics = self.folder / "metrics.jsonl"
        lines = metrics.read_bytes().count(b"\n") if metrics.exists() else 0
        done = max([lines, *self._later(0).values()])
        if done > 1 or (done and not (self.folder / "checkpoints").exists()):
            raise RunError(
                f"{self.folder} holds files of generation {done}, and no checkpoint: {self.folder / 'checkpoints'} is "
                "missing or empty. Nothing was changed. Put the checkpoints back, or give another folder with --run"
            )

    def games(self) -> Iterator[tuple[int, Arrays]]:
        """The games of the checkpoint's window, generation by generation, except damaged ones."""
        for name, wanted in self._games.items():
            try:
                yield int(Path(name).stem), load(read_checked(self.folder / name, wanted))
            except Damaged as reason:
                self.say(f"{reason}: its games are left out")

    def _later(self, generation: int) -> dict[Path, int]:
        """Our files of generations after that one, each with its own; unfinished files are of none."""
        ours = {path: number for path in self.folder.glob("*/*") if (number := generation_of(path)) is not None}
        later = {path: number for path, number in ours.items() if number > generation}
        return later | {path: 0 for path in ours if path.name.endswith(".part")}

    def _clear_after(self, generation: int, metrics: int) -> None:
        """Removes what a killed process did after its last save, and what cannot be gone on with."""
        later = self._later(generation)
        for path in later:
            path.unlink(missing_ok=True)
        if (last := max(later.values(), default=0)) > generation + 1:
            self.say(f"{self.folder}: the nets and games of generations {generation + 1} to {last} are deleted")
        self._cut_metrics(generation, metrics)

    def _cut_metrics(self, generation: int, size: int) -> None:
        """Moves lines of later generations to another file; reports lines of earlier ones that are lost."""
        path, lost = self.folder / "metrics.jsonl", self.folder / "metrics.lost.jsonl"
        content = path.read_bytes() if path.exists() else b""
        if content[size:]:
            with lost.open("ab") as file:
                file.write(content[size:].rstrip(b"\n") + b"\n")
            os.truncate(path, size)
            self.say(f"{path}: what it says after generation {generation} is moved to {lost.name}")
        elif len(content) < size:
            self.say(f"{path} is missing or cut: what was measured up to generation {generation} is not all there")
            if content and not content.endswith(b"\n"):
                path.write_bytes(content + b"\n")  # or the next line would be lost with half of this one

    # Telling

    def add_metrics(self, line: dict[str, Any]) -> None:
        self.check_there()
        with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _metrics_size(self) -> int:
        path = self.folder / "metrics.jsonl"
        return path.stat().st_size if path.exists() else 0

    def net_path(self, generation: int) -> Path:
        return self.folder / net_name(generation)


def net_name(generation: int) -> str:
    """Where the net of a generation is, in the folder of its run."""
    return f"nets/{generation:06}.onnx"
