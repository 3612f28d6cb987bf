"""Agents: made from strings, legal in every game, wrong strings explained."""

import pytest

import tengen
from tengen.rules.errors import BadParameter, IllegalMove
from tengen.search.limits import Limit

GAMES = ["tictactoe", "connect4", "gomoku:size=9,rule=renju", "reversi", "go:size=5"]


@pytest.mark.parametrize("spec", ["random", "uct:playouts=200"])
@pytest.mark.parametrize("game", GAMES)
def test_a_whole_game(spec, game):
    game = tengen.load_game(game)
    position, agent = game.start(), tengen.load_agent(spec, game)
    while position.outcome is None:
        decision = agent.choose(position)
        assert sum(decision.policy.values()) == pytest.approx(1)
        assert set(decision.policy) <= set(position.legal_actions)
        assert decision.principal_variation[0] == decision.action
        assert decision.value is None or -1 <= decision.value <= 1
        position = position.play(decision.action)
    with pytest.raises(IllegalMove, match="the game is over: there is nothing to choose"):
        agent.choose(position)


def test_a_limit_takes_the_place_of_the_agents_own():
    game = tengen.load_game("gomoku:size=9")
    agent = tengen.load_agent("uct:playouts=300", game)
    assert agent.choose(game.start()).nodes == 300
    assert agent.choose(game.from_moves("a1"), Limit(playouts=50)).nodes == 50


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("utc:playouts=5", "no agent is called 'utc'; did you mean 'uct'?"),
        ("uct:playout=5", "uct:playout=5: uct has no option 'playout'; did you mean 'playouts'?"),
        ("uct:playouts=0", "playouts=0 is out of range"),
        ("uct:playouts=many", "playouts=many is not a whole number"),
        ("uct:playouts", "'playouts' is not an option; write name=value"),
    ],
)
def test_wrong_specs(spec, message):
    with pytest.raises(BadParameter) as caught:
        tengen.load_agent(spec, tengen.load_game("tictactoe"))
    assert message in str(caught.value)
