"""What others add: a class in a file of theirs, `./mine.py:Flat`, or one that an installed package offers."""

from __future__ import annotations

import hashlib
import inspect
import math
import os
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from tengen.rules.board import Between, OneOf
from tengen.rules.errors import BadParameter, GameFileError, UnknownGame, nearest

SIMPLE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class Text:
    """Any text that is not empty."""

    def read(self, name: str, value: object, kind: type) -> str:
        if not value:
            raise BadParameter(f"{name}= is empty")
        return str(value)

    def __str__(self) -> str:
        return "a text"


@dataclass(frozen=True)
class Option:
    """A key of a spec: what it may be, and what it is if it is left out."""

    kind: type
    allowed: Any  # Between, OneOf, Text, or whatever else reads a value: read(name, value, kind)
    default: Any
    about: str
    is_required: bool = False

    def read(self, name: str, value: object) -> Any:
        """The value as it is taken; raises BadParameter if it is none that is allowed."""
        return self.allowed.read(name, value, self.kind)

    def off(self) -> Option:
        """The same, but left out unless it is asked for."""
        return replace(self, default=0)


ANYTHING: dict[type, Any] = {  # what an option of a kind may be, if its class does not say
    int: Between(-(2**63), 2**63 - 1),
    float: Between(-math.inf, math.inf),
    bool: OneOf("false", "true"),
    str: Text(),
}


def file_spec(spec: str) -> tuple[Path, str, str] | None:
    """The file, the class (or "") and the options of `./mine.py:Flat,playouts=5`; None if the spec names no file."""
    head, dot_py, tail = spec.rpartition(".py")
    if not dot_py or tail[:1] not in ("", ":"):
        return None
    name, _, options = tail[1:].partition(",")
    return (Path(head + dot_py), "", tail[1:]) if "=" in name else (Path(head + dot_py), name, options)


def nearest_or_file(name: str, choices: Iterable[str]) -> str:
    """A hint that ends an error message: the file of that name in the current folder, else the choice most like it."""
    file = f"{name}.py"
    return f"; did you mean ./{file}?" if os.path.isfile(file) else nearest(name, choices)


def class_of_file(path: Path, name: str, what: str, method: str) -> type:
    """The class of that name in a file, or the only one there that has the method, which makes it a `what`."""
    module = module_of_file(path, what)
    there = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, method)
    }
    if not there:
        raise BadParameter(f"{path} has no class with {method}(), which {article(what)} has")
    if not name and len(there) == 1:
        return next(iter(there.values()))
    if name not in there:
        hint = nearest(name, there) if name else f"; write one of them: {path}:{next(iter(there))}"
        raise BadParameter(f"{path} has {f'no {what} {name!r}' if name else f'several {what}s'}{hint}")
    return there[name]


def article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def packaged(group: str) -> dict[str, EntryPoint]:
    """What installed packages offer in a group of entry points, by name; nothing is loaded."""
    return {entry.name: entry for entry in entry_points(group=group)}


def brings_class(name: str, group: str) -> bool:
    """Whether a name stands for a class in a file, or for one that an installed package offers."""
    return file_spec(name) is not None or name in packaged(group)


def load_packaged(entry: EntryPoint) -> Any:
    """What an entry point stands for; raises BadParameter if it cannot be loaded, and says why."""
    try:
        return entry.load()
    except Exception as reason:
        raise BadParameter(f"{entry.name} cannot be loaded: {type(reason).__name__}: {reason}") from reason


def options_of(kind: Any, where: str) -> dict[str, Option]:
    """What the constructor of a class takes after the game, by name: kinds by annotation or default, ranges from
    `Annotated[int, Between(…)]`."""
    parameters = list(inspect.signature(kind).parameters.values())
    if not parameters or parameters[0].kind not in SIMPLE:
        raise BadParameter(f"{where} takes no game: write def __init__(self, game, …)")
    try:
        hints = get_type_hints(vars(kind).get("__init__", kind), include_extras=True)
    except Exception:  # names that are there for a type checker alone
        hints = {}
    plain = [parameter for parameter in parameters[1:] if parameter.kind not in VARIADIC]
    return {parameter.name: option_of(parameter, hints.get(parameter.name), where) for parameter in plain}


def option_of(parameter: inspect.Parameter, hint: Any, where: str) -> Option:
    """A parameter as an option."""
    is_required = parameter.default is parameter.empty
    kind, ranges = (get_args(hint)[0], get_args(hint)[1:]) if get_origin(hint) is Annotated else (hint, ())
    if kind not in ANYTHING:  # nothing is said, or more than one kind
        kind = str if is_required or parameter.default is None else type(parameter.default)
    if kind not in ANYTHING:
        raise BadParameter(f"{where}: {parameter.name} is {kind.__name__}; an option is int, float, bool or str")
    allowed: Any = next((part for part in ranges if isinstance(part, Between | OneOf)), ANYTHING[kind])
    default = None if is_required else parameter.default
    return Option(kind, allowed, default, f"{kind.__name__}, {allowed}", is_required)


def read_options(text: str, options: Mapping[str, Option], name: str, where: str) -> dict[str, Any]:
    """The values that `width=32,depth=2` gives to some of the options of `name`, each of its kind."""
    values: dict[str, Any] = {}
    for piece in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = piece.partition("=")
        if not equals:
            raise BadParameter(f"{where}: {piece!r} is not an option; write name=value")
        if key not in options:
            raise BadParameter(f"{where}: {name} has no option {key!r}{nearest(key, options)}")
        read = options[key].read(key, value)
        values[key] = bool(read) if options[key].kind is bool else read
    return values


def module_of_file(path: Path, what: str = "game") -> ModuleType:
    """Runs a user's file as a module, once.

    Its name is that of the file, wherever it lies: the kernel cache then knows a copy again. Only where a process runs
    two files of one name does the second have its folder's hash in its name.
    """
    if not path.is_file():
        raise UnknownGame(
            f"{path} is a folder, not a file of {article(what)}" if path.is_dir() else f"there is no file {path}"
        )
    path = path.resolve()
    name = f"tengen_{what}_{path.stem}"
    if name in sys.modules and sys.modules[name].__file__ != str(path):
        name += f"_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name not in sys.modules:
        module = ModuleType(name)
        module.__file__ = str(path)
        sys.modules[name] = module
        try:  # from its source, always: Python's own cache of modules overlooks two edits within a second
            exec(compile(path.read_bytes(), path, "exec"), module.__dict__)
        except (Exception, SystemExit) as reason:
            del sys.modules[name]
            if isinstance(reason, GameFileError):
                raise
            raise GameFileError(f"{path} does not run: {describe(reason, path)}") from reason
    return sys.modules[name]


def describe(reason: BaseException, path: Path) -> str:
    """An error in a user's file, with the line of that file where it came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(reason.__traceback__) if frame.filename == str(path)]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{type(reason).__name__}: {reason}{where}"


def listed(text: str) -> list[str]:
    """The names of a text: `territory, ./mine.py:Reply`."""
    return [name for part in text.split(",") if (name := part.strip())]
