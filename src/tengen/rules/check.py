"""The conformance check: is a game sound? The same questions for our games and for a user's."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tengen.rules.board import diagram
from tengen.rules.contract import (
    DRAW,
    FIRST,
    ONGOING,
    SECOND,
    encode,
    first_seed,
    key,
    legal,
    outcome,
    play,
    rollout,
    score,
    territory,
)
from tengen.rules.errors import BadDiagram, BadMove, IllegalMove, TengenError
from tengen.rules.game import Game, Position, encode_states
from tengen.rules.kernels import entry

TOO_LONG = 20_000  # plies after which a random game will never end
LARGE = 4096  # bytes of a state above which a search wastes its memory


@dataclass
class Report:
    """What a check found. `problems` are written for the author of the game."""

    game: str
    problems: list[str] = field(default_factory=list)
    positions: int = 0

    @property
    def ok(self) -> bool:
        return not self.problems


@entry
def play_and_ask(game, states, action, actions, planes, owners):
    """Plays on states[0] and copies it to states[1]; then asks states[0] all there is. Returns outcome and score."""
    play(game, states[0], action)
    states[1] = states[0]
    result, margin = outcome(game, states[0]), 0.0
    if result == ONGOING:
        legal(game, states[0], actions)
    else:
        margin = score(game, states[0])
        territory(game, states[0], owners)
    key(game, states[0])
    encode(game, states[0], planes)
    return result, margin


@entry
def roll_to_the_end(game, states, actions, number):
    """Plays a rollout on states[0]; returns its outcome."""
    rollout(game, states[0], actions, first_seed(number))
    return outcome(game, states[0])


class Unsound(Exception):
    """A broken law; the check of this game goes on with the next one."""


def check(game: Game, games: int = 20, seed: int = 1, progress: Callable[[str], None] = lambda law: None) -> Report:
    """Plays random games and tests every law of the contract on them."""
    report = Report(game.spec)
    progress("the record is aligned, small, and has to_play and ply")
    progress("random games end, and all their actions are legal")
    laws: list[tuple[str, Callable[[Game, list[Position]], None]]] = [
        ("names of actions can be read back", lambda game, _: _check_names(game)),
        ("asking changes nothing, and outcome and score agree", _check_asking),
        ("rollouts end", _check_rollouts),
        ("illegal actions are refused", _check_refusals),
        ("playing leaves the position before as it was", _check_undo),
        ("equal boards have equal keys, and only they", _check_keys),
        ("planes are written in full", _check_planes),
        ("diagrams can be read back", _check_diagrams),
        ("symmetries commute with play", _check_symmetries),
    ]
    try:
        _check_record(game)
        rng = np.random.default_rng(seed)
        positions = [position for _ in range(games) for position in random_game(game, rng)]
    except (TengenError, Unsound) as reason:
        report.problems.append(str(reason))
        return report
    except Exception as reason:  # the author's own code or the compiler: anything can come
        report.problems.append(_explain(reason))
        return report
    report.positions = len(positions)
    some = [positions[i] for i in sorted(rng.choice(len(positions), min(len(positions), 200), replace=False))]
    for law, test in laws:
        progress(law)
        try:
            test(game, positions if test is _check_keys else some)
        except Exception as reason:
            report.problems.append(f"{law}: {reason if isinstance(reason, Unsound) else _explain(reason)}")
    return report


def random_game(game: Game, rng: np.random.Generator) -> Iterator[Position]:
    """The positions of one game of uniformly random moves, each tested as it comes."""
    position = game.start()
    while True:
        yield position
        _check_step(position)
        if position.outcome is not None:
            return
        if position.ply >= TOO_LONG:
            raise Unsound(f"a random game is not over after {TOO_LONG} plies: does play() ever set a result?")
        position = position.play(int(rng.choice(position.legal_actions)))


def _check_step(position: Position) -> None:
    game, legal = position.game, position.legal_actions
    where = f"after {position.ply} plies"
    if position.to_play not in (0, 1):
        raise Unsound(f"to_play is {position.to_play} {where}; it is 0 or 1")
    if position.state.ply != position.ply and position.moves:
        raise Unsound(f"ply is {position.state.ply} {where}; play() adds one")
    if position.outcome is None and not legal:
        raise Unsound(f"the game goes on {where}, but legal() finds nothing; add a pass, or end the game")
    if legal != sorted(set(legal)):
        raise Unsound(f"legal() {where} writes {legal}; they must rise, each once")
    if legal and not (legal[0] >= 0 and legal[-1] < game.actions):
        raise Unsound(f"legal() {where} writes {legal}; actions are 0 to {game.actions - 1}")
    if not np.isin(position.board, (0, 1, 2)).all():
        raise Unsound(f"board() {where} has other values than 0, 1 and 2")


def _check_record(game: Game) -> None:
    record = game.parameters.record()
    for name in ("to_play", "ply"):
        if name not in record.names:
            raise Unsound(f"the record has no field {name!r}")
    if not record.isalignedstruct:
        raise Unsound("make the record with np.dtype([...], align=True): a GPU reads only aligned fields")
    if record.itemsize > LARGE:
        raise Unsound(f"a state takes {record.itemsize} bytes; {LARGE} are the limit")


def _check_names(game: Game) -> None:
    for action in range(game.actions):
        text = game.action_text(action)
        try:
            game.parse_action(text)
        except BadMove as reason:
            raise Unsound(f"action {action} is called {text!r}, which is not read: {reason}") from None
        if game.parse_action(text) != action:
            raise Unsound(f"action {action} is called {text!r}, which is read as {game.parse_action(text)}")
        if list(game.read_moves(text + text)) != [action, action]:
            raise Unsound(f"{text + text!r} is not read as two moves: see move_pattern")
    for text in ("", "?", "zz99", "é", "1" * 30):
        try:
            game.parse_action(text)
        except BadMove:
            continue
        except Exception as reason:
            raise Unsound(f"parse_action({text!r}) raises {type(reason).__name__}; raise BadMove") from reason
        raise Unsound(f"parse_action({text!r}) finds an action; raise BadMove")


def _check_asking(game: Game, positions: list[Position]) -> None:
    actions, planes = np.empty(game.actions, np.int32), np.empty((len(game.planes), game.cells), np.float32)
    owners = np.zeros(game.cells, np.int8)
    for position in positions:
        if position.previous is None:
            continue
        states = game.new_states(2)
        states[0] = position.previous.state
        result, margin = play_and_ask(game.parameters, states, position.action, actions, planes, owners)
        if result not in (ONGOING, FIRST, SECOND, DRAW):
            raise Unsound(f"outcome() is {result} after {_moves(position)}; it is ONGOING, FIRST, SECOND or DRAW")
        if result != ONGOING and np.sign(margin) != {FIRST: 1, SECOND: -1, DRAW: 0}[result]:
            raise Unsound(f"score() is {margin:g} after {_moves(position)}, but outcome() is {result}")
        if not np.isin(owners, (0, 1, 2)).all():
            raise Unsound(f"territory() writes other owners than 0, 1 and 2 after {_moves(position)}")
        if not _are_equal(states[:1], states[1:]):
            raise Unsound(f"legal, outcome, key, score, territory or encode changes the state after {_moves(position)}")


def _check_rollouts(game: Game, positions: list[Position]) -> None:
    for number, position in enumerate(positions):
        if position.outcome is None:
            states = position.states
            result = roll_to_the_end(game.parameters, states, np.empty(game.actions, np.int32), number)
            board = np.asarray(game.parameters.board(states[0]))
            if result not in (FIRST, SECOND, DRAW) or states[0].ply <= position.state.ply:
                raise Unsound(f"rollout() does not play to the end from {_moves(position)}")
            if not np.isin(board, (0, 1, 2)).all():
                raise Unsound(f"rollout() leaves a board with other values than 0, 1 and 2 from {_moves(position)}")


def _check_refusals(game: Game, positions: list[Position]) -> None:
    for position in positions:
        illegal = sorted(set(range(game.actions)) - set(position.legal_actions))
        for action in illegal[:: max(1, len(illegal) // 8)]:
            try:
                position.play(action)
            except IllegalMove:
                continue
            raise Unsound(f"{game.action_text(action)} was played after {_moves(position)}, but is not legal there")


def _check_undo(game: Game, positions: list[Position]) -> None:
    for position in positions:
        before = position.states
        for action in position.legal_actions[:8]:
            after = position.play(action)
            if after.undo() is not position or not _are_equal(position.states, before):
                raise Unsound(f"playing {game.action_text(action)} changes the position after {_moves(position)}")
            again = position.play(action)
            if not _are_equal(again.states, after.states):
                raise Unsound(f"{game.action_text(action)} after {_moves(position)} gives two different states")


def _check_keys(game: Game, positions: list[Position]) -> None:
    boards: dict[tuple[bytes, int], Position] = {}
    keys: dict[int, Position] = {}
    for position in [*positions, *_first_positions(game)]:
        if position.outcome is not None:
            continue
        same_board = boards.setdefault((position.board.tobytes(), position.to_play), position)
        same_key = keys.setdefault(position.key, position)
        if same_board.key != position.key:
            raise Unsound(f"{_moves(same_board)} and {_moves(position)} lead to one board, but to two keys")
        if same_key.to_play != position.to_play or not np.array_equal(same_key.board, position.board):
            raise Unsound(f"{_moves(same_key)} and {_moves(position)} lead to two boards, but to one key")


def _first_positions(game: Game, most: int = 400) -> list[Position]:
    """Positions in the order of their ply: the same boards come about in several ways there."""
    positions = [game.start()]
    for position in positions:
        for action in position.legal_actions:
            if len(positions) >= most:
                return positions
            positions.append(position.play(action))
    return positions


def _check_planes(game: Game, positions: list[Position]) -> None:
    for position in positions:
        planes = np.full((1, len(game.planes), game.cells), np.nan, np.float32)
        encode_states(game.parameters, position.states, planes)
        for name, plane in zip(game.planes, planes[0], strict=True):
            if np.isnan(plane).any():
                raise Unsound(f"encode() leaves cells of plane {name!r} unwritten")


def _check_diagrams(game: Game, positions: list[Position]) -> None:
    if not hasattr(game.parameters, "setup"):
        return
    for position in positions:
        read = game.from_board(position.diagram(), position.to_play)
        if read.key != position.key or not np.array_equal(read.board, position.board):
            raise Unsound(f"setup() makes another position of the board after {_moves(position)}")
        if (read.outcome is None) != (position.outcome is None) and game.actions == game.cells:
            raise Unsound(f"setup() does not see that the game is over after {_moves(position)}")
        if read.outcome is not None and position.outcome is not None and read.outcome.winner != position.outcome.winner:
            raise Unsound(f"setup() sees another winner on the board after {_moves(position)}")


def _check_symmetries(game: Game, positions: list[Position]) -> None:
    cells, actions = game.symmetries, game.action_symmetries
    if len(cells) != len(actions) or not np.array_equal(cells[0], np.arange(game.cells)):
        raise Unsound("there must be as many action_symmetries as symmetries, the identity first")
    for image, size in [*((row, game.cells) for row in cells), *((row, game.actions) for row in actions)]:
        if not np.array_equal(np.sort(image), np.arange(size)):
            raise Unsound(f"{image.tolist()} is not a permutation of 0 to {size - 1}")
    if not hasattr(game.parameters, "setup"):
        raise Unsound("cannot be tested: give the class a setup(), or symmetries that are the identity alone")
    for position in positions:
        if position.outcome is not None:
            continue
        plain = game.from_board(position.diagram(), position.to_play)
        for which in range(1, len(cells)):
            mirrored = _mirror(plain, cells[which])
            if mirrored is not None and plain.outcome is None:
                _compare_mirrored(plain, mirrored, cells[which], actions[which], which)


def _mirror(position: Position, cells: np.ndarray) -> Position | None:
    board = np.zeros(position.game.cells, np.int8)
    board[cells] = position.board.ravel()
    try:
        return position.game.from_board(diagram(board.reshape(position.game.shape)), position.to_play)
    except BadDiagram:
        return None


def _compare_mirrored(plain: Position, mirrored: Position, cells: np.ndarray, actions: np.ndarray, which: int) -> None:
    game = plain.game
    if sorted(actions[plain.legal_actions].tolist()) != mirrored.legal_actions:
        raise Unsound(f"symmetry {which} changes what is legal on {plain.diagram()}")
    planes = mirrored.encode().reshape(len(game.planes), -1)
    if not np.allclose(planes[:, cells], plain.encode().reshape(len(game.planes), -1)):
        raise Unsound(f"symmetry {which} does not send planes to planes on {plain.diagram()}")
    for action in plain.legal_actions[:: max(1, len(plain.legal_actions) // 4)]:
        one, other = plain.play(action), mirrored.play(int(actions[action]))
        if not np.array_equal(other.board.ravel()[cells], one.board.ravel()) or one.outcome != other.outcome:
            raise Unsound(
                f"symmetry {which} and playing {game.action_text(action)} do not commute on {plain.diagram()}"
            )


def _are_equal(one: np.ndarray, other: np.ndarray) -> bool:
    """Field by field: the gaps that alignment leaves between fields mean nothing."""
    return all(np.array_equal(one[name], other[name]) for name in one.dtype.names or ())


def _moves(position: Position) -> str:
    names = [position.game.action_text(action) for action in position.moves]
    return " ".join(names) if names else "no move"


def _explain(reason: Exception) -> str:
    """An error in the author's code, with the place where it came from."""
    if isinstance(reason, TengenError):
        return str(reason)
    if (isinstance(reason, IndexError) and "array" in str(reason).lower()) or "out of bounds" in str(reason):
        return f"a rule reads or writes outside an array ({reason}); does the record have room for every board?"
    frames = [frame for frame in traceback.extract_tb(reason.__traceback__) if "tengen/rules" not in frame.filename]
    place = f" (in {frames[-1].name}, {frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return f"{type(reason).__name__}: {reason}{place}"
