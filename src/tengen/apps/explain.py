"""Decisions in words and numbers."""

from __future__ import annotations

from tengen.agents.agent import NO_LIMIT
from tengen.agents.specs import load_agent
from tengen.apps.options import print_json
from tengen.rules.game import Position
from tengen.search.limits import Limit


def explain(position: Position, agent: str, seconds: float | None, as_json: bool) -> None:
    """One decision: the move, its value, the line expected, and where the search went."""
    game, limit = position.game, NO_LIMIT if seconds is None else Limit(time=seconds)
    decision = load_agent(agent, game).choose(position, limit)
    name = game.action_text
    if as_json:
        answer = {
            "action": name(decision.action),
            "value": decision.value,
            "pv": [name(action) for action in decision.principal_variation],
            "policy": {name(action): share for action, share in decision.policy.items()},
            "nodes": decision.nodes,
            "depth": decision.depth,
            "seconds": decision.seconds,
            "note": decision.note,
        }
        print_json(answer)
        return
    mover = game.players[position.to_play]
    print(f"{position}\n\n{mover} plays {name(decision.action)}")
    if decision.value is not None:
        print(f"value     {decision.value:+.3f} for {mover} (−1 a loss, +1 a win)")
    print(f"line      {' '.join(name(action) for action in decision.principal_variation)}")
    favourites = sorted(decision.policy.items(), key=lambda pair: -pair[1])[:6]
    print("effort    " + "  ".join(f"{name(action)} {share:.0%}" for action, share in favourites))
    rate = decision.nodes / max(decision.seconds, 1e-9)
    print(f"search    {decision.nodes:,} nodes, {decision.seconds:.2f} s, {rate:,.0f} nodes/s")
    if decision.note:
        print(f"note      {decision.note}")
