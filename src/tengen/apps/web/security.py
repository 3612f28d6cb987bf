"""What stands between the network and us: who may ask, how much, how often, and what a browser may do with the answer.

The server has no accounts; whoever reaches it may use it. So it listens on this machine alone unless told otherwise,
and other people's web pages must not reach it through a visitor's browser:

- `Host` must be a name of ours. A page that points its own name at our address (DNS rebinding) still sends its name.
- `Origin`, which a browser sends with whatever can change something, must be the page we served.

Everything is bounded: bodies in bytes, requests a second and at once for each client, and the pages that are open.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tengen.apps.web.settings import Settings

LOOPBACK = ("localhost", "127.0.0.1", "::1")
MOST_CLIENTS = 10_000  # whose rates are remembered
POLICY_VIOLATION = 1008  # why a socket is closed, as RFC 6455 has it
HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


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


def host_name(host: str) -> str | None:
    """The name in a Host header, in small letters and without the port; None if it is no host at all."""
    try:
        parts = urlsplit(f"//{host}")
        has_more = parts.path or parts.query or parts.fragment or parts.username is not None
        return None if has_more or (parts.port is None and host.endswith(":")) else parts.hostname
    except ValueError:  # of brackets, or of a port that is no number
        return None


def is_address(name: str) -> bool:
    """Whether a name is an IP address: nobody can point that elsewhere."""
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True


def names_of(settings: Settings) -> frozenset[str]:
    """The names by which a browser may call us, besides addresses where we listen to more than this machine."""
    own = [] if settings.host in LOOPBACK else [settings.host, socket.gethostname()]
    return frozenset(name.lower() for name in (*LOOPBACK, *own, *settings.names))


class Guard:
    """The outermost part of the app: refuses what may not come in, and bounds what may."""

    def __init__(self, app: ASGIApp, settings: Settings):
        self.app, self.settings = app, settings
        self.names, self.takes_addresses = names_of(settings), settings.host not in LOOPBACK
        self.rates, self.turns = Rates(settings.requests, settings.burst), Turns(settings.requests_at_once)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        headers, client = headers_of(scope), client_of(scope)
        refusal = self.refusal(headers, client)
        if refusal is not None:
            return await refuse(scope, receive, send, *refusal)
        if scope["type"] == "websocket":
            return await self.app(scope, receive, send)
        async with self.turns.of(client):
            return await self.bounded(scope, headers, receive, send)

    def refusal(self, headers: dict[str, list[str]], client: str) -> tuple[int, str] | None:
        """Why a request is not let in, with its status; None if it is."""
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        name = host_name(hosts[0]) if len(hosts) == 1 else None
        if name is None:
            return 400, "the request has no Host, or one that names no host; send Host: NAME:PORT"
        if name not in self.names and not (self.takes_addresses and is_address(name)):
            return 403, f"this server is not called {name[:80]!r}; use its address, or start it with --name {name[:80]}"
        if origins and (len(origins) > 1 or not is_origin(origins[0], hosts[0])):
            return 403, f"a page from {origins[0][:80]!r} may not ask this server; open the server's own page"
        if not self.rates.take(client):
            return 429, f"more than {self.settings.requests:g} requests a second; wait a moment"
        return None

    async def bounded(self, scope: Scope, headers: dict[str, list[str]], receive: Receive, send: Send) -> None:
        """Lets a request in whose body is read no further than we take, and adds headers to its answer."""
        most = self.settings.longest_body
        length = headers.get("content-length", ["0"])[0]
        is_short = length.isascii() and length.isdigit() and int(length[:12]) <= most
        body = await read_body(receive, most) if is_short else None
        if body is None:
            await refuse(scope, receive, send, 413, f"the request is too long; up to {most:,} bytes are read")
            return
        given = [False]

        async def receive_body() -> Message:
            if given[0]:
                return await receive()  # whether the client is gone
            given[0] = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *raw(HEADERS)]}
            await send(message)

        await self.app(scope, receive_body, send_with_headers)


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
    client = (scope.get("client") or ("", 0))[0]
    if is_address(client) and (address := ipaddress.ip_address(client.partition("%")[0])).version == 6:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return client


def is_origin(origin: str, host: str) -> bool:
    """Whether an Origin is a page of this very host and port."""
    scheme, _, rest = origin.partition("://")
    return scheme in ("http", "https") and rest.lower() == host.lower()


def raw(headers: dict[str, str]) -> Iterable[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def refuse(scope: Scope, receive: Receive, send: Send, status: int, reason: str) -> None:
    """Says no: to a request with a reason, to a socket before it is opened."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": reason[:100]})
        return
    response: Any = JSONResponse({"error": reason}, status, headers=HEADERS)
    await response(scope, receive, send)
