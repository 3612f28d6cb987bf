"""Matches and tournaments on the page: a cross table that fills as games end, ratings, and the games to look at.

A contest is a folder of the folder that the server is told when it starts: `contest.json` says what was asked for,
`games.db` holds the games (`tengen tournament` plays them, in a process of its own: see jobs.py), and copies of the
nets that play are beside them, so that a run may go on and a contest can be resumed. Tournaments that were played in a
terminal are shown as well.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi import Path as InPath
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tengen.agents.specs import AGENTS, PRESETS, brings_code, load_agent
from tengen.apps.web.folders import LARGEST_FACTS, BadFolder, Glance, NothingYet, read_file
from tengen.apps.web.job_folders import Command, JobFolders, WorkView, add_commands
from tengen.apps.web.jobs import JobError, Missing, Name
from tengen.apps.web.levels import RUN, spec_of
from tengen.apps.web.own_games import game_at
from tengen.apps.web.replays import NET_OPTION, ReplayView, label_of, replay_of
from tengen.apps.web.settings import CORES, ServerSettings
from tengen.apps.web.views import Spec, command_spec, known_game, page_spec, shown_spec
from tengen.arena.ratings import Ratings, Result, rate
from tengen.records.disk import write_file
from tengen.records.store import Tally
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game

FACTS, GAMES = "contest.json", "games.db"
LONGEST_MOVE = 90  # seconds; a move that takes longer loses, so that every contest ends
WORKERS = max(1, CORES - 1)  # games at once; somebody may want to play meanwhile
MOST_AGENTS, LONGEST_AGENT = 8, 200
MOST_OF_A_PAIR, MOST_GAMES, MOST_PLIES = 200, 2000, 20
MOST_PLAYERS = 50  # of a contest that is shown
MOST_LISTED = 200  # games in one answer


# What a page is told, and what it tells.


class NewContest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    game: str = Spec
    agents: list[Annotated[str, Field(max_length=LONGEST_AGENT)]] = Field(min_length=2, max_length=MOST_AGENTS)
    games: int = Field(default=10, ge=1, le=MOST_OF_A_PAIR, description="that each pair plays; colours alternate")
    opening: int = Field(default=2, ge=0, le=MOST_PLIES, description="random moves that begin a pair of games")
    seed: int = Field(default=1, ge=0, le=2**31, description="of openings and agents")
    name: str = Field(default="", max_length=48, description="by default that of the game, with a number if need be")


class PlayerView(BaseModel):
    name: str
    elo: float
    low: float
    high: float
    games: int
    points: float


class Counts(BaseModel):
    wins: int = 0
    draws: int = 0
    losses: int = 0


class ContestSummary(WorkView):
    agents: list[str] = []
    played: int = 0
    total: int | None = Field(default=None, description="None if it was begun elsewhere")


class ContestView(ContestSummary):
    players: list[PlayerView] = Field(default=[], description="the strongest first; the mean of all is 0")
    cross: list[list[Counts | None]] = Field(default=[], description="how each fared against each, in the same order")
    first_player: Counts = Field(default=Counts(), description="how those fared who moved first")
    first_move: tuple[float, float, float] | None = Field(default=None, description="what it is worth in Elo; interval")
    warnings: list[str] = []


class ContestList(BaseModel):
    advice: str = Field(description="why nothing can be started here; empty if it can")
    contests: list[ContestSummary]


class PlayedGame(BaseModel):
    id: int
    players: tuple[str, str]
    result: str
    plies: int
    ending: str = Field(description="why it ended, if not by the rules of the game")


class PlayedCounts(BaseModel):
    games: list[PlayedGame] = Field(description="the newest first")
    total: int


# The contests of a folder.


@dataclass(frozen=True)
class Facts:
    """What makes a contest: enough to go on with it."""

    game: str
    specs: list[str]
    labels: list[str]  # what pages call the agents
    games: int
    opening: int
    seed: int

    @property
    def total(self) -> int:
        return self.games * len(self.specs) * (len(self.specs) - 1) // 2

    @classmethod
    def read(cls, path: Path) -> Facts | None:
        """What a file says; None if it is not there, or damaged."""
        with suppress(FileNotFoundError, ValidationError):
            return TypeAdapter(cls).validate_json(read_file(path, LARGEST_FACTS))
        return None


@dataclass(frozen=True)
class ContestResults:
    """What a store says of its contest: how games ended, and who was to play."""

    tallies: list[Tally]
    agents: list[str]


NOTHING_PLAYED = ContestResults([], [])


class PlayerLabels:
    """What pages call the players of a contest."""

    def __init__(self, facts: Facts | None, played: ContestResults):
        own = dict(zip(facts.specs, facts.labels, strict=True)) if facts else {}
        players = {name for tally in played.tallies for name in (tally.first, tally.second)}
        names = dict.fromkeys([*own, *played.agents, *sorted(players)])
        self.labels: dict[str, str] = {}
        taken: Counter[str] = Counter()
        for name in names:  # two engines that differ in their arguments alone are told apart by a number
            label = own.get(name) or label_of(name)
            taken[label] += 1
            self.labels[name] = label if taken[label] == 1 else f"{label} ({taken[label]})"

    def __call__(self, name: str) -> str:
        return self.labels.get(name) or label_of(name)

    def words(self, text: str) -> str:
        """A sentence that names players, as pages may read it."""
        for name in sorted(self.labels, key=len, reverse=True):
            text = text.replace(name, self.labels[name])
        return text


class Contests(JobFolders[ContestSummary]):
    """The contests of a folder, by their names."""

    kind, files, view_type = "contest", (FACTS, GAMES), ContestSummary

    def __init__(self, settings: ServerSettings):
        super().__init__(settings.contests, settings.most_contests, settings)

    def read(self, name: str) -> ContestSummary:
        """How a contest stands."""
        return ContestSummary(**self._summary(name, *self._content(name)))

    def _content(self, name: str) -> tuple[Facts | None, ContestResults, PlayerLabels]:
        """What was asked for, what was played, and what pages call the players."""
        facts, played = Facts.read(self.folder / name / FACTS), read_store(self.folder / name / GAMES)
        return facts, played, PlayerLabels(facts, played)

    def _summary(self, name: str, facts: Facts | None, played: ContestResults, call: PlayerLabels) -> dict[str, Any]:
        count, total = sum(tally.games for tally in played.tallies), facts.total if facts else None
        status = self.status(name, total is not None and count >= total)
        return {
            **status,
            "game": shown_spec(facts.game if facts else next((tally.game for tally in played.tallies), "")),
            "agents": facts.labels if facts else [call(spec) for spec in played.agents],
            "problem": call.words(status["problem"]),
            "can_resume": facts is not None and status["can_resume"],
            "played": count,
            "total": total,
        }

    def details(self, name: str) -> ContestView:
        """Everything that a page shows but the games; of a contest whose folder cannot be read, why."""
        return self.read_or_say(name, ContestView, self._details)

    def _details(self, name: str) -> ContestView:
        facts, played, call = self._content(name)
        results = results_of(played.tallies)
        ratings = rate(results, first_move=True)
        return ContestView(
            **self._summary(name, facts, played, call),
            players=[PlayerView(**row._asdict() | {"name": call(row.name)}) for row in ratings.table],
            cross=cross_table(results, ratings),
            first_player=counts([sum(numbers) for numbers in zip(*(result[2:] for result in results), strict=True)]),
            first_move=first_move(ratings),
            warnings=[call.words(warning) for warning in ratings.warnings],
        )

    def games(self, name: str, skip: int) -> PlayedCounts:
        """The games so far, the newest first."""
        with self.reading(name) as folder:
            _, played, call = self._content(name)
            if not played.tallies:
                return PlayedCounts(games=[], total=0)
            with Glance(folder / GAMES) as store:
                headings = store.newest(skip, MOST_LISTED)
            listed = [
                PlayedGame(
                    id=heading.id,
                    players=(call(heading.first), call(heading.second)),
                    result=heading.result,
                    plies=heading.plies,
                    ending=call.words(heading.ending)[:300],
                )
                for heading in headings
            ]
            return PlayedCounts(games=listed, total=sum(tally.games for tally in played.tallies))

    def game(self, name: str, number: int) -> ReplayView:
        """A game to play through."""
        with self.reading(name) as folder:
            _, played, call = self._content(name)
            if not played.tallies:
                raise Missing(f"no game of {name} has ended yet")
            with Glance(folder / GAMES) as store:
                spec = store.spec_of(number)
                if spec is None:
                    raise Missing(f"{name} has no game {number}")
                own = game_at(spec)
                if own is None and ".py" in spec:
                    raise Missing(
                        f"the game is a file, {shown_spec(spec)}, that is not served: tengen serve --game FILE"
                    )
                record = store.get(number, own).record
            first, second = map(call, record.players)
            return replay_of(replace(record, players=(first, second), ending=call.words(record.ending)))

    def start(self, wanted: NewContest) -> ContestSummary:
        """Begins a contest; one that is refused leaves nothing behind."""
        self.jobs.check_allowed()
        game = known_game(wanted.game)
        agents = [self._agent(text, game) for text in wanted.agents]
        if len(set(agents)) < len(agents):
            raise BadParameter("two of the agents are the same; leave one out, or change it")
        facts = Facts(page_spec(game), agents, list(wanted.agents), wanted.games, wanted.opening, wanted.seed)
        if facts.total > MOST_GAMES:
            raise BadParameter(f"{facts.total:,} games are too many; up to {MOST_GAMES:,} are played")
        stem = re.sub(r"[^\w.=-]+", "-", page_spec(game))[:40]
        with self.starting(wanted.name, stem) as name, ExitStack() as undo:
            folder = self.folder / name
            folder.mkdir()
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
            facts = with_own_nets(facts, folder)
            write_file(folder / FACTS, json.dumps(asdict(facts)).encode())
            self.jobs.begin(name, *command_of(facts, folder))
            undo.pop_all()
        return self.view(name)

    def command_again(self, name: str, folder: Path) -> Command:
        facts = Facts.read(folder / FACTS)
        if facts is None:
            raise JobError(f"{name} was begun in a terminal: go on with it there, with tengen tournament")
        if any(brings_code(spec) for spec in facts.specs):  # not from us: the file was changed
            raise JobError(f"{name} uses other programs: go on with it in a terminal, with tengen tournament")
        return command_of(facts, folder)

    def _agent(self, text: str, game: Game) -> str:
        """The spec of a client's agent, which keeps to the memory that agents have here."""
        spec = spec_of(text, game, self.settings)
        name, _, rest = spec.partition(":")
        kind = PRESETS.get(name, name).partition(":")[0]
        if "memory" in AGENTS[kind].options and "memory=" not in rest:
            spec = f"{name}:{rest},memory={self.settings.memory}" if rest else f"{name}:memory={self.settings.memory}"
        load_agent(spec, game)  # a wrong option is told now
        return spec


def command_of(facts: Facts, folder: Path) -> Command:
    """What plays a contest; raises UnknownGame if its game is a file that is not served any more."""
    numbers = {"games": facts.games, "opening": facts.opening, "seed": facts.seed}
    numbers |= {"workers": WORKERS, "time": LONGEST_MOVE}
    options = [f"--{option}={number}" for option, number in numbers.items()]
    game = command_spec(known_game(facts.game))
    return ["tournament", *options, "--out=.", "--", game, *facts.specs], folder, {}


def with_own_nets(facts: Facts, folder: Path) -> Facts:
    """The same with nets that stay: copies of those of runs, which remove theirs as they go on."""
    specs, labels = list(facts.specs), list(facts.labels)
    for i, (spec, label) in enumerate(zip(facts.specs, facts.labels, strict=True)):
        if not label.startswith(RUN) or (match := NET_OPTION.search(spec)) is None:
            continue
        net = Path(match[0])
        name = f"{net.parent.parent.name}@{int(net.stem)}"
        try:
            shutil.copyfile(net, folder / f"{name}.onnx")
        except OSError as reason:
            raise JobError(f"the net of {label} cannot be read: {reason.strerror}; choose another") from None
        specs[i] = f"{spec[: match.start()]}{name}.onnx{spec[match.end() :]}"
        _, comma, options = label.partition(",")
        labels[i] = f"{RUN}{name}{comma}{options}"
    return replace(facts, specs=specs, labels=labels)


def read_store(path: Path) -> ContestResults:
    """What a store says; nothing if no game has begun."""
    if not os.path.lexists(path):
        return NOTHING_PLAYED
    try:
        with Glance(path) as store:
            agents = [str(agent) for match in store.matches() for agent in match.settings.get("agents", [])]
            played = ContestResults(store.tally(), agents)
    except NothingYet:
        return NOTHING_PLAYED
    players = {name for tally in played.tallies for name in (tally.first, tally.second)}
    if len(players) > MOST_PLAYERS or len(agents) > MOST_PLAYERS:
        raise BadFolder(f"more than {MOST_PLAYERS} players are in it")
    return played


def results_of(tallies: Sequence[Tally]) -> list[Result]:
    """The same as ratings want it."""
    places = {"first": 0, "draw": 1, "second": 2}
    found: dict[tuple[str, str], list[int]] = {}
    for tally in tallies:
        if tally.winner in places:
            found.setdefault((tally.first, tally.second), [0, 0, 0])[places[tally.winner]] += tally.games
    return [Result(*players, *numbers) for players, numbers in found.items()]


def cross_table(results: Sequence[Result], ratings: Ratings) -> list[list[Counts | None]]:
    """Wins, draws and losses of the player of a row against that of a column, in the order of the ratings."""
    added: dict[tuple[str, str], list[int]] = {}
    for first, second, *numbers in results:
        for pair, seen in (((first, second), numbers), ((second, first), numbers[::-1])):
            entry = added.setdefault(pair, [0, 0, 0])
            for i in range(3):
                entry[i] += seen[i]
    return [
        [counts(added[row, column]) if (row, column) in added and row != column else None for column in ratings.names]
        for row in ratings.names
    ]


def counts(numbers: Sequence[int]) -> Counts:
    wins, draws, losses = numbers or (0, 0, 0)
    return Counts(wins=wins, draws=draws, losses=losses)


def first_move(ratings: Ratings) -> tuple[float, float, float] | None:
    if ratings.first_move is None or ratings.first_move_interval is None:
        return None
    return ratings.first_move, *ratings.first_move_interval


# Routes.

router = APIRouter(prefix="/api/contests", tags=["arena"])


def the_contests(request: Request) -> Contests:
    return Contests(request.app.state.settings)


TheContests = Annotated[Contests, Depends(the_contests)]
add_commands(router, the_contests, ContestSummary)


@router.get("")
def list_contests(contests: TheContests) -> ContestList:
    """All matches and tournaments, the newest first."""
    return ContestList(advice=contests.jobs.advice, contests=contests.all())


@router.post("")
def start_contest(contests: TheContests, wanted: NewContest) -> ContestSummary:
    """Begin a match (of two agents) or a tournament: every pair plays, with both colours."""
    return contests.start(wanted)


@router.get("/{name}")
def show_contest(contests: TheContests, name: Name) -> ContestView:
    """Ratings and cross table so far."""
    return contests.details(name)


@router.get("/{name}/games")
def list_games(contests: TheContests, name: Name, skip: Annotated[int, Query(ge=0, le=10**6)] = 0) -> PlayedCounts:
    """The games that have ended, the newest first."""
    return contests.games(name, skip)


@router.get("/{name}/games/{number}")
def show_game(contests: TheContests, name: Name, number: Annotated[int, InPath(ge=0, le=10**9)]) -> ReplayView:
    """A game to play through."""
    return contests.game(name, number)
