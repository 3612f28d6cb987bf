"""The WebSocket of a page: messages in, searches run, thoughts out.

The page holds the game; a message names the whole position. All that is kept for a page is the line of moves it asked
about last, so that one more move is not played from the start again, and the agents that it asked, because their trees
make them stronger. What is not asked for some minutes is forgotten.

A search runs in a thread. Only so many run at once; the others wait in turn, and one that goes on for long lets those
go first that wait. It stops when it is told to, when its page asks for another in the same slot, and when its page is
gone. Nothing that a page says ends the conversation: what is wrong is answered by an error, and the game goes on.

    page: {"id", "type": "think", "game", "moves", "agent", "limit": {"time", …}, "every", "analyse", "view", "slot"}
          {"id", "type": "stop", "of": id} · {"id", "type": "position", "game", "moves"}
    server, with the message's id: "thought"s and then a "move" with the "view" after it, or after an analysis "done" ·
          "view" · "error" · "waiting" while others think · "note" with words for the person, such as that a game is
          being compiled

With `view` the answer to a `think` begins with a "position", its "view". So a person's move is one message: its answer
shows the position, and goes on to what the agent thinks and plays; where the game is over it ends with "done".
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect

from tengen.agents.agent import Agent, check_goes_on
from tengen.agents.passing import pass_in_time
from tengen.apps.web.ahead import first_view
from tengen.apps.web.levels import level_of, spec_of
from tengen.apps.web.messages import BadMessage, Look, Stop, Think, id_of, read_message, read_object
from tengen.apps.web.security import Bucket, client_of
from tengen.apps.web.settings import CORES, ServerSettings
from tengen.apps.web.thinking import Cells, Result, aloud, decisions, limit_for, player, ready_agent, thought_of
from tengen.apps.web.views import MoveLine, Place, cells_of
from tengen.rules.errors import BadParameter, TengenError
from tengen.rules.game import Position
from tengen.search.limits import Decision, Limit

A_MOMENT = Limit(time=0.05)  # in which a move is found by a search that was stopped before it began
MOST_QUESTIONS = 16  # messages of a page that are worked on at once
PATIENCE = 10.0  # seconds in which a page takes a message; otherwise it is gone
TRY_LATER = 1013  # why a socket is closed, in the registry of RFC 6455

log = logging.getLogger(__name__)
router = APIRouter()

Answer = dict[str, Any]


@router.websocket("/api/socket")
async def converse(websocket: WebSocket) -> None:
    """A page's conversation, from its opening to its end."""
    await websocket.app.state.pages.welcome(websocket)


class Places:
    """So many searches at once. Of those that wait, one of the client is next who has the fewest: the first of them."""

    def __init__(self, count: int):
        self.free = count
        self.searches: Counter[str] = Counter()  # that run, by client
        self.waiting: list[tuple[str, asyncio.Future[None]]] = []

    @property
    def taken(self) -> int:
        return self.searches.total()

    async def take(self, client: str) -> None:
        """Returns when there is a place, which is then taken."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((client, turn))
        self._call()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._call()
            else:
                self.leave(client)  # it was called in the same moment
            raise

    def leave(self, client: str) -> None:
        """Gives a place back."""
        self.searches[client] -= 1
        self.searches += Counter()  # forgets clients at zero
        self.free += 1
        self._call()

    def _call(self) -> None:
        self.waiting = [waiter for waiter in self.waiting if not waiter[1].done()]  # some have given up
        if self.free and self.waiting:
            chosen = min(self.waiting, key=lambda waiter: self.searches[waiter[0]])
            self.waiting.remove(chosen)
            self.free -= 1
            self.searches[chosen[0]] += 1
            chosen[1].set_result(None)


class Pages:
    """All pages that are open, and what they share."""

    def __init__(self, settings: ServerSettings):
        self.settings, self.places = settings, Places(settings.searches)
        self.pool = ThreadPoolExecutor(settings.searches, thread_name_prefix="search")
        self.pages: set[Page] = set()
        self.clients: Counter[str] = Counter()

    @property
    def agents(self) -> int:
        """How many agents are kept, of all pages."""
        return sum(len(page.agents) for page in self.pages)

    def make_room(self) -> None:
        """Forgets agents, those first that were not asked for longest, until no more are kept than we have memory for.

        One that thinks is not forgotten; of these there are few.
        """
        excess = self.agents - self.settings.all_agents
        if excess > 0:
            idle = sorted(kept.used for page in self.pages for kept in page.agents.values() if not kept.is_busy)
            before = idle[excess] if excess < len(idle) else math.inf
            for page in self.pages:
                page.forget(before)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """As long as this lasts, idle agents are forgotten; at its end all searches stop."""
        sweeper = asyncio.create_task(self._sweep())
        try:
            yield
        finally:
            sweeper.cancel()
            for page in list(self.pages):
                page.leave()
            self.pool.shutdown(wait=False, cancel_futures=True)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(self.settings.idle / 4)
            for page in self.pages:
                page.forget(time.monotonic() - self.settings.idle)

    async def welcome(self, websocket: WebSocket) -> None:
        """Talks with a page until it is gone."""
        client = client_of(websocket.scope)
        await websocket.accept()
        if len(self.pages) >= self.settings.pages or self.clients[client] >= self.settings.pages_of_client:
            reason = f"{len(self.pages)} pages are open here, which is all there is room for; close one"
            await websocket.send_text(json.dumps({"id": None, "type": "error", "error": reason}))
            return await websocket.close(TRY_LATER)
        page = Page(websocket, self, client)
        self.pages.add(page)
        self.clients[client] += 1
        try:
            await first_of(page.talk(), page.gone.wait())
        finally:
            page.leave()
            self.pages.discard(page)
            self.clients[client] -= 1
            self.clients += Counter()  # forgets those at zero


async def first_of(*works: Coroutine[Any, Any, Any]) -> None:
    """Returns when one of these has ended, and ends the others."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
    for task in ended:
        task.result()  # raises what was raised


@dataclass(eq=False)
class KeptAgent:
    """An agent that a page asked, with when; it is made when it is first needed."""

    agent: Agent | None = None
    used: float = 0.0
    is_busy: bool = False


class Page:
    """A page that is open: its searches by slot, and the agents it asked."""

    def __init__(self, websocket: WebSocket, pages: Pages, client: str):
        self.websocket, self.pages, self.settings, self.client = websocket, pages, pages.settings, client
        self.searches: dict[int, ThinkRequest] = {}
        self.agents: dict[tuple[Any, ...], KeptAgent] = {}  # the one asked last is the last
        self.line = MoveLine()
        self.tasks: set[asyncio.Task[None]] = set()
        self.rate = Bucket(self.settings.messages, self.settings.burst, time.monotonic())
        self.gone, self.sending = asyncio.Event(), asyncio.Lock()

    async def talk(self) -> None:
        """Hears messages until the page is gone."""
        while True:
            message = await self.websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            content = message.get("text") or message.get("bytes") or ""
            await self.receive(content)

    def leave(self) -> None:
        """The page is gone, and nothing goes on for it."""
        self.gone.set()
        for search in self.searches.values():
            search.drop()
        self.agents.clear()

    async def receive(self, content: str | bytes) -> None:
        """Acts on a message, or says what is wrong with it."""
        id_: str | int | None = None
        try:
            if len(content) > self.settings.longest_message:
                raise BadMessage(f"the message is too long; up to {self.settings.longest_message:,} bytes are read")
            found = read_object(content)
            id_ = id_of(found)
            if not self.rate.take(time.monotonic()):
                raise BadMessage(f"more than {self.settings.messages:g} messages a second; wait a moment")
            if len(self.tasks) >= MOST_QUESTIONS:
                raise BadMessage(f"{MOST_QUESTIONS} messages are being worked on; wait for an answer")
            await self.act(read_message(found))
        except TengenError as reason:
            await self.send({"id": id_, "type": "error", "error": str(reason)})

    async def act(self, message: Think | Stop | Look) -> None:
        if isinstance(message, Think):
            self.think(message)
        elif isinstance(message, Look):
            self.begin(self.look(message))
        else:
            for search in self.searches.values():
                if search.question.id == message.of:
                    search.stop.set()
            await self.send({"id": message.id, "type": "done"})

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Goes on with some work while other messages are heard."""
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def think(self, question: Think) -> None:
        if question.slot >= self.settings.slots:
            raise BadParameter(f"slot {question.slot}: a page has the slots 0 to {self.settings.slots - 1}")
        before = self.searches.get(question.slot)
        if before is not None:
            before.drop()
        search = self.searches[question.slot] = ThinkRequest(self, question, before)
        self.begin(search.run())

    async def look(self, message: Look) -> None:
        """Answers with a view of a position."""
        try:
            view = await self.work(message.id, lambda: self.view(message))
            await self.send({"id": message.id, "type": "view", **view})
        except TengenError as reason:
            await self.send({"id": message.id, "type": "error", "error": str(reason)})

    def view(self, place: Place, *moves: str) -> Answer:
        """The view of a place that a message names, or after some moves more."""
        return first_view(self.line.position(place.game, [*place.moves, *moves])).model_dump()

    async def work(self, id_: str | int, work: Callable[[], Result], pool: ThreadPoolExecutor | None = None) -> Result:
        """What a function returns that runs in a thread; the page is told what it compiles."""
        loop = asyncio.get_running_loop()

        def note(text: str) -> None:
            self.begin(self.send({"id": id_, "type": "note", "note": text}))

        def say(text: str) -> None:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(note, text)

        return await loop.run_in_executor(pool, copy_context().run, aloud, say, work)

    async def send(self, answer: Answer) -> None:
        """Sends an answer; to a page that is gone, nothing. One that does not listen is gone."""
        text = json.dumps(answer, allow_nan=False)
        async with self.sending:
            if self.gone.is_set():
                return
            try:
                await asyncio.wait_for(self.websocket.send_text(text), PATIENCE)
            except (TimeoutError, RuntimeError, OSError, WebSocketDisconnect):
                self.leave()

    # Agents.

    @contextmanager
    def kept(self, key: tuple[Any, ...]) -> Iterator[KeptAgent]:
        """The agent of a key as it was left; those not asked for longest make room for it."""
        found = self.agents.pop(key, None) or KeptAgent()
        self.agents[key] = found
        found.is_busy = True
        idle = [key for key, kept in self.agents.items() if not kept.is_busy]
        for key in idle[: max(0, len(self.agents) - self.settings.agents)]:
            del self.agents[key]
        self.pages.make_room()
        try:
            yield found
        finally:
            found.is_busy, found.used = False, time.monotonic()
            if self.gone.is_set() or found.agent is None:
                self.agents = {key: kept for key, kept in self.agents.items() if kept is not found}

    def forget(self, before: float) -> None:
        """Forgets what was last asked before a time: agents, and the line of moves."""
        if self.line.used < before:
            self.line = MoveLine()
        self.agents = {key: kept for key, kept in self.agents.items() if kept.is_busy or kept.used >= before}


@dataclass(eq=False)
class ThinkRequest:
    """One `think` of a page, from its message to its last answer."""

    page: Page
    question: Think
    before: ThinkRequest | None  # in the same slot: the two may share an agent, so it must end first
    stop: threading.Event = field(default_factory=threading.Event)
    is_dropped: bool = False  # nobody waits for its move any more
    cells: Cells | None = None  # of the position, if its view was told
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def drop(self) -> None:
        self.is_dropped = True
        self.stop.set()

    async def run(self) -> None:
        """Thinks and answers, whatever happens."""
        try:
            answer = await self.answer()
        except TengenError as reason:
            answer = {"type": "error", "error": str(reason)}
        except MemoryError:
            answer = {"type": "error", "error": "there is not enough memory for this search now; try a smaller one"}
        except Exception:
            log.exception("a search failed")
            answer = {"type": "error", "error": "this search failed, and the server's log says why; try another agent"}
        finally:
            self.before = None
            self.ended.set()
            if self.page.searches.get(self.question.slot) is self:
                del self.page.searches[self.question.slot]
        await self.tell(answer)

    async def tell(self, answer: Answer) -> None:
        await self.page.send({"id": self.question.id, **answer})

    async def work(self, work: Callable[[], Result]) -> Result:
        """What a function returns that runs where searches do."""
        return await self.page.work(self.question.id, work, self.page.pages.pool)

    async def answer(self) -> Answer:
        """The answer that ends this; the position and thoughts are told on the way."""
        if self.question.view and not await self.show():
            return {"type": "done"}
        if self.before is not None:
            await self.before.ended.wait()
        if self.is_dropped:
            return {"type": "done"}
        position, spec, is_timed = await self.page.work(self.question.id, self.understand)
        places, client = self.page.pages.places, self.page.client
        if not places.free:
            await self.tell({"type": "waiting"})
        await places.take(client)
        try:
            thought = {} if self.is_dropped else await self.think(position, spec, is_timed)
        finally:
            places.leave(client)
        if self.question.analyse or self.is_dropped:
            return {"type": "done"}
        view = await self.page.work(self.question.id, lambda: self.page.view(self.question, thought["move"]))
        return {"type": "move", **thought, "view": view}

    async def show(self) -> bool:
        """Tells the position that is asked about; returns whether its game goes on."""
        view = await self.page.work(self.question.id, lambda: self.page.view(self.question))
        await self.tell({"type": "position", "view": view})
        self.cells = view["cells"]
        return view["outcome"] is None

    def understand(self) -> tuple[Position, str, bool]:
        """What is asked: the position, the agent's spec, and whether time makes that agent stronger."""
        question = self.question
        position = self.page.line.position(question.game, question.moves)
        check_goes_on(position)
        level = level_of(question.agent, position.game)
        spec = spec_of(question.agent, position.game, self.page.settings)
        return position, spec, level is None or level.is_timed

    async def think(self, position: Position, spec: str, is_timed: bool) -> Answer:
        """The last thought, with its move; every thought is told."""
        question, settings, game = self.question, self.page.settings, position.game
        threads = CORES if question.analyse or "time=" in spec else 1
        with self.page.kept((question.slot, spec, game.spec, threads)) as kept:
            if kept.agent is None:
                make = ready_agent if question.analyse else player
                kept.agent = await self.work(lambda: make(spec, game, settings, threads))
            agent = kept.agent
            limit = limit_for(question, agent, is_timed, settings)
            every = question.every if is_timed or question.analyse else settings.longest
            steps = decisions(agent, position, every, self.stop, limit)
            return await self.follow(position, agent, steps)

    async def follow(self, position: Position, agent: Agent, steps: Iterator[Decision]) -> Answer:
        """Tells each thought, and lets others go first from time to time."""
        cells = await self.work(lambda: cells_of(position)) if self.cells is None else self.cells
        places, began = self.page.pages.places, time.monotonic()
        found: Answer = {}
        last: Decision | None = None

        def chosen(decision: Decision) -> Answer:
            move = position.game.action_text(decision.action)
            return {"move": move, "cell": cells.get(move)}

        def next_thought(decision: Decision | None = None) -> Answer | None:
            nonlocal last
            decision = decision or next(steps, None)
            if decision is None:
                return None
            last = decision
            return {**chosen(decision), **thought_of(position, agent, decision, cells)}

        while not self.is_dropped and (thought := await self.work(next_thought)) is not None:
            found = thought
            await self.tell({"type": "thought", **found})
            if places.waiting and time.monotonic() - began > self.page.settings.turn:
                places.leave(self.page.client)
                await places.take(self.page.client)
                began = time.monotonic()
        if not found and not self.is_dropped:
            found = await self.work(lambda: next_thought(agent.choose(position, A_MOMENT)) or {})
        if last is not None and not (self.question.analyse or self.is_dropped):
            found |= chosen(await self.work(lambda: pass_in_time(position, agent, last)))
        return found
