"""The Wumpus world: a cave in the dark, an agent that reasons about it, and two that do not.

Pits make their neighbours breezy, the wumpus makes its own smelly, gold glitters where it lies. Whoever enters a pit or
meets the living wumpus dies. The score: gold carried out +1000, death −1000, each action −1, the arrow −10.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from tengen.rules.errors import BadParameter

Square = tuple[int, int]  # column and row, from the lower left corner
START: Square = (0, 0)
HEADINGS = ((1, 0), (0, 1), (-1, 0), (0, -1))  # right, up, left, down: a turn to the left is the next one
ACTIONS = ("left", "right", "forward", "grab", "release", "shoot", "climb")
GOLD, DEATH, ARROW = 1000, -1000, -10
PIT_CHANCE = 0.2
SIZES = range(2, 9)
LONGEST = 1000  # actions, then nobody waits for the agent any more
Z = 1.959964  # 95% of a normal distribution


@lru_cache(maxsize=4096)
def neighbours(square: Square, size: int) -> tuple[Square, ...]:
    """The two to four squares beside one."""
    x, y = square
    beside = ((x + dx, y + dy) for dx, dy in HEADINGS)
    return tuple(other for other in beside if is_inside(other, size))


def is_inside(square: Square, size: int) -> bool:
    return 0 <= square[0] < size and 0 <= square[1] < size


def squares(size: int) -> list[Square]:
    return [(x, y) for y in range(size) for x in range(size)]


# The world


@dataclass(frozen=True)
class World:
    """Where everything is. The start is free; the wumpus, the gold and a pit may share any other square."""

    size: int
    pits: frozenset[Square]
    wumpus: Square
    gold: Square


@dataclass(frozen=True)
class Percept:
    """What is felt after an action."""

    stench: bool = False
    breeze: bool = False
    glitter: bool = False
    bump: bool = False  # the last step met a wall
    scream: bool = False  # the last arrow met the wumpus

    def __str__(self) -> str:
        return ", ".join(name for name, is_felt in vars(self).items() if is_felt) or "nothing"


def random_world(rng: random.Random, size: int = 4, pit_chance: float = PIT_CHANCE) -> World:
    """A world at random: each square but the start has a pit with the same chance."""
    others = squares(size)[1:]
    pits = frozenset(square for square in others if rng.random() < pit_chance)
    return World(size, pits, rng.choice(others), rng.choice(others))


class Cave:
    """A world with somebody in it."""

    def __init__(self, world: World):
        self.world, self.square, self.heading = world, START, 0
        self.gold: Square | None = world.gold  # None while it is carried
        self.has_arrow = self.wumpus_lives = True
        self.is_dead = self.is_over = False
        self.score = self.actions = 0

    def percept(self, bump: bool = False, scream: bool = False) -> Percept:
        beside = neighbours(self.square, self.world.size)
        return Percept(
            stench=self.world.wumpus in (self.square, *beside),
            breeze=any(pit in beside for pit in self.world.pits),
            glitter=self.gold == self.square,
            bump=bump,
            scream=scream,
        )

    def act(self, action: str) -> Percept:
        """Does something and feels what comes of it. What makes no sense costs its step and does nothing."""
        if action not in ACTIONS:
            raise BadParameter(f"{action!r} is not an action; there are {', '.join(ACTIONS)}")
        self.score -= 1
        self.actions += 1
        bump = scream = False
        if action in ("left", "right"):
            self.heading = (self.heading + (1 if action == "left" else 3)) % 4
        elif action == "forward":
            bump = not self.step()
        elif action == "grab" and self.gold == self.square:
            self.gold = None
        elif action == "release" and self.gold is None:
            self.gold = self.square
        elif action == "shoot" and self.has_arrow:
            scream = self.shoot()
        elif action == "climb" and self.square == START:
            self.is_over = True
            self.score += GOLD * (self.gold is None)
        self.is_over |= self.actions >= LONGEST
        return self.percept(bump, scream)

    def step(self) -> bool:
        """One square ahead; False at a wall."""
        ahead = one_ahead(self.square, self.heading)
        if not is_inside(ahead, self.world.size):
            return False
        self.square = ahead
        if ahead in self.world.pits or (self.wumpus_lives and ahead == self.world.wumpus):
            self.is_dead = self.is_over = True
            self.score += DEATH
        return True

    def shoot(self) -> bool:
        """The arrow flies straight ahead to a wall or to the wumpus."""
        self.has_arrow = False
        self.score += ARROW
        hits = self.wumpus_lives and self.world.wumpus in line_ahead(self.square, self.heading, self.world.size)
        self.wumpus_lives &= not hits
        return hits


def one_ahead(square: Square, heading: int) -> Square:
    return square[0] + HEADINGS[heading][0], square[1] + HEADINGS[heading][1]


def line_ahead(square: Square, heading: int, size: int) -> list[Square]:
    """All squares ahead, up to the wall."""
    line = []
    while is_inside(square := one_ahead(square, heading), size):
        line.append(square)
    return line


# What can be known


Constraints = frozenset[frozenset[Square]]  # of each group, one square at least is a pit


@lru_cache(maxsize=200_000)
def chance_of_all(constraints: Constraints, chance: float) -> float:
    """How likely it is that every group has a pit, if each square has one with the same chance, exactly.

    A square of the smallest group has a pit, and its groups are content; or it has none, and they go on without it.
    """
    if not constraints:
        return 1.0
    smallest = min(constraints, key=lambda group: (len(group), sorted(group)))
    if not smallest:
        return 0.0
    square = min(smallest)
    with_pit = frozenset(group for group in constraints if square not in group)
    without = frozenset(group - {square} for group in constraints)
    return chance * chance_of_all(with_pit, chance) + (1 - chance) * chance_of_all(without, chance)


@dataclass
class Knowledge:
    """What has been felt, and all that follows from it. Nothing else is remembered of a world."""

    size: int
    pit_chance: float = PIT_CHANCE
    breezes: dict[Square, bool] = field(default_factory=dict)  # by square visited
    stenches: dict[Square, bool] = field(default_factory=dict)
    cleared: set[Square] = field(default_factory=set)  # an arrow flew over them and met no wumpus
    wumpus_lives: bool = True

    def feel(self, square: Square, percept: Percept) -> None:
        self.breezes[square], self.stenches[square] = percept.breeze, percept.stench

    def learn_of_arrow(self, line: Iterable[Square], scream: bool) -> None:
        """An arrow has flown along a line."""
        if scream:
            self.wumpus_lives = False
        else:
            self.cleared.update(line)

    @property
    def visited(self) -> Iterable[Square]:
        return self.breezes.keys()

    def unknown(self) -> list[Square]:
        return [square for square in squares(self.size) if square not in self.breezes]

    def frontier(self) -> list[Square]:
        """Squares that were not visited, beside some that were."""
        beside = {other for square in self.breezes for other in neighbours(square, self.size)}
        return sorted(beside - self.breezes.keys())

    def wumpus_places(self) -> list[Square]:
        """Every square where the wumpus may be: smelly are its neighbours, and of the visited squares no others."""
        places = []
        for place in self.unknown():
            beside = neighbours(place, self.size)
            if place not in self.cleared and all(
                (at in beside) == is_smelly for at, is_smelly in self.stenches.items()
            ):
                places.append(place)
        return places

    def pit_groups(self) -> Constraints:
        """One for each breeze: the squares it may come from."""
        calm = {other for at, breeze in self.breezes.items() if not breeze for other in neighbours(at, self.size)}
        breezy = [at for at, breeze in self.breezes.items() if breeze]
        free = calm | self.breezes.keys()
        return frozenset(frozenset(neighbours(at, self.size)) - free for at in breezy)

    def pit_risk(self, square: Square, groups: Constraints) -> float:
        """The exact chance of a pit, which Bayes finds from all worlds that agree with what was felt."""
        beside = neighbours(square, self.size)
        if square in self.breezes or any(self.breezes.get(other) is False for other in beside):
            return 0.0
        with_pit = frozenset(group for group in groups if square not in group)
        everything = chance_of_all(groups, self.pit_chance)
        return self.pit_chance * chance_of_all(with_pit, self.pit_chance) / everything if everything else 1.0

    def risks(self) -> dict[Square, tuple[float, float]]:
        """For each square not visited, how likely a pit and how likely the living wumpus is there."""
        groups, places = self.pit_groups(), self.wumpus_places() if self.wumpus_lives else []
        found = {}
        for square in self.unknown():
            found[square] = self.pit_risk(square, groups), 1 / len(places) if square in places else 0.0
        return found

    def safe(self) -> list[Square]:
        """The frontier's squares that are proven free of pits and of the living wumpus."""
        risks = self.risks()
        return [square for square in self.frontier() if risks[square] == (0.0, 0.0)]


def danger(risk: tuple[float, float]) -> float:
    """The chance to die of either: pits and the wumpus know nothing of each other."""
    return 1 - (1 - risk[0]) * (1 - risk[1])


# Agents


class CaveAgent(Protocol):
    """Somebody in a cave, who is told percepts and answers with actions."""

    def act(self, percept: Percept) -> str: ...


@lru_cache(maxsize=200_000)
def route(
    begin: Square, heading: int, goals: frozenset[Square], ways: frozenset[Square], faces: int | None = None
) -> tuple[str, ...] | None:
    """The fewest turns and steps over `ways` to one of the goals, to look that way if `faces` says so; None: no way."""
    came: dict[tuple[Square, int], tuple[str, ...]] = {(begin, heading): ()}
    waiting = deque(came)
    while waiting:
        square, facing = here = waiting.popleft()
        if square in goals and faces in (None, facing):
            return came[here]
        ahead = one_ahead(square, facing)
        for action, there in (
            ("forward", (ahead, facing)),
            ("left", (square, (facing + 1) % 4)),
            ("right", (square, (facing + 3) % 4)),
        ):
            if there not in came and (there[0] in ways or there[0] in goals):
                came[there] = (*came[here], action)
                waiting.append(there)
    return None


class Walker:
    """What agents that know where they are have in common: a square, a heading, a plan."""

    def __init__(self, size: int):
        self.size, self.square, self.heading = size, START, 0
        self.has_gold, self.has_arrow = False, True
        self.visited: set[Square] = set()
        self.plan: deque[str] = deque()

    def act(self, percept: Percept) -> str:
        self.visited.add(self.square)
        self.notice(percept)
        if percept.glitter and not self.has_gold:
            self.plan = deque(["grab"])
        elif not self.plan:
            self.plan = deque(self.home() if self.has_gold else self.next_plan())
        return self.follow()

    def notice(self, percept: Percept) -> None:
        """What an agent remembers of a percept: this one, nothing."""

    def next_plan(self) -> Iterable[str]:
        """What to do while there is no gold."""
        raise NotImplementedError

    def follow(self) -> str:
        """The plan's next action, and where it leads."""
        action = self.plan.popleft()
        if action in ("left", "right"):
            self.heading = (self.heading + (1 if action == "left" else 3)) % 4
        elif action == "forward":
            self.square = one_ahead(self.square, self.heading)
        self.has_gold |= action == "grab"
        self.has_arrow &= action != "shoot"
        return action

    def way_to(self, goals: Iterable[Square], faces: int | None = None) -> tuple[str, ...] | None:
        return route(self.square, self.heading, frozenset(goals), frozenset(self.visited), faces)

    def home(self) -> Iterable[str]:
        way = self.way_to([START])
        assert way is not None  # visited squares hang together
        return (*way, "climb")


THOUGHTS = {  # why an explorer does what it does; {risk} is the chance of death that it takes
    "": "",
    "safe": "there is a square that is proven safe",
    "hunt": "an arrow may open a way",
    "dare": "nothing is safe; a risk of {risk:.0%} is taken",
    "home": "the rest is too dangerous, so it goes home",
    "gold": "it has the gold and goes home",
}


class Explorer(Walker):
    """Goes where it is proven safe; shoots where that opens a way; dares a risk up to its nerve; else goes home.

    Its nerve is the greatest chance of death that it takes; with none it never dies.
    """

    def __init__(self, size: int, pit_chance: float = PIT_CHANCE, nerve: float = 0.0):
        super().__init__(size)
        self.knows, self.nerve = Knowledge(size, pit_chance), nerve
        self.shot: list[Square] | None = None  # where an arrow flies, until it is heard
        self.is_daring = False  # whether the plan leads to where death is possible
        self.reason, self.risk = "", 0.0

    @property
    def thought(self) -> str:
        return THOUGHTS[self.reason].format(risk=self.risk)

    def notice(self, percept: Percept) -> None:
        self.knows.feel(self.square, percept)
        if self.shot is not None:
            self.knows.learn_of_arrow(self.shot, percept.scream)
            self.shot = None

    def follow(self) -> str:
        action = super().follow()
        if action == "shoot":
            self.shot = line_ahead(self.square, self.heading, self.size)
        return action

    def next_plan(self) -> Iterable[str]:
        self.is_daring = False
        if (safe := self.knows.safe()) and (way := self.way_to(safe)) is not None:
            self.reason = "safe"
            return way
        if plan := self.hunt():
            self.reason = "hunt"
            return plan
        risks = self.knows.risks()
        dangers = {square: danger(risks[square]) for square in self.knows.frontier()}
        least = min(dangers.values(), default=1.0)
        if least <= self.nerve:
            self.reason, self.risk, self.is_daring = "dare", least, True
            way = self.way_to(square for square, risk in dangers.items() if risk == least)
            return way or self.home()
        self.reason = "home"
        return self.home()

    def home(self) -> Iterable[str]:
        if self.has_gold:
            self.reason, self.is_daring = "gold", False
        return super().home()

    def hunt(self) -> Iterable[str]:
        """A shot along the line that most likely holds the wumpus, if it alone bars a square; nothing otherwise."""
        places = self.knows.wumpus_places() if self.knows.wumpus_lives else []
        risks = self.knows.risks()
        barred = [square for square in self.knows.frontier() if risks[square][0] == 0 < risks[square][1]]
        if not self.has_arrow or not barred or not any(self.knows.stenches.values()):
            return ()
        shots = []
        for square in sorted(self.visited):
            for heading in range(4):
                hits = len(set(places).intersection(line_ahead(square, heading, self.size)))
                if hits and (way := self.way_to([square], heading)) is not None:
                    shots.append((-hits, len(way), (*way, "shoot")))
        return min(shots, default=(0, 0, ()))[2]


class Reckless(Walker):
    """Goes to the nearest square it has not seen, whatever it smells; takes the gold home."""

    def next_plan(self) -> Iterable[str]:
        return self.way_to(set(squares(self.size)) - self.visited) or self.home()


class Aimless:
    """Does anything."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)

    def act(self, percept: Percept) -> str:
        return self.rng.choice(ACTIONS)


# Many worlds


def explore(world: World, agent: CaveAgent) -> Iterator[tuple[Cave, str, Percept]]:
    """The cave after each action, with the action and what was felt then; first of all with no action."""
    cave = Cave(world)
    percept = cave.percept()
    yield cave, "", percept
    while not cave.is_over:
        action = agent.act(percept)
        percept = cave.act(action)
        yield cave, action, percept


def final(world: World, agent: CaveAgent) -> Cave:
    """The cave at the end."""
    *_, (cave, _, _) = explore(world, agent)
    return cave


@dataclass(frozen=True)
class WorldsSummary:
    """How an agent did in many worlds."""

    name: str
    worlds: int
    mean: float
    error: float  # half of the mean's 95% interval
    gold: float  # shares of the worlds
    deaths: float
    actions: float  # on average


NERVE = 0.25
AGENTS: dict[str, Callable[[int, float, int], CaveAgent]] = {  # made of a size, a chance of pits, a seed
    "reasoning": lambda size, chance, seed: Explorer(size, chance, NERVE),
    "reasoning, never daring": lambda size, chance, seed: Explorer(size, chance),
    "reckless": lambda size, chance, seed: Reckless(size),
    "random": lambda size, chance, seed: Aimless(seed),
}


def check(size: int, pit_chance: float) -> None:
    if size not in SIZES:
        raise BadParameter(f"size={size}: a cave is {SIZES[0]} to {SIZES[-1]} squares wide")
    if not 0 <= pit_chance <= 1:
        raise BadParameter(f"a chance of pits of {pit_chance}: it lies between 0 and 1")


def worlds_of(count: int, size: int, pit_chance: float, seed: int) -> Iterator[World]:
    rng = random.Random(seed)
    return (random_world(rng, size, pit_chance) for _ in range(count))


def compare(worlds: int = 10_000, size: int = 4, pit_chance: float = PIT_CHANCE, seed: int = 1) -> list[WorldsSummary]:
    """Every agent in the same worlds."""
    check(size, pit_chance)
    return [
        summarise(name, [final(world, make(size, pit_chance, seed + i)) for i, world in enumerate(drawn)])
        for name, make in AGENTS.items()
        for drawn in [worlds_of(worlds, size, pit_chance, seed)]
    ]


def summarise(name: str, caves: list[Cave]) -> WorldsSummary:
    count, scores = len(caves), [cave.score for cave in caves]
    mean = sum(scores) / count
    variance = sum((score - mean) ** 2 for score in scores) / max(count - 1, 1)
    return WorldsSummary(
        name=name,
        worlds=count,
        mean=mean,
        error=Z * math.sqrt(variance / count),
        gold=sum(cave.gold is None and not cave.is_dead and cave.actions < LONGEST for cave in caves) / count,
        deaths=sum(cave.is_dead for cave in caves) / count,
        actions=sum(cave.actions for cave in caves) / count,
    )


# The map


ARROWS = "▶▲◀▼"


def draw_map(agent: Explorer, truth: World | None = None) -> str:
    """What an agent knows, square by square; with the truth beside it, in brackets, if that is given.

    Visited: b for a breeze, s for a stench. Not visited: ok if that is proven, else the chance to die there.
    """
    risks = agent.knows.risks()
    lines = []
    for y in reversed(range(agent.size)):
        cells = [cell_text(agent, (x, y), risks).ljust(6) for x in range(agent.size)]
        if truth is not None:
            cells = [cell + truth_text(truth, (x, y)) for x, cell in enumerate(cells)]
        lines.append("│ " + " │ ".join(cells) + " │")
    rule = "─" * (len(lines[0]) - 2)
    return "\n".join([f"┌{rule}┐", *lines, f"└{rule}┘"])


def cell_text(agent: Explorer, square: Square, risks: dict[Square, tuple[float, float]]) -> str:
    if square in agent.knows.visited:
        felt = ("b" if agent.knows.breezes[square] else "") + ("s" if agent.knows.stenches[square] else "")
        return (ARROWS[agent.heading] if square == agent.square else "·") + " " + felt
    risk = danger(risks[square])
    return "ok" if risk == 0 else f"{risk:.0%}"


def truth_text(world: World, square: Square) -> str:
    marks = ("P" if square in world.pits else "") + ("W" if square == world.wumpus else "")
    marks += "G" if square == world.gold else ""
    return f"[{marks}]".ljust(5) if marks else " " * 5
