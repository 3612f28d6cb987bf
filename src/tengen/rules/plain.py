"""Kernels as plain Python, beside the compiled ones: for a first answer while their machine code is still being made.

A kernel's names stand for compiled helpers. Here the same bytecode is given other names to look up: each helper, each
rule and each module of ours in its plain form. Numbers are NumPy's in either case, so the answers are equal.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import cache
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tengen.rules.contract import rule_of
from tengen.rules.fingerprint import is_foreign, names_looked_up


def run_plain(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a kernel answers, without compiling anything."""
    with np.errstate(over="ignore"):  # numbers of 64 bits wrap around, as they do in machine code
        return plain_function(function)(*arguments)


@cache
def plain_function(function: Any) -> Callable[..., Any]:
    """The same function, whose helpers are plain, too."""
    return _Twin(function).function


class _Twin:
    """A function that looks its names up in a table of its own, which is filled when a name is first needed."""

    def __init__(self, function: Any):
        known = function.__globals__
        roots = {path[0] for path in names_looked_up(function.__code__)}
        own = _Lazy({name: known[name] for name in roots if name in known})
        cells = tuple(CellType(plain_value(cell.cell_contents)) for cell in function.__closure__ or ())
        self.function = FunctionType(function.__code__, own, function.__name__, function.__defaults__, cells)
        self.function.__kwdefaults__ = function.__kwdefaults__


class _Lazy(dict[str, Any]):
    """The plain forms of values, each made when it is asked for: functions that call each other have no first."""

    def __init__(self, values: dict[str, Any]):
        super().__init__(__builtins__=builtins)
        self.values_of = values

    def __missing__(self, name: str) -> Any:
        if name not in self.values_of:
            raise KeyError(name)
        found = self[name] = plain_value(self.values_of[name])
        return found


class _PlainModule:
    """A module of ours, whose kernels are plain."""

    def __init__(self, module: ModuleType):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = plain_value(getattr(self._module, name))
        setattr(self, name, found)
        return found


def plain_value(value: Any) -> Any:
    """What a kernel may use instead of a value when it is not compiled."""
    python = getattr(value, "py_func", None)
    if isinstance(python, FunctionType):
        return plain_function(python)
    if isinstance(value, FunctionType) and (rule := getattr(value, "rule", None)) is not None:
        return _plain_rule(rule)
    if isinstance(value, ModuleType) and not is_foreign(value.__name__):
        return _PlainModule(value)
    return value


@cache
def _plain_rule(name: str) -> Callable[..., Any]:
    def dispatch(game: Any, *arguments: Any) -> Any:
        return plain_function(rule_of(type(game), name))(game, *arguments)

    return dispatch
