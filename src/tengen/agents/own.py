"""Agents of your own: a class in a file, `./mine.py:Flat,playouts=50`, or one that an installed package offers.

The class takes the game and, if it likes, options by name; `choose(position, limit)` returns a Decision, or the action
alone, as a number or as people write it. A package offers classes in the entry-point group `tengen.agents`.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from tengen.agents.agent import NO_LIMIT, check_can_choose
from tengen.agents.options import Maker
from tengen.rules.errors import BadParameter, TengenError
from tengen.rules.game import Game, Position, action_number
from tengen.rules.plugins import class_of_file, describe, file_spec, load_packaged, options_of, packaged
from tengen.search.limits import Clock, Decision, Limit

GROUP = "tengen.agents"  # of entry points


class OwnAgent:
    """Plays what an agent of one's own chooses, in whatever form that says it."""

    def __init__(self, name: str, game: Game, agent: Any):
        self.name, self.game, self.agent = name, game, agent
        self.search = getattr(agent, "search", None)  # which can have opinions on other moves

    def choose(self, position: Position, limit: Limit = NO_LIMIT) -> Decision:
        check_can_choose(self, position, limit)
        clock, answer = Clock(limit), self.agent.choose(position, limit)
        if isinstance(answer, Decision):
            line = answer.principal_variation or (answer.action,)
            return replace(answer, principal_variation=line, seconds=answer.seconds or clock.seconds)
        action = self.game.parse_action(answer) if isinstance(answer, str) else action_number(answer)
        return Decision(action, principal_variation=(action,), seconds=clock.seconds)


def maker_of_file(spec: str) -> tuple[Maker, str, str] | None:
    """Who makes the agent of a file's spec, its class's name, and its options; None if the spec names no file."""
    if (found := file_spec(spec)) is None:
        return None
    path, name, options = found
    kind = class_of_file(path, name, "agent", "choose")
    return maker_of_class(kind, f"{path}:{kind.__name__}"), kind.__name__, options


@cache
def packaged_makers() -> dict[str, Maker]:
    """The agents that installed packages offer, by name. One that cannot be loaded says so when it is asked for."""
    return {name: lazy_maker(entry) for name, entry in packaged(GROUP).items()}


def lazy_maker(entry: EntryPoint) -> Maker:
    try:
        return maker_of_class(load_packaged(entry), entry.name)
    except TengenError as reason:
        told = str(reason)

        def refuse(*_: Any) -> Any:
            raise BadParameter(told)

        return Maker(told, {}, refuse)


def maker_of_class(kind: Any, where: str) -> Maker:
    """How an agent's class is told its options: the parameters of its constructor, after the game."""
    options = options_of(kind, where)

    def make(spec: str, game: Game, values: dict[str, Any]) -> OwnAgent:
        chosen = {key: bool(value) if options[key].kind is bool else value for key, value in values.items()}
        try:
            return OwnAgent(spec, game, kind(game, **chosen))
        except TengenError:
            raise
        except Exception as reason:
            told = describe(reason, Path(inspect.getfile(kind)))
            raise BadParameter(f"{where} cannot be made: {told}") from reason

    about = (inspect.getdoc(kind) or "an agent of your own").partition("\n")[0]
    return Maker(about, options, make)
