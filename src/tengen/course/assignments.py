"""The lecture's two assignments in games: tic-tac-toe by alpha-beta, which never loses; Reversi by Monte Carlo tree
search, where a move that takes longer than a minute loses the game.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from time import perf_counter

from tengen.agents.agent import NO_LIMIT, Agent
from tengen.agents.gtp import RESIGNED
from tengen.agents.specs import load_agent
from tengen.arena.match import Score, play_game
from tengen.games import load_game
from tengen.records.record import Record
from tengen.rules.errors import TengenError
from tengen.rules.game import Game, Position
from tengen.search.limits import Decision, Limit

TICTACTOE, REVERSI = "alphabeta:depth=9", "uct:time=2"
MINUTE = 60.0
PERSON = "human"
TICK = 1.0  # seconds between two looks at the clock
LONGEST_LINE = 1000

Say = Callable[[str], None]


# Tic-tac-toe


def every_line(agent: Agent, game: Game, player: int) -> Score:
    """The agent's score, as the player it is, in all games that an opponent can make of it."""
    score, waiting = Score(), [game.start()]
    while waiting:
        position = waiting.pop()
        if position.outcome is not None:
            result = position.outcome.value_for(player)
            score.add(Score(result == 1, result == 0, result == -1))
        elif position.to_play == player:
            waiting.append(position.play(agent.choose(position).action))
        else:
            waiting.extend(position.play(action) for action in position.legal_actions)
    return score


def prove_never_lost(agent: str = TICTACTOE) -> tuple[Score, Score]:
    """The scores of an agent of tic-tac-toe against everything, as the first player and as the second."""
    game = load_game("tictactoe")
    first, second = (every_line(load_agent(agent, game), game, player) for player in (0, 1))
    return first, second


# Reversi against the clock


class Keyboard:
    """Lines as they are typed, waited for no longer than one likes.

    A thread waits for them: Windows cannot be asked whether something was typed. It begins when somebody first wants a
    line, and ends with the input, or with the program.
    """

    def __init__(self, source: int | None = None):
        self.source = sys.stdin.fileno() if source is None else source
        self.typed, self.has_ended = b"", False
        self.pieces: queue.SimpleQueue[bytes] = queue.SimpleQueue()  # an empty one is the end
        self.listener = threading.Thread(target=self._listen, daemon=True)

    def line(self, seconds: float) -> str | None:
        """The next line; None if none came in time. Raises EOFError after the last."""
        if self.listener.ident is None:
            self.listener.start()
        end = perf_counter() + seconds
        while b"\n" not in self.typed and not self.has_ended:
            try:
                piece = self.pieces.get(timeout=max(end - perf_counter(), 0))
            except queue.Empty:
                return None
            self.has_ended = not piece
            self.typed = (self.typed + piece)[-LONGEST_LINE:]
        if self.has_ended and not self.typed:
            raise EOFError
        line, _, self.typed = self.typed.partition(b"\n")
        return line.decode(errors="replace").strip()

    def _listen(self) -> None:
        piece = b"begun"
        while piece:
            try:
                piece = os.read(self.source, 4096)
            except OSError:  # it was closed
                piece = b""
            self.pieces.put(piece)


class Person:
    """Somebody at the keyboard, to whom the clock is shown; out of time, any answer will do: it is too late."""

    name = PERSON

    def __init__(self, keyboard: Keyboard, allowed: float, say: Say, has_cursor: bool = False):
        self.keyboard, self.allowed, self.say, self.has_cursor = keyboard, allowed, say, has_cursor

    def choose(self, position: Position, limit: Limit = NO_LIMIT) -> Decision:
        began, legal, text = perf_counter(), position.legal_actions, position.game.action_text
        self.say(f"\n{position}\n")
        if [text(action) for action in legal] == ["pass"]:
            self.say("nothing flips: you pass")
            return Decision(legal[0])
        self.prompt(position, self.allowed)
        while (left := self.allowed - (perf_counter() - began)) > -0.01:
            try:
                typed = self.keyboard.line(min(max(left, 0.0), TICK) + 0.01)
            except EOFError:
                return Decision(legal[0], note=RESIGNED)
            if typed is None:
                self.show_clock(left)
                continue
            if typed.lower() in ("quit", "q", "exit", "resign"):
                return Decision(legal[0], note=RESIGNED)
            try:
                return Decision(position.play(typed).moves[-1])
            except TengenError as reason:
                self.say(f"{reason}; you may play {' '.join(text(action) for action in legal)}, or resign")
                self.prompt(position, left)
        self.say("\nthe time is over")
        return Decision(legal[0])

    def prompt(self, position: Position, left: float) -> None:
        self.say(f"{position.game.players[position.to_play]}, {left:.0f} s:")

    def show_clock(self, left: float) -> None:
        """What is left, on the line above; nothing where there is no cursor to move."""
        if self.has_cursor:
            print(f"\x1b7\x1b[1A\r\x1b[2K{max(left, 0):.0f} s left\x1b8", end="", flush=True)


def rehearsed(name: str, game: Game, seed: int) -> Agent:
    """An agent, ready and compiled before any clock runs."""
    position = game.start()
    rehearsal = load_agent(name, game, seed=seed)
    for _ in range(2):  # the second move keeps the tree of the first
        position = position.play(rehearsal.choose(position, Limit(nodes=2)).action)
    return load_agent(name, game, seed=seed)


def play_reversi(
    players: tuple[str, str],
    allowed: float = MINUTE,
    size: int = 8,
    seed: int = 1,
    say: Say = print,
    keyboard: Keyboard | None = None,
) -> Record:
    """A game against the clock: whoever takes longer than `allowed` seconds for a move has lost it."""
    game = load_game(f"reversi:size={size}")
    has_cursor = sys.stdout.isatty() and keyboard is None
    if keyboard is None and PERSON in players:
        keyboard = Keyboard()  # of both, if two people play: two who listened would take each other's lines
    agents: list[Agent] = []
    for name in players:
        if name == PERSON:
            assert keyboard is not None
            agents.append(Person(keyboard, allowed, say, has_cursor))
        else:
            agents.append(rehearsed(name, game, seed + len(agents)))
    board = [game.start()]

    def watch(action: int, seconds: float) -> None:
        mover = game.players[board[0].to_play]
        clock = f"{seconds:6.2f} s of {allowed:g} s"
        say(f"{board[0].ply + 1:3}  {mover:5} {players[board[0].to_play]:20} {game.action_text(action):4} {clock}")
        board[0] = board[0].play(action)

    record = play_game(game, agents, names=players, move_time=allowed, watch=watch)
    say(f"\n{record.end()}\n\n{record.result}  {record.ending}".rstrip())
    return record
