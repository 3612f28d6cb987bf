"""Games played to their end: what a leaf is worth by how they come out.

Two kinds of player. A quick one is a `NamedTuple` of its tables, and plays by a kernel that is registered with
`@rules(ThatTuple)` under the name `roll`. A network plays many games side by side: it is asked once a ply about all of
them, and whenever a game ends the next begins in its place, so that its batches stay full.

Results are the first player's, in [−1, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from tengen.rules.contract import (
    FIRST,
    ONGOING,
    SECOND,
    advance,
    first_seed,
    generic,
    kernel,
    legal,
    outcome,
    play,
    rollout,
)
from tengen.rules.game import Game
from tengen.rules.kernels import entry
from tengen.search.chance import uniform
from tengen.search.evaluation import NO_NOTES
from tengen.search.limits import Clock

Policy = Callable[[np.ndarray], np.ndarray]  # states -> logits [states, actions]
NOT_PLAYED = np.float32(math.nan)  # the result of a leaf whose games were given up
ROWS = 128  # games side by side


class Rollouts(Protocol):
    """Plays games from leaves that go on.

    Leaves have numbers, counted from the one that is given (0 to 2**64 - 1, after which they begin again at 0); the
    same leaf with the same number has the same result: float32 [leaves], its mean over some games. When the clock has
    run out, what is not decided yet is NOT_PLAYED.
    """

    def __call__(self, leaves: np.ndarray, number: int, clock: Clock | None = None) -> np.ndarray: ...


class Even(NamedTuple):
    """The game's own random moves."""

    unit: int = 1

    def record(self, game):
        return NO_NOTES


@generic(required=False)
def roll(player, game, state, notes, actions, seed):
    """Plays a game that goes on to its end; returns the next seed.

    `notes` are the player's own memory and hold nothing yet that can be relied on; `actions` is scratch memory.
    """
    return rollout(game, state, actions, seed)


@generic(required=False)
def choices(player, game, state, actions):
    """Writes the actions that a game on its way to the end may go on with; returns how many (at least one)."""
    return legal(game, state, actions)


@kernel
def result_of(game, state):
    """The first player's result of a game that ended."""
    result = outcome(game, state)
    return np.float32(1) if result == FIRST else np.float32(-1) if result == SECOND else np.float32(0)


@entry
def roll_leaves(game, player, leaves, scratch, notes, actions, repeats, number, results):
    """Writes the mean result of so many games from each leaf: results [leaves]."""
    for i in range(len(leaves)):
        seed, total = first_seed(number + np.uint64(i)), np.float32(0)
        for _ in range(repeats):
            scratch[0] = leaves[i]
            seed = roll(player, game, scratch[0], notes[0], actions, seed)
            total += result_of(game, scratch[0])
        results[i] = total / np.float32(repeats)


class QuickRollouts:
    """A player by kernels; threads may share it."""

    def __init__(self, game: Game, player: Any, repeats: int = 1):
        self.game, self.player, self.repeats = game, player, repeats
        self(game.start().states, 0)  # compiling is no part of anybody's time to think

    def __call__(self, leaves: np.ndarray, number: int, clock: Clock | None = None) -> np.ndarray:
        results, notes = np.empty(len(leaves), np.float32), np.zeros(1, self.player.record(self.game)).view(np.recarray)
        scratch = self.game.new_states(1), notes, np.empty(self.game.actions, np.int32)
        roll_leaves(self.game.parameters, self.player, leaves, *scratch, self.repeats, np.uint64(number), results)
        return results


class RolloutRows(NamedTuple):
    """Games side by side; those under way stand in front."""

    states: Any
    jobs: Any  # [rows]: which game each plays
    seeds: Any  # [rows]
    actions: Any  # scratch memory
    weights: Any  # scratch memory


@kernel
def begin_job(leaves, rows, row, job, repeats, number):
    """Game `job`, one of `repeats` from its leaf, begins in a row, with a random sequence of its own."""
    leaf, repeat = np.uint64(job // repeats), np.uint64(job % repeats)
    rows.states[row] = leaves[job // repeats]
    rows.jobs[row] = job
    rows.seeds[row] = first_seed(first_seed(number + leaf) + repeat)


@kernel
def draw_action(player, game, rows, row, logits):
    """An action for a row by the softmax of its logits over the player's choices."""
    count = choices(player, game, rows.states[row], rows.actions)
    highest, total = np.float32(-1e30), 0.0
    for i in range(count):
        highest = max(highest, logits[rows.actions[i]])
    for i in range(count):
        rows.weights[i] = math.exp(np.float64(logits[rows.actions[i]] - highest))
        total += rows.weights[i]
    rows.seeds[row] = advance(rows.seeds[row])
    wanted, pick = uniform(rows.seeds[row]) * total, 0
    while pick < count - 1 and wanted >= rows.weights[pick]:
        wanted -= rows.weights[pick]
        pick += 1
    return rows.actions[pick]


@entry
def begin_rows(game, leaves, rows, repeats, number):
    """Every row begins the game of its own number."""
    for row in range(len(rows.jobs)):
        begin_job(leaves, rows, row, row, repeats, number)


@entry
def step_rows(game, player, leaves, rows, live, begun, repeats, number, logits, totals, counts):
    """Each live row plays an action; where a game ends the next begins. Returns how many are live, and were begun.

    Adds results to totals [leaves], and the games that ended to counts [leaves].
    """
    row = 0
    while row < live:
        state = rows.states[row]
        play(game, state, draw_action(player, game, rows, row, logits[row]))
        if outcome(game, state) == ONGOING:
            row += 1
            continue
        leaf = rows.jobs[row] // repeats
        totals[leaf] += result_of(game, state)
        counts[leaf] += 1
        if begun < len(leaves) * repeats:
            begin_job(leaves, rows, row, begun, repeats, number)
            begun += 1
            row += 1
        else:  # the last one, which has not moved yet, takes its place
            live -= 1
            if row < live:
                rows.states[row], rows.jobs[row], rows.seeds[row] = rows.states[live], rows.jobs[live], rows.seeds[live]
                for action in range(logits.shape[1]):
                    logits[row, action] = logits[live, action]
    return live, begun


class NetRollouts:
    """Games in lockstep by a network's policy, drawn among the player's choices; threads may share it."""

    def __init__(self, game: Game, policy: Policy, player: Any, repeats: int = 1, rows: int = ROWS):
        self.game, self.policy, self.player, self.repeats, self.rows = game, policy, player, repeats, rows
        start, nothing, number = game.start().states, np.zeros(0, np.float32), np.uint64(0)
        begin_rows(game.parameters, start, self._new_rows(0), 1, number)
        arguments = np.zeros((0, game.actions), np.float32), nothing, nothing
        step_rows(game.parameters, player, start, self._new_rows(0), 0, 0, 1, number, *arguments)

    def __call__(self, leaves: np.ndarray, number: int, clock: Clock | None = None) -> np.ndarray:
        jobs = len(leaves) * self.repeats
        live = begun = min(self.rows, jobs)
        rows, game, first = self._new_rows(live), self.game.parameters, np.uint64(number)
        totals, counts = np.zeros(len(leaves), np.float32), np.zeros(len(leaves), np.float32)
        begin_rows(game, leaves, rows, self.repeats, first)
        while live and (clock is None or clock.left > 0):
            logits = np.array(self.policy(rows.states[:live]), np.float32)
            live, begun = step_rows(
                game, self.player, leaves, rows, live, begun, self.repeats, first, logits, totals, counts
            )
        return np.where(counts > 0, totals / np.maximum(counts, 1), NOT_PLAYED)

    def _new_rows(self, count: int) -> RolloutRows:
        return RolloutRows(
            states=self.game.new_states(count),
            jobs=np.zeros(count, np.int64),
            seeds=np.zeros(count, np.uint64),
            actions=np.zeros(self.game.actions, np.int32),
            weights=np.zeros(self.game.actions, np.float64),
        )
