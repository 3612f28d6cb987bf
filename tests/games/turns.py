"""Counts of whole turns, for games in which a player may act several times in a row: a capture of many is one move."""

import numpy as np

from tengen.rules.contract import ONGOING, key, legal, outcome, play
from tengen.rules.kernels import entry


@entry
def count_turns(game, states, actions, counts, picks, turns, seen, found, depth, once):
    """Sequences of `depth` turns from states[0]; with `once`, ways to the same position in one turn count as one."""
    total, ply = 0, 0
    counts[0] = legal(game, states[0], actions[0]) if outcome(game, states[0]) == ONGOING else 0
    picks[0] = turns[0] = found[1] = 0
    while ply >= 0:
        if picks[ply] == counts[ply]:
            ply -= 1
            continue
        states[ply + 1] = states[ply]
        play(game, states[ply + 1], actions[ply, picks[ply]])
        picks[ply] += 1
        turn = turns[ply]
        if states[ply + 1].to_play != states[ply].to_play or outcome(game, states[ply + 1]) != ONGOING:
            turn += 1
            hashed, is_new = key(game, states[ply + 1]), True
            for i in range(found[turn]):
                is_new &= seen[turn, i] != hashed
            if once and not is_new:
                continue
            seen[turn, found[turn]] = hashed
            found[turn] += 1
            if turn == depth:
                total += 1
                continue
            found[turn + 1] = 0
        ply += 1
        turns[ply], picks[ply] = turn, 0
        counts[ply] = legal(game, states[ply], actions[ply]) if outcome(game, states[ply]) == ONGOING else 0
    return total


def perft_of_turns(position, depth, once=False, longest=24, most=8192):
    """How many sequences of so many whole turns there are, each of at most `longest` actions."""
    game, plies = position.game, depth * longest + 1
    states = game.new_states(plies + 1)
    states[0] = position.states[0]
    numbers = [np.zeros(plies + 1, np.int64) for _ in range(3)]
    seen, found = np.zeros((depth + 2, most), np.uint64), np.zeros(depth + 2, np.int64)
    actions = np.empty((plies + 1, game.actions), np.int32)
    return int(count_turns(game.parameters, states, actions, *numbers, seen, found, depth, once))
