"""What a depth-limited search asks about a game: how good is a position, which actions are worth a look?

An evaluation is a `NamedTuple` of its parameters (tables too). Its answers are kernels, registered like a game's rules
with `@rules(ThatTuple)` under the names below. It may keep notes: a NumPy record for each state on the search's path,
brought up to date action by action, so that an answer costs what changed and not what is there.

Its class says in Python what the notes are, `record(self, game)`; what score is a clear advantage, a value of 0.76, as
`scale`; if its candidates may leave out what matters, `is_complete = False`: a search then proves nothing; and if its
bounds tell who wins, but not how soon, `counts_plies = False`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tengen.rules.contract import generic, legal
from tengen.rules.game import Game

WIN = 1_000_000  # the score of a game won at once; one less for every ply that it takes
WON = WIN - 10_000  # more than any evaluation says: scores from here on are won games
NO_NOTES = np.dtype([("unused", np.int8)])


class Plain(NamedTuple):
    """Knows nothing but the end of the game: every position that goes on is worth 0."""

    unit: int = 1

    @property
    def scale(self):
        return 1.0

    def record(self, game):
        return NO_NOTES


@generic(required=False)
def take_notes(evaluation, game, state, notes):
    """Writes the notes of a state, from nothing (they are all zeros)."""


@generic(required=False)
def follow(evaluation, game, before, after, action, notes):
    """Brings the notes of the state before an action up to date with the state after it."""


@generic(required=False)
def evaluate(evaluation, game, state, notes):
    """How good a state that goes on is for the player to move: an integer, between −WON and WON."""
    return 0


@generic(required=False)
def bounds(evaluation, game, state, notes):
    """The lowest and the highest score that the game can still have for the player to move."""
    return -WIN, WIN


@generic(required=False)
def candidates(evaluation, game, state, notes, actions, scores):
    """Writes the actions worth a look, and how good each seems at first; returns how many (at least one)."""
    count = legal(game, state, actions)
    for i in range(count):
        scores[i] = 0
    return count


@generic(required=False)
def threats(evaluation, game, state, notes, actions, scores):
    """As `candidates`, at the horizon: only what cannot wait. None: the evaluation can be trusted. A negative count:
    there is nothing else to play."""
    return 0


@generic(required=False)
def may_wait(evaluation, game, state):
    """Whether `threats` is known not to answer below zero, so that it need not be asked where a score is enough."""
    return False


@generic(required=False)
def plies_for(evaluation, game, state, action):
    """How many plies of a search's depth an action costs: more than one where little is expected of what follows."""
    return 1


@generic(required=False)
def plies_off(evaluation, game, before, after, action, place):
    """By how many plies less an action is looked at first, where so many were tried before it: more than none where
    little is expected. If it seems better than they were nevertheless, it is looked at again in full."""
    return 0


def value_of(score: int, scale: float) -> float:
    """A score as a value in [−1, 1]; ±1 only for a game that is won or lost."""
    if abs(score) >= WON:
        return math.copysign(1.0, score)
    return 0.999 * math.tanh(score / scale)


def plies_to_end(score: int) -> int | None:
    """In how many plies a score says that the game ends; None if it says no such thing."""
    return WIN - abs(score) if abs(score) >= WON else None


def new_notes(evaluation: Any, game: Game, count: int) -> np.ndarray:
    """Blank notes for a path of states."""
    return np.zeros(count, evaluation.record(game)).view(np.recarray)
