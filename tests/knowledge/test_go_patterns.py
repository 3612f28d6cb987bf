"""Rollouts by patterns: what is kept up to date is what the board says, and moves are drawn as often as they weigh."""

import random

import numpy as np
import pytest
from judges import random_position

from tengen import load_game
from tengen.games.go import PASS, cell_of, is_own_eye, move, surroundings
from tengen.knowledge import go_patterns
from tengen.knowledge.go_patterns import (
    ATARIS,
    ATTACKS,
    CAPTURES,
    CODES,
    DEFENDS,
    FEATURES,
    NEAR,
    SAVES,
    OpenEyes,
    PatternPolicy,
    Patterns,
    canonical,
    choose_cell,
    colours_changed,
    follow_move,
    images,
    last_cell,
    mark_points,
    own_eyes,
    self_atari,
    take_notes_of,
)
from tengen.rules.contract import advance, first_seed
from tengen.rules.kernels import entry
from tengen.search.rollouts import Even, QuickRollouts, choices

GO = load_game("go:size=9,komi=5.5")


@pytest.fixture(scope="module")
def patterns():
    return Patterns.fitted()


def new_notes(count=1):
    return np.zeros(count, Patterns.fitted().record(GO)).view(np.recarray)


def test_patterns_and_their_images():
    """Eight images, of which any stands for the same; a corner's stone turned by a quarter is the next corner's."""
    rng = np.random.default_rng(1)
    codes = rng.integers(1 << 20, size=500)
    turned = images(codes)
    assert turned.shape == (8, 500)
    assert (turned[0] == codes).all()
    for image in turned:
        assert (canonical(image) == canonical(codes)).all()
    stones = 1 << 2 * np.arange(8)  # Black's, on each of the eight points
    assert len(set(canonical(stones).tolist())) == 2  # beside the point, or at its corner
    assert canonical(np.array([1 << 16 | 1])) == canonical(
        np.array([1 << 17 | 1 << 4])
    )  # north in atari, east in atari


def test_colours_change():
    codes = np.arange(CODES)
    changed = colours_changed(codes)
    assert (colours_changed(changed) == codes).all()
    assert changed[0b11_00_10_01] == 0b11_00_01_10


@entry
def find_eyes(game, states, eyes):
    for point in range(game.size * game.size):
        cell = cell_of(game, point)
        if states[0].cells[cell] == 0:
            eyes[point] = is_own_eye(game, states[0], cell, surroundings(game, states[0], cell))


@entry
def read_notes(game, tables, states, notes, marks, sizes):
    """Marks and self-atari of all empty points: [points]."""
    take_notes_of(tables[0], game, states[0], notes[0])
    mark_points(game, states[0], notes[0], last_cell(game, states[0]))
    for point in range(game.size * game.size):
        cell = cell_of(game, point)
        marks[point] = notes[0].marks[cell]
        if states[0].cells[cell] == 0:
            sizes[point] = self_atari(game, states[0], cell)


def marks_of(position, patterns):
    marks, sizes = np.zeros(81, np.int64), np.zeros(81, np.int64)
    read_notes(GO.parameters, patterns.tables, position.states, new_notes(), marks, sizes)
    return marks, sizes


def test_own_eyes_are_known_by_their_pattern(patterns):
    rng, seen = random.Random(3), 0
    for _ in range(60):
        position = random_position(GO, rng, rng.randrange(30, 110))
        if position.outcome is None:
            eyes = np.zeros(81, np.bool_)
            find_eyes(GO.parameters, position.states, eyes)
            weights = PatternPolicy(GO, patterns)(position.states)[0, :81]
            empty = position.board.ravel() == 0
            assert ((weights < -8) == eyes)[empty].all()  # a weight of nothing
            seen += int(eyes.sum())
    assert seen > 20
    assert own_eyes(np.array([0x5555])).all()  # nothing but Black's around
    assert not own_eyes(np.array([0x5555 ^ 0b11 << 4])).any()  # White's to the east


def chain_at(board, point):
    """The stones of the chain on a point, and its liberties: slow and obvious."""
    stones, liberties, waiting = {point}, set(), [point]
    while waiting:
        y, x = divmod(waiting.pop(), 9)
        for v, u in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
            if 0 <= v < 9 and 0 <= u < 9:
                if board[v, u] == 0:
                    liberties.add(9 * v + u)
                elif board[v, u] == board[divmod(point, 9)] and 9 * v + u not in stones:
                    stones.add(9 * v + u)
                    waiting.append(9 * v + u)
    return frozenset(stones), liberties


def beside(point):
    y, x = divmod(point, 9)
    return [9 * v + u for v, u in ((y - 1, x), (y, x + 1), (y + 1, x), (y, x - 1)) if 0 <= v < 9 and 0 <= u < 9]


def expected_mark(position, point):
    """What a point is, by the board alone."""
    board, last, own = position.board, position.last_cell, position.to_play + 1
    mark, saved, captured = 0, 0, 0
    for bit, (dy, dx) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
        y, x = point // 9 + dy, point % 9 + dx
        if 0 <= y < 9 and 0 <= x < 9 and board[y, x]:
            stones, liberties = chain_at(board, 9 * y + x)
            if liberties == {point}:
                mark |= 1 << ATARIS + bit
                size = min(len(stones), 3)
                saved, captured = (max(saved, size), captured) if board[y, x] == own else (saved, max(captured, size))
    mark |= captured << CAPTURES | saved << SAVES
    if last is not None:
        distance = sorted((abs(point // 9 - last // 9), abs(point % 9 - last % 9)))
        mark |= {(0, 1): 1, (1, 1): 2}.get(tuple(distance), 0) << NEAR
        for near, bit in [(last, ATTACKS), *((near, DEFENDS) for near in beside(last))]:
            mover = own if bit == DEFENDS else 3 - own
            if board[divmod(near, 9)] == mover:
                liberties = chain_at(board, near)[1]
                mark |= (len(liberties) == 2 and point in liberties) << bit
    return mark


def test_marks_are_what_the_board_says(patterns):
    """But for rescues, which a diagram shows below."""
    rng, checked = random.Random(5), 0
    for _ in range(40):
        position = random_position(GO, rng, rng.randrange(5, 90))
        if position.outcome is None:
            marks, sizes = marks_of(position, patterns)
            for point in np.flatnonzero(position.board.ravel() == 0).tolist():
                assert marks[point] & ~(1 << go_patterns.RESCUES) == expected_mark(position, point)
                checked += int(marks[point] > 0)
                if point in position.legal_actions:
                    after = position.play(point)
                    stones, liberties = chain_at(after.board, point)
                    captured = np.count_nonzero(after.board) <= np.count_nonzero(position.board)
                    expected = min(len(stones), 3) if len(liberties) == 1 and not captured else 0
                    assert sizes[point] == expected, GO.action_text(point)
    assert checked > 200


def test_a_rescue(patterns):
    """White's c4 holds Black's c5 in atari: to take it at c3 is a rescue. To take h2, which holds nothing, is not."""
    position = GO.from_board(
        """
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . O . . . . . .
        . O X . . . . . .
        . X O X . . . . .
        . . . . . . . X .
        . . . . . . X O X
        . . . . . . . . .
        """,
        "X",
    )
    marks, _ = marks_of(position, patterns)
    taken = {name: marks[GO.parse_action(name)] >> CAPTURES & 3 for name in ("c3", "h1")}
    rescues = {name: marks[GO.parse_action(name)] >> go_patterns.RESCUES & 1 for name in ("c3", "h1")}
    assert taken == {"c3": 1, "h1": 1}
    assert rescues == {"c3": 1, "h1": 0}


@entry
def play_and_compare(game, tables, states, notes, fresh, number):
    """Plays a game by patterns; returns how many times notes kept up to date differ from those read anew, and plies."""
    state, seed, wrong = states[0], first_seed(number), 0
    take_notes_of(tables[0], game, state, notes[0])
    last = last_cell(game, state)
    while state.over == 0:
        count = mark_points(game, state, notes[0], last)
        cell, seed = choose_cell(tables[0], game, state, notes[0], count, seed)
        move(game, state, cell)
        last = 0
        if cell != PASS and state.over == 0:
            last = cell
            follow_move(tables[0], game, state, notes[0], cell)
            take_notes_of(tables[0], game, state, fresh[0])
            for point in range(game.size * game.size):
                at = cell_of(game, point)
                wrong += notes[0].weights[at] != fresh[0].weights[at]
                wrong += state.cells[at] == 0 and notes[0].codes[at] != fresh[0].codes[at]
                wrong += notes[0].marks[at] != 0
    return wrong, state.ply


@pytest.mark.parametrize("spec", ["go:size=9", "go:size=5", "go:size=7,suicide=1", "go:size=13"])
def test_notes_follow_the_game(spec, patterns):
    game = load_game(spec)
    notes, fresh = (np.zeros(1, patterns.record(game)).view(np.recarray) for _ in range(2))
    plies = 0
    for number in range(30):
        wrong, ply = play_and_compare(game.parameters, patterns.tables, game.start().states, notes, fresh, number)
        assert wrong == 0
        plies += ply
    assert plies > 30 * game.cells // 2


@entry
def draw_many(game, tables, states, notes, draws, counts):
    """How often each point is drawn: counts [points]."""
    seed = first_seed(11)
    take_notes_of(tables[0], game, states[0], notes[0])
    for _ in range(draws):
        count = mark_points(game, states[0], notes[0], last_cell(game, states[0]))
        cell, seed = choose_cell(tables[0], game, states[0], notes[0], count, advance(seed))
        for point in range(game.size * game.size):
            counts[point] += cell_of(game, point) == cell


def test_points_are_drawn_as_often_as_they_weigh(patterns):
    """In a position without self-atari, where the patterns' policy is the distribution itself."""
    position = GO.from_moves("e5 e4 d4 f5 d5 f4 e3 e6")
    marks, sizes = marks_of(position, patterns)
    assert sizes.max() == 0 and marks.max() > 0
    draws, counts = 200_000, np.zeros(81, np.int64)
    draw_many(GO.parameters, patterns.tables, position.states, new_notes(), draws, counts)
    weights = np.exp(PatternPolicy(GO, patterns)(position.states)[0, :81].astype(np.float64))
    weights[position.board.ravel() != 0] = 0
    expected = draws * weights / weights.sum()
    assert np.abs(counts - expected).max() < 6 * np.sqrt(expected.max())
    assert (np.abs(counts - expected) < 6 * np.sqrt(expected) + 3).all()


def test_rollouts_end_and_repeat_themselves(patterns):
    roll = QuickRollouts(GO, patterns, repeats=50)
    leaves = np.concatenate([GO.start().states, GO.from_moves("e5 e3 c4").states]).view(np.recarray)
    first = roll(leaves, 3)
    assert (first == roll(leaves, 3)).all()
    assert (np.abs(first) <= 1).all()
    assert (first != roll(leaves, 4)).any()


def test_a_won_game_is_won_in_rollouts(patterns):
    """Both live, and nothing is left to play but eyes: White has one row more, and komi."""
    black, white = [".XXXXXXX.", "XX.XXX.XX", *["XXXXXXXXX"] * 2], ["OOOOOOOOO", "O.O.O.O.O", *["OOOOOOOOO"] * 2]
    position = GO.from_board("/".join([*black, *white, "O.O.O.O.O"]), "X")
    assert QuickRollouts(GO, patterns, repeats=200)(position.states, 1)[0] == -1


def test_own_eyes_are_no_choice():
    """A network that rolls out never fills an eye; it passes when nothing else is left."""
    eyes = GO.from_board("/".join(["." + "X" * 8, "XX" + "X" * 7, "X" * 8 + ".", *["X" * 9] * 6]), "X")

    @entry
    def list_choices(game, player, states, actions):
        return choices(player, game, states[0], actions)

    actions = np.zeros(82, np.int32)
    count = list_choices(GO.parameters, OpenEyes(), eyes.states, actions)
    assert actions[:count].tolist() == [81]
    count = list_choices(GO.parameters, OpenEyes(), GO.start().states, actions)
    assert count == 81
    assert list_choices(GO.parameters, Even(), GO.start().states, actions) == 82


def test_the_fitted_weights_make_sense(patterns):
    tables = patterns.tables[0]
    one = {name: tables.factors[1 << bit] for name, bit in (("near", NEAR), ("captures", CAPTURES), ("saves", SAVES))}
    assert all(factor > 1.5 for factor in one.values()), one
    assert tables.mercy[0] == 1
    assert (tables.mercy[1:] < 0.5).all()
    assert len(FEATURES) == 14
