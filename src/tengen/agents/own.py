"""Agents of your own: a class in a file, `./mine.py:Flat,playouts=50`, or one that an installed package offers.

The class takes the game and, if it likes, options by name; `choose(position, limit)` returns a Decision, or the action
alone, as a number or as people write it. A package offers classes in the entry-point group `tengen.agents`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from tengen.agents.agent import NO_LIMIT, check_can_choose
from tengen.agents.options import Maker, Option, Text
from tengen.games import describe, module_of_file
from tengen.rules.board import Between, OneOf
from tengen.rules.errors import BadParameter, TengenError, nearest
from tengen.rules.game import Game, Position, action_number
from tengen.search.limits import Clock, Decision, Limit

GROUP = "tengen.agents"  # of entry points
ANYTHING = {  # what an option of a kind may be, if the class does not say
    int: Between(-(2**63), 2**63 - 1),
    float: Between(-math.inf, math.inf),
    bool: OneOf("false", "true"),
    str: Text(),
}


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
    head, dot_py, tail = spec.rpartition(".py")
    if not dot_py or tail[:1] not in ("", ":"):
        return None
    path, name, options = head + dot_py, *tail[1:].partition(",")[::2]
    if "=" in name:  # the only class of a file need not be named
        name, options = "", tail[1:]
    kind = class_in(module_of_file(Path(path), "agent"), name, path)
    return maker_of_class(kind, f"{path}:{kind.__name__}"), kind.__name__, options


def class_in(module: ModuleType, name: str, path: str) -> type:
    """The class of that name, or the only one that can choose."""
    there = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, "choose")
    }
    if not there:
        raise BadParameter(f"{path} has no class with choose(position, limit), which an agent is")
    if not name and len(there) == 1:
        return next(iter(there.values()))
    if name not in there:
        hint = nearest(name, there) if name else f"; write one of them: {path}:{next(iter(there))}"
        raise BadParameter(f"{path} has {'no agent ' + repr(name) if name else 'several agents'}{hint}")
    return there[name]


@cache
def packaged_makers() -> dict[str, Maker]:
    """The agents that installed packages offer, by name. One that cannot be loaded says so when it is asked for."""
    return {entry.name: lazy_maker(entry.name, entry.load) for entry in entry_points(group=GROUP)}


def lazy_maker(name: str, load: Callable[[], type]) -> Maker:
    try:
        return maker_of_class(load(), name)
    except Exception as reason:
        told = str(reason) if isinstance(reason, TengenError) else f"{type(reason).__name__}: {reason}"

        def refuse(*_: Any) -> Any:
            raise BadParameter(f"{name} cannot be loaded: {told}")

        return Maker(f"cannot be loaded: {told}", {}, refuse)


def maker_of_class(kind: Any, where: str) -> Maker:
    """How an agent's class is told its options: the parameters of its constructor, after the game."""
    parameters = list(inspect.signature(kind).parameters.values())
    if not parameters or parameters[0].kind not in (parameters[0].POSITIONAL_ONLY, parameters[0].POSITIONAL_OR_KEYWORD):
        raise BadParameter(f"{where} takes no game: write def __init__(self, game, …)")
    hints = hints_of(kind)
    options = {
        parameter.name: option_of(parameter, hints.get(parameter.name), where)
        for parameter in parameters[1:]
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }

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


def hints_of(kind: Any) -> dict[str, Any]:
    try:
        told = vars(kind).get("__init__", kind)
        return get_type_hints(told, include_extras=True)
    except Exception:  # names that are there for a type checker alone
        return {}


def option_of(parameter: inspect.Parameter, hint: Any, where: str) -> Option:
    """A parameter as an option: its kind by annotation or default, its range from `Annotated[int, Between(…)]`."""
    is_required = parameter.default is parameter.empty
    kind, ranges = (get_args(hint)[0], get_args(hint)[1:]) if get_origin(hint) is Annotated else (hint, ())
    if kind not in ANYTHING:  # nothing is said, or more than one kind
        kind = str if is_required or parameter.default is None else type(parameter.default)
    if kind not in ANYTHING:
        raise BadParameter(f"{where}: {parameter.name} is {kind.__name__}; an option is int, float, bool or str")
    allowed: Any = next((part for part in ranges if isinstance(part, Between | OneOf)), ANYTHING[kind])
    default = None if is_required else parameter.default
    return Option(kind, allowed, default, f"{kind.__name__}, {allowed}", is_required)
