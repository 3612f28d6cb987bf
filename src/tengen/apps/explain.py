"""Decisions and matches in words and numbers."""

from __future__ import annotations

import json
import math
import sys

from tengen.agents.specs import load_agent
from tengen.arena.match import Score, play_match
from tengen.games import load_game
from tengen.rules.game import Position


def explain(position: Position, agent: str, as_json: bool) -> None:
    """One decision: the move, its value, the line expected, and where the search went."""
    game, decision = position.game, load_agent(agent, position.game).choose(position)
    name = game.action_text
    if as_json:
        answer = {
            "action": name(decision.action),
            "value": decision.value,
            "pv": [name(action) for action in decision.principal_variation],
            "policy": {name(action): share for action, share in decision.policy.items()},
            "nodes": decision.nodes,
            "depth": decision.depth,
            "seconds": decision.seconds,
            "note": decision.note,
        }
        print(json.dumps(answer))
        return
    mover = game.players[position.to_play]
    print(f"{position}\n\n{mover} plays {name(decision.action)}")
    if decision.value is not None:
        print(f"value     {decision.value:+.3f} for {mover} (−1 a loss, +1 a win)")
    print(f"line      {' '.join(name(action) for action in decision.principal_variation)}")
    favourites = sorted(decision.policy.items(), key=lambda pair: -pair[1])[:6]
    print("policy    " + "  ".join(f"{name(action)} {share:.0%}" for action, share in favourites))
    rate = decision.nodes / max(decision.seconds, 1e-9)
    print(f"search    {decision.nodes:,} nodes, {decision.seconds:.2f} s, {rate:,.0f} nodes/s")
    if decision.note:
        print(f"note      {decision.note}")


def show_match(spec: str, agents: tuple[str, str], games: int, plies: int, seed: int, as_json: bool) -> None:
    """Plays a match with a bar that shows the score, and prints the result."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    game = load_game(spec)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("+0 =0 −0", total=games)

        def progress(score: Score) -> None:
            bar.update(task, completed=score.count, description=f"+{score.wins} ={score.draws} −{score.losses}")

        score = play_match(game, agents, games, plies, seed, progress=progress)
    elo, low, high = (None if math.isinf(value) else round(value, 1) for value in score.elo())
    if as_json:
        counts = {"wins": score.wins, "draws": score.draws, "losses": score.losses}
        print(json.dumps({**counts, "elo": elo, "elo_low": low, "elo_high": high}))
        return
    sure = "{:.1%} to {:.1%}".format(*score.interval())
    print(f"{agents[0]} against {agents[1]}, {games} games of {game.spec}, {plies} random plies first, seed {seed}")
    print(f"+{score.wins} ={score.draws} −{score.losses}: {score.rate:.1%} of the points ({sure})")
    shown = [f"{value:+.0f}" if value is not None else "beyond measure" for value in (elo, low, high)]
    print(f"Elo {shown[0]} ({shown[1]} to {shown[2]}, 95%)")
