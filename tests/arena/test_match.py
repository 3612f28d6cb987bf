"""Matches: fair, repeatable, and honest about what they show."""

import json
import math
import subprocess
import sys

import pytest

from tengen import load_game
from tengen.arena.match import Played, Score, elo_of, pairings, play_match
from tengen.rules.errors import BadParameter


def test_every_opening_is_played_with_both_colours():
    games = list(pairings(load_game("gomoku:size=9"), ("a", "b"), 6, plies=3, seed=1))
    assert [game.first_begins for game in games] == [True, False] * 3
    assert games[0].opening == games[1].opening != games[2].opening
    assert len(games[0].opening) == 3


def test_a_stronger_agent_wins_and_the_seed_repeats():
    game = load_game("tictactoe")
    score = play_match(game, ("uct:playouts=300", "random"), 20, workers=1)
    assert score.losses <= 1  # one of the random openings is lost
    assert score.wins >= 12
    again = play_match(game, ("uct:playouts=300", "random"), 20, workers=2)
    assert [(g.moves, g.result) for g in again.games] == [(g.moves, g.result) for g in score.games]


def score_of(wins, draws, losses):
    score = Score()
    for result, count in ((1, wins), (0, draws), (-1, losses)):
        for _ in range(count):
            score.add(Played(result, True, (), ()))
    return score


def test_elo():
    assert elo_of(0.5) == 0
    assert elo_of(10 / 11) == pytest.approx(400)
    elo, low, high = score_of(60, 20, 20).elo()
    assert low < elo < high
    assert elo == pytest.approx(elo_of(0.7))
    assert score_of(5, 0, 0).elo()[0] == math.inf
    assert math.isfinite(score_of(5, 0, 0).elo()[1])


def test_intervals_cover():
    """Wilson's interval holds the true rate in about 95 of 100 matches."""
    import random

    rng, covered = random.Random(1), 0
    for _ in range(1000):
        wins = sum(rng.random() < 0.8 for _ in range(50))
        low, high = score_of(wins, 0, 50 - wins).interval()
        covered += low <= 0.8 <= high
    assert 925 <= covered <= 980


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "tengen", *arguments], capture_output=True, text=True, timeout=300)


def test_match_on_the_command_line():
    result = run("match", "tictactoe", "uct:playouts=100", "random", "--games", "10", "--json")
    answer = json.loads(result.stdout)
    assert answer["wins"] + answer["draws"] + answer["losses"] == 10
    assert set(answer) == {"wins", "draws", "losses", "elo", "elo_low", "elo_high"}
    words = run("match", "tictactoe", "uct:playouts=100", "random", "--games", "4").stdout
    assert "uct:playouts=100 against random, 4 games" in words
    wrong = run("match", "tictactoe", "uct:playouts=100", "randm", "--games", "4")
    assert wrong.returncode == 2
    assert wrong.stderr.strip() == "tengen: no agent is called 'randm'; did you mean 'random'?"


def test_best_on_the_command_line():
    answer = json.loads(
        run("best", "tictactoe", "--agent", "uct:playouts=5000", "--moves", "a1 b2 a2 c3", "--json").stdout
    )
    assert answer["action"] == "a3"
    assert answer["value"] == 1
    assert answer["pv"][0] == "a3"
    assert set(answer) == {"action", "value", "pv", "policy", "nodes", "depth", "seconds", "note"}
    words = run("best", "tictactoe", "--agent", "uct:playouts=5000", "--moves", "a1 b2 a2 c3").stdout
    assert "X plays a3" in words
    assert "+1.000 for X" in words


def test_an_opening_longer_than_the_game_is_refused():
    with pytest.raises(BadParameter, match="is over after 9 random plies"):
        list(pairings(load_game("tictactoe"), ("random", "random"), 2, 9, 1))
