"""What an agent thinks, in the lines that Leela Zero and KataGo taught the controllers to read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tengen.apps.gtp.vertices import Vertices
from tengen.apps.gtp.words import GtpError, read_whole
from tengen.rules.game import Position
from tengen.search.limits import Opinion

DEFAULT_INTERVAL, SHORTEST, LONGEST = 50, 1, 360_000  # hundredths of a second
WORDS = {  # keys of an analysis, and how many words follow each; what is not said of a game here is not asked of it
    "minmoves": 1,
    "maxmoves": 1,
    "interval": 1,
    "avoid": 3,
    "allow": 3,
    "ownership": 1,
    "ownershipStdev": 1,
    "movesOwnership": 1,
    "movesOwnershipStdev": 1,
    "pvVisits": 1,
    "pvEdgeVisits": 1,
    "rootInfo": 1,
    "noResultValue": 1,
}


@dataclass(frozen=True)
class Request:
    """What a controller asks an analysis for."""

    player: int | None  # None: whose turn it is
    every: float  # seconds
    most: int  # moves that are told of


def read_request(words: Sequence[str]) -> Request:
    """The words after an analysis command: perhaps a colour, perhaps an interval, then keys and their values."""
    rest, player, interval, most = list(words), None, DEFAULT_INTERVAL, 1000
    if rest and rest[0].lower() in ("b", "w", "black", "white"):
        player = "bw".index(rest.pop(0)[0].lower())
    if rest and rest[0].isdecimal():
        interval = read_whole(rest.pop(0))
    while rest:
        key = rest.pop(0)
        if key not in WORDS or len(rest) < WORDS[key]:
            raise GtpError(f"syntax error: {key[:40]!r} is no option of an analysis, or lacks its value")
        values, rest = rest[: WORDS[key]], rest[WORDS[key] :]
        if key == "interval":
            interval = read_whole(values[0])
        elif key == "maxmoves":
            most = max(read_whole(values[0]), 1)
    return Request(player, min(max(interval, SHORTEST), LONGEST) / 100, most)


def leela_line(position: Position, vertices: Vertices, opinions: Sequence[Opinion]) -> str:
    """As Leela Zero writes it: shares of 10,000."""
    return " ".join(
        f"info move {vertices.text(position, opinion.action)} visits {opinion.visits}"
        f" winrate {shares(win_rate(opinion.value))} prior {shares(prior_of(position, opinion))}"
        f" lcb {shares(lower_bound(opinion))} order {order} pv {' '.join(vertices.line(position, opinion.line))}"
        for order, opinion in enumerate(opinions)
    )


def kata_line(position: Position, vertices: Vertices, opinions: Sequence[Opinion]) -> str:
    """As KataGo writes it: shares of one. Nothing is said about points, since no agent here counts them."""
    return " ".join(
        f"info move {vertices.text(position, opinion.action)} visits {opinion.visits} utility {opinion.value:.6f}"
        f" winrate {win_rate(opinion.value):.6f} prior {prior_of(position, opinion):.6f}"
        f" lcb {lower_bound(opinion):.6f} order {order} pv {' '.join(vertices.line(position, opinion.line))}"
        for order, opinion in enumerate(opinions)
    )


def win_rate(value: float) -> float:
    """A value in [−1, 1] as a share of games won."""
    return min(max((value + 1) / 2, 0.0), 1.0)


def shares(rate: float) -> int:
    return round(10_000 * rate)


def lower_bound(opinion: Opinion) -> float:
    """What the rate of wins is at least, as far as so many visits can tell."""
    rate = win_rate(opinion.value)
    return max(rate - 1.96 * math.sqrt(rate * (1 - rate) / max(opinion.visits, 1)), 0.0)


def prior_of(position: Position, opinion: Opinion) -> float:
    """What was thought before the search: without a net, all moves are alike."""
    return 1 / len(position.legal_actions) if opinion.prior is None else opinion.prior
