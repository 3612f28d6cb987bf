"""Random games beside OpenSpiel: the same legal moves, the same side to move and the same result at every ply."""

import random

import pytest

from tengen import load_game

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

PAIRS = [  # ours, theirs, games
    ("tictactoe", "tic_tac_toe", 100),
    ("connect4", "connect_four", 100),
    ("mnk:m=6,n=4,k=4", "mnk(m=6,n=4,k=4)", 60),
    ("mnk:m=9,n=9,k=5", "mnk(m=9,n=9,k=5)", 20),
    ("gomoku:size=7", "gomoku(size=7)", 60),
    ("gomoku:size=15", "gomoku(size=15)", 10),
    ("reversi", "othello", 60),
]


@pytest.mark.parametrize(("ours", "theirs", "games"), PAIRS)
def test_same_games(ours, theirs, games):
    game, peer, rng = load_game(ours), pyspiel.load_game(theirs), random.Random(7)
    for _ in range(games):
        position, state = game.start(), peer.new_initial_state()
        while position.outcome is None:
            assert not state.is_terminal()
            assert position.legal_actions == state.legal_actions(), position
            assert position.to_play == state.current_player()
            action = rng.choice(position.legal_actions)
            position = position.play(action)
            state.apply_action(action)
        assert state.is_terminal(), position
        assert position.outcome.value_for(0) == state.returns()[0]


def test_same_games_of_breakthrough():
    """There the first player comes from the top; so rows are counted from the other side."""
    game, peer, rng = load_game("breakthrough"), pyspiel.load_game("breakthrough"), random.Random(7)
    for _ in range(40):
        position, state = game.start(), peer.new_initial_state()
        while position.outcome is None:
            theirs = {turned(state.action_to_string(action)): action for action in state.legal_actions()}
            assert sorted(game.action_text(action) for action in position.legal_actions) == sorted(theirs), position
            action = rng.choice(position.legal_actions)
            position = position.play(action)
            state.apply_action(theirs[game.action_text(action)])
        assert state.is_terminal() and position.outcome.value_for(0) == state.returns()[0]


def turned(text):
    """A move such as `a7b6*` seen from the other side: `a2b3`."""
    return "".join(str(9 - int(letter)) if letter.isdigit() else letter for letter in text.rstrip("*"))


def go_action(game, state, action):
    """OpenSpiel's Go action as ours."""
    name = state.action_to_string(state.current_player(), action).split()[1]
    return game.cells if name.lower() == "pass" else game.parse_action(name)


@pytest.mark.parametrize(("size", "games"), [(3, 40), (5, 30), (9, 12), (19, 1)])
def test_same_go_games(size, games):
    """There a repeated board ends the game; here it is not legal. Everything else agrees."""
    game = load_game(f"go:size={size},komi=7.5")
    peer = pyspiel.load_game(f"go(board_size={size},komi=7.5,max_game_length={4 * size * size})")
    rng = random.Random(3)
    repetitions = 0
    for _ in range(games):
        position, state = game.start(), peer.new_initial_state()
        while position.outcome is None and not state.is_terminal() and position.ply < peer.max_game_length() - 1:
            theirs = {go_action(game, state, action): action for action in state.legal_actions()}
            for extra in set(theirs) - set(position.legal_actions):
                assert "superko" in position.forbidden()[extra], position
                assert state.child(theirs[extra]).is_terminal()
                repetitions += 1
            assert set(position.legal_actions) <= set(theirs), position
            assert position.to_play == state.current_player()
            action = rng.choice(position.legal_actions)
            position = position.play(action)
            state.apply_action(theirs[action])
        if position.outcome is not None:
            assert state.is_terminal()
            assert position.outcome.value_for(0) == state.returns()[0]
    assert repetitions > 0 or size > 3
