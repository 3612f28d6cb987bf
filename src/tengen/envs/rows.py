"""Games side by side, a row each: their memory, and the kernels that CPUs and GPUs run on one row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tengen.games import load_game
from tengen.rules.contract import FIRST, JIT_OPTIONS, ONGOING, SECOND, advance, below, encode, legal, outcome, play
from tengen.rules.errors import BadMove, BadParameter, IllegalMove, TengenError
from tengen.rules.game import Game
from tengen.search.lockstep import as_words, copy_words


class TimeStep(NamedTuple):
    """What a step returns, for all games. A game that stops makes room for the next one in the same step.

    The arrays belong to the environment, and the next step overwrites them: copy what you keep.
    """

    planes: Any  # [count, planes, rows, columns], float32: what the player to move sees
    masks: Any  # [count, actions], bool: which actions are legal there
    to_play: Any  # [count], int8: the player to move there, 0 or 1
    rewards: Any  # [count, 2], float32: of both players: 1 and −1 when a game is won, else 0
    ended: Any  # [count], bool: whether the game was won, lost or drawn by this step
    truncated: Any  # [count], bool: whether it was broken off, since it was too long
    plies: Any  # [count], int32: moves played in the game, the one that stopped if one has
    last_planes: Any  # [count, planes, rows, columns], float32: where a game has stopped, its last position
    last_to_play: Any  # [count], int8: the player to move there


class GameRows(NamedTuple):
    """The memory of games side by side: first what is their own, then what `TimeStep` shows."""

    states: Any  # [rows]
    words: Any  # [rows, words]: the same memory
    seeds: Any  # [rows]: of random actions
    actions: Any  # [rows, actions]: the legal ones, rising
    counts: Any  # [rows]: how many these are
    done: Any  # [rows]: plies of the game under way
    first_words: Any  # [words]: the state that games begin with
    first_planes: Any  # [planes, cells]: and what is seen of it
    planes: Any  # [rows, planes, cells]
    masks: Any  # [rows, actions]
    to_play: Any  # [rows]
    rewards: Any  # [rows, 2]
    ended: Any  # [rows]
    truncated: Any  # [rows]
    plies: Any  # [rows]
    last_planes: Any  # [rows, planes, cells]
    last_to_play: Any  # [rows]


def game_of(game: Game | str) -> Game:
    """The game itself, or the game of a spec."""
    return game if isinstance(game, Game) else load_game(game)


def new_game_rows(game: Game, count: int, seed: int) -> GameRows:
    """Memory for `count` games, of which none has begun."""
    if count < 1:
        raise BadParameter(f"count={count}: an environment has one game or more")
    first, states = game.start(), game.new_states(count)
    shape = count, len(game.planes), game.cells
    return GameRows(
        states=states,
        words=as_words(states),
        seeds=seeds_of(seed, count),
        actions=np.zeros((count, game.actions), np.int32),
        counts=np.zeros(count, np.int32),
        done=np.zeros(count, np.int32),
        first_words=as_words(first.states)[0],
        first_planes=first.encode().reshape(shape[1:]),
        planes=np.zeros(shape, np.float32),
        masks=np.zeros((count, game.actions), np.bool_),
        to_play=np.zeros(count, np.int8),
        rewards=np.zeros((count, 2), np.float32),
        ended=np.zeros(count, np.bool_),
        truncated=np.zeros(count, np.bool_),
        plies=np.zeros(count, np.int32),
        last_planes=np.zeros(shape, np.float32),
        last_to_play=np.zeros(count, np.int8),
    )


def time_step(game: Game, arrays: dict[str, Any]) -> TimeStep:
    """The arrays of rows that are shown, in the shape of the board."""
    shown = {name: arrays[name] for name in TimeStep._fields}
    for name in ("planes", "last_planes"):
        shown[name] = shown[name].reshape((len(shown[name]), len(game.planes), *game.shape))
    return TimeStep(**shown)


def seeds_of(seed: int, count: int) -> np.ndarray:
    """A seed for each row [count]."""
    return np.random.default_rng(seed).integers(2**64, size=count, dtype=np.uint64)


def longest_of(game: Game, longest: int | None) -> int:
    """After how many plies a game is broken off: as in training, unless something else is said."""
    if longest is not None and longest < 1:
        raise BadParameter(f"longest={longest}: a game has one ply or more: give one, or None")
    return 4 * game.cells + 100 if longest is None else longest


def check_actions(actions: Any, count: int) -> None:
    """Raises BadMove unless `actions` are integers [count]."""
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        raise BadMove(f"step takes integers [{count}], not {actions.dtype} {list(actions.shape)}")


def refusal(game: Game, row: int, action: int, legal_actions: list[int], ply: int) -> TengenError:
    """The error for an action that row `row` cannot play."""
    if not 0 <= action < game.actions:
        return BadMove(f"row {row}: action {action} does not exist; {game.name} has actions 0 to {game.actions - 1}")
    some = ", ".join(named(game, other) for other in legal_actions[:8])
    more = ", …" if len(legal_actions) > 8 else ""
    return IllegalMove(f"row {row}: {named(game, action)} is not legal at move {ply + 1}; legal are {some}{more}")


def named(game: Game, action: int) -> str:
    """An action by its number and as people write it: `40 (e5)`."""
    return f"{action} ({game.action_text(action)})"


# Kernels, for one row. They are a part of what calls them: to pass so many arrays costs more than most of them do.

inlined = njit(forceinline=True, **JIT_OPTIONS)


@inlined
def begin_row(game, rows, i):
    """Row i begins a game."""
    rows.done[i] = 0
    copy_words(rows.first_words, rows.words[i])
    planes = rows.planes[i]
    for plane in range(planes.shape[0]):
        for cell in range(planes.shape[1]):
            planes[plane, cell] = rows.first_planes[plane, cell]


@inlined
def look_at_row(game, rows, i):
    """Writes who moves in row i, and what is legal."""
    state, actions, mask = rows.states[i], rows.actions[i], rows.masks[i]
    rows.to_play[i] = state.to_play
    count = legal(game, state, actions)
    rows.counts[i] = count
    for action in range(len(mask)):
        mask[action] = False
    for k in range(count):
        mask[actions[k]] = True


@inlined
def clear_row(rows, i):
    """Row i has played nothing."""
    rows.rewards[i, 0] = rows.rewards[i, 1] = 0
    rows.ended[i] = rows.truncated[i] = False
    rows.plies[i] = rows.done[i]


@inlined
def reset_row(game, rows, i):
    """Row i begins a game, whatever became of the last."""
    begin_row(game, rows, i)
    clear_row(rows, i)
    look_at_row(game, rows, i)


@inlined
def is_legal(rows, i, action):
    """Whether row i can play an action: compares it with all that are legal, side by side."""
    found, wanted = False, np.int32(action)
    for k in range(rows.counts[i]):
        found |= rows.actions[i, k] == wanted
    return found and wanted == action


@inlined
def step_row(game, rows, i, action, longest):
    """Row i plays a legal action, and begins the next game if that stops this one."""
    state, ply = rows.states[i], rows.done[i] + 1
    play(game, state, action)
    result = outcome(game, state)
    ended = result != ONGOING
    stops = ended or ply >= longest
    encode(game, state, rows.last_planes[i] if stops else rows.planes[i])
    value = 1 if result == FIRST else -1 if result == SECOND else 0
    rows.rewards[i, 0], rows.rewards[i, 1] = value, -value
    rows.ended[i], rows.truncated[i] = ended, stops and not ended
    rows.done[i] = rows.plies[i] = ply
    if stops:
        rows.last_to_play[i] = state.to_play
        begin_row(game, rows, i)
    look_at_row(game, rows, i)


@inlined
def draw_action(rows, i):
    """One of row i's legal actions, each with the same chance."""
    rows.seeds[i] = advance(rows.seeds[i])
    return rows.actions[i, below(rows.seeds[i], rows.counts[i])]
