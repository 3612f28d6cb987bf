"""Games as SGF (FF[4]): what we write others can open, and the main line of their Go, Gomoku and Othello is read.

The first player is Black. Where a game's actions are the cells of its board, a move is an SGF point: the letter of the
column from the left, then of the row from the top; a pass is empty. Where they are not, a move is its own text: connect
four's column (`B[4]`), Breakthrough's two points (`B[a2a3]`).

Go is GM[1], Reversi GM[2], Gomoku and Renju GM[4]; games without a number of their own get GM[0]. The private property
TG holds the spec of the game, so everything we write comes back as it was. A record is never trusted: its moves are
played by the rules, and a spec that names a file is not loaded, because that would run the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from string import ascii_letters

import numpy as np
from sgfmill import sgf_grammar

from tengen import __version__
from tengen.games import load_game
from tengen.games.go import Go
from tengen.games.gomoku import Gomoku
from tengen.games.reversi import Reversi
from tengen.rules import contract
from tengen.rules.errors import BadMove, TengenError
from tengen.rules.game import Game, Outcome, Position

LONGEST = 4 * 2**20  # bytes that are read at most
COLOURS = "BW"
SETUP = ("AB", "AW", "AE")
NUMBERS: dict[type, int] = {Go: 1, Reversi: 2, Gomoku: 4}  # GM
NAMES = {"1": "go", "2": "reversi", "4": "gomoku"}
WITH_SUICIDE = ("tromp-taylor", "nz", "new zealand", "goe", "ing")  # rules of Go, as RU names them
CHARSETS = ["utf-8", "iso-8859-1", "windows-1252", "gb2312", "gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"]

Node = dict[str, list[bytes]]  # a node's properties, their values as they stand in the file


class RecordError(TengenError):
    """A record that cannot be read or written."""


@dataclass(frozen=True)
class Record:
    """A game as it was played from its start. `read_sgf` gives legal moves only."""

    game: Game
    moves: tuple[int, ...]
    players: tuple[str, str] = ("", "")  # who moved first, who second
    result: str = "?"  # as SGF has it: B+, W+3.5, B+R (resigned), B+T (on time), 0 (a draw), ? (not known)
    comments: Mapping[int, str] = field(default_factory=dict)  # by ply; 0 is before the first move
    date: str = ""
    opening: int = 0  # plies that were given, not chosen
    seconds: tuple[float, ...] = ()  # that each ply after the opening took
    ending: str = ""  # why it ended, if not by the rules of the game: a resignation, a crash, an illegal move

    @classmethod
    def of(cls, position: Position, players: tuple[str, str] = ("", ""), comments: Mapping[int, str] = {}) -> Record:
        """The record of a game that led to `position`."""
        first = position
        while first.previous is not None:
            first = first.previous
        if first != position.game.start():
            raise RecordError("a game that began from a diagram cannot be recorded: its start is not the game's own")
        result = result_text(position.game, position.outcome)
        return cls(position.game, tuple(position.moves), players, result, dict(comments))

    @property
    def outcome(self) -> Outcome | None:
        """What `result` says; a win without a margin counts 1. None if it does not say who won."""
        if self.result.lower() in ("0", "draw"):
            return Outcome(None, 0.0)
        if not (match := re.fullmatch(r"([BW])\+(\d*\.?\d*)\w*", self.result)):
            return None
        winner = COLOURS.index(match[1])
        margin = float(match[2]) if match[2].strip(".") else 1.0
        return Outcome(winner, margin if winner == 0 else -margin)

    def positions(self) -> Iterator[Position]:
        """The position before the first move, then after each; raises what `Position.play` raises."""
        position = self.game.start()
        yield position
        for action in self.moves:
            position = position.play(action)
            yield position

    def end(self) -> Position:
        """The position after the last move."""
        *_, last = self.positions()
        return last


def result_text(game: Game, outcome: Outcome | None) -> str:
    """An outcome as SGF has it, with a margin where the game's own rules count one."""
    if outcome is None:
        return "?"
    if outcome.winner is None:
        return "0"
    counts = contract.rule_of(type(game.parameters), "score").__module__ != contract.__name__
    return f"{COLOURS[outcome.winner]}+" + (f"{abs(outcome.score):g}" if counts else "")


# Writing.


def write_sgf(*records: Record) -> str:
    """The records as one collection; raises if a move is illegal."""
    return "".join(sgf_grammar.serialise_game_tree(_tree(record)).decode() for record in records)


def _tree(record: Record) -> sgf_grammar.Coarse_game_tree:
    """The game as sgfmill's tree: one line of nodes, the root first."""
    if stray := record.comments.keys() - range(len(record.moves) + 1):
        raise RecordError(f"there is a comment on ply {min(stray)}; the game has plies 0 to {len(record.moves)}")
    positions = list(record.positions())
    nodes = [_root(record, positions[0])]
    for before, action in zip(positions, record.moves, strict=False):
        nodes.append({COLOURS[before.to_play]: [_raw(move_text(record.game, action))]})
    for ply, comment in record.comments.items():
        nodes[ply]["C"] = [_raw(comment)]
    tree = sgf_grammar.Coarse_game_tree()
    tree.sequence = nodes
    return tree


def _root(record: Record, start: Position) -> Node:
    """The node before the first move: what game it is, who played it, how it ended."""
    game = record.game
    rows, columns = game.shape
    facts = {
        "FF": "4",
        "CA": "UTF-8",
        "GM": str(NUMBERS.get(type(game.parameters), 0)),
        "SZ": str(rows) if rows == columns else f"{columns}:{rows}",
        "TG": game.spec,
        "PB": record.players[0],
        "PW": record.players[1],
        "RE": record.result,
        "DT": record.date,
        **_rule_facts(game),
    }
    node = {name: [_raw(" ".join(value.splitlines()))] for name, value in facts.items() if value}
    node["AP"] = [f"tengen:{__version__}".encode()]
    for name, stone in (("AB", 1), ("AW", 2)):
        if cells := np.flatnonzero(start.board == stone).tolist():
            node[name] = [point_text(game, cell).encode() for cell in cells]
    return node


def _rule_facts(game: Game) -> dict[str, str]:
    """The properties that say by which of its rules a game was played."""
    parameters = game.parameters
    if isinstance(parameters, Gomoku):
        return {"RU": ("freestyle", "standard", "renju")[parameters.rule]}
    if not isinstance(parameters, Go):
        return {}
    rules = "Tromp-Taylor" if parameters.suicide else "Chinese"
    return {"RU": rules, "KM": f"{parameters.komi:g}", "HA": str(parameters.handicap or "")}


def _raw(text: str) -> bytes:
    """A text as it stands between the brackets."""
    return sgf_grammar.escape_text(text.encode("utf-8", "replace"))


def plays_points(game: Game) -> bool:
    """Whether the game's actions are the cells of its board, and perhaps a pass."""
    return game.actions in (game.cells, game.cells + 1)


def point_text(game: Game, cell: int) -> str:
    """A cell as an SGF point."""
    y, x = divmod(cell, game.shape[1])
    return ascii_letters[x] + ascii_letters[y]


def move_text(game: Game, action: int) -> str:
    """An action as the value of a move."""
    if not plays_points(game):
        return game.action_text(action)
    return "" if action == game.cells else point_text(game, action)


# Reading.


def read_sgf(data: str | bytes, game: Game | None = None) -> list[Record]:
    """The games of a file, the main line of each; raises RecordError if one cannot be read.

    Records of a game that is a user's file are read by `game`, which must be that game.
    """
    if len(data) > LONGEST:
        raise RecordError(f"the file has {len(data):,} bytes; up to {LONGEST:,} are read")
    text = data if isinstance(data, str) else _decode(data)
    try:
        trees = sgf_grammar.parse_sgf_collection(text.encode("utf-8", "replace"))
    except ValueError as reason:
        raise RecordError(f"the file is not SGF: {str(reason).rpartition(': ')[2]}") from reason
    records = []
    for number, tree in enumerate(trees, 1):
        try:
            records.append(_read_game(list(sgf_grammar.main_sequence_iter(tree)), game))
        except TengenError as reason:
            where = f"game {number} of {len(trees)}: " if len(trees) > 1 else ""
            raise RecordError(f"{where}{reason}") from reason
    return records


def _decode(data: bytes) -> str:
    """The file's text, by the charset it names (CA), else as UTF-8. Before the grammar: `]` may be half a character."""
    match = re.search(rb"CA\[([^\]]*)\]", data[:1000])
    charset = match[1].decode("latin-1").strip().lower() if match else "utf-8"
    if charset not in CHARSETS:
        raise RecordError(f"the charset {charset[:40]!r} is not known; {', '.join(CHARSETS)} are")
    return data.decode(charset, "replace")


def _read_game(nodes: list[Node], given: Game | None) -> Record:
    """The record of a main line."""
    root = nodes[0]
    game = _read_spec(_text(root, "TG"), given) if "TG" in root else _foreign_game(root)
    position = game.start()
    _check_setup(root, position)
    comments: dict[int, str] = {}
    for node in nodes:
        if node is not root and any(name in node for name in SETUP):
            raise RecordError(f"stones are set up after move {position.ply}: that is not supported")
        position = _play_node(position, node)
        if "C" in node:
            comment = sgf_grammar.text_value(node["C"][0]).decode()
            comments[position.ply] = "\n".join(filter(None, [comments.get(position.ply), comment]))
    players = _text(root, "PB"), _text(root, "PW")
    return Record(game, tuple(position.moves), players, _text(root, "RE") or "?", comments, _text(root, "DT"))


def _text(node: Node, name: str) -> str:
    """A property's one line of text, or nothing if the node does not have it."""
    return sgf_grammar.simpletext_value(node[name][0]).decode().strip() if name in node else ""


def _read_spec(spec: str, given: Game | None) -> Game:
    """The game of a spec in a record; a file's is the `given` one, if its parameters are those of the spec."""
    if ".py" not in spec:
        return load_game(spec)
    if given is None:
        raise RecordError(f"the game is a file, {spec}: give that game, for a record alone never makes us run code")
    if given.spec.rpartition(".py")[2] != spec.rpartition(".py")[2]:
        raise RecordError(f"the game is {spec}; the one that was given is {given.spec}")
    return given


def _foreign_game(root: Node) -> Game:
    """The game of a file that others wrote. Only numbers of it go into the spec: its text could name a file to run."""
    number = _text(root, "GM") or "1"
    if number not in NAMES:
        raise RecordError(f"no game of ours is GM[{number}]; Go is 1, Othello 2, Gomoku and Renju 4")
    parameters = [f"size={_board_size(_text(root, 'SZ'))}"] if "SZ" in root else []
    rule = _text(root, "RU").lower()
    if number == "1":
        parameters += [f"komi={_number(root, 'KM'):g}", f"suicide={int(rule in WITH_SUICIDE)}"]
        parameters += [f"handicap={_number(root, 'HA'):g}"] if "AB" in root else []
    if number == "4":
        parameters += [f"rule={known}" for known in ("standard", "renju") if known in rule]
    return load_game(f"{NAMES[number]}:{','.join(parameters)}")


def _board_size(text: str) -> int:
    """The size of a square board: `19`, or `19:19`."""
    if not (match := re.fullmatch(r"(\d{1,3})(?::(\d{1,3}))?", text)):
        raise RecordError(f"SZ[{text}] is not the size of a board; write it as SZ[19]")
    if match[2] not in (None, match[1]):
        raise RecordError(f"SZ[{text}]: the board must be square")
    return int(match[1])


def _number(root: Node, name: str) -> float:
    """A property's number; zero if the file does not say."""
    text = _text(root, name) or "0"
    try:
        return float(text)
    except ValueError:
        raise RecordError(f"{name}[{text}] is not a number") from None


def _check_setup(root: Node, start: Position) -> None:
    """Refuses stones set up before the first move, unless they are those that the game begins with anyhow."""
    if not any(name in root for name in SETUP):
        return
    given = {point.decode("latin-1"): stone for stone, name in ((1, "AB"), (2, "AW")) for point in root.get(name, [])}
    stones = {point_text(start.game, cell): stone for cell, stone in enumerate(start.board.flat) if stone}
    if "AE" in root or given != stones:
        raise RecordError(f"the file sets up stones that are not the start of {start.game.spec}: that is not supported")


def _play_node(position: Position, node: Node) -> Position:
    """The position after a node's move, if it has one."""
    moves = [(player, value) for player, colour in enumerate(COLOURS) for value in node.get(colour, [])]
    if not moves:
        return position
    if len(moves) > 1:
        raise RecordError(f"one node has {len(moves)} moves, at move {position.ply + 1}")
    player, value = moves[0]
    try:
        action = read_move(position.game, sgf_grammar.simpletext_value(value).decode().strip())
    except BadMove as reason:
        raise RecordError(f"{reason}, at move {position.ply + 1}") from reason
    if player != position.to_play and _must_pass(position):
        position = position.play(position.game.cells)  # many files of Othello leave a forced pass out
    return position.play(action, player)


def _must_pass(position: Position) -> bool:
    game = position.game
    return plays_points(game) and position.legal_actions == [game.cells]


def read_move(game: Game, text: str) -> int:
    """The action of a move's value. Points may also be written as `h8`, as some programs do; `tt` is an old pass."""
    if not plays_points(game):
        return game.parse_action(text)
    rows, columns = game.shape
    if game.actions > game.cells and (not text or (text == "tt" and max(rows, columns) < 20)):
        return game.cells
    if len(text) != 2 or not (text.isascii() and text.isalpha()):
        return game.parse_action(text)
    x, y = (ascii_letters.index(letter) for letter in text)
    if x >= columns or y >= rows:
        raise BadMove(f"[{text}] is off the board, which has {columns} columns and {rows} rows")
    return y * columns + x
