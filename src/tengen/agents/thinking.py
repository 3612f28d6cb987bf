"""Thinking aloud: decisions that get better until somebody stops it. For analysis that streams, and for pondering."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from threading import Event

from tengen.agents.agent import NO_LIMIT, Agent, check_goes_on
from tengen.rules.game import Position
from tengen.search.limits import Clock, Decision, Limit
from tengen.search.puct import Gumbel, Puct
from tengen.search.uct import Uct

LEAST = 0.001  # seconds of a slice
EARLY = 0.9  # a slice that takes less than this share of its time has found all there is to find


def think(agent: Agent, position: Position, every: float, stop: Event, limit: Limit = NO_LIMIT) -> Iterator[Decision]:
    """The agent's decisions on a position that is not over, one after each slice of time; nodes and seconds add up.

    Slices take `every` seconds if the search goes on where it was, and twice as long each time if it begins again.
    It ends when `stop` is set, when the limit is used up, and when there is nothing more to find: the position is
    proven, or the depth is reached. The agent's own limit does not count. An agent that does not search is asked once.
    """
    check_goes_on(position)
    if not hasattr(agent, "search"):
        if not stop.is_set():
            yield agent.choose(position, replace(limit, stop=stop))
        return
    grows = 1 if keeps_its_tree(agent) else 2
    clock, nodes, slice_ = Clock(replace(limit, stop=stop)), 0, max(every, LEAST)
    while (left := clock.left) > 0 and (limit.count is None or nodes < limit.count):
        begin, time = clock.seconds, min(slice_, left)
        count = None if limit.count is None else limit.count - nodes
        decision = agent.choose(position, Limit(time=time, nodes=count, depth=limit.depth, stop=stop))
        nodes += decision.nodes
        yield replace(decision, nodes=nodes, seconds=clock.seconds)
        is_complete = clock.seconds - begin < EARLY * time and not stop.is_set()
        if is_complete and (count is None or decision.nodes < count):
            return
        slice_ *= grows


def keeps_its_tree(agent: Agent) -> bool:
    """Whether the agent, asked about the same position again, goes on where it was. Gumbel's halving begins anew."""
    search = getattr(agent, "search", None)
    search = getattr(search, "advised", search)
    return isinstance(search, Uct | Puct) and not isinstance(search, Gumbel)
