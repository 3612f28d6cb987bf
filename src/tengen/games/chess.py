"""Chess: castling, en passant, promotion; draws by fifty moves, by the third repetition, for want of material.

Bit y · 8 + x of a word is a square, a8 first. An action is one of AlphaZero's 73 kinds of move and the square that it
leaves: kind · 64 + square. So legal moves are found for whole sets of pieces: all that can slide north by three squares
are one word, whose bits are the squares that they leave, in rising order. No tables are needed: to rotate a word is to
take all its pieces one step in some direction, and `ARRIVALS` removes those that left the board.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from tengen.rules.bits import ONE, count_bits, lowest_bit
from tengen.rules.board import Between, Coordinates, Piece
from tengen.rules.contract import DRAW, FIRST, ONGOING, SECOND, kernel, mix, rules, stone_key
from tengen.rules.errors import BadDiagram, BadMove
from tengen.rules.kernels import entry
from tengen.rules.repetition import remember, times_seen

if TYPE_CHECKING:
    from tengen.rules.game import Position

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(6)
NAMES = ("pawn", "knight", "bishop", "rook", "queen", "king")
LETTERS = "PNBRQK"
NONE, ALL = np.uint64(0), ~np.uint64(0)
MOST_QUIET = 100  # plies
SLIDES, JUMPS, UNDERPROMOTIONS = 0, 56, 64  # the first of each kind's numbers: 8 directions · 7 steps, 8 jumps, 9
KINDS = 73
OFF_BOARD = re.compile(r"#\d{1,4}")  # the name of an action that leads off the board
SHORT = re.compile(r"([KQRBN])?([a-h])?([1-8])?x?([a-h][1-8])(?:=?([QRBN]))?")
CASTLES = {"O-O": 2, "O-O-O": -2}  # how far the king goes
LONG = re.compile(r"([a-h][1-8])([a-h][1-8])([qrbn]?)")

# Eight directions, clockwise from north; then eight jumps. Row 0 is the eighth rank, so north is −8.
STEPS = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))  # rows, columns
LEAPS = ((-2, 1), (-1, 2), (1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1))
NORTH, EAST, SOUTH, WEST = 0, 2, 4, 6


def arrivals(rows: int, columns: int) -> np.uint64:
    """The squares that a step reaches from some square of the board."""
    cells = [(y, x) for y in range(8) for x in range(8) if 0 <= y - rows < 8 and 0 <= x - columns < 8]
    return np.uint64(sum(1 << 8 * y + x for y, x in cells))


OFFSETS = tuple(8 * rows + columns for rows, columns in STEPS + LEAPS)
ARRIVALS = tuple(arrivals(rows, columns) for rows, columns in STEPS + LEAPS)
THIRD_RANKS = (np.uint64(0xFF << 40), np.uint64(0xFF << 16))  # where a pawn stands after its first step
FOURTH_RANKS = (np.uint64(0xFF << 32), np.uint64(0xFF << 24))  # after a first step by two
SEVENTH_RANKS = (np.uint64(0xFF << 8), np.uint64(0xFF << 48))  # from where it promotes
LIGHT_SQUARES = np.uint64(0xAA55AA55AA55AA55)
# Rights to castle are bits 0 to 3: White's and Black's king's side, then both queen's sides.
ROOKS = (63, 7, 56, 0)  # the rook that each needs
EMPTY_FOR = (np.uint64(0x60 << 56), np.uint64(0x60), np.uint64(0x0E << 56), np.uint64(0x0E))  # between king and rook
SAFE_FOR = (np.uint64(0x70 << 56), np.uint64(0x70), np.uint64(0x1C << 56), np.uint64(0x1C))  # the king's way
RIGHTS_TEXT = ("K", "k", "Q", "q")

RECORD = np.dtype(
    [
        ("kinds", np.uint64, 6),  # the squares of pawns, knights, bishops, rooks, queens, kings
        ("sides", np.uint64, 2),  # the squares of each player
        ("pinned", np.uint64, 4),  # own pieces that may move along one line alone: north, north-east, east, south-east
        ("allowed", np.uint64),  # where a move must go, unless the king makes it: all squares; in check, fewer
        ("passing", np.uint64),  # the square on which a pawn may be captured in passing, if a move does it
        ("board_key", np.uint64),
        ("seen", np.uint64, MOST_QUIET + 1),  # keys of the positions since the last capture or pawn's move
        ("ply", np.int16),
        ("number", np.int16),  # of the move, as in a FEN
        ("clock", np.int16),  # plies since the last capture or pawn's move
        ("rights", np.uint8),  # to castle
        ("in_check", np.int8),
        ("to_play", np.uint8),
        ("result", np.int8),
    ],
    align=True,
)


class Chess(NamedTuple):
    """checkmate the king"""

    quiet: Annotated[int, Between(5, 50)] = 50  # moves without a capture or a pawn's move that make a draw

    title = "Chess"
    players = ("White", "Black")
    pieces = tuple(
        Piece(letter if owner == 0 else letter.lower(), owner, f"{colour} {name}", name)
        for owner, colour in enumerate(("white", "black"))
        for letter, name in zip(LETTERS, NAMES, strict=True)
    )
    planes = (
        *(f"own {name}s" for name in NAMES),
        *(f"opponent's {name}s" for name in NAMES),
        "own right to castle on the king's side",
        "on the queen's side",
        "opponent's right to castle on the king's side",
        "on the queen's side, the opponent",
        "capture in passing",
        "seen before",
        "half the way to a draw by quiet moves",
        "first player to move",
    )
    shape = (8, 8)
    move_planes = KINDS
    most_legal = 218  # the most known
    actions = KINDS * 64
    symmetries = np.arange(64).reshape(1, -1)
    action_symmetries = np.arange(KINDS * 64).reshape(1, -1)
    coordinates = Coordinates(8, 8)
    move_pattern = r"[a-h][1-8][a-h][1-8](?:[qrbn](?![1-8]))?|#\d+"
    uci_variant = "chess"
    record_format = "pgn"
    levels = ("random", "alphabeta:depth=1", "alphabeta:depth=2", "alphabeta:depth=4", "alphabeta:time=1")

    def record(self):
        return RECORD

    def board(self, state):
        board = np.zeros(64, np.int8)
        for kind in range(6):
            for player in (0, 1):
                squares = int(state.kinds[kind]) & int(state.sides[player])
                board[[cell for cell in range(64) if squares >> cell & 1]] = 1 + 6 * player + kind
        return board.reshape(8, 8)

    def facts(self, state):
        rights = "".join(RIGHTS_TEXT[right] for right in (0, 2, 1, 3) if state.rights >> right & 1)
        passing = int(state.passing)
        return f"{rights or '-'} {self.coordinates.text(passing.bit_length() - 1) if passing else '-'}"

    def counters(self, state):
        return f"{state.clock} {state.number}"

    def setup(self, states, board, to_play, facts):
        words = [*facts.split(), *("-", "-", "0", "1")[len(facts.split()) :]]
        check_board(board.ravel())
        rights = read_rights(words[0], board.ravel())
        passing = 0 if words[1] == "-" else 1 << self.coordinates.cell(words[1])
        if not (
            words[2].isdecimal()
            and int(words[2]) <= 2 * self.quiet
            and words[3].isdecimal()
            and 0 < int(words[3]) < 10_000
        ):
            raise BadDiagram(f"{' '.join(words[2:])!r} are not the counters of a diagram; write for example 0 1")
        state = states[0]
        for cell, value in enumerate(board.ravel().tolist()):
            if value:
                state.kinds[(value - 1) % 6] |= np.uint64(1 << cell)
                state.sides[(value - 1) // 6] |= np.uint64(1 << cell)
        state.rights, state.clock, state.number, state.to_play = rights, int(words[2]), int(words[3]), to_play
        fill(self, states, passing & 0xFFFFFFFF, passing >> 32)
        if state.result < 0:
            raise BadDiagram("the player who is not to move is in check")

    def action_text(self, action):
        begin, end, promotion = squares_of(int(action))
        if end is None:
            return f"#{action}"
        return self.coordinates.text(begin) + self.coordinates.text(end) + promotion

    def parse_action(self, text):
        if OFF_BOARD.fullmatch(text) and int(text[1:]) < self.actions and squares_of(int(text[1:]))[1] is None:
            return int(text[1:])
        if not (match := LONG.fullmatch(text.lower())):
            raise BadMove(f"{text!r} is not a move; write one as e2e4, e7e8q or Nf3")
        begin, end = self.coordinates.cell(match[1]), self.coordinates.cell(match[2])
        if (action := action_between(begin, end, match[3])) is None:
            raise BadMove(f"no piece moves from {match[1]} to {match[2]}{' = ' + match[3] if match[3] else ''}")
        return action

    def from_to(self, action):
        begin, end, _ = squares_of(int(action))
        return (None, None) if end is None else (begin, end)

    def uci_text(self, position, action):
        return long_text(position, action)

    def move_text(self, position, action):
        return short_text(position, action)

    def read_move(self, position, text):
        is_bishop = text[:1] == "B"  # B7e4 is not b7e4
        if (LONG.fullmatch(text.lower()) and not is_bishop) or OFF_BOARD.fullmatch(text):
            return self.parse_action(text)
        return read_short(position, text)

    def why_illegal(self, state, action):
        begin, end, _ = squares_of(int(action))
        own, other = int(state.sides[state.to_play]), int(state.sides[1 - state.to_play])
        if end is None:
            return "leads off the board"
        if not own >> begin & 1:
            return f"moves {'a piece of the opponent' if other >> begin & 1 else 'no piece'}"
        if own >> end & 1:
            return "captures an own piece"
        return "is not a move of that piece, or leaves the king in check"


# Rules.


@rules(Chess)
def start(game, state):
    state.kinds[PAWN] = np.uint64(0x00FF00000000FF00)
    state.kinds[KNIGHT] = np.uint64(0x4200000000000042)
    state.kinds[BISHOP] = np.uint64(0x2400000000000024)
    state.kinds[ROOK] = np.uint64(0x8100000000000081)
    state.kinds[QUEEN] = np.uint64(0x0800000000000008)
    state.kinds[KING] = np.uint64(0x1000000000000010)
    state.sides[0], state.sides[1] = np.uint64(0xFFFF000000000000), np.uint64(0x000000000000FFFF)
    state.rights, state.number = 15, 1
    state.board_key = key_of_board(state)
    state.allowed = ALL
    remember(state.seen, 0, key(game, state))


@rules(Chess)
def legal(game, state, actions):
    return generate(state, actions)


@rules(Chess)
def play(game, state, action):
    player, begin, kind = state.to_play, action & 63, action >> 6
    moved, end, becomes = piece_on(state, begin), target_of(player, begin, kind), -1
    taken = end if moved != PAWN or ONE << np.uint64(end) != state.passing else end + (8 if player == 0 else -8)
    is_capture = state.sides[1 - player] & (ONE << np.uint64(taken)) != 0
    if is_capture:
        change(state, piece_on(state, taken), 1 - player, taken)
    if moved == PAWN and (end < 8 or end >= 56):
        becomes = QUEEN if kind < UNDERPROMOTIONS else KNIGHT + (kind - UNDERPROMOTIONS) // 3
    change(state, moved, player, begin)
    change(state, moved if becomes < 0 else becomes, player, end)
    if moved == KING and abs(end - begin) == 2:
        right = player + (0 if end > begin else 2)
        change(state, ROOK, player, ROOKS[right])
        change(state, ROOK, player, (begin + end) // 2)
    state.rights = rights_after(state.rights, begin, end)
    is_double = moved == PAWN and abs(end - begin) == 16
    state.passing = ONE << np.uint64((begin + end) // 2) if is_double else NONE
    state.clock = 0 if is_capture or moved == PAWN else state.clock + 1
    state.number += player
    state.ply += 1
    state.to_play = 1 - player
    look(game, state)


@rules(Chess)
def outcome(game, state):
    return state.result


@rules(Chess)
def key(game, state):
    rest = np.uint64(state.to_play) | np.uint64(state.rights) << np.uint64(1)
    if state.passing != 0:
        rest |= np.uint64(lowest_bit(state.passing) + 1) << np.uint64(8)
    return state.board_key ^ mix(rest + np.uint64(0x1000))


@rules(Chess)
def encode(game, state, planes):
    player = np.int64(state.to_play)
    for side in range(2):
        squares = state.sides[player if side == 0 else 1 - player]
        for kind in range(6):
            write(planes[6 * side + kind], squares & state.kinds[kind])
    for plane in range(4):
        right = (plane % 2) * 2 + (player if plane < 2 else 1 - player)
        write(planes[12 + plane], ALL if state.rights >> right & 1 else NONE)
    write(planes[16], state.passing)
    write(planes[17], ALL if visits_of(game, state) > 1 else NONE)
    write(planes[18], ALL if state.clock >= game.quiet else NONE)
    write(planes[19], ALL if player == 0 else NONE)


# Sets of squares.


@kernel
def turned(word, offset):
    """All squares of a set moved by so many bits; what leaves at one end comes in at the other."""
    return word << np.uint64(offset & 63) | word >> np.uint64(-offset & 63)


@kernel
def step_to(word, direction):
    """All pieces of a set one step, or one jump, further."""
    return turned(word, OFFSETS[direction]) & ARRIVALS[direction]


@kernel
def slide(word, free, direction):
    """All squares that a set of pieces reaches through free ones, with those that they run into."""
    offset = OFFSETS[direction]
    free &= ARRIVALS[direction]
    word |= free & turned(word, offset)
    free &= turned(free, offset)
    word |= free & turned(word, 2 * offset)
    free &= turned(free, 2 * offset)
    word |= free & turned(word, 4 * offset)
    return turned(word, offset) & ARRIVALS[direction]


@kernel
def jumps(word):
    """The squares that knights of a set attack."""
    east, west = step_to(word, EAST), step_to(word, WEST)
    far_east, far_west = step_to(east, EAST), step_to(west, WEST)
    near, far = east | west, far_east | far_west
    return near << np.uint64(16) | near >> np.uint64(16) | far << np.uint64(8) | far >> np.uint64(8)


@kernel
def around(word):
    """The squares next to a set, and the set."""
    word |= step_to(word, EAST) | step_to(word, WEST)
    return word | word << np.uint64(8) | word >> np.uint64(8)


@kernel
def pawns_attack(word, player):
    """The squares that pawns of a player attack."""
    forward = word >> np.uint64(8) if player == 0 else word << np.uint64(8)
    return step_to(forward, EAST) | step_to(forward, WEST)


@kernel
def sliders(state, direction):
    """The pieces of both players that slide in a direction."""
    return state.kinds[QUEEN] | (state.kinds[ROOK] if direction % 2 == 0 else state.kinds[BISHOP])


@kernel
def attacked_by(state, player, through):
    """All squares that a player attacks, where pieces slide through the squares `through`."""
    own = state.sides[player]
    squares = jumps(own & state.kinds[KNIGHT]) | around(own & state.kinds[KING])
    squares |= pawns_attack(own & state.kinds[PAWN], player)
    for direction in range(8):
        squares |= slide(own & sliders(state, direction), through, direction)
    return squares


# What follows from a board: checks, pins, how the game ended.


@kernel
def look(game, state):
    """After a move: finds checks and pins, and whether the game is over."""
    find_pins(state)
    if state.passing != 0 and not any_captures_in_passing(state):
        state.passing = NONE
    remember(state.seen, np.int64(state.clock), key(game, state))
    may_be_stuck = state.in_check or not has_quiet_step(state)
    if may_be_stuck and generate(state, None) == 0:
        state.result = DRAW if not state.in_check else SECOND if state.to_play == 0 else FIRST
    elif state.clock >= 2 * game.quiet or lacks_material(state) or visits_of(game, state) >= 3:
        state.result = DRAW
    else:
        state.result = ONGOING


@kernel
def find_pins(state):
    """Finds who attacks the king of the player to move, and what stands between it and those who would."""
    player = state.to_play
    own, other = state.sides[player], state.sides[1 - player]
    king, empty = own & state.kinds[KING], ~(own | other)
    checks = jumps(king) & other & state.kinds[KNIGHT] | pawns_attack(king, player) & other & state.kinds[PAWN]
    allowed = checks
    for line in range(4):
        state.pinned[line] = NONE
    for direction in range(8):
        dangers = other & sliders(state, direction)
        if dangers & slide(king, ~dangers, direction) == 0:
            continue
        ray = slide(king, empty, direction)
        if ray & dangers != 0:
            checks |= ray & dangers
            allowed |= ray
        elif slide(ray & own, empty, direction) & dangers != 0:
            state.pinned[direction % 4] |= ray & own
    state.in_check = checks != 0
    state.allowed = ALL if checks == 0 else allowed if count_bits(checks) == 1 else NONE


@kernel
def has_quiet_step(state):
    """Whether a pawn or knight that nothing pins can move; if not, a move must be looked for with more care."""
    player = state.to_play
    own, other = state.sides[player], state.sides[1 - player]
    loose = own & ~(state.pinned[0] | state.pinned[1] | state.pinned[2] | state.pinned[3])
    pawns = loose & state.kinds[PAWN]
    ahead = pawns >> np.uint64(8) if player == 0 else pawns << np.uint64(8)
    return ahead & ~(own | other) != 0 or jumps(loose & state.kinds[KNIGHT]) & ~own != 0


@kernel
def visits_of(game, state):
    """How often the position has been on the board, now included."""
    return times_seen(state.seen, np.int64(state.clock), key(game, state))


@kernel
def lacks_material(state):
    """Whether no series of moves can mate: kings alone, with one minor piece, or with bishops on one colour."""
    if state.kinds[PAWN] | state.kinds[ROOK] | state.kinds[QUEEN] != 0:
        return False
    knights, bishops = state.kinds[KNIGHT], state.kinds[BISHOP]
    if knights != 0:
        return bishops == 0 and count_bits(knights) == 1
    return bishops & LIGHT_SQUARES == 0 or bishops & ~LIGHT_SQUARES == 0


# Legal moves.


@kernel
def generate(state, actions):
    """Writes the legal actions into `actions`, unless that is None; returns how many."""
    player = state.to_play
    own, other = state.sides[player], state.sides[1 - player]
    king, empty = own & state.kinds[KING], ~(own | other)
    pins = state.pinned[0] | state.pinned[1] | state.pinned[2] | state.pinned[3]
    attacked = attacked_by(state, 1 - player, empty | king)
    castling = castling_sides(state, attacked, empty)
    count = 0
    for direction in range(8):
        offset, goes = OFFSETS[direction], ~pins | state.pinned[direction % 4]
        reached = step_to(own & sliders(state, direction) & goes, direction) & ~own
        pawns = pawn_targets(state, direction, own & state.kinds[PAWN] & goes, other, empty)
        ends = (reached | pawns) & state.allowed | step_to(king, direction) & ~own & ~attacked
        begins = turned(ends, -offset) | passing_pawns(state, direction)
        count = put(actions, count, SLIDES + 7 * direction, begins)
        reached = step_to(reached & empty, direction) & ~own
        ends = reached & state.allowed
        if direction == (NORTH if player == 0 else SOUTH):
            ends |= step_to(pawns & THIRD_RANKS[player], direction) & empty & state.allowed
        begins = turned(ends, -2 * offset) | (castling[0] if direction == EAST else NONE)
        count = put(actions, count, SLIDES + 7 * direction + 1, begins | (castling[1] if direction == WEST else NONE))
        distance = 3
        reached = step_to(reached & empty, direction) & ~own
        while reached != 0:
            begins = turned(reached & state.allowed, -distance * offset)
            count = put(actions, count, SLIDES + 7 * direction + distance - 1, begins)
            reached = step_to(reached & empty, direction) & ~own
            distance += 1
    knights = own & state.kinds[KNIGHT] & ~pins
    if knights != 0:
        for jump in range(8):
            ends = step_to(knights, 8 + jump) & ~own & state.allowed
            count = put(actions, count, JUMPS + jump, turned(ends, -OFFSETS[8 + jump]))
    return put_underpromotions(state, actions, count, own, other, empty, pins)


@kernel
def put(actions, count, kind, begins):
    """Writes the actions of one kind that leave a set of squares, behind `count` others; returns how many there are."""
    if actions is None:
        return count + count_bits(begins)
    while begins != 0:
        actions[count] = 64 * kind + lowest_bit(begins)
        begins &= begins - ONE
        count += 1
    return count


@kernel
def pawn_targets(state, direction, pawns, other, empty):
    """Where pawns go one step in a direction: straight ahead to empty squares, beside that to capture."""
    north = direction if state.to_play == 0 else (direction + 4) % 8
    if north == 0:
        return step_to(pawns, direction) & empty
    return step_to(pawns, direction) & other if north == 1 or north == 7 else NONE


@kernel
def passing_pawns(state, direction):
    """The pawn that captures in passing in a direction, if that is legal."""
    north = direction if state.to_play == 0 else (direction + 4) % 8
    if state.passing == 0 or (north != 1 and north != 7):
        return NONE
    pawn = turned(state.passing, -OFFSETS[direction]) & ARRIVALS[(direction + 4) % 8]
    pawn &= state.sides[state.to_play] & state.kinds[PAWN]
    return pawn if pawn != 0 and may_pass(state, pawn) else NONE


@kernel
def may_pass(state, pawn):
    """Whether a pawn that captures in passing leaves its king out of check: two pawns leave their row at once."""
    player = state.to_play
    own, other = state.sides[player], state.sides[1 - player]
    taken = state.passing << np.uint64(8) if player == 0 else state.passing >> np.uint64(8)
    king, rest = own & state.kinds[KING], other & ~taken
    empty = ~(own ^ pawn | rest | state.passing)
    if jumps(king) & rest & state.kinds[KNIGHT] != 0 or pawns_attack(king, player) & rest & state.kinds[PAWN] != 0:
        return False
    checks = NONE
    for direction in range(8):
        checks |= slide(king, empty, direction) & rest & sliders(state, direction)
    return checks == 0


@kernel
def any_captures_in_passing(state):
    found = NONE
    for direction in range(1, 8, 2):
        found |= passing_pawns(state, direction)
    return found != 0


@kernel
def castling_sides(state, attacked, empty):
    """The king's square, for each side to which it may castle: its own side and the queen's."""
    player = np.int64(state.to_play)
    king = state.sides[player] & state.kinds[KING]
    short, long = player, player + 2
    is_short = state.rights >> short & 1 and EMPTY_FOR[short] & ~empty == 0 and SAFE_FOR[short] & attacked == 0
    is_long = state.rights >> long & 1 and EMPTY_FOR[long] & ~empty == 0 and SAFE_FOR[long] & attacked == 0
    return king if is_short else NONE, king if is_long else NONE


@kernel
def put_underpromotions(state, actions, count, own, other, empty, pins):
    """Writes the promotions to knight, bishop and rook: left, straight and right for each."""
    player = state.to_play
    pawns = own & state.kinds[PAWN] & SEVENTH_RANKS[player]
    if pawns == 0:
        return count
    for piece in range(3):
        for side in range(3):
            direction = (7 + side) % 8 if player == 0 else 5 - side
            able = pawns & (~pins | state.pinned[direction % 4])
            ends = step_to(able, direction) & (empty if side == 1 else other) & state.allowed
            count = put(actions, count, UNDERPROMOTIONS + 3 * piece + side, turned(ends, -OFFSETS[direction]))
    return count


# Moves.


@kernel
def target_of(player, begin, kind):
    """The square to which a move of some kind goes."""
    if kind < JUMPS:
        return begin + OFFSETS[kind // 7] * (kind % 7 + 1)
    if kind < UNDERPROMOTIONS:
        return begin + OFFSETS[8 + kind - JUMPS]
    return begin + (kind - UNDERPROMOTIONS) % 3 - 1 + (-8 if player == 0 else 8)


@kernel
def piece_on(state, cell):
    """What stands on a square that is not empty."""
    square = ONE << np.uint64(cell)
    for kind in range(KING):
        if state.kinds[kind] & square != 0:
            return kind
    return KING


@kernel
def change(state, kind, player, cell):
    """Takes a piece from a square, or puts it there."""
    square = ONE << np.uint64(cell)
    state.kinds[kind] ^= square
    state.sides[player] ^= square
    state.board_key ^= stone_key(cell + 64 * kind, player)


@kernel
def rights_after(rights, begin, end):
    """Who moves the king or a rook, or loses a rook, may not castle with it any more."""
    for right in range(4):
        king = 60 if right % 2 == 0 else 4
        if begin == king or begin == ROOKS[right] or end == ROOKS[right]:
            rights &= 15 - (1 << right)
    return rights


@kernel
def key_of_board(state):
    result = NONE
    for kind in range(6):
        for player in range(2):
            squares = state.kinds[kind] & state.sides[player]
            while squares != 0:
                result ^= stone_key(lowest_bit(squares) + 64 * kind, player)
                squares &= squares - ONE
    return result


@kernel
def write(plane, squares):
    for cell in range(64):
        plane[cell] = squares >> np.uint64(cell) & ONE


@entry
def fill(game, states, passing, passing_above):
    """Completes a position of which boards, rights and counters are set; `result` is −1 if it cannot be."""
    state = states[0]
    state.passing = np.uint64(passing) | np.uint64(passing_above) << np.uint64(32)
    if state.passing != 0 and not is_behind_pawn(state):
        state.passing = NONE
    state.board_key = key_of_board(state)
    look(game, state)
    own = state.sides[1 - state.to_play]
    if own & state.kinds[KING] & attacked_by(state, state.to_play, ~(state.sides[0] | state.sides[1])) != 0:
        state.result = -1


@kernel
def is_behind_pawn(state):
    """Whether a pawn of the opponent stands where one does that has just made two steps."""
    pawn = state.passing << np.uint64(8) if state.to_play == 0 else state.passing >> np.uint64(8)
    return pawn & state.sides[1 - state.to_play] & state.kinds[PAWN] & FOURTH_RANKS[1 - state.to_play] != 0


# Python's part: texts.


def check_board(cells: np.ndarray) -> None:
    """Refuses a board without two kings, or with a pawn where none can be."""
    for owner, colour in enumerate(("White", "Black")):
        if (kings := int((cells == 6 * owner + KING + 1).sum())) != 1:
            raise BadDiagram(f"{colour} has {kings} kings; each player has one")
    if np.isin(np.concatenate([cells[:8], cells[56:]]), (PAWN + 1, PAWN + 7)).any():
        raise BadDiagram("there is a pawn on the first or the last rank")


def read_rights(text: str, cells: np.ndarray) -> int:
    """Rights to castle as a FEN has them."""
    rights = 0
    for letter in text.replace("-", ""):
        if letter not in RIGHTS_TEXT:
            raise BadDiagram(f"{text!r} are no rights to castle; write KQkq, some of these letters, or -")
        right = RIGHTS_TEXT.index(letter)
        owner = right % 2
        if cells[60 if owner == 0 else 4] != 6 * owner + KING + 1 or cells[ROOKS[right]] != 6 * owner + ROOK + 1:
            raise BadDiagram(f"castling {letter}: king and rook are not on their first squares")
        rights |= 1 << right
    return rights


def squares_of(action: int) -> tuple[int, int | None, str]:
    """The square that an action leaves, the one it reaches (None off the board), the letter of an underpromotion."""
    kind, begin = divmod(action, 64)
    y, x = divmod(begin, 8)
    promotion = ""
    if kind < JUMPS:
        rows, columns = (each * (kind % 7 + 1) for each in STEPS[kind // 7])
    elif kind < UNDERPROMOTIONS:
        rows, columns = LEAPS[kind - JUMPS]
    else:
        piece, side = divmod(kind - UNDERPROMOTIONS, 3)
        if y not in (1, 6):
            return begin, None, ""
        rows, columns, promotion = (-1 if y == 1 else 1), side - 1, "nbr"[piece]
    is_there = 0 <= y + rows < 8 and 0 <= x + columns < 8
    return begin, 8 * (y + rows) + x + columns if is_there else None, promotion


def action_between(begin: int, end: int, promotion: str = "") -> int | None:
    """The action that goes from one square to another; None if no piece does."""
    rows, columns = end // 8 - begin // 8, end % 8 - begin % 8
    if promotion in ("n", "b", "r"):
        is_last = (begin // 8, rows) in ((1, -1), (6, 1))
        kind = UNDERPROMOTIONS + 3 * "nbr".index(promotion) + columns + 1
        return 64 * kind + begin if is_last and abs(columns) <= 1 else None
    if (rows, columns) in LEAPS:
        return 64 * (JUMPS + LEAPS.index((rows, columns))) + begin
    distance = max(abs(rows), abs(columns))
    if distance == 0 or {abs(rows), abs(columns)} - {0, distance}:
        return None
    return 64 * (7 * STEPS.index((rows // distance, columns // distance)) + distance - 1) + begin


def is_promotion(position: Position, action: int) -> bool:
    """Whether an action takes a pawn to its last rank."""
    begin, end, _ = squares_of(action)
    return end is not None and end // 8 in (0, 7) and int(position.state.kinds[PAWN]) >> begin & 1 == 1


def long_text(position: Position, action: int) -> str:
    """A move as UCI has it: `e2e4`, `e7e8q`."""
    text: str = position.game.action_text(action)
    return text + "q" if len(text) == 4 and is_promotion(position, action) else text


def short_text(position: Position, action: int) -> str:
    """A legal move in standard algebraic notation: `Nf3`, `exd6`, `O-O`, `e8=Q+`."""
    after = position.play(action)
    won = after.outcome is not None and after.outcome.winner is not None
    return bare_text(position, action) + ("#" if won else "+" if after.state.in_check else "")


def bare_text(position: Position, action: int) -> str:
    """The same without the sign for check or mate."""
    board, points = position.board.ravel(), position.game.coordinates
    begin, end, promotion = squares_of(action)
    assert end is not None  # for the move is legal
    kind = (int(board[begin]) - 1) % 6
    if kind == KING and abs(end - begin) == 2:
        return "O-O" if end > begin else "O-O-O"
    is_capture = board[end] != 0 or (kind == PAWN and (end - begin) % 8 != 0)
    goal = ("x" if is_capture else "") + points.text(end)
    if kind == PAWN:
        piece = f"={promotion.upper() or 'Q'}" if end // 8 in (0, 7) else ""
        return (points.text(begin)[0] if is_capture else "") + goal + piece
    others = [squares_of(other)[:2] for other in position.legal_actions if other != action]
    rivals = [other for other, target in others if target == end and board[other] == board[begin]]
    if not rivals:
        return LETTERS[kind] + goal
    if all(other % 8 != begin % 8 for other in rivals):
        return LETTERS[kind] + points.text(begin)[0] + goal
    if all(other // 8 != begin // 8 for other in rivals):
        return LETTERS[kind] + points.text(begin)[1] + goal
    return LETTERS[kind] + points.text(begin) + goal


def read_short(position: Position, text: str) -> int:
    """The legal move of a text in algebraic notation; signs for check and praise are passed over.

    It may say more of the square that a piece leaves than it must (Ng1f3), and castle with noughts.
    """
    word = text.strip().rstrip("+#!?").replace("0", "O")
    if word in CASTLES:
        king = 60 if position.to_play == 0 else 4
        found = [action_between(king, king + CASTLES[word])] if piece_at(position, king) == KING else []
    elif match := SHORT.fullmatch(word):
        found = [action for action in position.legal_actions if is_meant(position, action, match)]
    else:
        found = []
    if found := [action for action in found if action in position.legal_actions]:
        if len(found) == 1:
            return int(found[0])
        several = ", ".join(bare_text(position, action) for action in found)
        raise BadMove(f"{text!r} may be any of {several}")
    some = ", ".join(bare_text(position, action) for action in position.legal_actions[:4])
    raise BadMove(f"{text!r} is no legal move here; write one as {some or 'e2e4'}, or as e2e4")


def is_meant(position: Position, action: int, match: re.Match[str]) -> bool:
    """Whether a legal move is what a text in algebraic notation says."""
    piece, file, row, goal, promotion = match.groups()
    begin, end, becomes = squares_of(action)
    points = position.game.coordinates
    assert end is not None
    if points.text(end) != goal or piece_at(position, begin) != LETTERS.index(piece or "P"):
        return False
    if piece == "K" and abs(end - begin) == 2:
        return False  # that is castling
    promoted = (becomes or "q") if is_promotion(position, action) else ""
    name = points.text(begin)
    return file in (None, name[0]) and row in (None, name[1]) and promoted == (promotion or "").lower()


def piece_at(position: Position, cell: int) -> int | None:
    """Which piece of any player stands on a square."""
    return next((kind for kind in range(6) if int(position.state.kinds[kind]) >> cell & 1), None)
