"""Games of self-play are legal, whole, and the same however threads run and processes come and go."""

import numpy as np
import pytest

from tengen.games import load_game
from tengen.learn.selfplay import Games, Group, Opening, learned, play_groups
from tengen.search.evaluators import RandomSymmetry, Uniform
from tengen.search.lockstep import GUMBEL, PUCT, Plan


def never():
    return False


def split(games):
    """The games one by one: moves, policies and the result."""
    ends = np.cumsum(games.lengths)
    for end, length, result in zip(ends, games.lengths, games.results, strict=True):
        part = slice(end - length, end)
        yield games.moves[part], games.policies[part], result


def softmax(logits):
    weights = np.exp(logits)
    return weights / weights.sum(axis=-1, keepdims=True)


def equal(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "reversi", "hex:size=5", "go:size=5"])
@pytest.mark.parametrize(
    "plan",
    [
        Plan(root=GUMBEL, simulations=8),
        Plan(root=PUCT, simulations=16, keep=1, chance_plies=3),
        Plan(root=PUCT, simulations=12),
    ],
    ids=["gumbel", "puct that keeps its trees", "puct"],
)
def test_games_keep_the_rules(spec, plan):
    game = load_game(spec)
    games = Group(game, plan, 8, 4 * game.cells + 100, seed=1, opening=Opening(3)).play(Uniform(game), 150, never)
    assert len(games.moves) == games.lengths.sum() >= 150
    for moves, policies, result in split(games):
        position = game.start()
        for move, policy in zip(moves, policies, strict=True):
            if position.ply >= 3 or policy.any():
                assert policy.sum() == pytest.approx(1, abs=2e-3)
            assert set(np.flatnonzero(policy)) <= set(position.legal_actions)
            position = position.play(int(move))
        assert position.outcome is not None
        assert result == {0: 1, 1: 2, None: 3}[position.outcome.winner]
    assert 0.5 < games.policies.any(axis=1).mean() < 1


def test_a_temperature_falls_to_zero():
    """At first any move may be drawn, then likelier ones, in the end the most visited alone."""
    game, plies = load_game("connect4"), 12
    plan = Plan(root=PUCT, simulations=40, annealing=plies)
    games = Group(game, plan, 32, 42, seed=4).play(Uniform(game), 1000, never)
    best, drawn = 2 * [0], 2 * [0]
    for moves, policies, _ in split(games):
        likeliest = [policy[move] == policy.max() for move, policy in zip(moves, policies, strict=True)]
        assert all(likeliest[plies:])
        for half in range(2):
            part = likeliest[half * plies // 2 : (half + 1) * plies // 2]
            best[half], drawn[half] = best[half] + sum(part), drawn[half] + len(part)
    assert best[0] / drawn[0] < best[1] / drawn[1] < 1


def test_stones_of_an_opening_stand_together():
    game = load_game("gomoku")
    opening = Opening(plies=5, near=2, columns=15)
    games = Group(game, Plan(simulations=2), 64, 225, seed=3, opening=opening).play(Uniform(game), 10_000, never)
    begun = [moves[~policies.any(axis=1)] for moves, policies, _ in split(games)]
    for moves in begun:
        cells = np.stack(np.divmod(moves.astype(int), 15), 1)
        assert all(abs(cells[:ply] - cells[ply]).max(axis=1).min() <= 2 for ply in range(1, len(cells)))
    assert {len(moves) for moves in begun} == set(range(6))
    assert len({int(moves[0]) for moves in begun if len(moves)}) > 10  # the first stands anywhere


def test_a_temperature_widens_the_search_and_not_what_is_learned():
    logits, found = np.random.default_rng(1).normal(size=(2, 5, 9))
    searched, wanted = softmax(logits / 1.5 + found), softmax(logits + 1.5 * found)
    searched[3] = 0  # a random move
    wanted[3] = 0
    np.testing.assert_allclose(learned(searched, 1.5), wanted, atol=1e-3)


def test_without_values_the_net_learns_what_it_thinks():
    """Searches that find nothing leave the policy alone, however wide they look."""
    game = load_game("gomoku:size=6")
    logits = np.random.default_rng(2).normal(size=36).astype(np.float32)

    def evaluator(planes):
        return np.tile(logits, (len(planes), 1)), np.zeros(len(planes), np.float32)

    plan = Plan(simulations=8, value_scale=0.0, prior_temperature=2.0)
    games = Group(game, plan, 8, 5, seed=1).play(evaluator, 40, never)
    begins = np.cumsum(games.lengths) - games.lengths
    for policy in games.policies[begins]:
        np.testing.assert_allclose(policy, softmax(logits), atol=1e-3)


def test_a_game_without_an_end_is_a_draw():
    game = load_game("mnk:m=15,n=15,k=5")
    games = Group(game, Plan(simulations=2, value_scale=0.0), 4, 6, seed=2).play(Uniform(game), 40, never)
    assert set(games.lengths) == {6}
    assert set(games.results) == {3}


def test_the_same_games_however_threads_run():
    game, plan = load_game("connect4"), Plan(simulations=8)

    def play():
        groups = [Group(game, plan, 8, 42, seed=number) for number in range(3)]
        evaluators = [RandomSymmetry(Uniform(game), game, number) for number in range(3)]
        return [play_groups(groups, evaluators, 500) for _ in range(2)]

    first, second = play(), play()
    assert all(equal(a, b) for a, b in zip(first, second, strict=True))
    assert not equal(*(Games(*part) for part in first))


def test_games_under_way_outlive_the_process():
    game, plan, net = load_game("reversi"), Plan(simulations=6), Uniform(load_game("reversi"))
    group, other = (Group(game, plan, 8, 130, seed=seed, opening=Opening(5)) for seed in (1, 2))
    group.play(net, 200, never)
    other.restore(group.save())
    assert equal(group.play(net, 500, never), other.play(net, 500, never))


def test_games_under_way_on_a_gpu_go_on_here():
    """A GPU saves no policies of theirs: the same games come out, and what was played before teaches no policy."""
    game, plan, net = load_game("reversi"), Plan(simulations=6), Uniform(load_game("reversi"))
    group, other = (Group(game, plan, 8, 130, seed=seed) for seed in (1, 2))
    other.play(net, 300, never)  # it has policies of its own, which are not these games'
    group.play(net, 200, never)
    saved = group.save()
    other.restore({name: array for name, array in saved.items() if name != "policies"})
    whole, rest = group.play(net, 300, never), other.play(net, 300, never)
    assert np.array_equal(whole.moves, rest.moves) and np.array_equal(whole.lengths, rest.lengths)
    taught = rest.policies.any(axis=1)
    assert not taught[0] and taught[rest.lengths[0] - 1]
    assert np.array_equal(whole.policies[taught], rest.policies[taught])
