"""The documents' experiments: every number that a document works out is ours, too."""

import json
import os
import re
import shutil
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen import Limit, load_game
from tengen.course import plain_puct
from tengen.course.reproduce import EXPERIMENTS, gobang, gomoku8, quotes
from tengen.course.reproduce.page import AS_THERE, DIFFERS, ERRATUM, Options, claim, share_claim
from tengen.nets.runtime import find_net
from tengen.records.record import Record
from tengen.records.sgf import write_sgf
from tengen.search.puct import Puct

DOCUMENTS = Path(os.environ.get("TENGEN_DOCUMENTS", Path(__file__).parents[3] / "shared" / "seeds"))


@pytest.fixture
def options(tmp_path):
    said = []
    yield Options(tmp_path / "out", say=said.append)
    assert any("report" in line for line in said)


def page_of(options):
    return (options.folder / "report.html").read_text()


def test_the_slides(options):
    EXPERIMENTS["3x3"](options)
    page = page_of(options)
    verdicts = [page.count(f"<td>{verdict}</td>") for verdict in (AS_THERE, DIFFERS, ERRATUM)]
    assert verdicts == [len(quotes.SLIDES_STEPS) + 1, 1, 2]  # every card and the move; the tie; Q of 8, N of the root
    assert "W / N = -10 / 15 = -0.667" in page
    assert "<td>tie</td><td>Black wins</td>" in page
    for row in ("0.380", "0.450", "0.305", "0.860"):  # π of each move that was played
        assert f"<td>{row}</td>" in page


def test_the_lecture(options):
    EXPERIMENTS["lecture"](options)
    page = page_of(options)
    verdicts = [page.count(f"<td>{verdict}</td>") for verdict in (AS_THERE, DIFFERS, ERRATUM)]
    assert verdicts == [3 + 6 + 1 + 1, 0, 3]  # the tree, the bounds, Black's choice, a minute; and what is amiss
    assert "0.625 + √(ln 21 / 8) = 1.2419" in page
    assert "<td>7/10</td><td>5/8</td><td>erratum</td>" in page  # with the factor 2 another move is chosen
    assert "alpha cut: MIN can have 2 here, and MAX has 3 elsewhere" in page
    best, drawn = (float(found) for found in re.findall(r"power.*?<td>3?h/[24]</td><td>(0\.\d+)", page))
    assert 0.5 < best < drawn < 0.85
    assert untranslated(options) == []
    assert "剪枝：MIN 在此可得 2，而 MAX 在别处已有 3" in (options.folder / "report.zh.html").read_text()


def untranslated(options):
    """Phrases of the Chinese page that still have two English words in a row."""
    page = (options.folder / "report.zh.html").read_text()
    page = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.DOTALL)
    return [phrase for phrase in re.findall(r">([^<>]+)<", page) if re.search(r"\b[a-z]{3,} [a-z]{2,}\b", phrase)]


def test_a_comparison_can_fail():
    assert claim("half", "it is 0.5", "0.5", 0.5).verdict == AS_THERE
    assert claim("half", "it is 0.5", "0.5", 0.549).verdict == AS_THERE  # one decimal is printed
    assert claim("half", "it is 0.5", "0.5", 0.56).verdict == DIFFERS
    assert claim("a third", "it is 0.34", "0.34", 0.333, correct=1 / 3, why="1 / 3").verdict == ERRATUM
    assert claim("a third", "it is 0.34", "0.34", 0.36, correct=1 / 3).verdict == DIFFERS  # wrong, but not as it is
    assert share_claim("wins", "75%", "75%", 75, 100).verdict == AS_THERE
    assert share_claim("wins", "75%", "75%", 50, 100).verdict == DIFFERS
    with pytest.raises(ValueError, match="the document does not say '0\\.6'"):
        claim("half", "it is 0.5", "0.6", 0.5)


@pytest.mark.skipif(not DOCUMENTS.is_dir(), reason=f"the documents' texts are not at hand in {DOCUMENTS}")
@pytest.mark.parametrize("document", quotes.PASSAGES)
def test_what_a_page_quotes_stands_in_the_document(document):
    (path,) = DOCUMENTS.glob(f"{document}_*.txt")
    text = " ".join(path.read_text().replace("$", "").split())
    missing = [passage for passage in quotes.PASSAGES[document] if " ".join(passage.split()) not in text]
    assert not missing


def test_the_plain_search_is_ours_where_nothing_is_proven():
    """Visit for visit; on a board so large that no game ends in these simulations."""
    game = load_game("gomoku:size=9")

    def evaluator(planes):
        seeds = [zlib.crc32(row.tobytes()) for row in planes]
        logits = np.stack([np.random.default_rng(seed).normal(size=game.actions) for seed in seeds])
        return logits.astype(np.float32), np.tanh(logits[:, 0]).astype(np.float32)

    position = game.from_moves("e5 e6 d4")
    ours = Puct(game, evaluator, exploration=2.0, urgency=-1, batch=1, memory=16)
    ours.search(position, Limit(simulations=300))
    root = plain_puct.expand(position, evaluator)
    plain_puct.search(root, evaluator, 2.0, 300)
    found = {one.action: (one.visits, pytest.approx(one.value, abs=1e-4)) for one in ours.opinions()}
    assert {action: (edge.visits, edge.mean) for action, edge in root.edges.items() if edge.visits} == found
    assert sum(edge.visits for edge in root.edges.values()) == 300 and len(found) > 5


@pytest.fixture
def small(monkeypatch):
    """Every experiment with as little as shows that it runs."""
    monkeypatch.setattr(gobang, "QUICK", gobang.GobangExtent(size=9, games=2, timed_games=1, plies=4))
    monkeypatch.setattr(gobang, "CLASSICAL", ["gobang1", "gobang5", "gobang6"])
    families = {"minimax": ["gobang1"], "alpha-beta": ["gobang5"], "UCT": ["gobang6"]}
    monkeypatch.setattr(gobang, "FAMILIES", families)
    monkeypatch.setattr(gobang, "SIMULATIONS", 20)
    monkeypatch.setattr(gobang, "SIZES", (7, 9))
    monkeypatch.setattr(gomoku8, "QUICK_GAMES", 4)
    monkeypatch.setattr(gomoku8, "FULL_GAMES", 2)
    monkeypatch.setattr(gomoku8, "SIMULATIONS", 20)


def test_minutes_train_a_net_though_one_is_shipped(tmp_path):
    shipped = gobang.find_nets(Options(tmp_path), gobang.QUICK)
    assert shipped[9] in ("gobang9", "gomoku9") and shipped[15] in ("gobang15", "gomoku15")
    trained = gobang.find_nets(Options(tmp_path, minutes=1.0), gobang.QUICK)
    assert trained == {9: str(tmp_path / "net-9")}
    assert gobang.find_nets(Options(tmp_path, is_full=True, minutes=1.0), gobang.FULL).keys() == {9, 11, 15}
    assert gobang.find_nets(Options(tmp_path, net="mine.onnx"), gobang.QUICK) == {9: "mine.onnx"}


def test_move_times_are_measured_once(tmp_path, monkeypatch):
    extent, said = gobang.GobangExtent(size=9, games=2, timed_games=2, plies=6), []
    options = Options(tmp_path, say=said.append)
    first = gobang.move_times("gobang6", "uct:playouts=50", 9, extent, options)
    assert first.shape == (2, 6) and (first > 0).all()
    monkeypatch.setattr(gobang, "timed_games", None)
    assert np.array_equal(gobang.move_times("gobang6", "uct:playouts=50", 9, extent, options), first)
    assert len(said) == 1


def test_times_on_three_boards_are_compared():
    times = {(name, size): np.full((1, 3), 0.01) for name in (*gobang.CLASSICAL, gobang.NINTH) for size in gobang.SIZES}
    assert gobang.time_claims(times, 15)[-1].verdict == AS_THERE
    times[gobang.NINTH, 15] = np.full((1, 3), 0.03)
    last = gobang.time_claims(times, 15)[-1]
    assert (last.verdict, last.ours) == (DIFFERS, "10 ms on 9×9, 10 ms on 11×11, 30 ms on 15×15")


def test_gobang(options, small):
    options = replace(options, net="uniform")
    EXPERIMENTS["gobang"](options)
    page = page_of(options)
    assert "wins of the network search against alpha-beta" in page
    assert page.count('class="chart"') == len(gobang.SIZES)
    assert (options.folder / "games/report.html").is_file()
    assert "| gobang5 |" in (options.folder / "move-times.md").read_text()
    assert untranslated(options) == []


def test_8x8(options, small):
    options = replace(options, net="uniform")
    EXPERIMENTS["8x8"](options)
    assert "win rate at the end, 4 games" in page_of(options)


def test_the_curves_of_a_run_stand_beside_the_papers(options, small, tmp_path):
    """Of a run that was trained before: loss and win rate at the paper's batches, its points, games along the way."""
    run, game = tmp_path / "run", load_game("gomoku:size=8")
    (run / "games").mkdir(parents=True)
    (run / "nets").mkdir()
    record = Record.of(game.from_moves("d4 d5 e4 e5 f4 f5 g4 g5 h4"), ("generation 2", gomoku8.OPPONENT))
    lines = []
    for step in range(1, 5):
        match = {"opponent": gomoku8.OPPONENT, "wins": step, "draws": 0, "losses": 4 - step, "rate": step / 4}
        entry = {"generation": step, "step": step, "seconds": 60.0, "loss": {"total": 5.0 - step / 4}}
        if step % 2 == 0:
            entry["matches"] = [match | {"low": 0.1, "high": 1.0}]
            (run / f"games/{step:06}.sgf").write_text(write_sgf(record, record))
        lines.append(json.dumps(entry))
    (run / "metrics.jsonl").write_text("\n".join(lines))
    shutil.copy(find_net("gomoku8"), run / "nets/000004.onnx")
    EXPERIMENTS["8x8"](replace(options, net=str(run), is_full=True))
    page = page_of(options)
    assert "the paper, at least" in page and page.count(">Batch 2<") == page.count(">Batch 4<") == 2
    assert "<th>loss at the beginning</th>" in page and "<td>0.50 to 1.00</td>" in page
    rows = (options.folder / "curves.csv").read_text().splitlines()
    assert rows[1:3] == ["1,4.7500", "2,4.5000,0.5000,0.1000,1.0000"] and len(rows) == 5


def test_what_the_8x8_page_says_of_a_curve():
    points = [(50, 0.5), (400, 0.65), (450, 0.95), (700, 1.0), (1300, 0.95)]
    told = {claim.what: claim.ours for claim in gomoku8.rate_claims(points)}
    assert told == {
        "win rate until batch 400": "0.50 to 0.65",
        "win rate above 0.9 for good, from batch": "450",
        "win rate from batch 700 on, mean": "97.5%",
    }
    losses = [(batch, 4.0 - batch / 1000) for batch in range(1, 1301)]
    assert [claim.ours for claim in gomoku8.loss_claims(losses)] == ["4.00", "3.80", "2.80"]
