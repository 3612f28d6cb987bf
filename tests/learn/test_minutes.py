"""How a run keeps to the time that it is given, by a clock that the test winds."""

from __future__ import annotations

import pytest

from tengen.learn import training as module
from tengen.learn.run import Counters
from tengen.learn.training import Training


class Timed(Training):
    """A run whose generations take the seconds that it is told, and do nothing else."""

    def __init__(self, pace: list[float], monkeypatch: pytest.MonkeyPatch):
        self.now, self.pace, self.counters, self.is_stopped = 0.0, iter(pace), Counters(), False
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(Timed, "is_complete", property(lambda self: self.counters.games >= len(pace)))

    def _generation(self) -> None:
        self.now += next(self.pace)
        self.counters.games += 1


@pytest.mark.parametrize(
    ("pace", "seconds", "done"),
    [
        ([10, 10, 10], float("inf"), 3),
        ([42, 63], 60, 1),  # a second one would end far beyond the minute
        ([25, 25, 25], 60, 2),  # 50 is nearer to 60 than 75
        ([20, 20, 20, 20], 60, 3),
        ([22, 22, 22, 22], 60, 3),  # 66 is nearer than 44
        ([100, 1], 60, 1),  # one is made in any case
        ([100, 1], 0, 0),
    ],
)
def test_a_run_ends_as_near_to_its_time_as_whole_generations_can(
    pace: list[float], seconds: float, done: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Timed(pace, monkeypatch)
    run.go_on(seconds)
    assert run.counters.games == done
