"""Tournaments, of which a match of two is the smallest: every pair, every opening with both colours, on all cores.

Games are numbered before the first is played, so a tournament that was stopped goes on where it was: what the store
holds is not played again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count
from pathlib import Path
from typing import Any

from tengen.agents.specs import load_agent
from tengen.arena.openings import Opening, given_openings, random_openings, read_openings
from tengen.arena.workers import Pairing, play_pairings
from tengen.records.record import Record
from tengen.records.store import Store
from tengen.rules.board import Between
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game

Players = Callable[[Iterator[Pairing], int | None], Iterator[tuple[Pairing, Record]]]
GAMES_OF_A_PAIR = 1_000_000  # numbers that a pair has for its games, so that more can be played later
SEEDS = Between(0, 2**61)  # players have twice these, and a little more


@dataclass(frozen=True)
class Tournament:
    """The players, the game, and how games begin. Two tournaments with the same settings play the same games."""

    game: Game
    agents: tuple[str, ...]  # specs
    plies: int = 2  # random moves that begin each game
    openings: tuple[Opening, ...] = ()  # or these
    seed: int = 1
    move_time: float | None = None  # seconds; a move that takes longer loses

    @classmethod
    def of(cls, game: Game, agents: Sequence[str], openings: Path | None = None, **settings: Any) -> Tournament:
        """Refuses a wrong spec, or a file of openings with a mistake, before any game."""
        if len(agents) < 2:
            raise BadParameter("a tournament has at least two agents")
        for spec in dict.fromkeys(agents):
            load_agent(spec, game)
        SEEDS.read("seed", settings.get("seed", cls.seed), int)
        lines = () if openings is None else tuple(read_openings(openings, game))
        return cls(game, tuple(agents), openings=lines, **settings)

    @property
    def names(self) -> tuple[str, ...]:
        """The players' names: their specs, with a number where two are the same."""
        seen: dict[str, int] = {}
        for spec in self.agents:
            seen[spec] = seen.get(spec, 0) + 1
        again = {spec: count(1) for spec, times in seen.items() if times > 1}
        return tuple(f"{spec} #{next(again[spec])}" if spec in again else spec for spec in self.agents)

    def settings(self) -> dict[str, Any]:
        """The settings that identify the tournament."""
        return {
            "game": self.game.spec,
            "agents": list(self.agents),
            "opening": [list(line) for line in self.openings] if self.openings else self.plies,
            "seed": self.seed,
            "move_time": self.move_time,
        }

    def pairings(self, games: int, done: frozenset[int] | set[int] = frozenset()) -> Iterator[Pairing]:
        """`games` games of every pair, opening by opening, except those that are `done`.

        Each opening is played twice by each pair, with colours changed; all pairs play the same openings.
        """
        lines = given_openings(list(self.openings)) if self.openings else self._random_openings()
        pairs = list(enumerate(combinations(range(len(self.agents)), 2)))
        opening: Opening = ()
        for number in range(games):
            if number % 2 == 0:
                opening = next(lines)
            for index, pair in pairs:
                if (own := index * GAMES_OF_A_PAIR + number) not in done:
                    yield self._pairing(own, pair if number % 2 == 0 else pair[::-1], opening, self.seed + number)

    def _random_openings(self) -> Iterator[Opening]:
        return random_openings(self.game, self.plies, self.seed)

    def _pairing(self, number: int, sides: tuple[int, int], opening: Opening, seed: int) -> Pairing:
        first, second = sides
        return Pairing(
            number=number,
            game=self.game.spec,
            agents=(self.agents[first], self.agents[second]),
            names=(self.names[first], self.names[second]),
            opening=opening,
            seeds=(2 * seed + (first > second), 2 * seed + (second > first)),
            move_time=self.move_time,
        )


@dataclass
class Results:
    """The games of a tournament, by number."""

    games: dict[int, Record] = field(default_factory=dict)

    def in_order(self) -> list[Record]:
        return [self.games[number] for number in sorted(self.games)]

    def pairs(self, begin: int = 0) -> Iterator[tuple[Record, Record]]:
        """The games of a match of two, opening by opening from one on, as far as all before are known."""
        for number in count(2 * begin, 2):
            if number not in self.games or number + 1 not in self.games:
                return
            yield self.games[number], self.games[number + 1]


def play_tournament(
    tournament: Tournament,
    games: int,
    store: Store | None = None,
    workers: int | None = None,
    progress: Callable[[Results, list[Record]], bool] = lambda results, fresh: True,
    play: Players = play_pairings,
) -> Results:
    """Plays `games` games of each pair; `play` is `play_pairings` of this machine or of a cluster.

    `progress` sees all results and the fresh ones among them, first those of the store and then after every game; it
    says whether to go on.
    """
    results, match = Results(), None
    if store is not None:
        match = store.match(tournament.settings())
        stored = store.games(match=match, game=tournament.game)
        results.games = {game.number: game.record for game in stored if game.number is not None}
    if not progress(results, list(results.games.values())):
        return results
    for pairing, record in play(tournament.pairings(games, set(results.games)), workers):
        results.games[pairing.number] = record
        if store is not None:
            store.add(record, match, pairing.number)
        if not progress(results, [record]):
            break
    return results
