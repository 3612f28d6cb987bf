"""Wins by threats: published problems, proofs that hold against every legal move, and no win that is none."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from judges import five_points, random_position

from tengen import load_game
from tengen.knowledge.threats import FOURS, KINDS, THREES, ThreatSearch
from tengen.search.limits import Limit

PROBLEMS = json.loads((Path(__file__).parent.parent / "golden" / "renju-mates.json").read_text())
ENOUGH = Limit(nodes=100_000)  # the hardest of the problems takes 3,000


def replay(position, proof, attacker):
    """Follows a proof by the rules alone; returns how many of the attacker's moves were checked.

    An answer that the proof does not list must lose at once: to a five, or to two points for one.
    """
    assert position.to_play == attacker
    after = position.play(proof.action)  # raises if it is not legal
    if after.outcome is not None:
        assert after.outcome.winner == attacker
        return 1
    checked, follow_ups = 1, doubles(position, after, attacker)
    for answer in after.legal_actions:
        then = after.play(answer)
        assert then.outcome is None, "the defender has won, or nobody can"
        if answer in proof.answers:
            checked += replay(then, proof.answers[answer], attacker)
        else:
            name = position.game.action_text(answer)
            assert wins_soon(then, attacker, follow_ups), f"nothing is said about the answer {name}"
    return checked


def doubles(position, after, attacker):
    """Where the attacker, were it his move again, would have two points for a five."""
    empty = set(range(position.game.cells)) - {point for point in range(position.game.cells) if after.board.flat[point]}
    found = []
    for point in empty:
        board = np.array(after.board)
        board.flat[point] = attacker + 1
        rows = "/".join("".join(".XO"[stone] for stone in row) for row in board)
        if len(five_points(position.game.from_board(rows, 1 - attacker), attacker)) >= 2:
            found.append(point)
    return found


def wins_soon(position, attacker, follow_ups=()):
    """Whether the attacker, who is to move, makes five at once, or two points for one that the other cannot beat."""
    if five_points(position, attacker):
        return True
    if five_points(position, 1 - attacker):
        return False
    for action in set(follow_ups) & set(position.legal_actions):
        after = position.play(action)
        if len(five_points(after, attacker)) >= 2 and not five_points(after, 1 - attacker):
            return True
    return False


@pytest.mark.parametrize("number", range(5))
def test_published_mates(number):
    """All five; the first move is one of the published; no win by fours is found where the problem says threes."""
    problem = PROBLEMS[number]
    game = load_game("renju")
    position = game.from_board("/".join(problem["board"]), problem["attacker"])
    search, attacker = ThreatSearch(game), position.to_play
    found = search.search(position, ENOUGH)
    first_moves = {solution.split(",")[0].lower() for solution in problem["solutions"]}
    assert found is not None and game.action_text(found.action) in first_moves
    assert found.note == f"wins by {problem['kind']}" and found.value == 1
    proof = search.proof(position, KINDS.index(problem["kind"]))
    assert proof.action == found.action
    line = proof.line()
    assert len(line) == proof.plies and len(line) % 2 == 1
    for action in line:
        position = position.play(action)
    if position.outcome is None:  # a four that nobody may stop
        assert all(wins_soon(position.play(answer), attacker) for answer in position.legal_actions)
    else:
        assert position.outcome.winner == attacker


@pytest.mark.parametrize("number", [1, 4])
def test_proofs_hold_against_every_legal_move(number):
    problem = PROBLEMS[number]
    game = load_game("renju")
    position = game.from_board("/".join(problem["board"]), problem["attacker"])
    search = ThreatSearch(game)
    search.search(position, ENOUGH)
    proof = search.proof(position, KINDS.index(problem["kind"]))
    assert replay(position, proof, position.to_play) > 3


@pytest.mark.parametrize("count", [15, pytest.param(60, marks=pytest.mark.long)])
@pytest.mark.parametrize("rule", ["freestyle", "standard", "renju"])
def test_wins_that_are_found_are_wins(rule, count):
    """On random boards: every proof is replayed against every legal move; a win by fours is a win by threes, too."""
    game, rng, won = load_game(f"gomoku:size=7,rule={rule}"), random.Random(rule), 0
    search = ThreatSearch(game, memory=1)
    for _ in range(count):
        position = random_position(game, rng, rng.randint(8, 20))
        by_fours = search.attack(position, position.to_play, FOURS, Limit(nodes=200_000))
        by_threes = search.attack(position, position.to_play, THREES, Limit(nodes=200_000))
        assert by_fours is not None and by_threes is not None  # it ends, however small its table is
        if by_fours:
            assert by_threes
        if by_threes and won < count // 5:
            won += 1
            replay(position, search.proof(position, THREES), position.to_play)
    assert won > count // 20


def test_a_forbidden_point_is_no_defence():
    """Black must stop a four on h8, which Renju forbids (two threes): so White has won. By other rules he has not."""
    board = """
        ...............
        ...............
        ...............
        ...............
        ...............
        .......X.......
        .......X.......
        .........OOOX..
        ......X........
        .....X.........
        ...............
        ...............
        ...............
        ...............
        ...............
    """
    diagram = "/".join(board.split())
    for spec, expected in (("renju", True), ("gomoku", False)):
        game = load_game(spec)
        position = game.from_board(diagram, "White")
        assert (ThreatSearch(game).search(position, ENOUGH, (FOURS,)) is not None) == expected


def test_nothing_is_found_where_nothing_is():
    game = load_game("gomoku")
    search = ThreatSearch(game)
    assert search.search(game.from_moves("h8 h9"), ENOUGH) is None
    assert search.nodes < ENOUGH.nodes  # it has looked everywhere


def test_limits_are_kept():
    game = load_game("gomoku")
    search = ThreatSearch(game)
    position = game.from_moves("h8 i9 g7 i7 g9 i8 i10 g8 f8 e9 f7 f6 j10 k10")
    for nodes in (1, 10, 100):
        search.attack(position, 0, THREES, Limit(nodes=nodes))
        assert search.work.progress[2] <= nodes


def test_many_states_at_once():
    """A short look finds what a search finds, or less; and what comes before is no matter."""
    game, rng = load_game("gomoku:size=9"), random.Random(3)
    positions = [random_position(game, rng, rng.randrange(4, 40)) for _ in range(60)]
    states = np.concatenate([position.states for position in positions]).view(np.recarray)
    search, judge = ThreatSearch(game), ThreatSearch(game)
    wins = search.wins(states)
    assert 5 < wins.sum() < 55
    for position, is_won in zip(positions, wins, strict=True):
        found = judge.search(position, Limit(nodes=50_000))
        assert (found is not None) >= is_won
    assert (search.wins(states[::-1])[::-1] >= wins).all()  # its table knows more by now
    longer = ThreatSearch(game).wins(states, effort=50)
    assert (longer >= wins).all()
    for position, is_won in zip(positions, longer, strict=True):
        assert (judge.search(position, Limit(nodes=100_000)) is not None) >= is_won
