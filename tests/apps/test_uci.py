"""The UCI engine: every command, nonsense of all kinds, and whole games with python-chess as the GUI."""

import queue
import random
import subprocess
import sys
import time

import chess
import chess.engine
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tengen import load_game
from tengen.apps import uci
from tengen.apps.timing import LATE, LEAST, for_one_move
from tengen.apps.uci import Ear, Talker, info_line, listen, score_text
from tengen.apps.uci_settings import GoRequest, OfferedOptions, Order
from tengen.apps.web.replays import label_of
from tengen.rules.errors import BadParameter
from tengen.search.limits import Decision

PATIENT = 300.0  # seconds for what should take few, compiling included, on a machine that has other things to do
ENGINE = [sys.executable, "-m", "tengen", "uci"]
GAME = load_game("chess")
THIRD_TIME = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8"


class Talk:
    """A talker, and what it says."""

    def __init__(self, agent="random"):
        self.said = []
        self.talker = Talker(agent, self.said.append)

    def tell(self, *lines):
        """What is said to these lines."""
        del self.said[:]
        for line in lines:
            assert self.talker.tell(line)
        return self.said

    def ask(self, *lines):
        """The last line that is said, which is the only one that is not for people."""
        answers = [line for line in self.tell(*lines) if not line.startswith("info")]
        assert len(answers) == 1, answers
        return answers[0]

    @property
    def fen(self):
        return self.talker.position.diagram()


@pytest.fixture
def talk():
    return Talk()


@pytest.fixture(scope="module")
def deep():
    """One that searches."""
    return Talk("alphabeta:depth=3,memory=8")


# The protocol.


def test_greeting(talk):
    lines = talk.tell("uci")
    assert lines[0].startswith("id name Tengen") and lines[1].startswith("id author") and lines[-1] == "uciok"
    assert all(line.startswith("option name ") for line in lines[2:-1])
    assert talk.tell("isready") == ["readyok"]


def test_options_of_the_agent_are_offered():
    lines = [offer.line() for offer in OfferedOptions("alphabeta:quiescence=8").offers]
    assert "option name Hash type spin default 128 min 1 max 1000000" in lines
    assert "option name Ponder type check default false" in lines
    assert "option name Clear Hash type button" in lines
    assert not [line for line in lines if "quiescence" in line or "name depth" in line]  # the spec, and go, say these
    assert OfferedOptions("uct").for_agent() == {}
    lines = [offer.line() for offer in OfferedOptions("puct:net=uniform").offers]
    assert "option name temperature type string default 1.0" in lines
    assert [line for line in lines if line.startswith("option name Threads type spin default 0 min 0 max")]
    assert not OfferedOptions("uci:nothing,skill=0").of_agent


def test_options_are_set():
    options = OfferedOptions("alphabeta")
    assert [options.set(f"name {name} value {value}") for name, value in (("hash", "16"), ("region", "3"))] == [
        "Hash",
        "region",
    ]
    options.set("name Move Overhead value 100")
    options.set("name  Move  Overhead  value  20 ")
    assert (options.for_agent(), options.late) == ({"memory": "16", "region": "3"}, 0.02)
    options.set("name Hash value 128")
    assert options.for_agent() == {"region": "3"}


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("setoption", "setoption needs a name"),
        ("setoption value 3", "setoption needs a name"),
        ("setoption name Hsh value 3", "there is no option 'Hsh'; did you mean 'Hash'"),
        ("setoption name Hash", "Hash is a whole number from 1 to 1000000, not ''"),
        ("setoption name Hash value 0", "Hash is a whole number from 1 to 1000000, not '0'"),
        ("setoption name Ponder value perhaps", "Ponder is true or false"),
        ("setoption name evaluation value fours", ""),
        ("position", "position needs startpos or fen"),
        ("position e2e4", "position needs startpos or fen"),
        ("position fen", "the diagram has"),
        ("position fen /", "the diagram has 2 rows"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "White has 0 kings"),
        ("position startpos moves e2e5", "after 0 moves: 'e2e5' is no legal move here"),
        ("position startpos moves e2e4 e2e4", "after 1 moves: 'e2e4' is no legal move here"),
        ("position startpos moves e2e4 nonsense", "after 1 moves: 'nonsense' is not a move"),
    ],
)
def test_what_is_wrong_is_said_and_it_goes_on(line, answer):
    talk = Talk("alphabeta:depth=1")
    said = talk.tell(line)
    assert [each.startswith("info string") for each in said] == [True] * bool(said)
    assert answer in " ".join(said)
    assert "readyok" in talk.tell("isready")
    assert talk.ask("position startpos", "go depth 1").startswith("bestmove ")


def test_unknown_words_are_passed_over(talk):
    assert talk.tell("", "  ", "hello", "\x00\x07", "register later", "ponderhit", "stop", "joho debug on") == []
    assert talk.talker.is_debugging
    talk.tell("debug off")
    assert not talk.talker.is_debugging
    assert talk.tell("well\tisready") == ["readyok"]


def test_positions(talk):
    talk.tell("position startpos moves e2e4 e7e5")
    board = chess.Board()
    board.push_san("e4")
    board.push_san("e5")
    assert talk.fen == board.fen()
    talk.tell("position  fen  8/4P1k1/8/8/8/8/P7/4K3 w - - 3 40  moves e7e8n g7f8")
    assert talk.fen == "4Nk2/8/8/8/8/8/P7/4K3 w - - 1 41"
    talk.tell("position fen 8/4P1k1/8/8/8/8/8/4K3 w - -")  # without counters, as EPD has it
    assert talk.fen == "8/4P1k1/8/8/8/8/8/4K3 w - - 0 1"
    talk.tell("position startpos moves e2e4 e7e4 d2d4")  # the first move that cannot be played ends the line
    assert talk.fen.startswith("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b")
    assert talk.tell("position startpos", "d")[-1] == f"Fen: {chess.STARTING_FEN}"
    talk.tell("position startpos moves e2e4", "ucinewgame")
    assert talk.talker.position is None


def test_it_goes_on_where_our_rules_draw(talk):
    """Nobody has to claim a draw; the game then begins anew from there."""
    assert talk.tell(f"position startpos moves {THIRD_TIME}") == []
    assert talk.ask("go").startswith("bestmove ")
    assert talk.tell(f"position startpos moves {THIRD_TIME} e2e4 e7e5") == []
    assert talk.fen.startswith("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0")
    assert talk.tell("position fen 4k3/8/8/8/8/8/8/R3K3 w - - 99 80 moves a1a2 e8e7") == []
    assert talk.ask("go").startswith("bestmove ")


@pytest.mark.parametrize(
    ("fen", "score"),
    [
        ("7k/5QQ1/8/8/8/8/8/4K3 b - - 0 1", "mate 0"),
        ("7k/5Q2/8/8/8/8/8/4K3 b - - 0 1", "cp 0"),
        ("8/8/8/4k3/8/4K3/8/8 w - - 0 1", "cp 0"),
    ],
)
def test_nothing_to_choose(talk, fen, score):
    assert talk.tell(f"position fen {fen}", "go movetime 10") == [f"info depth 0 score {score}", "bestmove (none)"]


def test_what_was_found_is_told_at_every_depth(deep):
    said = deep.tell("position startpos", "go depth 3")
    lines = [line.split() for line in said if line.startswith("info depth")]
    assert [words[2] for words in lines] == ["1", "2", "3"]
    for words in lines:
        assert {"depth", "multipv", "nodes", "nps", "time"} <= set(words)
        assert words[words.index("score") + 1] == "cp"
        board = chess.Board()
        for move in words[words.index("pv") + 1 :]:
            board.push_uci(move)  # which raises if it is illegal
    move = said[-1].split()
    assert (move[0], move[2]) == ("bestmove", "ponder")
    assert [move[1], move[3]] == lines[-1][lines[-1].index("pv") + 1 :][:2]


def test_mates_are_told_in_moves(deep):
    said = deep.tell("position fen 6k1/5ppp/8/8/8/8/8/R3K2R w KQ - 5 30", "go depth 5")
    assert " score mate 1 " in said[0]
    assert said[-1] == "bestmove a1a8"
    said = deep.tell("position fen 7k/8/5K2/8/8/8/8/R7 w - - 0 1", "go mate 2")
    assert " score mate 2 " in " ".join(said)
    said = deep.tell("position fen 7k/8/6K1/8/8/8/8/R7 b - - 0 1", "go depth 4")
    assert " score mate -1 " in " ".join(said)


def test_a_search_may_be_confined_to_some_moves(deep):
    deep.tell("position startpos")
    for moves in (["a2a3"], ["h2h3", "a2a4"], ["g1h3", "nonsense", "e2e5"]):
        answer = deep.ask(f"go depth 2 searchmoves {' '.join(moves)}")
        assert answer.split()[1] in moves
    assert deep.ask("go searchmoves a2a3 depth 2").split()[1] == "a2a3"
    assert deep.ask("go depth 1 searchmoves e2e5").startswith("bestmove ")  # none of them can be played


@pytest.mark.parametrize("agent", ["uct:playouts=50", "puct:net=uniform,simulations=20", "random", "minimax:depth=1"])
def test_any_agent_plays(agent):
    talk = Talk(agent)
    for line in ("go", "go depth 2", "go nodes 40", "go movetime 40", "go wtime 100 btime 100"):
        assert talk.ask("position startpos moves e2e4", line).startswith("bestmove ")


def test_a_mistake_of_ours_is_answered_all_the_same(talk, capsys, monkeypatch):
    monkeypatch.setattr(Talker, "_decisions", lambda *arguments: [][1])
    said = talk.tell("position startpos", "go")
    assert said[-2].startswith("info string internal error: IndexError")
    assert said[-1].split()[1] in [move.uci() for move in chess.Board().legal_moves]
    assert "IndexError" in capsys.readouterr().err


def test_an_agent_that_cannot_be_made_is_answered_all_the_same():
    talk = Talk("puct:net=missing.onnx")
    said = talk.tell("isready", "go")
    assert "readyok" in said and "missing.onnx" in " ".join(said)
    assert said[-1].startswith("bestmove ")


def test_other_games_are_refused():
    with pytest.raises(BadParameter, match="UCI is for chess, not for go; tengen gtp plays any game"):
        Talker("random", print, "go")


def test_pages_call_an_engine_by_its_program():
    """What stands behind it is nobody's business."""
    assert label_of("uci:/opt/me/stockfish,Debug Log File=/home/me/log") == "uci:stockfish"
    assert label_of("uci:'/my dir/lc0' --key=s3cret,time=1") == "uci:lc0"


# Numbers.


def asked(words):
    return GoRequest.read(words.split())


@pytest.mark.parametrize(
    ("value", "note", "text"),
    [
        (0.0, "", "cp 0"),
        (0.999 * 0.46211715726000973, "", "cp 100"),
        (-0.999 * 0.46211715726000973, "", "cp -100"),
        (0.9999, "", "cp 30000"),
        (1.0, "sees a win in 5", "mate 3"),
        (1.0, "wins in 1", "mate 1"),
        (-1.0, "loses in 4", "mate -2"),
        (-1.0, "", "cp -30000"),
    ],
)
def test_scores(value, note, text):
    assert score_text(value, note, 200.0) == text


def test_a_decision_without_an_opinion_has_no_score():
    action = GAME.start().legal_actions[0]
    assert info_line(GAME.start(), Decision(action), 200.0) == "info depth 1 multipv 1 nodes 0 nps 0 time 0 pv " + (
        GAME.start().uci_text(action)
    )


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("", None),
        ("infinite", None),
        ("movetime 1000", 1 - LATE),
        ("movetime 100", 0.04),
        ("movetime 20", 0.005),
        ("movetime 0", LEAST),
        ("movetime -5", LEAST),
        ("wtime 60000 btime 1 movestogo 1", for_one_move(60)),
        ("wtime 60000 movestogo 10", for_one_move(6)),
        ("wtime -50 btime 60000", LEAST),
        ("wtime 0", LEAST),
        ("btime 60000", None),  # White is to move
        ("wtime x movetime 1e9", None),
    ],
)
def test_time(words, seconds):
    found = asked(words).seconds(GAME.start(), LATE)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_time_lasts():
    """Without an increment for two hundred moves, each answered late; with one it is used."""
    for start, increment in ((60_000, 0), (5_000, 0), (1_000, 100), (180_000, 2_000)):
        left = start
        for _ in range(200):
            words = f"wtime {left} btime 1 winc {increment} binc 1"
            left -= 1000 * asked(words).seconds(GAME.start(), LATE) + (0 if start < 10_000 else 1000 * LATE / 4)
            assert left > 0, (start, increment)
            left = int(left + increment)
    least = asked("wtime 60000 winc 0").seconds(GAME.start(), LATE)
    assert asked("wtime 60000 winc 2000").seconds(GAME.start(), LATE) > least + 1
    assert 1 < least < 6


def test_what_go_says():
    request = asked("go depth 5 nonsense searchmoves e2e4 d2d4 nodes 7 mate 2 infinite wtime")
    assert request.numbers == {"depth": 5, "nodes": 7, "mate": 2}
    assert (request.moves, request.flags) == (["e2e4", "d2d4"], {"infinite"})
    assert request.ignored == ["go", "nonsense", "wtime"]
    assert (request.depth(), request.nodes()) == (3, 7)
    assert asked("depth 1000").depth() == 126
    assert asked("depth 0 nodes -1 mate 0").depth() is None


# What is heard while the other thread thinks.


def test_stop_ends_what_was_heard_before_and_nothing_later():
    said = []
    ear = Ear(said.append)
    assert ear.hear("stop") is None
    line, first = ear.hear("go infinite")
    assert line == "go infinite" and not first.stop.is_set()
    ear.hear("stop")
    assert first.stop.is_set() and first.released.is_set()
    _, second = ear.hear("go movetime 1000")
    assert not second.stop.is_set() and second.released.is_set()
    ear.answered(first)
    ear.hear("quit")
    assert second.stop.is_set() and ear.ended.is_set()


def test_ready_at_once_while_it_thinks_else_in_its_turn():
    said = []
    ear = Ear(said.append)
    assert ear.hear("isready") == ("isready", None)
    _, order = ear.hear("go infinite")
    assert ear.hear("isready") is None
    assert said == ["readyok"]
    ear.answered(order)
    assert ear.hear("isready") == ("isready", None)


def test_a_gui_that_forgets_stop_is_not_waited_for():
    ear = Ear(print)
    _, endless = ear.hear("go infinite")
    _, timed = ear.hear("go movetime 1000")
    assert endless.stop.is_set()
    ear.hear("position startpos")
    assert not timed.stop.is_set()


def test_time_counts_from_the_hit_on():
    order = Order(asked("ponder wtime 60000 btime 60000 movetime 30"))
    assert order.limit(GAME.start(), 0.0, True).time > 3600
    time.sleep(0.1)
    assert not order.stop.is_set() and not order.released.is_set()
    order.hit()
    assert order.released.is_set()
    assert order.stop.wait(PATIENT)
    early = Order(asked("ponder movetime 30"))
    early.hit()  # before the search has begun
    assert early.limit(GAME.start(), 0.0, True).time == pytest.approx(0.03)


class Pipe:
    """Bytes that come in pieces, as readline gives them."""

    def __init__(self, data):
        self.data = data

    def readline(self, most):
        end = self.data.find(b"\n") + 1 or len(self.data)
        line, self.data = self.data[: min(end, most)], self.data[min(end, most) :]
        return line


def test_lines_that_are_too_long_are_cut():
    lines, ear = queue.SimpleQueue(), Ear(print)
    listen(Pipe(b"A" * 200_000 + b"\nuci\r\n\xff\xfe\nlast"), lines, ear, is_ahead=True)
    heard = [lines.get() for _ in range(lines.qsize())]
    assert len(heard[0][0]) == uci.LONGEST_LINE
    assert [each[0] for each in heard[1:-1]] == ["uci\r\n", "\ufffd\ufffd\n", "last"]
    assert heard[-1] is None


# Nonsense.

WORDS = st.sampled_from(
    [*uci.COMMANDS, "startpos", "fen", "moves", "e2e4", "e7e8q", "name", "value", "Hash", "16", "x"]
)
GO = st.sampled_from(["go", *[f"go {word}" for word in ("depth", "nodes", "movetime", "wtime", "searchmoves", "mate")]])
NUMBERS = st.integers(-3, 5) | st.integers(-(10**18), 10**18) | st.sampled_from(["x", "1.5", "٣", ""])
LINES = st.one_of(
    st.lists(WORDS, max_size=8).map(" ".join),
    st.builds("{} {}".format, GO, NUMBERS),
    st.builds(
        "position startpos moves {}".format,
        st.lists(st.sampled_from(["e2e4", "e7e5", "g1f3", "e1g1", "O-O"])).map(" ".join),
    ),
    st.builds("position fen {}".format, st.text("rnbqkp/12345678KQ w-", max_size=60)),
    st.text(max_size=40),
)
REPLIES = ("info ", "bestmove ", "readyok", "uciok", "id ", "option name ")


@pytest.fixture(scope="module")
def kept_talk():
    return Talk()


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(lines=st.lists(LINES, min_size=10, max_size=30))
def test_nonsense(kept_talk, lines):
    """Whatever is said is a line of the protocol, every go is answered, and afterwards all is well."""
    for line in lines:
        word = uci.command_of(line)[0]
        if word == "quit":
            continue
        said = list(kept_talk.tell(line))
        assert sum(each.startswith("bestmove ") for each in said) == (word == "go")
        assert "internal" not in " ".join(said), (line, said)
        assert all("\n" not in each for each in said)
        assert word == "d" or all(each.startswith(REPLIES) for each in said), (line, said)
    assert kept_talk.ask("ucinewgame", "position startpos", "go").startswith("bestmove ")


# Processes: python-chess is the GUI.


@pytest.fixture
def engine():
    engine = chess.engine.SimpleEngine.popen_uci([*ENGINE, "--agent", "alphabeta:memory=16"], timeout=PATIENT)
    yield engine
    engine.close()


def test_a_game(engine):
    """Against random moves, by a clock: it mates, and never plays what is illegal."""
    rng, board, clock = random.Random(1), chess.Board(), 60.0
    while not board.is_game_over(claim_draw=True):
        if board.turn == chess.BLACK:
            board.push(rng.choice(list(board.legal_moves)))
            continue
        limit = chess.engine.Limit(white_clock=clock, black_clock=clock, white_inc=0, black_inc=0)
        board.push(engine.play(board, limit).move)
        clock = max(clock - 0.5, 1.0)
    assert board.is_checkmate() and board.turn == chess.BLACK


def test_analysis(engine):
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 4 4")
    (info,) = engine.analyse(board, chess.engine.Limit(depth=3), multipv=1)
    assert (info["score"].white(), info["pv"][0].uci()) == (chess.engine.Mate(1), "f3f7")
    info = engine.analyse(chess.Board(), chess.engine.Limit(nodes=3000))
    assert 1000 < info["nodes"] <= 3000 and info["depth"] > 1
    only = chess.Move.from_uci("a2a3")
    assert engine.play(chess.Board(), chess.engine.Limit(depth=2), root_moves=[only]).move == only


def test_endless_analysis_is_stopped(engine):
    with engine.analysis(chess.Board()) as analysis:
        for info in analysis:
            if info.get("depth", 0) >= 3:
                break
        engine.ping()  # isready is answered while it thinks
        analysis.stop()
        assert analysis.wait().move in chess.Board().legal_moves


def test_pondering(engine):
    board = chess.Board()
    limit = chess.engine.Limit(white_clock=20, black_clock=20, white_inc=0, black_inc=0)
    for is_hit in (True, False, True):
        result = engine.play(board, limit, ponder=True)
        board.push(result.move)
        assert result.ponder in board.legal_moves
        others = [move for move in board.legal_moves if move != result.ponder]
        board.push(result.ponder if is_hit else others[0])
    assert engine.play(board, limit).move in board.legal_moves


def test_options_of_a_process(engine):
    engine.configure({"Move Overhead": 10, "quiescence": 4})
    assert engine.play(chess.Board(), chess.engine.Limit(depth=1)).move
    assert {"Ponder", "MultiPV", "Move Overhead", "UCI_AnalyseMode"} <= set(engine.options)


class Process:
    """The engine as a process of lines."""

    def __init__(self, *words, **how):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([*ENGINE, *words], stdin=pipe, stdout=pipe, stderr=pipe, text=True, **how)

    def tell(self, *lines):
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()

    def hear(self, beginning):
        while not (line := self.process.stdout.readline()).startswith(beginning):
            assert line, "its output has ended"
        return line.strip()


@pytest.fixture
def process():
    process = Process("--agent", "alphabeta:memory=16")
    yield process
    process.process.kill()
    process.process.communicate()


def test_stop_and_quit_end_a_search(process):
    process.tell("uci", "isready")
    assert process.hear("readyok")
    process.tell("go infinite", "stop")  # heard before the search has begun
    assert process.hear("bestmove ")
    process.tell("go movetime 1000000")
    assert process.hear("info depth")
    process.tell("isready", "stop")
    assert process.hear("readyok") and process.hear("bestmove ")
    process.tell("go infinite")
    assert process.hear("info depth")
    process.tell("quit")
    assert process.process.wait(PATIENT) == 0


@pytest.mark.parametrize("end", ["stdin", "stdout"])
def test_a_gui_that_leaves_ends_a_search(process, end):
    process.tell("isready", "go infinite")
    assert process.hear("info depth")
    getattr(process.process, end).close()
    assert process.process.wait(PATIENT) == 0
    for stream in ("stdin", "stdout"):
        getattr(process.process, stream).close()
    process.process.stdin = process.process.stdout = None


def test_lines_of_a_file_wait_their_turn(tmp_path):
    (tmp_path / "lines.txt").write_text("uci\ngo depth 2\nposition startpos moves e2e4\ngo infinite\nquit\n")
    with (tmp_path / "lines.txt").open() as lines:
        command = [*ENGINE, "--agent", "alphabeta:depth=2,memory=8"]
        done = subprocess.run(command, stdin=lines, capture_output=True, text=True, timeout=PATIENT)
    assert done.stdout.count("\nbestmove ") == 2, done.stderr
    assert done.returncode == 0


def test_an_agent_that_there_is_not():
    ended = subprocess.run([*ENGINE, "--agent", "strnog"], input="", capture_output=True, text=True, timeout=PATIENT)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "no agent is called 'strnog'; did you mean 'strong'?" in ended.stderr


def test_two_threads_say_whole_lines():
    """What `isready` is answered with does not come between the parts of another line."""
    process = Process("--agent", "alphabeta:memory=8")
    try:
        process.tell("uci", "isready")
        process.hear("readyok")
        process.tell("go infinite", *["isready"] * 200, "stop")
        said = []
        while not (said and said[-1].startswith("bestmove")):
            said.append(process.process.stdout.readline())
        assert sum(line == "readyok\n" for line in said) == 200
        assert all(line.startswith(("readyok\n", "info ", "bestmove ")) for line in said)
    finally:
        process.process.kill()
        process.process.communicate()
