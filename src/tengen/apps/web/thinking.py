"""Agents for pages: made ready before a clock runs, asked within bounds, told of in words that a page can draw."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, TypeVar

from tengen.agents.agent import NO_LIMIT, Agent, opinions_of
from tengen.agents.passing import compile_for
from tengen.agents.thinking import EARLY, keeps_its_tree, think
from tengen.apps.web.levels import new_agent
from tengen.apps.web.messages import Think
from tengen.apps.web.settings import ServerSettings
from tengen.apps.web.views import shown_text
from tengen.rules.game import Game, Position
from tengen.rules.kernel_cache import telling
from tengen.rules.kernels import at_once
from tengen.search.limits import Clock, Decision, Limit

ROUND = 5.0  # seconds that a search which begins again each time may take at once
MOST_MOVES, MOST_LINES, LONGEST_LINE = 64, 8, 16  # of a thought that is told
LONGEST_SHOWN = 6  # moves of a line that are written as players write them, which takes time
A_GLANCE = Limit(time=0.01)
MOST_READY = 1000
ONE_PLY = re.compile(r"^alphabeta:(.*,)?depth=1(,|$)")
COMPILING = "this game is being compiled, which happens once"

Result = TypeVar("Result")
Cells = dict[str, int]  # where each move puts its stone


# Compilations.


def aloud(say: Callable[[str], None], work: Callable[..., Result], *arguments: Any) -> Result:
    """Does work in this thread; `say` is called once, in this thread, if something is compiled for it."""
    is_said = False

    def tell() -> None:
        nonlocal is_said
        if not is_said:
            is_said = True
            say(COMPILING)

    with telling(tell):
        return work(*arguments)


_first_use = threading.Lock()
_ready: set[tuple[str, str]] = set()  # agents and games whose kernels are there


def ready_agent(spec: str, game: Game, settings: ServerSettings, threads: int) -> Agent:
    """A new agent, all of whose kernels are there: the time it is given is for thinking, not for compiling.

    For that, another like it searches once. One at a time does so, and nothing is compiled twice.
    """
    seed = random.randrange(2**31)
    with _first_use if (spec, game.spec) not in _ready else nullcontext():
        if (spec, game.spec) not in _ready:
            position = game.start()
            if position.outcome is None:
                new_agent(spec, game, settings, seed, threads).choose(position, A_GLANCE)
                compile_for(game)
            if len(_ready) >= MOST_READY:
                _ready.clear()
            _ready.add((spec, game.spec))
        return new_agent(spec, game, settings, seed, threads)


def player(spec: str, game: Game, settings: ServerSettings, threads: int) -> Agent:
    """A new agent that plays: a ready one, or one that looks so little ahead that plain Python will do meanwhile."""
    if ONE_PLY.search(spec) and (spec, game.spec) not in _ready:
        return Hasty(lambda: new_agent(spec, game, settings, random.randrange(2**31), threads))
    return ready_agent(spec, game, settings, threads)


class Hasty:
    """An agent that looks one ply ahead: until its machine code is made, plain Python finds the same in a moment."""

    def __init__(self, make: Callable[[], Agent]):
        with at_once():
            self.agent = make()
        self.name, self.limit = self.agent.name, getattr(self.agent, "limit", Limit())

    def choose(self, position: Position, limit: Limit = NO_LIMIT) -> Decision:
        with at_once():
            return self.agent.choose(position, limit)


# How long, and in which pieces.


def limit_for(question: Think, agent: Agent, is_timed: bool, settings: ServerSettings) -> Limit:
    """How long an agent thinks: as the page says, else as the agent's spec says, and never for longer than we give.

    A level that is bounded by what it looks at stays so: more time makes it no stronger.
    """
    asked, own = Limit(**question.limit.model_dump()), getattr(agent, "limit", Limit())
    if not question.analyse:
        asked = asked.or_else(own) if is_timed else replace(own, time=asked.time)
    longest = settings.longest_analysis if question.analyse else settings.longest
    return replace(asked, time=min(asked.time or longest, longest))


def decisions(
    agent: Agent, position: Position, every: float, stop: threading.Event, limit: Limit
) -> Iterator[Decision]:
    """What `think` says; of a search that begins again each time, the deepest so far, in rounds of a few seconds."""
    if not hasattr(agent, "search") or keeps_its_tree(agent):
        yield from think(agent, position, every, stop, limit)
        return
    if limit.count is not None:
        every = ROUND  # to begin again would spend the count on what is known
    clock, nodes, best = Clock(replace(limit, stop=stop)), 0, None
    while (left := clock.left) > 0 and (limit.count is None or nodes < limit.count):
        begin, made, time = clock.seconds, 0, min(left, ROUND)
        count = None if limit.count is None else limit.count - nodes
        for decision in think(agent, position, every, stop, Limit(time=time, nodes=count, depth=limit.depth)):
            made = decision.nodes
            if best is None or decision.depth >= best.depth or decision.note:
                best = decision
            yield replace(best, nodes=nodes + made, seconds=clock.seconds)
        nodes += made
        if clock.seconds - begin < EARLY * time:
            return  # there is nothing more to find, or it was stopped
        every = ROUND


# What is told.


def thought_of(position: Position, agent: Agent, decision: Decision, cells: Cells) -> dict[str, Any]:
    """A decision, right after the agent made it, as a page is told it: values are for the first player."""
    sign = (1, -1)[position.to_play]
    value = None if decision.value is None else min(max(sign * decision.value, -1.0), 1.0)
    return {
        "value": value,
        "winrate": None if value is None else (value + 1) / 2,
        "nodes": decision.nodes,
        "depth": decision.depth,
        "seconds": round(decision.seconds, 3),
        "note": decision.note,
        "moves": moves_of(position, agent, decision, cells),
    }


def moves_of(position: Position, agent: Agent, decision: Decision, cells: Cells) -> list[dict[str, Any]]:
    """What the agent thinks of each move, the chosen one first; of moves it only looked at, how much."""
    sign, text = (1, -1)[position.to_play], position.game.action_text
    opinions = opinions_of(agent, decision, lines=MOST_LINES)[:MOST_MOVES]
    visits = sum(opinion.visits for opinion in opinions) or 1
    moves: list[dict[str, Any]] = [
        {
            "move": text(opinion.action),
            "text": shown_text(position, opinion.action),
            "cell": cells.get(text(opinion.action)),
            "visits": opinion.visits,
            "share": decision.policy.get(opinion.action, opinion.visits / visits),
            "prior": opinion.prior,
            "value": None if decision.value is None else sign * opinion.value,
            "line": [text(action) for action in opinion.line[:LONGEST_LINE]],
            "shown": shown_line(position, opinion.line[:LONGEST_SHOWN]),
        }
        for opinion in opinions
    ]
    told = {opinion.action for opinion in opinions}
    others = sorted(decision.policy.keys() - told, key=lambda action: -decision.policy[action])
    moves += [
        {
            "move": text(action),
            "text": shown_text(position, action),
            "cell": cells.get(text(action)),
            "visits": round(decision.policy[action] * decision.nodes),
            "share": decision.policy[action],
            "prior": None,
            "value": None,
            "line": [],
            "shown": [],
        }
        for action in others[: MOST_MOVES - len(moves)]
    ]
    return moves


def shown_line(position: Position, line: Sequence[int]) -> list[str]:
    """Moves one after the other, as players write them."""
    if not hasattr(position.game.parameters, "move_text"):
        return [position.game.action_text(action) for action in line]
    texts = []
    for action in line:
        texts.append(shown_text(position, action))
        position = position.play(action)
    return texts
