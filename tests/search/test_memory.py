"""Searches keep to their memory: measured as the system sees it, in a process of their own."""

import subprocess
import sys

import pytest

MEASURE = """
import resource, sys
from tengen import load_agent, load_game
from tengen.search.limits import Limit

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # megabytes

spec, game, count = sys.argv[1], load_game(sys.argv[2]), int(sys.argv[3])
position = game.start()
load_agent(spec + ",memory=1", game).choose(position, Limit(nodes=100))  # everything is compiled
before = peak()
found = load_agent(spec + ",memory=" + sys.argv[4], game).choose(position, Limit(nodes=count))
print(before, peak(), found.nodes, found.note, sep="|")
"""


def measure(spec, game, nodes, memory):
    """Megabytes before and after a search, the nodes it made, and what it says."""
    command = [sys.executable, "-c", MEASURE, spec, game, str(nodes), str(memory)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout.strip()
    before, after, made, note = answer.split("|")
    return float(before), float(after), int(made), note


@pytest.mark.parametrize(("spec", "game"), [("uct:threads=1", "connect4"), ("alphabeta:width=0", "connect4")])
def test_a_search_stays_within_its_memory(spec, game):
    before, after, made, note = measure(spec, game, 2_500_000, 40)
    assert made == 2_500_000  # a full tree or table goes on
    assert after - before < 40 * 1.05 + 8
    assert ("full" in note) == spec.startswith("uct")


@pytest.mark.long
@pytest.mark.parametrize(("spec", "game"), [("uct:threads=2", "connect4"), ("alphabeta:width=0", "gomoku")])
def test_a_gigabyte_is_a_gigabyte(spec, game):
    """Tables and trees limited to 700 MB: the whole process, compiler and all, stays under 1 GB."""
    _, after, _, _ = measure(spec, game, 40_000_000, 700)
    assert after < 1000
