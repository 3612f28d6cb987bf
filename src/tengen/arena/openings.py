"""How games of a match begin: random moves from a seed, or lines from a file."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from tengen.rules.errors import BadParameter, TengenError
from tengen.rules.game import Game, Position

Opening = tuple[int, ...]  # actions
TRIES = 1000  # to find an opening in which the game goes on
TRIES_FOR_NEW = 50  # to find one that was not there before: short openings are few


def random_opening(game: Game, plies: int, rng: random.Random) -> Position:
    """A position after random moves in which the game goes on; nobody passes who could move."""
    for _ in range(TRIES):
        position = game.start()
        while position.ply < plies and position.outcome is None:
            moves = [action for action in position.legal_actions if game.action_text(action) != "pass"]
            position = position.play(rng.choice(moves or position.legal_actions))
        if position.outcome is None:
            return position
    raise BadParameter(f"{game.spec} is over after {plies} random plies, or nearly always: use a shorter opening")


def random_openings(game: Game, plies: int, seed: int) -> Iterator[Opening]:
    """An endless stream of openings; none leads to a board seen before, as long as others are easily found."""
    rng, seen = random.Random(seed), set[int]()
    while True:
        position = random_opening(game, plies, rng)
        for _ in range(TRIES_FOR_NEW if plies else 0):
            if position.key not in seen:
                break
            position = random_opening(game, plies, rng)
        seen.add(position.key)
        yield tuple(position.moves)


def read_openings(path: Path, game: Game) -> list[Opening]:
    """The openings of a file: moves as text, one opening a line; what follows a # is a comment."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as reason:
        raise BadParameter(f"the openings cannot be read: {path}: {reason.strerror}") from None
    found = []
    for number, line in enumerate(lines, 1):
        moves = line.partition("#")[0].strip()
        if not moves:
            continue
        try:
            position = game.from_moves(moves)
        except TengenError as reason:
            raise BadParameter(f"{path.name}, line {number}: {reason}") from None
        if position.outcome is not None:
            raise BadParameter(f"{path.name}, line {number}: the game is over after these moves")
        found.append(tuple(position.moves))
    if not found:
        raise BadParameter(
            f"{path.name} holds no opening; write moves as '{game.action_text(0)} …', one opening a line"
        )
    return found


def given_openings(openings: list[Opening]) -> Iterator[Opening]:
    """The openings of a list, again and again."""
    return cycle(openings)
