"""Alpha-beta against minimax, and minimax against plain Python; known values; limits that are kept."""

import random
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest
from judges import plain_search, plain_value, random_position

from tengen import load_agent, load_game
from tengen.knowledge.evaluations import evaluation_for
from tengen.search import alphabeta, limits
from tengen.search.alphabeta import LEAST_NODES, NODES, AlphaBeta, Refinements
from tengen.search.evaluation import value_of
from tengen.search.limits import Limit
from tengen.search.minimax import Minimax

EXACT = Refinements(quiescence=0, extension=0)  # all that leaves minimax's value as it is
WITHOUT = {name: EXACT._replace(**{name: 0}) for name in ("table", "narrow", "aspiration", "killers", "history")}
SETTINGS = {"all": EXACT, "none": Refinements(*[0] * len(EXACT)), **WITHOUT}
CASES = [  # game, evaluation, region, depths, random plies first
    ("tictactoe", "lines", 0, (3, 9), (0, 6)),
    pytest.param("mnk:m=5,n=4,k=4", "lines", 0, (3, 4), (0, 10), marks=pytest.mark.long),
    ("mnk:m=4,n=4,k=3", "rows", 0, (3, 5), (0, 8)),
    ("connect4", "fours", 0, (4, 6), (0, 30)),
    ("gomoku:size=7", "patterns", 1, (2, 3), (2, 25)),
    pytest.param("gomoku:size=7,rule=standard", "patterns", 2, (2, 3), (10, 30), marks=pytest.mark.long),
    ("gomoku:size=7,rule=renju", "patterns", 1, (2, 3), (10, 30)),
    ("gomoku:size=6", "gobang", 0, (2, 3), (4, 25)),
    pytest.param("reversi:size=6", "mobility", 0, (3, 5), (0, 28), marks=pytest.mark.long),
    ("reversi", "mobility", 0, (3, 4), (0, 55)),
    ("reversi", "margin", 0, (3, 4), (0, 55)),
    ("draughts", "formation", 0, (3, 4), (0, 60)),
    pytest.param("international", "formation", 0, (3, 4), (0, 80), marks=pytest.mark.long),
    ("go:size=3", "area", 0, (3, 4), (0, 12)),
    pytest.param("go:size=5", "area", 0, (2, 3), (0, 30), marks=pytest.mark.long),
]


@pytest.mark.parametrize(("spec", "name", "region", "depths", "plies"), CASES)
def test_alphabeta_equals_minimax(spec, name, region, depths, plies):
    """With each refinement on and off, on 200 random positions a game: the same value; a best move.

    A draw may be proven by alpha-beta alone, where it leaves out what minimax has to look at.
    """
    game, rng = load_game(spec), random.Random(spec)
    evaluation = evaluation_for(game, name, region)
    referee = Minimax(game, evaluation)
    searches = {key: AlphaBeta(game, evaluation, setting, memory=1) for key, setting in SETTINGS.items()}
    for round_number in range(200):
        position = random_position(game, rng, rng.randint(*plies))
        limit = Limit(depth=rng.choice(depths))
        expected = referee.search(position, limit)
        for key, search in searches.items():
            search.forget()
            found = search.search(position, limit)
            assert found.value == expected.value, (key, position)
            assert found.note == expected.note or (found.note, expected.note) == ("a draw", ""), (key, position)
        if round_number % 10 == 0 and limit.depth > 1:  # the move itself, asked of the referee
            after = position.play(found.action)
            if after.outcome is None:
                reply = referee.search(after, Limit(depth=limit.depth - 1))
                sign = 1 if after.to_play == position.to_play else -1
                assert sign * reply.value == pytest.approx(expected.value)


@pytest.mark.parametrize(("spec", "name", "region", "depths", "plies"), CASES)
def test_minimax_equals_plain_python(spec, name, region, depths, plies):
    game, rng = load_game(spec), random.Random(spec)
    evaluation = evaluation_for(game, name, region)
    for _ in range(3):
        position = random_position(game, rng, rng.randint(*plies))
        found = Minimax(game, evaluation).search(position, Limit(depth=2))
        assert found.value == value_of(plain_search(position, evaluation, 2), evaluation.scale)


def test_points_far_from_stones_cost_more_depth():
    """The Gobang paper's depth by region: the value is that of a plain search that counts plies in the same way."""

    def cost(position, action):
        y, x = divmod(action, 6)
        distances = np.abs(np.argwhere(position.board) - (y, x)).max(axis=1)
        return min(int(distances.min(initial=3)), 3) if len(distances) else 1

    game, rng, differ = load_game("gomoku:size=6"), random.Random(1), 0
    evaluation = evaluation_for(game, "gobang-graded", 0)
    searches = {key: AlphaBeta(game, evaluation, setting, memory=1) for key, setting in SETTINGS.items()}
    for plies in (0, 2, 14, 16, 18, 18, 20, 20):
        position, depth = random_position(game, rng, plies), 3 if plies else 2
        expected = plain_search(position, evaluation, depth, cost=cost)
        for key, search in searches.items():
            search.forget()
            assert search.search(position, Limit(depth=depth)).value == value_of(expected, evaluation.scale), key
        differ += expected != plain_search(position, evaluation_for(game, "gobang", 0), 2)
    assert differ > 2


@pytest.mark.parametrize("count", [9, pytest.param(40, marks=pytest.mark.long)])
@pytest.mark.parametrize("rule", ["freestyle", "standard", "renju"])
def test_threats_beyond_the_horizon(rule, count):
    """Quiescence and the extension of an only candidate change the tree; pruning it does not change its value."""
    game, rng, differ = load_game(f"gomoku:size=7,rule={rule}"), random.Random(rule), 0
    evaluation = evaluation_for(game, "patterns", 1)
    for _ in range(count):
        position = random_position(game, rng, rng.randint(14, 26))
        depth = rng.choice((1, 2))
        found = AlphaBeta(game, evaluation, Refinements(quiescence=6), memory=1).search(position, Limit(depth=depth))
        expected = plain_search(position, evaluation, depth, extension=1, quiescence=6)
        assert found.value == value_of(expected, evaluation.scale)
        differ += expected != plain_search(position, evaluation, depth)
    assert differ > count // 12


def test_perfect_tictactoe():
    """Minimax and alpha-beta know the value of all positions within a random walk, and play it."""
    game, rng, known = load_game("tictactoe"), random.Random(1), {}
    searches = [Minimax(game), AlphaBeta(game, memory=1), AlphaBeta(game, evaluation_for(game), memory=1)]
    for _ in range(50):
        position = random_position(game, rng, rng.randrange(9))
        for search in searches:
            found = search.search(position, Limit(depth=9))
            assert found.value == plain_value(position, known)
            assert found.note
            assert -plain_value(position.play(found.action), known) == found.value


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("mnk:m=4,n=3,k=3", 1),
        ("mnk:m=4,n=4,k=3", 1),
        ("mnk:m=4,n=4,k=4", 0),
        pytest.param("mnk:m=5,n=5,k=4", 0, marks=pytest.mark.long),
        ("reversi:size=4", -1),
    ],
)
def test_solved_games(spec, value):
    game = load_game(spec)
    evaluation = evaluation_for(game)
    if "mnk" in spec:
        evaluation = evaluation._replace(weight=0)  # who wins, and nothing else
    search = AlphaBeta(game, evaluation, memory=256)
    assert search.search(game.start(), Limit(depth=42)).value == value
    if spec != "mnk:m=5,n=5,k=4":  # 19 million positions are enough
        search.forget()
        assert search.prove(game.start(), Limit()).value == value


@pytest.mark.parametrize("spec", ["tictactoe", "mnk:m=4,n=3,k=3", "connect4:columns=4,rows=4"])
def test_proofs_are_right(spec):
    game, rng, known = load_game(spec), random.Random(6), {}
    search = AlphaBeta(game, evaluation_for(game), memory=4)
    for _ in range(60):
        position = random_position(game, rng, rng.randrange(4, 9))
        found = search.prove(position, Limit())
        assert found.value == plain_value(position, known)
        if found.value >= 0:
            assert -plain_value(position.play(found.action), known) == found.value


def test_a_proof_that_is_cut_short_claims_nothing():
    game = load_game("connect4")
    found = AlphaBeta(game, evaluation_for(game), memory=4).prove(game.start(), Limit(nodes=1000))
    assert (found.value, found.note) == (None, "")


@pytest.mark.long
def test_connect_four_is_won_by_the_centre():
    """1.4 thousand million positions."""
    game = load_game("connect4")
    found = AlphaBeta(game, evaluation_for(game), memory=2048).prove(game.start(), Limit())
    assert (found.value, game.action_text(found.action)) == (1, "4")


def test_the_shortest_win_is_preferred():
    game = load_game("connect4")
    position = game.from_moves("4 1 4 1 4 1")  # 4 wins at once
    found = AlphaBeta(game, memory=1).search(position, Limit(depth=6))
    assert (game.action_text(found.action), found.value, found.note) == ("4", 1.0, "wins in 1")
    losing = game.from_moves("4 1 3 1 5")  # 2 or 6 comes next
    found = AlphaBeta(game, memory=1).search(losing, Limit(depth=8))
    assert (found.value, found.note) == (-1.0, "loses in 2")


@pytest.mark.parametrize("spec", ["tictactoe", "gomoku", "reversi", "connect4", "go:size=9"])
def test_the_line_is_legal_and_the_policy_adds_up(spec):
    game = load_game(spec)
    found = load_agent("alphabeta:nodes=20000", game).choose(game.start())
    position = game.start()
    for action in found.principal_variation:
        position = position.play(action)  # raises if it is not legal
    assert found.principal_variation[0] == found.action
    assert sum(found.policy.values()) == pytest.approx(1)
    assert found.nodes <= 20_000 and found.depth >= 2


@pytest.fixture
def clocked(monkeypatch):
    """A machine that makes a million nodes a second, whatever else this one does; its clock shows milliseconds."""
    made, run = [0], alphabeta.run

    def work(game, evaluation, refinements, work, most):
        before = int(work.progress[NODES])
        done = run(game, evaluation, refinements, work, most)
        made[0] += int(work.progress[NODES]) - before
        return done

    monkeypatch.setattr(alphabeta, "run", work)
    monkeypatch.setattr(limits, "clock", SimpleNamespace(perf_counter=lambda: made[0] // 1000 / 1000))


def test_limits_are_kept(clocked):
    game = load_game("gomoku")
    position = game.from_moves("h8 i9 g9 i7")
    agent = load_agent("alphabeta", game)
    for nodes in (1, 10, 1000):
        assert agent.choose(position, Limit(nodes=nodes)).nodes <= nodes
    assert agent.choose(position, Limit(depth=3)).depth == 3
    found = agent.choose(position, Limit(time=0.3))
    assert 0.299 < found.seconds < 0.31
    assert found.depth > 1


@pytest.mark.parametrize("spec", ["connect4", "reversi", "gomoku:size=9"])
def test_time_is_kept_with_a_table_that_knows_a_lot(spec, clocked):
    """Iterations that end at once must not make the slices between two looks at the clock long."""
    game = load_game(spec)
    search = AlphaBeta(game, evaluation_for(game), memory=16)
    search.search(game.start(), Limit(time=1.0))
    for _ in range(4):
        assert search.search(game.start(), Limit(time=0.1)).seconds < 0.12


def test_an_agent_plays_on_in_a_dead_draw():
    """Where nobody can win any more, the search ends at its root; the action is legal all the same."""
    game, rng = load_game("tictactoe"), random.Random(3)
    agent = load_agent("alphabeta:nodes=50", game)
    for _ in range(200):
        position = random_position(game, rng, rng.randrange(9))
        while position.outcome is None:
            position = position.play(agent.choose(position).action)  # raises if it is not legal


def test_nothing_is_claimed_that_is_not_proven():
    """Stopped anywhere, a search of connect four from the start knows no result; of tic-tac-toe, only the right one."""
    search = AlphaBeta(load_game("connect4"), evaluation_for(load_game("connect4")), memory=16)
    for nodes in range(1000, 60_000, 1999):
        assert search.search(search.game.start(), Limit(nodes=nodes)).note == ""
    game = load_game("tictactoe")
    notes = {AlphaBeta(game, memory=1).search(game.start(), Limit(nodes=nodes)).note for nodes in range(10, 9000, 450)}
    assert notes == {"", "a draw"}


@pytest.mark.parametrize("komi", [0.5, 1.5])
def test_go_endings_with_and_without_a_table(komi):
    """Superko makes a board's value depend on how it came about: the table may order actions, and no more."""
    game, rng = load_game(f"go:size=2,komi={komi}"), random.Random(komi)
    with_table = AlphaBeta(game, evaluation_for(game), memory=1)
    without = AlphaBeta(game, evaluation_for(game), Refinements(table=0), memory=1)
    for _ in range(60):
        position = random_position(game, rng, rng.randrange(12))
        one, other = (search.search(position, Limit(depth=8)) for search in (with_table, without))
        assert (one.value, one.note) == (other.value, other.note), position


def test_what_was_found_is_kept_when_time_runs_out():
    """A search stopped anywhere answers no worse than the last depth it finished: here, a win that is there to see."""
    game = load_game("gomoku:size=9")
    position = game.from_moves("e5 a1 e6 a2 e7 a3 e8 a9")
    for nodes in range(20, 400, 7):
        found = AlphaBeta(game, evaluation_for(game), memory=1).search(position, Limit(nodes=nodes))
        assert game.action_text(found.action) in ("e9", "e4")


def test_same_search_twice():
    """The same position asked twice gives the same answer, and the second time costs less."""
    game = load_game("gomoku")
    position, search = game.from_moves("h8 i9 g9 i7"), AlphaBeta(game, evaluation_for(game))
    first = search.search(position, Limit(depth=6))
    again = search.search(position, Limit(depth=6))
    assert again.value == first.value
    assert again.nodes < first.nodes / 2
    assert np.isclose(sum(again.policy.values()), 1)


def test_not_even_the_first_ply_takes_for_ever():
    """On crowded boards a ply with all its threats can take millions of positions; once stopped, about a thousand."""
    game, rng, stop = load_game("gomoku"), random.Random(3), Event()
    search = AlphaBeta(game, evaluation_for(game))
    positions = [random_position(game, rng, 70) for _ in range(60)]
    assert max(search.search(position, Limit(depth=1, nodes=20_000)).nodes for position in positions) > 3 * LEAST_NODES
    stop.set()
    for position in positions:
        decision = search.search(position, Limit(time=60, stop=stop))
        assert decision.nodes < 1.2 * LEAST_NODES
        assert decision.action in position.legal_actions
