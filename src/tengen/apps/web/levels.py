"""How strong an opponent is, in words that a person understands; and the only door by which a client names an agent.

A level is the spec of an agent; a game's class may choose its own. Lower levels are bounded by what they look at, not
by time, so that a slow machine plays as well as a quick one. Where we ship a net for the very game, the higher
levels use it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from pydantic import BaseModel

from tengen.agents.agent import Agent
from tengen.agents.options import Answers, Megabytes, NetName, Seconds, Threads
from tengen.agents.specs import AGENTS, LEARNED_BEST, PRESETS, load_agent
from tengen.apps.web.settings import CORES, ServerSettings
from tengen.apps.web.views import Parameter, parameter_view
from tengen.nets.runtime import net_for, shipped_nets
from tengen.rules.board import Between, OneOf
from tengen.rules.errors import BadParameter, nearest
from tengen.rules.game import Game
from tengen.rules.plugins import Option

LEVELS = ("beginner", "easy", "medium", "hard", "strongest")
LONGEST_AGENT = 200  # characters of a spec
OPTION = re.compile(r"([a-z]+)=([A-Za-z0-9_.+-]+)")
RUN = "run:"  # begins the name of a net of a training run, see runs.py
ABOUT = {
    "beginner": "sees little and errs often",
    "easy": "sees what is near, and can be beaten",
    "medium": "looks ahead, and punishes mistakes",
    "hard": "looks far ahead",
    "strongest": "as strong as it gets in the time you give it (1 second, unless you say)",
}


LEARNED = {  # the strongest is what `strong` plays: the game's expert is asked, too
    "hard": "puct:net={net},simulations=100",
    "strongest": LEARNED_BEST + ",time=1",
}
CEILINGS: dict[type, float] = {  # of what a client asks for, by kind of option
    Between: math.inf,  # its whole range is cheap
    OneOf: math.inf,
    Seconds: 60,
    Threads: CORES,
    Answers: 100_000,
}


@dataclass(frozen=True)
class Level:
    """An opponent by its strength. `is_timed` if more time makes it stronger; the others think no longer for it."""

    name: str
    about: str
    spec: str

    @property
    def is_timed(self) -> bool:
        return "time=" in self.spec


class AgentView(BaseModel):
    """A kind of agent that a page may use, and its options."""

    name: str
    about: str
    options: list[Parameter]


class AgentList(BaseModel):
    agents: list[AgentView]
    presets: dict[str, str]
    nets: list[str]


def levels_of(game: Game) -> list[Level]:
    """The levels of a game, from the weakest to the strongest: its own, or those of a game with nothing but rules."""
    usual = *(f"uct:playouts={times * game.cells}" for times in (1, 4, 20, 100)), "uct:time=1"
    specs = dict(zip(LEVELS, game.levels or usual, strict=True))
    if (net := net_for(game)) is not None:
        specs |= {name: spec.format(net=net) for name, spec in LEARNED.items()}
    return [Level(name, ABOUT[name], spec) for name, spec in specs.items()]


def level_of(text: str, game: Game) -> Level | None:
    """The level of that name; None if it is not a level's."""
    return next((level for level in levels_of(game) if level.name == text), None)


def spec_of(text: str, game: Game, settings: ServerSettings) -> str:
    """The spec that a client's agent stands for: a level, a run's net, or a spec that names nothing outside.

    No path, command or module of a client comes through: nets are those that we ship and those of runs, by name.
    """
    if (level := level_of(text, game)) is not None:
        return level.spec
    if text.startswith(RUN):
        return _run_spec(text, game, settings)
    name, _, rest = text.partition(":")
    if len(text) > LONGEST_AGENT or name not in allowed_agents():
        raise BadParameter(f"no agent is called {name[:40]!r} here{nearest(name, [*LEVELS, *allowed_agents()])}")
    options = AGENTS[PRESETS.get(name, name).partition(":")[0]].options
    for piece in filter(None, rest.split(",")):
        if not (match := OPTION.fullmatch(piece)):
            raise BadParameter(f"{piece[:40]!r} is not an option; write name=value")
        if match[1] not in options:
            raise BadParameter(f"{name} has no option {match[1]!r}{nearest(match[1], options)}")
        _check_option(match[1], match[2], options[match[1]], settings)
    return text


def _run_spec(text: str, game: Game, settings: ServerSettings) -> str:
    from tengen.apps.web.runs import agent_spec, check_learned

    spec = agent_spec(text, settings) if len(text) <= LONGEST_AGENT else None
    if spec is None:
        raise BadParameter(f"{text[:80]!r} is no net of a run; write one as run:NAME or run:NAME@GENERATION")
    check_learned(text, game, settings)
    return spec


def _check_option(name: str, value: str, option: Option, settings: ServerSettings) -> None:
    """Refuses what would reach outside, or cost more than a client may, and any kind of option not known here."""
    allowed, ceilings = option.allowed, {**CEILINGS, Megabytes: settings.memory}
    if isinstance(allowed, NetName):
        if value not in allowed.names:
            raise BadParameter(f"no net is called {value[:40]!r} here{nearest(value, allowed.names)}")
    elif type(allowed) not in ceilings:
        raise BadParameter(f"{name} is not chosen here")
    elif option.read(name, value) > ceilings[type(allowed)]:
        raise BadParameter(f"{name}={value}: up to {ceilings[type(allowed)]:g} is given here")


def allowed_agents() -> list[str]:
    """The agents that a client may name: none is another program."""
    return [name for name, maker in AGENTS.items() if not maker.is_command] + list(PRESETS)


def new_agent(spec: str, game: Game, settings: ServerSettings, seed: int, threads: int) -> Agent:
    """The agent of a spec that has come through the door; it repeats nothing but what the spec says."""
    return load_agent(spec, game, seed=seed, memory=settings.memory, threads=threads)


def agent_list() -> AgentList:
    """The kinds of agents, for those who want to say exactly who plays."""
    views = []
    for name in allowed_agents():
        if name in AGENTS:
            options = AGENTS[name].options
            shown = [
                parameter_view(key, option.kind, option.allowed, option.default, option.about)
                for key, option in options.items()
            ]
            views.append(AgentView(name=name, about=AGENTS[name].about, options=shown))
    return AgentList(agents=views, presets=dict(PRESETS), nets=["uniform", *shipped_nets()])
