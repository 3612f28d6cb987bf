"""The margin by patterns: notes, symmetries, a plain judge, and how near it comes to exact scores."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from judges import assess_position, keep_notes, random_position

from tengen import load_game
from tengen.knowledge import margin
from tengen.knowledge.endgame import EXACT, FOREVER, VALUE, Endgame, begin, proceed
from tengen.knowledge.evaluations import evaluation_for
from tengen.knowledge.margin import Margin
from tengen.knowledge.reversi import Mobility
from tengen.rules.board import diagram
from tengen.rules.errors import BadParameter
from tengen.rules.kernels import entry
from tengen.search.alphabeta import AlphaBeta
from tengen.search.evaluation import new_notes, take_notes
from tengen.search.limits import Limit

GAME = load_game("reversi")


def value_of(position):
    return int(assess_position(position, Margin.fitted())[0])


def some_positions(count, seed, plies=(0, 58)):
    """Positions of random games that go on."""
    chance = random.Random(seed)
    return [random_position(GAME, chance, chance.randint(*plies)) for _ in range(count)]


def turned(board, symmetry):
    """A board in one of its eight symmetries."""
    board = board.T if symmetry & 4 else board
    return np.rot90(board, symmetry & 3)


def test_notes_keep_up():
    """After every move of random games, passes among them, notes that followed equal notes taken from nothing."""
    chance, evaluation, passes = random.Random(1), Margin.fitted(), 0
    for _ in range(30):
        position, states, notes = GAME.start(), GAME.new_states(2), new_notes(evaluation, GAME, 2)
        states[0] = position.states[0]
        take_first_notes(GAME.parameters, evaluation, states, notes)
        while position.outcome is None:
            action = chance.choice(position.legal_actions)
            passes += action == 64
            position = position.play(action)
            notes[1] = np.zeros((), notes.dtype)
            keep_notes(GAME.parameters, evaluation, states, notes, action)
            assert notes[0] == notes[1], position
    assert passes > 5


@entry
def take_first_notes(game, evaluation, states, notes):
    take_notes(evaluation, game, states[0], notes[0])


def plain_value(position):
    """The sum of the weights, by reading the board point by point."""
    board, mover = position.board, position.to_play
    empty = int((board == 0).sum())
    table = margin.fitted_tables()[0, max(0, 60 - empty) * margin.PHASES // 61]
    seen, value, begin_of_pattern = np.where(board == 0, 0, np.where(board == mover + 1, 1, 2)), 0, 0
    for points in margin.SHAPES.values():
        cells = [(int(point[1]) - 1, ord(point[0]) - ord("a")) for point in points.split()]
        places = {}
        for symmetry in range(8):
            image = turned(np.arange(64).reshape(8, 8), symmetry)
            places.setdefault(frozenset(image[cell] for cell in cells), [image[cell] for cell in cells])
        for place in places.values():
            value += table[begin_of_pattern + sum(int(seen.flat[cell]) * 3**i for i, cell in enumerate(place))]
        begin_of_pattern += 3 ** len(cells)
    own_moves, other_moves = (
        sum(action < 64 for action in GAME.from_board(diagram(board), "XO"[player]).legal_actions)
        for player in (mover, 1 - mover)
    )
    around = np.pad(seen, 1, constant_values=3)
    near = [[around[y : y + 3, x : x + 3] for x in range(8)] for y in range(8)]
    reach = [sum(seen[y, x] == 0 and disc in near[y][x] for y in range(8) for x in range(8)) for disc in (2, 1)]
    for number, count in enumerate((own_moves, other_moves, *reach, empty)):
        value += table[begin_of_pattern + 64 * number + count]
    return int(value)


def test_the_plain_judge_agrees():
    for position in some_positions(60, seed=2):
        assert value_of(position) == plain_value(position), position


def test_symmetric_positions_are_worth_the_same():
    """Also with colours changed: all is seen by the player to move."""
    for position in some_positions(20, seed=3):
        board, expected = position.board, value_of(position)
        changed = np.array([0, 2, 1])[board]
        for symmetry in range(8):
            same = GAME.from_board(diagram(turned(board, symmetry)), "XO"[position.to_play])
            assert value_of(same) == expected
            same = GAME.from_board(diagram(turned(changed, symmetry)), "OX"[position.to_play])
            assert value_of(same) == expected


def exact_score(solver, position):
    """The score of best play for the player to move."""
    begin(GAME.parameters, position.states, solver.arrays, *EXACT)
    assert proceed(GAME.parameters, solver.arrays, solver.board, solver.refinements, FOREVER)
    return int(solver.arrays.status[VALUE])


def ranks(values):
    return np.argsort(np.argsort(values))


def mobility_of(position):
    return int(assess_position(position, Mobility())[0])


def sensible_game(chance, empties):
    """Where a game leads whose players mostly take what leaves the other with the least mobility, without a search."""
    position = GAME.start()
    while position.outcome is None and (position.board == 0).sum() > empties:
        children = [position.play(action) for action in position.legal_actions]
        position = chance.choice(children) if chance.random() < 0.2 else min(children, key=mobility_of)
    return position


def test_it_knows_the_end_better_than_mobility():
    """On positions with twelve empty cells, solved."""
    chance, solver = random.Random(4), Endgame(GAME, memory=4)
    games = (sensible_game(chance, 12) for _ in range(220))
    positions = [position for position in games if position.outcome is None]
    scores = [exact_score(solver, position) for position in positions]
    margins = [value_of(position) / 100 for position in positions]
    mobilities = [mobility_of(position) for position in positions]
    slope, level = np.polyfit(mobilities, scores, 1)  # what mobility says, at its best
    error = np.abs(np.array(margins) - scores).mean()
    error_of_mobility = np.abs(slope * np.array(mobilities) + level - scores).mean()
    by_margin, by_mobility = (np.corrcoef(ranks(scores), ranks(said))[0, 1] for said in (margins, mobilities))
    print(f"error {error:.1f} discs, of mobility {error_of_mobility:.1f}; ranks {by_margin:.3f}, {by_mobility:.3f}")
    assert error < 0.75 * error_of_mobility
    assert by_margin > 0.9 and by_margin > by_mobility + 0.03


def test_which_boards_it_knows():
    assert isinstance(evaluation_for(GAME), Margin)
    assert isinstance(evaluation_for(load_game("reversi:size=6")), Mobility)
    assert isinstance(evaluation_for(GAME, "mobility"), Mobility)
    with pytest.raises(BadParameter, match="'margin' does not know reversi:size=6; mobility, none would do"):
        evaluation_for(load_game("reversi:size=6"), "margin")


def test_the_weights_are_small_and_plain():
    file = Path(margin.__file__).with_name("margin.npz")
    assert file.stat().st_size < 300_000
    weights = np.load(file, allow_pickle=False)["weights"]
    assert weights.dtype == np.int16 and weights.shape == (margin.PHASES, margin.entries_alike().max() + 1)
    assert margin.fitted_tables().dtype == np.int16


def test_without_the_compiler():
    """The same kernels as plain Python."""
    code = """
from tengen import load_game
from tengen.knowledge.margin import Margin
from tengen.search.alphabeta import AlphaBeta
from tengen.search.limits import Limit
game = load_game("reversi")
print(AlphaBeta(game, Margin.fitted(), memory=1).search(game.from_moves("f5 d6 c3"), Limit(depth=2)).value)
"""
    position = GAME.from_moves("f5 d6 c3")
    compiled = AlphaBeta(GAME, Margin.fitted(), memory=1).search(position, Limit(depth=2)).value
    settings = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    answer = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True)
    assert float(answer.stdout) == compiled
