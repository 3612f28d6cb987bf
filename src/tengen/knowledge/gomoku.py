"""Gomoku by line patterns: what a stone on each empty point would make, for both players, kept up to date.

A stone and the five points to either side of it along a line make five, or a four, or …: `make_table` lists all that
can be there, once for rows of five or more and once for exactly five. What a stone makes is found by adding stones: a
four is what one stone makes a five of, an open four what either of two does, an open three what becomes an open four.

The notes hold, for each player, how many points make each of these things, and for each point what it makes.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tengen.games.gomoku import BLACK, FREESTYLE, RENJU, WHITE, is_allowed
from tengen.rules.bits import lowest_bit
from tengen.rules.contract import kernel, legal, rules
from tengen.rules.kernels import entry
from tengen.rules.lines import line_through, points_of_line

NOTHING, ONE, TWO, OPEN_TWO, THREE, OPEN_THREE, FOUR, OPEN_FOUR, FIVE = range(9)
REACH = 5  # points to either side that matter
HAS_FOUR = np.uint32(0xF << 4 * (FOUR - 1))  # in a point's `makes`
HAS_OPEN_FOUR = np.uint32(0xF << 4 * (OPEN_FOUR - 1))
HAS_FIVE = np.uint32(0xF << 4 * (FIVE - 1))
HAS_OPEN_THREE = np.uint32(0xF << 4 * (OPEN_THREE - 1))
MAKES_FOUR = HAS_FOUR | HAS_OPEN_FOUR

ATTACK = np.array([0, 1, 4, 10, 16, 40, 60, 600, 4000], np.int32)  # of a point for who plays there, line by line
MOVING = np.array([0, 0, 2, 6, 9, 24, 36, 2000, 20000], np.int32)  # of all points, for the player to move
WAITING = np.array([0, 0, 2, 5, 7, 18, 24, 300, 3000], np.int32)  # and for the other


class LinePatterns(NamedTuple):
    """Gomoku by what a stone on each empty point would make."""

    tables: Any  # [players, 4**10]: what a stone makes, by the stones and the blocked points around it
    region: int = 2  # candidates are points this near to a stone; 0 for all
    width: int = 0  # and of these, the best so many; 0 for all

    @property
    def is_complete(self):
        return self.region == self.width == 0

    @property
    def scale(self):
        return 400.0

    def record(self, game):
        points = game.cells
        return np.dtype(
            [
                ("makes", np.uint32, (2, points)),  # how often a point makes each thing: four bits a kind
                ("attack", np.int32, (2, points)),  # the sum of ATTACK over the point's lines
                ("counts", np.int16, (2, 9)),  # points and lines that make each thing
            ],
            align=True,
        )


@cache
def tables_for(game: Any) -> np.ndarray:
    """What a stone makes, for each player by the game's rule: [players, 4**10]."""
    tables = np.zeros((2, 4**10), np.uint8)
    for player in (BLACK, WHITE):
        is_exact = game.rule != FREESTYLE and not (game.rule == RENJU and player == WHITE)
        make_table(game, tables[player], is_exact)
    return tables


@entry
def make_table(game, table, is_exact):
    """Fills table [own | blocked << 10]: own stones and blocked points on ten points, nearest in the middle.

    More stones come later in the order of `own`, so going down, what one more stone makes is there already.
    """
    everywhere = (1 << 2 * REACH) - 1
    for own in range(everywhere, -1, -1):
        length = row_through_middle(own)
        for blocked in range(everywhere + 1):
            if own & blocked == 0:
                if length >= 5:
                    table[own | blocked << 10] = NOTHING if is_exact and length > 5 else FIVE
                else:
                    table[own | blocked << 10] = what_is_made(table, own, blocked)


make_table.is_heavy = True  # a million entries


@kernel
def row_through_middle(own):
    """How long the unbroken row through the middle is."""
    length, bit = 1, REACH
    while bit < 2 * REACH and own >> bit & 1:
        length, bit = length + 1, bit + 1
    bit = REACH - 1
    while bit >= 0 and own >> bit & 1:
        length, bit = length + 1, bit - 1
    return length


@kernel
def what_is_made(table, own, blocked):
    """By the best that one more stone makes of it."""
    best, fives = NOTHING, 0
    for point in range(2 * REACH):
        if (own | blocked) >> point & 1 == 0:
            made = table[own | 1 << point | blocked << 10]
            fives += made == FIVE
            best = max(best, made)
    if best == FIVE:
        return OPEN_FOUR if fives > 1 else FOUR
    if best >= THREE:
        return best - 2  # an open four is made of an open three, a four of a three, …
    return ONE if best >= TWO else NOTHING


@kernel
def around(word, at):
    """The ten points around `at` of a line, without the one in the middle."""
    near = word >> np.uint64(at - REACH)
    return (near & np.uint64(31)) | ((near >> np.uint64(1)) & np.uint64(31 << 5))


@kernel
def change(notes, player, point, before, after):
    """A line through a point makes something else for a player now."""
    if before == after:
        return
    notes.counts[player, before] -= 1
    notes.counts[player, after] += 1
    if before != NOTHING:
        notes.makes[player, point] -= np.uint32(1) << np.uint32(4 * (before - 1))
    if after != NOTHING:
        notes.makes[player, point] += np.uint32(1) << np.uint32(4 * (after - 1))
    notes.attack[player, point] += ATTACK[after] - ATTACK[before]


@rules(LinePatterns)
def take_notes(evaluation, game, state, notes):
    for y in range(game.size):
        for x in range(game.size):
            for direction in range(4):
                black, at = line_through(state.lines[BLACK], direction, x, y)
                white, at = line_through(state.lines[WHITE], direction, x, y)
                if (black | white) >> np.uint64(at) & np.uint64(1) == 0:
                    off = ~points_of_line(game.size, game.size, direction, x, y)
                    for player in range(2):
                        own, other = (black, white) if player == BLACK else (white, black)
                        index = around(own, at) | around(other | off, at) << np.uint64(10)
                        notes.counts[player, NOTHING] += 1
                        change(notes, player, y * game.size + x, NOTHING, evaluation.tables[player, index])


@rules(LinePatterns)
def follow(evaluation, game, before, after, action, notes):
    """The point is taken; what can be made has changed on the empty points up to five from it."""
    leave_point(notes, action)
    y = action // game.size
    x, mover = action - y * game.size, before.to_play
    for direction in range(4):
        own, at = line_through(after.lines[mover], direction, x, y)
        other, at = line_through(after.lines[1 - mover], direction, x, y)
        points = points_of_line(game.size, game.size, direction, x, y)
        stone, step = np.uint64(1) << np.uint64(at), step_along(game.size, direction)
        near = points & ~(own | other) & (np.uint64(2047) << np.uint64(at - REACH))
        while near != 0:
            bit = lowest_bit(near)
            near &= near - np.uint64(1)
            point = np.uint32(action + (bit - at) * step)
            mine, theirs = around(own, bit), around(other | ~points, bit)
            placed = around(stone, bit)
            table = evaluation.tables[mover]
            index = mine | theirs << np.uint64(10)
            change(notes, mover, point, table[index ^ placed], table[index])
            table = evaluation.tables[1 - mover]
            mine, theirs = around(other, bit), around(own | ~points, bit)
            index = mine | theirs << np.uint64(10)
            change(notes, 1 - mover, point, table[index ^ placed << np.uint64(10)], table[index])


@kernel
def step_along(size, direction):
    """From one point of a line to the next."""
    return 1 if direction == 0 else size if direction == 1 else size + 1 if direction == 2 else size - 1


@kernel
def leave_point(notes, point):
    """Nothing can be made on a point any more."""
    for player in range(2):
        makes = np.int64(notes.makes[player, point])
        some = 0
        for kind in range(1, 9):
            number = makes >> 4 * (kind - 1) & 15
            notes.counts[player, kind] -= number
            some += number
        notes.counts[player, NOTHING] -= 4 - some
        notes.makes[player, point] = 0
        notes.attack[player, point] = 0


@rules(LinePatterns)
def evaluate(evaluation, game, state, notes):
    mover, score = state.to_play, 0
    for kind in range(1, 9):
        score += MOVING[kind] * notes.counts[mover, kind] - WAITING[kind] * notes.counts[1 - mover, kind]
    return score


@rules(LinePatterns)
def candidates(evaluation, game, state, notes, actions, scores):
    """What is forced first: one's own five, the other's, one's own open four, the other's; then the region."""
    count = forced(game, state, notes, actions, scores)
    if count == 0:
        count = points_near(game, state, evaluation.region, actions)
        for i in range(count):
            scores[i] = promise(notes, state.to_play, 1 - state.to_play, actions[i])
        if 0 < evaluation.width < count:
            count = keep_best(evaluation.width, actions, scores, count)
    if count == 0:
        count = legal(game, state, actions)
        for i in range(count):
            scores[i] = 0
    return count


@kernel
def forced(game, state, notes, actions, scores):
    """The only actions that need a look because of fives and open fours that can be made; 0 if there are none.

    Against an open four to come: its points, or a four of one's own. All of them make a four for one side or the other.
    """
    own, other = state.to_play, 1 - state.to_play
    if notes.counts[own, FIVE] > 0:
        return points_that(game, state, notes, HAS_FIVE, np.uint32(0), actions, scores, 1)
    if notes.counts[other, FIVE] > 0:
        return points_that(game, state, notes, np.uint32(0), HAS_FIVE, actions, scores, len(actions))
    if notes.counts[own, OPEN_FOUR] > 0:
        count = points_that(game, state, notes, HAS_OPEN_FOUR, np.uint32(0), actions, scores, 1)
        if count > 0:
            return count
    if notes.counts[other, OPEN_FOUR] > 0 and is_threatened(game, state, notes):
        return points_that(game, state, notes, MAKES_FOUR, MAKES_FOUR, actions, scores, len(actions))
    return 0


@kernel
def is_threatened(game, state, notes):
    """Whether the other player may make an open four: Renju can forbid it."""
    if game.rule != RENJU or state.to_play == BLACK:
        return True
    for point in range(game.size * game.size):
        if notes.makes[BLACK, point] & HAS_OPEN_FOUR and is_allowed(game, state, point):
            return True
    return False


@kernel
def points_that(game, state, notes, own_kinds, other_kinds, actions, scores, most):
    """Lists allowed points on which the player to move, or the other, makes one of these kinds."""
    own, other, count = state.to_play, 1 - state.to_play, 0
    for point in range(game.size * game.size):
        if notes.makes[own, point] & own_kinds or notes.makes[other, point] & other_kinds:
            if may_play(game, state, point):
                actions[count] = point
                scores[count] = promise(notes, own, other, point)
                count += 1
                if count == most:
                    break
    return count


@kernel
def promise(notes, own, other, point):
    """How good a point seems: what it makes, and what it keeps the other from making; two threats are a win."""
    score = 2 * notes.attack[own, point] + notes.attack[other, point]
    for player in range(2):
        makes = notes.makes[player, point]
        fours = np.int64(makes >> np.uint32(4 * (FOUR - 1)) & np.uint32(15))
        threes = np.int64(makes >> np.uint32(4 * (OPEN_THREE - 1)) & np.uint32(15))
        if 2 * fours + threes >= 2 and fours + threes >= 2:
            score += 200 + 200 * fours if player == own else 100 + 100 * fours
    return np.int64(score) << 6


@kernel
def points_near(game, state, region, actions):
    """Lists the allowed points at most `region` from a stone, on an empty board the middle; for region 0, all."""
    if state.ply == 0 and region > 0:
        actions[0] = game.size // 2 * (game.size + 1)
        return 1
    count, reach = 0, region if region > 0 else game.size
    board = (np.uint64(1) << np.uint64(game.size)) - np.uint64(1)
    for y in range(game.size):
        near = np.uint64(0)
        for row in range(max(0, y - reach), min(game.size, y + reach + 1)):
            near |= np.uint64(state.lines[0, row] | state.lines[1, row])
        spread = near if region > 0 else board
        for i in range(1, reach + 1):
            spread |= near << np.uint64(i) | near >> np.uint64(i)
        spread &= board & ~np.uint64(state.lines[0, y] | state.lines[1, y])
        while spread != 0:
            point = y * game.size + lowest_bit(spread)
            spread &= spread - np.uint64(1)
            if may_play(game, state, point):
                actions[count] = point
                count += 1
    return count


@kernel
def may_play(game, state, point):
    """Whether an empty point is allowed to the player to move."""
    return game.rule != RENJU or state.to_play != BLACK or is_allowed(game, state, point)


@kernel
def keep_best(width, actions, scores, count):
    """Moves the best `width` actions to the front; returns width."""
    for i in range(width):
        best = i
        for j in range(i + 1, count):
            if scores[j] > scores[best]:
                best = j
        actions[i], actions[best] = actions[best], actions[i]
        scores[i], scores[best] = scores[best], scores[i]
    return width


@rules(LinePatterns)
def threats(evaluation, game, state, notes, actions, scores):
    """A five to make or to stop, or an open four, cannot wait; fours may be tried."""
    own, other = state.to_play, 1 - state.to_play
    if notes.counts[own, FIVE] > 0 or notes.counts[other, FIVE] > 0 or notes.counts[own, OPEN_FOUR] > 0:
        count = forced(game, state, notes, actions, scores)
        if count > 0:
            return -count
    if notes.counts[own, FOUR] > 0:
        return points_that(game, state, notes, HAS_FOUR, np.uint32(0), actions, scores, len(actions))
    return 0
