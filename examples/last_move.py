"""A target in one file: which move will end the game. A tower that foresees it knows where the game is decided.

tengen train connect4 --set net.targets=./last_move.py:LastMove
"""

from torch import Tensor, nn
from torch.nn import functional

from tengen.learn.targets import PlayedGames, Target, one_hot
from tengen.nets.layers import policy_head


class LastMove(Target):
    """the game's last move"""

    per = "actions"  # there is a number for each action, and they turn with the board
    weight = 0.1

    def wanted(self, played: PlayedGames, chosen, movers):
        last = played.moves[played.ends[chosen] - 1]
        return one_hot(last, played.policies.shape[1])

    def head(self, game, channels: int) -> nn.Module:
        return policy_head(game, channels)

    def loss(self, foreseen: Tensor, wanted: Tensor) -> Tensor:
        return -(wanted * functional.log_softmax(foreseen, 1)).sum(1).mean()
