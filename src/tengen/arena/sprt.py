"""When has a match shown enough? Wald's sequential probability ratio test, on pairs of games or on single ones.

H0 says that the first agent is stronger by elo0, H1 that it is stronger by elo1, by the points it makes on the logistic
curve. How these points come about is not assumed: not how many games are drawn, nor how often an opening decides both
games for the side that has it. For each hypothesis the distribution of results is taken that fits best among those with
the right mean, and the logarithm of the ratio of the two likelihoods (the LLR) is what counts. The test ends when it
leaves its bounds. Then H1 was taken though H0 is true with a chance of about alpha, and the other way round with beta.

The two games of an opening are one result, of 0 to 2 points, because they are not independent. Taken singly they would
be trusted too little where openings cancel out, and too much where they do not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tengen.arena.ratings import expected_score
from tengen.rules.board import Between
from tengen.rules.errors import BadParameter, nearest

PAIR_SCORES = np.array([0, 0.25, 0.5, 0.75, 1])  # points a game in a pair: 0, half, 1, one and a half, 2 of 2
GAME_SCORES = np.array([0, 0.5, 1])
UNSEEN = 0.03  # how often a result was seen that was not: so that no mean is out of reach, nor too far in short tests
MOST_STEPS = 60
SMALL = 1e-8  # the ratio is flat where x is right, so that is more than enough
OPTIONS = {
    "elo0": Between(-2000, 2000),
    "elo1": Between(-2000, 2000),
    "alpha": Between(1e-6, 0.5),
    "beta": Between(1e-6, 0.5),
}
EXAMPLE = "elo0=0,elo1=20,alpha=0.05,beta=0.05"


def read_sprt(spec: str) -> Sprt:
    """The test of a spec such as `elo0=0,elo1=20,alpha=0.05`; what is left out is as in `Sprt`."""
    given: dict[str, float] = {}
    for piece in filter(None, spec.split(",")):
        key, equals, value = piece.partition("=")
        if not equals:
            raise BadParameter(f"{spec}: {piece!r} is not an option; write name=value, as in {EXAMPLE}")
        if key not in OPTIONS:
            raise BadParameter(f"{spec}: an SPRT has no option {key!r}{nearest(key, OPTIONS)}")
        given[key] = OPTIONS[key].read(key, value, float)
    return Sprt(**given)  # type: ignore[arg-type]


@dataclass
class Sprt:
    """A test under way. Results are the first agent's: +1 a win, 0 a draw, −1 a loss."""

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05  # the chance of taking H1 where H0 is true
    beta: float = 0.05  # the chance of taking H0 where H1 is true
    pairs: np.ndarray = field(default_factory=lambda: np.zeros(len(PAIR_SCORES), int))  # how often each was seen
    singles: np.ndarray = field(default_factory=lambda: np.zeros(len(GAME_SCORES), int))
    verdict: str | None = None  # "H0" or "H1"; None while it goes on
    _decided: str = ""  # why, at the moment when it was

    def __post_init__(self) -> None:
        for name, allowed in OPTIONS.items():
            setattr(self, name, allowed.read(name, getattr(self, name), float))
        if self.elo0 >= self.elo1:
            raise BadParameter(f"elo0={self.elo0:g} is not less than elo1={self.elo1:g}: write elo0=0,elo1=20")

    @property
    def spec(self) -> str:
        """The text that `read_sprt` makes this test of."""
        return f"elo0={self.elo0:g},elo1={self.elo1:g},alpha={self.alpha:g},beta={self.beta:g}"

    @property
    def games(self) -> int:
        return int(2 * self.pairs.sum() + self.singles.sum())

    @property
    def points(self) -> float:
        return float(2 * self.pairs @ PAIR_SCORES + self.singles @ GAME_SCORES)

    @property
    def bounds(self) -> tuple[float, float]:
        """Below the first H0 is taken, above the second H1: Wald's."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    @property
    def llr(self) -> float:
        """The logarithm of how much likelier the results are if H1 is true than if H0 is."""
        means = expected_score(self.elo0), expected_score(self.elo1)
        counted = ((self.pairs, PAIR_SCORES), (self.singles, GAME_SCORES))
        return float(sum(log_likelihood_ratio(counts, scores, *means) for counts, scores in counted))

    def add(self, result: int | Sequence[int]) -> str | None:
        """Counts one game, or the two of an opening; returns the verdict.

        The first verdict stands. Games that were under way are counted, but do not change it.
        """
        games = tuple(result) if isinstance(result, tuple | list) else (result,)
        if len(games) not in (1, 2) or not all(map(is_result, games)):
            raise BadParameter(f"{result!r} is not a result; give +1, 0 or −1, or a pair of these")
        (self.pairs if len(games) == 2 else self.singles)[sum(games) + len(games)] += 1
        low, high = self.bounds
        if self.verdict is None and not low < (llr := self.llr) < high:
            self.verdict = "H1" if llr >= high else "H0"
            taken, other = (self.elo1, self.elo0) if self.verdict == "H1" else (self.elo0, self.elo1)
            passed = f"rose to the bound {high:+.2f}" if self.verdict == "H1" else f"fell to the bound {low:+.2f}"
            self._decided = f"{self.verdict}: {taken:+g} Elo rather than {other:+g}; LLR {llr:+.2f} {passed}"
            self._decided += f" after {self._seen()}"
        return self.verdict

    def words(self) -> str:
        """One line: why the test ended, or where it stands."""
        low, high = self.bounds
        if self.verdict is not None:
            return self._decided
        return f"undecided between {self.elo0:+g} and {self.elo1:+g} Elo; LLR {self.llr:+.2f} " + (
            f"within {low:+.2f} to {high:+.2f} after {self._seen()}"
        )

    def _seen(self) -> str:
        games = "1 game" if self.games == 1 else f"{self.games} games"
        return f"{games} ({self.points:g} points)" if self.games else "no games"


def is_result(game: object) -> bool:
    return isinstance(game, int | np.integer) and not isinstance(game, bool) and int(game) in (-1, 0, 1)


def log_likelihood_ratio(counts: np.ndarray, scores: np.ndarray, mean0: float, mean1: float) -> np.ndarray:
    """How much likelier counts [..., scores] are with mean1 than with mean0, as a logarithm; 0 without games."""
    total = np.sum(counts, axis=-1, keepdims=True)
    seen = counts + UNSEEN
    shares = seen / seen.sum(axis=-1, keepdims=True)
    gain = np.log(_tilt(shares, scores, mean0)) - np.log(_tilt(shares, scores, mean1))
    return (np.where(total > 0, seen, 0) * gain).sum(axis=-1)


def _tilt(shares: np.ndarray, scores: np.ndarray, mean: float) -> np.ndarray:
    """What shares [..., scores] must be divided by to have the given mean, as likely as can be: 1 + x (score − mean).

    The x that makes the mean right lies where all of these are positive. It is found by Newton's method, and by halving
    wherever that would leave the bounds found so far.
    """
    apart = scores - mean
    low, high = np.full(shares.shape[:-1], -1 / apart[-1]), np.full(shares.shape[:-1], -1 / apart[0])
    x = np.zeros(shares.shape[:-1])
    for _ in range(MOST_STEPS):
        weighted = shares * apart / (1 + x[..., None] * apart)
        slope = weighted.sum(axis=-1)
        low, high = np.where(slope > 0, x, low), np.where(slope > 0, high, x)
        better = x + slope / (weighted * apart / (1 + x[..., None] * apart)).sum(axis=-1)
        better = np.where((low < better) & (better < high), better, (low + high) / 2)
        change, x = np.abs(better - x).max(initial=0.0), better
        if change < SMALL:
            break
    return 1 + x[..., None] * apart
