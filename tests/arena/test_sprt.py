"""The sequential test: its ratio by hand, its words, and how often it errs."""

import math
import random

import numpy as np
import pytest
from arena.test_ratings import bench

from tengen.arena.ratings import expected_score
from tengen.arena.sprt import GAME_SCORES, PAIR_SCORES, UNSEEN, Sprt, log_likelihood_ratio, read_sprt
from tengen.rules.errors import BadParameter


def test_without_draws_it_is_wald_s():
    """Wins and losses alone leave the distribution no freedom: the ratio is that of two coins."""
    wins, losses, s0, s1 = 37, 25, 0.5, expected_score(40)
    plain = wins * math.log(s1 / s0) + losses * math.log((1 - s1) / (1 - s0))
    assert log_likelihood_ratio(np.array([losses, 0, wins]), GAME_SCORES, s0, s1) == pytest.approx(plain, rel=0.01)


def test_the_distribution_with_a_mean_is_the_likeliest():
    """Beside a search over all distributions of three results with the right mean."""
    counts = np.array([12.0, 30.0, 18.0])
    best = []
    for mean in (0.5, 0.6):
        draws = np.linspace(0.001, 0.999, 100_000)
        wins = mean - draws / 2
        chances = np.stack([1 - draws - wins, draws, wins], axis=1)
        possible = chances[(chances > 0).all(axis=1)]
        best.append((np.log(possible) @ (counts + UNSEEN)).max())
    assert log_likelihood_ratio(counts, GAME_SCORES, 0.5, 0.6) == pytest.approx(best[1] - best[0], abs=1e-3)


def test_many_at_once_and_nothing_yet():
    counts = np.array([[3, 5, 9, 4, 7], [0, 0, 20, 0, 0], [0, 0, 0, 0, 0]])
    found = log_likelihood_ratio(counts, PAIR_SCORES, 0.5, 0.55)
    assert found.shape == (3,)
    assert found[0] == pytest.approx(log_likelihood_ratio(counts[0], PAIR_SCORES, 0.5, 0.55))
    assert found[1] < 0
    assert found[2] == 0
    mirrored = log_likelihood_ratio(counts[:, ::-1], PAIR_SCORES, 0.5, 0.45)
    assert mirrored == pytest.approx(found)


def test_a_test_that_ends():
    test, rng = Sprt(0, 50), random.Random(1)
    assert test.words() == "undecided between +0 and +50 Elo; LLR +0.00 within -2.94 to +2.94 after no games"
    while test.verdict is None:
        test.add(tuple(1 if rng.random() < 0.7 else -1 for _ in range(2)))
        assert test.games < 1000
    assert test.verdict == "H1"
    assert test.llr >= test.bounds[1]
    said = test.words()
    assert said.startswith("H1: +50 Elo rather than +0; LLR +")
    assert f"rose to the bound +2.94 after {test.games} games ({test.points:g} points)" in said
    for _ in range(200):  # games that were under way when it ended
        assert test.add((-1, -1)) == "H1"
    assert test.words() == said
    weak = Sprt(0, 50)
    while weak.add(-1) is None:
        pass
    assert weak.verdict == "H0"
    assert "H0: +0 Elo rather than +50; LLR -" in weak.words()
    assert "fell to the bound -2.94" in weak.words()


def test_pairs_and_single_games_count_together():
    test = Sprt(0, 20)
    for result in [(1, -1), (1, 0), (1, 1), (-1, 0), 1, 0, -1, 1]:
        test.add(result)
    assert test.pairs.tolist() == [0, 1, 1, 1, 1]
    assert test.singles.tolist() == [1, 1, 2]
    assert test.games == 12
    assert test.points == 7.5
    apart = [Sprt(0, 20, pairs=test.pairs).llr, Sprt(0, 20, singles=test.singles).llr]
    assert test.llr == pytest.approx(sum(apart))


@pytest.mark.parametrize("wrong", [2, "1", (1,) * 3, (), None, True, (1, 0.5), (1, None)])
def test_what_is_no_result_is_refused(wrong):
    with pytest.raises(BadParameter, match="is not a result"):
        Sprt().add(wrong)


def test_specs():
    test = read_sprt("elo0=0,elo1=20,alpha=0.05")
    assert (test.elo0, test.elo1, test.alpha, test.beta) == (0, 20, 0.05, 0.05)
    assert read_sprt(read_sprt("elo0=-5,elo1=2.5,beta=0.1").spec).spec == "elo0=-5,elo1=2.5,alpha=0.05,beta=0.1"
    assert read_sprt("").spec == Sprt().spec
    assert read_sprt("alpha=0.01").bounds == pytest.approx((math.log(0.05 / 0.99), math.log(0.95 / 0.01)))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("elo2=5", r"elo2=5: an SPRT has no option 'elo2'; did you mean 'elo[01]'\?"),
        ("elo1", r"'elo1' is not an option; write name=value, as in elo0=0,elo1=20"),
        ("elo1=strong", "elo1=strong is not a number"),
        ("elo1=nan", "elo1=nan is not a number"),
        ("alpha=5", r"alpha=5 is out of range: alpha is 1e-06 to 0\.5"),
        ("elo0=20,elo1=0", "elo0=20 is not less than elo1=0"),
        ("elo0=5,elo1=5", "elo0=5 is not less than elo1=5"),
    ],
)
def test_wrong_specs(spec, said):
    with pytest.raises(BadParameter, match=said):
        read_sprt(spec)


def test_the_class_decides_as_the_simulation_does():
    """One by one or side by side, the first crossing decides."""
    rng, test = np.random.default_rng(3), Sprt(0, 60)
    counts, verdict = np.zeros(5, int), None
    while verdict is None:
        pair = tuple(rng.choice([-1, 0, 1], size=2, p=[0.3, 0.3, 0.4]).tolist())
        counts[sum(pair) + 2] += 1
        ratio = log_likelihood_ratio(counts, PAIR_SCORES, expected_score(0), expected_score(60))
        verdict = "H0" if ratio <= test.bounds[0] else "H1" if ratio >= test.bounds[1] else None
        assert test.add(pair) == verdict


@pytest.mark.parametrize(("draw_rate", "unfairness"), [(0.0, 0.0), (0.3, 0.0), (0.2, 2.0)])
def test_it_errs_no_more_often_than_it_says(draw_rate, unfairness):
    """Of 1000 simulated tests at most 5% err, and 2% more by chance; and at least a third of the games is saved."""
    test, runs = Sprt(0, 60), 1000
    at0, at1 = (bench.run_sprt(test, bench.Opponents(elo, draw_rate, unfairness), runs, seed=5) for elo in (0, 60))
    assert at0.took_h1 <= 0.07
    assert at1.took_h1 >= 0.93
    assert at0.took_h1 + (1 - at1.took_h1) >= 0.03  # a test that never errs plays too long
    fixed = bench.fixed_games(test, bench.Opponents(30, draw_rate, unfairness))
    assert max(at0.games, at1.games) < 0.67 * fixed


def test_pairs_see_through_unfair_openings():
    """Where openings decide games, pairs need fewer games than the same games taken singly."""
    test, unfair = Sprt(0, 60), bench.Opponents(60, 0.0, 3.0)
    pairs, singly = (bench.run_sprt(test, unfair, 300, pairs=choice, seed=2) for choice in (True, False))
    assert pairs.games < 0.6 * singly.games
