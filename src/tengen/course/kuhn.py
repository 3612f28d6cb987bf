"""Kuhn's poker as a matrix: three cards, one bet, and hidden information that mixed strategies answer.

Each player puts one chip in and gets a card: J, Q or K. The first may bet a chip or check; against a bet one calls or
folds; after a check the second may bet, too. The higher card wins the pot. A pure strategy says what to do with each
card, so that the game is a matrix of 27 × 64 means over the six deals. Its value is −1/18 (Kuhn, 1950).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product

CARDS = 3
FIRST_PLANS = ("bet", "check, fold", "check, call")  # with one card
SECOND_PLANS = ("fold, check", "fold, bet", "call, check", "call, bet")  # against a bet; after a check


def chips(first_plan: str, second_plan: str, first_is_higher: bool) -> int:
    """What the first player wins."""
    sign = 1 if first_is_higher else -1
    to_bet, to_check = second_plan.split(", ")
    if first_plan == "bet":
        return 2 * sign if to_bet == "call" else 1
    if to_check == "check":
        return sign
    return 2 * sign if first_plan == "check, call" else -1


def strategies(plans: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """What to do with J, with Q and with K."""
    return product(plans, repeat=CARDS)


def kuhn_matrix() -> list[list[Fraction]]:
    """The first player's mean winnings: [27 strategies, 64 strategies]."""
    deals = list(permutations(range(CARDS), 2))

    def mean(first: tuple[str, ...], second: tuple[str, ...]) -> Fraction:
        return Fraction(sum(chips(first[a], second[b], a > b) for a, b in deals), len(deals))

    return [[mean(first, second) for second in strategies(SECOND_PLANS)] for first in strategies(FIRST_PLANS)]
