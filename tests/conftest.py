"""What several tests share."""

from __future__ import annotations

import os
import shutil

import pytest


def find_engine(name: str) -> str:
    """The path of an engine. Without one the live tests skip, and say so; where TENGEN_LIVE is set they fail."""
    path = shutil.which(name) or shutil.which(name, path="/usr/games")
    if path is None:
        message = f"{name} is not installed (Debian: apt-get install {name}): nothing was tested against it"
        if os.environ.get("TENGEN_LIVE"):
            pytest.fail(message)
        pytest.skip(message)
    return path


@pytest.fixture(scope="session")
def gnugo() -> str:
    return find_engine("gnugo")
