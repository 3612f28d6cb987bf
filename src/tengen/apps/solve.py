"""`tengen solve`: what is proven of a position, and the proof in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tengen.agents.agent import check_goes_on
from tengen.apps.options import print_json
from tengen.knowledge.evaluations import evaluation_for
from tengen.knowledge.experts import expert_for
from tengen.knowledge.threats import Proof, ThreatSearch
from tengen.rules.game import Position
from tengen.search.alphabeta import AlphaBeta
from tengen.search.limits import Decision, Limit

MOST_PLIES = 40  # of a variation that is printed


def solve(position: Position, limit: Limit, memory: int, as_json: bool) -> bool:
    """Prints what is proven of a position; whether anything is.

    Gomoku by threats (fours, then threes too), Reversi to its last disc, every other game by alpha-beta to its end.
    """
    check_goes_on(position)
    game = position.game
    mover = game.players[position.to_play]
    variations: list[str] = []
    expert = expert_for(game)
    solver: Any = None if expert is None else expert.solver(game, memory)
    if isinstance(solver, ThreatSearch):
        decision = solver.search(position, limit)
        answer = f"no win by threats was found for {mover} ({solver.nodes:,} positions)"
        if decision is not None:
            proof = solver.proof(position, solver.kind)
            answer = f"{mover} {decision.note} in {proof.plies} plies: {line_text(position, proof.line())}"
            variations = proof_text(position, proof)
    else:
        decision = solve_to_the_end(position, limit, memory) if solver is None else solver.search(position, limit)
        answer = f"{mover}: {decision.note}; {line_text(position, list(decision.principal_variation))}"
    is_proven = decision is not None and decision.value is not None and decision.note != ""
    if as_json:
        print_json(as_object(position, decision, is_proven, variations))
        return is_proven
    print(f"{position}\n\n{answer if is_proven or decision is None else 'not solved within the limit'}")
    if decision is not None:
        print(f"{decision.nodes:,} positions in {decision.seconds:.2f} s")
    if variations:
        print("\nevery answer:\n" + "\n".join(variations))
    return is_proven


def solve_to_the_end(position: Position, limit: Limit, memory: int) -> Decision:
    """What alpha-beta finds: for a while the shortest win, then any proof; that at once where plies do not count."""
    search = AlphaBeta(position.game, evaluation_for(position.game), memory=memory)
    if not getattr(search.evaluation, "counts_plies", True):
        return search.prove(position, limit)
    found = search.search(position, Limit(time=limit.time and limit.time / 4))
    if found.note or limit.time is None or found.seconds >= limit.time:
        return found
    proof = search.prove(position, Limit(time=limit.time - found.seconds))
    return replace(proof, nodes=found.nodes + proof.nodes, seconds=found.seconds + proof.seconds)


def line_text(position: Position, line: list[int]) -> str:
    return " ".join(position.game.action_text(action) for action in line)


def proof_text(position: Position, proof: Proof) -> list[str]:
    """One line for each answer to the first move: what follows it at its longest."""
    first = position.game.action_text(proof.action)
    lines = ([answer, *after.line()] for answer, after in proof.answers.items())
    return [f"  {first} {line_text(position, line[:MOST_PLIES])}" for line in lines]


def as_object(position: Position, decision: Decision | None, is_proven: bool, variations: list[str]) -> dict[str, Any]:
    """The machine-readable answer."""
    if decision is None:
        return {"proven": False}
    name = position.game.action_text
    return {
        "proven": is_proven,
        "action": name(decision.action),
        "value": decision.value,
        "pv": [name(action) for action in decision.principal_variation],
        "note": decision.note,
        "variations": [line.strip() for line in variations],
        "nodes": decision.nodes,
        "seconds": decision.seconds,
    }
