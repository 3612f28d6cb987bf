"""Alpha-beta: iterative deepening with principal variation search, a transposition table, and ordering that learns.

Every value and window is for the player to move in its node; signs turn only where the mover changes. A search with the
window (alpha, beta) answers v: exact if alpha < v < beta; v <= alpha is an upper bound, v >= beta a lower bound.

The search's stack is an array of frames, so it can stop after any node and go on later: that is how limits are kept.
(A recursive kernel could do neither, and Numba cannot cache one.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tengen.rules.contract import DRAW, ONGOING, kernel, key, legal, outcome, play
from tengen.rules.game import Game, Position
from tengen.rules.kernels import entry
from tengen.search.evaluation import (
    WIN,
    WON,
    Plain,
    bounds,
    candidates,
    evaluate,
    follow,
    may_wait,
    new_notes,
    plies_for,
    plies_off,
    plies_to_end,
    take_notes,
    threats,
    value_of,
)
from tengen.search.limits import Clock, Decision, Limit, Pace
from tengen.search.table import (
    EXACT,
    LEAST,
    LOWER,
    PROVEN,
    UPPER,
    enlarged,
    find,
    is_enough,
    known_value,
    megabytes_for,
    new_table,
    remember,
)

DEEPEST = 127  # plies on the path of a search
LEAST_NODES = 1000  # that the first ply may take though the time is over: then something is known
INFINITE = WIN + 1
UNDECIDED = INFINITE + 1  # in place of a value
NO_ACTION = -1
LEAST_LATE = 2  # plies of depth that are left at least where actions are looked at less deep
TRUSTED = 2  # a table whose values hold, however a position came about
ENTER, NEXT, LEAVE, DONE = 0, 1, 2, 3  # what the search does next with the node at its ply
NARROW, FULL = 0, 1  # how a child is searched: is it better at all? how good is it?
PLY, STEP, VALUE, NODES, ROOT_NODES, NUMBER = range(6)  # what `progress` holds

FIRST_GUESS, KILLER, HISTORY = 1 << 40, 1 << 16, 1 << 14  # in the order of actions: the table's, killers, at most

FRAME = np.dtype(
    [
        ("key", np.uint64),
        ("alpha", np.int32),  # rises while children are searched
        ("beta", np.int32),
        ("floor", np.int32),  # alpha when the node was entered
        ("best", np.int32),
        ("best_action", np.int32),
        ("action", np.int32),  # that leads to the child being searched
        ("depth", np.int16),  # plies left; below zero only what cannot wait is searched
        ("count", np.int16),
        ("next", np.int16),  # of the actions
        ("length", np.int16),  # of the principal variation from here
        ("how", np.int8),
        ("cost", np.int8),  # of the action: plies of depth
        ("off", np.int8),  # plies by which it is looked at less deep at first
        ("horizon", np.int8),  # whether an evaluation had a say in the value
    ],
    align=True,
)


class Refinements(NamedTuple):
    """What alpha-beta does beyond pruning. All but the last three leave its value as it is."""

    table: int = 2  # remembers positions: 1 to order actions, 2 (TRUSTED) for their values, too
    narrow: int = 1  # principal variation search: all but the first child are first asked whether they are better
    aspiration: int = 1  # begins with a window around the last value
    killers: int = 1  # tries actions first that refuted a sibling
    history: int = 1  # tries actions first that refuted much
    extension: int = 1  # an only candidate costs no depth
    late: int = 1  # what the evaluation expects little of is first looked at less deep
    quiescence: int = 16  # plies beyond the horizon in which threats are followed


class Work(NamedTuple):
    """A search's memory. States, notes, frames and so on: one for each ply of its path."""

    states: Any
    notes: Any
    frames: Any
    actions: Any  # [plies, actions]
    scores: Any  # [plies, actions]
    lines: Any  # [plies, plies]: the principal variation from each ply
    killers: Any  # [plies, 2]
    history: Any  # [players, actions]
    shares: Any  # [actions]: nodes below each of the root's actions
    barred: Any  # [actions]: whether the root leaves an action out
    table: Any
    progress: Any


@kernel
def end_score(result, to_play, ply):
    """The score of a game that ended, for the player to move: the sooner won, the better."""
    if result == DRAW:
        return 0
    return WIN - ply if result == to_play + 1 else ply - WIN


@kernel
def enter(game, evaluation, refinements, work, ply):
    """Opens the node at `ply`: its value if that is known at once, else UNDECIDED and its actions are ready."""
    frame, state = work.frames[ply], work.states[ply]
    frame.length = frame.next = frame.count = frame.horizon = 0
    frame.best, frame.best_action, frame.floor = -INFINITE, NO_ACTION, frame.alpha
    result = outcome(game, state)
    if result != ONGOING:
        return end_score(result, state.to_play, ply)
    guess = NO_ACTION
    if refinements.table and frame.depth > 0:
        frame.key = key(game, state)
        known = find(work.table, frame.key)
        if known >= 0:
            guess = np.int64(work.table[known].action)
            value = known_value(work.table[known], ply)
            if is_enough(work.table[known], value, frame.depth, frame.alpha, frame.beta):
                if refinements.table == TRUSTED and ply > 0:
                    frame.horizon = work.table[known].depth < PROVEN
                    return value
    if ply > 0:
        work.notes[ply] = work.notes[ply - 1]
        follow(evaluation, game, work.states[ply - 1], state, work.frames[ply - 1].action, work.notes[ply])
    lowest, highest = bounds(evaluation, game, state, work.notes[ply])
    if lowest >= frame.beta or lowest == highest:
        return lowest
    if highest <= frame.alpha:
        return highest
    if frame.depth <= 0 or ply + 1 == len(work.frames):
        return open_horizon(game, evaluation, refinements, work, ply)
    frame.count = candidates(evaluation, game, state, work.notes[ply], work.actions[ply], work.scores[ply])
    if ply == 0:
        leave_out_barred(work)
    order(refinements, work, ply, guess)
    return UNDECIDED


@kernel
def leave_out_barred(work):
    """The root's candidates without those that its caller knows better about."""
    count = 0
    for i in range(work.frames[0].count):
        if not work.barred[work.actions[0, i]]:
            work.actions[0, count], work.scores[0, count] = work.actions[0, i], work.scores[0, i]
            count += 1
    work.frames[0].count = count


@kernel
def assess(evaluation, game, state, notes):
    """The evaluation's score, kept below what a won game counts."""
    return min(max(np.int64(evaluate(evaluation, game, state, notes)), 1 - WON), WON - 1)


@kernel
def open_horizon(game, evaluation, refinements, work, ply):
    """A node without depth: the evaluation's word for it, unless there are threats to follow."""
    frame, state, notes = work.frames[ply], work.states[ply], work.notes[ply]
    frame.horizon = 1
    if -frame.depth >= refinements.quiescence or ply + 1 == len(work.frames):
        return assess(evaluation, game, state, notes)
    waits = may_wait(evaluation, game, state)
    value = assess(evaluation, game, state, notes) if waits else 0
    if waits and value >= frame.beta:
        return value
    count = threats(evaluation, game, state, notes, work.actions[ply], work.scores[ply])
    if count >= 0:
        if not waits:
            value = assess(evaluation, game, state, notes)
        if count == 0 or value >= frame.beta:
            return value
        frame.best = value  # nobody has to carry out a threat
        frame.alpha = max(frame.alpha, value)
    frame.count = abs(count)
    return UNDECIDED


@kernel
def order(refinements, work, ply, guess):
    """Adds to the scores of a node's actions what the search itself has learned about them."""
    player = work.states[ply].to_play
    for i in range(work.frames[ply].count):
        action = work.actions[ply, i]
        if action == guess:
            work.scores[ply, i] += FIRST_GUESS
        if refinements.history:
            work.scores[ply, i] += work.history[player, action]
        if refinements.killers and (action == work.killers[ply, 0] or action == work.killers[ply, 1]):
            work.scores[ply, i] += KILLER


@kernel
def pick(work, ply):
    """The best of the actions not yet searched moves to the front of them, and is taken."""
    frame, actions, scores = work.frames[ply], work.actions[ply], work.scores[ply]
    begin = np.int64(frame.next)
    best = begin
    for i in range(begin + 1, frame.count):
        if scores[i] > scores[best]:
            best = i
    actions[begin], actions[best] = actions[best], actions[begin]
    scores[begin], scores[best] = scores[best], scores[begin]
    frame.next += 1
    return actions[begin]


@kernel
def descend(game, evaluation, refinements, work, ply):
    """Plays the next action into the frame below, and decides how it is searched."""
    frame = work.frames[ply]
    frame.action = pick(work, ply)
    frame.cost = plies_for(evaluation, game, work.states[ply], frame.action)
    if refinements.extension and frame.count == 1 and frame.depth > 0:
        frame.cost = 0  # it is forced
    if frame.cost == 0 and ply >= 2 * work.frames[0].depth:
        frame.cost = 1  # all comes to an end
    work.states[ply + 1] = work.states[ply]
    play(game, work.states[ply + 1], frame.action)
    frame.off = 0
    if refinements.late and frame.depth > LEAST_LATE and ply > 0:
        place = np.int64(frame.next) - 1
        frame.off = plies_off(evaluation, game, work.states[ply], work.states[ply + 1], frame.action, place)
    frame.how = NARROW if refinements.narrow and frame.next > 1 and frame.beta - frame.alpha > 1 else FULL
    set_window(refinements, work, ply)
    if ply == 0:
        work.progress[ROOT_NODES] = work.progress[NODES]


@kernel
def set_window(refinements, work, ply):
    """Sets window and depth of the child below `ply`."""
    frame, child = work.frames[ply], work.frames[ply + 1]
    alpha, beta = np.int64(frame.alpha), np.int64(frame.beta)
    if frame.how != FULL:
        beta = alpha + 1
    if work.states[ply + 1].to_play == work.states[ply].to_play:
        child.alpha, child.beta = alpha, beta
    else:
        child.alpha, child.beta = -beta, -alpha
    child.depth = frame.depth - frame.cost - frame.off


@kernel
def take(refinements, work, ply, value):
    """Gives the node at `ply` its child's value; returns what to do next: ENTER the child again, NEXT, or LEAVE."""
    frame = work.frames[ply]
    frame.horizon |= work.frames[ply + 1].horizon
    if work.states[ply + 1].to_play != work.states[ply].to_play:
        value = -value
    if frame.off > 0 and value > frame.alpha:
        frame.off = 0
        set_window(refinements, work, ply)
        return ENTER
    if frame.how == NARROW and frame.alpha < value < frame.beta:
        frame.how = FULL
        set_window(refinements, work, ply)
        return ENTER
    if ply == 0:
        work.shares[frame.action] += work.progress[NODES] - work.progress[ROOT_NODES]
    if value > frame.best:
        frame.best, frame.best_action = value, frame.action
        if value > frame.alpha:
            frame.alpha = value
            keep_line(work, ply)
            if value >= frame.beta:
                learn(work, ply)
                return LEAVE
    return NEXT


@kernel
def keep_line(work, ply):
    """The principal variation from `ply`: its best action, then its child's."""
    frame, below = work.frames[ply], np.int64(work.frames[ply + 1].length)
    work.lines[ply, 0] = frame.best_action
    for i in range(below):
        work.lines[ply, i + 1] = work.lines[ply + 1, i]
    frame.length = below + 1


@kernel
def learn(work, ply):
    """An action refuted its node: it is a killer here, and good everywhere; those tried before it are less so."""
    frame, player = work.frames[ply], work.states[ply].to_play
    if frame.depth <= 0:
        return
    action, weight = frame.best_action, min(np.int64(frame.depth) * frame.depth, HISTORY // 4)
    if work.killers[ply, 0] != action:
        work.killers[ply, 1], work.killers[ply, 0] = work.killers[ply, 0], action
    for i in range(frame.next):
        tried = work.actions[ply, i]
        change = weight if tried == action else -weight
        work.history[player, tried] += change - work.history[player, tried] * weight // HISTORY


@kernel
def close(refinements, work, ply):
    """All of a node is searched, or enough of it: the table remembers; returns the value."""
    frame = work.frames[ply]
    if refinements.table and frame.depth > 0:
        bound = LOWER if frame.best >= frame.beta else EXACT if frame.best > frame.floor else UPPER
        depth = np.int64(frame.depth) if frame.horizon else PROVEN
        remember(work.table, frame.key, ply, depth, frame.best, bound, frame.best_action, work.progress[NUMBER])
    return np.int64(frame.best)


@entry
def run(game, evaluation, refinements, work, nodes):
    """Goes on with the search for that many nodes; returns whether it is done: its value is progress[VALUE]."""
    progress = work.progress
    ply, step, value, stop = progress[PLY], progress[STEP], progress[VALUE], progress[NODES] + nodes
    while step != DONE:
        if step == ENTER:
            if progress[NODES] >= stop:
                break
            progress[NODES] += 1
            value = enter(game, evaluation, refinements, work, ply)
            step = NEXT if value == UNDECIDED else LEAVE
        elif step == NEXT:
            if work.frames[ply].next < work.frames[ply].count:
                descend(game, evaluation, refinements, work, ply)
                ply, step = ply + 1, ENTER
            else:
                value, step = close(refinements, work, ply), LEAVE
        elif ply == 0:
            step = DONE
        else:
            step = take(refinements, work, ply - 1, value)
            if step != ENTER:
                ply -= 1
            if step == LEAVE:
                value = close(refinements, work, ply)
    progress[PLY], progress[STEP], progress[VALUE] = ply, step, value
    return step == DONE


@entry
def prepare(game, evaluation, root, work):
    """A new search at root[0]: notes are taken; what was learned in the last one counts half."""
    work.states[0] = root[0]
    take_notes(evaluation, game, work.states[0], work.notes[0])
    work.progress[NODES] = 0
    work.progress[NUMBER] += 1
    work.killers[:] = NO_ACTION
    work.shares[:] = 0
    for player in range(2):
        for action in range(work.history.shape[1]):
            work.history[player, action] //= 2


@entry
def line_from_table(game, root, states, table, actions, line, length):
    """Lengthens a line that begins at root[0] by what the table knows; returns its length."""
    states[0] = root[0]
    for i in range(length):
        play(game, states[0], line[i])
    while length < len(line) and outcome(game, states[0]) == ONGOING:
        known = find(table, key(game, states[0]))
        if known < 0 or table[known].bound & 3 != EXACT:
            break
        action, is_legal = table[known].action, False
        for i in range(legal(game, states[0], actions)):
            is_legal |= actions[i] == action
        if not is_legal:  # two positions with one key
            break
        line[length] = action
        play(game, states[0], line[length])
        length += 1
    return length


@dataclass
class AlphaBeta:
    """A search that keeps what it learned between moves."""

    game: Game
    evaluation: Any = field(default_factory=Plain)
    refinements: Refinements = field(default_factory=Refinements)
    memory: int = 64  # megabytes, for the transposition table
    report: Callable[[Decision], None] | None = field(default=None, compare=False)  # is told what each depth finds
    work: Work = field(init=False)

    def __post_init__(self) -> None:
        actions = self.game.actions
        if getattr(self.game.parameters, "history_matters", False):
            self.refinements = self.refinements._replace(table=min(self.refinements.table, TRUSTED - 1))
        self.work = Work(
            states=self.game.new_states(DEEPEST),
            notes=new_notes(self.evaluation, self.game, DEEPEST),
            frames=np.zeros(DEEPEST, FRAME).view(np.recarray),
            actions=np.zeros((DEEPEST, actions), np.int32),
            scores=np.zeros((DEEPEST, actions), np.int64),
            lines=np.zeros((DEEPEST, DEEPEST), np.int32),
            killers=np.zeros((DEEPEST, 2), np.int32),
            history=np.zeros((2, actions), np.int64),
            shares=np.zeros(actions, np.int64),
            barred=np.zeros(actions, np.bool_),
            table=new_table(LEAST),
            progress=np.zeros(6, np.int64),
        )
        self._compile()

    def _compile(self) -> None:
        """Compiling is no part of anybody's time to think."""
        start = self.game.start().states
        prepare(self.game.parameters, self.evaluation, start, self.work)
        run(self.game.parameters, self.evaluation, self.refinements, self.work, 0)
        scratch = self.game.new_states(1), self.work.table, self.work.actions[0], self.work.lines[0]
        line_from_table(self.game.parameters, start, *scratch, 0)

    def forget(self) -> None:
        """Everything learned is forgotten."""
        self.work.table[:] = np.zeros((), self.work.table.dtype)
        self.work.history[:] = 0

    def candidates(self, position: Position) -> list[int]:
        """The actions that a search of this position would look at."""
        self._begin(position)
        self.work.frames[0].alpha, self.work.frames[0].beta, self.work.frames[0].depth = -INFINITE, INFINITE, 1
        self.work.progress[PLY], self.work.progress[STEP] = 0, ENTER
        run(self.game.parameters, self.evaluation, self.refinements, self.work, 1)
        return self.work.actions[0, : self.work.frames[0].count].tolist()

    def _make_room(self, limit: Limit) -> None:
        """A table that is large enough for a search."""
        wanted = min(megabytes_for(limit, int(self.work.progress[NODES])), self.memory)
        self.work = self.work._replace(table=enlarged(self.work.table, wanted, width=2))

    def _begin(self, position: Position, barred: Sequence[int] = ()) -> None:
        self.work.notes[0] = np.zeros((), self.work.notes.dtype)
        self.work.barred[:] = False
        self.work.barred[list(barred)] = True
        prepare(self.game.parameters, self.evaluation, position.states, self.work)

    def search(self, position: Position, limit: Limit, barred: Sequence[int] = ()) -> Decision:
        """Searches a position that is not over, one ply deeper each time, until a limit or the end of the game.

        Actions that are `barred` are not looked at; some candidate must be left.
        """
        clock = Clock(limit)
        self._make_room(limit)
        self._begin(position, barred)
        nodes, pace, found = limit.count or 2**60, Pace(clock, 64), Found(int(position.legal_actions[0]))
        for depth in range(1, min(limit.depth or DEEPEST, DEEPEST - 1) + 1):
            if not self._deepen(depth, found, nodes, pace):
                break
            found.is_exact = not self.work.frames[0].horizon
            if self.report is not None:
                self.report(self._decision(position, found, clock))
            if abs(found.score) >= WIN - depth or found.is_exact:
                break
        count = int(self.work.frames[0].count)
        if found.depth == 0 and count > 0:  # not one action was searched: the most promising will have to do
            found.line = [int(self.work.actions[0, np.argmax(self.work.scores[0, :count])])]
        return self._decision(position, found, clock)

    def _deepen(self, depth: int, found: Found, nodes: int, pace: Pace) -> bool:
        """Searches to a depth and writes what it finds into `found`; whether it could finish."""
        width = max(1, int(self.evaluation.scale / 4))
        is_open = not self.refinements.aspiration or depth < 3
        alpha, beta = (-INFINITE, INFINITE) if is_open else (found.score - width, found.score + width)
        while True:
            root, progress = self.work.frames[0], self.work.progress
            done = self._search_window(depth, max(alpha, -INFINITE), min(beta, INFINITE), nodes, pace)
            if root.best > root.floor:  # an action is better than the window's floor: whatever follows, that holds
                found.take(depth, int(root.best), self.work.lines[0, : root.length].tolist())
            if not done:
                return False
            value = int(progress[VALUE])
            if alpha < value < beta or (value >= beta == INFINITE) or (value <= alpha == -INFINITE):
                found.score = value
                return True
            width *= 4
            alpha = value - width if value <= alpha else alpha
            beta = value + width if value >= beta else beta

    def _search_window(self, depth: int, alpha: int, beta: int, nodes: int, pace: Pace) -> bool:
        """Searches the root to a depth with a window; whether it could finish. The value is progress[VALUE]."""
        root, progress = self.work.frames[0], self.work.progress
        root.alpha, root.beta, root.depth = alpha, beta, depth
        root.best, root.best_action, root.floor = -INFINITE, NO_ACTION, -INFINITE
        progress[PLY], progress[STEP] = 0, ENTER
        done = False
        while not done and progress[NODES] < nodes:
            if pace.clock.left <= 0 and (depth > 1 or progress[NODES] >= LEAST_NODES):
                break
            before = int(progress[NODES])
            size = pace.next(nodes - before)
            done = run(self.game.parameters, self.evaluation, self.refinements, self.work, size)
            pace.did(int(progress[NODES]) - before)
        return done

    def prove(self, position: Position, limit: Limit) -> Decision:
        """Who wins, and nothing else: is it more than a draw? is it less? Each is searched to the game's end at once.

        Without going deeper and deeper there is nothing for killers and history to learn from, and the evaluation
        orders better alone: on connect four's sixth to eighth move a proof took an eighth of the positions.
        """
        clock = Clock(limit)
        self._make_room(limit)
        self._begin(position)
        kept, self.refinements = self.refinements, self.refinements._replace(killers=0, history=0)
        pace, nodes, value, answered = Pace(clock, 64), limit.count or 2**60, 0, False
        for alpha, beta in ((0, 1), (-1, 0)):
            answered = self._search_window(DEEPEST - 1, alpha, beta, nodes, pace)
            value = int(self.work.progress[VALUE]) if answered else 0
            if not answered or value != 0:
                break
        self.refinements = kept
        best = int(self.work.frames[0].best_action)
        found = Found(best if best != NO_ACTION else int(position.legal_actions[0]))
        decision = decision_of(found, self.evaluation, self.work.shares, int(self.work.progress[NODES]), clock)
        is_complete = getattr(self.evaluation, "is_complete", True) or value > 0  # a win that was found is one
        is_proven = answered and is_complete and not self.work.frames[0].horizon
        words = {1: "wins", 0: "a draw", -1: "loses"}
        sign = (value > 0) - (value < 0)
        return replace(decision, value=float(sign) if is_proven else None, note=words[sign] if is_proven else "")

    def _decision(self, position: Position, found: Found, clock: Clock) -> Decision:
        """What was found, with the principal variation as far as the table knows it."""
        line = np.zeros(24, np.int32)
        length = min(len(found.line), len(line))
        line[:length] = found.line[:length]
        if self.refinements.table == TRUSTED:
            scratch = self.game.new_states(1)
            length = line_from_table(
                self.game.parameters, position.states, scratch, self.work.table, self.work.actions[1], line, length
            )
        found.line = line[:length].tolist() or found.line
        nodes = int(self.work.progress[NODES])
        return decision_of(found, self.evaluation, self.work.shares, nodes, clock)


class Found:
    """The best that a search knows so far."""

    def __init__(self, action: int):
        self.score, self.depth, self.line = 0, 0, [action]
        self.is_exact = False  # no evaluation had a say in the score

    def take(self, depth: int, score: int, line: list[int]) -> None:
        self.depth, self.score, self.line, self.is_exact = depth, score, line, False


def decision_of(found: Found, evaluation: Any, shares: np.ndarray, nodes: int, clock: Clock) -> Decision:
    """A decision for what was found; `shares` [actions] are the nodes below each of the root's actions."""
    is_complete = getattr(evaluation, "is_complete", True)
    plies, total = plies_to_end(found.score), max(int(shares.sum()), 1)
    win, loss = ("wins", "loses") if is_complete else ("sees a win", "sees a loss")
    draw = "a draw" if found.is_exact and is_complete and found.score == 0 else ""
    return Decision(
        action=found.line[0],
        value=value_of(found.score, evaluation.scale),
        policy={int(action): int(shares[action]) / total for action in np.flatnonzero(shares)},
        principal_variation=tuple(found.line),
        nodes=nodes,
        depth=found.depth,
        seconds=clock.seconds,
        note=draw if plies is None else f"{win if found.score > 0 else loss} in {plies}",
    )
