"""Games and positions as Python sees them: checked at the door, immutable, with words for everything."""

from __future__ import annotations

import contextlib
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import numpy as np

from tengen.rules.board import (
    NOT_SYMBOLS,
    PATH_DATA,
    SHAPES,
    STONES,
    Between,
    Coordinates,
    OneOf,
    Piece,
    board_symmetries,
    diagram,
    draw,
    read_diagram,
)
from tengen.rules.contract import MOST_ACTIONS, ONGOING, encode, key, legal, missing_rules, outcome, play, score, start
from tengen.rules.errors import BadDiagram, BadMove, BadParameter, GameFileError, IllegalMove, nearest
from tengen.rules.kernels import entry

Value = TypeVar("Value")
ANYTHING = Between(float("-inf"), float("inf"))
DRAWINGS = ("lines", "discs", "holes", "marks", "cells", "hexagons")
SCORINGS = ("area", "discs")
SIDES = ("top", "bottom", "left", "right")
MOST_PIECES = 100  # a board is kept as bytes
START, LOOK = -1, -2  # what `step` takes in place of an action


@entry
def step(game, states, action, actions):
    """Plays `action` on states[0] (START sets it up, LOOK leaves it); returns outcome, legal actions, key and score."""
    state = states[0]
    if action == START:
        start(game, state)
    elif action != LOOK:
        play(game, state, action)
    result = outcome(game, state)
    if result == ONGOING:
        return result, legal(game, state, actions), key(game, state), 0.0
    return result, 0, key(game, state), score(game, state)


@entry
def encode_states(game, states, planes):
    """The network's input of many states: planes [states, planes, cells]."""
    for i in range(len(states)):
        encode(game, states[i], planes[i])


@dataclass(frozen=True)
class Outcome:
    """How a game ended."""

    winner: int | None  # the player, or None for a draw
    score: float  # by how much: the margin of the first player, negative if the second won

    def value_for(self, player: int) -> int:
        """+1 if `player` won, −1 if the other did, 0 for a draw."""
        return 0 if self.winner is None else 1 if self.winner == player else -1


class Game:
    """A game with its parameters fixed: what its file says, and sensible answers where the file is silent."""

    def __init__(
        self,
        name: str,
        game_type: type,
        parameters: Mapping[str, object] | None = None,
        fixed: Mapping[str, object] | None = None,
    ):
        self.name = name
        self.fixed = fixed or {}  # what the name stands for already: m, n and k for tictactoe
        self.parameters: Any = read_parameters(game_type, {**self.fixed, **(parameters or {})})  # `game` in kernels
        for attribute in ("shape", "record", "planes", "board"):
            if not hasattr(game_type, attribute):
                raise GameFileError(f"{name}: class {game_type.__name__} has no {attribute!r}")
        if missing := missing_rules(game_type):
            raise GameFileError(f"{name}: no rule for {', '.join(missing)}; see @rules({game_type.__name__})")
        self._check_attributes()

    def _check_attributes(self) -> None:
        """Raises GameFileError for a drawing, a scoring or levels that nobody knows what to do with."""
        for attribute, known in (("drawing", DRAWINGS), ("scoring", (None, *SCORINGS))):
            if (chosen := getattr(self, attribute)) not in known:
                words = ", ".join(filter(None, known))
                raise GameFileError(f"{self.name}: {attribute} is {chosen!r}; it is one of {words}")
        check_pieces(self.name, self.pieces)
        if self.sides is not None:
            check_sides(self.name, self.sides)
        if self.scoring == "area" and self.actions != self.cells + 1:
            raise GameFileError(f"{self.name}: scoring is 'area', so its actions must be its cells and a pass")
        if self.levels is not None and len(self.levels) != 5:
            raise GameFileError(f"{self.name}: levels has {len(self.levels)} agents; it has 5, beginner to strongest")

    def __repr__(self) -> str:
        return f"<Game {self.spec}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[type, tuple[float, ...]]:
        return type(self.parameters), tuple(self.parameters)

    def __reduce__(self) -> tuple[Any, ...]:
        from tengen.games import load_game

        return load_game, (self.spec,)

    @cached_property
    def spec(self) -> str:
        """The text that `load_game` makes this game of; parameters at their defaults are left out."""
        defaults, kinds = self.parameters._field_defaults, parameter_kinds(type(self.parameters))
        changed = [
            f"{field}={kinds[field][1].text(value)}"
            for field, value in self.parameters._asdict().items()
            if value != defaults[field] and field not in self.fixed
        ]
        return self.name + (":" + ",".join(changed) if changed else "")

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the board."""
        rows, columns = self.parameters.shape
        return int(rows), int(columns)

    @property
    def cells(self) -> int:
        return self.shape[0] * self.shape[1]

    @cached_property
    def actions(self) -> int:
        """How many actions there are, legal or not: 0 … actions − 1."""
        count = int(getattr(self.parameters, "actions", self.cells))
        if not 1 <= count <= MOST_ACTIONS:
            raise GameFileError(f"{self.spec} has {count:,} actions; a game has 1 to {MOST_ACTIONS:,}")
        return count

    @cached_property
    def most_legal(self) -> int:
        """The most actions that are legal at once; by default, all there are. Trees and games under way take memory
        for so many."""
        count = int(self._own("most_legal", self.actions))
        if not 1 <= count <= self.actions:
            raise GameFileError(f"{self.spec}: most_legal is {count}; it is 1 to {self.actions}, its actions")
        return count

    @property
    def planes(self) -> tuple[str, ...]:
        """What each of the network's input planes shows."""
        return tuple(self.parameters.planes)

    @property
    def players(self) -> tuple[str, str]:
        """What the first and the second player are called."""
        return getattr(self.parameters, "players", ("X", "O"))

    @cached_property
    def coordinates(self) -> Coordinates:
        return getattr(self.parameters, "coordinates", None) or Coordinates(*self.shape)

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """What may stand on a cell: `X` for the first player and `O` for the second, unless the class names others."""
        return tuple(self._own("pieces", STONES))

    @cached_property
    def has_facts(self) -> bool:
        """Whether a board does not show all of a position."""
        return hasattr(self.parameters, "facts")

    @cached_property
    def move_planes(self) -> int | None:
        """How many kinds of moves each cell has, if action = kind · cells + cell; None, the default, if it is not so.

        A network's policy then has as many planes over the board, in place of a layer that joins all to all.
        """
        kinds: int | None = self._own("move_planes", None)
        if kinds is not None and kinds * self.cells != self.actions:
            raise GameFileError(f"{self.name}: {kinds} move_planes · {self.cells} cells are not {self.actions} actions")
        return kinds

    @cached_property
    def symmetries(self) -> np.ndarray:
        """Where each symmetry of the board sends a cell: [symmetries, cells]; the first is the identity."""
        return np.asarray(getattr(self.parameters, "symmetries", board_symmetries(*self.shape)))

    @cached_property
    def action_symmetries(self) -> np.ndarray:
        """Where each symmetry sends an action: [symmetries, actions]. A pass, one action beyond the cells, stays."""
        if hasattr(self.parameters, "action_symmetries"):
            return np.asarray(self.parameters.action_symmetries)
        images = self.symmetries
        if self.actions not in (self.cells, self.cells + 1):
            raise GameFileError(f"{self.name}: its actions are not its cells, so it must define action_symmetries")
        rest = np.full((len(images), self.actions - self.cells), self.cells)
        return np.concatenate([images, rest], axis=1)

    # How people, files and other programs see it. A game that sets none of these is shown and played all the same.

    def _own(self, attribute: str, default: Value) -> Value | Any:
        """An attribute of the class; not a parameter that happens to be called so."""
        return default if attribute in self.parameters._fields else getattr(self.parameters, attribute, default)

    @property
    def title(self) -> str:
        """What lists call it: the class's `title`, or `titles[name]` for one of its `names`; else made of its name."""
        stem = re.sub("[^A-Za-z0-9]+", " ", Path(self.name).stem).strip().capitalize()
        titles: dict[str, str] = self._own("titles", {})
        own = titles.get(self.name) if self.fixed else self._own("title", None)
        return str(own or stem)

    @property
    def drawing(self) -> str:
        """What its board looks like.

        `lines`: stones on the crossings, as in Go; `discs`: discs in squares, as in Reversi; `holes`: discs behind a
        front with holes, as in connect four; `marks`: crosses and noughts; `hexagons`: a rhombus of them, as in Hex;
        `cells`, the default: pieces in squares.
        """
        return self._own("drawing", "cells")

    @property
    def sides(self) -> tuple[str, str] | None:
        """The sides of the board in each player's colour, `("top bottom", "left right")`; None, the default: none."""
        return self._own("sides", None)

    @property
    def usual_sizes(self) -> tuple[int, ...]:
        """Values of its parameter `size` that a form suggests; none by default."""
        return tuple(self._own("usual_sizes", ()))

    @property
    def row_length(self) -> int | None:
        """How many in a row win, so that a page can mark them; None, the default, where rows do not win."""
        return self._own("row_length", None)

    @property
    def scoring(self) -> str | None:
        """What is counted at the end, or None, the default.

        `area`, as in Go: all stones on the board are alive, and the game ends by two passes; so agents capture dead
        stones before they pass, a record may give another result, and a GTP controller may go on after the passes.
        `discs`, as in Reversi: the players' pieces.
        """
        return self._own("scoring", None)

    @property
    def levels(self) -> tuple[str, ...] | None:
        """The agents that a page offers as opponents: five specs, from beginner to strongest; None: the usual ones."""
        return self._own("levels", None)

    @property
    def sgf_number(self) -> int:
        """Its GM in SGF, which the class's `sgf_number` gives; 0, the default, for a game that FF[4] has no number for.

        Two methods go with it: `sgf_properties()`, what a file says of the parameters (`{"KM": "7.5"}`), and the static
        `sgf_parameters(properties)`, which reads them in other programs' files. SZ is read and written in any case.
        """
        return self._own("sgf_number", 0)

    def sgf_properties(self) -> dict[str, str]:
        """What an SGF file says of its parameters, by the names of properties."""
        return self.parameters.sgf_properties() if hasattr(self.parameters, "sgf_properties") else {}

    @property
    def gtp_name(self) -> str | None:
        """What `set_game` of GTP calls it, if there are engines that play it; None, the default, if there are none."""
        return self._own("gtp_name", None)

    @property
    def gtp_passes(self) -> bool:
        """Whether GTP engines are told of a pass, the default; if not, they know by themselves who must pass."""
        return self._own("gtp_passes", True)

    @property
    def gomocup_rule(self) -> int | None:
        """Its number in `INFO rule` of Gomocup's protocol, on square boards; None, the default, if none has it."""
        return self._own("gomocup_rule", None)

    @property
    def uci_variant(self) -> str | None:
        """What UCI calls it (`chess`), if there are engines that play it; None, the default, if there are none.

        Its diagrams are what UCI calls a FEN. Where moves go by other texts than `Game.action_text` there, the class
        says so: `uci_text(position, action)`; `parse_action` reads them.
        """
        return self._own("uci_variant", None)

    @property
    def record_format(self) -> str | None:
        """The format of files in which players keep its games, beside SGF: `pgn`, or None, the default."""
        return self._own("record_format", None)

    def new_states(self, count: int) -> np.recarray:
        """`count` states, all zeros; `start` is still to be called on each."""
        return np.zeros(count, self.parameters.record()).view(np.recarray)

    def start(self) -> Position:
        """The position before the first move."""
        return Position(self, self.new_states(1), START)

    def from_moves(self, moves: str) -> Position:
        """The position after `moves`: `h8 i9 …`, with spaces or commas or run together."""
        if not hasattr(self.parameters, "read_move"):
            return self.from_actions(self.read_moves(moves))
        position = self.start()
        for word in moves.replace(",", " ").split():
            position = position.play(word)
        return position

    def from_actions(self, actions: Iterable[int]) -> Position:
        """The position after `actions`."""
        position = self.start()
        for action in actions:
            position = position.play(action)
        return position

    def from_board(self, text: str, to_play: int | str | None = None) -> Position:
        """The position of a diagram: rows; of a game with pieces or facts of its own, then the player and the facts.

        If neither names the player to move, it is the first; in a game of stones the second if their number is odd.
        """
        if not hasattr(self.parameters, "setup"):
            raise BadDiagram(f"{self.name} does not take diagrams: its file has no setup()")
        has_words = self.has_facts or self.pieces != STONES
        board, words = read_diagram(text, self.shape, self.pieces, has_words)
        named = words.pop(0) if words else None
        if to_play is None:
            to_play = named if has_words else int((board > 0).sum() % 2)
        states = self.new_states(1)
        facts = (" ".join(words),) if self.has_facts else ()
        self.parameters.setup(states, board, self.player(to_play or 0), *facts)
        return Position(self, states, LOOK)

    def player(self, name: int | str) -> int:
        """The player of a name: 0 or 1, X or O, or what the game calls them (Black, b, …)."""
        for player in (0, 1):
            words = {str(player), STONES[player].symbol, self.players[player], self.players[player][0]}
            if str(name).lower() in {word.lower() for word in words}:
                return player
        raise BadMove(f"{name!r} is no player; they are {self.players[0]} (X) and {self.players[1]} (O)")

    def action_text(self, action: int) -> str:
        """An action as people write it: `h8`, `pass`."""
        if not 0 <= action_number(action) < self.actions:
            raise BadMove(f"{self.spec} has no action {action}: they are 0 to {self.actions - 1}")
        if hasattr(self.parameters, "action_text"):
            text: str = self.parameters.action_text(action)
            return text
        return "pass" if action == self.cells else self.coordinates.text(action)

    def parse_action(self, text: str) -> int:
        """The action that `text` names; raises BadMove if there is none."""
        text = text.strip()
        if hasattr(self.parameters, "parse_action"):
            action: int = self.parameters.parse_action(text)
            return action
        if text.lower() == "pass" and self.actions == self.cells + 1:
            return self.cells
        return self.coordinates.cell(text)

    def read_moves(self, text: str) -> Iterator[int]:
        """The actions of a text of moves."""
        pattern = re.compile(getattr(self.parameters, "move_pattern", r"pass|[a-z]\d+"), re.IGNORECASE)
        for word in text.replace(",", " ").split():
            at = 0
            while at < len(word):
                if not (match := pattern.match(word, at)):
                    raise BadMove(f"{word[at:]!r} is not a move; write one as {self.action_text(0)}")
                yield self.parse_action(match.group())
                at = match.end()


class Position:
    """One moment of a game: immutable; to play is to get another one."""

    __slots__ = ("_legal", "_states", "action", "game", "key", "outcome", "ply", "previous")

    game: Game
    previous: Position | None  # the position before
    action: int | None  # what led here from there
    ply: int  # how many actions were played
    outcome: Outcome | None  # None while the game goes on
    key: int  # 64 bits: equal for equal boards with the same player to move
    _states: np.recarray
    _legal: np.ndarray

    def __init__(self, game: Game, states: np.recarray, action: int, previous: Position | None = None):
        actions = np.empty(game.actions, np.int32)
        result, count, position_key, margin = step(game.parameters, states, action, actions)
        ended = Outcome({1: 0, 2: 1}.get(int(result)), float(margin)) if result != ONGOING else None
        values = {
            "game": game,
            "previous": previous,
            "action": None if previous is None else action,
            "ply": 0 if previous is None else previous.ply + 1,
            "outcome": ended,
            "key": int(position_key),
            "_states": states,
            "_legal": actions[:count],
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a position never changes: play() makes another one, and {name!r} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        return _replay, (self.game, self._root()._states.tobytes(), self.moves)

    def _root(self) -> Position:
        position = self
        while position.previous is not None:
            position = position.previous
        return position

    @property
    def state(self) -> np.record:
        """A copy of the record that the rules work on."""
        state: np.record = self.states[0]
        return state

    @property
    def states(self) -> np.recarray:
        """The same as an array of one, which is what kernels take."""
        return self._states.copy()

    @property
    def to_play(self) -> int:
        """The player to move, 0 or 1."""
        return int(self._states[0].to_play)

    @property
    def legal_actions(self) -> list[int]:
        """The legal actions, rising; none once the game is over."""
        actions: list[int] = self._legal.tolist()
        return actions

    @property
    def moves(self) -> list[int]:
        """The actions that led here from the start (or from the diagram)."""
        moves: list[int] = []
        position: Position | None = self
        while position is not None and position.action is not None:
            moves.append(position.action)
            position = position.previous
        return moves[::-1]

    @property
    def board(self) -> np.ndarray:
        """[rows, columns]: 0 for an empty cell, else the number of a piece, the game's first being 1."""
        return np.array(self.game.parameters.board(self._states[0]), np.int8).reshape(self.game.shape)

    @property
    def owners(self) -> np.ndarray:
        """[rows, columns]: 1 where the first player's pieces are, 2 where the second's, 0 elsewhere."""
        owners: np.ndarray = owners_of(self.game.pieces)[self.board]
        return owners

    @property
    def facts(self) -> str:
        """What the board does not show, such as rights to castle: part of what makes two positions equal."""
        return " ".join(str(self.game.parameters.facts(self._states[0])).split()) if self.game.has_facts else ""

    def move_text(self, action: int) -> str:
        """A legal action as players write it here, `Nf3`; for most games the same as `Game.action_text`."""
        if hasattr(self.game.parameters, "move_text"):
            text: str = self.game.parameters.move_text(self, action)
            return text
        return self.game.action_text(action)

    def read_move(self, text: str) -> int:
        """The action of a text, as `Game.action_text` or `move_text` write it; raises BadMove if there is none."""
        if hasattr(self.game.parameters, "read_move"):
            action: int = self.game.parameters.read_move(self, text.strip())
            return action
        return self.game.parse_action(text)

    def uci_text(self, action: int) -> str:
        """A legal action as UCI has it: `e2e4`, `e7e8q`."""
        if hasattr(self.game.parameters, "uci_text"):
            text: str = self.game.parameters.uci_text(self, action)
            return text
        return self.game.action_text(action)

    def read_uci(self, text: str) -> int:
        """The legal action that UCI writes so; raises BadMove if there is none."""
        action = self.game.parse_action(text)
        if action not in self._legal or self.uci_text(action) != text.lower():
            raise BadMove(f"{text[:40]!r} is no legal move here")
        return action

    def play(self, move: int | str, player: int | str | None = None) -> Position:
        """The position after an action, by number or by text; raises BadMove or IllegalMove and says why."""
        action = self.read_move(move) if isinstance(move, str) else action_number(move)
        if not 0 <= action < self.game.actions:
            raise BadMove(f"action {action} does not exist; {self.game.name} has actions 0 to {self.game.actions - 1}")
        if player is not None and self.game.player(player) != self.to_play:
            raise IllegalMove(f"it is {self.game.players[self.to_play]}'s turn at move {self.ply + 1}")
        if action not in self._legal:
            raise IllegalMove(f"{self._why_illegal(action)} at move {self.ply + 1}")
        return Position(self.game, self.states, action, self)

    def undo(self) -> Position:
        """The position before the last action."""
        if self.previous is None:
            raise IllegalMove("there is no move to take back")
        return self.previous

    def forbidden(self) -> dict[int, str]:
        """The empty points that may not be played, each with the reason."""
        if self.outcome is not None or not hasattr(self.game.parameters, "forbidden"):
            return {}
        reasons: dict[int, str] = self.game.parameters.forbidden(self.states)
        return reasons

    def encode(self) -> np.ndarray:
        """The network's input: [planes, rows, columns]."""
        planes = np.empty((1, len(self.game.planes), self.game.cells), np.float32)
        encode_states(self.game.parameters, self._states, planes)
        return planes.reshape(-1, *self.game.shape)

    def diagram(self) -> str:
        """The position in one line, as `from_board` reads it: its rows; of a game with pieces or facts all of it."""
        rows = diagram(self.board, self.game.pieces)
        if not self.game.has_facts and self.game.pieces == STONES:
            return rows
        counters = getattr(self.game.parameters, "counters", lambda state: "")(self._states[0])
        return " ".join([rows, self.game.players[self.to_play][0].lower(), *self.facts.split(), *str(counters).split()])

    def _why_illegal(self, action: int) -> str:
        text, ended = self.game.action_text(action), self.outcome
        if ended is not None:
            how = "drawn" if ended.winner is None else f"won by {self.game.players[ended.winner]}"
            return f"the game is over ({how}): {text} cannot be played"
        if reason := self.forbidden().get(action):
            return f"{text} is forbidden ({reason})"
        if hasattr(self.game.parameters, "why_illegal"):
            return f"{text} {self.game.parameters.why_illegal(self._states[0], action)}"
        if action < self.game.cells and self.board.flat[action] and self.game.actions <= self.game.cells + 1:
            return f"{text} is occupied"
        some = ", ".join(self.game.action_text(a) for a in self.legal_actions[:8])
        return f"{text} is not legal (try {some})"

    @property
    def last_cell(self) -> int | None:
        """The cell on which the last action put a stone; None after a pass, and where pieces move."""
        if self.previous is None or self.game.actions > self.game.cells + 1:
            return None
        fresh = np.flatnonzero((self.previous.board == 0) & (self.board != 0))  # in connect four the action is a column
        return int(fresh[0]) if len(fresh) else None

    def __str__(self) -> str:
        return draw(self.board, self.game.coordinates, self.last_cell, self.game.pieces)

    def _repr_svg_(self) -> str:
        """The board as a notebook shows it. Drawing is a layer below this one, and is imported when somebody looks."""
        drawing: str = import_module("tengen.report.diagrams").drawing_of(self)
        return drawing

    def __repr__(self) -> str:
        return f"<Position of {self.game.spec} after {self.ply} moves: {self.diagram()}>"

    def __hash__(self) -> int:
        return self.key

    def __eq__(self, other: object) -> bool:
        """Whether the boards and the players to move are equal; how they came about does not matter."""
        return isinstance(other, Position) and self.game == other.game and self.key == other.key


@lru_cache(maxsize=256)
def owners_of(pieces: tuple[Piece, ...]) -> np.ndarray:
    """Whose each value of a board is: 0 for nobody's, or the player + 1."""
    return np.array([0, *(0 if piece.owner is None else piece.owner + 1 for piece in pieces)], np.int8)


def check_pieces(name: str, pieces: Sequence[Piece]) -> None:
    """Raises GameFileError for pieces that cannot be told apart, or are nobody's who plays."""
    for piece in pieces:
        if not isinstance(piece, Piece):
            raise GameFileError(f"{name}: pieces has {piece!r}; write Piece(symbol, owner)")
        if len(piece.symbol) != 1 or piece.symbol in NOT_SYMBOLS or piece.symbol.isspace():
            raise GameFileError(f"{name}: {piece.symbol!r} cannot be a piece's symbol; use one letter or sign")
        if piece.owner not in (0, 1, None):
            raise GameFileError(f"{name}: piece {piece.symbol} belongs to {piece.owner!r}; owners are 0, 1 and None")
        if piece.shape not in SHAPES and not PATH_DATA.fullmatch(str(piece.shape)):
            known = f"it is one of {', '.join(SHAPES)}, or SVG path data such as 'M5 5h30v30h-30z'"
            raise GameFileError(f"{name}: the shape of piece {piece.symbol} is {str(piece.shape)[:80]!r}; {known}")
    if len({piece.symbol for piece in pieces}) < len(pieces) or not 1 <= len(pieces) <= MOST_PIECES:
        raise GameFileError(f"{name}: there are 1 to {MOST_PIECES} pieces, each with a symbol of its own")


def check_sides(name: str, sides: Sequence[str]) -> None:
    """Raises GameFileError unless two texts share out the sides of a board, none to both players."""
    words = [word for text in sides for word in str(text).split()]
    if isinstance(sides, str) or len(sides) != 2 or not set(words) <= set(SIDES) or len(set(words)) < len(words):
        right = 'write whose they are as ("top bottom", "left right")'
        raise GameFileError(f"{name}: sides is {sides!r}; {right}")


def action_number(move: object) -> int:
    """An action given as a number, of any integer type."""
    if not isinstance(move, bool):
        with contextlib.suppress(TypeError):
            return operator.index(move)  # type: ignore[arg-type]
    raise BadMove(f"{move!r} is not a move; give an action's number or its text")


def _replay(game: Game, root: bytes, moves: list[int]) -> Position:
    """The position that was pickled."""
    states = np.frombuffer(bytearray(root), game.parameters.record()).view(np.recarray)
    position = Position(game, states, LOOK)
    for action in moves:
        position = position.play(action)
    return position


def parameter_kinds(game_type: type) -> dict[str, tuple[type, Any]]:
    """Each parameter's type and what values it may take, from the annotations of the tuple."""
    kinds = {}
    hints = get_type_hints(game_type, include_extras=True)
    for field in game_type._fields:  # type: ignore[attr-defined]
        kind = getattr(hints[field], "__origin__", hints[field])
        allowed = next(iter(getattr(hints[field], "__metadata__", ())), ANYTHING)
        where = f"parameter {field!r} of {game_type.__name__}"
        if kind not in (int, float):
            raise GameFileError(f"{where} is a {getattr(kind, '__name__', kind)}; kernels take int and float alone")
        if not isinstance(allowed, Between | OneOf):
            raise GameFileError(f"{where} is annotated with {allowed!r}; use Between(low, high) or OneOf(names)")
        if field not in game_type._field_defaults:  # type: ignore[attr-defined]
            raise GameFileError(f"{where} has no default; give it one")
        kinds[field] = (kind, allowed)
    return kinds


def read_parameters(game_type: Any, given: Mapping[str, object]) -> Any:
    """The tuple of parameters, each checked; raises BadParameter with the nearest right name or the range."""
    kinds = parameter_kinds(game_type)
    for name in given:
        if name not in kinds:
            raise BadParameter(f"unknown parameter {name!r}{nearest(name, kinds)}")
    game = game_type(**{name: kinds[name][1].read(name, value, kinds[name][0]) for name, value in given.items()})
    if hasattr(game, "validate"):
        game.validate()
    return game
