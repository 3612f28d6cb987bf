"""Gomoku's wins by threats: the attacker makes fours (VCF), or fours and open threes (VCT), until one cannot be met.

A proof-number search: of all that is open, it looks next where the fewest positions are left to prove or to disprove.
Attacker's nodes are won if one child is, defender's nodes if all are. The defender's answers are all that can help:
against a four, the point that completes it; against an open three, its points and fours of his own. Where Renju forbids
Black every such point, White's threat cannot be met; where it forbids Black the open four, there is no threat.

What is said to be won is won. What is not found may still be won: by quieter moves, or beyond the limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tengen.games.gomoku import BLACK, WHITE, Gomoku
from tengen.knowledge.gomoku import (
    FIVE,
    HAS_FIVE,
    HAS_FOUR,
    HAS_OPEN_FOUR,
    HAS_OPEN_THREE,
    MAKES_FOUR,
    OPEN_FOUR,
    LinePatterns,
    follow,
    is_threatened,
    points_that,
    tables_for,
    take_notes,
)
from tengen.rules.contract import ONGOING, kernel, mix, outcome, play, stone_key
from tengen.rules.errors import BadParameter, TengenError
from tengen.rules.game import Game, Position
from tengen.rules.kernels import entry
from tengen.search.evaluation import new_notes
from tengen.search.limits import Clock, Decision, Limit, Pace
from tengen.search.table import LEAST, enlarged, megabytes_for, new_table

FOURS, THREES = 0, 1  # what the attacker may use
KINDS = ("VCF", "VCT")
DEEPEST = 100  # plies of an attack
MOST_FOR_PROOF = 5_000_000  # positions, for one node of a proof that was found before
SHORT_LOOK = {FOURS: 100, THREES: 1000}  # positions
ENDLESS = 1 << 30  # a proof number: it can never be
ENTER, LOOK, LEAVE, DONE = 0, 1, 2, 3
PLY, STEP, NODES = 0, 1, 2  # what `progress` holds
NOT_URGENT = -1
NO_POINT = np.uint32(0)

FRAME = np.dtype(
    [
        ("proof_limit", np.int64),  # the node is left when one of its numbers reaches its limit
        ("disproof_limit", np.int64),
        ("proof", np.int64),  # how many positions are left, at least, to prove it won for the attacker
        ("disproof", np.int64),  # … or to prove that it is not
        ("count", np.int16),
        ("child", np.int16),  # the one being looked at
    ],
    align=True,
)
KNOWN = np.dtype([("key", np.uint64), ("proof", np.int32), ("disproof", np.int32)], align=True)


class Attack(NamedTuple):
    """A search's memory; states, notes, frames and actions: one for each ply."""

    states: Any
    notes: Any
    frames: Any
    actions: Any  # [plies, points]
    proofs: Any  # [plies, points]: the numbers of the nodes that these lead to
    disproofs: Any
    scores: Any  # [points]
    table: Any
    progress: Any


@kernel
def known(table, key):
    """What the table says of a position (its key, salted): proof and disproof numbers; (1, 1) if nothing."""
    found = table[np.int64(key & np.uint64(len(table) - 1))]
    if found.key == key:
        return np.int64(found.proof), np.int64(found.disproof)
    return np.int64(1), np.int64(1)


@kernel
def urgent_actions(game, state, notes, actions, scores):
    """What fives and open fours leave the player to move: ENDLESS if he wins by one, NOT_URGENT if there are none.

    One action if he can stop the other's five; none if he cannot, since of two points he can take only one.
    """
    own, other = state.to_play, 1 - state.to_play
    if notes.counts[own, FIVE] > 0:
        return ENDLESS
    if notes.counts[other, FIVE] > 0:
        count = points_that(game, state, notes, NO_POINT, HAS_FIVE, actions, scores, len(actions))
        return count if count == 1 else 0
    if notes.counts[own, OPEN_FOUR] > 0:
        if points_that(game, state, notes, HAS_OPEN_FOUR, NO_POINT, actions, scores, 1) > 0:
            return ENDLESS
    return NOT_URGENT


@kernel
def attack_actions(game, state, notes, kind, actions, scores):
    """The attacker's actions: how many, or ENDLESS if he has won."""
    count = urgent_actions(game, state, notes, actions, scores)
    if count != NOT_URGENT:
        return count
    other, wanted = 1 - state.to_play, HAS_FOUR
    if kind == THREES and not (notes.counts[other, OPEN_FOUR] > 0 and is_threatened(game, state, notes)):
        wanted |= HAS_OPEN_THREE
    return points_that(game, state, notes, wanted, NO_POINT, actions, scores, len(actions))


@kernel
def defence_actions(game, state, notes, kind, actions, scores):
    """The defender's actions: how many, or ENDLESS if there is no threat to meet; none if it cannot be met."""
    count = urgent_actions(game, state, notes, actions, scores)
    if count != NOT_URGENT:
        return count
    if kind == THREES and notes.counts[1 - state.to_play, OPEN_FOUR] > 0 and is_threatened(game, state, notes):
        return points_that(game, state, notes, MAKES_FOUR, MAKES_FOUR, actions, scores, len(actions))
    return ENDLESS


@kernel
def sort_by_score(actions, scores, count):
    """The most promising first; there are few."""
    for i in range(1, count):
        action, score, j = actions[i], scores[i], i - 1
        while j >= 0 and scores[j] < score:
            actions[j + 1], scores[j + 1] = actions[j], scores[j]
            j -= 1
        actions[j + 1], scores[j + 1] = action, score


@kernel
def enter(game, evaluation, work, ply, attacker, kind):
    """Opens the node at `ply`; whether it has children to look at, or else its numbers are final."""
    frame, state = work.frames[ply], work.states[ply]
    frame.proof, frame.disproof = ENDLESS, 0
    if outcome(game, state) != ONGOING or ply + 1 == len(work.frames):
        return False
    if ply > 0:
        action = np.int64(state.last) - 1
        work.notes[ply] = work.notes[ply - 1]
        follow(evaluation, game, work.states[ply - 1], state, action, work.notes[ply])
    is_attack = state.to_play == attacker
    if is_attack:
        count = attack_actions(game, state, work.notes[ply], kind, work.actions[ply], work.scores)
    else:
        count = defence_actions(game, state, work.notes[ply], kind, work.actions[ply], work.scores)
    if count == 0 or count == ENDLESS:
        if is_attack == (count == ENDLESS):
            frame.proof, frame.disproof = 0, ENDLESS
        return False
    sort_by_score(work.actions[ply], work.scores, count)
    frame.count = count
    return True


@kernel
def salt(attacker, kind):
    """Keeps apart in the table what is asked about the same position."""
    return mix(np.uint64(2 * kind + attacker + 1))


@kernel
def recall(work, ply, seasoning):
    """Brings the numbers of a node's children from the table. While the node is open, nothing overwrites them."""
    state = work.states[ply]
    for i in range(work.frames[ply].count):
        key = state.key ^ stone_key(work.actions[ply, i], state.to_play) ^ seasoning
        work.proofs[ply, i], work.disproofs[ply, i] = known(work.table, key)


@kernel
def look(work, ply, attacker):
    """Adds up a node's children; returns the one to look at next, or −1 if the node is settled or at its limits."""
    frame = work.frames[ply]
    is_attack = work.states[ply].to_play == attacker
    best, lowest, second, total, others = -1, ENDLESS + 1, ENDLESS + 1, 0, 0
    for i in range(frame.count):
        proof, disproof = np.int64(work.proofs[ply, i]), np.int64(work.disproofs[ply, i])
        one, sum_of = (proof, disproof) if is_attack else (disproof, proof)
        total = min(total + sum_of, ENDLESS)
        if one < lowest:
            best, lowest, second, others = i, one, lowest, sum_of
        elif one < second:
            second = one
    frame.proof, frame.disproof = (lowest, total) if is_attack else (total, lowest)
    if frame.proof >= frame.proof_limit or frame.disproof >= frame.disproof_limit or total == 0 or lowest == 0:
        return -1
    child = work.frames[ply + 1]
    if is_attack:
        child.proof_limit = min(frame.proof_limit, second + 1)
        child.disproof_limit = frame.disproof_limit - total + others
    else:
        child.proof_limit = frame.proof_limit - total + others
        child.disproof_limit = min(frame.disproof_limit, second + 1)
    return best


@kernel
def leave(work, ply, seasoning):
    """The table remembers a node's numbers."""
    frame, key = work.frames[ply], work.states[ply].key ^ seasoning
    place = work.table[np.int64(key & np.uint64(len(work.table) - 1))]
    place.key, place.proof, place.disproof = key, frame.proof, frame.disproof


@entry
def run(game, evaluation, work, attacker, kind, nodes):
    """Goes on for that many nodes; whether the root is settled: proof 0 if the attacker wins, disproof 0 if not."""
    progress, seasoning = work.progress, salt(attacker, kind)
    ply, step, stop = progress[PLY], progress[STEP], progress[NODES] + nodes
    while step != DONE:
        if step == ENTER:
            if progress[NODES] >= stop:
                break
            progress[NODES] += 1
            step = LEAVE
            if enter(game, evaluation, work, ply, attacker, kind):
                recall(work, ply, seasoning)
                step = LOOK
        elif step == LOOK:
            best = look(work, ply, attacker)
            if best < 0:
                step = LEAVE
            else:
                work.frames[ply].child = best
                work.states[ply + 1] = work.states[ply]
                play(game, work.states[ply + 1], work.actions[ply, best])
                ply, step = ply + 1, ENTER
        else:
            leave(work, ply, seasoning)
            ply -= 1
            step = DONE
            if ply >= 0:
                child, step = np.int64(work.frames[ply].child), LOOK
                work.proofs[ply, child] = work.frames[ply + 1].proof
                work.disproofs[ply, child] = work.frames[ply + 1].disproof
    progress[PLY], progress[STEP] = max(ply, 0), step
    return step == DONE


@entry
def prepare(game, evaluation, root, work):
    """Begins at root[0]."""
    work.states[0] = root[0]
    take_notes(evaluation, game, work.states[0], work.notes[0])
    work.frames[0].proof_limit = work.frames[0].disproof_limit = ENDLESS
    work.frames[0].count = 0
    work.progress[PLY] = work.progress[NODES] = 0
    work.progress[STEP] = ENTER


@entry
def winning_action(game, evaluation, root, work, attacker):
    """The action that wins for the attacker, who is to move at root[0], now that a search has proven it."""
    state, notes, actions = root[0], work.notes[0], work.actions[0]
    for i in range(work.frames[0].count):
        if work.proofs[0, i] == 0:
            return actions[i]
    wanted = HAS_FIVE if notes.counts[attacker, FIVE] > 0 else HAS_OPEN_FOUR
    points_that(game, state, notes, wanted, NO_POINT, actions, work.scores, 1)
    return actions[0]


@entry
def defences(game, evaluation, root, work, attacker, kind):
    """Lists in work.actions[0] what can help the defender at root[0]; if nothing can, where he loses latest."""
    state, notes, actions = root[0], work.notes[0], work.actions[0]
    take_notes(evaluation, game, state, notes)
    count = defence_actions(game, state, notes, kind, actions, work.scores)
    if count == 0:
        count = points_that(game, state, notes, NO_POINT, HAS_FIVE, actions, work.scores, len(actions))
    return count


@dataclass(frozen=True)
class Proof:
    """An attack that wins: the attacker's action, and what follows each of the defender's answers."""

    action: int
    answers: dict[int, Proof]  # none: five is made, or nothing can be answered

    @cached_property
    def plies(self) -> int:
        """How long the best defence lasts."""
        return 1 + max((1 + proof.plies for proof in self.answers.values()), default=0)

    def line(self) -> list[int]:
        """The attack against the defence that lasts longest."""
        if not self.answers:
            return [self.action]
        answer, proof = max(self.answers.items(), key=lambda pair: pair[1].plies)
        return [self.action, answer, *proof.line()]


@dataclass
class ThreatSearch:
    """Looks for wins by fours, then by fours and open threes."""

    game: Game
    memory: int = 32  # megabytes, for its table
    work: Attack = field(init=False)
    evaluation: Any = field(init=False)
    nodes: int = 0  # that the last search looked at
    kind: int = FOURS  # of the win that was found last

    def __post_init__(self) -> None:
        if not isinstance(self.game.parameters, Gomoku):
            raise BadParameter(f"threats are searched for in Gomoku, not in {self.game.name}")
        self.evaluation = LinePatterns(tables_for(self.game.parameters))
        self.work = Attack(
            states=self.game.new_states(DEEPEST),
            notes=new_notes(self.evaluation, self.game, DEEPEST),
            frames=np.zeros(DEEPEST, FRAME).view(np.recarray),
            actions=np.zeros((DEEPEST, self.game.cells), np.int32),
            proofs=np.zeros((DEEPEST, self.game.cells), np.int32),
            disproofs=np.zeros((DEEPEST, self.game.cells), np.int32),
            scores=np.zeros(self.game.cells, np.int64),
            table=new_table(LEAST, KNOWN),
            progress=np.zeros(3, np.int64),
        )
        start = self.game.start()  # compiling is no part of anybody's time to think
        self.attack(start, BLACK, FOURS, Limit(nodes=1))
        self._winner(start, BLACK)
        self._defences(start, WHITE, FOURS)

    def attack(self, position: Position, attacker: int, kind: int, limit: Limit) -> bool | None:
        """Whether the attacker, whoever is to move, wins by threats of that kind; None if the limit came first."""
        clock, nodes = Clock(limit), limit.count or 2**60
        pace, parameters = Pace(clock, 64), self.game.parameters
        self._clear_notes()
        prepare(parameters, self.evaluation, position.states, self.work)
        done, searched = False, self.work.progress
        while not done and clock.left > 0 and searched[NODES] < nodes:
            before = int(searched[NODES])
            size = pace.next(nodes - before)
            done = run(parameters, self.evaluation, self.work, attacker, kind, size)
            pace.did(int(searched[NODES]) - before)
        return bool(self.work.frames[0].proof == 0) if done else None

    def wins(self, states: np.ndarray, effort: int = 1) -> np.ndarray:
        """In which of many states that go on the player to move wins, as far as a short look can tell: a Prover."""
        self._enlarge(megabytes_for(Limit(nodes=effort * sum(SHORT_LOOK.values())), 0))
        return np.array([self._wins(states[i : i + 1], effort) for i in range(len(states))], np.bool_)

    def _wins(self, state: np.ndarray, effort: int) -> bool:
        """The same of one state."""
        game, attacker = self.game.parameters, int(state[0].to_play)
        for kind, nodes in SHORT_LOOK.items():
            self._clear_notes()
            prepare(game, self.evaluation, state, self.work)
            is_settled = run(game, self.evaluation, self.work, attacker, kind, effort * nodes)
            if is_settled and self.work.frames[0].proof == 0:
                return True
        return False

    def search(self, position: Position, limit: Limit, kinds: tuple[int, ...] = (FOURS, THREES)) -> Decision | None:
        """A decision if the player to move wins by threats; None if he does not, or the limit comes first."""
        clock = Clock(limit)
        self._enlarge(megabytes_for(limit, self.nodes))
        self.nodes = 0
        for kind in kinds:
            left = None if limit.time is None else max(clock.left, 0.001)
            count = None if limit.count is None else max(limit.count - self.nodes, 1)
            is_won = self.attack(position, position.to_play, kind, Limit(left, count, stop=limit.stop))
            self.nodes += int(self.work.progress[NODES])
            if is_won:
                action, self.kind = self._winner(position, position.to_play), kind
                note = f"wins by {KINDS[kind]}"
                return Decision(action, 1.0, {action: 1.0}, (action,), self.nodes, seconds=clock.seconds, note=note)
        return None

    def proof(self, position: Position, kind: int) -> Proof:
        """The proof of a win that `search` found, every defence answered. What it found out before makes it fast."""
        return self._prove(position, position.to_play, kind, {})

    def _prove(self, position: Position, attacker: int, kind: int, known: dict[bytes, Proof]) -> Proof:
        identity = position.states.tobytes()
        if identity not in known:
            if not self.attack(position, attacker, kind, Limit(nodes=MOST_FOR_PROOF)):
                raise TengenError(f"a proof takes more than {MOST_FOR_PROOF:,} positions: give the search more memory")
            action = self._winner(position, attacker)
            after, answers = position.play(action), {}
            if after.outcome is None:
                for answer in self._defences(after, attacker, kind):
                    answers[answer] = self._prove(after.play(answer), attacker, kind, known)
            known[identity] = Proof(action, answers)
        return known[identity]

    def _winner(self, position: Position, attacker: int) -> int:
        return int(winning_action(self.game.parameters, self.evaluation, position.states, self.work, attacker))

    def _defences(self, position: Position, attacker: int, kind: int) -> list[int]:
        self._clear_notes()
        count = defences(self.game.parameters, self.evaluation, position.states, self.work, attacker, kind)
        return [] if count == ENDLESS else self.work.actions[0, :count].tolist()

    def _enlarge(self, megabytes: float) -> None:
        """Makes room in the table for a search that can use so much, as far as there is memory."""
        table = enlarged(self.work.table, min(megabytes, self.memory), width=1)
        self.work = self.work._replace(table=table)

    def _clear_notes(self) -> None:
        self.work.notes[0] = np.zeros((), self.work.notes.dtype)
