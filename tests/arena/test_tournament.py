"""Tournaments: fair, repeatable, resumed where they stopped, and ended by no agent."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from itertools import islice

import pytest
from processes import await_end, await_so

from tengen import load_game
from tengen.arena.folder import opened
from tengen.arena.match import score_of
from tengen.arena.openings import random_openings, read_openings
from tengen.arena.tournament import Tournament, play_tournament
from tengen.arena.workers import Bench, play_pairings
from tengen.records.store import Store
from tengen.rules.errors import BadParameter

GAME = load_game("tictactoe")


def test_every_opening_is_played_with_both_colours_by_every_pair():
    plan = Tournament.of(load_game("gomoku:size=9"), ("random", "random:seed=2", "random:seed=3"), plies=3)
    games = list(plan.pairings(4))
    assert len(games) == 3 * 4
    by_pair = {}
    for game in games:
        by_pair.setdefault(frozenset(game.agents), []).append(game)
    assert len(by_pair) == 3
    for played in by_pair.values():
        assert played[0].agents == played[1].agents[::-1]
        assert played[0].opening == played[1].opening != played[2].opening == played[3].opening
        assert len(played[0].opening) == 3
        assert [game.opening for game in played] == [game.opening for game in next(iter(by_pair.values()))]
    assert len({game.number for game in games}) == len(games)


def test_more_games_are_the_same_games_and_more():
    plan = Tournament.of(GAME, ("random", "random"))
    few, many = list(plan.pairings(4)), list(plan.pairings(8))
    assert few == many[:4]
    assert list(plan.pairings(8, {game.number for game in few})) == many[4:]


def test_nobody_passes_at_random_who_could_move():
    go = load_game("go:size=2")
    assert all(go.cells not in line for line in islice(random_openings(go, 2, 1), 50))


def test_random_openings_do_not_repeat_while_others_are_found():
    lines = list(islice(random_openings(load_game("gomoku:size=8"), 2, 1), 200))
    assert len(set(lines)) == 200
    assert len(set(islice(random_openings(GAME, 1, 1), 30))) == 9  # there are no more, and it goes on
    with pytest.raises(BadParameter, match="is over after 9 random plies"):
        next(random_openings(GAME, 9, 1))


def test_openings_from_a_file(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("a1 b2  # a corner\n\n# nothing\nb2a1\n")
    assert read_openings(path, GAME) == [(6, 4), (4, 6)]
    path.write_text("a1 b2\na1 a1\n")
    with pytest.raises(BadParameter, match=r"openings.txt, line 2: a1 is occupied at move 2"):
        read_openings(path, GAME)
    path.write_text("# nothing\n")
    with pytest.raises(BadParameter, match="holds no opening; write moves as 'a3 …'"):
        read_openings(path, GAME)
    with pytest.raises(BadParameter, match=r"cannot be read: .*missing.txt: No such file"):
        read_openings(tmp_path / "missing.txt", GAME)


def test_a_seed_that_no_player_takes_is_told_before_any_game():
    for seed in (-1, 2**63):
        with pytest.raises(BadParameter, match=f"seed={seed} is out of range: seed is 0 to"):
            Tournament.of(load_game("tictactoe"), ["random", "random"], seed=seed)
    plan = Tournament.of(load_game("tictactoe"), ["random", "random"], seed=2**61)
    assert [record.ending for record in map(Bench().play, plan.pairings(2))] == ["", ""]


def moves_of(results):
    return {number: record.moves for number, record in results.games.items()}


def test_a_stronger_agent_wins_and_the_seed_repeats_on_any_number_of_cores():
    plan = Tournament.of(GAME, ("uct:playouts=300", "random"))
    here = play_tournament(plan, 20, workers=0)
    score = score_of("uct:playouts=300", here.in_order())
    assert score.losses <= 2  # some of the random openings are lost
    assert score.wins >= 12
    assert moves_of(play_tournament(plan, 20, workers=2)) == moves_of(here)


def test_an_agent_against_itself_has_two_names():
    plan = Tournament.of(GAME, ("random", "uct:playouts=10", "random"))
    assert plan.names == ("random #1", "uct:playouts=10", "random #2")
    results = play_tournament(plan, 2, workers=0)
    assert {frozenset(record.players) for record in results.games.values()} == {
        frozenset(pair) for pair in [plan.names[:2], plan.names[1:], plan.names[::2]]
    }


def test_what_is_stored_is_not_played_again(tmp_path):
    plan = Tournament.of(GAME, ("uct:playouts=20", "random"))
    whole = play_tournament(plan, 10, workers=0)
    seen = []

    def stop_after_three(results, fresh):
        return len(results.games) < 3

    def count(results, fresh):
        seen.append(len(results.games))
        return True

    with Store(tmp_path / "games.db") as store:
        play_tournament(plan, 10, store, 0, stop_after_three)
    with Store(tmp_path / "games.db") as store:
        results = play_tournament(plan, 10, store, 0, count)
    assert seen == [3, 4, 5, 6, 7, 8, 9, 10]
    assert moves_of(results) == moves_of(whole)


SUICIDE = """
    import os, sys, signal
    from tengen import load_game
    from tengen.agents import specs, agent
    from tengen.arena.match import play_game

    class Fatal(agent.RandomAgent):
        def choose(self, position, limit=None):
            if position.ply >= 4:
                {deed}
            return super().choose(position)

    specs.AGENTS["fatal"] = specs.Maker("dies", {{}}, lambda name, game, options: Fatal(name, game, 1))

    game = load_game("mnk:m=5,n=5,k=4")  # compiled in every process before a clock runs there
    play_game(game, [agent.RandomAgent("random", game, 1)] * 2)
"""


@pytest.mark.parametrize(
    ("deed", "move_time", "words"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", None, "fatal failed: its process died (exit status -9)"),
        ("import time; time.sleep(1000)", 2.0, "fatal failed: it did not answer within 2 s and is taken to hang"),
    ],
)
def test_a_process_that_dies_or_hangs_costs_one_game(tmp_path, monkeypatch, deed, move_time, words):
    """A sitecustomize module brings the fatal agent into every process."""
    module = textwrap.dedent(SUICIDE.format(deed=deed))
    (tmp_path / "fatal_agent.py").write_text(module)
    (tmp_path / "run.py").write_text(
        textwrap.dedent(f"""
        import fatal_agent, json
        from tengen import load_game
        from tengen.arena import workers
        workers.GRACE = 1.0
        from tengen.arena.tournament import Tournament, play_tournament
        if __name__ == "__main__":
            plan = Tournament.of(load_game("mnk:m=5,n=5,k=4"), ("fatal", "random"), move_time={move_time})
            results = play_tournament(plan, 4, workers=2)
            print(json.dumps([[r.result, r.ending, list(r.players), len(r.moves)] for r in results.in_order()]))
        """)
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "run.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    games = json.loads(done.stdout.splitlines()[-1])
    assert len(games) == 4, done.stderr
    for result, ending, players, moves in games:
        assert ending == words
        assert result == ("W+F" if players[0] == "fatal" else "B+F")
        assert moves in (4, 5)


def test_a_worker_that_cannot_begin_is_no_agents_fault(tmp_path):
    (tmp_path / "run.py").write_text(
        "from tengen import load_game\n"
        "from tengen.arena.tournament import Tournament, play_tournament\n"
        "play_tournament(Tournament.of(load_game('tictactoe'), ('random', 'random')), 4, workers=2)\n"
    )
    done = subprocess.run([sys.executable, "run.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert "TengenError: a process for games could not begin" in done.stderr


def test_an_agent_that_cannot_be_made_has_lost():
    plan = Tournament(GAME, ("random", "gtp:there-is-no-such-engine"))
    ((_, record),) = islice(play_pairings(plan.pairings(1), workers=0), 1)
    assert record.result == "B+F"
    assert "cannot begin" in record.ending


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "tengen", *arguments], capture_output=True, text=True, timeout=300, **options
    )


def test_match_on_the_command_line():
    result = run("match", "tictactoe", "uct:playouts=100", "random", "--games", "10", "--json")
    answer = json.loads(result.stdout)
    assert answer["wins"] + answer["draws"] + answer["losses"] == 10
    assert {"wins", "draws", "losses", "elo", "elo_low", "elo_high"} <= set(answer)
    words = run("match", "tictactoe", "uct:playouts=100", "random", "--games", "4").stdout
    assert "uct:playouts=100 against random, 4 games" in words
    wrong = run("match", "tictactoe", "uct:playouts=100", "randm", "--games", "4")
    assert wrong.returncode == 2
    assert wrong.stderr.strip() == "tengen: no agent is called 'randm'; did you mean 'random'?"


def test_games_that_repeat_others_are_told():
    agents = "minimax:depth=1", "minimax:depth=2"
    words = run("match", "tictactoe", *agents, "--games", "6", "--opening", "0").stdout
    assert "4 of 6 games repeat another" in words
    assert (
        json.loads(run("match", "tictactoe", *agents, "--games", "6", "--json", "--opening", "0").stdout)["repeated"]
        == 4
    )


def test_sprt_stops_a_match_early():
    """One worker: of two, one may play a hundred games while the other still compiles its first."""
    test = "--games", "400", "--sprt", "elo0=0,elo1=100", "--workers", "1", "--json"
    result = run("match", "tictactoe", "uct:playouts=200", "random", *test)
    answer = json.loads(result.stdout)
    assert answer["sprt"]["verdict"] == "H1"
    assert answer["wins"] + answer["draws"] + answer["losses"] < 200


STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
told, way = sys.argv[1:]
for line in sys.stdin:
    if way == "hangs" or line.startswith("clear_board"):
        with open(told, "w") as file:
            print(os.getpid(), os.getppid(), file=file, flush=True)
    if way == "hangs":
        break
    print("= genmove\\n", flush=True)
while True:
    time.sleep(60)
"""


@pytest.mark.parametrize("way", ["hangs", "answers"])
def test_what_a_killed_match_began_ends_with_it(tmp_path, way):
    """A worker that waits for an engine, or thinks itself; and the engine, which hears neither EOF nor SIGTERM."""
    engine, told = tmp_path / "engine.py", tmp_path / "told"
    engine.write_text(STUBBORN)
    agents = "uct:time=3600", f"gtp:{sys.executable} {engine} {told} {way}"
    command = [sys.executable, "-m", "tengen", "match", "reversi", *agents, "--games", "1", "--workers", "1"]
    match = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        await_so(lambda: told.exists() and len(told.read_text().split()) == 2)
        time.sleep(0.5)  # the worker thinks by now
    finally:
        match.kill()
        match.wait()
    await_end(*map(int, told.read_text().split()))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_tournament_on_the_command_line_is_resumed_after_a_kill(tmp_path, number):
    arguments = ["tournament", "tictactoe", "random", "uct:playouts=20", "uct:playouts=60", "--games", "40"]
    command = [sys.executable, "-m", "tengen", *arguments, "--out", "arena", "--json"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        time.sleep(0.1)
        if (tmp_path / "arena/games.db").is_file() and stored(tmp_path) > 5:
            break
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert ("the same command goes on" in said) == (number == signal.SIGINT)
    before = stored(tmp_path)
    assert before > 0
    done = run(*arguments, "--out", "arena", "--json", cwd=tmp_path)
    answer = json.loads(done.stdout)
    assert stored(tmp_path) == 120
    assert [player["games"] for player in answer["players"]] == [80, 80, 80]
    assert answer["players"][-1]["name"] == "random"  # the table begins with the best
    assert (tmp_path / "arena/report.html").stat().st_size > 1000
    other = run("tournament", "tictactoe", "random", "uct:playouts=20", "--games", "2", "--out", "arena", cwd=tmp_path)
    assert other.returncode == 2
    assert "holds another tournament" in other.stderr


def stored(folder):
    with Store(folder / "arena/games.db") as store:
        return sum(1 for _ in store.games())


def test_best_on_the_command_line():
    answer = json.loads(
        run("best", "tictactoe", "--agent", "uct:playouts=5000", "--moves", "a1 b2 a2 c3", "--json").stdout
    )
    assert answer["action"] == "a3"
    assert answer["value"] == 1
    assert answer["pv"][0] == "a3"
    assert set(answer) == {"action", "value", "pv", "policy", "nodes", "depth", "seconds", "note"}
    words = run("best", "tictactoe", "--agent", "uct:playouts=5000", "--moves", "a1 b2 a2 c3").stdout
    assert "X plays a3" in words
    assert "+1.000 for X" in words


ENGINE = """#!{python}
import sys, time
for line in sys.stdin:
    word = line.split()[0]
    if word == "genmove":
        {deed}
    print("= " + ("list_commands genmove play boardsize clear_board komi quit".replace(" ", chr(10))
                  if word == "list_commands" else ""), end=chr(10) * 2, flush=True)
    if word == "quit":
        break
"""


def make_engine(tmp_path, deed):
    """A script that starts an engine and is not replaced by it, as wrappers are."""
    engine, script = tmp_path / "engine.py", tmp_path / "engine.sh"
    engine.write_text(ENGINE.format(python=sys.executable, deed=deed))
    script.write_text(f"#!/bin/sh\necho started >> {tmp_path}/starts\n{sys.executable} {engine}\n")
    script.chmod(0o755)
    return f"gtp:{script}"


def alive(tmp_path):
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if str(tmp_path / "engine") in line]


def test_an_engine_that_hangs_is_gone_with_all_it_started(tmp_path, monkeypatch):
    """Both hang: our own agents would first have to be compiled, and might lose by that."""
    monkeypatch.setattr("tengen.arena.workers.GRACE", 2.0)
    spec = make_engine(tmp_path, "time.sleep(1000)")
    plan = Tournament.of(load_game("go:size=5"), (spec, f"{spec} too"), move_time=0.5)
    results = play_tournament(plan, 2, workers=1)
    assert all("taken to hang" in record.ending for record in results.games.values())
    assert not alive(tmp_path)


def test_an_engine_that_resigns_stays(tmp_path):
    spec = make_engine(tmp_path, 'print("= resign", end=chr(10) * 2, flush=True); continue')
    plan = Tournament(load_game("go:size=5"), ("random", spec))
    results = play_tournament(plan, 6, workers=0)
    assert {record.result for record in results.games.values()} == {"B+R", "W+R"}
    assert (tmp_path / "starts").read_text().count("started") == 2  # one for each side


def test_two_do_not_play_in_one_folder(tmp_path):
    plan = Tournament.of(GAME, ("random", "random"))
    with opened(tmp_path, plan), pytest.raises(BadParameter, match="another process plays in"), opened(tmp_path, plan):
        pass
