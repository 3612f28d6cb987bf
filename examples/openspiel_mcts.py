"""OpenSpiel's tree search as an agent. It needs OpenSpiel: pip install 'tengen[envs]'.

tengen match tictactoe ./openspiel_mcts.py:playouts=50 uct:playouts=50 --games 20
"""

import pyspiel

from tengen import Game
from tengen.envs.openspiel import BotAgent


class OpenSpielMcts(BotAgent):
    """OpenSpiel's MCTSBot: UCT with a random playout from each leaf"""

    def __init__(self, game: Game, playouts: int = 100, exploration: float = 1.4, seed: int = 1):
        playout = pyspiel.RandomRolloutEvaluator(1, seed)
        super().__init__(
            game, lambda openspiel: pyspiel.MCTSBot(openspiel, playout, exploration, playouts, 100, True, seed, False)
        )
