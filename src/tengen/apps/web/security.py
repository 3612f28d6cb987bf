"""What stands between the network and us: who may ask, how much, how often, and what a browser may do with the answer.

The server has no accounts. It listens on this machine alone unless told otherwise, and then asks for a secret (see
access.py). Other people's web pages must not reach it through a visitor's browser:

- `Host` must be a name of ours. A page that points its own name at our address (DNS rebinding) still sends its name.
- `Origin`, which a browser sends with whatever can change something, must be the page we served.

Everything is bounded: bodies in bytes and in the time they take, requests a second and at once for each client, and
the pages that are open. Whoever sends slowly, or takes an answer slowly, holds up nobody: a request has one of its
client's turns only while its answer is worked out.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tengen.apps.web.settings import ServerSettings, is_loopback
from tengen.apps.web.visitors import client_name, forwarded, is_address

MOST_CLIENTS = 10_000  # whose rates are remembered
HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
NOT_KEPT = {"cache-control": "no-store"}  # of what changes, or is for one visitor alone


class Bucket:
    """Lets `rate` things a second through over time, and at once what `burst` seconds would bring."""

    def __init__(self, rate: float, burst: float, now: float):
        self.rate, self.most = rate, rate * burst
        self.level, self.at = self.most, now

    def take(self, now: float) -> bool:
        """Whether one more may pass."""
        self.level = min(self.most, self.level + (now - self.at) * self.rate)
        self.at = now
        if self.level < 1:
            return False
        self.level -= 1
        return True


class Rates:
    """A bucket for each client; those that were not seen for longest are forgotten first."""

    def __init__(self, rate: float, burst: float):
        self.rate, self.burst = rate, burst
        self.buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, client: str) -> bool:
        """Whether one more request of the client may pass."""
        now = time.monotonic()
        bucket = self.buckets.pop(client, None) or Bucket(self.rate, self.burst, now)
        self.buckets[client] = bucket
        if len(self.buckets) > MOST_CLIENTS:
            self.buckets.popitem(last=False)
        return bucket.take(now)


class Turns:
    """Lets so many requests of one client in at once; the others wait outside, where they hold no thread."""

    def __init__(self, most: int):
        self.most = most
        self.clients: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()  # those who ask now

    def of(self, client: str) -> asyncio.Semaphore:
        """What a request of the client holds while it is answered."""
        turn = self.clients.get(client) or asyncio.Semaphore(self.most)
        self.clients[client] = turn
        return turn


class Readings:
    """The requests of each client whose bodies are still coming. One too many, and the oldest of them is given up.

    So whoever sends slowly makes room for those who do not.
    """

    def __init__(self, most: int, longest: float):
        self.most, self.longest = most, longest
        self.clients: dict[str, list[asyncio.Timeout]] = {}

    @asynccontextmanager
    async def of(self, client: str) -> AsyncIterator[None]:
        """As long as a body is read; raises TimeoutError if that takes too long, or is given up."""
        async with asyncio.timeout(self.longest) as timeout:
            mine = self.clients.setdefault(client, [])
            mine.append(timeout)
            if len(mine) > self.most and not (oldest := mine.pop(0)).expired():
                oldest.reschedule(0)
            try:
                yield
            finally:
                if timeout in mine:
                    mine.remove(timeout)
                if not mine and self.clients.get(client) is mine:
                    del self.clients[client]


def host_name(host: str) -> str | None:
    """The name in a Host header, in small letters and without the port; None if it is no host at all."""
    try:
        parts = urlsplit(f"//{host}")
        has_more = parts.path or parts.query or parts.fragment or parts.username is not None
        return None if has_more or (parts.port is None and host.endswith(":")) else parts.hostname
    except ValueError:  # of brackets, or of a port that is no number
        return None


def names_of(settings: ServerSettings) -> frozenset[str]:
    """The names by which a browser may call us, besides this machine's own, and addresses where others reach us."""
    own = [] if is_loopback(settings.host) else [settings.host, socket.gethostname()]
    return frozenset(name.lower() for name in (*own, *settings.names))


class Guard:
    """The outermost part of the app: refuses what may not come in, and bounds what may."""

    def __init__(self, app: ASGIApp, settings: ServerSettings):
        self.app, self.settings = app, settings
        self.names, self.takes_addresses = names_of(settings), not is_loopback(settings.host)
        self.rates, self.turns = Rates(settings.requests, settings.burst), Turns(settings.requests_at_once)
        self.readings = Readings(settings.readings, settings.wait_for_body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        headers = headers_of(scope)
        if self.settings.behind_proxy:
            peer = (scope.get("client") or ("", 0))[0]
            scope = {**scope, "client": (forwarded(peer, headers.get("x-forwarded-for", [])), 0)}
        client = client_of(scope)
        refusal = self.refusal(headers, client)
        if refusal is not None:
            return await refuse(scope, receive, send, *refusal)
        if scope["type"] == "websocket":
            return await self.app(scope, receive, send)
        body = await self.body(client, headers, receive)
        if isinstance(body, tuple):
            return await refuse(scope, receive, send, *body)
        async with self.turns.of(client):
            answer = await self.answer(scope, body, receive)
        for message in answer:
            await send(message)
        return None

    def refusal(self, headers: dict[str, list[str]], client: str) -> tuple[int, str] | None:
        """Why a request is not let in, with its status; None if it is."""
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        name = host_name(hosts[0]) if len(hosts) == 1 else None
        if name is None:
            return 400, "the request has no Host, or one that names no host; send Host: NAME:PORT"
        is_ours = name in self.names or is_loopback(name) or (self.takes_addresses and is_address(name))
        if not is_ours:
            return 403, f"this server is not called {name[:80]!r}; use its address, or start it with --name {name[:80]}"
        if origins and (len(origins) > 1 or not is_origin(origins[0], hosts[0])):
            return 403, f"a page from {origins[0][:80]!r} may not ask this server; open the server's own page"
        if not self.rates.take(client):
            return 429, f"more than {self.settings.requests:g} requests a second; wait a moment"
        return None

    async def body(self, client: str, headers: dict[str, list[str]], receive: Receive) -> bytes | tuple[int, str]:
        """The body of a request; or why it is not read, with a status: too long, or too slow."""
        most = self.settings.longest_body
        length = headers.get("content-length", ["0"])[0]
        is_short = length.isascii() and length.isdigit() and int(length[:12]) <= most
        try:
            async with self.readings.of(client):
                body = await read_body(receive, most) if is_short else None
        except TimeoutError:
            return 408, f"the request did not come in time; it may take {self.settings.wait_for_body:g} seconds"
        return (413, f"the request is too long; up to {most:,} bytes are read") if body is None else body

    async def answer(self, scope: Scope, body: bytes, receive: Receive) -> list[Message]:
        """The whole answer to a request, with our headers; those that it has itself are left to it."""
        given = [False]
        answer: list[Message] = []

        async def receive_body() -> Message:
            if given[0]:
                return await receive()  # whether the client is gone
            given[0] = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def keep(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message.get("headers", [])
                known = {name for name, _ in own}
                wanted = raw(HEADERS | (NOT_KEPT if scope["path"].startswith("/api/") else {}))
                message = {**message, "headers": [*own, *(pair for pair in wanted if pair[0] not in known)]}
            answer.append(message)

        await self.app(scope, receive_body, keep)
        return answer


async def read_body(receive: Receive, most: int) -> bytes | None:
    """The whole body; None if there is more than `most` of it."""
    pieces: list[bytes] = []
    length = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(pieces)  # the client is gone
        pieces.append(message.get("body", b""))
        length += len(pieces[-1])
        if length > most:
            return None
        if not message.get("more_body", False):
            return b"".join(pieces)


def headers_of(scope: Scope) -> dict[str, list[str]]:
    """The headers by name; one that comes twice has two values."""
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers


def client_of(scope: Scope) -> str:
    """Who asks: the address, of IPv6 the part that a network gives to one customer."""
    return client_name((scope.get("client") or ("", 0))[0])


def is_origin(origin: str, host: str) -> bool:
    """Whether an Origin is a page of this very host and port."""
    scheme, _, rest = origin.partition("://")
    return scheme in ("http", "https") and rest.lower() == host.lower()


def raw(headers: dict[str, str]) -> Iterable[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def refuse(scope: Scope, receive: Receive, send: Send, status: int, reason: str) -> None:
    """Says no with a reason: to a request, or to a socket before it is opened."""
    headers = HEADERS | NOT_KEPT | ({"connection": "close"} if status == 408 else {})
    await JSONResponse({"error": reason}, status, headers=headers)(scope, receive, send)
