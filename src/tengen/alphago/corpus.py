"""A corpus of Go, played by a teacher.

No records of 9×9 Go come with us that may be passed on, so GNU Go plays them: against itself at all its levels, and
against our own agents. Games are numbered before the first is played, and a number alone decides who plays whom and how
the game begins; so a corpus that was stopped goes on where it was, and can be made longer later.
"""

from __future__ import annotations

import gzip
import random
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from tengen.rules.errors import BadParameter

if TYPE_CHECKING:
    from tengen.arena.workers import Pairing
    from tengen.records.record import Record
    from tengen.records.store import Store
    from tengen.rules.game import Game

GAME = "go:size=9,komi=5.5"
# It captures what is dead before it passes, since here dead stones count as if they lived, and plays every game out.
TEACHER = "gnugo --mode gtp --chinese-rules --positional-superko --capture-all-dead --never-resign"
RIVALS = ("uct:playouts=300", "uct:playouts=3000")
LEVELS = 10
LONGEST_OPENING = 6  # plies
MOVE_TIME = 120.0  # seconds; an engine that takes longer is taken to hang
FIRST_LINE = 2  # openings are played on the third line or above, counted from zero
TRIES = 100  # to find a point for an opening
GAMES_OF_A_FILE = 1000  # where the corpus is a folder
NEWS = 30.0  # seconds between two lines about the progress, where there is no terminal


@dataclass(frozen=True)
class Corpus:
    """Who plays whom, and how games begin."""

    game: Game
    engine: str = TEACHER  # a command line
    rivals: tuple[str, ...] = RIVALS  # specs
    share: float = 0.25  # of games against them
    seed: int = 1

    def check(self) -> None:
        """Tells a wrong spec, or an engine that is not there, before any game."""
        from tengen.agents.specs import load_agent

        if self.game.name != "go":
            raise BadParameter(f"the teacher plays Go, not {self.game.spec}; write --game {GAME}")
        for spec in (self.teacher(1), *self.rivals):
            load_agent(spec, self.game)

    def teacher(self, level: int) -> str:
        """The spec of the teacher at one of its levels."""
        command = self.engine
        return f"gtp:{command.replace('{level}', str(level)) if '{level}' in command else f'{command} --level {level}'}"

    def settings(self) -> dict[str, Any]:
        """What makes it this corpus and no other; where the engine lies on the disk is no part of it."""
        program, *words = shlex.split(self.engine)
        return {
            "corpus": self.game.spec,
            "engine": shlex.join([Path(program).name, *words]),
            "rivals": list(self.rivals),
            "share": self.share,
            "seed": self.seed,
        }

    def pairings(self, count: int, done: Iterable[int] = ()) -> Iterator[Pairing]:
        """The first `count` games, but for those that are done."""
        known = set(done)
        return (self.pairing(number) for number in range(count) if number not in known)

    def pairing(self, number: int) -> Pairing:
        """The game of a number: it depends on nothing else."""
        from tengen.arena.workers import Pairing

        rng = random.Random(f"{self.seed} {number}")
        sides = [self._teacher(rng), self._opponent(rng)]
        rng.shuffle(sides)
        (first, first_name), (second, second_name) = sides
        return Pairing(
            number=number,
            game=self.game.spec,
            agents=(first, second),
            names=(first_name, second_name),
            opening=tuple(self._opening(rng)),
            seeds=(rng.getrandbits(31), rng.getrandbits(31)),
            move_time=MOVE_TIME,
        )

    def _teacher(self, rng: random.Random) -> tuple[str, str]:
        """The teacher at a random level, and how records name it."""
        level = rng.randint(1, LEVELS)
        return self.teacher(level), f"{Path(shlex.split(self.engine)[0]).name} level {level}"

    def _opponent(self, rng: random.Random) -> tuple[str, str]:
        if self.rivals and rng.random() < self.share:
            spec = rng.choice(self.rivals)
            return spec, spec
        return self._teacher(rng)

    def _opening(self, rng: random.Random) -> list[int]:
        """Random legal moves, each on the third line or above."""
        size, position = self.game.shape[0], self.game.start()
        edge = min(FIRST_LINE, (size - 1) // 2)
        points = [y * size + x for y in range(edge, size - edge) for x in range(edge, size - edge)]
        for _ in range(rng.randint(0, LONGEST_OPENING)):
            for _ in range(TRIES):
                action = rng.choice(points)
                if action in position.legal_actions:
                    position = position.play(action)
                    break
        return position.moves


@dataclass(frozen=True)
class KeptGames:
    """What became of the games that were played."""

    games: int
    left_out: Counter[str]

    def words(self) -> str:
        out = "".join(f"; {count:,} left out: {reason}" for reason, count in self.left_out.most_common())
        return f"{self.games:,} games{out}"


class Bar:
    """Shows how many games are played: a bar, or a line now and then where there is no terminal."""

    def __init__(self, total: int):
        self.total, self.last, self.began, self.first = total, monotonic(), monotonic(), -1
        self.update: Any = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        from tengen.arena.folder import progress_bar, say_at_the_end

        say_at_the_end("stopped: the games so far are kept, and the same command goes on")
        with progress_bar(self.total, "games") as (bar, task):
            self.update = lambda done: bar.update(task, completed=done)
            yield

    def show(self, done: int) -> None:
        self.first = done if self.first < 0 else self.first
        if self.update is not None:
            self.update(done)
        now = monotonic()
        if not sys.stderr.isatty() and (now - self.last > NEWS or done == self.total):
            rate = (done - self.first) / max(now - self.began, 1e-9)
            print(f"{done:,} of {self.total:,} games, {rate:.2f} a second", file=sys.stderr, flush=True)
            self.last = now


def make_corpus(
    plan: Corpus, count: int, out: Path, workers: int | None, bar: Bar, seconds: float = float("inf")
) -> KeptGames:
    """Plays the games that are missing, each stored as soon as it ends, and writes all there are to `out`.

    When the time is over, games under way are given up.
    """
    from tengen.arena.workers import play_pairings

    end = monotonic() + seconds
    with bar.shown(), opened(out, plan) as store:
        match = store.match(plan.settings())
        done = {one.number for one in store.headings(match=match) if one.number is not None}
        bar.show(len(done))
        for pairing, record in play_pairings(plan.pairings(count, done), workers):
            store.add(record, match, pairing.number)
            done.add(pairing.number)
            bar.show(len(done))
            if monotonic() > end:
                break
        return write_corpus(out, (stored.record for stored in store.games(match=match, game=plan.game)))


def store_path(out: Path) -> Path:
    """Where the games of a corpus are kept while it is made: in its folder, or beside its file."""
    if is_file(out):
        return out.with_name(out.name.removesuffix(".gz").removesuffix(".sgf") + ".db")
    return out / "games.db"


def is_file(out: Path) -> bool:
    """Whether that is the name of a file; a name with another ending is refused."""
    if out.name.lower().endswith((".sgf", ".sgf.gz")):
        return True
    if out.suffix and not out.is_dir():
        raise BadParameter(f"{out}: a file of records ends in .sgf or .sgf.gz, and a folder's name has no ending")
    return False


@contextmanager
def opened(out: Path, plan: Corpus) -> Iterator[Store]:
    """The store of a corpus, for this process alone; another corpus' store is refused."""
    from tengen.records.disk import lock
    from tengen.records.store import Store

    path = store_path(out)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = lock(path.with_suffix(".lock"))
    except BlockingIOError:
        raise BadParameter(f"another process makes {out}: wait for it, or give another --out") from None
    except OSError as reason:
        raise BadParameter(f"{path.parent} cannot be used: {reason.strerror}") from None
    with held, Store(path) as store:
        if any(match.settings != plan.settings() for match in store.matches()):
            raise BadParameter(f"{path} holds another corpus, or one with other settings: give another --out")
        yield store


def write_corpus(out: Path, records: Iterable[Record]) -> KeptGames:
    """Writes the games that are whole, each once, without what nobody learns from: times and days."""
    left_out: Counter[str] = Counter()
    kept: dict[bytes, Record] = {}
    for record in records:
        reason, key = verdict(record)
        if not reason and key in kept:
            reason = "the same game, perhaps turned, is there already"
        if reason:
            left_out[reason] += 1
        else:
            kept[key] = replace(record, seconds=(), date="", comments={})
    try:
        write_games(out, list(kept.values()))
    except OSError as reason:
        raise BadParameter(f"{out} cannot be written: {reason.strerror}") from None
    return KeptGames(len(kept), left_out)


def verdict(record: Record) -> tuple[str, bytes]:
    """Why a game is no good to learn from, if it is not; and the key of the game."""
    from tengen.alphago.dataset import game_key

    game, passes = record.game, record.moves[-2:]
    if record.ending:
        return "a player failed, or gave up", b""
    if passes != (game.cells, game.cells):
        return "it did not end with two passes", b""
    return "", game_key(game, record.moves)


def write_games(out: Path, records: list[Record]) -> None:
    """One file, compressed if its name says so; or files of a thousand games in a folder."""
    from tengen.records.disk import write_file
    from tengen.records.sgf import write_sgf

    if not is_file(out):
        for begin in range(0, len(records), GAMES_OF_A_FILE):
            text = write_sgf(*records[begin : begin + GAMES_OF_A_FILE])
            write_file(out / f"{begin // GAMES_OF_A_FILE:04}.sgf", text.encode())
        return
    content = write_sgf(*records).encode()
    write_file(out, gzip.compress(content, 9, mtime=0) if out.name.lower().endswith(".gz") else content)
