"""Agents before tactical positions: what they play, and whether that is the answer."""

from __future__ import annotations

from typing import NamedTuple

from tengen.agents.specs import load_agent
from tengen.games import load_game
from tengen.knowledge.go_tactics import POSITIONS
from tengen.search.limits import Limit


class Try(NamedTuple):
    """What an agent played in a position."""

    kind: str
    title: str
    played: str
    is_solved: bool


def try_tactics(spec: str, limit: Limit) -> list[Try]:
    """All positions in their order; each is a game of its own, since its komi makes the answer decide it."""
    tries = []
    for position in POSITIONS:
        game = load_game(position.game)
        action = load_agent(spec, game).choose(position.position(), limit).action
        played = game.action_text(action)
        tries.append(Try(position.kind, position.title, played, position.is_solved_by(played)))
    return tries
