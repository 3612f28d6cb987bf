"""Draughts: English (checkers, on 8×8) and international (on 10×10). Captures are obligatory; who cannot move has lost.

One action is one step or one jump. A capture of several pieces is several actions of the same player, who goes on until
nothing is left to jump; captured pieces stay on the board until then. So an action is a kind of move and a cell, of
which there are few: a network has a plane for each kind, every jump of a long capture is searched where it branches,
and no list of all captures is needed anywhere. What it costs: a ply is not a turn, so counts of turns are not perft's.

Each player's men and kings are bits of a word, 4 or 5 to a row of dark squares, with one bit that is no square after
each second row: then a step in any direction is one shift, the same everywhere, and never wraps around the board.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, NamedTuple

import numpy as np

from tengen.rules.bits import ONE, count_bits, lowest_bit
from tengen.rules.board import OneOf, Piece
from tengen.rules.contract import DRAW, kernel, mix, rules
from tengen.rules.errors import BadDiagram, BadMove
from tengen.rules.kernels import entry
from tengen.rules.repetition import remember, times_seen

ENGLISH, INTERNATIONAL = 0, 1
NONE = np.uint64(0)
SQUARES = (  # all squares of either board
    np.uint64(sum(0xFF << 9 * pair for pair in range(4))),
    np.uint64(sum(0x3FF << 11 * pair for pair in range(5))),
)
RECORD = np.dtype(
    [
        ("keys", np.uint64, 81),  # of the positions since the last capture or step of a man
        ("men", np.uint64, 2),
        ("kings", np.uint64, 2),
        ("mover", np.uint64),  # the piece that goes on capturing; zero at the beginning of a turn
        ("jumped", np.uint64),  # what it has captured so far
        ("key", np.uint64),
        ("ply", np.int16),
        ("clock", np.int16),  # plies since the last capture or step of a man
        ("to_play", np.uint8),
        ("captures", np.int8),  # whether the player to move can capture, and so must
        ("result", np.int8),
    ],
    align=True,
)


class Draughts(NamedTuple):
    """capture by jumping, as you must; who cannot move loses"""

    rule: Annotated[int, OneOf("english", "international")] = ENGLISH

    title = "Draughts"
    names = {"checkers": {"rule": "english"}, "international": {"rule": "international"}}
    titles = {"checkers": "Checkers", "international": "International draughts"}
    planes = (
        "own men",
        "own kings",
        "opponent's men",
        "opponent's kings",
        "piece that goes on capturing",
        "captured by it",
        "plies without capture or step of a man, in tens",
        "first player to move",
    )
    levels = ("uct:playouts=20", "alphabeta:depth=1", "alphabeta:depth=3", "alphabeta:depth=7", "alphabeta:time=1")

    @property
    def size(self):
        return 8 if self.rule == ENGLISH else 10

    @property
    def shape(self):
        return self.size, self.size

    @property
    def players(self):
        return ("Black", "White") if self.rule == ENGLISH else ("White", "Black")

    @property
    def pieces(self):
        """The men and kings of the first player, then of the second."""
        return tuple(
            Piece(letter, player, f"{name} {kind}", "man" if kind == "man" else "crowned")
            for player, name in enumerate(self.players)
            for letter, kind in ((name[0].lower(), "man"), (name[0], "king"))
        )

    @property
    def move_planes(self):
        """Four directions, and how far: a jump is 2 squares; kings of international draughts go as far as they like."""
        return 4 * (2 if self.rule == ENGLISH else self.size - 1)

    @property
    def most_legal(self):
        """Two of a side's pieces never reach one square in one direction, and a king leaves its own."""
        return 64 if self.rule == ENGLISH else 196

    @property
    def actions(self):
        return self.move_planes * self.size**2

    @property
    def symmetries(self):
        return np.arange(self.size**2).reshape(1, -1)

    @property
    def action_symmetries(self):
        return np.arange(self.actions).reshape(1, -1)

    def record(self):
        return RECORD

    def board(self, state):
        bits = bits_of_cells(self.size)
        words = [state.men[0], state.kings[0], state.men[1], state.kings[1]]
        return sum((number + 1) * (np.uint64(word) >> bits & ONE).astype(np.int8) for number, word in enumerate(words))

    def facts(self, state):
        """In the middle of a capture, the piece that goes on and what it has jumped: `18x23,14`."""
        if state.mover == 0:
            return ""
        jumped = [number for number in range(1, self.size**2 // 2 + 1) if int(state.jumped) >> self._bit(number) & 1]
        mover = lowest_bit(state.mover)
        return f"{mover - mover // (self.size + 1) + 1}x{','.join(map(str, jumped))}"

    def counters(self, state):
        return str(state.clock)

    def setup(self, states, board, to_play, facts):
        words, capture, clock = facts.split(), "", 0
        if words and "x" in words[0]:
            capture = words.pop(0)
        if words and words[0].isdecimal():
            clock = min(int(words.pop(0)), 79)
        if words:
            raise BadDiagram(f"{' '.join(words)!r} is no fact; write the capture under way as 18x23,14, then the clock")
        state = states[0]
        for value in range(1, 5):
            field = state.kings if value % 2 == 0 else state.men
            field[(value - 1) // 2] = self._word(board == value)
        if board[bits_of_cells(self.size) == NOWHERE].any():
            raise BadDiagram("pieces stand on dark squares; the lower left corner is one")
        self._read_capture(state, capture, to_play)
        for player in range(2):
            goes_up = (player == 0) == (self.rule == INTERNATIONAL)
            is_there = np.zeros(self.shape, bool)
            is_there[0 if goes_up else -1] = board[0 if goes_up else -1] == 1 + 2 * player
            if self._word(is_there) & ~state.mover:
                raise BadDiagram(f"a man of {self.players[player]} stands on the far row: write it as a king")
        fill(self, states, to_play, clock)

    def _read_capture(self, state, text, to_play):
        """Notes the capture that is under way, `18x23,14`."""
        if not text:
            return
        mover, *jumped = (int(number) for number in re.findall(r"\d+", text))
        if not jumped or not all(1 <= number <= self.size**2 // 2 for number in (mover, *jumped)):
            raise BadDiagram(f"{text!r} is no capture; write the piece that goes on, and those it has jumped: 18x23,14")
        state.mover, state.jumped = ONE << self._bit(mover), np.bitwise_or.reduce([ONE << self._bit(n) for n in jumped])
        own, other = (int(state.men[player]) | int(state.kings[player]) for player in (to_play, 1 - to_play))
        if not int(state.mover) & own or int(state.jumped) & ~other:
            raise BadDiagram(
                f"{text}: {self.players[to_play]} has no piece on {mover}, or has not jumped its opponent's"
            )

    def _word(self, cells):
        """Cells [rows, columns] of true and false, as bits."""
        return np.uint64(sum(1 << int(bit) for bit in bits_of_cells(self.size)[cells] if bit != NOWHERE))

    def _bit(self, number):
        """The bit of a square by the number that players use, from 1."""
        return np.uint64(number - 1 + (number - 1) // self.size)

    def from_to(self, action):
        """The cell that a piece leaves and the one it reaches; None where a board has no such move."""
        kind, cell = divmod(action, self.size**2)
        direction, distance = divmod(kind, self.move_planes // 4)
        y, x = divmod(cell, self.size)
        to_y = y + (distance + 1) * (1 if direction >= 2 else -1)
        to_x = x + (distance + 1) * (1 if direction % 2 else -1)
        is_dark, is_inside = (x + y) % 2 == 1, 0 <= to_x < self.size and 0 <= to_y < self.size
        return (cell, to_y * self.size + to_x) if is_dark and is_inside else None

    def action_text(self, action):
        """`11-15`, or `11x18` if that is sure to be a jump; `#7` for a number that is no move on any board."""
        cells = self.from_to(action)
        if cells is None:
            return f"#{action}"
        is_jump = self.rule == ENGLISH and abs(cells[0] // self.size - cells[1] // self.size) == 2
        return ("x" if is_jump else "-").join(str(cell // 2 + 1) for cell in cells)

    def move_text(self, position, action):
        return self.action_text(action).replace("-", "x" if position.state.captures else "-")

    def parse_action(self, text):
        action = actions_by_text(self).get(text.lower().replace("x", "-").replace(":", "-"))
        if action is None:
            raise BadMove(f"{text[:12]!r} is not a move; write 11-15, and 11x18 for a jump, one after the other")
        return action

    @property
    def move_pattern(self):
        return pattern_of(self)

    def why_illegal(self, state, action):
        if state.mover:
            return f"does not go on with the capture {self.facts(state)}"
        if state.captures and self.from_to(action) is not None:
            return "leaves out a capture, or does not capture the most" if self.rule else "leaves out a capture"
        return "is not a move of a piece that stands there"


NOWHERE = np.uint64(63)  # where a light cell's bit would be


@cache
def bits_of_cells(size):
    """The bit of each cell's square: [rows, columns]."""
    y, x = np.divmod(np.arange(size * size).reshape(size, size), size)
    square = (y * size + x) // 2
    return np.where((x + y) % 2 == 1, square + square // size, NOWHERE).astype(np.uint64)


@cache
def actions_by_text(game):
    """The actions by their names, all written with `-`."""
    return {game.action_text(action).replace("x", "-"): action for action in range(game.actions)}


@cache
def pattern_of(game):
    """A regular expression for a move, the longest that another may follow: moves may be run together, `7-117-11`."""
    names = sorted((name for name in actions_by_text(game) if name[0] != "#"), key=len, reverse=True)
    move = rf"(?:#\d+|{'|'.join(names).replace('-', '[-x]')})"
    return f"{move}(?=$|{move})"


@rules(Draughts)
def start(game, state):
    squares = 12 if game.rule == ENGLISH else 20
    size = size_of(game)
    first = ONE << bit_of_square(game, size * size // 2 - squares)  # of the lower player's men
    beyond = ONE << bit_of_square(game, squares)  # the first empty one below the upper player's
    state.men[upward(game)] = SQUARES[game.rule] & ~(first - ONE)
    state.men[1 - upward(game)] = SQUARES[game.rule] & (beyond - ONE)
    look_around(game, state)


@rules(Draughts)
def legal(game, state, actions):
    own, other = state.to_play, 1 - state.to_play
    men, kings = state.men[own], state.kings[own]
    prey = state.men[other] | state.kings[other]
    empty = SQUARES[game.rule] & ~(men | kings | prey)
    if state.captures == 0:
        return list_steps(game, own, men, kings, empty, actions)
    if state.mover != 0:
        men, kings = men & state.mover, kings & state.mover
    return list_jumps(game, own, men, kings, prey & ~state.jumped, empty, actions)


@rules(Draughts)
def play(game, state, action):
    player, other = state.to_play, 1 - state.to_play
    kind, cell = (action // 64, action % 64) if game.rule == ENGLISH else (action // 100, action % 100)
    direction, distance = (kind // 2, kind % 2) if game.rule == ENGLISH else (kind // 9, kind % 9)
    distance += 1
    begin = ONE << bit_of_square(game, cell // 2)
    end = moved(game, begin, direction, distance)
    is_king = state.kings[player] & begin != 0
    move_piece(state.kings if is_king else state.men, player, begin | end)
    state.ply += 1
    is_crowned = not is_king and end & far_row(game, player) != 0
    if state.captures != 0:
        prey = state.men[other] | state.kings[other]
        state.jumped |= between(game, begin, direction, distance) & prey
        state.mover = end
        if not (is_crowned and game.rule == ENGLISH) and can_go_on(game, state, is_king):
            state.key = key_of(state)
            return
        state.men[other] &= ~state.jumped
        state.kings[other] &= ~state.jumped
    state.clock = state.clock + 1 if is_king and state.captures == 0 else 0
    if is_crowned:
        state.men[player] ^= end
        state.kings[player] ^= end
    state.mover = state.jumped = NONE
    state.to_play = other
    look_around(game, state)


@rules(Draughts)
def outcome(game, state):
    return state.result


@rules(Draughts)
def key(game, state):
    return state.key


@kernel
def key_of(state):
    """The key of pieces, player and capture under way. To bring one up to date would take as many mixings."""
    hashed = mix(mix(mix(state.men[0]) ^ state.men[1]) ^ state.kings[0])
    hashed = mix(hashed ^ state.kings[1]) + np.uint64(state.to_play)
    return hashed if state.mover == 0 else mix(mix(hashed ^ state.mover) ^ state.jumped)


@rules(Draughts)
def encode(game, state, planes):
    own, other = state.to_play, 1 - state.to_play
    for cell in range(size_of(game) * size_of(game)):
        for plane in range(6):
            planes[plane, cell] = 0
        planes[6, cell] = state.clock // 10
        planes[7, cell] = own == 0
    mark(game, state.men[own], planes, 0)
    mark(game, state.kings[own], planes, 1)
    mark(game, state.men[other], planes, 2)
    mark(game, state.kings[other], planes, 3)
    mark(game, state.mover, planes, 4)
    mark(game, state.jumped, planes, 5)


@kernel
def mark(game, squares, planes, plane):
    """Writes ones into a plane for a set of squares."""
    while squares != 0:
        planes[plane, cell_of_bit(game, lowest_bit(squares))] = 1
        squares &= squares - ONE


# Squares and directions: 0 and 1 are up the board, to the left and to the right; 2 and 3 down. 3 − d is opposite to d.


@kernel
def size_of(game):
    """Rows and columns of the board."""
    return 8 if game.rule == ENGLISH else 10


@kernel
def bit_of_square(game, square):
    """Squares are counted from the upper left, without the light ones: there is a bit more for every two rows."""
    return np.uint64(square + (square // 8 if game.rule == ENGLISH else square // 10))


@kernel
def cell_of_bit(game, bit):
    """The cell of a square's bit. (To divide by a number that the compiler knows is five times as fast.)"""
    square = bit - (bit // 9 if game.rule == ENGLISH else bit // 11)
    return 2 * square + 1 - (square // 4 if game.rule == ENGLISH else square // 5) % 2


@kernel
def moved(game, squares, direction, distance):
    """Squares moved that far; those that leave the board are no squares any more."""
    half = size_of(game) // 2
    if direction < 2:
        return squares >> np.uint64(distance * (half + 1 - direction))
    return squares << np.uint64(distance * (half + direction - 2))


@kernel
def between(game, begin, direction, distance):
    """The squares on the way from one to another."""
    squares = NONE
    for k in range(1, distance):
        squares |= moved(game, begin, direction, k)
    return squares


@kernel
def upward(game):
    """The player whose men go up the board: White, who is the second in English and the first in international."""
    return 1 - game.rule


@kernel
def is_forward(game, player, direction):
    """Whether a player's men step in a direction."""
    return (direction < 2) == (player == upward(game))


@kernel
def far_row(game, player):
    """The squares on which a player's men are crowned."""
    row = (ONE << np.uint64(size_of(game) // 2)) - ONE
    if player == upward(game):
        return row
    return row << bit_of_square(game, size_of(game) * (size_of(game) - 1) // 2)


@kernel
def reach_of(game):
    """The largest distance of an action: a jump, or all along the long diagonal."""
    return 2 if game.rule == ENGLISH else size_of(game) - 1


# Moves, of all pieces at once where that can be.


@kernel
def list_steps(game, player, men, kings, empty, actions):
    """Writes the moves that capture nothing; returns how many."""
    count, furthest = 0, 1 if game.rule == ENGLISH else size_of(game) - 1
    for direction in range(4):
        steppers = men | kings if is_forward(game, player, direction) else kings
        count = write(game, moved(game, steppers, direction, 1) & empty, direction, 1, actions, count)
        sliding, distance = moved(game, kings, direction, 1) & empty, 2
        while sliding != 0 and distance <= furthest:
            sliding = moved(game, sliding, direction, 1) & empty
            count = write(game, sliding, direction, distance, actions, count)
            distance += 1
    return count


@kernel
def write(game, targets, direction, distance, actions, count):
    """Appends the moves that end on the targets; returns how many there are now."""
    origins = moved(game, targets, 3 - direction, distance)
    kind = direction * reach_of(game) + distance - 1
    while origins != 0:
        actions[count] = kind * size_of(game) * size_of(game) + cell_of_bit(game, lowest_bit(origins))
        count += 1
        origins &= origins - ONE
    return count


@kernel
def list_jumps(game, player, men, kings, prey, empty, actions):
    """Writes the jumps that may be made now; returns how many. In international draughts, those that lead to most."""
    count = most = 0
    for direction in range(4):
        jumpers, flyers = jumpers_of(game, player, men, kings, direction)
        hit, over = NONE, NONE  # where flying kings are that are on a piece, or beyond one
        for distance in range(1, reach_of(game) + 1):
            over = moved(game, over | hit, direction, 1) & empty
            flyers = moved(game, flyers, direction, 1)
            hit = flyers & prey
            flyers &= empty
            targets = over
            if distance == 2:
                targets |= moved(game, moved(game, jumpers, direction, 1) & prey, direction, 1) & empty
            if game.rule == ENGLISH:
                count = write(game, targets, direction, distance, actions, count)
            else:
                while targets != 0:
                    end = targets & (~targets + ONE)
                    targets ^= end
                    begin = moved(game, end, 3 - direction, distance)
                    rest = prey & ~between(game, begin, direction, distance)
                    captured = 1 + longest(game, end, kings & begin != 0, rest, empty | begin)
                    if captured > most:
                        most, count = captured, 0
                    if captured == most:
                        count = write(game, end, direction, distance, actions, count)
    return count


@kernel
def jumpers_of(game, player, men, kings, direction):
    """The pieces that jump what stands beside them in a direction, and those that fly."""
    if game.rule == INTERNATIONAL:
        return men, kings
    return (men | kings if is_forward(game, player, direction) else kings), NONE


@kernel
def can_capture(game, player, men, kings, prey, empty):
    """Whether one of these pieces can jump."""
    for direction in range(4):
        jumpers, flyers = jumpers_of(game, player, men, kings, direction)
        while flyers != 0:
            jumpers |= flyers
            flyers = moved(game, flyers, direction, 1) & empty
        if moved(game, moved(game, jumpers, direction, 1) & prey, direction, 1) & empty != 0:
            return True
    return False


@kernel
def can_step(game, player, men, kings, empty):
    """Whether one of these pieces can move without a capture."""
    found = NONE
    for direction in range(4):
        steppers = men | kings if is_forward(game, player, direction) else kings
        found |= moved(game, steppers, direction, 1) & empty
    return found != 0


@kernel
def longest(game, square, is_king, enemies, empty):
    """The most pieces that one piece can capture in a row, by trying all ways.

    The way from the first square is a pile of jumps, each a number of six bits, in two words: 21 at most, and there are
    20 pieces to capture.
    """
    best = depth = code = 0
    low, high, prey = NONE, NONE, enemies
    while True:
        code = next_jump(game, square, is_king, prey, empty, code)
        if code >= 0:
            prey &= ~between(game, square, code // 16, code % 16)
            square = moved(game, square, code // 16, code % 16)
            high, low = high << np.uint64(6) | low >> np.uint64(58), low << np.uint64(6) | np.uint64(code)
            depth, code = depth + 1, 0
            best = max(best, depth)
        elif depth == 0:
            return best
        else:
            code = np.int64(low & np.uint64(63))
            low, high = low >> np.uint64(6) | high << np.uint64(58), high >> np.uint64(6)
            square = moved(game, square, 3 - code // 16, code % 16)
            prey |= between(game, square, code // 16, code % 16) & enemies
            depth, code = depth - 1, code + 1


@kernel
def next_jump(game, square, is_king, prey, empty, code):
    """The first jump of a piece that is not before `code`, as direction · 16 + distance; −1 if there is none."""
    for direction in range(code // 16, 4):
        at, distance = moved(game, square, direction, 1), 1
        while is_king and at & empty != 0:
            at, distance = moved(game, at, direction, 1), distance + 1
        if at & prey != 0:
            at, distance = moved(game, at, direction, 1), distance + 1
            while at & empty != 0:
                if direction * 16 + distance >= code:
                    return direction * 16 + distance
                if not is_king:
                    break
                at, distance = moved(game, at, direction, 1), distance + 1
    return -1


# What a move leads to.


@kernel
def move_piece(pieces, player, squares):
    """A piece leaves one of two squares for the other."""
    pieces[player] ^= squares


@kernel
def can_go_on(game, state, is_king):
    """Whether the piece that has just jumped can jump again."""
    player, other = state.to_play, 1 - state.to_play
    all_prey = state.men[other] | state.kings[other]
    empty = SQUARES[game.rule] & ~(state.men[player] | state.kings[player] | all_prey)
    men, kings = NONE if is_king else state.mover, state.mover if is_king else NONE
    return can_capture(game, player, men, kings, all_prey & ~state.jumped, empty)


@kernel
def look_around(game, state):
    """At the beginning of a turn: must the player capture, has the player lost, is it a draw?"""
    player, other = state.to_play, 1 - state.to_play
    men, kings = state.men[player], state.kings[player]
    prey = state.men[other] | state.kings[other]
    empty = SQUARES[game.rule] & ~(men | kings | prey)
    state.captures = can_capture(game, player, men, kings, prey, empty)
    state.key = key_of(state)
    remember(state.keys, state.clock, state.key)
    if state.captures == 0 and not can_step(game, player, men, kings, empty):
        state.result = other + 1
    elif state.clock >= patience(game, state) or times_seen(state.keys, state.clock, state.key) >= 3:
        state.result = DRAW


@kernel
def patience(game, state):
    """Plies without a capture or a step of a man after which a game is drawn: 40 moves of each in English draughts.

    In international draughts 25; 16 with three pieces against a lone king, one of them a king; 5 with two or one. (The
    official rules count these few moves from the capture that left them; here a man's step begins the count anew.)
    """
    if game.rule == ENGLISH:
        return 80
    for player in range(2):
        pieces = count_bits(state.men[1 - player]) + count_bits(state.kings[1 - player])
        is_alone = state.men[player] == 0 and count_bits(state.kings[player]) == 1
        if is_alone and state.kings[1 - player] != 0 and pieces <= 3:
            return 32 if pieces == 3 else 10
    return 50


@entry
def fill(game, states, to_play, clock):
    """Sets up a diagram whose pieces are in their places."""
    state = states[0]
    state.to_play, state.clock = to_play, clock
    if state.mover == 0:
        look_around(game, state)
    else:
        state.captures, state.key = 1, key_of(state)
        if not can_go_on(game, state, state.kings[to_play] & state.mover != 0):
            state.result = 2 - to_play
