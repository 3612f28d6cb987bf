"""Work that may have to wait for a compiler, done in a thread while a first answer is given; and such an answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Generic, TypeVar

import numpy as np

from tengen.knowledge.evaluations import evaluation_for
from tengen.rules.game import Position
from tengen.rules.kernel_cache import telling
from tengen.rules.plain import run_plain
from tengen.search.evaluation import candidates, new_notes, take_notes

Result = TypeVar("Result")


class Preparation(Generic[Result]):
    """Some work, begun in a thread of its own."""

    def __init__(self, work: Callable[[], Result]):
        self._future: Future[Result] = Future()
        self._is_slow_or_done = threading.Event()
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def _run(self, work: Callable[[], Result]) -> None:
        try:
            with telling(self._is_slow_or_done.set):
                self._future.set_result(work())
        except BaseException as reason:  # raised again where the result is asked for
            self._future.set_exception(reason)
        finally:
            self._is_slow_or_done.set()

    @property
    def is_done(self) -> bool:
        return self._future.done()

    def is_done_within(self, seconds: float | None) -> bool:
        """Waits for the end, but for no longer than that."""
        wait([self._future], seconds)
        return self.is_done

    def begin(self) -> None:
        """Returns when the work is done, or when something has to be compiled for it; raises what has gone wrong."""
        self._is_slow_or_done.wait()
        if self.is_done:
            self._future.result()

    def result(self) -> Result:
        """What came of the work, when it is done; raises what has gone wrong."""
        return self._future.result()


def at_first_sight(position: Position) -> int:
    """A sensible move without a search, while the compiler works: what the evaluation would try first."""
    evaluation, game = evaluation_for(position.game), position.game
    actions, scores = np.empty((2, game.actions), np.int32)
    arguments = game.parameters, position.states, new_notes(evaluation, game, 1), actions, scores
    return int(actions[run_plain(best_candidate, evaluation, *arguments)])


def best_candidate(evaluation, game, states, notes, actions, scores):
    """Where the best of an evaluation's candidates stands in `actions`."""
    take_notes(evaluation, game, states[0], notes[0])
    count = candidates(evaluation, game, states[0], notes[0], actions, scores)
    return max(range(count), key=lambda place: scores[place])
