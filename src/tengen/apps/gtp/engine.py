"""Our agents as an engine that speaks the Go Text Protocol, version 2: `tengen gtp GAME AGENT`.

`Engine` is the protocol without a process: a line goes in, its reply comes out in pieces. `serve` is the process: a
thread reads lines, so that the next one ends an analysis or a pondering at once, `quit` and the end of the input end
any search, and nothing but replies is written.

The first player is Black. In Reversi a pass is never sent: who moves out of turn, where the other must pass, does so
after that pass. In Go all stones on the board count as alive, so what is dead is captured before the game ends.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import IO

import tengen.apps.gtp.commands  # noqa: F401 — it fills COMMANDS
from tengen.apps.gtp.conversation import NEVER, Conversation, Resignation
from tengen.apps.gtp.words import COMMANDS, GtpError, read_line, read_lines, reply
from tengen.apps.stdio import end_when_nobody_hears, is_written_ahead, protocol_output
from tengen.games import load_game
from tengen.rules.errors import TengenError


class Engine(Conversation):
    """Every line has one proper reply, whatever it says."""

    def answer(self, line: str) -> str:
        """The whole reply to a line; empty if the line says nothing."""
        return "".join(self.replies(line))

    def replies(self, line: str) -> Iterator[str]:
        """The reply to a line, piece by piece."""
        if (words := read_line(line)) is None:
            return
        number, name, arguments = words
        try:
            if name not in COMMANDS:
                raise GtpError("unknown command" if name else "syntax error: a command must follow the id")
            said = COMMANDS[name](self, arguments)
        except TengenError as reason:
            yield reply("?", number, str(reason))
        except Exception as reason:
            traceback.print_exc(file=sys.stderr)
            yield reply("?", number, f"internal error: {type(reason).__name__}: {reason}")
        else:
            if isinstance(said, str):
                yield reply("=", number, said)
            else:
                yield f"={number}\n"
                yield from told(said)
                yield "\n"


def told(lines: Iterator[str]) -> Iterator[str]:
    """Lines as they come. A failure ends them: it is too late for a question mark."""
    try:
        for line in lines:
            yield f"{line}\n"
    except Exception:
        traceback.print_exc(file=sys.stderr)


def serve(engine: Engine, source: IO[bytes], sink: IO[str], is_ahead: bool = False) -> None:
    """Answers lines until `quit`, or until there are no more; that ends a search, unless lines come ahead of time."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    lock = threading.Lock()  # a line and its interrupt come together

    def take(line: str | None) -> None:
        with lock:
            lines.put(line)
            engine.interrupt.set()

    def listen() -> None:
        for line in read_lines(source):
            if is_quit(line) and not is_ahead:
                engine.end.set()
            take(line)
        if not is_ahead:
            engine.end.set()
        take(None)

    def await_silence() -> None:
        """Nothing interrupts, unless a line is waiting."""
        with lock:
            engine.interrupt.clear()
            if not lines.empty():
                engine.interrupt.set()

    threading.Thread(target=listen, daemon=True).start()
    while not engine.is_done:
        await_silence()
        engine.ponder()
        if (line := lines.get()) is None:
            return
        await_silence()
        for piece in engine.replies(line):
            sink.write(piece)
            sink.flush()


def is_quit(line: str) -> bool:
    """Whether this line will end the conversation."""
    words = read_line(line)
    return words is not None and words[1:] == ("quit", [])


def run(game: str, agent: str, resign: float | None, resign_moves: int, ponders: bool) -> None:
    """The process: its standard output is for replies alone, and whatever else is printed goes to standard error."""
    sink = protocol_output()
    end_when_nobody_hears(sink)
    engine = Engine(load_game(game), agent, NEVER if resign is None else Resignation(resign, resign_moves), ponders)
    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb")  # its own lock: the thread that reads outlives us
    try:
        serve(engine, source, sink, is_written_ahead(source))
    except BrokenPipeError:  # the controller is gone; what could not be written is not tried again at the end
        os.dup2(sys.stdout.fileno(), sink.fileno())
    if not engine.session.is_ready:
        os._exit(0)  # a compiler cannot be stopped
