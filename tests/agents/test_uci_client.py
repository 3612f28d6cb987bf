"""Engines over UCI: what they may say, what they do wrong, their options, and whole games with one that is real."""

import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import chess
import pytest
from processes import await_end, await_so

from tengen import load_agent, load_game
from tengen.agents import process
from tengen.agents.process import EngineError
from tengen.agents.uci import Thought, UciAgent, UciEngine, UciOption, go_command, read_spec
from tengen.arena.match import play_game, score_of
from tengen.arena.tournament import Tournament, play_tournament
from tengen.rules.errors import BadParameter
from tengen.search.limits import Limit

PATIENT = 60.0  # seconds for what should take none, on a machine that has other things to do
HASTY = 0.5  # seconds for what never comes

FAKE = """
import os, signal, sys, time

def say(text):
    print(text, flush=True)

def rest():
    "Says nothing any more, and says so."
    open(__file__ + ".rests", "w").close()
    time.sleep(600)

for line in sys.stdin:
    with open(__file__ + ".log", "a") as log:
        log.write(line)
    command, *words = line.split() or [""]
{body}
    elif command == "uci":
        say("id name Fake\\n{more}uciok")
    elif command == "isready":
        say("readyok")
    elif command == "quit":
        break
"""
OPTIONS = """option name Skill Level type spin default 20 min 0 max 20
option name UCI_Elo type spin default 1350 min 1350 max 2850
option name UCI_Chess960 type check default false
option name Clear Hash type button
option name Style type combo default Normal var Solid var Normal var Very Risky
option name Log File type string default <empty>
option name Odd type nothing
"""


class Fakes:
    """Engines of a few lines: `body` begins with an `if` on `command`, and may use `words` and `say`."""

    def __init__(self, folder):
        self.folder, self.engines = folder, []

    def command(self, body="if not command: pass", more=""):
        path = self.folder / f"fake{len(self.engines)}.py"
        body = textwrap.indent(textwrap.dedent(body).strip(), "    ")
        path.write_text(FAKE.format(body=body, more=more.replace("\n", "\\n")))
        return [sys.executable, "-I", "-S", str(path)]

    def engine(self, body="if not command: pass", more="", timeout=PATIENT):
        self.engines.append(UciEngine(self.command(body, more), timeout))
        return self.engines[-1]

    def agent(self, *answers, options=None, more=""):
        """An agent whose engine gives these answers, one for each move that it is asked for."""
        body = f"""
        if command == 'go':
            answers = globals().setdefault('answers', {list(answers)!r})
            say(answers.pop(0))
        """
        return UciAgent(load_game("chess"), self.engine(body, more), options or {})

    def log(self):
        """What the last engine was told since this was asked before."""
        self.engines[-1].await_ready()
        path = self.folder / f"fake{len(self.engines) - 1}.py.log"
        lines = path.read_text().splitlines()
        path.write_text("")
        return [line for line in lines if line != "isready"]

    def rests(self):
        """Whether the last engine has said all that it will ever say."""
        return (self.folder / f"fake{len(self.engines) - 1}.py.rests").exists()


class Unhurried:
    """What an engine says, for who begins to count the seconds when it has nothing more to say."""

    def __init__(self, heard, rests):
        self.heard, self.rests = heard, rests

    def empty(self):
        return self.heard.empty()

    def get(self, timeout):
        await_so(self.rests)
        return self.heard.get(timeout=timeout)


@pytest.fixture
def fakes(tmp_path):
    fakes = Fakes(tmp_path)
    yield fakes
    for engine in fakes.engines:
        engine.close()


GAME = load_game("chess")
START = GAME.start()


def named(agent, position=START, **limits):
    return position.uci_text(agent.choose(position, Limit(**limits)).action)


def test_positions_are_shown_whole(fakes):
    agent = fakes.agent(*["bestmove e2e4"] * 2, "bestmove g1f3 ponder b8c6", "bestmove e7e8q", "bestmove e2e4")
    assert fakes.log() == ["uci"]
    assert named(agent) == "e2e4"
    assert fakes.log() == ["ucinewgame", "position startpos", "go movetime 1000"]
    assert named(agent, time=0.25) == "e2e4"  # the same position again is no other game
    assert fakes.log() == ["position startpos", "go movetime 250"]
    position = START.play("e4").play("e5")
    assert named(agent, position, nodes=100, depth=3) == "g1f3"
    assert fakes.log() == ["position startpos moves e2e4 e7e5", "go nodes 100 depth 3"]
    fen = "8/4P1k1/8/8/8/8/8/4K3 w - - 3 40"
    position = GAME.from_board(fen)
    assert named(agent, position) == "e7e8q"
    assert fakes.log() == ["ucinewgame", f"position fen {fen}", "go movetime 1000"]
    agent.choose(START)
    assert fakes.log()[0] == "ucinewgame"


def test_what_it_thinks_is_heard(fakes):
    said = "info depth 3 nodes 77 score cp 100 pv e2e4 e7e5 e2e4\ninfo string cp 9 nodes 1\nbestmove e2e4"
    decision = fakes.agent(said).choose(START)
    after = START.play("e4")
    assert decision.principal_variation == (after.action, after.play("e5").action)  # its third move cannot be played
    assert (decision.depth, decision.nodes) == (3, 77)
    assert decision.value == pytest.approx(0.46, abs=0.01)


@pytest.mark.parametrize(
    ("lines", "value", "depth", "line"),
    [
        (["info score mate 3 depth 5 pv a b"], 1.0, 5, ("a", "b")),
        (["info score mate -2"], -1.0, 0, ()),
        (["info depth 2 multipv 1 score cp 0 pv a", "info depth 9 multipv 2 score cp 90 pv b"], 0.0, 2, ("a",)),
        (["info depth x score cp lowerbound", "info", "info pv", "info string depth 9 score cp 9"], None, 0, ()),
        (["info depth 99999999999999999999999 score cp 1e9"], None, 0, ()),
    ],
)
def test_lines_of_information(lines, value, depth, line):
    thought = Thought()
    for each in lines:
        thought.hear(each)
    assert (thought.value, thought.depth, thought.line) == (value, depth, line)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("bestmove e2e5", "played 'e2e5'"),
        ("bestmove e7e5", "played 'e7e5'"),
        ("bestmove (none)", "played '\\(none\\)'"),
        ("bestmove 0000", "played '0000'"),
        ("bestmove", "named no move"),
        ("bestmove e2e4q", "played 'e2e4q'"),
        ("bestmove \u2654", "played"),
    ],
)
def test_moves_that_are_none_name_engine_and_position(fakes, said, reason):
    agent = fakes.agent(said, "bestmove e2e4")
    with pytest.raises(EngineError, match=reason) as caught:
        agent.choose(START)
    assert str(caught.value).endswith(str(START))
    assert named(agent) == "e2e4"  # it may go on


@pytest.mark.parametrize(
    ("body", "what", "last_words"),
    [
        ("rest()", "did not answer 'go movetime 1000' within 0.5 s", ""),
        ("print('bestm', end='', flush=True); rest()", "did not answer 'go movetime 1000' within 0.5 s", "bestm"),
        ("sys.exit('I am tired')", "died at 'go movetime 1000' (exit status 1)", "stderr: I am tired"),
        ("os.kill(os.getpid(), 9)", "died at 'go movetime 1000' (signal 9)", ""),
        ("os.close(1); rest()", "died at 'go movetime 1000' (it closed its output, and lives)", ""),
        ("[say('info depth 1') for _ in iter(int, 1)]", "talks, and does not answer 'go movetime 1000'", "info depth"),
        ("say('b' * 10**6); rest()", "did not answer 'go movetime 1000' within 0.5 s", "bbb"),
        ("sys.stdout.buffer.write(bytes(range(256))); say(''); sys.exit(3)", "died at 'go movetime 1000'", ""),
    ],
)
def test_failures_come_with_the_last_words(fakes, monkeypatch, body, what, last_words):
    is_short = "within" in what
    monkeypatch.setattr(process, "PATIENCE", HASTY if "lives" in what else PATIENT)
    engine = fakes.engine(f"if command == 'go': {body}")
    if is_short:
        engine.heard = Unhurried(engine.heard, fakes.rests)
    with pytest.raises(EngineError) as caught:
        engine.think("go movetime 1000", HASTY if is_short else PATIENT, Limit(time=1))
    assert what in str(caught.value).splitlines()[0]
    assert last_words in str(caught.value)
    assert engine.process.returncode is not None
    with pytest.raises(EngineError, match="it was stopped before"):
        engine.await_ready()


def test_programs_that_do_not_speak_uci(fakes, monkeypatch):
    monkeypatch.setattr(process, "PATIENCE", PATIENT)
    with pytest.raises(EngineError, match=r"did not answer 'uci' within 0\.5 s; does it speak UCI only with an option"):
        fakes.engine("if command == 'uci': rest()", timeout=HASTY)
    with pytest.raises(EngineError, match="talks, and does not answer 'uci'"):
        fakes.engine("if command == 'uci': [say('hello') for _ in iter(int, 1)]")
    with pytest.raises(EngineError, match="did not answer 'isready' within"):
        fakes.engine("if command == 'isready': rest()", timeout=2 * HASTY).await_ready()
    with pytest.raises(EngineError, match="there is no program 'stockfisch'"):
        load_agent("uci:stockfisch,skill=0", GAME)


def test_options(fakes):
    options = {"skill": "3", "UCI_elo": "1500", "style": "very risky", "clearhash": "", "log": "a b", "time": "0.5"}
    agent = fakes.agent("bestmove e2e4", options={**options, "ucichess960": "1"}, more=OPTIONS)
    assert fakes.log()[1:] == [
        "setoption name Skill Level value 3",
        "setoption name UCI_Elo value 1500",
        "setoption name Style value Very Risky",
        "setoption name Clear Hash",
        "setoption name Log File value a b",
        "setoption name UCI_Chess960 value true",
    ]
    assert agent.name.endswith("skill=3,UCI_elo=1500,style=very risky,clearhash=,log=a b,time=0.5,ucichess960=1")
    agent.choose(START)
    assert fakes.log()[-1] == "go movetime 500"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"skil level": "3"}, "has no option 'skil level'; did you mean 'Skill Level'"),
        ({"UCI": "3"}, "has several options 'UCI': UCI_Elo, UCI_Chess960"),
        ({"": "3"}, "has no option ''"),
        ({"skill": "21"}, "Skill Level=21: it is a whole number from 0 to 20"),
        ({"skill": "1.5"}, r"Skill Level=1\.5: it is a whole number"),
        ({"ucichess960": "maybe"}, "it is true or false"),
        ({"style": "wild"}, "Style=wild is unknown; choose from Solid, Normal, Very Risky"),
        ({"time": "0"}, "time=0 is out of range"),
        ({"depth": "x"}, "depth"),
    ],
)
def test_options_that_there_are_not(fakes, options, reason):
    with pytest.raises(BadParameter, match=reason):
        fakes.agent(options=options, more=OPTIONS)


def test_how_options_are_read():
    read = UciOption.read("option name Style type combo default Normal var Solid var Very Risky")
    assert (read.name, read.kind, read.choices) == ("Style", "combo", ("Solid", "Very Risky"))
    assert UciOption.read("option name Odd type nothing") is None
    assert UciOption.read("option type spin") is None
    spin = UciOption.read("option name N type spin default 1 min -5 max x")
    assert (spin.least, spin.most, spin.checked("-5")) == (-5, None, "-5")


@pytest.mark.parametrize(
    ("spec", "command", "options"),
    [
        ("stockfish", "stockfish", {}),
        ("stockfish,Skill Level=0,TIME=1", "stockfish", {"Skill Level": "0", "time": "1"}),
        ("'my, engine' -x \"a,b\" \\,c,Hash=1", "'my, engine' -x \"a,b\" \\,c", {"Hash": "1"}),
        ("wine e.exe,", "wine e.exe", {}),
        ("'open,Hash=1", "'open,Hash=1", {}),
        ("e,File=a=b", "e", {"File": "a=b"}),
        ("e\\", "e\\", {}),
    ],
)
def test_specs(spec, command, options):
    assert read_spec(spec) == (command, options)


def test_specs_that_make_no_sense():
    for spec in ("stockfish,fast", "stockfish,=1"):
        with pytest.raises(BadParameter, match="is not an option of an engine; write name=value"):
            load_agent(f"uci:{spec}", GAME)
    with pytest.raises(BadParameter, match="an engine needs a command line: uci:stockfish"):
        load_agent("uci:", GAME)
    with pytest.raises(BadParameter, match="no closing quotation"):
        load_agent("uci:'stockfish", GAME)


def test_limits():
    assert go_command(Limit(time=0.0001)) == "go movetime 1"
    assert go_command(Limit(nodes=5, depth=2)) == "go nodes 5 depth 2"
    assert go_command(Limit(playouts=5)) == "go movetime 1000"


def test_limits_that_it_cannot_keep_are_named(fakes):
    note = fakes.agent("bestmove e2e4").choose(START, Limit(playouts=9, time=1)).note
    assert "takes no limit on playouts" in note


def test_a_search_is_stopped(fakes):
    engine = fakes.engine("if command == 'stop': say('bestmove e2e4')")
    agent, stop = UciAgent(GAME, engine), threading.Event()
    threading.Timer(0.2, stop.set).start()
    decision = agent.choose(START, Limit(time=1000, stop=stop))
    assert START.uci_text(decision.action) == "e2e4"
    assert fakes.log()[-2:] == ["go movetime 1000000", "stop"]


def test_other_games_are_refused(fakes):
    with pytest.raises(BadParameter, match="engines over UCI play chess here, not go"):
        UciAgent(load_game("go"), fakes.engine())


def test_an_engine_that_was_refused_is_not_left_behind(fakes):
    command = subprocess.list2cmdline(fakes.command(more=OPTIONS))
    begun = []
    init = UciEngine.__init__

    class Watched(UciEngine):
        def __init__(self, *arguments):
            init(self, *arguments)
            begun.append(self.process)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tengen.agents.uci.UciEngine", Watched)
        with pytest.raises(BadParameter):
            load_agent(f"uci:{command},skill=99", GAME)
    assert [each.returncode for each in begun] == [0]


def test_an_engine_that_hangs_ends_with_its_starter_that_is_killed(fakes):
    stubborn = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nif command == 'quit': time.sleep(600)"
    program = f"""
import os, signal
from tengen.agents.uci import UciEngine
engine = UciEngine({fakes.command(stubborn)!r})
print(engine.process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    await_end(int(ended.stdout))


# Stockfish.


def test_stockfish_plays_a_game(stockfish):
    """Against random moves: python-chess agrees with every move, and it wins by mate."""
    rng, board, position = random.Random(1), chess.Board(), START
    agent = load_agent(f"uci:{stockfish},skill=0,nodes=500", GAME)
    while position.outcome is None:
        if position.ply % 2:
            action = rng.choice(position.legal_actions)
        else:
            decision = agent.choose(position)
            action = decision.action
            assert decision.nodes > 0 and decision.depth > 0 and decision.value is not None
        board.push_uci(position.uci_text(action))
        position = position.play(action)
        assert position.diagram() == board.fen()
    assert position.outcome.winner == 0


def test_stockfish_anywhere(stockfish):
    """Positions from diagrams, in any order; a mate is known as such."""
    agent = load_agent(f"uci:{stockfish},depth=6", GAME)
    for fen, move in [
        ("6k1/5ppp/8/8/8/8/8/R3K2R w KQ - 5 30", "a1a8"),
        ("7k/P7/6K1/8/8/8/8/8 w - - 0 1", "a7a8"),
        ("r3k3/8/8/8/8/8/5PPP/6K1 b - - 0 1", "a8a1"),
    ]:
        position = GAME.from_board(fen)
        decision = agent.choose(position)
        assert position.uci_text(decision.action)[:4] == move
        assert decision.value == 1


def test_stockfish_stops_at_once(stockfish):
    stop, began = threading.Event(), time.monotonic()
    threading.Timer(0.3, stop.set).start()
    load_agent(f"uci:{stockfish}", GAME).choose(START, Limit(time=600, stop=stop))
    assert time.monotonic() - began < PATIENT


def test_a_match_with_stockfish(stockfish):
    """Each worker starts its own; nobody loses but on the board."""
    spec = f"uci:{stockfish},skill=20,depth=6"
    results = play_tournament(Tournament.of(GAME, (spec, "random")), 2, workers=2).in_order()
    assert [record.ending for record in results] == ["", ""]
    assert score_of(spec, results).wins == 2


def test_an_engine_that_cheats_loses(fakes):
    record = play_game(GAME, [fakes.agent("bestmove e2e5"), load_agent("random", GAME)])
    assert record.result == "W+F"
    assert "e2e5" in record.ending
