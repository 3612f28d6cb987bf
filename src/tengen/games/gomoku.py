"""Gomoku: five in a row on a square board, by one of three rules.

Freestyle: five or more win. Standard: exactly five. Renju: White wins with five or more, Black with exactly five; Black
may not make an overline (six or more), two fours or two threes at once, unless the same stone makes five.

A four becomes exactly five with one more stone; a straight four does so at either end. A three becomes a straight four
with one more stone; it counts only if Black may play that stone, which is the same question asked one stone later.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from tengen.rules import lines
from tengen.rules.bits import count_bits, lowest_bit
from tengen.rules.board import Between, OneOf, check_winner
from tengen.rules.contract import DRAW, ONGOING, advance, below, earlier_winner, kernel, mix, rules
from tengen.rules.kernels import entry

FREESTYLE, STANDARD, RENJU = 0, 1, 2
BLACK, WHITE = 0, 1
ALLOWED, DOUBLE_THREE, DOUBLE_FOUR, OVERLINE, FIVE, UNDECIDED = 0, 1, 2, 3, 4, 5
REASONS = ("", "double-three", "double-four", "overline")
RULES = OneOf("freestyle", "standard", "renju")
DEEPEST = 16  # how far Renju's recursion is followed; in random play it seldom reaches three


class Gomoku(NamedTuple):
    """five in a row; freestyle, standard or Renju"""

    size: Annotated[int, Between(5, 20)] = 15
    rule: Annotated[int, RULES] = FREESTYLE

    names = {"renju": {"rule": "renju"}}
    planes = ("own stones", "opponent's stones", "last move", "first player to move")
    players = ("Black", "White")
    drawing = "lines"
    row_length = 5
    sgf_number = 4

    @property
    def shape(self):
        return self.size, self.size

    @property
    def usual_sizes(self):
        return (15,) if self.rule == RENJU else (9, 11, 13, 15, 19)

    @property
    def levels(self):
        cells = self.size**2
        return (
            f"uct:playouts={8 * cells}",  # with fewer playouts than cells it would play the first cell that is free
            f"uct:playouts={80 * cells}",
            "alphabeta:depth=1,threats=0,quiescence=0",
            "alphabeta:nodes=3000",
            "alphabeta:time=1",
        )

    @property
    def gomocup_rule(self):
        return {FREESTYLE: 0, STANDARD: 1, RENJU: 4}[self.rule]

    def sgf_properties(self):
        return {"RU": RULES.text(self.rule)}

    @staticmethod
    def sgf_parameters(properties):
        rule = properties.get("RU", "").lower()
        return {"rule": next((name for name in ("renju", "standard") if name in rule), "freestyle")}

    def record(self):
        return lines.record_for(self.size, self.size, ("trail", np.uint16, DEEPEST))

    def board(self, state):
        return lines.stones(state, *self.shape)

    def setup(self, states, board, to_play):
        fill(self, states, board, to_play)
        check_winner(states[0].result, to_play)

    def forbidden(self, states):
        """The points that Renju forbids to Black, who is to move."""
        kinds = np.zeros(self.size * self.size, np.int8)
        find_forbidden(self, states, kinds)
        return {int(cell): REASONS[kinds[cell]] for cell in np.flatnonzero(kinds)}


@rules(Gomoku)
def start(game, state):
    pass  # an empty board is all zeros


@rules(Gomoku)
def legal(game, state, actions):
    count = lines.empty_cells(game.size, game.size, state.lines, actions)
    if game.rule != RENJU or state.to_play != BLACK:
        return count
    kept = 0
    for i in range(count):
        if is_allowed(game, state, actions[i]):
            actions[kept] = actions[i]
            kept += 1
    return kept


@rules(Gomoku)
def play(game, state, action):
    player = state.to_play
    x, y = lines.place(game.size, state, action)
    if has_won(game, state.lines[player], x, y, player):
        state.result = player + 1
    elif state.ply == game.size * game.size:
        state.result = DRAW
    elif game.rule == RENJU and player == WHITE and not can_move(game, state):
        state.result = DRAW  # every point left is forbidden to Black


@rules(Gomoku)
def outcome(game, state):
    return state.result


@rules(Gomoku)
def key(game, state):
    return state.key


@rules(Gomoku)
def encode(game, state, planes):
    lines.encode_stones(game.size, game.size, state, planes)


@rules(Gomoku)
def rollout(game, state, actions, seed):
    """The empty points are listed once: only Renju has to ask about each again."""
    count = lines.empty_cells(game.size, game.size, state.lines, actions)
    while state.result == ONGOING:
        untried = count
        seed = advance(seed)
        pick = below(seed, untried)
        while game.rule == RENJU and state.to_play == BLACK and not is_allowed(game, state, actions[pick]):
            untried -= 1
            actions[pick], actions[untried] = actions[untried], actions[pick]
            seed = advance(seed)
            pick = below(seed, untried)
        play(game, state, actions[pick])
        count -= 1
        actions[pick] = actions[count]
    return seed


@kernel
def has_won(game, stones, x, y, player):
    """Whether the stone just placed at (x, y) makes a winning row."""
    if game.rule == FREESTYLE or (game.rule == RENJU and player == WHITE):
        return lines.has_row(stones, x, y, 5)
    for direction in range(4):
        word, at = lines.line_through(stones, direction, x, y)
        if run_length(word, at) == 5:
            return True
    return False


# Renju's forbidden points, line by line.


@kernel
def run_length(word, at):
    """How many stones stand in an unbroken row through `at`."""
    above = lowest_bit(~(word >> np.uint64(at)))
    below_it = ~(word << np.uint64(63 - at))  # the bits below `at`, at the top
    length = above
    bit = np.uint64(1) << np.uint64(62)
    while below_it & bit == 0:
        length += 1
        bit >>= np.uint64(1)
    return length


@kernel
def window(word, start, length):
    """`length` bits from `start` on, in place."""
    return word & (((np.uint64(1) << np.uint64(length)) - np.uint64(1)) << np.uint64(start))


@kernel
def count_fours(black, empty, at):
    """Fours through `at`: sets of four stones that one more stone makes exactly five. A straight four is one."""
    fours, previous = 0, np.uint64(0)
    for start in range(at - 4, at + 1):
        stones, gaps = window(black, start, 5), window(empty, start, 5)
        if count_bits(stones) == 4 and gaps != 0 and stones != previous:
            if window(black, start - 1, 1) == 0 and window(black, start + 5, 1) == 0:
                fours += 1
                previous = stones
    return fours


@kernel
def next_three(black, empty, at, shift):
    """The first window of four from at − 3 + shift on that one more stone makes a straight four; shift 4 if none."""
    while shift < 4:
        start = at - 3 + shift
        if count_bits(window(black, start, 4)) == 3 and window(empty, start, 4) != 0:
            ends_open = window(empty, start - 1, 1) != 0 and window(empty, start + 4, 1) != 0
            if ends_open and window(black, start - 2, 1) == 0 and window(black, start + 5, 1) == 0:
                break
        shift += 1
    return shift


@kernel
def is_quiet(black, x, y):
    """Whether too few black stones are near (x, y) for any of the shapes that are forbidden."""
    lines_with_two = 0
    for direction in range(4):
        word, at = lines.line_through(black, direction, x, y)
        near = count_bits(window(word, at - 5, 11))
        if near >= 4:
            return False
        lines_with_two += near >= 2
    return lines_with_two < 2


@kernel
def line_and_gaps(size, black, white, direction, x, y):
    """Black's stones and the empty points on the line through (x, y), and the bit of (x, y)."""
    word, at = lines.line_through(black, direction, x, y)
    taken = word | lines.line_through(white, direction, x, y)[0]
    return word, lines.points_of_line(size, size, direction, x, y) & ~taken, at


@kernel
def judge_fours(size, black, white, x, y):
    """Judges a black stone at (x, y) by everything but its threes; leaves it on the board if these must decide."""
    if is_quiet(black, x, y):
        return ALLOWED
    lines.flip(black, x, y)
    fours, threes, longest, five = 0, 0, 0, False
    for direction in range(4):
        word, empty, at = line_and_gaps(size, black, white, direction, x, y)
        length = run_length(word, at)
        five |= length == 5
        longest = max(longest, length)
        fours += count_fours(word, empty, at)
        threes += next_three(word, empty, at, 0) < 4
    if not five and longest < 5 and fours < 2 and threes >= 2:
        return UNDECIDED
    lines.flip(black, x, y)
    if five:
        return FIVE
    return OVERLINE if longest > 5 else DOUBLE_FOUR if fours >= 2 else ALLOWED


@kernel
def forbidden_kind(size, state, x, y):
    """Why Black may not play the empty point (x, y), or ALLOWED.

    A three counts if the point that makes it a straight four makes no five and is allowed in turn: a recursion, kept in
    `state.trail` because recursive kernels can neither be cached nor run well on a GPU. No stone is left behind.
    """
    black, white, trail = state.lines[BLACK], state.lines[WHITE], state.trail
    depth, direction, shift, threes = 0, 0, 0, 0
    kind = judge_fours(size, black, white, x, y)
    while True:
        if kind == UNDECIDED and (direction == 4 or threes == 2):  # all its lines are looked at
            kind = DOUBLE_THREE if threes == 2 else ALLOWED
            lines.flip(black, x, y)
        elif kind == UNDECIDED:
            word, empty, at = line_and_gaps(size, black, white, direction, x, y)
            shift = next_three(word, empty, at, shift)
            if shift == 4:
                direction, shift = direction + 1, 0
            else:  # on to the point that would make the straight four
                trail[depth] = x | y << 5 | direction << 10 | shift << 12 | threes << 14
                depth += 1
                distance = lowest_bit(window(empty, at - 3 + shift, 4)) - at
                x += 0 if direction == 1 else -distance if direction == 3 else distance
                y += 0 if direction == 0 else distance
                direction, shift, threes = 0, 0, 0
                kind = judge_fours(size, black, white, x, y) if depth < DEEPEST else ALLOWED
        elif depth == 0:
            return ALLOWED if kind == FIVE else kind
        else:  # back to the point that asked
            depth -= 1
            frame = np.int64(trail[depth])
            trail[depth] = 0
            x, y, direction, shift, threes = frame & 31, frame >> 5 & 31, frame >> 10 & 3, frame >> 12 & 3, frame >> 14
            if kind == ALLOWED:
                direction, shift, threes = direction + 1, 0, threes + 1
            else:
                shift += 1
            kind = UNDECIDED


@kernel
def is_allowed(game, state, action):
    """Whether Renju allows Black this empty point."""
    y = action // game.size
    return forbidden_kind(game.size, state, action - y * game.size, y) == ALLOWED


@kernel
def can_move(game, state):
    """Whether some empty point is allowed to Black; nearly always the first one asked."""
    for action in range(game.size * game.size):
        x, y = action % game.size, action // game.size
        if lines.is_empty(state.lines, x, y) and is_allowed(game, state, action):
            return True
    return False


@entry
def find_forbidden(game, states, kinds):
    """Why each empty point is forbidden to Black, if it is Renju and Black's move: kinds [cells]."""
    state = states[0]
    if game.rule != RENJU or state.to_play != BLACK:
        return
    for action in range(game.size * game.size):
        x, y = action % game.size, action // game.size
        if lines.is_empty(state.lines, x, y):
            kinds[action] = forbidden_kind(game.size, state, x, y)


@entry
def fill(game, states, board, to_play):
    """Sets up a diagram; a winning row on it has won. Problems may have any number of stones, and anybody to play."""
    state = states[0]
    lines.set_up(state, board, to_play)
    if state.ply % 2 != to_play:
        state.key = mix(state.key)  # else the stones alone say whose turn it is
    if state.ply == game.size * game.size or (game.rule == RENJU and to_play == BLACK and not can_move(game, state)):
        state.result = DRAW
    for action in range(game.size * game.size):
        x, y = action % game.size, action // game.size
        for player in range(2):
            if board[y, x] == player + 1 and has_won(game, state.lines[player], x, y, player):
                state.result = earlier_winner(state.result, player, to_play)
