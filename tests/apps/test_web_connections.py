"""Connections over real sockets: those that say nothing, say it slowly, or are too many."""

import asyncio
import logging
import os
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress

import httpx
import pytest
from web_site import PATIENCE, serving, wait_for

from tengen.apps.web import security
from tengen.apps.web.connections import Requests
from tengen.apps.web.security import Guard
from tengen.apps.web.settings import ServerSettings

HALT = 60  # seconds after which a server that does not answer is said to hang
HALF = b"POST /api/records/write HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 99\r\n\r\n{"


def opened(stack, site, said=b""):
    """A connection that ends with the test, and has said something."""
    found = stack.enter_context(socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE))
    found.sendall(said)
    return found


def everything_from(connection):
    """What a server says until it closes the connection."""
    heard = b""
    with suppress(ConnectionResetError):
        while piece := connection.recv(2**16):
            heard += piece
    return heard


def test_whoever_asks_and_does_not_read_the_answers_is_left():
    with serving(wait_for_reader=0.2) as site, ExitStack() as stack:
        silent = opened(stack, site)
        silent.setblocking(False)
        asked = b"GET /board.js HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n" * 1000

        def is_left():
            """More and more is asked: until buffers are full, what is not read is not missed."""
            try:
                silent.send(asked)
            except BlockingIOError:
                return False
            except OSError:
                return True
            return False

        wait_for(is_left)


def test_whoever_sends_a_body_slowly_holds_up_nobody():
    with serving(requests_at_once=2) as site, ExitStack() as stack:
        for _ in range(20):
            opened(stack, site, HALF)
        assert httpx.get(f"{site.url}/api/agents", timeout=HALT).status_code == 200


def test_a_body_that_does_not_come_is_not_waited_for():
    with serving(wait_for_body=0.2) as site, ExitStack() as stack:
        heard = everything_from(opened(stack, site, HALF))
        assert heard.startswith(b"HTTP/1.1 408 ")
        assert b"did not come in time" in heard


def test_of_too_many_bodies_the_oldest_is_given_up():
    """So those who send slowly make room for those who do not, also at the same address."""
    ended = []

    async def send_slowly(readings, client, number):
        try:
            async with readings.of(client):
                await asyncio.sleep(PATIENCE)
        except TimeoutError:
            ended.append(number)

    async def crowd():
        readings = security.Readings(2, PATIENCE)
        slow = [asyncio.create_task(send_slowly(readings, "192.0.2.1", number)) for number in range(4)]
        other = asyncio.create_task(send_slowly(readings, "192.0.2.2", "other"))
        await asyncio.wait(slow, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait(slow[:2])
        async with readings.of("192.0.2.1"):
            await asyncio.wait(slow[:3])
        assert ended == [0, 1, 2]
        for task in (*slow, other):
            task.cancel()
        await asyncio.wait([*slow, other])
        assert not readings.clients  # nobody sends, nobody is remembered

    asyncio.run(crowd())


def test_whoever_takes_an_answer_slowly_holds_no_turn():
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})

    async def ask(guard, send):
        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        scope = {"type": "http", "path": "/", "client": ("192.0.2.1", 5), "headers": [(b"host", b"127.0.0.1")]}
        await guard(scope, receive, send)

    async def crowd():
        guard, is_read = Guard(app, ServerSettings(requests_at_once=1)), asyncio.Event()
        begun, heard = [], []

        async def read_never(message):
            begun.append(message)
            await is_read.wait()

        async def read_at_once(message):
            heard.append(message["type"])

        slow = [asyncio.create_task(ask(guard, read_never)) for _ in range(3)]
        while not begun:
            await asyncio.sleep(0)
        async with asyncio.timeout(HALT):
            await ask(guard, read_at_once)
        is_read.set()
        await asyncio.gather(*slow)
        assert heard == ["http.response.start", "http.response.body"]

    asyncio.run(crowd())


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: "])
def test_headers_that_do_not_come_are_not_waited_for(said):
    with serving(wait_for_headers=0.2) as site, ExitStack() as stack:
        assert everything_from(opened(stack, site, said)) == b""


@pytest.fixture
def waiting(monkeypatch):
    """The connections that were ever waited for to send headers, as the server has them."""
    found, expect = [], Requests.expect_headers
    monkeypatch.setattr(Requests, "expect_headers", lambda self: found.append(self) or expect(self))
    return found


def test_a_connection_that_was_used_is_not_kept_by_half_a_request(waiting):
    with serving(wait_for_headers=PATIENCE) as site, ExitStack() as stack:
        used = opened(stack, site, b"GET /icon.svg HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        heard = b""
        while not heard.endswith(b"</svg>\n") and (piece := used.recv(2**16)):
            heard += piece
        assert heard.endswith(b"</svg>\n")
        waiting[0].config.wait_for_headers = 0.2  # for those that come from now on
        used.sendall(b"GET / HTTP/1.1\r\nhost: ")
        assert everything_from(used) == b""


def test_a_page_that_talks_is_not_cut_off(waiting):
    """No headers are waited for any more, however long it says nothing."""
    with serving(wait_for_headers=PATIENCE) as site, site.page() as page:
        assert page.ask(type="position", game="tictactoe", moves=["b2"])["type"] == "view"
        assert [connection.deadline for connection in waiting] == [None]


def test_connections_of_one_client_are_bounded():
    with serving(connections_of_client=4) as site, ExitStack() as stack:
        idle = [opened(stack, site) for _ in range(4)]
        heard = everything_from(opened(stack, site))
        assert heard.startswith(b"HTTP/1.1 503 ")
        assert b"too many connections" in heard
        idle[0].close()
        wait_for(lambda: _status(site) == 200)  # as soon as there is room


def _status(site):
    return httpx.get(f"{site.url}/api/agents", timeout=HALT).status_code


def test_conversations_are_counted_until_they_end():
    with serving(connections_of_client=2) as site:
        for _ in range(5):
            with site.page() as page:
                assert page.ask(type="position", game="tictactoe", moves=[])["type"] == "view"
            wait_for(lambda: not site.pages.pages)
        wait_for(lambda: _status(site) == 200)


def test_a_proxys_connections_are_those_of_many():
    with serving(connections_of_client=2, behind_proxy=True) as site, ExitStack() as stack:
        for _ in range(8):
            opened(stack, site)
        assert _status(site) == 200


@pytest.mark.skipif(os.name != "posix", reason="there is no such limit")
def test_without_files_the_server_answers_and_its_log_stays_short():
    import resource

    few = 600
    command = [sys.executable, "-m", "tengen", "serve", "--port", "0"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, few)),
    )
    try:
        url = process.stdout.readline().split()[3]
        port = int(url.rpartition(":")[2])
        with ExitStack() as stack:
            for _ in range(few + 100):
                stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=HALT))
            assert httpx.get(f"{url}/api/agents", timeout=HALT).status_code == 503
        wait_for(lambda: httpx.get(f"{url}/api/agents", timeout=HALT).status_code == 200)
    finally:
        process.kill()
        _, log = process.communicate()
    assert len(log) < 10_000


@pytest.mark.skipif(os.name != "posix", reason="there is no such limit")
def test_the_limit_of_files_is_raised(monkeypatch):
    from tengen.apps.web import connections

    kept = [(256, 5000)]
    monkeypatch.setattr(connections.resource, "getrlimit", lambda kind: kept[-1])
    monkeypatch.setattr(connections.resource, "setrlimit", lambda kind, limits: kept.append(limits))
    assert connections.raise_file_limit() == 5000
    assert kept[-1] == (5000, 5000)
    kept.append((256, connections.resource.RLIM_INFINITY))
    assert connections.raise_file_limit() == connections.MOST_FILES
    kept.append((10**6, 10**6))
    assert connections.raise_file_limit() == 10**6  # it is never lowered


def test_the_same_line_stands_once_in_the_log(caplog):
    from tengen.apps.web.connections import keep_quiet

    logger = logging.getLogger("tests.quiet")
    keep_quiet(logger)
    keep_quiet(logger)
    for _ in range(100):
        logger.warning("Invalid HTTP request received.")
        logger.warning("something else")
    assert [record.message for record in caplog.records] == ["Invalid HTTP request received.", "something else"]


# Behind a proxy.


def test_who_asks_through_a_proxy():
    from tengen.apps.web.visitors import client_name, forwarded

    for peer, header, client in (
        ("127.0.0.1", ["203.0.113.7"], "203.0.113.7"),
        ("10.1.2.3", ["198.51.100.1, 203.0.113.7"], "203.0.113.7"),  # what stands before it, anybody may have written
        ("127.0.0.1", ["198.51.100.1", "203.0.113.7:4711"], "203.0.113.7"),
        ("::1", ["[2001:db8::5]:80"], "2001:db8::5"),
        ("127.0.0.1", ["nobody"], "127.0.0.1"),
        ("127.0.0.1", [], "127.0.0.1"),
        ("8.8.8.8", ["203.0.113.7"], "8.8.8.8"),  # no proxy of ours
    ):
        assert forwarded(peer, header) == client
    assert client_name("2001:db8:1:2::5") == client_name("2001:db8:1:2::6") != client_name("2001:db8:1:3::5")
    assert client_name("::ffff:192.0.2.1") == "192.0.2.1"


@pytest.mark.parametrize("behind_proxy", [True, False])
def test_rates_are_those_of_whom_a_proxy_names(behind_proxy):
    with serving(requests=0.001, burst=3000, behind_proxy=behind_proxy) as site:
        ask = lambda client: site.http.get("/icon.svg", headers={"x-forwarded-for": client}).status_code  # noqa: E731
        assert [ask("203.0.113.7") for _ in range(4)] == [200] * 3 + [429]
        assert (ask("203.0.113.8") == 200) == behind_proxy
