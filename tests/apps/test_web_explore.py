"""The explorers in a real browser: the worked examples of the slides and the lecture, with the numbers read off the
page; and what the server refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from web_browser import PHONE, PROJECTOR, open_page

import tengen

STATIC = Path(tengen.__file__).parent / "apps" / "web" / "static"
PAGES = ("mcts", "alphabeta", "bandits", "queens", "wumpus")
PATIENCE = 60.0


def press(page: Any, name: str) -> None:
    page.click(f'[data-action="{name}"]')


def text(page: Any, selector: str) -> str:
    return page.locator(selector).first.text_content()


def figures(page: Any, path: str) -> dict[str, str]:
    """The numbers on the card that names lead to, as they stand there."""
    found = page.locator(f'.tree-card[data-path="{path}"] [data-field]')
    return dict(found.evaluate_all("texts => texts.map(each => [each.dataset.field, each.textContent])"))


def number(words: str) -> float:
    return float(words.replace("−", "-"))


def lit(page: Any) -> list[str]:
    return page.locator(".tree-card.is-lit").evaluate_all("cards => cards.map(card => card.dataset.path)")


def row(page: Any, level: str, name: str, column: str) -> str:
    return text(page, f'[data-level="{level}"] [data-row="{name}"] [data-column="{column}"]')


def settle(page: Any) -> None:
    """Waits for what has been asked for: until it is there, nobody can step."""
    page.wait_for_selector(".explore:not(:has([inert]))")


def choose(page: Any, field: str, value: str, wait_for: str) -> None:
    """Chooses in a list, and waits for what must come of it."""
    page.select_option(f'select[data-field="{field}"]', value)
    page.wait_for_selector(wait_for)
    settle(page)


def test_the_slides_search(chrome: Any, site: str) -> None:
    """Step by step, with the numbers that they print; back again; and the policy after 400 simulations."""
    with open_page(chrome, f"{site}#/explore/mcts", PROJECTOR) as page:
        page.wait_for_selector('.tree-card[data-path="2"]')
        assert figures(page, "")["N"] == "1"  # the root has been expanded
        priors = {"2": "0.4", "3": "0.1", "6": "0.05", "7": "0.1", "8": "0.15", "9": "0.2"}
        assert {name: figures(page, name)["P"] for name in priors} == priors
        assert {figures(page, name)["U"] for name in priors} == {"0"}

        press(page, "step")  # select: a tie, the highest prior
        assert lit(page) == ["", "2"]
        assert "A tie goes to the highest prior" in text(page, '[data-level="root"] [data-worked="tie"]')
        press(page, "step")  # expand and evaluate
        assert "v = −0.1 for Black" in text(page, ".story")
        below = {"3": "0.2", "6": "0.15", "7": "0.1", "8": "0.25", "9": "0.3"}
        assert {name: figures(page, f"2/{name}")["P"] for name in below} == below
        press(page, "step")  # back up
        assert {"N": "1", "W": "0.1", "Q": "0.1"}.items() <= figures(page, "2").items()
        assert figures(page, "")["N"] == "2"
        assert (row(page, "root", "2", "score"), row(page, "root", "9", "score")) == ("1.1", "1")
        worked = '[data-level="root"] [data-worked="best"]'
        assert text(page, worked) == "2: 0.1 + 5 · 0.4 · √1 / (1 + 1) = 1.1"

        press(page, "step")
        assert lit(page) == ["", "2", "2/9"]
        press(page, "step")
        assert "v = −1 for White" in text(page, ".story")  # who would be to move, and has lost
        press(page, "step")
        assert {"N": "1", "W": "1", "Q": "1"}.items() <= figures(page, "2/9").items()
        assert {"N": "2", "W": "−0.9", "Q": "−0.45"}.items() <= figures(page, "2").items()
        assert figures(page, "")["N"] == "3"
        assert (row(page, "root", "9", "score"), row(page, "root", "2", "score")) == ("1.414", "0.493")

        press(page, "simulation")
        assert lit(page) == ["", "9"]
        assert {"N": "1", "W": "0.2", "Q": "0.2"}.items() <= figures(page, "9").items()
        assert figures(page, "")["N"] == "4"

        page.locator("h1").click()
        page.keyboard.press("Shift+ArrowLeft")  # back by a whole simulation
        assert (figures(page, "9")["N"], figures(page, "")["N"]) == ("0", "3")
        page.keyboard.press("Home")
        assert (figures(page, "2")["N"], figures(page, "")["N"]) == ("0", "1")

        press(page, "slides counts")
        shares = {"2": 0.1, "3": 0.025, "6": 0.0125, "7": 0.025, "8": 0.0375, "9": 0.8}
        shown = {name: number(text(page, f'[data-share="{name}"]')) for name in shares}
        assert shown == pytest.approx(shares, abs=1e-9)


def test_a_move_is_played_and_its_subtree_searched_on(chrome: Any, site: str) -> None:
    """The slides' game: 400 simulations or a proof, the move, what is kept of the tree, and so on to the end."""
    with open_page(chrome, f"{site}#/explore/mcts", PROJECTOR) as page:
        page.wait_for_selector('.tree-card[data-path="2"]')
        press(page, "run to")
        page.wait_for_selector("[data-best]")
        visits = figures(page, "9")["N"]
        assert int(visits) > 10
        press(page, "play on")
        page.wait_for_selector('[data-played="1"]')
        assert "Played so far: 9." in text(page, '[data-played="1"]')
        assert figures(page, "")["N"] == visits  # the card's visits are its node's, the one that opened it included
        for count in range(2, 9):
            press(page, "run to")
            page.wait_for_selector("[data-best]")
            if not page.locator('[data-action="play on"]').count():
                break
            press(page, "play on")
            page.wait_for_selector(f'[data-played="{count}"]')
        assert "ends the game" in text(page, ".explore")
        press(page, "from the start")
        page.wait_for_selector("[data-played]", state="detached")
        assert figures(page, "")["N"] == "1"


def test_the_lectures_ucb1(chrome: Any, site: str) -> None:
    """7/10, 5/8 and 0/3 of 21; down to 1/1, a new node, a lost game, and every ancestor's B grows by one."""
    with open_page(chrome, f"{site}#/explore/mcts", PROJECTOR) as page:
        page.wait_for_selector('.tree-card[data-path="2"]')
        choose(page, "example", "lecture", '[data-level="root"] [data-row="7/10"]')
        bounds = {"7/10": 1.252, "5/8": 1.243, "0/3": 1.007}
        shown = {name: number(row(page, "root", name, "score")) for name in bounds}
        assert shown == pytest.approx(bounds, abs=0.0012)  # it prints 1.243 for 1.2419
        press(page, "step")
        every = page.locator(".level [data-row]").evaluate_all(
            "rows => rows.map(row => [row.dataset.row, row.querySelector('[data-column=score]').textContent])"
        )
        deeper = {"2/4": 1.372, "5/6": 0.879, "1/3": 1.341, "1/1": 2.745}
        assert {name: number(score) for name, score in every if name in deeper} == pytest.approx(deeper, abs=0.0012)

        def titles() -> list[str]:
            return page.locator(".tree-card.is-lit [data-field=name]").all_text_contents()

        assert titles() == ["12/21", "7/10", "2/4", "1/1"]
        code = page.locator(".code .is-lit")
        assert any("BESTCHILD(v, Cp)" in line for line in code.all_text_contents())
        press(page, "step")
        assert any("EXPAND(v)" in line for line in code.all_text_contents())
        assert titles() == ["12/21", "7/10", "2/4", "1/1", "0/0"]
        press(page, "step")
        assert "White wins" in text(page, ".story")
        press(page, "step")
        assert titles() == ["12/22", "7/11", "2/5", "1/2", "0/1"]
        assert "  N(v) ← N(v) + 1" in code.all_text_contents()


def test_a_search_of_ones_own(chrome: Any, site: str) -> None:
    """Every kind of search on a position that is set up by clicking; run to a number; the tree by keyboard."""
    with open_page(chrome, f"{site}#/explore/mcts") as page:
        page.wait_for_selector(".tree-card")
        choose(page, "example", "own", '.tree-card[data-path="b2"]')
        for cell in (6, 3, 7, 4):  # a1 a2 b1 b2: c1 wins
            page.locator(f'.editor [data-cell="{cell}"]').click()
            settle(page)
        for search in ("puct", "gumbel", "uct"):
            page.click(f'[data-value="{search}"]')
            settle(page)
            press(page, "run to")
            page.wait_for_selector('[data-best="c1"]')
            assert page.locator('.tree-card[data-path="c1"] .proof').text_content() == "won"
        page.locator('.tree-card[tabindex="0"]').focus()
        page.keyboard.press("ArrowDown")
        focused = "document.activeElement.dataset.path"
        first = page.evaluate(focused)
        page.keyboard.press("ArrowRight")
        assert page.evaluate(focused) not in ("", first)
        page.keyboard.press("ArrowUp")
        assert page.evaluate(focused) == ""
        page.keyboard.press(" ")  # folds the root
        assert page.locator(".tree-card").count() == 1
        page.keyboard.press(" ")
        assert page.locator(".tree-card").count() > 1


def test_the_lectures_alpha_beta(chrome: Any, site: str) -> None:
    """A = 3, an alpha cut at C that leaves x and y out, no other; node counts in each order; minimax beside it."""
    with open_page(chrome, f"{site}#/explore/alphabeta", PROJECTOR) as page:
        page.wait_for_selector(".tree-card")
        windows = []
        for _ in range(11):  # B hears of 3, 12 and 8
            press(page, "step")
            windows.append(figures(page, "1").get("window"))
        assert windows[-1] == "[−∞, 3]"
        press(page, "to the next cut")
        assert page.locator('[data-field="cut"]').all_text_contents() == ["α cut"]
        assert figures(page, "2") | {"window": "[3, 2]", "value": "2", "name": "C"} == figures(page, "2")
        assert figures(page, "")["window"] == "[3, +∞]"
        pruned = page.locator(".tree-card.is-pruned [data-field=value]").all_text_contents()
        assert pruned == ["x", "y"]
        told = text(page, '[data-told="cut"]')
        assert told.startswith("Alpha cut at C: MIN can have 2 here, and MAX has 3 elsewhere.")
        press(page, "run to")
        assert "The value of the tree is 3; the best child is B." in text(page, '[data-told="result"]')
        assert page.locator('[data-field="cut"]').count() == 1
        counts = {
            name: text(page, f'[data-count="{name}"] [data-field="nodes"]') for name in ("minimax", "written", "best")
        }
        assert counts == {"minimax": "13", "written": "11", "best": "9"}
        press(page, "minimax")
        assert figures(page, "2")["minimax"] == "minimax 1"  # y, which alpha-beta never saw
        page.click('[data-value="best"]')
        settle(page)
        press(page, "run to")
        assert page.locator('[data-field="cut"]').count() == 2


def test_trees_and_positions_of_ones_own(chrome: Any, site: str) -> None:
    """A tree is typed in, MIN begins, and a beta cut is named; a mistake is told; a position is searched."""
    refused = ("400", "Failed to load resource")
    with open_page(chrome, f"{site}#/explore/alphabeta", expected=refused) as page:
        page.wait_for_selector(".tree-card")
        page.fill('textarea[data-field="tree"]', "[[-3, -12, -8], [-2, -7, -1]]")
        press(page, "search tree")
        settle(page)
        assert page.locator(".tree-card").count() == 9
        page.click('[data-value="min"]')
        page.wait_for_selector('.tree-card.is-min[data-path=""]')
        press(page, "to the next cut")
        assert page.locator('[data-field="cut"]').all_text_contents() == ["β cut"]
        assert "Beta cut at C: MAX can have −2 here, and MIN allows only −3" in text(page, '[data-told="cut"]')
        page.fill('textarea[data-field="tree"]', "[1, 2")
        press(page, "search tree")
        page.wait_for_selector(".story .problem")
        assert "brackets are open" in text(page, ".story .problem")
        page.select_option('select[data-field="source"]', "position")
        page.wait_for_selector('[data-count="guess"]')
        press(page, "run to")
        page.wait_for_selector('[data-told="result"]')
        assert "The value of the tree is 1; the best child is c1." in text(page, '[data-told="result"]')
        assert int(text(page, '[data-count="best"] [data-field="nodes"]')) < 178
        assert text(page, '[data-count="minimax"] [data-field="nodes"]') == "178"


def test_bandits(chrome: Any, site: str) -> None:
    """Each arm once; then the numbers of UCB1 are X̄ + √(2 ln n / nⱼ), and the highest is next; curves grow."""
    with open_page(chrome, f"{site}#/explore/bandits") as page:
        page.wait_for_selector(".arm")
        for arm in (1, 2, 3):
            assert page.locator(".arm.is-chosen").get_attribute("data-arm") == str(arm)
            press(page, "step")
        page.fill(".stepper-target", "100")
        press(page, "run to")
        bounds = {}
        for arm in ("1", "2", "3"):
            pulls = int(text(page, f'[data-arm="{arm}"] [data-field="pulls"]'))
            mean = number(text(page, f'[data-arm="{arm}"] [data-field="mean"]'))
            bounds[arm] = number(text(page, f'[data-arm="{arm}"] [data-field="bound"]'))
            assert bounds[arm] == pytest.approx(mean + (2 * 4.60517 / pulls) ** 0.5, abs=0.0016)
        assert page.locator(".arm.is-chosen").get_attribute("data-arm") == max(bounds, key=lambda arm: bounds[arm])
        early = page.locator(".curve.of-ucb1").get_attribute("d")
        page.keyboard.press("Escape")
        page.locator("h1").click()
        page.keyboard.press("End")
        assert len(page.locator(".curve.of-ucb1").get_attribute("d")) > len(early)
        regrets = {
            name: number(text(page, f'[data-policy="{name}"] [data-field="regret"]'))
            for name in ("ucb1", "random", "bound")
        }
        assert regrets["ucb1"] < regrets["random"] < regrets["bound"]
        press(page, "bound")
        assert page.locator(".curve.of-bound").count() == 1
        page.click('[data-value="greedy"]')
        assert page.locator('[data-arm="1"] [data-field="bound"]').count() == 0


@pytest.mark.parametrize("name", PAGES)
def test_on_a_phone_in_chinese(chrome: Any, site: str, name: str) -> None:
    """Nothing is wider than the window but what scrolls by itself, and every word is there."""
    with open_page(chrome, f"{site}#/explore/{name}", PHONE, language="zh-CN", scheme="dark") as page:
        page.wait_for_selector(".tree-card, .arm, .queen, .cave-cell")
        press(page, "step")
        press(page, "step")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert re.search(r"[一-鿿]", text(page, "h1"))
        assert not re.search(r"\{\w+\}|undefined|NaN|\[object", page.locator("main").inner_text())


def words_of(page: Any, site: str, path: str) -> dict[str, dict[str, str]]:
    return json.loads(page.evaluate(f"import('{site}{path}').then(module => JSON.stringify(module.words))"))


def test_every_word_is_there_in_both_languages(chrome: Any, site: str) -> None:
    with open_page(chrome, f"{site}#/explore/bandits") as page:
        for name in PAGES:
            words = words_of(page, site, f"explore/{name}.js")
            assert words["en"].keys() == words["zh"].keys()
            for key, english in words["en"].items():
                assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", words["zh"][key])), key


def test_explorers_are_light() -> None:
    assert sum(path.stat().st_size for path in (STATIC / "explore").iterdir()) < 160_000


# The server


def test_what_the_server_tells_and_refuses(site: str) -> None:
    with httpx.Client(base_url=site, timeout=PATIENCE) as http:

        def ask(path: str, body: object) -> tuple[int, Any]:
            answer = http.post(f"api/explore/{path}", json=body)
            return answer.status_code, answer.json()

        offers = http.get("api/explore").json()
        assert offers["games"][0]["game"] == "tictactoe"
        assert "slides" in offers["games"][0]["evaluators"]

        whole = {"game": "tictactoe", "simulations": 250, "evaluator": "rollout"}
        parts = [ask("mcts", whole | {"begin": begin})[1] for begin in (0, 100, 200)]
        numbers = [each["number"] for part in parts for each in part["trace"]["simulations"]]
        assert numbers == list(range(1, parts[0]["total"] + 1))

        refused: list[tuple[str, object, int]] = [
            ("mcts", {"simulations": 0}, 422),
            ("mcts", {"simulations": 100_000}, 422),
            ("mcts", {"exploration": 1e9}, 422),
            ("mcts", {"unknown": 1}, 422),
            ("mcts", {"game": "gomoku"}, 400),
            ("mcts", {"game": "../../etc/passwd"}, 400),
            ("mcts", {"game": "/tmp/x.py"}, 400),
            ("mcts", {"evaluator": "/tmp/net.onnx"}, 400),
            ("mcts", {"moves": ["z9"]}, 400),
            ("mcts", {"moves": ["a1"] * 2}, 400),
            ("mcts", {"played": ["b2"], "search": "uct"}, 400),
            ("mcts", {"played": ["z9"]}, 400),
            ("mcts", {"played": ["a1"] * 13}, 422),
            ("mcts", [], 422),
            ("alphabeta", {"tree": "[" * 9000}, 400),
            ("alphabeta", {"tree": "x" * 20_000}, 422),
            ("alphabeta", {"game": "tictactoe", "depth": 9}, 400),
            ("alphabeta", {"order": "best", "depth": 99}, 422),
            ("bandits", {"means": []}, 422),
            ("bandits", {"means": [2]}, 422),
            ("bandits", {"means": [0.1, 0.2], "steps": 2000, "runs": 500}, 400),
        ]
        for path, body, status in refused:
            answered, answer = ask(path, body)
            assert (answered, bool(answer["error"])) == (status, True), (path, body, answer)
