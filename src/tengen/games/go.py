"""Go by area scoring: positional superko, suicide allowed or not, two passes end the game.

Stones of one colour that touch form a chain: a circular list (`next`), named by one of its stones (`chain`), which also
counts its pseudo-liberties: pairs of a stone and an empty point beside it. A chain dies when none is left, and a point
that touches a chain as often as it has pseudo-liberties is its only liberty.

The board is framed: row y begins at cell (y + 1) · (size + 1) + 1, and the cells around it are EDGE. So the four cells
beside a cell always exist, and no column is ever asked for.

Each player's stones are also the bits of words, a bit a cell. Rows of them show at once where a stone has a liberty;
only the few other points are looked at one by one. A chain in atari is found where it lives: at its only liberty.

Superko compares the board with the last positions of the game (`history`, a ring of their keys). That is rarely asked:
a board that was there before has the new stone on it, so it can only come back where such a stone was once captured.
And `seen` has a bit for each board that there was; most others do not share it, and need not be looked for in the ring.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, NamedTuple

import numpy as np

from tengen.rules.bits import ONE, count_bits, lowest_bit
from tengen.rules.board import Between, Coordinates
from tengen.rules.contract import DRAW, FIRST, ONGOING, SECOND, advance, below, kernel, rules, stone_key
from tengen.rules.errors import BadDiagram, BadParameter
from tengen.rules.kernels import entry

EMPTY, EDGE = 0, 3  # a stone is its player + 1
PASS = -1  # in place of a cell
NOWHERE = 0  # the chain of cells without a stone: cell 0 is in the frame, and what is counted there is never read
SUICIDE, REPETITION = 1, 2
WITH_SUICIDE = ("tromp-taylor", "nz", "new zealand", "goe", "ing")  # rules of Go, as SGF names them
REASONS = ("", "suicide", "superko: the position would repeat")
WHITE_MOVES = np.uint64(0x2545F4914F6CDD1D)  # in the key when the second player is to move


@cache
def record_for(size):
    """The record of boards up to that size: under 2 KB for 9×9, under 4 KB for 19×19."""
    cells = (size + 1) * (size + 2) + 1
    words = (cells + 63) // 64
    number = np.uint8 if cells < 256 else np.uint16  # of a cell; there are never more pseudo-liberties than that
    return np.dtype(
        [
            ("history", np.uint64, 95),
            ("seen", np.uint64, 16),
            ("stones", np.uint64, (2, words)),  # the cells of each player's stones
            ("lost", np.uint64, (2, words)),  # cells where each player's stones were ever captured
            ("key", np.uint64),  # of the stones alone
            ("chain", number, cells),
            ("next", number, cells),
            ("liberties", number, cells),
            ("cells", np.int8, cells),
            ("positions", np.uint16),  # how many boards there have been; the ring holds the last of them
            ("ply", np.int16),
            ("last", np.int16),  # the action played last, plus one; zero at the start
            ("captured", number),  # one of the stones captured last, which `next` still rings together; or NOWHERE
            ("area", np.int16),  # Black's points less White's, once the game is over
            ("passes", np.int8),
            ("to_play", np.uint8),
            ("over", np.int8),
        ],
        align=True,
    )


class Go(NamedTuple):
    """surround and capture; area scoring, positional superko"""

    size: Annotated[int, Between(2, 19)] = 19
    komi: Annotated[float, Between(-361, 361)] = 7.5
    suicide: Annotated[int, Between(0, 1)] = 0
    handicap: Annotated[int, Between(0, 9)] = 0

    names = {"tromp-taylor": {"suicide": 1}}
    tolerance = {"komi": 2}  # a net learns at a komi of 7, where 9×9 is even, and serves the usual ones beside it
    history_matters = True  # superko: what may be played on a board depends on how it came about
    planes = (
        "own stones",
        "opponent's stones",
        "last move",
        "points that may not be played",
        "chains in atari",
        "the opponent passed",
        "first player to move",
    )
    players = ("Black", "White")
    drawing = "lines"
    usual_sizes = (9, 13, 19)
    scoring = "area"
    sgf_number = 1
    gtp_name = "Go"

    def validate(self):
        most = 0 if self.size < 7 else 4 if self.size == 7 or self.size % 2 == 0 else 9
        if self.handicap == 1 or self.handicap > most:
            takes = f"0 or 2 to {most} stones" if most else "no handicap stones"
            raise BadParameter(f"handicap={self.handicap}: a {self.size}×{self.size} board takes {takes}")

    @property
    def shape(self):
        return self.size, self.size

    @property
    def actions(self):
        return self.size * self.size + 1  # the last one is a pass

    @property
    def coordinates(self):
        return Coordinates(self.size, self.size, letters="abcdefghjklmnopqrst")

    @property
    def levels(self):
        weaker = tuple(f"uct:playouts={times * self.size**2}" for times in (2, 6, 15, 40))
        return *weaker, "uct:time=1"

    def sgf_properties(self):
        rules = "Tromp-Taylor" if self.suicide else "Chinese"
        return {"RU": rules, "KM": f"{self.komi:g}", "HA": str(self.handicap or "")}

    @staticmethod
    def sgf_parameters(properties):
        suicide = int(properties.get("RU", "").lower() in WITH_SUICIDE)
        handicap = properties.get("HA") if "AB" in properties else 0
        return {"komi": komi_of(properties.get("KM", "")), "suicide": suicide, "handicap": handicap or 0}

    def record(self):
        return record_for(9 if self.size <= 9 else 13 if self.size <= 13 else 19)

    def board(self, state):
        framed = state.cells[: (self.size + 1) * (self.size + 2)].reshape(self.size + 2, self.size + 1)
        return framed[1:-1, 1:]

    def setup(self, states, board, to_play):
        fill(self, states, board, to_play)
        for point in np.flatnonzero(self.board(states[0]) != board):
            raise BadDiagram(f"the stone on {self.coordinates.text(int(point))} has no liberty")

    def forbidden(self, states):
        """The empty points that the player to move may not take."""
        kinds = np.zeros(self.size * self.size, np.int8)
        find_forbidden(self, states, kinds)
        return {int(point): REASONS[kinds[point]] for point in np.flatnonzero(kinds)}


def komi_of(text):
    """The komi that an SGF file means: in points; in stones, 3.75, which are two points each; or in hundredths, 375."""
    try:
        number = float(text)
    except ValueError:
        return text or 0
    if abs(number) >= 200 and number % 25 == 0:  # Fox: hundredths of stones, or of points where that is too many
        number /= 50 if abs(number) <= 400 else 100
    return number * 2 if number % 0.5 else number


@rules(Go)
def start(game, state):
    frame(game, state)
    remember(state)
    edge = 2 if game.size < 13 else 3
    low, middle, high = edge, game.size // 2, game.size - 1 - edge
    for i in range(game.handicap):  # in the order of the Go Text Protocol: corners, sides, and an odd one in the centre
        x, y = middle, middle
        if i < 4:
            x, y = low if i == 0 or i == 2 else high, low if i == 1 or i == 2 else high
        elif i < game.handicap - game.handicap % 2:
            x = low if i == 4 else high if i == 5 else middle
            y = low if i == 6 else high if i == 7 else middle
        put_stone(game, state, cell_of(game, y * game.size + x), 0)
        state.to_play = 1
    if game.handicap > 0:
        remember(state)


@rules(Go)
def legal(game, state, actions):
    count, above, row = np.uint32(0), np.uint64(0), empty_row(game, state, 0)
    for y in range(game.size):
        below = empty_row(game, state, y + 1)
        points = np.uint32(row & ~forbidden_row(game, state, y, above, row, below))
        while points != 0:
            actions[count] = y * game.size + lowest_bit(points)
            count = np.uint32(count + 1)
            points = np.uint32(points & (points - np.uint32(1)))
        above, row = row, below
    actions[count] = game.size * game.size
    return np.int64(count) + 1


@rules(Go)
def play(game, state, action):
    if action < game.size * game.size:
        move(game, state, cell_of(game, action))
    else:
        move(game, state, PASS)
    state.last = action + 1


@kernel
def move(game, state, cell):
    """The player to move places a stone on a cell, or passes."""
    if cell != PASS:
        put_stone(game, state, cell, state.to_play)
        remember(state)
        state.passes = 0
    else:
        state.passes += 1
    state.ply += 1
    state.to_play = 1 - state.to_play
    if state.passes == 2 or state.ply >= longest_game(game):
        state.over = 1
        state.area = area(game, state)


@kernel
def longest_game(game):
    """Plies after which a game is scored as it stands; play with a purpose ends long before."""
    return 4 * game.size * game.size + 100


@rules(Go)
def outcome(game, state):
    if state.over == 0:
        return ONGOING
    margin = score(game, state)
    return FIRST if margin > 0 else SECOND if margin < 0 else DRAW


@rules(Go)
def score(game, state):
    """Area; White gets komi and, as Chinese rules have it, a point for each handicap stone."""
    return state.area - game.komi - game.handicap


@rules(Go)
def territory(game, state, owners):
    """Stones, and once the game is over the empty points that reach one colour alone (see `area`)."""
    for y in range(game.size):
        black, white = owned_row(game, state, 0, y), owned_row(game, state, 1, y)
        for x in range(game.size):
            owners[y * game.size + x] = (black >> np.uint64(x) & ONE) + 2 * (white >> np.uint64(x) & ONE)


@rules(Go)
def key(game, state):
    return state.key ^ WHITE_MOVES if state.to_play == 1 else state.key


@rules(Go)
def encode(game, state, planes):
    to_play, last = np.int64(state.to_play), np.int64(state.last)
    above, row = np.uint64(0), empty_row(game, state, 0)
    for y in range(game.size):
        below = empty_row(game, state, y + 1)
        own, other = row_of(game, state.stones, to_play, y), row_of(game, state.stones, 1 - to_play, y)
        forbidden = forbidden_row(game, state, y, above, row, below)
        for x in range(game.size):
            point, bit = y * game.size + x, np.uint64(x)
            planes[0, point] = own >> bit & ONE
            planes[1, point] = other >> bit & ONE
            planes[2, point] = point + 1 == last
            planes[3, point] = forbidden >> bit & ONE
            planes[4, point] = 0
            planes[5, point] = last == game.size * game.size + 1
            planes[6, point] = to_play == 0
        above, row = row, below
    mark_ataris(game, state, planes)


@rules(Go)
def rollout(game, state, actions, seed):
    """Random moves that leave one's own eyes open; a pass when there is no other. Lists cells, not actions."""
    count = empty_cells(game, state, actions)
    while state.over == 0:
        untried, pick, cell = count, 0, PASS
        while untried > 0:
            seed = advance(seed)
            pick = below(seed, untried)
            if may_roll(game, state, actions[pick]):
                cell = actions[pick]
                break
            untried -= 1
            actions[pick], actions[untried] = actions[untried], actions[pick]
        move(game, state, cell)
        if cell != PASS:
            count -= 1
            actions[pick] = actions[count]
            count = list_captured(state, actions, count)
    return seed


@kernel
def frame(game, state):
    """Marks the cells around an empty board."""
    width = game.size + 1
    for i in range(width + 1):
        state.cells[i] = state.cells[width * width + i] = EDGE
    for y in range(1, width + 1):
        state.cells[y * width] = EDGE


@kernel
def cell_of(game, point):
    """The framed cell of a point of the board."""
    return point + np.int64(np.uint32(point) // np.uint32(game.size)) + game.size + 2


@kernel
def point_of(game, cell):
    """The point of the board that a framed cell is."""
    return np.int64(cell) - np.int64(np.uint32(cell) // np.uint32(game.size + 1)) - game.size - 1


@kernel
def cell_at(game, x, y):
    """The framed cell of column x and row y, without a division, which GPUs are slow at."""
    return (y + 1) * (game.size + 1) + x + 1


@kernel
def row_of(game, cells, player, y):
    """The bits of row y in a player's set of cells; none beyond the board."""
    if y == game.size:
        return np.uint64(0)
    first = cell_at(game, 0, y)
    word, shift = np.uint64(first >> 6), np.uint64(first & 63)
    bits = cells[player, word] >> shift
    if (first & 63) + game.size > 64:
        bits |= cells[player, word + ONE] << np.uint64(64) - shift
    return bits & (ONE << np.uint64(game.size)) - ONE


@kernel
def empty_row(game, state, y):
    """The empty points of row y, as bits."""
    taken = row_of(game, state.stones, 0, y) | row_of(game, state.stones, 1, y)
    return (ONE << np.uint64(game.size)) - ONE & ~taken if y < game.size else np.uint64(0)


@kernel
def forbidden_row(game, state, y, above, row, below):
    """The empty points of row y that the player to move may not take; given are the empty points of three rows."""
    free = row << ONE | row >> ONE | above | below  # a stone there has a liberty at once
    plain = free & ~row_of(game, state.lost, state.to_play, y)  # and can repeat nothing
    doubtful, forbidden = row & ~plain, np.uint64(0)
    while doubtful != 0:
        x = lowest_bit(doubtful)
        if judge(game, state, cell_at(game, x, y)) != 0:
            forbidden |= ONE << np.uint64(x)
        doubtful &= doubtful - ONE
    return forbidden


@kernel
def mark_ataris(game, state, planes):
    """Marks the chains in atari on plane 4."""
    above, row = np.uint64(0), empty_row(game, state, 0)
    for y in range(game.size):
        below = empty_row(game, state, y + 1)
        points = row & ~(row << ONE & row >> ONE & above & below)  # the others have no stone beside them
        while points != 0:
            cell = cell_at(game, lowest_bit(points), y)
            alone = living_by(game, state, cell)
            for step in sides(game):
                if alone & 1 != 0:
                    mark_chain(game, state, state.chain[beside(cell, step)], planes)
                alone >>= 1
            points &= points - ONE
        above, row = row, below


@kernel
def mark_chain(game, state, chain, planes):
    """Marks the stones of a chain on plane 4, from one that is not marked yet."""
    stone = np.uint32(chain)
    while planes[4, point_of(game, stone)] == 0:
        planes[4, point_of(game, stone)] = 1
        stone = np.uint32(state.next[stone])


@kernel
def sides(game):
    """The steps to the four cells beside a cell."""
    return -1, 1, -(game.size + 1), game.size + 1


@kernel
def beside(cell, step):
    """The cell one step on, unsigned: Numba need not ask whether such an index counts from the end."""
    return np.uint16(np.int64(cell) + step)


@kernel
def living_by(game, state, cell):
    """Which of the chains beside an empty cell have no other liberty: a bit for each of the four sides."""
    west, east, north, south = sides(game)
    a, b = state.chain[beside(cell, west)], state.chain[beside(cell, east)]
    c, d = state.chain[beside(cell, north)], state.chain[beside(cell, south)]
    first, second = lives_by(state, a, b, c, d), lives_by(state, b, a, c, d)
    third, fourth = lives_by(state, c, a, b, d), lives_by(state, d, a, b, c)
    return first | second << 1 | third << 2 | fourth << 3


@kernel
def lives_by(state, chain, x, y, z):
    """1 if a chain has as many pseudo-liberties as stones beside a cell; the chains on the other sides are given."""
    touched = 1 + (chain == x) + (chain == y) + (chain == z)
    return np.int64((chain != NOWHERE) & (state.liberties[chain] == touched))


@kernel
def surroundings(game, state, cell):
    """What is beside a cell: four bits each count the empty cells, Black's, White's and the edges."""
    counts = 0
    for step in sides(game):
        near = beside(cell, step)
        counts += 1 << 4 * np.int64(state.cells[near])
    return counts


@kernel
def is_plain(state, cell, around):
    """Whether a stone on the empty cell has a liberty at once and can repeat nothing: so with most moves."""
    return (around & 15 != 0) & (not was_lost(state, state.to_play, cell))


@kernel
def may_roll(game, state, cell):
    """Whether a rollout may play on the empty cell: legal, and not into an own eye."""
    around = surroundings(game, state, cell)
    if is_plain(state, cell, around):
        return True
    return not is_own_eye(game, state, cell, around) and judge(game, state, cell) == 0


@kernel
def illegal_kind(game, state, cell):
    """0 if the player to move may play on the empty cell, else SUICIDE or REPETITION."""
    return 0 if is_plain(state, cell, surroundings(game, state, cell)) else judge(game, state, cell)


@kernel
def judge(game, state, cell):
    """The same for a cell that is not plain."""
    lives, captures, alone, bit = False, False, living_by(game, state, cell), 1
    for step in sides(game):
        content, has_more = state.cells[beside(cell, step)], alone & bit == 0
        lives |= (content == EMPTY) | ((content == state.to_play + 1) & has_more)
        captures |= (content == 2 - state.to_play) & (not has_more)
        bit <<= 1
    dies = not (lives | captures)
    if dies and game.suicide == 0:
        return SUICIDE
    may_repeat = dies or was_lost(state, state.to_play, cell)
    if may_repeat and is_in_history(state, key_after(game, state, cell, dies, alone)):
        return REPETITION
    return 0


@kernel
def key_after(game, state, cell, dies, alone):
    """The board's key after a move: without the chains that it captures or, if it dies, without its own.

    Which chains live by the cell alone is given (see `living_by`).
    """
    player = state.to_play
    result = state.key if dies else state.key ^ stone_key(cell, player)
    taken = player + 1 if dies else 2 - player
    previous = (-1, -1, -1)  # chains seen on earlier sides
    for step in sides(game):
        near = beside(cell, step)
        if state.cells[near] == taken and alone & 1 != 0:
            chain = state.chain[near]
            if chain != previous[0] and chain != previous[1] and chain != previous[2]:
                result ^= chain_key(state, chain, taken - 1)
            previous = (chain, previous[0], previous[1])
        alone >>= 1
    return result


@kernel
def chain_key(state, chain, player):
    """The keys of a chain's stones together."""
    result, stone = stone_key(chain, player), state.next[chain]
    while stone != chain:
        result ^= stone_key(stone, player)
        stone = state.next[stone]
    return result


@kernel
def was_lost(state, player, cell):
    return (state.lost[player, cell >> 6] >> np.uint64(cell & 63)) & ONE != 0


@kernel
def is_in_history(state, key):
    found, bit = False, key >> np.uint64(4) & np.uint64(63)
    if state.seen[key & np.uint64(15)] >> bit & ONE == 0:
        return False
    for i in range(min(state.positions, len(state.history))):
        found |= state.history[i] == key
    return found


@kernel
def remember(state):
    """Adds the board to the history, in place of the oldest when the ring is full."""
    key = state.key
    state.history[state.positions % len(state.history)] = key
    state.seen[key & np.uint64(15)] |= ONE << (key >> np.uint64(4) & np.uint64(63))
    state.positions += 1


@kernel
def put_stone(game, state, cell, player):
    """Places a stone; captures what has no liberty left, the opponent's chains first."""
    own, other = player + 1, 2 - player
    state.cells[cell] = own
    state.stones[player, cell >> 6] |= ONE << np.uint64(cell & 63)
    state.chain[cell] = state.next[cell] = cell
    state.key ^= stone_key(cell, player)
    state.captured = NOWHERE
    liberties = 0
    for step in sides(game):
        near = beside(cell, step)
        liberties += state.cells[near] == EMPTY
        state.liberties[state.chain[near]] -= 1
    state.liberties[cell] = liberties
    for step in sides(game):
        near = beside(cell, step)
        if (state.cells[near] == own) & (state.chain[near] != state.chain[cell]):
            join(state, state.chain[cell], state.chain[near])
    for step in sides(game):
        near = beside(cell, step)
        if (state.cells[near] == other) & (state.liberties[state.chain[near]] == 0):
            remove(game, state, state.chain[near])
    if state.liberties[state.chain[cell]] == 0:
        remove(game, state, state.chain[cell])


@kernel
def join(state, one, other):
    """Makes two chains one; the one with fewer liberties, most likely the shorter, is renamed."""
    if state.liberties[one] > state.liberties[other]:
        one, other = other, one
    state.chain[one] = other
    stone = state.next[one]
    while stone != one:
        state.chain[stone] = other
        stone = state.next[stone]
    state.liberties[other] += state.liberties[one]
    state.next[one], state.next[other] = state.next[other], state.next[one]


@kernel
def remove(game, state, chain):
    """Takes a chain off the board."""
    player = state.cells[chain] - 1
    stone = chain
    while True:
        state.cells[stone] = EMPTY
        state.chain[stone] = NOWHERE
        state.key ^= stone_key(stone, player)
        bit = ONE << np.uint64(stone & 63)
        state.stones[player, stone >> 6] ^= bit
        state.lost[player, stone >> 6] |= bit
        for step in sides(game):
            near = beside(stone, step)
            state.liberties[state.chain[near]] += 1
        stone = state.next[stone]
        if stone == chain:
            break
    if state.captured != NOWHERE:  # two chains at once: one ring
        state.next[chain], state.next[state.captured] = state.next[state.captured], state.next[chain]
    state.captured = chain


@kernel
def empty_cells(game, state, actions):
    count = 0
    for y in range(1, game.size + 1):
        for cell in range(y * (game.size + 1) + 1, (y + 1) * (game.size + 1)):
            actions[count] = cell  # stays if the cell is empty; no branch, since none could be foreseen
            count += state.cells[cell] == EMPTY
    return count


@kernel
def list_captured(state, actions, count):
    """Appends the cells that the last move emptied to a list of empty cells."""
    first = state.captured
    if first != NOWHERE:
        cell = first
        while True:
            actions[count] = cell
            count += 1
            cell = state.next[cell]
            if cell == first:
                break
    return count


@kernel
def is_own_eye(game, state, cell, around):
    """Whether only own stones are beside the cell, and at most one corner (none at the edge) is the opponent's."""
    own = state.to_play + 1
    if (around >> 4 * own & 15) + (around >> 4 * EDGE) < 4:
        return False
    hostile, at_edge = 0, 0
    for step in (-game.size - 2, -game.size, game.size, game.size + 2):
        near = beside(cell, step)
        hostile += state.cells[near] == 3 - own
        at_edge |= state.cells[near] == EDGE
    return hostile + at_edge < 2


@kernel
def area(game, state):
    """Black's stones, and empty points that reach only Black, less White's.

    Sweeps down and up until nothing changes. Which empty points of a row reach Black, and which White, are bits kept in
    `history`: when the game is over, nobody asks what was before.
    """
    for k in range(2 * game.size):
        state.history[k] = 0
    changed = True
    while changed:
        changed = False
        for y in range(game.size):
            changed |= reach_on(game, state, y)
        for y in range(game.size - 2, -1, -1):
            changed |= reach_on(game, state, y)
    margin = 0
    for y in range(game.size):
        margin += count_bits(owned_row(game, state, 0, y)) - count_bits(owned_row(game, state, 1, y))
    return margin


@kernel
def reach_on(game, state, y):
    """The empty points of row y reach what those beside them are or reach. Whether that was news."""
    empty, changed = empty_row(game, state, y), False
    for player in range(2):
        before = state.history[2 * y + player]
        stones, reached = row_of(game, state.stones, player, y), before
        if y > 0:
            reached |= row_of(game, state.stones, player, y - 1) | state.history[2 * y - 2 + player]
        if y + 1 < game.size:
            reached |= row_of(game, state.stones, player, y + 1) | state.history[2 * y + 2 + player]
        reached = (reached | stones << ONE | stones >> ONE) & empty
        more = (reached | reached << ONE | reached >> ONE) & empty
        while more != reached:
            reached = more
            more = (reached | reached << ONE | reached >> ONE) & empty
        state.history[2 * y + player] = reached
        changed |= reached != before
    return changed


@kernel
def owned_row(game, state, player, y):
    """A player's stones in row y and, once the game is over, the empty points that reach no other: as bits."""
    stones = row_of(game, state.stones, player, y)
    return stones | state.history[2 * y + player] & ~state.history[2 * y + 1 - player] if state.over != 0 else stones


@entry
def find_forbidden(game, states, kinds):
    """Why each empty point may not be played: kinds [points]."""
    for point in range(game.size * game.size):
        if states[0].cells[cell_of(game, point)] == EMPTY:
            kinds[point] = illegal_kind(game, states[0], cell_of(game, point))


@entry
def fill(game, states, board, to_play):
    """Sets up a diagram; chains without a liberty are missing afterwards."""
    state = states[0]
    frame(game, state)
    for player in range(2):
        for point in range(game.size * game.size):
            if board[point // game.size, point % game.size] == player + 1:
                put_stone(game, state, cell_of(game, point), player)
    state.lost[:] = 0
    state.to_play = to_play
    remember(state)
