"""A trace in words and as a picture: what the cards are after some simulations, for terminals and slides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tengen.course.pictures import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    MARGIN,
    ORANGE,
    PALE_BLUE,
    PALE_GREY,
    PALE_ORANGE,
    SOFT,
    Picture,
    places,
)
from tengen.course.traces import ROOT_CARD, Card, Simulation, Terms, Trace
from tengen.rules.errors import BadParameter

CARD_WIDTH, ROW, GAP, LEVEL_GAP = 92, 17, 10, 34
MOST_DRAWN = 40
FIRST = 0  # the player whose wins the lecture writes over the visits
KINDS = {"net": "the network says", "rollout": "a random game says", "end": "the game is over:", "proof": "proven:"}


@dataclass
class Standing:
    """A card as it is now."""

    card: Card
    visits: int
    value: float
    proven: str = ""
    score: float | None = None

    @property
    def mean(self) -> float | None:
        """Q, for the player who takes the action."""
        return self.value / self.visits if self.visits else None


class State:
    """A trace played back: all cards as they are after some simulations."""

    def __init__(self, trace: Trace, simulations: int | None = None):
        self.trace = trace
        self.shown = trace.simulations[:simulations]
        self.cards = {card.id: Standing(card, card.visits, card.value, card.proven) for card in trace.cards}
        for terms in trace.terms:
            self.show_scores(terms)
        for simulation in self.shown:
            self.follow(simulation)

    def follow(self, simulation: Simulation) -> None:
        for card in simulation.opened:
            self.cards[card.id] = Standing(card, card.visits, card.value, card.proven)
        for update in simulation.backup:
            standing = self.cards[update.id]
            standing.visits, standing.value, standing.proven = update.visits, update.value, update.proven
        if ROOT_CARD not in [update.id for update in simulation.backup]:
            self.cards[ROOT_CARD].visits += 1  # no edge leads to the root
        for terms in simulation.terms:
            self.show_scores(terms)

    def show_scores(self, terms: Terms) -> None:
        for card, score in zip(terms.cards, terms.score, strict=True):
            self.cards[card].score = score

    def children(self, card: int) -> list[int]:
        return [number for number, standing in self.cards.items() if standing.card.parent == card]

    def name(self, card: int) -> str:
        return self.cards[card].card.name or ("root" if card == ROOT_CARD else f"node {card}")

    @property
    def counts_wins(self) -> bool:
        """Whether W counts won games (UCT), not values in [−1, 1]."""
        return self.trace.search in ("uct", "lecture")

    def figures(self, card: int) -> list[str]:
        """What stands on a card, line by line."""
        standing = self.cards[card]
        if self.trace.search == "lecture":
            wins = standing.value if standing.card.player == FIRST else standing.visits - standing.value
            score = [] if standing.score is None or card == ROOT_CARD else [f"UCB {standing.score:.3f}"]
            return [f"{wins:g}/{standing.visits}", *score]
        rows = [f"N {standing.visits}"]
        if card != ROOT_CARD:
            mean = "" if standing.mean is None else f"{standing.mean:.3g}"
            rows += [f"W {standing.value:.3g}", f"Q {mean or '0'}"]
            rows += [] if standing.card.prior is None else [f"P {standing.card.prior:.3g}"]
        return rows


# In words


def tell(trace: Trace, simulations: int) -> Iterator[str]:
    """The first simulations, a paragraph each."""
    state = State(trace, 0)
    for simulation in trace.simulations[:simulations]:
        yield from told_choice(state, simulation)
        state.follow(simulation)
        yield from told_backup(state, simulation)


def told_choice(state: State, simulation: Simulation) -> Iterator[str]:
    """Which way down, and why: the scores of each level's cards as they are compared."""
    yield f"simulation {simulation.number}"
    for above, chosen in zip(simulation.path, simulation.path[1:], strict=False):
        rivals = [card for card in state.children(above) if state.cards[card].score is not None]
        if chosen not in rivals:
            continue
        rivals.sort(key=lambda card: (-(state.cards[card].score or 0.0), -(state.cards[card].card.prior or 0.0)))
        label = state.name if state.trace.search != "lecture" else lambda card: state.figures(card)[0]
        scores = ", ".join(f"{label(card)}: {state.cards[card].score:.3f}" for card in rivals[:6])
        more = f" and {len(rivals) - 6} more" if len(rivals) > 6 else ""
        yield f"  select  {label(chosen)} of {scores}{more}"


def told_backup(state: State, simulation: Simulation) -> Iterator[str]:
    verdict, players = simulation.verdict, state.trace.players
    names = " → ".join(state.name(card) for card in simulation.path)
    opened = f", which offers {len(simulation.opened)}" if len(simulation.opened) > 1 else ""
    yield f"  expand  {names}{opened}"
    yield f"  judge   {KINDS[verdict.kind]} {verdict.value:+.3g} for {players[verdict.player]}, to move there"
    for update in simulation.backup:
        said = "  ".join(state.figures(update.id))
        yield f"  back up {state.name(update.id)}: {said}" + (f"  ({update.proven})" if update.proven else "")
    if ROOT_CARD not in [update.id for update in simulation.backup]:
        yield f"  back up root: N {state.cards[ROOT_CARD].visits}"


def root_table(state: State) -> list[tuple[str, ...]]:
    """The root's actions with all that is known of them, the most visited first."""
    rows = sorted(state.children(ROOT_CARD), key=lambda card: -state.cards[card].visits)
    table: list[tuple[str, ...]] = [("action", "N", "W", "Q", "P", "score", "")]
    for card in rows:
        each = state.cards[card]
        mean = "" if each.mean is None else f"{each.mean:.3f}"
        prior = "" if each.card.prior is None else f"{each.card.prior:.3f}"
        score = "" if each.score is None else f"{each.score:.3f}"
        table.append((state.name(card), str(each.visits), f"{each.value:.3g}", mean, prior, score, each.proven))
    return table


# As a picture


def draw_trace(trace: Trace, simulations: int | None = None, most: int = MOST_DRAWN) -> Picture:
    """The tree after some simulations, the way of the last one marked; of a large tree, the cards visited most."""
    if most < 2:
        raise BadParameter(f"{most} cards: a tree has 2 at least")
    state = State(trace, simulations)
    last = set(state.shown[-1].path) if state.shown else {ROOT_CARD}
    kept = kept_cards(state, last, most)
    children = {card: [child for child in state.children(card) if child in kept] for card in kept}
    spots = places(children, ROOT_CARD)
    rows = max(len(state.figures(card)) for card in kept) + 1
    height = rows * ROW + 10
    told = f"{len(state.shown)} simulation{'s' if len(state.shown) != 1 else ''}"
    picture = Picture(f"{trace.search} on {trace.game or 'the example'} after {told}")
    columns, levels = max(column for column, _ in spots.values()), max(level for _, level in spots.values())
    picture.width = 2 * MARGIN + (columns + 1) * (CARD_WIDTH + GAP)
    left_out = len(state.cards) - len(kept)
    picture.height = 2 * MARGIN + levels * (height + LEVEL_GAP) + height + (ROW if left_out else 0)
    corners = {
        card: (MARGIN + column * (CARD_WIDTH + GAP), MARGIN + level * (height + LEVEL_GAP))
        for card, (column, level) in spots.items()
    }
    for card, (x, y) in corners.items():
        parent = state.cards[card].card.parent
        if parent is not None:
            above_x, above_y = corners[parent]
            way = {"edge": ORANGE, "thickness": 2.4} if {card, parent} <= last else {"edge": FAINT}
            picture.line(above_x + CARD_WIDTH / 2, above_y + height, x + CARD_WIDTH / 2, y, **way)
    for card, (x, y) in corners.items():
        draw_card(picture, state, card, x, y, height, card in last)
    if left_out:
        words = f"{left_out} cards that were visited less are left out"
        picture.write(MARGIN, picture.height - ROW, words, size=11, colour=SOFT, anchor="start")
    return picture


def kept_cards(state: State, last: set[int], most: int) -> set[int]:
    """The last way down, then the cards visited most, each with its parents."""
    kept = set(last)
    for card in sorted(state.cards, key=lambda card: (-state.cards[card].visits, card)):
        way = [card]
        while (parent := state.cards[way[-1]].card.parent) is not None:
            way.append(parent)
        if len(kept.union(way)) <= most:
            kept.update(way)
    return kept


def draw_card(picture: Picture, state: State, card: int, x: float, y: float, height: float, is_on_way: bool) -> None:
    standing = state.cards[card]
    player = standing.card.player
    fill = PALE_GREY if player is None else (PALE_BLUE, PALE_ORANGE)[player]
    looks = {"edge": ORANGE, "thickness": 2} if is_on_way else {"edge": FAINT, "thickness": 1}
    picture.box(x, y, CARD_WIDTH, height, fill=fill, **looks)
    title = state.name(card) + ({"won": " ✓", "lost": " ✗", "drawn": " ="}.get(standing.proven, ""))
    if state.trace.search == "lecture" and card != ROOT_CARD:
        title = f"{state.trace.players[player or 0]} moved"
    colour = INK if player is None else (BLUE, ORANGE)[player]
    picture.write(x + CARD_WIDTH / 2, y + 5 + ROW / 2, title, is_bold=True, colour=colour)
    for i, row in enumerate(state.figures(card), 1):
        colour = GREEN if row.startswith("UCB") else INK
        picture.write(x + CARD_WIDTH / 2, y + 5 + (i + 0.5) * ROW, row, size=12, colour=colour)
