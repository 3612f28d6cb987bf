"""AlphaGo's bonus as the lecture prints it, Q/N + P/(1 + N), beside the papers' c·P·√ΣN/(1 + N).

Without √ΣN the bonus of an action shrinks as it is visited, and never grows while others are: an action that began
badly is not tried again. With it, every action is tried for ever, the rarer the worse it seems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

PRIORS = (0.6, 0.3, 0.1)
VALUES = (0.1, 0.2, 0.5)  # of the actions: the best has the smallest prior
SHOWN = (1, 10, 100, 1000, 10_000)
LECTURE, PAPERS = "the lecture", "the papers"


def bonus(prior: float, visits: int, all_visits: int, form: str, exploration: float) -> float:
    """What is added to Q."""
    if form == LECTURE:
        return prior / (1 + visits)
    return exploration * prior * math.sqrt(all_visits) / (1 + visits)


def visit_counts(
    form: str, total: int, priors: Sequence[float] = PRIORS, values: Sequence[float] = VALUES, exploration: float = 1.0
) -> list[int]:
    """How often each action is tried, if each try finds its value; an action never tried has Q = 0."""
    visits = [0] * len(priors)
    for done in range(total):
        scores = [
            (value if count else 0.0) + bonus(prior, count, done, form, exploration)
            for value, prior, count in zip(values, priors, visits, strict=True)
        ]
        best = max(range(len(scores)), key=lambda i: (scores[i], priors[i]))
        visits[best] += 1
    return visits


def compare_bonuses() -> list[tuple[str, ...]]:
    """A table: after more and more visits, how often each form has tried each action."""
    head = ["bonus", "ΣN", *(f"P {p:g}, worth {v:g}" for p, v in zip(PRIORS, VALUES, strict=True))]
    rows = [tuple(head)]
    for form, formula in ((LECTURE, "P/(1 + N)"), (PAPERS, "P·√ΣN/(1 + N)")):
        for total in SHOWN:
            rows.append((f"{form}: {formula}", f"{total:,}", *(f"{n:,}" for n in visit_counts(form, total))))
    return rows
