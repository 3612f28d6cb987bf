"""The 27 planes of Go, judged by sets of points and plain recursion."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from tengen.games import load_game
from tengen.knowledge.go_planes import (
    EMPTIED,
    GROUPS,
    KO,
    LADDER_CAPTURE,
    LADDER_ESCAPE,
    NAMES,
    PLANES,
    encode_states,
)
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game, Position

Point = tuple[int, int]
Stones = frozenset[Point]


class Judge:
    """The planes, slow and obvious: a board is two sets of points."""

    def __init__(self, position: Position):
        self.position, self.size = position, position.game.shape[0]
        board, self.player = position.board, position.to_play
        self.own = frozenset((int(y), int(x)) for y, x in np.argwhere(board == self.player + 1))
        self.other = frozenset((int(y), int(x)) for y, x in np.argwhere(board == 2 - self.player))
        self.legal = {divmod(action, self.size) for action in position.legal_actions if action < self.size**2}

    def near(self, point: Point) -> Iterator[Point]:
        y, x = point
        for there in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
            if min(there) >= 0 and max(there) < self.size:
                yield there

    def chain(self, point: Point, stones: Stones) -> Stones:
        found, waiting = {point}, [point]
        while waiting:
            for there in self.near(waiting.pop()):
                if there in stones and there not in found:
                    found.add(there)
                    waiting.append(there)
        return frozenset(found)

    def liberties(self, chain: Stones, occupied: Stones) -> Stones:
        return frozenset(there for point in chain for there in self.near(point) if there not in occupied)

    def place(self, movers: Stones, others: Stones, point: Point) -> tuple[Stones, Stones]:
        movers |= {point}
        for there in self.near(point):
            if there in others and not self.liberties(chain := self.chain(there, others), movers | others):
                others -= chain
        return movers, others

    def is_caught_by(self, hunters: Stones, runners: Stones, target: Point, move: Point) -> bool:
        hunters, runners = self.place(hunters, runners, move)
        if not self.liberties(self.chain(move, hunters), hunters | runners):
            return False
        chain = self.chain(target, runners)
        (last,) = self.liberties(chain, hunters | runners)
        chasers = {there for point in chain for there in self.near(point) if there in hunters}
        if any(len(self.liberties(self.chain(one, hunters), hunters | runners)) == 1 for one in chasers):
            return False
        runners, hunters = self.place(runners, hunters, last)
        left = self.liberties(self.chain(target, runners), hunters | runners)
        if len(left) != 2:
            return len(left) < 2
        return any(self.is_caught_by(hunters, runners, target, choice) for choice in left)

    def escapes(self, target: Point, move: Point) -> bool:
        own, other = self.place(self.own, self.other, move)
        left = self.liberties(self.chain(target, own), own | other)
        if len(left) != 2:
            return len(left) > 2
        return not any(self.is_caught_by(other, own, target, choice) for choice in left)

    def planes(self) -> np.ndarray:
        """All planes [27, rows, columns]."""
        planes = np.zeros((PLANES, self.size, self.size), np.uint8)
        before = self.position.previous
        for point in self.own:
            planes[0][point] = 1
        for point in self.other:
            planes[1][point] = 1
        planes[2] = 1
        if before is not None and self.position.action == self.size**2:
            planes[4] = 1
        elif before is not None:
            planes[3][divmod(self.position.action or 0, self.size)] = 1
            emptied = (before.board != 0) & (self.position.board == 0)
            planes[26] = emptied
        planes[5] = self.player == 0
        occupied = self.own | self.other
        for first, stones in ((6, self.own), (10, self.other)):
            for point in stones:
                planes[first + min(len(self.liberties(self.chain(point, stones), occupied)), 4) - 1][point] = 1
        for point in self.legal:
            own, other = self.place(self.own, self.other, point)
            taken, chain = len(self.other) - len(other), self.chain(point, own)
            count = len(self.liberties(chain, own | other))
            if taken:
                planes[14 + min(taken, 3) - 1][point] = 1
            planes[17 + min(count, 4) - 1][point] = 1
            planes[21][point] = count == 1 and len(chain) >= 3
            planes[24][point] = self.is_ladder_capture(point, occupied)
            planes[25][point] = self.is_ladder_escape(point, occupied)
        reasons = self.position.forbidden()
        for y in range(self.size):
            for x in range(self.size):
                planes[22, y, x] = "superko" in reasons.get(y * self.size + x, "")
                planes[23, y, x] = (y, x) not in occupied and self.is_eye(y, x)
        return planes

    def is_ladder_capture(self, move: Point, occupied: Stones) -> bool:
        for there in self.near(move):
            if there in self.other and len(self.liberties(self.chain(there, self.other), occupied)) == 2:
                if self.is_caught_by(self.own, self.other, there, move):
                    return True
        return False

    def is_ladder_escape(self, move: Point, occupied: Stones) -> bool:
        """Whether the move saves some chain in atari: by running, or by taking what puts it in atari."""
        for target in self.own:
            chain = self.chain(target, self.own)
            left = self.liberties(chain, occupied)
            if len(left) != 1:
                continue
            helpful = set(left)
            for there in {near for point in chain for near in self.near(point)} & self.other:
                theirs = self.liberties(self.chain(there, self.other), occupied)
                helpful |= theirs if len(theirs) == 1 else set()
            if move in helpful and self.escapes(target, move):
                return True
        return False

    def is_eye(self, y: int, x: int) -> bool:
        if not all(there in self.own for there in self.near((y, x))):
            return False
        corners = [(y + dy, x + dx) for dy in (-1, 1) for dx in (-1, 1)]
        inside = [corner for corner in corners if min(corner) >= 0 and max(corner) < self.size]
        return sum(corner in self.other for corner in inside) + (len(inside) < 4) < 2


def random_positions(game: Game, count: int, seed: int) -> Iterator[Position]:
    """Positions of random games that keep their own eyes most of the time, so that chains and ladders come about."""
    rng = random.Random(seed)
    while count:
        position, plies = game.start(), rng.randint(0, 130)
        while position.outcome is None and position.ply < plies:
            judge = Judge(position)
            moves = [action for action in position.legal_actions[:-1] if not judge.is_eye(*divmod(action, judge.size))]
            is_pass = not moves or rng.random() < 0.02
            position = position.play(game.cells if is_pass else rng.choice(moves))
        if position.outcome is None:
            count -= 1
            yield position


def shown(position: Position) -> np.ndarray:
    return encode_states(position.game, position.states)[0].reshape(PLANES, *position.game.shape)


@pytest.mark.parametrize(("size", "count"), [(9, 60), (7, 30), (5, 40)])
def test_every_plane_is_what_the_slow_judge_says(size: int, count: int) -> None:
    game = load_game(f"go:size={size}")
    seen = np.zeros(PLANES, int)
    for position in random_positions(game, count, seed=size):
        ours, theirs = shown(position), Judge(position).planes()
        for plane in range(PLANES):
            assert np.array_equal(ours[plane], theirs[plane]), f"{NAMES[plane]} in\n{position}\n{ours[plane]}"
        seen += ours.any((1, 2))
    if size == 5:  # where captures and kos are frequent
        assert seen.all(), f"never seen: {[NAMES[plane] for plane in np.flatnonzero(seen == 0)]}"


def test_planes_turn_with_the_board() -> None:
    game = load_game("go:size=9")
    for position in random_positions(game, 10, seed=3):
        planes = encode_states(game, position.states)[0]
        for cells, actions in zip(game.symmetries, game.action_symmetries, strict=True):
            turned = game.from_actions([int(actions[action]) for action in position.moves])
            expected = np.zeros_like(planes)
            expected[:, cells] = planes
            assert np.array_equal(encode_states(game, turned.states)[0], expected)


LADDER = """
. . . . . . . . .
. . . . . . . . .
. . . X X . . . .
. . X O . . . . .
. . . X . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
"""


def diagram(breaker: bool) -> list[str]:
    """A stone in a ladder that runs to the lower right, where perhaps a friend of it waits."""
    rows = [line.replace(" ", "") for line in LADDER.split("\n") if line]
    if breaker:
        rows[6] = rows[6][:7] + "O" + rows[6][8:]
    return rows


def marked(plane: np.ndarray) -> list[Point]:
    return [(int(y), int(x)) for y, x in np.argwhere(plane)]


def test_a_ladder_is_read_to_its_end() -> None:
    runs, broken = (load_game("go:size=9").from_board("/".join(diagram(breaker)), "O") for breaker in (False, True))
    assert marked(shown(runs)[LADDER_ESCAPE]) == []
    assert marked(shown(broken)[LADDER_ESCAPE]) == [(3, 4)]


@pytest.mark.parametrize(("breaker", "moves"), [(False, [(4, 3)]), (True, [])])
def test_the_hunter_begins_from_the_side_where_the_ladder_works(breaker: bool, moves: list[Point]) -> None:
    rows = diagram(breaker)
    rows[4] = "." * 9
    position = load_game("go:size=9").from_board("/".join(rows), "X")
    assert marked(shown(position)[LADDER_CAPTURE]) == moves


def test_a_ko_is_shown_where_it_may_not_be_taken_back() -> None:
    position = load_game("go:size=9").from_moves("d6 e6 c5 f5 d4 e4 e5 d5")
    assert marked(shown(position)[KO]) == [(4, 4)]
    assert marked(shown(position)[EMPTIED]) == [(4, 4)]
    assert marked(shown(position.play("pass"))[EMPTIED]) == []


def test_every_plane_is_in_one_group() -> None:
    members = sorted(plane for group in GROUPS.values() for plane in group)
    assert members == list(range(PLANES)) == list(range(27))


@pytest.mark.parametrize("spec", ["go", "go:size=10", "gomoku:size=9"])
def test_other_boards_are_refused(spec: str) -> None:
    game = load_game(spec)
    with pytest.raises(BadParameter, match="27 planes are for Go"):
        encode_states(game, game.new_states(1))
