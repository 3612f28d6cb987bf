"""Kings and pawns, broken in many ways: what a game with pieces and facts is told of its mistakes."""

import pytest
from broken_games import problems_of
from piece_games import KINGS_AND_PAWNS

BREAKS = {  # what is changed in the example, and what the check says
    "'/' cannot be a piece's symbol; use one letter or sign": ('Piece("P", 0', 'Piece("/", 0'),
    "'PP' cannot be a piece's symbol": ('Piece("P", 0', 'Piece("PP", 0'),
    "piece P belongs to 2; owners are 0, 1 and None": ('Piece("P", 0', 'Piece("P", 2'),
    "each with a symbol of its own": ('Piece("P", 0', 'Piece("k", 0'),
    "pieces has ('P', 0, 'pawn', 'pawn'); write Piece(symbol, owner)": ('Piece("P", 0,', '("P", 0,'),
    "7 move_planes · 36 cells are not 324 actions": ("move_planes = len(KINDS)", "move_planes = 7"),
    "most_legal is 1000; it is 1 to 324, its actions": (
        "    move_planes = len(KINDS)\n",
        "    move_planes = len(KINDS)\n    most_legal = 1000\n",
    ),
    "actions; most_legal is 2": (
        "    move_planes = len(KINDS)\n",
        "    move_planes = len(KINDS)\n    most_legal = 2\n",
    ),
    "its values are 0 for an empty cell and 1 to 3 for its pieces": ('        Piece("k", 1, "king", "king"),\n', ""),
    "what a board does not show belongs into facts()": (
        'return "" if state.passed < 0 else Coordinates(*self.shape).text(state.passed)',
        'return ""',
    ),
    "setup() makes another position of the board": (
        "                state.passed = Coordinates(*self.shape).cell(word)",
        "                state.quiet = 0",
    ),
}


@pytest.mark.parametrize("message", BREAKS)
def test_a_mistake_is_told(message, tmp_path):
    problems = problems_of(tmp_path / "broken.py", BREAKS[message], example=KINGS_AND_PAWNS, size=6, games=30)
    assert any(message in problem for problem in problems), problems


def test_the_example_is_sound(tmp_path):
    assert problems_of(tmp_path / "sound.py", example=KINGS_AND_PAWNS) == []
