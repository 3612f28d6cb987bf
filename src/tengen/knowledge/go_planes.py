"""What a policy network of Go is shown: 27 planes, for boards up to 9×9. `docs/alphago.md` has them one by one.

Points are kept as sets: two words with ten bits a row, the tenth always empty, the first six rows in the first word. A
chain is then a set that grows into its neighbours until it is closed, and its liberties are the empty neighbours: no
memory but these words is needed, and all of it runs on every target.

A ladder, here, is what a player reads at a glance. The hunter takes one of the two liberties of a chain, and the chain
runs to the other. It has escaped when it has three liberties then, or could take a stone of the hunter's that touches
it; it is caught when it has one. In between the hunter chooses again. Ko is no part of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tengen.games.go import EMPTY, NOWHERE, REPETITION, cell_at, illegal_kind, is_own_eye, surroundings
from tengen.rules.bits import ONE, count_bits, lowest_bit
from tengen.rules.contract import kernel
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game
from tengen.rules.kernels import entry

LARGEST = 9  # board
WIDTH, HIGH_ROW = 10, 6  # bits of a row; the row with which the second word begins
LEFT, ROW, SPAN = np.uint64(1), np.uint64(WIDTH), np.uint64(WIDTH * (HIGH_ROW - 1))
FIRST_ROW = np.uint64(2**WIDTH - 1)
NONE = np.uint64(0)
MOST_CHASES = 256  # moves of the hunter that one ladder may take, wrong turns and all; nobody reads on

OWN, OTHER, BOARD, LAST, PASSED, BLACK = 0, 1, 2, 3, 4, 5
OWN_LIBERTIES, OTHER_LIBERTIES = 6, 10  # four planes each: one, two, three, more
CAPTURES = 14  # three planes: one stone, two, more
LIBERTIES_AFTER = 17  # four planes: one, two, three, more
LARGE_SELF_ATARI, KO, EYE, LADDER_CAPTURE, LADDER_ESCAPE, EMPTIED = 21, 22, 23, 24, 25, 26
NAMES = (
    "own stones",
    "opponent's stones",
    "the board",
    "last move",
    "the opponent passed",
    "first player to move",
    *(f"own chains with {count} liberties" for count in ("1", "2", "3", "4 or more")),
    *(f"opponent's chains with {count} liberties" for count in ("1", "2", "3", "4 or more")),
    *(f"moves that capture {count} stones" for count in ("1", "2", "3 or more")),
    *(f"moves after which the own chain has {count} liberties" for count in ("1", "2", "3", "4 or more")),
    "moves into atari with three stones or more",
    "points forbidden by ko",
    "own eyes",
    "moves that catch a chain in a ladder",
    "moves that save a chain from a ladder",
    "points emptied by the last move",
)
PLANES = len(NAMES)
GROUPS = {  # what an experiment leaves out together
    "stones": (OWN, OTHER),
    "board": (BOARD,),
    "last": (LAST, PASSED, EMPTIED),
    "player": (BLACK,),
    "liberties": tuple(range(OWN_LIBERTIES, CAPTURES)),
    "captures": tuple(range(CAPTURES, LIBERTIES_AFTER)),
    "after": (*range(LIBERTIES_AFTER, LARGE_SELF_ATARI), LARGE_SELF_ATARI),
    "ko": (KO,),
    "eyes": (EYE,),
    "ladders": (LADDER_CAPTURE, LADDER_ESCAPE),
}


# Sets of points.


@kernel
def common(one, other):
    return one[0] & other[0], one[1] & other[1]


@kernel
def together(one, other):
    return one[0] | other[0], one[1] | other[1]


@kernel
def without(one, other):
    return one[0] & ~other[0], one[1] & ~other[1]


@kernel
def is_none(points):
    return (points[0] | points[1]) == NONE


@kernel
def count_points(points):
    return count_bits(points[0]) + count_bits(points[1])


@kernel
def lowest(points):
    """The set of one point, the first of a set that is not empty."""
    if points[0] != NONE:
        return points[0] & (~points[0] + ONE), NONE
    return NONE, points[1] & (~points[1] + ONE)


@kernel
def row_of(point):
    """The row of a set of one point."""
    word, rows = (point[0], 0) if point[0] != NONE else (point[1], HIGH_ROW)
    return rows + lowest_bit(word) // WIDTH


@kernel
def column_of(point):
    """The column of a set of one point."""
    return lowest_bit(point[0] if point[0] != NONE else point[1]) % WIDTH


@kernel
def point_at(x, y):
    """The set of the point in column x and row y."""
    if y < HIGH_ROW:
        return ONE << np.uint64(y * WIDTH + x), NONE
    return NONE, ONE << np.uint64((y - HIGH_ROW) * WIDTH + x)


@kernel
def beside_set(points, board):
    """The points of the board beside those of a set."""
    low, high = points
    return (
        ((low << LEFT) | (low >> LEFT) | (low << ROW) | (low >> ROW) | ((high & FIRST_ROW) << SPAN)) & board[0],
        ((high << LEFT) | (high >> LEFT) | (high << ROW) | (high >> ROW) | (low >> SPAN)) & board[1],
    )


@kernel
def grown(points, stones, board):
    """The points with all stones that they are connected to."""
    while True:
        more = together(points, common(beside_set(points, board), stones))
        if more[0] == points[0] and more[1] == points[1]:
            return points
        points = more


@kernel
def liberties_of(chain, occupied, board):
    return without(beside_set(chain, board), occupied)


# Ladders.


@kernel
def placed(board, movers, others, point):
    """Both players' stones after the mover played on a point, chains of the other that have no liberty left removed."""
    movers = together(movers, point)
    near = common(beside_set(point, board), others)
    while not is_none(near):
        chain = grown(lowest(near), others, board)
        near = without(near, chain)
        if is_none(liberties_of(chain, together(movers, others), board)):
            others = without(others, chain)
    return movers, others


@kernel
def can_take_chaser(board, hunters, occupied, chain):
    """Whether some stones of the hunter's that touch the chain have a single liberty."""
    near = common(beside_set(chain, board), hunters)
    while not is_none(near):
        chaser = grown(lowest(near), hunters, board)
        near = without(near, chaser)
        if count_points(liberties_of(chaser, occupied, board)) == 1:
            return True
    return False


@kernel
def liberties_after_chase(board, hunters, runners, target, move):
    """A move of the hunter's and the runner's answer: both players' stones, and the liberties that the chain has then.

    `target` is a stone of the chain. A chain that got away has the whole board for its liberties.
    """
    hunters, runners = placed(board, hunters, runners, move)
    occupied = together(hunters, runners)
    if is_none(liberties_of(grown(move, hunters, board), occupied, board)):  # suicide
        return hunters, runners, board
    chain = grown(target, runners, board)
    last = liberties_of(chain, occupied, board)
    if count_points(last) != 1 or can_take_chaser(board, hunters, occupied, chain):
        return hunters, runners, board
    runners, hunters = placed(board, runners, hunters, last)
    return hunters, runners, liberties_of(grown(target, runners, board), together(hunters, runners), board)


@kernel
def catches(board, hunters, runners, target, first):
    """Whether the hunter, by his move `first` on one of its two liberties, catches the chain of a stone in a ladder.

    Only the hunter chooses, between two liberties at a time, so a way is a word of bits, one a choice. Where a way
    fails, the last choice that has another side is changed, and the chase is played again from its beginning.
    """
    choices, chases = NONE, 0
    while True:
        stones, prey, move, depth = hunters, runners, first, 0
        while chases < MOST_CHASES:
            chases += 1
            stones, prey, left = liberties_after_chase(board, stones, prey, target, move)
            if count_points(left) <= 1:
                return True
            if count_points(left) > 2:
                break
            move = lowest(left)
            if (choices >> np.uint64(depth)) & ONE != NONE:
                move = without(left, move)
            depth += 1
        while depth > 0 and (choices >> np.uint64(depth - 1)) & ONE != NONE:
            depth -= 1
            choices &= ~(ONE << np.uint64(depth))
        if depth == 0 or chases >= MOST_CHASES:
            return False
        choices |= ONE << np.uint64(depth - 1)


@kernel
def escapes(board, own, other, target, move):
    """Whether a player's move saves the chain of a stone that is in atari."""
    own, other = placed(board, own, other, move)
    left = liberties_of(grown(target, own, board), together(own, other), board)
    if count_points(left) != 2:
        return count_points(left) > 2
    one = lowest(left)
    return not (catches(board, other, own, target, one) or catches(board, other, own, target, without(left, one)))


# Planes.


@kernel
def mark(game, points, plane):
    """Sets a plane to one on each point of a set."""
    while not is_none(points):
        point = lowest(points)
        points = without(points, point)
        plane[row_of(point) * game.size + column_of(point)] = 1


@kernel
def show_chains(game, board, own, other, planes, first):
    """Shows the liberties of a player's chains in four planes from `first`; returns the stones of those in atari."""
    waiting, in_atari = own, (NONE, NONE)
    while not is_none(waiting):
        chain = grown(lowest(waiting), own, board)
        waiting = without(waiting, chain)
        count = count_points(liberties_of(chain, together(own, other), board))
        mark(game, chain, planes[first + min(count, 4) - 1])
        if count == 1:
            in_atari = together(in_atari, chain)
    return in_atari


@kernel
def show_ladders(game, state, board, own, other, in_atari, planes):
    """Shows moves that catch a chain of the other's that has two liberties, or save an own one that has one."""
    occupied, waiting = together(own, other), other
    while not is_none(waiting):
        chain = grown(lowest(waiting), other, board)
        waiting = without(waiting, chain)
        moves = liberties_of(chain, occupied, board)
        is_prey = count_points(moves) == 2
        while is_prey and not is_none(moves):
            move = lowest(moves)
            moves = without(moves, move)
            if is_legal(game, state, move) and catches(board, own, other, lowest(chain), move):
                mark(game, move, planes[LADDER_CAPTURE])
    waiting = in_atari
    while not is_none(waiting):
        chain = grown(lowest(waiting), own, board)
        waiting = without(waiting, chain)
        moves = saving_moves(board, own, other, chain)
        while not is_none(moves):
            move = lowest(moves)
            moves = without(moves, move)
            if is_legal(game, state, move) and escapes(board, own, other, lowest(chain), move):
                mark(game, move, planes[LADDER_ESCAPE])


@kernel
def saving_moves(board, own, other, chain):
    """The last liberty of a chain in atari, and those of the other's chains in atari that touch it."""
    occupied = together(own, other)
    moves = liberties_of(chain, occupied, board)
    near = common(beside_set(chain, board), other)
    while not is_none(near):
        chaser = grown(lowest(near), other, board)
        near = without(near, chaser)
        left = liberties_of(chaser, occupied, board)
        if count_points(left) == 1:
            moves = together(moves, left)
    return moves


@kernel
def is_legal(game, state, point):
    """Whether the player to move may play on an empty point."""
    return illegal_kind(game, state, cell_at(game, column_of(point), row_of(point))) == 0


@kernel
def show_move(board, own, other, other_in_atari, move, planes, point):
    """Shows what a legal move does: what it captures, and how many liberties its chain has then."""
    caught = grown(common(beside_set(move, board), other_in_atari), other_in_atari, board)
    if not is_none(caught):
        planes[CAPTURES + min(count_points(caught), 3) - 1, point] = 1
    stones = together(own, move)
    chain = grown(move, stones, board)
    count = count_points(liberties_of(chain, together(stones, without(other, caught)), board))
    if count > 0:  # else it is suicide, where that is allowed
        planes[LIBERTIES_AFTER + min(count, 4) - 1, point] = 1
    planes[LARGE_SELF_ATARI, point] = count == 1 and count_points(chain) >= 3


@kernel
def show_emptied(game, state, planes):
    """Shows the points that the last move emptied, which `next` still rings together."""
    first = state.captured
    if first == NOWHERE or state.last == 0 or state.last == game.size * game.size + 1:
        return
    cell = first
    while True:
        y, x = cell // (game.size + 1) - 1, cell % (game.size + 1) - 1
        planes[EMPTIED, y * game.size + x] = 1
        cell = state.next[cell]
        if cell == first:
            return


@kernel
def encode27(game, state, planes):
    """Writes all of `planes` [27, cells], as seen by the player to move of a game that goes on."""
    board = own = other = (NONE, NONE)
    for plane in range(PLANES):
        for point in range(game.size * game.size):
            planes[plane, point] = 0
    for y in range(game.size):
        for x in range(game.size):
            stone, here = state.cells[cell_at(game, x, y)], point_at(x, y)
            board = together(board, here)
            if stone == state.to_play + 1:
                own = together(own, here)
            elif stone != EMPTY:
                other = together(other, here)
    mark(game, own, planes[OWN])
    mark(game, other, planes[OTHER])
    mark(game, board, planes[BOARD])
    if state.last == game.size * game.size + 1:
        mark(game, board, planes[PASSED])
    elif state.last > 0:
        planes[LAST, state.last - 1] = 1
    if state.to_play == 0:
        mark(game, board, planes[BLACK])
    in_atari = show_chains(game, board, own, other, planes, OWN_LIBERTIES)
    other_in_atari = show_chains(game, board, other, own, planes, OTHER_LIBERTIES)
    for y in range(game.size):
        for x in range(game.size):
            cell, point = cell_at(game, x, y), y * game.size + x
            if state.cells[cell] == EMPTY:
                kind = illegal_kind(game, state, cell)
                if kind == 0:
                    show_move(board, own, other, other_in_atari, point_at(x, y), planes, point)
                planes[KO, point] = kind == REPETITION
                planes[EYE, point] = is_own_eye(game, state, cell, surroundings(game, state, cell))
    show_ladders(game, state, board, own, other, in_atari, planes)
    show_emptied(game, state, planes)


@entry
def encode_rows(game, states, rows, planes):
    """The planes of some of many states: planes[row] of planes [states, 27, cells] for each of rows [n]."""
    for i in range(len(rows)):
        encode27(game, states[rows[i]], planes[rows[i]])


def check_size(game: Game) -> None:
    """Refuses what the planes are not for."""
    if game.name not in ("go", "tromp-taylor") or game.shape[0] > LARGEST:
        raise BadParameter(f"the {PLANES} planes are for Go on boards up to {LARGEST}×{LARGEST}, not {game.spec}")


def encode_states(game: Game, states: Any) -> np.ndarray:
    """The planes of states: uint8 [states, 27, cells]."""
    check_size(game)
    planes = np.zeros((len(states), PLANES, game.cells), np.uint8)
    encode_rows(game.parameters, states, np.arange(len(states)), planes)
    return planes
