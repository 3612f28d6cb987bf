"""A match of two agents: every opening is played twice, with colours changed, on all cores."""

from __future__ import annotations

import math
import multiprocessing
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tengen.agents.agent import Agent
from tengen.agents.specs import load_agent
from tengen.games import load_game
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game, Position
from tengen.search.limits import Limit

Z = 1.959964  # 95% of a normal distribution


@dataclass(frozen=True)
class Played:
    """One game of a match, from the side of its first agent."""

    result: int  # +1 the first agent won, −1 the second, 0 a draw
    first_began: bool
    moves: tuple[int, ...]
    seconds: tuple[float, ...]  # of each ply after the opening


@dataclass
class Score:
    """Wins, draws and losses of the first agent."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    games: list[Played] = field(default_factory=list)

    def add(self, game: Played) -> None:
        self.games.append(game)
        self.wins += game.result == 1
        self.draws += game.result == 0
        self.losses += game.result == -1

    @property
    def count(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def rate(self) -> float:
        """Points a game: a draw is half a win."""
        return (self.wins + self.draws / 2) / max(self.count, 1)

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


def elo_of(rate: float) -> float:
    """The difference in Elo that makes for a rate."""
    if rate <= 0 or rate >= 1:
        return math.copysign(math.inf, rate - 0.5)
    return -400 * math.log10(1 / rate - 1)


def random_opening(game: Game, plies: int, rng: random.Random) -> Position:
    """A position after random moves in which the game goes on."""
    for _ in range(1000):
        position = game.start()
        while position.ply < plies and position.outcome is None:
            position = position.play(rng.choice(position.legal_actions))
        if position.outcome is None:
            return position
    raise BadParameter(f"{game.spec} is over after {plies} random plies, or nearly always: use a shorter opening")


@dataclass(frozen=True)
class Pairing:
    """What a worker needs to play one game."""

    game: str
    agents: tuple[str, str]
    opening: tuple[int, ...]
    first_begins: bool
    seed: int


def play_pairing(pairing: Pairing) -> Played:
    """Plays one game; every agent is made anew, so that nothing is carried over."""
    game = load_game(pairing.game)
    agents = [load_agent(spec, game, threads=1, seed=2 * pairing.seed + i) for i, spec in enumerate(pairing.agents)]
    return play_game(game, agents, pairing.opening, pairing.first_begins)


def play_game(game: Game, agents: Sequence[Agent], opening: Sequence[int], first_begins: bool) -> Played:
    """Two agents play from an opening to the end."""
    position = game.start()
    for action in opening:
        position = position.play(action)
    seconds = []
    while position.outcome is None:
        agent = agents[position.to_play if first_begins else 1 - position.to_play]
        decision = agent.choose(position, Limit())
        seconds.append(decision.seconds)
        position = position.play(decision.action)
    result = position.outcome.value_for(0 if first_begins else 1)
    return Played(result, first_begins, tuple(position.moves), tuple(seconds))


def pairings(game: Game, agents: tuple[str, str], games: int, plies: int, seed: int) -> Iterator[Pairing]:
    """The games of a match: each opening twice, once with each agent as first player."""
    rng = random.Random(seed)
    opening: tuple[int, ...] = ()
    for number in range(games):
        if number % 2 == 0:
            opening = tuple(random_opening(game, plies, rng).moves)
        yield Pairing(game.spec, agents, opening, number % 2 == 0, seed + number)


def play_match(
    game: Game,
    agents: tuple[str, str],
    games: int,
    plies: int = 2,
    seed: int = 1,
    workers: int | None = None,
    progress: Callable[[Score], None] = lambda score: None,
) -> Score:
    """Plays a match on all cores; `progress` sees the score after every game."""
    for spec in agents:
        load_agent(spec, game)  # a wrong spec is told here, not by every worker
    score, todo = Score(), list(pairings(game, agents, games, plies, seed))
    workers = min(workers or os.cpu_count() or 1, len(todo))
    if workers == 1:
        for pairing in todo:
            score.add(play_pairing(pairing))
            progress(score)
        return score
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        for played in pool.imap(play_pairing, todo):
            score.add(played)
            progress(score)
    return score
