"""What several tests share."""

from __future__ import annotations

import os

import pytest

from tengen.agents.process import find_program

SLOWEST = (  # files; they begin first, so that no worker ends with one alone
    "test_alphabeta.py",
    "test_docs.py",
    "test_kernels.py",
    "test_check.py",
    "test_agents.py",
    "test_cluster.py",
    "test_selfplay.py",
    "test_training.py",
    "test_evaluations.py",
    "test_tournament.py",
    "test_gtp.py",
    "test_gomocup.py",
    "test_cluster_games.py",
    "test_cli.py",
    "test_web_play.py",
    "test_checking.py",
    "test_web_own_game_pages.py",
    "test_reproduce.py",
    "test_vector.py",
    "test_cold_start.py",
    "test_own_networks.py",
    "test_gpu.py",
    "test_platforms.py",
)
NEEDS = {  # by fixture
    "chromium": "browser",
    "cluster": "cluster",
    "gnugo": "engines",
    "gtp_rhino": "engines",
    "stockfish": "engines",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests by what they need: `pytest -m "not browser and not cluster"`. The slowest files come first."""
    place = {name: number for number, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(SLOWEST)))
    for item in items:
        for fixture, marker in NEEDS.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(marker)


def find_engine(name: str, package: str) -> str:
    """The path of an engine. Without one the live tests skip, and say so; where TENGEN_LIVE is set they fail."""
    path = find_program(name)
    if path is None:
        message = f"{name} is not installed (Debian: apt-get install {package}): nothing was tested against it"
        if os.environ.get("TENGEN_LIVE"):
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="session")
def gnugo() -> str:
    return find_engine("gnugo", "gnugo")


@pytest.fixture(scope="session")
def gtp_rhino() -> str:
    return find_engine("gtp-rhino", "grhino")


@pytest.fixture(scope="session")
def stockfish() -> str:
    return find_engine("stockfish", "stockfish")


@pytest.fixture(scope="session")
def chromium() -> str:
    return find_engine("chromium", "chromium")
