"""What an agent thinks, in the lines that Leela Zero and KataGo taught the controllers to read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tengen.apps.gtp.vertices import Vertices
from tengen.apps.gtp.words import GtpError, read_whole
from tengen.apps.points import MOST_MOVES, Points
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
    ownership: bool = False  # whether the owners of all points are told
    moves_ownership: bool = False  # and those after each move


def read_request(words: Sequence[str]) -> Request:
    """The words after an analysis command: perhaps a colour, perhaps an interval, then keys and their values."""
    rest, player, interval, most = list(words), None, DEFAULT_INTERVAL, 1000
    maps = {"ownership": False, "movesOwnership": False}
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
        elif key in maps:
            maps[key] = values[0].lower() == "true"
    every = min(max(interval, SHORTEST), LONGEST) / 100
    return Request(player, every, most, maps["ownership"], maps["movesOwnership"])


def leela_line(
    position: Position,
    vertices: Vertices,
    opinions: Sequence[Opinion],
    request: Request | None = None,
    points: Points | None = None,
) -> str:
    """As Leela Zero writes it: shares of 10,000."""
    return " ".join(
        f"info move {vertices.text(position, opinion.action)} visits {opinion.visits}"
        f" winrate {shares(win_rate(opinion.value))} prior {shares(prior_of(position, opinion))}"
        f" lcb {shares(lower_bound(opinion))} order {order} pv {' '.join(vertices.line(position, opinion.line))}"
        for order, opinion in enumerate(opinions)
    ) + told_owners(position, request, points)


def kata_line(
    position: Position,
    vertices: Vertices,
    opinions: Sequence[Opinion],
    request: Request | None = None,
    points: Points | None = None,
) -> str:
    """As KataGo writes it: shares of one and, where there are points, those of the player to move."""
    told = opinions if points is None else opinions[:MOST_MOVES]
    return " ".join(
        f"info move {vertices.text(position, opinion.action)} visits {opinion.visits} utility {opinion.value:.6f}"
        f" winrate {win_rate(opinion.value):.6f}{told_lead(position, opinion, points)}"
        f" prior {prior_of(position, opinion):.6f}"
        f" lcb {lower_bound(opinion):.6f} order {order} pv {' '.join(vertices.line(position, opinion.line))}"
        f"{told_move_owners(position, opinion, request, points)}"
        for order, opinion in enumerate(told)
    ) + told_owners(position, request, points)


def told_lead(position: Position, opinion: Opinion, points: Points | None) -> str:
    """By how much the player to move leads after a move."""
    if points is None:
        return ""
    lead = points.lead_after(opinion.action) * (1 - 2 * position.to_play)
    return f" scoreMean {lead:.3f} scoreStdev {points.spread:.3f} scoreLead {lead:.3f} scoreSelfplay {lead:.3f}"


def told_owners(position: Position, request: Request | None, points: Points | None) -> str:
    """Who owns each point, row by row from the top: 1 for the player to move."""
    if request is None or not request.ownership or points is None:
        return ""
    return f" ownership {owners_text(position, points.view.ownership)}"


def told_move_owners(position: Position, opinion: Opinion, request: Request | None, points: Points | None) -> str:
    """The same after a move."""
    if request is None or not request.moves_ownership or points is None:
        return ""
    return f" movesOwnership {owners_text(position, points.owners_after(opinion.action))}"


def owners_text(position: Position, owners: np.ndarray) -> str:
    return " ".join(f"{value:.4f}" for value in owners.ravel() * (1 - 2 * position.to_play))


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
