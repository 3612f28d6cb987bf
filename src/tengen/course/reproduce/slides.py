"""The slides on AlphaZero's search: their example on 3×3, simulation by simulation, and a game to its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tengen.agents.specs import load_agent
from tengen.course import plain_puct
from tengen.course.plain_puct import Vertex
from tengen.course.reproduce.page import AS_THERE, DIFFERS, ERRATUM, Claim, Options, agrees, write_experiment
from tengen.course.reproduce.quotes import SLIDES_FINAL, SLIDES_ROOT, SLIDES_STEPS, SLIDES_TIE
from tengen.course.slides import CELLS, EXPLORATION, MOVES, SlidesNet, cell_of
from tengen.games import load_game
from tengen.report.diagrams import draw_board
from tengen.report.pages import table
from tengen.rules.game import Game, Position
from tengen.search.puct import Puct
from tengen.search.tree import ROOT

SIMULATIONS = 400  # before each move
SUPPOSED = "supposed there, searched here"
ENDS = {None: "tie", 0: "Black wins", 1: "White wins"}


class Move(NamedTuple):
    """A row of the game's record: s, π by the slides' cells, and the cell that was played."""

    position: Position
    policy: dict[int, float]
    cell: int


def numbers_of(card: str) -> dict[str, str]:
    """N, W, Q and P as a card prints them."""
    return dict(re.findall(r"\b([NWQP])=(-?\d+(?:\.\d+)?)", card))


def card_claim(what: str, card: str, found: dict[str, float]) -> Claim:
    """A card beside what was found; whatever was found must agree, to the digits that are printed."""
    printed = numbers_of(card)
    is_same = all(agrees(printed[name], value) for name, value in found.items())
    shown = {name: printed[name] for name in found}
    return Claim(what, card, said(shown), said(found), AS_THERE if is_same else DIFFERS)


def said(numbers: dict[str, Any]) -> str:
    texts = {name: value if isinstance(value, str) else f"{value:.4g}" for name, value in numbers.items()}
    return ", ".join(f"{name}={text}" for name, text in texts.items())


def step_claims(game: Game) -> Iterator[Claim]:
    """The first three simulations of our search, card by card."""
    search = Puct(game, SlidesNet(game), exploration=EXPLORATION, urgency=-1, batch=1, memory=1)
    search.move_to(game.from_moves(MOVES))
    done = 0
    for step, cells, card in SLIDES_STEPS:
        done += search.simulate(step - done)
        what = f"after simulation {step}: " if step else "expansion of the root: "
        if not cells:
            visits = int(search.nodes[ROOT].visits) + 1  # the slides count the root's own expansion
            yield card_claim(f"{what}the root", card, {"N": float(visits)})
        else:
            path = " → ".join(map(str, cells))
            yield card_claim(f"{what}{path}", card, found_on(edge_at(search, cells)))


def edge_at(search: Puct, cells: tuple[int, ...]) -> Any:
    """The last edge on the way through these cells."""
    node, edge = ROOT, None
    for cell in cells:
        action = search.game.parse_action(CELLS[cell])
        edge = next(edge for edge in search.edges_of(node) if edge.action == action)
        node = int(edge.child)
    return edge


def found_on(edge: Any) -> dict[str, float]:
    visits, total = int(edge.visits), float(edge.value)
    return {"N": float(visits), "W": total, "Q": total / max(visits, 1), "P": float(edge.prior)}


def final_claims(root: Vertex) -> Iterator[Claim]:
    """After 400 simulations: what the slides suppose, beside a search; and what is amiss on their cards."""
    for cell, card in SLIDES_FINAL.items():
        edge = root.edges[root.position.game.parse_action(CELLS[cell])]
        found = {"N": float(edge.visits), "W": edge.total, "Q": edge.mean}
        shown = {name: numbers_of(card)[name] for name in found}
        yield Claim(f"after {SIMULATIONS} simulations: {cell}", card, said(shown), said(found), "", SUPPOSED)
    for cell, card in SLIDES_FINAL.items():
        printed = numbers_of(card)
        mean = float(printed["W"]) / float(printed["N"])
        if not agrees(printed["Q"], mean):
            why = f"W / N = {printed['W']} / {printed['N']} = {mean:.3f}"
            yield Claim(f"Q of {cell}, from its own W and N", card, printed["Q"], f"{mean:.3f}", ERRATUM, why)
    total = sum(int(numbers_of(card)["N"]) for card in SLIDES_FINAL.values())
    printed_total = numbers_of(SLIDES_ROOT)["N"]
    if int(printed_total) != total + 1:
        why = f"its actions' N add up to {total}; after three simulations the same slides count the root once more"
        yield Claim("N of the root, from its actions", SLIDES_ROOT, printed_total, str(total + 1), ERRATUM, why)


def play_on(root: Vertex, evaluator: SlidesNet) -> list[Move]:
    """The game: the most visited action is played, its subtree is kept, and the search goes on from there."""
    moves: list[Move] = []
    while True:
        policy = plain_puct.policy_of(root)
        game, action = root.position.game, max(policy, key=policy.__getitem__)
        shares = {cell_of(game, one): share for one, share in policy.items()}
        moves.append(Move(root.position, shares, cell_of(game, action)))
        after = root.position.play(action)
        if after.outcome is not None:
            return [*moves, Move(after, {}, 0)]
        root = root.edges[action].child or plain_puct.expand(after, evaluator)
        kept = sum(edge.visits for edge in root.edges.values())
        plain_puct.search(root, evaluator, EXPLORATION, SIMULATIONS - kept)


def game_claims(moves: list[Move]) -> list[Claim]:
    """The first move, the end, and what the end would be after that move between players who never err."""
    first, last = moves[0], moves[-1].position
    assert last.outcome is not None
    played, printed = f"Action = {first.cell}", "Action = 9"
    end = ENDS[last.outcome.winner]
    best = load_agent("minimax:depth=9", last.game).choose(moves[1].position)
    line = ", ".join(str(cell_of(last.game, action)) for action in best.principal_variation)
    mover = moves[1].position.to_play
    exact = {1: mover, -1: 1 - mover}.get(round(best.value or 0))
    return [
        Claim("the move that is played", SLIDES_FINAL[9], printed, played, AS_THERE if played == printed else DIFFERS),
        Claim("how the game ends", SLIDES_TIE, "tie", end, AS_THERE if end == "tie" else DIFFERS),
        Claim(f"how it ends after {first.cell} if nobody errs", "", "", ENDS[exact], "", f"minimax to the end: {line}"),
    ]


def record_rows(moves: list[Move]) -> list[tuple[str, ...]]:
    """(s, π, z) of each position: what the network learns from."""
    rows: list[tuple[str, ...]] = [("s", "to play", *map(str, range(1, 10)), "z")]
    end = moves[-1].position.outcome
    assert end is not None
    for move in moves[:-1]:
        shares = [f"{move.policy[cell]:.3f}" if cell in move.policy else "" for cell in range(1, 10)]
        player = move.position.to_play
        rows.append((move.position.diagram(), ("Black", "White")[player], *shares, f"{end.value_for(player):+d}"))
    return rows


def boards(moves: list[Move]) -> str:
    """The game as diagrams."""
    figures = []
    for move in moves:
        words = f"{('Black', 'White')[move.position.to_play]} plays {move.cell}" if move.cell else "the end"
        figures.append(f'<figure class="card">{draw_board(move.position)}<figcaption>{words}</figcaption></figure>')
    return f'<div class="games">{"".join(figures)}</div>'


def played_example() -> tuple[Vertex, list[Move]]:
    """The slides' position after 400 simulations, and the game that follows."""
    game = load_game("tictactoe")
    evaluator = SlidesNet(game)
    root = plain_puct.expand(game.from_moves(MOVES), evaluator)
    plain_puct.search(root, evaluator, EXPLORATION, SIMULATIONS)
    return root, play_on(root, evaluator)


def reproduce_slides(options: Options) -> None:
    root, moves = played_example()
    write_experiment(
        options,
        "AlphaZero's search, step by step",
        "White is to play on 3×3; cells are numbered 1 2 3 from the left of the bottom row; c = 5. The network's "
        "answers in three positions are those of the slides; of all others it says that every move is as likely and "
        "the position even. The first three simulations are made by the search that plays here; the 400, which the "
        "slides only suppose, by PUCT as they print it, without the proofs that would end ours early. The slides count "
        "the root's own expansion as a visit.",
        [*step_claims(load_game("tictactoe")), *final_claims(root), *game_claims(moves)],
        [
            ("The game, each move after 400 simulations", boards(moves)),
            ("What the network learns from: (s, π, z)", f'<div class="card wide">{table(record_rows(moves))}</div>'),
        ],
    )
