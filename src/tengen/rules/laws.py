"""The laws that a game keeps, each tested on positions of random games. `check.py` says in which order, and to whom."""

from __future__ import annotations

import dis
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
from numba import njit, typeof
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python, rtsys

from tengen.rules.board import diagram
from tengen.rules.contract import (
    DRAW,
    FIRST,
    JIT_OPTIONS,
    ONGOING,
    SECOND,
    encode,
    first_seed,
    has_rule,
    key,
    legal,
    outcome,
    play,
    rollout,
    rule_of,
    score,
    territory,
)
from tengen.rules.errors import BadDiagram, BadMove, IllegalMove
from tengen.rules.fingerprint import functions_reached
from tengen.rules.game import Game, Position, encode_states, step
from tengen.rules.kernels import entry
from tengen.rules.whereabouts import is_a_users

LARGE = 4096  # bytes of a state above which a search wastes its memory
LARGEST_PLANE = 255  # a GPU keeps planes as bytes
ARRAYS = 9  # that `check_asking` passes for a position; Numba counts each as memory asked for
PLACE = re.compile(r"at (\S[^()\n]*\.py) \((\d+)\)")  # in what the compiler says of a line it cannot translate


class Unsound(Exception):
    """A broken law; the check of this game goes on with the next one."""


@entry
def play_once(game, states, action):
    """Plays on states[0], and asks nothing."""
    play(game, states[0], action)


@entry
def ask(game, states, actions, planes, owners):
    """Asks states[0] all there is: outcome, how many legal actions, key, score."""
    state = states[0]
    result, count, margin = outcome(game, state), 0, 0.0
    if result == ONGOING:
        count = legal(game, state, actions)
    else:
        margin = score(game, state)
        territory(game, state, owners)
    encode(game, state, planes)
    return result, count, key(game, state), margin


@entry
def roll_to_the_end(game, states, actions, number):
    """Plays a rollout on states[0]; returns its outcome."""
    rollout(game, states[0], actions, first_seed(number))
    return outcome(game, states[0])


# What the class says.


def check_record(game: Game) -> None:
    record = game.parameters.record()
    for name in ("to_play", "ply"):
        if name not in record.names:
            raise Unsound(f"the record has no field {name!r}")
    if not record.isalignedstruct:
        raise Unsound("make the record with np.dtype([...], align=True): a GPU reads only aligned fields")
    if record.itemsize > LARGE:
        raise Unsound(f"a state takes {record.itemsize} bytes; {LARGE} are the limit")


def check_prints(game: Game) -> None:
    """Numba lets a kernel print, but then it is neither quick nor quiet."""
    kind = type(game.parameters)
    for begin in (step, ask, roll_to_the_end):
        for function in functions_reached(begin.function, kind):
            for one in dis.get_instructions(function.__code__):
                if one.opname == "LOAD_GLOBAL" and one.argval == "print" and "print" not in function.__globals__:
                    line = one.positions.lineno if one.positions else None
                    place = f"({function.__code__.co_filename}, line {line})"
                    raise Unsound(f"a rule prints {place}: use a debugger instead")


def check_names(game: Game, _: list[Position]) -> None:
    for action in range(game.actions):
        text = game.action_text(action)
        try:
            read = game.parse_action(text)
        except BadMove as reason:
            raise Unsound(f"action {action} is called {text!r}, which is not read: {reason}") from None
        if read != action:
            raise Unsound(f"action {action} is called {text!r}, which is read as {read}")
        try:
            both = list(game.read_moves(text + text))
        except BadMove:
            both = []
        if both != [action, action]:
            raise Unsound(f"{text + text!r} is not read as two moves: write a move_pattern that matches {text!r}")
    for text in ("", "?", "zz99", "é", "1" * 30):
        try:
            game.parse_action(text)
        except BadMove:
            continue
        except Exception as reason:
            raise Unsound(f"parse_action({text!r}) raises {type(reason).__name__}; raise BadMove") from reason
        raise Unsound(f"parse_action({text!r}) finds an action; raise BadMove")


# What positions show.


def check_step(position: Position) -> None:
    """What is looked at in every position, as it comes."""
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
    if len(legal) > game.most_legal:
        raise Unsound(f"legal() {where} writes {len(legal)} actions; most_legal is {game.most_legal}")
    if (other := strange_values(position.board, game)) is not None:
        raise Unsound(f"board() {where} has {other}; its values are {values_of(game)}")


def strange_values(board: np.ndarray, game: Game) -> int | None:
    """The first value of a board that is no piece's number; None if there is none."""
    strange = board[(board < 0) | (board > len(game.pieces))]
    return int(strange[0]) if strange.size else None


def values_of(game: Game) -> str:
    return "0, 1 and 2" if len(game.pieces) == 2 else f"0 for an empty cell and 1 to {len(game.pieces)} for its pieces"


def check_turns(game: Game, positions: list[Position]) -> None:
    movers = {position.to_play for position in positions if position.outcome is None}
    if len(movers) == 1 and any(position.ply for position in positions if position.outcome is None):
        raise Unsound(f"to_play is {movers.pop()} in every position: play() says who moves next")


def check_asking(game: Game, positions: list[Position]) -> None:
    """Rules that are asked change nothing, answer the same when asked twice, and allocate nothing."""
    for position in positions:
        if position.previous is None:
            continue
        states, before = position.previous.states, allocations()
        play_once(game.parameters, states, position.action)
        played = states.copy()
        first = answers_of_rules(game, states, junk=-1)
        if not are_equal(states, played):
            raise Unsound(f"legal, outcome, key, score, territory or encode changes the state after {moves(position)}")
        check_answers(position, first, answers_of_rules(game, states, junk=0))
        if allocations() - before > ARRAYS:
            raise Unsound(where_it_allocates(game, position))


def answers_of_rules(game: Game, states: np.recarray, junk: int) -> dict[str, Any]:
    """What each rule answers; `legal` writes into an array of `junk`, and `encode` into one of no numbers at all."""
    actions, owners = np.full(game.actions, junk, np.int32), np.zeros(game.cells, np.int8)
    planes = np.full((len(game.planes), game.cells), np.nan, np.float32)
    result, count, hashed, margin = ask(game.parameters, states, actions, planes, owners)
    return {
        "outcome": int(result),
        "legal": actions[:count].tolist(),
        "key": int(hashed),
        "score": float(margin),
        "territory": owners.tolist(),
        "encode": planes.tolist(),
    }


def check_answers(position: Position, first: dict[str, Any], second: dict[str, Any]) -> None:
    for rule, answer in first.items():
        if not np.array_equal(answer, second[rule], equal_nan=rule == "encode"):
            told = f": {answer}, then {second[rule]}" if rule in ("legal", "outcome", "score") else ""
            raise Unsound(f"{rule}() answers differently when it is asked twice after {moves(position)}{told}")
    result, margin, owners = first["outcome"], first["score"], first["territory"]
    if result not in (ONGOING, FIRST, SECOND, DRAW):
        raise Unsound(f"outcome() is {result} after {moves(position)}; it is ONGOING, FIRST, SECOND or DRAW")
    if result != ONGOING and np.sign(margin) != {FIRST: 1, SECOND: -1, DRAW: 0}[result]:
        raise Unsound(f"score() is {margin:g} after {moves(position)}, but outcome() is {result}")
    if not set(owners) <= {0, 1, 2}:
        raise Unsound(f"territory() writes other owners than 0, 1 and 2 after {moves(position)}")


def count_allocations() -> None:
    """Makes Numba count how often compiled code asks for memory."""
    rtsys.initialize(cpu_target.target_context)
    _nrt_python.memsys_enable_stats()


def allocations() -> int:
    return int(rtsys.get_allocation_stats().alloc)


def where_it_allocates(game: Game, position: Position) -> str:
    """The line that allocates, as the compiler names it where it may not."""
    arguments = (game.parameters, position.states, np.empty(game.actions, np.int32))
    planes, owners = np.empty((len(game.planes), game.cells), np.float32), np.empty(game.cells, np.int8)
    for function, types in (
        (play_once.function, (*arguments[:2], 0)),
        (ask.function, (*arguments, planes, owners)),
    ):
        try:  # a clone that has no memory to give, of helpers that nobody has compiled yet
            njit(_nrt=False, **JIT_OPTIONS)(function).compile(tuple(typeof(value) for value in types))
        except NumbaError as reason:
            places = PLACE.findall(str(reason))
            found = [place for place in places if is_a_users(Path(place[0]).resolve())]
            if found:
                path, line = found[-1]
                return f"a rule makes an array, a list or a set ({path}, line {line}): a kernel has no memory to give"
    return f"a rule makes an array, a list or a set after {moves(position)}: a kernel has no memory to give"


def check_rollouts(game: Game, positions: list[Position]) -> None:
    for number, position in enumerate(positions):
        if position.outcome is None:
            states = position.states
            result = roll_to_the_end(game.parameters, states, np.empty(game.actions, np.int32), number)
            board = np.asarray(game.parameters.board(states[0]))
            if result not in (FIRST, SECOND, DRAW) or states[0].ply <= position.state.ply:
                raise Unsound(f"rollout() does not play to the end from {moves(position)}")
            if (other := strange_values(board, game)) is not None:
                raise Unsound(f"rollout() leaves {other} on a board, whose values are {values_of(game)}")


def check_refusals(game: Game, positions: list[Position]) -> None:
    for position in positions:
        illegal = sorted(set(range(game.actions)) - set(position.legal_actions))
        for action in illegal[:: max(1, len(illegal) // 8)]:
            try:
                position.play(action)
            except IllegalMove:
                continue
            raise Unsound(f"{game.action_text(action)} was played after {moves(position)}, but is not legal there")


def check_undo(game: Game, positions: list[Position]) -> None:
    for position in positions:
        before = position.states
        for action in position.legal_actions[:8]:
            after = position.play(action)
            if after.undo() is not position or not are_equal(position.states, before):
                raise Unsound(f"playing {game.action_text(action)} changes the position after {moves(position)}")
            again = position.play(action)
            if not are_equal(again.states, after.states):
                raise Unsound(f"{game.action_text(action)} after {moves(position)} gives two different states")


def check_keys(game: Game, positions: list[Position]) -> None:
    boards: dict[tuple[bytes, int, str], Position] = {}
    keys: dict[int, Position] = {}
    for position in itertools.chain(positions, first_positions(game)):
        if position.outcome is not None:
            continue
        same_board = boards.setdefault((position.board.tobytes(), position.to_play, position.facts), position)
        same_key = keys.setdefault(position.key, position)
        if same_board.key != position.key:
            raise Unsound(
                f"{moves(same_board)} and {moves(position)} lead to one board, but to two keys; what a board does not "
                "show belongs into facts()"
            )
        if same_key.to_play != position.to_play or not np.array_equal(same_key.board, position.board):
            raise Unsound(f"{moves(same_key)} and {moves(position)} lead to two boards, but to one key")
        if same_key.facts != position.facts:
            told = f"the facts {same_key.facts!r} and {position.facts!r}"
            raise Unsound(f"{moves(same_key)} and {moves(position)} lead to {told}, but to one key")


def first_positions(game: Game, most: int = 400) -> Iterator[Position]:
    """Positions in the order of their ply: the same boards come about in several ways there."""
    positions = [game.start()]
    for position in positions:
        yield position
        for action in position.legal_actions[: most - len(positions)]:
            positions.append(position.play(action))


def check_planes(game: Game, positions: list[Position]) -> None:
    for position in positions:
        planes = np.full((1, len(game.planes), game.cells), np.nan, np.float32)
        encode_states(game.parameters, position.states, planes)
        for name, plane in zip(game.planes, planes[0], strict=True):
            if np.isnan(plane).any():
                raise Unsound(f"encode() leaves cells of plane {name!r} unwritten")
            odd = plane[(plane != np.rint(plane)) | (plane < 0) | (plane > LARGEST_PLANE)]
            if odd.size:
                raise Unsound(
                    f"encode() writes {odd[0]:g} into plane {name!r} after {moves(position)}; planes hold whole "
                    f"numbers from 0 to {LARGEST_PLANE}, all that a GPU keeps of them: multiply, or use several planes"
                )


def check_diagrams(game: Game, positions: list[Position]) -> None:
    if not hasattr(game.parameters, "setup"):
        return
    remembers = getattr(game.parameters, "history_matters", False)
    for position in positions:
        read, where = game.from_board(position.diagram(), position.to_play), f"after {moves(position)}"
        if read.key != position.key or not np.array_equal(read.board, position.board):
            raise Unsound(f"setup() makes another position of the board {where}")
        if read.facts != position.facts:
            raise Unsound(f"setup() makes the facts {read.facts!r} of {position.facts!r} {where}")
        if (read.outcome is None) != (position.outcome is None) and game.actions == game.cells:
            raise Unsound(f"setup() does not see that the game is over {where}")
        if read.outcome is not None and position.outcome is not None and read.outcome.winner != position.outcome.winner:
            raise Unsound(f"setup() sees another winner on the board {where}")
        if read.outcome is position.outcome is None and read.legal_actions != position.legal_actions and not remembers:
            other = set(read.legal_actions) ^ set(position.legal_actions)
            raise Unsound(
                f"{game.action_text(min(other))} is legal either {where} or in that diagram, not in both: setup() "
                "fills all fields that legal() reads; or the class says history_matters = True"
            )


def check_symmetries(game: Game, positions: list[Position]) -> None:
    cells, actions = game.symmetries, game.action_symmetries
    if len(cells) != len(actions) or not np.array_equal(cells[0], np.arange(game.cells)):
        raise Unsound("there must be as many action_symmetries as symmetries, the identity first")
    for image, size in [*((row, game.cells) for row in cells), *((row, game.actions) for row in actions)]:
        if not np.array_equal(np.sort(image), np.arange(size)):
            raise Unsound(f"{image.tolist()} is not a permutation of 0 to {size - 1}")
    if len(cells) == 1:
        if not np.array_equal(actions[0], np.arange(game.actions)):
            raise Unsound("the first of action_symmetries is the identity")
        return
    if not hasattr(game.parameters, "setup"):
        raise Unsound("cannot be tested: give the class a setup(), or symmetries that are the identity alone")
    for position in positions:
        if position.outcome is not None or position.facts:
            continue  # what is said beside the board may turn with it; nobody knows how
        plain = game.from_board(position.diagram(), position.to_play)
        for which in range(1, len(cells)):
            mirrored = mirror(plain, cells[which])
            if mirrored is not None and plain.outcome is None:
                compare_mirrored(plain, mirrored, cells[which], actions[which], which)


def mirror(position: Position, cells: np.ndarray) -> Position | None:
    game, board = position.game, np.zeros(position.game.cells, np.int8)
    board[cells] = position.board.ravel()
    _, space, counters = position.diagram().partition(" ")
    try:
        return game.from_board(diagram(board.reshape(game.shape), game.pieces) + space + counters, position.to_play)
    except BadDiagram:
        return None


def compare_mirrored(plain: Position, mirrored: Position, cells: np.ndarray, actions: np.ndarray, which: int) -> None:
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


def are_equal(one: np.ndarray, other: np.ndarray) -> bool:
    """Field by field: the gaps that alignment leaves between fields mean nothing."""
    return all(np.array_equal(one[name], other[name]) for name in one.dtype.names or ())


def moves(position: Position) -> str:
    names = [position.game.action_text(action) for action in position.moves]
    return " ".join(names) if names else "no move"


LAWS: tuple[tuple[str, Callable[[Game, list[Position]], None]], ...] = (
    ("names of actions can be read back", check_names),
    ("both players move", check_turns),
    ("asking changes nothing, twice gives the same, and outcome and score agree", check_asking),
    ("rollouts end", check_rollouts),
    ("illegal actions are refused", check_refusals),
    ("playing leaves the position before as it was", check_undo),
    ("equal boards have equal keys, and only they", check_keys),
    ("planes are written in full, with whole numbers", check_planes),
    ("diagrams can be read back", check_diagrams),
    ("symmetries commute with play", check_symmetries),
)


def place_of(game: Game, told: str) -> str:
    """Where the rule or method stands that a message begins with or names first: `(hex.py, line 81)`; or nothing."""
    word = told.partition("()")[0].split(" ")[-1] if "()" in told else ""
    if ", line " in told:
        return ""
    kind = type(game.parameters)
    function = rule_of(kind, word) if word and has_rule(kind, word) else vars(kind).get(word)
    if not isinstance(function, FunctionType):
        return ""
    return f" ({Path(function.__code__.co_filename).name}, line {function.__code__.co_firstlineno})"
