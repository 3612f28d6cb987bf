"""The web server over real sockets: what pages are told, records, and the command that starts it."""

import base64
import os
import signal
import socket
import subprocess
import sys

import httpx
import pytest
from web_jobs import start_job
from web_site import PATIENCE, Talk, serving
from websockets.sync.client import connect

from tengen.apps.web.jobs import JOBS, Jobs
from tengen.apps.web.levels import LEVELS
from tengen.apps.web.server import listen
from tengen.apps.web.views import position_of, view_of
from tengen.games import offered_names
from tengen.rules.errors import TengenError


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with serving(runs=tmp_path_factory.mktemp("runs"), requests=10_000, messages=10_000) as site:
        yield site


# What pages are told.


def test_games_with_their_parameters_and_levels(site):
    answer = site.http.get("/api/games").json()
    games = {game["name"]: game for game in answer["games"]}
    assert list(games) == offered_names()
    parameters = {parameter["name"]: parameter for parameter in games["gomoku"]["parameters"]}
    assert (parameters["size"]["low"], parameters["size"]["high"], parameters["size"]["default"]) == (5, 20, 15)
    assert parameters["rule"]["kind"] == "choice"
    assert parameters["rule"]["choices"] == ["freestyle", "standard", "renju"]
    assert games["tictactoe"]["parameters"] == []  # its name says them all
    assert [parameter["name"] for parameter in games["renju"]["parameters"]] == ["size"]
    for game in games.values():
        assert [level["name"] for level in game["levels"]] == list(LEVELS)


def test_agents_that_a_page_may_use(site):
    answer = site.http.get("/api/agents").json()
    names = [agent["name"] for agent in answer["agents"]]
    assert {"alphabeta", "minimax", "uct", "puct", "gumbel", "random"} <= set(names)
    assert not {"gtp", "gomocup", "uci"} & set(names)
    assert "uniform" in answer["nets"]


def test_a_won_game_of_tictactoe(site):
    view = site.view("tictactoe", "a3", "b2", "b3", "a1", "c3")
    assert view["board"] == [1, 1, 1, 0, 2, 0, 2, 0, 0]
    assert view["shape"] == [3, 3]
    assert (view["outcome"], view["result"], view["line"]) == ("first", "B+", [0, 1, 2])
    assert (view["legal"], view["cells"], view["last"]) == ([], {}, 2)
    assert view["labels"] == {"columns": ["a", "b", "c"], "rows": ["3", "2", "1"]}


def test_connect_four_says_where_a_disc_falls(site):
    view = site.view("connect4", "4", "4")
    assert view["legal"] == ["1", "2", "3", "4", "5", "6", "7"]
    assert view["cells"]["4"] == 3 * 7 + 3  # on top of two others
    assert view["cells"]["1"] == 5 * 7
    assert view["last"] == 4 * 7 + 3
    won = site.view("connect4", *"4142434")
    assert (won["outcome"], len(won["line"])) == ("first", 4)


def test_reversi_says_what_flips(site):
    view = site.view("reversi", "d3")
    assert (view["last"], view["flipped"]) == (19, [27])
    assert view["score"] == [4, 1]
    assert set(view["legal"]) == {"c3", "e3", "c5"}
    assert view["labels"]["rows"][0] == "1"  # from the top


def test_renju_marks_forbidden_points_with_their_reason(site):
    view = site.view("renju", "h8", "a1", "h9", "a15", "g10", "o1", "i10", "o15")
    forbidden = {cell["cell"]: cell["reason"] for cell in view["forbidden"]}
    h10 = 5 * 15 + 7
    assert "three" in forbidden[h10]
    assert "h10" not in view["legal"]
    assert "forbidden" in site.refusal("renju", *view["moves"], "h10")


def test_only_rows_that_count_are_marked():
    """In standard Gomoku six in a row do not win; the five that crosses them does."""
    row = ["a1", "b1", "c1", "e1", "f1"]
    column = ["d2", "d3", "d4", "d5"]
    others = ["a9", "c9", "e9", "g9", "i9", "b7", "d7", "f7", "h7"]
    moves = [move for pair in zip(row + column, others, strict=True) for move in pair]
    view = view_of(position_of("gomoku:size=9,rule=standard", [*moves, "d1"]))
    assert view.outcome == "first"
    assert view.line == sorted(position_of("gomoku:size=9", []).game.parse_action(move) for move in [*column, "d1"])


def test_go_shows_captures_and_counts_at_the_end(site):
    captured = site.view("go:size=5", "b1", "a1", "a2")
    assert captured["captured"] == [20]
    assert captured["score"] is None
    end = site.view("go:size=5,komi=0.5", "b1", "a1", "a2", "pass", "c3", "pass", "pass")
    assert end["outcome"] == "first"
    assert end["score"] == [25, 0.5]
    assert end["result"] == "B+24.5"
    assert end["last"] is None
    assert "pass" not in end["cells"]


@pytest.mark.parametrize(
    ("game", "moves", "said"),
    [
        ("tictactoe", ["b2", "b2"], "b2 is occupied at move 2"),
        ("tictactoe", ["z9"], "z9 is off the board"),
        ("tictactoe", [""], "a move is a short text"),
        ("tictactoe", ["b2" * 50], "a move is a short text"),
        ("connect4", ["4"] * 7, "4 is full"),
        ("reversi", ["a1"], "a1"),
        ("shogi", [], "no game is called 'shogi'"),
        ("gomoku:size=99", [], "size is 5 to 20"),
        ("gomoku:size=9,rule=chess", [], "rule=chess is unknown"),
        ("gomoku:sise=9", [], "did you mean 'size'?"),
        ("examples/breakthrough.py", [], "is not a game"),
        ("/etc/passwd", [], "is not a game"),
        ("os.py", [], "is not a game"),
        ("gomoku\n", [], "is not a game"),
        ("", [], "is not a game"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(site, game, moves, said):
    assert said in site.refusal(game, *moves)


def test_requests_of_another_form(site):
    assert "moves" in site.error("/api/records/write", {"game": "go", "moves": "a1"}, 422)
    assert "extra" in site.error("/api/records/write", {"game": "go", "moves": [], "extra": 1}, 422).lower()
    assert "moves" in site.error("/api/records/write", {"game": "go", "moves": ["a1"] * 3000}, 422)
    answer = site.http.post("/api/records/write", content=b"{", headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert "JSON" in answer.json()["error"]
    assert "does not take GET" in site.http.get("/api/records/write").json()["error"]
    assert "nothing at '/api/nothing'" in site.http.get("/api/nothing").json()["error"]


# Records.


def test_sgf_round_trip(site):
    written = {
        "game": "gomoku:size=9,rule=renju",
        "moves": ["e5", "e6", "f6"],
        "players": ["Ann ]\\ 黑", "hard"],
        "result": "W+R",
        "comments": {"0": "hello", "2": "a [good] move"},
    }
    sgf = site.post("/api/records/write", written)["sgf"]
    assert sgf.startswith("(;FF[4]")
    read = site.post("/api/records/read", {"text": sgf})
    assert {key: read[key] for key in written} == written
    assert read["problems"] == []


def test_records_are_read_by_their_own_charset(site):
    sgf = "(;GM[1]SZ[9]CA[GB18030]PB[柯洁]PW[x];B[ee])".encode("gb18030")
    read = site.post("/api/records/read", {"data": base64.b64encode(sgf).decode()})
    assert read["players"] == ["柯洁", "x"]
    assert read["moves"] == ["e5"]


def test_move_strings(site):
    assert site.post("/api/records/read", {"text": "4453", "game": "connect4"})["moves"] == ["4", "4", "5", "3"]
    assert site.post("/api/records/read", {"text": "renju h8i9"})["game"] == "renju"
    assert site.post("/api/records/read", {"text": "f5d6c3"})["game"] == "reversi"


def test_what_a_record_has_beyond_one_line(site):
    two = site.post("/api/records/read", {"text": "(;GM[4]SZ[9];B[aa])(;GM[4]SZ[9];B[bb])"})
    assert two["problems"] == ["the record holds 2 games; this is the first"]
    branched = site.post("/api/records/read", {"text": "(;GM[4]SZ[9];B[aa](;W[bb])(;W[cc];B[aa])(;W[dd]C[so]))"})
    assert "a9 is occupied" in branched["problems"][0]
    assert branched["variations"] == [
        {"of": 0, "ply": 1, "moves": ["c7"], "comments": {}},
        {"of": 0, "ply": 1, "moves": ["d6"], "comments": {"2": "so"}},
    ]
    asked = {key: branched[key] for key in ("game", "moves", "variations")}
    again = site.post("/api/records/read", {"text": site.post("/api/records/write", asked)["sgf"]})
    assert {key: again[key] for key in asked} == asked
    for wrong, said in (
        ({"of": 1, "ply": 0, "moves": ["a1"]}, "leaves line 1"),
        ({"of": 0, "ply": 3, "moves": ["a1"]}, "after move 3"),
        ({"of": 0, "ply": 1, "moves": ["a9"]}, "a9 is occupied"),
        ({"of": 0, "ply": 1, "moves": ["a9.py"]}, "a9.py"),
        ({"of": 0, "ply": 1, "moves": [], "comments": {7: "far"}}, "a comment on 7"),
    ):
        assert said in site.error("/api/records/write", {**asked, "variations": [wrong]})
    many = {**asked, "variations": [{"of": 0, "ply": 0, "moves": ["a1"] * 2000}] * 6}
    assert "12,000 moves" in site.error("/api/records/write", many)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "as text or as data"),
        ({"text": "x", "data": "eA=="}, "as text or as data"),
        ({"data": "%%"}, "not base64"),
        ({"text": "(;GM[1]SZ[9];B[zz])"}, "off the board"),
        ({"text": "(;GM[1"}, "line 1"),
        ({"text": "(;GM[4]TG[examples/breakthrough.py];B[a2a3])"}, "never makes us run code"),
        ({"text": "(;GM[4]TG[/etc/passwd.py];B[a2a3])", "game": "gomoku"}, "the game is /etc/passwd.py"),
        ({"text": "what is this"}, "no record that we know"),
        ({"text": "h8", "game": "x.py"}, "is not a game"),
    ],
)
def test_bad_records(site, body, said):
    assert said in site.error("/api/records/read", body)


def test_records_that_cannot_be_written(site):
    write = {"game": "gomoku", "moves": ["h8"]}
    assert "ply 7" in site.error("/api/records/write", {**write, "comments": {"7": "where?"}})
    assert "characters" in site.error("/api/records/write", {**write, "players": ["x" * 300, ""]})
    assert "result" in site.error("/api/records/write", {**write, "result": "Black!"}, 422)
    assert "occupied" in site.error("/api/records/write", {**write, "moves": ["h8", "h8"]})


# Whatever the OpenAPI document allows.


def test_schemathesis_finds_no_server_error(site):
    """All that can be asked, but for runs and contests, which test_web_learn.py asks for."""
    schemathesis = pytest.importorskip("schemathesis")
    from web_openapi import check_answers, operations_of

    schema = schemathesis.openapi.from_dict(site.http.get("/api/openapi.json").json())
    others = [one for one in operations_of(schema) if not one.path.startswith(("/api/runs", "/api/contests"))]
    assert len(others) >= 5
    check_answers(others, examples=15, base_url=site.url)


# The command.


def start_server(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "tengen", "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "100"},
    )


def test_serve_says_its_address_and_ends_at_once(tmp_path):
    """At its end it names what goes on without it."""
    jobs = Jobs(tmp_path / JOBS, command=[sys.executable, "-c", "import time; time.sleep(600)"])
    start_job(jobs, "kettle", [], tmp_path, {})
    process = start_server("--port", "0", "--runs", str(tmp_path))
    try:
        line = process.stdout.readline()
        assert line.startswith("Tengen is at http://127.0.0.1:"), process.communicate()
        url = line.split()[3]
        assert httpx.get(url, timeout=PATIENCE).status_code == 200
        port = int(url.rpartition(":")[2])
        with connect(f"ws://127.0.0.1:{port}/api/socket") as opened:
            page = Talk(opened)
            page.say({"id": 1, "type": "think", "game": "gomoku", "moves": [], "agent": "uct", "analyse": True})
            page.until(1, "thought")
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0
        assert process.stdout.read() == "training kettle goes on; the next tengen serve can show and stop it\n"
    finally:
        jobs.stop("kettle")
        process.kill()
        process.communicate()


def test_a_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        process = start_server("--port", str(port))
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert f"port {port} is taken" in said
        assert f"--port {port + 1}" in said


def test_an_address_that_is_not_ours():
    for host in ("nowhere.invalid", "192.0.2.1"):
        with pytest.raises(TengenError, match=r"127\.0\.0\.1|listen"):
            listen(host, 0)
