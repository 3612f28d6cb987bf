"""The web server: its routes, its pages, and how it begins and ends."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from tengen import __version__
from tengen.apps.web import contests, explorers, jobs, labs, own_games, records, runs
from tengen.apps.web import socket as play
from tengen.apps.web.access import Access
from tengen.apps.web.connections import Config
from tengen.apps.web.levels import AgentList, agent_list, levels_of
from tengen.apps.web.messages import what_is_wrong
from tengen.apps.web.security import Guard
from tengen.apps.web.settings import ServerSettings
from tengen.apps.web.views import LONGEST_SPEC, GameView, Problem, game_views, known_game
from tengen.rules.errors import TengenError

STATIC = Path(__file__).parent / "static"
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json",
    ".woff2": "font/woff2",
}
PACKED = (".html", ".js", ".css", ".svg", ".json")  # sent smaller to those who can unpack
STATUS: dict[type[TengenError], int] = {jobs.Missing: 404, jobs.NotAllowed: 403, jobs.JobError: 409}  # 400 otherwise
PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "What was asked cannot be: a move is illegal, a name unknown"},
    401: {"model": Problem, "description": "Only for those who show the server's password"},
    403: {"model": Problem, "description": "Not from here, or not on this server"},
    404: {"model": Problem, "description": "There is no such thing"},
    408: {"model": Problem, "description": "Too slow"},
    409: {"model": Problem, "description": "Not now"},
    413: {"model": Problem, "description": "Too long"},
    422: {"model": Problem, "description": "Not of the form that is asked for"},
    429: {"model": Problem, "description": "Too often"},
}
BACKLOG = 2048  # connections that may wait to be taken
SHORTEST_PASSWORD = 8  # characters: a client may try some hundred passwords a second
LONGEST_END = 2  # seconds that requests under way may take when the server ends


class GameList(BaseModel):
    games: list[GameView]
    version: str


def new_app(settings: ServerSettings | None = None) -> FastAPI:
    """The web app. Everything that it answers is in its OpenAPI document, but for the pages and the socket."""
    settings = settings or ServerSettings()
    games, pages = own_games.read_games(settings.games), play.Pages(settings)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        async with pages.open():
            yield

    app = FastAPI(
        title="Tengen",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,  # these load scripts from elsewhere
        redoc_url=None,
        responses=PROBLEMS,
        redirect_slashes=False,
        lifespan=life,
    )
    app.state.settings, app.state.pages = settings, pages
    app.add_middleware(own_games.Serving, games=games)
    app.add_middleware(Access, settings=settings)
    app.add_middleware(Guard, settings=settings)
    _add_routes(app)
    for module in (records, play, explorers, labs, runs, contests):
        app.include_router(module.router)
    app.router.default = Files(STATIC, app.router.default)
    app.add_exception_handler(TengenError, _tell_tengen_error)
    app.add_exception_handler(RequestValidationError, _tell_bad_request)
    app.add_exception_handler(HTTPException, _tell_http_error)
    return app


def _add_routes(app: FastAPI) -> None:
    @app.get("/api/games", tags=["play"])
    def games() -> GameList:
        """The games, their parameters and their levels."""
        return GameList(games=game_views(levels_of), version=__version__)

    @app.get("/api/agents", tags=["play"])
    def agents() -> AgentList:
        """The kinds of agents and their options, for those who want to say exactly who plays."""
        return agent_list()

    @app.get("/api/nets", tags=["play"])
    def nets(game: Annotated[str, Query(max_length=LONGEST_SPEC)]) -> runs.NetList:
        """The nets of training runs that play a game."""
        return runs.NetList(nets=runs.Runs(app.state.settings).nets_for(known_game(game)))


# What is told when something is wrong.


def _tell_tengen_error(request: Request, reason: Exception) -> Response:
    status = next((status for kind, status in STATUS.items() if isinstance(reason, kind)), 400)
    return JSONResponse({"error": clean(str(reason))}, status)


def _tell_bad_request(request: Request, reason: Exception) -> Response:
    assert isinstance(reason, RequestValidationError)
    errors = [{**error, "loc": error["loc"][1:]} for error in reason.errors()]  # the first is body, path or query
    return JSONResponse({"error": clean(what_is_wrong(errors))}, 422)


def clean(text: str) -> str:
    """The text without halves of characters, which JSON can bring in and UTF-8 cannot take out."""
    return text.encode("utf-8", "replace").decode()


def _tell_http_error(request: Request, reason: Exception) -> Response:
    assert isinstance(reason, HTTPException)
    said, path = str(reason.detail), request.url.path[:80]
    if reason.status_code == 400:  # only a body that nobody can read comes here
        said = 'the body is not JSON that can be read; send an object such as {"game": "gomoku", "moves": ["h8"]}'
    elif reason.status_code == 404:
        said = f"there is nothing at {path!r}; the page is at /, and /api/openapi.json says what else there is"
    elif reason.status_code == 405:
        said = f"{path!r} does not take {request.method[:20]}; /api/openapi.json says what it takes"
    return JSONResponse({"error": clean(said)}, reason.status_code, headers=reason.headers)


# The page's files.


@dataclass(frozen=True)
class File:
    """A file of the page, ready to be sent."""

    content: bytes
    packed: bytes | None
    kind: str
    tag: str  # changes with the content
    changed: int


class Files:
    """The files of a folder by their names. A client's path is looked up in a list, never on the disk."""

    def __init__(self, folder: Path, otherwise: ASGIApp):
        self.folder, self.otherwise = folder, otherwise  # who answers if no file does
        self.files: dict[str, File] = {}
        self.paths = self._look()

    def _look(self) -> dict[str, Path]:
        found = (path for path in self.folder.rglob("*") if path.suffix in KINDS)
        return {path.relative_to(self.folder).as_posix(): path for path in found}

    def find(self, name: str) -> File | None:
        """The file of a name, as it is now; None if there is none."""
        if name not in self.paths:
            self.paths = self._look()
        path, known = self.paths.get(name), self.files.get(name)
        try:
            if path is None:
                return None
            changed = path.stat().st_mtime_ns
            if known is None or known.changed != changed:
                known = self.files[name] = _read_file(path, changed)
        except OSError:
            return None
        return known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_asked = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        file = self.find(scope["path"].removeprefix("/") or "index.html") if is_asked else None
        answer = self.otherwise if file is None else _answer(file, Headers(scope=scope))
        await answer(scope, receive, send)


def _read_file(path: Path, changed: int) -> File:
    content = path.read_bytes()
    packed = gzip.compress(content, mtime=0) if path.suffix in PACKED else None
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    return File(content, packed, KINDS[path.suffix], tag, changed)


def _answer(file: File, asked: Headers) -> Response:
    """A file as a browser wants it: packed, or not at all if it has it already."""
    headers = {"etag": file.tag, "cache-control": "no-cache", "vary": "accept-encoding"}
    if file.tag in asked.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    content = file.content
    if file.packed is not None and "gzip" in asked.get("accept-encoding", ""):
        content, headers["content-encoding"] = file.packed, "gzip"
    return Response(content, headers=headers, media_type=file.kind)


# How a server begins and ends.


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; raises TengenError with what to do if it cannot."""
    try:
        kind, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return _bound(kind, address)
    except socket.gaierror:
        raise TengenError(
            f"--host {host}: this is no address of this machine; 127.0.0.1 is, and 0.0.0.0 for all"
        ) from None
    except PermissionError:
        raise TengenError(f"port {port} is for administrators; choose another: tengen serve --port 8000") from None
    except OSError as reason:
        if reason.errno == errno.EADDRINUSE:
            free = f"choose another: tengen serve --port {port + 1}" if port < 65535 else "choose another with --port"
            raise TengenError(f"port {port} is taken, perhaps by another tengen serve; end that, or {free}") from None
        raise TengenError(f"nobody can listen at {host}:{port}: {reason.strerror or reason}") from None


def _bound(kind: int, address: Any) -> socket.socket:
    listener = socket.socket(kind, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio waits with small answers otherwise
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def address_of(listener: socket.socket) -> str:
    """The address at which a browser on this machine finds us."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{host}:{port}"


def link_to(address: str, settings: ServerSettings) -> str:
    """What a browser opens to be let in; the page itself if a password is asked for, which people know already."""
    return f"{address}/?token={settings.token}" if settings.token else address


def greeting(address: str, settings: ServerSettings) -> str:
    """Where we are, for whom, and what they must show."""
    said = f"Tengen is at {link_to(address, settings)} (Ctrl-C ends it)"
    if settings.is_private:
        return said
    others = "through your proxy" if settings.behind_proxy else f"at http://{socket.gethostname()}:{settings.port}"
    if settings.token:
        key = f"with ?token={settings.token} behind the address: whoever has that link may use it"
    else:
        key = "with the password" if settings.password else "everybody who can reach it, for it is open"
    return f"{said}\nFor others it is {others}, {key}"


class Server(uvicorn.Server):
    """Says where it is once it answers."""

    def __init__(self, config: uvicorn.Config, address: str, settings: ServerSettings, opens: bool):
        super().__init__(config)
        self.address, self.settings, self.opens = address, settings, opens

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)  # more may wait than are accepted at once
        print(greeting(self.address, self.settings), flush=True)
        if self.opens:
            link = link_to(self.address, self.settings)
            threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()


def with_secret(settings: ServerSettings, is_open: bool) -> ServerSettings:
    """The settings with what visitors must show: a password of the operator's, or a token of ours, or nothing."""
    if settings.password and is_open:
        raise TengenError("--open lets everybody in, and --password asks for one: choose one of the two")
    if 0 < len(settings.password) < SHORTEST_PASSWORD:
        raise TengenError(f"the password is too short: it takes {SHORTEST_PASSWORD} characters or more")
    if settings.is_private:
        if is_open:
            raise TengenError(
                "--open lets everybody in, but only this machine can reach the server; --browser opens the page"
            )
        return settings
    if settings.password or is_open:
        return settings
    token = secrets.token_urlsafe(24)
    return replace(settings, password=token, token=token)


def name_what_goes_on(settings: ServerSettings) -> None:
    """Says which processes that were started from pages outlive the server."""
    for what, folder in (("training", settings.runs), ("the contest", settings.contests)):
        for job in jobs.Jobs(folder / jobs.JOBS).running():
            print(f"{what} {job.name} goes on; the next tengen serve can show and stop it")


def serve(settings: ServerSettings, opens: bool = False, is_open: bool = False) -> None:
    """Serves until Ctrl-C, and ends then at once, whatever is being compiled or thought about.

    With `opens` a browser shows the page. With `is_open` everybody may use it who can reach us, without a secret.
    """
    settings = with_secret(settings, is_open)
    own_games.read_games(settings.games)  # what is wrong with a file is told before anybody listens
    listener = listen(settings.host, settings.port)
    settings = replace(settings, port=listener.getsockname()[1])
    config = Config(new_app(settings), settings, timeout_graceful_shutdown=LONGEST_END)
    server = Server(config, address_of(listener), settings, opens)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what the command line set would end us without a word
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])
    with suppress(OSError):
        name_what_goes_on(settings)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # a kernel that compiles would be waited for otherwise
