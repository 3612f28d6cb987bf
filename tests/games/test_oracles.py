"""Counts that are true whatever we write."""

import numpy as np
import pytest

from tengen import load_game
from tengen.games.go import cell_of, frame, put_stone
from tengen.rules.contract import kernel
from tengen.rules.kernels import entry
from tengen.rules.playouts import perft


def counts(spec, depth):
    start = load_game(spec).start()
    return [perft(start, ply) for ply in range(1, depth + 1)]


def test_tictactoe_has_255168_complete_games():
    sequences = [1, *counts("tictactoe", 9), 0]
    complete = [sequences[ply] - sequences[ply + 1] // (9 - ply) for ply in range(9)] + [sequences[9]]
    assert sum(complete) == 255_168


def test_tictactoe_has_5478_positions():
    waiting = [load_game("tictactoe").start()]
    seen = set(waiting)
    for position in waiting:
        for action in position.legal_actions:
            child = position.play(action)
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    assert len(seen) == 5478


def test_connect4():
    assert counts("connect4", 8) == [7, 49, 343, 2401, 16807, 117649, 823536, 5673234]


def test_reversi_8():
    """From ply 9 on the convention matters: a pass is a ply, and a game that ended counts nothing."""
    expected = [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571056]
    assert counts("reversi", 10) == expected


@pytest.mark.long
def test_reversi_8_deep():
    start = load_game("reversi").start()
    assert [perft(start, 11), perft(start, 12)] == [212258216, 1939879668]


def test_reversi_6():
    assert counts("reversi:size=6", 8) == [4, 12, 56, 244, 1364, 7604, 47740, 308716]


@kernel
def is_legal_board(game, state, number):
    """Whether board `number`, in base 3, has a liberty for every chain: then none goes missing as stones are placed."""
    for cell in range(len(state.cells)):
        state.cells[cell] = state.chain[cell] = state.liberties[cell] = state.next[cell] = 0
    frame(game, state)
    for player in range(2):
        rest = number
        for point in range(game.size * game.size):
            if rest % 3 == player + 1:
                put_stone(game, state, cell_of(game, point), player)
                if state.captured != 0:
                    return False
            rest //= 3
    return True


@entry
def count_legal_boards(game, states, boards):
    total = 0
    for number in range(boards):
        total += is_legal_board(game, states[0], number)
    return total


@pytest.mark.parametrize(("size", "expected"), [(2, 57), (3, 12675), pytest.param(4, 24318165, marks=pytest.mark.long)])
def test_go_legal_positions(size, expected):
    game = load_game(f"go:size={size}")
    assert count_legal_boards(game.parameters, game.new_states(1), 3 ** (size * size)) == expected


@pytest.mark.parametrize(
    ("spec", "most"),
    [
        ("mnk:m=20,n=20,k=5", 4096),
        ("gomoku:size=20,rule=renju", 4096),
        ("go:size=19", 4096),
        ("go:size=9", 2048),
        ("connect4", 64),
        ("reversi", 64),
    ],
)
def test_states_are_small(spec, most):
    assert load_game(spec).new_states(1).nbytes < most


def test_superko_history_is_bounded():
    """A ring of boards: it holds all that 2×2 Go has, and more than any cycle that is played."""
    history = load_game("go:size=2").new_states(1)[0].history
    assert len(history) >= 57
    assert history.dtype == np.uint64
