"""Agents of one's own: from a file, from a package, with whatever they answer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tengen import load_agent, load_game
from tengen.agents import own, specs
from tengen.apps.gtp.engine import Engine
from tengen.rules import plugins
from tengen.rules.errors import BadMove, BadParameter, IllegalMove, TengenError
from tengen.rules.plugins import class_of_file
from tengen.search.limits import Limit

FLAT = Path(__file__).parent.parent.parent / "examples" / "flat.py"
GAME = load_game("tictactoe")
MANY = """
from typing import Annotated

from tengen.rules.board import Between, OneOf
from tengen.search.limits import Decision


class Told:
    "answers as it is told"

    def __init__(self, game, answer, width: Annotated[int, Between(1, 9)] = 3, *, share: float = 0.5, sure=False,
                 mood: Annotated[int, OneOf("calm", "wild")] = 0):
        self.answer, self.options = answer, (width, share, sure, mood)

    def choose(self, position, limit):
        return {"number": 4, "text": "b2", "decision": Decision(4, value=0.5), "no move": "z9", "nothing": None,
                "float": 4.0}[self.answer]


class Broken:
    def __init__(self, game):
        raise ValueError("no luck")

    def choose(self, position, limit):
        pass


class Gameless:
    def __init__(self):
        pass

    def choose(self, position, limit):
        pass
"""


@pytest.fixture
def many(tmp_path):
    path = tmp_path / "many.py"
    path.write_text(MANY)
    return path


@pytest.mark.parametrize("answer", ["number", "text", "decision"])
def test_an_answer_may_be_a_number_a_text_or_a_decision(many, answer):
    agent = load_agent(f"{many}:Told,answer={answer}", GAME)
    decision = agent.choose(GAME.start(), Limit())
    assert (decision.action, decision.principal_variation) == (4, (4,))
    assert decision.seconds > 0
    assert agent.name == f"{many}:Told,answer={answer}"


@pytest.mark.parametrize(("answer", "reason"), [("no move", "z9"), ("nothing", "None is not a move"), ("float", "4.0")])
def test_an_answer_that_is_no_move_is_refused(many, answer, reason):
    with pytest.raises(BadMove, match=reason):
        load_agent(f"{many}:Told,answer={answer}", GAME).choose(GAME.start())


def test_options_are_the_constructors(many):
    spec = f"{many}:Told,answer=text"
    assert load_agent(spec, GAME).agent.options == (3, 0.5, False, 0)
    told = load_agent(f"{spec},width=9,share=-2.5,sure=true,mood=wild", GAME).agent.options
    assert told == (9, -2.5, True, 1)
    assert type(told[2]) is bool
    assert specs.load_agent(spec, GAME, width=5, memory=64).agent.options[0] == 5  # what somebody would have by default


@pytest.mark.parametrize(
    ("rest", "reason"),
    [
        ("", "has several agents; write one of them: "),
        (":answer=text", "has several agents; write one of them: "),
        (":Tolt", "has no agent 'Tolt'; did you mean 'Told'?"),
        (":Told", "Told needs answer=… (str, a text)"),
        (":Told,answer=text,width=10", "width=10 is out of range: width is 1 to 9"),
        (":Told,answer=text,wide=1", "Told has no option 'wide'; did you mean 'width'?"),
        (":Told,answer=text,sure=yes", "sure=yes is unknown"),
        (":Told,answer=text,share", "'share' is not an option; write name=value"),
        (":Broken", "many.py:Broken cannot be made: ValueError: no luck (line "),
        (":Gameless", "many.py:Gameless takes no game: write def __init__(self, game, …)"),
    ],
)
def test_what_is_wrong_is_said(many, rest, reason):
    with pytest.raises(BadParameter) as caught:
        load_agent(f"{many}{rest}", GAME)
    assert reason in str(caught.value)


def test_files_that_are_none(tmp_path):
    for text, reason in (("x = 1", "has no class with choose"), ("x = (1", "does not run: SyntaxError")):
        (tmp_path / f"file{len(text)}.py").write_text(text)
        with pytest.raises(TengenError, match=reason):
            load_agent(f"{tmp_path / f'file{len(text)}.py'}", GAME)
    with pytest.raises(TengenError, match="there is no file"):
        load_agent(f"{tmp_path}/nothing.py:Flat", GAME)
    with pytest.raises(BadParameter, match=r"a file's name ends in \.py"):
        load_agent("./flat", GAME)


def test_a_package_offers_agents(monkeypatch):
    class Entry:
        def __init__(self, name, load):
            self.name, self.load = name, load

    def fail():
        raise ImportError("no module named 'gone'")

    flat = class_of_file(FLAT, "", "agent", "choose")
    entries = {"tengen.agents": [Entry("flat", lambda: flat), Entry("lost", fail)]}
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries[group])
    own.packaged_makers.cache_clear()
    try:
        assert load_agent("flat:playouts=2", GAME).choose(GAME.start()).nodes == 18
        assert {"flat", "lost", "uct"} <= set(specs.agent_names())
        with pytest.raises(BadParameter, match="lost cannot be loaded: ImportError: no module named 'gone'"):
            load_agent("lost", GAME)
        with pytest.raises(BadParameter, match="did you mean 'flat'"):
            load_agent("flatt", GAME)
    finally:
        own.packaged_makers.cache_clear()


def test_the_example_plays_in_a_match_over_gtp_and_finds_a_win():
    position = GAME.from_moves("a1 c3 b1 c2")
    assert GAME.action_text(load_agent(str(FLAT), GAME).choose(position).action) == "c1"
    command = ["match", "tictactoe", f"{FLAT}:Flat,playouts=5", "random", "--games", "6", "--workers", "1", "--json"]
    done = subprocess.run([sys.executable, "-m", "tengen", *command], capture_output=True, text=True, check=True)
    score = json.loads(done.stdout)
    assert score["wins"] + score["draws"] + score["losses"] == 6
    assert score["forfeits"] == []
    talk = Engine(load_game("go:size=3"), f"{FLAT}:playouts=1")
    assert talk.answer("genmove b").startswith("= ")


@pytest.mark.parametrize(
    "spec", ["random", "minimax", "alphabeta", "uct", "puct:net=tictactoe", "policy:net=tictactoe", str(FLAT)]
)
def test_an_agent_refuses_what_it_cannot_answer(spec):
    """A position of another game had an answer once, and a wrong one."""
    agent = load_agent(spec, GAME)
    with pytest.raises(BadParameter, match=r"was loaded for tictactoe, and this is a position of mnk:m=4"):
        agent.choose(load_game("mnk:m=4,n=3,k=3").start())
    with pytest.raises(BadParameter, match=r"100 is no limit; write Limit\(time=1\.0\)"):
        agent.choose(GAME.start(), 100)
    with pytest.raises(BadParameter, match="which is no position"):
        agent.choose(GAME)
    with pytest.raises(IllegalMove, match="the game is over"):
        agent.choose(GAME.from_moves("a1 a2 b1 b2 c1"))


def test_a_game_is_asked_for():
    with pytest.raises(BadParameter, match=r"load_agent takes a game, not 'hex': load_agent\('uct', load_game"):
        load_agent("uct", "hex")
