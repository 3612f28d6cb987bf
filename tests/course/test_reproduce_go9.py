"""The paper on 9×9 Go, end to end, with as little as shows that it runs."""

from dataclasses import replace

import pytest

from tengen.course.reproduce import EXPERIMENTS, go9
from tengen.course.reproduce.page import Options
from tengen.course.reproduce.tactics import try_tactics
from tengen.knowledge.go_tactics import POSITIONS
from tengen.rules.errors import TengenError
from tengen.search.limits import Limit

METRICS = {
    "sl9": [
        {"generation": 1, "top1": 0.3, "top5": 0.6, "loss": {"policy": 3.0}, "held_out_loss": 3.2},
        {"generation": 2, "top1": 0.5, "top5": 0.8, "loss": {"policy": 2.0}, "held_out_loss": 2.4},
    ],
    "rl9": [{"generation": 1, "matches": [{"rate": 0.6}]}, {"generation": 2, "matches": [{"rate": 0.8}]}],
    "value9": [{"generation": 3, "held_out_error": 0.6, "mean_error": 1.0}],
}


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(go9, "QUICK", replace(go9.QUICK, records=4, games=2, seconds=0.02))
    monkeypatch.setattr("tengen.course.reproduce.tactics.POSITIONS", POSITIONS[4:6])
    monkeypatch.setattr(go9, "POSITIONS", POSITIONS[4:6])
    monkeypatch.setattr(go9, "OPPONENTS", {"GNU Go 3.8": "", "GNU Go at level 1": " --level 1"})


def test_without_nets(gnugo, tmp_path, few):
    """The match and the positions, played by patterns alone."""
    said = []
    EXPERIMENTS["go9"](Options(tmp_path / "out", net="none", say=said.append))
    page = (tmp_path / "out/report.html").read_text()
    assert "match against GNU Go 3.8, 2 games" in page and "match against GNU Go at level 1, 2 games" in page
    assert "tactics: snapback" in page
    assert any("report" in line for line in said)


def test_what_training_came_to():
    claims = {claim.what: claim.ours for claim in go9.stage_claims(METRICS)}
    assert claims == {
        "supervised policy: held-out moves foreseen": "50.0%",
        "reinforced policy against the supervised one": "80.0%",
        "the lowest on the way": "60.0%",
        "value: held-out error, of the mean's": "60%",
    }
    charts = go9.stage_charts(METRICS)
    assert len(charts) == 4 and "games held out <b>2.4</b>" in charts[0]
    assert go9.stage_claims({}) == []
    assert go9.stage_charts({}) == []


def test_gnu_go_is_missed_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(go9, "find_program", lambda name: None)
    with pytest.raises(TengenError, match="GNU Go"):
        EXPERIMENTS["go9"](Options(tmp_path, net="none"))


def test_agents_are_tried(monkeypatch):
    monkeypatch.setattr("tengen.course.reproduce.tactics.POSITIONS", POSITIONS[6:8])
    tries = try_tactics("uct", Limit(playouts=2000))
    assert [(one.kind, one.played, one.is_solved) for one in tries] == [("ko", "e2", True), ("ko", "e2", True)]


@pytest.mark.long
def test_all_of_it(gnugo, tmp_path, monkeypatch):
    """Records, three stages, the match: everything that the command does, in miniature."""
    monkeypatch.setattr(go9, "QUICK", replace(go9.QUICK, records=12, games=2, seconds=0.2))
    monkeypatch.setattr(go9, "POSITIONS", POSITIONS[4:6])
    monkeypatch.setattr("tengen.course.reproduce.tactics.POSITIONS", POSITIONS[4:6])
    EXPERIMENTS["go9"](Options(tmp_path / "out", minutes=1))
    page = (tmp_path / "out/report.html").read_text()
    assert "reinforced policy against the supervised one" in page
    assert page.count('class="chart"') >= 3
