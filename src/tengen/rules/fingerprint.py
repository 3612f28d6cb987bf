"""What can be compiled into an entry point, as a hash: two processes whose hashes are equal may share machine code.

The walk begins at the entry point's function and follows every name that its bytecode looks up: helpers, constants and
tables by their values, rules by the types of the game and the evaluation, closures and defaults. What the bytecode
cannot see changes nothing: comments, docstrings, error messages, Python-only classes, a rule that is not called. One
thing is compiled in without being named: what a user's module has taught Numba (`overload`, `overload_method`).
"""

from __future__ import annotations

import ast
import dis
import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config
from numba.core.typing.templates import builtin_registry

from tengen.rules.contract import JIT_OPTIONS, answers_of, answers_to
from tengen.rules.errors import GameFileError

FOREIGN = {"cuda", "llvmlite", "numba", "numba_cuda", "numpy"}  # packages that are known by their versions
PYTHONS = tuple({Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})  # where its own modules lie
PLAIN = (int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic)
NO_VALUE = "no value yet"
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Unkeepable(GameFileError):
    """Something is compiled in of which nobody can say whether the next process will find the same."""


def fingerprint(function: Callable[..., Any], *kinds: Any) -> str:
    """A hash of all that can be compiled into `function` for a game's class, and the classes of an evaluation's tuples.

    Raises Unkeepable if that holds a value that cannot be compared between processes.
    """
    walk = _Walk(kinds)
    flags = (config.BOUNDSCHECK, config.OPT, config.DEBUGINFO_DEFAULT, sorted(JIT_OPTIONS.items()))
    walk.put("versions", sys.version_info[:3], numba.__version__, llvmlite.__version__, np.__version__, flags)
    for kind in kinds:
        walk.put("kind", *_name_of(kind), kind._fields)
    walk.function(function)
    for taught in taught_to_numba():
        walk.function(taught)
    return walk.digest.hexdigest()[:16]


def functions_reached(function: Callable[..., Any], *kinds: Any) -> list[FunctionType]:
    """The functions that can be compiled into `function` for a game's class, itself included."""
    walk = _Walk(kinds)
    walk.function(function)
    return walk.functions


def taught_to_numba() -> list[FunctionType]:
    """What other modules than ours and Numba's say is to be compiled for a function, a method or an attribute."""
    templates = (*builtin_registry.functions, *builtin_registry.attributes)
    functions = {getattr(template, "_overload_func", None) for template in templates}
    others = [one for one in functions if isinstance(one, FunctionType) and not _is_known(one.__module__)]
    return sorted(others, key=lambda one: (one.__module__, one.__qualname__, one.__code__.co_firstlineno))


def _is_known(module: str | None) -> bool:
    """Whether what a module teaches Numba has a version, or is met where its name is looked up."""
    return module is None or module.partition(".")[0] == "tengen" or is_foreign(module)  # None: made of text, by Numba


class _Walk:
    """One pass over everything that can be reached. What was met before is named by its number, so cycles end."""

    def __init__(self, kinds: Iterable[type]):
        self.kinds, self.digest = tuple(kinds), hashlib.sha256()
        self.met: dict[Any, int] = {}
        self.functions: list[FunctionType] = []

    def put(self, *pieces: object) -> None:
        self.digest.update(repr(pieces).encode())

    def is_new(self, thing: Any) -> bool:
        """Whether something is met for the first time; its number says where it stands in any case."""
        key = thing if isinstance(thing, str) else id(thing)
        is_new = key not in self.met
        self.put("number", self.met.setdefault(key, len(self.met)))
        return is_new

    # Code.

    def function(self, function: Any) -> None:
        """A function that is compiled: its bytecode, and what the names in it stand for."""
        if not self.is_new(function):
            return
        self.functions.append(function)
        code, known = function.__code__, function.__globals__
        self.put("code", _code_hash(code))
        self.values("defaults", function.__defaults__ or ())
        self.mapping("keywords", function.__kwdefaults__ or {})
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self.put("closure", name)
            self.value(cell.cell_contents if _is_filled(cell) else NO_VALUE)
        for path in names_looked_up(code):
            self.put("name", path)
            self.named(path, known)

    def named(self, path: tuple[str, ...], known: Mapping[str, Any]) -> None:
        """What a name stands for, `lines.place` too: of a module, only what is asked for."""
        name, *rest = path
        value = known.get(name, NO_VALUE)  # a builtin needs no more than its name
        while isinstance(value, ModuleType) and rest and not is_foreign(value.__name__):
            value = getattr(value, rest.pop(0), NO_VALUE)
        self.value(value)

    def rule(self, name: str) -> None:
        """What a rule's name may be compiled to: the answers of the game and the evaluation, and the default."""
        if self.is_new(f"rule {name}"):
            for answer in answers_to(name, self.kinds):
                self.function(answer)

    def module_of(self, function: Any) -> None:
        """The module of a function as a whole. One that failed to load is gone, and leaves what it had registered."""
        module = sys.modules.get(function.__module__)
        if module is None:
            raise Unkeepable(f"{function.__qualname__} is of {function.__module__}, which is not loaded any more")
        self.module(module)

    def module(self, module: ModuleType) -> None:
        """A module as a whole, where nobody can say what of it is compiled in."""
        if not self.is_new(module):
            return
        try:
            source = inspect.getsource(module)
        except (OSError, TypeError) as reason:
            raise Unkeepable(f"the source of module {module.__name__} cannot be read") from reason
        self.put("module", module.__name__, _without_docstrings(source))
        for name, value in sorted(vars(module).items()):
            if not name.startswith("__"):
                self.put("name", name)
                self.value(value)

    # Values.

    def value(self, value: Any) -> None:
        """Anything that a name, a default or a closure can hold."""
        if isinstance(value, Enum):
            self.put("member", *_name_of(type(value)), value.name)
            self.value(value.value)
        elif isinstance(value, PLAIN):
            self.put(type(value).__name__, value)
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self.put("array", value.dtype, value.shape)
            self.digest.update(np.ascontiguousarray(value).data.cast("B") if value.size else b"")
        elif isinstance(value, tuple | list):
            self.type(type(value))
            self.values("sequence", value)
        elif isinstance(value, dict):
            self.mapping("mapping", value)
        elif isinstance(value, set | frozenset):
            self.put("set", sorted(map(repr, value)))
        elif isinstance(value, ModuleType):
            self.put("module", value.__name__)
            if not is_foreign(value.__name__):
                self.module(value)
        elif isinstance(value, type):
            self.type(value)
        else:
            self.callable(value)

    def values(self, what: str, values: Iterable[Any], *more: object) -> None:
        self.put(what, *more)
        for value in values:
            self.value(value)
        self.put("end")

    def mapping(self, what: str, values: Mapping[Any, Any]) -> None:
        self.values(what, (part for item in values.items() for part in item))

    def type(self, kind: type) -> None:
        """A class: one of ours can be compiled in if it is a tuple with names, or an enumeration."""
        self.put("class", *_name_of(kind), getattr(kind, "_fields", ()))
        if is_foreign(kind.__module__) or not self.is_new(kind):
            return
        self.mapping("defaults", getattr(kind, "_field_defaults", {}))
        if issubclass(kind, Enum):
            self.values("members", kind)
        if (made := getattr(kind, "class_type", None)) is not None:  # numba.experimental.jitclass
            parts = made.jit_methods, made.jit_static_methods, made.jit_props
            self.values("jitclass", ({**made.struct}, *parts))
        for answer in answers_of(kind):
            self.function(answer)

    def callable(self, value: Any) -> None:
        """A function, in whichever form."""
        if (python := _python_of(value)) is not None:  # a kernel
            self.put("kernel", type(value).__name__, sorted(getattr(value, "targetoptions", {}).items(), key=repr))
            self.put("types", value.types if getattr(value, "_frozen", False) else ())  # those of a ufunc
            self.function(python)
        elif (rule := getattr(value, "rule", None)) is not None:
            self.rule(rule)
        elif hasattr(value, "_defn"):  # an intrinsic, which writes machine code: by whatever its module knows
            self.module_of(value._defn)
        elif is_foreign(getattr(value, "__module__", None) or type(value).__module__):
            self.foreign(value)
        elif isinstance(value, FunctionType):  # plain Python, for which an overload may be registered
            self.function(value)
            self.module_of(value)
        else:
            self.put("object", *_name_of(type(value)))  # nothing that a kernel can use

    def foreign(self, value: Any) -> None:
        """Something of Python's, NumPy's or Numba's, which has a version."""
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        if not isinstance(name, str) or not isinstance(value, BuiltinFunctionType | FunctionType | np.ufunc):
            name = repr(value)
        if " at 0x" in name and callable(value):
            raise Unkeepable(f"{name[:80]} is at another address in the next process")
        self.put("foreign", *_name_of(type(value)), name.partition(" at 0x")[0])


def _python_of(value: Any) -> FunctionType | None:
    """The function of which Numba has made a kernel, or one for each cell of an array: `vectorize`, `guvectorize`."""
    for made in (value, getattr(value, "_dispatcher", None)):
        if isinstance(python := getattr(made, "py_func", None), FunctionType):
            return python
    return None


def _name_of(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


@cache
def is_foreign(module: str) -> bool:
    """Whether a module is Python's own, or of a package whose version is part of every fingerprint."""
    name = module.partition(".")[0]
    if name in FOREIGN:
        return hasattr(sys.modules.get(name), "__path__")  # a user's helper may be called cuda.py
    return name in sys.stdlib_module_names and not _is_shadowed(name)


def _is_shadowed(name: str) -> bool:
    """Whether a module that is called as one of Python's own is somebody else's: `test`, say, or `statistics`."""
    origin = getattr(getattr(sys.modules.get(name), "__spec__", None), "origin", None)
    if origin in (None, "built-in", "frozen"):
        return False
    path = Path(origin)
    return not any(path.is_relative_to(own) for own in PYTHONS) or "site-packages" in path.parts


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _without_docstrings(source: str) -> str:
    """What a module's text says to Python; comments and the layout are gone, too."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            node.body.pop(0)
    return ast.dump(tree)


@cache
def _code_hash(code: CodeType) -> str:
    """Bytecode with its constants, without docstrings and line numbers."""
    shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & 0xFF)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    digest = hashlib.sha256(repr((code.co_code, shape, names)).encode())
    for constant in _constants_without_docstring(code):
        told = _code_hash(constant) if isinstance(constant, CodeType) else _constant_text(constant)
        digest.update(told.encode() + b";")
    return digest.hexdigest()


def _constants_without_docstring(code: CodeType) -> tuple[Any, ...]:
    """A function's first constant is its docstring, or None; since Python 3.13 only where a flag says so."""
    has_place = bool(code.co_flags & inspect.CO_NEWLOCALS) and not code.co_name.startswith("<")
    if sys.version_info >= (3, 13):
        has_place = bool(code.co_flags & 0x4000000)  # CO_HAS_DOCSTRING
    first = code.co_consts[:1] if not has_place else (None,) * len(code.co_consts[:1])
    return first + code.co_consts[1:]


def _constant_text(constant: Any) -> str:
    """Sets of texts have another order in every process."""
    if isinstance(constant, frozenset):
        return f"frozenset {sorted(map(repr, constant))}"
    return repr(constant)


@cache
def names_looked_up(code: CodeType) -> tuple[tuple[str, ...], ...]:
    """The global names in a function and the functions within it, each with the attributes asked of it, in order."""
    return tuple(sorted(set(_paths_in(code))))


def _paths_in(code: CodeType) -> Iterator[tuple[str, ...]]:
    path: list[str] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "EXTENDED_ARG":
            continue
        if path and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            path.append(instruction.argval)
            continue
        if path:
            yield tuple(path)
        path = [instruction.argval] if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME") else []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _paths_in(constant)
