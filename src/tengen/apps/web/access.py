"""Who may come in where more than this machine can reach us: whoever has the link, or knows the password.

A browser shows the secret once, in the link (`/?token=SECRET`) or in a form, and gets a cookie that no script can read
and no other site can use. Programs send `Authorization: Bearer SECRET`. Everybody else gets 401: words over HTTP and at
the socket, and a small form where a page was asked for. The cookie is made from the secret, slowly: it holds after the
server was started again with the same password, and does not give the password away.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from html import escape
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import Request, cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tengen.apps.web.settings import ServerSettings

SIGN_IN = "/sign-in"
ROUNDS = 200_000  # of PBKDF2: a tenth of a second for whoever tries a password against a cookie
REFUSED = "this server asks who you are: open the link that tengen serve printed, or send Authorization: Bearer SECRET"
WRONG = "That is not the password. 密码不对。"
HEADERS = {
    "content-security-policy": "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "same-origin",  # with none at all, a form says that it comes from nowhere, and is refused
}
FORM = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tengen</title>
</head>
<body>
<h1>Tengen</h1>
<p role="alert">{problem}</p>
<form method="post" action="/sign-in">
<p><label>Password, or what follows <code>token=</code> in the link<br>
<span lang="zh-Hans">密码，或链接中 token= 之后的内容</span><br>
<input type="password" name="password" autocomplete="current-password" required autofocus></label></p>
<p><button>Open · <span lang="zh-Hans">进入</span></button></p>
</form>
</body>
</html>
"""
ONWARD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=/">
<title>Tengen</title>
</head>
<body><p><a href="/">Tengen</a></p></body>
</html>
"""


class Access:
    """Lets those in who show the secret, and shows the others how they can."""

    def __init__(self, app: ASGIApp, settings: ServerSettings):
        self.app, self.secret = app, settings.password.encode()
        self.cookie = f"tengen-{settings.port}"  # cookies do not tell ports apart
        self.ticket = hashlib.pbkdf2_hmac("sha256", self.secret, b"tengen", ROUNDS).hex() if self.secret else ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.secret or scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        answer: ASGIApp = await self.answer(scope, receive) or self.app
        return await answer(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive) -> Response | None:
        """What a request gets from us; None if it may pass."""
        headers, path = Headers(scope=scope), scope["path"]
        method = scope.get("method", "")
        if method == "GET" and path == "/" and (token := first(scope["query_string"], "token")):
            return self.welcome(HTMLResponse(ONWARD, headers=HEADERS)) if self.is_secret(token) else form(WRONG)
        if method == "POST" and path == SIGN_IN:
            is_right = self.is_secret(first(await Request(scope, receive).body(), "password"))
            return self.welcome(RedirectResponse("/", 303, HEADERS)) if is_right else form(WRONG)
        if self.is_known(headers):
            return None
        if method in ("GET", "HEAD") and "text/html" in headers.get("accept", ""):
            return form("")
        return JSONResponse({"error": REFUSED}, 401, {"www-authenticate": "Bearer"})

    def is_secret(self, given: bytes) -> bool:
        return hmac.compare_digest(given, self.secret)

    def is_known(self, headers: Mapping[str, str]) -> bool:
        """Whether a request carries our cookie, or the secret itself."""
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self.is_secret(given.strip().encode("latin-1")):
            return True
        shown = cookie_parser(headers.get("cookie", "")).get(self.cookie, "")
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self.ticket.encode())

    def welcome(self, answer: Response) -> Response:
        """The same answer with our cookie. A link in somebody's page leads here: so the page asks anew, and is ours."""
        answer.set_cookie(self.cookie, self.ticket, httponly=True, samesite="strict", path="/")
        return answer


def first(query: bytes, name: str) -> bytes:
    """The first value of a name in a query or a form; nothing if there is none."""
    values = parse_qs(query.decode("latin-1"), encoding="latin-1")  # each byte a letter: they may be of any alphabet
    return values.get(name, [""])[0].encode("latin-1")


def form(problem: str) -> Response:
    return HTMLResponse(FORM.format(problem=escape(problem)), 401, HEADERS)
