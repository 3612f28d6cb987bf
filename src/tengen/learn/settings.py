"""The settings of a training run: tables of a TOML file, each key with its range, checked before any work starts."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_type_hints

from tengen.games import load_game
from tengen.learn.selfplay import Opening
from tengen.nets.metadata import HEADS, Architecture, check_kind, renamed
from tengen.rules.board import Between, OneOf
from tengen.rules.errors import BadParameter, TengenError, nearest
from tengen.rules.game import Game
from tengen.search.lockstep import GUMBEL, PUCT, Plan

PRESETS = Path(__file__).parent / "presets"
COUNT, SHARE = Between(1, 10**9), Between(0, 1)
ON_CUDA: dict[str, dict[str, Any]] = {  # what a GPU is given to do, unless a file says otherwise
    "run": {"groups": 1},
    "selfplay": {"games": 8192, "positions": 262_144},
    "training": {"batch": 2048, "samples": 2.0, "window": 4_000_000},
}


@dataclass(frozen=True)
class Tables:
    """Settings as tables of a TOML file: each field is a dataclass, and its fields are the table's keys."""

    movable: ClassVar[tuple[str, ...]] = ()  # "table.key"s that may change when a run is resumed

    @classmethod
    def read(cls, path: Path) -> Any:
        """The settings in a TOML file."""
        raise NotImplementedError

    def resumed(self, begun: Any = None) -> Any:
        """These settings for a run that began with the settings `begun`, or, if that is None, begins now."""
        return self

    def text(self) -> str:
        """The settings as TOML, with every default spelled out."""
        lines: list[str] = []
        for table, keys in asdict(self).items():
            lines += [f"[{table}]", *(f"{key} = {toml_of(value)}" for key, value in keys.items()), ""]
        return "\n".join(lines)


@dataclass(frozen=True)
class RunSettings:
    game: str = ""
    seed: Annotated[int, Between(0, 2**31)] = 1
    generations: Annotated[int, COUNT] = 200  # of self-play and training; then the run is complete
    groups: Annotated[int, Between(0, 1024)] = 0  # of games, a thread each; 0: as many as there are cores


@dataclass(frozen=True)
class NetSettings:
    kind: str = "resnet"  # or gobang, transformer, ./mynet.py:MyNet
    blocks: Annotated[int, Between(1, 100)] = 3
    channels: Annotated[int, Between(1, 1024)] = 32
    pooling: bool = False
    heads: Annotated[str, OneOf(*HEADS)] = "dense"
    policy_channels: Annotated[int, Between(1, 1024)] = 4
    value_channels: Annotated[int, Between(1, 1024)] = 2
    options: str = ""  # of a network that has others: "width=32,depth=2"
    targets: str = ""  # what is learned beside policy and value: "territory", "./mine.py:Reply"


@dataclass(frozen=True)
class SelfplaySettings:
    games: Annotated[int, Between(1, 10**5)] = 64  # side by side in each group
    positions: Annotated[int, COUNT] = 4096  # of finished games, in a generation
    longest: Annotated[int, Between(0, 10**5)] = 0  # plies, then it is a draw; 0: four times the cells, and 100
    opening: Annotated[int, Between(0, 1000)] = 0  # random plies that begin a game: 0 to this many …
    opening_near: Annotated[int, Between(0, 100)] = (
        0  # … each at most this far from another, in rows and columns; 0: any
    )
    search: Annotated[str, OneOf("puct", "gumbel")] = "gumbel"
    simulations: Annotated[int, Between(1, 10**5)] = 32
    exploration: Annotated[float, Between(0, 100)] = 1.5
    urgency: Annotated[float, Between(-1, 2)] = 0.25
    considered: Annotated[int, Between(1, 1000)] = 16
    value_scale: Annotated[float, Between(0, 100)] = 0.25
    noise: Annotated[float, SHARE] = 0.25  # PUCT: of Dirichlet noise in the root's priors
    temperature: Annotated[float, Between(0, 100)] = 1.0  # PUCT: moves are drawn by visits to the power of 1 over it
    annealing: Annotated[int, Between(0, 10**5)] = 0  # PUCT: plies of a game in which the temperature falls to 0
    prior_temperature: Annotated[float, Between(0.1, 10)] = 1.0  # Gumbel: above 1, a search looks wider
    chance_plies: Annotated[int, Between(0, 10**5)] = 1000  # then the best move found is played
    keep: bool = False  # PUCT: the subtree of the move played
    symmetry: bool = True  # the net sees each position under a random symmetry


@dataclass(frozen=True)
class TrainingSettings:
    start: str = ""  # a run or net whose weights this one begins with; of another board size, if net.heads is local
    optimiser: Annotated[str, OneOf("adamw", "adam")] = "adamw"
    batch: Annotated[int, Between(1, 10**6)] = 512
    samples: Annotated[float, Between(0.01, 1000)] = 4.0  # how often each new position is learned from, on average …
    steps: Annotated[int, Between(0, 10**6)] = 0  # … unless this says how many steps there are in a generation
    learning_rate: Annotated[float, Between(1e-7, 10)] = 2e-3
    schedule: Annotated[str, OneOf("cosine", "constant")] = "cosine"
    weight_decay: Annotated[float, SHARE] = 1e-4  # AdamW's own; for adam, c of the loss's c·‖θ‖²
    window: Annotated[int, COUNT] = 200_000  # positions in the replay, to whole generations …
    window_share: Annotated[float, Between(0.01, 1)] = 0.25  # … or this share of all there were, if that is less


@dataclass(frozen=True)
class EvaluationSettings:
    every: Annotated[int, Between(0, 10**6)] = 20  # generations; 0: never
    games: Annotated[int, Between(2, 10**5)] = 40  # against each opponent
    opponent: str = "uct:playouts=1000"
    simulations: Annotated[int, Between(1, 10**6)] = 400  # of the net's search
    exploration: Annotated[float, Between(0, 100)] = 1.5
    opening: Annotated[int, Between(0, 100)] = 2  # random plies that begin a pair of games
    gating: Annotated[float, SHARE] = 0.0  # what a net must score against the best to play in its place; 0: no gate
    exact: bool = False  # every reachable position is judged by an exact solver: for small games


@dataclass(frozen=True)
class Settings(Tables):
    """Everything about a run that does not change while it goes on."""

    run: RunSettings = RunSettings()
    net: NetSettings = NetSettings()
    selfplay: SelfplaySettings = SelfplaySettings()
    training: TrainingSettings = TrainingSettings()
    evaluation: EvaluationSettings = EvaluationSettings()

    @classmethod
    def read(cls, path: Path) -> Settings:
        return read_settings(path)

    def resumed(self, begun: Settings | None = None) -> Settings:
        """With a number of groups: if the settings leave it open, that of the machine on which the run began."""
        groups = self.run.groups or (begun.run.groups if begun else os.cpu_count() or 1)
        return replace(self, run=replace(self.run, groups=groups))

    def architecture(self) -> Architecture:
        return Architecture(**asdict(self.net))

    def plan(self) -> Plan:
        """How self-play searches."""
        given, own = asdict(self.selfplay), Plan._field_defaults
        shared = {name: type(own[name])(given[name]) for name in own if name in given}
        return Plan(**shared)._replace(root=PUCT if self.selfplay.search == "puct" else GUMBEL)

    def opening(self, game: Game) -> Opening:
        """How games begin."""
        return Opening(self.selfplay.opening, self.selfplay.opening_near, game.shape[1])

    def longest(self, game: Game) -> int:
        """Plies after which a game is a draw."""
        return self.selfplay.longest or 4 * game.cells + 100

    def window(self, positions: int) -> int:
        """How many of the positions so far are learned from."""
        growing = int(self.training.window_share * positions)
        return max(min(self.training.window, growing), self.selfplay.positions)

    def learning_rate(self, generation: int) -> float:
        """The learning rate in a generation."""
        rate = self.training.learning_rate
        return rate if self.training.schedule == "constant" else cosine(rate, generation / self.run.generations)


def cosine(rate: float, done: float) -> float:
    """The learning rate after the share `done` of a run: it falls from `rate` to a twentieth of that."""
    return rate * (0.05 + 0.95 * (1 + math.cos(math.pi * min(done, 1))) / 2)


def toml_of(value: object) -> str:
    """A value as TOML has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def preset_names() -> list[str]:
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def about_preset(path: Path) -> str:
    """What a preset's file says of itself: its lines of comment."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return " ".join(line.removeprefix("#").strip() for line in lines if line.startswith("#"))


def load_settings(name: str, changes: Iterable[str] = (), device: str = "cpu") -> Settings:
    """The settings of a preset, a TOML file, or for a game (a user's own file, too), with changes `table.key=value`.

    On CUDA the tables `[cuda.…]` of the file take the place of the plain ones, key by key.
    """
    path = PRESETS / f"{name}.toml" if name in preset_names() else Path(name)
    if path.suffix == ".toml":
        settings = read_settings(path, device)
    else:
        try:
            tables = {"run": {"game": load_game(name).spec}}
            settings = settings_of(laid_over(ON_CUDA, tables) if device == "cuda" else tables, name)
        except TengenError as reason:
            if name.partition(":")[0].endswith(".py"):
                raise
            hint = nearest(name, preset_names())
            raise BadParameter(
                f"no preset is called {name!r}{hint} (a game or a .toml file will do: {reason})"
            ) from None
    return change(settings, changes)


def laid_over(tables: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """`tables` with the keys of `others` in place of their own."""
    return {**tables, **{name: {**tables.get(name, {}), **others[name]} for name in others}}


def read_tables(path: Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as reason:
        raise BadParameter(f"{path} cannot be read: {reason.strerror}") from reason
    except (ValueError, RecursionError) as reason:
        raise BadParameter(f"{path} is not TOML: {reason}") from reason


def read_settings(path: Path, device: str = "cpu") -> Settings:
    """The settings in a TOML file for a device, "cpu" or "cuda"; both are checked."""
    tables = read_tables(path)
    own = tables.pop("cuda", {})
    settings = {
        "cpu": settings_of(tables, str(path)),
        "cuda": settings_of(laid_over(laid_over(ON_CUDA, tables), own), f"{path} [cuda]"),
    }
    return settings[device]


def settings_of(tables: Mapping[str, Any], where: str) -> Settings:
    """The settings in `tables`; raises BadParameter, which begins with `where` and says what would be right."""
    settings = Settings(**parts_of(Settings, tables, where))
    if not settings.run.game:
        raise BadParameter(f'{where}: nothing says which game: [run] game = "gomoku:size=8"')
    check_together(settings, where)
    return settings


def parts_of(kind: Any, tables: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The arguments of the dataclass `kind`, whose fields are tables, from the tables of a TOML file."""
    parts: dict[str, Any] = {}
    known: dict[str, Any] = {part.name: type(part.default) for part in fields(kind)}
    for table, keys in tables.items():
        if table not in known:
            raise BadParameter(f"{where}: there is no table [{table}]{nearest(table, known)}")
        if not isinstance(keys, Mapping):
            raise BadParameter(f"{where}: {table} is a table: write [{table}] on a line of its own")
        keys = renamed(keys) if table == "net" else keys  # of runs that an older version began
        parts[table] = table_of(known[table], table, keys, where)
    return parts


def check_together(settings: Settings, where: str) -> None:
    """Refuses settings that are in range, each by itself, but make no sense together."""
    game, own, gating = load_game(settings.run.game), settings.selfplay, settings.evaluation.gating
    settings.architecture()
    check_kind(settings.net.kind)
    if own.opening >= settings.longest(game):
        raise BadParameter(f"{where}: selfplay.opening={own.opening} is not shorter than the longest game")
    if own.opening_near and game.actions < game.cells:
        raise BadParameter(f"{where}: selfplay.opening_near is for games that put a stone on any cell, as Gomoku does")
    if own.keep and own.search == "gumbel":
        raise BadParameter(f"{where}: selfplay.keep is for search = 'puct': halving counts visits from zero")
    if own.annealing and own.search == "gumbel":
        raise BadParameter(f"{where}: selfplay.annealing is for search = 'puct': Gumbel's search has no temperature")
    if own.prior_temperature != 1 and own.search == "puct":
        raise BadParameter(f"{where}: selfplay.prior_temperature is for search = 'gumbel': visits cannot be set right")
    if gating and (gating < 0.5 or not settings.evaluation.every):
        raise BadParameter(f"{where}: evaluation.gating={gating} is 0.5 at least, and needs evaluation.every > 0")


def table_of(kind: Any, table: str, keys: Mapping[str, Any], where: str) -> Any:
    """The settings of one table, each of its kind and in its range."""
    hints = get_type_hints(kind, include_extras=True)
    for key in keys:
        if key not in hints:
            raise BadParameter(f"{where}: [{table}] has no key {key!r}{nearest(key, hints)}")
    try:
        return kind(**{key: _value(f"{table}.{key}", value, hints[key]) for key, value in keys.items()})
    except BadParameter as reason:
        raise BadParameter(f"{where}: {reason}") from None


def _value(name: str, value: Any, hint: Any) -> Any:
    """A value of the right kind and in its range."""
    kind, allowed = getattr(hint, "__origin__", hint), next(iter(getattr(hint, "__metadata__", ())), None)
    if isinstance(allowed, Between):
        return allowed.read(name, str(value) if isinstance(value, bool) else value, kind)
    if not isinstance(value, kind):
        kinds = {bool: "true or false", str: "a text", int: "a whole number", float: "a number"}
        raise BadParameter(f"{name}={value} is not {kinds[kind]}")
    return allowed.read(name, value, kind) if allowed else value


def change(settings: Settings, changes: Iterable[str]) -> Settings:
    """Settings with some values changed: `selfplay.simulations=64`. Another kind of network has a shape of its own."""
    tables, changes = asdict(settings), list(changes)
    if any(text.partition("=")[0].strip() == "net.kind" for text in changes):
        tables["net"] = {"targets": settings.net.targets}
    return settings_of(changed(tables, changes, "selfplay.simulations=64"), "settings")


def changed(tables: dict[str, Any], changes: Iterable[str], example: str) -> dict[str, Any]:
    """The tables with `changes`, texts `table.key=value`. The error for another text shows `example`."""
    for text in changes:
        name, equals, value = text.partition("=")
        table, dot, key = name.strip().partition(".")
        if not equals or not dot:
            raise BadParameter(f"{text!r} is not a setting; write table.key=value, as in {example}")
        try:
            read = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            read = value.strip()
        tables.setdefault(table, {})[key] = read
    return tables
