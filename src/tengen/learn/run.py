"""The folder of a training run: whatever happens to the process, what was saved last is whole and can be gone on with.

    config.toml               the settings, spelled out
    metrics.jsonl             one line a generation
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from tengen.learn.settings import Settings, read_settings
from tengen.records import disk
from tengen.rules.errors import TengenError

FORMAT = 1  # of the folder: what another number means, this version does not know
KEPT = 3  # checkpoints
OURS = re.compile(r"(?:checkpoints|replay|nets|games)/\.?(\d{6,})\.(?:json|safetensors|onnx|sgf)(?:\.part)?")


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


def write_file(path: Path, content: bytes) -> None:
    """Writes a file of the run, whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        disk.write_file(path, content)
    except OSError as reason:
        raise RunError(
            f"{path} cannot be written: {reason.strerror}. What was saved before is whole: "
            "put that right, and the same command goes on from there"
        ) from reason


def hash_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def packed(arrays: Arrays) -> bytes:
    """Arrays as safetensors, which would write the memory of one that is not contiguous in a wrong order."""
    return save({name: np.array(array, order="C") for name, array in arrays.items()})


def read_manifest(path: Path) -> dict[str, Any]:
    """What a checkpoint says of itself."""
    try:
        facts = json.loads(path.read_bytes())
        wanted = facts.pop("hash")
    except (ValueError, KeyError, AttributeError, TypeError):
        raise Damaged(f"{path} is damaged") from None
    if hash_of(json.dumps(facts).encode()) != wanted:
        raise Damaged(f"{path} is damaged")
    return facts


def read_checked(path: Path, wanted: str) -> bytes:
    """A file's content, if it has that hash."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise Damaged(f"{path} is missing") from None
    if hash_of(content) != wanted:
        raise Damaged(f"{path} is damaged")
    return content


def newest_weights(folder: Path) -> Arrays:
    """The model's weights in the newest checkpoint of a run that others may have open."""
    paths = sorted(folder.glob("checkpoints/*.json"))
    if not paths:
        raise RunError(f"{folder} is no run with a checkpoint")
    try:
        ((name, wanted),) = read_manifest(paths[-1])["state"].items()
        arrays = load(read_checked(folder / name, wanted))
    except Damaged as reason:
        raise RunError(str(reason)) from reason
    return {key.removeprefix("model."): array for key, array in arrays.items() if key.startswith("model.")}


class Run:
    """An open run folder, which no other process can open at the same time."""

    def __init__(self, folder: Path, settings: Settings, say: Callable[[str], None] = print):
        self.folder, self.settings, self.say = folder, settings, say
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = disk.lock(folder / "lock")
        except BlockingIOError:
            raise RunError(f"{folder} is in use by another process; give another folder with --run") from None
        except OSError as reason:
            raise RunError(f"{folder} cannot be used: {reason.strerror}") from reason
        self._games: dict[str, str] = {}  # the files of the window, with their hashes
        self._check_settings()

    def close(self) -> None:
        self._lock.close()

    def abandon(self) -> None:
        """The run cannot be opened after all. One that never began leaves no settings, which would bind the next."""
        if not any(self.folder.glob("checkpoints/*.json")):
            (self.folder / "config.toml").unlink(missing_ok=True)
        self.close()

    def _check_settings(self) -> None:
        """The settings of a run stay as they are. As many groups as there are cores are those of the first machine."""
        path, marker = self.folder / "config.toml", f"# format {FORMAT}\n"
        if not path.exists():
            if any(other.name != "lock" for other in self.folder.iterdir()):
                raise RunError(f"{self.folder} holds other files and no run; give a new folder with --run")
            groups = self.settings.run.groups or os.cpu_count() or 1
            self.settings = replace(self.settings, run=replace(self.settings.run, groups=groups))
            write_file(path, (marker + self.settings.text()).encode())
            return
        if not path.read_bytes().startswith(marker.encode()):
            raise RunError(f"{self.folder} was made by another version of Tengen, in another format than {FORMAT}")
        there = read_settings(path)
        if not self.settings.run.groups:
            self.settings = replace(self.settings, run=replace(self.settings.run, groups=there.run.groups))
        for table, keys in vars(there).items():
            for key, value in vars(keys).items():
                wanted = getattr(getattr(self.settings, table), key)
                if value != wanted:
                    raise RunError(
                        f"{self.folder} was begun with {table}.{key} = {value}, not {wanted}; "
                        "give another folder with --run, or the settings that it was begun with"
                    )

    # Saving

    def save(
        self, counters: Counters, arrays: dict[str, np.ndarray], games: dict[str, np.ndarray], oldest: int
    ) -> None:
        """Saves a generation: the trainer's and the groups' arrays, and the games that were played in it.

        Games before generation `oldest` are out of the window, and are deleted once no checkpoint needs them.
        """
        name = f"{counters.generation:06}"
        state, played = f"checkpoints/{name}.safetensors", f"replay/{name}.safetensors"
        hashes = {path: self._write(path, packed(content)) for path, content in ((state, arrays), (played, games))}
        self._games = {path: known for path, known in self._games.items() if int(Path(path).stem) >= oldest}
        self._games[played] = hashes[played]
        facts = {
            "counters": vars(counters),
            "state": {state: hashes[state]},
            "games": self._games,
            "metrics": self._metrics_size(),
        }
        sealed = {**facts, "hash": hash_of(json.dumps(facts).encode())}
        self._write(f"checkpoints/{name}.json", json.dumps(sealed).encode())
        self._tidy(oldest)

    def _write(self, path: str, content: bytes) -> str:
        write_file(self.folder / path, content)
        return hash_of(content)

    def _tidy(self, oldest: int) -> None:
        """Deletes all but the newest checkpoints and the games that they need."""
        for path in sorted(self.folder.glob("checkpoints/*.json"))[:-KEPT]:
            path.unlink()
            path.with_suffix(".safetensors").unlink(missing_ok=True)
        for path in self.folder.glob("replay/*.safetensors"):
            if int(path.stem) < oldest - KEPT:
                path.unlink(missing_ok=True)

    # Going on

    def newest(self) -> tuple[Counters, Arrays] | None:
        """The newest checkpoint that is whole, or None if the run has none yet; later work is cleared away."""
        paths = sorted(self.folder.glob("checkpoints/*.json"), reverse=True)
        for path in paths:
            try:
                facts = read_manifest(path)
                (state,) = (read_checked(self.folder / name, wanted) for name, wanted in facts["state"].items())
            except Damaged as reason:
                self.say(f"{reason}: going back to the checkpoint before")
                continue
            counters, self._games = Counters(**facts["counters"]), facts["games"]
            self._clear_after(counters.generation, facts["metrics"])
            return counters, load(state)
        if paths:
            raise RunError(f"{self.folder}: none of its {len(paths)} checkpoints is whole")
        self._clear_after(0, 0)
        return None

    def games(self) -> Iterator[tuple[int, Arrays]]:
        """The games of the checkpoint's window, generation by generation; what is damaged is left out."""
        for name, wanted in self._games.items():
            try:
                yield int(Path(name).stem), load(read_checked(self.folder / name, wanted))
            except Damaged as reason:
                self.say(f"{reason}: its games are left out")

    def _clear_after(self, generation: int, metrics: int) -> None:
        """Removes what a killed process did after its last save."""
        for path in self.folder.glob("*/*"):
            own = OURS.fullmatch(f"{path.parent.name}/{path.name}")
            if own and (path.name.endswith(".part") or int(own[1]) > generation):
                path.unlink(missing_ok=True)
        path = self.folder / "metrics.jsonl"
        if path.exists() and path.stat().st_size > metrics:
            os.truncate(path, metrics)

    # Telling

    def add_metrics(self, line: dict[str, Any]) -> None:
        try:
            with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as reason:
            raise RunError(f"{self.folder}/metrics.jsonl cannot be written: {reason.strerror}") from reason

    def _metrics_size(self) -> int:
        path = self.folder / "metrics.jsonl"
        return path.stat().st_size if path.exists() else 0

    def net_path(self, generation: int) -> Path:
        return self.folder / f"nets/{generation:06}.onnx"
