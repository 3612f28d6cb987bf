"""The labs of the lecture's other games, as a class uses them."""

import json
import re
from pathlib import Path

import pytest
from test_labs import lab, shapes

from tengen.rules.errors import TengenError

IMAGES = Path(__file__).parent.parent.parent / "docs" / "images"
NAMES = ("pi", "taxonomy", "tree", "beyond", "matrix", "expectimax", "pig", "many", "belief")


def test_the_list_begins_with_pi():
    listed = re.findall(r"^  (\w+) ", lab(), re.MULTILINE)
    assert listed[0] == "pi" and set(NAMES) <= set(listed)
    for name in NAMES:
        assert "Try:" in lab(name, "--help") or name == "taxonomy"


def test_pi():
    printed = lab("pi", 1000, "--runs", 5)
    assert re.search(r"^1,000 +3\.\d{5} +0\.\d{5} +0\.05193$", printed, re.MULTILINE)
    assert json.loads(lab("pi", 100, "--json"))["points"][-1] == 100


def test_taxonomy():
    printed = lab("taxonomy")
    assert "imperfect information, deterministic: Stratego, Battleship" in printed
    assert re.search(r"chess, nodes +35\^100 +10\^154\.4 +10\^137\.9 +the lecture: 10\^154", printed)
    assert len(json.loads(lab("taxonomy", "--json"))["boxes"]) == 4


def test_tree():
    printed = lab("tree")
    assert re.search(r"^all +549,946 +5,478 +765 +58,524$", printed, re.MULTILINE)
    assert "255,168 games; 26,830 where symmetric moves are one" in printed
    assert re.search(r"b2 b1 +6 +4 +2 +6 − 4 = 2", lab("tree", "--boards"))
    assert re.search(r"^3 +586 +25 +4$", lab("tree", "--cost", "--depth", 3), re.MULTILINE)
    assert json.loads(lab("tree", "--json"))["games"] == 255_168


def test_beyond():
    assert re.search(r"^2 lines kept +91 +\d+\.\d%", lab("beyond", "--trees", 3), re.MULTILINE)
    assert re.search(r"^0\.1 +\d+", lab("beyond", "--narrow", "--trees", 2), re.MULTILINE)
    assert [each["margin"] for each in json.loads(lab("beyond", "--narrow", "--trees", 1, "--json"))] == [
        0,
        0.05,
        0.1,
        0.2,
    ]


def test_matrix():
    printed = lab("matrix", "3,-1; 0,2")
    assert "the row player mixes 1: 1/3, 2: 2/3, and gets 1 at least" in printed
    assert "max-min = min-max = 1, the value (1.000000)" in printed
    assert "the value (-0.055556)" in lab("matrix", "kuhn", "--rounds", 10)
    dilemma = lab("matrix", "prisoners")
    assert "pure equilibria: row 2, column 2" in dilemma and "It is not zero-sum" in dilemma
    assert "with row 1, column 1" in dilemma
    assert json.loads(lab("matrix", "morra", "--json"))["solution"]["value"] == "-1/12"


def test_expectimax():
    assert "the value is 2.1, by move 1" in lab("expectimax", "dice")
    assert "the value is 40.9, by move 2" in lab("expectimax", "stretched")
    assert "the value is 5.5, by move 1" in lab("expectimax", "coins", "--alone")
    assert json.loads(lab("expectimax", "dice", "--json"))["value"] == "21/10"


def test_pig():
    printed = lab("pig", "--own", 41, "--other", 49)
    assert re.search(r"both play best +0\.530593", printed) and "by value iteration" in printed
    assert "published (Neller and Presser, 2004): 0.5306" in printed
    assert "hold at a turn total of 22 to 26, 28 to 56" in printed
    assert json.loads(lab("pig", "--goal", 2, "--json"))["by_value_iteration"] == pytest.approx(6 / 7)


def test_many():
    printed = lab("many", "afraid", "--teams", "AC,B")
    assert re.search(r"paranoid +A1 B1 C2 +\(2, 4, 4\) +2 at least, for A", printed)
    assert re.search(r"max\^n +A2 B1 C1 +\(9, 6, 5\)", printed) and re.search(r"^teams +", printed, re.MULTILINE)
    assert json.loads(lab("many", "--json"))["max^n"]["payoffs"] == [1, 2, 6]


def test_belief():
    printed = lab("belief", "--seed", 3)
    assert "X tries b2: taken, try again worlds of X: 8 → 1" in printed
    assert re.search(r"^X won +\d+", lab("belief", "--second", "random", "--games", 5), re.MULTILINE)
    assert json.loads(lab("belief", "--json"))[0]["player"] == 0


def test_examples_act_on_c():
    """The lecture's missing 2 changes the move, and the slides' c the third simulation's scores."""
    printed = lab("mcts")
    assert re.search(r"1/√2, as its numbers have it +1\.252 +1\.242 +1\.007 +7/10", printed)
    assert re.search(r"1, as its formula has it +1\.480 +1\.497 +1\.425 +5/8", printed)
    assert "select  5/8 of 5/8: 1.497" in lab("mcts", "-C", 1)
    assert "select  2 of 2: 0.300, 9: 0.200" in lab("puct", "-c", 1)
    assert re.search(r"the lecture: P/\(1 \+ N\) +10,000 +5 +9,995 +0", lab("puct", "--bonus", "--tell", 0))
    assert "  ▶         v ← BESTCHILD(v, Cp)       v is 7/10" in lab("mcts", "--code").splitlines()


@pytest.mark.parametrize(
    "arguments",
    [
        ["pi", "--square"],
        ["tree", "--depth", 3],
        ["tree", "--plies", 1],
        ["tree", "--cost", "--boards"],
        ["matrix", "prisoners", "--rounds", 5],
        ["matrix", "1,2;3"],
        ["expectimax", "--root", "mid"],
        ["expectimax", "--alone", "--root", "min"],
        ["pig", "--own", 100],
        ["many", "--rule", "fair"],
        ["many", "--rule", "teams"],
        ["belief", "--first", "me"],
        ["puct", "--bonus", "--game", "connect4"],
    ],
)
def test_what_makes_no_sense_is_refused(arguments):
    with pytest.raises(TengenError):
        lab(*arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("pi", ["pi"], "log₁₀ n, points"),
        ("pi-square", ["pi", "--square"], "/ 400 ="),
        ("tree", ["tree"], "× 8"),
        ("e-boards", ["tree", "--boards"], "6 − 4 = 2"),
        ("matrix", ["matrix"], "the value"),
        ("expectimax", ["expectimax"], "0.5"),
        ("pig", ["pig"], "own points"),
        ("many", ["many", "afraid", "--rule", "paranoid"], "(2, 4, 4)"),
        ("belief", ["belief", "--seed", 3], "8 worlds"),
    ],
)
def test_the_pictures_of_the_page_are_what_its_commands_draw(name, arguments, words, tmp_path):
    lab(*arguments, "--out", tmp_path / "it.svg")
    kept = IMAGES / f"lab-{name}.svg"
    assert words in shapes(tmp_path / "it.svg")
    assert (tmp_path / "it.svg").read_text() == kept.read_text(), f"{kept}: draw it again with --out"
