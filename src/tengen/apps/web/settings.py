"""What a server is told when it starts, and how much it does for one client."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

CORES = os.cpu_count() or 1


@dataclass(frozen=True)
class Settings:
    """A server's settings. The bounds are for people at a board; nobody who plays meets one."""

    host: str = "127.0.0.1"
    port: int = 8000
    names: tuple[str, ...] = ()  # further names under which browsers may reach us
    runs: Path = field(default_factory=lambda: Path("runs"))  # the folder of training runs
    contests: Path = field(default_factory=lambda: Path("tournaments"))  # the folder of matches and tournaments
    games: tuple[Path, ...] = ()  # files of games that are served beside ours

    searches: int = 2 * CORES  # at once, of all pages; others wait in turn
    turn: float = 2.0  # seconds after which a long search lets those go first that wait
    longest: float = 60.0  # seconds for a move
    longest_analysis: float = 600.0
    slots: int = 3  # searches of one page at once
    agents: int = 4  # that are kept for one page, with their trees
    all_agents: int = 64  # that are kept for all pages; times `memory`, what they may use of this machine
    memory: int = 64  # megabytes that an agent may use
    idle: float = 300.0  # seconds after which an agent that is not asked is forgotten

    pages: int = 512  # open at once
    pages_of_client: int = 256
    messages: float = 50.0  # of one page, each second over time
    requests: float = 100.0  # of one client, each second over time
    requests_at_once: int = 8  # of one client; a browser has six
    burst: float = 4.0  # seconds' worth of either that may come at once
    longest_message: int = 2**16  # bytes over the socket
    longest_body: int = 2**20  # bytes over HTTP
