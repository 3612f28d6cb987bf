"""What a server is told when it starts, and how much it does for one client."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path

CORES = os.cpu_count() or 1
NO_JOBS = (
    "This server is open to others, so nothing is started or stopped from its pages. Use tengen train and tengen "
    "tournament in a terminal, or start the server with --jobs."
)
STARTS_NOTHING = (
    "Pages start and stop nothing on this system. Use tengen train and tengen tournament in a terminal; the pages show "
    "how they go on."
)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, seen from itself alone: localhost, 127.0.0.0/8 or ::1."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class ServerSettings:
    """A server's settings. The bounds are for people at a board; nobody who plays meets one."""

    host: str = "127.0.0.1"
    port: int = 8000
    names: tuple[str, ...] = ()  # further names under which browsers may reach us
    behind_proxy: bool = False  # whether a proxy on this machine or network says who asks
    password: str = ""  # what visitors must show; nothing if everybody who reaches us may come in
    token: str = ""  # the password, if it is one that we made up, which stands in links
    jobs: bool = False  # whether others than this machine may start and stop runs and contests
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

    most_runs: int = 100  # that were started from pages and are kept
    most_contests: int = 100  # likewise

    pages: int = 512  # open at once
    pages_of_client: int = 256
    messages: float = 50.0  # of one page, each second over time
    requests: float = 100.0  # of one client, each second over time
    requests_at_once: int = 8  # of one client that are answered; a browser has six
    readings: int = 32  # of one client: requests whose bodies are still coming
    connections: int = 2048
    connections_of_client: int = 512
    wait_for_headers: float = 10.0  # seconds in which a connection sends all headers of a request
    wait_for_body: float = 30.0  # seconds, likewise
    wait_for_reader: float = 60.0  # seconds in which a client goes on reading an answer that it asked for
    burst: float = 4.0  # seconds' worth of either that may come at once
    longest_message: int = 2**16  # bytes over the socket
    longest_body: int = 2**20  # bytes over HTTP

    @property
    def is_private(self) -> bool:
        """Whether only this machine can reach us: under another name, others do, by a proxy or a tunnel."""
        return is_loopback(self.host) and not self.behind_proxy and not self.names

    @property
    def jobs_advice(self) -> str:
        """Why pages may start and stop nothing; empty if they may."""
        if not hasattr(os, "killpg"):  # Windows, where a process inherits no locked file, and is not stopped gently
            return STARTS_NOTHING
        return "" if self.is_private or self.jobs else NO_JOBS
