"""Speeds beside a peer, in the same run: a machine's mood then moves both."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tengen.agents.specs import load_agent
from tengen.apps.options import print_json
from tengen.games import load_game
from tengen.knowledge.evaluations import evaluation_for
from tengen.knowledge.go import uniform_go
from tengen.rules.playouts import perft, playouts
from tengen.search.alphabeta import AlphaBeta
from tengen.search.limits import Limit
from tengen.search.uct import Uct

ROUNDS = 3
LATE = [("gomoku", "uct"), ("go", "uct"), ("gomoku", "alphabeta"), ("connect4", "alphabeta"), ("reversi", "alphabeta")]
MIDDLE_GAMES = {  # for alpha-beta: the same positions every time
    "gomoku": "h8 i9 g9 i7 h10 h7",
    "gomoku:rule=renju": "h8 i9 g9 i7 h10 h7",
    "connect4": "4 4 4 4 3 5",
    "reversi": "f5 f6 e6 f4 g6 d7 c3 c5 d3 g4 c6 c4",
    "hex": "b4 g5 f6 d7 e4 g3 h3 d9",
    "go:size=9": "e5 c3 g7 c7 g3",
    "chess": "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7",
}
PEERS = {  # our game, OpenSpiel's
    "tictactoe": "tic_tac_toe",
    "connect4": "connect_four",
    "gomoku": "gomoku(size=15)",
    "reversi": "othello",
    "draughts": "checkers",
    "hex:swap=0": "hex(board_size=11)",
    "go:size=9": "go(board_size=9)",
    "chess": "chess",
    "breakthrough": "breakthrough",
}


def bench_rules(seconds: float, as_json: bool) -> None:
    """Random playouts a second on one thread, beside OpenSpiel's C++ rollouts; then perft."""
    title = "random playouts a second, one thread"
    rows = _beside_open_spiel(title, "playouts", _our_playouts, _open_spiel_playouts, seconds, as_json)
    rows.append(_like_for_like_go(seconds))
    if not as_json:
        _print_row(rows[-1])
    start = load_game("reversi").start()
    leaves = perft(start, 9)
    begin = time.perf_counter()
    perft(start, 9)
    rows.append(_row("perft reversi", leaves / (time.perf_counter() - begin), None))
    if as_json:
        print_json(rows)
        return
    print(f"\nReversi perft 9: {rows[-1]['ours'] / 1e6:.1f} M leaves a second (the last ply is counted, not played)")


def bench_search(seconds: float, as_json: bool) -> None:
    """UCT playouts a second on one thread, beside OpenSpiel's C++ MCTSBot; then two threads beside one."""
    title = "UCT playouts a second, one thread"
    rows = _beside_open_spiel(title, "uct", _our_searches, _open_spiel_searches, seconds, as_json)
    game = load_game("gomoku")
    for threads in (1, 2):
        searched = Uct(game, threads=threads, memory=1024).search(game.start(), Limit(time=4 * seconds))
        rows.append(_row(f"uct gomoku, {threads} threads", searched.nodes / searched.seconds, None))
    rows[-1] = _row("uct gomoku, 2 threads beside 1", rows[-1]["ours"], rows.pop(-2)["ours"])
    if not as_json:
        _print_row(rows[-1])
        print("\nalpha-beta positions a second, one thread, in the middle of a game")
    for spec, moves in MIDDLE_GAMES.items():
        rows.append(_row(f"alphabeta {spec}", _alphabeta_rate(spec, moves, seconds), None))
        if not as_json:
            _print_row(rows[-1])
    if as_json:
        print_json(rows)


def _alphabeta_rate(spec: str, moves: str, seconds: float) -> float:
    """Positions a second with the game's own evaluation, its notes kept up to date."""
    game = load_game(spec)
    position, rates = game.from_moves(moves), []
    for _ in range(ROUNDS):
        found = AlphaBeta(game, evaluation_for(game)).search(position, Limit(time=seconds))
        rates.append(found.nodes / found.seconds)
    return statistics.median(rates)


def bench_limits(seconds: float, as_json: bool) -> None:
    """How late searches with a time limit of 0.1 s answer while every core is busy with something else."""
    limit, rows = Limit(time=0.1), list[dict[str, Any]]()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        for spec, agent_spec in LATE:
            agent, position = load_agent(agent_spec, load_game(spec)), load_game(spec).start()
            late: list[float] = []
            while sum(late) + len(late) * 0.1 < 5 * seconds and position.outcome is None:
                began = time.perf_counter()
                position = position.play(agent.choose(position, limit).action)
                late.append(time.perf_counter() - began - 0.1)
            rows.append({"name": f"{agent_spec} {spec}", "worst_ms": 1000 * max(late), "searches": len(late)})
            if not as_json:
                print("{name:24}{worst_ms:8.1f} ms late at worst, of {searches} searches".format(**rows[-1]))
    finally:
        for process in busy:
            process.kill()
    if as_json:
        print_json(rows)


BENCHES: dict[str, Callable[[float, bool], None]] = {
    "rules": bench_rules,
    "search": bench_search,
    "limits": bench_limits,
}
Work = Callable[[int], Any]  # does as much as it is told


def _beside_open_spiel(
    title: str,
    label: str,
    ours: Callable[[str], Work],
    theirs: Callable[[str], Work | None],
    seconds: float,
    as_json: bool,
) -> list[dict[str, Any]]:
    """Measures both in turn, a few rounds, for every game that both have."""
    rows: list[dict[str, Any]] = []
    if not as_json:
        print(f"{title}, medians of {ROUNDS}\n{'':32}{'tengen':>12}{'OpenSpiel':>12}  ratio")
    for spec, peer_name in PEERS.items():
        mine, peer = ours(spec), theirs(peer_name)
        rounds = [(_rate(mine, seconds), _rate(peer, seconds) if peer else None) for _ in range(ROUNDS)]
        median = statistics.median([rate for rate, _ in rounds])
        rows.append(_row(f"{label} {spec}", median, statistics.median(r for _, r in rounds if r) if peer else None))
        if not as_json:
            _print_row(rows[-1])
    if not as_json and rows[0]["peer"] is None:
        print("OpenSpiel is not installed, so there is no peer: pip install open_spiel")
    return rows


def _row(name: str, ours: float, peer: float | None) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": peer, "ratio": ours / peer if peer else None}


def _print_row(row: dict[str, Any]) -> None:
    peer, ratio = (f"{row['peer']:12,.0f}", f"{row['ratio']:6.1f}×") if row["peer"] else (f"{'–':>12}", "     –")
    print(f"{row['name']:32}{row['ours']:12,.0f}{peer} {ratio}", flush=True)


def _rate(work: Work, seconds: float) -> float:
    """How many a second, from a run that takes about `seconds`; `work(count)` does `count`."""
    count = 16
    while True:
        begin = time.perf_counter()
        work(count)
        passed = time.perf_counter() - begin
        if passed >= seconds / 2:
            return count / passed
        count = int(count * min(16.0, 1.2 * seconds / max(passed, 1e-6))) + 1


def _our_playouts(spec: str) -> Work:
    start = load_game(spec).start()
    return lambda count: playouts(start, count, seed=count)


def _like_for_like_go(seconds: float) -> dict[str, Any]:
    """Our Go rollouts leave eyes open, OpenSpiel's do not; so here are both with its policy and its longest game."""
    start, peer = load_game("go:size=9").start(), _open_spiel_playouts(PEERS["go:size=9"])
    scratch = start.states, start.game.new_states(1), np.empty(start.game.actions, np.int32)
    mine, theirs = [], []
    for _ in range(ROUNDS):
        mine.append(_rate(lambda count: uniform_go(start.game.parameters, *scratch, count, 1, 2 * 81), seconds))
        if peer is not None:
            theirs.append(_rate(peer, seconds))
    return _row("uniform playouts go:size=9", statistics.median(mine), statistics.median(theirs) if theirs else None)


def _open_spiel_playouts(name: str) -> Work | None:
    """A search of one simulation whose evaluator makes all the rollouts: that is OpenSpiel's own C++ loop."""
    return _open_spiel_bot(name, lambda count: (count, 2.0, 1, 10, False))


def _our_searches(spec: str) -> Work:
    """A search from the start that nothing is known of yet."""
    start = load_game(spec).start()
    return lambda count: Uct(start.game, memory=1024).search(start, Limit(playouts=count))


def _open_spiel_searches(name: str) -> Work | None:
    """The same by OpenSpiel's C++ bot, one rollout a simulation, its solver on as ours is."""
    return _open_spiel_bot(name, lambda count: (1, 1.4, count, 1024, True))


def _open_spiel_bot(name: str, settings: Callable[[int], tuple[int, float, int, int, bool]]) -> Work | None:
    """OpenSpiel's search from the start; None if it is not installed.

    `settings` says, for an amount of work: rollouts at a leaf, exploration, simulations, megabytes, whether it solves.
    """
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game(name)

    def work(count: int) -> None:
        rollouts, exploration, simulations, memory, solves = settings(count)
        evaluator = pyspiel.RandomRolloutEvaluator(rollouts, 1)
        bot = pyspiel.MCTSBot(game, evaluator, exploration, simulations, memory, solves, 1, False)
        bot.step(game.new_initial_state())

    return work
