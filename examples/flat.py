"""Flat Monte Carlo: an agent in one file. Each legal move is tried in so many random games, and the best is played.

tengen match connect4 ./flat.py:Flat,playouts=30 random --games 20
tengen gtp go:size=9 ./flat.py:Flat
"""

import random

from tengen import Decision, Game, Limit, Position


class Flat:
    """flat Monte Carlo: random games from each move, and no tree"""

    def __init__(self, game: Game, playouts: int = 10, seed: int = 1):
        self.playouts, self.random = playouts, random.Random(seed)

    def choose(self, position: Position, limit: Limit) -> Decision:
        values = {action: self.value_of(position, action) for action in position.legal_actions}
        best = max(values, key=values.__getitem__)
        return Decision(best, value=values[best], nodes=self.playouts * len(values))

    def value_of(self, position: Position, action: int) -> float:
        """How random games go on after an action, on average, for the player who plays it."""
        after = position.play(action)
        results = [self.play_on(after).outcome.value_for(position.to_play) for _ in range(self.playouts)]
        return sum(results) / len(results)

    def play_on(self, position: Position) -> Position:
        """A random game to its end."""
        while position.outcome is None:
            position = position.play(self.random.choice(position.legal_actions))
        return position
