"""The labs in a real browser: what the pages show is what the labs of the terminal say; and what the server refuses."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from web_browser import PROJECTOR, expect, open_page

from tengen.course import bandit, queens, wumpus, wumpus_trace

PATIENCE = 60.0


def press(page: Any, name: str) -> None:
    page.click(f'[data-action="{name}"]')


def text(page: Any, selector: str) -> str:
    return page.locator(selector).first.text_content()


def number(words: str) -> float:
    return float(words.replace("−", "-").replace(",", "").removesuffix("%"))


def go_to(page: Any, step: int) -> None:
    page.fill(".stepper-target", str(step))
    press(page, "run to")


def change(page: Any, field: str, value: object, wait_for: str) -> None:
    """Fills a field, and waits for what must come of it."""
    page.fill(f'[data-field="{field}"]', str(value))
    page.keyboard.press("Tab")
    page.wait_for_selector(wait_for)
    page.wait_for_selector(".explore:not(:has([inert]))")


# Bandits


def test_thompsons_draws_and_regret(chrome: Any, site: str) -> None:
    """At a step the page shows what was drawn, frames the best draw, and tells the regret: all as the lab has it."""
    contest = bandit.contest([0.3, 0.5, 0.7], has_thompson=True)
    (play,) = (each for each in contest.plays if each.policy == bandit.THOMPSON)
    with open_page(chrome, f"{site}#/explore/bandits") as page:
        page.wait_for_selector(".arm")
        page.click('[data-value="thompson"]')
        for step in (0, 40, 250):
            go_to(page, step)
            drawn = [number(text(page, f'[data-arm="{arm}"] [data-field="drawn"]')) for arm in (1, 2, 3)]
            assert drawn == pytest.approx(play.bounds[step], abs=0.0006)
            best = int(np.argmax(play.bounds[step]))
            assert play.arms[step] == best
            assert page.locator(".arm.is-chosen").get_attribute("data-arm") == str(best + 1)
            pulls = [int(text(page, f'[data-arm="{arm}"] [data-field="pulls"]')) for arm in (1, 2, 3)]
            assert pulls == [play.arms[:step].count(arm) for arm in range(3)]
        go_to(page, 500)
        regret = number(text(page, '[data-policy="thompson"] [data-field="regret"]'))
        assert regret == pytest.approx(play.regret[-1], abs=0.051)
        assert page.locator('[data-field="drawn"]').count() == 0  # nobody asks any more
        assert page.locator(".curve.of-thompson").count() == 1


# Queens


def attackers_of(rows: list[int], column: int, row: int) -> int:
    """Queens of other columns that attack a square, the slow and obvious way."""
    return sum(other != column and (at == row or abs(at - row) == abs(other - column)) for other, at in enumerate(rows))


@pytest.mark.parametrize("start", queens.STARTS)
def test_steps_are_told_with_what_they_compared(start: str) -> None:
    """Each step lifts an attacked queen, compares its whole column, and puts it where fewest attack it."""
    moved = starts = 0
    for seed in range(6):
        steps = list(queens.told_steps(7, seed, start))
        assert steps[-1].attacked == [] and steps[-1].conflicts == 0
        boards = [board.queen_rows.tolist() for board in queens.watch(7, seed, start)]
        assert [step.queen_rows for step in steps] == boards
        for before, step in zip([None, *steps], steps, strict=False):
            rows = step.queen_rows
            assert step.attacked == [column for column in range(7) if attackers_of(rows, column, rows[column])]
            if step.column is None:
                starts += 1
                continue
            assert before is not None
            moved += 1
            assert step.column in before.attacked
            assert step.came_from == before.queen_rows[step.column]
            assert step.compared == [attackers_of(before.queen_rows, step.column, row) for row in range(7)]
            assert step.compared[rows[step.column]] == min(step.compared)
    assert moved > 20
    assert starts >= 6


def shown_queens(page: Any) -> list[int]:
    """The row of each column's queen, as it is drawn."""
    found = page.locator(".queen").evaluate_all("all => all.map(each => [each.dataset.column, each.dataset.row])")
    assert [int(column) for column, _ in found] == list(range(len(found)))
    return [int(row) for _, row in found]


def test_queens_step_by_step(chrome: Any, site: str) -> None:
    """The board, its conflicts as lines, and what a moved queen compared, from first step to last and back."""
    steps = list(queens.told_steps(12, 5, "random"))
    with open_page(chrome, f"{site}#/explore/queens", PROJECTOR) as page:
        page.wait_for_selector(".queen")
        for place, step in enumerate(steps):
            assert shown_queens(page) == step.queen_rows
            assert page.locator(".attack").count() == step.conflicts == int(text(page, '[data-field="conflicts"]'))
            assert page.locator(".queen.is-attacked").count() == len(step.attacked)
            if step.column is not None:
                numbers = page.locator(".queens-board text").all_text_contents()
                stays = step.queen_rows[step.column]
                assert [int(each) for each in numbers] == step.compared[:stays] + step.compared[stays + 1 :]
            if place < len(steps) - 1:
                press(page, "step")
        assert page.locator('[data-told="solved"]').count() == 1
        page.locator("h1").click()
        page.keyboard.press("Home")
        assert shown_queens(page) == steps[0].queen_rows
        page.keyboard.press("Shift+ArrowRight")
        assert shown_queens(page) == steps[10].queen_rows


def test_a_large_board_and_another_start(chrome: Any, site: str) -> None:
    with open_page(chrome, f"{site}#/explore/queens", expected=("400", "Failed to load resource")) as page:
        page.wait_for_selector(".queen")
        change(page, "size", 64, '.queen[data-column="63"]')
        page.click('[data-value="greedy"]')
        expect(page.locator('[data-told="start"]')).to_contain_text("one after another")
        first, *_, last = queens.told_steps(64, 5, "greedy")
        page.wait_for_selector(".explore:not(:has([inert]))")
        expect(page.locator('[data-field="conflicts"]')).to_have_text(str(first.conflicts))
        assert shown_queens(page) == first.queen_rows
        page.locator("h1").click()
        page.keyboard.press("End")
        assert shown_queens(page) == last.queen_rows
        press(page, "another board")
        expect(page.locator('[data-field="seed"]')).to_have_value("6")
        page.fill('[data-field="size"]', "3")
        page.keyboard.press("Tab")
        expect(page.locator(".toast.problem")).to_contain_text("3 queens always attack each other")


def test_growth_of_queens(chrome: Any, site: str) -> None:
    with open_page(chrome, f"{site}#/explore/queens") as page:
        page.wait_for_selector(".queen")
        page.select_option('[data-field="largest"]', "1000")
        press(page, "measure")
        expect(page.locator(".curve.of-put-random")).to_be_attached()
        for start in queens.STARTS:
            rows = queens.growth([10, 30, 100, 300, 1000], 5, 1, start)
            assert page.locator(f'tr[data-start="{start}"]').count() == len(rows)
            for row in rows:
                place = f'tr[data-start="{start}"][data-size="{row["size"]}"]'
                assert number(text(page, f'{place} [data-field="steps"]')) == pytest.approx(row["steps"], abs=0.051)
                assert text(page, f'{place} [data-field="range"]') == f"{row['steps_least']} – {row['steps_most']}"


# The Wumpus world


@pytest.mark.parametrize("size", [3, 4, 5])
def test_a_told_map_is_what_the_explorer_itself_knows(size: int) -> None:
    """What follows from what was felt is found beside the agent; its own knowledge must be the same."""
    dared = 0
    for seed in range(40):
        world = wumpus.random_world(random.Random(seed), size)
        told = wumpus_trace.tell(world, wumpus.Explorer(size, nerve=0.25), wumpus.PIT_CHANCE)
        agent = wumpus.Explorer(size, nerve=0.25)
        for moment, (cave, action, percept) in zip(told.moments, wumpus.explore(world, agent), strict=True):
            assert (moment.action, moment.score, moment.square) == (action, cave.score, cave.square)
            assert moment.felt == [name for name, is_felt in vars(percept).items() if is_felt]
            assert moment.reason == ("glitter" if action == "grab" else agent.reason)
            dared += moment.reason == "dare"
            if not cave.is_over:
                agent.notice(percept)  # it will feel the same again, and learn nothing new
                assert told.maps[moment.map] == wumpus_trace.map_of(agent.knows)
    assert dared > 0


def test_the_dead_learn_nothing() -> None:
    """Somebody reckless walks into a pit: the map stays what it was a moment before."""
    world = wumpus.World(4, frozenset({(1, 0)}), (3, 3), (2, 2))
    told = wumpus_trace.tell(world, wumpus.Reckless(4), 0.2)
    *_, before, last = told.moments
    assert (last.is_dead, last.score, last.square) == (True, -1001, (1, 0))
    assert last.map == before.map
    assert told.maps[last.map].breeze[:2] == [True, None]


def percent(share: float) -> str:
    if share in (0, 1):
        return {0: "ok", 1: "100%"}[int(share)]
    return f"{100 * share:.0f}%"


def shown_map(page: Any) -> dict[str, str]:
    """What stands large in each square that was not visited."""
    found = page.locator('.cave >> nth=0 >> .cave-cell:has([data-field="danger"])')
    script = "all => all.map(each => [each.dataset.square, each.querySelector('[data-field=danger]').textContent])"
    return dict(found.evaluate_all(script))


def test_a_cave_step_by_step(chrome: Any, site: str) -> None:
    """Map, percepts and score at every moment; the truth is not on the page before it is asked for."""
    world = wumpus.random_world(random.Random(118))
    agent = wumpus.Explorer(4, nerve=wumpus.NERVE)
    with open_page(chrome, f"{site}#/explore/wumpus", PROJECTOR) as page:
        page.wait_for_selector(".cave-cell")
        for cave, action, percept in wumpus.explore(world, agent):
            if action:
                press(page, "step")
            if not cave.is_over:
                agent.notice(percept)
            risks = {f"{x},{y}": wumpus.danger(risk) for (x, y), risk in agent.knows.risks().items()}
            assert shown_map(page) == {square: percent(risk) for square, risk in risks.items()}
            assert number(text(page, '[data-field="score"]')) == cave.score
            felt = page.locator(".felt .is-on").evaluate_all("all => all.map(each => each.dataset.felt)")
            assert (", ".join(felt) or "nothing") == str(percept)
            where = "{},{}".format(*cave.square)
            assert page.locator("[data-agent]").get_attribute("data-agent") == where
            assert page.locator('[data-thing="pit"], [data-thing="wumpus"]').count() == 0
        assert cave.score == 966
        assert "Score 966" in text(page, '[data-told="end"]')
        press(page, "truth")
        pits = page.locator('.cave-cell:has([data-thing="pit"])').evaluate_all("all => all.map(x => x.dataset.square)")
        assert sorted(pits) == sorted(f"{x},{y}" for x, y in world.pits)
        beast = page.locator('.cave-cell:has([data-thing="wumpus"])').get_attribute("data-square")
        assert beast == "{},{}".format(*world.wumpus)
        assert page.locator(".cave-struck").count() == 1  # the arrow has hit it
        middle = page.locator('[data-thing="wumpus"]').evaluate(
            "beast => [beast.cx, beast.cy].map(at => at.baseVal.value)"
        )
        assert middle == [50, 50]  # of a square of 100 by 100
        assert text(page, '[data-told="reason"]') == "It has the gold and goes home."
        press(page, "another world")
        expect(page.locator('[data-field="score"]')).to_have_text("0")
        assert page.locator('[data-thing="pit"]').count() == 0  # hidden again


def test_other_agents_in_the_same_cave(chrome: Any, site: str) -> None:
    """Each comes to the end that it comes to in the terminal."""
    with open_page(chrome, f"{site}#/explore/wumpus") as page:
        page.wait_for_selector(".cave-cell")
        for name, make in wumpus.AGENTS.items():
            world = wumpus.random_world(random.Random(118))
            cave = wumpus.final(world, make(4, wumpus.PIT_CHANCE, 118))
            page.select_option('[data-field="agent"]', name)
            expect(page.locator(".stepper-counter")).to_have_text(f"0 of {cave.actions}")
            page.wait_for_selector(".explore:not(:has([inert]))")
            page.locator("h1").click()
            page.keyboard.press("End")
            assert number(text(page, '[data-field="score"]')) == cave.score
            assert page.locator(".cave-agent.is-dead").count() == cave.is_dead


def test_scores_of_many_worlds(chrome: Any, site: str) -> None:
    with open_page(chrome, f"{site}#/explore/wumpus") as page:
        page.wait_for_selector(".cave-cell")
        page.fill('[data-field="worlds"]', "120")
        page.keyboard.press("Tab")
        press(page, "compare")
        expect(page.locator("svg.intervals")).to_be_visible()
        for each in wumpus.compare(120, seed=118):
            row = f'tr[data-agent="{each.name}"]'
            assert number(text(page, f'{row} [data-field="mean"]')) == pytest.approx(each.mean, abs=0.051)
            low, high = (number(part) for part in text(page, f'{row} [data-field="interval"]').split(" – "))
            assert (low, high) == pytest.approx((each.mean - each.error, each.mean + each.error), abs=0.051)
            assert number(text(page, f'{row} [data-field="deaths"]')) == pytest.approx(100 * each.deaths, abs=0.051)


# The server


def test_what_the_server_refuses(site: str) -> None:
    refused: list[tuple[str, object, int]] = [
        ("queens", {"size": 0}, 422),
        ("queens", {"size": 2}, 400),
        ("queens", {"size": 3}, 400),
        ("queens", {"size": 65}, 422),
        ("queens", {"size": 1e9}, 422),
        ("queens", {"size": 8.5}, 422),
        ("queens", {"seed": -1}, 422),
        ("queens", {"seed": 2**63}, 422),
        ("queens", {"start": "clever"}, 422),
        ("queens", {"unknown": 1}, 422),
        ("queens/growth", {"largest": 1_000_000}, 422),
        ("queens/growth", {"largest": 100_000, "start": "random"}, 400),
        ("queens/growth", {"runs": 11}, 422),
        ("queens/growth", {"runs": 0}, 422),
        ("wumpus", {"size": 1}, 422),
        ("wumpus", {"size": 9}, 422),
        ("wumpus", {"pits": 1.01}, 422),
        ("wumpus", {"pits": "NaN"}, 422),
        ("wumpus", {"nerve": -0.1}, 422),
        ("wumpus", {"agent": "/tmp/agent.py"}, 422),
        ("wumpus", [], 422),
        ("wumpus/scores", {"worlds": 1}, 422),
        ("wumpus/scores", {"worlds": 10_000}, 422),
        ("wumpus/scores", {"worlds": 500, "size": 8}, 400),
    ]
    with httpx.Client(base_url=site, timeout=PATIENCE) as http:
        for path, body, status in refused:
            answer = http.post(f"api/explore/{path}", json=body)
            assert (answer.status_code, bool(answer.json()["error"])) == (status, True), (path, body, answer.text)


@pytest.mark.parametrize("pits", [0, 1])
def test_the_edges_of_what_is_allowed(site: str, pits: float) -> None:
    """Caves without pits, caves of nothing but pits; one queen; the widest of both."""
    with httpx.Client(base_url=site, timeout=PATIENCE) as http:
        for agent in wumpus.AGENTS:
            for size in (2, 8):
                body = {"size": size, "pits": pits, "agent": agent, "nerve": 1, "seed": 2**31}
                answer = http.post("api/explore/wumpus", json=body)
                assert answer.status_code == 200
                told = answer.json()
                assert all(len(each["danger"]) == size**2 for each in told["maps"])
                assert all(0 <= chance <= 1 for each in told["maps"] for chance in each["danger"])
        for size in (1, 4, 64):
            told = http.post("api/explore/queens", json={"size": size, "seed": 2**31}).json()
            assert told["is_solved"]


# The assignment's clock


REVERSI = "#/play?game=reversi&moves={moves}&first={first}&second={second}&clock={clock}"


def saved(page: Any) -> str:
    """The record that the page hands out."""
    with page.expect_download() as download:
        press(page, "save")
    return Path(download.value.path()).read_text(encoding="utf-8")


def hold_time(page: Any) -> None:
    """From now on the page's time goes on only when it is told to."""
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    page.reload()


def test_whoever_takes_too_long_has_lost(chrome: Any, site: str) -> None:
    """A person lets a minute pass, looking through the game meanwhile; the record says so, and tells it again."""
    place = REVERSI.format(moves="d3-c3", first="person", second="person", clock=60)
    with open_page(chrome, site + place) as page:
        hold_time(page)
        status, face = page.locator("p.status"), page.locator(".player.on .clock")
        expect(face).to_have_text("1:00")
        page.clock.run_for(49_000)
        expect(face).to_have_text("0:11")
        page.clock.run_for(1_000)
        expect(page.locator(".clock.is-low")).to_have_text("0:10")
        page.keyboard.press("ArrowLeft")
        expect(status).to_have_text("White to move")  # one looks at an earlier move; Black's time goes on
        page.clock.run_for(9_000)
        expect(status).to_have_text("White to move")
        page.clock.run_for(1_500)
        expect(status).to_have_text("Black ran out of time; White wins")
        assert page.locator(".clock").count() == 0
        record = saved(page)
        assert "RE[W+T]" in record
        press(page, "load")
        page.fill("#record-text", record)
        page.get_by_role("button", name="Read").click()
        expect(status).to_have_text("Black ran out of time; White wins")
        press(page, "undo")
        expect(status).to_have_text("Black to move")


def test_every_move_has_its_own_time(chrome: Any, site: str) -> None:
    """The clock is chosen with the game, stands in the link, and begins anew with each move."""
    with open_page(chrome, f"{site}#/play?game=reversi&first=person&second=person") as page:
        hold_time(page)
        expect(page.locator("svg.board")).to_be_visible()
        assert page.locator(".clock").count() == 0
        press(page, "new game")
        page.select_option("#player-2", "person")
        page.select_option("#clock", "180")
        page.get_by_role("button", name="Start", exact=True).click()
        face = page.locator(".player.on .clock")
        for cell in (19, 18):
            expect(face).to_have_text("3:00")
            page.clock.run_for(100_000)
            expect(face).to_have_text("1:20")
            page.locator(f'svg.board [data-cell="{cell}"]').click()
        expect(face).to_have_text("3:00")
        press(page, "undo")
        expect(face).to_have_text("3:00")  # whoever takes back may think anew
        assert "clock=180" in page.evaluate("location.hash")
        press(page, "restart")
        assert "clock=180" in page.evaluate("location.hash")


def test_an_agent_that_thinks_too_long_has_lost(chrome: Any, site: str) -> None:
    place = REVERSI.format(moves="d3", first="person", second="uct:time=50", clock=2)
    with open_page(chrome, site + place) as page:
        expect(page.locator("p.status")).to_have_text("White ran out of time; Black wins")
        assert page.locator('[data-action="stop"]').count() == 0  # it thinks no more


@pytest.mark.parametrize("clock", ["0", "-5", "1e9", "soon", "NaN", "%3Cb%3E"])
def test_a_clock_that_cannot_be(chrome: Any, site: str, clock: str) -> None:
    place = REVERSI.format(moves="", first="person", second="person", clock=clock)
    with open_page(chrome, site + place) as page:
        expect(page.locator("p.status")).to_have_text("Black to move")
        assert page.locator(".clock").count() == 0
