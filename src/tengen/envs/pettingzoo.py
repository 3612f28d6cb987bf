"""Any game as an environment of PettingZoo: two agents that move in turn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tengen.envs.rows import game_of, longest_of
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game, Position

try:
    from gymnasium.spaces import Box, Dict, Discrete
    from pettingzoo import AECEnv
except ImportError as reason:
    raise ImportError(f"tengen.envs.pettingzoo needs {reason.name}: pip install 'tengen[envs]'") from reason

AGENTS = ["player_0", "player_1"]  # the first moves first


class PettingZooEnv(AECEnv):
    """A game between "player_0" and "player_1"; `position` is where it stands.

    An observation has the planes that the player to move sees ("observation": [planes, rows, columns]), whoever
    observes, and what the observer may play ("action_mask": [actions], all zeros out of turn). An illegal action raises
    IllegalMove. A game of `longest` plies is truncated (by default after 100, and four for each cell).
    """

    def __init__(self, game: Game | str, render_mode: str | None = None, longest: int | None = None):
        super().__init__()
        self.game = game_of(game)
        if render_mode not in (None, "ansi"):
            raise BadParameter(f"render_mode={render_mode!r}: there is 'ansi', a text, or None")
        self.render_mode, self.longest = render_mode, longest_of(self.game, longest)
        self.metadata = {"name": self.game.spec, "render_modes": ["ansi"], "is_parallelizable": False}
        self.possible_agents = list(AGENTS)
        planes = Box(-np.inf, np.inf, (len(self.game.planes), *self.game.shape), np.float32)
        mask = Box(0, 1, (self.game.actions,), np.int8)
        self.observation_spaces = {agent: Dict({"observation": planes, "action_mask": mask}) for agent in AGENTS}
        self.action_spaces = {agent: Discrete(self.game.actions) for agent in AGENTS}
        self.reset()

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a game. There is no chance in it, so the seed says nothing."""
        self.agents = list(AGENTS)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0)
        self._show(self.game.start())

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        after = self.position.play(action)  # type: ignore[arg-type] # it says what is wrong with None
        self._cumulative_rewards[agent] = 0
        self._show(after)
        self._accumulate_rewards()

    def _show(self, position: Position) -> None:
        """The game stands here now."""
        end = position.outcome
        self.position, self.agent_selection = position, AGENTS[position.to_play]
        self.rewards = {agent: 0 if end is None else end.value_for(k) for k, agent in enumerate(AGENTS)}
        self.terminations = dict.fromkeys(AGENTS, end is not None)
        self.truncations = dict.fromkeys(AGENTS, end is None and position.ply >= self.longest)

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        mask = np.zeros(self.game.actions, np.int8)
        if agent == self.agent_selection and not self.truncations.get(agent):
            mask[self.position.legal_actions] = 1
        return {"observation": self.position.encode(), "action_mask": mask}

    def render(self) -> str | None:
        """The board, with `render_mode="ansi"`."""
        return None if self.render_mode is None else str(self.position)

    def close(self) -> None:
        """There is nothing to close."""
