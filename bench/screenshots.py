"""Pictures of the web app for the documents, each page on a phone and on a projector.

    python bench/screenshots.py                 # all of them, into docs/img/: about ten minutes on two cores
    python bench/screenshots.py play analyse    # those whose names begin so
    python bench/screenshots.py --folder DIR    # keeps the runs and the tournament there; none is made twice

A picture is a row of SHOTS: a link, and what is done on the page before it is taken. It needs Chromium and playwright.
The pages "learn" and "arena" show two short runs and a tournament, which are made for them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "apps"))

from web_browser import PHONE, PROJECTOR, browser, expect, open_page, running_server  # noqa: E402

from tengen.agents.process import find_program  # noqa: E402
from tengen.apps.web.contests import Contests, NewContest  # noqa: E402
from tengen.apps.web.runs import NewRun, Runs  # noqa: E402
from tengen.apps.web.server import new_app  # noqa: E402
from tengen.apps.web.settings import ServerSettings  # noqa: E402

FOLDER = ROOT / "docs" / "img"
OWN_GAME = ROOT / "examples" / "kings_and_pawns.py"
FEW, MANY = 96, 256  # colours of a picture: few make it small, many keep wood and stones smooth
BOARD = 420  # pixels of each board on the picture of all games
RUNS = {"connect4": 24, "few-simulations": 6}  # simulations a move
CHANGES = {"generations": 16, "positions": 2048, "evaluate_every": 2, "evaluation_games": 10}
LEVELS = ["beginner", "easy", "medium", "hard"]


@dataclass(frozen=True)
class Shot:
    """A page in a state worth showing."""

    link: str
    prepare: Callable[[Any], None] = lambda page: page.wait_for_timeout(1000)
    scheme: str = "light"
    colours: int = FEW


def show_hint(page: Any) -> None:
    page.locator('[data-action="hint"]').click()
    expect(page.locator(".status")).to_contain_text("Try ")
    page.wait_for_timeout(300)


def pick_up(page: Any) -> None:
    """A pawn that is held, with where it may go."""
    page.locator('svg.board [data-cell="27"]').click()
    expect(page.locator(".picked-stone")).to_be_attached()
    page.mouse.move(2, 2)


def see_it_think(page: Any) -> None:
    expect(page.locator(".heat").nth(3)).to_be_attached()
    page.wait_for_timeout(1500)


def analyse_game(page: Any) -> None:
    """The whole game, then the position after its tenth move."""
    page.locator("#analysis-time").select_option("0.2")
    page.locator('[data-action="whole game"]').click()
    expect(page.locator('[data-action="cancel"]')).to_be_attached()
    expect(page.locator('[data-action="cancel"]')).to_have_count(0)
    page.locator(".moves > li .move").nth(10).click()
    expect(page.locator(".heat").first).to_be_attached()
    page.evaluate("scrollTo(0, 0)")
    page.mouse.move(2, 2)
    page.wait_for_timeout(2500)


def analyse_with_two(page: Any) -> None:
    page.locator('[data-action="add agent"]').click()
    page.locator("#agent-2").select_option("other…")
    page.locator(".agent-card").nth(1).get_by_role("textbox").fill("uct:playouts=1000")
    page.keyboard.press("Tab")
    expect(page.locator(".boards figure:nth-child(2) .heat").first).to_be_attached()
    analyse_game(page)


def second_simulation(page: Any) -> None:
    """The slides' example, while its second simulation selects."""
    page.locator('.tree-card[data-path="2"]').wait_for()
    page.click('[data-action="simulation"]')
    page.click('[data-action="step"]')


def see_the_cut(page: Any) -> None:
    page.locator(".tree-card").first.wait_for()
    page.click('[data-action="minimax"]')
    page.click('[data-action="to the next cut"]')


def pull_arms(page: Any) -> None:
    page.locator(".arm").first.wait_for()
    page.fill(".stepper-target", "320")
    page.click('[data-action="run to"]')


def move_queens(page: Any) -> None:
    """The fourth step, and how boards grow."""
    page.locator(".queens-board").wait_for()
    page.click('[data-action="measure"]')
    page.locator(".chart .curve").first.wait_for()
    page.fill(".stepper-target", "4")
    page.click('[data-action="run to"]')
    page.evaluate("scrollTo(0, 0)")


def see_the_cave(page: Any) -> None:
    """In the middle of a cave, its truth beside the map, and the scores of many."""
    page.locator(".cave").first.wait_for()
    page.click('[data-action="compare"]')
    page.locator(".intervals").wait_for()
    page.click('[data-action="truth"]')
    page.fill(".stepper-target", "13")
    page.click('[data-action="run to"]')
    page.evaluate("scrollTo(0, 0)")


def at_move(count: int) -> Callable[[Any], None]:
    """Shows a game in its middle."""

    def prepare(page: Any) -> None:
        expect(page.locator(".replay .board")).to_be_visible()
        page.get_by_role("button", name="To the start").click()
        for _ in range(count):
            page.get_by_role("button", name="A move on").click()
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        page.wait_for_timeout(500)

    return prepare


def scrolled_to(selector: str, prepare: Callable[[Any], None]) -> Callable[[Any], None]:
    """On a phone what goes on comes below what is chosen."""

    def prepare_and_scroll(page: Any) -> None:
        prepare(page)
        page.locator(selector).evaluate("element => element.scrollIntoView()")

    return prepare_and_scroll


GOMOKU = "h8-g9-h9-h7-g8-i10-f8-e8-i8-j8-g10-f11-i11-g6-f9"
SHOTS = {
    "play-projector": Shot(f"#/play?game=gomoku&moves={GOMOKU}-e9&first=person&second=hard", show_hint, colours=MANY),
    "play-phone": Shot(
        "#/play?game=reversi&moves=f5-d6-c3-d3-c4-f4-c5-b3-c2&first=person&second=uct:time=30", see_it_think
    ),
    "own-game-projector": Shot(
        "#/play?game=kings-and-pawns&moves=b2t-e5t&first=person&second=person", pick_up, colours=MANY
    ),
    "analyse-projector": Shot(f"#/analyse?game=gomoku&moves={GOMOKU}", analyse_with_two),
    "analyse-phone": Shot("#/analyse?game=connect4&moves=4-4-3-5-3-3-5-5-2-6-6", analyse_game, "dark"),
    "explore-mcts-projector": Shot("#/explore/mcts", second_simulation),
    "explore-mcts-phone": Shot("#/explore/mcts", scrolled_to(".stepper", second_simulation)),
    "explore-alphabeta-projector": Shot("#/explore/alphabeta", see_the_cut),
    "explore-alphabeta-phone": Shot("#/explore/alphabeta", scrolled_to(".stepper", see_the_cut), "dark"),
    "explore-bandits-projector": Shot("#/explore/bandits", pull_arms),
    "explore-bandits-phone": Shot("#/explore/bandits", scrolled_to(".stepper", pull_arms)),
    "explore-queens-projector": Shot("#/explore/queens", move_queens),
    "explore-queens-phone": Shot("#/explore/queens", scrolled_to(".stepper", move_queens), "dark"),
    "explore-wumpus-projector": Shot("#/explore/wumpus", see_the_cave),
    "explore-wumpus-phone": Shot("#/explore/wumpus", scrolled_to(".stepper", see_the_cave)),
    "learn-projector": Shot("#/learn?run=connect4&compare=connect4,few-simulations", at_move(7)),
    "learn-phone": Shot("#/learn?run=connect4", scrolled_to(".run-head", at_move(7))),
    "arena-projector": Shot("#/arena?contest=levels", at_move(11)),
    "arena-phone": Shot("#/arena?contest=levels", scrolled_to(".run-head", at_move(12)), "dark"),
}
GAMES = {  # what each board shows, and by which light
    "chess&moves=e2e4-e7e5-g1f3-b8c6-f1b5-a7a6-b5a4-g8f6-e1g1-f8e7": "light",
    "hex&moves=f6-d8-g4-e5-d6-c7-h3-i5-h6": "light",
    "draughts&moves= 10-14 24-19 9-13 22-18 11-16 18x9 5x14 19-15": "dark",
    "tictactoe&moves=b2-b1-a1-c2-c3": "light",
    "connect4&moves=4-4-3-5-3-3-5-5-2-6-6-2-1": "light",
    "go:size=13&moves=k10-d4-k4-d10-c7-f3-h3-f11-l7-h11-c3-c4-d3-e3-e2-f2": "light",
    "renju&moves=h8-h9-j7-g9-j8-f9-i9-e9-d9-i8-g8": "dark",
    "reversi&moves=f5-d6-c3-d3-c4-f4-c5-b3-c2": "dark",
    "connect4&moves=4-4-4-3-5-6-3-5-5": "dark",
}


def take(chrome: Any, url: str, name: str, shot: Shot) -> None:
    is_phone = name.endswith("phone")
    options = {"size": PHONE if is_phone else PROJECTOR, "device_scale_factor": 2 if is_phone else 1}
    with open_page(chrome, url + shot.link, scheme=shot.scheme, **options) as page:
        expect(page.locator("main")).not_to_have_attribute("aria-busy", "true")
        shot.prepare(page)
        save(name, Image.open(BytesIO(page.screenshot())).convert("RGB"), shot.colours)


def take_games(chrome: Any, url: str) -> None:
    """The boards of all games on one picture."""
    columns = 3
    sheet = Image.new("RGB", (columns * BOARD, (len(GAMES) + columns - 1) // columns * BOARD))
    for index, (game, scheme) in enumerate(GAMES.items()):
        with open_page(chrome, f"{url}#/play?game={game}&first=person&second=person", scheme=scheme) as page:
            expect(page.locator("svg.board")).to_be_visible()
            page.evaluate("document.querySelector('.stage .board').style.width = '380px'")
            box = page.locator(".stage .board").bounding_box()
            edge = (BOARD - box["width"]) / 2, (BOARD - box["height"]) / 2
            page.locator(".stage").evaluate("stage => stage.style.padding = '120px 60px'")
            box = page.locator(".stage .board").bounding_box()
            clip = {"x": box["x"] - edge[0], "y": box["y"] - edge[1], "width": BOARD, "height": BOARD}
            tile = Image.open(BytesIO(page.screenshot(clip=clip)))
        sheet.paste(tile, (index % columns * BOARD, index // columns * BOARD))
    save("games", sheet, MANY)


def save(name: str, picture: Image.Image, colours: int) -> None:
    path = FOLDER / f"{name}.png"
    picture.quantize(colours, kmeans=2, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} kB")


def wait(look: Callable[[], Any]) -> None:
    """Until a run or a contest is no longer running."""
    while (view := look()).state == "running":
        time.sleep(1)
    if view.state != "complete":
        sys.exit(f"{view.name} is {view.state}: {view.problem}")


def make_runs(settings: ServerSettings) -> None:
    """What the page "learn" shows."""
    runs = Runs(settings.runs)
    for name, simulations in RUNS.items():
        if name not in runs.names():
            runs.start(NewRun(preset="connect4", name=name, changes={**CHANGES, "simulations": simulations}))
        wait(lambda name=name: runs.view(name))


def make_contest(settings: ServerSettings) -> None:
    """What the page "arena" shows."""
    contests = Contests(settings)
    if "levels" not in contests.names():
        contests.start(NewContest(game="connect4", agents=LEVELS, games=10, name="levels"))
    wait(lambda: contests.summary("levels"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="those whose names begin so; by default all")
    parser.add_argument("--folder", type=Path, help="where runs and tournament are kept; by default nowhere")
    given = parser.parse_args()
    wanted = tuple(given.names) or ("",)
    names = [name for name in [*SHOTS, "games"] if name.startswith(wanted)]
    if (chromium := find_program("chromium")) is None:
        sys.exit("chromium is not installed (Debian: apt-get install chromium)")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        base = given.folder or Path(temporary)
        settings = ServerSettings(runs=base / "runs", contests=base / "contests", games=(OWN_GAME,))
        for page, make in {"learn": make_runs, "arena": make_contest}.items():
            if any(name.startswith(page) for name in names):
                make(settings)
        with running_server(new_app(settings)) as url, browser(chromium) as chrome:
            for name in names:
                if name == "games":
                    take_games(chrome, url)
                else:
                    take(chrome, url, name, SHOTS[name])


if __name__ == "__main__":
    main()
