"""Ratings from results: Bradley and Terry's model, in Elo."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

MOST_ROUNDS = 50_000
PRIOR = 0.5  # of a game, drawn, in each pairing: so no rating is infinite


def ratings(results: Sequence[Sequence[Any]], anchor: str) -> dict[str, float]:
    """The Elo ratings that make results (a, b, wins of a, draws, losses) most likely; the anchor's is 0.

    Found by Hunter's iteration.
    """
    points: dict[str, float] = {}
    games: dict[tuple[str, str], float] = {}
    for a, b, wins, draws, losses in results:
        for player, won in ((a, wins + draws / 2), (b, losses + draws / 2)):
            points[player] = points.get(player, 0.0) + won + PRIOR / 2
        for pair in ((a, b), (b, a)):
            games[pair] = games.get(pair, 0.0) + wins + draws + losses + PRIOR
    strength = dict.fromkeys(points, 1.0)
    for _ in range(MOST_ROUNDS):
        expected = dict.fromkeys(points, 0.0)
        for (a, b), count in games.items():
            expected[a] += count / (strength[a] + strength[b])
        better = {player: points[player] / expected[player] for player in points}
        better = {player: value / better[anchor] for player, value in better.items()}
        change = max(abs(math.log(better[player] / strength[player])) for player in points)
        strength = better
        if change < 1e-7:
            break
    return {player: 400 * math.log10(value) for player, value in strength.items()}
