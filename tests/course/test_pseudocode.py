"""The lecture's pseudocode: its lines lit as the worked example goes through them."""

import re

from tengen import load_game
from tengen.course.mcts import SearchSettings, lecture_trace, trace
from tengen.course.prior_bonus import LECTURE, PAPERS, bonus, visit_counts
from tengen.course.pseudocode import CODE, panels


def lit(lines):
    """The lines that are run, in order: the function, and its line without what is told beside it."""
    found, function = [], ""
    for line in lines:
        if line.startswith("function "):
            function = line.removeprefix("function ")
        elif line.startswith("  ▶ "):
            found.append((function, re.split(r"\s{3,}", line[4:].strip())[0]))
    return found


def test_the_worked_example_line_by_line():
    lines = list(panels(lecture_trace()))
    run = lit(lines)
    called = [function.split("(")[0] for function, _ in run]
    order = list(dict.fromkeys(called))
    assert order == ["UCTSEARCH", "TREEPOLICY", "BESTCHILD", "EXPAND", "DEFAULTPOLICY", "BACKUPNEGAMAX"]
    assert called.count("BESTCHILD") == 3  # 7/10, 2/4, 1/1
    assert [line for line in lines if "v is 7/10" in line or "v is 2/4" in line]
    assert "    7/10: 1.252, 5/8: 1.242, 0/3: 1.007" in lines
    assert sum("N(v) ← N(v) + 1" in line for _, line in run) == 5  # the new node and its four parents
    assert run[-1] == ("UCTSEARCH(s₀)", "return a(BESTCHILD(v₀, 0))")


def test_every_line_is_one_of_the_lectures():
    for function, line in lit(panels(lecture_trace())):
        assert line in [each.strip() for each in CODE[function]]
    assert any("while v is not null do" in each for each in CODE["BACKUPNEGAMAX(v, Δ)"])


def test_any_position_of_uct():
    found = trace(load_game("tictactoe").from_moves("a1 b2"), SearchSettings("uct", simulations=30))
    for number in (1, 10, 30):
        run = lit(panels(found, number))
        simulation = found.simulations[number - 1]
        assert sum("N(v) ← N(v) + 1" in line for _, line in run) == len(simulation.path)


def test_the_missing_two_changes_the_move():
    """By the example's numbers 7/10 is chosen, by its own formula 5/8."""
    for exploration, chosen in ((None, 1), (1.0, 2), (10.0, 3)):
        found = lecture_trace() if exploration is None else lecture_trace(exploration)
        assert found.simulations[0].path[1] == chosen
        scores = found.terms[0].score
        assert scores.index(max(scores)) == chosen - 1
    deep = lecture_trace(10.0).simulations[0]
    assert deep.path == [0, 3, 8] and [update.visits for update in deep.backup] == [1, 4, 22]


def test_without_the_root_of_visits_nothing_is_tried_again():
    """P/(1 + N) never grows; c·P·√ΣN/(1 + N) comes back to every action, and finds the best."""
    assert bonus(0.5, 1, 9, LECTURE, 1.0) == 0.25 and bonus(0.5, 1, 9, PAPERS, 2.0) == 1.5
    assert visit_counts(LECTURE, 10_000) == [5, 9_995, 0]
    tried = visit_counts(PAPERS, 10_000)
    assert sum(tried) == 10_000 and tried[2] > 9_000 and min(tried) > 50
