"""Games on all cores, each core a process: one that dies or hangs costs the player to move the game, nothing else.

A worker writes every move into memory that it shares with us, so the record of a game that it does not survive holds
the moves up to there.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Any

from tengen.agents.agent import Agent
from tengen.agents.specs import is_external, load_agent
from tengen.arena.match import play_game, reason_text
from tengen.games import load_game
from tengen.records.record import COLOURS, Record
from tengen.rules.errors import TengenError
from tengen.rules.game import Game, Position

MOST_PLIES = 4096  # that a journal holds
GRACE = 5.0  # seconds beyond the time for a move after which an agent is taken to hang
GLANCE = 1.0  # seconds between two looks at those who may hang

PLIES, SINCE = 0, 1  # where a journal says how many plies it holds, and when the last was played; the plies follow
NOT_BEGUN = -1.0  # in place of a number of plies


@dataclass(frozen=True)
class Pairing:
    """A game to be played."""

    number: int  # in its tournament
    game: str
    agents: tuple[str, str]  # specs: who moves first, who second
    names: tuple[str, str]
    opening: tuple[int, ...]
    seeds: tuple[int, int]
    move_time: float | None = None


def forfeit(pairing: Pairing, position: Position, loser: int, words: str, seconds: Sequence[float] = ()) -> Record:
    """The record of a game that ended where one player could not go on."""
    return Record.of(
        position,
        pairing.names,
        result=f"{COLOURS[1 - loser]}+F",
        ending=f"{pairing.names[loser]} {words}",
        opening=len(pairing.opening),
        seconds=tuple(seconds),
        date=date.today().isoformat(),
    )


def hanging(pairing: Pairing) -> str:
    return f"it did not answer within {pairing.move_time:g} s and is taken to hang"


class Bench:
    """The agents of one process. Our own are made anew for each game, so that it can be repeated; engines stay."""

    def __init__(self) -> None:
        self.engines: dict[tuple[str, str, int], Agent] = {}

    def seat(self, pairing: Pairing, game: Game, side: int) -> Agent:
        """The agent of one side."""
        spec = pairing.agents[side]
        if not is_external(spec):
            return load_agent(spec, game, threads=1, seed=pairing.seeds[side])
        key = spec, pairing.game, side
        if key not in self.engines:
            self.engines[key] = load_agent(spec, game)
        return self.engines[key]

    def play(self, pairing: Pairing, journal: Any = None) -> Record:
        """Plays a game. An agent that cannot be made has lost it."""
        if journal is not None:
            journal[PLIES] = 0
        game, agents = load_game(pairing.game), list[Agent]()
        for side in (0, 1):
            try:
                agents.append(self.seat(pairing, game, side))
            except Exception as reason:
                words = f"cannot begin: {reason_text(reason)}"
                return forfeit(pairing, game.from_actions(pairing.opening), side, words)

        def note(action: int, seconds: float) -> None:
            plies = int(journal[PLIES])
            if plies < MOST_PLIES:
                journal[2 + 2 * plies], journal[3 + 2 * plies] = action, seconds
                journal[PLIES] = plies + 1
            journal[SINCE] = monotonic()

        watch = note if journal is not None else lambda action, seconds: None
        if journal is not None:
            journal[SINCE] = monotonic()
        record = play_game(game, agents, pairing.opening, pairing.names, pairing.move_time, watch)
        if record.ending and not record.result.endswith("+R"):  # one that failed is not trusted with another game
            loser = COLOURS.index(record.result[0]) ^ 1
            self.engines.pop((pairing.agents[loser], pairing.game, loser), None)
        return record


def work(connection: Connection, journal: Any) -> None:
    """The loop of a worker process, until its pipe closes or it is told to end; then its engines end, too."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    threading.Thread(target=end_with_parent, daemon=True).start()
    bench = Bench()
    with suppress(EOFError, OSError):
        while True:
            connection.send(bench.play(connection.recv(), journal))


def end_with_parent() -> None:
    """Ends this process when the one that began it is gone, whatever it does; a guard then ends its engines."""
    if (parent := multiprocessing.parent_process()) is not None:
        wait([parent.sentinel])
        os._exit(1)


@dataclass
class Worker:
    """A process, the game it plays, and its journal."""

    pairing: Pairing | None = None
    process: Any = None
    connection: Any = None
    journal: Any = field(default=None, repr=False)

    def begin(self, pairing: Pairing) -> None:
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.connection, theirs = context.Pipe()
            self.journal = context.RawArray("d", 2 + 2 * MOST_PLIES)
            self.process = context.Process(target=work, args=(theirs, self.journal), daemon=True)
            self.process.start()
            theirs.close()
        self.pairing, self.journal[PLIES], self.journal[SINCE] = pairing, NOT_BEGUN, 0.0
        self.connection.send(pairing)

    def play(self, pairing: Pairing) -> Record:
        """Plays one game to its end, however it ends."""
        self.begin(pairing)
        while not wait([self.connection], GLANCE):
            if self.hangs():
                return self.fail(hanging(pairing))
        return self.finish()

    def finish(self) -> Record:
        """The record of the game that the worker has ended, or did not survive."""
        pairing = self.pairing
        assert pairing is not None
        try:
            record: Record = self.connection.recv()
        except (EOFError, OSError):
            self.process.join(GRACE)
            if self.journal[PLIES] == NOT_BEGUN:  # no agent's fault: a script without a main guard, too little memory
                raise TengenError(
                    f"a process for games could not begin (exit status {self.process.exitcode})"
                ) from None
            return self.fail(f"its process died (exit status {self.process.exitcode})")
        self.pairing = None
        return record

    def hangs(self) -> bool:
        """Whether the move now thought about takes too long."""
        since = self.journal[SINCE] if self.pairing is not None else 0.0
        if self.pairing is None or self.pairing.move_time is None or since == 0.0:
            return False
        return monotonic() - since > self.pairing.move_time + GRACE

    def fail(self, words: str) -> Record:
        """Ends the process; who was to move has lost."""
        pairing = self.pairing
        assert pairing is not None
        plies = int(self.journal[PLIES])
        moves = [int(self.journal[2 + 2 * i]) for i in range(plies)]
        seconds = [float(self.journal[3 + 2 * i]) for i in range(plies)]
        self.close()
        self.pairing = None
        position = load_game(pairing.game).from_actions([*pairing.opening, *moves])
        return forfeit(pairing, position, position.to_play, f"failed: {words}", seconds)

    def close(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.join(GRACE)
            self.process.kill()
            self.process.join()
            self.connection.close()
            self.process = None


def play_pairings(todo: Iterator[Pairing], workers: int | None = None) -> Iterator[tuple[Pairing, Record]]:
    """Plays games on as many cores as there are, and yields them as they end; `workers=0` plays in this process."""
    count = (os.cpu_count() or 1) if workers is None else workers
    if count == 0:
        bench = Bench()
        yield from ((pairing, bench.play(pairing)) for pairing in todo)
        return
    pool = [Worker() for _ in range(count)]
    try:
        for worker, pairing in zip(pool, todo, strict=False):
            worker.begin(pairing)
        while busy := [worker for worker in pool if worker.pairing is not None]:
            ready = wait([worker.connection for worker in busy], GLANCE)
            for worker in busy:
                played = worker.pairing
                assert played is not None
                if worker.connection in ready:
                    record = worker.finish()
                elif worker.hangs():
                    record = worker.fail(hanging(played))
                else:
                    continue
                if (following := next(todo, None)) is not None:
                    worker.begin(following)
                yield played, record
    finally:
        for worker in pool:
            worker.close()
