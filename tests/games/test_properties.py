"""Laws that hold in every game, whatever is played: hypothesis looks for a game that breaks one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import PlainGo

from tengen import load_game
from tengen.rules.playouts import perft, playouts

SPECS = ["tictactoe", "mnk:m=5,n=7,k=4", "connect4", "gomoku:size=7", "gomoku:size=9,rule=renju", "reversi:size=6"]
SPECS += ["reversi", "go:size=4", "go:size=5,suicide=1", "hex:size=4"]
CHOICES = st.lists(st.integers(0, 10**6), max_size=80)


def follow(spec, choices):
    """The position after the choices, each an index into the legal actions."""
    position = load_game(spec).start()
    for choice in choices:
        if position.outcome is not None:
            break
        position = position.play(position.legal_actions[choice % len(position.legal_actions)])
    return position


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SPECS), CHOICES)
def test_replay_text_and_diagram(spec, choices):
    position = follow(spec, choices)
    game = position.game
    text = "".join(game.action_text(action) for action in position.moves)
    assert game.from_moves(text) == position
    read = game.from_board(position.diagram(), position.to_play)
    assert read == position
    assert read.diagram() == position.diagram()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SPECS), CHOICES)
def test_perft_is_the_sum_over_the_children(spec, choices):
    position = follow(spec, choices)
    assert perft(position, 0) == 1
    assert perft(position, 1) == len(position.legal_actions)
    assert perft(position, 2) == sum(perft(position.play(action), 1) for action in position.legal_actions)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(SPECS), CHOICES, st.integers(0, 2**32))
def test_playouts_end_and_repeat(spec, choices, seed):
    position = follow(spec, choices)
    if position.outcome is None:
        once, again = playouts(position, 5, seed), playouts(position, 5, seed)
        assert once == again
        assert once.draws + once.first_wins + once.second_wins == 5
        assert once.plies >= 5


@settings(max_examples=60, deadline=None)
@given(CHOICES)
def test_reversi_discs(choices):
    """Every move but a pass adds one disc, and none ever leaves."""
    position = follow("reversi", choices)
    passes = position.moves.count(64)
    assert (position.board > 0).sum() == 4 + position.ply - passes


@settings(max_examples=60, deadline=None)
@given(CHOICES, st.sampled_from([0, 1]))
def test_go_chains(choices, suicide):
    """Chains and pseudo-liberties as they grew are what a flood fill finds; so are the chains in atari."""
    position = follow(f"go:size=5,suicide={suicide}", choices)
    state, plain = position.state, PlainGo(5)
    plain.stones = {(int(x), int(y)): int(position.board[y, x]) - 1 for y, x in np.argwhere(position.board)}
    planes = position.encode()
    for x, y in plain.stones:
        chain, border = plain.region(plain.stones, (x, y))
        liberties = {point for point in border if point not in plain.stones}
        pseudo = sum(beside in liberties for stone in chain for beside in plain.beside(stone))
        names = {int(state.chain[(b + 1) * 6 + a + 1]) for a, b in chain}
        assert len(names) == 1
        assert state.liberties[names.pop()] == pseudo > 0
        assert planes[4, y, x] == (len(liberties) == 1)


@pytest.mark.parametrize("spec", SPECS)
def test_playouts_have_no_favourite_seed(spec):
    """Neighbouring seeds give different games, and about the same results."""
    start = load_game(spec).start()
    results = [playouts(start, 400, seed) for seed in range(6)]
    assert len(set(results)) == 6
    shares = [result.first_wins / 400 for result in results]
    assert max(shares) - min(shares) < 0.15
