"""Games of policies in lockstep: all states in one array, one kernel for all moves, one question to a network for all.

A step shows each of two policies the games in which it is to move, draws a move from each answer, plays it, and encodes
what follows. Games that have ended drop out, so no question is asked in vain. Moves are drawn in proportion to the
policy's probabilities, but for illegal ones and those into an own eye: what may be played is read off the planes.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from tengen.alphago.dataset import packed
from tengen.arena.match import Score
from tengen.games.go import area
from tengen.knowledge.go_planes import EYE, LARGE_SELF_ATARI, LIBERTIES_AFTER, PLANES, encode_rows, encode_states
from tengen.rules.contract import DRAW, FIRST, ONGOING, SECOND, advance, below, first_seed, kernel, outcome, play, start
from tengen.rules.game import Game
from tengen.rules.kernels import entry
from tengen.search.chance import uniform

SMALLEST_SHARE = 64  # games that are worth a thread
Policy = Callable[[np.ndarray], np.ndarray]  # planes uint8 [n, 27, cells] to logits float32 [n, cells + 1]


@kernel
def is_legal_point(planes, point):
    """Whether a point may be played: every legal move is in one of four planes."""
    found = 0
    for plane in range(LIBERTIES_AFTER, LARGE_SELF_ATARI):
        found += planes[plane, point]
    return found > 0


@kernel
def draw_move(planes, logits, temperature, seed):
    """A move drawn from a policy; a pass is always possible."""
    cells = planes.shape[1]
    largest, total = logits[cells], 0.0
    for point in range(cells):
        if is_legal_point(planes, point) and planes[EYE, point] == 0:
            largest = max(largest, logits[point])
    for point in range(cells):
        if is_legal_point(planes, point) and planes[EYE, point] == 0:
            total += math.exp((logits[point] - largest) / temperature)
    wanted = uniform(seed) * (total + math.exp((logits[cells] - largest) / temperature))
    for point in range(cells):
        if is_legal_point(planes, point) and planes[EYE, point] == 0:
            wanted -= math.exp((logits[point] - largest) / temperature)
            if wanted < 0.0:
                return point
    return cells


@kernel
def draw_any(planes, seed):
    """Any legal point, each as likely as the next; a pass if there is none."""
    cells, count = planes.shape[1], 0
    for point in range(cells):
        count += is_legal_point(planes, point)
    if count == 0:
        return cells
    left = np.int64(below(seed, count))
    for point in range(cells):
        if is_legal_point(planes, point):
            if left == 0:
                return point
            left -= 1
    return cells


@kernel
def result_now(game, state, longest):
    """How a game ended; one of `longest` plies is counted as it stands."""
    result = outcome(game, state)
    if result != ONGOING or state.ply < longest:
        return result
    margin = area(game, state) - game.komi - game.handicap
    return FIRST if margin > 0 else SECOND if margin < 0 else DRAW


@entry
def begin_rows(game, states, seeds, number):
    """Every row begins a game; states are all zeros."""
    for i in range(len(states)):
        seeds[i] = first_seed(number + np.uint64(i))
        start(game, states[i])


@entry
def play_rows(game, states, planes, seeds, randoms, rows, logits, temperature, longest, actions, results):
    """The rows named by `rows` [n] each draw a move from `logits` [n, cells + 1], and play it.

    A row plays at random in the plies from randoms[row, 0] to before randoms[row, 1]. `actions` [n] are the moves,
    `results` [all rows] how games ended; `planes` [all rows, 27, cells] show the positions before.
    """
    for i in range(len(rows)):
        row = rows[i]
        state = states[row]
        seeds[row] = advance(seeds[row])
        if randoms[row, 0] <= state.ply and state.ply < randoms[row, 1]:
            actions[i] = draw_any(planes[row], seeds[row])
        else:
            actions[i] = draw_move(planes[row], logits[i], temperature, seeds[row])
        play(game, state, actions[i])
        results[row] = result_now(game, state, longest)


class Moves(NamedTuple):
    """Moves that the first policy chose in one step."""

    rows: np.ndarray  # [n]: of which games
    planes: np.ndarray  # [n, 27, bytes]: packed
    actions: np.ndarray  # [n]


class Lockstep:
    """Games between two policies. In row i the first policy is player seats[i]."""

    def __init__(self, game: Game, seats: np.ndarray, seed: int, longest: int, temperature: float = 1.0):
        count = len(seats)
        self.game, self.seats, self.longest, self.temperature = game, seats.astype(np.uint8), longest, temperature
        self.states = game.new_states(count)
        self.planes = np.zeros((count, PLANES, game.cells), np.uint8)
        self.seeds = np.zeros(count, np.uint64)
        self.randoms = np.zeros((count, 2), np.int64)
        self.results = np.full(count, ONGOING, np.int8)
        self.threads = max(1, min(os.cpu_count() or 1, count // SMALLEST_SHARE))
        self.workers = ThreadPoolExecutor(self.threads)
        begin_rows(game.parameters, self.states, self.seeds, np.uint64(seed))
        self.planes[:] = encode_states(game, self.states[:1])

    def movers(self, policy: int) -> np.ndarray:
        """The rows in which the policy 0 or 1 is to move."""
        return np.flatnonzero((self.results == ONGOING) & ((self.states.to_play ^ self.seats) == policy))

    def step(self, rows: np.ndarray, policy: Policy) -> np.ndarray:
        """Lets a policy move in `rows` [n]; returns its moves [n]."""
        logits, actions = policy(self.planes[rows]), np.zeros(len(rows), np.int64)
        parts = np.array_split(np.arange(len(rows)), max(1, min(self.threads, len(rows) // SMALLEST_SHARE)))

        def work(part: np.ndarray) -> None:
            own = slice(part[0], part[-1] + 1)
            play_rows(
                self.game.parameters,
                self.states,
                self.planes,
                self.seeds,
                self.randoms,
                rows[own],
                logits[own],
                self.temperature,
                self.longest,
                actions[own],
                self.results,
            )
            going = rows[own][self.results[rows[own]] == ONGOING]
            encode_rows(self.game.parameters, self.states, going, self.planes)

        list(self.workers.map(work, parts))
        return actions

    def play(
        self,
        policies: tuple[Policy, Policy],
        is_stopped: Callable[[], bool] = lambda: False,
        keep: bool = False,
    ) -> list[Moves]:
        """Plays all games to their end; returns the moves that the first policy chose, if `keep`."""
        kept: list[Moves] = []
        while (self.results == ONGOING).any() and not is_stopped():
            turns = [(number, self.movers(number)) for number in (0, 1)]
            for number, rows in turns:
                if len(rows):
                    plies = self.states.ply[rows].astype(np.int64)
                    before = self.planes[rows] if keep and number == 0 else None
                    actions = self.step(rows, policies[number])
                    if before is not None:
                        chosen = (plies < self.randoms[rows, 0]) | (plies >= self.randoms[rows, 1])
                        kept.append(Moves(rows[chosen], packed(before[chosen]), actions[chosen]))
        self.workers.shutdown()
        return kept

    def values(self) -> np.ndarray:
        """The results [games] for the first policy: 1, −1, or 0 for a draw."""
        won = np.where(self.results == self.seats + 1, 1, -1)
        return np.where(self.results == DRAW, 0, won).astype(np.float32)


def both_seats(count: int) -> np.ndarray:
    """`count` seats: the first policy is either player equally often."""
    return np.arange(count, dtype=np.uint8) % 2


def play_match(
    game: Game,
    policies: tuple[Policy, Policy],
    games: int,
    seed: int,
    longest: int,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Score:
    """The first policy's score against the second, moves drawn by chance, both colours equally often."""
    table = Lockstep(game, both_seats(games), seed, longest)
    table.play(policies, is_stopped)
    values = table.values()[table.results != ONGOING]
    return Score(int((values > 0).sum()), int((values == 0).sum()), int((values < 0).sum()))
