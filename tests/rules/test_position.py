"""Positions: what they say, and what is said of a wrong move, diagram or parameter."""

import copy
import pickle
import random
from pathlib import Path

import numpy as np
import pytest

import tengen
from tengen.rules.board import OneOf
from tengen.rules.errors import BadDiagram, BadMove, BadParameter, GameFileError, IllegalMove, UnknownGame

EXAMPLE = str(Path(__file__).parent.parent.parent / "examples" / "breakthrough.py")


def test_a_game_of_tictactoe():
    start = tengen.load_game("tictactoe").start()
    assert start.legal_actions == list(range(9))
    end = start.play("b2").play("a1").play("c3").play("b1").play(0).play("c1")
    assert end.outcome.winner == 1
    assert end.outcome.value_for(1) == 1
    assert end.outcome.value_for(0) == -1
    assert end.legal_actions == []
    assert end.diagram() == "X.X/.X./OOO"
    assert str(end) == " 3 X  .  X\n 2 .  X  .\n 1 O  O (O)\n   a  b  c"
    assert start.diagram() == ".../.../..."


def test_undo_and_moves():
    game = tengen.load_game("gomoku:size=9")
    position = game.from_moves("e5d5 E4,f6")
    assert [game.action_text(action) for action in position.moves] == ["e5", "d5", "e4", "f6"]
    assert position.undo().moves == position.moves[:3]
    with pytest.raises(IllegalMove, match="there is no move to take back"):
        game.start().undo()


def test_equality_is_of_boards():
    game = tengen.load_game("gomoku:size=9")
    one, other = game.from_moves("a1 b2 c3"), game.from_moves("c3 b2 a1")
    assert one == other
    assert hash(one) == hash(other)
    assert one != game.from_moves("a1 c3 b2")
    assert one != tengen.load_game("gomoku:size=10").from_moves("a1 b2 c3")


def test_games_travel_by_their_spec():
    game = tengen.load_game("gomoku:size=9,rule=renju")
    assert game.spec == "gomoku:size=9,rule=renju"
    assert pickle.loads(pickle.dumps(game)) == game
    assert tengen.load_game("tictactoe").spec == "tictactoe"
    assert tengen.load_game("tictactoe") == tengen.load_game("mnk:m=3,n=3,k=3")
    assert tengen.load_game("renju:size=9").spec == "renju:size=9"
    assert pickle.loads(pickle.dumps(tengen.load_game("renju:size=9"))) == game
    assert tengen.load_game("go:size=9,komi=5.5").spec == "go:size=9,komi=5.5"


def test_encode():
    """The paper's four planes: own stones, the opponent's, the last move, the colour to play."""
    planes = tengen.load_game("gomoku:size=8").from_moves("a8 b8 c8").encode()
    assert planes.shape == (4, 8, 8)
    assert np.argwhere(planes[0]).tolist() == [[0, 1]]
    assert np.argwhere(planes[1]).tolist() == [[0, 0], [0, 2]]
    assert np.argwhere(planes[2]).tolist() == [[0, 2]]
    assert not planes[3].any()


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "gomoku", "reversi", "go:size=5", EXAMPLE])
def test_positions_never_change(spec):
    position = tengen.load_game(spec).start()
    before = position.diagram(), position.legal_actions
    position.board[:] = 1
    position.states[:] = 0
    position.legal_actions.clear()
    for name in ("ply", "outcome", "previous", "anything"):
        with pytest.raises(AttributeError, match="a position never changes"):
            setattr(position, name, None)
    assert (position.diagram(), position.legal_actions) == before


def test_long_games_travel():
    game = tengen.load_game("go:size=9,komi=6.1234567")
    position, rng = game.start(), random.Random(2)
    while position.ply < 400:
        points = [action for action in position.legal_actions if action < 81]
        position = position.play(rng.choice(points or position.legal_actions))
    for again in (pickle.loads(pickle.dumps(position)), copy.deepcopy(position)):
        assert again == position
        assert again.moves == position.moves
        assert again.forbidden() == position.forbidden()
    from_diagram = tengen.load_game("tictactoe").from_board("X../.O./...").play("c1")
    assert pickle.loads(pickle.dumps(from_diagram)).diagram() == "X../.O./..X"


def test_states_are_copies():
    position = tengen.load_game("tictactoe").start()
    position.state.to_play = 1
    position.states[0].ply = 5
    assert position.to_play == 0
    assert position.state.ply == 0


MISTAKES = [
    ("tictactoe", "b2 b2", IllegalMove, "b2 is occupied at move 2"),
    ("tictactoe", "d1", BadMove, "d1 is off the board; its columns are a to c, its rows 1 to 3"),
    ("tictactoe", "hello", BadMove, "'hello' is not a move; write one as a3"),
    ("tictactoe", "a1 a2 b1 b2 c1 c2", IllegalMove, "the game is over (won by X): c2 cannot be played at move 6"),
    ("connect4", "1111112", None, ""),
    ("connect4", "1111111", IllegalMove, "1 is full at move 7"),
    ("connect4", "9", BadMove, "'9' is not a column; they are 1 to 7"),
    ("reversi", "a1", IllegalMove, "a1 flips nothing at move 1"),
    ("reversi", "d4", IllegalMove, "d4 is occupied at move 1"),
    ("reversi", "pass", IllegalMove, "pass is not allowed while a move flips something at move 1"),
    ("go:size=9", "i5", BadMove, "i5 is off the board; its columns are a to j without i, its rows 1 to 9"),
]


@pytest.mark.parametrize(("spec", "moves", "error", "message"), MISTAKES)
def test_wrong_moves(spec, moves, error, message):
    game = tengen.load_game(spec)
    if error is None:
        game.from_moves(moves)
        return
    with pytest.raises(error) as caught:
        game.from_moves(moves)
    assert str(caught.value) == message


def test_wrong_numbers_and_sides():
    start = tengen.load_game("gomoku").start()
    for wrong in (True, 3.7, None, b"a1"):
        with pytest.raises(BadMove, match="is not a move; give an action's number or its text"):
            start.play(wrong)
    assert start.play(np.int64(3)).moves == [3]
    with pytest.raises(BadMove, match="action 225 does not exist; gomoku has actions 0 to 224"):
        start.play(225)
    with pytest.raises(IllegalMove, match="it is Black's turn at move 1"):
        start.play("h8", player="white")
    with pytest.raises(BadMove, match="'green' is no player; they are Black"):
        start.play("h8", player="green")
    assert start.play("h8", player="b").to_play == 1


DIAGRAMS = [
    ("tictactoe", "../.../...", None, "row 1 from the top, '..', has 2 columns; this board has 3"),
    ("tictactoe", ".../...", None, "the diagram has 2 rows; this board has 3"),
    ("tictactoe", "..?/.../...", None, "row 1 from the top, '..?', has '?'; use X, O and ."),
    ("chess", "/", None, "the diagram has 2 rows; this board has 8"),
    ("tictactoe", "XXX/OOO/...", "X", "X has won already, and so cannot be to play"),
    ("tictactoe", "XXX/OO./O..", "X", "X has won already, and so cannot be to play"),
    ("gomoku:size=5", "XXXXX/OOOOO/...../...../.....", "X", "X has won already, and so cannot be to play"),
    ("tictactoe", "XX./.../...", "X", "X has 2 stones and O 0: with X to play, X needs as many as O"),
    ("connect4", "......./......./......./......./X....../.O.....", "X", "column 1, row 5 from the top, floats"),
]


@pytest.mark.parametrize(("spec", "text", "to_play", "message"), DIAGRAMS)
def test_wrong_diagrams(spec, text, to_play, message):
    with pytest.raises(BadDiagram) as caught:
        tengen.load_game(spec).from_board(text, to_play)
    assert message in str(caught.value)


def test_diagrams_that_are_over():
    assert tengen.load_game("tictactoe").from_board("XXX/OO./...", "O").outcome.winner == 0
    assert tengen.load_game("tictactoe").from_board("XOX/XOO/OXX").outcome.winner is None


SPECS = [
    ("gomku", UnknownGame, "no game is called 'gomku'; did you mean 'gomoku'?"),
    ("tictacto", UnknownGame, "no game is called 'tictacto'; did you mean 'tictactoe'?"),
    ("./nothing.py", UnknownGame, "there is no file nothing.py"),
    ("gomoku:sise=8", BadParameter, "unknown parameter 'sise'; did you mean 'size'?"),
    ("gomoku:size=21", BadParameter, "size=21 is out of range: size is 5 to 20"),
    ("gomoku:size=big", BadParameter, "size=big is not a whole number"),
    ("gomoku:rule=renjo", BadParameter, "rule=renjo is unknown; did you mean 'renju'?"),
    ("gomoku:size", BadParameter, "'size' is not a parameter; write name=value"),
    ("gomoku:size=8.5", BadParameter, "size=8.5 is not a whole number"),
    ("go:komi=nan", BadParameter, "komi=nan is not a number"),
    ("go:komi=inf", BadParameter, "komi=inf is out of range"),
    ("gomoku:size=8,size=9", BadParameter, "size is given twice"),
    ("go:size=5,handicap=2", BadParameter, "handicap=2: a 5×5 board takes no handicap stones"),
    ("/tmp", UnknownGame, "a file's name ends in .py"),
    ("reversi:size=5", BadParameter, "size=5 is odd; Reversi boards are 4, 6 or 8 wide"),
    ("tictactoe:m=4", BadParameter, "m cannot be changed; use mnk:"),
]


@pytest.mark.parametrize(("spec", "error", "message"), SPECS)
def test_wrong_specs(spec, error, message):
    with pytest.raises(error) as caught:
        tengen.load_game(spec)
    assert message in str(caught.value)


def test_a_choice_of_kind_str_is_the_name_and_of_kind_int_its_number():
    kind = OneOf("dense", "local")
    assert kind.read("heads", "local", str) == "local"
    assert kind.read("heads", "local", int) == kind.read("heads", 1, int) == 1
    with pytest.raises(BadParameter, match="heads=1 is unknown"):
        kind.read("heads", 1, str)


HEAD = """
from typing import NamedTuple
from tengen.rules.contract import rules

class G(NamedTuple):
    size: int = 3
    def record(self): ...

"""
FILES = [
    ("import nothing_like_it", "does not run: ModuleNotFoundError"),
    ("x = 1", "has no NamedTuple with a record()"),
    (HEAD.replace("size: int = 3", "size: int"), "parameter 'size' of G has no default; give it one"),
    (
        HEAD.replace("size: int = 3", "flag: bool = False"),
        "parameter 'flag' of G is a bool; kernels take int and float",
    ),
    ("import sys\nsys.exit(3)", "does not run: SystemExit: 3 (line 2)"),
    (
        HEAD,
        "class G has no 'shape'",
    ),
    (
        HEAD + "@rules(G)\ndef plai(game, state, action): ...\n",
        "G answers an unknown rule 'plai'; did you mean 'play'?",
    ),
    (
        HEAD + "@rules(G)\ndef play(game, action): ...\n",
        "G.play takes (game, action); the contract says (game, state, action)",
    ),
]


@pytest.mark.parametrize(("text", "message"), FILES)
def test_wrong_files(tmp_path, text, message):
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(GameFileError) as caught:
        tengen.load_game(str(path))
    assert message in str(caught.value)


def test_the_last_stone_is_marked_where_it_lies():
    def marked(spec, moves):
        return [line for line in str(tengen.load_game(spec).from_moves(moves)).splitlines() if "(" in line]

    assert marked("connect4", "4 4 3") == [" 1 .  . (X) X  .  .  ."]  # an action is a column there
    assert marked("go:size=3", "b2") == [" 2 . (X) ."]
    assert marked("go:size=3", "b2 pass") == []
