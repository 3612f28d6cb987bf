"""Do the arena's numbers mean what they say? Intervals, and the sequential test, judged by simulated matches.

    python bench/arena.py                       # all tables, some minutes
    python bench/arena.py intervals --simulations 500
    python bench/arena.py errors games

Results are drawn from known strengths: how often does a 90% interval hold the truth, how often does the test err, and
how many games does it take?
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from tengen.arena.ratings import ELO, OUTCOMES, Result, expected_score, rate
from tengen.arena.sprt import GAME_SCORES, PAIR_SCORES, Sprt, log_likelihood_ratio

LONGEST = 100_000  # games of a sequential test: none of those below comes near
POOLS = {
    "8 equals": [0.0] * 8,
    "8 over 350 Elo": [50.0 * i for i in range(8)],
    "8 over 1400 Elo": [200.0 * i for i in range(8)],
    "2, 100 Elo apart": [0.0, 100.0],
}


# Ratings.


def draw_results(
    elos: Sequence[float], games: int, draw_rate: float, first_move: float, rng: np.random.Generator
) -> Iterator[Result]:
    """A round robin in which each pair plays so many games, half of them with each player first."""
    odds = 2 * draw_rate / (1 - draw_rate)  # ν
    unit = ELO * (1 - draw_rate)  # Elo of a natural unit
    for i, one in enumerate(elos):
        for j, other in enumerate(elos):
            if i != j:
                chances = np.exp(OUTCOMES[:, 0] * (one - other + first_move) / unit)
                chances[1] = odds
                wins, draws, losses = rng.multinomial(games // 2, chances / chances.sum()).tolist()
                yield Result(str(i), str(j), wins, draws, losses)


@dataclass
class Coverage:
    """How often intervals held the truth: of differences, of ratings, of the first move's advantage."""

    differences: float
    ratings: float
    first_move: float


def coverage(
    elos: Sequence[float],
    games: int,
    draw_rate: float,
    simulations: int,
    first_move: float = 40.0,
    confidence: float = 0.9,
    seed: int = 1,
) -> Coverage:
    rng, mean = np.random.default_rng(seed), sum(elos) / len(elos)
    held: tuple[list[bool], list[bool], list[bool]] = ([], [], [])
    for _ in range(simulations):
        found = rate(
            list(draw_results(elos, games, draw_rate, first_move, rng)), confidence=confidence, first_move=True
        )
        for i, elo in enumerate(elos):
            row = found.row(str(i))
            held[1].append(row.low <= elo - mean <= row.high)
            for j in range(i):
                _, low, high = found.difference(str(i), str(j))
                held[0].append(low <= elo - elos[j] <= high)
        assert found.first_move_interval is not None
        low, high = found.first_move_interval
        held[2].append(low <= first_move <= high)
    return Coverage(*(float(np.mean(one)) for one in held))


def show_intervals(simulations: int) -> None:
    print(f"\n90% intervals that hold the truth, in {simulations} simulated round robins")
    print("| players | games a pair | drawn between equals | differences | ratings | first move |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, elos in POOLS.items():
        for games in (10, 100):
            for draw_rate in (0.0, 0.2, 0.6):
                found = coverage(elos, games, draw_rate, simulations)
                shares = " | ".join(f"{share:.1%}" for share in (found.differences, found.ratings, found.first_move))
                print(f"| {name} | {games} | {draw_rate:.0%} | {shares} |", flush=True)


# The sequential test.


@dataclass(frozen=True)
class Opponents:
    """Two agents: how strong the first is by its points, how often equals draw, how much openings favour a colour."""

    elo: float
    draw_rate: float
    unfairness: float  # standard deviation of an opening's advantage, in natural units

    def chances(self) -> np.ndarray:
        """[openings, 2 games, 3]: a win, a draw, a loss of the first agent, for many openings."""
        odds = 2 * self.draw_rate / (1 - self.draw_rate)
        quantiles = (np.arange(1000) + 0.5) / 1000
        advantages = self.unfairness * np.array([NormalDist().inv_cdf(quantile) for quantile in quantiles])
        low, high = -50.0, 50.0
        for _ in range(60):  # the strength that makes for the points
            middle = (low + high) / 2
            exponents = OUTCOMES[:, 0] * (middle + advantages[:, None, None] * np.array([1, -1])[:, None])
            chances = np.exp(exponents)
            chances[..., 1] = odds
            chances /= chances.sum(axis=-1, keepdims=True)
            is_weak = (chances[..., 0] + chances[..., 1] / 2).mean() < expected_score(self.elo)
            low, high = (middle, high) if is_weak else (low, middle)
        return chances

    def pair_spread(self) -> float:
        """The standard deviation of a pair's points a game."""
        chances = self.chances() @ np.eye(3)[::-1]  # a loss, a draw, a win
        pairs = np.stack([np.convolve(first, second) for first, second in chances]).mean(axis=0)
        mean = pairs @ PAIR_SCORES
        return float(np.sqrt(pairs @ (PAIR_SCORES - mean) ** 2))


@dataclass
class Run:
    """What many tests came to."""

    took_h1: float
    games: float  # mean


def run_sprt(test: Sprt, opponents: Opponents, simulations: int, pairs: bool = True, seed: int = 1) -> Run:
    """Many tests side by side, each until it decides; on pairs of games, or on the same games taken singly."""
    rng, chances = np.random.default_rng(seed), opponents.chances().cumsum(axis=-1)
    means, scores = (expected_score(test.elo0), expected_score(test.elo1)), PAIR_SCORES if pairs else GAME_SCORES
    low, high = test.bounds
    counts, openings = np.zeros((simulations, len(scores)), int), np.zeros(simulations, int)
    took_h1, alive = np.zeros(simulations, bool), np.arange(simulations)
    for number in range(LONGEST):
        if pairs or number % 2 == 0:
            openings[alive] = rng.integers(len(chances), size=len(alive))
        points = np.zeros(len(alive), int)
        for side in (0, 1) if pairs else (number % 2,):
            points += 2 - (rng.random((len(alive), 1)) > chances[openings[alive], side, :2]).sum(axis=-1)
        counts[alive, points] += 1
        ratio = log_likelihood_ratio(counts[alive], scores, *means)
        took_h1[alive] = ratio >= high
        alive = alive[(low < ratio) & (ratio < high)]
        if not len(alive):
            break
    return Run(float(took_h1.mean()), float(counts.sum(axis=1).mean()) * (2 if pairs else 1))


def fixed_games(test: Sprt, opponents: Opponents) -> float:
    """How many games a match of fixed length needs for the same errors."""
    reach = sum(NormalDist().inv_cdf(1 - error) for error in (test.alpha, test.beta))
    return 2 * (reach * opponents.pair_spread() / (expected_score(test.elo1) - expected_score(test.elo0))) ** 2


def show_errors(simulations: int) -> None:
    print(f"\nErrors of the sequential test, alpha = beta = 5%, in {simulations} simulations")
    print("| elo0, elo1 | drawn between equals | openings | H1 taken at elo0 | H0 taken at elo1 | taken singly: both |")
    print("|---|---:|---|---:|---:|---:|")
    for bounds in ((0, 20), (0, 50), (0, 100), (300, 400)):
        for draw_rate in (0.0, 0.2, 0.6):
            for unfairness, name in ((0.0, "fair"), (2.0, "unfair")):
                test = Sprt(*bounds)
                sides = [Opponents(elo, draw_rate, unfairness) for elo in bounds]
                wrong = [run_sprt(test, side, simulations).took_h1 for side in sides]
                singly = [run_sprt(test, side, simulations // 4, pairs=False).took_h1 for side in sides]
                print(
                    f"| {bounds[0]}, {bounds[1]} | {draw_rate:.0%} | {name} | {wrong[0]:.1%} | {1 - wrong[1]:.1%} | "
                    f"{singly[0]:.1%}, {1 - singly[1]:.1%} |",
                    flush=True,
                )


def show_games(simulations: int) -> None:
    test = Sprt(0, 20)
    print(f"\nMean games of SPRT {test.spec}, beside a match of fixed length with the same errors")
    print("| drawn between equals | openings | truly −10 | 0 | 10 | 20 | 40 Elo | fixed length |")
    print("|---:|---|---:|---:|---:|---:|---:|---:|")
    for draw_rate in (0.0, 0.2, 0.6):
        for unfairness, name in ((0.0, "fair"), (2.0, "unfair")):
            taken = [
                run_sprt(test, Opponents(elo, draw_rate, unfairness), simulations).games for elo in (-10, 0, 10, 20, 40)
            ]
            fixed = fixed_games(test, Opponents(10, draw_rate, unfairness))
            print(
                f"| {draw_rate:.0%} | {name} | {' | '.join(f'{games:.0f}' for games in taken)} | {fixed:.0f} |",
                flush=True,
            )


TABLES = {"intervals": show_intervals, "errors": show_errors, "games": show_games}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", help=f"{', '.join(TABLES)} (all, if none is named)")
    parser.add_argument("--simulations", type=int, default=4000)
    given = parser.parse_args()
    if unknown := set(given.tables) - set(TABLES):
        parser.error(f"no table is called {', '.join(unknown)}; there are {', '.join(TABLES)}")
    for name in given.tables or TABLES:
        TABLES[name](given.simulations)


if __name__ == "__main__":
    main()
