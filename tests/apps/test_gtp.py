"""The GTP engine: every command, lines that nobody should send, and whole games with other people's programs."""

import importlib.util
import io
import os
import queue
import random
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from processes import await_so

from tengen import load_agent, load_game
from tengen.apps.gtp import conversation
from tengen.apps.gtp.clock import BYOYOMI, CANADIAN, GameClock
from tengen.apps.gtp.conversation import Resignation
from tengen.apps.gtp.engine import Engine, serve
from tengen.apps.gtp.words import COMMANDS, LONGEST_LINE, read_lines
from tengen.apps.timing import LATE
from tengen.records.sgf import read_sgf
from tengen.search.limits import Decision, Limit

ROOT = Path(__file__).parent.parent.parent
REFEREE = str(ROOT / "bench" / "referee.py")
ONE_REPLY = re.compile(r"[=?][0-9]*([ \n][^\n]+)?(\n[^\n]+)*\n\n")


def engine(spec="go:size=5", agent="random", **options):
    return Engine(load_game(spec), agent, **options)


def good(engine, line):
    """The text of a reply that must be good."""
    reply = engine.answer(line)
    assert reply.startswith("="), (line, reply)
    assert ONE_REPLY.fullmatch(reply), (line, reply)
    return reply[1:].strip()


def refused(engine, line):
    """The text of a reply that must not be good."""
    reply = engine.answer(line)
    assert reply.startswith("? "), (line, reply)
    assert ONE_REPLY.fullmatch(reply), (line, reply)
    return reply[2:].strip()


def told(engine, *lines):
    """The reply to the last of several lines that must all be good."""
    return [good(engine, line) for line in lines][-1]


# Lines and replies.


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ("name\n", "= Tengen\n\n"),
        ("name\r\n", "= Tengen\n\n"),
        ("7 name", "=7 Tengen\n\n"),
        ("  007\tname  # who are you?", "=007 Tengen\n\n"),
        ("na\x07me\x7f", "= Tengen\n\n"),
        ("", ""),
        ("   \t \r\n", ""),
        ("# only a comment", ""),
        ("quit", "=\n\n"),
        ("9 quit", "=9\n\n"),
        ("protocol_version", "= 2\n\n"),
        ("NAME", "? unknown command\n\n"),
        ("12 nonsense 3", "?12 unknown command\n\n"),
        ("12", "?12 syntax error: a command must follow the id\n\n"),
        ("name please", "? syntax error: name takes 0 arguments, not 1\n\n"),
        ("known_command genmove", "= true\n\n"),
        ("known_command fly", "= false\n\n"),
    ],
)
def test_lines(line, reply):
    assert engine().answer(line) == reply


def test_all_that_a_controller_uses_is_there():
    wanted = """protocol_version name version known_command list_commands quit boardsize clear_board komi play undo
        cputime genmove reg_genmove time_settings time_left kgs-time_settings kgs-rules fixed_handicap
        place_free_handicap
        set_free_handicap final_score final_status_list loadsgf printsgf showboard lz-analyze kata-analyze analyze
        lz-genmove_analyze kata-genmove_analyze gogui-rules_game_id gogui-rules_board gogui-rules_board_size
        gogui-rules_legal_moves gogui-rules_side_to_move gogui-rules_final_result set_game list_games"""
    assert set(wanted.split()) <= set(good(engine(), "list_commands").split())


def test_lines_that_do_not_end_are_cut():
    lines = list(read_lines(io.BytesIO(b"name\n" + b"play b a1 " * LONGEST_LINE + b"\nversion\n")))
    assert [line.strip() for line in (lines[0], lines[2])] == ["name", "version"]
    assert len(lines) == 3
    assert len(lines[1]) < 2 * LONGEST_LINE
    assert refused(engine(), lines[1]).startswith("syntax error")


def test_what_goes_wrong_inside_is_said_and_survived(capsys):
    talk = engine()
    talk.session.agent.choose = lambda position, limit: 1 // 0
    assert refused(talk, "genmove b") == "internal error: ZeroDivisionError: integer division or modulo by zero"
    assert "Traceback" in capsys.readouterr().err
    assert good(talk, "name") == "Tengen"


# Boards and moves.


def test_vertices_of_go_skip_i_and_count_from_the_bottom():
    talk = engine("go:size=9")
    told(talk, "play b J1", "play white a9")
    assert talk.session.position.board[8, 8] == 1
    assert talk.session.position.board[0, 0] == 2
    assert good(talk, "showboard").splitlines()[-2].strip() == "A  B  C  D  E  F  G  H  J"
    assert refused(talk, "play b i5").startswith("syntax error")


def test_gomoku_has_the_vertices_of_go():
    talk = engine("gomoku:size=15")
    told(talk, "play b J8")
    assert np.argwhere(talk.session.position.board == 1).tolist() == [[7, 8]]
    assert good(talk, "gogui-rules_game_id") == "Gomoku"


def test_reversi_counts_rows_from_the_top():
    talk = engine("reversi")
    assert good(talk, "gogui-rules_legal_moves") == "D3 C4 F5 E6"
    told(talk, "play b D3")
    assert talk.session.position.board[2, 3] == 1
    assert good(talk, "gogui-rules_board").splitlines()[5] == ". . . X . . . ."  # GoGui's row 3 is the third from below


def test_stones_of_connect_four_are_named_by_where_they_land():
    talk = engine("connect4")
    assert good(talk, "gogui-rules_legal_moves") == "A1 B1 C1 D1 E1 F1 G1"
    told(talk, "play b D1", "play w D2", "play b 4")
    assert good(talk, "list_stones b") == "D3 D1"
    assert refused(talk, "play w D3").startswith("syntax error")
    assert good(talk, "gogui-rules_board_size") == "7"
    assert len(good(talk, "gogui-rules_board").splitlines()) == 7
    assert re.fullmatch(r"[A-G]\d", good(talk, "genmove w"))


def test_a_game_of_ones_own():
    talk = engine(str(ROOT / "examples" / "breakthrough.py") + ":size=5")
    told(talk, "play b a2a3")
    assert re.fullmatch(r"[a-e][1-5][a-e][1-5]", good(talk, "genmove w"))


def test_illegal_moves_say_why():
    talk = engine()
    told(talk, "play b c3")
    assert refused(talk, "play w c3") == "illegal move: c3 is occupied at move 2"
    assert refused(talk, "play w q9").startswith("syntax error: q9 is off the board")
    assert refused(talk, "play green c4").startswith("syntax error: 'green' is no colour")
    assert refused(talk, "play w").startswith("syntax error")
    assert refused(engine("gomoku:size=9"), "play b pass") == "illegal move: there is no pass in gomoku"


def test_a_colour_may_play_twice_in_go():
    talk = engine()
    told(talk, "play b a1", "play b b1", "play w pass", "play w e5", "play b pass", "play b d1")
    assert good(talk, "list_stones b") == "A1 B1 D1"
    assert good(talk, "list_stones w") == "E5"
    assert not talk.session.is_over
    assert good(talk, "gogui-rules_side_to_move") == "white"


def test_play_goes_on_after_two_passes():
    talk = engine()
    told(talk, "play b a1", "play w pass", "play b pass")
    assert talk.session.is_over
    assert good(talk, "genmove w") == "pass"
    told(talk, "play w e5")
    assert not talk.session.is_over
    told(talk, "undo", "play b pass", "play w pass", "play b e5", "undo", "undo", "undo", "undo", "undo")
    assert good(talk, "list_stones b") == "A1"
    told(talk, "undo", "undo")
    assert refused(talk, "undo").startswith("cannot undo")
    assert good(talk, "list_stones b") == ""


def test_other_games_keep_their_turns():
    talk = engine("gomoku:size=9")
    told(talk, "play b e5")
    assert refused(talk, "play b e6").startswith("illegal move: it is White's turn")
    assert refused(talk, "genmove b").startswith("it is White's turn")


def reversi_with_a_forced_pass():
    """Moves that lead to a position of 4×4 Reversi in which a pass is the only action."""
    game, chance = load_game("reversi:size=4"), random.Random(1)
    while True:
        position = game.start()
        while position.outcome is None:
            if position.legal_actions == [game.cells]:
                return position
            position = position.play(chance.choice(position.legal_actions))


def test_reversi_is_played_without_passes():
    before = reversi_with_a_forced_pass()
    skipped, mover = "bw"[before.to_play], "bw"[1 - before.to_play]
    vertices = [before.game.action_text(action) for action in before.moves]
    for last in (f"genmove {mover}", f"play {mover} {{}}", f"reg_genmove {mover}"):
        talk = engine("reversi:size=4")
        for ply, vertex in enumerate(vertices):
            good(talk, f"play {'bw'[ply % 2]} {vertex}")
        told(talk, last.format(before.game.action_text(before.play(before.game.cells).legal_actions[0])))
        if not last.startswith("reg"):
            good(talk, "undo")
        assert good(talk, f"genmove {skipped}") == "pass"  # who asks is answered


def test_sequences_are_played_as_a_whole_or_not_at_all():
    talk = engine()
    told(talk, "gogui-play_sequence b a1 w b1 b c1")
    refused(talk, "gogui-play_sequence w d1 b d1")
    assert talk.session.position.ply == 3
    told(talk, "gg-undo 3")
    assert talk.session.position.ply == 0
    refused(talk, "gg-undo 1")
    refused(talk, "gogui-play_sequence w")


# Games, sizes, rules.


def test_sizes():
    talk = engine("go:size=9,komi=5.5")
    told(talk, "play b e5", "boardsize 7")
    assert talk.session.game.spec == "go:size=7,komi=5.5"
    assert good(talk, "list_stones b") == ""
    for size in ("0", "1", "20", "100", "99999999999999999999999999"):
        assert refused(talk, f"boardsize {size}").startswith("unacceptable size")
    for size in ("", "-5", "x", "9.5", "1e3", "٣"):
        assert refused(talk, f"boardsize {size}").startswith("syntax error")
    assert talk.session.game.spec == "go:size=7,komi=5.5"
    assert refused(engine("othello"), "boardsize 6").startswith("unacceptable size")
    told(engine("othello"), "boardsize 8")
    talk = engine("mnk:m=4,n=4,k=3")
    told(talk, "boardsize 5", "rectangular_boardsize 6 4")
    assert talk.session.game.shape == (4, 6)


def test_an_agent_that_cannot_play_a_size_refuses_it(monkeypatch):
    import tengen.apps.gtp.session as session
    from tengen.nets.metadata import NetError

    def only_nine(spec, game, **defaults):
        if game.spec != "go:size=9":
            raise NetError(f"this net is for go:size=9, not {game.spec}")
        return load_agent("random", game)

    monkeypatch.setattr(session, "load_agent", only_nine)
    talk = engine("go:size=9")
    assert refused(talk, "boardsize 7").startswith("unacceptable size: this net is for go:size=9")
    assert refused(talk, "komi 3").startswith("unacceptable komi: this net")
    assert refused(talk, "set_game gomoku").startswith("unsupported game: this net")
    assert good(talk, "komi 7.5") == ""
    assert talk.session.game.spec == "go:size=9"


def test_komi():
    talk = engine()
    told(talk, "play b c3", "play w b2", "komi 0.5")
    assert talk.session.position.ply == 2
    assert good(talk, "get_komi") == "0.5"
    told(talk, "undo", "undo")
    for komi in ("", "x", "nan", "inf", "1e999"):
        assert refused(talk, f"komi {komi}").startswith("syntax error")
    assert refused(talk, "komi 1000").startswith("unacceptable komi")
    assert good(engine("gomoku"), "komi 6.5") == ""  # controllers send it always


def test_games_can_be_chosen():
    talk = engine("tictactoe")
    names = good(talk, "list_games").split()
    assert {"Go", "Gomoku", "Othello", "Connect4", "Tictactoe"} <= set(names)
    for name in names:
        told(talk, f"set_game {name}", "showboard", "gogui-rules_legal_moves", "genmove b", "undo")
    assert refused(talk, "set_game Shogi").startswith("unsupported game: no game is called 'shogi'")
    assert refused(talk, "set_game ./evil.py").startswith("unsupported game")


def test_rules_of_go():
    talk = engine()
    told(talk, "kgs-rules chinese", "kgs-rules new_zealand")
    assert talk.session.game.parameters.suicide == 1
    assert refused(talk, "kgs-rules mine").startswith("unsupported rules")
    assert refused(engine("reversi"), "kgs-rules chinese").startswith("unsupported rules")


def test_a_game_is_counted_as_its_rules_have_it():
    """Black's wall beside the left edge, White's two on the right; one white stone was taken, and one is dead."""
    talk = engine("go:size=7,komi=0.5")
    for row in range(1, 8):
        told(talk, *(f"play b {column}{row}" for column in "bc"), *(f"play w {column}{row}" for column in "deg"))
    told(talk, "play w a1", "play b a2", "play w a6")
    assert good(talk, "final_status_list dead") == "A6"
    assert good(talk, "final_status_list seki") == ""
    assert good(talk, "final_status_list black_territory") == "A7 A5 A4 A3\nA1"
    for rules, score in (
        ("chinese", "W+7.5"),  # 15 stones and 6 points; 21 stones and 7 points
        ("aga", "W+7.5"),
        ("japanese", "B+0.5"),  # 6 points, a stone taken and one dead; 7 points
        ("korean", "B+0.5"),
    ):
        told(talk, f"kgs-rules {rules}")
        assert good(talk, "final_score") == score
    told(talk, "kgs-rules tromp-taylor")  # suicide is legal there, so the board is cleared
    assert good(talk, "list_stones b") == ""


def test_handicaps():
    talk = engine("go:size=9,komi=0.5")
    assert set(good(talk, "fixed_handicap 4").split()) == {"C3", "C7", "G3", "G7"}
    assert good(talk, "gogui-rules_side_to_move") == "white"
    assert refused(talk, "fixed_handicap 2") == "board not empty"
    assert good(talk, "final_score") == "B+76.5"  # 81 points, less komi and a point for each stone
    told(talk, "clear_board")
    assert good(talk, "list_stones b") == ""
    for bad in ("fixed_handicap 1", "fixed_handicap 10", "place_free_handicap 1", "place_free_handicap 81"):
        assert refused(talk, bad).startswith("invalid number of stones")
    told(talk, "set_free_handicap A1 J9 E5")
    assert sorted(good(talk, "list_stones b").split()) == ["A1", "E5", "J9"]
    assert good(talk, "gogui-rules_side_to_move") == "white"
    assert good(talk, "final_score") == "B+77.5"
    assert good(talk, "get_komi") == "0.5"
    told(talk, "komi 1.5")
    assert good(talk, "final_score") == "B+76.5"
    told(talk, "clear_board")
    assert len(good(talk, "place_free_handicap 20").split()) == 9
    told(talk, "clear_board")
    for bad in ("A1", "A1 A1", "A1 pass", "A1 Z9", ""):
        assert refused(talk, f"set_free_handicap {bad}").startswith("bad vertex list")
    told(talk, "play b e5")
    assert refused(talk, "set_free_handicap A1 B2") == "board not empty"
    assert refused(engine("reversi"), "fixed_handicap 2").startswith("invalid number of stones")


# The end of a game.


def test_scores():
    talk = engine("go:size=5,komi=0.5")
    assert good(talk, "final_score") == "W+0.5"
    told(talk, *(f"play b {column}3" for column in "abcde"), "play w a1")
    assert good(talk, "final_score") == "B+24.5"  # by agreement: the white stone cannot live
    assert good(talk, "final_status_list alive") == "A3 B3 C3 D3 E3"
    assert good(talk, "final_status_list dead") == "A1"
    assert good(talk, "final_status_list black_territory").startswith("A5 B5 C5 D5 E5 A4 B4 C4 D4 E4\nA2 B2")
    told(talk, "kgs-rules tromp-taylor", *(f"play b {column}3" for column in "abcde"), "play w a1")
    assert good(talk, "final_score") == "B+13.5"  # all stones are alive, and what is between both is nobody's
    assert good(talk, "final_status_list alive").splitlines() == ["A3 B3 C3 D3 E3", "A1"]
    assert good(talk, "final_status_list dead") == ""
    assert good(talk, "final_status_list dame").startswith("A2 B2")
    assert refused(talk, "final_status_list sleeping").startswith("syntax error")
    talk = engine("tictactoe")
    assert refused(talk, "final_score").startswith("cannot score")
    told(talk, "play b a1", "play w b1", "play b a2", "play w b2", "play b a3")
    assert good(talk, "final_score") == "B+1"
    assert good(talk, "gogui-rules_final_result") == "black wins"
    assert good(talk, "gogui-rules_legal_moves") == ""
    assert good(talk, "genmove w") == "resign"
    assert good(talk, "genmove b") == "pass"
    assert refused(talk, "play w c3").startswith("illegal move: the game is over")


def test_records(tmp_path):
    talk = engine("go:size=9")
    told(talk, "play b e5", "play w c3", "play b pass")
    text = good(talk, "printsgf")
    path = tmp_path / "a game.sgf"
    path.write_text(text)
    other = engine("reversi")
    told(other, f"loadsgf {path}")
    assert other.session.position == talk.session.position
    told(other, f"loadsgf {path} 2")
    assert other.session.position.ply == 1
    told(other, "undo")
    for bad in ("/dev/zero", "/", "nowhere.sgf", str(Path(__file__)), "\ufffd"):
        assert refused(other, f"loadsgf {bad}").startswith("cannot load file"), bad
    assert refused(other, "loadsgf").startswith("syntax error")
    assert refused(other, "printsgf over/there.sgf").startswith("syntax error")
    assert [record.moves for record in read_sgf(text)] == [tuple(talk.session.position.moves)]


def test_a_problem_is_opened_and_kept_with_its_marks(tmp_path):
    talk, path = engine("go:size=9"), tmp_path / "problem.sgf"
    path.write_text("(;GM[1]SZ[9]KM[375]RU[Japanese]EV[a cup]BR[2d]AB[aa:bb]AW[cc]PL[W];W[dd]BL[300]LB[dd:A];B[ee])")
    told(talk, f"loadsgf {path}")
    assert good(talk, "get_komi") == "7.5"
    assert talk.session.counting.name == "Japanese"
    assert sorted(good(talk, "list_stones b").split()) == ["A8", "A9", "B8", "B9", "E5"]
    assert good(talk, "gogui-rules_side_to_move") == "white"
    told(talk, "undo", "play b f6")
    text = good(talk, "printsgf")
    for kept in ("EV[a cup]", "BR[2d]", "RU[Japanese]", "PL[W]", "BL[300]", "LB[dd:A]", "KM[7.5]", "AW[cc]"):
        assert kept in text
    (record,) = read_sgf(text, with_setup=True)
    assert [record.game.action_text(action) for action in record.moves] == ["d6", "f6"]


def test_the_agent_resigns_when_it_was_told_to():
    talk = engine("mnk:m=4,n=4,k=4", resignation=Resignation(-0.9, 2))
    values = iter([-1.0, 0.0, -0.95, -0.95])
    talk.session.agent.choose = lambda position, limit: Decision(position.legal_actions[0], next(values))
    for reply in ("A4", "B4", "C4", "resign"):
        assert good(talk, "genmove b") == reply
        if reply != "resign":
            talk.session.position = talk.session.position.play(talk.session.position.legal_actions[-1])
    talk = engine("tictactoe")
    talk.session.agent.choose = lambda position, limit: Decision(position.legal_actions[0], -1.0)
    assert good(talk, "genmove b") == "A3"


# Time.


def asked_for(talk, colour="b"):
    """The time that the agent is given for a move, which it does not take."""
    limits = []

    def choose(position, limit):
        limits.append(limit)
        return Decision(position.legal_actions[0])

    talk.session.agent.choose = choose
    good(talk, f"reg_genmove {colour}")
    return limits[0].time


def test_clocks_of_the_protocol():
    talk = engine("gomoku:size=9")
    assert asked_for(talk) is None
    told(talk, "time_settings 60 0 0")
    assert 0.5 < asked_for(talk) < 10
    told(talk, "time_settings 0 10 0")
    assert asked_for(talk) is None  # overtime without stones: no limit, says the protocol
    told(talk, "time_settings 0 10 5")
    assert 1.5 < asked_for(talk) < 2
    told(talk, "time_left b 100 0")
    assert asked_for(talk) > 1.5
    told(talk, "time_left b 9 1")
    assert 8 < asked_for(talk) < 9
    told(talk, "kgs-time_settings byoyomi 0 30 3")
    assert 25 < asked_for(talk) < 30
    told(talk, "time_left b 20 2")
    assert 17 < asked_for(talk) < 20
    told(talk, "kgs-time_settings canadian 0 30 10")
    assert 2 < asked_for(talk) < 3
    told(talk, "kgs-time_settings absolute 0.001")
    assert 0 < asked_for(talk) < 0.1
    told(talk, "kgs-time_settings none")
    assert asked_for(talk) is None
    told(talk, "time_left b 5 0")
    assert asked_for(talk) is None  # there is no clock, it was said
    told(talk, "time_settings 1e18 1e18 999999999999999999999", "time_left b -3 0", "time_settings 0 0 0")
    assert 0 < asked_for(talk) < 0.01
    for bad in (
        "time_settings",
        "time_settings 1 2",
        "time_settings x 0 0",
        "time_settings -1 0 0",
        "time_settings nan 0 0",
    ):
        assert refused(talk, bad).startswith("syntax error")
    for bad in (
        "time_left",
        "time_left x 1 0",
        "time_left b inf 0",
        "kgs-time_settings",
        "kgs-time_settings byoyomi 1",
    ):
        assert refused(talk, bad).startswith("syntax error")


def test_clocks_run_by_themselves():
    clock, position = GameClock(), load_game("gomoku:size=9").start()
    clock.set(CANADIAN, 10, 30, 3)
    clock.spend(0, 12)
    assert (clock.sides[0].left, clock.sides[0].count) == (28, 2)
    clock.spend(0, 16)
    assert (clock.sides[0].left, clock.sides[0].count) == (12, 1)
    assert 10 < clock.seconds(position) < 12
    clock.spend(0, 8)
    assert (clock.sides[0].left, clock.sides[0].count) == (30, 3)
    assert (clock.sides[1].left, clock.sides[1].count) == (10, 0)
    clock.set(BYOYOMI, 0, 5, 2)
    clock.spend(0, 4)
    assert (clock.sides[0].left, clock.sides[0].count) == (5, 2)
    clock.spend(0, 6)
    assert (clock.sides[0].left, clock.sides[0].count) == (5, 1)
    clock.restart()
    assert (clock.sides[0].left, clock.sides[0].count) == (5, 2)


# Thinking aloud.


class Pipes:
    """An engine that is served over pipes, in this process."""

    def __init__(self, talk):
        inward, self.inward = os.pipe()
        self.heard = queue.SimpleQueue()
        source = os.fdopen(inward, "rb")
        self.thread = threading.Thread(target=serve, args=(talk, source, self), daemon=True)
        self.thread.start()

    def say(self, line):
        os.write(self.inward, line.encode() + b"\n")

    def write(self, text):
        self.heard.put(text)

    def flush(self):
        pass

    def hear(self):
        return self.heard.get(timeout=60)


LEELA = re.compile(
    r"(info move \S+ visits \d+ winrate \d+ prior \d+ lcb \d+ order \d+ pv( [A-Za-z]\w+| pass)+ ?)+"
    r"( ownership( -?\d\.\d+){25})?\n"
)
RATE = r"[01]\.\d+"
LEAD = r"-?\d+\.\d+"
POINTS = rf" scoreMean {LEAD} scoreStdev {LEAD} scoreLead {LEAD} scoreSelfplay {LEAD}"
KATA = re.compile(
    rf"(info move \S+ visits \d+ utility -?{RATE} winrate {RATE}({POINTS})? prior {RATE} lcb {RATE} order \d+"
    rf" pv( [A-Za-z]\w+| pass)+ ?)+( ownership( {LEAD}){{25}})?\n"
)


@pytest.mark.parametrize(("command", "pattern"), [("lz-analyze", LEELA), ("kata-analyze", KATA), ("analyze", LEELA)])
@pytest.mark.parametrize("spec", ["go:size=5 uct:threads=1", "reversi alphabeta", "connect4 uct:threads=1"])
def test_an_analysis_streams_until_the_next_command(spec, command, pattern):
    pipes = Pipes(engine(*spec.split()))
    pipes.say(f"5 {command} b interval 1 maxmoves 3 ownership true")
    assert pipes.hear() == "=5\n"
    visits = []
    for _ in range(3):
        line = pipes.hear()
        assert pattern.fullmatch(line), line
        assert line.count("info") <= 3
        assert ("ownership" in line) == spec.startswith("go")
        assert ("scoreLead" in line) == (spec.startswith("go") and command == "kata-analyze")
        visits.append(int(re.search(r"visits (\d+)", line)[1]))
    assert "uct" not in spec or visits[0] < visits[2]
    pipes.say("6 name")
    rest = pipes.hear()
    while rest != "\n":
        assert pattern.fullmatch(rest), rest
        rest = pipes.hear()
    assert pipes.hear() == "=6 Tengen\n\n"
    pipes.say("quit")
    assert pipes.hear() == "=\n\n"
    pipes.thread.join(60)
    assert not pipes.thread.is_alive()


def test_an_analysis_of_what_is_proven_waits_for_the_next_line():
    pipes = Pipes(engine("tictactoe", "uct"))
    for move in ("b a1", "w b1", "b a2", "w b2"):
        pipes.say(f"play {move}")
        assert pipes.hear() == "=\n\n"
    pipes.say("lz-analyze 1")
    assert pipes.hear() == "=\n"
    assert "info move A3" in pipes.hear()
    pipes.say("")  # an empty line is enough
    while (line := pipes.hear()) != "\n":
        assert "info move A3" in line


def test_moves_that_are_told_while_they_are_found():
    for command in ("lz-genmove_analyze b 1", "kata-genmove_analyze b interval 1", "genmove_analyze b"):
        for agent in ("uct:time=0.05,threads=1", "uct:playouts=50", "alphabeta:depth=2", "random"):
            talk = engine("go:size=5", agent)
            lines = good(talk, command).splitlines()
            assert len(lines) > 1
            assert all(line.startswith("info move ") for line in lines[:-1])
            assert re.fullmatch(r"play ([A-E][1-5]|pass)", lines[-1])
            assert talk.session.position.ply == 1
    assert refused(engine(), "lz-analyze fly").startswith("syntax error")
    assert refused(engine(), "lz-analyze interval").startswith("syntax error")
    talk = engine()
    told(talk, "play b pass", "play w pass")
    assert refused(talk, "lz-analyze").startswith("the game is over")


def test_pondering_ends_with_the_next_line_and_pays():
    talk = engine("reversi", "uct:time=0.02,threads=1", ponders=True)
    pipes = Pipes(talk)
    pipes.say("genmove b")
    assert pipes.hear() == "= " + pipes_vertex(talk) + "\n\n"
    session = talk.session
    trees = session.agent.search.trees
    await_so(lambda: trees and trees[0].position is session.position)  # it thinks for the opponent
    pipes.say("name")
    assert pipes.hear() == "= Tengen\n\n"
    pipes.say("quit")
    assert pipes.hear() == "=\n\n"


def pipes_vertex(talk):
    """The move that was played last, once it is."""
    await_so(lambda: talk.session.position.ply == 1)
    return talk.session.position.game.action_text(talk.session.position.action).upper()


# Lines that nobody should send.

SOME = """b w black WHITE pass a1 E5 j9 z99 resign 0 1 9 19 -1 1e9 nan inf chinese go gomoku:size=7 alive interval
    maxmoves avoid # 12 …"""
WORDS = [*COMMANDS, "9" * 400, *SOME.split()]
LINES = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join),
    st.builds(lambda name, rest: f"{name} {rest}", st.sampled_from(sorted(COMMANDS)), st.text(max_size=12)),
    st.text(max_size=40),
    st.binary(max_size=60).map(lambda raw: raw.decode(errors="replace")),
)


class Fuzzed:
    """One engine that hears everything; it never quits, and an analysis ends at once."""

    def __init__(self):
        self.talk = engine("go:size=5", "random")
        self.talk.interrupt.set()

    def hear(self, line):
        for single in line.split("\n"):
            reply = self.talk.answer(single)
            assert reply == "" or ONE_REPLY.fullmatch(reply), (single, reply)
            assert "internal error" not in reply, (single, reply)
        if len(self.talk.session.history) > 300:
            self.talk.answer("clear_board")


FUZZED = []


def fuzzed():
    if not FUZZED:
        FUZZED.append(Fuzzed())
    return FUZZED[0]


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(LINES, min_size=10, max_size=10))
def test_any_lines_have_proper_replies(lines):
    for line in lines:
        fuzzed().hear(line)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b" ")), min_size=1, max_size=20))
def test_any_bytes_are_answered_line_by_line(lines):
    talk, sink = fuzzed().talk, io.StringIO()
    talk.is_done = False  # some line before may have been quit
    serve(talk, io.BytesIO(b"\n".join([*lines, b"99 name", b""])), sink)
    *replies, last = sink.getvalue().removesuffix("\n\n").split("\n\n")
    assert last == "=99 Tengen"
    assert len(replies) <= len(lines)
    assert all(reply[0] in "=?" for reply in replies)
    talk.interrupt.set()


@pytest.mark.long
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(LINES, min_size=10, max_size=10))
def test_a_hundred_thousand_lines_have_proper_replies(lines):
    for line in lines:
        fuzzed().hear(line)


# Processes.


def tengen(*arguments, text):
    return subprocess.run(
        [sys.executable, "-m", "tengen", "gtp", *arguments], input=text, capture_output=True, timeout=300
    )


def test_a_process_writes_nothing_but_replies():
    lines = b"1 name\r\n\xff\xfe\x00garbage\r\n2 showboard\n3 genmove b\n4 lz-analyze 1\n5 quit\n6 name\n"
    result = tengen("go:size=5", "uct:playouts=20", text=lines)
    assert result.returncode == 0, result.stderr
    replies = result.stdout.decode().split("\n\n")[:-1]
    assert [reply.split()[0] for reply in replies] == ["=1", "?", "=2", "=3", "=4", "=5"]


def test_a_process_ends_with_its_input_and_compiles_in_silence(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-m", "tengen", "gtp", "tictactoe", "random"],
        input=b"genmove b",
        capture_output=True,
        timeout=300,
        env=environment,
    )
    assert result.returncode == 0
    assert re.fullmatch(rb"= [ABC][123]\n\n", result.stdout)


@pytest.mark.parametrize(
    ("line", "end"), [("genmove b", "quit"), ("lz-genmove_analyze b 6000", "input"), ("reg_genmove b", "output")]
)
def test_no_search_outlives_the_conversation(line, end):
    """By its own limit it would go on for an hour."""
    command, pipe = [sys.executable, "-m", "tengen", "gtp", "go:size=5", "uct:time=3600"], subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
    try:
        process.stdin.write(f"name\n{line}\n".encode())
        process.stdin.flush()
        assert process.stdout.readline() == b"= Tengen\n"
        time.sleep(0.2)
        if end == "quit":
            process.stdin.write(b"quit\n")
            process.stdin.flush()
        elif end == "input":
            process.stdin.close()
        else:
            process.stdout.close()
        assert process.wait(60) == 0
        assert end != "quit" or process.stdout.read().endswith(b"\n\n=\n\n")
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            stream.close()


@pytest.mark.parametrize("lines", [b"genmove b\nquit\n", b"genmove b\n"])
@pytest.mark.parametrize("is_ahead", [False, True])
def test_lines_of_a_file_are_all_answered_in_full(lines, is_ahead):
    talk, stops = engine(), []
    choose = talk.session.agent.choose
    talk.session.agent.choose = lambda position, limit: stops.append(limit.stop) or choose(position, limit)
    serve(talk, io.BytesIO(lines), io.StringIO(), is_ahead)
    assert stops == [talk.end]
    assert talk.end.wait(0 if is_ahead else 60) is not is_ahead


def test_a_bad_agent_is_told_before_the_conversation():
    result = tengen("go:size=9", "nobody", text=b"name\n")
    assert result.returncode == 2
    assert result.stdout == b""
    assert b"no agent is called 'nobody'" in result.stderr


def referee(*arguments):
    result = subprocess.run([sys.executable, REFEREE, *arguments], capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_gnugo_agrees_with_every_move_and_score(gnugo):
    assert "every score agreed on" in referee("go", "--games", "2", "--agent", "uct:playouts=200", "--size", "7")


def test_gtp_rhino_agrees_with_every_move_and_score(gtp_rhino):
    assert "every score agreed on" in referee("reversi", "--games", "4", "--agent", "alphabeta:nodes=500")


@pytest.fixture(scope="module")
def controller():
    """The controller of bench/referee.py."""
    spec = importlib.util.spec_from_file_location("bench_referee", REFEREE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Unpunctual:
    """An engine whose searches end a little later than they may, and whose pipe takes a moment: that it cannot see."""

    def __init__(self, spec, now):
        self.talk, self.now = engine(spec, "random:seed=1"), now
        self.agent = self.talk.session.agent.choose
        self.talk.session.agent.choose = self.choose

    def choose(self, position, limit):
        self.now[0] += limit.time + LATE / 3
        return self.agent(position, limit)

    def ask(self, command):
        self.now[0] += 0.001
        return good(self.talk, command)


@pytest.mark.parametrize("tells", [True, False])
@pytest.mark.parametrize("number", range(4))
def test_fast_games_are_not_lost_on_time(controller, monkeypatch, number, tells):
    """By the controller's clock, which the engines wind; `bench/referee.py clock` plays such games in real time."""
    now, settings = [0.0], controller.CLOCKS[number]
    clock = SimpleNamespace(perf_counter=lambda: now[0])
    monkeypatch.setattr(controller, "time", clock)
    monkeypatch.setattr(conversation, "time", clock)
    players = Unpunctual(settings[0], now), Unpunctual(settings[0], now)
    moves, least = controller.play_by_clock(players, settings, tells)  # raises if a game is lost on time
    assert moves >= 7
    assert least >= 0


@pytest.mark.long
def test_thirty_games_with_gnugo(gnugo):
    assert "every score agreed on" in referee("go", "--games", "30", "--agent", "uct:playouts=500")


def test_agents_own_limits_hold_without_a_clock():
    talk = engine("reversi", "uct:playouts=30")
    asked = []
    search = talk.session.agent.search.search
    talk.session.agent.search.search = lambda position, limit: asked.append(limit) or search(position, limit)
    good(talk, "genmove b")
    assert asked == [Limit(playouts=30, stop=talk.end)]


def test_time_that_is_left_sets_a_clock_that_nobody_set():
    clock, position = GameClock(), load_game("tictactoe").start()
    assert clock.seconds(position) is None
    clock.tell(0, 5.0, 0)
    assert 0 < clock.seconds(position) < 5
