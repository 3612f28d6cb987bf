"""Thinking aloud: it gets better, and it ends when it should."""

import threading
from threading import Event

import pytest

from tengen import load_agent, load_game
from tengen.agents.agent import opinions_of
from tengen.agents.thinking import keeps_its_tree, think
from tengen.rules.errors import IllegalMove
from tengen.search.limits import Clock, Limit

AGENTS = ["uct", "uct:threads=1", "puct:net=uniform", "gumbel:net=uniform", "alphabeta", "minimax"]


def until(stop, count, decisions):
    """Up to `count` decisions; then it is stopped."""
    found = []
    for decision in decisions:
        found.append(decision)
        if len(found) == count:
            stop.set()
    return found


class SetAfter(threading.Event):
    """Set once it has been looked at so often, however fast or slow the machine is."""

    def __init__(self, looks):
        super().__init__()
        self.looks = looks

    def is_set(self):
        self.looks -= 1
        if self.looks < 0:
            self.set()
        return super().is_set()


@pytest.mark.parametrize("spec", AGENTS)
def test_nodes_grow_until_it_is_stopped(spec):
    game, stop = load_game("reversi"), threading.Event()
    found = until(stop, 3, think(load_agent(spec, game), game.start(), 0.02, stop))
    assert len(found) == 3
    assert found[0].nodes < found[1].nodes < found[2].nodes
    assert found[0].seconds < found[1].seconds < found[2].seconds
    assert all(decision.action in game.start().legal_actions for decision in found)


def test_trees_are_kept_between_slices():
    game, stop = load_game("reversi"), threading.Event()
    agent = load_agent("uct:threads=1", game)
    found = until(stop, 4, think(agent, game.start(), 0.02, stop))
    visits = sum(opinion.visits for opinion in opinions_of(agent, found[-1]))
    assert found[-1].nodes - 1 <= visits <= found[-1].nodes
    assert keeps_its_tree(agent)
    assert not keeps_its_tree(load_agent("gumbel:net=uniform", game))
    assert not keeps_its_tree(load_agent("random", game))


def test_searches_that_begin_again_get_deeper():
    game, stop = load_game("gomoku:size=9"), threading.Event()
    found = until(stop, 7, think(load_agent("alphabeta:threats=0", game), game.start(), 0.02, stop))
    assert found[-1].nodes > found[0].nodes and found[-1].depth >= found[0].depth  # how deep is a matter of time


@pytest.mark.parametrize("spec", AGENTS)
def test_a_stop_ends_a_slice_that_would_take_an_hour(spec):
    game = load_game("reversi")
    found = list(think(load_agent(spec, game), game.start(), 3600.0, SetAfter(3)))
    assert len(found) == 1
    assert found[0].seconds < 600


def test_what_is_stopped_before_it_begins_says_nothing():
    game, stop = load_game("reversi"), threading.Event()
    stop.set()
    for spec in ("uct", "random"):
        assert list(think(load_agent(spec, game), game.start(), 0.01, stop)) == []


@pytest.mark.parametrize("spec", [*AGENTS, "random"])
def test_it_ends_when_the_position_is_proven(spec):
    game, stop = load_game("tictactoe"), threading.Event()
    position = game.from_moves("a1 b1 a2 b2")  # X wins by a3
    *_, last = think(load_agent(spec, game), position, 0.05, stop)
    assert spec == "random" or (game.action_text(last.action), last.value) == ("a3", 1.0)


@pytest.mark.parametrize("spec", ["uct:threads=1", "alphabeta", "puct:net=uniform,batch=1"])
@pytest.mark.parametrize("limit", [Limit(nodes=3000), Limit(time=0.1), Limit(time=0.05, nodes=10**9)])
def test_it_ends_when_the_limit_is_used_up(spec, limit):
    game, stop = load_game("gomoku:size=9"), threading.Event()
    found = list(think(load_agent(spec, game), game.start(), 0.01, stop, limit))
    assert found
    if limit.nodes == 3000:
        assert found[-1].nodes <= 3100


def test_a_depth_that_is_reached_ends_it():
    game, stop = load_game("gomoku:size=9"), threading.Event()
    *_, last = think(load_agent("alphabeta:threats=0", game), game.start(), 0.02, stop, Limit(depth=2))
    assert last.depth <= 2 + 16  # quiescence looks beyond


def test_a_game_that_is_over_is_refused():
    game = load_game("tictactoe")
    with pytest.raises(IllegalMove):
        next(think(load_agent("uct", game), game.from_moves("a1 b1 a2 b2 a3"), 0.01, threading.Event()))


def test_time_that_runs_out_between_two_looks_is_no_error(monkeypatch):
    """Whatever the clock says when it is looked at again, a slice has the time that was left at the first look."""
    game = load_game("tictactoe")
    agent, looks = load_agent("minimax:depth=1", game), iter([0.01])
    monkeypatch.setattr(Clock, "left", property(lambda clock: next(looks, -1.0)))
    assert len(list(think(agent, game.start(), 0.1, Event()))) == 1
