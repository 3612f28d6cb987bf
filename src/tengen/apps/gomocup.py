"""`tengen gomocup`: an engine for Piskvork, Yixin-Board and every other manager that speaks the protocol of Gomocup.

`Brain` is the protocol: it is told lines and says lines, and a test needs no process for it. `serve` connects it to
stdin and stdout: one thread reads, so that YXSTOP and END end a search at once, while the other thinks.

A point is `x,y`: the column and the row from the top, both from zero. Yixin-Board names the row first. Since it does so
both ways, it shows the board mirrored, and no rule of Gomoku can tell.
"""

from __future__ import annotations

import contextlib
import gc
import os
import queue
import random
import re
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from time import perf_counter
from typing import IO

from tengen import __version__
from tengen.agents.agent import Agent, opinions_of
from tengen.agents.specs import is_external, load_agent, maker_of
from tengen.apps.gomocup_settings import NUMBER, BadCommand, GomocupSettings
from tengen.apps.preparation import Preparation, at_first_sight
from tengen.apps.stdio import end_when_nobody_hears, is_written_ahead, protocol_output
from tengen.apps.timing import LEAST
from tengen.games import load_game
from tengen.rules.board import EMPTY, STONES, board_symmetries, diagram
from tengen.rules.errors import BadParameter, TengenError
from tengen.rules.game import Game, Position
from tengen.rules.kernels import at_once
from tengen.search.limits import Decision, Limit, Opinion

ABOUT = {"name": "Tengen", "version": __version__, "author": "the Tengen authors", "country": "none", "www": "none"}
LONGEST_LINE = 10_000  # bytes; a whole board in one line is shorter
MOST_STONES = 1000  # that one BOARD may name: more than there are points
PATIENCE = 1.0  # seconds that a search has to end after END
A_GLANCE = 0.3  # seconds in which a move is found at first sight, whatever else this machine does
WARM_UP = 0.05  # seconds of thinking that need everything once

OWN, OTHER, CONTINUED = 1, 2, 3  # the last number of a line of BOARD
PASS = (-1, -1)  # how Yixin-Board writes a turn in which no stone was placed
HASH_SIZE = 20  # Yixin-Board may offer up to 2^20 kilobytes
LONGEST_VARIATION = 12  # moves of a line that people are shown

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
COMMA = re.compile(r"\s*,\s*")
POINT = re.compile(r"(\d{1,3}),(\d{1,3})", re.ASCII)
STONE = re.compile(r"(-?\d{1,3}),(-?\d{1,3}),(\d)", re.ASCII)

# What a game by swap2 may begin with: black, white, black, as (x, y) from the middle of a board of 15. Two black stones
# side by side in the middle win, so they stand apart or near the edge. The agent takes what it thinks most even.
SWAP2_OPENINGS = (
    ((0, 0), (0, 1), (5, 2)),
    ((0, 0), (1, 1), (-4, 4)),
    ((0, 0), (1, 0), (-5, -1)),
    ((-5, 0), (-4, 1), (-6, 3)),
    ((-5, -5), (-4, -4), (-6, -3)),
    ((-6, 2), (-5, 1), (-4, 4)),
    ((5, -4), (4, -3), (6, -1)),
    ((-5, 5), (0, 0), (5, -5)),
)


class Stops:
    """Whether the search that goes on has to end: a YXSTOP was heard that comes after it in the order of lines.

    The thread that reads counts up and the one that thinks counts down, so a YXSTOP that is heard before a search has
    even begun ends that search, and never a later one.
    """

    def __init__(self) -> None:
        self.event, self.ended = threading.Event(), threading.Event()
        self._lock, self._waiting = threading.Lock(), 0

    def heard(self, line: str) -> None:
        """For each line, as soon as it is read."""
        word = first_word(line)
        if word == "END":
            self.ended.set()
        if word in ("YXSTOP", "STOP", "END"):
            self.stop()

    def stop(self) -> None:
        """The search that goes on ends, and every other until this was `reached`: after the last line never."""
        with self._lock:
            self._waiting += 1
            self.event.set()

    def reached(self) -> None:
        """When the turn of a YXSTOP has come: what it stopped has answered."""
        with self._lock:
            self._waiting = max(self._waiting - 1, 0)
            if not self._waiting:
                self.event.clear()


def first_word(line: str) -> str:
    """The command of a line."""
    words = CONTROL.sub("", line).split(maxsplit=1)
    return words[0].upper() if words else ""


class Brain:
    """A Gomocup engine: is told lines, says lines.

    Whatever a line is, it is answered as the protocol wants, or by ERROR or UNKNOWN; nothing but END ends the brain.
    """

    def __init__(self, agent: str, say: Callable[[str], None], stops: Stops | None = None):
        self.spec, self.say, self.stops = agent, say, stops or Stops()
        self.settings = GomocupSettings()
        self.position: Position | None = None  # None before the first START
        self.is_yixin = False  # whether a command of Yixin-Board was heard
        self.began = perf_counter()  # when the line was taken up
        self.data: tuple[str, list[str]] | None = None  # a command that goes on until DONE, and its words so far
        self.agent: Agent | None = None
        self.agent_for: tuple[Game, dict[str, int]] | None = None  # what the agent was made for
        self.warm: set[int] = set()  # the sizes of boards for which everything is loaded
        self.warming: Preparation[None] | None = None  # what goes on since START

    def tell(self, line: str) -> bool:
        """Takes a line, and answers it; False after END."""
        self.began = perf_counter()
        line = COMMA.sub(",", CONTROL.sub("", line)).strip()
        word = first_word(line)
        if word == "END":
            return False
        try:
            self._take(word, line)
        except TengenError as reason:
            self._answer(f"ERROR {reason}")
        except BrokenPipeError:
            raise
        except Exception as reason:  # a mistake of ours: the manager hears of it, and may go on
            traceback.print_exc()
            self._answer(f"ERROR internal: {type(reason).__name__}: {reason}")
        return True

    def _take(self, word: str, line: str) -> None:
        """Runs a command, or collects what belongs to one that goes on."""
        if self.data is not None and word in COMMANDS:
            unfinished, self.data = self.data[0], None
            self._answer(f"ERROR {unfinished} was not ended by DONE")
        if self.data is not None:
            self._collect(line.split())
        elif word in COMMANDS:
            self.is_yixin |= word.startswith("YX")
            words = line.split()[1:]
            if word in UNTIL_DONE:
                self.data = (word, [])
                self._collect(words)
            else:
                COMMANDS[word](self, words)
        elif word == "DONE":
            raise BadCommand("DONE ends a BOARD, and none was begun")
        elif word:
            self._answer(f"UNKNOWN {line[:80]}")

    def _collect(self, words: list[str]) -> None:
        """Keeps the words of a command up to DONE, and then runs it."""
        assert self.data is not None
        command, kept = self.data
        for word in words:
            if word.upper() == "DONE":
                self.data = None
                COMMANDS[command](self, kept)
                return
            if len(kept) <= MOST_STONES:  # memory is not endless; one too many is an error already
                kept.append(word)

    def _answer(self, text: str) -> None:
        """Says one line, but nothing after END."""
        if not self.stops.ended.is_set():
            self.say(" ".join(text.split()))

    # The board.

    @at_once()
    def _board(self) -> Position:
        """The position, by the rule that was told last; raises BadCommand before START."""
        if self.position is None:
            raise BadCommand("there is no board: START 15 first")
        game = gomoku(self.position.game.parameters.size, self.settings.rule_name(self.is_yixin))
        if game != self.position.game:
            before = self.position
            self.position = game.from_board(before.diagram(), before.to_play) if before.board.any() else game.start()
        return self.position

    def _point(self, cell: int) -> str:
        assert self.position is not None
        y, x = divmod(cell, self.position.game.parameters.size)
        return f"{x},{y}"

    def _cell(self, text: str) -> int:
        """The cell of a point."""
        point, size = POINT.fullmatch(text), self._board().game.parameters.size
        if point is None:
            raise BadCommand(f"{text[:40]} is not a point; write one as {size // 2},{size // 2}")
        x, y = map(int, point.groups())
        if x >= size or y >= size:
            raise BadCommand(f"{text} is off the board: x and y are 0 to {size - 1}")
        return y * size + x

    def _only_cell(self, command: str, words: list[str]) -> int:
        if len(words) != 1:
            raise BadCommand(f"{command} needs one point: {command} 7,7")
        return self._cell(words[0])

    @at_once()
    def _after(self, cell: int) -> Position:
        """The position after a stone that the manager places."""
        try:
            return self._board().play(cell)
        except TengenError as reason:
            raise BadCommand(f"{self._point(cell)} cannot be played: {reason}") from None

    # The agent.

    def _await_warmth(self) -> None:
        """Waits until what was begun at START is done: one thread at a time has to do with the agent."""
        warming, self.warming = self.warming, None
        if warming is not None:
            warming.result()

    def _is_ready_within(self, limit: Limit) -> bool:
        """Whether the agent is compiled in time for a move."""
        left = None if limit.time is None else max(limit.time - A_GLANCE, 0.0)
        return self.warming is None or self.warming.is_done_within(left)

    def _get_ready(self, game: Game) -> None:
        self._warm_up(game.parameters.size)
        self._load_agent(game)

    def _agent(self, game: Game) -> Agent:
        """The agent, when all is ready."""
        self._await_warmth()
        return self._load_agent(game)

    def _load_agent(self, game: Game) -> Agent:
        """The agent; made anew if the game, or what the agent may use, has changed."""
        options = self._options()
        if self.agent is None or self.agent_for != (game, options):
            self.agent = None  # its tables go before others come
            self.agent, self.agent_for = load_agent(self.spec, game, **options), (game, options)
        return self.agent

    def _options(self) -> dict[str, int]:
        """What an agent is told of the memory and the threads that it may use.

        A limit on memory only ever takes away: an agent that by itself takes less is left alone.
        """
        own = maker_of(self.spec)[0].options
        memory, threads, options = self.settings.memory(), self.settings.threads(), {}
        if threads is not None and "threads" in own:
            options["threads"] = threads
        if memory is not None and "memory" in own and memory < (own["memory"].default or memory + 1):
            options["memory"] = memory
        return options

    def _warm_up(self, size: int) -> None:
        """Prepares for all rules, since the rule may be told after START, when a clock runs."""
        if size not in self.warm:
            self.agent = None  # one at a time has its tables in memory
            for rule in [] if is_external(self.spec) else ["freestyle", "standard", "renju"]:
                game = gomoku(size, rule)
                with contextlib.suppress(BadParameter):  # a net may be for one rule alone
                    warm_up(load_agent(self.spec, game, **self._options()), game)
            self.warm.add(size)

    def _search(self, position: Position) -> Decision:
        """What the agent chooses within the time there is; raises BadCommand if the game is over."""
        return self._agent(position.game).choose(position, self._limit(position))

    def _limit(self, position: Position) -> Limit:
        if position.outcome is not None:
            winner = position.outcome.winner
            raise BadCommand(f"the game is {'drawn' if winner is None else f'won by {position.game.players[winner]}'}")
        return self.settings.limit(position, perf_counter() - self.began, self.stops.event)

    def _move(self, position: Position, best: int = 1) -> None:
        """Thinks, answers with the move, and plays it; `best` moves are shown to people."""
        self._tell_troubles()
        self.position = position
        limit = self._limit(position)
        if not self._is_ready_within(limit):
            self._play(position, at_first_sight(position))
            return
        agent = self._agent(position.game)
        limit = self._limit(position)
        half = replace(limit, time=limit.time / 2) if limit.time is not None and best > 1 else limit
        decision = agent.choose(position, half)
        value, line = decision.value or 0.0, decision.principal_variation
        opinions = [Opinion(decision.action, max(decision.nodes, 1), value, line=line)]
        if best > 1:
            opinions = opinions_of(agent, decision)[:best]
            if len(opinions) == 1:
                opinions += self._other_opinions(position, decision, best - 1, limit)
        self._show(decision, opinions)
        self._play(position, decision.action)

    @at_once()
    def _play(self, position: Position, cell: int) -> None:
        """Answers with a move, and plays it."""
        after = position.play(cell)
        self._answer(self._point(cell))
        self.position = after
        self.settings.spent += perf_counter() - self.began

    def _other_opinions(self, position: Position, decision: Decision, count: int, limit: Limit) -> list[Opinion]:
        """What is next best, of an agent that keeps no account: the moves that it looked at most, each searched."""
        agent = self._agent(position.game)
        each = replace(limit, time=(limit.time or 1.0) / (2 * count))
        liked = sorted(decision.policy, key=lambda action: -decision.policy[action])
        found = []
        for action in [action for action in liked if action != decision.action][:count]:
            after = position.play(action)
            if after.outcome is not None:
                found.append(Opinion(action, 1, after.outcome.value_for(position.to_play)))
            else:
                reply = agent.choose(after, each)
                line = (action, *reply.principal_variation)
                found.append(Opinion(action, max(reply.nodes, 1), -(reply.value or 0.0), line=line))
        return sorted(found, key=lambda opinion: -opinion.value)

    def _tell_troubles(self) -> None:
        while self.settings.troubles:
            self._answer(f"MESSAGE {self.settings.troubles.popleft()}")

    def _show(self, decision: Decision, opinions: list[Opinion]) -> None:
        """Tells people what was thought: a few words, and what INFO show_detail asked for."""
        detail = self.settings.show_detail
        if detail in (1, 3):
            self._answer(f"MESSAGE REALTIME BEST {self._point(decision.action)}")
        for number, opinion in enumerate(opinions):
            line = " ".join(map(self._point, (opinion.line or (opinion.action,))[:LONGEST_VARIATION]))
            facts = [f"PV {number}", f"NUMPV {len(opinions)}", f"DEPTH {decision.depth}", f"NODES {opinion.visits}"]
            facts += [f"EVAL {round(1000 * opinion.value)}", f"WINRATE {(1 + opinion.value) / 2:.4f}"]
            for fact in [*facts, f"BESTLINE {line}", "PV DONE"] if detail in (2, 3) else []:
                self._answer(f"INFO {fact}")
            kind = "DEBUG" if len(opinions) == 1 else f"MESSAGE ({number + 1})"
            self._answer(f"{kind} {line} value {opinion.value:+.3f} of {opinion.visits} visits, depth {decision.depth}")
        if decision.note:
            self._answer(f"MESSAGE {decision.note}")

    # Commands. Each is given the words after its name, or all words up to DONE.

    def start(self, words: list[str]) -> None:
        if len(words) != 1:
            raise BadCommand("START needs the size of the board: START 15")
        self._begin_on(words[0], words[0])

    def start_rectangle(self, words: list[str]) -> None:
        sides = words[0].split(",") if len(words) == 1 else words
        if len(sides) != 2:
            raise BadCommand("RECTSTART needs a width and a height: RECTSTART 15,15")
        self._begin_on(*sides)

    def restart(self, words: list[str]) -> None:
        size = str(self._board().game.parameters.size)
        self._begin_on(size, size)

    def _begin_on(self, width: str, height: str) -> None:
        """An empty board. All is loaded now, while no clock runs; only a compiler is not waited for."""
        if not (NUMBER.fullmatch(width) and NUMBER.fullmatch(height)):
            raise BadCommand(f"{width[:20]} is not a size; START 15")
        if int(width) != int(height):
            raise BadCommand(f"a board of {int(width)} by {int(height)} is not supported: it has to be a square")
        self._await_warmth()
        game = gomoku(int(width), self.settings.rule_name(self.is_yixin))
        warming = Preparation(lambda: self._get_ready(game))
        warming.begin()
        self.warming = warming
        with at_once():
            self.position = game.start()
        if self.settings.time_left is None:
            self.settings.spent = 0.0
        self._tell_troubles()
        self._answer("OK")

    def begin(self, words: list[str]) -> None:
        position = self._board()
        if position.board.any():
            raise BadCommand("BEGIN is for an empty board: RESTART first, or use BOARD")
        self._move(position)

    def turn(self, words: list[str]) -> None:
        before, after = self._board(), self._after(self._only_cell("TURN", words))
        try:
            self._move(after)
        except TengenError:
            if after.outcome is None:  # without an answer the turn has not happened
                self.position = before
            raise

    def play(self, words: list[str]) -> None:
        cell = self._only_cell("PLAY", words)
        self.position = self._after(cell)
        self._answer(self._point(cell))

    def take_back(self, words: list[str]) -> None:
        cell, position = self._only_cell("TAKEBACK", words), self._board()
        if position.action == cell:
            self.position = position.undo()
        elif position.action is not None:
            raise BadCommand(f"{words[0]} is not the last move, which is {self._point(position.action)}")
        else:  # nobody knows the order of a board that was set up
            board = position.board
            owner = int(board.flat[cell]) - 1
            if owner < 0:
                raise BadCommand(f"there is no stone on {words[0]}")
            board.flat[cell] = 0
            self.position = position.game.from_board(diagram(board), owner)
        self._answer("OK")

    def board_and_move(self, words: list[str]) -> None:
        self._move(self._set_up(words))

    def board(self, words: list[str]) -> None:
        self.position = self._set_up(words)

    @at_once()
    def _set_up(self, words: list[str]) -> Position:
        """The position of the lines of BOARD; we are to move.

        With as many stones as the other we have moved first; with one less, second. Otherwise whose stone comes first.
        """
        if len(words) > MOST_STONES:
            raise BadCommand(f"a board of more than {MOST_STONES} stones")
        game, turns = self._board().game, [self._stone(word) for word in words]
        own = sum(owner == OWN for _, owner in turns)
        ahead = own - (len(turns) - own)
        us = 0 if ahead == 0 else 1 if ahead == -1 else int(turns[0][1] == OTHER)
        players = [us if owner == OWN else 1 - us for _, owner in turns]
        stones = [cell for cell, _ in turns if cell is not None]
        twice = next((cell for place, cell in enumerate(stones) if cell in stones[:place]), None)
        if twice is not None:
            raise BadCommand(f"{self._point(twice)} has two stones")
        if len(stones) == len(turns) and players == [ply % 2 for ply in range(len(players))]:
            try:
                position = game.start()
                for cell in stones:
                    position = position.play(cell)
                return position
            except TengenError:  # no order of a game: a forbidden point, or a row of five on the way
                pass
        marks = [EMPTY] * game.cells
        for (place, _), player in zip(turns, players, strict=True):
            if place is not None:
                marks[place] = STONES[player].symbol
        size = game.parameters.size
        return game.from_board("/".join("".join(marks[row : row + size]) for row in range(0, game.cells, size)), us)

    def _stone(self, text: str) -> tuple[int | None, int]:
        """The cell of a line of BOARD, None for a pass, and whose it is."""
        stone = STONE.fullmatch(text)
        if stone is None:
            raise BadCommand(f"{text[:40]} is not a stone; write one as 7,7,1 (1 own, 2 the opponent's)")
        x, y, owner = map(int, stone.groups())
        if owner == CONTINUED:
            raise BadCommand(f"{text} is a stone of a continuous game, which is not supported")
        if owner not in (OWN, OTHER):
            raise BadCommand(f"{text}: the last number is 1 (own) or 2 (the opponent's)")
        return (None if (x, y) == PASS else self._cell(f"{x},{y}")), owner

    def swap2(self, words: list[str]) -> None:
        """Three stones to begin with; or, after three or five of them, which colour to take.

        White is to move. If White is better off we stay White and play; if not, we swap. To place two more stones and
        let the other choose is never better than that, since the other would take the better side.
        """
        game = self._board().game
        self._tell_troubles()
        if not words:
            self._answer(" ".join(map(self._point, self._swap2_opening(game))))
            self.settings.spent += perf_counter() - self.began
            return
        if len(words) not in (3, 5):
            raise BadCommand(f"SWAP2BOARD gives no stones, three or five, not {len(words)}")
        self.position = game.start()
        for word in words:
            self.position = self._after(self._cell(word))
        decision = self._search(self.position)
        self.settings.spent += perf_counter() - self.began
        if decision.value is not None and decision.value < 0:
            self._answer("SWAP")
        else:
            self._answer(self._point(decision.action))
            self.position = self.position.play(decision.action)

    def _swap2_opening(self, game: Game) -> list[int]:
        """The opening that the agent thinks most even; turned and reflected by chance."""
        agent, start = self._agent(game), game.start()
        limit = self._limit(start)
        each = Limit(time=max((limit.time or 1.0) / len(SWAP2_OPENINGS), LEAST), stop=self.stops.event)
        turned = random.choice(board_symmetries(*game.shape))
        openings: dict[float, list[int]] = {}
        for offsets in SWAP2_OPENINGS:
            cells = [int(turned[cell]) for cell in around_middle(game.parameters.size, offsets)]
            if len(set(cells)) == len(cells):  # on a small board some fall together
                position = start.play(cells[0]).play(cells[1]).play(cells[2])
                openings[abs(agent.choose(position, each).value or 0.0)] = cells
        return openings[min(openings)]

    def info(self, words: list[str]) -> None:
        if len(words) > 1:
            self.settings.tell(words[0].lower(), words[1])

    def about(self, words: list[str]) -> None:
        self._answer(", ".join(f'{key}="{value}"' for key, value in ABOUT.items()))

    # Commands of Yixin-Board.

    def stop(self, words: list[str]) -> None:
        self.stops.reached()

    def best_moves(self, words: list[str]) -> None:
        if len(words) != 1 or not NUMBER.fullmatch(words[0]) or int(words[0]) < 1:
            raise BadCommand("YXNBEST needs the number of moves to show: YXNBEST 3")
        position = self._board()
        self._move(position, best=min(int(words[0]), position.game.cells))

    def show_forbidden(self, words: list[str]) -> None:
        position = self._board()
        size = position.game.parameters.size
        self._answer(f"FORBID {''.join(f'{cell % size:02}{cell // size:02}' for cell in position.forbidden())}.")

    def show_limits(self, words: list[str]) -> None:
        self._answer(f"MESSAGE {ABOUT['name']} {ABOUT['version']}, agent {self.spec}")
        self._answer(f"MESSAGE INFO MAX_THREAD_NUM {os.cpu_count() or 1}")
        self._answer(f"MESSAGE INFO MAX_HASH_SIZE {HASH_SIZE}")

    def clear_tables(self, words: list[str]) -> None:
        self._await_warmth()
        self.agent = None
        self._answer("MESSAGE the tables are clear")

    def refuse(self, words: list[str]) -> None:
        self._answer("UNKNOWN: blocked points and databases are not supported")

    def ignore(self, words: list[str]) -> None:
        """There is nothing to do, and no answer is expected."""


COMMANDS: dict[str, Callable[[Brain, list[str]], None]] = {
    "START": Brain.start,
    "RECTSTART": Brain.start_rectangle,
    "RESTART": Brain.restart,
    "BEGIN": Brain.begin,
    "TURN": Brain.turn,
    "PLAY": Brain.play,
    "TAKEBACK": Brain.take_back,
    "BOARD": Brain.board_and_move,
    "SWAP2BOARD": Brain.swap2,
    "INFO": Brain.info,
    "ABOUT": Brain.about,
    "STOP": Brain.stop,
    "YXSTOP": Brain.stop,
    "YXBOARD": Brain.board,
    "YXNBEST": Brain.best_moves,
    "YXSHOWFORBID": Brain.show_forbidden,
    "YXSHOWINFO": Brain.show_limits,
    "YXHASHCLEAR": Brain.clear_tables,
    "YXBLOCKRESET": Brain.ignore,  # there is nothing blocked
    "YXBLOCKPATHRESET": Brain.ignore,
}
REFUSED_UNTIL_DONE = [  # what Yixin-Board sends with stones, and would be taken apart line by line
    *("YXBLOCK", "YXBLOCKUNDO", "YXBLOCKPATH", "YXBLOCKPATHUNDO", "YXBLOCKPATHEXCEPT"),
    *(f"YXQUERYDATABASE{what}" for what in ("ALL", "ONE", "TEXT", "ALLT")),
    *(f"YXEDIT{what}DATABASE" for what in ("TVD", "TEXT", "LABEL")),
    *(f"YXDELETEDATABASE{what}" for what in ("ONE", "ALL")),
]
COMMANDS |= dict.fromkeys(REFUSED_UNTIL_DONE, Brain.refuse)
UNTIL_DONE = {"BOARD", "YXBOARD", "SWAP2BOARD", *REFUSED_UNTIL_DONE}


@lru_cache
def gomoku(size: int, rule: str) -> Game:
    return load_game(f"gomoku:size={size},rule={rule}")


def around_middle(size: int, offsets: tuple[tuple[int, int], ...]) -> list[int]:
    """The cells at offsets from the middle of a board of 15, on a board of any size: nearer on smaller ones."""
    middle = size // 2
    scale = min(1.0, middle / 7)
    return [(middle + round(scale * y)) * size + middle + round(scale * x) for x, y in offsets]


def warm_up(agent: Agent, game: Game) -> None:
    """Thinks a moment, so that whatever is compiled or loaded on first use is there when a clock runs."""
    position = game.start()
    for cell in around_middle(game.parameters.size, ((0, 0), (2, 2), (0, 1), (2, 0))):
        if cell in position.legal_actions:
            position = position.play(cell)
    game.from_board(position.diagram(), position.to_play).forbidden()
    for _ in range(2):
        position = position.play(agent.choose(position, Limit(time=WARM_UP)).action)


# The process.


def listen(source: IO[bytes], lines: queue.SimpleQueue[str | None], stops: Stops, is_ahead: bool = False) -> None:
    """Reads to END or to the end of the input, for the thread that thinks. The rest of too long a line is lost.

    Lines that were written ahead, in a file, stop no search that comes before them.
    """
    is_whole = True
    while raw := source.readline(LONGEST_LINE):
        is_new, is_whole = is_whole, raw.endswith(b"\n")
        if is_new:
            line = raw.decode(errors="replace")
            if not is_ahead:
                stops.heard(line)
            lines.put(line)
            if stops.ended.is_set():
                end = threading.Timer(PATIENCE, os._exit, (0,))  # a compiler cannot be stopped
                end.daemon = True
                end.start()
                return
    if not is_ahead:
        stops.stop()
    lines.put(None)


def serve(agent: str) -> None:
    """Answers commands from stdin on stdout, until END."""
    maker_of(agent)  # a wrong name is told now
    stops, lines = Stops(), queue.SimpleQueue[str | None]()
    output = protocol_output()
    end_when_nobody_hears(output)
    brain = Brain(agent, lambda line: print(line, file=output, flush=True), stops)
    source = sys.stdin.buffer
    threading.Thread(target=listen, args=(source, lines, stops, is_written_ahead(source)), daemon=True).start()
    try:
        answer_lines(brain, lines)
        if brain.warming is not None and not brain.warming.is_done:
            os._exit(0)  # a compiler cannot be stopped
    except BrokenPipeError:
        os._exit(0)  # nobody listens any more, and the thread that reads cannot be woken


def answer_lines(brain: Brain, lines: queue.SimpleQueue[str | None]) -> None:
    """Tells a brain line after line, until END or the end of the input."""
    sizes = 0
    while (line := lines.get()) is not None and not brain.stops.ended.is_set():
        if not brain.tell(line):
            return
        if len(brain.warm) > sizes:
            sizes = len(brain.warm)
            gc.freeze()  # or the collector would walk through all that was loaded while a clock runs


def main() -> None:
    """The program `pbrain-tengen`, since Piskvork wants an engine to be called so: the same as `tengen gomocup`."""
    from tengen.apps.cli import main as run

    sys.argv[1:1] = ["gomocup"]
    run()
