"""Agents from strings: `random`, `uct:playouts=1000`, `uct:time=0.5`. A new agent is one entry in AGENTS."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tengen.agents.agent import Agent, RandomAgent, SearchAgent
from tengen.agents.external import GtpAgent, GtpEngine
from tengen.games.gomoku import Gomoku
from tengen.games.reversi import Reversi
from tengen.knowledge.endgame import Endgame
from tengen.knowledge.evaluations import EVALUATIONS, evaluation_for
from tengen.knowledge.experts import EndgameLast, ThreatsFirst
from tengen.knowledge.go import Area
from tengen.knowledge.threats import ThreatSearch
from tengen.rules.board import Between, OneOf
from tengen.rules.errors import BadParameter, nearest
from tengen.rules.game import Game
from tengen.search.alphabeta import AlphaBeta, Refinements
from tengen.search.evaluation import Plain
from tengen.search.limits import Limit
from tengen.search.minimax import Minimax
from tengen.search.uct import Uct


@dataclass(frozen=True)
class Option:
    """A key of a spec: what it may be, and what it is if it is left out."""

    kind: type
    allowed: Between | OneOf
    default: Any
    about: str


SEED = Option(int, Between(0, 2**63), 1, "makes an agent repeat itself")
TIME = Option(float, Between(0.001, 86400), None, "seconds a move")
THREADS = Option(int, Between(0, 1024), 0, "0 for all cores; short searches use one")
NODES = Option(int, Between(1, 10**12), None, "positions a move")


@dataclass(frozen=True)
class Maker:
    """How an agent is made of its options."""

    about: str
    options: dict[str, Option]
    make: Callable[[str, Game, dict[str, Any]], Agent]
    is_command: bool = False  # what follows the colon is a command line, not options: it may hold commas and colons


def make_uct(name: str, game: Game, options: dict[str, Any]) -> Agent:
    limit = Limit(time=options["time"], playouts=options["playouts"])
    threads = options["threads"] or os.cpu_count() or 1
    return SearchAgent(name, Uct(game, options["exploration"], options["seed"], threads, options["memory"]), limit)


def make_minimax(name: str, game: Game, options: dict[str, Any]) -> Agent:
    limit = Limit(**{key: options[key] for key in ("time", "nodes", "depth")}).or_else(Limit(depth=2))
    return SearchAgent(name, Minimax(game, evaluation_of(game, options)), limit)


def make_alphabeta(name: str, game: Game, options: dict[str, Any]) -> Agent:
    limit = Limit(**{key: options[key] for key in ("time", "nodes", "depth")}).or_else(Limit(time=1.0))
    refinements, memory = Refinements(quiescence=options["quiescence"]), options["memory"]
    has_threats = isinstance(game.parameters, Gomoku) and options["threats"]
    has_endgame = isinstance(game.parameters, Reversi) and options["endgame"]
    own = max(1, memory // 2) if has_threats or has_endgame else memory  # an expert has the other half
    search: Any = AlphaBeta(game, evaluation_of(game, options), refinements, own)
    if has_threats:
        search = ThreatsFirst(ThreatSearch(game, own), search)
    if has_endgame:
        search = EndgameLast(Endgame(game, own), search, options["endgame"])
    return SearchAgent(name, search, limit)


def make_strong(name: str, game: Game, options: dict[str, Any]) -> Agent:
    """Alpha-beta where an evaluation knows what is good; it does not in Go, nor in a game of one's own."""
    is_known = not isinstance(evaluation_for(game), Plain | Area)
    spec = f"{'alphabeta' if is_known else 'uct'}:time={options['time'] or 1}"
    return load_agent(spec, game, threads=options["threads"], seed=options["seed"])


def make_endgame(name: str, game: Game, options: dict[str, Any]) -> Agent:
    limit = Limit(time=options["time"], nodes=options["nodes"]).or_else(Limit(time=60.0))
    return SearchAgent(name, Endgame(game, options["memory"]), limit)


def evaluation_of(game: Game, options: dict[str, Any]) -> Any:
    chosen = options["evaluation"]
    name = None if chosen is None else list(EVALUATIONS)[chosen]
    return evaluation_for(game, name, options["region"], options.get("width", 0))


DEPTH_LIMITED = {
    "depth": Option(int, Between(1, 127), None, "plies; deeper and deeper if there is none"),
    "time": TIME,
    "nodes": NODES,
    "evaluation": Option(int, OneOf(*EVALUATIONS), None, "by default the game's own"),
    "region": Option(int, Between(0, 20), 2, "Gomoku: only points this near to a stone; 0 for all"),
}
PRESETS = {  # the Gobang paper's algorithms 1 to 8
    "gobang1": "minimax:depth=2,evaluation=none,region=0",
    "gobang2": "minimax:depth=2,evaluation=gobang,region=0",
    "gobang3": "alphabeta:depth=4,evaluation=gobang,region=0,threats=0",
    "gobang4": "alphabeta:depth=5,evaluation=gobang,region=0,threats=0",
    "gobang5": "alphabeta:depth=4,evaluation=gobang,region=1,threats=0",
    "gobang6": "uct:playouts=1000",
    "gobang7": "uct:playouts=2000",
    "gobang8": "uct:playouts=3000",
}
AGENTS = {
    "strong": Maker(
        "the strongest that needs no training (for 1 second)",
        {"time": TIME, "threads": THREADS, "seed": SEED},
        make_strong,
    ),
    "random": Maker(
        "plays anything that is legal",
        {"seed": SEED},
        lambda name, game, options: RandomAgent(name, options["seed"]),
    ),
    "minimax": Maker(
        "looks at everything, to the end or to a depth (2, unless a limit is given)", DEPTH_LIMITED, make_minimax
    ),
    "alphabeta": Maker(
        "principal variation search, deeper and deeper (for 1 second, unless a limit is given)",
        {
            **DEPTH_LIMITED,
            "width": Option(int, Between(0, 400), 16, "Gomoku: so many of the most promising points; 0 for all"),
            "threats": Option(int, Between(0, 1), 1, "Gomoku: 1 to look for wins by fours and threes first"),
            "endgame": Option(int, Between(0, 60), 22, "Reversi: empty cells from which the end is played exactly"),
            "quiescence": Option(int, Between(0, 60), 16, "plies that threats are followed beyond the horizon"),
            "memory": Option(int, Between(1, 10**6), 128, "megabytes for its tables"),
        },
        make_alphabeta,
    ),
    "endgame": Maker(
        "Reversi to its end, exactly: for positions with few empty cells (for 60 seconds, unless a limit is given)",
        {"time": TIME, "nodes": NODES, "memory": Option(int, Between(1, 10**6), 256, "megabytes for its table")},
        make_endgame,
    ),
    "uct": Maker(
        "Monte Carlo tree search: UCB1 and random playouts",
        {
            "playouts": Option(int, Between(1, 10**12), None, "random games a move (1000, unless time is given)"),
            "time": TIME,
            "exploration": Option(float, Between(0, 100), 0.25, "C of UCB1"),
            "threads": THREADS,
            "memory": Option(int, Between(1, 10**6), 512, "megabytes for its trees"),
            "seed": SEED,
        },
        make_uct,
    ),
    "gtp": Maker(
        "another engine for Go or Reversi, by its command line: gtp:gnugo --mode gtp --chinese-rules",
        {},
        lambda name, game, options: GtpAgent(game, GtpEngine(options["command"])),
        is_command=True,
    ),
}


def load_agent(spec: str, game: Game, **defaults: Any) -> Agent:
    """The agent of a spec, for one game. `defaults` stand in for options that the spec does not name."""
    name, _, rest = spec.partition(":")
    if name in PRESETS:
        name, _, preset = PRESETS[name].partition(":")
        rest = f"{preset},{rest}"
    if name not in AGENTS:
        raise BadParameter(f"no agent is called {name!r}{nearest(name, [*AGENTS, *PRESETS])}")
    maker = AGENTS[name]
    if maker.is_command:
        return maker.make(spec, game, {"command": rest})
    given: dict[str, Any] = {key: value for key, value in defaults.items() if key in maker.options}
    for piece in filter(None, rest.split(",")):
        key, equals, value = piece.partition("=")
        if not equals:
            raise BadParameter(f"{spec}: {piece!r} is not an option; write name=value")
        if key not in maker.options:
            raise BadParameter(f"{spec}: {name} has no option {key!r}{nearest(key, maker.options)}")
        given[key] = maker.options[key].allowed.read(key, value, maker.options[key].kind)
    options = {key: given.get(key, option.default) for key, option in maker.options.items()}
    return maker.make(spec, game, options)
