"""One game: fair to both, and lost by whoever does something wrong."""

import math
import random

import pytest

import tengen
from tengen.arena import match
from tengen.arena.match import Score, play_game
from tengen.arena.ratings import elo_of
from tengen.rules.errors import BadMove, TengenError
from tengen.search.limits import Decision, Limit


def test_elo():
    assert elo_of(0.5) == 0
    assert elo_of(10 / 11) == pytest.approx(400)
    elo, low, high = Score(60, 20, 20).elo()
    assert low < elo < high
    assert elo == pytest.approx(elo_of(0.7))
    assert Score(5, 0, 0).elo()[0] == math.inf
    assert math.isfinite(Score(5, 0, 0).elo()[1])


def test_intervals_cover():
    """Wilson's interval holds the true rate in about 95 of 100 matches."""
    rng, covered = random.Random(1), 0
    for _ in range(1000):
        wins = sum(rng.random() < 0.8 for _ in range(50))
        low, high = Score(wins, 0, 50 - wins).interval()
        covered += low <= 0.8 <= high
    assert 925 <= covered <= 980


class Scripted:
    """Plays what it is told, or raises it, and takes its time by a clock that all of them wind."""

    now = 0.0

    def __init__(self, name, *script, note="", pause=0.0):
        self.name, self.script, self.note, self.pause = name, list(script), note, pause

    def choose(self, position, limit=Limit()):  # noqa: B008
        Scripted.now += self.pause
        move = self.script.pop(0)
        if isinstance(move, Exception):
            raise move
        action = position.game.parse_action(move) if isinstance(move, str) else move
        return Decision(action, note=self.note)


GAME = tengen.load_game("tictactoe")


def play(first, second, **options):
    return play_game(GAME, (first, second), names=("anna", "bert"), **options)


def test_a_game_to_its_end():
    record = play(Scripted("a", "a1", "a2", "a3"), Scripted("b", "b1", "b2"))
    assert record.result == "B+"
    assert record.ending == ""
    assert record.players == ("anna", "bert")
    assert len(record.seconds) == 5
    assert all(took >= 0 for took in record.seconds)


def test_an_opening_is_not_timed():
    opening = [GAME.parse_action(move) for move in ("a1", "b1")]
    record = play(Scripted("a", "a2", "a3"), Scripted("b", "b2"), opening=opening)
    assert record.opening == 2
    assert len(record.moves) == 5
    assert len(record.seconds) == 3


@pytest.mark.parametrize(
    ("agent", "result", "words"),
    [
        (Scripted("b", TengenError("no more ideas")), "B+F", "b failed: no more ideas"),
        (Scripted("b", ZeroDivisionError("division by zero")), "B+F", "b failed: ZeroDivisionError: division by zero"),
        (Scripted("b", "a1"), "B+F", "b played an illegal move: a1 is occupied at move 2"),
        (Scripted("b", 77), "B+F", "b played an illegal move: action 77 does not exist"),
        (Scripted("b", "b1", note="resigned"), "B+R", "b resigned"),
        (Scripted("b", "b1", pause=0.05), "B+T", "b took 0.050 s for a move; 0.04 s are allowed"),
    ],
)
def test_whoever_does_something_wrong_has_lost(agent, result, words, monkeypatch):
    monkeypatch.setattr(match, "perf_counter", lambda: Scripted.now)
    record = play(Scripted("a", "a1"), agent, move_time=0.04)
    assert record.result == result
    assert record.ending.startswith(words)
    assert len(record.moves) == 1
    assert record.outcome.winner == 0


def test_the_first_player_can_lose_so_too():
    record = play(Scripted("a", BadMove("?")), Scripted("b"))
    assert record.result == "W+F"
    assert record.moves == ()
