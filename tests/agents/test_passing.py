"""When to pass in Go: dead stones are captured first, borders closed, and own eyes left alone."""

from tengen import load_game
from tengen.agents.passing import choose_end, loose_ends
from tengen.search.limits import Decision, Opinion


def test_dead_stones_are_captured_before_a_pass():
    position = load_game("go:size=9").from_board(
        """
        .X.XO.O..
        XX.XOO.O.
        .XXXXO.OO
        XXXXOOOO.
        .XXXO.OOO
        X.XXOOO.O
        XXXXXXXOO
        .X.OXX.XO
        XX..X.XX.
        """,
        to_play="X",
    )
    loose = {position.game.action_text(action) for action in loose_ends(position)}
    assert loose & {"c2", "c1", "d1"}  # the stone on d2 is dead
    want_pass = Decision(position.game.cells, 0.9)
    opinions = [Opinion(position.game.cells, 100, 0.9), *(Opinion(a, 10, 0.9) for a in position.legal_actions[:-1])]
    assert position.game.action_text(choose_end(position, want_pass, opinions)) in loose


def test_a_settled_game_is_passed():
    position = load_game("go:size=5,komi=0.5").from_board("XX.XX/.XXX./XXXXX/OOOOO/O.O.O", to_play="X")
    assert loose_ends(position) == []
    for action in position.legal_actions:
        assert choose_end(position, Decision(action, 0.9), []) == position.game.cells
    position = load_game("go:size=5,komi=20").from_board("XX.XX/.XXX./XXXXX/OOOOO/O.O.O", to_play="X")
    assert choose_end(position, Decision(2, -0.95), []) == position.game.cells  # it is lost; eyes are not filled
    assert choose_end(position, Decision(2, 0.0), []) == 2


def test_open_borders_are_closed_before_a_pass():
    position = load_game("go:size=5,komi=0.5").from_board(".X.O./XX.OO/.X.O./XX.OO/.X.O.", to_play="X")
    assert [position.game.action_text(a) for a in loose_ends(position)] == ["c5", "c4", "c3", "c2", "c1"]
    opinions = [Opinion(25, 50, 0.5), Opinion(2, 10, 0.45), Opinion(7, 20, 0.1)]
    assert choose_end(position, Decision(25, 0.5), opinions) == 2  # c4 is thought a mistake
