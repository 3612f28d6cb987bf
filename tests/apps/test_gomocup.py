"""The Gomocup engine: every command, nonsense of all kinds, and whole games through pipes."""

import importlib.util
import queue
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tengen import load_game
from tengen.apps import gomocup
from tengen.apps.gomocup import Brain, Stops, listen
from tengen.apps.gomocup_settings import FOREVER, KEYS_OF_INFO, PYTHON, GomocupSettings
from tengen.apps.timing import LEAST, for_one_move
from tengen.search.limits import Decision

PATIENT = 300.0  # seconds for what should take few, compiling included, on a machine that has other things to do
ENGINE = f"{sys.executable} -m tengen gomocup"


class Talk:
    """A brain, and what it says."""

    def __init__(self, agent="random"):
        self.said = []
        self.brain = Brain(agent, self.said.append)

    def tell(self, *lines):
        """What is said to these lines, without what is meant for people."""
        del self.said[:]
        for line in lines:
            assert self.brain.tell(line)
        return [line for line in self.said if not line.startswith(("MESSAGE", "DEBUG", "INFO"))]

    def ask(self, *lines):
        answers = self.tell(*lines)
        assert len(answers) == 1, answers
        return answers[0]

    @property
    def board(self):
        return self.brain.position.diagram()


@pytest.fixture
def talk():
    talk = Talk()
    assert talk.ask("START 5") == "OK"
    return talk


class Scripted:
    """An agent that plays the first legal point, with a value and a look at its limits."""

    name = "scripted"

    def __init__(self, value=0.0):
        self.value, self.limits, self.positions = value, [], []

    def choose(self, position, limit):
        self.limits.append(limit)
        self.positions.append(position)
        return Decision(position.legal_actions[0], self.value)


@pytest.fixture
def scripted(monkeypatch):
    agent = Scripted()
    agent.options = []

    def make(spec, game, **options):
        agent.options.append(options)
        return agent

    monkeypatch.setattr(gomocup, "load_agent", make)
    return agent


def test_a_game(talk):
    x, y = map(int, talk.ask("BEGIN").split(","))
    assert talk.board.count("X") == 1
    free = "0,0" if (x, y) != (0, 0) else "1,1"
    talk.ask(f"TURN {free}")
    assert (talk.board.count("X"), talk.board.count("O")) == (2, 1)
    assert talk.ask("RESTART") == "OK"
    assert set(talk.board) == {".", "/"}


def test_points_are_column_and_row_from_the_top(scripted):
    talk = Talk()
    talk.tell("START 5")
    assert talk.ask("TURN 3,0") == "0,0"
    assert talk.board == "O..X./...../...../...../....."
    assert talk.ask("TURN 2,1") == "1,0"
    assert talk.board == "OO.X./..X../...../...../....."


def test_the_words_of_a_manager_may_be_written_anyhow(talk):
    assert talk.ask("  start 6\r\n") == "OK"
    assert talk.tell("", "\r\n", "info timeout_turn 10") == []
    assert talk.ask("Turn 2 , 3").count(",") == 1


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["START"], "ERROR START needs the size of the board: START 15"),
        (["START x"], "ERROR x is not a size; START 15"),
        (["START 21"], "ERROR size=21 is out of range: size is 5 to 20"),
        (["START -1"], "ERROR size=-1 is out of range: size is 5 to 20"),
        (["RECTSTART 30,20"], "ERROR a board of 30 by 20 is not supported: it has to be a square"),
        (["RECTSTART 6,6"], "OK"),
        (["RECTSTART 6"], "ERROR RECTSTART needs a width and a height: RECTSTART 15,15"),
        (["TURN"], "ERROR TURN needs one point: TURN 7,7"),
        (["TURN 1"], "ERROR 1 is not a point; write one as 2,2"),
        (["TURN 1,5"], "ERROR 1,5 is off the board: x and y are 0 to 4"),
        (["TURN -1,0"], "ERROR -1,0 is not a point; write one as 2,2"),
        (["PLAY 1,1", "TURN 1,1"], "ERROR 1,1 cannot be played: b4 is occupied at move 2"),
        (["PLAY 1,1", "BEGIN"], "ERROR BEGIN is for an empty board: RESTART first, or use BOARD"),
        (["TAKEBACK 1,1"], "ERROR there is no stone on 1,1"),
        (["PLAY 1,1", "PLAY 2,1", "TAKEBACK 1,1"], "ERROR 1,1 is not the last move, which is 2,1"),
        (["DONE"], "ERROR DONE ends a BOARD, and none was begun"),
        (["BOARD", "1,1", "DONE"], "ERROR 1,1 is not a stone; write one as 7,7,1 (1 own, 2 the opponent's)"),
        (["BOARD", "1,1,4", "DONE"], "ERROR 1,1,4: the last number is 1 (own) or 2 (the opponent's)"),
        (["BOARD", "1,1,3", "DONE"], "ERROR 1,1,3 is a stone of a continuous game, which is not supported"),
        (["BOARD", "0,0,1", "0,0,2", "DONE"], "ERROR 0,0 has two stones"),
        (["BOARD", *["0,0,1"] * 2000, "DONE"], "ERROR a board of more than 1000 stones"),
        (["BOARD", *(f"{i},0,2" for i in range(5)), "DONE"], "ERROR the game is won by Black"),
        (["SWAP2BOARD", "1,1", "DONE"], "ERROR SWAP2BOARD gives no stones, three or five, not 1"),
        (["SWAP2BOARD", "1,1", "1,1", "2,2", "DONE"], "ERROR 1,1 cannot be played: b4 is occupied at move 2"),
        (["YXNBEST 0"], "ERROR YXNBEST needs the number of moves to show: YXNBEST 3"),
        (["SUDOKU 9"], "UNKNOWN SUDOKU 9"),
        (["\x00\xff"], "UNKNOWN \xff"),
    ],
)
def test_what_is_wrong_is_said_and_it_goes_on(talk, lines, answer):
    assert talk.tell(*lines)[-1] == answer
    assert talk.ask("RESTART") == "OK"
    assert "," in talk.ask("BEGIN")


def test_nothing_can_be_played_before_start():
    talk = Talk()
    for line in ("BEGIN", "TURN 1,1", "RESTART", "PLAY 1,1", "TAKEBACK 1,1", "YXNBEST 1", "YXSHOWFORBID"):
        assert talk.ask(line) == "ERROR there is no board: START 15 first"
    assert talk.ask("BOARD", "DONE") == "ERROR there is no board: START 15 first"
    assert talk.ask("START 5") == "OK"


def test_a_board_that_is_not_finished_is_given_up(talk):
    assert talk.tell("BOARD", "1,1,1", "RESTART") == ["ERROR BOARD was not ended by DONE", "OK"]


def test_end(talk):
    assert not talk.brain.tell("end\r\n")


def test_about_is_one_line_of_keywords(talk):
    about = talk.ask("ABOUT")
    assert about.startswith('name="Tengen", version="')
    assert all(f'{key}="' in about for key in ("author", "country", "www"))


def test_boards(scripted):
    """Stones in the order of play become moves; who begins follows from their numbers."""
    talk = Talk()
    talk.tell("START 5")
    assert talk.ask("BOARD", "2,2,1", "3,3,2", "DONE") == "0,0"
    assert talk.board == "X..../...../..X../...O./....."
    assert talk.brain.position.ply == 3
    assert talk.ask("BOARD", "2,2,2", "3,3,1", "1,1,2", "DONE") == "0,0"
    assert talk.board == "O..../.X.../..X../...O./....."
    assert talk.ask("BOARD", "1,1,2", "2,2,2", "3,3,1", "DONE") == "0,0"  # in any order
    assert talk.board == "O..../.X.../..X../...O./....."
    assert scripted.positions[-1].ply == 0
    assert talk.ask("board 2,2,1 3,3,2 done") == "0,0"  # in one line
    assert talk.board == "X..../...../..X../...O./....."
    assert talk.ask("BOARD", "DONE") == "0,0"
    assert talk.board == "X..../...../...../...../....."


def test_a_board_without_an_answer(scripted):
    talk = Talk()
    talk.tell("START 5")
    assert talk.tell("yxboard", "2,2,1", "-1,-1,2", "done") == []  # a pass
    assert (talk.board, talk.brain.position.to_play) == ("...../...../..X../...../.....", 0)
    assert talk.ask("yxnbest 2") == "0,0"
    assert talk.board == "X..../...../..X../...../....."


def test_moves_are_taken_back(talk):
    assert talk.tell("PLAY 1,1", "PLAY 2,2", "TAKEBACK 2,2", "TAKEBACK 1,1") == ["1,1", "2,2", "OK", "OK"]
    talk.tell("YXBOARD", "0,0,1", "1,0,2", "2,0,1", "3,0,1", "DONE")
    before = talk.brain.position
    assert talk.ask("TAKEBACK 1,0") == "OK"
    assert talk.board == before.diagram().replace("XOXX", "X.XX").replace("OXOO", "O.OO")


def test_rules(scripted):
    talk = Talk()
    talk.tell("START 9")
    five_and_one = [f"{x},4,1" for x in (0, 1, 2, 3, 5)] + [f"{x},8,2" for x in (0, 1, 2, 4, 6)]
    for rule, name in ((0, "freestyle"), (1, "standard"), (4, "renju"), (5, "renju")):
        talk.tell(f"INFO rule {rule}", "YXBOARD", *five_and_one, "DONE")
        assert talk.brain.position.game == load_game(f"gomoku:size=9,rule={name}")
        answer = talk.ask("PLAY 4,4")
        assert answer.startswith("ERROR 4,4 cannot be played: e5 is forbidden (overline)") == (name == "renju")
        won = name == "freestyle"
        assert (talk.brain.position.outcome is not None) == won
    for rule, what in ((8, "the caro rule is"), (9, "the caro rule is"), (3, "continuous games are")):
        assert talk.tell(f"INFO rule {rule}") == []
        assert talk.ask("START 9").startswith(f"ERROR {what} not supported: INFO rule is 0 (freestyle)")
    assert talk.ask("INFO rule 77", "START 9").startswith("ERROR there is no rule 77")
    assert talk.ask("INFO rule -1", "START 9").startswith("ERROR there is no rule -1")
    assert talk.ask("INFO rule 0", "START 9") == "OK"


def test_two_is_renju_on_yixin_board_and_nowhere_else():
    talk = Talk()
    assert talk.ask("INFO rule 2", "START 5").startswith("ERROR continuous games are not supported")
    assert talk.tell("yxshowinfo") == []
    assert talk.said[1:] == [line for line in talk.said if line.startswith("MESSAGE INFO MAX_")]
    assert talk.ask("START 5") == "OK"
    assert talk.brain.position.game.parameters.rule == 2


def test_a_rule_that_changes_takes_the_stones_along(talk):
    talk.tell("PLAY 1,1", "PLAY 2,2", "INFO rule 4")
    assert talk.ask("YXSHOWFORBID") == "FORBID ."
    assert talk.board == "...../.X.../..O../...../....."


def test_forbidden_points():
    talk = Talk()
    talk.tell("START 9", "INFO rule 4")
    stones = ["4,2,1", "0,8,2", "4,3,1", "2,8,2", "2,4,1", "4,8,2", "3,4,1", "6,8,2"]
    assert talk.tell("YXBOARD", *stones, "DONE", "YXSHOWFORBID") == ["FORBID 0404."]
    assert talk.ask("INFO rule 0", "YXSHOWFORBID") == "FORBID ."


def test_renju_is_played_without_forbidden_points():
    """Random games against itself on a small board, where many points are forbidden; the rules are the referee."""
    talk, forbidden = Talk(), 0
    for _ in range(10):
        position = load_game("gomoku:size=7,rule=renju").start()
        assert talk.tell("INFO rule 4", "START 7") == ["OK"]
        while position.outcome is None:
            x, y = map(int, talk.ask("YXNBEST 1").split(","))
            position = position.play(7 * y + x)
            forbidden += len(position.forbidden())
            assert position == talk.brain.position
    assert forbidden > 0


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ({}, None),
        ({"timeout_turn": "0"}, LEAST),
        ({"timeout_turn": "-5"}, LEAST),
        ({"timeout_turn": "1000"}, for_one_move(1)),
        ({"timeout_turn": "100"}, for_one_move(0.1)),
        ({"timeout_turn": "1000", "timeout_match": "0", "time_left": "5"}, for_one_move(1)),
        ({"timeout_turn": "1000", "time_left": str(FOREVER)}, for_one_move(1)),
        ({"timeout_turn": "1000", "timeout_match": "1000000", "time_left": "0"}, LEAST),
        ({"timeout_turn": "1000", "timeout_match": "1000000", "time_left": "-20"}, LEAST),
        ({"timeout_turn": "100", "timeout_match": "1000000", "time_left": "900000"}, for_one_move(0.1)),
    ],
)
def test_time(told, seconds):
    heard = GomocupSettings()
    for key, value in told.items():
        heard.tell(key, value)
    limit = heard.limit(load_game("gomoku").start(), 0.0, threading.Event())
    assert limit.time == (None if seconds is None else pytest.approx(seconds))


def test_a_match_without_news_of_the_clock_is_counted_here(scripted, monkeypatch):
    monkeypatch.setattr(gomocup, "perf_counter", lambda: 0.0)  # whatever this machine takes is not counted
    talk = Talk()
    talk.tell("START 15", "INFO timeout_match 60000", "INFO timeout_turn 60000", "BEGIN")
    first = scripted.limits[-1].time
    talk.brain.settings.spent += 50
    talk.tell("TURN 7,7")
    assert 0 < scripted.limits[-1].time < first / 3
    talk.tell("INFO time_left 60000", "TURN 8,8")
    assert scripted.limits[-1].time > first / 2
    talk.tell("RESTART", "INFO timeout_match 60000", "BEGIN")
    assert scripted.limits[-1].time == first


def test_what_else_is_told(scripted):
    """Memory and threads reach the agent, depth and nodes its limit; what makes no sense is told before the answer."""
    talk = Talk("uct")
    lines = ("max_depth 7", "max_node 1000", "thread_num 99999", "max_memory 220000000", "folder /tmp", "nonsense")
    talk.tell("START 9", *(f"INFO {line}" for line in lines), "INFO timeout_turn soon", "BEGIN")
    assert "MESSAGE INFO timeout_turn soon is ignored: timeout_turn is a whole number" in talk.said
    limit, options = scripted.limits[-1], scripted.options[-1]
    assert (limit.depth, limit.nodes) == (7, 1000)
    assert options["memory"] == 220000000 // 2**20 - PYTHON
    assert 1 <= options["threads"] <= 1024
    made = len(scripted.options)
    talk.tell("RESTART", "BEGIN")
    assert len(scripted.options) == made  # the same agent goes on
    talk.tell("INFO max_memory 0", "INFO max_depth 225", "INFO max_node -1", "RESTART", "BEGIN")
    assert "memory" not in scripted.options[-1]
    assert (scripted.limits[-1].depth, scripted.limits[-1].nodes) == (None, None)
    talk.tell("INFO max_memory 999999999999999", "RESTART", "BEGIN")
    assert "memory" not in scripted.options[-1]  # more than it wants


def test_swap2(scripted):
    talk = Talk()
    talk.tell("START 15", "INFO rule 1")
    for size in (5, 6, 15, 20):
        answer = talk.tell(f"START {size}", "SWAP2BOARD", "DONE")[-1]
        stones = [tuple(map(int, point.split(","))) for point in answer.split()]
        assert len(set(stones)) == 3
        assert all(0 <= x < size and 0 <= y < size for x, y in stones)
    talk.tell("START 15")
    for stones in (["7,7", "8,7", "9,9"], ["7,7", "8,7", "9,9", "8,8", "8,6"]):
        scripted.value = 0.3  # of White, who is to move
        assert talk.ask("SWAP2BOARD", *stones, "DONE") == "0,0"
        scripted.value = -0.3
        assert talk.ask("SWAP2BOARD", *stones, "DONE") == "SWAP"
        owners = [2 if i % 2 else 1 for i in range(len(stones))]
        talk.ask("BOARD", *(f"{stone},{3 - owner}" for stone, owner in zip(stones, owners, strict=True)), "DONE")


def test_the_most_even_opening_is_taken(scripted):
    def choose(position, limit):
        scripted.positions.append(position)
        return Decision(position.legal_actions[0], 0.1 if len(scripted.positions) % 5 == 0 else -0.9)

    talk = Talk()
    talk.tell("START 15")
    scripted.choose, scripted.positions = choose, []
    answer = talk.ask("SWAP2BOARD", "DONE")
    assert [talk.brain._point(move) for move in scripted.positions[4].moves] == answer.split()


def test_n_best_moves():
    talk = Talk("alphabeta:depth=2")
    talk.tell("START 9", "YXBOARD", "4,4,2", "DONE", "INFO show_detail 3")
    move = talk.ask("YXNBEST 3")
    shown = [line for line in talk.said if line.startswith("MESSAGE (")]
    assert [line.split()[1] for line in shown] == ["(1)", "(2)", "(3)"]
    assert len({line.split()[2] for line in shown}) == 3
    assert shown[0].split()[2] == move
    assert f"MESSAGE REALTIME BEST {move}" in talk.said
    assert talk.said.count("INFO PV DONE") == 3


def test_a_mistake_of_ours_does_not_end_it(scripted, capsys):
    talk = Talk()
    talk.tell("START 5")
    scripted.choose = lambda position, limit: [][1]
    assert talk.ask("BEGIN") == "ERROR internal: IndexError: list index out of range"
    assert "IndexError" in capsys.readouterr().err
    scripted.choose = lambda position, limit: Decision(99)
    assert talk.ask("BEGIN").startswith("ERROR action 99 does not exist")
    assert talk.ask("ABOUT").startswith("name=")


def test_a_turn_that_got_no_answer_has_not_happened(scripted):
    talk = Talk()
    talk.tell("START 5")
    scripted.choose = lambda position, limit: Decision(99)
    assert talk.ask("TURN 1,1").startswith("ERROR")
    del scripted.choose
    assert talk.ask("TURN 1,1") == "0,0"


def test_a_stop_ends_the_search_before_it_and_no_other():
    """However early it is heard."""
    stops = Stops()
    stops.heard("BOARD")
    stops.heard("yxstop\r\n")
    assert stops.event.is_set()  # so the search of this BOARD has no time
    stops.heard("yxstop")
    stops.reached()
    assert stops.event.is_set()
    stops.reached()
    assert not stops.event.is_set()
    stops.reached()  # one that nobody heard
    stops.heard("YXSTOP")
    assert stops.event.is_set()


def test_after_end_nothing_is_said():
    stops, said = Stops(), []
    brain = Brain("random", said.append, stops)
    brain.tell("START 5")
    stops.heard("END")
    brain.tell("BEGIN")
    assert said == ["OK"]


class Pipe:
    """Bytes that come in pieces, as readline gives them."""

    def __init__(self, data):
        self.data = data

    def readline(self, most):
        end = self.data.find(b"\n") + 1 or len(self.data)
        line, self.data = self.data[: min(end, most)], self.data[min(end, most) :]
        return line


def test_lines_that_are_too_long_are_cut():
    lines = queue.SimpleQueue()
    listen(Pipe(b"A" * 50_000 + b"\nABOUT\r\n\xff\xfe\nlast"), lines, Stops())
    heard = [lines.get() for _ in range(lines.qsize())]
    assert len(heard[0]) == gomocup.LONGEST_LINE
    assert heard[1:] == ["ABOUT\r\n", "\ufffd\ufffd\n", "last", None]


# Nonsense.

WORDS = st.sampled_from([*gomocup.COMMANDS, "DONE", "done", "SUGGEST", "", "start", "\t", "ENDE"])
NUMBERS = st.one_of(st.integers(-3, 22), st.integers(-(10**18), 10**18), st.sampled_from(["x", "1.5", "٣", "0x1", "+"]))
POINTS = st.builds("{},{}".format, NUMBERS, NUMBERS)
STONES = st.builds("{},{},{}".format, NUMBERS, NUMBERS, st.integers(0, 4))
KEYS = st.sampled_from([*sorted(KEYS_OF_INFO), "folder", "evaluate", "spent", "troubles", "__class__"])
INFOS = st.builds("INFO {} {}".format, KEYS, NUMBERS)
LINES = st.one_of(
    WORDS,
    st.builds("{} {}".format, WORDS, st.one_of(NUMBERS, POINTS, STONES, st.text(max_size=8))),
    POINTS,
    STONES,
    INFOS,
    st.text(max_size=30),
    st.binary(max_size=30).map(lambda raw: raw.decode(errors="replace")),
)
REPLIES = ("OK", "ERROR", "UNKNOWN", "MESSAGE", "DEBUG", "INFO", "FORBID", "SWAP", "name=")


def check_talk(talk, lines):
    """Whatever is said is a line of the protocol, no mistake of ours comes to light, and afterwards all is well."""
    for line in lines:
        if gomocup.first_word(line) == "END":
            continue
        del talk.said[:]
        assert talk.brain.tell(line)
        for said in talk.said:
            assert "\n" not in said and "internal" not in said, (line, said)
            assert said.startswith(REPLIES) or all(point.count(",") == 1 for point in said.split()), (line, said)
        word = gomocup.first_word(line)
        if talk.brain.data is None and word and word not in ("INFO", "YXSTOP", "STOP", "YXBOARD", "DONE"):
            assert talk.said or word in ("YXBLOCKRESET", "YXBLOCKPATHRESET"), line
    talk.brain.settings.rule = 0
    assert talk.tell("RESTART" if talk.brain.position else "START 5")[-1] == "OK"
    assert talk.ask("BEGIN").count(",") == 1


@pytest.fixture(scope="module")
def kept_talk():
    return Talk()


QUICKLY = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}


@settings(max_examples=150, **QUICKLY)
@given(lines=st.lists(LINES, min_size=10, max_size=40))
def test_nonsense(kept_talk, monkeypatch_module, lines):
    check_talk(kept_talk, lines)


@pytest.fixture(scope="module")
def monkeypatch_module():
    """Boards of all sizes would be compiled: nonsense is told to a random agent on small ones, without a warm-up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gomocup, "warm_up", lambda agent, game: None)
        yield patch


@pytest.mark.long
@settings(max_examples=2500, **QUICKLY)
@given(lines=st.lists(LINES, min_size=40, max_size=60))
def test_nonsense_a_hundred_thousand_times(kept_talk, monkeypatch_module, lines):
    check_talk(kept_talk, lines)


# Processes.


@pytest.fixture(scope="module")
def manager():
    """The manager of bench/gomocup.py."""
    path = Path(__file__).parents[2] / "bench" / "gomocup.py"
    spec = importlib.util.spec_from_file_location("bench_gomocup", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def play(manager, second, **options):
    words = [f"--{key}={value}" for key, value in options.items()]
    match = manager.run(manager.read_settings([ENGINE, second, *words]), say=lambda *text, **how: None)
    assert match.games == options["games"]
    return match


def test_the_manager_is_a_referee(manager):
    table = manager.Table(9, "standard")
    for x in range(4):
        assert not table.place(x, 0)
        assert not table.place(x, 8)
    assert not table.place(5, 0)
    assert not table.place(7, 7)
    assert not table.place(4, 0)  # six in a row
    assert table.place(4, 8)
    with pytest.raises(manager.Fault, match="which is taken"):
        table.place(4, 8)
    assert max(manager.row_through(table.stones, 3, 0)) == 6


@pytest.mark.long
def test_games_through_pipes(manager):
    """Whether an answer is late is no matter here: this machine may have other things to do.

    All is compiled before: until then an agent's moves are found at first sight, and nobody plays at random.
    """
    subprocess.run([sys.executable, "-m", "tengen", "compile", "gomoku"], check=True, capture_output=True)
    match = play(manager, f"{ENGINE} random", games=2, turn=60, late=10**6)
    assert match.faults == []
    assert match.wins == {ENGINE: 2}


@pytest.mark.long
@pytest.mark.parametrize("rule", ["freestyle", "standard", "renju"])
def test_a_hundred_fast_games(manager, rule):
    """Whether an answer is late is no matter here; bench/gomocup.py says so by its own clock."""
    match = play(manager, f"{ENGINE} alphabeta", games=34, turn=300, late=10**6, rule=rule)
    assert match.faults == []


class Process:
    """The engine as a process, with a deadline for each answer."""

    def __init__(self, *words):
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "tengen", "gomocup", *words]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        self.heard = queue.SimpleQueue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.heard.put(line.decode().strip())

    def tell(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def hear(self):
        return self.heard.get(timeout=PATIENT)

    def answer(self):
        while (line := self.hear()).startswith(("MESSAGE", "DEBUG")):
            pass
        return line


@pytest.fixture
def process():
    process = Process()
    yield process
    process.process.kill()
    process.process.wait()


def test_yxstop_and_end_end_a_search(process):
    process.tell(b"START 15\nINFO timeout_turn 1000000\n")
    assert process.answer() == "OK"
    process.tell(b"BEGIN\n")
    time.sleep(0.2)
    process.tell(b"YXSTOP\n")
    assert process.answer().count(",") == 1
    process.tell(b"BOARD\n0,0,2\nDONE\nYXSTOP\nABOUT\n")  # heard before the search has begun
    assert process.answer().count(",") == 1
    assert process.answer().startswith("name=")
    process.tell(b"TURN 14,14\n")
    process.tell(b"END\n")
    assert process.process.wait(PATIENT) == 0
    assert process.heard.qsize() == 0


def test_lines_of_a_file_wait_their_turn():
    """END stands there from the beginning, and is no reason to think less about what comes before it."""
    for is_ahead in (False, True):
        stops, lines = Stops(), queue.SimpleQueue()
        listen(Pipe(b"START 15\nBEGIN\nYXSTOP\n"), lines, stops, is_ahead)
        assert stops.event.is_set() != is_ahead
        assert [lines.get() for _ in range(4)][-2:] == ["YXSTOP\n", None]


def test_an_agent_of_ones_own_plays(tmp_path):
    (tmp_path / "lines.txt").write_text("START 9\nTURN 4,4\nEND\n")
    flat = Path(__file__).parent.parent.parent / "examples" / "flat.py"
    with (tmp_path / "lines.txt").open() as lines:
        command = [sys.executable, "-m", "tengen", "gomocup", f"{flat}:Flat,playouts=1"]
        done = subprocess.run(command, stdin=lines, capture_output=True, text=True, timeout=PATIENT)
    assert re.fullmatch(r"OK\n(DEBUG .*\n)?\d,\d\n", done.stdout), done.stderr
    wrong = subprocess.run([*command[:-1], "flatt"], input="", capture_output=True, text=True, timeout=PATIENT)
    assert wrong.stderr.startswith("tengen: no agent is called 'flatt'")


@pytest.mark.parametrize("end", ["stdin", "stdout"])
def test_a_manager_that_leaves_ends_a_search(end):
    """By its own limit it would go on for twenty minutes."""
    pipe = subprocess.PIPE
    with subprocess.Popen(ENGINE.split(), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as engine:
        try:
            engine.stdin.write(b"START 15\nINFO timeout_turn 1200000\n")
            engine.stdin.flush()
            assert engine.stdout.readline() == b"OK\n"
            engine.stdin.write(b"BEGIN\n")
            engine.stdin.flush()
            time.sleep(0.2)
            getattr(engine, end).close()
            assert engine.wait(PATIENT) == 0
        finally:
            engine.kill()


def test_bytes_that_are_no_text(process):
    process.tell(b"\x00\xff\xfe\n" + b"A" * 100_000 + b"\r\nABOUT\n")
    assert process.hear().startswith("UNKNOWN")
    assert process.hear().startswith("UNKNOWN")
    assert process.hear().startswith("name=")
    process.process.stdin.close()  # without END
    assert process.process.wait(PATIENT) == 0
    assert process.process.stderr.read() == b""


def test_a_manager_that_is_gone():
    pipe = subprocess.PIPE
    engine = subprocess.Popen([*ENGINE.split(), "random"], stdin=pipe, stdout=pipe, stderr=pipe)
    engine.stdout.close()
    assert engine.communicate(b"ABOUT\n" * 10, timeout=PATIENT)[1] == b""
    assert engine.returncode == 0


def test_an_agent_that_there_is_not():
    ended = subprocess.run([*ENGINE.split(), "strnog"], capture_output=True, text=True, timeout=PATIENT)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "no agent is called 'strnog'; did you mean 'strong'?" in ended.stderr
