"""A game in the terminal."""

from __future__ import annotations

import sys

from tengen.agents.agent import Agent
from tengen.agents.passing import pass_in_time
from tengen.agents.specs import load_agent
from tengen.knowledge.go_counting import told_in_full
from tengen.rules.errors import TengenError
from tengen.rules.game import Position
from tengen.search.limits import Decision

HELP = "a move such as {example}, or one of undo, moves (the legal ones), help, quit"
HUMAN = "human"


class Quit(Exception):
    """The player wants to stop."""


def play_game(position: Position, players: tuple[str, str], seed: int) -> None:
    """Plays until the game ends, a player quits, or the input does. The second player has the next seed."""
    agents: list[Agent | None] = [
        None if name == HUMAN else load_agent(name, position.game, seed=(seed + i) % 2**63)
        for i, name in enumerate(players)
    ]
    example = position.move_text(position.legal_actions[0]) if position.legal_actions else "a move"
    sides = [f"{side} is {who}" for side, who in zip(position.game.players, players, strict=True)]
    print(f"{position.game.spec}: {', '.join(sides)}. Type {HELP.format(example=example)}.")
    try:
        while position.outcome is None:
            agent = agents[position.to_play]
            if agent is None:
                print(f"\n{position}\n")
                position = ask(position, both_human=agents == [None, None])
            else:
                position = announce(position, pass_in_time(position, agent, agent.choose(position)))
    except Quit:
        print("\nstopped")
        return
    print("\n".join([f"\n{position}\n\n{describe_outcome(position)}", *told_in_full(position)]))


def describe_outcome(position: Position) -> str:
    """How the game ended, in words."""
    outcome = position.outcome
    assert outcome is not None
    if outcome.winner is None:
        return "a draw"
    margin = f" by {abs(outcome.score):g}" if abs(outcome.score) != 1 else ""
    return f"{position.game.players[outcome.winner]} wins{margin}"


def announce(position: Position, decision: Decision) -> Position:
    """Plays for the computer, and says what."""
    mover = position.game.players[position.to_play]
    view = "" if decision.value is None else f" (value {decision.value:+.2f} for {mover})"
    print(f"{mover} plays {position.move_text(decision.action)}{view}", flush=True)
    return position.play(decision.action)


def ask(position: Position, both_human: bool) -> Position:
    """The position after what a person types; what cannot be played is explained, and asked again."""
    while True:
        print(f"{position.game.players[position.to_play]}> ", end="", flush=True)
        line = sys.stdin.readline()
        text, words = line.strip(), line.strip().lower()
        if not line or words in ("quit", "q", "exit"):
            raise Quit
        if words == "undo":
            return take_back(position, 1 if both_human else 2)
        if words == "moves":
            print(" ".join(position.move_text(action) for action in position.legal_actions))
        elif words in ("help", "?", ""):
            print("Type " + HELP.format(example=position.move_text(position.legal_actions[0])))
        else:
            try:
                return position.play(text)
            except TengenError as reason:
                print(reason)


def take_back(position: Position, plies: int) -> Position:
    """The position `plies` earlier, or as near as there is."""
    for _ in range(plies):
        position = position.previous or position
    return position
