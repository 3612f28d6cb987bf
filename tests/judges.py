"""Slow and obvious versions of the rules, to judge the fast ones."""

from __future__ import annotations

import numpy as np

from tengen.rules.contract import play
from tengen.rules.kernels import entry
from tengen.search.evaluation import WIN, candidates, evaluate, follow, new_notes, take_notes, threats


class PlainGo:
    """Go by sets and flood fill; every board of the game is remembered."""

    def __init__(self, size: int, suicide: bool = False):
        self.size, self.suicide = size, suicide
        self.stones: dict[tuple[int, int], int] = {}
        self.seen = {frozenset()}
        self.to_play = 0

    def beside(self, point):
        x, y = point
        around = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
        return [(a, b) for a, b in around if 0 <= a < self.size and 0 <= b < self.size]

    def region(self, stones, point):
        """The points connected to `point` that hold the same, and what touches them."""
        inside, border, waiting = {point}, set(), [point]
        while waiting:
            for other in self.beside(waiting.pop()):
                if stones.get(other) != stones.get(point):
                    border.add(other)
                elif other not in inside:
                    inside.add(other)
                    waiting.append(other)
        return inside, border

    def after(self, point):
        """The stones after a move, or None for a suicide that is not allowed."""
        stones = {**self.stones, point: self.to_play}
        for colour in (1 - self.to_play, self.to_play):
            for other in [*self.beside(point), point]:
                if stones.get(other) == colour:
                    chain, border = self.region(stones, other)
                    if all(neighbour in stones for neighbour in border):
                        if colour == self.to_play and not self.suicide:
                            return None
                        for stone in chain:
                            del stones[stone]
        return stones

    def legal(self):
        points = ((x, y) for y in range(self.size) for x in range(self.size))
        return [
            y * self.size + x
            for x, y in points
            if (x, y) not in self.stones
            and (after := self.after((x, y))) is not None
            and frozenset(after.items()) not in self.seen
        ] + [self.size * self.size]

    def play(self, action):
        if action < self.size * self.size:
            self.stones = self.after((action % self.size, action // self.size))
            self.seen.add(frozenset(self.stones.items()))
        self.to_play = 1 - self.to_play

    def area(self):
        """Black's points less White's."""
        margin = sum(1 if colour == 0 else -1 for colour in self.stones.values())
        for y in range(self.size):
            for x in range(self.size):
                if (x, y) not in self.stones:
                    colours = {self.stones[point] for point in self.region(self.stones, (x, y))[1]}
                    margin += {frozenset([0]): 1, frozenset([1]): -1}.get(frozenset(colours), 0)
        return margin


class PlainHex:
    """Hex by flood fill over a set of cells."""

    def __init__(self, size: int, has_swap: bool = False):
        self.size, self.has_swap = size, has_swap
        self.stones: dict[int, int] = {}  # the player, by cell
        self.to_play, self.ply = 0, 0

    def beside(self, cell):
        y, x = divmod(cell, self.size)
        around = [(x - 1, y), (x + 1, y), (x, y - 1), (x + 1, y - 1), (x, y + 1), (x - 1, y + 1)]
        return [b * self.size + a for a, b in around if 0 <= a < self.size and 0 <= b < self.size]

    def legal(self):
        empty = [cell for cell in range(self.size**2) if cell not in self.stones]
        return empty + [self.size**2] * (self.has_swap and self.ply == 1)

    def play(self, action):
        if action < self.size**2:
            self.stones[action] = self.to_play
        else:
            y, x = divmod(next(iter(self.stones)), self.size)
            self.stones = {x * self.size + y: 1}
        self.to_play, self.ply = 1 - self.to_play, self.ply + 1

    def winner(self):
        """Who has a chain from one of their sides to the other; None if nobody has."""
        last = self.size - 1
        for player in (0, 1):
            place = [divmod(cell, self.size)[player] for cell in range(self.size**2)]  # the row; for Blue the column
            inside = {cell for cell, owner in self.stones.items() if owner == player and place[cell] == 0}
            waiting = list(inside)
            while waiting:
                for other in self.beside(waiting.pop()):
                    if self.stones.get(other) == player and other not in inside:
                        inside.add(other)
                        waiting.append(other)
            if any(place[cell] == last for cell in inside):
                return player
        return None

    def board(self):
        values = [self.stones.get(cell, -1) + 1 for cell in range(self.size**2)]
        return [values[row : row + self.size] for row in range(0, self.size**2, self.size)]


def plain_winner(board, row: int, exactly: bool = False) -> int:
    """1 or 2 if that player has `row` stones in a row (exactly that many, if asked), else 0."""
    rows, columns = board.shape
    for y in range(rows):
        for x in range(columns):
            for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):

                def at(step, x=x, y=y, dx=dx, dy=dy):
                    a, b = x + step * dx, y + step * dy
                    return int(board[b, a]) if 0 <= a < columns and 0 <= b < rows else 0

                stone = at(0)
                if stone and all(at(i) == stone for i in range(row)):
                    if not exactly or (at(-1) != stone and at(row) != stone):
                        return stone
    return 0


def one_line(picture: str) -> str:
    """A board drawn over several lines, as `Position.diagram` writes it."""
    return "/".join("".join(row.split()) for row in picture.strip().splitlines())


def plain_value(position, known: dict | None = None) -> int:
    """The value of a position under best play, for the player to move: +1, 0 or −1. Looks at everything."""
    known = {} if known is None else known
    if position not in known:
        if position.outcome is not None:
            known[position] = position.outcome.value_for(position.to_play)
        else:
            children = [position.play(action) for action in position.legal_actions]
            known[position] = max(
                plain_value(child, known) * (1 if child.to_play == position.to_play else -1) for child in children
            )
    return known[position]


@entry
def keep_notes(game, evaluation, states, notes, action):
    """Plays on states[0]; notes[0] follow, notes[1] are taken from nothing."""
    states[1] = states[0]
    play(game, states[1], action)
    follow(evaluation, game, states[0], states[1], action, notes[0])
    take_notes(evaluation, game, states[1], notes[1])
    states[0] = states[1]


@entry
def assess(game, evaluation, states, notes, actions, scores, at_horizon):
    """What an evaluation says of states[0], its notes taken from nothing: its score, and how many actions it lists."""
    take_notes(evaluation, game, states[0], notes[0])
    value = evaluate(evaluation, game, states[0], notes[0])
    if at_horizon:
        return value, threats(evaluation, game, states[0], notes[0], actions, scores)
    return value, candidates(evaluation, game, states[0], notes[0], actions, scores)


def assess_position(position, evaluation, at_horizon=False):
    """A position's score, its actions, and whether there is nothing else to play."""
    game = position.game
    actions, scores = np.zeros(game.actions, np.int32), np.zeros(game.actions, np.int64)
    notes = new_notes(evaluation, game, 1)
    value, count = assess(game.parameters, evaluation, position.states, notes, actions, scores, at_horizon)
    return value, actions[: abs(count)].tolist(), count < 0


def plain_search(position, evaluation, depth, extension=0, quiescence=0, ply=0, first_depth=None, cost=lambda *_: 1):
    """Depth-limited negamax: the score for the player to move. No pruning, no memory, notes from nothing.

    `cost` says how many plies of depth an action of a position takes.
    """
    first_depth = depth if first_depth is None else first_depth
    if position.outcome is not None:
        return position.outcome.value_for(position.to_play) * (WIN - ply)
    value, actions, is_forced = assess_position(position, evaluation, at_horizon=depth <= 0 and quiescence > -depth)
    best = -WIN - 1
    if depth <= 0:
        if -depth >= quiescence or not actions:
            return value
        best = best if is_forced else value
    is_extended = extension and len(actions) == 1 and depth > 0 and ply < 2 * first_depth
    for action in actions:
        after = position.play(action)
        deeper = depth if is_extended else depth - cost(position, action)
        found = plain_search(after, evaluation, deeper, extension, quiescence, ply + 1, first_depth, cost)
        best = max(best, found if after.to_play == position.to_play else -found)
    return best


def random_position(game, rng, plies):
    """A position after so many random plies that is not over."""
    while True:
        position = game.start()
        for _ in range(plies):
            if position.outcome is None:
                position = position.play(rng.choice(position.legal_actions))
        if position.outcome is None:
            return position


def five_points(position, player):
    """Where one stone makes a player's five, looking at every window of five (and, where it counts, its neighbours)."""
    game = position.game.parameters
    is_exact = game.rule == 1 or (game.rule == 2 and player == 0)
    board = np.pad(np.asarray(position.board), 6, constant_values=9)
    own, empty, found = board == player + 1, board == 0, set()
    for step in ((0, 1), (1, 0), (1, 1), (1, -1)):
        shifted = [np.roll(own, (-i * step[0], -i * step[1]), (0, 1)) for i in range(-1, 6)]  # [i + 1] is i further
        ends_free = ~(shifted[0] | shifted[6]) if is_exact else True
        for gap in range(5):
            gap_free = np.roll(empty, (-gap * step[0], -gap * step[1]), (0, 1))
            rest = np.logical_and.reduce([shifted[i + 1] for i in range(5) if i != gap])
            for y, x in np.argwhere(gap_free & rest & ends_free):
                found.add((int(y) - 6 + gap * step[0]) * game.size + int(x) - 6 + gap * step[1])
    return found
