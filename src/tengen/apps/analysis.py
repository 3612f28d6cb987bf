"""`tengen analyze`: every move of a record beside the move that an agent would have played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tengen.agents.agent import NO_LIMIT, Agent
from tengen.agents.specs import load_agent
from tengen.apps.options import print_json
from tengen.arena.folder import progress_bar
from tengen.games import load_game
from tengen.knowledge.go import is_go
from tengen.knowledge.go_counting import lead_text, told_in_full
from tengen.knowledge.ownership import lead
from tengen.records.files import read_records, write_records
from tengen.records.record import Record, printable, result_words
from tengen.rules.errors import BadParameter, TengenError
from tengen.rules.game import Position
from tengen.search.limits import Decision, Limit

A_GLANCE = Limit(time=0.01)
LONGEST_LINE = 6  # moves of a line that is printed
KINDS = (  # what a move is called by the share of a win that it lost at least; the web app's are the same
    (0.2, "??", "blunder"),
    (0.1, "?", "mistake"),
    (0.05, "?!", "inaccuracy"),
)


@dataclass(frozen=True)
class JudgedMove:
    """A move as it was played, and what the agent thinks of it. Win rates are for the player who made it."""

    ply: int
    player: str
    move: str
    before: float  # if the agent's own move is played
    after: float
    best: str
    line: tuple[str, ...]  # that the agent expected, its own move first
    mark: str = ""
    kind: str = ""
    note: str = ""
    lead: float | None = None  # the first player's, in points, after the move: an estimate, in Go alone


def analyze(
    file: Path, spec: str, seconds: float | None, game: str, number: int | None, out: Path | None, as_json: bool
) -> None:
    """Prints, or writes into a copy of the record, what an agent thinks of each move."""
    if out is not None and out.suffix.lower() not in (".sgf", ".pgn"):
        raise BadParameter(f"{out}: comments are kept in a file .sgf, those of chess in a .pgn, too")
    given = load_game(game) if game else None
    record = chosen_record(file, read_records(file, given, with_setup=True), number)
    if given is not None and type(record.game.parameters) is not type(given.parameters):
        raise BadParameter(f"{file.name} is a game of {record.game.spec}: leave --game {game} out")
    agent, limit = load_agent(spec, record.game), NO_LIMIT if seconds is None else Limit(time=seconds)
    with progress_bar(len(record.moves) + 1, "positions") as (bar, task):
        moves = judge(record, agent, limit, lambda: bar.advance(task))
    if out is not None:
        write_records(out, [commented(record, moves)])
    if as_json:
        print_json(as_object(record, spec, moves))
    else:
        print_analysis(record, spec, moves)
        if out is not None:
            print(f"record with comments: {out}")


def chosen_record(file: Path, records: Sequence[Record], number: int | None) -> Record:
    """The record of that number, from 1; without a number, the only one."""
    if number is None and len(records) > 1:
        raise BadParameter(f"{file.name} holds {len(records):,} games: choose one with --number, 1 to {len(records)}")
    if not 1 <= (number or 1) <= len(records):
        raise BadParameter(f"--number {number}: {file.name} holds games 1 to {len(records)}")
    return records[(number or 1) - 1]


def judge(record: Record, agent: Agent, limit: Limit, advance: Callable[[], None]) -> list[JudgedMove]:
    """Asks the agent about each position in turn, from the first move to the last."""
    positions = list(record.positions())
    if positions[0].outcome is None:
        agent.choose(positions[0], A_GLANCE)  # whatever must be compiled is: the time given is for thinking
    moves: list[JudgedMove] = []
    decision, share = opinion_on(positions[0], agent, limit)
    advance()
    for position, after, action in zip(positions, positions[1:], record.moves, strict=False):
        assert decision is not None  # a move follows
        next_decision, next_share = opinion_on(after, agent, limit)
        moves.append(judged(position, action, decision, share, next_share))
        decision, share = next_decision, next_share
        advance()
    return moves


def opinion_on(position: Position, agent: Agent, limit: Limit) -> tuple[Decision | None, float]:
    """The agent's decision, and the first player's win rate by it; of a game that is over, by its outcome."""
    if position.outcome is not None:
        return None, (position.outcome.value_for(0) + 1) / 2
    decision = agent.choose(position, limit)
    if decision.value is None:
        raise TengenError(f"{agent.name} does not say how good a position is: give --agent one that searches")
    value = min(max(decision.value, -1.0), 1.0)
    return decision, ((1, -1)[position.to_play] * value + 1) / 2


def judged(position: Position, action: int, decision: Decision, share: float, next_share: float) -> JudgedMove:
    """A move by what it lost; the agent's own choice is never marked."""
    before, after = (share, next_share) if position.to_play == 0 else (1 - share, 1 - next_share)
    lost = 0.0 if action == decision.action else before - after
    mark, kind = next(((mark, kind) for least, mark, kind in KINDS if lost >= least), ("", ""))
    return JudgedMove(
        ply=position.ply + 1,
        player=position.game.players[position.to_play],
        move=position.move_text(action),
        before=before,
        after=after,
        best=position.move_text(decision.action),
        line=line_texts(position, decision.principal_variation),
        mark=mark,
        kind=kind,
        note=decision.note,
        lead=round(lead(position.play(action)), 1) if is_go(position.game) else None,
    )


def line_texts(position: Position, actions: Sequence[int]) -> tuple[str, ...]:
    """Moves that follow each other, as players write them."""
    texts = []
    for action in actions:
        if action not in position.legal_actions:
            break
        texts.append(position.move_text(action))
        position = position.play(action)
    return tuple(texts)


def counts(record: Record, moves: Sequence[JudgedMove]) -> dict[str, dict[str, int]]:
    """How often each player blundered, …"""
    return {
        player: {kind: sum(move.player == player and move.kind == kind for move in moves) for _, _, kind in KINDS}
        for player in record.game.players
    }


def as_object(record: Record, spec: str, moves: Sequence[JudgedMove]) -> dict[str, Any]:
    return {
        "game": record.game.spec,
        "players": list(record.players),
        "result": record.result,
        "agent": spec,
        "moves": [asdict(move) for move in moves],
        "counts": counts(record, moves),
        "score": told_in_full(record.end()),
    }


def print_analysis(record: Record, spec: str, moves: Sequence[JudgedMove]) -> None:
    sides = zip(record.game.players, record.players, strict=True)
    names = ", ".join(f"{side}: {name or 'unknown'}" for side, name in sides)
    print(f"{record.game.spec}, {printable(names)}; {printable(result_words(record))}")
    print(f"win rates by {spec}, for the player who moves\n")
    widths = [max(len(title), *map(len, column), 0) for title, *column in zip(*table_of(moves), strict=True)]
    for row in table_of(moves):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print()
    for player, found in counts(record, moves).items():
        print(f"{player}: " + ", ".join(f"{count} {plural(kind, count)}" for kind, count in found.items()))
    if score := told_in_full(record.end()):
        print("\n" + "\n".join(score))


def table_of(moves: Sequence[JudgedMove]) -> list[tuple[str, ...]]:
    """The titles, then a row a move; a better move is named where one was missed."""
    counts_points = any(move.lead is not None for move in moves)
    rows: list[tuple[str, ...]] = [
        ("ply", "player", "move", "before", "after", *["lead"] * counts_points, "", "better")
    ]
    for move in moves:
        better = " ".join(move.line[:LONGEST_LINE]) if move.mark else ""
        points = [] if move.lead is None else [lead_text(move.lead)]
        rates = f"{move.before:.1%}", f"{move.after:.1%}"
        rows.append((str(move.ply), move.player, move.move, *rates, *points, move.mark, better))
    return rows


def plural(kind: str, count: int) -> str:
    return kind if count == 1 else "inaccuracies" if kind == "inaccuracy" else f"{kind}s"


def commented(record: Record, moves: Sequence[JudgedMove]) -> Record:
    """The record with a comment on each move, below those that were there."""
    comments = dict(record.comments)
    for move in moves:
        text = f"{move.player}: win rate {move.before:.1%} before, {move.after:.1%} after"
        if move.mark:
            text += f"; {move.kind} {move.mark}, better {' '.join(move.line[:LONGEST_LINE])}"
        comments[move.ply] = "\n".join(filter(None, [comments.get(move.ply, ""), text]))
    return replace(record, comments=comments)
