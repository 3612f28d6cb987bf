"""A web server in a thread of ours, and a page's side of the conversation with it."""

import json
import threading
import time
from contextlib import contextmanager

import httpx
import uvicorn
from websockets.sync.client import connect

from tengen.apps.web.connections import Config
from tengen.apps.web.server import listen, new_app
from tengen.apps.web.settings import ServerSettings

PATIENCE = 300  # seconds that anything may take on a busy machine, compiling included
LAST = ("move", "done", "view", "error")


class Site:
    """A server in a thread of ours."""

    def __init__(self, app, port):
        self.app, self.port, self.url = app, port, f"http://127.0.0.1:{port}"
        self.http = httpx.Client(base_url=self.url, timeout=PATIENCE)

    def post(self, path, body, status=200):
        answer = self.http.post(path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def error(self, path, body, status=400):
        return self.post(path, body, status)["error"]

    def view(self, game, *moves):
        with self.page() as page:
            view = page.ask(type="position", game=game, moves=list(moves))
        assert view["type"] == "view", view
        return view

    def refusal(self, game, *moves):
        """Why a position is refused."""
        with self.page() as page:
            return page.ask(type="position", game=game, moves=list(moves))["error"]

    @contextmanager
    def page(self, **options):
        with connect(f"ws://127.0.0.1:{self.port}/api/socket", open_timeout=PATIENCE, **options) as opened:
            yield Talk(opened)

    @property
    def pages(self):
        return self.app.state.pages


class Talk:
    """A page's side of the conversation."""

    def __init__(self, opened):
        self.opened = opened

    def say(self, message):
        self.opened.send(message if isinstance(message, str | bytes) else json.dumps(message))

    def hear(self):
        return json.loads(self.opened.recv(PATIENCE))

    def until(self, id_, *kinds):
        """All answers to a message, up to the first of these kinds."""
        heard = []
        while not heard or heard[-1]["type"] not in (kinds or LAST):
            if (answer := self.hear())["id"] == id_:
                heard.append(answer)
        return heard

    def ask(self, **message):
        """The last answer to a message."""
        message = {"id": "ask", **message}
        self.say(message)
        return self.until(message["id"])[-1]

    def think(self, game, *moves, **options):
        return self.ask(type="think", game=game, moves=list(moves), **options)


@contextmanager
def serving(**settings):
    wanted = ServerSettings(**settings)
    app = new_app(wanted)
    with listen("127.0.0.1", 0) as listener:
        server = uvicorn.Server(Config(app, wanted, timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        wait_for(lambda: server.started)
        try:
            yield Site(app, listener.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def wait_for(condition):
    """Returns when the condition holds; it must before long."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "that never happened"
        time.sleep(0.01)
