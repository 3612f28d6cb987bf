"""What one client, or one page, may take of the server; and what a review of the pages found."""

from __future__ import annotations

import asyncio
import json
import math
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from web_browser import expect, open_page, running_server

from tengen.apps.web import runs
from tengen.apps.web.security import Guard, Turns
from tengen.apps.web.settings import ServerSettings
from tengen.apps.web.socket import KeptAgent, Page, Pages, Places


def test_requests_of_one_client_wait_outside() -> None:
    """Of ten requests of one client two are let in at once; another client does not wait for them."""
    inside: list[str] = []
    most: dict[str, int] = {}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        client = scope["client"][0]
        inside.append(client)
        most[client] = max(most.get(client, 0), inside.count(client))
        await (done.wait() if client == "192.0.2.1" else asyncio.sleep(0))
        inside.remove(client)

    async def ask(guard: Guard, client: str) -> None:
        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            raise AssertionError(f"refused: {message}")

        scope = {"type": "http", "client": (client, 5), "headers": [(b"host", b"127.0.0.1")]}
        await guard(scope, receive, send)

    async def crowd() -> None:
        guard = Guard(app, ServerSettings(requests_at_once=2))
        greedy = [asyncio.create_task(ask(guard, "192.0.2.1")) for _ in range(10)]
        await asyncio.sleep(0.01)
        async with asyncio.timeout(60):
            await ask(guard, "192.0.2.2")
            assert inside == ["192.0.2.1"] * 2
            done.set()
            await asyncio.gather(*greedy)
        assert not guard.turns.clients  # nobody asks, nobody is remembered

    done = asyncio.Event()
    asyncio.run(crowd())
    assert most == {"192.0.2.1": 2, "192.0.2.2": 1}


def test_turns_are_each_clients_own() -> None:
    turns = Turns(1)
    mine, yours = turns.of("me"), turns.of("you")
    assert mine is turns.of("me")
    assert mine is not yours


def test_whoever_gives_up_waiting_takes_no_place() -> None:
    async def crowd() -> None:
        places = Places(1)
        await places.take("first")
        second, third = (asyncio.create_task(places.take(name)) for name in ("second", "third"))
        await asyncio.sleep(0)
        second.cancel()
        places.leave("first")  # before the second knows
        await asyncio.wait([second])
        await third
        assert places.searches == {"third": 1}
        fourth = asyncio.create_task(places.take("fourth"))
        await asyncio.sleep(0)
        places.leave("third")  # calls the fourth …
        fourth.cancel()  # … which goes in the same moment
        await asyncio.wait([fourth])
        assert (places.free, places.taken, places.waiting) == (1, 0, [])

    asyncio.run(crowd())


def test_agents_of_all_pages_are_bounded() -> None:
    """The agents that were not asked for longest go first, whosever they are; one that thinks stays."""

    async def crowd() -> None:
        pages = Pages(ServerSettings(all_agents=3))
        ours, theirs = (Page(None, pages, "192.0.2.1") for _ in range(2))  # type: ignore[arg-type]
        pages.pages |= {ours, theirs}
        agent: Any = object()
        theirs.agents = {("old",): KeptAgent(agent, 1.0), ("thinks",): KeptAgent(agent, 0.0, is_busy=True)}
        ours.agents = {("older",): KeptAgent(agent, 0.5)}
        with ours.kept(("new",)) as kept:
            kept.agent = agent
            assert [*theirs.agents, *ours.agents] == [("old",), ("thinks",), ("new",)]
        with ours.kept(("newer",)) as kept:
            kept.agent = agent
            assert [*theirs.agents, *ours.agents] == [("thinks",), ("new",), ("newer",)]

    asyncio.run(crowd())


def test_only_the_newest_metrics_of_a_run_are_kept(tmp_path: Path) -> None:
    runs._metrics.clear()
    with (tmp_path / "metrics.jsonl").open("a", encoding="utf-8") as file:
        for generation in range(1, 6):
            file.write(json.dumps({"generation": generation}) + "\n")
            file.flush()
            assert [line["generation"] for line in runs.metrics_of(tmp_path)] == list(range(1, generation + 1))
    assert len(runs._metrics) == 1


def test_a_body_that_nobody_can_read(site: str) -> None:
    for body in ("[" * 100_000, "{", b"\xff"):
        answer = httpx.post(f"{site}api/records/write", content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422)
        assert "JSON" in answer.json()["error"]


# In the browser.


@pytest.mark.parametrize("second", ["easy", "person"])
def test_the_page_says_that_its_server_is_gone_until_it_is_back(chrome: Any, second: str) -> None:
    """The socket tells it at once; without one the next move does, which is played when there is a server again."""
    with ExitStack() as first:
        url = first.enter_context(running_server())
        link = f"#/play?game=tictactoe&moves=b2&first=person&second={second}"
        with open_page(chrome, url + link, expected=("ERR_", "WebSocket", "503")) as page:
            gone, status = page.locator("#gone[role=alert]"), page.locator("p.status")
            expect(status).to_have_text("Your move (X)" if second == "easy" else "O to move")
            expect(gone).to_be_empty()
            first.close()
            if second == "person":
                page.locator('svg.board [data-cell="0"]').click()
            expect(gone).to_have_text(
                "The server has ended or cannot be reached; start it again with tengen serve. Your game is still here."
            )
            page.locator("#language").click()
            expect(gone).to_contain_text("服务器")
            page.locator("#language").click()
            expect(gone).to_contain_text("The server has ended")
            with running_server(port=urlsplit(url).port or 0):
                expect(gone).to_be_empty()
                if second == "person":
                    page.locator('svg.board [data-cell="0"]').click()
                expect(status).to_have_text("Your move (X)" if second == "easy" else "X to move")


def saved(page: Any) -> str:
    """The record that the page hands out."""
    with page.expect_download() as download:
        page.locator('[data-action="save"]').click()
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_a_game_that_was_given_up(chrome: Any, site: str) -> None:
    """A resignation ends the line: it is saved from wherever one looks, and comes back with the record."""
    link = "#/play?game=gomoku:size=9&moves=e5-d5-e6&first=person&second=person"
    with open_page(chrome, site + link) as page:
        status = page.locator("p.status")
        page.locator('[data-action="undo"]').click()
        expect(status).to_have_text("Black to move")
        page.locator('[data-action="resign"]').click()
        expect(status).to_have_text("Black resigned; White wins")
        text = saved(page)
        assert "RE[W+R]" in text
        assert text.endswith(";B[ee];W[de](;)(;B[ed]))\n")  # what was taken back is a variation
        page.keyboard.press("ArrowLeft")
        expect(status).to_have_text("White to move")
        assert saved(page) == text
        page.locator('[data-action="load"]').click()
        page.fill("#record-text", text)
        page.get_by_role("button", name="Read").click()
        expect(status).to_have_text("Black resigned; White wins")
        assert saved(page) == text
        page.locator('[data-action="undo"]').click()
        expect(status).to_have_text("Black to move")
        page.locator('svg.board [data-cell="0"]').click()
        expect(status).to_have_text("White to move")
        assert "RE[?]" in saved(page)


@pytest.mark.parametrize("name", ["toString", "constructor", "elsewhere"])
def test_a_link_to_a_page_that_there_is_not(chrome: Any, site: str, name: str) -> None:
    with open_page(chrome, f"{site}#/{name}") as page:
        expect(page.locator("svg.board")).to_be_visible()


def test_ucb1_has_its_numbers_after_the_last_pull(chrome: Any, site: str) -> None:
    with open_page(chrome, f"{site}#/explore/bandits") as page:
        page.locator("h1").click()
        page.keyboard.press("End")
        for arm in page.locator(".arm").all():
            pulls, mean, bound = (
                float(arm.locator(f'[data-field="{name}"]').inner_text()) for name in ("pulls", "mean", "bound")
            )
            assert bound == pytest.approx(mean + (2 * math.log(500) / pulls) ** 0.5, abs=0.0016)


def test_a_winning_row_is_marked_when_its_disc_is_there(chrome: Any, site: str) -> None:
    link = "#/play?game=connect4&moves=1-2-1-2-1-2&first=person&second=person"
    with open_page(chrome, site + link, motion="no-preference") as page:
        page.locator('svg.board [data-cell="0"]').click()
        line = page.locator(".winning-line")
        line.wait_for(state="attached")
        delays = line.evaluate("part => part.getAnimations().map(a => a.effect.getTiming().delay)")
        assert delays == [260 + 60 * 3]  # what a disc takes to fall into the third row from above
        expect(page.locator("p.status")).to_have_text("Red wins")
