"""Random numbers in kernels, each from a seed fresh from `advance`: the same on every target."""

from __future__ import annotations

import math

import numpy as np

from tengen.rules.contract import advance, kernel


@kernel
def uniform(seed):
    """Between 0 and 1, never either of them."""
    return (np.float64(seed >> np.uint64(33)) + 0.5) / 2147483648.0


@kernel
def draw_gammas(seed, shape, gammas):
    """Fills `gammas` with numbers of the gamma distribution of a shape, scaled to a sum of 1: a Dirichlet draw.

    Marsaglia and Tsang's method for shape + 1, then one factor brings it down to `shape`. Returns the next seed.
    """
    d = shape + 1.0 - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    total = 0.0
    for i in range(len(gammas)):
        while True:
            seed = advance(seed)
            radius = math.sqrt(-2.0 * math.log(uniform(seed)))
            seed = advance(seed)
            normal = radius * math.cos(2.0 * math.pi * uniform(seed))
            seed = advance(seed)
            v = (1.0 + c * normal) ** 3
            if v > 0.0 and math.log(uniform(seed)) < 0.5 * normal * normal + d - d * v + d * math.log(v):
                break
        seed = advance(seed)
        gammas[i] = d * v * uniform(seed) ** (1.0 / shape)
        total += gammas[i]
    for i in range(len(gammas)):
        gammas[i] = gammas[i] / total if total > 0.0 else 1.0 / len(gammas)
    return seed


@kernel
def draw_weighted(seed, weights, power):
    """An index, each as likely as its weight to a power; the seed is used up."""
    largest, total = 0.0, 0.0
    for i in range(len(weights)):
        largest = max(largest, weights[i])
    for i in range(len(weights)):
        total += (weights[i] / largest) ** power
    wanted = uniform(seed) * total
    last = 0
    for i in range(len(weights)):
        if weights[i] > 0.0:
            last = i
            wanted -= (weights[i] / largest) ** power
            if wanted < 0.0:
                break
    return last
