"""In how many positions of a small game does an agent play a move that is worse than the best, or even loses?

    python bench/mistakes.py tictactoe puct:net=runs/tictactoe,simulations=25

Every position that can be reached is put to the agent itself, and an exact solver is the judge.
"""

from __future__ import annotations

import sys

from tengen.agents.specs import load_agent
from tengen.games import load_game
from tengen.learn.ladder import truth_of


def main() -> None:
    game = load_game(sys.argv[1])
    truth, worse, losing = truth_of(game), 0, 0
    if truth is None:
        sys.exit(f"{game.spec} has too many positions")
    for position in truth.positions:
        agent = load_agent(sys.argv[2], game, memory=1)  # nothing is carried over
        best, reached = truth.values[position.key], truth.worth(position, agent.choose(position).action)
        worse += reached < best
        losing += reached < best and reached == -1
    print(f"{len(truth.positions)} positions: {worse} moves worse than the best, {losing} that lose")


if __name__ == "__main__":
    main()
