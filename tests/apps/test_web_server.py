"""The web server over real sockets: what pages are told, what is refused, and that nothing a client sends breaks it."""

import asyncio
import base64
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import httpx
import pytest
import uvicorn
import websockets
from websockets.sync.client import connect

from tengen import load_game
from tengen.agents.specs import load_agent
from tengen.apps.web import thinking
from tengen.apps.web.jobs import JOBS, Jobs
from tengen.apps.web.levels import LEVELS, levels_of, spec_of
from tengen.apps.web.messages import Think
from tengen.apps.web.security import Bucket, host_name, is_origin
from tengen.apps.web.server import listen, new_app
from tengen.apps.web.settings import Settings
from tengen.apps.web.socket import Pages, Places
from tengen.apps.web.views import TITLES, position_of, view_of
from tengen.nets import runtime
from tengen.rules.errors import TengenError
from tengen.search.limits import Limit

PATIENCE = 300  # seconds that anything may take on a busy machine, compiling included
LAST = ("move", "done", "view", "error")


class Site:
    """A server in a thread of ours."""

    def __init__(self, app, port):
        self.app, self.port, self.url = app, port, f"http://127.0.0.1:{port}"
        self.http = httpx.Client(base_url=self.url, timeout=PATIENCE)

    def post(self, path, body, status=200):
        answer = self.http.post(path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def error(self, path, body, status=400):
        return self.post(path, body, status)["error"]

    def view(self, game, *moves):
        return self.post("/api/position", {"game": game, "moves": list(moves)})

    @contextmanager
    def page(self, **options):
        with connect(f"ws://127.0.0.1:{self.port}/api/socket", open_timeout=PATIENCE, **options) as opened:
            yield Talk(opened)

    @property
    def pages(self):
        return self.app.state.pages


class Talk:
    """A page's side of the conversation."""

    def __init__(self, opened):
        self.opened = opened

    def say(self, message):
        self.opened.send(message if isinstance(message, str | bytes) else json.dumps(message))

    def hear(self):
        return json.loads(self.opened.recv(PATIENCE))

    def until(self, id_, *kinds):
        """All answers to a message, up to the first of these kinds."""
        heard = []
        while not heard or heard[-1]["type"] not in (kinds or LAST):
            if (answer := self.hear())["id"] == id_:
                heard.append(answer)
        return heard

    def ask(self, **message):
        """The last answer to a message."""
        message = {"id": "ask", **message}
        self.say(message)
        return self.until(message["id"])[-1]

    def think(self, game, *moves, **options):
        return self.ask(type="think", game=game, moves=list(moves), **options)


@contextmanager
def serving(**settings):
    app = new_app(Settings(**settings))
    with listen("127.0.0.1", 0) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        wait_for(lambda: server.started)
        try:
            yield Site(app, listener.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def wait_for(condition):
    """Returns when the condition holds; it must before long."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "that never happened"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with serving(runs=tmp_path_factory.mktemp("runs"), requests=10_000, messages=10_000) as site:
        yield site


# What pages are told.


def test_games_with_their_parameters_and_levels(site):
    answer = site.http.get("/api/games").json()
    games = {game["name"]: game for game in answer["games"]}
    assert list(games) == list(TITLES)
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
    assert not {"gtp", "gomocup"} & set(names)
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
    assert "forbidden" in site.error("/api/position", {"game": "renju", "moves": [*view["moves"], "h10"]})


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
        ("chess", [], "no game is called 'chess'"),
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
    assert said in site.error("/api/position", {"game": game, "moves": moves})


def test_requests_of_another_form(site):
    assert "moves" in site.error("/api/position", {"game": "go", "moves": "a1"}, 422)
    assert "extra" in site.error("/api/position", {"game": "go", "moves": [], "extra": 1}, 422).lower()
    assert "moves" in site.error("/api/position", {"game": "go", "moves": ["a1"] * 3000}, 422)
    answer = site.http.post("/api/position", content=b"{", headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert "JSON" in answer.json()["error"]
    assert "does not take GET" in site.http.get("/api/position").json()["error"]
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


# Thinking.


def test_who_has_lost_passes_and_fills_no_eyes(site):
    moves = ["b1", "pass", "b2", "pass", "b3", "pass"]  # all of the board is Black's, and not enough
    with site.page() as page:
        assert page.think("go:size=3,komi=20", *moves, agent="uct:playouts=200")["move"] == "pass"


def test_thoughts_and_then_a_move(site):
    with site.page() as page:
        page.say({"id": 7, "type": "think", "game": "connect4", "moves": ["4"], "agent": "uct:time=0.3", "every": 0.05})
        heard = [answer for answer in page.until(7) if answer["type"] != "note"]
    *thoughts, last = heard
    assert len(thoughts) > 1
    assert {answer["type"] for answer in thoughts} == {"thought"}
    assert last["type"] == "move"
    assert last["move"] in "1234567"
    for answer in heard:
        assert -1 <= answer["value"] <= 1
        assert answer["winrate"] == (answer["value"] + 1) / 2
        assert answer["moves"][0]["move"] == answer["move"]
        assert sum(move["share"] for move in answer["moves"]) == pytest.approx(1)
        assert answer["moves"][0]["line"][0] == answer["move"]
        for move in answer["moves"]:
            assert move["cell"] == (5 * 7 + int(move["move"]) - 1) - 7 * (move["move"] == "4")
    nodes = [answer["nodes"] for answer in thoughts]
    assert nodes == sorted(nodes)


def test_values_are_for_the_first_player(site):
    with site.page() as page:
        for moves, sign in ((["a1", "a3", "b1", "b3"], 1), (["a1", "a3", "b2", "b3", "a2"], -1)):
            answer = page.think("tictactoe", *moves, agent="alphabeta")
            assert answer["value"] == sign
            assert answer["winrate"] == (sign + 1) / 2
            assert answer["moves"][0]["value"] == sign


def test_an_agent_without_an_opinion(site):
    with site.page() as page:
        answer = page.think("reversi", agent="random")
        assert answer["type"] == "move"
        assert answer["value"] is None
        assert len(answer["moves"]) == 4


def test_all_levels_of_all_games_answer(site):
    games = ["tictactoe", "connect4", "gomoku:size=9", "renju:size=9", "reversi:size=6", "go:size=5"]
    with site.page() as page:
        for game in games:
            for level in LEVELS:
                answer = page.think(game, agent=level, limit={"time": 0.1})
                assert answer["type"] == "move", (game, level, answer)
                assert answer["move"] in site.view(game)["legal"]


def test_an_analysis_goes_on_until_it_is_stopped(site):
    with site.page() as page:
        page.say({"id": "a", "type": "think", "game": "gomoku:size=9", "moves": [], "agent": "uct", "analyse": True})
        page.until("a", "thought")
        page.until("a", "thought")
        page.say({"id": "s", "type": "stop", "of": "a"})
        assert page.until("a")[-1] == {"id": "a", "type": "done"}
    wait_for(lambda: site.pages.places.taken == 0)


def test_a_search_that_is_stopped_plays_its_best(site):
    with site.page() as page:
        for agent in ("uct:time=50", "alphabeta:time=50"):
            page.say({"id": "a", "type": "think", "game": "gomoku:size=9", "moves": ["e5"], "agent": agent})
            page.until("a", "thought")
            page.say({"id": "s", "type": "stop", "of": "a"})
            assert page.until("a")[-1]["type"] == "move"


def test_one_that_is_stopped_before_it_began_plays_all_the_same(site):
    with site.page() as page:
        page.say({"id": "a", "type": "think", "game": "gomoku:size=9", "moves": [], "agent": "uct:time=50"})
        page.say({"id": "s", "type": "stop", "of": "a"})
        assert page.until("a")[-1]["type"] == "move"


def test_another_question_in_a_slot_ends_the_earlier_one(site):
    with site.page() as page:
        question = {"type": "think", "game": "gomoku:size=9", "moves": [], "agent": "uct:time=50"}
        page.say({"id": "old", **question})
        page.until("old", "thought")
        page.say({"id": "new", **question, "limit": {"time": 0.05}})
        assert page.until("old")[-1]["type"] == "done"
        assert page.until("new")[-1]["type"] == "move"


def test_slots_go_on_side_by_side(site):
    with site.page() as page:
        question = {"type": "think", "game": "gomoku:size=9", "moves": [], "agent": "uct", "analyse": True}
        for slot in range(3):
            page.say({"id": slot, **question, "slot": slot})
        heard = set()
        while len(heard) < 3:
            answer = page.hear()
            assert answer["type"] in ("thought", "note", "waiting"), answer
            if answer["type"] == "thought":
                heard.add(answer["id"])
        assert "slots 0 to 2" in page.ask(**{**question, "slot": 3})["error"]


def test_a_game_that_is_over(site):
    with site.page() as page:
        assert "over" in page.think("tictactoe", "a3", "b2", "b3", "a1", "c3")["error"]


def test_a_level_stays_as_strong_as_it_is():
    """More time makes a beginner no stronger; the strongest takes what it is given, within bounds."""
    game, settings = load_game("reversi"), Settings()
    asked = Think(id=1, type="think", game="reversi", moves=[], limit={"time": 50})
    beginner = load_agent("uct:playouts=20", game)
    assert thinking.limit_for(asked, beginner, False, settings) == Limit(playouts=20, time=50)
    assert thinking.limit_for(asked, beginner, True, settings) == Limit(time=50)
    plain = Think(id=1, type="think", game="reversi", moves=[])
    assert thinking.limit_for(plain, beginner, True, settings) == Limit(playouts=20, time=settings.longest)
    long = Think(id=1, type="think", game="reversi", moves=[], limit={"time": 3000}, analyse=True)
    assert thinking.limit_for(long, beginner, True, settings) == Limit(time=settings.longest_analysis)


def test_a_deeper_decision_is_kept():
    """A search that begins again each time may end with a short slice, which knows less than the one before."""
    game = load_game("connect4")
    agent = load_agent("alphabeta", game)
    found = list(thinking.decisions(agent, game.start(), 0.05, threading.Event(), Limit(time=0.4)))
    depths = [decision.depth for decision in found]
    assert depths == sorted(depths)


def test_nets_that_we_ship_make_the_higher_levels(tmp_path, monkeypatch):
    from nets.test_nets import write_net

    write_net(tmp_path / "tiny.onnx", "connect4")
    monkeypatch.setattr(runtime, "SHIPPED", tmp_path)
    specs = {level.name: level.spec for level in levels_of(load_game("connect4"))}
    assert "net=tiny" in specs["strongest"]
    assert "net=tiny" not in specs["beginner"]
    assert "net=" not in "".join(level.spec for level in levels_of(load_game("connect4:columns=8")))
    assert spec_of("policy:net=tiny", load_game("connect4"), Settings()) == "policy:net=tiny"


def test_compiling_is_said_once():
    from numba import njit

    said = []
    assert thinking.aloud(said.append, lambda: njit(lambda x: x + 1)(1)) == 2
    assert said == [thinking.COMPILING]
    njit(lambda x: x + 2)(1)
    assert len(said) == 1


# What is refused.


@pytest.mark.parametrize(
    "agent",
    [
        "gtp:gnugo --mode gtp",
        "gtp:touch /tmp/x",
        "gomocup:./pbrain-rapfi",
        "puct:net=/etc/passwd",
        "puct:net=../../secret.onnx",
        "puct:net=runs",
        "policy:net=C:\\x.onnx",
        "puct:net=uniform,net=/etc/passwd",
        "uct:memory=100000",
        "uct:threads=500",
        "uct:time=1e9",
        "uct:time=nan",
        "uct:time=inf",
        "uct:playouts",
        "uct:playouts=1;2",
        "run:../../etc",
        "run:nobody",
        "run:" + "x" * 190,
        "human",
        "",
        "__import__",
        "examples/breakthrough.py",
    ],
)
def test_agents_that_reach_outside_are_refused(site, agent):
    with site.page() as page:
        answer = page.think("tictactoe", agent=agent)
        assert answer["type"] == "error", answer
        assert answer["error"]
        assert page.think("tictactoe", agent="random")["type"] == "move"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("", "not JSON"),
        ("hello", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        ("[1, 2]", "a message is an object"),
        ("null", "a message is an object"),
        ("[" * 10_000, "not JSON"),
        ("1" * 10_000, "not JSON"),
        ('{"id": NaN, "type": "think"}', "not JSON"),
        ({"id": 1}, "no message has the type 'None'"),
        ({"id": 1, "type": "thinc"}, "did you mean 'think'?"),
        ({"id": 1, "type": ["think"]}, "no message has the type"),
        ({"type": "position", "game": "go", "moves": []}, "position: id"),
        ({"id": {}, "type": "position", "game": "go", "moves": []}, "id"),
        ({"id": 1, "type": "position", "game": 5, "moves": []}, "game"),
        ({"id": 1, "type": "position", "game": "go", "moves": [1]}, "moves.0"),
        ({"id": 1, "type": "position", "game": "\ud800", "moves": []}, "game"),
        ({"id": 1, "type": "position", "game": "go", "moves": [], "path": "/"}, "path"),
        ({"id": 1, "type": "position", "game": "go:size=x", "moves": []}, "size=x is not a whole number"),
        ({"id": 1, "type": "think", "game": "go", "moves": [], "limit": {"time": -1}}, "limit.time"),
        ({"id": 1, "type": "think", "game": "go", "moves": [], "limit": {"time": 10**400}}, "limit.time"),
        ({"id": 1, "type": "think", "game": "go", "moves": [], "every": 0}, "every"),
        ({"id": 1, "type": "think", "game": "go", "moves": [], "slot": -1}, "slot"),
        ({"id": 1, "type": "stop"}, "of"),
        ({"id": 1, "type": "position", "game": "go", "moves": ["x" * 70_000]}, "too long"),
    ],
)
def test_a_malformed_message_is_explained_and_the_game_goes_on(site, message, said):
    with site.page() as page:
        page.say(message)
        answer = page.hear()
        assert answer["type"] == "error"
        assert said in answer["error"]
        assert page.ask(type="position", game="tictactoe", moves=["b2"])["type"] == "view"


def test_whatever_is_sent_gets_an_answer(site):
    """Random bytes, and messages with random pieces taken out or changed."""
    import random

    rng = random.Random(1)
    good = json.dumps({"id": 3, "type": "think", "game": "tictactoe", "moves": ["b2"], "agent": "random"})
    with site.page() as page:
        for _ in range(200):
            text = list(good)
            for _ in range(rng.randint(1, 5)):
                place = rng.randrange(len(text))
                text[place : place + rng.randint(0, 8)] = rng.choice(
                    ["", '"', "{", "[", "0", "\x00", "é", "\\", "null"]
                )
            page.say("".join(text))
            while page.hear()["type"] not in LAST:
                pass
        assert page.ask(type="position", game="tictactoe", moves=["b2"])["type"] == "view"


HOSTS = {
    "127.0.0.1": 200,
    "localhost:8000": 200,
    "LOCALHOST": 200,
    "[::1]:8000": 200,
    "evil.example": 403,
    "127.0.0.1.evil.example": 403,
    "localhost.evil.example:8000": 403,
    "192.168.1.7": 403,
    "evil.example@127.0.0.1": 400,
    "127.0.0.1/x": 400,
    "127.0.0.1:port": 400,
    "": 400,
}


def test_only_our_own_names_are_answered(site):
    for host, status in HOSTS.items():
        answer = site.http.get("/api/games", headers={"host": host})
        assert answer.status_code == status, host
        if status != 200:
            assert answer.json()["error"]


def test_names_where_others_may_reach_us():
    with serving(host="0.0.0.0", names=("club.example",), requests=10_000) as site:
        for host, status in {"192.168.1.7:8000": 200, "club.example": 200, "evil.example": 403}.items():
            assert site.http.get("/api/games", headers={"host": host}).status_code == status, host


def test_other_peoples_pages_may_not_ask(site):
    here = site.url
    body = {"game": "go", "moves": []}
    for origin, status in {
        here: 200,
        "http://evil.example": 403,
        "null": 403,
        here.replace("http", "file"): 403,
    }.items():
        answer = site.http.post("/api/position", json=body, headers={"origin": origin})
        assert answer.status_code == status, origin
    with site.page(origin=here) as page:
        assert page.ask(type="position", game="tictactoe", moves=[])["type"] == "view"
    for origin in ("http://evil.example", "http://127.0.0.1:1", "null"):
        with pytest.raises(websockets.exceptions.InvalidStatus), site.page(origin=origin):
            pass
    with pytest.raises(websockets.exceptions.InvalidStatus), site.page(additional_headers={"origin": "http://a"}):
        pass


def test_hosts_and_origins():
    assert host_name("Example.org:80") == "example.org"
    assert host_name("[::1]:80") == "::1"
    assert [host_name(text) for text in ("[::1", "a:b", "a:", "a/b", "a?b", "x@a", "")] == [None] * 7
    assert is_origin("https://example.org", "example.org")
    assert not is_origin("http://example.org:81", "example.org:80")
    assert not is_origin("http://example.org.evil", "example.org")


def test_bodies_are_bounded(site):
    long = b'{"text": "' + b"x" * 2**20 + b'"}'
    answer = site.http.post("/api/records/read", content=long)
    assert answer.status_code == 413
    pieces = (long[begin : begin + 2**16] for begin in range(0, len(long), 2**16))  # without a Content-Length
    answer = site.http.post("/api/records/read", content=pieces)
    assert (answer.status_code, "too long" in answer.json()["error"]) == (413, True)


def test_rates_are_bounded():
    with serving(requests=5, messages=5, burst=2) as site:
        answers = [site.http.get("/api/agents") for _ in range(30)]
        assert answers[0].status_code == 200
        assert answers[-1].status_code == 429
        assert "a second" in answers[-1].json()["error"]
        time.sleep(1)
        with site.page() as page:
            heard = [page.ask(id=i, type="position", game="tictactoe", moves=[]) for i in range(30)]
            assert heard[0]["type"] == "view"
            assert "messages a second" in heard[-1]["error"]


def test_buckets():
    bucket = Bucket(rate=10, burst=2, now=0.0)
    assert [bucket.take(0.0) for _ in range(21)] == [True] * 20 + [False]
    assert bucket.take(0.1)
    assert not bucket.take(0.1)
    assert [bucket.take(100.0) for _ in range(21)] == [True] * 20 + [False]


def test_pages_are_bounded():
    with serving(pages=2, pages_of_client=1) as site, site.page() as first:
        with site.page() as second:
            assert "pages are open" in second.hear()["error"]
        assert first.ask(type="position", game="tictactoe", moves=[])["type"] == "view"


def test_headers_keep_a_browser_from_anything_but_our_own_files(site):
    for path in ("/", "/api/games", "/nothing"):
        headers = site.http.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/..%2fserver.py",
        "/%2e%2e/server.py",
        "/play/../../server.py",
        "//etc/passwd",
        "/%00",
        "/C:%5Cx",
        "/server.py",
        "/docs",
        "/redoc",
        "/openapi.json",
        "/" + "x" * 3000,
    ],
)
def test_only_the_pages_files_are_served(site, path):
    with socket.create_connection(("127.0.0.1", site.port)) as raw:  # a client library would tidy the path up
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := raw.recv(65536):
            answer += piece
    assert answer.split()[1] in (b"404", b"400")
    assert b"import" not in answer


def test_files_are_sent_small_and_once(site):
    first = site.http.get("/")
    assert "<title>Tengen</title>" in first.text
    assert first.headers["content-type"] == "text/html; charset=utf-8"
    assert first.headers["content-encoding"] == "gzip"
    again = site.http.get("/", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert site.http.head("/").content == b""
    assert "content-encoding" not in site.http.get("/", headers={"accept-encoding": "identity"}).headers
    assert site.http.get("/app.js").headers["content-type"].startswith("text/javascript")


# Who thinks when.


def test_a_search_stops_when_its_page_is_gone():
    with serving() as site:
        with site.page() as page:
            for slot in range(2):
                page.say(
                    {"id": slot, "type": "think", "game": "gomoku:size=9", "moves": [], "slot": slot}
                    | {"agent": ("uct", "alphabeta")[slot], "analyse": True}
                )
                page.until(slot, "thought")
            assert site.pages.places.taken == 2
            assert site.pages.agents == 2
        wait_for(lambda: site.pages.places.taken == 0)
        wait_for(lambda: not site.pages.pages)
        assert not site.pages.clients


class DeafSocket:
    """A page that asks for an analysis and then takes no answer after the third."""

    scope = {"client": ("192.0.2.1", 5)}

    def __init__(self):
        question = {"id": 1, "type": "think", "game": "connect4", "moves": [], "agent": "uct", "analyse": True}
        self.questions, self.answers = [json.dumps({**question, "every": 0.05})], []

    async def accept(self):
        pass

    async def receive(self):
        while not self.questions:
            await asyncio.sleep(1)
        return {"type": "websocket.receive", "text": self.questions.pop()}

    async def send_text(self, text):
        self.answers.append(text)
        while len(self.answers) > 2:
            await asyncio.sleep(1)


def test_a_page_that_does_not_listen_is_gone(monkeypatch):
    monkeypatch.setattr("tengen.apps.web.socket.PATIENCE", 0.2)

    async def converse():
        pages, deaf = Pages(Settings()), DeafSocket()
        async with asyncio.timeout(PATIENCE):
            await pages.welcome(deaf)
            while pages.places.taken:
                await asyncio.sleep(0.01)
        assert len(deaf.answers) == 3
        assert not pages.pages

    asyncio.run(converse())


def test_others_get_their_turn():
    """One place, taken by an analysis without end: another page waits, is told so, and then gets its move."""
    with serving(searches=1, turn=0.1) as site, site.page() as first, site.page() as second:
        first.say({"id": 1, "type": "think", "game": "gomoku:size=9", "moves": [], "agent": "uct", "analyse": True})
        first.until(1, "thought")
        second.say({"id": 2, "type": "think", "game": "tictactoe", "moves": [], "agent": "random"})
        heard = [answer["type"] for answer in second.until(2)]
        assert "waiting" in heard
        assert heard[-1] == "move"
        first.until(1, "thought")  # and the first goes on


def test_places_go_to_clients_with_few_searches():
    """Whoever asks for ten searches does not keep the others from their first."""

    async def crowd():
        places, order = Places(2), []

        async def search(client):
            await places.take(client)
            order.append(client)
            await asyncio.sleep(0)
            places.leave(client)

        await asyncio.gather(*(search(client) for client in ["greedy"] * 10 + ["modest", "shy"]))
        assert places.free == 2
        assert places.taken == 0
        assert not places.searches
        return order

    order = asyncio.run(crowd())
    assert len(order) == 12
    assert order[:2] == ["greedy", "greedy"]  # nobody else was there
    assert set(order[2:5]) == {"greedy", "modest", "shy"}


@pytest.mark.parametrize("agent", ["minimax:depth=20", "alphabeta", "puct:net=uniform", "gumbel:net=uniform"])
def test_every_kind_of_search_can_be_stopped(site, agent):
    with site.page() as page:
        page.say(
            {"id": 1, "type": "think", "game": "connect4", "moves": ["4"], "agent": agent}
            | {"analyse": True, "every": 0.05}
        )
        page.until(1, "thought")
        page.say({"id": 2, "type": "stop", "of": 1})
        assert page.until(1)[-1]["type"] == "done"


def test_idle_agents_are_forgotten():
    with serving(idle=0.2) as site, site.page() as page:
        page.think("tictactoe", agent="uct:playouts=100")
        wait_for(lambda: site.pages.agents == 0)
        assert page.think("tictactoe", agent="uct:playouts=100")["type"] == "move"


def test_agents_of_a_page_are_bounded():
    with serving(agents=2) as site, site.page() as page:
        for playouts in range(10, 15):
            page.think("tictactoe", agent=f"uct:playouts={playouts}")
        assert site.pages.agents == 2


async def play_game(port, number, game, agent):
    """A page's game against itself; returns how many moves it had."""
    async with websockets.connect(f"ws://127.0.0.1:{port}/api/socket", open_timeout=PATIENCE) as page:
        moves = []
        for id_ in range(1000):
            await page.send(json.dumps({"id": id_, "type": "position", "game": game, "moves": moves}))
            view = await last_answer(page)
            if view["outcome"]:
                return len(moves)
            question = {"id": id_, "type": "think", "game": game, "moves": moves, "agent": agent}
            await page.send(json.dumps(question))
            moves.append((await last_answer(page))["move"])
    raise AssertionError(f"game {number} did not end")


async def last_answer(page):
    while True:
        answer = json.loads(await asyncio.wait_for(page.recv(), PATIENCE))
        assert answer["type"] != "error", answer
        if answer["type"] in LAST:
            return answer


def test_a_hundred_games_at_once():
    games = [
        ("tictactoe", "uct:playouts=20"),
        ("connect4", "random"),
        ("reversi:size=4", "beginner"),
        ("go:size=2", "random"),
    ]

    async def play_all(port):
        return await asyncio.gather(*(play_game(port, i, *games[i % len(games)]) for i in range(100)))

    with serving() as site:
        lengths = asyncio.run(play_all(site.port))
        assert len(lengths) == 100
        assert all(length >= 5 for length in lengths[::4])
        wait_for(lambda: site.pages.places.taken == 0 and not site.pages.pages)


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
    jobs.start("kettle", [], tmp_path, {})
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
