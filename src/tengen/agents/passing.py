"""When to pass where areas are counted, as in Go.

All stones on the board count as alive at the end, so what others would call dead has to be captured first, and borders
have to be closed. A search that wins or loses anyway does not care, and passes too early or never; here that is put
right. Only then do other engines, which judge dead stones by themselves, count the same score.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tengen.agents.agent import Agent, opinions_of
from tengen.rules.contract import first_seed, rollout
from tengen.rules.game import Game, Position
from tengen.rules.kernels import entry
from tengen.search.limits import Decision, Opinion

ROLLOUTS = 48  # random games that tell which stones are doomed
DOOMED = 0.5  # a chain that survives less often
CARELESS = 0.1  # a move may be thought so much worse than a pass, and still be played to clear things up
HOPELESS = -0.8  # a value below which nothing is hoped for
SETTLED = 3  # one in so many points has a stone at least, where the game may be over


@entry
def roll_to_the_end(game, root, states, actions, number):
    """One random game from root[0]; states[0] is its end."""
    states[0] = root[0]
    rollout(game, states[0], actions, first_seed(number))


def pass_in_time(position: Position, agent: Agent, decision: Decision) -> Decision:
    """What to play, right after the agent made a decision: where people or other engines look on, a game has an end."""
    action = choose_end(position, decision, opinions_of(agent, decision))
    return decision if action == decision.action else replace(decision, action=action, principal_variation=(action,))


def choose_end(position: Position, decision: Decision, opinions: list[Opinion]) -> int:
    """What to play in place of the agent's decision: a pass waits until all is settled, and then does not wait.

    Who has lost settles what is open, and spoils nothing: a search to which all moves are alike fills its own eyes.
    """
    game = position.game
    if game.scoring != "area":
        return decision.action
    passes = decision.action == game.cells
    is_late = int((position.board > 0).sum()) * SETTLED >= game.cells
    if not passes and not is_late:
        return decision.action
    loose = loose_ends(position)
    is_hopeless = decision.value is not None and decision.value < HOPELESS
    if passes or (is_hopeless and decision.action not in loose):
        return best_liked(position, loose, opinions)
    return game.cells if not loose and margin(position) > 0 else decision.action


def best_liked(position: Position, loose: list[int], opinions: list[Opinion]) -> int:
    """The move of `loose` that the agent likes best, unless it is thought a mistake: then a pass."""
    by_action = {opinion.action: opinion for opinion in opinions}
    passing = by_action.get(position.game.cells)
    least = -2.0 if passing is None else passing.value - CARELESS
    known = [by_action[action] for action in loose if action in by_action and by_action[action].value >= least]
    if known:
        return max(known, key=lambda opinion: opinion.visits).action
    unknown = [action for action in loose if action not in by_action]
    return unknown[0] if unknown else position.game.cells


def loose_ends(position: Position) -> list[int]:
    """Moves that something is still to be settled by: on open borders, and at the opponent's doomed stones.

    A move that leaves its own chain a single liberty is left out, unless it captures or only doomed stones are near.
    """
    board, player, legal = position.board, position.to_play, set(position.legal_actions)
    doomed, found = doomed_cells(position), list[int]()
    for region in connected(board):
        if board.flat[region[0]] != 0:
            continue
        around = neighbours_of(board, region)
        hostile = {cell for cell in around if board.flat[cell] == 2 - player}
        is_open = bool(hostile) and len(hostile) < len(around)
        is_inside = bool(hostile) and not is_open and hostile <= doomed
        if is_open or is_inside:
            found += [cell for cell in region if cell in legal and (is_inside or is_safe(position, cell))]
    return sorted(found)


def is_safe(position: Position, cell: int) -> bool:
    """Whether a stone captures, or its chain has two liberties at least."""
    before, after = position.board, position.play(cell).board
    other = 2 - position.to_play
    if (after == other).sum() < (before == other).sum():
        return True
    chain = next(group for group in connected(after) if cell in group)
    return sum(after.flat[near] == 0 for near in neighbours_of(after, chain)) > 1


def doomed_cells(position: Position) -> set[int]:
    """The stones of the opponent of the player to move that do not survive most random games."""
    board, colour = position.board, 2 - position.to_play
    ends = random_ends(position)  # [games, rows, columns]
    survive = (ends == colour).mean(axis=0)
    chains = [group for group in connected(board) if board.flat[group[0]] == colour]
    return {cell for chain in chains if np.mean([survive.flat[cell] for cell in chain]) < DOOMED for cell in chain}


def random_ends(position: Position, count: int = ROLLOUTS) -> np.ndarray:
    """The boards at the end of random games: [games, rows, columns]."""
    game = position.game
    states, actions, boards = game.new_states(1), np.empty(game.actions, np.int32), []
    for number in range(count):
        roll_to_the_end(game.parameters, position.states, states, actions, number)
        boards.append(np.array(game.parameters.board(states[0]), np.int8))
    return np.stack(boards)


def compile_for(game: Game) -> None:
    """Has all this compiled: that is no part of the time to think."""
    if game.scoring == "area":
        random_ends(game.start(), 1)


def margin(position: Position) -> float:
    """By how many points the player to move is ahead if the game is counted as the board stands."""
    points = area_score(position)
    return points if position.to_play == 0 else -points


def area_score(position: Position) -> float:
    """The first player's margin, komi and all, as the board stands."""
    end = position
    while end.outcome is None:
        end = end.play(end.game.cells)
    return end.outcome.score


def connected(board: np.ndarray) -> list[list[int]]:
    """The chains and the empty regions of a board, each by its cells."""
    rest, groups = dict.fromkeys(range(board.size)), []
    while rest:
        first = next(iter(rest))
        del rest[first]
        group = [first]
        for cell in group:  # grows while it is read
            for near in beside(board, cell):
                if near in rest and board.flat[near] == board.flat[cell]:
                    del rest[near]
                    group.append(near)
        groups.append(sorted(group))
    return groups


def neighbours_of(board: np.ndarray, group: list[int]) -> set[int]:
    """The cells beside a group that are not of it."""
    return {near for cell in group for near in beside(board, cell)} - set(group)


def owner_of(board: np.ndarray, group: list[int]) -> int:
    """Whose a chain or an empty region is, as a stone; 0 if the region reaches both colours, or none."""
    stone = int(board.flat[group[0]])
    owners = {stone} if stone else {int(board.flat[cell]) for cell in neighbours_of(board, group)}
    return owners.pop() if len(owners) == 1 else 0


def beside(board: np.ndarray, cell: int) -> list[int]:
    """The cells left, right, above and below."""
    rows, columns = board.shape
    y, x = divmod(cell, columns)
    steps = [(x > 0, -1), (x < columns - 1, 1), (y > 0, -columns), (y < rows - 1, columns)]
    return [cell + step for is_there, step in steps if is_there]
