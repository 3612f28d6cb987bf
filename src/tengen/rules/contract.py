"""The contract: the rules every game answers, found by the game's type.

A game is a `NamedTuple` of its parameters. Its rules are plain functions over one NumPy record, the state, registered
with `@rules(ThatTuple)` under the names below. Searches call the generic names; Numba resolves them when it compiles
(for a CPU or for CUDA), and with the JIT off the very same calls are resolved by plain Python.

Rules are trusted: they are called with legal actions only, allocate nothing, and keep everything in the state.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numba.core import config
from numba.extending import overload

from tengen.rules.compiler import AS_HELPER, Helper
from tengen.rules.errors import GameFileError, nearest

MOST_ACTIONS = 2**15 - 1  # a search's tree keeps an action in two bytes
ONGOING, FIRST, SECOND, DRAW = 0, 1, 2, 3  # what `outcome` answers; a won game is the winning player + 1
JIT_OPTIONS = {"error_model": "numpy"}  # no exception paths in kernels: a division never checks for zero

Function = TypeVar("Function", bound=Callable[..., Any])

_defaults: dict[str, Callable[..., Any] | None] = {}
_signatures: dict[str, list[str]] = {}
_generics: dict[str, Callable[..., Any]] = {}
_kernels: dict[tuple[type, str], Callable[..., Any]] = {}


def kernel(function: Function) -> Function:
    """Compiles a helper that rules or searches call. It becomes a part of its callers, and is never cached alone."""
    if config.DISABLE_JIT:
        return function
    return Helper(function, targetoptions={"nopython": True, **JIT_OPTIONS})


def rules(game_type: type) -> Callable[[Function], Function]:
    """Registers the decorated function as `game_type`'s answer to the generic rule of the same name.

    What the name stands for afterwards is the generic rule, so a game's rules may call each other.
    """

    def register(function: Function) -> Function:
        name = function.__name__
        if name not in _defaults:
            raise GameFileError(f"{game_type.__name__} answers an unknown rule {name!r}{nearest(name, _defaults)}")
        given = list(inspect.signature(function).parameters)
        if given != _signatures[name]:
            wanted = ", ".join(_signatures[name])
            raise GameFileError(f"{game_type.__name__}.{name} takes ({', '.join(given)}); the contract says ({wanted})")
        _kernels[game_type, name] = function
        return _generics[name]  # type: ignore[return-value]

    return register


def missing_rules(game_type: type) -> list[str]:
    """The rules without a default that `game_type` does not answer."""
    return [name for name, default in _defaults.items() if default is None and (game_type, name) not in _kernels]


def rule_of(game_type: type, name: str) -> Callable[..., Any]:
    """`game_type`'s own answer to a rule, or the default one."""
    function = _kernels.get((game_type, name)) or _defaults[name]
    if function is None:
        raise GameFileError(f"{game_type.__name__} has no rule {name!r}: define it under @rules({game_type.__name__})")
    return function


def has_rule(game_type: type, name: str) -> bool:
    """Whether `game_type` answers a rule itself."""
    return (game_type, name) in _kernels


def answers_to(name: str, kinds: Iterable[type]) -> list[Callable[..., Any]]:
    """What a rule's name may be compiled to, if the first argument is of one of `kinds`: their answers, the default."""
    answers = [*(_kernels.get((kind, name)) for kind in kinds), _defaults[name]]
    return [answer for answer in answers if answer is not None]


def answers_of(kind: type) -> list[Callable[..., Any]]:
    """All the rules that a class answers itself, by their names."""
    return [_kernels[kind, name] for name in sorted(name for owner, name in _kernels if owner is kind)]


def generic(required: bool) -> Callable[[Function], Function]:
    """Makes a generic rule of a function: its docstring is the law; its body, unless required, is the default."""

    def define(function: Function) -> Function:
        name = function.__name__

        def dispatch(game: Any, *arguments: Any) -> Any:
            return rule_of(type(game), name)(game, *arguments)

        def resolve(game: Any, *arguments: Any) -> Any:
            return rule_of(game.instance_class, name)

        dispatch.__name__ = dispatch.__qualname__ = name
        dispatch.__doc__ = function.__doc__
        dispatch.rule = name  # type: ignore[attr-defined]
        resolve.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        _generics[name] = dispatch
        _defaults[name] = None if required else function
        _signatures[name] = list(inspect.signature(function).parameters)
        if not config.DISABLE_JIT:
            overload(dispatch, jit_options={**AS_HELPER, **JIT_OPTIONS})(resolve)
        return dispatch  # type: ignore[return-value]

    return define


@kernel
def mix(number):
    """A 64-bit hash of a 64-bit number (the finaliser of SplitMix64): Zobrist keys and random numbers, no tables."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@kernel
def stone_key(cell, player):
    """The Zobrist key of one player's stone on one cell."""
    number = np.uint64(2) * np.uint64(cell) + np.uint64(player) + np.uint64(1)
    return mix(number * np.uint64(0x9E3779B97F4A7C15))


@kernel
def first_seed(number):
    """The seed of the random sequence of a number: neighbouring numbers give sequences that have nothing in common."""
    return mix(np.uint64(number) * np.uint64(0x9E3779B97F4A7C15))


@kernel
def advance(seed):
    """The next seed of a random sequence (Knuth's linear congruential one); the upper half of its bits is random."""
    return seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)


@kernel
def below(seed, count):
    """A number in [0, count), from a seed fresh from `advance`."""
    return np.uint32(((seed >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@kernel
def earlier_winner(result, player, to_play):
    """The result of a diagram on which `player` has won: if both have, it is the player to move, who cannot have."""
    return result if result == to_play + 1 else player + 1


@generic(required=True)
def start(game, state):
    """Sets up the first position in a state that is all zeros."""


@generic(required=True)
def legal(game, state, actions):
    """Writes the legal actions of a game that goes on into `actions`, rising; returns how many (at least one)."""


@generic(required=True)
def play(game, state, action):
    """Plays a legal action; afterwards `state.to_play` is the player (0 or 1) who moves next."""


@generic(required=True)
def outcome(game, state):
    """ONGOING, or how the game ended: FIRST or SECOND for the winner, DRAW."""


@generic(required=True)
def key(game, state):
    """A 64-bit hash: equal for equal boards with the same player to move, however they came about."""


@generic(required=True)
def encode(game, state, planes):
    """Writes all of `planes` [planes, cells], the network's input, as seen by the player to move."""


@generic(required=False)
def score(game, state):
    """The margin of the first player's win (negative: the second's) in a game that ended."""
    result = outcome(game, state)
    if result == FIRST:
        return 1.0
    if result == SECOND:
        return -1.0
    return 0.0


@generic(required=False)
def territory(game, state, owners):
    """Writes who owns each cell of a game that ended into `owners` [cells]: 0 for nobody, or a player + 1."""
    owners[:] = 0


@generic(required=False)
def rollout(game, state, actions, seed):
    """Plays random moves until the game ends; returns the next seed. `actions` is scratch memory for `legal`."""
    while outcome(game, state) == ONGOING:
        count = legal(game, state, actions)
        seed = advance(seed)
        play(game, state, actions[below(seed, count)])
    return seed
