"""PUCT as the papers print it, in plain Python: slow, with nothing proven and nothing asked in batches.

It shows the algorithm, and what the search of `tengen.search.puct` must come to where no proof helps it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tengen.rules.game import Position
from tengen.search.evaluators import Evaluator, priors_of


@dataclass
class Edge:
    """N, W and P of an action; W is for the player who takes it."""

    prior: float
    visits: int = 0
    total: float = 0.0
    child: Vertex | None = None

    @property
    def mean(self) -> float:
        """Q"""
        return self.total / self.visits if self.visits else 0.0


@dataclass
class Vertex:
    """A position that the network has been asked about; it is worth `value` to the player to move."""

    position: Position
    value: float
    edges: dict[int, Edge] = field(default_factory=dict)


def expand(position: Position, evaluator: Evaluator) -> Vertex:
    """A vertex with the network's value, and an edge with its prior for each legal action."""
    logits, values = evaluator(position.encode().reshape(1, len(position.game.planes), -1))
    priors = priors_of(logits)[0]
    total = sum(float(priors[action]) for action in position.legal_actions)
    edges = {action: Edge(float(priors[action]) / total) for action in position.legal_actions}
    return Vertex(position, float(values[0]), edges)


def select(vertex: Vertex, exploration: float) -> int:
    """The action with the highest Q + U, U = c · P · √ΣN / (1 + N); of equals the higher prior, the lower action."""
    scale = exploration * math.sqrt(sum(edge.visits for edge in vertex.edges.values()))

    def rank(action: int) -> tuple[float, float, int]:
        edge = vertex.edges[action]
        return edge.mean + scale * edge.prior / (1 + edge.visits), edge.prior, -action

    return max(vertex.edges, key=rank)


def simulate(root: Vertex, evaluator: Evaluator, exploration: float) -> None:
    """One simulation: select down to a leaf, expand and evaluate it, back its value up along the path."""
    vertex, path = root, []
    while True:
        action = select(vertex, exploration)
        edge = vertex.edges[action]
        path.append((vertex.position.to_play, edge))
        if edge.child is None:
            leaf = vertex.position.play(action)
            break
        vertex = edge.child
    if leaf.outcome is not None:
        value = float(leaf.outcome.value_for(leaf.to_play))
    else:
        edge.child = expand(leaf, evaluator)
        value = edge.child.value
    for player, edge in path:
        edge.visits += 1
        edge.total += value if player == leaf.to_play else -value


def search(root: Vertex, evaluator: Evaluator, exploration: float, simulations: int) -> None:
    for _ in range(simulations):
        simulate(root, evaluator, exploration)


def policy_of(root: Vertex, temperature: float = 1.0) -> dict[int, float]:
    """π(a) = N^(1/τ) / ΣN^(1/τ)."""
    visits = np.array([edge.visits for edge in root.edges.values()], float)
    shares = (visits / visits.max()) ** (1 / temperature)
    return {action: float(share) for action, share in zip(root.edges, shares / shares.sum(), strict=True)}
