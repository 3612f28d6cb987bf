"""When to pass where areas are counted, as in Go.

By the rules all stones on the board are alive at the end, so a search sees no reason to pass before the last stone is
captured, and none not to pass too early if it wins or loses anyway. People agree on what is dead, and are annoyed by
moves that change nothing. So where a game is nearly over, the agent's move is looked at beside an estimate of who owns
what (knowledge/ownership.py):

- the opponent passed, and we win as the board stands and by what is dead: a pass ends it;
- a move is worth something somewhere, and the agent passes or plays where nothing is: that move is made;
- nothing is worth anything: a pass, unless the count, to which dead stones are alive, would lose a won game: then
  they are captured first.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tengen.agents.agent import Agent, opinions_of
from tengen.knowledge.groups import beside, connected, neighbours_of
from tengen.knowledge.ownership import Outlook, as_it_stands, compile_for, estimate
from tengen.rules.game import Position
from tengen.search.limits import Decision, Opinion

__all__ = ["area_score", "choose_end", "compile_for", "is_safe", "margin", "moves_of_worth", "pass_in_time"]

CARELESS = 0.1  # a move may be thought so much worse than a pass, and still be played to clear things up
FEARED = 0.15  # a pass that is thought so much worse than the agent's move is not played …
KNOWN = 16  # … if the agent looked at it so often
HOPELESS = -0.8  # a value below which nothing is hoped for
OWNED = 0.75  # a point that is owned so surely needs no stone
SETTLED = 3  # one in so many points has a stone at least, where the game may be over


def pass_in_time(position: Position, agent: Agent, decision: Decision) -> Decision:
    """What to play, right after the agent made a decision: where people or other engines look on, a game has an end."""
    action = choose_end(position, decision, opinions_of(agent, decision))
    return decision if action == decision.action else replace(decision, action=action, principal_variation=(action,))


def choose_end(position: Position, decision: Decision, opinions: list[Opinion]) -> int:
    """What to play in place of the agent's decision: a pass waits until all is settled, and then does not wait."""
    game = position.game
    if game.scoring != "area":
        return decision.action
    passes = decision.action == game.cells
    is_late = int((position.board > 0).sum()) * SETTLED >= game.cells
    if not passes and not is_late:
        return decision.action
    view = estimate(position)
    if has_passed(position) and wins_by_passing(view):
        return game.cells
    if not passes and (not is_needless(view, decision.action) or is_feared(game.cells, decision, opinions)):
        return decision.action
    if useful := moves_of_worth(view):
        return best_liked(position, useful, opinions)
    return finish(view, opinions)


def has_passed(position: Position) -> bool:
    """Whether the other player's last move was a pass, so that a pass ends the game."""
    return position.action == position.game.cells


def wins_by_passing(view: Outlook) -> bool:
    """Whether the player to move wins if both pass now: as the board stands, and if what is dead is taken off it."""
    side = side_of(view.position)
    return margin(view.position) > 0 and side * view.agreed > 0


def side_of(position: Position) -> int:
    """+1 if the first player is to move, −1 if the second is."""
    return 1 - 2 * position.to_play


def is_needless(view: Outlook, action: int) -> bool:
    """Whether a move is made where all is settled: in somebody's territory, or where neither side can gain.

    What was not read to its end is settled only until the other side plays there: then its owner answers.
    """
    position = view.position
    if any(action in place.points for place in (*view.hot, *view.unclear)):
        return False
    for place in view.places:
        is_attacked = place.readings is None and position.action in place.points and action in place.points
        if is_attacked and side_of(position) * view.ownership.flat[list(place.points)].mean() > 0:
            return False
    is_read = any(action in place.points for place in view.places)
    return is_read or abs(view.ownership.flat[action]) >= OWNED


def is_feared(a_pass: int, decision: Decision, opinions: list[Opinion]) -> bool:
    """Whether the agent has looked, and thinks a pass much worse than its move, in a game that is not lost anyhow."""
    passing = next((one for one in opinions if one.action == a_pass and one.visits >= KNOWN), None)
    if passing is None or decision.value is None or decision.value < HOPELESS:
        return False
    return passing.value < decision.value - FEARED


def moves_of_worth(view: Outlook) -> list[int]:
    """Where a move gains something: the most valuable place first; then where nobody knows.

    A move that leaves its own chain a single liberty is left out, unless it captures or the place was read.
    """
    position = view.position
    legal = set(position.legal_actions)
    known = [move for place in view.hot if (move := place.move_of(position.to_play)) is not None and move in legal]
    if known:
        return known
    points = {point for place in view.unclear for point in place.points} & legal
    open_points = sorted(points & borders(view)) or sorted(points)
    return [point for point in open_points if is_safe(position, point)]


def borders(view: Outlook) -> set[int]:
    """The points that are not surely owned, or have neighbours whose owners differ from theirs."""
    signs, values = np.sign(view.ownership), np.abs(view.ownership)
    return {
        point
        for point in range(signs.size)
        if values.flat[point] < OWNED or any(signs.flat[near] != signs.flat[point] for near in beside(signs, point))
    }


def finish(view: Outlook, opinions: list[Opinion]) -> int:
    """A pass, where nothing is left to gain; but dead stones that would cost the game if they stayed are captured."""
    position = view.position
    if margin(position) > 0 or side_of(position) * view.agreed <= 0:
        return position.game.cells
    captures = [move for move in capturing_moves(view) if is_safe(position, move)]
    return best_liked(position, captures, opinions) if captures else position.game.cells


def capturing_moves(view: Outlook) -> list[int]:
    """Liberties of the other side's dead chains, of the shortest of breath first."""
    position, board, legal = view.position, view.position.board, set(view.position.legal_actions)
    found: list[tuple[int, list[int]]] = []
    for chain in connected(board):
        if board.flat[chain[0]] == 2 - position.to_play and view.dead.issuperset(chain):
            liberties = [cell for cell in sorted(neighbours_of(board, chain)) if board.flat[cell] == 0]
            found.append((len(liberties), [cell for cell in liberties if cell in legal]))
    best = min((count for count, cells in found if cells), default=0)
    return [cell for count, cells in sorted(found) if count == best for cell in cells]


def best_liked(position: Position, moves: list[int], opinions: list[Opinion]) -> int:
    """Of some moves the one that the agent likes best, else the first; a pass, if it looked and thinks all mistakes."""
    by_action = {opinion.action: opinion for opinion in opinions if opinion.visits >= KNOWN}
    passing = by_action.get(position.game.cells)
    least = -2.0 if passing is None else passing.value - CARELESS
    known = [by_action[action] for action in moves if action in by_action and by_action[action].value >= least]
    if known:
        return max(known, key=lambda opinion: opinion.visits).action
    unknown = [action for action in moves if action not in by_action]
    return unknown[0] if unknown else position.game.cells


def is_safe(position: Position, cell: int) -> bool:
    """Whether a stone captures, or its chain has two liberties at least."""
    before, after = position.board, position.play(cell).board
    other = 2 - position.to_play
    if (after == other).sum() < (before == other).sum():
        return True
    chain = next((group for group in connected(after) if cell in group and after.flat[cell]), None)
    return chain is not None and sum(after.flat[near] == 0 for near in neighbours_of(after, chain)) > 1


def margin(position: Position) -> float:
    """By how many points the player to move is ahead if the game is counted as the board stands."""
    return side_of(position) * area_score(position)


def area_score(position: Position) -> float:
    """The first player's margin, komi and all, as the board stands."""
    return as_it_stands(position)[0]
