"""The web app in a real Chromium: a server on a free port, a page that fails its test when anything goes wrong in it.

with running_server() as url, browser(chromium) as chrome, open_page(chrome, url + "#/play") as page:
    page.get_by_role("button", name="Undo").click()
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="the web app is not tested without playwright")
uvicorn = pytest.importorskip("uvicorn", reason="the web app is not tested without uvicorn")

PHONE = {"width": 360, "height": 740}
LAPTOP = {"width": 1280, "height": 800}
PROJECTOR = {"width": 1920, "height": 1080}
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PATIENCE = 120_000  # milliseconds that a page may take for a step; a busy machine is slow
LONGEST_START = 60  # seconds
playwright.expect.set_options(timeout=PATIENCE)


@contextmanager
def running_server(app: Any = None, port: int = 0) -> Iterator[str]:
    """The address of a server that runs in a thread of this process until the block ends."""
    from tengen.apps.web.connections import Config
    from tengen.apps.web.server import new_app

    app = app or new_app()
    with socket.create_server(("127.0.0.1", port)) as listener:
        server = uvicorn.Server(Config(app, app.state.settings, timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        try:
            wait_until_started(server, thread)
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.should_exit = True
            thread.join(LONGEST_START)


def wait_until_started(server: Any, thread: threading.Thread) -> None:
    """Returns when the server answers; raises if it ended or takes too long."""
    pause = threading.Event()
    for _ in range(LONGEST_START * 20):
        if server.started:
            return
        if not thread.is_alive():
            raise RuntimeError("the server ended while it started; its log says why")
        pause.wait(0.05)
    raise RuntimeError(f"the server did not start within {LONGEST_START} seconds")


@contextmanager
def browser(chromium: str) -> Iterator[Any]:
    """A headless browser: that of the system, nothing is downloaded."""
    with playwright.sync_playwright() as driver:
        chrome = driver.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        try:
            yield chrome
        finally:
            chrome.close()


@contextmanager
def open_page(
    chrome: Any,
    url: str,
    size: dict[str, int] = LAPTOP,
    language: str = "en-GB",
    scheme: str = "light",
    motion: str = "reduce",
    expected: tuple[str, ...] = (),
    **options: Any,
) -> Iterator[Any]:
    """A page of its own, without memory of others. Whatever goes wrong in it fails the test when the block ends.

    `expected` are parts of console errors and of failed requests that the test itself brings about.
    """
    context = chrome.new_context(
        viewport=size, locale=language, color_scheme=scheme, reduced_motion=motion, accept_downloads=True, **options
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    problems = watch(page)
    try:
        page.goto(url)
        try:
            yield page
        except BaseException as reason:
            reason.add_note("problems of the page: " + ("; ".join(problems) or "none"))
            raise
        problems[:] = [problem for problem in problems if not any(part in problem for part in expected)]
        assert not problems, "the page had problems:\n" + "\n".join(problems)
    finally:
        context.close()


def watch(page: Any) -> list[str]:
    """The list that collects what goes wrong in a page: errors thrown, errors logged, requests that failed."""
    problems: list[str] = []

    def hear(message: Any) -> None:
        if message.type in ("error", "warning"):
            problems.append(f"console: {message.text} ({message.location.get('url', '')})")

    def answered(response: Any) -> None:
        if response.status >= 400:
            problems.append(f"{response.status} {response.request.method} {response.url}")

    def failed(request: Any) -> None:
        if "ERR_ABORTED" not in str(request.failure):  # the page itself went on before the answer came
            problems.append(f"failed: {request.url} {request.failure}")

    page.on("console", hear)
    page.on("pageerror", lambda error: problems.append(f"thrown: {error}"))
    page.on("requestfailed", failed)
    page.on("response", answered)
    return problems


def expect(locator: Any) -> Any:
    """Playwright's assertions, which wait; `page.wait_for_function` cannot, since our pages forbid eval."""
    return playwright.expect(locator)
