"""What tests of the web app share: a server and a browser for each file of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    from web_browser import running_server

    with running_server() as url:
        yield url


@pytest.fixture(scope="module")
def chrome(chromium: str) -> Iterator[Any]:
    from web_browser import browser

    with browser(chromium) as driver:
        yield driver
