"""The machine code of a game's usual opponent, compiled in a process of its own while a visitor looks at the board.

The server compiles the rules meanwhile. Whoever asks for an opponent waits for what is under way, and compiles nothing
a second time: see rules/kernel_cache.py.
"""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np

from tengen.agents.specs import load_agent
from tengen.apps.web.jobs import TENGEN, environment
from tengen.apps.web.levels import level_of
from tengen.apps.web.views import View, command_spec, view_of
from tengen.games import load_game
from tengen.rules.game import LOOK, Game, Position, step
from tengen.search.limits import Limit

USUAL = "medium"  # the level that a page offers first
_begun: set[type] = set()  # games
_beginning = threading.Lock()


def first_view(position: Position) -> View:
    """A position as a page draws it. Where the game is new here, its usual opponent gets ready meanwhile."""
    compile_ahead(position.game)
    return view_of(position)


def compile_ahead(game: Game) -> None:
    """Begins to compile the usual opponent of a game whose rules are not compiled yet; once, and in no time."""
    with _beginning:
        kind = type(game.parameters)
        if kind in _begun:
            return
        _begun.add(kind)
    if step.is_there(game.parameters, game.new_states(1), LOOK, np.empty(game.actions, np.int32)):
        return
    level = level_of(USUAL, game)
    assert level is not None
    command = [*TENGEN[:-1], __name__, command_spec(game), level.spec]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, env=environment(), stdin=quiet, stdout=quiet, stderr=quiet)
    threading.Thread(target=process.wait, daemon=True).start()


def main(spec: str, agent: str) -> None:
    """Searches once; the rules are left to the server."""
    step.is_plain = True
    game = load_game(spec)
    load_agent(agent, game).choose(game.start(), Limit(time=0.01))


if __name__ == "__main__":
    main(*sys.argv[1:])
