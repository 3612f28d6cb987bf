"""One game between two agents, and the score of many."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from time import perf_counter
from typing import Any

from tengen.agents.agent import Agent
from tengen.agents.gtp import RESIGNED
from tengen.arena.ratings import elo_of
from tengen.records.record import COLOURS, Record
from tengen.rules.errors import BadMove, BadParameter, IllegalMove
from tengen.rules.game import Game, Position

Z = 1.959964  # 95% of a normal distribution

Watch = Callable[[int, float], None]  # sees each action and the seconds that it took


@dataclass
class Score:
    """Wins, draws and losses of one player."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def add(self, other: Score) -> None:
        self.wins += other.wins
        self.draws += other.draws
        self.losses += other.losses

    @property
    def count(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Points: a win is 1, a draw ½."""
        return self.wins + self.draws / 2

    @property
    def rate(self) -> float:
        """Points a game."""
        return self.points / max(self.count, 1)

    def interval(self) -> tuple[float, float]:
        """A 95% interval of the rate (Wilson's, which stays inside [0, 1] and is sound for few games)."""
        count, rate = max(self.count, 1), self.rate
        centre = (rate + Z * Z / (2 * count)) / (1 + Z * Z / count)
        spread = Z * math.sqrt(rate * (1 - rate) / count + Z * Z / (4 * count * count)) / (1 + Z * Z / count)
        return max(0.0, centre - spread), min(1.0, centre + spread)

    def elo(self) -> tuple[float, float, float]:
        """The difference in Elo, and its 95% interval; infinite where every game went one way."""
        low, high = self.interval()
        return elo_of(self.rate), elo_of(low), elo_of(high)


def result_for(name: str, record: Record) -> int:
    """+1 if the player `name` won, −1 if it lost, 0 for a draw and for a game without a result."""
    return 0 if record.outcome is None else record.outcome.value_for(record.players.index(name))


def score_of(name: str, records: Sequence[Record]) -> Score:
    """The score of a player in games that have a result."""
    results = [result_for(name, record) for record in records if record.outcome is not None]
    return Score(results.count(1), results.count(0), results.count(-1))


def repeated(records: Sequence[Record]) -> int:
    """How many games repeat an earlier one of the same players move by move: they are no further evidence."""
    return len(records) - len({(record.players, record.moves) for record in records})


class Forfeit(Exception):
    """A loss by a crash, an illegal move, on time, or by giving up; not by the rules of the game."""

    def __init__(self, mark: str, words: str):
        super().__init__(words)
        self.mark, self.words = mark, words  # how SGF has it: R resigned, T on time, F forfeit


def play_game(
    game: Game,
    agents: Sequence[Agent],
    opening: Sequence[int] = (),
    names: tuple[str, str] = ("", ""),
    move_time: float | None = None,
    watch: Watch = lambda action, seconds: None,
) -> Record:
    """The record of a game between two agents, the first of which moves first, from an opening to the end.

    Whatever an agent does wrong loses it the game: an error, an illegal move, a move that takes longer than
    `move_time` seconds by our clock. The record says so; this function does not raise.
    """
    if not isinstance(agents, Sequence) or len(agents) != 2 or not all(hasattr(agent, "choose") for agent in agents):
        raise BadParameter("play_game takes a list of two agents: play_game(game, [first, second])")
    position = game.from_actions(opening)
    seconds: list[float] = []
    fields: dict[str, Any] = {}
    while position.outcome is None:
        began = perf_counter()
        try:
            position = play_move(position, agents[position.to_play], move_time)
        except Forfeit as forfeit:
            seconds.append(perf_counter() - began)
            fields = {"result": f"{COLOURS[1 - position.to_play]}+{forfeit.mark}", "ending": forfeit.words}
            break
        seconds.append(perf_counter() - began)
        assert position.action is not None
        watch(position.action, seconds[-1])
    fields |= {"opening": len(opening), "seconds": tuple(seconds), "date": date.today().isoformat()}
    return Record.of(position, names, **fields)


def play_move(position: Position, agent: Agent, move_time: float | None) -> Position:
    """The position after an agent's move; raises Forfeit if the agent has lost by it."""
    name = agent.name
    began = perf_counter()
    try:
        decision = agent.choose(position)
    except Exception as reason:
        raise Forfeit("F", f"{name} failed: {reason_text(reason)}") from reason
    took = perf_counter() - began
    if move_time is not None and took > move_time:
        raise Forfeit("T", f"{name} took {took:.3f} s for a move; {move_time:g} s are allowed")
    if decision.note.startswith(RESIGNED):
        raise Forfeit("R", f"{name} resigned")
    try:
        return position.play(decision.action)
    except (BadMove, IllegalMove) as reason:
        raise Forfeit("F", f"{name} played an illegal move: {reason}") from reason


def reason_text(reason: Exception) -> str:
    """An error's message; one that is not Tengen's keeps its type."""
    return str(reason) if type(reason).__module__.startswith("tengen.") else f"{type(reason).__name__}: {reason}"
