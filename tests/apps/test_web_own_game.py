"""A game of a user's own file in the web app: served by its name, never by a path; played by picking up stones."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from file_games import LITTLE_RACE, PAWNS, ROOT, write_run

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it wants to be asked through another library than the one that servers have
    from fastapi.testclient import TestClient

from tengen.agents.specs import load_agent
from tengen.apps.web import own_games
from tengen.apps.web.contests import Contests
from tengen.apps.web.jobs import JOBS, Jobs
from tengen.apps.web.levels import LEVELS
from tengen.apps.web.server import new_app
from tengen.apps.web.settings import ServerSettings
from tengen.arena.match import play_game
from tengen.games import load_game, offered_names
from tengen.learn.settings import load_settings
from tengen.records.record import Record
from tengen.records.sgf import read_sgf, write_sgf
from tengen.records.store import Store
from tengen.report.steps import Placement, step_of
from tengen.rules.errors import TengenError

PATIENCE = 300  # seconds that anything may take on a busy machine, compiling included


class Site:
    """An app with folders of its own. No answer of it holds a path of this machine."""

    def __init__(self, folder: Path, *games: Path):
        self.settings = ServerSettings(runs=folder / "runs", contests=folder / "contests", games=games)
        self.secrets = {str(path.resolve().parent) for path in (*games, folder, PAWNS)}
        self.http = TestClient(new_app(self.settings), base_url="http://127.0.0.1:8000")

    def _heard(self, answer: Any, status: int) -> Any:
        assert answer.status_code == status, answer.text
        assert not [secret for secret in self.secrets if secret in answer.text]
        return answer.json()

    def get(self, path: str, status: int = 200) -> Any:
        return self._heard(self.http.get(path), status)

    def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        return self._heard(self.http.post(path, json=body or {}), status)

    def view(self, game: str, *moves: str) -> Any:
        view = self.asked(game, *moves)
        assert view["type"] == "view", view
        return view

    def error(self, game: str, *moves: str) -> str:
        return self.asked(game, *moves)["error"]

    def asked(self, game: str, *moves: str) -> Any:
        """The answer to a page that shows a position."""
        with self.http.websocket_connect("ws://127.0.0.1:8000/api/socket") as page:
            page.send_json({"id": 1, "type": "position", "game": game, "moves": moves})
            while (answer := page.receive_json())["type"] == "note":
                pass
        assert not [secret for secret in self.secrets if secret in str(answer)]
        return answer


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path, PAWNS)
    yield site
    for folder in (site.settings.runs, site.settings.contests):
        jobs = Jobs(folder / JOBS)
        for job in jobs.running():
            while (found := jobs.find(job.name)) is not None and found.is_running:
                jobs.stop(found.name)
                time.sleep(0.2)


# What is served.


def test_its_game_stands_after_ours(tmp_path: Path, race: Path) -> None:
    site = Site(tmp_path, PAWNS, race)
    games = site.get("/api/games")["games"]
    assert [game["name"] for game in games] == [*offered_names(), "pawns", "little-race"]
    assert [game["name"] for game in games if game["is_own"]] == ["pawns", "little-race"]
    own = games[-2]
    assert (own["title"], own["about"]) == ("Pawns", "reach the far row with a pawn, or capture them all")
    assert own["parameters"][0]["name"] == "size" and own["parameters"][0]["high"] == 8
    assert [level["name"] for level in own["levels"]] == list(LEVELS)
    assert (games[-1]["title"], games[-1]["about"]) == ("Little race", "")  # Python's own words are no description
    assert (games[-1]["parameters"][0]["low"], games[-1]["parameters"][0]["high"]) == (None, None)
    assert site.view("little-race:most_plies=30")["game"] == "little-race:most_plies=30"


@pytest.mark.parametrize(
    "name",
    [
        "pawns.py",
        "./pawns.py",
        "../x",
        "examples/pawns",
        "examples/pawns.py",
        pytest.param(str(PAWNS), id="the file's whole path"),  # which differs from process to process
        "pawns:size=5.py",
        "gomoku:size=x.py",
        "Pawns",
        "little-race",
        "pawns:size=99",
        "pawns:size=",
        "pawns:mode=x",
    ],
)
def test_nothing_else_is(tmp_path: Path, name: str) -> None:
    """What a client says names no file, and an error says nothing of where one lies."""
    site = Site(tmp_path, PAWNS)
    site.secrets = {secret for secret in site.secrets if secret not in name}  # what a client says itself
    assert site.error(name)
    body = {"game": name, "agents": ["beginner", "easy"]}
    assert site.post("/api/contests", body, 400)["error"]
    assert site.post("/api/records/write", {"game": name, "moves": []}, 400)["error"]
    with site.http.websocket_connect("/api/socket", headers={"host": "127.0.0.1:8000"}) as page:
        page.send_json({"id": 1, "type": "think", "game": name, "agent": "beginner"})
        assert page.receive_json()["type"] == "error"


def test_apps_do_not_disturb_each_other(tmp_path: Path, race: Path) -> None:
    """Not even if both have a game of one name: what is served goes along with the request."""
    other = tmp_path / "pawns.py"
    other.write_text(LITTLE_RACE)
    one, two, none = Site(tmp_path, PAWNS), Site(tmp_path, other), Site(tmp_path)
    for _ in range(2):
        assert one.view("pawns")["shape"] == [8, 8]
        assert two.view("pawns")["shape"] == [3, 2]
        assert "no game is called" in none.error("pawns")
    assert own_games.served_names() == []
    search = {"game": "pawns", "simulations": 2}
    assert two.post("/api/explore/mcts", search)["trace"]["game"] == "pawns"
    assert "4096 actions" in one.post("/api/explore/mcts", search, 400)["error"]
    assert "no game is called" in none.post("/api/explore/mcts", search, 400)["error"]


def test_files_that_cannot_be_served(tmp_path: Path, race: Path) -> None:
    broken, ours, preset, nameless, twin = (
        tmp_path / name for name in ("broken.py", "gomoku.py", "gomoku8.py", "棋.py", "little race.py")
    )
    broken.write_text("1 / 0")
    for path in (ours, preset, nameless, twin):
        path.write_text(LITTLE_RACE)
    for paths, said in (
        ([tmp_path / "missing.py"], "there is no file"),
        ([tmp_path], "a game's file ends in .py"),
        ([Path("gomoku")], "a game's file ends in .py"),
        ([Path(f"{PAWNS}:size=6")], "choose parameters in the page"),
        ([broken], "does not run: ZeroDivisionError: division by zero .line 1."),
        ([ours], "'gomoku', as one of ours is"),
        ([preset], "'gomoku8', as one of ours is"),
        ([nameless], "has no name for a page"),
        ([race, twin], "would both be called 'little-race'"),
    ):
        with pytest.raises(TengenError, match=said):
            new_app(ServerSettings(games=tuple(paths)))
    assert list(own_games.read_games([race, race])) == ["little-race"]
    large = tmp_path / "large.py"
    large.write_text(LITTLE_RACE.replace("shape = (3, 2)", "shape = (3, 40)"))
    with pytest.raises(TengenError, match="3×40 is too large for a page"):
        new_app(ServerSettings(games=(large,)))


def test_a_broken_file_is_told_before_anybody_listens(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise SystemExit(3)")
    command = [sys.executable, "-m", "tengen", "serve", "--port", "0", "--game", "broken.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert (ended.returncode, ended.stdout) == (2, "")
    checking, told = ended.stderr.splitlines()
    assert checking == "tengen: broken.py is new or has changed: checking it"
    assert re.fullmatch(
        r"tengen: .*broken\.py does not run: SystemExit: 3 \(line 1\); see tengen check broken\.py", told
    )


# Moves from one cell to another.


def test_where_a_move_comes_from_and_where_it_ends(site: Site) -> None:
    view = site.view("pawns:size=5")
    assert view["game"] == "pawns:size=5"
    assert view["cells"]["a2a3"] == 10 and view["origins"]["a2a3"] == 15
    assert view["cells"].keys() == view["origins"].keys() == set(view["legal"])
    taken = site.view("pawns:size=5", "a2a3", "b4a3")  # lands on another's stone
    assert (taken["last"], taken["last_origin"]) == (10, 6)
    assert (taken["board"][10], taken["flipped"], taken["captured"]) == (2, [], [])
    taking = site.view("pawns:size=5", "a2a3")
    assert (taking["cells"]["b4a3"], taking["origins"]["b4a3"]) == (10, 6)
    assert "not legal" in site.error("pawns:size=5", "a2a4")
    assert "'🙂' is not a move" in site.error("pawns:size=5", "🙂")


def test_steps_are_read_off_boards(race: Path) -> None:
    """Placing, moving, staying; a column's disc; a point that is its own name."""
    start = load_game(str(race)).start()
    assert [step_of(start, action) for action in start.legal_actions] == [
        Placement(2, 4),
        Placement(2, 4),
        Placement(None),
    ]
    assert step_of(load_game("connect4").start(), 3) == Placement(38)
    go = load_game("go:size=3")
    assert (step_of(go.start(), 4), step_of(go.start(), 9), step_of(None, 0)) == (
        Placement(4),
        Placement(None),
        Placement(None),
    )


def test_a_move_may_fill_several_cells(tmp_path: Path, dominoes: Path) -> None:
    site = Site(tmp_path, PAWNS, dominoes)
    view = site.view("dominoes")
    assert view["fills"] == {"a3a2": [0, 2], "b3b2": [1, 3], "a2a1": [2, 4], "b2b1": [3, 5]}
    assert (view["cells"], view["origins"]) == ({"a3a2": 0, "b3b2": 1, "a2a1": 2, "b2b1": 3}, {})
    assert (view["last"], view["last_fills"]) == (None, [])
    answered = site.view("dominoes", "a2a1", "a3b3")
    assert (answered["board"], answered["fills"]) == ([2, 2, 1, 0, 1, 0], {"b2b1": [3, 5]})
    assert (answered["last"], answered["last_fills"]) == (0, [0, 1])
    for game, moves in (("pawns", ["a2a3"]), ("reversi", ["d3"]), ("connect4", ["4"]), ("go:size=5", ["c3"])):
        other = site.view(game, *moves)  # what flips or captures, and what moves, fills one
        assert (other["fills"], other["last_fills"]) == ({}, [])


def test_whatever_a_file_makes_of_a_clients_text_is_an_answer(tmp_path: Path, race: Path) -> None:
    site = Site(tmp_path, race)
    for text in ("a1", "a1-fly", "a1-go-go"):
        assert f"{text!r} is not a move of Little_Race.py" in site.error("little-race", text)
    body = {"game": "little-race", "moves": [], "variations": [{"of": 0, "ply": 0, "moves": ["a1"]}]}
    assert "is not a move" in site.post("/api/records/write", body, 400)["error"]
    view = site.view("little-race", "a1-stay", "b3-go")
    assert (view["cells"], view["origins"]) == ({"a1-go": 2, "a1-run": 2}, {"a1-go": 4, "a1-run": 4})
    assert (view["legal"], view["last"], view["last_origin"]) == (["a1-go", "a1-run", "a1-stay"], 3, 1)


def test_agents_think_about_it(site: Site) -> None:
    with site.http.websocket_connect("/api/socket", headers={"host": "127.0.0.1:8000"}) as page:
        place = {"game": "pawns:size=4", "moves": ["b2a3"]}
        page.send_json({"id": 1, "type": "think", **place, "agent": "easy"})
        while (answer := page.receive_json())["type"] != "move":
            assert answer["type"] in ("thought", "note", "waiting"), answer
        position = load_game(f"{PAWNS}:size=4").from_moves("b2a3")
        action = position.game.parse_action(answer["move"])
        assert answer["cell"] == step_of(position, action).cell
        assert str(ROOT) not in json.dumps(answer)


# Records, contests, runs.


def test_records_round_trip(site: Site) -> None:
    game = {"game": "pawns:size=5", "moves": ["a2a3", "b4a3", "b2a3"]}
    variations = [{"of": 0, "ply": 1, "moves": ["c4c3"], "comments": {}}]
    sgf = site.post("/api/records/write", {**game, "variations": variations})["sgf"]
    assert "TG[pawns.py:size=5]" in sgf
    for page in ("gomoku", "pawns", "pawns:size=6", ""):  # whatever is on the board when it is loaded
        read = site.post("/api/records/read", {"text": sgf, "game": page})
        assert {name: read[name] for name in game} == game
        assert read["variations"] == variations
    terminal = load_game(f"{PAWNS}:size=5")
    record = read_sgf(sgf, terminal)[0]
    again = site.post("/api/records/read", {"text": write_sgf(Record(terminal, record.moves))})
    assert again["moves"] == game["moves"]
    text = site.post("/api/records/read", {"text": "a2a3 b4a3", "game": "pawns:size=5"})
    assert text["moves"] == ["a2a3", "b4a3"]
    for spec, said in (
        ("hex.py:size=5", "never makes us run code"),
        ("pawns.py:size=5.py", "are no parameters of pawns.py"),
        ("pawns.py:size=50", "size is 4 to 8"),
    ):
        foreign = {"text": sgf.replace("pawns.py:size=5", spec)}
        assert said in site.post("/api/records/read", foreign, 400)["error"]


def test_a_contest_of_it_is_played(site: Site) -> None:
    wanted = {"game": "pawns:size=4", "agents": ["beginner", "random"], "games": 2}
    begun = site.post("/api/contests", wanted)
    assert (begun["name"], begun["game"]) == ("pawns-size=4", "pawns:size=4")
    end = time.monotonic() + PATIENCE
    while (view := site.get("/api/contests/pawns-size=4"))["state"] == "running":
        assert time.monotonic() < end, view
        time.sleep(0.2)
    assert (view["state"], view["played"], view["game"]) == ("complete", 2, "pawns:size=4"), view
    assert site.get("/api/contests")["contests"][0]["game"] == "pawns:size=4"
    for listed in site.get("/api/contests/pawns-size=4/games")["games"]:
        shown = site.get(f"/api/contests/pawns-size=4/games/{listed['id']}")
        assert shown["end"]["game"] == "pawns:size=4" and shown["end"]["outcome"]


def test_tournaments_of_files_from_a_terminal(site: Site, race: Path) -> None:
    """Those of a file that is served are shown whole, of others all but the boards."""
    for name, spec in (("mine", f"{PAWNS}:size=4"), ("other", str(race))):
        (site.settings.contests / name).mkdir(parents=True)
        game = load_game(spec)
        agents = [load_agent("random", game, seed=seed) for seed in (1, 2)]
        with Store(site.settings.contests / name / "games.db") as store:
            match = store.match({"game": game.spec, "agents": ["one", "two"]})
            store.add(play_game(game, agents, names=("one", "two")), match, 0)
    site.secrets.add(str(race.parent))
    assert site.get("/api/contests/mine")["game"] == "pawns:size=4"
    assert site.get("/api/contests/mine/games/1")["end"]["outcome"]
    assert site.get("/api/contests/other")["game"] == "Little_Race.py"
    assert site.get("/api/contests/other/games")["total"] == 1
    said = site.get("/api/contests/other/games/1", 404)["error"]
    assert "the game is a file, Little_Race.py, that is not served" in said


def test_a_contest_whose_file_is_not_served_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(Jobs, "begin", lambda self, name, arguments, folder, facts: started.append(arguments))
    site = Site(tmp_path, PAWNS)
    name = site.post("/api/contests", {"game": "pawns", "agents": ["easy", "random"]})["name"]
    assert str(PAWNS) in started[0]
    assert site.post(f"/api/contests/{name}/resume")["game"] == "pawns"
    assert started[1] == started[0]
    without = Site(tmp_path)
    assert without.get("/api/contests")["contests"][0]["can_resume"]
    assert "no game is called 'pawns'" in without.post(f"/api/contests/{name}/resume", status=400)["error"]
    assert len(started) == 2 and Contests(site.settings).names() == [name]


def test_runs_of_files(site: Site, race: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of a file that is served is like any other, however its settings name the file; others are only shown."""
    started: list[Any] = []
    monkeypatch.setattr(Jobs, "begin", lambda self, name, arguments, folder, facts: started.append((arguments, folder)))
    monkeypatch.setattr("tengen.apps.web.runs.what_is_missing", lambda: "")
    monkeypatch.chdir(ROOT)  # settings may name a file from here
    site.secrets.add(str(race.parent))
    runs = site.settings.runs
    write_run(runs / "whole", f"{PAWNS}:size=5", "a2a3 b4a3")
    write_run(runs / "relative", f"./{os.path.relpath(PAWNS)}:size=5")
    write_run(runs / "other", str(race))
    games = {run["name"]: run["game"] for run in site.get("/api/runs")["runs"]}
    assert games == {"whole": "pawns:size=5", "relative": "pawns:size=5", "other": "Little_Race.py"}
    shown = site.get("/api/runs/whole/games")["games"]
    assert (shown[0]["moves"], shown[0]["end"]["game"]) == (["a2a3", "b4a3"], "pawns:size=5")
    assert site.get("/api/runs/other/games")["games"] == []
    site.post("/api/runs/relative/resume")
    folder = (runs / "relative").resolve()
    assert started.pop() == (["train", str(folder / "config.toml"), "--run", str(folder)], ROOT)
    refusal = site.post("/api/runs/other/resume", status=409)["error"]
    assert "tengen serve --game FILE" in refusal and "in a terminal" in refusal
    assert not started


def test_what_a_process_says_names_no_folder(tmp_path: Path) -> None:
    for said, told in (
        (f"{PAWNS} does not run", "pawns.py does not run"),
        ("there is no file ../else/mine.py", "there is no file mine.py"),
        ("/a/b/mine.py:size=5, ./c.py", "mine.py:size=5, c.py"),
        (f"{tmp_path}/mine is in use", "mine is in use"),
        ("1/2 of all games", "1/2 of all games"),
    ):
        assert own_games.without_folders(said, tmp_path) == told


def test_a_run_of_it_is_begun_on_the_page(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []

    def start(self: Jobs, name: str, arguments: list[str], folder: Path, facts: Any) -> None:
        started.append(arguments)
        write_run(folder / name, arguments[1])

    monkeypatch.setattr(Jobs, "begin", start)
    monkeypatch.setattr("tengen.apps.web.runs.what_is_missing", lambda: "")
    preset = site.get("/api/runs")["presets"][-1]
    assert (preset["name"], preset["game"], preset["is_file"]) == ("pawns", "pawns", True)
    assert preset["defaults"]["generations"] == load_settings(str(PAWNS)).run.generations
    wanted = {"preset": "pawns:size=5", "changes": {"generations": 3}}
    begun = site.post("/api/runs", wanted)
    assert (begun["name"], begun["game"]) == ("pawns", "pawns:size=5")
    assert started == [["train", f"{PAWNS}:size=5", "--run", "pawns", "--set=run.generations=3"]]
    for bad in ("little-race", str(PAWNS), "pawns.py", "pawns:size=3", "gomoku8:size=9"):
        site.secrets = {secret for secret in site.secrets if secret not in bad}
        site.post("/api/runs", {"preset": bad}, 400)
    assert len(started) == 1


def test_the_net_of_a_run_plays_its_own_game_and_no_other(site: Site) -> None:
    from nets.test_nets import write_net

    for name, spec in (("mine", f"{PAWNS}:size=4"), ("three", "tictactoe")):
        write_run(site.settings.runs / name, spec)
        (site.settings.runs / name / "nets").mkdir()
        write_net(site.settings.runs / name / "nets" / "000001.onnx", spec)
    with site.http.websocket_connect("/api/socket", headers={"host": "127.0.0.1:8000"}) as page:

        def last(game: str, agent: str) -> Any:
            page.send_json({"id": 1, "type": "think", "game": game, "agent": agent})
            while (answer := page.receive_json())["type"] not in ("move", "error"):
                assert str(ROOT) not in json.dumps(answer)
            return answer

        assert last("pawns:size=4", "run:mine@1,simulations=2")["type"] == "move"
        wrong = "run:mine learned pawns:size=4; this is pawns:size=5"
        assert last("pawns:size=5", "run:mine")["error"] == wrong
        assert last("gomoku", "run:mine")["error"] == "run:mine learned pawns:size=4; this is gomoku"
        assert last("pawns", "run:three")["error"] == "run:three learned tictactoe; this is pawns"


@pytest.mark.long
def test_a_run_is_trained_gone_on_with_and_played(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begun on the page and in a terminal: processes of their own, with the file's path, of which no page hears."""
    tiny = {"generations": 2, "positions": 64, "simulations": 2, "evaluate_every": 1, "evaluation_games": 2}

    def ended(name: str) -> Any:
        end = time.monotonic() + PATIENCE
        while (view := site.get(f"/api/runs/{name}"))["state"] in ("running", "stopping"):
            assert time.monotonic() < end, view
            time.sleep(0.5)
        return view

    assert site.post("/api/runs", {"preset": "pawns:size=4", "changes": tiny})["name"] == "pawns"
    view = ended("pawns")
    assert (view["state"], view["game"], view["generation"]) == ("complete", "pawns:size=4", 2), view
    assert site.get("/api/runs/pawns/games")["games"][0]["end"]["game"] == "pawns:size=4"
    numbers = ("run.generations=2", "selfplay.positions=64", "selfplay.simulations=2", "evaluation.games=2")
    changes = [f"--set={text}" for text in (*numbers, "evaluation.every=1")]
    relative = os.path.relpath(PAWNS, ROOT)
    monkeypatch.chdir(ROOT)
    command = [sys.executable, "-m", "tengen", "train", f"./{relative}:size=4", *changes, "--minutes", "0.001"]
    subprocess.run([*command, "--run", site.settings.runs / "mine"], cwd=ROOT, check=True, timeout=PATIENCE)
    assert site.get("/api/runs/mine")["generation"] == 1
    site.post("/api/runs/mine/resume")
    view = ended("mine")
    assert (view["state"], view["game"]) == ("complete", "pawns:size=4"), view
    with site.http.websocket_connect("/api/socket", headers={"host": "127.0.0.1:8000"}) as page:
        page.send_json({"id": 1, "type": "think", "game": "pawns:size=4", "agent": "run:mine,simulations=4"})
        while (answer := page.receive_json())["type"] not in ("move", "error"):
            pass
        assert answer["type"] == "move", answer
