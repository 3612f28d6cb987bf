"""Chess's evaluation: the same for both colours, notes that keep up, and mates that are found with it."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from judges import assess_position, keep_notes, random_position

from tengen import load_game
from tengen.knowledge.evaluations import evaluation_for
from tengen.rules.kernels import entry
from tengen.search.alphabeta import AlphaBeta
from tengen.search.evaluation import WON, new_notes, take_notes
from tengen.search.limits import Limit

GAME = load_game("chess")
MATES = Path(__file__).parent.parent / "golden" / "chess-mates.txt"  # how it was made stands in it
NODES = 400_000  # for one of them
SWAPPED = str.maketrans("KQRBNPkqrbnp", "kqrbnpKQRBNP")


def mirrored(fen):
    """The same position with the colours exchanged, seen from the other side."""
    rows, player, rights, passing, *counters = fen.split()
    rows = "/".join(row.translate(SWAPPED) for row in rows.split("/")[::-1])
    rights = "".join(sorted(rights.translate(SWAPPED)))
    passing = passing if passing == "-" else passing[0] + str(9 - int(passing[1]))
    return " ".join([rows, "wb"[player == "w"], rights, passing, *counters])


def test_both_colours_are_judged_alike():
    evaluation, rng = evaluation_for(GAME), random.Random(1)
    scores = []
    for _ in range(300):
        position = random_position(GAME, rng, rng.randint(1, 120))
        other = GAME.from_board(mirrored(position.diagram()))
        scores.append(assess_position(position, evaluation)[0])
        assert scores[-1] == assess_position(other, evaluation)[0], position.diagram()
    assert len(set(scores)) > 200
    assert max(map(abs, scores)) < WON


def test_a_queen_more_is_better():
    """Material says what it should, for whoever is to move."""
    evaluation = evaluation_for(GAME)
    for rows, low, high in [
        ("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", 800, 1200),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR", -1200, -800),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", 0, 20),
    ]:
        white = assess_position(GAME.from_board(f"{rows} w KQkq - 0 1"), evaluation)[0]
        black = assess_position(GAME.from_board(f"{rows} b KQkq - 0 1"), evaluation)[0]
        assert low <= white <= high
        assert low <= 2 * evaluation.tempo - black <= high


@entry
def begin_notes(game, evaluation, states, notes):
    take_notes(evaluation, game, states[0], notes[0])


def test_notes_keep_up():
    """After every move of random games, with castling, promotions and captures in passing among them."""
    rng, evaluation = random.Random(2), evaluation_for(GAME)
    for _ in range(6):
        position, states, notes = GAME.start(), GAME.new_states(2), new_notes(evaluation, GAME, 2)
        states[0] = position.states[0]
        begin_notes(GAME.parameters, evaluation, states, notes)
        while position.outcome is None and position.ply < 300:
            action = rng.choice(position.legal_actions)
            position = position.play(action)
            notes[1] = np.zeros((), notes.dtype)
            keep_notes(GAME.parameters, evaluation, states, notes, action)
            assert notes[0] == notes[1], position


def mates():
    """How many moves each mate takes, and its position."""
    lines = [line for line in MATES.read_text().splitlines() if line and not line.startswith("#")]
    return [(int(line.split()[0]), line.split(maxsplit=1)[1]) for line in lines]


def is_found(search, moves, fen):
    """Whether a mate in so many moves, or fewer, is found."""
    position = GAME.from_board(fen)
    search.forget()
    decision = search.search(position, Limit(nodes=NODES))
    return decision.value == 1 and decision.note.startswith("wins in ") and int(decision.note.split()[-1]) < 2 * moves


def test_mates():
    """At least 45 of 50 mates in two to four."""
    search = AlphaBeta(GAME, evaluation_for(GAME), memory=64)
    found = {(moves, fen): is_found(search, moves, fen) for moves, fen in mates()}
    assert len(found) == 50
    assert {moves for moves, _ in found} == {2, 3, 4}
    missed = [key for key, is_so in found.items() if not is_so]
    assert len(missed) <= 5, missed


def test_mates_are_mates(stockfish):
    """By Stockfish, which finds none that takes fewer moves."""
    import chess
    import chess.engine

    with chess.engine.SimpleEngine.popen_uci(stockfish) as engine:
        for moves, fen in mates():
            info = engine.analyse(chess.Board(fen), chess.engine.Limit(nodes=200_000), game=object())
            assert info["score"].relative == chess.engine.Mate(moves), fen


@pytest.mark.parametrize(
    ("fen", "begins"),
    [
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", {"a1a8"}),
        ("k7/7R/8/8/8/8/8/K5R1 w - - 0 1", {"g1g8"}),
    ],
)
def test_a_mate_in_one_takes_no_search(fen, begins):
    position = GAME.from_board(fen)
    decision = AlphaBeta(GAME, evaluation_for(GAME), memory=1).search(position, Limit(nodes=200))
    assert GAME.action_text(decision.action) in begins
    assert decision.value == 1
