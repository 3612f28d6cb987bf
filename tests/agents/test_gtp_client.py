"""Engines over pipes: what they may say, what they do wrong, and whole games with two real ones."""

import gc
import os
import random
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from processes import await_end, await_so, is_there

from tengen import load_agent, load_game
from tengen.agents import guard, process
from tengen.agents.gtp import COLOURS, RESIGNED, GtpAgent, GtpEngine
from tengen.agents.process import EngineError
from tengen.arena.match import score_of
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
    elif command == "list_commands":
        say("= play\\ngenmove\\nboardsize\\nclear_board\\n{more}\\n")
    elif command == "quit":
        say("=\\n")
        break
    else:
        say("=\\n")
"""


class Fakes:
    """Engines of a few lines: `body` begins with an `if` on `command`, and may use `words` and `say`."""

    def __init__(self, folder):
        self.folder, self.engines = folder, []

    def command(self, body, more=""):
        path = self.folder / f"fake{len(self.engines)}.py"
        path.write_text(FAKE.format(body=textwrap.indent(textwrap.dedent(body).strip(), "    "), more=more))
        return [sys.executable, "-I", "-S", str(path)]

    def engine(self, body="if not command: pass", more="", timeout=PATIENT):
        self.engines.append(GtpEngine(self.command(body, more), timeout))
        return self.engines[-1]

    def log(self):
        """What the last engine was told since this was asked before."""
        path = self.folder / f"fake{len(self.engines) - 1}.py.log"
        lines = path.read_text().splitlines()
        path.write_text("")
        return lines

    def rests(self):
        """Whether the last engine has said all that it will ever say."""
        return (self.folder / f"fake{len(self.engines) - 1}.py.rests").exists()


class Unhurried:
    """What an engine says, for who begins to count the seconds when it has nothing more to say."""

    def __init__(self, heard, rests):
        self.heard, self.rests = heard, rests

    def get(self, timeout):
        await_so(self.rests)
        return self.heard.get(timeout=timeout)


@pytest.fixture
def fakes(tmp_path):
    fakes = Fakes(tmp_path)
    yield fakes
    for engine in fakes.engines:
        engine.close()


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("= E3\n", "E3"),
        ("=\n", ""),
        ("=E3\n", "E3"),
        ("=12 E3\n", "E3"),
        ("= 12\n", "12"),
        ("=\tE3 \n", "E3"),
        ("= E3\r\n\r", "E3"),
        ("\n\n# a comment\n= E3\n", "E3"),
        ("= one\n  two\n# three\n", "one\n  two\n# three"),
        ("=\n   A B\n 2 . .\n", "   A B\n 2 . ."),
        ("= caf\u00e9 \x07!\n", "caf\u00e9 !"),
    ],
)
def test_answers(fakes, said, answer):
    engine = fakes.engine(f"if command == 'speak': sys.stdout.buffer.write({said.encode()!r} + b'\\n'); say('')")
    assert engine.ask("speak") == answer
    assert engine.ask("play black a1") == ""  # what came after the answer confuses nobody


def test_a_refusal_does_no_harm(fakes):
    engine = fakes.engine("if command == 'komi': say('?3 no such komi\\n')")
    with pytest.raises(EngineError, match=r"^python\S* refused 'komi 99': no such komi$"):
        engine.ask("komi 99")
    assert "genmove" in engine.commands


@pytest.mark.parametrize(
    ("body", "what", "last_words"),
    [
        ("rest()", "did not answer 'speak' within 0.5 s", ""),
        ("print('= E', end='', flush=True); rest()", "did not answer 'speak' within 0.5 s", "stdout: = E"),
        ("say('Welcome!')", "answered 'speak' with 'Welcome!', which is not GTP", "stdout: Welcome!"),
        ("sys.stdout.buffer.write(bytes(range(256))); say('')", "which is not GTP", ""),
        ("sys.exit('I am tired')", "died at 'speak' (exit status 1)", "stderr: I am tired"),
        ("os.kill(os.getpid(), 9)", "died at 'speak' (signal 9)", ""),
        ("os.close(1); rest()", "died at 'speak' (it closed its output, and lives)", ""),
        (
            "say('= for'); [say('ever') for _ in iter(int, 1)]",
            "gave an answer to 'speak' that does not end",
            "stdout: ever",
        ),
        ("say('=' * 10**6); rest()", "did not answer 'speak' within 0.5 s", "==="),
        ("sys.stderr.write('help\\n' * 10**5); sys.exit(2)", "died at 'speak' (exit status 2)", "stderr: help"),
    ],
)
def test_failures_come_with_the_last_words(fakes, monkeypatch, body, what, last_words):
    is_short = "within" in what
    monkeypatch.setattr(process, "PATIENCE", HASTY if "lives" in what else PATIENT)
    engine = fakes.engine(f"if command == 'speak': {body}")
    assert engine.ask("name") == ""
    if is_short:
        engine.heard = Unhurried(engine.heard, fakes.rests)
    with pytest.raises(EngineError) as caught:
        engine.ask("speak", HASTY if is_short else PATIENT)
    message = str(caught.value)
    assert message.startswith(engine.name)
    assert what in message.splitlines()[0]
    assert f"command: {engine.command}" in message
    assert last_words in message  # what it says of being stopped may follow
    assert len(message) < 4000
    assert engine.process.returncode is not None
    with pytest.raises(EngineError, match="cannot be asked 'name': it was stopped before"):
        engine.ask("name")


def test_the_last_words_are_the_last(fakes):
    engine = fakes.engine("if command == 'speak': [print(i, file=sys.stderr) for i in range(1000)]; sys.exit(3)")
    with pytest.raises(EngineError) as caught:
        engine.ask("speak")
    assert str(caught.value).splitlines()[-8:] == [f"    stderr: {i}" for i in range(992, 1000)]


def test_complaints_do_not_block(fakes):
    engine = fakes.engine("if command == 'speak': sys.stderr.write('warning ' * 10**6); say('= done\\n')")
    assert engine.ask("speak") == "done"


def test_engines_that_do_not_start(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "PATIENCE", PATIENT)
    with pytest.raises(EngineError, match="there is no program 'gnugoo', neither on PATH nor in /usr/games"):
        GtpEngine("gnugoo --mode gtp")
    broken = tmp_path / "broken"
    broken.write_text("this is no program")
    broken.chmod(0o755)
    with pytest.raises(EngineError, match="broken cannot be started: Exec format error"):
        GtpEngine([str(broken)])
    engine = GtpEngine([sys.executable, "-c", "import sys; sys.exit('usage: fake')"], PATIENT)
    with pytest.raises(EngineError, match=r"died at 'name' \(exit status 1\)\n.*\n    stderr: usage: fake"):
        engine.ask("name")


def test_an_engine_that_will_not_go_is_killed(fakes):
    engine = fakes.engine(
        """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if command == 'quit': time.sleep(60)
        """
    )
    engine.ask("name")
    engine.close()
    assert engine.process.returncode == -9
    engine.close()


def test_an_engine_that_nobody_holds_ends(fakes, monkeypatch):
    monkeypatch.setattr(process, "PATIENCE", PATIENT)
    agent = GtpAgent(load_game("reversi"), GtpEngine(fakes.command("if not command: pass"), PATIENT))
    left = agent.engine.process
    del agent
    gc.collect()
    assert left.returncode == 0


@pytest.mark.parametrize("last", ["", "raise SystemError", "threading.Thread(target=time.sleep, args=(0.1,)).start()"])
def test_engines_end_at_exit(fakes, last):
    program = f"""
import threading, time
from tengen.agents.gtp import GtpEngine
engine = GtpEngine({fakes.command("if command == 'quit': time.sleep(60)")!r})
engine.ask("name")
print(engine.process.pid, flush=True)
{last}
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert "Fatal" not in ended.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(ended.stdout), 0)


STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if command == 'speak':
    say(f'= {os.getpid()}\\n')
    while True: time.sleep(60)
"""


def test_an_engine_that_hangs_ends_with_its_starter_that_is_killed(fakes):
    """Neither the end of its input nor SIGTERM would end it."""
    program = f"""
import os, signal
from tengen.agents.gtp import GtpEngine
GtpEngine({fakes.command("if not command: pass")!r}).ask("name")
engine = GtpEngine({fakes.command(STUBBORN)!r})
print(engine.ask("speak"), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.returncode == -9, ended.stderr
    await_end(int(ended.stdout))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not show what a process was told")
@pytest.mark.parametrize("parent", ["", "os.fork() and os._exit(0)"])
def test_what_an_engine_started_ends_with_it(fakes, parent):
    """Also in a session of its own, and without a parent."""
    child = f"import os, time; os.setsid(); {parent}\nprint(os.getpid(), flush=True); time.sleep(600)"
    engine = fakes.engine(
        f"""
        if command == 'speak':
            import subprocess
            child = subprocess.Popen([sys.executable, '-c', {child!r}], stdout=subprocess.PIPE)
            say(f'= {{int(child.stdout.readline())}}\\n')
        """
    )
    number = int(engine.ask("speak"))
    assert is_there(number)
    engine.close()
    await_end(number)


DEAF = "import time; input(); print('= genmove\\n', flush=True); time.sleep(600)"  # notices no pipe that closes
INNER = f"""
import sys
from tengen.agents.gtp import GtpEngine
inner = GtpEngine([sys.executable, "-c", {DEAF!r}])
for line in sys.stdin:
    print(f"= {{inner.process.pid}}", end="\\n\\n", flush=True)
"""


def test_the_engines_of_an_engine_end_with_it():
    """One that plays by another program, as `tengen gtp` can: when it is killed, its own guard is still there."""
    outer = GtpEngine([sys.executable, "-c", INNER])
    number = int(outer.ask("speak"))
    assert is_there(number)
    outer.process.kill()
    outer.close()
    await_end(number)


def test_a_guard_that_was_ended_is_replaced():
    watch = guard.EngineGuard()
    watch.begun(2**22 + 1, "one")
    watch._process.kill()
    watch._process.wait()
    watch.begun(2**22 + 2, "two")
    assert watch._process.poll() is None
    assert watch._engines == {f"{2**22 + 1} one", f"{2**22 + 2} two"}
    watch._process.stdin.close()
    assert watch._process.wait(60) == 0


def test_new_moves_alone_are_sent(fakes):
    game = load_game("go:size=9,komi=5.5,handicap=2")
    agent = GtpAgent(game, fakes.engine("if command == 'genmove': say('= C4\\n')"))
    begin = ["boardsize 9", "clear_board", "komi 5.5", "fixed_handicap 2"]
    assert fakes.log() == ["list_commands", *begin]
    position = game.from_moves("a1 b2")
    decision = agent.choose(position)
    assert game.action_text(decision.action) == "c4"
    assert fakes.log() == [*begin, "play white a1", "play black b2", "genmove white"]
    with pytest.raises(EngineError, match="played 'C4': c4 is occupied at move 5"):
        agent.choose(position.play(decision.action).play("pass"))
    assert fakes.log() == ["play black pass", "genmove white"]
    agent.choose(game.from_moves("a1 b2 c1"))
    assert fakes.log() == [*begin, "play white a1", "play black b2", "play white c1", "genmove black"]
    agent.choose(game.from_moves("a1 b2 c1 d1"))  # not what it chose itself
    assert fakes.log() == [*begin, "play white a1", "play black b2", "play white c1", "play black d1", "genmove white"]


def reversi_with_a_pass():
    """A position in which only a pass is left, with many moves to come."""
    rng = random.Random(1)
    while True:
        position = load_game("reversi").start()
        while position.outcome is None and position.ply < 50:
            position = position.play(rng.choice(position.legal_actions))
            if position.legal_actions == [64]:
                return position


def test_a_pass_of_reversi_is_never_sent(fakes):
    stuck = reversi_with_a_pass()
    agent = GtpAgent(stuck.game, fakes.engine("if command == 'genmove': say('= resign\\n')", more="set_game\\n"))
    assert fakes.log() == ["list_commands", "set_game Othello", "boardsize 8", "clear_board"]
    assert agent.choose(stuck).action == 64
    assert fakes.log() == []
    after = stuck.play("pass")
    agent.choose(after)
    told = fakes.log()
    assert len(told) == 2 + stuck.ply + 1
    assert not [line for line in told if "pass" in line]
    assert told[-1] == f"genmove {COLOURS[after.to_play]}"


@pytest.mark.parametrize(("spec", "action"), [("go:size=5", "pass"), ("reversi", "e6")])
def test_resigning(fakes, spec, action):
    game = load_game(spec)
    agent = GtpAgent(game, fakes.engine("if command == 'genmove': say('= Resign\\n')"))
    decision = agent.choose(game.start())
    assert (game.action_text(decision.action), decision.value, decision.note) == (action, -1, RESIGNED)
    fakes.log()
    agent.choose(game.start().play(decision.action).play(game.start().play(decision.action).legal_actions[0]))
    assert "clear_board" not in fakes.log()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("a1", "a1 flips nothing at move 2"),
        ("d4", "d4 is occupied at move 2"),
        ("pass", "pass is not allowed while a move flips something at move 2"),
        ("z9", "z9 is off the board"),
        ("", "'' is not a point"),
        ("good question", "'good question' is not a point"),
    ],
)
def test_illegal_moves_name_engine_move_and_position(fakes, answer, reason):
    game = load_game("reversi")
    agent = GtpAgent(game, fakes.engine(f"if command == 'genmove': say('= {answer}\\n')"))
    position = game.from_moves("d3")
    with pytest.raises(EngineError) as caught:
        agent.choose(position)
    assert f"{agent.name} played {answer!r}: {reason}" in str(caught.value)
    assert str(caught.value).endswith(str(position))


def test_time_is_told_to_who_listens(fakes):
    game = load_game("go:size=5")
    body = "if command == 'genmove': say('= pass\\n')"
    agent = GtpAgent(game, fakes.engine(body, more="time_settings\\ntime_left\\n"))
    fakes.log()
    for limit in (Limit(), Limit(time=2.5), Limit(time=2.5), Limit(time=0.1, playouts=9), Limit()):
        note = agent.choose(game.start(), limit).note
        assert ("takes no limit on playouts" in note) == (limit.playouts is not None)
    told = [line for line in fakes.log() if line.startswith(("time", "genmove"))]
    fast = ["time_settings 0 2 1", "time_left black 2 1", "genmove black", "time_left black 2 1", "genmove black"]
    faster = ["time_settings 0 1 1", "time_left black 1 1", "genmove black"]
    assert told == ["genmove black", *fast, *faster, "time_settings 0 1 0", "genmove black"]

    deaf = GtpAgent(game, fakes.engine(body))
    fakes.log()
    assert "takes no limit on time" in deaf.choose(game.start(), Limit(time=1)).note
    assert fakes.log() == ["boardsize 5", "clear_board", "komi 7.5", "genmove black"]


def test_what_cannot_be_played(fakes):
    with pytest.raises(BadParameter, match="engines over GTP play go, hex, reversi here, not gomoku"):
        GtpAgent(load_game("gomoku"), fakes.engine())
    with pytest.raises(EngineError, match="does not know the command 'genmove'"):
        GtpAgent(load_game("go"), fakes.engine("if command == 'list_commands': say('= play\\n')"))
    with pytest.raises(EngineError, match="refused 'boardsize 6': unacceptable size"):
        GtpAgent(load_game("reversi:size=6"), fakes.engine("if command == 'boardsize': say('? unacceptable size\\n')"))
    agent = GtpAgent(load_game("go:size=3"), fakes.engine())
    with pytest.raises(EngineError, match="from the start of go:size=3, not one from a diagram"):
        agent.choose(load_game("go:size=3").from_board("X../.O./...", "X"))
    with pytest.raises(BadParameter, match="was loaded for go:size=3, and this is a position of go:size=5"):
        agent.choose(load_game("go:size=5").start())


def test_specs(fakes):
    """What follows the colon is a command line, with commas, colons and blanks in quotes."""
    command = [
        *fakes.command("if command == 'genmove': say('= ' + sys.argv[1].split(',')[1][-2:] + '\\n')"),
        "a,b:c d3",
    ]
    game = load_game("reversi")
    agent = load_agent("gtp:" + subprocess.list2cmdline(command), game)
    assert game.action_text(agent.choose(game.start()).action) == "d3"
    assert agent.name.startswith("python")
    for spec, message in [("gtp", "needs a command line"), ("gtp:'gnugo", "not a command line: no closing quotation")]:
        with pytest.raises(BadParameter, match=message):
            load_agent(spec, game)
    for spec in ("gtp:gnugoo", "gtp:gnugoo mine.py", "gomocup:gnugoo mine.py:Flat"):  # no file of an agent
        with pytest.raises(EngineError, match="there is no program 'gnugoo'"):
            load_agent(spec, load_game("gomoku") if spec.startswith("gomocup") else game)


def stones(position, player):
    return {position.game.coordinates.text(int(cell)) for cell in np.flatnonzero(position.board == player + 1)}


@pytest.mark.parametrize(("spec", "plies"), [("go:size=9", 400), ("go:size=13,handicap=9", 8), ("go:handicap=8", 8)])
def test_gnugo_plays_a_game(gnugo, spec, plies):
    """Its board is ours at every move, handicap stones included."""
    game, rng = load_game(spec), random.Random(4)
    agent = load_agent(f"gtp:{gnugo} --mode gtp --level 1 --chinese-rules", game)
    assert agent.name == "gnugo --mode gtp --level 1 --chinese-rules"
    position = game.start()
    while position.outcome is None and position.ply < plies:
        if position.ply % 2:
            position = position.play(rng.choice(position.legal_actions))
            continue
        position = position.play(agent.choose(position, Limit(time=1)).action)
        for player, colour in enumerate(COLOURS):
            assert stones(position, player) == set(agent.engine.ask(f"list_stones {colour}").lower().split())


def test_gnugo_with_wrong_options(gnugo):
    with pytest.raises(EngineError, match=r"within 0\.5 s; does it speak GTP only with an option, as gnugo --mode gtp"):
        GtpAgent(load_game("go"), GtpEngine([gnugo], HASTY))
    with pytest.raises(EngineError, match=r"gnugo died at 'list_commands' \(exit status"):
        load_agent(f"gtp:{gnugo} --mode gtp --no-such-option", load_game("go"))


def test_gtp_rhino_anywhere(gtp_rhino):
    """Random games, with an opinion asked at every ply: it is legal, and its board is ours, passes included."""
    game, rng, passes = load_game("reversi"), random.Random(7), set()
    agent = load_agent(f"gtp:{gtp_rhino} -l 1", game)
    for _ in range(4):
        position = game.start()
        while position.outcome is None:
            decision = agent.choose(position)
            assert decision.action in position.legal_actions
            if decision.action == game.cells:
                passes.add(position.to_play)
            else:
                rows = [line.split()[1:] for line in agent.engine.ask("showboard").splitlines()[2:]]
                assert "/".join("".join(row) for row in rows) == position.play(decision.action).diagram()
            position = position.play(rng.choice(position.legal_actions))
    assert passes == {0, 1}


def test_gtp_rhino_plays_only_8x8(gtp_rhino):
    with pytest.raises(EngineError, match="gtp-rhino refused 'boardsize 6': unacceptable size"):
        load_agent(f"gtp:{gtp_rhino}", load_game("reversi:size=6"))
    with pytest.raises(EngineError, match="gtp-rhino refused 'set_game Go': unsupported game"):
        load_agent(f"gtp:{gtp_rhino}", load_game("go:size=8"))


def test_a_match_with_engines(gtp_rhino):
    """Each worker starts its own."""
    rhino = f"gtp:{gtp_rhino} -l 2"
    results = play_tournament(Tournament.of(load_game("reversi"), (rhino, "random")), 4, workers=2)
    assert score_of(rhino, results.in_order()).wins == 4
