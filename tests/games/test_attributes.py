"""What a game's class says of itself shows in records, drawings, engines and pages: our games' and a user's alike."""

from pathlib import Path

import pytest

import tengen
from tengen.agents.gtp import new_game
from tengen.apps.gtp.engine import Engine
from tengen.apps.web.levels import LEVELS, levels_of
from tengen.apps.web.views import game_views, score_of, view_of
from tengen.games import class_of, file_names, offered_names, other_names, sgf_numbers
from tengen.records.record import Record
from tengen.records.sgf import read_sgf, write_sgf
from tengen.report.diagrams import draw_board
from tengen.rules.errors import GameFileError

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "breakthrough.py"
PLANES = '    planes = ("own pawns", "opponent\'s pawns", "first player to move")\n'
ATTRIBUTES = """
    title = "Break through!"
    drawing = "discs"
    scoring = "discs"
    row_length = 2
    sgf_number = 99
    gtp_name = "Breakthrough"
    gomocup_rule = 7
    levels = ("random", "uct:playouts=5", "uct:playouts=10", "uct:playouts=20", "uct:time=1")

    def sgf_properties(self):
        return {"RU": "plain"}

"""


def game_with(path, attributes):
    """The example with more attributes, on a board of 5×5."""
    text = EXAMPLE.read_text()
    assert text.count(PLANES) == 1
    path.write_text(text.replace(PLANES, PLANES + attributes))
    return tengen.load_game(f"{path}:size=5")


@pytest.fixture
def own(tmp_path):
    return game_with(tmp_path / "my_race.py", ATTRIBUTES)


def test_a_file_says_what_its_game_is_called_and_looks_like(own):
    view = view_of(own.from_moves("a2a3 e4e3"))
    assert own.title == "Break through!"
    assert view.drawing == "discs"
    assert 'class="board discs"' in draw_board(own.start())
    assert view.score == (10, 10)
    assert view_of(own.start().play("a2a3")).line == []


def test_a_file_that_says_nothing(tmp_path):
    game = game_with(tmp_path / "my_race.py", "")
    assert (game.title, game.drawing, game.row_length, game.scoring) == ("My race", "cells", None, None)
    assert (game.sgf_number, game.sgf_properties()) == (0, {})
    assert (game.gtp_name, game.gtp_passes, game.gomocup_rule) == (None, True, None)
    assert view_of(game.start()).drawing == "cells"
    assert 'class="board cells"' in draw_board(game.start())
    assert score_of(game.start()) is None
    assert [level.spec for level in levels_of(game)][:2] == ["uct:playouts=25", "uct:playouts=100"]


def test_a_row_of_a_users_game_is_marked(own):
    """The last pawn of White is captured, and two of Black's stand in line."""
    won = own.from_board("....O/...XX/...../...../.....", "X").play("d4e5")
    assert view_of(won).line == [4, 9]


def test_a_file_says_how_sgf_knows_its_game(own):
    text = write_sgf(Record.of(own.from_moves("a2a3 e4e3")))
    assert "GM[99]" in text and "RU[plain]" in text
    assert read_sgf(text, own)[0].end().board.tolist() == own.from_moves("a2a3 e4e3").board.tolist()


def test_a_file_names_its_opponents(own):
    assert [level.spec for level in levels_of(own)] == list(own.parameters.levels)
    assert [level.name for level in levels_of(own)] == list(LEVELS)


def test_a_file_says_how_gtp_calls_its_game(own):
    assert new_game(own) == ["boardsize 5", "clear_board"]
    assert Engine(own, "random").answer("gogui-rules_game_id") == "= Breakthrough\n\n"


def test_a_parameter_of_that_name_is_no_attribute(tmp_path):
    text, size = EXAMPLE.read_text(), "    size: Annotated[int, Between(4, 8)] = 8\n"
    assert text.count(size) == 1
    path = tmp_path / "my_climb.py"
    path.write_text(text.replace(size, size + "    levels: Annotated[int, Between(1, 9)] = 3\n"))
    game = tengen.load_game(f"{path}:levels=4")
    assert (game.parameters.levels, game.levels) == (4, None)


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ('drawing = "line"', "drawing is 'line'; it is one of lines, discs, holes, marks, cells"),
        ('scoring = "points"', "scoring is 'points'; it is one of area, discs"),
        ('levels = ("random", "uct")', "levels has 2 agents; it has 5, beginner to strongest"),
        ('scoring = "area"', "scoring is 'area', so its actions must be its cells and a pass"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, attribute, message):
    with pytest.raises(GameFileError, match=message):
        game_with(tmp_path / "my_race.py", f"    {attribute}\n")


def test_titles_of_our_games():
    assert {name: tengen.load_game(name).title for name in offered_names()} == {
        "tictactoe": "Tic-tac-toe",
        "connect4": "Connect four",
        "gomoku": "Gomoku",
        "renju": "Renju",
        "reversi": "Reversi",
        "draughts": "Draughts",
        "international": "International draughts",
        "hex": "Hex",
        "go": "Go",
        "chess": "Chess",
        "breakthrough": "Breakthrough",
        "mnk": "m,n,k",
    }
    assert tengen.load_game("gomoku:size=8,rule=renju").title == "Gomoku"
    assert set(offered_names()) <= {*file_names(), *other_names()}


def test_sizes_that_a_form_suggests():
    sizes = {view.name: view.usual_sizes for view in game_views(levels_of)}
    assert (sizes["go"], sizes["reversi"], sizes["renju"]) == ([9, 13, 19], [4, 6, 8], [15])
    assert sizes["gomoku"] == [9, 11, 13, 15, 19]
    assert sizes["tictactoe"] == sizes["connect4"] == []


def test_numbers_and_rules_of_our_games():
    assert sgf_numbers() == {1: "go", 2: "reversi", 4: "gomoku", 11: "hex"}
    rules = {rule: tengen.load_game(f"gomoku:rule={rule}").gomocup_rule for rule in ("freestyle", "standard", "renju")}
    assert rules == {"freestyle": 0, "standard": 1, "renju": 4}
    assert {name for name in file_names() if hasattr(class_of(name), "gtp_name")} == {"go", "hex", "reversi"}
    assert new_game(tengen.load_game("go:size=9,handicap=2")) == [
        "boardsize 9",
        "clear_board",
        "komi 7.5",
        "fixed_handicap 2",
    ]
