"""How long a search may go on, and what it answers."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, field, fields, replace
from threading import Event

from tengen.rules.errors import BadParameter

SLICE = 0.004  # seconds between two looks at the clock


@dataclass(frozen=True)
class Limit:
    """When a search must stop: whatever is given is kept. Without any, the search's own default holds."""

    time: float | None = None  # seconds
    nodes: int | None = None
    depth: int | None = None
    playouts: int | None = None
    simulations: int | None = None
    stop: Event | None = None  # once it is set, the time is over
    early: bool = False  # PUCT: it may stop once nothing that is left can be visited as often as the favourite

    def __post_init__(self) -> None:
        for name, value in self.given.items():
            if not value > 0:
                raise BadParameter(f"{name}={value}: a limit is more than zero")

    @property
    def given(self) -> dict[str, float]:
        """The limits that there are, by name."""
        values = {part.name: getattr(self, part.name) for part in fields(self) if part.name not in ("stop", "early")}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def count(self) -> int | None:
        """The limit on what a search counts, if there is one: a node is made by each playout or simulation."""
        counts = [count for count in (self.nodes, self.playouts, self.simulations) if count is not None]
        return min(counts, default=None)

    def or_else(self, other: Limit) -> Limit:
        """This limit; if it says nothing at all, the other, but stopped as this one is."""
        return self if self.given else replace(other, stop=self.stop)


class Clock:
    """Time since a search began, and whether its limit on time has run out."""

    def __init__(self, limit: Limit):
        self.began = clock.perf_counter()
        self.limit, self.stop = limit.time, limit.stop

    @property
    def seconds(self) -> float:
        return clock.perf_counter() - self.began

    @property
    def left(self) -> float:
        """Seconds left; without a limit, forever."""
        if self.stop is not None and self.stop.is_set():
            return 0.0
        return float("inf") if self.limit is None else self.limit - self.seconds

    def more(self, done: int) -> float:
        """How much more can be done in what is left, by what was done so far; without a limit, anything.

        So it is in the first tenth of the time: the pace is not known yet.
        """
        if self.limit is None or self.seconds < self.limit / 10:
            return float("inf")
        return done / self.seconds * self.left


class Pace:
    """How much a kernel may do before the clock is looked at again: as much as takes a few milliseconds."""

    def __init__(self, clock: Clock, first: int):
        self.clock, self.first, self.size, self.began = clock, first, first, 0.0

    def next(self, most: int) -> int:
        """The size of the next slice of work."""
        self.began = self.clock.seconds
        return min(self.size, most)

    def did(self, done: int) -> None:
        """What was done of that slice (it may be less): the next is sized by how long it took."""
        took = max(self.clock.seconds - self.began, 1e-7)
        wanted = int(done * min(SLICE, max(self.clock.left, 0)) / took)
        self.size = max(self.first, min(wanted, 4 * self.size if done >= self.size else self.size))


@dataclass(frozen=True)
class Opinion:
    """What a search thinks of one action at the root."""

    action: int
    visits: int
    value: float  # in [−1, 1], for the player to move
    prior: float | None = None  # what the net thought before the search, at the temperature it was given
    line: tuple[int, ...] = ()  # what is expected, the action first


@dataclass(frozen=True)
class Decision:
    """What an agent chose, and why."""

    action: int
    value: float | None = None  # in [−1, 1], for the player to move; None if the agent has no opinion
    policy: dict[int, float] = field(default_factory=dict)  # share of the search spent on each action
    principal_variation: tuple[int, ...] = ()  # the line that was expected, the action first
    nodes: int = 0
    depth: int = 0
    seconds: float = 0.0
    note: str = ""  # what a person should know: the position is proven, memory ran out, …
