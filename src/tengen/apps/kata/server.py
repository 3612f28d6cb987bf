"""The process of `tengen analysis`: queries come as lines, and answers go out as they are found.

A thread reads; workers take the most urgent turn of all queries, each with agents of its own. `terminate` ends what is
searched and drops what waits. At the end of the input everything that was asked is still answered.
"""

from __future__ import annotations

import heapq
import itertools
import json
import os
import sys
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tengen import __version__
from tengen.agents.agent import Agent, opinions_of
from tengen.agents.specs import load_agent
from tengen.agents.thinking import think
from tengen.apps.gtp.words import read_lines
from tengen.apps.kata.answers import Points, answer
from tengen.apps.kata.queries import AnalysisQuery, QueryError, read_object, read_query
from tengen.apps.stdio import end_when_nobody_hears, protocol_output
from tengen.rules.errors import TengenError
from tengen.rules.game import Game
from tengen.search.limits import Limit

Say = Callable[[dict[str, Any]], None]
MOST_AGENTS = 8  # that a worker keeps
SLICE = 1.0  # seconds of a search that nobody wants reports of
LONGEST_QUERY = 2**22  # characters


@dataclass(order=True)
class AnalysisJob:
    """A turn that is to be analysed; the most urgent is the smallest."""

    urgency: tuple[int, int]  # less is sooner
    query: AnalysisQuery = field(compare=False)
    turn: int = field(compare=False)
    stop: threading.Event = field(compare=False, default_factory=threading.Event)


class AnalysisServer:
    """The protocol without a process: lines go in, objects come out by `say`, from several threads at once."""

    def __init__(self, agent: str, say: Say, visits: int = 500, workers: int = 1):
        self.agent, self.visits, self.say = agent, visits, say
        self.waiting: list[AnalysisJob] = []
        self.running: list[AnalysisJob] = []
        self.number = itertools.count()
        self.change = threading.Condition()
        self.is_closed = False
        self.threads = [threading.Thread(target=self._work, daemon=True) for _ in range(max(workers, 1))]
        for thread in self.threads:
            thread.start()

    # What comes in.

    def hear(self, line: str) -> None:
        """A line of the protocol, which is answered now or later."""
        if not line.strip():
            return
        said: dict[str, Any] = {}
        try:
            said = read_object(line)
            if "action" in said:
                self._act(said)
            else:
                self._ask(said)
        except QueryError as reason:
            where = {"field": reason.field} if reason.field else {}
            named = {"id": said["id"]} if isinstance(said.get("id"), str) else {}
            self.say({**named, "error": str(reason), **where})
        except TengenError as reason:
            self.say({"id": said.get("id", ""), "error": str(reason), "field": "boardXSize"})
        except Exception as reason:
            traceback.print_exc(file=sys.stderr)
            self.say({"id": str(said.get("id", "")), "error": f"internal error: {reason}"})

    def _ask(self, said: dict[str, Any]) -> None:
        query = read_query(said, self.visits)
        for name, text in query.warnings:
            self.say({"id": query.name, "field": name, "warning": text})
        with self.change:
            for turn in query.positions:
                urgency = -query.priorities.get(turn, 0), next(self.number)
                heapq.heappush(self.waiting, AnalysisJob(urgency, query, turn))
            self.change.notify_all()

    def _act(self, said: dict[str, Any]) -> None:
        action = said["action"]
        if action == "query_version":
            self.say({**said, "version": __version__, "git_hash": f"tengen-{__version__}"})
        elif action == "query_models":
            model = {"name": self.agent, "internalName": self.agent, "maxBatchSize": 1, "version": 0}
            self.say({**said, "models": [model]})
        elif action == "clear_cache":
            self.say(said)
        elif action in ("terminate", "terminate_all"):
            self._terminate(said, is_all=action == "terminate_all")
        else:
            raise QueryError("action", "'action' field must be 'query_version', 'terminate' or another known one")

    def _terminate(self, said: dict[str, Any], is_all: bool) -> None:
        turns = said.get("turnNumbers")
        if not is_all and not isinstance(said.get("terminateId"), str):
            raise QueryError("terminateId", "Requests for a termination must have a string 'terminateId' field")
        if turns is not None and not (isinstance(turns, list) and all(type(turn) is int for turn in turns)):
            raise QueryError("turnNumbers", "Must be an array of integers")

        def is_meant(job: AnalysisJob) -> bool:
            is_named = is_all or job.query.name == said["terminateId"]
            return is_named and (turns is None or job.turn in turns)

        with self.change:
            dropped = [job for job in self.waiting if is_meant(job)]
            self.waiting = [job for job in self.waiting if not is_meant(job)]
            heapq.heapify(self.waiting)
            for job in self.running:
                if is_meant(job):
                    job.stop.set()
        self.say(said)
        for job in dropped:
            self.say(no_results(job))

    def close(self) -> None:
        """Nothing more will be asked; returns when all is answered."""
        with self.change:
            self.is_closed = True
            self.change.notify_all()
        for thread in self.threads:
            thread.join()

    # What goes on.

    def _work(self) -> None:
        agents: OrderedDict[Game, Agent] = OrderedDict()
        while (job := self._next()) is not None:
            try:
                self._analyse(job, agents)
            except Exception as reason:
                if not isinstance(reason, TengenError):
                    traceback.print_exc(file=sys.stderr)
                self.say({"id": job.query.name, "error": str(reason), "field": "moves"})
            finally:
                with self.change:
                    self.running.remove(job)

    def _next(self) -> AnalysisJob | None:
        """The most urgent job; waits for one, until there will be none."""
        with self.change:
            while not self.waiting:
                if self.is_closed:
                    return None
                self.change.wait()
            job = heapq.heappop(self.waiting)
            self.running.append(job)
            return job

    def _analyse(self, job: AnalysisJob, agents: OrderedDict[Game, Agent]) -> None:
        query, position = job.query, job.query.positions[job.turn]
        agent = self._agent(position.game, agents)
        points = Points(position)
        limit = Limit(nodes=query.visits, time=query.seconds)
        found: dict[str, Any] | None = None
        for decision in think(agent, position, query.every or SLICE, job.stop, limit):
            opinions = opinions_of(agent, decision)
            found = answer(query, job.turn, decision, opinions, points, is_final=False)
            if query.every is not None and not job.stop.is_set():
                self.say(found)
        self.say(no_results(job) if found is None else {**found, "isDuringSearch": False})

    def _agent(self, game: Game, agents: OrderedDict[Game, Agent]) -> Agent:
        """The worker's agent for a game; those not used for long are forgotten."""
        if game not in agents:
            agents[game] = load_agent(self.agent, game)
        agents.move_to_end(game)
        while len(agents) > MOST_AGENTS:
            agents.popitem(last=False)
        return agents[game]


def no_results(job: AnalysisJob) -> dict[str, Any]:
    """The response about a turn that was not analysed."""
    return {"id": job.query.name, "isDuringSearch": False, "noResults": True, "turnNumber": job.turn}


def serve_lines(server: AnalysisServer, lines: Iterable[str]) -> None:
    """Hears lines until there are no more, and returns when all is answered."""
    for line in lines:
        server.hear(line)
    server.close()


def run(agent: str, visits: int, workers: int) -> None:
    """The process: its standard output is for responses alone."""
    sink, lock = protocol_output(), threading.Lock()
    end_when_nobody_hears(sink)

    def say(said: dict[str, Any]) -> None:
        with lock:
            sink.write(json.dumps(said) + "\n")
            sink.flush()

    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    try:
        serve_lines(AnalysisServer(agent, say, visits, workers), read_lines(source, LONGEST_QUERY))
    except BrokenPipeError:
        os.dup2(sys.stdout.fileno(), sink.fileno())
