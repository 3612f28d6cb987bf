"""The count of Go by several rules: areas, territory, captures, komi and handicaps."""

import pytest

from tengen import load_game
from tengen.knowledge.go_counting import RULES, count, counting_rules, told_in_full, usual_rules
from tengen.knowledge.ownership import estimate
from tengen.rules.errors import BadParameter

WALLS = ".XXOO.O/.XXOO.O/.XXOO.O/OXXOO.O/.XXOO.O/.XXOO.O/.XXOO.O"  # a4 is dead
SEKI = ".X.X.X./XXXXXXX/OOOOOXX/O.OOOX./OOOOOXX/XXXXOX./.XX.OXX"


def outlook(diagram, to_play="X", **parameters):
    options = ",".join(f"{name}={value}" for name, value in {"size": 7, "komi": 0.5, **parameters}.items())
    return estimate(load_game(f"go:{options}").from_board(diagram, to_play))


@pytest.mark.parametrize(
    ("rules", "result", "black", "white"),
    [
        ("chinese", "W+7.5", 21, 28.5),
        ("aga", "W+7.5", 21, 28.5),
        ("japanese", "B+0.5", 8, 7.5),  # seven points and a dead stone
        ("tromp-taylor", "W+15.5", 14, 29.5),  # a4 lives, and what is beside it is nobody's
    ],
)
def test_rules_count_as_they_do(rules, result, black, white):
    found = count(outlook(WALLS), counting_rules(rules))
    assert (found.result, found.points(0), found.points(1)) == (result, black, white)
    assert len(found.told()) == 3
    assert found.as_object()["players"][1]["points"] == white


def test_eyes_in_a_seki_are_nobodys_where_territory_counts():
    view = outlook(SEKI)
    area, territory = (count(view, counting_rules(rules)) for rules in ("chinese", "japanese"))
    assert (area.sides[0].territory, area.sides[1].territory) == (7, 1)
    assert (territory.sides[0].territory, territory.sides[1].territory) == (6, 0)


def test_stones_that_were_taken_in_the_game_are_captures():
    game = load_game("go:size=5,komi=0.5")
    view = estimate(game.from_moves("b5 a5 a4 c3 pass c4 pass"))
    sides = count(view, counting_rules("japanese"), agreed=False).sides
    assert [side.captures for side in sides] == [1, 0]


def test_a_handicap_is_compensated_as_the_rules_have_it():
    view = outlook(WALLS, handicap=3)
    given = [count(view, counting_rules(rules)).compensation for rules in ("chinese", "aga", "japanese")]
    assert given == [3, 2, 0]
    assert "for the handicap" in count(view, counting_rules("aga")).told()[1]


def test_names_of_rules():
    assert counting_rules("New_Zealand") is RULES["newzealand"]
    assert counting_rules("jp") is RULES["japanese"]
    with pytest.raises(BadParameter, match="no rules are called 'japanes'"):
        counting_rules("japanes")
    assert usual_rules(load_game("go").start()).name == "Chinese"
    assert usual_rules(load_game("go:suicide=1").start()).name == "Tromp-Taylor"


def test_a_score_is_told_in_full():
    position = load_game("go:size=7,komi=0.5").from_board(WALLS, "X").play("pass").play("pass")
    assert told_in_full(position) == [
        "Black: 0 territory + 14 stones = 14",
        "White: 7 territory + 22 stones + 0.5 komi = 29.5",
        "Chinese rules: W+15.5",
        "without dead stones: W+7.5",
    ]
    assert told_in_full(load_game("go:size=7").start()) == []
    assert told_in_full(load_game("tictactoe").from_moves("a1 b1 a2 b2 a3")) == []
