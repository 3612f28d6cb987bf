"""Gomocup engines over pipes: what they are told, what they may say, what they do wrong, and one that is real: ours."""

import gc
import subprocess
import sys
import textwrap

import pytest

from tengen import load_agent, load_game
from tengen.agents.gomocup import FOREVER, GomocupAgent, GomocupEngine
from tengen.agents.process import EngineError
from tengen.arena.match import play_game
from tengen.rules.errors import BadParameter
from tengen.search.limits import Limit

PATIENT = 20.0  # seconds for what should take none, on a machine that has other things to do
HASTY = 2.0  # seconds for what never comes

FAKE = """
import os, sys, time

def say(text):
    print(text, flush=True)

for line in sys.stdin:
    with open(__file__ + ".log", "a") as log:
        log.write(line)
    command, *words = line.split() or [""]
{body}
    elif command in ("START", "RESTART"):
        say("OK")
    elif command == "END":
        break
"""


class Fakes:
    """Engines of a few lines: `body` begins with an `if` on `command`, and may use `words` and `say`."""

    def __init__(self, folder):
        self.folder, self.engines = folder, []

    def command(self, body):
        path = self.folder / f"fake{len(self.engines)}.py"
        path.write_text(FAKE.format(body=textwrap.indent(textwrap.dedent(body).strip(), "    ")))
        return [sys.executable, "-I", "-S", str(path)]

    def engine(self, body="if not command: pass", timeout=PATIENT):
        self.engines.append(GomocupEngine(self.command(body), timeout))
        return self.engines[-1]

    def agent(self, *moves, spec="gomoku:size=9"):
        """An agent that answers with these lines, one for each move that it is asked for."""
        body = f"""
        if command in ('BEGIN', 'TURN', 'DONE'):
            moves = globals().setdefault('moves', {list(moves)!r})
            say(moves.pop(0))
        """
        return GomocupAgent(load_game(spec), self.engine(body))

    def log(self):
        """What the last engine was told since this was asked before."""
        path = self.folder / f"fake{len(self.engines) - 1}.py.log"
        lines = path.read_text().splitlines()
        path.write_text("")
        return lines


@pytest.fixture
def fakes(tmp_path):
    fakes = Fakes(tmp_path)
    yield fakes
    for engine in fakes.engines:
        engine.close()


def text(agent, decision):
    return agent.game.action_text(decision.action)


BEGIN = ["START 9", "INFO rule 0", "INFO game_type 1", "INFO timeout_match 0", "INFO max_memory 0"]


def test_new_moves_alone_are_sent(fakes):
    agent = fakes.agent("4,4", "0,0", "1,1", "8,0", "4,4")
    game = agent.game
    assert text(agent, agent.choose(game.start(), Limit(time=2.5))) == "e5"
    assert fakes.log() == [*BEGIN, "INFO timeout_turn 2500", f"INFO time_left {FOREVER}", "BEGIN"]
    position = game.from_moves("e5 c9")
    assert text(agent, agent.choose(position, Limit(time=2.5))) == "a9"
    assert fakes.log() == [f"INFO time_left {FOREVER}", "TURN 2,0"]
    assert text(agent, agent.choose(game.from_moves("e5 c9 b2"), Limit(time=2.5))) == "b8"  # not what it chose itself
    board = ["BOARD", "4,4,2", "2,0,1", "1,7,2", "DONE"]
    assert fakes.log() == [f"INFO time_left {FOREVER}", "RESTART", *board]
    assert text(agent, agent.choose(game.from_moves("e5 c9 b2 b8 a1"))) == "i9"
    assert fakes.log() == ["INFO timeout_turn 1000", f"INFO time_left {FOREVER}", "TURN 0,8"]
    with pytest.raises(EngineError, match="played '4,4': e5 is occupied at move 3"):
        agent.choose(game.from_moves("e5 c9"))


def test_the_second_player_is_told_the_first_move(fakes):
    agent = fakes.agent("0,0")
    agent.choose(agent.game.from_moves("e5"))
    assert fakes.log()[-1] == "TURN 4,4"


@pytest.mark.parametrize(("rule", "number"), [("freestyle", 0), ("standard", 1), ("renju", 4)])
def test_rules(fakes, rule, number):
    fakes.agent(spec=f"gomoku:rule={rule}").engine.close()
    assert fakes.log()[:2] == ["START 15", f"INFO rule {number}"]


def test_an_engine_that_cannot_restart_is_started(fakes):
    body = """
        if command == 'RESTART': say('UNKNOWN')
        elif command in ('BEGIN', 'DONE'): say('0,0')
        """
    agent = GomocupAgent(load_game("gomoku:size=9"), fakes.engine(body))
    for _ in range(2):
        agent.choose(agent.game.start())
    assert fakes.log()[-8:] == [f"INFO time_left {FOREVER}", "RESTART", *BEGIN, "BEGIN"]


def test_diagrams(fakes):
    agent = fakes.agent("8,8", "8,8")
    agent.choose(agent.game.from_board("XO......./X.......O" + "/........." * 7, "X"))
    assert fakes.log()[-6:] == ["BOARD", "0,0,1", "1,0,2", "0,1,1", "8,1,2", "DONE"]
    with pytest.raises(
        EngineError, match="can be shown only boards of gomoku:size=9 on which Black and White took turns"
    ):
        agent.choose(agent.game.from_board("XX......." + "/........." * 8, "X"))
    with pytest.raises(BadParameter, match="was loaded for gomoku:size=9, and this is a position of gomoku"):
        agent.choose(load_game("gomoku").start())


@pytest.mark.parametrize(
    "said",
    ["4,4", " 4, 4\r", "MESSAGE hello\nDEBUG 1,1\n\nINFO DEPTH 3\n4,4", "message 3,3\n4,4"],
)
def test_answers(fakes, said):
    agent = fakes.agent(said)
    assert text(agent, agent.choose(agent.game.start())) == "e5"


def test_a_suggestion_is_taken(fakes):
    body = "if command == 'BEGIN': say('SUGGEST 4,4')\nelif command == 'PLAY': say(words[0])"
    agent = GomocupAgent(load_game("gomoku:size=9"), fakes.engine(body))
    assert text(agent, agent.choose(agent.game.start())) == "e5"
    assert fakes.log()[-1] == "PLAY 4,4"


@pytest.mark.parametrize(
    ("body", "what", "last_words"),
    [
        ("time.sleep(60)", "did not answer 'BEGIN' within 2 s", ""),
        ("say('MESSAGE hm'); time.sleep(60)", "did not answer 'BEGIN' within 2 s", "stdout: MESSAGE hm"),
        ("say('seven'); time.sleep(60)", "answered 'seven', which is no move such as 7,7", "stdout: seven"),
        ("say('-1,3'); time.sleep(60)", "answered '-1,3', which is no move such as 7,7", "stdout: -1,3"),
        ("sys.stdout.buffer.write(bytes(range(14, 256))); say('')", "which is no move such as 7,7", ""),
        ("sys.exit('I am tired')", "died at 'BEGIN' (exit status 1)", "stderr: I am tired"),
        ("os.kill(os.getpid(), 9)", "died at 'BEGIN' (signal 9)", ""),
        ("[say('MESSAGE ever') for _ in iter(int, 1)]", "talks, and does not answer 'BEGIN'", "stdout: MESSAGE ever"),
    ],
)
def test_failures_come_with_the_last_words(fakes, monkeypatch, body, what, last_words):
    monkeypatch.setattr(GomocupAgent, "_patience", lambda self, seconds: HASTY if " within " in what else PATIENT)
    agent = GomocupAgent(load_game("gomoku:size=9"), fakes.engine(f"if command == 'BEGIN': {body}"))
    with pytest.raises(EngineError) as caught:
        agent.choose(agent.game.start())
    message = str(caught.value)
    assert what in message.splitlines()[0]
    assert f"command: {agent.name}" in message
    assert last_words in message  # an engine whose pipe breaks may add words of its own
    assert len(message) < 4000
    assert agent.engine.process.returncode is not None
    with pytest.raises(EngineError, match="it was stopped before"):
        agent.choose(agent.game.start())


def test_refusals(fakes):
    engine = fakes.engine("if command == 'START': say('ERROR ' + words[0] + ' is too big')")
    with pytest.raises(EngineError, match=r"refused 'START 15': ERROR 15 is too big"):
        GomocupAgent(load_game("gomoku"), engine)
    engine = fakes.engine("if command == 'START': say('Welcome!')")
    with pytest.raises(EngineError, match="answered 'START 15' with 'Welcome!', not with OK"):
        GomocupAgent(load_game("gomoku"), engine)
    with pytest.raises(BadParameter, match="engines of Gomocup play gomoku, not reversi"):
        GomocupAgent(load_game("reversi"), fakes.engine())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("9,0", "played '9,0', off the board: x and y are 0 to 8"),
        ("4,4", "played '4,4': e5 is occupied at move 2"),
    ],
)
def test_illegal_moves_name_engine_move_and_position(fakes, answer, reason):
    agent = fakes.agent(answer)
    position = agent.game.from_moves("e5")
    with pytest.raises(EngineError) as caught:
        agent.choose(position)
    assert f"{agent.name} {reason}" in str(caught.value)
    assert str(caught.value).endswith(str(position))


def test_limits_that_it_cannot_keep_are_named(fakes):
    agent = fakes.agent("4,4")
    assert "takes no limit on nodes" in agent.choose(agent.game.start(), Limit(time=1, nodes=5)).note


def test_an_engine_that_nobody_holds_ends(fakes):
    agent = GomocupAgent(load_game("gomoku"), GomocupEngine(fakes.command("if not command: pass"), PATIENT))
    process = agent.engine.process
    del agent
    gc.collect()
    assert process.returncode == 0


def test_specs():
    for spec, message in [("gomocup", "needs a command line: gomocup:"), ("gomocup:'x", "not a command line")]:
        with pytest.raises(BadParameter, match=message):
            load_agent(spec, load_game("gomoku"))
    with pytest.raises(EngineError, match="there is no program 'pbrain-nobody'"):
        load_agent("gomocup:pbrain-nobody", load_game("gomoku"))


def test_games_with_our_own_engine():
    """Renju, where it also matters that it is told the rule; a game that either side forfeits ends otherwise."""
    game = load_game("gomoku:size=9,rule=renju")
    command = subprocess.list2cmdline([sys.executable, "-m", "tengen", "gomocup", "random"])
    engine, strong = load_agent(f"gomocup:{command}", game), load_agent("alphabeta:depth=2", game)
    assert play_game(game, (engine, strong)).result == "W+"
    assert play_game(game, (strong, engine), opening=list(game.read_moves("e5 e6"))).result == "B+"
