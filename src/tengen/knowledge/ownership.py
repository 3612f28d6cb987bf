"""Who will own each point of a board where areas are counted, and by how much the first player leads.

Four sources, the surer ones last, each correcting those before it:

1. the ends of random games, averaged over a chain, since a chain lives and dies as one; in Go they are drawn by local
   patterns (go_patterns.py), which err half as much as even chances;
2. unconditional life (go_life.py), which no play can change;
3. small places read to their end by both sides (go_reading.py): eye shapes, races, seki, ko, the last borders;
4. a judge of one's own in place of the random games, such as a net that answers ownership.

How good it is: settled positions are counted as GNU Go does (tests/agents/test_settled.py). Before that it is an
estimate by players who play anything: large frameworks, invasions and ladders are beyond it. `bench/ownership.py`
measures both.

Values are the first player's: +1 his, −1 the second player's. Games that only resemble Go have the first source alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tengen.knowledge.go import is_go
from tengen.knowledge.go_life import sure_owners
from tengen.knowledge.go_patterns import Patterns
from tengen.knowledge.go_reading import WIDEST, PlaceReading, Reader, signs_of
from tengen.knowledge.groups import connected, neighbours_of, owner_of
from tengen.rules.contract import ONGOING, first_seed, outcome, play, score, territory
from tengen.rules.game import Game, Position
from tengen.rules.kernels import entry
from tengen.search.rollouts import Even, roll

Judge = Callable[[Position], np.ndarray]  # ownership [rows, columns], the first player's, in [−1, 1]

ROLLOUTS = 64  # random games
BUDGET = 20_000  # boards that are read for one place and one side
SAFE = 0.9  # a chain that is thought to live so surely is a wall of places, not part of them
DEAD = -0.5  # a chain whose points are worth less to its owner is dead
CLEAR = 0.75  # a place that could not be read is settled if nearly all its points are worth so much to somebody
ENCLOSED = 30  # points of a territory at most: beyond, it is none yet
CRAMPED = 8  # a chain that reaches no more empty points than this is looked at, whatever random games say
SHARPEST, FILLING = 0.25, 2.0  # random games let too much die: see `sharpened`


@dataclass(frozen=True)
class Locality:
    """Points whose owners are not plain, and what comes of them; the readings are None where there were too many."""

    points: tuple[int, ...]
    readings: tuple[PlaceReading, PlaceReading] | None  # if the first player moves first, and if the second does

    @property
    def swing(self) -> float:
        """How many points the first move here is worth to either side; zero if the place was not read."""
        return 0.0 if self.readings is None else self.readings[0].score - self.readings[1].score

    def move_of(self, player: int) -> int | None:
        """What the player would play here; None: nothing."""
        return None if self.readings is None else self.readings[player].first


@dataclass(frozen=True)
class Outlook:
    """What is thought of a position."""

    position: Position
    ownership: np.ndarray  # [rows, columns] in [−1, 1]: the first player's
    places: tuple[Locality, ...]
    komi: float  # what the count adds for the second player: komi, and points for a handicap

    @property
    def lead(self) -> float:
        """The first player's margin that is to be expected, komi and all."""
        return self.agreed if self.is_settled else float(self.ownership.sum()) - self.komi

    @cached_property
    def agreed(self) -> float:
        """The first player's margin if both pass now and take off what is dead."""
        return float(self.owners.sum()) - self.komi

    @cached_property
    def owners(self) -> np.ndarray:
        """[rows, columns]: whose each point is if both pass now and take off what is dead: +1, −1, or 0 for nobody."""
        board = self.cleared
        found = np.zeros(board.shape, np.int8)
        for group in connected(board):
            found.flat[group] = (0, 1, -1)[owner_of(board, group)]
        return found

    @cached_property
    def cleared(self) -> np.ndarray:
        """The board without what is dead."""
        board = self.position.board
        board.flat[sorted(self.dead)] = 0
        return board

    @cached_property
    def chains(self) -> list[list[int]]:
        board = self.position.board
        return [group for group in connected(board) if board.flat[group[0]]]

    @cached_property
    def dead(self) -> frozenset[int]:
        """The stones that are lost, whoever moves."""
        board, hot = self.position.board, {point for place in self.places if place.swing > 0 for point in place.points}
        return frozenset(
            cell
            for chain in self.chains
            if not hot.intersection(chain)
            and self.ownership.flat[chain].mean() * (1, -1)[board.flat[chain[0]] - 1] < DEAD
            for cell in chain
        )

    @cached_property
    def seki(self) -> frozenset[int]:
        """Stones that neither side can capture, beside points that neither side can take."""
        board, found = self.position.board, set[int]()
        nobodys = {
            point
            for place in self.places
            if place.readings is not None and place.swing == 0
            for point in place.points
            if board.flat[point] == 0 and not any(reading.owners.flat[point] for reading in place.readings)
        }
        for chain in self.chains:
            if nobodys & neighbours_of(board, chain) and not self.dead.intersection(chain):
                found.update(chain)
        return frozenset(found)

    @property
    def hot(self) -> list[Locality]:
        """Places where a move is worth something, the most valuable first."""
        return sorted((place for place in self.places if place.swing > 0), key=lambda place: -place.swing)

    @property
    def unclear(self) -> list[Locality]:
        """Places that could not be read, and whose owners are not known otherwise."""
        return [place for place in self.places if place.readings is None and not self.is_clear(place)]

    def is_clear(self, place: Locality) -> bool:
        """Whether a place's owners are known, nearly all, the fate of each stone, and no border is open."""
        values, board, points = np.abs(self.ownership), self.position.board, list(place.points)
        stones = [point for point in points if board.flat[point]]
        fates = values.flat[stones].min() if stones else 1.0
        is_closed = bool((self.owners.flat[points] != 0).all())
        return is_closed and bool(fates >= -DEAD and np.quantile(values.flat[points], 0.25) >= CLEAR)

    @property
    def is_settled(self) -> bool:
        """Whether no move is worth anything to anybody."""
        return not self.hot and not self.unclear


def ownership(position: Position, judge: Judge | None = None) -> np.ndarray:
    """[rows, columns] in [−1, 1]: how surely each point will be the first player's (+1) or the second's (−1)."""
    return estimate(position, judge).ownership


def lead(position: Position, judge: Judge | None = None) -> float:
    """The first player's margin that is to be expected, komi and all."""
    return estimate(position, judge).lead


def estimate(position: Position, judge: Judge | None = None, rollouts: int = ROLLOUTS, budget: int = BUDGET) -> Outlook:
    """Who will own what, by all that is known."""
    total, owners = as_it_stands(position)
    komi = float(owners.sum()) - total
    position = before_passes(position)
    values = rolled_owners(position, rollouts) if judge is None else np.array(judge(position), np.float64)
    if not is_go(position.game):
        return Outlook(position, values, (), komi)
    board = position.board
    sure = sure_owners(board)
    values = np.where(sure == 0, averaged(board, values), sure)
    places = read_all(position, Groups(board), values, sure)
    for place in places:
        believe(values, board, place)
    return Outlook(position, values, tuple(places), komi)


def before_passes(position: Position) -> Position:
    """The same board while the game went on: two passes end it, and then nothing can be played to learn more."""
    while position.outcome is not None and position.action == position.game.cells and position.previous is not None:
        position = position.previous
    return position


# Random games.


@entry
def roll_owners(game, player, root, states, notes, actions, count, owners, totals):
    """Adds who owns each point at the end of random games from root[0] to totals [cells]: +1, −1 or 0 a game."""
    for i in range(count):
        states[0] = root[0]
        roll(player, game, states[0], notes[0], actions, first_seed(i))
        territory(game, states[0], owners)
        for cell in range(len(owners)):
            totals[cell] += (owners[cell] == 1) - (owners[cell] == 2)


@entry
def count_it(game, states, owners):
    """Passes until the game in states[0] is over; returns the score and writes the owners."""
    while outcome(game, states[0]) == ONGOING:
        play(game, states[0], len(owners))
    territory(game, states[0], owners)
    return np.float64(score(game, states[0]))


def random_owners(position: Position, count: int) -> np.ndarray:
    """[rows, columns]: the mean owner over random games; of a game that is over, its owners."""
    if position.outcome is not None:
        return as_it_stands(position)[1].astype(np.float64)
    game, totals = position.game, np.zeros(position.game.cells, np.int64)
    player = Patterns.fitted() if is_go(game) else Even()
    notes = np.zeros(1, player.record(game)).view(np.recarray)
    scratch = game.new_states(1), notes, np.empty(game.actions, np.int32)
    roll_owners(game.parameters, player, position.states, *scratch, count, np.zeros(game.cells, np.int8), totals)
    return totals.reshape(game.shape) / max(count, 1)


def as_it_stands(position: Position) -> tuple[float, np.ndarray]:
    """The first player's margin if both pass now, all stones alive; and the owners [rows, columns]: +1, −1, 0."""
    owners = np.zeros(position.game.cells, np.int8)
    total = count_it(position.game.parameters, position.states, owners)
    return float(total), signs_of(owners).reshape(position.game.shape)


def sharpened(board: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Nearer to certainty: who plays anything loses now and then what nobody would lose.

    Values are raised to a power: less than one, the fuller the board, since in an opening little is certain.
    """
    power = max(SHARPEST, 1 - FILLING * float((board > 0).mean()))
    return np.asarray(np.sign(values) * np.abs(values) ** power)


# Places.


def rolled(position: Position, rollouts: int = ROLLOUTS // 2) -> np.ndarray:
    """[rows, columns]: ownership by random games alone, which is quick."""
    return averaged(position.board, rolled_owners(position, rollouts))


def rolled_owners(position: Position, rollouts: int) -> np.ndarray:
    return sharpened(position.board, random_owners(position, rollouts))


def averaged(board: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The values, the same all over a chain, and all over a territory that one colour encloses."""
    found = values.copy()
    for group in connected(board):
        if board.flat[group[0]] or (len(group) <= ENCLOSED and owner_of(board, group)):
            found.flat[group] = values.flat[group].mean()
    return found


class Groups:
    """The chains and empty regions of a board, by number, and which touch each other."""

    def __init__(self, board: np.ndarray):
        self.board, self.cells = board, connected(board)
        name = {cell: number for number, group in enumerate(self.cells) for cell in group}
        self.near = [{name[cell] for cell in neighbours_of(board, group)} for group in self.cells]
        self.stones = [int(board.flat[group[0]]) for group in self.cells]

    def unsafe(self, values: np.ndarray, sure: np.ndarray) -> set[int]:
        """The chains whose life is not plain."""
        return {
            number
            for number, group in enumerate(self.cells)
            if self.stones[number] and not sure.flat[group].any()
            if values.flat[group[0]] * (1, -1)[self.stones[number] - 1] < SAFE
        }

    def cramped(self, sure: np.ndarray) -> set[int]:
        """The chains that reach few empty points, beside those that surely live."""
        return {
            number
            for number, group in enumerate(self.cells)
            if self.stones[number] and not sure.flat[group].any()
            if sum(len(self.cells[near]) for near in self.near[number] if not self.stones[near]) <= CRAMPED
        }

    def places(self, unsafe: set[int], sure: np.ndarray) -> list[list[int]]:
        """Unsafe chains with the empty points beside them, and empty points between both colours."""
        chosen = set(unsafe)
        for number, group in enumerate(self.cells):
            if not self.stones[number] and not sure.flat[group].all():
                walls = {self.stones[near] for near in self.near[number]}
                if self.near[number] & unsafe or len(walls) > 1:
                    chosen.add(number)
        found = []
        while chosen:
            place = [chosen.pop()]
            for number in place:  # grows while it is read
                joined = {near for near in self.near[number] & chosen if number in unsafe or near in unsafe}
                chosen -= joined
                place += joined
            found.append(sorted(cell for number in place for cell in self.cells[number]))
        return found


def read_all(position: Position, groups: Groups, values: np.ndarray, sure: np.ndarray) -> list[Locality]:
    """The places of a board: with cramped chains first; where that is too much to read, without them."""
    unsafe = groups.unsafe(values, sure)
    found, done = list[Locality](), set[int]()
    for chains in (unsafe | groups.cramped(sure), unsafe):
        for points in groups.places(chains, sure):
            if not done.intersection(points):
                place = read(position, points)
                if place.readings is not None or chains is unsafe:
                    found.append(place)
                    done.update(points)
    return found


def read(position: Position, points: list[int], budget: int = BUDGET) -> Locality:
    """A place, read by both sides if it is small enough."""
    if len(points) > WIDEST:
        return Locality(tuple(points), None)
    reader, readings = Reader(position, budget), list[PlaceReading | None]()
    for player in (0, 1):
        readings.append(reader.read(points, player))
    for known, other, mine in ((readings[0], 1, -1), (readings[1], 0, 1)):
        if known is not None and readings[other] is None and (known.owners.flat[points] == mine).all():
            readings[other] = known._replace(first=None)  # all is the one side's though the other moved first
    first, second = readings
    return Locality(tuple(points), None if first is None or second is None else (first, second))


def believe(values: np.ndarray, board: np.ndarray, place: Locality) -> None:
    """Writes what was read into the values: of the place, and of walls that fell."""
    if place.readings is None:
        return
    mean = (place.readings[0].owners + place.readings[1].owners.astype(np.float64)) / 2
    points = set(place.points)
    for group in connected(board):
        stone = int(board.flat[group[0]])
        fell = stone and any(reading.owners.flat[group[0]] == (-1, 1)[stone - 1] for reading in place.readings)
        if points.intersection(group) or (fell and points & neighbours_of(board, group)):
            values.flat[group] = mean.flat[group]


def compile_for(game: Game) -> None:
    """Has all this compiled: that is no part of the time to think."""
    if game.scoring == "area":
        position = game.start()
        random_owners(position, 1)
        as_it_stands(position)
        if is_go(game):
            read(position, [0, 1], 10)
