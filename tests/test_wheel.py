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


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of a new environment's commands; and what the wheel is called."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT], check=True, timeout=600)
    (wheel,) = folder.glob("tengen-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True, timeout=120)
    python = folder / "venv" / "bin" / "python"
    constraints = ["--constraint", ROOT / "constraints.txt"]
    subprocess.run([*pip, "--python", python, "install", *constraints, f"{wheel}[train]"], check=True, timeout=1800)
    return python.parent


def run(installed, folder, *arguments):
    command = [installed / "tengen", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
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
    command = [installed / "tengen", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = re.search(r"http://\S+", server.stdout.readline())[0]
            with urllib.request.urlopen(address, timeout=60) as page:
                assert b"Tengen" in page.read()
            with urllib.request.urlopen(f"{address}/api/games", timeout=60) as answer:
                assert "gomoku" in {game["name"] for game in json.load(answer)["games"]}
        finally:
            server.terminate()
