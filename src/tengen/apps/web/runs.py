"""Training runs on the page: started from a preset, watched, stopped, gone on with; their nets play.

All runs are folders of one folder, which the server is told when it starts. A page names a run and a preset, never a
path, and changes no more than a few numbers. A run is a process of its own (see jobs.py): it goes on without the page
and without the server, until it is complete or stopped; what was saved last is whole in any case.
"""

from __future__ import annotations

import json
import math
import re
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from tengen.agents.specs import brings_code
from tengen.apps.web.folders import (
    LARGEST_GAMES,
    LARGEST_METRICS,
    BadFolder,
    files_of,
    is_plain,
    read_config,
    read_file,
    reading,
)
from tengen.apps.web.job_folders import Command, JobFolders, WorkView, add_commands
from tengen.apps.web.jobs import NAME, JobError, Name, checked_name
from tengen.apps.web.levels import RUN
from tengen.apps.web.own_games import OwnGame, game_at, served_names
from tengen.apps.web.replays import ReplayView, label_of, replay_of
from tengen.apps.web.settings import ServerSettings
from tengen.apps.web.views import about_of, command_spec, known_game, page_spec, shown_spec
from tengen.learn.report import first_match, latest, latest_matches, table_of
from tengen.learn.settings import PRESETS, Settings, about_preset, load_settings, preset_names
from tengen.nets.metadata import GROUP, TARGET_GROUP, Architecture, NetMetadata
from tengen.records.record import Record, recorded_game
from tengen.records.sgf import read_sgf
from tengen.rules.errors import BadParameter, TengenError, nearest
from tengen.rules.game import Game
from tengen.rules.plugins import brings_class, listed

NEEDED = ("torch", "onnx", "safetensors")  # what training needs beyond what we bring along
MOST_LINES = 1000  # of metrics in one answer
MOST_GAMES = 8  # in one answer
LONGEST_GAME = 10_000  # plies
MOST_KEPT = 64  # runs whose metrics are kept
MOST_NETS = 6  # of a run, offered as opponents
OLD_NEWS = 30.0  # seconds after which a cluster is not told of any more
MOST_BYTES = 4_000_000  # that a driver tells of its cluster
DEEPEST = 6  # lists and objects within each other, in a line of metrics
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character
SELF_PLAY = "self-play"
AGENT = re.compile(rf"{RUN}({NAME.pattern})(?:@([0-9]{{1,9}}))?(?:,simulations=([0-9]{{1,5}}))?")
MOST_SIMULATIONS = 10_000  # of an agent that is a run's net


@dataclass(frozen=True)
class Change:
    """A setting that a page may change, and how far."""

    setting: str
    low: int
    high: int


CHANGES = {
    "generations": Change("run.generations", 1, 5000),
    "seed": Change("run.seed", 0, 2**31),
    "positions": Change("selfplay.positions", 64, 65536),
    "simulations": Change("selfplay.simulations", 1, 800),
    "evaluate_every": Change("evaluation.every", 1, 1000),
    "evaluation_games": Change("evaluation.games", 2, 200),
}


# What a page is told, and what it tells.


class Preset(BaseModel):
    name: str
    about: str
    game: str
    is_file: bool = Field(description="whether the game is a file's: it is trained with any parameters")
    defaults: dict[str, int]


class Bounds(BaseModel):
    low: int
    high: int


Label = Annotated[str, AfterValidator(label_of)]


class MatchView(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    opponent: Label
    rate: float
    low: float
    high: float


class FirstMatchView(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    generation: int = Field(description="0 if no match is ever played")
    opponent: Label
    sooner: int | None = Field(description="what evaluation.every would bring it sooner")


Measured = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=10**15)]


class WorkerView(BaseModel):
    name: str = Field(max_length=200)
    host: str = Field(max_length=200)
    device: str = Field(max_length=10)
    games_per_second: Measured
    weight_age: Count = Field(description="generations between its weights and the newest")
    silent_seconds: Measured = Field(description="since it was last handed a slice, or handed one in")


class ClusterView(BaseModel):
    machines: Count
    workers: list[WorkerView]
    in_flight: Count = Field(description="slices that are being played")
    waiting_positions: Count = Field(description="that have come in, and wait for the learner")
    wanted_positions: Count = Field(description="what a generation takes")
    lost: Count = Field(description="slices, with their workers")
    late: Count = Field(description="slices that were too old when they came in")


class RunView(WorkView):
    generation: int = 0
    generations: int = 0
    games: int = 0
    positions: int = 0
    seconds: float = 0.0
    rating: float | None = Field(default=None, description="Elo; the opponent of its evaluations has 0")
    matches: list[MatchView] = Field(default=[], description="of the newest evaluation")
    first_match: FirstMatchView | None = Field(default=None, description="that is waited for; None if one was played")
    nets: list[int] = Field(default=[], description="generations whose nets can be played against: run:NAME@GENERATION")
    cluster: ClusterView | None = Field(default=None, description="while it runs on one")


class RunList(BaseModel):
    advice: str = Field(description="why nothing can be started: it is not allowed here, or not installed; or empty")
    presets: list[Preset]
    changes: dict[str, Bounds] = Field(description="what may be changed of a preset")
    runs: list[RunView]


class NetList(BaseModel):
    nets: list[str] = Field(description="agents: run:NAME is the newest net of a run, run:NAME@GENERATION another")


class MetricsView(BaseModel):
    first: int = Field(description="the number of the first line given; 0 if fewer lines are there than were known")
    next: int = Field(description="what to ask for next")
    lines: list[dict[str, Any]] = Field(description="as metrics.jsonl has them, a generation each")


class GamesView(BaseModel):
    generation: int | None
    generations: list[int] = Field(description="those of which there are games")
    games: list[ReplayView]


class NewRun(BaseModel):
    model_config = ConfigDict(extra="forbid")

    preset: str = Field(max_length=100, description="a preset, or a game of a file that is served, with parameters")
    name: str = Field(default="", max_length=48, description="by default that of the preset, with a number if need be")
    changes: dict[str, int] = Field(default={}, max_length=len(CHANGES))


# The runs of a folder.


class Runs(JobFolders[RunView]):
    """The runs of a folder, by their names: those that have begun, are about to, or could not."""

    kind, files, shows_jobs, view_type = "run", ("config.toml",), True, RunView

    def __init__(self, settings: ServerSettings):
        super().__init__(settings.runs, settings.most_runs, settings)

    def read(self, name: str) -> RunView:
        """How a run is getting on."""
        folder = self.folder / name
        config, metrics = read_config(folder / "config.toml"), metrics_of(folder)
        about = table_of(config, "run")
        done, last = int(latest(metrics, "generation") or 0), about.get("generations")
        last = last if isinstance(last, int) and 0 < last <= 10**9 else 0
        matches, status = latest_matches(metrics), self.status(name, 0 < last <= done)
        is_alive = status["state"] in ("running", "stopping")
        found = {
            **status,
            "game": shown_spec(str(about.get("game", ""))),
            "generation": done,
            "generations": last,
            "games": int(latest(metrics, "games") or 0),
            "positions": int(latest(metrics, "positions") or 0),
            "seconds": latest(metrics, "seconds") or 0.0,
            "rating": latest(metrics, "rating"),
            "matches": matches,
            "first_match": None if matches else first_match(config),
            "nets": generations_of(folder, "nets", "onnx"),
            "cluster": cluster_of(folder) if is_alive else None,
        }
        return RunView.model_validate(found)

    def start(self, wanted: NewRun) -> RunView:
        """Begins a run from a preset."""
        self.jobs.check_allowed()
        check_ready()
        source = source_of(wanted.preset)
        if source is None:
            known = [*preset_names(), *served_names()]
            raise BadParameter(f"no preset is called {wanted.preset!r}{nearest(wanted.preset, known)}")
        changes = [change_text(name, value) for name, value in wanted.changes.items()]
        load_settings(source, changes)  # what is wrong together is told now
        with self.starting(wanted.name, wanted.preset.partition(":")[0]) as name:
            self.jobs.begin(name, *self._command(name, wanted.preset, changes))
        return self.view(name)

    def _command(self, name: str, preset: str, changes: list[str]) -> Command:
        arguments = ["train", source_of(preset) or preset, "--run", name, *(f"--set={text}" for text in changes)]
        return arguments, self.folder, {"preset": preset, "changes": changes}

    def command_again(self, name: str, folder: Path) -> Command:
        """The same command, if it was ours; else by what the folder says, from where we are if that names a file."""
        check_ready()
        job = self.jobs.find(name)
        if job is not None and (source := source_of(preset := str(job.metadata.get("preset", "")))) is not None:
            changes = [str(text) for text in job.metadata.get("changes", [])]
            check_harmless({table: vars(keys) for table, keys in vars(load_settings(source, changes)).items()})
            return self._command(name, preset, changes)
        config = read_config(folder / "config.toml")
        check_harmless(config)
        is_file = ".py" in str(table_of(config, "run").get("game", ""))
        again = folder.resolve() if is_file else Path(name)
        arguments = ["train", str(again / "config.toml"), "--run", str(again)]
        where = Path.cwd() if is_file else self.folder
        return arguments, where, {"preset": f"{name}/config.toml", "changes": []}

    def metrics(self, name: str, after: int) -> MetricsView:
        """The lines of metrics from a number on."""
        with self.reading(name) as folder:
            lines = read_lines(folder / "metrics.jsonl")
        first = after if after <= len(lines) else 0  # a run that was killed goes back a line or two
        chosen = lines[first : first + MOST_LINES]
        return MetricsView(first=first, next=first + len(chosen), lines=[read_line(line) for line in chosen])

    def games(self, name: str, generation: int | None) -> GamesView:
        """Games of an evaluation, or of the newest generation's self-play if that is newer or was asked for."""
        with self.reading(name) as folder:
            game = self._game(folder)
            evaluated, played = generations_of(folder, "games", "sgf"), generations_of(folder, "replay", "safetensors")
            there = sorted({*evaluated, *played[-1:]})
            chosen = generation if generation is not None else max(there, default=None)
            if game is None or chosen not in there:
                return GamesView(generation=None, generations=there, games=[])
            if chosen in evaluated:
                records = sample_games(folder / f"games/{chosen:06}.sgf", game)
            else:
                records = self_play(folder / f"replay/{chosen:06}.safetensors", game)
            games = [replay_of(unnamed(record)) for record in records]
            return GamesView(generation=chosen, generations=there, games=games)

    def _game(self, folder: Path) -> Game | None:
        """The game of a run; None if it has not begun, or its game is a file that is not served."""
        spec = game_spec(folder)
        with suppress(TengenError):
            return game_at(spec) or recorded_game(spec)
        return None

    def net(self, name: str, generation: int | None) -> Path | None:
        """The file of a generation's net, or of the newest; None if there is none."""
        folder = self.folder / checked_name(name)
        there = generations_of(folder, "nets", "onnx")
        chosen = generation if generation is not None else max(there, default=None)
        net = folder / f"nets/{chosen:06}.onnx" if chosen in there else None
        return net if net is not None and is_plain(net) else None

    def nets_for(self, game: Game) -> list[str]:
        """The nets that play a game, as agents: of each run that learned it the newest, and some before that."""
        found: list[str] = []
        for name in self.names():
            with suppress(BadFolder), reading(self.folder / name):
                found += self._nets_of(name, game)
        return found

    def _nets_of(self, name: str, game: Game) -> list[str]:
        folder = self.folder / name
        there, config = generations_of(folder, "nets", "onnx")[-MOST_NETS:], read_config(folder / "config.toml")
        is_whole = "selfplay" in config  # the net of a stage of Go has no value, or no policy
        if there and is_whole and has_learned(str(table_of(config, "run").get("game", "")), game):
            return [f"{RUN}{name}", *(f"{RUN}{name}@{generation}" for generation in reversed(there[:-1]))]
        return []


def unnamed(record: Record) -> Record:
    """A game whose players are called as pages may read it: an opponent may be a program with its arguments."""
    first, second = map(label_of, record.players)
    ending = record.ending
    for name, label in zip(record.players, (first, second), strict=True):
        ending = ending.replace(name, label)
    return replace(record, players=(first, second), ending=ending)


def change_text(name: str, value: int) -> str:
    """A change of a page as `tengen train` takes it; only those of CHANGES, and only so far."""
    if name not in CHANGES:
        raise BadParameter(f"{name!r} cannot be changed here{nearest(name, CHANGES)}")
    change = CHANGES[name]
    if not change.low <= value <= change.high:
        raise BadParameter(f"{name}={value} is out of range: {change.low} to {change.high}")
    return f"{change.setting}={value}"


def generations_of(folder: Path, kind: str, ending: str) -> list[int]:
    """The generations of which a run has a file, rising."""
    stems = (path.stem for path in files_of(folder, f"{kind}/*.{ending}"))
    return sorted(int(stem) for stem in stems if re.fullmatch(r"[0-9]{6,9}", stem))


def check_ready() -> None:
    if advice := what_is_missing():
        raise JobError(advice)


def what_is_missing() -> str:
    """What has to be installed for training; nothing if all is there."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if not missing:
        return ""
    return f"training needs {', '.join(missing)}: pip install 'tengen[train]', or in a clone: make train"


def source_of(preset: str) -> str | None:
    """What `tengen train` is told for what a page names: a preset, or a game of a file that is served; else None."""
    if preset in preset_names():
        return preset
    if preset.partition(":")[0] not in served_names():
        return None
    return command_spec(known_game(preset))


def check_harmless(config: dict[str, Any]) -> None:
    """A page goes on with nothing that runs a program, or a file that is not served: to load such settings runs it."""
    game, opponent = str(table_of(config, "run").get("game", "")), table_of(config, "evaluation").get("opponent")
    if ".py" in game and game_at(game) is None:
        raise JobError(
            "the game of this run is a file that is not served: serve it, with tengen serve --game FILE, "
            "or go on in a terminal, with tengen train"
        )
    net = table_of(config, "net")
    is_own = brings_class(str(net.get("kind", "")), GROUP)
    is_own |= any(brings_class(name, TARGET_GROUP) for name in listed(str(net.get("targets", ""))))
    if not game or brings_code(str(opponent or "random")) or is_own:
        raise JobError("this run names a program of yours, or no game: go on with it in a terminal, with tengen train")


def game_spec(folder: Path) -> str:
    """The game of a run as its settings have it; nothing if it has not begun."""
    return str(table_of(read_config(folder / "config.toml"), "run").get("game", ""))


def check_learned(text: str, game: Game, settings: ServerSettings) -> None:
    """Refuses the net of a run that learned another game, if either is a file's; in other games the net itself does."""
    match = AGENT.fullmatch(text)
    learned = game_spec(settings.runs / match[1]) if match else ""
    if (".py" in learned or isinstance(game, OwnGame)) and not has_learned(learned, game):
        raise BadParameter(f"{text} learned {shown_spec(learned) or 'nothing yet'}; this is {page_spec(game)}")


def has_learned(learned: str, game: Game) -> bool:
    """Whether nets that learned the game of a spec fit a game. A file that is not served fits none."""
    if ".py" in learned or isinstance(game, OwnGame):
        return game_at(learned) == game
    with suppress(TengenError):
        return NetMetadata.of(recorded_game(learned), Architecture()).is_for(game)
    return False


_metrics: dict[Path, tuple[tuple[int, int], list[dict[str, Any]]]] = {}  # of a file, with its time and size


def metrics_of(folder: Path) -> list[dict[str, Any]]:
    path = folder / "metrics.jsonl"
    try:
        state = path.lstat()
    except FileNotFoundError:
        return []
    seen = (state.st_mtime_ns, state.st_size)
    known = _metrics.get(path)
    if known is None or known[0] != seen:  # only what a file says now is kept: it grows all the time
        if len(_metrics) >= MOST_KEPT:
            _metrics.clear()
        known = _metrics[path] = seen, [entry for line in read_lines(path) if (entry := read_line(line))]
    return known[1]


def read_lines(path: Path) -> list[str]:
    """The whole lines of a file: the last may be half written."""
    try:
        return read_file(path, LARGEST_METRICS).decode("utf-8", "replace").split("\n")[:-1]
    except FileNotFoundError:
        return []


def read_line(line: str) -> dict[str, Any]:
    """A line of metrics. Numbers that JSON does not have, and parts that are not what they should be, are left open."""
    try:
        found = json.loads(line, parse_constant=lambda name: None, parse_float=finite, parse_int=finite)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict) or not can_be_told(found):
        return {}
    matches = found.get("matches", [])
    if not isinstance(matches, list) or not all(isinstance(match, dict) for match in matches):
        found["matches"] = []
    for match in found.get("matches", []):
        match["opponent"] = label_of(str(match.get("opponent", "")))
    return found


def can_be_told(value: Any, depth: int = DEEPEST) -> bool:
    """Whether an answer can hold a value: nothing in it is deeper than what a run writes, and all text is UTF-8."""
    if isinstance(value, str):
        return value.isascii() or not SURROGATE.search(value)
    if isinstance(value, dict | list):
        parts = [*value, *value.values()] if isinstance(value, dict) else value
        return depth > 0 and all(can_be_told(part, depth - 1) for part in parts)
    return True


def finite(text: str) -> float | None:
    """A number that anything can hold; a whole one stays whole."""
    value = float(text)
    if not math.isfinite(value):
        return None
    return int(text) if text.lstrip("-").isdigit() and abs(value) < 2**53 else value


def cluster_of(folder: Path) -> ClusterView | None:
    """How the cluster of a run stands, as its driver has just told; a file that nobody writes any more is old news."""
    path = folder / "cluster.json"
    with suppress(FileNotFoundError, ValueError):
        if time.time() - path.lstat().st_mtime < OLD_NEWS:
            return ClusterView.model_validate_json(read_file(path, MOST_BYTES))
    return None


def sample_games(path: Path, game: Game) -> list[Record]:
    with suppress(OSError, TengenError):
        return read_sgf(read_file(path, LARGEST_GAMES), game)[:MOST_GAMES]
    return []


def self_play(path: Path, game: Game) -> list[Record]:
    """The first games of a generation; none if its file is gone meanwhile, or cannot be read here."""
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        return []
    records: list[Record] = []
    if not is_plain(path):
        return records
    with suppress(OSError, SafetensorError, TengenError, ValueError), safe_open(path, framework="numpy") as file:
        lengths = file.get_slice("lengths")[:MOST_GAMES].tolist()
        if not all(0 <= length <= LONGEST_GAME for length in lengths):
            return []
        moves = file.get_slice("moves")[: sum(lengths)].tolist()
        for length in lengths:
            records.append(Record.of(game.from_actions(moves[:length]), (SELF_PLAY, SELF_PLAY)))
            moves = moves[length:]
    return records


@lru_cache(maxsize=1)
def presets() -> list[Preset]:
    """All presets, each with what its file says of itself."""
    found = []
    for name in preset_names():
        settings, about = load_settings(name), about_preset(PRESETS / f"{name}.toml")
        defaults = defaults_of(settings)
        found.append(Preset(name=name, about=about, game=settings.run.game, is_file=False, defaults=defaults))
    return found


def own_presets() -> list[Preset]:
    """The games of files that are served, each trained as `tengen train FILE` does."""
    found = []
    for name in served_names():
        game = known_game(name)
        defaults = defaults_of(load_settings(command_spec(game)))
        about = about_of(type(game.parameters))
        found.append(Preset(name=name, about=about, game=name, is_file=True, defaults=defaults))
    return found


def defaults_of(settings: Settings) -> dict[str, int]:
    """What stands in the settings for each number that a page may change."""
    found = {}
    for key, change in CHANGES.items():
        table, _, field = change.setting.partition(".")
        found[key] = int(getattr(getattr(settings, table), field))
    return found


def agent_spec(text: str, settings: ServerSettings) -> str | None:
    """The agent of `run:NAME` or `run:NAME@GENERATION`, perhaps with `,simulations=N`; None if there is none."""
    if (match := AGENT.fullmatch(text)) is None:
        return None
    name, generation, simulations = match.groups()
    net = Runs(settings).net(name, int(generation) if generation else None)
    if net is None or "," in str(net) or not 0 < int(simulations or 1) <= MOST_SIMULATIONS:
        return None
    return f"puct:net={net}" + (f",simulations={int(simulations)}" if simulations else "")


# Routes.

router = APIRouter(prefix="/api/runs", tags=["learn"])


def the_runs(request: Request) -> Runs:
    return Runs(request.app.state.settings)


TheRuns = Annotated[Runs, Depends(the_runs)]
add_commands(router, the_runs, RunView)


@router.get("")
def list_runs(runs: TheRuns) -> RunList:
    """All runs, and the presets that new ones can be made of."""
    bounds = {name: Bounds(low=change.low, high=change.high) for name, change in CHANGES.items()}
    advice = runs.jobs.advice or what_is_missing()
    return RunList(advice=advice, presets=[*presets(), *own_presets()], changes=bounds, runs=runs.all())


@router.post("")
def start_run(runs: TheRuns, wanted: NewRun) -> RunView:
    """Begin a run from a preset, with a few settings changed."""
    return runs.start(wanted)


@router.get("/{name}")
def show_run(runs: TheRuns, name: Name) -> RunView:
    """How a run is getting on."""
    return runs.view(name)


@router.get("/{name}/metrics")
def show_metrics(runs: TheRuns, name: Name, after: Annotated[int, Query(ge=0, le=10**9)] = 0) -> MetricsView:
    """What was measured, from a line on."""
    return runs.metrics(name, after)


@router.get("/{name}/games")
def show_games(runs: TheRuns, name: Name, generation: Annotated[int | None, Query(ge=0, le=10**9)] = None) -> GamesView:
    """Games of a generation to play through, by default of the newest that has some."""
    return runs.games(name, generation)
