"""`tengen uci`: an engine for every chess GUI that speaks UCI.

`Talker` is the protocol: it is told lines and says lines, and a test needs no process for it. `serve` connects it to
stdin and stdout: one thread reads, so that `stop`, `ponderhit`, `isready` and `quit` are heard while the other thinks.

UCI never says that a game is drawn; a GUI may go on where our rules end it (the third repetition, fifty moves). Then
the game begins anew from that position.
"""

from __future__ import annotations

import math
import os
import queue
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import IO, Any

from tengen import __version__
from tengen.agents.agent import Agent
from tengen.agents.specs import load_agent, maker_of
from tengen.agents.thinking import keeps_its_tree, think
from tengen.apps.preparation import Preparation, at_first_sight
from tengen.apps.stdio import end_when_nobody_hears, is_written_ahead, protocol_output
from tengen.apps.uci_settings import FLAGS, BadUci, GoRequest, OfferedOptions, Order
from tengen.games import load_game
from tengen.rules.errors import BadParameter, TengenError
from tengen.rules.game import Game, Position
from tengen.rules.kernels import at_once
from tengen.search.alphabeta import AlphaBeta
from tengen.search.limits import Decision, Limit
from tengen.search.minimax import Minimax

LONGEST_LINE = 2**16  # bytes; a game of a thousand moves is shorter
PATIENCE = 1.0  # seconds that a search has to end after quit
A_GLANCE = 0.5  # seconds in which a move is found at first sight, whatever else this machine does
WARM_UP = 0.05  # seconds of thinking that need everything once
EVERY = 0.5  # seconds between two reports of a search that keeps its tree
SCALE = 200.0  # hundredths of a pawn that are a clear advantage, if the agent does not say
LONGEST_VARIATION = 24  # moves of a line
HIGHEST = 30_000  # hundredths of a pawn
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
PLIES = re.compile(r"\bin (\d+)$")  # how a decision's note ends that knows when the game does
START_FEN = "startpos"


class Ear:
    """Hears lines as they come: what cannot wait is done at once, the rest is for the thread that thinks."""

    def __init__(self, say: Callable[[str], None]):
        self.say, self.ended = say, threading.Event()
        self._lock = threading.Lock()
        self._orders: list[Order] = []  # those that have not been answered yet

    def hear(self, line: str) -> tuple[str, Order | None] | None:
        """The line for the thread that thinks, with the order if it is a `go`; None if nothing is left to do."""
        word, rest = command_of(line)
        with self._lock:
            if word in ("stop", "quit"):
                self._end(self._orders)
            if word in ("position", "ucinewgame", "go"):  # a GUI that forgets `stop` is not waited for
                self._end([order for order in self._orders if not order.released.is_set()])
            if word == "ponderhit":
                for order in self._orders:
                    order.hit()
            if word == "isready" and self._orders:
                self.say("readyok")
                return None
            if word == "go":
                self._orders.append(order := Order(GoRequest.read(rest.split())))
                return line, order
        if word == "quit":
            self.ended.set()
        return (line, None) if word not in ("stop", "ponderhit") else None

    @staticmethod
    def _end(orders: list[Order]) -> None:
        for order in orders:
            order.end()

    def answered(self, order: Order) -> None:
        """An order is done with."""
        with self._lock, suppress(ValueError):
            self._orders.remove(order)

    def end(self) -> None:
        """Nobody listens any more."""
        self.ended.set()
        with self._lock:
            self._end(self._orders)


class Talker:
    """A UCI engine: is told lines, says lines.

    What makes no sense is passed over, as the protocol wants, with an `info string`; every `go` is answered.
    """

    def __init__(self, agent: str, say: Callable[[str], None], game: str = "chess"):
        self.spec, self.say = agent, say
        self.game: Game = load_game(game)
        if self.game.uci_variant is None:
            raise BadParameter(f"UCI is for chess, not for {self.game.spec}; tengen gtp plays any game")
        self.options = OfferedOptions(agent)
        self.is_debugging = False
        self.position: Position | None = None  # None: the start
        self.warming: Preparation[Agent] | None = None  # the agent
        self.warmed_for: dict[str, Any] = {}  # the options that it is made with
        self.told: Decision | None = None  # of the search that goes on
        self.ear = Ear(say)

    def tell(self, line: str, order: Order | None = None) -> bool:
        """Takes a line, and answers it; False after `quit`."""
        word, rest = command_of(line)
        if word == "quit":
            return False
        try:
            if word == "go":
                self.go(order or written_ahead(rest))
            elif word:
                COMMANDS[word](self, rest)
        except TengenError as reason:
            self._tell_people(str(reason))
        except BrokenPipeError:
            raise
        except Exception as reason:  # a mistake of ours: the GUI hears of it, and may go on
            traceback.print_exc()
            self._tell_people(f"internal error: {type(reason).__name__}: {reason}")
        return True

    def _tell_people(self, text: str) -> None:
        self.say("info string " + " ".join(text.split()))

    # Commands.

    def uci(self, rest: str) -> None:
        self.say(f"id name Tengen {__version__} {self.spec}")
        self.say("id author the Tengen authors")
        for offer in self.options.offers:
            self.say(offer.line())
        self.say("uciok")
        self._prepare()

    def debug(self, rest: str) -> None:
        self.is_debugging = rest.strip() != "off"

    def is_ready(self, rest: str) -> None:
        """All is loaded before the answer, for a clock may run afterwards; only a compiler is not waited for."""
        warming = self._prepare()
        self.say_after(warming.begin, "readyok")

    def say_after(self, wait: Callable[[], None], text: str) -> None:
        """Says something after something, even if that fails."""
        try:
            wait()
        finally:
            self.say(text)

    def set_option(self, rest: str) -> None:
        if self.options.set(rest) == "Clear Hash":
            self._forget()

    def new_game(self, rest: str) -> None:
        self.position = None
        self._forget()

    def ignore(self, rest: str) -> None:
        """There is nothing to do: the thread that listens has done it."""

    @at_once()
    def set_position(self, rest: str) -> None:
        """Sets up a position. Of moves that cannot be played the first ends the line."""
        head, _, moves = re.sub(r"\s+", " ", f" {rest} ").partition(" moves ")
        words = head.split()
        if words[:1] == [START_FEN]:
            position = self.game.start()
        elif words[:1] == ["fen"]:
            position = self.game.from_board(" ".join(words[1:7]))
        else:
            raise BadUci("position needs startpos or fen: position startpos moves e2e4")
        self.position = position
        for played, word in enumerate(moves.split()):
            try:
                position = going_on(position)
                position = position.play(position.read_uci(word))
            except TengenError as reason:
                raise BadUci(f"after {played} moves: {reason}") from None
            finally:
                self.position = position

    def show(self, rest: str) -> None:
        """The board, for people."""
        with at_once():
            position = self.position or self.game.start()
            for line in [*str(position).splitlines(), f"Fen: {position.diagram()}"]:
                self.say(line)

    # The agent.

    def _prepare(self) -> Preparation[Agent]:
        """The agent, with all that is compiled or loaded on first use: begun now, unless it is there.

        One at a time has its tables in memory: what was begun with other options is not there before it is done.
        """
        options = self.options.for_agent()
        if self.warming is None or (self.warming.is_done and self.warmed_for != options):
            self.warmed_for = options
            self.warming = Preparation(lambda: warm(load_agent(self.spec, self.game, **options)))
        return self.warming

    @property
    def is_warming(self) -> bool:
        return self.warming is not None and not self.warming.is_done

    def _forget(self) -> None:
        """What was learned in another game is forgotten."""
        if self.warming is not None and self.warming.is_done:
            with suppress(TengenError):
                forget = getattr(getattr(self.warming.result(), "search", None), "forget", None)
                if forget is not None:
                    forget()

    # Searches.

    def go(self, order: Order) -> None:
        """Thinks, and answers with a move whatever happens."""
        decision, position = None, None
        try:
            with at_once():
                position = going_on(self.position or self.game.start())
            decision = self._think(position, order)
        except TengenError as reason:
            self._tell_people(str(reason))
        except Exception as reason:
            traceback.print_exc()
            self._tell_people(f"internal error: {type(reason).__name__}: {reason}")
        finally:
            order.released.wait()
            self.ear.answered(order)
            self.say(self._answer(position, decision))

    def _think(self, position: Position, order: Order) -> Decision | None:
        """What the agent chooses, told step by step; None if there is nothing to choose."""
        began = perf_counter()
        if order.request.ignored:
            self._tell_people(f"go: {' '.join(order.request.ignored)[:80]} is ignored")
        if position.outcome is not None:
            score = "cp 0" if position.outcome.winner is None else "mate 0"
            self.say(f"info depth 0 score {score}")
            return None
        warming, seconds = self._prepare(), order.request.seconds(position, self.options.late)
        wait = None if seconds is None or order.request.is_endless else max(seconds - A_GLANCE, 0.0)
        if not is_done_in_time(warming, wait, order.stop):
            return self._first_sight(position)
        agent = self._prepare().result()  # by options that were set meanwhile
        can_look_deep = isinstance(getattr(agent, "search", None), AlphaBeta | Minimax)
        limit = order.limit(position, self.options.late, can_look_deep)
        if limit.time is not None and limit.time > WARM_UP:
            limit = replace(limit, time=max(limit.time - (perf_counter() - began), WARM_UP))
        if self.is_debugging:
            self._tell_people(f"limit {limit.given}")
        last, self.told = None, None
        for last in self._decisions(agent, position, limit, order):
            self._inform(position, last, agent)
        if last is not None and last.note:
            self._tell_people(last.note)
        return last

    def _inform(self, position: Position, decision: Decision, agent: Agent) -> None:
        """Tells of a decision, unless it is what was told last."""
        if self.told is None or (decision.depth, decision.nodes) != (self.told.depth, self.told.nodes):
            self.say(info_line(position, decision, scale_of(agent)))
        self.told = decision

    def _decisions(self, agent: Agent, position: Position, limit: Limit, order: Order) -> Iterator[Decision]:
        """An agent's decisions, each better than the one before; alpha-beta's at every depth."""
        search = getattr(agent, "search", None)
        limit = limit.or_else(getattr(agent, "limit", limit))
        if isinstance(search, AlphaBeta):
            search.report = lambda decision: self._inform(position, decision, agent)
            try:
                yield search.search(position, limit, self._barred(position, order.request))
            finally:
                search.report = None
            return
        if order.request.moves:
            self._tell_people(f"searchmoves is ignored: {agent.name} looks at all moves")
        if keeps_its_tree(agent) and limit.given:
            yield from think(agent, position, EVERY, order.stop, limit)
        else:
            yield agent.choose(position, limit)

    def _barred(self, position: Position, request: GoRequest) -> list[int]:
        """The moves that are left out where a search is confined to some."""
        wanted = set()
        for word in request.moves:
            try:
                wanted.add(position.read_uci(word))
            except TengenError as reason:
                self._tell_people(f"searchmoves: {reason}")
        return [action for action in position.legal_actions if action not in wanted] if wanted else []

    @at_once()
    def _first_sight(self, position: Position) -> Decision:
        self._tell_people("the search is being compiled: this move is played at first sight")
        return Decision(at_first_sight(position))

    @at_once()
    def _answer(self, position: Position | None, decision: Decision | None) -> str:
        """The line with the move, and with the one that is expected then."""
        if position is None or position.outcome is not None:
            return "bestmove (none)"
        if decision is None or decision.action not in position.legal_actions:
            decision = Decision(at_first_sight(position))
        words = ["bestmove", position.uci_text(decision.action)]
        expected = decision.principal_variation[1:2] if decision.principal_variation[:1] == (decision.action,) else ()
        after = position.play(decision.action)
        if expected and expected[0] in after.legal_actions:
            words += ["ponder", after.uci_text(expected[0])]
        return " ".join(words)


COMMANDS: dict[str, Callable[[Talker, str], None]] = {
    "uci": Talker.uci,
    "debug": Talker.debug,
    "isready": Talker.is_ready,
    "setoption": Talker.set_option,
    "register": Talker.ignore,
    "ucinewgame": Talker.new_game,
    "position": Talker.set_position,
    "stop": Talker.ignore,
    "ponderhit": Talker.ignore,
    "d": Talker.show,
}
KNOWN = {*COMMANDS, "go", "quit"}


def command_of(line: str) -> tuple[str, str]:
    """The command of a line and what follows it; unknown words before it are passed over. Empty if there is none."""
    rest = CONTROL.sub("", line).strip()
    while rest:
        word, _, rest = rest.replace("\t", " ").partition(" ")
        rest = rest.strip()
        if word in KNOWN:
            return word, rest
    return "", ""


def written_ahead(rest: str) -> Order:
    """The order of a `go` that nobody will end, since all lines were there from the beginning."""
    order = Order(GoRequest.read([word for word in rest.split() if word not in FLAGS]))
    order.released.set()
    return order


def going_on(position: Position) -> Position:
    """The position, or where our rules have drawn it though moves are left, the same one without its history."""
    if position.outcome is None or position.outcome.winner is not None:
        return position
    rows, player, *facts = position.diagram().split()
    return position.game.from_board(" ".join([rows, player, *facts[:2], "0", *facts[3:]]))


def is_done_in_time(warming: Preparation[Agent], seconds: float | None, stop: threading.Event) -> bool:
    """Whether the agent is there in time for a move, and before the move is asked for."""
    end = math.inf if seconds is None else perf_counter() + seconds
    while not warming.is_done and perf_counter() < end and not stop.is_set():
        warming.is_done_within(min(0.02, max(end - perf_counter(), 0.0)))
    return warming.is_done


def warm(agent: Agent) -> Agent:
    """Thinks a moment, so that whatever is compiled or loaded on first use is there when a clock runs."""
    game: Game = agent.game  # type: ignore[attr-defined]
    position = game.start()
    game.from_board(position.diagram())
    for _ in range(2):
        position = position.play(agent.choose(position, Limit(time=WARM_UP)).action)
    return agent


def scale_of(agent: Agent) -> float:
    """What score is a clear advantage to an agent."""
    return float(getattr(getattr(getattr(agent, "search", None), "evaluation", None), "scale", SCALE))


def info_line(position: Position, decision: Decision, scale: float) -> str:
    """What a decision says, as UCI has it."""
    milliseconds = round(1000 * decision.seconds)
    words = ["info", "depth", str(max(decision.depth, 1)), "multipv", "1"]
    if decision.value is not None:
        words += ["score", score_text(decision.value, decision.note, scale)]
    words += ["nodes", str(decision.nodes), "nps", str(round(decision.nodes / max(decision.seconds, 1e-3)))]
    words += ["time", str(milliseconds), "pv", *line_texts(position, decision)]
    return " ".join(words)


def score_text(value: float, note: str, scale: float) -> str:
    """A value as hundredths of a pawn, or as moves to mate if the note says how many plies the game has left."""
    if abs(value) >= 1 and (match := PLIES.search(note)):
        moves = (int(match[1]) + 1) // 2
        return f"mate {moves if value > 0 else -moves}"
    score = (
        scale * math.atanh(max(-1.0, min(value / 0.999, 1.0))) if abs(value) < 0.999 else math.copysign(HIGHEST, value)
    )
    return f"cp {round(max(-HIGHEST, min(score, HIGHEST)))}"


def line_texts(position: Position, decision: Decision) -> list[str]:
    """The moves that are expected, as far as they can be played."""
    texts = []
    for action in (decision.principal_variation or (decision.action,))[:LONGEST_VARIATION]:
        if action not in position.legal_actions:
            break
        texts.append(position.uci_text(action))
        position = position.play(action)
    return texts


# The process.


def listen(
    source: IO[bytes], lines: queue.SimpleQueue[tuple[str, Order | None] | None], ear: Ear, is_ahead: bool = False
) -> None:
    """Reads to `quit` or to the end of the input, for the thread that thinks. The rest of too long a line is lost.

    Lines that were written ahead, in a file, stop no search that comes before them.
    """
    is_whole = True
    while raw := source.readline(LONGEST_LINE):
        is_new, is_whole = is_whole, raw.endswith(b"\n")
        if not is_new:
            continue
        line = raw.decode(errors="replace")
        if is_ahead:
            lines.put((line, None))
        elif (heard := ear.hear(line)) is not None:
            lines.put(heard)
        if ear.ended.is_set():
            break
    if not is_ahead:
        ear.end()
        end = threading.Timer(PATIENCE, os._exit, (0,))  # a compiler cannot be stopped
        end.daemon = True
        end.start()
    lines.put(None)


def serve(agent: str) -> None:
    """Answers commands from stdin on stdout, until `quit`."""
    maker_of(agent)  # a wrong name is told now
    lines: queue.SimpleQueue[tuple[str, Order | None] | None] = queue.SimpleQueue()
    output = protocol_output()
    end_when_nobody_hears(output)
    saying = threading.Lock()  # both threads say something

    def say(line: str) -> None:
        with saying:
            print(line, file=output, flush=True)

    talker = Talker(agent, say)
    source = sys.stdin.buffer
    arguments = source, lines, talker.ear, is_written_ahead(source)
    threading.Thread(target=listen, args=arguments, daemon=True).start()
    try:
        while (heard := lines.get()) is not None and talker.tell(*heard):
            pass
        if talker.is_warming:
            os._exit(0)  # a compiler cannot be stopped
    except BrokenPipeError:
        os._exit(0)  # nobody listens any more, and the thread that reads cannot be woken
