"""Counting and random play: the first two things to do with new rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tengen.rules.contract import ONGOING, first_seed, legal, outcome, play, rollout
from tengen.rules.game import Game, Position
from tengen.rules.kernels import entry


@entry
def count_paths(game, states, actions, counts, picks, depth):
    """Sequences of `depth` actions from states[0]: depth-first, one state, one list of actions and one index a ply."""
    if depth == 0:
        return 1
    total, ply = 0, 0
    counts[0] = legal(game, states[0], actions[0]) if outcome(game, states[0]) == ONGOING else 0
    picks[0] = 0
    while ply >= 0:
        if ply == depth - 1:  # the last ply: its actions are counted, not played
            total += counts[ply]
            ply -= 1
        elif picks[ply] < counts[ply]:
            states[ply + 1] = states[ply]
            play(game, states[ply + 1], actions[ply, picks[ply]])
            picks[ply] += 1
            ply += 1
            counts[ply] = legal(game, states[ply], actions[ply]) if outcome(game, states[ply]) == ONGOING else 0
            picks[ply] = 0
        else:
            ply -= 1
    return total


def perft(position: Position, depth: int) -> int:
    """How many sequences of exactly `depth` actions there are; a game that ended has none."""
    game = position.game
    states = game.new_states(max(depth, 1))
    states[0] = position.states[0]
    actions = np.empty((max(depth, 1), game.actions), np.int32)
    counts, picks = np.empty(max(depth, 1), np.int64), np.empty(max(depth, 1), np.int64)
    return int(count_paths(game.parameters, states, actions, counts, picks, depth))


@entry
def roll_out(game, root, states, actions, repeats, number, results):
    """Random games from root[0]; adds to results [4]: draws, first and second player's wins, plies."""
    seed = first_seed(number)
    for _ in range(repeats):
        states[0] = root[0]
        seed = rollout(game, states[0], actions, seed)
        results[outcome(game, states[0]) % 3] += 1
        results[3] += states[0].ply - root[0].ply


@dataclass(frozen=True)
class Playouts:
    """The results of random games."""

    draws: int
    first_wins: int
    second_wins: int
    plies: int


def playouts(position: Position, count: int, seed: int) -> Playouts:
    """Plays `count` random games from a position, by the game's own rollouts; the same seed gives the same games."""
    game, results = position.game, np.zeros(4, np.int64)
    scratch = game.new_states(1), np.empty(game.actions, np.int32)
    roll_out(game.parameters, position.states, *scratch, count, seed, results)
    return Playouts(*results.tolist())


def compile_rules(game: Game) -> None:
    """Has everything compiled that plays, shows or counts this game."""
    position = game.start()
    position.encode()
    position.forbidden()
    perft(position, 1)
    playouts(position, 1, seed=1)
    if hasattr(game.parameters, "setup"):
        game.from_board(position.diagram(), position.to_play)
