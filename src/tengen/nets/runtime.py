"""Nets as they are played: ONNX files, asked through ONNX Runtime. Nothing here needs torch, nothing is unpickled."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tengen.nets.facts import NetError, NetFacts
from tengen.rules.errors import nearest
from tengen.rules.game import Game

SHIPPED = Path(__file__).parent.parent / "models"
PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}


class OnnxNet:
    """An evaluator that works on the thread that asks, and may be asked by several threads at once.

    The same planes get the same answers, bit by bit, as long as they come in batches of the same size.
    """

    facts: NetFacts

    def __init__(self, source: bytes | str | Path, device: str = "cpu"):
        self.name = "this net" if isinstance(source, bytes) else Path(source).name
        self.session = new_session(source if isinstance(source, bytes) else read_net(Path(source)), self.name, device)
        self.facts = NetFacts.read(self.name, self.session.get_modelmeta().custom_metadata_map)
        takes = [(part.name, *part.shape[1:]) for part in self.session.get_inputs()]
        gives = [(part.name, *part.shape[1:]) for part in self.session.get_outputs()]
        shown = len(self.facts.planes), *self.facts.shape
        if (takes, gives) != ([("planes", *shown)], [("logits", self.facts.actions), ("values",)]):
            raise NetError(f"{self.name} is damaged: it takes {takes} and gives {gives}, which is not what it says")

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count, (rows, columns) = len(self.facts.planes), self.facts.shape
        if planes.shape[1:] != (count, rows * columns):
            raise NetError(f"{self.name} is asked about {planes.shape}; it takes [states, {count}, {rows * columns}]")
        board = np.ascontiguousarray(planes, np.float32).reshape(-1, count, rows, columns)
        logits, values = self.session.run(None, {"planes": board})
        return logits, values


def new_session(model: bytes, name: str, device: str) -> Any:
    """ONNX Runtime for one model, without threads of its own."""
    import onnxruntime  # it takes a fifth of a second, and most commands do without

    if device not in PROVIDERS:
        raise NetError(f"device={device} is unknown{nearest(device, PROVIDERS)}")
    if PROVIDERS[device] not in onnxruntime.get_available_providers():
        raise NetError(f"ONNX Runtime cannot use device={device} here; for cuda, install onnxruntime-gpu")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # errors alone
    try:
        return onnxruntime.InferenceSession(model, options, providers=[PROVIDERS[device]])
    except Exception as reason:  # its exceptions have no other base in common
        raise NetError(f"{name} is damaged, or no ONNX file: {reason}") from reason


def load_net(name: str, game: Game, device: str = "cpu") -> OnnxNet:
    """The net of a file, of a run folder (its newest), or of a name that we ship; only if it is for this very game."""
    net = OnnxNet(find_net(name), device)
    net.facts.check_for(game, net.name)
    return net


def find_net(name: str) -> Path:
    """The ONNX file that `name` stands for."""
    path, shipped = Path(name), SHIPPED / f"{name}.onnx"
    if path.is_dir():
        nets = sorted(path.glob("nets/*.onnx"))
        if not nets:
            raise NetError(f"{name} is a folder without nets: a run keeps them as {path / 'nets' / '*.onnx'}")
        return nets[-1]
    if path.is_file():
        return path
    if name in shipped_nets():
        return shipped
    raise NetError(f"no net is called {name!r}, nor a file or a run folder{nearest(name, shipped_nets())}")


def shipped_nets() -> list[str]:
    """The names of the nets that come with us."""
    return sorted(path.stem for path in SHIPPED.glob("*.onnx"))


def net_for(game: Game) -> str | None:
    """The name of the net that we ship for this very game; None if there is none."""
    return next((name for name in shipped_nets() if facts_of(name).is_for(game)), None)


@cache
def facts_of(name: str) -> NetFacts:
    """The facts of a net that we ship."""
    return OnnxNet(SHIPPED / f"{name}.onnx").facts


def read_net(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as reason:
        raise NetError(f"{path} cannot be read: {reason.strerror}") from reason
