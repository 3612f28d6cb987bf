"""Runs and contests of the web app: jobs that outlive a page, what is refused, what is stopped and gone on with."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from web_jobs import PATIENCE, TINY, end_jobs, entry, site_in, start_job, write_run
from web_site import serving

from tengen.agents.specs import load_agent
from tengen.apps.web import jobs
from tengen.apps.web import runs as runs_module
from tengen.apps.web.jobs import BadName, JobError, Jobs
from tengen.apps.web.levels import spec_of
from tengen.apps.web.runs import agent_spec
from tengen.apps.web.server import new_app
from tengen.apps.web.settings import STARTS_NOTHING, ServerSettings
from tengen.arena.match import play_game
from tengen.games import load_game
from tengen.learn.settings import load_settings, preset_names
from tengen.records.disk import lock
from tengen.records.sgf import write_sgf
from tengen.records.store import Store

HOSTILE = [
    "..",
    "../x",
    "a/b",
    "a\\b",
    ".hidden",
    "-rf",
    "~root",
    "a b",
    "a;b",
    "$(id)",
    "x" * 49,
    "",
    "a\n",
    "a%00",
    "ä",
]
HOSTILE += ["x" * 49, "a%00", "\0", "con:", "*"]
SLEEPER = (sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(600)")


@pytest.fixture
def site(tmp_path):
    with site_in(tmp_path) as site:
        yield site


# Jobs.


def test_a_job_is_known_while_it_runs_and_after(tmp_path):
    jobs = Jobs(tmp_path / "jobs", command=SLEEPER)
    start_job(jobs, "one", [], tmp_path, {"preset": "tictactoe"})
    try:
        job = jobs.find("one")
        assert job.is_running and job.metadata == {"preset": "tictactoe"} and os.getpgid(job.process) == job.process
        for name in ("one", "two"):
            with pytest.raises(JobError, match="one is running: stop it first"):
                start_job(jobs, name, [], tmp_path, {})
        assert jobs.names() == ["one"]
    finally:
        end_jobs(jobs)
    assert not jobs.find("one").is_running
    with pytest.raises(JobError, match="not running"):
        jobs.stop("one")
    assert jobs.find("never") is None


def test_a_job_outlives_who_started_it_and_the_next_one_can_stop_it(tmp_path):
    starter = (
        "import sys; from pathlib import Path; from tengen.apps.web.jobs import Jobs\n"
        "jobs = Jobs(Path('jobs'), command=sys.argv[1:])\n"
        "with jobs.starting(): jobs.begin('orphan', [], Path('.'), {})"
    )
    subprocess.run([sys.executable, "-c", starter, *SLEEPER], cwd=tmp_path, check=True, timeout=PATIENCE)
    jobs = Jobs(tmp_path / "jobs")
    try:
        assert jobs.find("orphan").is_running
    finally:
        end_jobs(jobs)
    assert not jobs.find("orphan").is_running


def test_a_job_that_failed_says_why(tmp_path):
    jobs = Jobs(tmp_path / "jobs")
    start_job(jobs, "wrong", ["train", "no-such-preset"], tmp_path, {})
    while jobs.find("wrong").is_running:
        time.sleep(0.1)
    assert "no preset is called 'no-such-preset'" in jobs.find("wrong").reason


ENDS = {  # what a process does, and the state and the reason that stand in its file then
    "pass": ("complete", ""),
    "raise SystemExit(1)": ("stopped", ""),
    "import os, signal; os.kill(os.getpid(), signal.SIGTERM)": ("stopped", ""),
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": ("failed", "it was ended by signal 9 (Killed)"),
    "print('tengen: there is no room'); raise SystemExit(2)": ("failed", "there is no room"),
    "raise ValueError('no')": ("failed", "ValueError: no"),
}


@pytest.mark.parametrize("code", ENDS)
def test_how_a_job_ended_stands_in_its_state_file(tmp_path, code):
    jobs = Jobs(tmp_path / "jobs", command=(sys.executable, "-c"))
    start_job(jobs, "one", [code], tmp_path, {"preset": "tictactoe"})
    end = time.monotonic() + PATIENCE
    while (said := json.loads((tmp_path / "jobs/one.json").read_text()))["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.05)
    state, reason = ENDS[code]
    assert (said["state"], said["reason"], said["metadata"]) == (state, reason, {"preset": "tictactoe"})
    assert (jobs.find("one").state, jobs.find("one").reason) == (state, reason)
    assert sorted(path.name for path in (tmp_path / "jobs").iterdir()) == ["lock", "one.json", "one.lock", "one.log"]


def test_a_job_is_stopping_until_it_has_ended(tmp_path):
    deaf = "import signal, time; signal.signal(signal.SIGTERM, lambda *_: open('asked', 'w')); print(1, flush=True)"
    jobs = Jobs(tmp_path / "jobs", command=(sys.executable, "-c", f"{deaf}\nwhile True: time.sleep(600)"))
    start_job(jobs, "one", [], tmp_path, {})
    end = time.monotonic() + PATIENCE
    while not (tmp_path / "jobs/one.log").read_text():
        assert time.monotonic() < end
        time.sleep(0.05)
    assert jobs.find("one").state == "running"
    for _ in range(2):
        jobs.stop("one")
        assert (jobs.find("one").state, Jobs(tmp_path / "jobs").find("one").state) == ("stopping", "stopping")
    with pytest.raises(JobError, match="one is running"):
        start_job(jobs, "two", [], tmp_path, {})
    os.kill(jobs.find("one").process, signal.SIGKILL)
    while jobs.find("one").is_running:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert (jobs.find("one").state, jobs.find("one").reason, (tmp_path / "asked").exists()) == ("stopped", "", True)


def test_a_number_of_an_earlier_process_is_never_stopped(tmp_path):
    """Whoever begins a job again has locked it before its new number is known."""
    (tmp_path / "x.json").write_text(json.dumps({"state": "stopped", "process": os.getpid()}))
    jobs = Jobs(tmp_path)
    with lock(tmp_path / "x.lock"):
        assert jobs.find("x").process == 0
        with pytest.raises(JobError, match="try again"):
            jobs.stop("x")


@pytest.mark.skipif(os.name != "posix", reason="links are POSIX's")
def test_a_state_file_is_written_beside_no_link(tmp_path):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs/.one.json.part").symlink_to(tmp_path / "precious")
    jobs = Jobs(tmp_path / "jobs", command=(sys.executable, "-c", "pass"))
    start_job(jobs, "one", [], tmp_path, {})
    assert not (tmp_path / "precious").exists()


def test_a_job_file_that_somebody_damaged_stops_nothing(tmp_path):
    jobs = Jobs(tmp_path)
    for text in ("", "[]", "{", '{"process": 1}', '{"process": -1}', '{"process": "all"}', "[" * 100_000):
        (tmp_path / "x.json").write_text(text)
        held = lock(tmp_path / "x.lock")
        assert jobs.find("x").process == 0
        with pytest.raises(JobError, match="try again"):
            jobs.stop("x")
        held.close()


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_leads_elsewhere(site, name, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(BadName):
        Jobs(tmp_path).find(name)
    for body in ({"preset": "tictactoe", "name": name}, {"preset": name}):
        if body != {"preset": "tictactoe", "name": ""}:
            assert site.http.post("/api/runs", json=body).status_code in (400, 422)
    quoted = "".join(f"%{byte:02x}" for byte in name.encode())
    if name:
        contest = {"game": "tictactoe", "agents": ["random", "beginner"], "name": name}
        assert site.http.post("/api/contests", json=contest).status_code in (400, 422)
        for kind in ("runs", "contests"):
            for tail in ("", "/metrics", "/games", "/games/1"):
                assert site.http.get(f"/api/{kind}/{quoted}{tail}").status_code in (400, 404, 405, 422)
            for verb in ("stop", "resume"):
                assert site.http.post(f"/api/{kind}/{quoted}/{verb}").status_code in (400, 404, 405, 422)
    assert sorted(tmp_path.rglob("*")) == before


# Runs.


def test_what_may_be_started_is_listed(site):
    listed = site.get("/api/runs")
    assert listed["runs"] == [] and listed["advice"] == ""
    assert [preset["name"] for preset in listed["presets"]] == preset_names()
    kettle = next(preset for preset in listed["presets"] if preset["name"] == "tictactoe")
    assert kettle["defaults"]["generations"] == load_settings("tictactoe").run.generations
    assert "kettle" in kettle["about"] and not kettle["about"].startswith("#")


@pytest.mark.parametrize(
    "wanted",
    [
        {"preset": "tictactoe", "changes": {"opponent": 1}},
        {"preset": "tictactoe", "changes": {"run.game": 1}},
        {"preset": "tictactoe", "changes": {"generations": 0}},
        {"preset": "tictactoe", "changes": {"generations": 10**12}},
        {"preset": "tictactoe", "changes": {"generations": "1; rm -rf /"}},
        {"preset": "tictactoe", "changes": {"generations": 1.5}},
        {"preset": "tictactoe", "device": "cuda"},
        {"preset": "nothing"},
        {},
        [],
    ],
)
def test_a_page_changes_only_what_it_may(site, wanted):
    assert site.http.post("/api/runs", json=wanted).status_code in (400, 422)
    assert not site.settings.runs.exists()


def test_without_torch_the_page_says_what_to_install(site, monkeypatch):
    monkeypatch.setattr(runs_module, "find_spec", lambda name: None if name == "torch" else name)
    assert "pip install 'tengen[train]'" in site.get("/api/runs")["advice"]
    assert "training needs torch" in site.post("/api/runs", {"preset": "tictactoe"}, 409)["error"]


def test_pages_start_nothing_where_no_locked_file_is_inherited(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "killpg")  # as on Windows
    with site_in(tmp_path) as site:
        contest = {"game": "tictactoe", "agents": ["random", "beginner"]}
        for kind, body in (("runs", {"preset": "tictactoe"}), ("contests", contest)):
            assert site.get(f"/api/{kind}")["advice"] == STARTS_NOTHING
            assert site.post(f"/api/{kind}", body, 403)["error"] == STARTS_NOTHING
        assert not site.settings.runs.exists() and not site.settings.contests.exists()


def test_metrics_come_line_by_line(site):
    folder = site.settings.runs / "mine"
    write_run(folder, done=3)
    assert [line["generation"] for line in site.get("/api/runs/mine/metrics")["lines"]] == [1, 2, 3]
    with (folder / "metrics.jsonl").open("a") as file:
        file.write(json.dumps(entry(4)) + "\n" + '{"generation": 5')  # and is still writing
    answer = site.get("/api/runs/mine/metrics?after=3")
    assert (answer["first"], answer["next"]) == (3, 4) and [line["generation"] for line in answer["lines"]] == [4]
    assert site.get("/api/runs/mine/metrics?after=4") == {"first": 4, "next": 4, "lines": []}
    again = site.get("/api/runs/mine/metrics?after=9")  # a run that was killed has gone back
    assert (again["first"], again["next"]) == (0, 4)
    site.get("/api/runs/mine/metrics?after=-1", 422)
    site.get("/api/runs/other/metrics", 404)


def test_metrics_that_json_cannot_say_are_left_open(site):
    folder = site.settings.runs / "odd"
    write_run(folder, done=1)
    lines = [
        '{"generation": 2, "rating": NaN, "loss": {"total": Infinity, "value": 1e999}}',
        '{"generation": 1' + "0" * 400 + ', "matches": [1]}',
        "no json",
        "[1]",
        "[" * 9999,
    ]
    (folder / "metrics.jsonl").write_text("\n".join([*lines, ""]))
    assert site.get("/api/runs/odd/metrics")["lines"] == [
        {"generation": 2, "rating": None, "loss": {"total": None, "value": None}},
        {"generation": None, "matches": []},
        *[{}] * 3,
    ]
    view = site.get("/api/runs/odd")
    assert (view["rating"], view["matches"], view["generation"]) == (None, [], 2)


def test_a_run_from_a_terminal_is_shown_and_left_alone(site):
    folder = site.settings.runs / "terminal"
    write_run(folder, done=3)
    assert site.get("/api/runs/terminal")["state"] == "stopped"
    with lock(folder / "lock"):
        view = site.get("/api/runs/terminal")
        assert (view["state"], view["is_ours"], view["generation"]) == ("running", False, 3)
        assert "started elsewhere" in site.post("/api/runs/terminal/stop", status=409)["error"]
        assert "is running" in site.post("/api/runs/terminal/resume", status=409)["error"]
    write_run(site.settings.runs / "done", generations=3, done=3)
    assert site.get("/api/runs/done")["state"] == "complete"
    assert "complete" in site.post("/api/runs/done/resume", status=409)["error"]
    assert [run["name"] for run in site.get("/api/runs")["runs"]] == ["done", "terminal"]


def test_a_page_never_runs_a_file_or_a_program(site, tmp_path):
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    write_run(site.settings.runs / "program", changes=["evaluation.opponent=gtp:touch ran"])
    write_run(site.settings.runs / "agent", changes=[f"evaluation.opponent={tmp_path}/evil.py:Evil"])
    write_run(site.settings.runs / "network", changes=[f"net.kind={tmp_path}/evil.py:Evil"])
    write_run(site.settings.runs / "target", changes=[f"net.targets=territory,{tmp_path}/evil.py"])
    write_run(site.settings.runs / "job")  # what a job is said to have begun with comes with the folder, too
    begun = {"preset": "tictactoe", "changes": [f"net.kind={tmp_path}/evil.py"]}
    (site.settings.runs / ".jobs").mkdir(exist_ok=True)
    (site.settings.runs / ".jobs" / "job.json").write_text(json.dumps({"state": "stopped", "metadata": begun}))
    for name in ("program", "agent", "network", "target", "job"):
        assert "in a terminal" in site.post(f"/api/runs/{name}/resume", status=409)["error"]
    assert str(tmp_path) not in json.dumps(site.get("/api/runs"))
    folder = site.settings.runs / "file"
    write_run(folder)
    text = (folder / "config.toml").read_text().replace('game = "tictactoe"', f'game = "{tmp_path}/evil.py"')
    (folder / "config.toml").write_text(text)
    for path in ("/api/runs", "/api/runs/file", "/api/runs/file/games"):
        site.get(path)
    assert site.http.post("/api/runs/file/resume").status_code in (400, 409)
    assert not (tmp_path / "ran").exists()


def test_the_nets_of_a_run_are_agents(site):
    nets = site.settings.runs / "mine" / "nets"
    nets.mkdir(parents=True)
    for name in ("000000.onnx", "000012.onnx", "000012.onnx.part", "notes.txt"):
        (nets / name).touch()
    settings = site.settings
    assert agent_spec("run:mine", settings) == f"puct:net={nets / '000012.onnx'}"
    assert agent_spec("run:mine@0", settings) == f"puct:net={nets / '000000.onnx'}"
    assert agent_spec("run:mine@12,simulations=50", settings) == f"puct:net={nets / '000012.onnx'},simulations=50"
    for text in ("run:mine@1", "run:other", "run:../mine", "run:mine@-1", "run:mine,simulations=0", "run:mine,net=x"):
        assert agent_spec(text, settings) is None
        with pytest.raises(ValueError, match="is no net of a run"):
            spec_of(text, load_game("tictactoe"), settings)
    for name in HOSTILE:
        assert agent_spec(f"run:{name}", settings) is None


def test_nets_are_offered_where_they_fit(site):
    """By what a run learned, however its game is written; of a stage's nets, which play differently, none."""
    for number, (name, game) in enumerate(
        (("three", "mnk:m=3,n=3,k=3"), ("four", "mnk:m=4,n=4,k=3"), ("go", "go:size=9,komi=7"), ("odd", "no-such-game"))
    ):
        folder = site.settings.runs / name
        write_run(folder, changes=["run.game=tictactoe"])
        config = folder / "config.toml"
        config.write_text(config.read_text().replace('game = "tictactoe"', f'game = "{game}"'))
        os.utime(config, (1000 - number, 1000 - number))
        (folder / "nets").mkdir()
        for generation in range(9):
            (folder / "nets" / f"{generation:06}.onnx").touch()
    assert site.get("/api/nets?game=tictactoe")["nets"] == ["run:three", *(f"run:three@{n}" for n in (7, 6, 5, 4, 3))]
    assert site.get("/api/nets?game=mnk:m=4,n=4,k=3")["nets"][:2] == ["run:four", "run:four@7"]
    assert site.get("/api/nets?game=go:size=9,komi=7.5")["nets"][0] == "run:go"  # a net puts up with half a point
    assert site.get("/api/nets?game=go:size=9,komi=0.5")["nets"] == []
    assert site.get("/api/nets?game=gomoku")["nets"] == []
    for game, status in (("no-such-game", 400), ("/tmp/x.py", 400), ("x" * 101, 422)):
        site.get(f"/api/nets?game={game}", status)
    config = site.settings.runs / "three" / "config.toml"
    config.write_text(config.read_text().replace("[selfplay]", "[data]"))
    assert site.get("/api/nets?game=tictactoe")["nets"] == []


def test_the_first_match_is_told_until_it_is_played(site):
    write_run(site.settings.runs / "new", changes=["evaluation.every=20", "run.generations=200"], matches=[])
    told = {"generation": 20, "opponent": load_settings("tictactoe").evaluation.opponent, "sooner": 5}
    assert site.get("/api/runs/new")["first_match"] == told
    write_run(site.settings.runs / "old", changes=["evaluation.every=20"])
    assert site.get("/api/runs/old")["first_match"] is None


def test_a_run_is_started_stopped_and_gone_on_with(site):
    """Its games and nets are there while it trains; it is never left half saved."""
    view = site.post(
        "/api/runs", {"preset": "tictactoe", "changes": TINY | {"generations": 5000, "evaluate_every": 1000}}
    )
    assert view["name"] == "tictactoe" and view["is_ours"]
    assert "is running" in site.post("/api/runs", {"preset": "connect4"}, 409)["error"]
    view = site.until("/api/runs/tictactoe", lambda view: view["generation"] >= 2 or view["problem"])
    assert view["state"] == "running" and view["generations"] == 5000
    games = site.until("/api/runs/tictactoe/games", lambda answer: answer["games"])
    assert games["games"][0]["players"] == ["self-play", "self-play"]
    for game in games["games"]:
        assert board_after(game, len(game["moves"])) == game["end"]["board"]
    site.post("/api/runs/tictactoe/stop")
    stopped = site.until("/api/runs/tictactoe", lambda view: view["state"] not in ("running", "stopping"))
    assert (stopped["state"], stopped["problem"], stopped["can_resume"]) == ("stopped", "", True)
    site.post("/api/runs/tictactoe/resume")
    gone_on = site.until(
        "/api/runs/tictactoe", lambda view: view["generation"] > stopped["generation"] or view["problem"]
    )
    assert gone_on["state"] == "running" and stopped["nets"][-1] == stopped["generation"]


def board_after(game, ply):
    board = [0] * len(game["end"]["board"])
    for code in [*game["start"], *(code for codes in game["changes"][:ply] for code in codes)]:
        board[code // 3] = code % 3
    return board


# Contests.


@pytest.mark.parametrize(
    "agents",
    [
        ["random", "gtp:touch x"],
        ["random", "gomocup:touch x"],
        ["random", "./examples/flat.py:Flat"],
        ["random", "puct:net=/etc/passwd"],
        ["random", "puct:net=../runs/x"],
        ["random", "uct:playouts=1,time=1000"],
        ["random", "uct:memory=100000"],
        ["random", "uct:nothing=1"],
        ["random", "run:none"],
        ["random", "--help"],
        ["random", "random"],
        ["random"],
        ["random"] * 9,
        [],
    ],
)
def test_agents_that_a_page_may_not_name(site, agents):
    answer = site.http.post("/api/contests", json={"game": "tictactoe", "agents": agents})
    assert answer.status_code in (400, 422) and answer.json()["error"]
    assert not site.settings.contests.exists()


def test_a_contest_has_bounds(site):
    for change in ({"games": 201}, {"games": 0}, {"opening": 21}, {"seed": -1}, {"game": "./evil.py"}, {"more": 1}):
        wanted = {"game": "tictactoe", "agents": ["random", "beginner"], **change}
        assert site.http.post("/api/contests", json=wanted).status_code in (400, 422)
    many = [f"uct:playouts={n}" for n in range(1, 9)]
    wanted = {"game": "tictactoe", "agents": many, "games": 200}
    assert "too many" in site.post("/api/contests", wanted, 400)["error"]
    assert not site.settings.contests.exists()


def test_a_contest_is_played_stopped_and_gone_on_with(site):
    slow = {"game": "tictactoe", "agents": ["uct:time=0.2", "uct:time=0.21", "beginner"], "games": 40, "name": "slow"}
    assert site.post("/api/contests", slow)["state"] == "running"
    assert "is running" in site.post("/api/contests", slow | {"name": "second"}, 409)["error"]
    site.until("/api/contests/slow", lambda view: view["played"] >= 2)
    site.post("/api/contests/slow/stop")
    stopped = site.until("/api/contests/slow", lambda view: view["state"] not in ("running", "stopping"))
    assert stopped["state"] == "stopped" and 2 <= stopped["played"] < stopped["total"] == 120
    site.post("/api/contests/slow/resume")
    gone_on = site.until("/api/contests/slow", lambda view: view["played"] > stopped["played"])
    assert gone_on["state"] == "running"
    numbers = [game["id"] for game in site.get("/api/contests/slow/games")["games"]]
    assert numbers == sorted(set(numbers), reverse=True)


def test_a_tournament_from_a_terminal_is_shown(site):
    game = load_game("tictactoe")
    folder = site.settings.contests / "mine"
    folder.mkdir(parents=True)
    names = ("puct:net=/home/me/secret/x.onnx,simulations=3", "random")
    agents = [load_agent("random", game, seed=seed) for seed in (1, 2)]
    with Store(folder / "games.db") as store:
        match = store.match({"game": game.spec, "agents": list(names)})
        for number in range(4):
            store.add(play_game(game, agents, names=names), match, number)
    view = site.get("/api/contests/mine")
    assert (view["played"], view["total"], view["can_resume"], view["state"]) == (4, None, False, "stopped")
    assert {player["name"] for player in view["players"]} == {"puct:net=x.onnx,simulations=3", "random"}
    assert "in a terminal" in site.post("/api/contests/mine/resume", status=409)["error"]
    played = site.get("/api/contests/mine/games")
    assert played["total"] == 4
    for listed in played["games"]:
        shown = site.get(f"/api/contests/mine/games/{listed['id']}")
        assert (
            board_after(shown, len(shown["moves"])) == shown["end"]["board"] and len(shown["moves"]) == listed["plies"]
        )
    site.get("/api/contests/mine/games/999", 404)
    assert "secret" not in json.dumps([view, played, site.get("/api/contests")])


def test_a_store_that_is_none_is_shown_as_bad(site):
    folder = site.settings.contests / "odd"
    folder.mkdir(parents=True)
    (folder / "games.db").write_bytes(b"no store" * 100)
    (shown,) = site.get("/api/contests")["contests"]
    assert (shown["state"], "no store of games" in shown["problem"]) == ("failed", True)
    assert "no store of games" in site.get("/api/contests/odd/games", 400)["error"]


def test_engines_of_others_are_called_by_their_program(site):
    """What stands on a command line is nobody's business: folders, options, keys."""
    game = load_game("tictactoe")
    folder = site.settings.contests / "mine"
    folder.mkdir(parents=True)
    names = ("gtp:/opt/me/gnugo --mode gtp --key=s3cret", "gtp:/opt/me/gnugo --level 2", "gomocup:'/my dir/pbrain' x")
    agents = [load_agent("random", game, seed=seed) for seed in (1, 2)]
    with Store(folder / "games.db") as store:
        match = store.match({"game": game.spec, "agents": list(names)})
        for number, pair in enumerate(((0, 1), (1, 2), (2, 0))):
            record = play_game(game, agents, names=[names[i] for i in pair])
            store.add(replace(record, ending=f"{names[0]} ended: {names[1]}"), match, number)
    view, played = site.get("/api/contests/mine"), site.get("/api/contests/mine/games")
    assert view["agents"] == ["gtp:gnugo", "gtp:gnugo (2)", "gomocup:pbrain"]
    assert {player["name"] for player in view["players"]} == set(view["agents"])
    assert {name for game in played["games"] for name in game["players"]} == set(view["agents"])
    assert played["games"][0]["ending"] == "gtp:gnugo ended: gtp:gnugo (2)"
    shown = site.get("/api/contests/mine/games/1")
    assert set(shown["players"]) <= set(view["agents"])
    said = json.dumps([view, played, shown, site.get("/api/contests")])
    assert [word for word in ("/opt", "s3cret", "level", "my dir") if word in said] == []


def test_engines_are_called_by_their_program_in_runs_too(site):
    engine, game = "gtp:/opt/me/gnugo --key=s3cret", load_game("tictactoe")
    folder = site.settings.runs / "mine"
    write_run(folder, changes=[f"evaluation.opponent={engine}"], opponent=engine)
    record = play_game(game, [load_agent("random", game, seed=seed) for seed in (1, 2)], names=("generation 3", engine))
    (folder / "games").mkdir()
    (folder / "games/000003.sgf").write_bytes(write_sgf(record).encode())
    said = [site.get(f"/api/runs{path}") for path in ("", "/mine", "/mine/metrics", "/mine/games")]
    assert said[3]["games"][0]["players"] == ["generation 3", "gtp:gnugo"]
    assert [match["opponent"] for line in said[2]["lines"] for match in line["matches"]] == ["gtp:gnugo"] * 3
    assert [word for word in ("/opt", "s3cret") if word in json.dumps(said)] == []


def test_of_many_starts_at_once_one_begins_and_the_others_leave_nothing(site):
    wanted = {"game": "tictactoe", "agents": ["uct:time=0.2", "beginner"], "games": 100}
    with serving(contests=site.settings.contests, requests_at_once=50) as server, ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: server.http.post("/api/contests", json=wanted).status_code, range(50)))
    assert sorted(answers) == [200] + [409] * 49
    assert len(site.get("/api/contests")["contests"]) == 1
    assert len([path for path in site.settings.contests.iterdir() if path.name != ".jobs"]) == 1


def test_a_run_that_cannot_begin_leaves_nothing(site, monkeypatch):
    def refuse(*arguments, **options):
        raise OSError(errno.EAGAIN, "no process")

    monkeypatch.setattr(jobs.subprocess, "Popen", refuse)
    assert "cannot be started: no process" in site.post("/api/runs", {"preset": "tictactoe"}, 409)["error"]
    assert site.get("/api/runs")["runs"] == []


def test_a_contest_that_cannot_begin_leaves_nothing(site, monkeypatch):
    def refuse(self, *arguments):
        raise OSError("no process")

    monkeypatch.setattr(Jobs, "begin", refuse)
    assert (
        "cannot be started"
        in site.post("/api/contests", {"game": "tictactoe", "agents": ["random", "easy"]}, 409)["error"]
    )
    assert site.get("/api/contests")["contests"] == []


# Whatever is sent.


def test_schemathesis_finds_no_server_error(tmp_path, monkeypatch):
    """Every door of both routers, with bodies that fit and bodies that do not; what would begin is written down."""
    schemathesis = pytest.importorskip("schemathesis")
    from web_openapi import check_answers, operations_of

    begun = []
    monkeypatch.setattr(Jobs, "begin", lambda self, name, arguments, *rest: begun.append(arguments))
    write_run(tmp_path / "runs" / "0")
    settings = ServerSettings(
        runs=tmp_path / "runs", contests=tmp_path / "contests", names=("testserver",), requests=1e9
    )
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", new_app(settings))
    ours = [one for one in operations_of(schema) if one.path.startswith(("/api/runs", "/api/contests"))]
    assert len(ours) == 14
    check_answers(ours, examples=12)
    assert all(arguments[0] in ("train", "tournament") for arguments in begun)
