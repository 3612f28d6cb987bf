"""The metadata in a net's file: its architecture, its game, and the run that it comes from."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from tengen.games import load_game
from tengen.rules.errors import BadParameter, TengenError, nearest
from tengen.rules.game import Game
from tengen.rules.plugins import file_spec, packaged

LONGEST_ENTRY = 100_000  # characters
LARGEST_COUNT = 2**53
FORMAT = 1  # of the metadata in a file; another number is a file that this version cannot read
NETWORKS = {  # by name; torch is imported when one is made
    "resnet": "tengen.nets.resnet:ResNet",
    "gobang": "tengen.nets.gobang:GobangNet",
    "transformer": "tengen.nets.transformer:Transformer",
}
HEADS = ("dense", "local")


GROUP = "tengen.networks"  # of entry points: networks of installed packages
TARGET_GROUP = "tengen.targets"  # likewise, of what is learned beside policy and value


class NetError(TengenError):
    """A net that is not there, cannot be read, or is for another game."""


@dataclass(frozen=True)
class Architecture:
    """The shape of a network, and what it learned beside policy and value."""

    kind: str = "resnet"  # one of NETWORKS, a class in a file, or one of a package's
    blocks: int = 3
    channels: int = 32
    pooling: bool = False  # what the whole board shows is told to every cell, in every other block, the last included
    heads: str = "dense"  # `local` ones know no cell by its place: they learn sooner on large boards, and fit any
    policy_channels: int = 4
    value_channels: int = 2
    value_hidden: int = 64
    options: str = ""  # of a network that has others: `width=32,depth=2`
    targets: str = ""  # see learn/targets.py: `territory`

    def __post_init__(self) -> None:
        if self.heads not in HEADS:
            raise BadParameter(f"no heads are called {self.heads!r}{nearest(self.heads, HEADS)}")
        for name in ("blocks", "channels", "policy_channels", "value_channels", "value_hidden"):
            if getattr(self, name) < 1:
                raise BadParameter(f"{name}={getattr(self, name)}: a network has one at least")


def check_kind(kind: str) -> None:
    """Refuses the name of no network; nothing is loaded."""
    if file_spec(kind) is None and kind not in NETWORKS and kind not in packaged(GROUP):
        hint = "; a file's name ends in .py" if "/" in kind else nearest(kind, [*NETWORKS, *packaged(GROUP)])
        raise BadParameter(f"no network is called {kind!r}{hint}")


def renamed(architecture: Mapping[str, Any]) -> dict[str, Any]:
    """An architecture as this version names its parts: in the first one `territory` was a part of its own."""
    known = {name: value for name, value in architecture.items() if name != "territory"}
    return {"targets": "territory", **known} if architecture.get("territory") is True else known


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST_COUNT


def is_architecture(value: Any) -> bool:
    """Whether a value says of each part of an architecture what it is, in kind; what it may be is checked there."""
    if not isinstance(value, dict):
        return False
    usual = asdict(Architecture())
    return all(
        is_count(value[key]) if type(usual[key]) is int else type(value[key]) is type(usual[key])
        for key in value.keys() & usual.keys()
    )


def read_entries(name: str, texts: Mapping[str, str], allowed: Mapping[str, Callable[[Any], bool]]) -> dict[str, Any]:
    """The values of the metadata `texts` of the file `name`, each checked by the function in `allowed`."""
    values = {}
    for key, is_allowed in allowed.items():
        text = texts.get(key, "")
        try:
            values[key] = json.loads(text[:LONGEST_ENTRY])
        except (ValueError, RecursionError) as reason:
            raise NetError(f"{name} is damaged: its metadata cannot be read ({key}: {reason})") from reason
        if not is_allowed(values[key]):
            raise NetError(f"{name} is damaged: its metadata cannot be read ({key} is {text[:40]})")
    return values


@dataclass(frozen=True)
class NetMetadata:
    """The metadata of a net. Read back, they are equal to what was written."""

    game: str  # its spec
    rules: str  # its parameters with their class: `Gomoku(size=8, row=5, rule=0)`
    planes: tuple[str, ...]
    shape: tuple[int, int]  # rows and columns
    actions: int
    architecture: Architecture
    run: str = ""  # the training run, and how many steps it had made
    step: int = 0
    rating: float | None = None

    _allowed: ClassVar[dict[str, Callable[[Any], bool]]] = {
        **dict.fromkeys(("game", "rules", "run"), is_text),
        "planes": lambda value: isinstance(value, list) and all(map(is_text, value)),
        "shape": lambda value: isinstance(value, list) and len(value) == 2 and all(map(is_count, value)),
        **dict.fromkeys(("actions", "step"), is_count),
        "architecture": is_architecture,
        "rating": lambda value: value is None or (isinstance(value, float | int) and math.isfinite(value)),
    }

    @classmethod
    def of(
        cls, game: Game, architecture: Architecture, run: str = "", step: int = 0, rating: float | None = None
    ) -> NetMetadata:
        """The metadata of a net that was trained for `game`."""
        rules = repr(game.parameters)
        return cls(game.spec, rules, game.planes, game.shape, game.actions, architecture, run, step, rating)

    def texts(self) -> dict[str, str]:
        """The metadata as an ONNX file holds them: texts, each a piece of JSON."""
        return {"format": str(FORMAT), **{name: json.dumps(value) for name, value in asdict(self).items()}}

    @classmethod
    def read(cls, name: str, texts: Mapping[str, str]) -> NetMetadata:
        """The metadata of the file `name`, from its `texts`."""
        if not {"format", "game", "planes"} <= texts.keys():
            raise NetError(f"{name} is not a net of Tengen's: nothing in it says which game it is for")
        if texts["format"] != str(FORMAT):
            raise NetError(f"{name} has format {texts['format']}; this version of Tengen reads format {FORMAT}")
        values = read_entries(name, texts, cls._allowed)
        values["planes"], values["shape"] = tuple(values["planes"]), tuple(values["shape"])
        try:
            values["architecture"] = Architecture(**renamed(values["architecture"]))
        except (TypeError, ValueError) as reason:
            raise NetError(f"{name} is damaged: its metadata cannot be read ({reason})") from reason
        return cls(**values)

    def check_for(self, game: Game, name: str) -> None:
        """Refuses any game but the one that the net `name` was trained for."""
        if not self._has_rules_of(game):
            raise NetError(f"{name} is a net for {self.game}; this is {game.spec}")
        if self.planes != game.planes:
            ours, theirs = ", ".join(self.planes), ", ".join(game.planes)
            raise NetError(f"{name} was shown the planes ({ours}); {game.spec} has ({theirs})")
        if (self.shape, self.actions) != (game.shape, game.actions):
            ours, theirs = f"{self.actions} actions on {self.shape}", f"{game.actions} on {game.shape}"
            raise NetError(f"{name} is for {ours}; {game.spec} has {theirs}")

    def is_for(self, game: Game) -> bool:
        """Whether the net was trained for this very game."""
        try:
            self.check_for(game, "the net")
        except NetError:
            return False
        return True

    def _has_rules_of(self, game: Game) -> bool:
        """Files of games move about, and are not run on a net's word: those are known by class and parameters."""
        if is_file(self.game) or is_file(game.spec):
            return is_file(self.game) and is_file(game.spec) and self.rules == repr(game.parameters)
        try:
            own = load_game(self.game)
        except TengenError:
            return False  # a game that this version does not have
        return type(own.parameters) is type(game.parameters) and _is_near(own.parameters, game.parameters)


def _is_near(own: Any, other: Any) -> bool:
    """Whether parameters are equal, or differ by what the game's class says a net puts up with (its `tolerance`)."""
    allowed = getattr(type(own), "tolerance", {})
    return all(abs(getattr(own, name) - getattr(other, name)) <= allowed.get(name, 0) for name in own._fields)


def is_file(spec: str) -> bool:
    """Whether a game is a user's own file."""
    return spec.endswith(".py") or ".py:" in spec
