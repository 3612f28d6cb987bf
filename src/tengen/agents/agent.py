"""What an agent is, and the simplest ones."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from tengen.rules.errors import BadParameter, IllegalMove
from tengen.rules.game import Game, Position
from tengen.search.limits import Decision, Limit, Opinion

NO_LIMIT = Limit()


class Agent(Protocol):
    """Chooses actions in one game. It may remember the game it plays, and forgets it when another begins."""

    name: str

    def choose(self, position: Position, limit: Limit = NO_LIMIT) -> Decision:
        """An action in a position that is not over. A limit given here takes the place of the agent's own."""
        ...


def check_goes_on(position: Position) -> None:
    """Refuses a position in which there is nothing to choose."""
    if position.outcome is not None:
        raise IllegalMove("the game is over: there is nothing to choose")


def check_can_choose(agent: Any, position: Position, limit: Limit) -> None:
    """Refuses what an agent cannot answer: another game than its own, a position that is over, a limit that is none."""
    if not isinstance(position, Position):
        raise BadParameter(f"{agent.name} is asked about {position!r}, which is no position; game.start() is one")
    if position.game != agent.game:
        raise BadParameter(
            f"{agent.name} was loaded for {agent.game.spec}, and this is a position of {position.game.spec}: "
            "load an agent for that game"
        )
    if not isinstance(limit, Limit):
        raise BadParameter(f"{limit!r} is no limit; write Limit(time=1.0) or Limit(playouts=1000)")
    check_goes_on(position)


class RandomAgent:
    """Every legal action with the same chance."""

    def __init__(self, name: str, game: Game, seed: int):
        self.name, self.game, self.rng = name, game, random.Random(seed)

    def choose(self, position: Position, limit: Limit = NO_LIMIT) -> Decision:
        check_can_choose(self, position, limit)
        legal = position.legal_actions
        policy = dict.fromkeys(legal, 1 / len(legal))
        action = self.rng.choice(legal)
        return Decision(action, policy=policy, principal_variation=(action,))


class Search(Protocol):
    """Anything that looks for the best action of a position that is not over."""

    def search(self, position: Position, limit: Limit) -> Decision: ...


class SearchAgent:
    """Plays what a search finds."""

    def __init__(self, name: str, game: Game, search: Search, limit: Limit):
        self.name, self.game, self.search, self.limit = name, game, search, limit

    def choose(self, position: Position, limit: Limit = NO_LIMIT) -> Decision:
        check_can_choose(self, position, limit)
        return self.search.search(position, limit.or_else(self.limit))


def opinions_of(agent: Agent, decision: Decision, lines: int | None = None) -> list[Opinion]:
    """What an agent thinks of each action it looked at, right after it made `decision`; the chosen one is the first.

    To find every line can take longer than the search did: with `lines`, only so many of the best have one, and the
    chosen one. An agent that keeps no such account names only what it chose, with all that it looked at as visits.
    """
    say: Callable[[int | None], list[Opinion]] = getattr(getattr(agent, "search", None), "opinions", lambda lines: [])
    found = say(lines)
    if chosen := [opinion for opinion in found if opinion.action == decision.action]:
        first = chosen[0] if chosen[0].line else replace(chosen[0], line=decision.principal_variation)
        return [first] + [opinion for opinion in found if opinion.action != decision.action]
    value = decision.value or 0.0
    return [Opinion(decision.action, max(decision.nodes, 1), value, line=decision.principal_variation)]
