"""`tengen games-db` as a person uses it: what it prints, and what never reaches the terminal."""

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import tengen
from tengen.apps.gamesdb import app
from tengen.records.files import read_records, write_records
from tengen.records.record import Record
from tengen.records.store import Store
from tengen.rules.errors import TengenError

EXAMPLE = str(Path(__file__).parent.parent.parent / "examples" / "breakthrough.py")
EVIL = "\x1b[31mred\x07 [bold]x\u202e"


def games_db(folder, *arguments, text=""):
    """A command within this process, which is quicker; errors as `tengen` tells them."""
    with contextlib.chdir(folder):
        result = CliRunner(env={"COLUMNS": "140"}).invoke(app, list(map(str, arguments)), input=text)
    stderr, status = result.stderr, result.exit_code
    if isinstance(result.exception, TengenError):
        stderr, status = f"tengen: {result.exception}\n", 2
    elif result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return SimpleNamespace(stdout=result.stdout, stderr=stderr, returncode=status)


def process(folder, *arguments):
    """The same as a person starts it."""
    command = [sys.executable, "-m", "tengen", "games-db", *arguments]
    environment = {**os.environ, "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=folder, env=environment)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with files of games, and a store of some."""
    folder = tmp_path_factory.mktemp("games")
    won = Record.of(tengen.load_game("gomoku").from_moves("h8 a1 h9 a2 h10 a3 h11 a4 h12"), ("uct:playouts=9", "Ann"))
    othello = replace(Record.of(tengen.load_game("reversi").from_moves("f5 d6 c3"), (EVIL, "Bob")), date="2026-07-29")
    pawns = Record.of(tengen.load_game(f"{EXAMPLE}:size=5").from_moves("a2a3"), ("Ann", "Bob"))
    write_records(folder / "some.sgf", [won, replace(othello, comments={1: EVIL}, ending=EVIL)])
    write_records(folder / "one.psq", [replace(won, seconds=(1.5,) * 9)])
    write_records(folder / "pawns.sgf", [pawns])
    (folder / "broken.sgf").write_text("(;GM[\x1b[31mred])")
    with Store(folder / "games.db") as store:
        store.add_all(read_records(folder / "some.sgf"))
        store.add(pawns, store.match({"game": "breakthrough", "agents": [EVIL, "b"]}), 0)
    return folder


def test_import(folder):
    result = games_db(folder, "import", "new.db", "some.sgf", "one.psq")
    assert result.stdout == "3 games from 2 files\n", result.stderr
    refused = process(folder, "import", "new.db", "some.sgf", "broken.sgf")
    assert refused.returncode == 2
    told = refused.stderr.splitlines()[-1]  # on a fresh machine it also says what it compiles
    assert told.startswith("tengen: broken.sgf: no game of ours is GM[\ufffd[31mred")
    told = json.loads(games_db(folder, "import", "new.db", "pawns.sgf", "--game", f"{EXAMPLE}:size=5", "--json").stdout)
    assert told == {"imported": 1, "ids": [4]}
    assert games_db(folder, "import", "another.db", "broken.sgf").returncode == 2
    assert not (folder / "another.db").exists()


def test_list(folder):
    shown = process(folder, "list", "games.db").stdout
    assert "\x1b" not in shown and "\x07" not in shown and "\u202e" not in shown
    assert "\ufffd[31mred\ufffd" in shown
    assert "1/0" in shown and shown.endswith("3 games\n")
    assert "1 of 3 games; --limit 0 shows all" in games_db(folder, "list", "games.db", "--limit", 1).stdout
    (row,) = json.loads(games_db(folder, "list", "games.db", "--game", "gomoku", "--player", "uct", "--json").stdout)
    assert (row["id"], row["first"], row["result"], row["plies"]) == (1, "uct:playouts=9", "B+", 9)
    assert games_db(folder, "list", "games.db", "--winner", "Ann").stdout == "0 games\n"
    matches = games_db(folder, "matches", "games.db").stdout
    assert "game=breakthrough" in matches and "\x1b" not in matches


def test_show(folder):
    shown = games_db(folder, "show", "games.db", 2).stdout
    assert "\x1b" not in shown
    assert "moves     f5 d6 c3" in shown and "at 1      \ufffd[31m" in shown and " 3 .  . (X)" in shown
    facts = json.loads(games_db(folder, "show", "games.db", 2, "--json").stdout)
    assert (facts["moves"], facts["players"]) == (["f5", "d6", "c3"], [EVIL, "Bob"])
    assert "never makes us run code" in games_db(folder, "show", "games.db", 3).stderr
    assert "a2a3" in games_db(folder, "show", "games.db", 3, "--game", f"{EXAMPLE}:size=5").stdout
    assert "--game gomoku has no effect" in games_db(folder, "show", "games.db", 1, "--game", "gomoku").stderr


def test_export(folder):
    result = games_db(folder, "export", "games.db", "--game", "reversi", "--out", "out.sgf")
    assert result.stdout == "1 game to out.sgf\n", result.stderr
    assert read_records(folder / "out.sgf")[0].date == "2026-07-29"
    nothing = games_db(folder, "export", "games.db", "--result", "0", "--out", "none.sgf")
    assert nothing.stderr == "tengen: no game matches: nothing was written\n"
    assert not (folder / "none.sgf").exists()


def test_stats(folder):
    counts = json.loads(games_db(folder, "stats", "games.db", "--json").stdout)
    assert counts["games"]["gomoku"] == {"games": 1, "first": 1, "draw": 0, "second": 0, "unknown": 0}
    assert counts["players"]["Ann"] == {"games": 2, "wins": 0, "draws": 0, "losses": 1, "unknown": 1}
    assert "100.0%" in games_db(folder, "stats", "games.db").stdout


def test_delete(folder):
    games_db(folder, "import", "less.db", "some.sgf")
    asked = games_db(folder, "delete", "less.db", 1, text="n\n")
    assert asked.returncode == 1 and "Delete 1 game from less.db?" in asked.stderr + asked.stdout
    assert games_db(folder, "delete", "less.db", 1, text="y\n").stdout.endswith("1 game deleted\n")
    assert games_db(folder, "delete", "less.db", 1, "--yes").stderr == "tengen: less.db has no game 1\n"
    assert games_db(folder, "delete", "less.db", "--yes").stderr.startswith("tengen: say what to delete")
    assert [row["id"] for row in json.loads(games_db(folder, "list", "less.db", "--json").stdout)] == [2]


def test_errors_and_help(folder):
    missing = games_db(folder, "list", "nothing.db")
    assert missing.stderr.startswith("tengen: there is no store nothing.db; this makes one: tengen games-db import")
    assert not (folder / "nothing.db").exists()
    assert "no store of games, nor any SQLite file" in games_db(folder, "list", "some.sgf").stderr
    assert "tengen games-db import games.db some.sgf" in " ".join(games_db(folder, "--help").stdout.split())
    assert "list games.db --game gomoku --player uct" in games_db(folder, "list", "--help").stdout
