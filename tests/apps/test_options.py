"""What every command promises: --out is checked before any work, no option is ignored in silence, JSON is alone."""

import json
import os
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tengen.apps import options
from tengen.apps.cli import app
from tengen.rules.errors import BadParameter, TengenError

RUNNER = CliRunner()


def refusal(*arguments):
    """What a command is refused with, by an error that `main` prints in one line."""
    result = RUNNER.invoke(app, [str(argument) for argument in arguments])
    assert isinstance(result.exception, TengenError), f"{arguments}: {result.output}{result.exception!r}"
    assert result.stdout == ""
    return str(result.exception)


WITHOUT_EFFECT = {
    "lab puct --evaluator nope": "--evaluator has no effect here: it goes with --game",
    "lab puct --search gumbel": "--search has no effect here: it goes with --game",
    "lab mcts --simulations 20": "--simulations has no effect here: it goes with --game",
    "lab mcts --cards 20": "--cards has no effect here: it goes with --out",
    "lab mcts --tell 2 --json": "--tell has no effect here: --json",
    "lab bandit --json --out it.svg": "--out has no effect here: --json",
    "lab minimax --depth 3": "--depth has no effect here: it goes with --game",
    "lab minimax --game tictactoe --root min": "--root has no effect here: in a game",
    "lab alphabeta --branching 3": "--branching has no effect here: it goes with --orders",
    "lab alphabeta --orders --steps": "--steps has no effect here: --orders",
    "lab alphabeta --steps --json": "--steps has no effect here: --json",
    "lab tictactoe --prove --seed 2": "--seed has no effect here: --prove",
    "lab tictactoe --first you --seed 2": "--seed has no effect here: --first",
    "lab reversi --port 8001": "--port has no effect here: it goes with --browser",
    "lab queens --runs 3": "--runs has no effect here: it goes with --growth",
    "lab queens 10 --growth --pause 1": "--pause has no effect here: --growth",
    "lab queens 50 --out it.svg": "--out has no effect here: up to 40 queens",
    "lab wumpus --worlds 2 --nerve 1": "--nerve has no effect here: --worlds",
    "reproduce lecture --net foo": "--net has no effect here: lecture",
    "reproduce 3x3 --seed 2": "--seed has no effect here: 3x3",
    "reproduce gobang --net gomoku9 --minutes 1": "--minutes has no effect here: with --net",
    "match tictactoe random random --openings it.txt --opening 3": "--opening has no effect here: --openings",
    "tournament tictactoe random random --openings it.txt --opening 3": "--opening has no effect here: --openings",
    "play tictactoe --second human --seed 3": "--seed has no effect here: no agent plays",
    "gtp tictactoe random --resign-moves 2": "--resign-moves has no effect here: it goes with --resign",
    "train tictactoe --learners 2": "--learners has no effect here: it goes with --cluster",
    "train sl9 --cluster auto": "--cluster has no effect here: sl9",
}


@pytest.mark.parametrize("command", WITHOUT_EFFECT)
def test_an_option_without_effect_is_refused(command):
    assert WITHOUT_EFFECT[command] in refusal(*command.split())


WRITING_FILES = {
    "lab minimax": "it.svg",
    "export run": "it.parquet",
    "games-db export games.db": "it.sgf",
    "records corpus": "it.sgf.gz",
    "analyze game.sgf": "it.sgf",
}


@pytest.mark.parametrize("command", WRITING_FILES)
def test_a_file_that_cannot_be_written_is_refused_before_any_work(command, tmp_path, monkeypatch):
    name, arguments = WRITING_FILES[command], command.split()
    assert "there is no folder" in refusal(*arguments, "--out", tmp_path / "no" / name)
    (tmp_path / name).mkdir()
    assert "is a folder: give the name of a file to write" in refusal(*arguments, "--out", tmp_path / name)
    (tmp_path / name).rmdir()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert f"the folder {tmp_path} is read-only" in refusal(*arguments, "--out", tmp_path / name)


@pytest.mark.parametrize(
    "command", ["match tictactoe random random", "tournament tictactoe random random", "reproduce 3x3"]
)
def test_a_folder_that_cannot_be_made_is_refused_before_any_work(command, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        assert "file is a file: give the name of a folder" in refusal(*command.split(), "--out", path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert f"the folder {tmp_path} is read-only" in refusal(*command.split(), "--out", tmp_path / "new" / "deep")


def test_a_path_that_can_be_written_is_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (None, Path("it.sgf"), tmp_path / "it.sgf"):
        assert options.file_to_write(path) == path
    for path in (None, Path("new"), tmp_path / "new" / "deep", tmp_path):
        assert options.folder_to_write(path) == path


def test_defaults_are_not_refused():
    """Only what was typed in, or stands in the environment, is."""
    own = options.new_app(no_args_is_help=False)

    @own.command()
    def run(context: typer.Context, size: int = 3, name: str = typer.Option("", envvar="OWN_NAME")) -> None:
        options.refuse_unused(context, "why not", "size", "name")

    assert RUNNER.invoke(own, []).exit_code == 0
    for arguments, env, words in [(["--size", "3"], {}, "--size"), ([], {"OWN_NAME": "x"}, "--name")]:
        result = RUNNER.invoke(own, arguments, env=env)
        assert isinstance(result.exception, BadParameter)
        assert str(result.exception) == f"{words} has no effect here: why not"


@pytest.mark.parametrize(
    "command",
    [
        "games",
        "agents",
        "presets",
        "cache",
        "perft tictactoe 2",
        "best tictactoe --agent minimax:depth=2",
        "solve tictactoe --moves a1b2",
        "match tictactoe random random --games 2 --workers 1",
        "lab bandit --steps 20 --runs 2",
        "lab minimax",
        "lab alphabeta",
        "lab alphabeta --orders --height 2",
        "lab mcts",
        "lab puct",
        "lab queens",
        "lab wumpus",
    ],
)
def test_json_stands_alone_on_stdout(command):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    result = RUNNER.invoke(app, [*command.split(), "--json"])
    assert result.exit_code == 0, result.output
    json.loads(result.stdout, parse_constant=refuse)


def test_an_experiment_tells_programs_what_it_found(tmp_path):
    result = RUNNER.invoke(app, ["reproduce", "3x3", "--json", "--out", str(tmp_path / "out")])
    found = json.loads(result.stdout)
    assert Path(found["report"]).read_text().startswith("<!DOCTYPE html>")
    assert "as there" in {claim["verdict"] for claim in found["claims"]}
    assert "the document" in result.stderr  # what it says while it works


def test_time_is_the_agents_limit():
    """Iterative deepening stops when the time is over, whatever the agent's own limit says."""
    command = ["best", "connect4", "--agent", "alphabeta:time=60", "--time", "0.05", "--json"]
    assert json.loads(RUNNER.invoke(app, command).stdout)["seconds"] < 30


def test_presets():
    rows = {row["name"]: row for row in json.loads(RUNNER.invoke(app, ["presets", "--json"]).stdout)}
    assert rows["gobang"]["net"] == {"kind": "gobang"}  # which has no blocks
    assert {"tictactoe", "gomoku15", "sl9", "rl9", "value9"} <= set(rows)
    assert (rows["tictactoe"]["game"], rows["tictactoe"]["net"]["blocks"]) == ("tictactoe", 2)
    assert rows["sl9"]["net"] == {"layers": 7, "channels": 64} and rows["rl9"]["net"] is None
    assert all(row["generations"] > 0 and row["about"] for row in rows.values())
    printed = " ".join(RUNNER.invoke(app, ["presets"]).stdout.split())
    assert all(f"{name}: {row['about']}" in printed for name, row in rows.items())
