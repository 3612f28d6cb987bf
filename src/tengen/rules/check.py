"""The conformance check: is a game sound? The same questions for our games and for a user's."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tengen.rules.errors import TengenError
from tengen.rules.game import Game, Position
from tengen.rules.laws import (
    LAWS,
    Unsound,
    check_keys,
    check_prints,
    check_record,
    check_step,
    count_allocations,
    place_of,
)
from tengen.rules.whereabouts import place_of_failure

TOO_LONG = 20_000  # plies after which a random game will never end
MOST_LOOKED_AT = 200  # positions that most laws are tested on


@dataclass
class Report:
    """What a check found. `problems` are written for the author of the game."""

    game: str
    problems: list[str] = field(default_factory=list)
    positions: int = 0

    @property
    def ok(self) -> bool:
        return not self.problems


def check(
    game: Game,
    games: int = 20,
    seed: int = 1,
    progress: Callable[[str], None] = lambda law: None,
    seconds: float | None = None,
) -> Report:
    """Plays random games and tests every law of the contract on them; with `seconds`, stops playing after so long."""
    report = Report(game.spec)
    progress("the record is aligned, small, and has to_play and ply")
    progress("random games end, and all their actions are legal")
    rng, end = np.random.default_rng(seed), None if seconds is None else time.monotonic() + seconds
    try:
        check_record(game)
        check_prints(game)
        count_allocations()
        positions = list(some_positions(game, games, rng, end))
    except Exception as reason:  # the author's own code or the compiler: anything can come
        report.problems.append(_explain(game, reason))
        return report
    report.positions = len(positions)
    few = MOST_LOOKED_AT if seconds is None else MOST_LOOKED_AT // 4
    some = [positions[i] for i in sorted(rng.choice(len(positions), min(len(positions), few), replace=False))]
    for law, test in LAWS:
        progress(law)
        try:
            test(game, positions if test is check_keys else some)
        except Exception as reason:
            report.problems.append(f"{law}: {_explain(game, reason)}")
    return report


def some_positions(game: Game, games: int, rng: np.random.Generator, end: float | None) -> Iterator[Position]:
    """The positions of random games; once the time is up, the game under way is the last."""
    for _ in range(games):
        yield from random_game(game, rng)
        if end is not None and time.monotonic() > end:
            return


def random_game(game: Game, rng: np.random.Generator) -> Iterator[Position]:
    """The positions of one game of uniformly random moves, each tested as it comes."""
    position = game.start()
    while True:
        yield position
        check_step(position)
        if position.outcome is not None:
            return
        if position.ply >= TOO_LONG:
            raise Unsound(f"a random game is not over after {TOO_LONG} plies: does play() ever set a result?")
        position = position.play(int(rng.choice(position.legal_actions)))


def _explain(game: Game, reason: Exception) -> str:
    """A broken law, or an error in the author's code, with the place where it came from."""
    if isinstance(reason, Unsound):
        return str(reason) + place_of(game, str(reason))
    if isinstance(reason, TengenError):
        return str(reason)
    if (isinstance(reason, IndexError) and "array" in str(reason).lower()) or "out of bounds" in str(reason):
        where = place_of_failure(reason)
        return f"a rule reads or writes outside an array ({reason}){where}; does the record have room for every board?"
    frames = [frame for frame in traceback.extract_tb(reason.__traceback__) if "tengen/rules" not in frame.filename]
    place = f" (in {frames[-1].name}, {frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"{type(reason).__name__}: {reason}{place}"
