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
THOMPSON = "thompson"
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


def contest(
    means: Sequence[float],
    steps: int = 500,
    runs: int = 100,
    exploration: float = 1.0,
    epsilon: float = 0.1,
    seed: int = 1,
    has_thompson: bool = False,
) -> Contest:
    """Every policy on arms that pay 1 with the chances `means`; Thompson's sampling too, if it is asked for."""
    check(means, steps, runs)
    chance = np.array(means, np.float64)
    random = np.random.default_rng(seed)
    points = sorted({max(1, round(steps * (i + 1) / POINTS)) for i in range(POINTS)})
    rewards = (random.random((runs, steps, len(means))) < chance).astype(np.float64)
    luck = random.random((runs, steps, 2))
    pulled = {name: pull_all(Policy(kind, exploration, epsilon), rewards, luck) for kind, name in enumerate(POLICIES)}
    if has_thompson:
        pulled[THOMPSON] = sample_all(rewards, random)
    return Contest(
        means=[float(mean) for mean in means],
        points=points,
        plays=[summary(name, chance, rewards, *each, points) for name, each in pulled.items()],
        bound=bound(means, points, exploration),
        would_pay=rewards[0].astype(int).tolist(),
    )


def check(means: Sequence[float], steps: int, runs: int) -> None:
    if not 2 <= len(means) <= MOST_ARMS:
        raise BadParameter(f"{len(means)} arms: there are 2 to {MOST_ARMS}")
    if not all(0 <= mean <= 1 for mean in means):
        raise BadParameter("an arm pays 1 with a chance between 0 and 1")
    if not (1 <= steps <= MOST_STEPS and 1 <= runs <= MOST_RUNS and steps * runs <= MOST_PULLS):
        most = f"{MOST_STEPS} steps, {MOST_RUNS} runs, {MOST_PULLS} pulls in all"
        raise BadParameter(f"{runs} runs of {steps} steps are too many; the most are {most}")


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
