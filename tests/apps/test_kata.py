"""KataGo's analysis protocol: queries, their answers, and what is wrong with queries; and KaTrain's own engine code."""

import io
import json
import os
import subprocess
import sys
import threading
from importlib.util import find_spec

import pytest
from processes import await_so

from tengen.apps.kata.server import AnalysisServer, serve_lines

AGENT = "uct:playouts=50,threads=1"
QUERY = {"id": "q", "moves": [], "rules": "chinese", "komi": 7.5, "boardXSize": 5, "boardYSize": 5, "maxVisits": 40}


def answers(*queries, agent=AGENT, workers=1):
    """All that is said to some lines."""
    said, lock = [], threading.Lock()

    def say(one):
        with lock:
            said.append(json.loads(json.dumps(one)))

    lines = [query if isinstance(query, str) else json.dumps(query) for query in queries]
    serve_lines(AnalysisServer(agent, say, workers=workers), lines)
    return said


def test_a_query_is_answered():
    moves = [["B", "C3"], ["W", "C4"], ["B", "B4"]]
    (said,) = answers({**QUERY, "moves": moves, "includeOwnership": True, "includePolicy": True})
    assert said["id"] == "q"
    assert said["turnNumber"] == 3
    assert said["isDuringSearch"] is False
    assert len(said["ownership"]) == 25
    assert all(-1 <= value <= 1 for value in said["ownership"])
    assert len(said["policy"]) == 26
    assert said["policy"][12] == -1  # c3 is taken
    root = said["rootInfo"]
    assert root["currentPlayer"] == "W"
    assert 0 <= root["winrate"] <= 1
    assert root["visits"] >= 30
    orders = [info["order"] for info in said["moveInfos"]]
    assert orders == list(range(len(orders)))
    for info in said["moveInfos"]:
        assert info["pv"][0] == info["move"]
        assert {"visits", "winrate", "scoreLead", "prior", "lcb", "utility", "scoreStdev"} <= info.keys()


def test_every_turn_that_is_asked_about_is_answered_once():
    moves = [["B", "C3"], ["W", "C4"], ["W", "B4"]]  # two moves of one colour: a pass lies between
    said = answers({**QUERY, "moves": moves, "analyzeTurns": [0, 1, 3]}, {**QUERY, "id": "r"}, workers=2)
    assert sorted((one["id"], one["turnNumber"]) for one in said) == [("q", 0), ("q", 1), ("q", 3), ("r", 0)]


def test_the_most_urgent_turn_comes_first():
    first = {**QUERY, "maxVisits": 3000, "id": "first"}
    said = answers(first, {**QUERY, "id": "calm"}, {**QUERY, "id": "urgent", "priority": 5})
    order = [one["id"] for one in said]
    assert order.index("urgent") < order.index("calm")


def test_values_are_of_the_side_that_is_asked_for():
    stones = [["B", vertex] for vertex in ("B2", "B3", "B4", "D2", "D3", "D4", "C2")]
    for side, is_high in (("BLACK", True), ("WHITE", False), ("SIDETOMOVE", False)):
        settings = {"reportAnalysisWinratesAs": side}
        query = {**QUERY, "initialStones": stones, "initialPlayer": "W", "komi": 0.5, "overrideSettings": settings}
        (said,) = answers({**query, "includeOwnership": True})
        assert (said["rootInfo"]["winrate"] > 0.5) == is_high
        assert (said["rootInfo"]["scoreLead"] > 0) == is_high
        assert (sum(said["ownership"]) > 0) == is_high
        assert said["moveInfos"][0]["lcb"] <= 1


def test_moves_that_are_avoided_are_not_told():
    avoid = [{"player": "B", "moves": ["C3", "C2"], "untilDepth": 1}]
    (said,) = answers({**QUERY, "avoidMoves": avoid})
    assert not {"C3", "C2"} & {info["move"] for info in said["moveInfos"]}
    (said,) = answers({**QUERY, "allowMoves": [{"player": "B", "moves": ["C3"], "untilDepth": 1}]})
    assert [info["move"] for info in said["moveInfos"]] == ["C3"]


def test_reports_while_the_search_goes_on_and_termination():
    said, is_heard = [], threading.Event()

    def say(one):
        said.append(one)
        if one.get("isDuringSearch"):
            is_heard.set()

    server = AnalysisServer("uct:threads=1", say)
    server.hear(json.dumps({**QUERY, "maxVisits": 10**8, "reportDuringSearchEvery": 0.05}))
    server.hear(json.dumps({**QUERY, "id": "waits"}))
    assert is_heard.wait(60)
    server.hear(json.dumps({"id": "t", "action": "terminate", "terminateId": "waits"}))
    server.hear(json.dumps({"id": "u", "action": "terminate", "terminateId": "q", "turnNumbers": [0]}))
    server.close()
    assert {"id": "t", "action": "terminate", "terminateId": "waits"} in said
    assert {"id": "waits", "isDuringSearch": False, "noResults": True, "turnNumber": 0} in said
    last = [one for one in said if one["id"] == "q"][-1]
    assert last["isDuringSearch"] is False
    assert last["moveInfos"]


def test_actions():
    version, cleared, models, wrong = answers(
        {"id": "v", "action": "query_version"},
        {"id": "c", "action": "clear_cache"},
        {"id": "m", "action": "query_models"},
        {"id": "x", "action": "dance"},
    )
    assert version.keys() >= {"version", "git_hash"}
    assert cleared == {"id": "c", "action": "clear_cache"}
    assert models["models"][0]["name"] == AGENT
    assert wrong["field"] == "action"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"moves": "C3"}, "moves"),
        ({"moves": [["B", "C3"], ["W", "C3"]]}, "moves"),
        ({"moves": [["B", "Z9"]]}, "moves"),
        ({"moves": [["R", "C3"]]}, "moves"),
        ({"rules": "mine"}, "rules"),
        ({"rules": None}, "rules"),
        ({"komi": "much"}, "komi"),
        ({"komi": 1e9}, "komi"),
        ({"boardXSize": 50}, "boardXSize"),
        ({"boardYSize": 6}, "boardYSize"),
        ({"analyzeTurns": [7]}, "analyzeTurns"),
        ({"maxVisits": 0}, "maxVisits"),
        ({"initialStones": [["B", "Q16"]]}, "initialStones"),
        ({"initialPlayer": "green"}, "initialPlayer"),
        ({"includeOwnership": "yes"}, "includeOwnership"),
        ({"priorities": [1, 2]}, "priorities"),
        ({"overrideSettings": []}, "overrideSettings"),
        ({"avoidMoves": [{"moves": ["C3"]}]}, "avoidMoves"),
    ],
)
def test_what_is_wrong_is_told_with_its_field(change, field):
    (said,) = answers({**QUERY, **change})
    assert said["id"] == "q"
    assert said["field"] == field
    assert said["error"]


def test_illegal_moves_are_called_so():
    (said,) = answers({**QUERY, "moves": [["B", "C3"], ["W", "C3"]]})
    assert said["error"].startswith("Illegal move 1: C3")  # KaTrain looks for these words


def test_lines_that_are_no_queries():
    said = answers("no json", "[1]", '{"moves": []}', "", "[" * 100_000)
    assert all("error" in one and "id" not in one for one in said)
    assert len(said) == 4


def test_settings_that_are_ignored_are_warned_of():
    query = {**QUERY, "overrideSettings": {"wideRootNoise": 0.1, "maxTime": 5.0}, "rules": "japanese", "mood": 1}
    *warnings, said = answers(query)
    assert {one["field"] for one in warnings} == {"overrideSettings", "rules", "mood"}
    assert all(one["id"] == "q" and one["warning"] for one in warnings)
    assert said["moveInfos"]


def test_a_process_says_nothing_but_answers():
    lines = json.dumps(QUERY) + "\n" + json.dumps({"id": "v", "action": "query_version"}) + "\n"
    done = subprocess.run(
        [sys.executable, "-m", "tengen", "analysis", AGENT], input=lines, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert {json.loads(line)["id"] for line in io.StringIO(done.stdout)} == {"q", "v"}


class Listener:
    """What KaTrain's engine needs of KaTrain: somebody who hears what it logs."""

    def __init__(self):
        self.errors = []

    def log(self, message, level=0):
        if level == -1:  # OUTPUT_ERROR
            self.errors.append(message)

    def __call__(self, *arguments):
        self.errors.append(arguments)


def test_katrains_engine_analyses_a_whole_game(monkeypatch):
    """Its own code, where it is installed (pip install katrain): every position of a game, and no protocol error."""
    monkeypatch.setenv("KIVY_NO_ARGS", "1")
    monkeypatch.setenv("KIVY_NO_CONSOLELOG", "1")
    if find_spec("katrain") is None or find_spec("kivy") is None:
        pytest.skip("KaTrain is not installed (pip install katrain): nothing was tested against it")
    from katrain.core.engine import KataGoEngine
    from katrain.core.game_node import GameNode
    from pysgf import Move

    heard = Listener()
    config = {
        "backend": "custom",
        "altcommand": f"exec {sys.executable} -m tengen analysis {AGENT}",
        "max_visits": 30,
        "max_time": 8.0,
        "wide_root_noise": 0.04,
        "_enable_ownership": True,
        "allow_recovery": False,
    }
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    engine = KataGoEngine(heard, config)
    root = GameNode(properties={"RU": ["chinese"], "SZ": ["9"], "KM": ["7"]})
    nodes, player = [root], "B"
    for vertex in ["E5", "C3", "G7", "C7", "G3", "E3", "E7", "C5", "G5", "D4", "F6", "pass", "pass"]:
        nodes.append(nodes[-1].play(Move.from_gtp(vertex, player=player)))
        player = "W" if player == "B" else "B"
    for node in nodes:
        engine.request_analysis(node, lambda analysis, partial, node=node: node.set_analysis(analysis))
    engine.wait_to_finish()
    await_so(lambda: all(node.analysis_complete for node in nodes))  # the last callback comes after the last answer
    engine.shutdown(finish=False)
    assert heard.errors == []
    assert all(len(node.ownership) == 81 for node in nodes)
    assert all(node.candidate_moves for node in nodes)
    assert all(node.points_lost is not None for node in nodes[1:])
