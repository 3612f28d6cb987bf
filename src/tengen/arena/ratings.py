"""Ratings from results: Davidson's model of wins, draws and losses, in Elo, with what the results leave open.

For a first player who is stronger by d (in natural units, the advantage of the first move included) the odds of a win,
a draw and a loss are e^(d/2) : ν : e^(−d/2), with one ν for the whole pool. Without draws that is Bradley and Terry's
model. The log-likelihood is concave, so Newton's method finds its maximum.

The prior is Jeffreys's: it adds half the logarithm of the determinant of Fisher's information. For two players that is
as if half a win, half a draw and half a loss had been seen on top of the results; in a pool of n players it weighs
about as much as n + 1 games altogether. It keeps ratings finite where every game went one way, takes away most of the
bias of small samples, and is forgotten with the first dozens of games.

Elo is scaled so that a small difference of x makes for the points of the logistic curve, 1 / (1 + 10^(−x/400)): the
model's own d alone would grow with the share of draws. So ratings agree with the Elo of a match and of the SPRT.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from tengen.records.record import Record
from tengen.rules.errors import TengenError

ELO = 400 / math.log(10)  # of one natural unit, if nothing is drawn
OUTCOMES = np.array([[0.5, 0.0], [0.0, 1.0], [-0.5, 0.0]])  # what a win, a draw and a loss count: of d, of log ν
APART = 1000 / ELO  # groups that never met: the standard deviation of their levels, in natural units
MOST_STEPS = 200
MOST_HALVINGS = 40
SMALL = 1e-7  # a step that changes nothing any more: some hundred-thousandths of an Elo


class RatingError(TengenError):
    """Results that cannot be rated, or a player who is not among them."""


class Result(NamedTuple):
    """Games of two players, counted for the one who moved first in them."""

    first: str
    second: str
    wins: int
    draws: int
    losses: int


class Rated(NamedTuple):
    """A row of the table."""

    name: str
    elo: float
    low: float
    high: float
    games: int
    points: float
    draws: int


class Estimate(NamedTuple):
    """A figure in Elo and its interval."""

    elo: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratings:
    """The ratings of all players, from results.

    A rating is a difference: to the anchor, whose own is 0 and certain, or, without one, to the mean of the pool. Its
    interval is that of this difference, so two intervals that overlap do not say that two players are level: ask
    `difference` or `superiority`. All rest on games that are independent: a game repeated move by move counts as new.
    """

    table: tuple[Rated, ...]  # the strongest first
    anchor: str | None
    confidence: float
    draw_rate: float  # of games between equals, if moving first were worth nothing
    first_move: float | None  # what moving first is worth in Elo; None if it was not asked for, or cannot be told
    first_move_interval: tuple[float, float] | None
    warnings: tuple[str, ...]  # what a reader has to know: players who cannot be compared, and the like
    _fit: Fit = field(repr=False)

    @property
    def names(self) -> list[str]:
        return [row.name for row in self.table]

    def row(self, name: str) -> Rated:
        """A player's row."""
        return self.table[self.names.index(self._fit.name(name))]

    def difference(self, one: str, other: str) -> Estimate:
        """By how much Elo one player is stronger than another, with its interval."""
        return self._fit.estimate(self._fit.contrast(one, other), self.confidence)

    def superiority(self, one: str, other: str) -> float:
        """How likely it is that one player is stronger than another; one half if nothing is known."""
        contrast = self._fit.contrast(one, other)
        spread = math.sqrt(max(contrast @ self._fit.covariance @ contrast, 0.0))
        return NormalDist().cdf(float(contrast @ self._fit.parameters) / spread) if spread > SMALL else 0.5


def rate(
    results: Sequence[Sequence[Any]],
    anchor: str | None = None,
    confidence: float = 0.95,
    first_move: bool = False,
) -> Ratings:
    """The most likely ratings for results (first, second, wins, draws, losses), with intervals.

    With `first_move` the advantage of moving first is estimated as well; otherwise who moved first does not matter.
    """
    if not 0 < confidence < 1:
        raise RatingError(f"confidence={confidence} is out of range: it lies between 0 and 1")
    pool = Pool.of([check_result(result) for result in results])
    if anchor is not None and anchor not in pool.names:
        raise RatingError(f"the anchor {anchor!r} has no games; {', '.join(pool.names) or 'nobody'} have")
    can_tell = first_move and pool.tells_first_move()
    fit = fit_pool(pool, can_tell)
    count, unit = len(pool.names), np.eye(len(fit.parameters))
    zero = unit[:count].sum(axis=0) / max(count, 1) if anchor is None else unit[pool.names.index(anchor)]
    rows = [Rated(name, *fit.estimate(unit[i] - zero, confidence), *pool.tally(i)) for i, name in enumerate(pool.names)]
    advantage = fit.estimate(unit[count], confidence) if can_tell else None
    return Ratings(
        table=tuple(sorted(rows, key=lambda row: -row.elo)),
        anchor=anchor,
        confidence=confidence,
        draw_rate=1 - fit.scale,
        first_move=advantage.elo if advantage else None,
        first_move_interval=advantage[1:] if advantage else None,
        warnings=tuple(pool.warnings(first_move and not can_tell)),
        _fit=fit,
    )


def ratings(results: Sequence[Sequence[Any]], anchor: str) -> dict[str, float]:
    """The Elo ratings of results (a, b, wins of a, draws, losses); the anchor's is 0."""
    return {row.name: row.elo for row in rate(results, anchor).table}


def match_superiority(wins: int, draws: int, losses: int) -> float:
    """The chance that the winner of `wins` games of a match is the stronger player, with a flat prior.

    Draws do not matter: they say as much for one as for the other. Exact: the share of all sequences of
    wins + losses + 1 tosses of a coin that have at most `wins` heads.
    """
    check_result(("one", "other", wins, draws, losses))
    if wins > losses:
        return 1 - match_superiority(losses, draws, wins)
    tosses = wins + losses + 1
    log_ways = (math.lgamma(tosses + 1) - math.lgamma(k + 1) - math.lgamma(tosses - k + 1) for k in range(wins + 1))
    return math.fsum(math.exp(ways - tosses * math.log(2)) for ways in log_ways)


def expected_score(elo: float) -> float:
    """The expected points a game for a difference in Elo: the logistic curve."""
    return 1 / (1 + 10 ** (-elo / 400)) if elo > -40_000 else 0.0


def elo_of(rate: float) -> float:
    """The difference in Elo with the expected points a game `rate`."""
    if rate <= 0 or rate >= 1:
        return math.copysign(math.inf, rate - 0.5)
    return -400 * math.log10(1 / rate - 1)


def count_results(records: Iterable[Record]) -> list[Result]:
    """The results of the games that have one, added up for each pair and who moved first."""
    found: dict[tuple[str, str], list[int]] = {}
    for record in records:
        if (outcome := record.outcome) is not None:
            found.setdefault(record.players, [0, 0, 0])[1 - outcome.value_for(0)] += 1
    return [Result(*players, *counts) for players, counts in found.items()]


def check_result(result: Sequence[Any]) -> Result:
    """A result as it should be, of anything like it."""
    try:
        first, second, *counts = result
        numbers = [operator.index(count) for count in counts]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != 3 or min(numbers) < 0:
        raise RatingError(f"{result!r} is not a result: give first, second, and whole numbers of wins, draws, losses")
    return Result(str(first), str(second), *numbers)


@dataclass(frozen=True)
class Pool:
    """The results as arrays, one row for each pair and who moved first."""

    names: list[str]
    firsts: np.ndarray  # [rows] numbers of players
    seconds: np.ndarray  # [rows]
    counts: np.ndarray  # [rows, 3] wins, draws, losses
    groups: np.ndarray  # [players] who met, directly or through others, has the same number

    @classmethod
    def of(cls, results: list[Result]) -> Pool:
        names = list(dict.fromkeys(name for result in results for name in result[:2]))
        numbers = {name: number for number, name in enumerate(names)}
        added: dict[tuple[int, int], np.ndarray] = {}
        for first, second, *counts in results:
            pair = numbers[first], numbers[second]
            added[pair] = added.get(pair, np.zeros(3)) + counts
        played = {pair: counts for pair, counts in added.items() if counts.any()}
        pairs = np.array(list(played), int).reshape(-1, 2)
        rows = np.array(list(played.values())).reshape(-1, 3)
        return cls(names, pairs[:, 0], pairs[:, 1], rows, groups_of(len(names), pairs))

    @property
    def games(self) -> np.ndarray:
        """[rows]"""
        return self.counts.sum(axis=1)

    def tally(self, player: int) -> tuple[int, float, int]:
        """Games, points and draws of a player, against others."""
        games, points, draws = 0.0, 0.0, 0.0
        for own, other, sides in ((self.firsts, self.seconds, (0, 2)), (self.seconds, self.firsts, (2, 0))):
            counts = self.counts[(own == player) & (other != player)].sum(axis=0)
            games, draws = games + counts.sum(), draws + counts[1]
            points += counts[sides[0]] + counts[1] / 2
        return round(games), float(points), round(draws)

    def tells_first_move(self) -> bool:
        """Whether the advantage of the first move can be told from strengths: not if, say, one always moves first."""
        moved = np.zeros((len(self.firsts), len(self.names)))
        np.add.at(moved, (np.arange(len(moved)), self.firsts), 1.0)
        np.add.at(moved, (np.arange(len(moved)), self.seconds), -1.0)
        with_first = np.column_stack([moved, np.ones(len(moved))])
        return len(moved) > 0 and bool(np.linalg.matrix_rank(with_first) > np.linalg.matrix_rank(moved))

    def warnings(self, misses_first_move: bool) -> Iterable[str]:
        members: dict[int, list[str]] = {}
        for name, group in zip(self.names, self.groups.tolist(), strict=True):
            members.setdefault(group, []).append(name)
        if len(members) > 1:
            listed = "; ".join(", ".join(group) for group in members.values())
            yield (
                f"{len(members)} groups of players never met, not even through others, so their ratings cannot be "
                f"compared: {listed}"
            )
        if misses_first_move and len(self.firsts):
            yield "who moved first cannot be told from who is stronger: let each pair play with both colours"


def groups_of(players: int, pairs: np.ndarray) -> np.ndarray:
    """The number of each player's group: the lowest number of a player that pairs lead to."""
    groups = np.arange(players)
    for _ in range(players):
        before = groups.copy()
        np.minimum.at(groups, pairs[:, 0], before[pairs[:, 1]])
        np.minimum.at(groups, pairs[:, 1], before[pairs[:, 0]])
        groups = groups[groups]  # a group's number is a member's, whose own may have sunk
        if (groups == before).all():
            break
    return groups


@dataclass(frozen=True)
class Fit:
    """The most likely parameters: every player's strength, the advantage of the first move if asked for, log ν."""

    names: list[str]
    parameters: np.ndarray  # natural units
    covariance: np.ndarray

    @property
    def scale(self) -> float:
        """What a natural unit comes to near equality, as a share of what it is without draws."""
        return 2 / (2 + math.exp(self.parameters[-1]))

    def name(self, name: str) -> str:
        if name not in self.names:
            raise RatingError(f"{name!r} has no games; {', '.join(self.names) or 'nobody'} have")
        return name

    def contrast(self, one: str, other: str) -> np.ndarray:
        """The weights that make a difference of two strengths."""
        contrast = np.zeros(len(self.parameters))
        contrast[self.names.index(self.name(one))] += 1
        contrast[self.names.index(self.name(other))] -= 1
        return contrast

    def estimate(self, contrast: np.ndarray, confidence: float) -> Estimate:
        """A sum of parameters in Elo; its interval allows for the uncertain scale as well."""
        value, scale = float(contrast @ self.parameters), self.scale
        gradient = scale * contrast
        gradient[-1] += -value * scale * (1 - scale)
        spread = math.sqrt(max(gradient @ self.covariance @ gradient, 0.0))
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * spread
        return Estimate(ELO * scale * value, ELO * (scale * value - reach), ELO * (scale * value + reach))


def fit_pool(pool: Pool, with_first_move: bool) -> Fit:
    """Maximises the likelihood times Jeffreys's prior, by Newton's method with steps that are halved if they fail."""
    model = Model(pool, with_first_move)
    parameters = np.zeros(len(pool.names) + with_first_move + 1)
    height, slope, covariance = model.look(parameters)
    for _ in range(MOST_STEPS if len(pool.firsts) else 0):
        step = covariance @ slope
        for _ in range(MOST_HALVINGS):
            reached = model.look(parameters + step)
            if reached[0] >= height - SMALL:  # rounding errors are no failure
                break
            step /= 2
        parameters = parameters + step
        height, slope, covariance = reached
        if np.abs(step).max() < SMALL:
            break
    return Fit(pool.names, parameters, covariance)


class Model:
    """The likelihood of a pool's results, with the prior, and its derivatives."""

    def __init__(self, pool: Pool, with_first_move: bool):
        self.pool, self.with_first_move = pool, with_first_move
        players = len(pool.names)
        self.size = players + with_first_move + 1
        self.level = np.zeros((self.size, self.size))  # fixes the mean of each group: differences do not know it
        for group in np.unique(pool.groups):
            members = np.flatnonzero(pool.groups == group)
            self.level[np.ix_(members, members)] = 1 / (len(members) * APART) ** 2
        design = np.zeros((len(pool.firsts), self.size))  # [rows, parameters]: d of each row
        np.add.at(design, (np.arange(len(design)), pool.firsts), 1.0)
        np.add.at(design, (np.arange(len(design)), pool.seconds), -1.0)
        design[:, players:-1] = 1.0
        self.design = design

    def look(self, parameters: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The logarithm of likelihood times prior, its slope, and the inverse of Fisher's information."""
        games, counts, design = self.pool.games, self.pool.counts, self.design
        exponents = np.stack([design @ parameters, np.full(len(design), parameters[-1])], axis=1) @ OUTCOMES.T
        highest = exponents.max(axis=1, keepdims=True, initial=0.0)
        log_chances = exponents - highest - np.log(np.exp(exponents - highest).sum(axis=1, keepdims=True))
        chances = np.exp(log_chances)  # [rows, 3]
        means = chances @ OUTCOMES  # [rows, 2]: of d's half and of the draw
        apart = OUTCOMES - means[:, None]  # [rows, 3, 2]
        spreads = np.einsum("rk,rka,rkb->rab", chances, apart, apart) * games[:, None, None]
        covariance, log_determinant = self._invert(spreads)
        # The prior's slope: half the trace of the covariance times how the information changes, which for such a
        # family is the third moment.
        skews = np.einsum("rk,rka,rkb,rkc->rabc", chances, apart, apart, apart) * games[:, None, None, None]
        within = self._within_rows(covariance)  # [rows, 2, 2]
        pull = counts @ OUTCOMES - games[:, None] * means + 0.5 * np.einsum("rab,rabc->rc", within, skews)
        slope = design.T @ pull[:, 0]
        slope[-1] += pull[:, 1].sum()
        return float((counts * log_chances).sum()) + 0.5 * log_determinant, slope, covariance

    def _invert(self, spreads: np.ndarray) -> tuple[np.ndarray, float]:
        """The inverse of the information that rows of [2, 2] make, and the logarithm of its determinant."""
        information = self.level + (self.design.T * spreads[:, 0, 0]) @ self.design
        crossed = self.design.T @ spreads[:, 0, 1]
        information[:, -1] += crossed
        information[-1] += crossed
        information[-1, -1] += spreads[:, 1, 1].sum() or 1.0  # without games any number will do
        return np.linalg.inv(information), float(np.linalg.slogdet(information)[1])

    def _within_rows(self, covariance: np.ndarray) -> np.ndarray:
        """How uncertain d and log ν of each row are together: [rows, 2, 2]."""
        half = self.design @ covariance  # [rows, parameters]
        own, crossed = (half * self.design).sum(axis=1), half[:, -1]
        last = np.full(len(own), covariance[-1, -1])
        return np.stack([np.stack([own, crossed], axis=1), np.stack([crossed, last], axis=1)], axis=1)
