"""Policy and value nets of Go on 9×9 in play: ONNX files, evaluated by ONNX Runtime, without torch.

These nets do not see the planes of the game's own `encode`, but others, which their metadata name: `go27` are those of
`knowledge/go_planes.py`. A policy net has a logit for each point and for a pass, a value net a value; no net has both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tengen.games import load_game
from tengen.knowledge.go_planes import PLANES
from tengen.nets.metadata import NetError, is_count, is_file, is_text, read_entries
from tengen.nets.runtime import LARGEST_LOGIT, SHIPPED, OnnxNet, check_answer, checked_values, find_net, shipped_nets
from tengen.rules.game import Game

FORMAT = "alphago 1"  # of the metadata in a file; a net for `puct` has another
FOLDER = SHIPPED / "alphago"  # of those that we ship
KINDS = {"policy": "logits", "value": "values"}  # what each gives
PLANE_SETS = {"go27": PLANES}


@dataclass(frozen=True)
class PlaneNetMetadata:
    """The metadata of a policy or value net. Read back, they are equal to what was written."""

    kind: str  # policy or value
    game: str  # the spec of what it was trained on; komi is not shown to it
    planes: str = "go27"
    channels: int = 128
    layers: int = 6  # convolutions, the 5×5 included
    run: str = ""  # the training run, and how many steps it had made
    step: int = 0

    _allowed: ClassVar[dict[str, Callable[[Any], bool]]] = {
        **dict.fromkeys(("kind", "game", "planes", "run"), is_text),
        **dict.fromkeys(("channels", "layers", "step"), is_count),
    }

    def texts(self) -> dict[str, str]:
        """The metadata as an ONNX file holds them: texts, each a piece of JSON."""
        return {"format": FORMAT, **{name: json.dumps(value) for name, value in asdict(self).items()}}

    @classmethod
    def read(cls, name: str, texts: Mapping[str, str]) -> PlaneNetMetadata:
        """The metadata of the file `name`, from its `texts`."""
        if texts.get("format") != FORMAT:
            raise NetError(f"{name} is no policy or value net of the AlphaGo way: `tengen train sl9` makes one")
        metadata = cls(**read_entries(name, texts, cls._allowed))
        if is_file(metadata.game):
            raise NetError(f"{name} is a net for {metadata.game}, a file, which is not run on a net's word")
        if metadata.kind not in KINDS or metadata.planes not in PLANE_SETS:
            raise NetError(
                f"{name} is a {metadata.kind} net that reads {metadata.planes}, which this version does not know"
            )
        return metadata


class PlaneNet(OnnxNet):
    """A policy or a value net."""

    kind = ""
    metadata: PlaneNetMetadata

    def __init__(self, source: bytes | str | Path, device: str = "cpu"):
        """A net's file, a run's folder (its newest net), the name of a net we ship, or a trusted file's content."""
        super().__init__(source if isinstance(source, bytes) else find_plane_net(source), device, PlaneNetMetadata)
        if self.metadata.kind != self.kind:
            raise NetError(f"{self.name} is a {self.metadata.kind} net; a {self.kind} net is needed here")
        shape = load_game(self.metadata.game).shape
        size = (shape[0] * shape[1] + 1,) if self.kind == "policy" else ()
        self.check_form(PLANE_SETS[self.metadata.planes], shape, (KINDS[self.kind], *size))

    def check_for(self, game: Game) -> None:
        """Refuses a board of another size. Komi may differ: the net does not see it."""
        own = load_game(self.metadata.game)
        if (game.name, game.shape) != (own.name, own.shape):
            raise NetError(f"{self.name} is a net for {own.spec}; this is {game.spec}")

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        (answer,) = self.outputs(planes)
        if self.kind == "policy":
            check_answer(self.name, answer, (len(planes), planes.shape[2] + 1), LARGEST_LOGIT)
            return answer
        return checked_values(self.name, answer, len(planes))


class PolicyNet(PlaneNet):
    """Planes uint8 [n, 27, 81] to logits float32 [n, 82] of the player to move; the last is a pass."""

    kind = "policy"


class ValueNet(PlaneNet):
    """Planes uint8 [n, 27, 81] to values float32 [n] in (−1, 1) for the player to move."""

    kind = "value"


def find_plane_net(name: str | Path) -> Path:
    """The ONNX file of a policy or value net: `name` is a file, a run's folder, or a net that we ship."""
    return find_net(str(name), FOLDER)


def shipped_plane_nets() -> list[str]:
    """The names of the policy and value nets that we ship."""
    return shipped_nets(FOLDER)
