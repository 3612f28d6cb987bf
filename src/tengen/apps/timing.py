"""How long to think about one move, so that the time lasts for the whole game. For every game and every protocol."""

from __future__ import annotations

from tengen.rules.game import Position

LATE = 0.06  # seconds that a move may cost beyond its thinking: the pipe, a busy machine, the last slice of a search
LEAST, LONGEST = 0.001, 3600.0  # seconds that are ever answered
KEPT = 0.1  # share of a time for one move that is kept back, however long it is
SCRAPS = 0.02  # share of the clock that is spent on when there is too little to be sure of anything


def seconds_for(position: Position, left: float, moves: int = 0, most: float | None = None) -> float:
    """How long to think about this move with `left` seconds on the clock for the rest of the game.

    If `moves` is more than zero, the clock is for that many moves: overtime. No move takes more than `most` seconds.

    Where no answer is later than LATE, the time never runs out in a game that is no longer than `moves_at_most` says,
    if there were a little more than LATE seconds for each of those moves to begin with. With less than that, moves are
    answered as fast as they can be. The answer is never zero, since a search must look at something.
    """
    if len(position.legal_actions) < 2 or not left > 0:  # nothing to choose; or no time, or no number at all
        return LEAST
    if moves > 0:
        share = for_one_move(left / moves)
    else:
        spare = left - LATE * moves_at_most(position)
        share = max(spare, SCRAPS * left) / moves_expected(position)
    if most is not None:
        share = min(share, for_one_move(most))
    return min(max(share, LEAST), LONGEST)


def for_one_move(seconds: float) -> float:
    """How much of the time for a single move goes into thinking."""
    return max((1 - KEPT) * seconds - LATE, seconds / 4)


def moves_at_most(position: Position) -> int:
    """How many moves the player to move may well have to make still.

    Where every ply puts a stone on the board for good, the board bounds the game. Where boards can come back, or there
    is more room than that would leave, stones are captured or moved: games of two boards of plies are then expected,
    in which answers are late by half of LATE on average.
    """
    game, ply = position.game, position.ply
    is_filling = game.actions <= game.cells + 1 and int((position.board == 0).sum()) <= game.cells - ply
    if is_filling and not getattr(game.parameters, "history_matters", False):
        return (game.cells - ply) // 2 + 1
    return max(game.cells - ply // 2, game.cells // 2) // 2 + 1


def moves_expected(position: Position) -> float:
    """Over how many moves the time is spread: fewer than are possible, since the early ones decide more."""
    return max(2 * moves_at_most(position) / 3, 4.0)
