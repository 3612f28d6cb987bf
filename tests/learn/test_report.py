"""The report of a run: one page that holds, shows the figures of the metrics, and stands whatever is missing."""

import json
import random
import re
import time
from pathlib import Path

import pytest
from html_pages import check_page

import tengen
from tengen.learn.report import duration, read_metrics, write_report
from tengen.records.record import Record, result_words
from tengen.records.sgf import write_sgf

BREAKTHROUGH = str(Path(__file__).parent.parent.parent / "examples" / "breakthrough.py")
CONFIG = """
[run]
preset = "gomoku8 & more"
game = "gomoku:size=8"
seed = 1
[net]
blocks = 6
[selfplay.temperature]
first = 1.0
"""


def metrics_of(generation):
    """One line of metrics.jsonl; every fifth generation is evaluated."""
    entry = {
        "generation": generation,
        "step": 50 * generation,
        "seconds": 83.1 * generation,
        "games": 512 * generation,
        "positions": 12_345 * generation,
        "loss": {"value": 0.6, "policy": 2.125, "total": 2.725},
        "learning_rate": 0.002,
        "plies": 23.4,
        "first_wins": 0.55,
        "draws": 0.02,
        "positions_per_second": 700.0,
    }
    if generation % 5 == 0:
        match = {"opponent": "uct:playouts=1000", "wins": 18, "draws": 0, "losses": 2}
        entry["matches"] = [{**match, "rate": 0.9, "low": 0.7, "high": 0.97}]
        entry["rating"] = 200.0 + generation
        entry["mistakes"] = 0.013
    return entry


def random_record(spec, seed):
    rng, position = random.Random(seed), tengen.load_game(spec).start()
    while position.outcome is None:
        position = position.play(rng.choice(position.legal_actions))
    return Record.of(position, ("<b>net</b>", "uct:playouts=1000"), {0: "an evaluation game"})


@pytest.fixture
def run(tmp_path):
    """A run of 20 generations that was killed while it wrote of the next."""
    (tmp_path / "config.toml").write_text(CONFIG)
    lines = [json.dumps(metrics_of(generation)) for generation in range(1, 21)]
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines) + '\n{"generation": 21, "step"')
    (tmp_path / "games").mkdir()
    for generation in (5, 10, 15, 18, 19, 20):
        text = write_sgf(*(random_record("gomoku:size=8", generation + i) for i in range(3)))
        (tmp_path / "games" / f"{generation:06d}.sgf").write_text(text)
    return tmp_path


def test_the_page_runs_no_script_and_loads_nothing(run):
    text = write_report(run).read_text(encoding="utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy and policy[1].startswith("default-src 'none'; script-src 'none'; style-src 'unsafe-inline'")


def test_the_page_shows_the_metrics(run):
    page = write_report(run)
    assert page == run / "report.html"
    text, elements = check_page(page)
    assert "script" not in elements
    for said in ("gomoku:size=8", "gomoku8 & more", "Generations 20", "Games 10,240", "Positions 246,900", "28 min"):
        assert said in text
    assert "Win rate 90% 70% to 97% against uct:playouts=1000" in text
    assert "Rating +220 Elo" in text
    assert "generation 20 value: 0.6 policy: 2.12 total: 2.73" in " ".join(text.split())
    assert "moves worse than the best 1.3%" in text
    assert "uct:playouts=1000 18 0 2 90% 70% to 97%" in text
    assert "blocks 6" in text
    assert "temperature.first 1.0" in text
    assert elements.count("svg") == 8 + 8  # charts, and two boards of four generations
    assert not list(run.glob("*.partial"))


def test_games_from_the_beginning_to_the_end(run):
    text, _ = check_page(write_report(run))
    assert re.findall(r"Generation (\d+)", text) == ["5", "5", "15", "15", "18", "18", "20", "20"]
    assert "Black: <b>net</b> · White: uct:playouts=1000" in text
    assert "an evaluation game" in text


@pytest.mark.parametrize("missing", ["config.toml", "metrics.jsonl", "games"])
def test_whatever_is_missing(run, missing):
    (run / missing).rename(run / "elsewhere")
    check_page(write_report(run))


def test_an_empty_folder_and_damaged_files(tmp_path):
    assert "Nothing has been measured yet." in check_page(write_report(tmp_path))[0]
    (tmp_path / "config.toml").write_text("[run\n")
    (tmp_path / "metrics.jsonl").write_bytes(
        b'[1]\nnull\n\xff\n{"step": 3, "loss": null, "plies": NaN, "matches": null}\n'
    )
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "000001.sgf").write_text("(;GM[4];B[hh];W[hh])")
    assert "Generation 1: h8 is occupied at move 2" in check_page(write_report(tmp_path))[0]


EVALUATION = '[evaluation]\nevery = {}\nopponent = "uct:playouts=1000"\n'


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            CONFIG + EVALUATION.format(20),
            "the first against uct:playouts=1000 comes with generation 20; the curve begins",
        ),
        (CONFIG + EVALUATION.format(20), "A new run has one sooner with --set evaluation.every=5."),
        (EVALUATION.format(20) + "[run]\ngenerations = 7", "comes with generation 7;"),  # the last is evaluated, too
        ("[evaluation]\nevery = 10", "No match yet: the first comes with generation 10;"),  # as a stage of Go says it
        (EVALUATION.format(0), "plays no matches, so it has no curve of strength; a new run has with --set evaluation"),
    ],
)
def test_where_no_match_was_played_yet_the_first_is_told(tmp_path, config, said):
    (tmp_path / "config.toml").write_text(config)
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(metrics_of(number)) + "\n" for number in (1, 2)))
    assert said in check_page(write_report(tmp_path))[0]
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write(json.dumps(metrics_of(5)) + "\n")
    assert "curve of strength" not in (text := check_page(write_report(tmp_path))[0]) and "sooner" not in text


@pytest.mark.parametrize("config", ["", "evaluation = 3", EVALUATION.format(1), '[evaluation]\nevery = "often"'])
def test_nothing_is_promised_that_the_settings_do_not_say(tmp_path, config):
    (tmp_path / "config.toml").write_text(config)
    (tmp_path / "metrics.jsonl").write_text(json.dumps({"generation": 1, "plies": 9}))
    assert "sooner" not in check_page(write_report(tmp_path))[0]


def test_of_a_generation_done_twice_the_last_counts(tmp_path):
    path = tmp_path / "metrics.jsonl"
    entries = [
        {"generation": 0},
        {"generation": 0, "plies": 9},
        {"generation": 1, "plies": 10},
        {"generation": 1, "plies": 11},
    ]
    path.write_text("\n".join(map(json.dumps, [*entries, {"generation": 2}, {"plies": 12}, {"plies": 13}])))
    assert [entry.get("plies") for entry in read_metrics(path)] == [9, 11, None, 12, 13]


def test_a_user_s_game_is_drawn_for_who_has_it(run):
    (run / "games" / "000020.sgf").write_text(write_sgf(random_record(BREAKTHROUGH, 1)))
    assert "give that game" in check_page(write_report(run))[0]
    assert "give that game" not in check_page(write_report(run, tengen.load_game(BREAKTHROUGH)))[0]


def test_words():
    assert [duration(seconds) for seconds in (83, 720, 12_000)] == ["83 s", "12 min", "3 h 20 min"]
    go, results = tengen.load_game("go"), ("B+", "W+3.5", "W+R", "0", "?")
    assert [result_words(Record(go, (), result=result)) for result in results] == [
        "Black wins", "White wins by 3.5", "White wins", "a draw", "no result",
    ]  # fmt: skip


def test_a_long_run_is_quick(run):
    (run / "metrics.jsonl").write_text("\n".join(json.dumps(metrics_of(generation)) for generation in range(1000)))
    write_report(run)
    begin = time.process_time()
    page = write_report(run)
    assert time.process_time() - begin < 0.5
    assert page.stat().st_size < 1_000_000
