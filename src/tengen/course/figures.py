"""The documents' drawings, made anew from what runs here: networks, searches, planes, evaluations.

Each figure reads what it shows off the code itself, so it changes when that does: layers off a torch module, the cycle
of tree search off a watched search, zones and shapes off the Gobang evaluation, filters off a net that was trained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tengen.course.mcts import SearchSettings, shipped_net, slides_trace, trace
from tengen.course.mcts_narration import State
from tengen.course.numbers import judge
from tengen.course.pictures import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    MARGIN,
    ORANGE,
    PALE_BLUE,
    PALE_GREEN,
    PALE_GREY,
    PALE_ORANGE,
    SOFT,
    Picture,
    Shape,
    places,
)
from tengen.course.traces import ROOT_CARD, Trace
from tengen.games import load_game
from tengen.knowledge.evaluations import evaluation_for
from tengen.knowledge.go_planes import NAMES
from tengen.knowledge.gobang import worth_of_place
from tengen.nets.metadata import Architecture
from tengen.nets.runtime import SHIPPED
from tengen.rules.board import diagram
from tengen.rules.errors import BadParameter, nearest
from tengen.rules.game import Position
from tengen.search.evaluation import new_notes
from tengen.search.evaluators import priors_of
from tengen.search.limits import Limit
from tengen.search.puct import Puct

BOX, ROW_HEIGHT, CELL = 190, 26, 18


@dataclass(frozen=True)
class Figure:
    """A drawing of a document, and how it is made here."""

    document: str
    about: str
    draw: Callable[[], Picture]


# Networks


def layers_of(module: Any) -> list[str]:
    """A torch module's layers in words, from its input on; a residual block is one line."""
    from torch import nn

    from tengen.nets.layers import Block, Convolution

    if isinstance(module, Block):
        inner = " · ".join([*layers_of(module.first), "ReLU", *layers_of(module.second)])
        return [f"x + ({inner}), ReLU"]
    if isinstance(module, Convolution):
        return layers_of(module.convolution) + ["batch norm"] * (not isinstance(module.norm, nn.Identity))
    if isinstance(module, nn.Conv2d):
        size = "×".join(map(str, module.kernel_size))
        return [f"{size} convolution, {module.out_channels}"]
    if isinstance(module, nn.Linear):
        return [f"linear, {module.in_features} → {module.out_features}"]
    if list(module.children()):
        return [text for child in module.children() for text in layers_of(child)]
    name = type(module).__name__
    return [] if name in ("Flatten", "Identity") else [name.lower() if name == "Tanh" else name]


def counted(texts: Sequence[str]) -> list[str]:
    """Equal neighbours as one, with their number."""
    rows: list[tuple[str, int]] = []
    for text in texts:
        if rows and rows[-1][0] == text:
            rows[-1] = text, rows[-1][1] + 1
        else:
            rows.append((text, 1))
    return [text if count == 1 else f"{count} times: {text}" for text, count in rows]


def draw_network(spec: str, architecture: Architecture, title: str) -> Picture:
    """A network for a game: the input planes, the tower that both heads share, and the heads."""
    from tengen.nets.networks import build_model

    game = load_game(spec)
    model = build_model(game, architecture)
    shared = counted(layers_of(model.tower))
    policy, value = (counted(layers_of(head)) for head in (model.policy, model.value))
    rows, columns = game.shape
    picture = Picture(title, 2 * MARGIN + 700, 0)
    middle = picture.width / 2
    planes = [f"{len(game.planes)} planes {rows}×{columns}", *game.planes]
    y = column(picture, middle, MARGIN, planes, PALE_GREY, "input")
    y = column(picture, middle, y + 24, shared, PALE_BLUE, "shared")
    policy.append(f"softmax over {game.actions} actions: p")
    value.append("the position's value: v")
    ends = [
        column(picture, middle - 180, y + 24, policy, PALE_GREEN, "policy head"),
        column(picture, middle + 180, y + 24, value, PALE_ORANGE, "value head"),
    ]
    for x in (middle - 180, middle + 180):
        picture.line(middle, y, x, y + 24, edge=SOFT)
    picture.height = max(ends) + MARGIN
    return picture


def paper_network() -> Picture:
    from tengen.learn.settings import load_settings

    settings = load_settings("gomoku8-paper")
    return draw_network(settings.run.game, settings.architecture(), "The network of the preset gomoku8-paper")


def gobang_network() -> Picture:
    return draw_network("gomoku:size=15", Architecture(kind="gobang"), "The Gobang paper's network")


def column(picture: Picture, x: float, y: float, texts: Sequence[str], fill: str, name: str) -> float:
    """A box of lines under its name, its top at `y`; returns where it ends."""
    width = max(BOX, 20 + 6.6 * max(map(len, texts)))
    height = ROW_HEIGHT * (len(texts) + 1)
    picture.box(x - width / 2, y, width, height, fill=fill, edge=FAINT)
    picture.write(x, y + ROW_HEIGHT / 2, name, is_bold=True)
    for i, text in enumerate(texts, 1):
        picture.write(x, y + (i + 0.5) * ROW_HEIGHT, text, size=12)
    return y + height


# Tree search


Place = tuple[float, float]
TREE, WAY, LEAF, VERDICT, BACKED_UP = range(5)  # what of a simulation has been done


def draw_cycle(told: Trace, number: int, steps: Sequence[tuple[str, int]]) -> Picture:
    """One simulation of a watched search as its steps, each with how much of the simulation has been done."""
    before, after = State(told, number - 1), State(told, number)
    spots = places({card: after.children(card) for card in after.cards}, ROOT_CARD)
    width, height = 34 * max(x for x, _ in spots.values()) + 64, 74 * max(level for _, level in spots.values()) + 138
    picture = Picture(f"{told.search}: one simulation", 2 * MARGIN + len(steps) * width, height + 2 * MARGIN)
    for i, (title, done) in enumerate(steps):
        left = MARGIN + i * width + 15
        picture.write(left + (width - 30) / 2, MARGIN + 10, title, is_bold=True)
        spot = {card: (left + 17 + 34 * x, MARGIN + 60 + 74 * level) for card, (x, level) in spots.items()}
        draw_step(picture, spot, before, after, done)
    return picture


def draw_step(
    picture: Picture, spot: Mapping[int, tuple[float, float]], before: State, after: State, done: int
) -> None:
    """The tree with what a simulation has done to it so far, the number of visits on each node."""
    simulation = after.shown[-1]
    state = after if done == BACKED_UP else before
    shown = [card for card in spot if card in before.cards or done >= LEAF]
    way = [card for card in simulation.path if card in shown and done >= WAY]
    for card in shown:
        parent = after.cards[card].card.parent
        if parent is not None:
            is_on_way = card in way
            colour = (GREEN if done == BACKED_UP else ORANGE) if is_on_way else FAINT
            picture.line(*spot[parent], *spot[card], edge=colour, thickness=2.4 if is_on_way else 1.2)
    for card in shown:
        fill = PALE_ORANGE if card in way else PALE_GREY if card in before.cards else PALE_GREEN
        disc(picture, *spot[card], 15, fill, ORANGE if card in way else FAINT)
        picture.write(*spot[card], str(state.cards[card].visits if card in state.cards else 0), size=11)
    if done == VERDICT:
        x, y = spot[simulation.path[-1]]
        word = {"net": "v =", "rollout": "a game:"}.get(simulation.verdict.kind, "the end:")
        picture.write(x, y - 24, f"{word} {simulation.verdict.value:+.2g}", size=11, colour=GREEN, is_bold=True)


def puct_cycle() -> Picture:
    steps = ("the tree", TREE), ("select", WAY), ("expand and evaluate", VERDICT), ("backup", BACKED_UP)
    return draw_cycle(slides_trace(3), 3, steps)


def uct_cycle() -> Picture:
    position = load_game("tictactoe").from_moves("b2 a1 c1 a3")
    told = trace(position, SearchSettings(search="uct", exploration=0.7, simulations=9, seed=2))
    steps = ("selection", WAY), ("expansion", LEAF), ("simulation", VERDICT), ("backpropagation", BACKED_UP)
    return draw_cycle(told, 9, steps)


def disc(picture: Picture, x: float, y: float, radius: float, fill: str, edge: str) -> None:
    """A circle, as a polygon of many sides."""
    angles = [2 * math.pi * i / 28 for i in range(28)]
    points = tuple((x + radius * math.cos(a), y + radius * math.sin(a)) for a in angles)
    picture.items.append(Shape(points, fill=fill, edge=edge))


def draw_improver() -> Picture:
    """What a search makes of a network's policy: priors p beside visits π, in a position of 9×9 Gomoku."""
    game = load_game("gomoku:size=9")
    position = game.from_moves("e5 f6 f4 d6 e4 e6 d4")
    search = Puct(game, shipped_net(SHIPPED / "gomoku9.onnx"), memory=64)
    decision = search.search(position, Limit(simulations=400))
    logits, _ = search.evaluator(position.encode().reshape(1, len(game.planes), -1))
    priors = priors_of(logits)[0]
    legal = position.legal_actions
    total = float(priors[legal].sum())
    before = {action: float(priors[action]) / total for action in legal}
    picture = Picture("A search improves a policy", 2 * MARGIN + 3 * 220 + 40, 300)
    grids = (("the network: p", before, BLUE), ("400 simulations: π", decision.policy, GREEN))
    for i, (name, policy, colour) in enumerate(grids):
        x = MARGIN + i * 340
        picture.write(x + 100, MARGIN + 8, name, is_bold=True)
        draw_shares(picture, position, policy, x, MARGIN + 30, 24, colour)
    picture.write(MARGIN + 275, 150, "MCTS →", size=15, is_bold=True)
    return picture


def draw_shares(
    picture: Picture, position: Position, policy: dict[int, float], x: float, y: float, cell: float, colour: str
) -> None:
    """A board whose empty points are the darker, the larger their share."""
    rows, columns = position.game.shape
    most = max(policy.values(), default=1.0)
    for row in range(rows):
        for place in range(columns):
            stone = int(position.board[row, place])
            left, top = x + place * cell, y + row * cell
            share = policy.get(row * columns + place, 0.0) / most
            picture.box(left, top, cell, cell, fill=mixed(colour, share), edge=FAINT, thickness=0.6)
            if stone:
                disc(picture, left + cell / 2, top + cell / 2, 0.4 * cell, INK if stone == 1 else "#ffffff", INK)


def mixed(colour: str, share: float) -> str:
    """White at 0, the colour at 1."""
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in parts)


def draw_training() -> Picture:
    """Self-play and training: a game of the tic-tac-toe net against itself, its (s, π, z), and who learns from them."""
    game = load_game("tictactoe")
    net = shipped_net(SHIPPED / "tictactoe.onnx")
    search, position = Puct(game, net, memory=4, batch=1), game.start()
    told: list[tuple[Position, dict[int, float]]] = []
    while position.outcome is None:
        decision = search.search(position, Limit(simulations=50))
        told.append((position, decision.policy))
        position = position.play(decision.action)
    picture = Picture("Self-play, then training", 2 * MARGIN + 84 * (len(told) + 1), 300)
    picture.write(MARGIN, MARGIN + 6, "self-play: a search before each move", is_bold=True, anchor="start")
    for i, (at, policy) in enumerate([*told, (position, {})]):
        draw_shares(picture, at, policy, MARGIN + 84 * i, MARGIN + 26, 22, GREEN)
        z = position.outcome.value_for(at.to_play)
        words = f"s{i + 1}, π{i + 1}, z = {z}" if policy else f"the end: {'a tie' if not z else 'won'}"
        picture.write(MARGIN + 84 * i + 33, MARGIN + 106, words, size=10)
    middle = picture.width / 2
    picture.line(middle, MARGIN + 118, middle, MARGIN + 146, edge=SOFT)
    end = column(
        picture,
        middle,
        MARGIN + 146,
        ["from the replay: (s, π, z)", "(p, v) = f(s)", "loss: (z − v)² − π · log p + c |θ|²"],
        PALE_BLUE,
        "training",
    )
    picture.write(middle, end + 16, "the new weights play the next games", size=12, colour=SOFT)
    return picture


# Gobang


def draw_planes() -> Picture:
    """A position as the network sees it: planes of zeros and ones."""
    game = load_game("gomoku:size=9")
    position = game.from_moves("e5 f6 f4 d6 e4")
    planes = position.encode().reshape(len(game.planes), *game.shape)
    side = CELL * game.shape[0]
    picture = Picture("What the network sees", 2 * MARGIN + (len(planes) + 1) * (side + 20), side + 60 + MARGIN)
    draw_shares(picture, position, {}, MARGIN, MARGIN + 30, CELL, BLUE)
    picture.write(MARGIN + side / 2, MARGIN + 8, "the position", is_bold=True)
    for i, (name, plane) in enumerate(zip(game.planes, planes, strict=True), 1):
        left = MARGIN + i * (side + 20)
        picture.write(left + side / 2, MARGIN + 8, name, is_bold=True)
        for (row, place), value in np.ndenumerate(plane):
            x, y = left + place * CELL, MARGIN + 30 + row * CELL
            picture.box(x, y, CELL, CELL, fill=PALE_BLUE if value else "#ffffff", edge=FAINT, thickness=0.6)
            picture.write(x + CELL / 2, y + CELL / 2, f"{value:g}", size=9, colour=INK if value else FAINT)
    return picture


SHAPES = {  # Black's stones, White's stones
    "open four": ("d5 e5 f5 g5", ""),
    "four": ("d5 e5 f5 g5", "c5"),
    "open three": ("d5 e5 f5", ""),
}


def draw_zones() -> Picture:
    """The Gobang paper's zones with their weights, and its shapes with theirs, as the evaluation counts them."""
    game = load_game("gomoku:size=9")
    evaluation: Any = evaluation_for(game, "gobang", 0, 0)
    worth = np.array([[place_worth(evaluation, x, y) for x in range(9)] for y in range(9)])
    picture = Picture("Zones and shapes", 2 * MARGIN + 4 * 200, 9 * CELL + 84)
    picture.write(MARGIN + 81, MARGIN + 8, "core, edge, corner", is_bold=True)
    fills = {3: "#9cc9e8", 2: PALE_BLUE, 1: "#ffffff"}
    for (row, place), weight in np.ndenumerate(worth):
        x, y = MARGIN + place * CELL, MARGIN + 30 + row * CELL
        picture.box(x, y, CELL, CELL, fill=fills[int(weight)], edge=FAINT, thickness=0.6)
        picture.write(x + CELL / 2, y + CELL / 2, str(weight), size=9)
    for i, (name, stones) in enumerate(SHAPES.items(), 1):
        position = with_stones(*stones)
        black = position.board == 1
        added = shape_score(position) - int(worth[black].sum()) + int(worth[position.board == 2].sum())
        left = MARGIN + 200 * i
        picture.write(left + 81, MARGIN + 8, name, is_bold=True)
        draw_shares(picture, position, {}, left, MARGIN + 30, CELL, BLUE)
        picture.write(left + 81, MARGIN + 46 + 9 * CELL, f"{added:+d}", size=13)
    return picture


def place_worth(evaluation: Any, x: int, y: int) -> int:
    return int(worth_of_place(evaluation, x, y))


def with_stones(black: str, white: str) -> Position:
    """A 9×9 board with these stones, Black to move."""
    game = load_game("gomoku:size=9")
    board = np.zeros(game.shape, np.int8)
    for stone, cells in ((1, black), (2, white)):
        for cell in cells.split():
            board[divmod(game.parse_action(cell), game.shape[1])] = stone
    return game.from_board(diagram(board), 0)


def shape_score(position: Position) -> int:
    """What the Gobang paper's evaluation says of a position, for Black."""
    game = position.game
    evaluation: Any = evaluation_for(game, "gobang", 0, 0)
    score = int(judge(game.parameters, evaluation, position.states, new_notes(evaluation, game, 1)))
    return score if position.to_play == 0 else -score


# Go


def draw_filters() -> Picture:
    """The first layer of the 9×9 policy that was trained: its 5×5 filters for own stones and for the opponent's."""
    import onnx
    from onnx import numpy_helper

    file = onnx.load(str(SHIPPED / "alphago" / "go9-policy.onnx"))
    first = next(array for array in map(numpy_helper.to_array, file.graph.initializer) if array.shape[2:] == (5, 5))
    weights = np.asarray(first, np.float32)  # [filters, planes, 5, 5]
    strongest = np.argsort(-np.abs(weights[:, :2]).sum(axis=(1, 2, 3)))[:12]
    cell, most = 12, float(np.abs(weights[strongest, :2]).max())
    picture = Picture(
        "5×5 filters that were learned", 2 * MARGIN + 12 * (5 * cell + 14) + 110, 2 * (5 * cell + 30) + MARGIN
    )
    for row, plane in enumerate(NAMES[:2]):
        top = MARGIN + row * (5 * cell + 30)
        picture.write(MARGIN, top + 2.5 * cell, plane, size=11, anchor="start")
        for i, which in enumerate(strongest):
            for (y, x), weight in np.ndenumerate(weights[which, row]):
                colour = mixed(GREEN if weight > 0 else ORANGE, min(1.0, abs(float(weight)) / most))
                left = MARGIN + 110 + i * (5 * cell + 14)
                picture.box(left + x * cell, top + y * cell, cell, cell, fill=colour, edge=FAINT, thickness=0.4)
    return picture


FIGURES = {
    "network-8x8": Figure("8×8, figure 1", "the policy-value network", paper_network),
    "puct-cycle": Figure("8×8, figure 2; go9, figure 1", "one simulation of PUCT in four steps", puct_cycle),
    "uct-cycle": Figure("gobang, figure 1", "one simulation of UCT in four steps", uct_cycle),
    "training": Figure("3×3, schematic", "self-play and training", draw_training),
    "network-gobang": Figure("gobang, figure 3", "the policy-value network", gobang_network),
    "planes": Figure("gobang, figure 2", "a position as planes", draw_planes),
    "improver": Figure("gobang, figure 4", "what a search makes of a policy", draw_improver),
    "zones": Figure("gobang, figure 5", "zones and shapes of the evaluation", draw_zones),
    "filters": Figure("go9, figure 2", "5×5 filters that were learned", draw_filters),
}


def draw_figure(name: str) -> Picture:
    if name not in FIGURES:
        raise BadParameter(f"no figure is called {name!r}{nearest(name, FIGURES)}")
    return FIGURES[name].draw()
