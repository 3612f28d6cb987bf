"""The labs as a class uses them: the documents' numbers in print, pictures that open, assignments that hold."""

import json
import math
import os
import re
import subprocess
import sys
from math import log
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from tengen import load_agent, load_game
from tengen.apps import lab_printing
from tengen.apps.labs import app
from tengen.course import alphabeta_narration, assignments, bandit, mcts, mcts_narration, pictures
from tengen.course.assignments import Keyboard, Person, every_line, play_reversi, prove_never_lost
from tengen.report.charts import Line
from tengen.rules.errors import BadParameter, TengenError

IMAGES = Path(__file__).parent.parent.parent / "docs" / "images"
LABS = ("bandit", "minimax", "alphabeta", "mcts", "puct", "tictactoe", "reversi", "queens", "wumpus")


def lab(*arguments, text=None):
    """What a lab prints."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=text, env={"COLUMNS": "150"})
    if isinstance(result.exception, TengenError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


# The list, and the help


def test_the_list_and_the_help():
    listed = lab()
    assert [name for name in LABS if re.search(rf"^  {name} ", listed, re.MULTILINE)] == list(LABS)
    for name, words in {
        "bandit": "X̄ⱼ + C·√(2 ln n / nⱼ)",
        "minimax": "MINIMAX(s)",
        "alphabeta": "b^(3h/4)",
        "mcts": "Q/N + C·√(2 ln n / N)",
        "puct": "U = c·P·√ΣN / (1 + N)",
        "tictactoe": "--prove",
        "reversi": "only who cannot flip passes",
        "queens": "attacked least",
        "wumpus": "Gold carried out +1000, death −1000, an action −1, the arrow −10",
    }.items():
        assert words in " ".join(lab(name, "--help").split())


def test_from_the_command_line():
    """`tengen lab` is there, and what a user can put right is one line."""
    command = [sys.executable, "-m", "tengen", "lab", "alphabeta"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, "COLUMNS": "100"})
    assert "alpha cut: MIN can have 2 here, and MAX has 3 elsewhere" in found.stdout
    wrong = subprocess.run([*command, "[1, 2"], capture_output=True, text=True, timeout=300)
    assert (wrong.returncode, wrong.stderr.strip()) == (2, "tengen: 1 brackets are open at the end")


# Bandits


def test_bandits_tell_every_policy():
    printed = lab("bandit", "--steps", 200, "--runs", 20)
    for name in ("UCB1", "greedy", "ε-greedy", "random", "Thompson"):
        assert re.search(rf"^{name} +\d", printed, re.MULTILINE)
    bound = 8 * (log(200) / 0.4 + log(200) / 0.2) + (1 + math.pi**2 / 3) * 0.6
    assert f"= {bound:.0f} on average (proven)" in printed
    contest = json.loads(lab("bandit", "0.2,0.9", "--steps", 100, "--json"))
    assert [play["policy"] for play in contest["plays"]] == [*bandit.POLICIES, "thompson"]


def test_thompson_draws_from_what_it_knows():
    """Where one arm always pays it soon takes no other; its regret is far from that of chance and near the least."""
    rewards = np.zeros((40, 300, 2))
    rewards[:, :, 1] = 1
    chosen, bounds = bandit.sample_all(rewards, np.random.default_rng(1))
    assert chosen[:, :20].mean() > 0.8 and chosen[:, 100:].mean() > 0.99
    assert bounds.min() > 0 and bounds.max() < 1
    assert (bounds.argmax(axis=1) == chosen[0]).all()
    found = bandit.contest([0.3, 0.5, 0.7], steps=1000, runs=100, has_thompson=True)
    regret = {play.policy: play.regret[-1] for play in found.plays}
    assert regret["thompson"] < regret["ucb1"] < regret["random"]


def test_a_predictor_is_followed_and_what_it_gains_is_told():
    """PUCB by hand, one arm at a time; a predictor that is right saves regret, and one that knows nothing none."""
    rewards = (np.random.default_rng(1).random((1, 60, 3)) < [0.2, 0.5, 0.8]).astype(float)
    priors = [0.1, 0.2, 0.7]
    chosen, bounds = bandit.predict_all(rewards, priors)
    paid = [[], [], []]
    for n in range(1, 61):
        compared = []
        for prior, own in zip(priors, paid, strict=True):
            share = math.sqrt(prior) / sum(map(math.sqrt, priors))
            doubt = 2 / share * (math.sqrt(log(n) / n) if n > 1 else 1)
            compared.append((sum(own) / len(own) + math.sqrt(3 * log(n) / (2 * len(own))) if own else 1) - doubt)
        assert bounds[n - 1] == pytest.approx(compared) and chosen[0, n - 1] == np.argmax(compared)
        paid[chosen[0, n - 1]].append(rewards[0, n - 1, chosen[0, n - 1]])
    printed = lab("bandit", "0.2,0.5,0.8", "--priors", "0.1,0.2,0.7", "--steps", 200, "--runs", 20)
    gain = (math.sqrt(0.1) + math.sqrt(0.2) + math.sqrt(0.7)) ** 2 / 3
    assert f"(Σ √Pᵢ)² / b = {gain:.2f} of that without priors" in printed and re.search(r"^PUCB +\d", printed, re.M)
    assert bandit.gain_of([0.25] * 4) == 1
    right, even = (bandit.contest([0.2, 0.5, 0.8], priors=each).plays[-1] for each in (priors, [1 / 3] * 3))
    assert right.policy == "pucb" and right.regret[-1] < even.regret[-1]


@pytest.mark.parametrize("priors", ["0.5,0.5", "0.5,0.6,0.7", "0,0.5,0.5", "a"])
def test_bad_priors_are_refused(priors):
    with pytest.raises(BadParameter):
        lab("bandit", "--priors", priors)


def test_draws_follow_beta():
    """After w wins and l losses of both arms, the mean of the draws is (w + 1) / (w + l + 2)."""
    rewards = np.tile(np.array([1.0, 0.0]), (4000, 2, 1))
    rewards[:, 1, :] = 0.5  # only to be pulled
    chosen, _ = bandit.sample_all(rewards, np.random.default_rng(2))
    first_won = chosen[chosen[:, 0] == 0][:, 1]
    assert np.mean(first_won == 0) == pytest.approx(2 / 3, abs=0.04)  # P(Beta(2, 1) > Beta(1, 1)) = 2/3


def test_the_least_regret_is_lai_and_robbins():
    one = 0.4 / (0.3 * log(0.3 / 0.7) + 0.7 * log(0.7 / 0.3))
    other = 0.2 / (0.5 * log(0.5 / 0.7) + 0.5 * log(0.5 / 0.3))
    assert bandit.least_regret([0.3, 0.5, 0.7], [100]) == [pytest.approx((one + other) * log(100), abs=1e-5)]
    assert bandit.least_regret([0.5, 0.5], [10]) == bandit.least_regret([0.5, 1.0], [10]) == [None]
    assert bandit.least_regret([0.0, 0.5], [10]) == [pytest.approx(0.5 / log(2) * log(10), abs=1e-5)]


@pytest.mark.parametrize("means", ["0.5", "a,b", "0.5,2", ""])
def test_bad_arms_are_refused(means):
    with pytest.raises(BadParameter):
        lab("bandit", means)


# Trees


def test_the_lectures_tree_by_minimax():
    lines = lab("minimax").splitlines()
    assert lines[0] == "MAX 3"
    assert [line.split("─ ")[1] for line in lines if "MIN" in line] == ["MIN 3", "MIN 1", "MIN 2"]
    assert lines[-1] == "the value is 3, by move 1; 13 nodes looked at"


def test_the_lectures_tree_by_alphabeta():
    printed = lab("alphabeta", "--steps")
    assert "├─ MIN [3, +∞] → 2   alpha cut: MIN can have 2 here, and MAX has 3 elsewhere" in printed
    assert [name for name in "xy" if f"─ {name} not looked at" in printed] == ["x", "y"]
    assert "cut    node 5: alpha cut: MIN can have 2 here, and MAX has 3 elsewhere; 2 left out" in printed
    assert re.search(r"minimax +13 +9", printed) and re.search(r"as written +11 +7", printed)


def test_a_beta_cut_has_its_reason():
    printed = lab("alphabeta", "[[-3, -12], [-2, -7]]", "--root", "min")
    assert "beta cut: MAX can have -2 here, and MIN allows only -3 elsewhere" in printed


def test_positions_of_tic_tac_toe():
    """The lecture's e(s), one ply ahead: 3 for a corner, 4 for the centre, 2 for an edge; two plies ahead it is 1."""
    values = dict(re.findall(r"─ (\w\d) (\d)", lab("minimax", "--game", "tictactoe", "--depth", 1)))
    assert (values["a1"], values["b2"], values["b1"]) == ("3", "4", "2")
    assert "the value is 1" in lab("alphabeta", "--game", "tictactoe", "--depth", 2)
    deep = lab("alphabeta", "--game", "tictactoe", "--moves", "a1 a2 b2 c3 b1 b3", "--depth", 3)
    assert "the value is 1, by move c1" in deep


def test_orders_keep_the_laws():
    """In the best order exactly b^⌈h/2⌉ + b^⌊h/2⌋ − 1 leaves, in every other order no fewer."""
    study = alphabeta_narration.study_orders(3, 6, trees=3)
    least = [3 ** math.ceil(h / 2) + 3 ** (h // 2) - 1 for h in study.heights]
    assert study.leaves["best first"] == least
    last = [counts[-1] for counts in study.leaves.values()]
    assert last == sorted(last, reverse=True)  # from the worst order to the best
    assert study.laws()["b^(h/2)"] == [pytest.approx(3 ** (h / 2)) for h in study.heights]
    assert all(counts[-1] <= 3**6 for counts in study.leaves.values())
    printed = lab("alphabeta", "--orders", "--branching", 3, "--height", 4)
    assert re.search(r"^b\^\(3h/4\) +2 +5 +12 +27$", printed, re.MULTILINE)
    with pytest.raises(BadParameter, match="20,000 leaves"):
        lab("alphabeta", "--orders", "--branching", 10, "--height", 9)


def test_what_is_no_tree_or_no_position_is_refused():
    for arguments, words in [
        (["minimax", "[[1, 2]", "--root", "max"], "open at the end"),
        (["minimax", "[1]", "--game", "tictactoe"], "not both"),
        (["alphabeta", "--root", "mid"], "max or min"),
        (["alphabeta", "--order", "bset"], "one of written"),
        (["mcts", "--moves", "a1"], "goes with --game"),
        (["puct", "--search", "uct"], "tengen lab mcts"),
        (["puct", "--game", "gomoku"], "64 at most"),
        (["tictactoe", "--first", "me"], "choose from random, you, computer"),
        (["queens", "3"], "always attack"),
    ]:
        with pytest.raises(TengenError, match=words):
            lab(*arguments)


# Tree searches


def test_the_slides_search_as_it_is_printed():
    """Every number that the slides work out."""
    lines = [line.strip() for line in lab("puct").splitlines()]
    for line in [
        "select  2 of 2: 0.000, 9: 0.000, 8: 0.000, 7: 0.000, 3: 0.000, 6: 0.000",  # a tie: the highest prior
        "judge   the network says -0.1 for Black, to move there",
        "back up 2: N 1  W 0.1  Q 0.1  P 0.4",
        "back up root: N 2",
        "select  2 of 2: 1.100, 9: 1.000, 8: 0.750, 7: 0.500, 3: 0.500, 6: 0.250",
        "judge   the game is over: -1 for White, to move there",
        "back up 9: N 1  W 1  Q 1  P 0.3  (won)",
        "back up 2: N 2  W -0.9  Q -0.45  P 0.4  (lost)",
        "back up root: N 3",
        "select  9 of 9: 1.414, 8: 1.061, 7: 0.707, 3: 0.707, 2: 0.493, 6: 0.354",
        "judge   the network says -0.2 for Black, to move there",
        "back up 9: N 1  W 0.2  Q 0.2  P 0.2",
        "back up root: N 4",
    ]:
        assert line in lines
    title, *moves = [re.split(r"  +", line) for line in lines[-5:]]
    assert (title[0], title[-1]) == ("s", "z")
    assert [(move[1], move[-1]) for move in moves] == [("White", "-1"), ("Black", "+1")] * 2  # Black wins
    assert all(sum(map(float, move[2:-1])) == pytest.approx(1, abs=0.005) for move in moves)


def test_the_lectures_search_as_it_is_printed():
    printed = lab("mcts")
    scores = [re.findall(r"(\d/\d+): (\d\.\d{3})", line) for line in printed.splitlines() if "select" in line]
    theirs = [
        [("7/10", 1.252), ("5/8", 1.243), ("0/3", 1.007)],
        [("2/4", 1.372), ("5/6", 0.879)],
        [("1/1", 2.745), ("1/3", 1.341)],
    ]
    for level, printed_there in zip(scores, theirs, strict=True):
        assert [name for name, _ in level] == [name for name, _ in printed_there]
        for (_, ours), (_, there) in zip(level, printed_there, strict=True):
            assert float(ours) == pytest.approx(there, abs=0.0012)  # it prints 1.243 for 1.2419
    backed = re.findall(r"back up (?:root|node \d): (\d+/\d+)", printed)
    assert backed == ["0/1", "1/2", "2/5", "7/11", "12/22"]  # B grows by one, A by none


def test_any_position():
    printed = lab("mcts", "--game", "tictactoe", "--moves", "a1 a2 b1 b2", "--simulations", 300)
    assert "the choice: c1, worth +1.000 to X, proven" in printed
    printed = lab("puct", "--game", "connect4", "--evaluator", "rollout", "--simulations", 60, "--search", "gumbel")
    assert "after 60 simulations" in printed


def test_a_state_is_the_trace_played_back():
    game = load_game("connect4")
    trace = mcts.trace(game.start(), mcts.SearchSettings("puct", "rollout", simulations=50))
    for count in (0, 1, 17, 50):
        state = mcts_narration.State(trace, count)
        children = state.children(0)
        assert sum(state.cards[card].visits for card in children) == count
        assert state.cards[0].visits == 1 + count
    assert len(list(mcts_narration.tell(trace, 5))) > 5 * 4


# Pictures


def shapes(path):
    """All that is written in an SVG file."""
    root = ElementTree.parse(path).getroot()
    assert root.tag.endswith("svg")
    return " ".join("".join(each.itertext()) for each in root.iter() if each.tag.endswith("text"))


def test_pictures_for_slides(tmp_path):
    lab("puct", "--out", tmp_path / "puct.svg")
    assert {"W -0.9", "Q -0.45", "P 0.4", "N 4"} <= set(re.findall(r"[NWQP] [-\d.]+", shapes(tmp_path / "puct.svg")))
    lab("mcts", "--out", tmp_path / "mcts.svg")
    assert "7/11" in shapes(tmp_path / "mcts.svg")
    lab("alphabeta", "--out", tmp_path / "cut.svg")
    assert all(words in shapes(tmp_path / "cut.svg") for words in ("alpha cut", "[3, +∞]", " x "))
    lab("minimax", "--out", tmp_path / "min.svg")
    assert "cut" not in shapes(tmp_path / "min.svg")
    lab("bandit", "--steps", 50, "--runs", 5, "--out", tmp_path / "bandit.svg")
    assert "Thompson" in shapes(tmp_path / "bandit.svg")
    lab("queens", "8", "--out", tmp_path / "queens.svg")
    assert shapes(tmp_path / "queens.svg").count("♛") == 8
    lab("wumpus", "--seed", 3, "--out", tmp_path / "wumpus.svg")
    assert re.search("[▶▲◀▼]", shapes(tmp_path / "wumpus.svg"))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("bandit", ["bandit", "--steps", 2000, "--runs", 100]),
        ("minimax", ["minimax"]),
        ("alphabeta", ["alphabeta"]),
        ("orders", ["alphabeta", "--orders"]),
        ("mcts", ["mcts"]),
        ("puct", ["puct"]),
        ("queens", ["queens", 12]),
        ("wumpus", ["wumpus", "--seed", 118]),
    ],
)
def test_the_pictures_of_the_page_are_what_its_commands_draw(name, arguments, tmp_path):
    lab(*arguments, "--out", tmp_path / "it.svg")
    kept = IMAGES / f"lab-{name}.svg"
    assert (tmp_path / "it.svg").read_text() == kept.read_text(), f"{kept}: draw it again with --out"


def test_pictures_as_png(tmp_path):
    pytest.importorskip("matplotlib")
    for arguments in (["puct"], ["alphabeta"], ["alphabeta", "--orders", "--height", 3], ["queens", 6]):
        lab(*arguments, "--out", tmp_path / "it.png")
        assert (tmp_path / "it.png").read_bytes().startswith(b"\x89PNG")
        (tmp_path / "it.png").unlink()


def test_bad_files_are_refused(tmp_path):
    for path, words in [(tmp_path / "a.gif", "ends in"), (tmp_path / "no" / "a.svg", "there is no folder")]:
        with pytest.raises(TengenError, match=words):
            lab("minimax", "--out", path)
    with pytest.raises(BadParameter, match="too many for a picture"):
        lab("minimax", "--game", "connect4", "--depth", 3, "--out", tmp_path / "a.svg")


def test_large_trees_show_what_was_visited_most():
    trace = mcts.trace(load_game("connect4").start(), mcts.SearchSettings("uct", simulations=200, exploration=0.7))
    picture = mcts_narration.draw_trace(trace, most=12)
    boxes = [item for item in picture.items if isinstance(item, pictures.Shape) and len(item.points) == 4]
    assert len(boxes) == 12
    assert "are left out" in picture.svg()
    with pytest.raises(BadParameter):
        mcts_narration.draw_trace(trace, most=1)


def test_names_in_pictures_are_text():
    picture = pictures.Picture("a < b", 10, 10)
    picture.write(1, 1, '<script>"&')
    assert ElementTree.fromstring(picture.svg()) is not None
    chart = pictures.Chart("a & b", [Line("<i>", [(0, 1), (1, 2)])], "x")
    assert ElementTree.fromstring(chart._repr_svg_()) is not None


def test_a_chart_in_letters():
    chart = pictures.Chart("t", [Line("one", [(0, 0), (10, 10)]), Line("two", [(0, 10), (10, 0)])], "x")
    rows = chart.text(width=11, height=3).splitlines()
    assert rows[1:4] == ["       10 │b         a", "          │", "        0 │a         b"]
    assert pictures.Chart("t", [Line("one", [(0, 0)])], "x", is_logarithmic=True).text() == ""


# Tic-tac-toe


def test_alphabeta_never_loses_at_tic_tac_toe():
    """Every game that any opponent can make of it, as the first player and as the second."""
    for score in prove_never_lost():
        assert score.losses == 0
        assert score.wins > 0
    assert "lost" in lab("tictactoe", "--prove")


def test_the_proof_would_notice():
    game = load_game("tictactoe")
    assert every_line(load_agent("random", game), game, 1).losses > 0


def test_who_begins_is_drawn():
    drawn = [lab_printing.seats("random", "computer", seed) for seed in range(40)]
    assert 8 < sum(first == "human" for first, _ in drawn) < 32
    assert lab_printing.seats("you", "x", None) == ("human", "x")
    assert lab_printing.seats("computer", "x", None) == ("x", "human")


# Reversi against the clock


@pytest.fixture
def keys():
    """A keyboard, and what types on it."""
    source, typist = os.pipe()
    yield Keyboard(source), lambda text: os.write(typist, text.encode())
    os.close(source)
    os.close(typist)


def test_a_keyboard_waits_no_longer_than_it_is_told(keys):
    keyboard, write = keys
    assert keyboard.line(0.02) is None
    write("d")
    assert keyboard.line(0.02) is None
    write("3\ne6\nf")
    assert [keyboard.line(1), keyboard.line(1), keyboard.line(0.02)] == ["d3", "e6", None]
    write("x" * 5000 + "\n")
    assert len(keyboard.line(1)) <= assignments.LONGEST_LINE


def test_a_keyboard_ends():
    source, typist = os.pipe()
    os.write(typist, b"c4")
    os.close(typist)
    keyboard = Keyboard(source)
    assert keyboard.line(1) == "c4"
    with pytest.raises(EOFError):
        keyboard.line(1)
    os.close(source)


def test_two_people_share_a_keyboard(monkeypatch):
    source, typist = os.pipe()
    keyboards = []
    monkeypatch.setattr(assignments, "Keyboard", lambda: keyboards.append(Keyboard(source)) or keyboards[-1])
    os.write(typist, b"b1\na1\nresign\n")
    record = play_reversi(("human", "human"), allowed=60, size=4, say=lambda line: None)
    os.close(typist)
    assert (len(keyboards), len(record.moves), record.result) == (1, 2, "W+R")
    keyboards[0].listener.join()
    os.close(source)


def test_a_person_who_oversteps_the_time_has_lost(keys):
    said = []
    record = play_reversi(("human", "random"), allowed=0.05, size=4, say=said.append, keyboard=keys[0])
    assert record.result == "W+T"
    assert re.search(r"human took 0\.\d+ s for a move; 0\.05 s are allowed", record.ending)
    assert record.moves == ()
    assert any("the time is over" in line for line in said)


def test_an_agent_that_oversteps_the_time_has_lost(keys):
    record = play_reversi(("uct:time=0.4", "random"), allowed=0.05, say=lambda line: None, keyboard=keys[0])
    assert (record.result, "uct:time=0.4 took" in record.ending) == ("W+T", True)


def test_in_time_the_game_goes_on_and_the_clock_is_shown(keys):
    keyboard, write = keys
    said = []
    write("a9\npass\na2\nresign\n")
    record = play_reversi(("human", "random"), allowed=60, size=4, say=said.append, keyboard=keyboard)
    assert record.result == "W+R"
    assert len(record.moves) == 2
    assert any(re.search(r"Black human +a2 +0\.\d\d s of 60 s", line) for line in said)
    assert any(line == "Black, 60 s:" for line in said)
    assert any("pass" in line and "you may play" in line for line in said)


def test_a_pass_only_when_nothing_flips(keys):
    """In games of the lab's own agent, and for a person, who is told and need not type it."""
    game, passes = load_game("reversi:size=4"), 0
    for seed in range(6):
        record = play_reversi(("uct:playouts=30", "random"), size=4, seed=seed, say=lambda line: None, keyboard=keys[0])
        position = game.start()
        for action in record.moves:
            legal = [game.action_text(each) for each in position.legal_actions]
            if game.action_text(action) == "pass":
                passes += 1
                assert legal == ["pass"]
                said = []
                decision = Person(keys[0], 60, said.append).choose(position)
                assert game.action_text(decision.action) == "pass"
                assert "nothing flips: you pass" in said
            else:
                assert "pass" not in legal
            position = position.play(action)
        assert record.outcome is not None
    assert passes > 0


def test_play_in_the_terminal():
    printed = lab("tictactoe", "--first", "you", text="b2\nquit\n")
    assert "you begin" in printed and "O plays" in printed


# Queens and wumpus, as they are printed


def test_queens_as_they_are_printed():
    printed = lab("queens", "8")
    assert printed.splitlines()[-1].endswith("0 conflicts, 0 queens attacked")
    assert printed.count("Q") >= 8
    assert "checked" in lab("queens", "5000")
    facts = json.loads(lab("queens", "3000", "--json"))
    assert facts["is_right"] and facts["size"] == 3000
    growth = lab("queens", "1000", "--growth", "--runs", 2)
    assert re.search(r"^1,000 +\d", growth, re.MULTILINE) and "log₁₀ n" in growth


def test_wumpus_as_it_is_printed():
    printed = lab("wumpus", "--seed", 5)
    assert "begins" in printed and "[W]" in printed and "score" in printed
    rows = json.loads(lab("wumpus", "--worlds", 50, "--json"))
    assert [row["name"] for row in rows][-2:] == ["reckless", "random"]
    assert "95% interval" in lab("wumpus", "--worlds", 20)
    assert set(json.loads(lab("wumpus", "--json"))) == {"score", "actions", "is_dead"}
