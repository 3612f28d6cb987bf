"""AlphaGo's search: the mixture of both judgements to the digit, whole trees on any number of threads, its agent."""

from functools import partial
from threading import Event

import numpy as np
import pytest

from tengen import load_game
from tengen.agents.agent import opinions_of
from tengen.agents.learned import no_preference, rollouts_of
from tengen.agents.specs import load_agent
from tengen.arena.match import score_of
from tengen.arena.tournament import Tournament, play_tournament
from tengen.rules.errors import TengenError
from tengen.search.alphago import AlphaGo, TwoNets, leaf_number
from tengen.search.evaluators import Uniform
from tengen.search.limits import Limit
from tengen.search.rollouts import NOT_PLAYED, Even, QuickRollouts
from tengen.search.tree import NO_CHILD, ROOT

GO9 = load_game("go:size=9,komi=5.5")


def check_whole(search, node=ROOT):
    """Visits add up, and nothing is under way."""
    edges = search.edges_of(node)
    assert edges.losses.sum() == 0
    assert edges.visits.sum() == search.nodes[node].visits
    assert (np.abs(edges.value) <= edges.visits + 1e-3).all()
    for edge in edges:
        if edge.child != NO_CHILD:
            check_whole(search, int(edge.child))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_q_is_the_mixture_of_the_papers(share):
    """Every first move of tic-tac-toe once: the value is O's 0.2, the games are all X's: Q = (λW + (1 − λ)V) / N."""
    game = load_game("tictactoe")
    judge = TwoNets(
        lambda states: np.zeros((len(states), 9), np.float32), lambda states: np.full(len(states), 0.2, "f4")
    )
    search = AlphaGo(
        game, judge, lambda leaves, number, clock: np.ones(len(leaves), "f4"), rollouts=share, batch=1, exploration=100
    )
    search.search(game.start(), Limit(playouts=9))
    edges = search.edges_of(ROOT)
    assert edges.visits.tolist() == [1] * 9
    assert edges.value == pytest.approx(np.full(9, share * 1.0 + (1 - share) * -0.2), abs=1e-6)


def test_leaves_are_judged_for_their_own_player():
    """After X's move it is O who moves at the leaf: a value that is good for O is bad for X's edge."""
    game = load_game("tictactoe")
    seen = []

    def judge(states):
        seen.extend(states.to_play.tolist())
        return np.zeros((len(states), 9), np.float32), np.where(states.to_play == 1, 0.5, -0.5).astype(np.float32)

    search = AlphaGo(game, judge, None, batch=1)
    decision = search.search(game.start(), Limit(playouts=60))
    assert set(seen) == {0, 1}
    assert decision.value == pytest.approx(-0.5, abs=1e-3)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_nothing(threads):
    game = load_game("go:size=5,komi=2.5")
    search = AlphaGo(game, Uniform(game), QuickRollouts(game, Even()), threads, rollouts=1.0, batch=8, memory=16)
    position = game.start()
    for _ in range(3):
        decision = search.search(position, Limit(playouts=300))
        assert decision.nodes == 300
        check_whole(search)
        position = position.play(decision.action)
    alone = AlphaGo(game, Uniform(game), QuickRollouts(game, Even()), 1, rollouts=1.0, batch=8, memory=16)
    assert (
        alone.search(game.start(), Limit(playouts=300)).policy
        == AlphaGo(game, Uniform(game), QuickRollouts(game, Even()), threads, rollouts=1.0, batch=8, memory=16)
        .search(game.start(), Limit(playouts=300))
        .policy
    )


def test_the_tree_is_kept():
    game = load_game("go:size=5")
    search = AlphaGo(game, Uniform(game), QuickRollouts(game, Even()), rollouts=1.0, batch=4, memory=16)
    decision = search.search(game.start(), Limit(playouts=400))
    visits = next(int(edge.visits) for edge in search.edges_of(ROOT) if edge.action == decision.action)
    search.move_to(game.start().play(decision.action))
    assert search.nodes[ROOT].visits == visits - 1


def test_games_given_up_leave_no_trace():
    game = load_game("go:size=5")
    search = AlphaGo(
        game,
        Uniform(game),
        lambda leaves, number, clock: np.full(len(leaves), NOT_PLAYED),
        rollouts=1.0,
        memory=16,
    )
    search.move_to(game.start())
    assert search.play_out(8) == 0
    check_whole(search)
    assert search.nodes[ROOT].visits == 0


def test_a_game_is_solved_with_rollouts_alone():
    """X wins at c3; O must stop it there, wherever else games may lead."""
    game = load_game("tictactoe")
    search = AlphaGo(game, Uniform(game), QuickRollouts(game, Even()), rollouts=1.0, memory=16)
    decision = search.search(game.from_moves("a1 b1 b2"), Limit(playouts=3000))
    assert game.action_text(decision.action) == "c3"


def test_limits():
    game = load_game("go:size=5")
    search = AlphaGo(game, Uniform(game), QuickRollouts(game, Even()), 2, rollouts=1.0, memory=64)
    for playouts in (1, 7, 100):
        assert search.search(game.start(), Limit(playouts=playouts)).nodes == playouts
    stop = Event()
    stop.set()
    assert search.search(game.start(), Limit(stop=stop)).nodes == 0
    assert search.search(game.start(), Limit(time=0.05)).nodes > 0


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("alphago:policy=nowhere.onnx", "nowhere"),
        ("alphago:policy=uniform,value=none,rollouts=policy", "policy net"),
        ("alphago:lambda=2", "lambda"),
        ("alphago:rollouts=slow", "slow"),
    ],
)
def test_wrong_specs_are_told(spec, says):
    with pytest.raises(TengenError, match=says):
        load_agent(spec, GO9)


def test_another_game_is_refused():
    with pytest.raises(TengenError, match="alphago plays Go"):
        load_agent("alphago:policy=uniform,value=none", load_game("gomoku"))


def test_seeds_have_numbers_of_their_own():
    """Small seeds those they have always had, so that their games are the same; large ones others that fit."""
    assert [leaf_number(seed, 5) for seed in (0, 1, 2**23 - 1)] == [5, 2**40 + 5, (2**23 - 1) * 2**40 + 5]
    seeds = [2**power + offset for power in range(64) for offset in (-1, 0) if 2**power + offset < 2**63]
    numbers = {leaf_number(seed, leaf) for seed in set(seeds) for leaf in (0, 2**39)}
    assert len(numbers) == 2 * len(set(seeds))
    assert all(0 <= number < 2**64 for number in numbers)


@pytest.mark.parametrize("rollouts", ["fast", "policy", "uniform"])
def test_large_seeds_change_the_games(rollouts):
    start = GO9.start().states
    player = rollouts_of(GO9, rollouts, partial(no_preference, GO9), repeats=40)
    results = {float(player(start, leaf_number(seed, 0))[0]) for seed in (1, 2**23, 2**47, 2**63 - 1)}
    assert len(results) > 1


def test_the_nets_that_come_along():
    """They know what a beginner knows: no first line at first, and who is ahead by a board."""
    agent = load_agent("alphago:playouts=32,memory=16", GO9)
    row, column = divmod(agent.choose(GO9.start()).action, 9)
    assert 2 <= row <= 6 and 2 <= column <= 6
    policy = load_agent("alphago:policy=go9-supervised,playouts=32,memory=16", GO9)
    row, column = divmod(policy.choose(GO9.start()).action, 9)
    assert 2 <= row <= 6 and 2 <= column <= 6
    walls = GO9.from_moves(" ".join(f"{letter}4 {letter}1" for letter in "abcdefghj"))  # Black has all but the edge
    assert agent.choose(walls).value > 0.9


@pytest.mark.parametrize("rollouts", ["fast", "uniform"])
def test_the_agent_plays_and_has_opinions(rollouts):
    agent = load_agent(f"alphago:policy=patterns,lambda=1,rollouts={rollouts},playouts=64,memory=16", GO9)
    position = GO9.start()
    for _ in range(4):
        decision = agent.choose(position)
        assert decision.action in position.legal_actions
        assert decision.nodes == 64
        assert -1 <= decision.value <= 1
        opinions = opinions_of(agent, decision)
        assert opinions[0].action == decision.action
        assert sum(opinion.visits for opinion in opinions) >= 64
        position = position.play(decision.action)


def test_patterns_capture_what_can_be_captured():
    """White's five stones live by one point; the search takes them, and so do its rollouts."""
    position = GO9.from_board(
        """
        . . . . . . . . .
        . . X X X . . . .
        . X O O O X . . .
        . X O X O X . . .
        . . . . X . . . .
        . . . . . . . . .
        . . O . . . O . .
        . . . . O . . . .
        . . . . . . . . .
        """,
        "X",
    )
    agent = load_agent("alphago:policy=patterns,lambda=1,playouts=200,memory=16", GO9)
    assert GO9.action_text(agent.choose(position).action) == "c5"


@pytest.mark.long
def test_quick_rollouts_beat_chance():
    """At equal playouts, without any net: 60 games against UCT."""
    ours = "alphago:policy=patterns,lambda=1,playouts=200,repeats=1,threads=1,memory=64"
    plan = Tournament.of(GO9, (ours, "uct:playouts=200"), plies=4, seed=2)
    score = score_of(ours, play_tournament(plan, 60).in_order())
    assert score.interval()[0] > 0.5
