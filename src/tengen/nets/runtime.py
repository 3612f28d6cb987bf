"""Nets in play: ONNX files, evaluated by ONNX Runtime. Nothing here needs torch, nothing is unpickled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from functools import cache
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple

import numpy as np

from tengen.nets.metadata import NetError, NetMetadata
from tengen.nets.session import PROVIDERS, answer, onnx_runtime, open_session
from tengen.rules.errors import nearest
from tengen.rules.game import Game, Position

SHIPPED = Path(__file__).parent.parent / "models"
PAPERS = "gobang"  # a paper's nets, which its experiment plays with: their names begin so, and others are stronger
LARGEST_FILE = 2**30  # bytes of a net
ROUNDING = 1e-5  # by which a value may exceed 1
LARGEST_LOGIT = 1e30  # beyond it, sums and products of what a net says are no numbers any more
PATIENCE = 120  # seconds that a stranger's first answer may take, on a busy machine
TRIAL = [sys.executable, "-P", "-c", "from tengen.nets.inspection import main; main()"]


class NetAnswer(NamedTuple):
    """A net's evaluation of a position, without any search."""

    value: float  # in [−1, 1], for the player to move
    policy: dict[int, float]  # the chance of each legal action, the likeliest first


class OnnxNet:
    """The file of a net in ONNX Runtime, which evaluates it on the calling thread; several threads may call it at once.

    The same planes get the same answers, bit by bit, in batches of the same size.
    """

    metadata: Any

    def __init__(self, source: bytes | Path, device: str, kind: Any):
        """A net's file, which is inspected first unless we ship it, or the content of a trusted file.

        `kind` is the class of its metadata.
        """
        self.name = "this net" if isinstance(source, bytes) else source.name
        content = source if isinstance(source, bytes) else read_trusted(source)
        self.session = new_session(content, self.name, device)
        self.metadata = kind.read(self.name, self.session.get_modelmeta().custom_metadata_map)

    def check_form(self, planes: int, shape: tuple[int, int], *outputs: tuple[Any, ...]) -> None:
        """Refuses a file that takes other planes, or gives other `outputs` (name and shape), than its metadata say."""
        self.planes, self.shape = planes, shape
        takes = [(part.name, *part.shape[1:]) for part in self.session.get_inputs()]
        gives = [(part.name, *part.shape[1:]) for part in self.session.get_outputs()]
        if (takes, gives) != ([("planes", planes, *shape)], [*outputs]):
            raise NetError(f"{self.name} is damaged: it takes {takes} and gives {gives}, which is not what it says")

    def outputs(self, planes: np.ndarray) -> list[np.ndarray]:
        """All that the net answers to planes [states, planes, cells]."""
        cells = self.shape[0] * self.shape[1]
        if planes.shape[1:] != (self.planes, cells):
            raise NetError(f"{self.name} is asked about {planes.shape}; it takes [states, {self.planes}, {cells}]")
        board = np.ascontiguousarray(planes, np.float32).reshape(-1, self.planes, *self.shape)
        return outputs_of(self.session, self.name, board)


class Net(OnnxNet):
    """A net with policy and value, as searches evaluate it: planes to logits [states, actions] and values [states]."""

    metadata: NetMetadata

    def __init__(self, source: bytes | str | Path, device: str = "cpu"):
        """A net's file, which is inspected first unless we ship it; or the content of a trusted file."""
        super().__init__(source if isinstance(source, bytes) else Path(source), device, NetMetadata)
        own = self.metadata
        self.check_form(len(own.planes), own.shape, ("logits", own.actions), ("values",))

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits, values = self.outputs(planes)
        check_answer(self.name, logits, (len(planes), self.metadata.actions), LARGEST_LOGIT)
        return logits, checked_values(self.name, values, len(planes))

    def evaluate(self, position: Position) -> NetAnswer:
        """The net's value and policy for one position of its game that is not over."""
        self.metadata.check_for(position.game, self.name)
        if not position.legal_actions:
            raise NetError(f"{self.name} is asked about a game that is over")
        logits, values = self(position.encode().reshape(1, len(self.metadata.planes), -1))
        legal = np.array(position.legal_actions)
        chances = np.exp(logits[0, legal] - logits[0, legal].max())
        likely = {int(legal[i]): float(chances[i] / chances.sum()) for i in np.argsort(-chances, kind="stable")}
        return NetAnswer(float(values[0]), likely)


def outputs_of(session: Any, name: str, board: np.ndarray) -> list[np.ndarray]:
    """All that the session of the net `name` answers; raises NetError if it cannot, or takes too long."""
    try:
        answers: list[np.ndarray] = answer(session, {"planes": board})
    except Exception as reason:  # ONNX Runtime's exceptions have no other base in common
        raise NetError(f"{name} cannot answer: {reason}") from reason
    return answers


def check_answer(name: str, answer: np.ndarray, shape: tuple[int, ...], largest: float) -> None:
    """Refuses what no search can go on with: other sizes, and numbers that are none or too large."""
    if answer.shape != shape or answer.dtype != np.float32:
        raise NetError(f"{name} is damaged: it answers with {answer.dtype} {answer.shape} instead of float32 {shape}")
    if not (np.abs(answer) <= largest).all():  # nor is NaN
        wrong = answer[~(np.abs(answer) <= largest)][0]
        raise NetError(f"{name} is damaged: it answers {wrong}, which is not between {-largest:.3g} and {largest:.3g}")


def checked_values(name: str, values: np.ndarray, count: int) -> np.ndarray:
    """Values between −1 and 1: a tanh may round to a little more."""
    check_answer(name, values, (count,), 1 + ROUNDING)
    clipped: np.ndarray = np.clip(values, -1, 1)
    return clipped


def new_session(model: bytes, name: str, device: str) -> Any:
    """ONNX Runtime for one model, without threads of its own."""
    if device not in PROVIDERS:
        raise NetError(f"device={device} is unknown{nearest(device, PROVIDERS)}")
    if PROVIDERS[device] not in onnx_runtime().get_available_providers():
        raise NetError(f"ONNX Runtime cannot use device={device} here; for cuda, install onnxruntime-gpu")
    try:
        return open_session(model, device)
    except Exception as reason:  # its exceptions have no other base in common
        raise NetError(f"{name} is damaged, or no ONNX file: {reason}") from reason


def load_net(name: str, game: Game, device: str = "cpu") -> Net:
    """The net that `name` stands for (see `find_net`); raises NetError unless it is for `game`."""
    net = Net(find_net(name), device)
    net.metadata.check_for(game, net.name)
    return net


def find_net(name: str, folder: Path | None = None) -> Path:
    """The ONNX file of a net: `name` is a file, a run's folder (its newest net), or a net that we ship.

    Shipped nets are in models/, unless another `folder` is given.
    """
    path = Path(name)
    if path.is_dir():
        nets = sorted(path.glob("nets/*.onnx"))
        if not nets:
            raise NetError(f"{name} is a folder without nets: a run keeps them as {path / 'nets' / '*.onnx'}")
        return nets[-1]
    if path.is_file():
        return path
    if name in (shipped := shipped_nets(folder)):
        return (folder or SHIPPED) / f"{name}.onnx"
    raise NetError(f"no net is called {name!r}, nor a file or a run folder{nearest(name, shipped)}")


def shipped_nets(folder: Path | None = None) -> list[str]:
    """The names of the nets that we ship, in models/ or in `folder`."""
    return sorted(path.stem for path in (folder or SHIPPED).glob("*.onnx"))


def net_for(game: Game) -> str | None:
    """The name of the strongest net that we ship for this very game; None if there is none."""
    strong = (name for name in shipped_nets() if not name.startswith(PAPERS))
    return next((name for name in strong if metadata_of(name).is_for(game)), None)


@cache
def metadata_of(name: str) -> NetMetadata:
    """The metadata of the shipped net `name`."""
    return Net(SHIPPED / f"{name}.onnx").metadata


def read_net(path: Path) -> bytes:
    """The content of a net's file."""
    try:
        if not S_ISREG(path.stat().st_mode):
            raise NetError(f"{path} cannot be read: it is no file")
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as reason:
        raise NetError(f"{path} cannot be read: {reason.strerror}") from reason
    if len(content) > LARGEST_FILE:
        raise NetError(f"{path} is no net: it has more than {LARGEST_FILE // 2**20} megabytes")
    return content


def read_trusted(path: Path) -> bytes:
    """The content of a net's file that is safe to load: a net that we do not ship is inspected and tried first."""
    content = read_net(path)
    if not path.resolve().is_relative_to(SHIPPED.resolve()):
        check_kept(path, content)
        try_out(content, path.name)
    return content


def check_kept(path: Path, content: bytes) -> None:
    """Refuses a net in the folder of a run whose newest checkpoint knows another content of it."""
    manifests = sorted(path.parent.parent.glob("checkpoints/*.json")) if path.parent.name == "nets" else []
    try:
        known = json.loads(read_net(manifests[-1]))["files"][f"nets/{path.name}"]
    except (IndexError, KeyError, TypeError, ValueError, RecursionError, NetError):  # nothing is known of it
        return
    if known != sha256(content).hexdigest():
        raise NetError(f"{path} is damaged: it is not what its run has written")


_trying = threading.Lock()
_found_wrong: dict[bytes, str] = {}  # with nets that were tried out, by their hash; nothing with most of them


def try_out(content: bytes, name: str) -> None:
    """Raises NetError if a net is more than plain layers, or its first answer takes too much: see inspection.py."""
    key = sha256(content).digest()
    with _trying:
        if key not in _found_wrong:
            _found_wrong[key] = what_is_wrong(content)
    if wrong := _found_wrong[key]:
        raise NetError(f"{name} {wrong}")


def what_is_wrong(content: bytes) -> str:
    """What is wrong with a net, or ""; found out in a process of its own, which may hang or be killed."""
    places = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": places, "OPENBLAS_NUM_THREADS": "1"}
    try:
        trial = subprocess.run(TRIAL, input=content, capture_output=True, env=environment, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"gave no answer within {PATIENCE} seconds"
    said = trial.stdout.decode(errors="replace").strip()
    if trial.returncode == 0:
        return said
    last = trial.stderr.decode(errors="replace").strip().splitlines()[-1:]
    return f"took too much time or memory for its first answer ({said or ''.join(last) or trial.returncode})"
