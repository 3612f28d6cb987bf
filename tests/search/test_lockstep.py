"""Searches side by side find what the same searches find one by one; and chance is what it is called."""

import random

import numpy as np
import pytest
from judges import random_position

from tengen.games import load_game
from tengen.rules.kernels import entry
from tengen.search.chance import draw_gammas, draw_weighted
from tengen.search.evaluators import Uniform
from tengen.search.gumbel import race_edges
from tengen.search.limits import Limit
from tengen.search.lockstep import GUMBEL, PUCT, Plan, search_all
from tengen.search.puct import Gumbel, Puct
from tengen.search.tree import EDGE, NODE


class Oracle:
    """Answers that look random, and are always the same for the same planes."""

    def __init__(self, game):
        rng = np.random.default_rng(5)
        size = len(game.planes) * game.cells
        self.logits, self.values = rng.normal(size=(size, game.actions)), rng.normal(size=size)

    def __call__(self, planes):
        flat = planes.reshape(len(planes), -1).astype(np.float64)
        return (flat @ self.logits).astype(np.float32), np.tanh(flat @ self.values).astype(np.float32)


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "reversi"])
def test_lockstep_finds_what_one_search_finds(spec):
    game, rng = load_game(spec), random.Random(3)
    positions = [random_position(game, rng, rng.randrange(6)) for _ in range(12)]
    states, oracle = np.concatenate([position.states for position in positions]), Oracle(game)
    for root in (PUCT, GUMBEL):
        plan = Plan(root=root, simulations=60, noise=0.0, temperature=0.0, gumbel_noise=0)
        actions = search_all(game, plan, states, oracle)
        for position, action in zip(positions, actions, strict=True):
            settings = {"noise": 0.0} if root == GUMBEL else {}
            search = (Gumbel if root == GUMBEL else Puct)(game, oracle, batch=1, memory=4, **settings)
            assert search.search(position, Limit(simulations=60)).action == action


def test_proven_wins_are_the_policy():
    game = load_game("tictactoe")
    position = game.from_board("XX./OO./...", "X")
    for root in (PUCT, GUMBEL):
        plan = Plan(root=root, simulations=20)
        assert search_all(game, plan, position.states, Uniform(game)).tolist() == [2]


@entry
def draw(game, seed, shape, numbers):
    return draw_gammas(seed, shape, numbers)


@entry
def draw_index(game, seed, weights, power):
    return draw_weighted(seed, weights, power)


@entry
def race(game, nodes, edges, seed, considered, scores):
    return race_edges(nodes, edges, seed, considered, scores)


def races(considered: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores [races, actions], and the actions drawn [races, considered], at a root with the priors of PRIORS."""
    game, seed = load_game("tictactoe").parameters, np.uint64(7)
    scores, drawn = np.zeros((count, len(PRIORS)), np.float32), np.zeros((count, considered), np.int16)
    nodes, edges = np.zeros(1, NODE).view(np.recarray), np.zeros(len(PRIORS), EDGE).view(np.recarray)
    for i in range(count):
        nodes.count, edges.action, edges.prior = len(PRIORS), np.arange(len(PRIORS)), PRIORS
        seed = np.uint64(race(game, nodes, edges, seed, considered, scores[i]))
        drawn[i] = edges.action[:considered]
    assert nodes.tried == considered
    return scores, drawn


PRIORS = np.array([0.4, 0.25, 0.2, 0.1, 0.05], np.float32)


def test_who_arrives_first_has_the_highest_gumbel_number_and_logit():
    """If all arrive, score − logit is of the Gumbel distribution for each action, and independent of the others."""
    scores, drawn = races(len(PRIORS), 100_000)
    gumbels = scores - np.log(PRIORS)
    assert gumbels.mean(axis=0) == pytest.approx(0.5772, abs=0.02)
    assert np.cov(gumbels.T) == pytest.approx(np.eye(len(PRIORS)) * np.pi**2 / 6, abs=0.05)
    assert (np.argsort(-scores, axis=1) == drawn).all()


def test_the_first_are_drawn_by_their_priors():
    _, drawn = races(2, 100_000)
    assert np.bincount(drawn[:, 0]) / len(drawn) == pytest.approx(PRIORS, abs=0.006)
    both = (drawn[:, 0] == 0) & (drawn[:, 1] == 1)
    assert both.mean() == pytest.approx(0.4 * 0.25 / 0.6, abs=0.006)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 2.0])
def test_dirichlet_noise(alpha):
    """Mean 1 / n, variance (n − 1) / (n² (n α + 1)) of each share."""
    game, seed, draws = load_game("tictactoe").parameters, np.uint64(3), []
    for _ in range(5000):
        shares = np.zeros(8)
        seed = np.uint64(draw(game, seed, alpha, shares))
        draws.append(shares)
    assert np.sum(draws, axis=1) == pytest.approx(1)
    assert np.mean(draws) == pytest.approx(1 / 8)
    assert np.var(draws, axis=0).mean() == pytest.approx(7 / (64 * (8 * alpha + 1)), rel=0.05)


def test_weighted_draws():
    game, weights, rng = load_game("tictactoe").parameters, np.array([1.0, 0.0, 3.0]), np.random.default_rng(1)
    seeds = rng.integers(2**64, size=20_000, dtype=np.uint64)
    for power, shares in ((1.0, [0.25, 0, 0.75]), (2.0, [0.1, 0, 0.9])):
        counts = np.bincount([draw_index(game, seed, weights, power) for seed in seeds], minlength=3)
        assert counts / len(seeds) == pytest.approx(shares, abs=0.01)
        assert counts[1] == 0
