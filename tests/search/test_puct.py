"""PUCT: the slides' search on 3×3, number by number; exact values where they are known; trees that stay whole."""

import itertools
import random
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from judges import plain_value, random_position

from tengen import load_game
from tengen.course.slides import ANSWERS, CELLS, SlidesNet
from tengen.search import limits
from tengen.search.evaluators import Uniform
from tengen.search.gumbel import halving_schedule
from tengen.search.limits import Clock, Limit
from tengen.search.puct import Gumbel, Puct
from tengen.search.tree import NO_CHILD, ROOT


def test_the_slides_search():
    """Cells 1 and 5 are Black's, 4 is White's, who is to play; c = 5; each step's N, W, Q and P as printed."""
    game = load_game("tictactoe")
    priors = [answer for answer, _ in ANSWERS.values()]
    search = Puct(game, SlidesNet(game), exploration=5.0, urgency=-1, batch=1, memory=1)

    def edge(cell, node=ROOT):
        action = game.parse_action(CELLS[cell])
        found = next(edge for edge in search.edges_of(node) if edge.action == action)
        return found.visits, pytest.approx(found.value, abs=1e-6), pytest.approx(found.prior, abs=1e-6), found.child

    search.move_to(game.from_moves("a1 a2 b2"))
    assert [edge(cell)[:3] for cell in priors[0]] == [(0, 0, prior) for prior in priors[0].values()]

    search.simulate(1)  # all U are 0: the tie goes to the highest prior, 2
    visits, value, prior, child = edge(2)
    assert (visits, value, prior) == (1, 0.1, 0.4)
    assert [edge(cell, child)[2] for cell in priors[1]] == list(priors[1].values())
    assert search.nodes[ROOT].visits == 1  # the slides count the root's own expansion, too

    search.simulate(1)  # 2 again (0.1 + 5·0.4·1/2 against 1.0 for 9), then 9, which ends the game: Black has won
    assert edge(9, child)[:2] == (1, 1.0)
    assert edge(2)[:2] == (2, -0.9)
    assert edge(9)[:2] == (0, 0)

    search.simulate(1)  # 9 (5·0.2·√2 against 0.493)
    *found, _, child = edge(9)
    assert found == [1, 0.2]
    assert [edge(cell, child)[2] for cell in priors[2]] == list(priors[2].values())
    assert search.nodes[ROOT].visits == 3
    assert [edge(cell)[0] for cell in (3, 6, 7, 8)] == [0, 0, 0, 0]


class Knowing:
    """A prover that knows every win of a small game, if it may look so long."""

    def __init__(self, game, effort=1):
        self.effort, self.known, self.is_won, rest = effort, {}, {}, [game.start()]
        while rest:
            position = rest.pop()
            if position.outcome is None and position.key not in self.is_won:
                self.is_won[position.key] = plain_value(position, self.known) == 1
                rest += [position.play(action) for action in position.legal_actions]

    def __call__(self, states, effort=1):
        return np.array([effort >= self.effort and self.is_won[int(key)] for key in states.key], np.bool_)


def test_what_a_prover_knows_need_not_be_searched():
    """A prover that knows every win of tic-tac-toe: the values are the same, and half the simulations will do."""
    game, rng = load_game("tictactoe"), random.Random(2)
    wins = Knowing(game)
    spent, known = {True: 0, False: 0}, wins.known
    for _ in range(40):
        position = random_position(game, rng, rng.randrange(1, 6))
        for has_prover in (True, False):
            search = Puct(game, Uniform(game), batch=1, memory=4, prover=wins if has_prover else None)
            found = search.search(position, Limit(simulations=20_000))
            assert -plain_value(position.play(found.action), known) == plain_value(position, known)
            assert found.value == pytest.approx(plain_value(position, known), abs=0.2)
            spent[has_prover] += found.nodes if "proven" in found.note else 0
    assert spent[True] < spent[False] / 2


def test_what_a_search_relies_on_is_looked_at_for_longer():
    """A prover that knows nothing of a leaf, and everything of what has been visited often: no game is thrown away."""
    game, rng = load_game("tictactoe"), random.Random(3)
    patient = Knowing(game, effort=8)
    lost = {True: 0, False: 0}
    for _ in range(60):
        position = random_position(game, rng, rng.randrange(1, 4))
        for has_prover in (True, False):
            search = Puct(game, Uniform(game), batch=1, memory=4, prover=patient if has_prover else None)
            after = position.play(search.search(position, Limit(simulations=128)).action)
            lost[has_prover] += plain_value(after, patient.known) == 1 and plain_value(position, patient.known) > -1
    assert lost[True] == 0
    assert lost[False] > 10


def test_a_look_takes_its_share_of_the_time(monkeypatch):
    """The longer the more is known to depend on it, and twice as long as before; with little time not so long."""
    game, efforts = load_game("connect4"), dict[bytes, list[int]]()

    def wins(states, effort=1):
        if effort > 1:
            efforts.setdefault(states.tobytes(), []).append(effort)
        return np.zeros(len(states), np.bool_)

    Puct(game, Uniform(game), batch=1, memory=16, prover=wins).search(game.start(), Limit(simulations=4000))
    for looks in efforts.values():
        assert all(later >= min(2 * earlier, 256) for earlier, later in itertools.pairwise(looks))
    assert max(map(max, efforts.values())) == 256
    efforts.clear()
    search = Puct(game, Uniform(game), batch=1, memory=16, prover=wins)
    now, simulate = [0.0], search.simulate

    def work(most):
        done = simulate(most)
        now[0] += done / 10_000  # seconds: so fast is this machine
        return done

    monkeypatch.setattr(search, "simulate", work)
    monkeypatch.setattr(limits, "clock", SimpleNamespace(perf_counter=lambda: now[0]))
    search.search(game.start(), Limit(time=0.2))
    assert 2 <= max(map(max, efforts.values())) <= 25


def test_who_has_lost_plays_what_was_looked_at():
    """Where all that was tried is lost, nothing unlikely is played because nobody has looked at it."""
    game = load_game("gomoku:size=6")
    likely = np.arange(game.actions, dtype=np.float32) / 4  # the last cell most of all

    def evaluator(planes):
        return np.tile(likely, (len(planes), 1)), np.zeros(len(planes), np.float32)

    def wins(states, effort=1):
        return np.ones(len(states), np.bool_)

    for simulations, cell in ((1, 34), (15, 20), (20, 35)):
        search = Puct(game, evaluator, batch=1, memory=4, prover=wins)
        assert search.search(game.start(), Limit(simulations=simulations)).action == cell


def test_a_uniform_network_still_finds_the_exact_value():
    """On random tic-tac-toe positions: proven, and right."""
    game, rng, known = load_game("tictactoe"), random.Random(1), {}
    for _ in range(40):
        position = random_position(game, rng, rng.randrange(7))
        found = Puct(game, Uniform(game), memory=4).search(position, Limit(simulations=20_000))
        value = plain_value(position, known)
        assert -plain_value(position.play(found.action), known) == value
        assert found.note == "proven" or value == 0
        assert found.value == pytest.approx(value, abs=0 if found.note else 0.2)


@pytest.mark.parametrize("spec", ["mnk:m=4,n=3,k=3", "reversi:size=4"])
def test_small_games_are_solved(spec):
    game = load_game(spec)
    found = Puct(game, Uniform(game), memory=400).search(game.start(), Limit(simulations=1_000_000))
    assert (found.note, found.value) == ("proven", -1.0 if "reversi" in spec else 1.0)


def check_whole(search, position, node=ROOT, depth=0):
    """Edges are the legal actions; visits add up; nothing is under way."""
    edges = search.edges_of(node)
    assert edges.action.tolist() == list(position.legal_actions)
    assert edges.losses.sum() == 0
    assert edges.visits.sum() == search.nodes[node].visits
    assert search.nodes[node].to_play == position.to_play
    assert edges.prior.sum() == pytest.approx(1, abs=1e-5)
    for edge in edges:
        assert abs(edge.value) <= edge.visits + 1e-3
        if edge.child != NO_CHILD and depth < 3:
            assert search.nodes[edge.child].visits < edge.visits
            check_whole(search, position.play(int(edge.action)), int(edge.child), depth + 1)


@pytest.mark.parametrize("spec", ["tictactoe", "gomoku:size=6", "connect4", "reversi", "go:size=5"])
@pytest.mark.parametrize("batch", [1, 8])
def test_the_tree_is_whole_and_kept(spec, batch):
    game = load_game(spec)
    search, position = Puct(game, Uniform(game), batch=batch, memory=16), game.start()
    for _ in range(3):
        found = search.search(position, Limit(simulations=500))
        check_whole(search, position)
        assert sum(found.policy.values()) == pytest.approx(1)
        if found.note:
            break
        visits = next(int(edge.visits) for edge in search.edges_of(ROOT) if edge.action == found.action)
        position = position.play(found.action)
        search.move_to(position)
        assert search.nodes[ROOT].visits == visits - 1  # all but the visit that opened it
        check_whole(search, position)
        for unused in (search.edges[search.sizes[1] :], search.spare[1]):  # so that new edges are untried ones
            assert not any(unused[name].any() for name in ("visits", "value", "child", "losses", "proven"))


def test_a_full_tree_keeps_playing_and_says_so():
    game = load_game("gomoku")
    search = Puct(game, Uniform(game), memory=1)
    found = search.search(game.start(), Limit(simulations=5000))
    assert "the tree is full" in found.note
    assert found.nodes == 5000
    assert search.edges_of(ROOT).losses.sum() == 0


def test_halving():
    """Sixteen simulations for four actions: two rounds of all four, then the better two; as many as asked for."""
    assert halving_schedule(4, 16).tolist() == [0] * 4 + [1] * 4 + [2, 2, 3, 3, 4, 4, 5, 5]
    for considered in (1, 2, 3, 16, 200):
        for simulations in (1, 2, 7, 64, 1000):
            assert len(halving_schedule(considered, simulations)) == simulations


def test_gumbel_finds_the_exact_value():
    """With a uniform network, on random tic-tac-toe positions, even with few actions considered at a time."""
    game, rng, known, right = load_game("tictactoe"), random.Random(2), {}, 0
    for i in range(40):
        position = random_position(game, rng, rng.randrange(7))
        found = Gumbel(game, Uniform(game), memory=4, seed=i).search(position, Limit(simulations=2000))
        value = plain_value(position, known)
        right += -plain_value(position.play(found.action), known) == value
        if found.note:
            assert found.value == value
        assert sum(found.policy.values()) == pytest.approx(1, abs=1e-4)
    assert right == 40


def test_gumbel_improves_on_the_prior_with_two_simulations():
    """The policy of a search leans to what was found good: on average it is worth more than the prior."""
    game, known, better = load_game("tictactoe"), {}, []
    rng = random.Random(4)
    for i in range(100):
        position = random_position(game, rng, 5)
        found = Gumbel(game, Uniform(game), memory=1, seed=i).search(position, Limit(simulations=4))
        values = {action: -plain_value(position.play(action), known) for action in position.legal_actions}
        gain = sum(share * values[action] for action, share in found.policy.items()) - np.mean(list(values.values()))
        better.append(gain)
    assert np.mean(better) > 2 * np.std(better) / 10


def test_limits_are_kept():
    game = load_game("connect4")
    search = Puct(game, Uniform(game), memory=16)
    for simulations in (1, 3, 100):
        assert search.search(game.start(), Limit(simulations=simulations)).nodes == simulations


@pytest.mark.parametrize("moves", ["", "4", "434", "44443"])
def test_an_early_end_changes_no_move(moves):
    game = load_game("connect4")
    position, limit = game.from_moves(moves), Limit(simulations=2000)
    full = Puct(game, Uniform(game), rollouts=1.0, memory=16).search(position, limit)
    early = Puct(game, Uniform(game), rollouts=1.0, memory=16).search(position, replace(limit, early=True))
    assert early.action == full.action
    shares = sorted(full.policy.values())
    assert early.nodes < full.nodes or shares[-1] - shares[-2] < 2 * 8 / 2000  # a batch more could still change it


def test_the_pace_is_known_after_a_tenth_of_the_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(limits.clock, "perf_counter", lambda: now[0])
    clock, endless = Clock(Limit(time=10)), Clock(Limit())
    now[0] = 0.9
    assert clock.more(100) == endless.more(100) == float("inf")
    now[0] = 2.0
    assert clock.more(100) == pytest.approx(400)
    now[0] = 10.0
    assert clock.more(100) == 0


class Astray:
    """A net that is sure of the first cell, taken or not."""

    def __init__(self, game):
        self.logits = np.where(np.arange(game.actions) == 0, 0, -1000).astype(np.float32)

    def __call__(self, planes):
        return np.tile(self.logits, (len(planes), 1)), np.zeros(len(planes), np.float32)


@pytest.mark.parametrize("kind", [Puct, Gumbel])
def test_of_actions_that_a_net_knows_nothing_of_all_are_tried(kind):
    """Where it is sure of what is illegal, and all that is legal is too unlikely for a float, all are as likely."""
    game = load_game("tictactoe")
    search = kind(game, Astray(game), memory=1)
    search.search(game.from_moves("a3 b3 c1"), Limit(simulations=50))  # a3 is the first cell
    edges = search.edges_of(ROOT)
    assert edges.prior == pytest.approx(1 / 6)
    assert (edges.visits > 0).all()
