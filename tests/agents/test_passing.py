"""When to pass in Go: what is worth something is played, what changes nothing is not, and a needed capture is made.

Whole settled positions are in test_settled.py.
"""

import numpy as np
import pytest

from tengen import load_game
from tengen.agents.passing import choose_end, moves_of_worth
from tengen.knowledge.ownership import estimate, lead, ownership
from tengen.search.limits import Decision, Opinion

SETTLED = "XX.XX/.XXX./XXXXX/OOOOO/O.O.O"
DEAD = ".XXOO.O/.XXOO.O/.XXOO.O/OXXOO.O/.XXOO.O/.XXOO.O/.XXOO.O"


def texts(position, actions):
    return [position.game.action_text(action) for action in actions]


def liked(position, value=0.9):
    """Opinions to which all moves are alike."""
    return [Opinion(action, 10, value) for action in position.legal_actions]


@pytest.mark.parametrize("komi", [0.5, 20])
def test_a_settled_game_is_passed(komi):
    position = load_game(f"go:size=5,komi={komi}").from_board(SETTLED, to_play="X")
    view = estimate(position)
    assert view.is_settled
    assert moves_of_worth(view) == []
    for action in position.legal_actions:
        assert choose_end(position, Decision(action, 0.9), []) == position.game.cells


def test_a_dead_stone_is_captured_only_where_the_count_would_lose_a_won_game():
    for komi, is_needed in ((-8.5, True), (-38.5, False)):
        position = load_game(f"go:size=7,komi={komi}").from_board(DEAD, to_play="X")
        assert texts(position, estimate(position).dead) == ["a4"]
        played = position.game.action_text(choose_end(position, Decision(49, 0.9), liked(position)))
        assert played in (("a3", "a5") if is_needed else ("pass",))
    position = load_game("go:size=7,komi=0.5").from_board(DEAD, to_play="X")  # Black has lost either way
    assert choose_end(position, Decision(position.game.parse_action("a5"), -0.9), []) == position.game.cells


def test_open_borders_are_closed_before_a_pass():
    position = load_game("go:size=5,komi=0.5").from_board("XXXO./X.XO./XX.OO/X.XO./XXXOO", to_play="X")
    assert texts(position, moves_of_worth(estimate(position))) == ["c3"]
    assert choose_end(position, Decision(25, 0.5), liked(position)) == 12
    mistaken = [Opinion(25, 50, 0.5), Opinion(12, 20, 0.1)]
    assert choose_end(position, Decision(25, 0.5), mistaken) == 25  # the agent thinks that it would lose by it


def test_an_opponents_pass_is_answered_by_one_that_wins():
    position = load_game("go:size=5,komi=-20").from_board("XXXO./X.XO./XX.OO/X.XO./XXXOO", to_play="O").play("pass")
    assert choose_end(position, Decision(12, 0.99), liked(position)) == position.game.cells


def test_a_pass_that_the_agent_fears_is_not_put_in_its_place():
    position = load_game("go:size=5,komi=0.5").from_board(SETTLED, to_play="X")
    opinions = [Opinion(2, 100, 0.9), Opinion(25, 50, 0.2)]
    assert choose_end(position, Decision(2, 0.9), opinions) == 2


def test_the_beginning_is_nobodys_business():
    position = load_game("go:size=9").start()
    assert choose_end(position, Decision(40, 0.1), []) == 40


def test_ownership_and_lead_are_the_first_players():
    position = load_game("go:size=5,komi=0.5").from_board(SETTLED, to_play="O")
    assert ownership(position).tolist() == [[1] * 5] * 3 + [[-1] * 5] * 2
    assert lead(position) == 4.5
    opening = load_game("go:size=9").from_moves("e5")
    assert ownership(opening)[4, 4] > 0.5


def test_a_judge_of_ones_own_takes_the_place_of_random_games():
    position = load_game("go:size=9").from_moves("e5 c3 g7 c7 g3")
    whites = np.full((9, 9), -0.5)
    assert (estimate(position, lambda position: whites).ownership == whites).all()
    assert estimate(position, lambda position: whites).is_settled is False
