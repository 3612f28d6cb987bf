"""Expeditions into the Wumpus world, told moment by moment: what was done and felt, and all that follows from it.

The map is drawn from what was felt, whoever felt it: it is what an explorer goes by, and what others could have known.
"""

from __future__ import annotations

from dataclasses import dataclass

from tengen.course.wumpus import (
    CaveAgent,
    Explorer,
    Knowledge,
    Percept,
    Square,
    World,
    danger,
    explore,
    line_ahead,
    squares,
)


@dataclass(frozen=True)
class Map:
    """What is known of every square, row by row from the lowest: lists of [squares]."""

    breeze: list[bool | None]  # None where nobody was
    stench: list[bool | None]
    pit: list[float]  # the chance of a pit; 0 where somebody was
    wumpus: list[float]  # the chance of the living wumpus
    danger: list[float]  # the chance to die there; 0 is proven safe, 1 is proven deadly


@dataclass(frozen=True)
class Moment:
    """The cave after an action."""

    action: str  # none at the beginning
    felt: list[str]
    square: Square
    heading: int  # 0 right, 1 up, 2 left, 3 down
    score: int
    has_arrow: bool
    has_gold: bool
    wumpus_lives: bool
    is_dead: bool
    reason: str  # why an explorer does it: a key of THOUGHTS, or "glitter"; none for the others
    risk: float  # of an explorer that dares
    map: int  # which of the expedition's maps is known then


@dataclass(frozen=True)
class Expedition:
    """An agent in a world, from its first moment to its last."""

    size: int
    pits: list[Square]  # the truth
    wumpus: Square
    gold: Square
    moments: list[Moment]
    maps: list[Map]


def tell(world: World, agent: CaveAgent, pit_chance: float) -> Expedition:
    """What an agent does in a world, and what can be known at each moment."""
    knows = Knowledge(world.size, pit_chance)
    moments: list[Moment] = []
    maps: list[Map] = []
    known, had_arrow = (0, 0, True), True
    for cave, action, percept in explore(world, agent):
        if not cave.is_dead:  # the dead learn nothing
            knows.feel(cave.square, percept)
        if action == "shoot" and had_arrow:
            knows.learn_of_arrow(line_ahead(cave.square, cave.heading, world.size), percept.scream)
        had_arrow = cave.has_arrow
        if (now := (len(knows.breezes), len(knows.cleared), knows.wumpus_lives)) != known:
            known = now
            maps.append(map_of(knows))
        reason, risk = why(agent, action)
        moments.append(
            Moment(
                action=action,
                felt=felt_in(percept),
                square=cave.square,
                heading=cave.heading,
                score=cave.score,
                has_arrow=cave.has_arrow,
                has_gold=cave.gold is None,
                wumpus_lives=cave.wumpus_lives,
                is_dead=cave.is_dead,
                reason=reason,
                risk=risk,
                map=len(maps) - 1,
            )
        )
    return Expedition(world.size, sorted(world.pits), world.wumpus, world.gold, moments, maps)


def felt_in(percept: Percept) -> list[str]:
    return [name for name, is_felt in vars(percept).items() if is_felt]


def why(agent: CaveAgent, action: str) -> tuple[str, float]:
    """An explorer's reason, and the risk that it takes."""
    if not isinstance(agent, Explorer):
        return "", 0.0
    if action == "grab":
        return "glitter", 0.0
    return agent.reason, few_digits(agent.risk) if agent.reason == "dare" else 0.0


def map_of(knows: Knowledge) -> Map:
    risks, every = knows.risks(), squares(knows.size)
    nothing = (0.0, 0.0)
    return Map(
        breeze=[knows.breezes.get(square) for square in every],
        stench=[knows.stenches.get(square) for square in every],
        pit=[few_digits(risks.get(square, nothing)[0]) for square in every],
        wumpus=[few_digits(risks.get(square, nothing)[1]) for square in every],
        danger=[few_digits(danger(risks.get(square, nothing))) for square in every],
    )


def few_digits(chance: float) -> float:
    """A chance in six digits; only 0 becomes 0."""
    return float(f"{chance:.6g}")
