"""A game in the terminal."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable

from tengen.rules.errors import TengenError, nearest
from tengen.rules.game import Position

HELP = "a move such as {example}; `undo`, `moves` (what is legal), `help`, `quit`"
PLAYERS = ("human", "random")


class Quit(Exception):
    """The player wants to stop."""


def play_game(position: Position, players: tuple[str, str], seed: int | None) -> None:
    """Plays until the game ends, a player quits, or the input does."""
    for name in players:
        if name not in PLAYERS:
            raise TengenError(f"{name!r} cannot play{nearest(name, PLAYERS)}")
    rng = random.Random(seed)
    choosers: dict[str, Callable[[Position], Position]] = {
        "human": lambda position: ask(position, both_human=players == ("human", "human")),
        "random": lambda position: announce(position, rng.choice(position.legal_actions)),
    }
    example = position.game.action_text(position.legal_actions[0]) if position.legal_actions else "a move"
    print(f"{position.game.spec}. Type {HELP.format(example=example)}.")
    try:
        while position.outcome is None:
            if players[position.to_play] == "human":
                print(f"\n{position}\n")
            position = choosers[players[position.to_play]](position)
    except Quit:
        print("\nstopped")
        return
    print(f"\n{position}\n\n{describe_outcome(position)}")


def describe_outcome(position: Position) -> str:
    """How the game ended, in words."""
    outcome = position.outcome
    assert outcome is not None
    if outcome.winner is None:
        return "a draw"
    margin = f" by {abs(outcome.score):g}" if abs(outcome.score) != 1 else ""
    return f"{position.game.players[outcome.winner]} wins{margin}"


def announce(position: Position, action: int) -> Position:
    """Plays for the computer, and says what."""
    print(f"{position.game.players[position.to_play]} plays {position.game.action_text(action)}")
    return position.play(action)


def ask(position: Position, both_human: bool) -> Position:
    """The position after what a person types; what cannot be played is explained, and asked again."""
    while True:
        print(f"{position.game.players[position.to_play]}> ", end="", flush=True)
        line = sys.stdin.readline()
        words = line.strip().lower()
        if not line or words in ("quit", "q", "exit"):
            raise Quit
        if words == "undo":
            return take_back(position, 1 if both_human else 2)
        if words == "moves":
            print(" ".join(position.game.action_text(action) for action in position.legal_actions))
        elif words in ("help", "?", ""):
            print("Type " + HELP.format(example=position.game.action_text(position.legal_actions[0])))
        else:
            try:
                return position.play(words)
            except TengenError as reason:
                print(reason)


def take_back(position: Position, plies: int) -> Position:
    """The position `plies` earlier, or as near as there is."""
    for _ in range(plies):
        position = position.previous or position
    return position
