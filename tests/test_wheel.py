"""The wheel in an empty environment plays, serves and trains: nothing that it needs lies beside the package."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SMALL = ("run.generations=1", "selfplay.positions=64", "selfplay.games=8", "evaluation.every=0", "net.channels=4")


PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
CONSTRAINTS = ["--constraint", str(ROOT / "constraints.txt")]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel that TENGEN_WHEEL names, or one that is built now."""
    if path := os.environ.get("TENGEN_WHEEL"):
        return Path(path).resolve()
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT], check=True, timeout=600)
    (built,) = folder.glob("tengen-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of a new environment's commands."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True, timeout=120)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([*PIP, "--python", python, "install", *CONSTRAINTS, f"{wheel}[train]"], check=True, timeout=1800)
    return python.parent


def environment(**more):
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | more


def run(installed, folder, *arguments, **more):
    command = [installed / "tengen", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment(**more), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_the_wheel_plays(installed, tmp_path):
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", run(installed, tmp_path, "--version").split()[-1])
    best = json.loads(run(installed, tmp_path, "best", "connect4", "--agent", "puct:net=connect4", "--json"))
    assert best["action"] == "4"
    assert json.loads(run(installed, tmp_path, "match", "tictactoe", "uct", "random", "--games", "4", "--json"))["wins"]


@pytest.mark.long
def test_the_wheel_trains(installed, tmp_path):
    settings = [f"--set={text}" for text in SMALL]
    run(installed, tmp_path, "train", "tictactoe", "--run", "run", *settings)
    assert (tmp_path / "run" / "nets" / "000001.onnx").is_file()


@pytest.mark.long
def test_the_wheel_serves(installed, tmp_path):
    check_served(installed, tmp_path)


@pytest.mark.long
def test_what_a_user_installs_for_themselves_plays_and_serves(wheel, tmp_path):
    """`pip install --user`: NumPy lies outside the interpreter's own folders."""
    home = {"PYTHONUSERBASE": str(tmp_path / "home"), "PIP_BREAK_SYSTEM_PACKAGES": "1"}
    python = sys._base_executable
    install = [*PIP, "--python", python, "install", "--user", "--ignore-installed", *CONSTRAINTS, str(wheel)]
    subprocess.run(install, check=True, timeout=1800, env=environment(**home))
    commands = tmp_path / "home" / "bin"
    assert "wins" in run(
        commands, tmp_path, "play", "tictactoe", "--first", "uct:playouts=200", "--second", "random", **home
    )
    check_served(commands, tmp_path, **home)


def check_served(commands, folder, **more):
    """`tengen serve` brings its page, and knows its games."""
    command = [commands / "tengen", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, env=environment(**more), stdout=subprocess.PIPE, text=True) as server:
        try:
            address = re.search(r"http://\S+", server.stdout.readline())[0]
            with urllib.request.urlopen(address, timeout=60) as page:
                assert b"Tengen" in page.read()
            with urllib.request.urlopen(f"{address}/api/games", timeout=60) as answer:
                assert "gomoku" in {game["name"] for game in json.load(answer)["games"]}
        finally:
            server.terminate()
