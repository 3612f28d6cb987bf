"""Phantom tic-tac-toe, Kriegspiel's small sister: you see your own marks only, and an umpire says what you may not do.

You try a cell. If the other's mark is there, the umpire says so, and you try again; else it is your move. You are told
that the other has moved, not where. The umpire says when the game is over.

A `Belief` is what a player knows: the set of worlds, places where the other's marks may be. It grows when the other
moves and shrinks with each answer of the umpire. The search is over belief states: a player weighs a cell by all
worlds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from tengen.course.pictures import FAINT, GROUND, INK, MARGIN, ORANGE, SOFT, Picture
from tengen.games import load_game
from tengen.rules.errors import BadParameter
from tengen.rules.game import Game

World = frozenset[int]  # the cells of the other's marks
CELLS = range(9)
ROWS = [
    frozenset(row) for row in ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
]
PLAYERS = ("belief", "random")
MOST_GAMES = 10_000


def has_row(marks: frozenset[int] | set[int]) -> bool:
    return any(row <= marks for row in ROWS)


@dataclass(frozen=True)
class Belief:
    """What a player knows of a game that is not over."""

    own: frozenset[int] = frozenset()
    worlds: frozenset[World] = frozenset({frozenset()})

    def after_their_move(self) -> Belief:
        """The other has marked a free cell, and the game goes on."""
        grown = {world | {cell} for world in self.worlds for cell in CELLS if cell not in self.own | world}
        return Belief(self.own, frozenset(world for world in grown if not has_row(world)))

    def after_taken(self, cell: int) -> Belief:
        """The umpire has said that the cell is taken: worlds where it is free are none."""
        return Belief(self.own, frozenset(world for world in self.worlds if cell in world))

    def after_own_move(self, cell: int) -> Belief:
        """The cell was free, and is now the player's own."""
        return Belief(self.own | {cell}, frozenset(world for world in self.worlds if cell not in world))

    def known(self) -> World:
        """Cells that the other has in every world."""
        return frozenset.intersection(*self.worlds) if self.worlds else frozenset()

    def chances(self) -> list[float]:
        """For each cell, in how great a share of the worlds the other has it."""
        return [sum(cell in world for world in self.worlds) / max(len(self.worlds), 1) for cell in CELLS]

    def may_try(self) -> list[int]:
        """Cells that are not the player's own, and not known to be taken."""
        known = self.known()
        return [cell for cell in CELLS if cell not in self.own and cell not in known]


# Players


@cache
def clear_value(own: World, theirs: World) -> int:
    """Tic-tac-toe with open eyes: +1, 0 or −1 for the owner of `own`, who is to move."""
    if has_row(theirs):
        return -1
    free = [cell for cell in CELLS if cell not in own | theirs]
    if not free:
        return 0
    return max(-clear_value(theirs, own | {cell}) if not has_row(own | {cell}) else 1 for cell in free)


def worth(belief: Belief, cell: int) -> float:
    """A cell, weighed by all worlds alike: what open eyes would make of each world after it.

    Where the cell is taken, the player has learnt that and goes on in what is left of the worlds.
    """
    free = [world for world in belief.worlds if cell not in world]
    total, own = 0.0, belief.own | {cell}
    for world in free:
        total += 1 if has_row(own) else 0 if len(own | world) == len(CELLS) else -clear_value(world, own)
    for world in belief.worlds - set(free):
        total += clear_value(belief.own, world)
    return total / len(belief.worlds)


def choose_by_belief(belief: Belief, rng: random.Random) -> int:
    """The cell worth most, one of them at random."""
    values = {cell: round(worth(belief, cell), 9) for cell in belief.may_try()}
    most = max(values.values())
    return rng.choice([cell for cell, value in values.items() if value == most])


def choose_any(belief: Belief, rng: random.Random) -> int:
    return rng.choice(belief.may_try())


CHOICES: dict[str, Callable[[Belief, random.Random], int]] = {"belief": choose_by_belief, "random": choose_any}


# A game


@dataclass(frozen=True)
class UmpireAnswer:
    """One attempt, what the umpire said, and what both know after it."""

    player: int
    cell: int
    is_taken: bool
    before: int  # worlds of the player who tried, before and after the answer
    after: int
    beliefs: tuple[Belief, Belief]
    marks: tuple[World, World]  # what nobody but the umpire sees
    end: str = ""  # "won" or "drawn"


def umpire_game(choices: tuple[str, str], rng: random.Random) -> Iterator[UmpireAnswer]:
    """A game of phantom tic-tac-toe, attempt by attempt."""
    beliefs, marks, player = [Belief(), Belief()], [frozenset[int](), frozenset[int]()], 0
    while True:
        belief = beliefs[player]
        cell = CHOICES[choices[player]](belief, rng)
        is_taken = cell in marks[1 - player]
        beliefs[player] = belief.after_taken(cell) if is_taken else belief.after_own_move(cell)
        end = ""
        if not is_taken:
            marks[player] |= {cell}
            end = "won" if has_row(marks[player]) else "drawn" if len(marks[0] | marks[1]) == len(CELLS) else ""
        counts = len(belief.worlds), len(beliefs[player].worlds)
        if not is_taken and not end:
            beliefs[1 - player] = beliefs[1 - player].after_their_move()
        yield UmpireAnswer(player, cell, is_taken, *counts, (beliefs[0], beliefs[1]), (marks[0], marks[1]), end)
        if end:
            return
        player = player if is_taken else 1 - player


def check_players(names: tuple[str, str]) -> None:
    for name in names:
        if name not in PLAYERS:
            raise BadParameter(f"player={name!r}: belief or random")


def count_games(choices: tuple[str, str], games: int, seed: int) -> dict[str, int]:
    """Results for the first player: won, drawn, lost."""
    check_players(choices)
    if not 1 <= games <= MOST_GAMES:
        raise BadParameter(f"games={games}: 1 to {MOST_GAMES:,}")
    rng, counts = random.Random(seed), {"won": 0, "drawn": 0, "lost": 0}
    for _ in range(games):
        *_, last = umpire_game(choices, rng)
        counts["drawn" if last.end == "drawn" else "won" if last.player == 0 else "lost"] += 1
    return counts


# In words, and as a picture


def phantom_rules() -> Game:
    """The game whose cells these are; names of cells are its own."""
    return load_game("tictactoe")


def cell_name(cell: int) -> str:
    return phantom_rules().action_text(cell)


def answer_text(answer: UmpireAnswer) -> str:
    """One attempt in words."""
    who = phantom_rules().players[answer.player]
    said = (
        "taken, try again"
        if answer.is_taken
        else {"": "played", "won": "played: won", "drawn": "played: drawn"}[answer.end]
    )
    shrunk = f"worlds of {who}: {answer.before} → {answer.after}"
    other = phantom_rules().players[1 - answer.player]
    grown = (
        ""
        if answer.is_taken or answer.end
        else f"; of {other}, who is told no more: {len(answer.beliefs[1 - answer.player].worlds)}"
    )
    return f"{who} tries {cell_name(answer.cell)}: {said:16} {shrunk}{grown}"


def belief_rows(belief: Belief, player: int) -> list[str]:
    """A player's board: own marks, and the chance in percent that the other has a cell."""
    mine, theirs = phantom_rules().players[player], phantom_rules().players[1 - player]
    words = [
        mine if cell in belief.own else theirs if chance == 1 else "·" if chance == 0 else f"{100 * chance:.0f}"
        for cell, chance in enumerate(belief.chances())
    ]
    return ["  ".join(f"{word:>3}" for word in words[row : row + 3]) for row in (0, 3, 6)]


CELL, GAP, MOST_BOARDS = 34, 26, 12


def draw_beliefs(answers: list[UmpireAnswer], player: int = 0) -> Picture:
    """A player's boards after each attempt of a game: the darker a cell, the likelier the other is there."""
    shown = answers[:MOST_BOARDS]
    side = 3 * CELL
    picture = Picture(f"What {phantom_rules().players[player]} knows")
    columns = min(len(shown), 4)
    rows = -(-len(shown) // 4)
    picture.width = 2 * MARGIN + columns * side + (columns - 1) * GAP
    picture.height = 2 * MARGIN + rows * (side + 44)
    for i, answer in enumerate(shown):
        left, top = MARGIN + i % 4 * (side + GAP), MARGIN + i // 4 * (side + 44) + 22
        who = phantom_rules().players[answer.player]
        said = "taken" if answer.is_taken else answer.end or "played"
        is_told = answer.player == player
        picture.write(left + side / 2, top - 12, f"{who} {cell_name(answer.cell) if is_told else '?'}: {said}", size=12)
        belief = answer.beliefs[player]
        for cell, chance in enumerate(belief.chances()):
            draw_cell(picture, left + cell % 3 * CELL, top + cell // 3 * CELL, belief, cell, chance, player)
        count = len(belief.worlds)
        picture.write(
            left + side / 2, top + side + 10, f"{count} world{'' if count == 1 else 's'}", size=11, colour=SOFT
        )
    return picture


def draw_cell(picture: Picture, x: float, y: float, belief: Belief, cell: int, chance: float, player: int) -> None:
    is_own = cell in belief.own
    shade = round(255 - 95 * chance)
    fill = GROUND if is_own or chance == 0 else f"#{255:02x}{shade:02x}{max(shade - 25, 0):02x}"
    picture.box(x, y, CELL, CELL, fill=fill, edge=FAINT)
    names = phantom_rules().players
    text = names[player] if is_own else names[1 - player] if chance == 1 else f"{100 * chance:.0f}%" if chance else ""
    is_mark = is_own or chance == 1
    colour = INK if is_own else ORANGE if chance == 1 else SOFT
    picture.write(x + CELL / 2, y + CELL / 2, text, size=17 if is_mark else 10, colour=colour, is_bold=is_mark)


def all_worlds(own: World, count: int) -> Iterator[World]:
    """Every place of so many marks of the other beside the player's own: what somebody believes who asks nothing."""
    free = [cell for cell in CELLS if cell not in own]
    return (frozenset(cells) for cells in combinations(free, count))
