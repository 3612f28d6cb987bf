"""The example of the Amazons beside a published count, a slow judge and OpenSpiel."""

import random
from pathlib import Path

import numpy as np
import pytest
from turns import perft_of_turns

import tengen
from tengen.rules.errors import BadDiagram, BadMove, BadParameter, IllegalMove

AMAZONS = str(Path(__file__).parent.parent.parent / "examples" / "amazons.py")
WAYS = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx]


def test_published_counts():
    """A turn is a move and an arrow: there are 2176 first turns, and 4307152 pairs."""
    assert perft_of_turns(tengen.load_game(AMAZONS).start(), 1, longest=2) == 2176


@pytest.mark.long
def test_published_count_of_pairs():
    assert perft_of_turns(tengen.load_game(AMAZONS).start(), 2, longest=2) == 4307152


@pytest.mark.parametrize("size", [6, 10])
def test_it_is_sound(size):
    report = tengen.check(f"{AMAZONS}:size={size}", games=3)
    assert report.ok, report.problems


def lines(board, y, x):
    """The cells that a queen or an arrow reaches."""
    found = set()
    for dy, dx in WAYS:
        row, column = y + dy, x + dx
        while 0 <= row < len(board) and 0 <= column < len(board) and board[row, column] == 0:
            found.add((row, column))
            row, column = row + dy, column + dx
    return found


@pytest.mark.parametrize("size", [6, 8, 10])
def test_the_same_games_as_openspiel(size):
    """There a turn has three actions: a queen is picked, moved, and shoots; each is named by a cell."""
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    game, peer = tengen.load_game(f"{AMAZONS}:size={size}"), pyspiel.load_game(f"amazons(board_size={size})")
    rng = random.Random(size)
    for _ in range(4):
        position, state = game.start(), peer.new_initial_state()
        while position.outcome is None:
            assert not state.is_terminal() and position.to_play == state.current_player()
            ours = {game.parameters.line_of(action): action for action in position.legal_actions}
            if not position.facts:
                assert {begin for begin, _ in ours} == set(state.legal_actions())
                begin = rng.choice(state.legal_actions())
                state.apply_action(begin)
            else:
                begin = game.coordinates.cell(position.facts)
            assert {end for cell, end in ours if cell == begin} == set(state.legal_actions())
            end = rng.choice(state.legal_actions())
            state.apply_action(end)
            position = position.play(ours[begin, end])
        assert state.is_terminal()
        assert position.outcome.value_for(0) == state.returns()[0]


def test_the_same_moves_as_the_judge():
    game, rng = tengen.load_game(f"{AMAZONS}:size=6"), random.Random(2)
    for _ in range(6):
        position = game.start()
        while position.outcome is None:
            board, own = position.board, np.argwhere(position.board == position.to_play + 1)
            if position.facts:
                own = [divmod(game.coordinates.cell(position.facts), 6)]
            theirs = {(6 * y + x, 6 * row + column) for y, x in own for row, column in lines(board, y, x)}
            assert {game.parameters.line_of(action) for action in position.legal_actions} == theirs
            position = position.play(rng.choice(position.legal_actions))
        losers = np.argwhere(position.board == position.to_play + 1)
        assert not any(lines(position.board, y, x) for y, x in losers)
        assert position.outcome.winner == 1 - position.to_play


def test_a_turn_is_a_move_and_an_arrow():
    start = tengen.load_game(AMAZONS).start()
    moved = start.play("d1-d7")
    assert (moved.to_play, moved.facts) == (0, "d7")
    assert moved.move_text(moved.legal_actions[0]).startswith("d7/")
    with pytest.raises(IllegalMove):
        moved.play("g1-g2")
    assert start.game.from_board(moved.diagram()) == moved
    shot = moved.play("d7/g7")
    assert (shot.to_play, shot.facts) == (1, "")
    assert shot.diagram() == "3B2B3/10/10/B2W2x2B/10/10/W8W/10/10/6W3 b"


@pytest.mark.parametrize("text", ["d1", "d1-e3", "d1-d1", "d1-z4", "#11"])
def test_what_is_no_move(text):
    with pytest.raises(BadMove):
        tengen.load_game(AMAZONS).parse_action(text)


def test_what_is_refused():
    with pytest.raises(BadParameter, match="size=7 is odd"):
        tengen.load_game(f"{AMAZONS}:size=7")
    with pytest.raises(BadDiagram, match="White has no queen on a1 that could shoot"):
        tengen.load_game(f"{AMAZONS}:size=6").from_board("W5/6/6/6/6/5B w a1")
    assert tengen.load_game(f"{AMAZONS}:size=6").from_board("Wx4/xx4/6/6/6/5B w").outcome.winner == 1
