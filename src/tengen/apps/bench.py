"""Speeds beside a peer, in the same run: a machine's mood then moves both."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from tengen.games import load_game
from tengen.rules.playouts import perft, playouts

ROUNDS = 3
PEERS = {  # our game, OpenSpiel's
    "tictactoe": "tic_tac_toe",
    "connect4": "connect_four",
    "gomoku": "gomoku(size=15)",
    "reversi": "othello",
    "go:size=9": "go(board_size=9)",
}


def bench_rules(seconds: float, as_json: bool) -> None:
    """Random playouts a second on one thread, beside OpenSpiel's C++ rollouts; then perft."""
    rows: list[dict[str, Any]] = []
    if not as_json:
        print(
            f"random playouts a second, one thread, medians of {ROUNDS}\n{'':24}{'tengen':>12}{'OpenSpiel':>12}  ratio"
        )
    for spec, peer_name in PEERS.items():
        peer = _open_spiel_playouts(peer_name)
        mine, theirs = [], []
        for _ in range(ROUNDS):
            mine.append(_rate(_our_playouts(spec), seconds))
            if peer is not None:
                theirs.append(_rate(peer, seconds))
        rows.append(_row(f"playouts {spec}", statistics.median(mine), statistics.median(theirs) if theirs else None))
        if not as_json:
            _print_row(rows[-1])
    start = load_game("reversi").start()
    leaves = perft(start, 9)
    begin = time.perf_counter()
    perft(start, 9)
    rows.append(_row("perft reversi", leaves / (time.perf_counter() - begin), None))
    if as_json:
        print(json.dumps(rows))
        return
    print(f"\nReversi perft 9: {rows[-1]['ours'] / 1e6:.1f} M leaves a second (the last ply is counted, not played)")
    if rows[0]["peer"] is None:
        print("OpenSpiel is not installed, so there is no peer: pip install open_spiel")


def _row(name: str, ours: float, peer: float | None) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": peer, "ratio": ours / peer if peer else None}


def _print_row(row: dict[str, Any]) -> None:
    peer, ratio = (f"{row['peer']:12,.0f}", f"{row['ratio']:6.1f}×") if row["peer"] else (f"{'–':>12}", "     –")
    print(f"{row['name']:24}{row['ours']:12,.0f}{peer} {ratio}", flush=True)


def _rate(work: Callable[[int], Any], seconds: float) -> float:
    """How many a second, from a run that takes about `seconds`; `work(count)` does `count`."""
    count = 16
    while True:
        begin = time.perf_counter()
        work(count)
        passed = time.perf_counter() - begin
        if passed >= seconds / 2:
            return count / passed
        count = int(count * min(16.0, 1.2 * seconds / max(passed, 1e-6))) + 1


def _our_playouts(spec: str) -> Callable[[int], Any]:
    start = load_game(spec).start()
    return lambda count: playouts(start, count, seed=count)


def _open_spiel_playouts(name: str) -> Callable[[int], Any] | None:
    """A search of one simulation whose evaluator makes all the rollouts: that is OpenSpiel's own C++ loop."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game(name)

    def work(count: int) -> None:
        evaluator = pyspiel.RandomRolloutEvaluator(count, 1)
        pyspiel.MCTSBot(game, evaluator, 2.0, 1, 10, False, 1, False).step(game.new_initial_state())

    return work
