"""Experts before a search: asked where they can know, within their share of the limit, and believed when they do."""

import random

import pytest
from judges import random_position

from tengen import load_agent, load_game
from tengen.search.limits import Limit


def test_a_win_by_threats_is_played_at_once():
    game = load_game("gomoku")
    position = game.from_moves("h8 a1 i8 a3 j8 a5")  # an open three
    found = load_agent("alphabeta", game).choose(position)
    assert (found.value, found.note) == (1.0, "wins by VCF")
    assert game.action_text(found.action) in ("g8", "k8")
    without = load_agent("alphabeta:threats=0,depth=4", game).choose(position)
    assert "VCF" not in without.note


def test_few_empty_cells_are_played_exactly():
    """Ten random endings: the note is the exact score, as the solver alone gives it."""
    game, rng = load_game("reversi"), random.Random(7)
    agent, solver = load_agent("alphabeta:time=2", game), load_agent("endgame", game)
    for _ in range(10):
        position = random_position(game, rng, 50)
        found, exact = agent.choose(position), solver.choose(position)
        assert found.note == exact.note and found.note.startswith("exact score")
        assert found.value == exact.value


def test_a_nets_simulations_are_no_measure_of_an_endgame():
    game = load_game("reversi")
    position = random_position(game, random.Random(3), 46)
    agent = load_agent("puct:net=uniform,simulations=40,endgame=16", game)
    assert agent.choose(position).note.startswith("exact score")
    found = agent.choose(game.start())
    assert found.nodes == 40 and "exact" not in found.note


def test_many_empty_cells_are_searched():
    game = load_game("reversi")
    found = load_agent("alphabeta:nodes=5000", game).choose(game.start())
    assert "exact" not in found.note and found.depth >= 3


@pytest.mark.parametrize(("spec", "plies"), [("gomoku:size=9", 12), ("reversi", 44)])
def test_experts_keep_to_their_share(spec, plies):
    """Whatever the limit on nodes, expert and search together stay near it (one small subtree may be finished)."""
    game, rng = load_game(spec), random.Random(spec)
    agent = load_agent("alphabeta", game)
    for nodes in (1, 20, 500, 20_000):
        position = random_position(game, rng, plies)
        found = agent.choose(position, Limit(nodes=nodes))
        assert found.action in position.legal_actions
        assert found.nodes <= nodes + (20_000 if spec == "reversi" and nodes >= 100 else 1)


def test_a_nets_search_sees_the_others_threats():
    """Without a word from the net: of all answers to an open three, every one that lets it become a four is lost."""
    game = load_game("gomoku")
    position = game.from_moves("h8 a1 i8 a3 j8")
    agent = load_agent("puct:net=uniform,threats=1,simulations=400", game)
    found = agent.choose(position)
    assert game.action_text(found.action) in ("f8", "g8", "k8", "l8")
    assert found.nodes == 400  # a look at threats is no simulation
