"""python bench/fit_reversi.py: plays Reversi against itself and fits the weights of `tengen.knowledge.margin.Margin`.

A round plays games with a shallow alpha-beta, then exactly once few cells are empty. Games begin with random moves and
branch off with one, so that blunders are seen punished. The first round plays by mobility, each later one by what the
one before has taught. Weights are fitted by least squares with a penalty on their squares, phase by phase: first to how
the games ended, then, from the last phase to the first, to what the positions that followed were worth: TD(λ).

Everything follows from the seed. It takes about nine minutes of processor time, half of that on two idle cores.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tengen.arena.openings import random_opening
from tengen.games import load_game
from tengen.knowledge.endgame import EXACT, FOREVER, Endgame, begin, moves_of, proceed
from tengen.knowledge.margin import (
    BEGINS,
    COUNTS,
    PHASES,
    PLACES,
    ROUNDED,
    WIDTH,
    Margin,
    add_discs,
    entries_alike,
    entries_of_counts,
    phase_of,
    tables_of,
)
from tengen.knowledge.reversi import Mobility
from tengen.rules.contract import kernel
from tengen.rules.game import Position
from tengen.rules.kernels import entry
from tengen.search.alphabeta import AlphaBeta
from tengen.search.limits import Limit

WEIGHTS = Path(__file__).resolve().parent.parent / "src" / "tengen" / "knowledge" / "margin.npz"
SAMPLE = np.dtype(
    [
        ("own", np.uint64),
        ("other", np.uint64),
        ("score", np.int8),  # at the end of the game, for the player to move
        ("is_followed", np.bool_),  # by the next sample, in the same game
        ("is_held_out", np.bool_),  # only measures the error
    ]
)
SOLVED = 14  # empty cells from which the end is played exactly
BRANCHES = 3  # a game, at random plies
OVERLAP = 4  # discs by which a phase's positions reach into its neighbours'
PENALTY = 40.0  # so many positions must agree before half of what they say about a weight is believed
TRUST = 0.8  # λ: how much the end of a game counts against what is thought of positions on the way, ply by ply
PASSES = 2  # of fits to what followed
STEPS = 40  # of conjugate gradients
HELD_OUT = 20  # one game of so many
CHUNK = 25  # games that a worker plays at once
FEATURES = PLACES + COUNTS  # weights that a position's value adds up
PHASE_OF_DISCS = np.array([phase_of(64 - discs) for discs in range(65)])


class Round(NamedTuple):
    """How many games are played, and how deep they are searched."""

    games: int
    depth: int


ROUNDS = (Round(1000, 3), Round(2500, 3), Round(5000, 4))


@dataclass
class Player:
    """Plays a position to its end."""

    search: AlphaBeta
    solver: Endgame
    depth: int

    def best(self, position: Position) -> int:
        discs = position.states[0].discs
        if 64 - int(discs[0] | discs[1]).bit_count() > SOLVED:
            return self.search.search(position, Limit(depth=self.depth)).action
        game, arrays = position.game.parameters, self.solver.arrays
        begin(game, position.states, arrays, *EXACT)
        while not proceed(game, arrays, self.solver.board, self.solver.refinements, FOREVER):
            pass
        return int(arrays.frames[0].best_move)

    def finish(self, position: Position) -> list[Position]:
        """The positions of good play from here to the end."""
        line = [position]
        while line[-1].outcome is None:
            line.append(line[-1].play(self.best(line[-1])))
        return line


def play_game(player: Player, chance: random.Random) -> list[list[Position]]:
    """A game from a random opening, and its branches: a random move from it, then good play again."""
    lines = [player.finish(random_opening(player.search.game, chance.randint(2, 14), chance))]
    for _ in range(BRANCHES):
        position = chance.choice([position for line in lines for position in line[:-1]])
        lines.append(player.finish(position.play(chance.choice(position.legal_actions))))
    return lines


def samples_of(line: list[Position], is_held_out: bool) -> np.ndarray:
    """The positions of a line that go on, with the final score for their player to move."""
    end = line[-1].states[0].discs
    score = int(end[0]).bit_count() - int(end[1]).bit_count()
    samples = np.zeros(len(line) - 1, SAMPLE)
    for sample, position in zip(samples, line[:-1], strict=True):
        discs, mover = position.states[0].discs, position.to_play
        sample["own"], sample["other"] = discs[mover], discs[1 - mover]
        sample["score"] = -score if mover else score
    samples["is_followed"][:-1], samples["is_held_out"] = True, is_held_out
    return samples


def play_games(task: tuple[Any, int, range]) -> np.ndarray:
    """Some games of a round."""
    evaluation, depth, numbers = task
    game = load_game("reversi")
    search, lines = AlphaBeta(game, evaluation, memory=1), []
    for number in numbers:
        search.forget()
        player = Player(search, Endgame(game, memory=1), depth)  # nothing is carried over from game to game
        for line in play_game(player, random.Random(number)):
            lines.append(samples_of(line, number % HELD_OUT == 0))
    return np.concatenate(lines)


def play_round(evaluation: Any, plan: Round, seed: int) -> np.ndarray:
    """All games of a round, on all cores; which core plays what changes nothing."""
    last = seed + plan.games
    tasks = [(evaluation, plan.depth, range(n, min(n + CHUNK, last))) for n in range(seed, last, CHUNK)]
    with multiprocessing.get_context("spawn").Pool() as pool:
        return np.concatenate(pool.map(play_games, tasks, chunksize=1))


@entry
def read_features(game, owns, others, alike, features):
    """Writes the numbers of the weights that add up to each position's value: features [positions, FEATURES]."""
    indices = np.zeros(WIDTH, np.uint16)
    for n in range(len(owns)):
        indices[:] = 0
        add_discs(indices, owns[n], 1)
        add_discs(indices, others[n], 2)
        for i in range(PLACES):
            features[n, i] = alike[BEGINS[i] + indices[i]]
        i = PLACES
        moves = moves_of(owns[n], others[n], ~(owns[n] | others[n]))
        for counted in entries_of_counts(owns[n], others[n], moves):
            features[n, i] = alike[counted]
            i += 1


@entry
def look_ahead(game, scores, values, is_followed, trust, targets):
    """Writes what each position should be worth: its successor's value and target, mixed; at the end the score.

    All are of the player to move, who changes with every ply, since a pass is one.
    """
    for n in range(len(scores) - 1, -1, -1):
        if is_followed[n]:
            targets[n] = -(1 - trust) * values[n + 1] - trust * targets[n + 1]
        else:
            targets[n] = scores[n]


@kernel
def add_up(features, weights, values):
    """Writes the value of each position."""
    for n in range(len(features)):
        value = 0.0
        for feature in features[n]:
            value += weights[feature]
        values[n] = value


@kernel
def hand_down(features, values, weights):
    """Writes for each weight the sum of the values of the positions that have it."""
    weights[:] = 0.0
    for n in range(len(features)):
        for feature in features[n]:
            weights[feature] += values[n]


@entry
def fit(game, features, scores, weights, penalty, steps):
    """Least squares with a penalty on squared weights, by conjugate gradients scaled by how often a weight occurs."""
    positions, size = len(features), len(weights)
    values, slope, product = np.ones(positions), np.zeros(size), np.zeros(size)
    hand_down(features, values, slope)
    scaling = 1.0 / (slope + penalty)
    add_up(features, weights, values)
    hand_down(features, scores - values, slope)
    slope -= penalty * weights
    direction = scaling * slope
    merit = (slope * direction).sum()
    for _ in range(steps):
        add_up(features, direction, values)
        hand_down(features, values, product)
        product += penalty * direction
        length = merit / (direction * product).sum()
        weights += length * direction
        slope -= length * product
        scaled = scaling * slope
        before, merit = merit, (slope * scaled).sum()
        direction = scaled + (merit / before) * direction


@dataclass
class Positions:
    """Samples with what a fit needs of them."""

    samples: np.ndarray

    def __post_init__(self) -> None:
        self.game = load_game("reversi").parameters
        self.discs = np.bitwise_count(self.samples["own"] | self.samples["other"]).astype(np.int64)
        self.phases = PHASE_OF_DISCS[self.discs]
        self.features = np.empty((len(self.samples), FEATURES), np.int32)
        owns, others = self.samples["own"].copy(), self.samples["other"].copy()
        read_features(self.game, owns, others, entries_alike().astype(np.int32), self.features)
        self.scores = 100.0 * self.samples["score"]

    def values(self, weights: np.ndarray) -> np.ndarray:
        """What all positions are worth by these weights [phases, weights]."""
        values = np.empty(len(self.samples))
        for phase in range(PHASES):
            chosen = self.phases == phase
            values[chosen] = weights[phase][self.features[chosen]].sum(1)
        return values

    def targets(self, weights: np.ndarray) -> np.ndarray:
        """What all positions should be worth, by what follows them."""
        targets, is_followed = np.empty(len(self.samples)), self.samples["is_followed"].copy()
        look_ahead(self.game, self.scores, self.values(weights), is_followed, TRUST, targets)
        return targets

    def fit(self, phase: int, targets: np.ndarray) -> np.ndarray:
        """The weights of a phase that come nearest to the targets."""
        discs = np.flatnonzero(phase == PHASE_OF_DISCS)
        used = (self.discs >= discs[0] - OVERLAP) & (self.discs <= discs[-1] + OVERLAP)
        weights = np.zeros(entries_alike().max() + 1)
        fit(self.game, self.features[used], targets[used], weights, PENALTY, STEPS)
        return weights


def fit_all(positions: Positions) -> np.ndarray:
    """The weights of all phases, rounded: to the ends of the games, then to what followed each position."""
    weights = np.stack([positions.fit(phase, positions.scores) for phase in range(PHASES)])
    for _ in range(PASSES):
        for phase in reversed(range(PHASES)):
            weights[phase] = positions.fit(phase, positions.targets(weights))
    return np.rint(weights / ROUNDED).astype(np.int16)


def report(positions: Positions, weights: np.ndarray) -> None:
    """The error on games that no weight has seen: of how they ended, in discs."""
    errors = (positions.values(ROUNDED * weights) - positions.scores) / 100
    for phase in range(PHASES):
        chosen = errors[positions.phases == phase]
        print(f"  phase {phase}: {len(chosen):,} positions held out, error {np.sqrt(np.mean(chosen**2)):.1f} discs")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--out", type=Path, default=WEIGHTS)
    given = options.parse_args()
    seed, evaluation, rounds = given.seed * 1_000_000, Mobility(), []
    for plan in ROUNDS:
        began = time.perf_counter()
        rounds.append(play_round(evaluation, plan, seed))
        print(f"{plan.games:,} games, {len(rounds[-1]):,} positions in {time.perf_counter() - began:.0f} s", flush=True)
        samples = np.concatenate(rounds[1:] or rounds)  # the first round's play is too poor to learn from for long
        began, is_held_out = time.perf_counter(), samples["is_held_out"]
        weights = fit_all(Positions(samples[~is_held_out]))
        print(f"  fitted in {time.perf_counter() - began:.0f} s")
        report(Positions(samples[is_held_out]), weights)
        evaluation, seed = Margin(tables_of(ROUNDED * weights)), seed + plan.games
    np.savez_compressed(given.out, weights=weights)
    print(f"{given.out}: {given.out.stat().st_size:,} bytes, {np.count_nonzero(weights):,} weights")


if __name__ == "__main__":
    main()
