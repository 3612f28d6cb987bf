"""Folders of runs and contests that hold what nobody should have put there: each is shown as bad, beside a good one."""

import json
import os
import sqlite3
import threading

import numpy as np
import pytest
from safetensors.numpy import save_file
from web_browser import browser, expect, open_page, running_server
from web_jobs import site_in, write_run

from tengen.agents.specs import load_agent
from tengen.apps.web import folders, server
from tengen.arena.match import play_game
from tengen.games import load_game
from tengen.records.store import Store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and links are POSIX's")
HALT = 60  # seconds after which an answer is said not to come


@pytest.fixture
def site(tmp_path):
    with site_in(tmp_path) as site:
        yield site


def answered(site, path):
    """What is answered, and that it is at all: a server that waits for a pipe waits for ever."""
    found = []
    thread = threading.Thread(target=lambda: found.append(site.http.get(path)), daemon=True)
    thread.start()
    thread.join(HALT)
    assert found, f"{path} is not answered"
    assert found[0].status_code == 200, found[0].text
    return found[0].json()


def replace_by_pipe(path):
    path.unlink()
    os.mkfifo(path)


def replace_by_link(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def write_over(name, content):
    def write(folder):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)

    return write


def make_long(name):
    def make(folder):
        with (folder / name).open("ab") as file:
            file.truncate(2**40)  # it takes no room

    return make


BAD_RUNS = {
    "pipe": lambda folder: replace_by_pipe(folder / "config.toml"),
    "link": lambda folder: replace_by_link(folder / "config.toml"),
    "device": lambda folder: ((folder / "config.toml").unlink(), (folder / "config.toml").symlink_to("/dev/zero")),
    "folder": lambda folder: ((folder / "config.toml").unlink(), (folder / "config.toml").mkdir()),
    "deep": write_over("config.toml", b"a = " + b"[" * 900 + b"]" * 900),
    "deeper": write_over("config.toml", b"a = [\n" + b"[\n" * 20_000 + b"]\n" * 20_000 + b"]"),
    "parts": write_over("config.toml", b"a" + b".a" * 30_000 + b" = 1"),  # TOML's reader takes the square of that
    "long": make_long("config.toml"),
    "measured": lambda folder: replace_by_pipe(folder / "metrics.jsonl"),
    "endless": make_long("metrics.jsonl"),
}
ODD_RUNS = {  # of which something can be told
    "types": write_over(
        "metrics.jsonl", b'{"generation": "x", "games": [], "seconds": {}, "matches": [{"rate": []}]}\n'
    ),
    "letters": write_over("metrics.jsonl", b'{"generation": 1, "note": "\\ud800", "\\udfff": 1}\n'),
    "nested": write_over("metrics.jsonl", b'{"generation": 1, "note": ' + b"[" * 500 + b"]" * 500 + b"}\n"),
    "cluster": lambda folder: os.mkfifo(folder / "cluster.json"),
    "locked": lambda folder: os.mkfifo(folder / "lock"),
    "game": write_over("config.toml", b"[run]\ngame = 5\ngenerations = [1]\n[evaluation]\nevery = 'x'\n"),
    "table": write_over("config.toml", b"run = 5\nevaluation = []\n"),
    "games": lambda folder: ((folder / "games").mkdir(), os.mkfifo(folder / "games/000001.sgf")),
    "replay": lambda folder: ((folder / "replay").mkdir(), os.mkfifo(folder / "replay/000001.safetensors")),
    "lengths": lambda folder: (
        (folder / "replay").mkdir(),
        save_file(
            {"lengths": np.array([2**40, -1]), "moves": np.zeros(9, np.int16)}, folder / "replay/000001.safetensors"
        ),
    ),
    "nets": lambda folder: ((folder / "nets").mkdir(), os.mkfifo(folder / "nets/000001.onnx")),
}


def test_bad_runs_are_shown_beside_a_good_one(site):
    for name, spoil in (BAD_RUNS | ODD_RUNS).items():
        write_run(site.settings.runs / name)
        spoil(site.settings.runs / name)
    write_run(site.settings.runs / "good")
    shown = {run["name"]: run for run in answered(site, "/api/runs")["runs"]}
    assert shown.keys() == {*BAD_RUNS, *ODD_RUNS, "good"}
    assert (shown["good"]["state"], shown["good"]["generation"], shown["good"]["problem"]) == ("stopped", 3, "")
    for name in BAD_RUNS:
        assert shown[name]["state"] == "failed", name
        assert shown[name]["problem"].startswith("its folder cannot be read: "), name
        assert str(site.settings.runs) not in shown[name]["problem"]
        assert answered(site, f"/api/runs/{name}") == shown[name]
    assert {shown[name]["state"] for name in ODD_RUNS} == {"stopped"}
    for name in ODD_RUNS:
        for path in ("", "/metrics", "/games"):
            answered(site, f"/api/runs/{name}{path}")
    assert answered(site, "/api/nets?game=tictactoe")["nets"]


def test_a_net_that_is_a_pipe_is_no_agent(site):
    from tengen.apps.web.runs import agent_spec

    write_run(site.settings.runs / "mine")
    ODD_RUNS["nets"](site.settings.runs / "mine")
    assert agent_spec("run:mine", site.settings) is None


def test_the_jobs_of_a_folder_may_be_anything(site):
    write_run(site.settings.runs / "good")
    jobs = site.settings.runs / ".jobs"
    jobs.mkdir()
    os.mkfifo(jobs / "good.json")
    os.mkfifo(jobs / "good.log")
    os.mkfifo(jobs / "other.json")
    assert [run["name"] for run in answered(site, "/api/runs")["runs"]] == ["good"]
    (jobs / "good.json").unlink()
    (jobs / "good.json").write_text('{"preset": [], "changes": 5}')
    assert answered(site, "/api/runs/good")["state"] == "stopped"


# Contests.


def write_contest(folder):
    """A match of one game, as a terminal leaves it."""
    folder.mkdir(parents=True)
    game = load_game("tictactoe")
    agents = [load_agent("random", game, seed=seed) for seed in (1, 2)]
    with Store(folder / "games.db") as store:
        match = store.match({"game": game.spec, "agents": ["random", "beginner"]})
        store.add(play_game(game, agents, names=("random", "beginner")), match, 0)


def run_sql(*statements):
    def run(folder):
        with sqlite3.connect(folder / "games.db", isolation_level=None) as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    return run


COLUMNS = "id, match, number, game, first, second, result, winner, date, moves, opening, seconds, comments, ending"
ENDLESS = f"WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more) SELECT {COLUMNS} FROM kept, more"
BAD_CONTESTS = {
    "pipe": lambda folder: replace_by_pipe(folder / "games.db"),
    "link": lambda folder: replace_by_link(folder / "games.db"),
    "journal": lambda folder: os.mkfifo(folder / "games.db-journal"),
    "noise": write_over("games.db", b"no store" * 100),
    "view": run_sql("ALTER TABLE games RENAME TO kept", f"CREATE VIEW games AS {ENDLESS}"),
    "made": run_sql("ALTER TABLE games ADD COLUMN more TEXT AS (printf('%.*c', 100000000, 'x'))"),
    "types": run_sql("UPDATE games SET first = x'ff', second = x'fe'"),
    "settings": run_sql("UPDATE matches SET settings = '[1]'"),
    "deep": run_sql(f"UPDATE matches SET settings = '{'[' * 50_000}'"),
    "facts": lambda folder: os.mkfifo(folder / "contest.json"),
    "long": make_long("contest.json"),
}
ODD_CONTESTS = {
    "empty": write_over("games.db", b""),  # as it is for a moment when it is begun
    "damaged": write_over("contest.json", b'{"game": 5}'),
}


def test_bad_contests_are_shown_beside_a_good_one(site):
    for name, spoil in (BAD_CONTESTS | ODD_CONTESTS).items():
        write_contest(site.settings.contests / name)
        spoil(site.settings.contests / name)
    write_contest(site.settings.contests / "good")
    shown = {contest["name"]: contest for contest in answered(site, "/api/contests")["contests"]}
    assert shown.keys() == {*BAD_CONTESTS, *ODD_CONTESTS, "good"}
    assert (shown["good"]["state"], shown["good"]["played"], shown["good"]["problem"]) == ("stopped", 1, "")
    for name in BAD_CONTESTS:
        assert shown[name]["state"] == "failed", name
        assert shown[name]["problem"].startswith("its folder cannot be read: "), name
        assert str(site.settings.contests) not in shown[name]["problem"]
        view = answered(site, f"/api/contests/{name}")
        assert {key: view[key] for key in shown[name]} == shown[name]
    for name in (*ODD_CONTESTS, "good"):
        assert shown[name]["state"] == "stopped"
        answered(site, f"/api/contests/{name}")
        answered(site, f"/api/contests/{name}/games")


def test_looking_at_a_store_changes_nothing(site):
    folder = site.settings.contests / "good"
    write_contest(folder)
    before = (folder / "games.db").read_bytes()
    for path in ("", "/games", "/games/1"):
        answered(site, f"/api/contests/good{path}")
    assert (folder / "games.db").read_bytes() == before
    assert [path.name for path in folder.iterdir()] == ["games.db"]


def test_a_store_that_a_killed_writer_left_is_read(site):
    """What was half written is taken back first, by SQLite itself."""
    folder = site.settings.contests / "good"
    write_contest(folder)
    writer = sqlite3.connect(folder / "games.db", isolation_level=None)
    writer.execute("PRAGMA cache_size = 1")
    writer.execute("BEGIN")
    writer.execute("UPDATE games SET moves = printf('%.*c', 100000, 'x')")
    left = {path.name: path.read_bytes() for path in folder.iterdir()}
    writer.execute("ROLLBACK")
    writer.close()
    assert "games.db-journal" in left
    for name, content in left.items():
        (folder / name).write_bytes(content)
    assert answered(site, "/api/contests/good")["played"] == 1


def test_a_store_is_asked_for_a_bounded_time(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "LONGEST_QUERY", 0.0)
    write_contest(tmp_path / "good")
    with folders.Glance(tmp_path / "good" / "games.db") as store, pytest.raises(ValueError, match="interrupted"):
        store._all("WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more) SELECT count(*) FROM more")


def test_the_page_shows_which_folder_is_bad(site, chromium):
    write_run(site.settings.runs / "bad")
    BAD_RUNS["measured"](site.settings.runs / "bad")
    write_contest(site.settings.contests / "bad")
    BAD_CONTESTS["noise"](site.settings.contests / "bad")
    with running_server(server.new_app(site.settings)) as url, browser(chromium) as chrome:
        for name in ("learn?run=bad", "arena?contest=bad"):
            with open_page(chrome, f"{url}#/{name}") as page:
                expect(page.locator(".run-head .problem")).to_contain_text("its folder cannot be read")
                expect(page.locator('.run-list [data-state="failed"]')).to_be_visible()


def test_a_line_of_metrics_that_no_answer_can_hold_is_left_open():
    from tengen.apps.web.runs import read_line

    good = {"generation": 1, "loss": {"total": 1.5}, "matches": [{"opponent": "a", "rate": 0.5}]}
    assert read_line(json.dumps(good)) == good
    assert read_line('{"note": "\\ud800"}') == read_line('{"a": ' + "[" * 9 + "]" * 9 + "}") == {}
