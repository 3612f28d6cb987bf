"""Bandits: arms that pay 1 or 0, policies that choose among them, and what each policy regrets.

All policies of a run meet the same luck: what arm i would pay at time t is drawn once. So the lecture's regret,
max over i of ΣXᵢₜ less what was earned, compares like with like.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tengen.course.traces import rounded
from tengen.rules.errors import BadParameter
from tengen.rules.kernels import entry
from tengen.search.uct import ucb1

POLICIES = ("ucb1", "greedy", "epsilon", "random")
UCB1, GREEDY, EPSILON, RANDOM = range(len(POLICIES))
THOMPSON, PUCB = "thompson", "pucb"
MOST_ARMS, MOST_STEPS, MOST_RUNS = 10, 2000, 500
MOST_PULLS = 400_000  # of one policy, over all runs
POINTS = 200  # of a curve


class Policy(NamedTuple):
    """Which arm is next? Every arm once, then as its kind says; a random one, always."""

    kind: int
    exploration: float = 1.0  # UCB1's C
    epsilon: float = 0.1  # how often ε-greedy takes any arm


@entry
def pull(policy, rewards, chances, chosen, bounds):
    """Plays rewards [steps, arms] to their end: the arms taken are `chosen` [steps].

    chances [steps, 2] in [0, 1) are the policy's own luck. bounds [steps, arms] are what it compared the arms by before
    each step; an arm never pulled is beyond compare, and no policy but UCB1 knows more of an arm than its mean.
    """
    steps, arms = rewards.shape
    counts, totals = np.zeros(arms), np.zeros(arms)
    for step in range(steps):
        best = 0
        for arm in range(arms):
            if counts[arm] == 0:
                bounds[step, arm] = np.inf
            else:
                mean = totals[arm] / counts[arm]
                bounds[step, arm] = mean
                if policy.kind == UCB1:
                    bounds[step, arm] = ucb1(mean, counts[arm], float(step), policy.exploration)
            if bounds[step, arm] > bounds[step, best]:
                best = arm
        is_any = policy.kind == RANDOM or (policy.kind == EPSILON and chances[step, 0] < policy.epsilon)
        if is_any:
            best = min(int(chances[step, 1] * arms), arms - 1)
        chosen[step] = best
        counts[best] += 1
        totals[best] += rewards[step, best]


@dataclass(frozen=True)
class Play:
    """One policy: its first run step by step, and its regret over all runs."""

    policy: str
    arms: list[int]  # [steps]
    rewards: list[int]  # [steps]
    bounds: list[list[float | None]]  # [steps, arms]: what it compared; None for an arm never pulled
    regret: list[float]  # [points]: Σ of what each pull lacks of the best arm's mean, on average over the runs
    spread: list[float]  # [points]: its standard deviation between the runs
    lecture_regret: float  # of the first run at its end: max over arms of ΣX, less what was earned
    pulls: list[float]  # [arms]: on average over the runs


@dataclass(frozen=True)
class Contest:
    """All policies on the same arms."""

    means: list[float]
    points: list[int]  # steps at which curves are told
    plays: list[Play]
    bound: list[float | None]  # [points]: what UCB1's regret never exceeds on average; None where none is proven
    would_pay: list[list[int]]  # [steps, arms] of the first run
    predictor_gain: float | None = None  # by what a predictor improves the bound on the worst regret


def contest(
    means: Sequence[float],
    steps: int = 500,
    runs: int = 100,
    exploration: float = 1.0,
    epsilon: float = 0.1,
    seed: int = 1,
    has_thompson: bool = False,
    priors: Sequence[float] = (),
) -> Contest:
    """Every policy on arms that pay 1 with the chances `means`; Thompson's sampling too, if it is asked for.

    And PUCB, if `priors` are given: how likely a predictor finds it that each arm is the best.
    """
    check(means, steps, runs)
    check_priors(priors, len(means))
    chance = np.array(means, np.float64)
    random = np.random.default_rng(seed)
    points = sorted({max(1, round(steps * (i + 1) / POINTS)) for i in range(POINTS)})
    rewards = (random.random((runs, steps, len(means))) < chance).astype(np.float64)
    luck = random.random((runs, steps, 2))
    pulled = {name: pull_all(Policy(kind, exploration, epsilon), rewards, luck) for kind, name in enumerate(POLICIES)}
    if has_thompson:
        pulled[THOMPSON] = sample_all(rewards, random)
    if priors:
        pulled[PUCB] = predict_all(rewards, priors)
    return Contest(
        means=[float(mean) for mean in means],
        points=points,
        plays=[summary(name, chance, rewards, *each, points) for name, each in pulled.items()],
        bound=bound(means, points, exploration),
        would_pay=rewards[0].astype(int).tolist(),
        predictor_gain=gain_of(priors) if priors else None,
    )


def check(means: Sequence[float], steps: int, runs: int) -> None:
    if not 2 <= len(means) <= MOST_ARMS:
        raise BadParameter(f"{len(means)} arms: there are 2 to {MOST_ARMS}")
    if not all(0 <= mean <= 1 for mean in means):
        raise BadParameter("an arm pays 1 with a chance between 0 and 1")
    if not (1 <= steps <= MOST_STEPS and 1 <= runs <= MOST_RUNS and steps * runs <= MOST_PULLS):
        most = f"{MOST_STEPS} steps, {MOST_RUNS} runs, {MOST_PULLS} pulls in all"
        raise BadParameter(f"{runs} runs of {steps} steps are too many; the most are {most}")


def check_priors(priors: Sequence[float], arms: int) -> None:
    if not priors:
        return
    if len(priors) != arms:
        raise BadParameter(f"{len(priors)} priors for {arms} arms: give each arm one")
    if not all(prior > 0 for prior in priors) or abs(sum(priors) - 1) > 0.01:
        raise BadParameter("priors are above 0 and add up to 1, as in 0.2,0.3,0.5")


def gain_of(priors: Sequence[float]) -> float:
    """By what factor the bound on PUCB's worst regret is below that without a predictor: (Σ √Pᵢ)² / b."""
    return sum(math.sqrt(prior) for prior in priors) ** 2 / len(priors)


def pull_all(policy: Policy, rewards: np.ndarray, luck: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The arms that a policy takes in all runs, [runs, steps], and what it compared in the first, [steps, arms]."""
    runs, steps, arms = rewards.shape
    chosen, bounds = np.zeros((runs, steps), np.int64), np.zeros((steps, arms))
    for run in reversed(range(runs)):  # the first comes last: its bounds are kept
        pull(policy, rewards[run], luck[run], chosen[run], bounds)
    return chosen, bounds


def sample_all(rewards: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Thompson's sampling, told as by `pull_all`: each arm's chance is drawn from what is known of it.

    That is Beta(wins + 1, losses + 1), what Bayes makes of an even guess; the arm with the best draw is pulled.
    """
    runs, steps, arms = rewards.shape
    wins, losses, every = np.zeros((runs, arms)), np.zeros((runs, arms)), np.arange(runs)
    chosen, bounds = np.zeros((runs, steps), np.int64), np.zeros((steps, arms))
    for step in range(steps):
        drawn = random.beta(wins + 1, losses + 1)
        bounds[step], best = drawn[0], drawn.argmax(axis=1)
        paid = rewards[every, step, best]
        wins[every, best] += paid
        losses[every, best] += 1 - paid
        chosen[:, step] = best
    return chosen, bounds


def predict_all(rewards: np.ndarray, priors: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """PUCB, told as by `pull_all`: UCB1 for which a predictor's unlikely arms have to do without its optimism.

    Rosin's: the arm with the greatest X̄ᵢ + √(3 ln n / 2nᵢ) − (2/Mᵢ)·√(ln n / n), where Mᵢ is √Pᵢ, scaled to a sum of 1,
    which makes the bound least. An arm never pulled counts as if it had paid always.
    """
    runs, steps, arms = rewards.shape
    weights = np.sqrt(np.asarray(priors)) / np.sqrt(priors).sum()
    counts, totals, every = np.zeros((runs, arms)), np.zeros((runs, arms)), np.arange(runs)
    chosen, bounds = np.zeros((runs, steps), np.int64), np.zeros((steps, arms))
    for step in range(steps):
        n, known = step + 1, np.maximum(counts, 1)
        means = np.where(counts > 0, totals / known, 1.0)
        optimism = np.where(counts > 0, np.sqrt(1.5 * math.log(n) / known), 0.0)
        penalty = 2 / weights * (math.sqrt(math.log(n) / n) if n > 1 else 1.0)
        compared = means + optimism - penalty
        bounds[step], best = compared[0], compared.argmax(axis=1)
        counts[every, best] += 1
        totals[every, best] += rewards[every, step, best]
        chosen[:, step] = best
    return chosen, bounds


def summary(
    name: str, means: np.ndarray, rewards: np.ndarray, chosen: np.ndarray, bounds: np.ndarray, points: list[int]
) -> Play:
    """One policy through all runs."""
    runs, steps, arms = rewards.shape
    regret = np.cumsum(means.max() - means[chosen], axis=1)[:, np.array(points) - 1]  # [runs, points]
    earned = rewards[0][np.arange(steps), chosen[0]]
    return Play(
        policy=name,
        arms=chosen[0].tolist(),
        rewards=earned.astype(int).tolist(),
        bounds=[[round(x, 4) if math.isfinite(x) else None for x in row] for row in bounds.tolist()],
        regret=[rounded(x) for x in regret.mean(axis=0)],
        spread=[rounded(x) for x in regret.std(axis=0)],
        lecture_regret=rounded(rewards[0].sum(axis=0).max() - earned.sum()),
        pulls=[rounded((chosen == arm).sum() / runs) for arm in range(arms)],
    )


def bound(means: Sequence[float], points: Sequence[int], exploration: float) -> list[float | None]:
    """The bound of Auer, Cesa-Bianchi and Fischer on UCB1's regret: 8·Σ ln n / Δᵢ + (1 + π²/3)·ΣΔᵢ over worse arms.

    It is proven for C = 1, and says nothing for another C.
    """
    gaps = [max(means) - mean for mean in means if mean < max(means)]
    if not gaps or exploration != 1.0:
        return [None for _ in points]
    slope, start = 8 * sum(1 / gap for gap in gaps), (1 + math.pi**2 / 3) * sum(gaps)
    return [rounded(slope * math.log(n) + start) for n in points]


def least_regret(means: Sequence[float], points: Sequence[int]) -> list[float | None]:
    """Lai and Robbins' slope, ln n · Σ Δᵢ / KL(μᵢ, μ*): in the long run no policy that suits all arms regrets less.

    It says nothing of a few pulls. None if all arms are equal, or if the best one always pays.
    """
    best = max(means)
    if best == 1 or all(mean == best for mean in means):
        return [None for _ in points]
    slope = sum((best - mean) / divergence(mean, best) for mean in means if mean < best)
    return [rounded(slope * math.log(n)) for n in points]


def divergence(mean: float, other: float) -> float:
    """Kullback and Leibler's, of an arm that pays with one chance from an arm that pays with another."""
    wins = mean * math.log(mean / other) if mean > 0 else 0.0
    return wins + (1 - mean) * math.log((1 - mean) / (1 - other))
