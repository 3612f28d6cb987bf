"""A linear policy learns tic-tac-toe by playing itself: REINFORCE over 256 games side by side.

python vector_env.py
"""

import numpy as np

from tengen.envs import VectorEnv

COUNT, FEATURES, ACTIONS = 256, 36, 9  # games; planes × cells; actions


def policy(weights, step):
    """The probabilities of all actions, zero for illegal ones: [count, actions]."""
    logits = np.where(step.masks, step.planes.reshape(COUNT, FEATURES) @ weights, -np.inf)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def draw(probabilities, random):
    """An action for each game: [count]."""
    sums = probabilities.cumsum(axis=1)
    return (sums > random.random((COUNT, 1)) * sums[:, -1:]).argmax(axis=1)


def learn(steps, rate=0.1, seed=1):
    """The weights [features, actions] after that many steps of all games."""
    env, random, rows = VectorEnv("tictactoe", COUNT), np.random.default_rng(seed), np.arange(COUNT)
    weights, gradients = np.zeros((FEATURES, ACTIONS)), np.zeros((COUNT, 2, FEATURES, ACTIONS))
    step = env.reset()
    for _ in range(steps):
        probabilities = policy(weights, step)
        actions = draw(probabilities, random)
        slopes = np.eye(ACTIONS)[actions] - probabilities  # of log p(action), by the logits
        gradients[rows, step.to_play] += step.planes.reshape(COUNT, FEATURES, 1) * slopes[:, np.newaxis]
        step = env.step(actions)
        over = step.ended  # these games begin anew, and their players are rewarded
        weights += rate / COUNT * np.einsum("gp,gpfa->fa", step.rewards[over], gradients[over])
        gradients[over] = 0
    return weights


def share_of_wins(weights, steps=200, seed=2):
    """Of the games that the policy wins as the first player against random moves."""
    env, random, won, played = VectorEnv("tictactoe", COUNT, seed), np.random.default_rng(seed), 0, 0
    step = env.reset()
    for _ in range(steps):
        step = env.step(np.where(step.to_play == 0, draw(policy(weights, step), random), env.random_actions()))
        won, played = won + (step.rewards[:, 0] > 0).sum(), played + step.ended.sum()
    return won / played


if __name__ == "__main__":
    for steps in (0, 300, 2000):
        print(f"after {steps:5} steps: {share_of_wins(learn(steps)):.0%} of games won against random moves")
