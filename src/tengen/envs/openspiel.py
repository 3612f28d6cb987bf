"""Games and agents for OpenSpiel, and its bots as agents here.

Importing this registers the game `tengen` with OpenSpiel: `pyspiel.load_game("tengen(game=connect4)")`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from tengen.agents.agent import NO_LIMIT, Agent
from tengen.agents.specs import load_agent
from tengen.envs.rows import game_of, longest_of
from tengen.games import load_game
from tengen.rules.game import Game, Position
from tengen.search.limits import Decision, Limit

try:
    import pyspiel
    from open_spiel.python.observation import IIGObserverForPublicInfoGame
except ImportError as reason:
    raise ImportError("tengen.envs.openspiel needs OpenSpiel: pip install 'tengen[envs]'") from reason

TYPE = pyspiel.GameType(
    short_name="tengen",
    long_name="A game of Tengen",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"game": "tictactoe", "longest": 0},
)


def as_openspiel(game: Game | str, longest: int | None = None) -> OpenSpielGame:
    """A game as OpenSpiel's algorithms take it. After `longest` plies it is a draw (by default 100, and four for each
    cell)."""
    return pyspiel.load_game("tengen", {"game": quote(game_of(game).spec, safe=":/"), "longest": longest or 0})


class OpenSpielGame(pyspiel.Game):
    """One of our games. Its parameters are the game's spec, with `=` and `,` as %3D and %2C, and `longest`."""

    def __init__(self, parameters: dict[str, Any] | None = None):
        given = {"game": "tictactoe", "longest": 0, **(parameters or {})}
        self.game = load_game(unquote(given["game"]))
        self.longest = longest_of(self.game, given["longest"] or None)
        info = pyspiel.GameInfo(
            num_distinct_actions=self.game.actions,
            max_chance_outcomes=0,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.longest,
        )
        super().__init__(TYPE, info, given)

    def new_initial_state(self) -> OpenSpielState:
        return OpenSpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """Planes and board; the moves so far where OpenSpiel asks for an information state."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return PlanesObserver(self.game)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class OpenSpielState(pyspiel.State):
    """A position, `held.position`."""

    def __init__(self, game: OpenSpielGame):
        super().__init__(game)
        self.held, self.longest = HeldPosition(game.game.start()), game.longest

    def current_player(self) -> int:
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else self.held.position.to_play

    def is_terminal(self) -> bool:
        return self.held.position.outcome is not None or self.held.position.ply >= self.longest

    def returns(self) -> list[float]:
        end = self.held.position.outcome
        return [0.0, 0.0] if end is None else [float(end.value_for(player)) for player in (0, 1)]

    def _legal_actions(self, player: int) -> list[int]:
        return self.held.position.legal_actions

    def _apply_action(self, action: int) -> None:
        self.held = HeldPosition(self.held.position.play(action))

    def _action_to_string(self, player: int, action: int) -> str:
        return self.held.position.game.action_text(action)

    def __str__(self) -> str:
        return str(self.held.position)


class HeldPosition:
    """A position in a state that OpenSpiel copies deeply: a position never changes, so there is nothing to copy."""

    def __init__(self, position: Position):
        self.position = position

    def __deepcopy__(self, memo: object) -> HeldPosition:
        return self


class PlanesObserver:
    """What the player to move sees, whoever observes: planes [planes, rows, columns], and the board as text."""

    def __init__(self, game: Game):
        shape = len(game.planes), *game.shape
        self.tensor = np.zeros(int(np.prod(shape)), np.float32)
        self.dict = {"observation": self.tensor.reshape(shape)}  # the same memory

    def set_from(self, state: OpenSpielState, player: int) -> None:
        self.dict["observation"][:] = state.held.position.encode()

    def string_from(self, state: OpenSpielState, player: int) -> str:
        return str(state)


class AgentBot(pyspiel.Bot):
    """An agent of ours, or of a spec, as a bot that plays a game of `as_openspiel`.

    It plays OpenSpiel's own games as well where actions have the same numbers: tic_tac_toe, connect_four.
    """

    def __init__(self, agent: Agent | str, game: Game, limit: Limit = NO_LIMIT):
        super().__init__()
        self.agent = load_agent(agent, game) if isinstance(agent, str) else agent
        self.game, self.limit = game, limit

    def step(self, state: Any) -> int:
        return self.agent.choose(self.game.from_actions(state.history()), self.limit).action

    def restart_at(self, state: Any) -> None:
        pass  # each step says all there is


class BotAgent:
    """A bot of OpenSpiel as an agent. `make_bot` is given the game as OpenSpiel has it.

    Subclass it in a file of your own, with options in the constructor, and the file can be named like any agent.
    """

    def __init__(self, game: Game, make_bot: Callable[[OpenSpielGame], Any]):
        self.openspiel = as_openspiel(game)
        self.bot = make_bot(self.openspiel)

    def choose(self, position: Position, limit: Limit = NO_LIMIT) -> Decision:
        state = self.openspiel.new_initial_state()
        for action in position.moves:
            state.apply_action(action)
        if isinstance(self.bot, pyspiel.MCTSBot):  # in OpenSpiel 2.0 its `step` crashes on any game written in Python
            return Decision(self.bot.step_with_policy(state)[1])
        return Decision(self.bot.step(state))


pyspiel.register_game(TYPE, OpenSpielGame)
