"""Hex: who connects their two sides of a board of hexagons wins. Red's are top and bottom, Blue's left and right.

A cell touches six others: left and right, above and above to the right, below and below to the left. A player's stones
are the bits of one word a row, bit x for column x; a second set of words, `joined`, holds those that are connected to
the player's first side (Red's top, Blue's left). A new stone that touches one of these joins, and brings others along;
whose joined stones reach the second side has won. On a full board exactly one of the players has.

The swap rule: after Red's first move Blue may play a stone, or swap: the stone changes its colour and moves to the cell
mirrored at the long diagonal (c2 to b3), and it is Red's turn. To Blue that is worth as much as to take over Red's
stone and sides, but everybody keeps their colour.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from tengen.rules.bits import count_bits, lowest_bit
from tengen.rules.board import Between, Coordinates, check_winner
from tengen.rules.contract import FIRST, SECOND, advance, below, earlier_winner, kernel, rules, stone_key
from tengen.rules.errors import BadMove
from tengen.rules.kernels import entry

RED, BLUE = 0, 1
LARGEST = 19
ONE = np.uint32(1)
SWAP = ("swap-pieces", "swap")  # as SGF and Hex engines call it, and as people do
RECORD = np.dtype(
    [
        ("stones", np.uint32, (2, LARGEST)),
        ("joined", np.uint32, (2, LARGEST)),  # those of them that are connected to the player's first side
        ("key", np.uint64),
        ("ply", np.int16),
        ("last", np.int16),  # the action played last, plus one; zero at the start
        ("to_play", np.uint8),
        ("result", np.int8),
        ("can_swap", np.uint8),
    ],
    align=True,
)


class Hex(NamedTuple):
    """connect your two sides; the second player may swap"""

    size: Annotated[int, Between(3, LARGEST)] = 11
    swap: Annotated[int, Between(0, 1)] = 1

    planes = ("own stones", "opponent's stones", "first player to move", "swap is legal")
    players = ("Red", "Blue")
    drawing = "hexagons"
    sides = ("top bottom", "left right")
    usual_sizes = (7, 9, 11, 13)
    sgf_number = 11
    gtp_name = "Hex"
    move_pattern = "|".join(SWAP) + r"|[a-z]\d+"

    @property
    def shape(self):
        return self.size, self.size

    @property
    def actions(self):
        return self.size * self.size + self.swap  # the last one is the swap

    @property
    def levels(self):
        cells = self.size**2
        weaker = (f"uct:playouts={times * cells}" for times in (2, 20))
        return *weaker, "alphabeta:depth=1", "alphabeta:nodes=2000", "alphabeta:time=1"

    @property
    def coordinates(self):
        return Coordinates(self.size, self.size, from_top=True)

    @property
    def symmetries(self):
        """As it is, and turned upside down: a mirrored board has other sides."""
        cells = np.arange(self.size * self.size)
        return np.stack([cells, cells[::-1]])

    def action_text(self, action):
        return SWAP[0] if action == self.size * self.size else self.coordinates.text(action)

    def parse_action(self, text):
        if text.lower() not in SWAP:
            return self.coordinates.cell(text)
        if not self.swap:
            raise BadMove(f"{text} does not exist: this is Hex without the swap rule")
        return self.size * self.size

    def from_to(self, action):
        """The cells that an action leads from and to, if any."""
        return None, action if action < self.size * self.size else None

    def record(self):
        return RECORD

    def board(self, state):
        columns = np.arange(self.size)
        first, second = (state.stones[player][: self.size, None] >> columns & 1 for player in (RED, BLUE))
        return (first + 2 * second).astype(np.int8)

    def setup(self, states, board, to_play):
        fill(self, states, board, to_play)
        check_winner(states[0].result, to_play)

    def why_illegal(self, state, action):
        is_swap = action == self.size * self.size
        return "is only allowed as Blue's first move, after one of Red's" if is_swap else "is occupied"


@rules(Hex)
def start(game, state):
    pass  # an empty board is all zeros


@rules(Hex)
def legal(game, state, actions):
    count = 0
    for y in range(game.size):
        empty = empty_in_row(game.size, state, y)
        while empty != 0:
            actions[count] = y * game.size + lowest_bit(empty)
            count += 1
            empty &= empty - ONE
    if state.can_swap:
        actions[count] = game.size * game.size
        count += 1
    return count


@rules(Hex)
def play(game, state, action):
    player = state.to_play
    if action < game.size * game.size:
        y = action // game.size
        place(game.size, state, player, action - y * game.size, y)
    else:
        swap_stone(game.size, state)
    state.ply += 1
    state.last = action + 1
    state.can_swap = game.swap != 0 and state.ply == 1
    state.to_play = 1 - player


@rules(Hex)
def outcome(game, state):
    return state.result


@rules(Hex)
def key(game, state):
    return state.key + np.uint64(state.to_play)


@rules(Hex)
def encode(game, state, planes):
    own, other = state.stones[state.to_play], state.stones[1 - state.to_play]
    for cell in range(game.size * game.size):
        y = cell // game.size
        x = np.uint32(cell - y * game.size)
        planes[0, cell] = (own[y] >> x) & ONE
        planes[1, cell] = (other[y] >> x) & ONE
        planes[2, cell] = state.to_play == RED
        planes[3, cell] = state.can_swap


@rules(Hex)
def rollout(game, state, actions, seed):
    """Fills the board at random, half of what is empty for each player, and looks only then who is connected."""
    if game.swap and state.ply == 0:
        seed = advance(seed)
        play(game, state, below(seed, game.size * game.size))
    if state.can_swap:
        seed = advance(seed)
        if below(seed, game.size * game.size) == 0:  # one of as many actions as there are cells
            play(game, state, game.size * game.size)
    seed = fill_up(game.size, state, seed)
    red, joined = state.stones[RED], state.joined[RED]
    joined[0] = red[0]
    spread(game.size, red, joined, 0)
    state.result = FIRST if joined[game.size - 1] != 0 else SECOND
    return seed


@kernel
def empty_in_row(size, state, y):
    """The cells of a row on which nobody has a stone."""
    return ~(state.stones[RED, y] | state.stones[BLUE, y]) & ((ONE << np.uint32(size)) - ONE)


@kernel
def place(size, state, player, x, y):
    """Puts a stone on the board, joins what it connects, and sees whether that wins."""
    stones, joined, bit = state.stones[player], state.joined[player], ONE << np.uint32(x)
    stones[y] |= bit
    state.key ^= stone_key(y * size + x, player)
    touched = joined[y] & (bit << ONE | bit >> ONE)
    if y > 0:
        touched |= joined[y - 1] & (bit | bit << ONE)
    if y < size - 1:
        touched |= joined[y + 1] & (bit | bit >> ONE)
    if touched != 0 or (y if player == RED else x) == 0:
        joined[y] |= bit
        spread(size, stones, joined, y)
        if is_across(size, joined, player):
            state.result = player + 1


@kernel
def is_across(size, joined, player):
    """Whether stones that are connected to a player's first side have come to the second."""
    if player == RED:
        return joined[size - 1] != 0
    rows = joined[0]
    for y in range(1, size):
        rows |= joined[y]
    return rows >> np.uint32(size - 1) != 0


@kernel
def spread(size, stones, joined, y):
    """Joins all stones that are connected to those joined in row y, which alone may have new ones.

    Down and up in turn, as long as a row gains some; `first` to `last` are the rows that did.
    """
    first = last = np.int64(y)  # steps down as well as up
    joined[y] = along_row(stones[y], joined[y])
    is_moving = True
    while is_moving:
        is_moving = False
        y = first + 1
        while y <= last + 1 and y < size:
            above = joined[y - 1]
            grown = along_row(stones[y], joined[y] | (stones[y] & (above | above >> ONE)))
            if grown != joined[y]:
                joined[y], last, is_moving = grown, max(last, y), True
            y += 1
        y = last - 1
        while y >= first - 1 and y >= 0:
            under = joined[y + 1]
            grown = along_row(stones[y], joined[y] | (stones[y] & (under | under << ONE)))
            if grown != joined[y]:
                joined[y], first, is_moving = grown, min(first, y), True
            y -= 1


@kernel
def along_row(stones, begin):
    """The stones of a row in unbroken runs through `begin`, which are some of them."""
    grown = begin | (stones & ~(stones + begin))  # a carry goes up a run from where it begins, and stops behind it
    for shift in (np.uint32(1), np.uint32(2), np.uint32(4), np.uint32(8), np.uint32(16)):
        grown |= stones & (grown >> shift)  # down the run: after each step so many bits more in a row are known set
        stones &= stones >> shift
    return grown


@kernel
def swap_stone(size, state):
    """Makes Red's only stone Blue's, mirrored at the long diagonal."""
    y = 0
    while state.stones[RED, y] == 0:
        y += 1
    x = lowest_bit(state.stones[RED, y])
    state.stones[RED, y] = state.joined[RED, y] = 0
    state.key ^= stone_key(y * size + x, RED)
    place(size, state, BLUE, y, x)


@kernel
def fill_up(size, state, seed):
    """Puts stones on all empty cells: the player to move gets half of them, rounded up, any half as likely as another.

    Each empty cell is Red's or Blue's by a coin of its own; then random ones of whom has too many change hands.
    """
    empty = red = 0
    for y in range(size):
        seed = advance(seed)
        free = empty_in_row(size, state, y)
        given = np.uint32(seed >> np.uint64(40)) & free
        state.stones[RED, y] |= given
        state.stones[BLUE, y] |= free ^ given
        state.joined[RED, y] = free  # to know what may change hands; nobody asks any more what is joined
        empty += count_bits(free)
        red += count_bits(given)
    surplus = red - (empty + (state.to_play == RED)) // 2
    giver = RED if surplus > 0 else BLUE
    has = red if surplus > 0 else empty - red
    for _ in range(abs(surplus)):
        seed = advance(seed)
        hand_over(state, giver, below(seed, has))
        has -= 1
    for y in range(size):
        state.joined[RED, y] = 0
    state.ply += empty
    return seed


@kernel
def hand_over(state, giver, number):
    """Gives one of a player's stones that were not there before to the other: so many come before it."""
    y = 0
    cells = state.stones[giver, y] & state.joined[RED, y]
    here = count_bits(cells)
    while number >= here:
        number -= here
        y += 1
        cells = state.stones[giver, y] & state.joined[RED, y]
        here = count_bits(cells)
    for _ in range(number):
        cells &= cells - ONE
    bit = ONE << np.uint32(lowest_bit(cells))
    state.stones[giver, y] ^= bit
    state.stones[1 - giver, y] ^= bit


@entry
def fill(game, states, board, to_play):
    """Sets up a diagram: any number of stones, and anybody to play. Red's stone alone, and Blue may swap it."""
    state = states[0]
    count = np.zeros(2, np.int64)
    for cell in range(game.size * game.size):
        y, x = cell // game.size, cell % game.size
        if board[y, x] > 0:
            player = board[y, x] - 1
            count[player] += 1
            won = state.result
            place(game.size, state, player, x, y)
            if won != 0 and state.result != won:
                state.result = earlier_winner(won, player, to_play)
    state.ply = count[RED] + count[BLUE]
    state.can_swap = game.swap != 0 and to_play == BLUE and count[RED] == 1 and count[BLUE] == 0
    state.to_play = to_play
