"""The pages "learn" and "arena" in a browser: a run and a match watched to their end, curves, both languages."""

import re
from contextlib import contextmanager
from pathlib import Path

import pytest
from web_jobs import PATIENCE, TINY, site_in, write_run

from tengen.apps.web.server import new_app
from tengen.learn.settings import preset_names
from tengen.records.store import Store


@pytest.fixture
def site(tmp_path):
    with site_in(tmp_path) as site:
        yield site


@contextmanager
def watched(chromium, site, *pages, **options):
    """Pages of a site in a browser."""
    from web_browser import browser, open_page, running_server

    with running_server(new_app(site.settings)) as url, browser(chromium) as chrome:
        yield lambda address, **more: open_page(chrome, f"{url}#/{address}", **options, **more)


def test_a_tiny_run_is_watched_to_its_end(chromium, site):
    """Started on the page, it draws its curves and shows its games; then one plays against its net."""
    with watched(chromium, site) as opened, opened("learn") as page:
        page.get_by_text("No run yet.").wait_for()
        page.get_by_label("Generations", exact=True).fill(str(TINY["generations"]))
        page.get_by_label("Simulations a move").fill(str(TINY["simulations"]))
        page.get_by_text("More settings").click()
        page.get_by_label("Positions a generation").fill(str(TINY["positions"]))
        page.get_by_label("Evaluate every").fill(str(TINY["evaluate_every"]))
        page.get_by_label("Games of an evaluation").fill(str(TINY["evaluation_games"]))
        page.get_by_label("Name").fill("kettle")
        page.get_by_role("button", name="Start training").click()
        page.locator(".run-head .run-state.running").wait_for()
        assert page.get_by_role("button", name="Stop").is_visible()
        page.locator(".run-head .run-state.complete").wait_for(timeout=1000 * PATIENCE)
        assert page.locator(".run-head").get_by_text("Generation 3 of 3").is_visible()
        view = site.get("/api/runs/kettle")
        assert page.locator('[data-figure="games"] b').inner_text() == f"{view['games']:,}"
        loss = page.get_by_role("img", name=re.compile("^Loss: total"))
        lines = site.get("/api/runs/kettle/metrics")["lines"]
        assert f"total {lines[-1]['loss']['total']:.3g}" in loss.get_attribute("aria-label").replace("0 ", " ")
        for title in ("Win rate", "Rating", "Games a second", "Length of a game"):
            assert page.get_by_role("img", name=re.compile(f"^{title}")).is_visible()
        loss.focus()
        page.keyboard.press("Home")
        assert "(generation 1)" in loss.get_attribute("aria-label")
        assert page.locator(".replay .board").is_visible()
        page.get_by_role("button", name="To the start").click()
        assert page.locator(".replay-said").inner_text().startswith("Move 0 of")
        page.get_by_role("button", name="A move on").click()
        assert page.locator(".replay-said").inner_text().startswith("Move 1 of")
        page.get_by_label("Play against its net").select_option("2")
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_url(re.compile("#/play"))
        assert "run:kettle@2" in page.evaluate("decodeURIComponent(location.hash)")
        page.locator(".board .cell").nth(4).click()
        page.locator('.board .cell[aria-label*="O"]').first.wait_for()


def test_runs_are_compared_in_both_languages(chromium, site):
    write_run(site.settings.runs / "one", done=4)
    write_run(site.settings.runs / "two", done=5, rating=99.0)
    with watched(chromium, site) as opened:
        with opened("learn?run=one") as page:
            for name in ("one", "two"):
                page.get_by_label(f"Compare {name}").check()
            chart = page.get_by_role("img", name=re.compile(r"^Rating.*one 50 \(generation 4\); two 99"))
            chart.wait_for()
            page.get_by_role("button", name="Time", exact=True).click()
            page.get_by_role("img", name=re.compile("two 99 .*minutes")).wait_for()
            page.reload()
            page.get_by_role("img", name=re.compile("^Rating.*one 50.*two 99")).wait_for()
            assert page.get_by_label("Compare two").is_checked()
            for name in ("learn", "arena"):
                words = page.evaluate(f"import('./learn/{name}.js').then((page) => page.words)")
                assert words["en"].keys() <= words["zh"].keys()  # and what in English are the server's own words
                assert name != "learn" or {f"preset {preset}" for preset in preset_names()} <= words["zh"].keys()
        with opened("learn", language="zh-CN") as page:
            page.get_by_role("heading", name="看它学习").wait_for()
            page.get_by_role("button", name="开始训练").wait_for()


def test_a_short_run_says_when_its_curve_of_strength_begins(chromium, site):
    """And its axes have names and ticks from the first generations on, whatever they count."""
    changes = ["evaluation.every=20", "run.generations=200"]
    write_run(site.settings.runs / "short", done=2, changes=changes, matches=[], rating=None)
    write_run(site.settings.runs / "one", done=1, changes=changes, matches=[], rating=None)
    with watched(chromium, site) as opened:
        with opened("learn?run=short") as page:
            chart = page.locator(".learn-chart", has_text="Win rate")
            chart.get_by_text("the first against uct:playouts=1000 comes with generation 20").wait_for()
            chart.get_by_text("--set evaluation.every=5.").wait_for()
            assert not page.locator(".learn-chart", has_text="Rating (Elo)").is_visible()
            loss = page.locator(".learn-chart", has_text="Loss")
            across = ".chart-tick[text-anchor=middle]"
            assert loss.locator(across).all_text_contents() == ["1", "2"]
            assert loss.locator(".chart-across").text_content() == "generation"
            page.get_by_role("button", name="Positions", exact=True).click()
            loss.get_by_text("positions", exact=True).wait_for()
            assert all(text.isdecimal() for text in loss.locator(across).all_text_contents())
            assert loss.locator(across).count() >= 2
            page.get_by_role("button", name="Time", exact=True).click()
            loss.get_by_text("minutes", exact=True).wait_for()
            page.locator('[data-focus="run-one"]').click()  # a single point: no time is less than none
            page.locator(".run-head").get_by_role("heading", name="one").wait_for()
            page.locator(".learn-chart circle").first.wait_for()
            texts = loss.locator(across).all_text_contents()
            assert len(texts) >= 2 and not any("−" in text for text in texts)
            found = page.evaluate(
                """import("./learn/charts.js").then(({ ticks }) => [
                  ticks(1.1, 2.7, 3), ticks(1, 10, 4, true), ticks(1, 2, 9, true), ticks(3, 3),
                  ticks(422, 633, 3, true),
                ])"""
            )
            assert found == [[1.5, 2, 2.5], [5, 10], [1, 2], [3], [500, 600]]
        with opened("learn?run=short", language="zh-CN") as page:
            page.locator(".learn-chart").get_by_text("第一场比赛在第 20 代").wait_for()


def test_a_cross_table_fills(chromium, site):
    """A tournament of three, started on the page; every figure is that of its store."""
    with watched(chromium, site) as opened, opened("arena") as page:
        page.get_by_text("Nothing played yet.").wait_for()
        agents = page.locator(".arena-agent select")
        agents.nth(0).select_option("beginner")
        page.get_by_role("button", name="Add an agent").click()
        agents.nth(2).select_option("other…")
        page.get_by_label("Agent, as on the command line").last.fill("random")
        page.get_by_label("Games of each pair").fill("4")
        page.get_by_text("12 games in all").wait_for()
        page.get_by_role("button", name="Start", exact=True).click()
        page.locator(".run-head .run-state.complete").wait_for(timeout=1000 * PATIENCE)
        assert page.get_by_text("12 of 12 games").is_visible()
        view = site.get("/api/contests/tictactoe")
        rows = page.locator(".arena-cross tbody tr")
        assert rows.count() == 3
        called = {"beginner": "Beginner", "medium": "Medium"}
        for i, player in enumerate(view["players"]):
            assert called.get(player["name"], player["name"]) in rows.nth(i).locator("th").inner_text()
            for j, counts in enumerate(view["cross"][i]):
                text = rows.nth(i).locator("td").nth(j).inner_text().split()
                assert text == (["·"] if counts is None else [str(counts[key]) for key in ("wins", "draws", "losses")])
        assert (
            sum(
                counts["wins"] + counts["draws"] + counts["losses"] for row in view["cross"] for counts in row if counts
            )
            == 24
        )
        assert page.get_by_role("img", name=re.compile("^Ratings: ")).is_visible()
        assert page.locator(".game-list li").count() == 12
        page.locator(".game-list button").last.click()
        page.get_by_role("button", name="To the end").click()
        shown = site.get("/api/contests/tictactoe/games/1")
        assert f"Move {len(shown['moves'])} of {len(shown['moves'])}" in page.locator(".replay-said").inner_text()
    with Store(Path(site.settings.contests) / "tictactoe" / "games.db") as store:
        assert sum(tally.games for tally in store.tally()) == 12
