"""The settings of the three stages: tables of a TOML file, each key with its range, checked before any work starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from tengen.games import load_game
from tengen.knowledge.go_planes import GROUPS, check_size
from tengen.learn.settings import COUNT, SHARE, Tables, changed, parts_of, read_tables
from tengen.rules.board import Between, OneOf
from tengen.rules.errors import BadParameter, nearest

PRESETS = Path(__file__).parent


@dataclass(frozen=True)
class RunTable:
    game: str = "go:size=9,komi=5.5"
    seed: Annotated[int, Between(0, 2**31)] = 1
    generations: Annotated[int, COUNT] = 40  # after each the run is saved; then it is complete


@dataclass(frozen=True)
class NetTable:
    channels: Annotated[int, Between(1, 1024)] = 128
    layers: Annotated[int, Between(1, 100)] = 6  # the 5×5 convolution included


@dataclass(frozen=True)
class RecordsTable:
    records: str = ""  # a file or a folder of SGF; if there is none, the games that come along
    players: str = "*"  # whose moves are learned from, by name: gnugo*
    held_out: Annotated[float, SHARE] = 0.05  # of the games
    hide: str = ""  # groups of planes that are left out, for an experiment: ladders,eyes


@dataclass(frozen=True)
class LearningTable:
    batch: Annotated[int, Between(1, 10**6)] = 1024
    steps: Annotated[int, COUNT] = 500  # in a generation
    learning_rate: Annotated[float, Between(1e-7, 10)] = 2e-3  # at first; a cosine falls to a twentieth
    weight_decay: Annotated[float, SHARE] = 1e-2
    longest_gradient: Annotated[float, Between(0, 10**6)] = 1.0  # longer ones are cut; 0: never


@dataclass(frozen=True)
class PolicyTable:
    start: str = ""  # the supervised net: a run folder, an .onnx file, or a name


@dataclass(frozen=True)
class PlayTable:
    games: Annotated[int, Between(2, 10**6)] = 1024  # side by side; half with each colour
    rounds: Annotated[int, COUNT] = 1  # in a generation: so often games are played, and learned from
    longest: Annotated[int, Between(1, 424)] = 200  # plies, then the board is counted as it stands
    opening: Annotated[int, Between(0, 100)] = 0  # a game begins with 0 to this many random plies, not learned from
    temperature: Annotated[float, Between(0.01, 100)] = 1.0


@dataclass(frozen=True)
class PoolTable:
    every: Annotated[int, COUNT] = 10  # generations until the net joins the pool of opponents
    most: Annotated[int, COUNT] = 8  # opponents that are drawn from: the supervised policy, and the newest


@dataclass(frozen=True)
class ReinforceTable:
    method: Annotated[str, OneOf("clipped", "plain")] = "clipped"  # plain: REINFORCE, and nothing to keep it stable
    batch: Annotated[int, Between(1, 10**6)] = 4096
    epochs: Annotated[int, Between(1, 100)] = 2  # how often each position is learned from
    learning_rate: Annotated[float, Between(1e-8, 10)] = 2e-4  # at first; a cosine falls to a twentieth
    clip: Annotated[float, Between(0.001, 10)] = 0.2  # a move's chance is not changed further than by this share
    entropy: Annotated[float, Between(0, 10)] = 0.003  # worth of a nat of entropy
    distance: Annotated[float, Between(0, 10)] = 0.02  # cost of a nat of distance from the supervised policy
    longest_gradient: Annotated[float, Between(0, 10**6)] = 1.0
    baseline_channels: Annotated[int, Between(1, 1024)] = 64
    baseline_layers: Annotated[int, Between(1, 100)] = 4
    baseline_rate: Annotated[float, Between(1e-7, 10)] = 1e-3


STABILISERS = ("clip", "entropy", "distance", "baseline_channels", "baseline_layers", "baseline_rate")


@dataclass(frozen=True)
class MatchTable:
    every: Annotated[int, COUNT] = 10  # generations
    games: Annotated[int, Between(2, 10**6)] = 400  # against the supervised policy, half with each colour


@dataclass(frozen=True)
class PlayerTable:
    net: str = ""  # the policy that plays: a run folder, an .onnx file, or a name


@dataclass(frozen=True)
class SamplesTable:
    generations: Annotated[int, COUNT] = 50  # that play; those that follow learn
    games: Annotated[int, Between(2, 10**6)] = 20_000  # a generation
    at_once: Annotated[int, Between(1, 10**6)] = 8192  # side by side
    latest: Annotated[int, Between(1, 400)] = 90  # the last ply at which the random move is played
    longest: Annotated[int, Between(1, 424)] = 250
    held_out: Annotated[float, SHARE] = 0.05


@dataclass(frozen=True)
class Stage(Tables):
    """The settings of a stage."""

    movable = ("data.records", "policy.start", "policy.net")  # paths, which differ from machine to machine

    @classmethod
    def read(cls, path: Path) -> Any:
        return stage_of(cls, read_tables(path), str(path))


@dataclass(frozen=True)
class Supervised(Stage):
    run: RunTable = RunTable()
    net: NetTable = NetTable()
    data: RecordsTable = RecordsTable()
    training: LearningTable = LearningTable()

    def hidden(self) -> list[int]:
        """The planes that are left out."""
        names = [name.strip() for name in self.data.hide.split(",") if name.strip()]
        for name in names:
            if name not in GROUPS:
                raise BadParameter(f"data.hide: there is no group of planes {name!r}{nearest(name, GROUPS)}")
        return [plane for name in names for plane in GROUPS[name]]


@dataclass(frozen=True)
class Reinforced(Stage):
    run: RunTable = RunTable()
    policy: PolicyTable = PolicyTable()
    play: PlayTable = PlayTable()
    pool: PoolTable = PoolTable()
    training: ReinforceTable = ReinforceTable()
    evaluation: MatchTable = MatchTable()

    @property
    def is_plain(self) -> bool:
        return self.training.method == "plain"

    def check_plain(self, where: str) -> None:
        """Refuses settings of what plain REINFORCE does without."""
        without = [field for field in fields(ReinforceTable) if field.name in STABILISERS]
        changed = [field.name for field in without if getattr(self.training, field.name) != field.default]
        if self.is_plain and changed:
            raise BadParameter(f"{where}: training.{changed[0]} has no effect with training.method = 'plain'")


@dataclass(frozen=True)
class Valued(Stage):
    run: RunTable = RunTable()
    policy: PlayerTable = PlayerTable()
    net: NetTable = NetTable()
    samples: SamplesTable = SamplesTable()
    training: LearningTable = LearningTable()


STAGES: dict[str, type[Stage]] = {"sl9": Supervised, "rl9": Reinforced, "value9": Valued}


def load_stage(name: str, changes: Iterable[str] = ()) -> Any:
    """The settings of the preset `name`, with `changes` such as "training.batch=512"."""
    tables = read_tables(PRESETS / f"{name}.toml")
    return stage_of(STAGES[name], changed(tables, changes, "training.batch=512"), name)


def stage_of(kind: type[Stage], tables: Mapping[str, Any], where: str) -> Any:
    """The settings of tables; raises BadParameter, beginning with `where`, and says what is wrong."""
    stage: Any = kind(**parts_of(kind, tables, where))
    check_size(load_game(stage.run.game))
    if isinstance(stage, Supervised):
        stage.hidden()
    if isinstance(stage, Reinforced):
        stage.check_plain(where)
    if isinstance(stage, Valued) and stage.samples.generations >= stage.run.generations:
        raise BadParameter(
            f"{where}: run.generations={stage.run.generations} leaves none to learn after those that play"
        )
    return stage
