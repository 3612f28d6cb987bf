"""Games played to their end: by kernels and by a network in lockstep, with the same results where they play alike."""

from threading import Event

import numpy as np
import pytest

from tengen import load_game
from tengen.knowledge.go_patterns import OpenEyes
from tengen.rules.playouts import playouts
from tengen.search.limits import Clock, Limit
from tengen.search.rollouts import Even, NetRollouts, QuickRollouts


class EvenPolicy:
    """Likes everything; counts what it is asked."""

    def __init__(self, game):
        self.game, self.sizes = game, []

    def __call__(self, states):
        self.sizes.append(len(states))
        return np.zeros((len(states), self.game.actions), np.float32)


@pytest.mark.parametrize("spec", ["tictactoe", "reversi:size=4", "go:size=5"])
def test_the_game_own_rollouts(spec):
    """The mean is that of the rules' playouts."""
    game = load_game(spec)
    results = QuickRollouts(game, Even(), repeats=20_000)(game.start().states, 5)
    judged = playouts(game.start(), 20_000, seed=6)
    assert results[0] == pytest.approx((judged.first_wins - judged.second_wins) / 20_000, abs=0.05)


def test_a_network_that_knows_nothing_plays_as_chance_does():
    """Lockstep, refilled rows and the kernel's rollouts have the same mean, leaf by leaf."""
    game = load_game("go:size=5,komi=2.5")
    leaves = np.concatenate([game.start().states, game.from_moves("c3 c4").states]).view(np.recarray)
    net = NetRollouts(game, EvenPolicy(game), OpenEyes(), repeats=3000, rows=64)
    chance = QuickRollouts(game, Even(), repeats=20_000)
    assert net(leaves, 1) == pytest.approx(chance(leaves, 2), abs=0.09)


def test_batches_stay_full_until_the_games_run_out():
    game = load_game("tictactoe")
    policy = EvenPolicy(game)
    results = NetRollouts(game, policy, Even(), repeats=100, rows=16)(game.start().states, 1)
    full = [size for size in policy.sizes if size == 16]
    assert sum(policy.sizes) >= 100 * 5  # a game has five moves at least
    assert len(full) >= 100 * 5 // 16 - 3
    assert policy.sizes == sorted(policy.sizes, reverse=True)
    assert 0 < results[0] < 1


def test_a_network_is_followed():
    """A policy that always takes the lowest cell: X a3 b3 c3?, as logits this far apart are never drawn against."""
    game = load_game("tictactoe")

    def lowest(states):
        return np.tile(-100.0 * np.arange(game.actions, dtype=np.float32), (len(states), 1))

    leaf = game.start().states  # X: 0, 2, 4, 6 wins by the diagonal
    assert NetRollouts(game, lowest, Even(), repeats=5)(leaf, 1)[0] == 1.0


def test_the_same_number_gives_the_same_results():
    game = load_game("go:size=5")
    leaves = game.start().states
    for make in (
        lambda: QuickRollouts(game, Even(), repeats=40),
        lambda: NetRollouts(game, EvenPolicy(game), OpenEyes(), repeats=40, rows=8),
    ):
        assert make()(leaves, 7)[0] == make()(leaves, 7)[0]
        assert any(make()(leaves, 7)[0] != make()(leaves, number)[0] for number in range(8, 12))


def test_games_are_given_up_when_the_time_is_over():
    game, stop = load_game("go:size=9"), Event()
    leaves = np.concatenate([game.start().states] * 2).view(np.recarray)
    policy = EvenPolicy(game)

    def asked_thrice(states):
        if len(policy.sizes) == 3:
            stop.set()
        return policy(states)

    results = NetRollouts(game, asked_thrice, OpenEyes(), rows=1)(leaves, 1, Clock(Limit(stop=stop)))
    assert np.isnan(results).all()
    assert len(policy.sizes) == 4
