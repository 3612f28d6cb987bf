"""Agents from strings: `random`, `uct:playouts=1000`, `uct:time=0.5`. A new agent is one entry in AGENTS."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tengen.agents.agent import Agent, RandomAgent, UctAgent
from tengen.rules.board import Between
from tengen.rules.errors import BadParameter, nearest
from tengen.rules.game import Game
from tengen.search.limits import Limit
from tengen.search.uct import Uct


@dataclass(frozen=True)
class Option:
    """A key of a spec: what it may be, and what it is if it is left out."""

    kind: type
    allowed: Between
    default: Any
    about: str


SEED = Option(int, Between(0, 2**63), 1, "makes an agent repeat itself")
TIME = Option(float, Between(0.001, 86400), None, "seconds a move")


@dataclass(frozen=True)
class Maker:
    """How an agent is made of its options."""

    about: str
    options: dict[str, Option]
    make: Callable[[str, Game, dict[str, Any]], Agent]


def make_uct(name: str, game: Game, options: dict[str, Any]) -> Agent:
    limit = Limit(time=options["time"], playouts=options["playouts"])
    threads = options["threads"] or os.cpu_count() or 1
    return UctAgent(name, Uct(game, options["exploration"], options["seed"], threads, options["memory"]), limit)


AGENTS = {
    "random": Maker(
        "plays anything that is legal",
        {"seed": SEED},
        lambda name, game, options: RandomAgent(name, options["seed"]),
    ),
    "uct": Maker(
        "Monte Carlo tree search: UCB1 and random playouts",
        {
            "playouts": Option(int, Between(1, 10**12), None, "random games a move (1000, unless time is given)"),
            "time": TIME,
            "exploration": Option(float, Between(0, 100), 0.25, "C of UCB1"),
            "threads": Option(int, Between(0, 1024), 0, "0 for all cores; short searches use one"),
            "memory": Option(int, Between(1, 10**6), 512, "megabytes for its trees"),
            "seed": SEED,
        },
        make_uct,
    ),
}


def load_agent(spec: str, game: Game, **defaults: Any) -> Agent:
    """The agent of a spec, for one game. `defaults` stand in for options that the spec does not name."""
    name, _, rest = spec.partition(":")
    if name not in AGENTS:
        raise BadParameter(f"no agent is called {name!r}{nearest(name, AGENTS)}")
    maker = AGENTS[name]
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
