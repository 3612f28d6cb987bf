"""What tests of the web app share: a server and a browser for each file of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from file_games import DOMINOES, LITTLE_RACE


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


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "Little_Race.py"
    path.write_text(LITTLE_RACE)
    return path


@pytest.fixture(scope="module")
def dominoes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "dominoes.py"
    path.write_text(DOMINOES)
    return path
