"""Agents: made from strings, legal in every game, wrong strings explained."""

from dataclasses import replace
from threading import Event

import numpy as np
import pytest

import tengen
from tengen.agents.agent import opinions_of
from tengen.agents.learned import PolicyAgent
from tengen.agents.specs import AGENTS, load_agent
from tengen.knowledge.experts import ThreatsFirst
from tengen.learn.settings import load_settings
from tengen.nets.metadata import NetError
from tengen.nets.runtime import PAPERS, net_for, shipped_nets
from tengen.rules.errors import BadParameter, IllegalMove
from tengen.search.alphabeta import LEAST_NODES, AlphaBeta
from tengen.search.limits import Limit
from tengen.search.puct import Puct
from tengen.search.uct import Uct

GAMES = ["tictactoe", "connect4", "gomoku:size=9,rule=renju", "reversi", "go:size=5"]


LEARNED = [
    "puct:net=uniform,simulations=50,cache=1000,symmetry=1,memory=8",
    "gumbel:net=uniform,simulations=20,memory=8",
    "policy:net=uniform",
    "policy:net=uniform,temperature=1",
]


@pytest.mark.parametrize("spec", ["random", "uct:playouts=200", *LEARNED])
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
        ("puct:simulations=5", "puct:simulations=5: puct needs net=… (one we ship, an .onnx file, a run folder, or"),
        ("policy:net=", "net= is empty"),
    ],
)
def test_wrong_specs(spec, message):
    with pytest.raises(BadParameter) as caught:
        tengen.load_agent(spec, tengen.load_game("tictactoe"))
    assert message in str(caught.value)


QUICK = {  # of the agents with a seed: a small game they play, and options for a small search that draws
    "strong": ("tictactoe", "time=0.01"),
    "random": ("tictactoe", ""),
    "uct": ("tictactoe", "time=0.01,threads=2,memory=1"),  # the second thread's number is one higher
    "puct": ("tictactoe", "net=uniform,simulations=5,memory=1,symmetry=1,rollouts=0.5"),
    "gumbel": ("tictactoe", "net=uniform,simulations=5,memory=1,symmetry=1,rollouts=0.5,noise=1"),
    "alphago": ("go:size=3", "policy=uniform,value=none,playouts=5,memory=1"),
    "policy": ("tictactoe", "net=uniform,temperature=1"),
}


@pytest.mark.parametrize("name", [name for name, maker in AGENTS.items() if "seed" in maker.options])
def test_any_seed_will_do(name):
    spec, options = QUICK[name]
    game = tengen.load_game(spec)
    for seed in (0, 1, 2**23, 2**31 - 1, 2**32, 2**53 + 1, 2**63 - 1):
        for agent in (
            tengen.load_agent(f"{name}:{options},seed={seed}", game),
            load_agent(f"{name}:{options}", game, seed=seed),
        ):
            assert agent.choose(game.start()).action in game.start().legal_actions
    for seed in (-1, 2**63):
        says = f"seed={seed} is out of range: seed is 0 to 9223372036854775807"
        with pytest.raises(BadParameter, match=says):
            tengen.load_agent(f"{name}:{options},seed={seed}", game)
        with pytest.raises(BadParameter, match=says):
            load_agent(f"{name}:{options}", game, seed=seed)


def test_a_net_that_is_not_there():
    with pytest.raises(NetError, match=r"no net is called 'C:/nets/x=1.onnx'"):
        tengen.load_agent("puct:simulations=5,net=C:/nets/x=1.onnx", tengen.load_game("tictactoe"))


@pytest.mark.parametrize(
    ("options", "batch"),
    [
        ("", 8),
        (",simulations=32", 1),
        (",simulations=200", 4),
        (",simulations=9999", 8),
        (",time=1", 8),
        (",batch=3", 3),
    ],
)
def test_batches_by_themselves(options, batch):
    agent = tengen.load_agent(f"puct:net=uniform,memory=1{options}", tengen.load_game("tictactoe"))
    assert agent.search.batch == batch


class LikesTheLast:
    """A network that likes the last action most, and thinks every position is good."""

    def __call__(self, planes):
        return np.tile(np.arange(9, dtype=np.float32), (len(planes), 1)), np.full(len(planes), 0.5, np.float32)


def test_policy_plays_its_first_choice_or_draws():
    game = tengen.load_game("tictactoe")
    position = game.from_moves("c1")  # the last cell is taken
    decision = PolicyAgent("first", game, LikesTheLast()).choose(position)
    assert (decision.action, decision.value, decision.nodes) == (7, 0.5, 1)
    assert max(decision.policy, key=decision.policy.get) == 7
    warm = PolicyAgent("warm", game, LikesTheLast(), temperature=3.0)
    drawn = [warm.choose(position).action for _ in range(300)]
    assert set(drawn) == set(range(8))
    assert drawn.count(7) > drawn.count(0)


@pytest.mark.parametrize("temperature", ["1e-320", "5e-324", "1e-30", "0.000001", "100"])
def test_policy_draws_at_any_temperature(temperature, recwarn):
    game = tengen.load_game("tictactoe")
    agent = tengen.load_agent(f"policy:net=tictactoe,temperature={temperature}", game)
    agent.evaluator = LikesTheLast()
    drawn = {agent.choose(game.start()).action for _ in range(20)}
    assert drawn == {8} if temperature != "100" else len(drawn) > 1
    assert not recwarn.list


@pytest.mark.parametrize("spec", ["uct", "alphabeta", "minimax:depth=2", "puct:net=uniform", "gumbel:net=uniform"])
def test_a_search_that_is_stopped_answers_at_once(spec):
    game, stop = tengen.load_game("reversi"), Event()
    agent = tengen.load_agent(spec, game)
    stop.set()
    decision = agent.choose(game.start(), Limit(time=60, stop=stop))
    assert decision.nodes <= LEAST_NODES  # in a minute it would make many more
    assert decision.action in game.start().legal_actions


@pytest.mark.parametrize("spec", ["uct:playouts=500", "puct:net=uniform,simulations=500", "alphabeta:depth=2"])
def test_opinions_begin_with_what_was_chosen(spec):
    game = tengen.load_game("reversi")
    agent = tengen.load_agent(spec, game)
    decision = agent.choose(game.start())
    opinions = opinions_of(agent, decision)
    assert opinions[0].action == decision.action == opinions[0].line[0]
    assert all(-1 <= opinion.value <= 1 and opinion.visits > 0 for opinion in opinions)
    if "alphabeta" not in spec:
        shares = {opinion.action: opinion.visits / sum(other.visits for other in opinions) for opinion in opinions}
        assert shares == pytest.approx(decision.policy)


@pytest.mark.parametrize("spec", ["uct:playouts=400", "puct:net=uniform,simulations=200", "gumbel:net=uniform"])
def test_opinions_with_few_lines_are_the_same_opinions(spec):
    game = tengen.load_game("connect4")
    agent = tengen.load_agent(spec, game)
    decision = agent.choose(game.from_moves("4 4 3"))
    every, few = opinions_of(agent, decision), opinions_of(agent, decision, lines=2)
    assert [replace(opinion, line=()) for opinion in few] == [replace(opinion, line=()) for opinion in every]
    assert all(opinion.line for opinion in every)
    assert few[0] == every[0]
    assert 2 <= sum(opinion.line != () for opinion in few) <= 3  # the chosen one need not be among the best


def test_the_strong_agent_takes_the_net_that_comes_along_and_the_expert():
    def search_for(spec):
        return tengen.load_agent("strong:time=0.05", tengen.load_game(spec)).search

    shipped = shipped_nets()
    assert {"gomoku8", "connect4", "reversi"} <= set(shipped)
    assert isinstance(search_for("connect4"), Puct)
    assert isinstance(search_for("gomoku:size=8"), ThreatsFirst)
    assert isinstance(search_for("gomoku:size=8").advised, Puct)
    assert isinstance(search_for("reversi").advised, Puct)
    assert isinstance(search_for("gomoku:size=7").advised, AlphaBeta)  # no net is for it
    assert isinstance(search_for("go:size=5"), Uct)


@pytest.mark.parametrize("name", shipped_nets())
def test_shipped_nets_are_for_the_game_they_name_and_play_it(name):
    if name.startswith(PAPERS):
        game = tengen.load_game(f"gomoku:size={name.removeprefix(PAPERS)}")
        assert net_for(game) != name  # there are stronger ones, or a classical search is
    else:
        game = tengen.load_game(load_settings(name).run.game)
        assert net_for(game) == name
    agent = tengen.load_agent(f"puct:net={name},simulations=20", game)
    assert agent.choose(game.start()).action in game.start().legal_actions


def test_a_net_with_an_expert_sees_a_win_by_threats():
    """Black's open three and four in the making: the threat search proves it, whatever the net thinks."""
    game = tengen.load_game("gomoku:size=8")
    position = game.from_moves("d4 a1 d5 a3 d6 h1")
    agent = tengen.load_agent("puct:net=uniform,threats=1,simulations=400", game)
    agent.choose(game.from_moves("d4 a1"))
    assert len(opinions_of(agent, agent.choose(game.from_moves("d4 a1 d5 a3")))) > 1  # the search's own
    decision = agent.choose(position)
    assert decision.value == 1.0
    assert game.action_text(decision.action) in ("d3", "d7")
    (opinion,) = opinions_of(agent, decision)  # the expert's, not what the search thought of an earlier position
    assert (opinion.action, opinion.value) == (decision.action, 1.0)
