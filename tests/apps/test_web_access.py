"""Who may come in where more than this machine can reach the server, and what visitors may start."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import websockets
from web_browser import browser, expect, open_page, running_server
from web_jobs import Site as Folders
from web_jobs import write_run
from web_site import PATIENCE, serving

from tengen.apps.web import server
from tengen.apps.web.settings import ServerSettings, is_loopback
from tengen.rules.errors import TengenError

PASSWORD = "open: sesame & 芝麻"


@pytest.fixture(scope="module")
def site():
    with serving(host="0.0.0.0", password=PASSWORD, requests=10_000) as site:
        yield site


def test_strangers_are_asked_who_they_are(site):
    for path in ("/api/games", "/api/openapi.json", "/app.js"):
        answer = httpx.get(site.url + path)
        assert answer.status_code == 401
        assert "open the link" in answer.json()["error"]
    assert httpx.post(f"{site.url}/api/records/write", json={"game": "go", "moves": []}).status_code == 401
    page = httpx.get(site.url, headers={"accept": "text/html"})
    assert page.status_code == 401
    assert '<form method="post"' in page.text
    assert "<script" not in page.text
    with pytest.raises(websockets.exceptions.InvalidStatus) as refused, site.page():
        pass
    assert refused.value.response.status_code == 401
    assert b"open the link" in refused.value.response.body


def test_the_link_opens_the_page(site):
    with httpx.Client(base_url=site.url) as visitor:
        first = visitor.get("/", params={"token": PASSWORD})
        assert first.status_code == 200
        cookie = first.headers["set-cookie"].lower()
        assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/"))
        assert '<meta http-equiv="refresh" content="0; url=/">' in first.text  # where no token stands in the address
        assert PASSWORD not in first.text + cookie
        assert 'id="main"' in visitor.get("/", headers={"accept": "text/html"}).text
        assert visitor.get("/api/games").status_code == 200
        cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    with site.page(additional_headers={"cookie": cookie}) as page:
        assert page.ask(type="position", game="tictactoe", moves=[])["type"] == "view"


def test_programs_send_the_secret_along(site):
    for given, status in ((PASSWORD, 200), ("wrong", 401)):
        headers = {b"authorization": b"Bearer " + given.encode()}
        assert httpx.get(f"{site.url}/api/games", headers=headers).status_code == status


@pytest.mark.parametrize("path", ["/?token=wrong", "/?token="])
def test_a_wrong_link_opens_nothing(site, path):
    answer = httpx.get(site.url + path, headers={"accept": "text/html"})
    assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)


def test_a_cookie_that_we_did_not_make_opens_nothing(site):
    name = f"tengen-{ServerSettings().port}"
    for value in ("", "x", "ä", "0" * 64):
        headers = {b"cookie": f"{name}={value}".encode()}
        assert httpx.get(f"{site.url}/api/games", headers=headers).status_code == 401


def test_attempts_are_counted_as_requests():
    with serving(password=PASSWORD, requests=0.001, burst=5000) as site:
        sign_in = [httpx.post(f"{site.url}/sign-in", data={"password": "x"}).status_code for _ in range(6)]
    assert sign_in == [401] * 5 + [429]


def test_signing_in_with_a_browser(chromium):
    """The form, which has no script, and whose sender a browser says only where the page lets it."""
    app = server.new_app(ServerSettings(password=PASSWORD))
    with running_server(app) as url, browser(chromium) as chrome, open_page(chrome, url, expected=("401",)) as page:
        page.fill("input[name=password]", "something else")
        page.locator("button").click()
        expect(page.locator("[role=alert]")).to_contain_text("not the password")
        page.fill("input[name=password]", PASSWORD)
        page.locator("button").click()
        expect(page.locator("svg.board")).to_be_visible()


def test_a_link_in_somebody_elses_page_opens_the_page(chromium):
    """The browser sends no strict cookie along where another site leads; we ask anew, from our own page."""
    app = server.new_app(ServerSettings(password="sesame"))
    with running_server(app) as url, browser(chromium) as chrome:
        elsewhere = f"data:text/html,<a href='{url}?token=sesame'>to the club</a>"
        with open_page(chrome, elsewhere) as page:
            page.locator("a").click()
            expect(page.locator("svg.board")).to_be_visible()
            assert "token" not in page.url


# What is asked for by default.


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.2", "::1"])
def test_on_this_machine_nobody_is_asked(host):
    settings = server.with_secret(ServerSettings(host=host), is_open=False)
    assert (settings.password, settings.is_private) == ("", True)
    assert "others" not in server.greeting(f"http://{host}:8000", settings)


@pytest.mark.parametrize(
    "settings",
    [
        ServerSettings(host="0.0.0.0"),
        ServerSettings(behind_proxy=True),
        ServerSettings(host="10.0.0.1"),
        ServerSettings(names=("club.example",)),  # a tunnel brings others to this machine
    ],
)
def test_elsewhere_a_token_is_made_up(settings):
    made, again = (server.with_secret(settings, is_open=False) for _ in range(2))
    assert made.token == made.password != again.token
    assert len(made.token) >= 30
    assert f"/?token={made.token}" in server.greeting("http://127.0.0.1:8000", made)
    assert server.with_secret(settings, is_open=True).password == ""
    assert "it is open" in server.greeting("http://127.0.0.1:8000", server.with_secret(settings, is_open=True))


@pytest.mark.parametrize(
    ("settings", "is_open", "said"),
    [
        (ServerSettings(), True, "--browser opens the page"),
        (ServerSettings(host="0.0.0.0", password="long enough"), True, "choose one"),
        (ServerSettings(host="0.0.0.0", password="short"), False, "too short"),
    ],
)
def test_what_cannot_be_meant_is_refused(settings, is_open, said):
    with pytest.raises(TengenError, match=said):
        server.with_secret(settings, is_open)


def test_this_machine():
    assert all(map(is_loopback, ("localhost", "LocalHost", "127.0.0.1", "127.255.0.9", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "localhost.evil.example", "127.0.0.1.evil.example")))


def test_serve_prints_the_link_that_lets_in(tmp_path):
    command = [sys.executable, "-m", "tengen", "serve", "--host", "0.0.0.0", "--port", "0", "--runs", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "TENGEN_PASSWORD": ""})
    try:
        link = process.stdout.readline().split()[3]
        address = link.partition("/?token=")[0]
        assert httpx.get(f"{address}/api/games", timeout=PATIENCE).status_code == 401
        with httpx.Client(base_url=address, timeout=PATIENCE) as visitor:
            assert visitor.get(link).status_code == 200
            assert visitor.get("/api/games").status_code == 200
            listed = visitor.get("/api/runs").json()
            assert "--jobs" in listed["advice"]
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.communicate()


def test_the_password_is_not_handed_to_jobs(monkeypatch):
    from tengen.apps.web.jobs import environment

    monkeypatch.setenv("TENGEN_PASSWORD", PASSWORD)
    assert PASSWORD not in environment().values()


# What visitors may start.


def folders_of(tmp_path: Path, **settings) -> Folders:
    return Folders(tmp_path, host="0.0.0.0", **settings)


def test_visitors_start_and_stop_nothing_unless_they_may(tmp_path):
    site = folders_of(tmp_path)
    write_run(site.settings.runs / "mine")
    contest = {"game": "tictactoe", "agents": ["random", "beginner"]}
    for path, body in (
        ("/api/runs", {"preset": "tictactoe"}),
        ("/api/runs/mine/resume", None),
        ("/api/runs/mine/stop", None),
        ("/api/contests", contest),
    ):
        assert "--jobs" in site.post(path, body, 403)["error"]
    assert "--jobs" in site.get("/api/runs")["advice"]
    assert "--jobs" in site.get("/api/contests")["advice"]
    view = site.get("/api/runs/mine")
    assert (view["state"], view["can_resume"]) == ("stopped", False)
    assert not site.settings.contests.exists()
    allowed = folders_of(tmp_path, jobs=True)
    assert allowed.get("/api/runs")["advice"] == allowed.get("/api/contests")["advice"] == ""
    assert allowed.get("/api/runs/mine")["can_resume"]


def test_the_page_says_why_nothing_can_be_started(chromium, tmp_path):
    app = server.new_app(ServerSettings(host="0.0.0.0", runs=tmp_path / "runs", contests=tmp_path / "contests"))
    with running_server(app) as url, browser(chromium) as chrome:
        for name in ("learn", "arena"):
            with open_page(chrome, f"{url}#/{name}") as page:
                expect(page.locator(".learn-side .problem")).to_contain_text("--jobs")
                expect(page.locator(".learn-side button[type=submit]")).to_have_count(0)


def test_what_pages_have_started_is_bounded(tmp_path):
    site = Folders(tmp_path, most_runs=2, most_contests=2)
    for kind, body in (
        ("runs", {"preset": "tictactoe"}),
        ("contests", {"game": "tictactoe", "agents": ["random", "beginner"]}),
    ):
        kept = tmp_path / kind / ".jobs"
        kept.mkdir(parents=True)
        for name in ("one", "two"):
            (kept / f"{name}.json").write_text("{}")
        before = sorted(path for path in tmp_path.rglob("*") if path.name != "lock")
        said = site.post(f"/api/{kind}", body, 409)["error"]
        assert "2 jobs" in said
        assert "delete" in said
        assert sorted(path for path in tmp_path.rglob("*") if path.name != "lock") == before
