"""The web server over real sockets: what is refused, and that nothing a client sends breaks it."""

import json
import math
import socket
from dataclasses import replace

import pytest
import websockets
from web_site import LAST, serving

from tengen import load_game
from tengen.agents.learned import ALPHAGO_POLICY, ALPHAGO_VALUE
from tengen.agents.specs import AGENTS, PRESETS, Answers, Megabytes, NetName, Option, Seconds, Threads
from tengen.apps.web.levels import allowed_agents, spec_of
from tengen.apps.web.security import Bucket, host_name, is_origin
from tengen.apps.web.settings import CORES, ServerSettings
from tengen.rules.board import Between, OneOf
from tengen.rules.errors import BadParameter


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with serving(runs=tmp_path_factory.mktemp("runs"), requests=10_000, messages=10_000) as site:
        yield site


# What is refused.


@pytest.mark.parametrize(
    "agent",
    [
        "gtp:gnugo --mode gtp",
        "gtp:touch /tmp/x",
        "gomocup:./pbrain-rapfi",
        "uci:stockfish,skill=0",
        "puct:net=/etc/passwd",
        "puct:net=../../secret.onnx",
        "puct:net=runs",
        "policy:net=C:\\x.onnx",
        "puct:net=uniform,net=/etc/passwd",
        "alphago:policy=src",
        "alphago:value=pyproject.toml",
        "uct:memory=100000",
        "uct:threads=500",
        "uct:time=1e9",
        "uct:time=nan",
        "uct:time=inf",
        "uct:playouts",
        "uct:playouts=1;2",
        "run:../../etc",
        "run:nobody",
        "run:" + "x" * 190,
        "human",
        "",
        "__import__",
        "examples/breakthrough.py",
    ],
)
def test_agents_that_reach_outside_are_refused(site, agent):
    with site.page() as page:
        answer = page.think("tictactoe", agent=agent)
        assert answer["type"] == "error", answer
        assert answer["error"]
        assert page.think("tictactoe", agent="random")["type"] == "move"


NAMED = allowed_agents()


@pytest.mark.parametrize("name", NAMED)
def test_every_option_of_every_agent_passes_the_one_door(name):
    """By its kind: a net is one of those that come with us, whatever else has that name here, and dear things end."""
    game, settings = load_game("tictactoe"), ServerSettings()
    options = AGENTS[PRESETS.get(name, name).partition(":")[0]].options
    ceilings = {Between: math.inf, Seconds: 60, Threads: CORES, Megabytes: settings.memory, Answers: 100_000}
    for key, option in options.items():
        allowed = option.allowed
        if isinstance(allowed, NetName):
            for value in (*allowed.names, ALPHAGO_POLICY, ALPHAGO_VALUE, "src", "pyproject.toml", "nowhere", "human"):
                spec = f"{name}:{key}={value}"
                if value in allowed.names:
                    assert spec_of(spec, game, settings) == spec
                else:
                    with pytest.raises(BadParameter, match=f"^no net is called '{value}' here"):
                        spec_of(spec, game, settings)
        elif isinstance(allowed, OneOf):
            for value in allowed.names:
                assert spec_of(f"{name}:{key}={value}", game, settings)
            with pytest.raises(BadParameter, match="is unknown"):
                spec_of(f"{name}:{key}=nobody", game, settings)
        else:
            most = min(ceilings[type(allowed)], allowed.high)
            for value in (allowed.low, most):
                assert spec_of(f"{name}:{key}={option.kind(value)}", game, settings)
            for value in (option.kind(most) + 1, option.kind(allowed.low) - 1, "nan", "inf", "1e999"):
                with pytest.raises(BadParameter, match=f"^{key}="):
                    spec_of(f"{name}:{key}={value}", game, settings)
    with pytest.raises(BadParameter, match=f"{name} has no option 'path'"):
        spec_of(f"{name}:path=x", game, settings)


@pytest.mark.parametrize("kind", [object(), type("Anything", (Between,), {})(0, 9)])
def test_an_option_of_a_kind_that_the_door_does_not_know_is_refused(kind, monkeypatch):
    option = Option(int, kind, 0, "what a new agent asks for")
    monkeypatch.setitem(AGENTS, "random", replace(AGENTS["random"], options={"new": option}))
    with pytest.raises(BadParameter, match="new is not chosen here"):
        spec_of("random:new=5", load_game("tictactoe"), ServerSettings())


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("", "not JSON"),
        ("hello", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        ("[1, 2]", "a message is an object"),
        ("null", "a message is an object"),
        ("[" * 10_000, "not JSON"),
        ("1" * 10_000, "not JSON"),
        ('{"id": NaN, "type": "think"}', "not JSON"),
        ({"id": 1}, "no message has the type 'None'"),
        ({"id": 1, "type": "thinc"}, "did you mean 'think'?"),
        ({"id": 1, "type": ["think"]}, "no message has the type"),
        ({"type": "position", "game": "go", "moves": []}, "position: id"),
        ({"id": {}, "type": "position", "game": "go", "moves": []}, "id"),
        ({"id": 1, "type": "position", "game": 5, "moves": []}, "game"),
        ({"id": 1, "type": "position", "game": "go", "moves": [1]}, "moves.0"),
        ({"id": 1, "type": "position", "game": "\ud800", "moves": []}, "game"),
        ({"id": 1, "type": "position", "game": "go", "moves": [], "path": "/"}, "path"),
        ({"id": 1, "type": "position", "game": "go:size=x", "moves": []}, "size=x is not a whole number"),
        ({"id": 1, "type": "think", "game": "go", "moves": [], "limit": {"time": -1}}, "limit.time"),
        ({"id": 1, "type": "think", "game": "go", "moves": [], "limit": {"time": 10**400}}, "limit.time"),
        ({"id": 1, "type": "think", "game": "go", "moves": [], "every": 0}, "every"),
        ({"id": 1, "type": "think", "game": "go", "moves": [], "slot": -1}, "slot"),
        ({"id": 1, "type": "stop"}, "of"),
        ({"id": 1, "type": "position", "game": "go", "moves": ["x" * 70_000]}, "too long"),
    ],
)
def test_a_malformed_message_is_explained_and_the_game_goes_on(site, message, said):
    with site.page() as page:
        page.say(message)
        answer = page.hear()
        assert answer["type"] == "error"
        assert said in answer["error"]
        assert page.ask(type="position", game="tictactoe", moves=["b2"])["type"] == "view"


def test_whatever_is_sent_gets_an_answer(site):
    """Random bytes, and messages with random pieces taken out or changed."""
    import random

    rng = random.Random(1)
    good = json.dumps({"id": 3, "type": "think", "game": "tictactoe", "moves": ["b2"], "agent": "random"})
    with site.page() as page:
        for _ in range(200):
            text = list(good)
            for _ in range(rng.randint(1, 5)):
                place = rng.randrange(len(text))
                text[place : place + rng.randint(0, 8)] = rng.choice(
                    ["", '"', "{", "[", "0", "\x00", "é", "\\", "null"]
                )
            page.say("".join(text))
            while page.hear()["type"] not in LAST:
                pass
        assert page.ask(type="position", game="tictactoe", moves=["b2"])["type"] == "view"


HOSTS = {
    "127.0.0.1": 200,
    "127.0.0.2:8000": 200,  # all of 127.0.0.0/8 is this machine
    "localhost:8000": 200,
    "LOCALHOST": 200,
    "[::1]:8000": 200,
    "evil.example": 403,
    "127.0.0.1.evil.example": 403,
    "localhost.evil.example:8000": 403,
    "192.168.1.7": 403,
    "evil.example@127.0.0.1": 400,
    "127.0.0.1/x": 400,
    "127.0.0.1:port": 400,
    "": 400,
}


def test_only_our_own_names_are_answered(site):
    for host, status in HOSTS.items():
        answer = site.http.get("/api/games", headers={"host": host})
        assert answer.status_code == status, host
        if status != 200:
            assert answer.json()["error"]


def test_no_answer_is_kept(site):
    """What one visitor was told is not for the next one; the page's files are asked for anew by their tags."""
    for path, status in (("/api/games", 200), ("/api/nothing", 404)):
        answer = site.http.get(path)
        assert (answer.status_code, answer.headers["cache-control"]) == (status, "no-store")
    refused = site.http.get("/api/games", headers={"host": "evil.example"})
    assert refused.headers["cache-control"] == "no-store"
    assert site.http.get("/app.js").headers["cache-control"] == "no-cache"


def test_names_where_others_may_reach_us():
    with serving(host="0.0.0.0", names=("club.example",), requests=10_000) as site:
        for host, status in {"192.168.1.7:8000": 200, "club.example": 200, "evil.example": 403}.items():
            assert site.http.get("/api/games", headers={"host": host}).status_code == status, host


def test_other_peoples_pages_may_not_ask(site):
    here = site.url
    body = {"game": "go", "moves": []}
    for origin, status in {
        here: 200,
        "http://evil.example": 403,
        "null": 403,
        here.replace("http", "file"): 403,
    }.items():
        answer = site.http.post("/api/records/write", json=body, headers={"origin": origin})
        assert answer.status_code == status, origin
    with site.page(origin=here) as page:
        assert page.ask(type="position", game="tictactoe", moves=[])["type"] == "view"
    for origin in ("http://evil.example", "http://127.0.0.1:1", "null"):
        with pytest.raises(websockets.exceptions.InvalidStatus), site.page(origin=origin):
            pass
    with pytest.raises(websockets.exceptions.InvalidStatus), site.page(additional_headers={"origin": "http://a"}):
        pass


def test_hosts_and_origins():
    assert host_name("Example.org:80") == "example.org"
    assert host_name("[::1]:80") == "::1"
    assert [host_name(text) for text in ("[::1", "a:b", "a:", "a/b", "a?b", "x@a", "")] == [None] * 7
    assert is_origin("https://example.org", "example.org")
    assert not is_origin("http://example.org:81", "example.org:80")
    assert not is_origin("http://example.org.evil", "example.org")


def test_bodies_are_bounded(site):
    long = b'{"text": "' + b"x" * 2**20 + b'"}'
    answer = site.http.post("/api/records/read", content=long)
    assert answer.status_code == 413
    pieces = (long[begin : begin + 2**16] for begin in range(0, len(long), 2**16))  # without a Content-Length
    answer = site.http.post("/api/records/read", content=pieces)
    assert (answer.status_code, "too long" in answer.json()["error"]) == (413, True)


def test_rates_are_bounded():
    """Five at once, and the next a quarter of an hour later: however slow this machine is."""
    with serving(requests=0.001, messages=0.001, burst=5000) as site, site.page() as page:
        heard = [page.ask(id=i, type="position", game="tictactoe", moves=[]) for i in range(6)]
        assert [answer["type"] for answer in heard] == ["view"] * 5 + ["error"]
        assert "messages a second" in heard[-1]["error"]
        answers = [site.http.get("/api/agents") for _ in range(5)]  # opening the page was a request, too
        assert [answer.status_code for answer in answers] == [200] * 4 + [429]
        assert "requests a second" in answers[-1].json()["error"]


def test_buckets():
    bucket = Bucket(rate=10, burst=2, now=0.0)
    assert [bucket.take(0.0) for _ in range(21)] == [True] * 20 + [False]
    assert bucket.take(0.1)
    assert not bucket.take(0.1)
    assert [bucket.take(100.0) for _ in range(21)] == [True] * 20 + [False]


def test_pages_are_bounded():
    with serving(pages=2, pages_of_client=1) as site, site.page() as first:
        with site.page() as second:
            assert "pages are open" in second.hear()["error"]
        assert first.ask(type="position", game="tictactoe", moves=[])["type"] == "view"


def test_headers_keep_a_browser_from_anything_but_our_own_files(site):
    for path in ("/", "/api/games", "/nothing"):
        headers = site.http.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/..%2fserver.py",
        "/%2e%2e/server.py",
        "/play/../../server.py",
        "//etc/passwd",
        "/%00",
        "/C:%5Cx",
        "/server.py",
        "/docs",
        "/redoc",
        "/openapi.json",
        "/" + "x" * 3000,
    ],
)
def test_only_the_pages_files_are_served(site, path):
    with socket.create_connection(("127.0.0.1", site.port)) as raw:  # a client library would tidy the path up
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := raw.recv(65536):
            answer += piece
    assert answer.split()[1] in (b"404", b"400")
    assert b"import" not in answer


def test_files_are_sent_small_and_once(site):
    first = site.http.get("/")
    assert "<title>Tengen</title>" in first.text
    assert first.headers["content-type"] == "text/html; charset=utf-8"
    assert first.headers["content-encoding"] == "gzip"
    again = site.http.get("/", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert site.http.head("/").content == b""
    assert "content-encoding" not in site.http.get("/", headers={"accept-encoding": "identity"}).headers
    assert site.http.get("/app.js").headers["content-type"].startswith("text/javascript")
