"""Connections: how many there are, and how long one may say nothing that can be answered.

uvicorn waits for the headers of a request as long as a client likes, and takes as many connections as there are files.
Here a connection is closed that has not sent all headers in time; so many are taken of one address, and so many in all
that files are left for our own work. Whoever comes when there is no room gets 503 and is gone.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from tengen.apps.web.settings import ServerSettings
from tengen.apps.web.visitors import client_name, is_proxy

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]

ACCEPTED_AT_ONCE = 128  # connections, before anybody looks at them
OWN_FILES = 256  # that are left to us, beside connections: those accepted at once, stores, logs, libraries
MOST_FILES = 2**16  # asked for; some systems name no limit, and work for each file that might be
SAME_NEWS = 60.0  # seconds in which the same line stands once in the log
FULL = b'{"error": "too many connections are open here; close some, or try again in a moment"}'
REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nconnection: close\r\n"
REFUSAL += b"content-length: %d\r\n\r\n%s" % (len(FULL), FULL)


class Connections:
    """Who is connected, by client. A proxy brings many clients, so it is bounded by what there is in all."""

    def __init__(self, settings: ServerSettings, most: int):
        self.settings, self.most = settings, most
        self.clients: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Whether there is room for one more connection from an address, which is then counted."""
        client = client_name(address)
        is_free = self.settings.behind_proxy and is_proxy(address)
        if self.clients.total() >= self.most:
            return False
        if self.clients[client] >= self.settings.connections_of_client and not is_free:
            return False
        self.clients[client] += 1
        return True

    def leave(self, address: str) -> None:
        """One of the connections from an address is gone."""
        client = client_name(address)
        self.clients[client] -= 1
        if not self.clients[client]:
            del self.clients[client]


class Config(uvicorn.Config):
    """uvicorn's settings for a server of ours, with the connections that it has."""

    def __init__(self, app: Any, settings: ServerSettings, **more: Any):
        super().__init__(
            app,
            http=Requests,
            ws=CountedWebSocket,
            log_level="warning",
            ws_per_message_deflate=False,
            proxy_headers=False,  # or a client could say that it is another
            ws_max_size=16 * settings.longest_message,
            ws_ping_interval=20,
            ws_ping_timeout=20,
            timeout_keep_alive=30,
            backlog=ACCEPTED_AT_ONCE,
            server_header=False,
            **more,
        )
        self.wait_for_headers, self.wait_for_reader = settings.wait_for_headers, settings.wait_for_reader
        files = raise_file_limit()
        self.open = Connections(settings, min(settings.connections, max(files - OWN_FILES, files // 2)))
        for name in ("asyncio", "uvicorn.error", "tengen.apps.web.socket"):
            keep_quiet(logging.getLogger(name))


class Requests(H11Protocol):
    """A connection that is closed if it does not send the headers of a request in time, or has no room here."""

    config: Config
    is_counted = False
    deadline: asyncio.TimerHandle | None = None  # for headers
    reader: asyncio.TimerHandle | None = None  # how long we wait for one

    @property
    def address(self) -> str:
        return self.client[0] if self.client else ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self.is_counted = self.config.open.enter(self.address)
        if self.is_counted:
            self.expect_headers()
        else:
            self.transport.write(REFUSAL)
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.is_counted and (self.cycle is None or self.cycle.response_complete):
            self.expect_headers()
        else:
            self.expect_nothing()

    def expect_headers(self) -> None:
        """Waits for the rest of the headers, and not from the beginning again for each piece of them."""
        if self.deadline is None:
            self.deadline = self.loop.call_later(self.config.wait_for_headers, self.transport.abort)

    def expect_nothing(self) -> None:
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def handle_websocket_upgrade(self, event: Any) -> None:
        super().handle_websocket_upgrade(event)
        self.is_counted = False  # the conversation is, until it is over

    def pause_writing(self) -> None:
        """Somebody asks and does not read the answers: that may not last."""
        super().pause_writing()
        self.reader = self.loop.call_later(self.config.wait_for_reader, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self.expect_no_reader()

    def expect_no_reader(self) -> None:
        if self.reader is not None:
            self.reader.cancel()
            self.reader = None

    def connection_lost(self, reason: Exception | None) -> None:
        self.expect_nothing()
        self.expect_no_reader()
        if self.is_counted:
            self.config.open.leave(self.address)
        super().connection_lost(reason)


class CountedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket, which counts as the connection that it was before."""

    config: Config

    def connection_lost(self, reason: Exception | None) -> None:
        self.config.open.leave(self.client[0] if self.client else "")
        super().connection_lost(reason)


def raise_file_limit() -> int:
    """Lets this process have as many files as it may, within reason; returns how many that are."""
    if resource is None:
        return MOST_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return MOST_FILES if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):  # macOS names a hard limit that it does not keep to
        return soft
    return wanted


class Once(logging.Filter):
    """Lets the same line through once a minute: what clients do wrong again and again does not fill the log."""

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        now, what = time.monotonic(), (str(record.msg), repr(record.exc_info[1]) if record.exc_info else "")
        if now - self.told.get(what, -SAME_NEWS) < SAME_NEWS:
            return False
        if len(self.told) >= 1000:
            self.told.clear()
        self.told[what] = now
        return True


def keep_quiet(logger: logging.Logger) -> None:
    if not any(isinstance(one, Once) for one in logger.filters):
        logger.addFilter(Once())
