"""What an agent thinks, as KataGo's analysis protocol tells it.

Win rates are the search's; leads and ownership are estimates beside it (apps/points.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tengen.apps.gtp.analysis import lower_bound, prior_of, win_rate
from tengen.apps.gtp.vertices import Vertices
from tengen.apps.kata.queries import MOVER, WHITE, AnalysisQuery
from tengen.apps.points import MOST_MOVES, Points
from tengen.rules.game import Position
from tengen.search.limits import Decision, Opinion


def answer(
    query: AnalysisQuery, turn: int, decision: Decision, opinions: Sequence[Opinion], points: Points, is_final: bool
) -> dict[str, Any]:
    """The response about one turn."""
    position = query.positions[turn]
    side = side_of(query, position)
    told = [one for one in opinions if is_told(query, position, one.action)][:MOST_MOVES]
    vertices = Vertices(position.game)
    value = decision.value if decision.value is not None else opinions[0].value
    found: dict[str, Any] = {
        "id": query.name,
        "isDuringSearch": not is_final,
        "turnNumber": turn,
        "moveInfos": [move_info(query, position, vertices, one, order, points, side) for order, one in enumerate(told)],
        "rootInfo": root_info(position, value, sum(one.visits for one in opinions), points, side),
    }
    if query.with_ownership:
        found["ownership"] = rounded(side * points.view.ownership)
    if query.with_policy:
        found["policy"] = policy(position, opinions)
    return found


def side_of(query: AnalysisQuery, position: Position) -> int:
    """+1 if values are reported as the first player's, −1 as the second's."""
    if query.perspective == MOVER:
        return 1 - 2 * position.to_play
    return -1 if query.perspective == WHITE else 1


def is_told(query: AnalysisQuery, position: Position, action: int) -> bool:
    """Whether a move may be told of."""
    vertex, player = Vertices(position.game).text(position, action).upper(), position.to_play
    if player in query.allowed and vertex not in query.allowed[player]:
        return False
    return vertex not in query.avoided.get(player, frozenset())


def reported(value: float, position: Position, side: int) -> float:
    """A value of the player to move as the side's that is reported."""
    return value if side == 1 - 2 * position.to_play else -value


def move_info(
    query: AnalysisQuery,
    position: Position,
    vertices: Vertices,
    opinion: Opinion,
    order: int,
    points: Points,
    side: int,
) -> dict[str, Any]:
    """What is thought of one move."""
    value, bound = reported(opinion.value, position, side), lower_bound(opinion)
    is_own = side == 1 - 2 * position.to_play
    lead = side * points.lead_after(opinion.action)
    line = (opinion.line or (opinion.action,))[: query.longest_line]
    info = {
        "move": vertices.text(position, opinion.action),
        "visits": opinion.visits,
        "edgeVisits": opinion.visits,
        "weight": float(opinion.visits),
        "utility": round(value, 6),
        "winrate": round(win_rate(value), 6),
        "lcb": round(bound if is_own else 1 - bound, 6),
        "utilityLcb": round(value, 6),
        "prior": round(prior_of(position, opinion), 6),
        "order": order,
        "pv": vertices.line(position, line),
        **scores(lead, points),
    }
    if query.with_moves_ownership:
        info["ownership"] = rounded(side * points.owners_after(opinion.action))
    return info


def root_info(position: Position, value: float, visits: int, points: Points, side: int) -> dict[str, Any]:
    """What is thought of the position."""
    told = reported(value, position, side)
    return {
        "currentPlayer": "BW"[position.to_play],
        "visits": visits,
        "weight": float(visits),
        "winrate": round(win_rate(told), 6),
        "rawWinrate": round(win_rate(told), 6),
        "utility": round(told, 6),
        "thisHash": f"{position.key:016X}",
        "symHash": f"{position.key:016X}",
        **scores(side * points.view.lead, points),
    }


def scores(lead: float, points: Points) -> dict[str, float]:
    """A lead by all the names that the protocol has for it."""
    names = dict.fromkeys(("scoreLead", "scoreMean", "scoreSelfplay"), round(lead, 3))
    return {**names, "scoreStdev": round(points.spread, 3)}


def policy(position: Position, opinions: Sequence[Opinion]) -> list[float]:
    """What was thought of each point, and of a pass, before the search; −1 where nothing may be played."""
    found = np.full(position.game.actions, -1.0)
    found[position.legal_actions] = 1 / len(position.legal_actions)
    for one in opinions:
        found[one.action] = prior_of(position, one)
    return rounded(found)


def rounded(values: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in values.flat]
