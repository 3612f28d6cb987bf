"""OpenSpiel's algorithms play our games, and its bots and our agents play each other."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from tengen import load_agent, load_game
from tengen.arena.match import play_game

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

from open_spiel.python.algorithms import mcts, minimax  # noqa: E402

from tengen.envs.openspiel import AgentBot, as_openspiel  # noqa: E402

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples"
GAMES = ["tictactoe", "connect4", "gomoku:size=5,rule=renju", "reversi:size=4", "hex:size=4", "go:size=5"]
OWN = [f"{EXAMPLES / 'breakthrough.py'}:size=5", str(HERE / "pile.py")]


@pytest.mark.parametrize("spec", [*GAMES, *OWN], ids=lambda spec: Path(spec).name)
def test_openspiel_finds_no_fault(spec, capfd):
    pyspiel.random_sim_test(as_openspiel(spec, longest=40), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize("spec", GAMES)
def test_states_are_positions(spec):
    game, numbers = load_game(spec), np.random.default_rng(1)
    state, position = as_openspiel(game).new_initial_state(), game.start()
    while position.outcome is None:
        assert state.current_player() == position.to_play and not state.is_terminal()
        assert state.legal_actions() == position.legal_actions
        assert state.observation_tensor() == position.encode().ravel().tolist()
        action = int(numbers.choice(position.legal_actions))
        assert state.action_to_string(action) == game.action_text(action)
        state.apply_action(action)
        position = position.play(action)
    assert state.is_terminal() and state.returns() == [position.outcome.value_for(player) for player in (0, 1)]
    assert str(state) == str(position) and state.history() == position.moves


def test_games_and_states_can_be_written_down():
    game = as_openspiel("gomoku:size=7,rule=renju", longest=30)
    assert str(game) == "tengen(game=gomoku:size%3D7%2Crule%3Drenju,longest=30)"
    again = pyspiel.load_game(str(game))
    assert str(again) == str(game) and again.max_game_length() == 30 and again.num_distinct_actions() == 49
    state = game.new_initial_state()
    for action in (24, 0, 25):
        state.apply_action(action)
    for copy in (state.clone(), game.deserialize_state(state.serialize()), pickle.loads(pickle.dumps(state))):
        assert str(copy) == str(state) and copy.history() == [24, 0, 25]
    child = state.clone()
    child.apply_action(1)
    assert state.history() == [24, 0, 25] and state.held.position.ply == 3
    assert state.information_state_string() != child.information_state_string()


def test_a_long_game_is_a_draw():
    state = as_openspiel("go:size=5", longest=2).new_initial_state()
    state.apply_action(3)
    state.apply_action(4)
    assert state.is_terminal() and state.returns() == [0, 0]


def test_minimax_of_openspiel_draws_tictactoe():
    value, action = minimax.alpha_beta_search(as_openspiel("mnk:m=3,n=3,k=3"))
    assert value == 0 and action in range(9)


def test_mcts_of_openspiel_in_python_finds_a_win():
    game = as_openspiel("connect4")
    state = game.new_initial_state()
    for action in (3, 0, 3, 0, 3, 0):
        state.apply_action(action)
    numbers = np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(1, numbers)
    bot = mcts.MCTSBot(game, 1.4, 60, evaluator, random_state=numbers)
    assert bot.step(state) == 3


def test_a_bot_of_openspiel_is_an_agent(tmp_path, monkeypatch):
    """It is named like any file of one's own, and plays both colours."""
    shutil.copy(EXAMPLES / "openspiel_mcts.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    game = load_game("tictactoe")
    theirs = load_agent("./openspiel_mcts.py:playouts=40", game)
    ours = load_agent("uct:playouts=40", game)
    for players in ((theirs, ours), (ours, theirs)):
        record = play_game(game, players)
        assert record.ending == "" and game.from_actions(record.moves).outcome is not None
    assert theirs.choose(game.from_moves("a1 a2 b1 b2")).action == game.parse_action("c1")


@pytest.mark.parametrize("native", [False, True], ids=["ours", "theirs"])
def test_an_agent_is_a_bot_of_openspiel(native):
    game = load_game("connect4")
    played = pyspiel.load_game("connect_four") if native else as_openspiel(game)
    ours = AgentBot("uct:playouts=60", game)
    theirs = pyspiel.MCTSBot(played, pyspiel.RandomRolloutEvaluator(1, 1), 1.4, 4, 10, True, 1, False)
    for bots in ([ours, theirs], [theirs, ours]):
        returns = pyspiel.evaluate_bots(played.new_initial_state(), bots, 1)
        assert sorted(returns) in ([-1, 1], [0, 0])
        assert returns[bots.index(ours)] == 1  # it looks at 15 times as many games
