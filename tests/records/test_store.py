"""The store: what is added comes back, whoever is killed; programs wait for each other; other files are left alone."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

import tengen
from tengen.records.record import Record, RecordError
from tengen.records.store import MARK, VERSION, Store, StoreError
from tengen.rules.errors import TengenError

BREAKTHROUGH = str(Path(__file__).parent.parent.parent / "examples" / "breakthrough.py")


def random_record(spec, seed, players=("Ann", "Bob")):
    rng, position = random.Random(seed), tengen.load_game(spec).start()
    while position.outcome is None:
        position = position.play(rng.choice(position.legal_actions))
    return Record.of(position, players)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "games.db") as opened:
        yield opened


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "gomoku:size=8", "renju", "reversi", "go:size=9"])
def test_games_come_back(store, spec):
    record = random_record(spec, 1)
    whole = replace(
        record,
        players=("天元 \x1b[31m", 'Robert"); DROP TABLE games;--'),
        comments={0: "begin", 2: "a\nb"},
        date="2026-07-29",
        opening=2,
        seconds=tuple(0.1 * ply for ply in range(len(record.moves) - 2)),
        ending="resigned",
    )
    ids = [store.add(record), store.add(whole)]
    with Store(store.path) as other:
        assert [stored.record for stored in other.games()] == [record, whole]
        assert other.get(ids[1]).record == whole


def test_moves_are_stored_as_people_write_them(store):
    store.add(Record.of(tengen.load_game("renju").from_moves("h8 i9 h9")))
    store.add(Record.of(tengen.load_game("go:size=9").from_moves("e5 pass")))
    assert [row[0] for row in sqlite3.connect(store.path).execute("SELECT moves FROM games")] == ["h8 i9 h9", "e5 pass"]


def test_matches(store):
    settings = {"game": "gomoku", "agents": ["uct:playouts=10", "random"], "seed": 1, "opening": 2}
    match = store.match(settings)
    assert store.match(dict(reversed(settings.items()))) == match
    other = store.match({**settings, "seed": 2})
    records = [random_record("tictactoe", seed) for seed in range(4)]
    for number in (2, 0, 1):
        store.add(records[number], match, number)
    store.add(records[3], other, 0)
    store.add(records[3])
    assert [(game.number, game.record) for game in store.games(match=match)] == list(enumerate(records[:3]))
    assert [(found.id, found.settings, found.games) for found in store.matches()] == [
        (match, settings, 3),
        (other, {**settings, "seed": 2}, 1),
    ]
    assert [(game.match, game.number) for game in store.games()] == [
        (None, None), (match, 0), (match, 1), (match, 2), (other, 0),
    ]  # fmt: skip


def test_what_is_refused(store):
    record, match = random_record("tictactoe", 1), store.match({"seed": 1})
    first = store.add(record, match, 3)
    with pytest.raises(StoreError, match=f"games.db has game 3 of match {match} already: it is game {first}"):
        store.add(record, match, 3)
    with pytest.raises(StoreError, match="has no match 99"):
        store.add(record, 99, 1)
    with pytest.raises(StoreError, match="a number only within a match"):
        store.add(record, number=1)
    with pytest.raises(TengenError, match="b2 is occupied"):
        store.add(Record(record.game, (4, 4)))
    with pytest.raises(RecordError, match="an opening of 99 plies"):
        store.add(replace(record, opening=99))
    with pytest.raises(StoreError, match="what JSON can say"):
        store.match({"record": record})
    with pytest.raises(StoreError, match="has no game 99"):
        store.get(99)
    with pytest.raises(StoreError, match="more than 64 bits"):
        store.get(2**64)
    with pytest.raises(TypeError, match="no filter plyer"):
        store.games(plyer="Ann")
    assert len(list(store.games())) == 1


def test_filters(store):
    won = Record.of(tengen.load_game("tictactoe").from_moves("a1 a2 b1 b2 c1"))
    drawn = Record.of(tengen.load_game("tictactoe").from_moves("a1 b1 c1 a2 c2 b2 a3 c3 b3"))
    store.add(replace(won, players=("uct:playouts=100", "random"), date="2026-07-01"))
    store.add(replace(drawn, players=("random", "uct:playouts=1000"), date="2026-07-31"))
    store.add(replace(random_record("gomoku:size=8", 1), players=("Uctopus", "Ann"), date="2027"))
    store.add(replace(won, players=("Ann", "uct"), result="W+T", game=tengen.load_game("mnk")))

    def ids(**filters):
        assert sum(tally.games for tally in store.tally(**filters)) == len(store.headings(**filters))
        assert [game.id for game in store.games(**filters)] == [heading.id for heading in store.headings(**filters)]
        return [game.id for game in store.games(**filters)]

    assert ids() == [1, 2, 3, 4]
    assert ids(player="uct") == [1, 2, 4]
    assert ids(player="uct:playouts=100") == [1]
    assert ids(player="uct*") == [1, 2, 4]
    assert ids(player="*ct*") == [1, 2, 3, 4]
    assert ids(winner="uct") == [1, 4]
    assert ids(game="tictactoe") == [1, 2]
    assert ids(game="gomoku") == ids(game="gomoku:size=8") == ids(game=tengen.load_game("gomoku:size=8")) == [3]
    assert ids(game="gomoku:size=15") == []
    assert ids(result="0") == ids(result="draw") == [2]
    assert ids(result="W+") == [4]
    assert ids(since="2026-07-02") == [2, 3]
    assert ids(until="2026-07") == [1, 2]
    assert ids(since="2026", until="2026-07-01") == [1]
    assert ids(player="uct", game="tictactoe", result="B+") == [1]
    assert [game.id for game in store.games(limit=2)] == [1, 2]
    with pytest.raises(TengenError, match="did you mean 'gomoku'"):
        store.games(game="gomku")
    with pytest.raises(StoreError, match="'July' is no day; write it as 2026-07-29"):
        store.games(since="July")


def test_a_user_s_game_is_read_by_who_has_it(store):
    record = random_record(f"{BREAKTHROUGH}:size=5", 1)
    store.add(record)
    assert [game.record for game in store.games(game=record.game)] == [record]
    assert store.get(1, record.game).record == record
    assert [heading.plies for heading in store.headings()] == [len(record.moves)]
    with pytest.raises(RecordError, match=r"game 1 of games.db cannot be read: .* give that game"):
        list(store.games())


def test_many_at_once_or_none(store):
    records = [random_record("tictactoe", seed) for seed in range(10)]
    changes = []
    store._connection.set_trace_callback(changes.append)
    ids = store.add_all(records * 100)
    assert (len(ids), changes.count("COMMIT")) == (1000, 1)
    assert ids == [game.id for game in store.games()]
    with pytest.raises(TengenError, match="occupied"):
        store.add_all([*records, Record(records[0].game, (0, 0))])
    with pytest.raises(StoreError, match="has no match 5"):
        store.add_all(records, match=5)
    assert len(store.headings()) == 1000


def test_removing(store):
    record, match = random_record("tictactoe", 1), store.match({"seed": 1})
    ids = [store.add(record, match, number) for number in range(3)] + [store.add(record) for _ in range(3)]
    assert store.remove(games=ids[3:5]) == 2
    with pytest.raises(StoreError, match="has no game 99"):
        store.remove(games=[ids[5], 99])
    assert store.remove(match=match) == 3
    assert [game.id for game in store.games()] == [ids[5]]
    assert store.matches() == []
    with pytest.raises(StoreError, match=f"has no match {match}"):
        store.remove(match=match, games=[ids[5]])
    assert store.match({"seed": 1}) != match  # a number is never given twice
    assert store.add(record) > ids[5]


def test_a_reader_does_not_hold_up_a_writer(store):
    record = random_record("tictactoe", 1)
    store.add_all([record] * 3)
    reading = store.games()
    next(reading)
    with Store(store.path) as other:
        other._run("PRAGMA busy_timeout = 0")
        other.add(record)
        other.remove(games=[2])
    assert [game.id for game in reading] == [2, 3]  # what was fetched before
    assert [game.id for game in store.games()] == [1, 3, 4]


# Other processes.

WRITER = """
import sys
import tengen
from tengen.records.record import Record
from tengen.records.store import Store
record = Record.of(tengen.load_game("tictactoe").from_moves("a1 a2 b1 b2 c1"), (sys.argv[2], ""))
with Store(sys.argv[1]) as store:
    match = store.match({"seed": 1})
    print("open", flush=True)
    for number in range(int(sys.argv[3]), int(sys.argv[4])):
        store.add(record, match, number)
        print(number, flush=True)
"""


def start_writer(path, name, begin, end, **options):
    command = [sys.executable, "-c", WRITER, str(path), name, str(begin), str(end)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)


def test_two_processes_write_and_one_reads(tmp_path):
    path = tmp_path / "games.db"
    writers = [start_writer(path, "one", 0, 50), start_writer(path, "two", 50, 100)]  # neither finds a store
    for writer in writers:
        assert writer.stdout.readline() == "open\n"
    seen = 0
    with Store(path) as store:
        while seen < 100 and any(writer.poll() is None for writer in writers):
            before, seen = seen, len(list(store.games(match=1)))
            assert before <= seen
    for writer in writers:
        assert writer.stdout.read().count("\n") == 50
        assert writer.wait() == 0
    with Store(path) as store:
        assert [game.number for game in store.games(match=1)] == list(range(100))
        assert len(store.matches()) == 1


def test_what_was_added_survives_a_kill(tmp_path):
    path, begin = tmp_path / "games.db", 0
    for after in (1, 2, 7, 20):
        writer = start_writer(path, "killed", begin, 10_000)
        told = [writer.stdout.readline() for _ in range(after)]
        writer.send_signal(signal.SIGKILL)
        told += writer.stdout.readlines()
        writer.wait()
        numbers = [int(line) for line in told if line.endswith("\n") and line != "open\n"]
        with Store(path) as store:
            found = [game.number for game in store.games(match=1)]
            assert store._run("PRAGMA integrity_check").fetchone() == ("ok",)
        assert found == list(range(len(found)))
        assert set(numbers) <= set(found)
        assert len(found) <= begin + len(numbers) + 1  # one may be stored and not told
        begin = len(found)
    assert begin > 10


# Files that are no stores, and stores that cannot be written.


def test_other_files_are_left_alone(tmp_path):
    (tmp_path / "text").write_text("hello, this is a text and no store of games")
    (tmp_path / "folder").mkdir()
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE games (id)")
    with sqlite3.connect(tmp_path / "newer.db") as newer:
        newer.execute("CREATE TABLE games (id)")
        newer.execute(f"PRAGMA application_id = {MARK}")
        newer.execute(f"PRAGMA user_version = {VERSION + 1}")
    contents = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    for name, message in {
        "text": "it is no store of games, nor any SQLite file",
        "folder": "is a folder; a store is a file in one",
        "other.db": "another program's SQLite file",
        "newer.db": f"version {VERSION + 1}; this Tengen reads up to {VERSION}: use a newer one",
        "missing/games.db": "is its folder there",
    }.items():
        with pytest.raises(StoreError, match=message):
            Store(tmp_path / name)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == contents


def test_an_empty_file_becomes_a_store(tmp_path):
    """Who is killed right after a store's file was created leaves one."""
    (tmp_path / "games.db").touch()
    with Store(tmp_path / "games.db") as store:
        assert store.add(random_record("tictactoe", 1)) == 1


def test_a_full_disk(store):
    """SQLite is told that the disk has no more pages: the same error, from the same place."""
    record = random_record("tictactoe", 1)
    store.add(record)
    pages = store._run("PRAGMA page_count").fetchone()[0]
    store._run(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="the disk is full; nothing was changed"):
        store.add_all([record] * 1000)
    store._run("PRAGMA max_page_count = 1000000")
    assert len(store.headings()) == 1
    assert store.add(record) == 2


def test_another_writer_who_never_ends(store):
    with Store(store.path) as other:
        other._run("PRAGMA busy_timeout = 10")
        with store._writing(), pytest.raises(StoreError, match="another program has been writing"):
            other.add(random_record("tictactoe", 1))


def as_nobody(work):
    """What `work` returns, a text, in a process that may not write everywhere, as root may."""
    if os.geteuid() != 0:
        return work()
    reading, writing = os.pipe()
    if os.fork() == 0:
        try:
            os.setuid(65534)
            os.write(writing, work().encode())
        except BaseException as reason:
            os.write(writing, repr(reason).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.wait()
    with open(reading) as pipe:
        return pipe.read()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
@pytest.mark.parametrize(
    ("mode", "message"), [(0o666, "is its folder there, and may we write"), (0o444, "only be read")]
)
def test_a_store_that_may_only_be_read(mode, message):
    folder = Path(tempfile.mkdtemp(prefix="tengen-read-only-"))  # pytest's own folders are closed to others
    path = folder / "games.db"

    def work():
        with Store(path) as store:
            try:
                return f"{len(list(store.games()))} game, then {store.match({'seed': 1})}"
            except StoreError as reason:
                return f"{len(list(store.games()))} game, then {reason}"

    try:
        with Store(path) as store:
            store.add(random_record("tictactoe", 1))
        path.chmod(mode)
        folder.chmod(0o555)
        told = as_nobody(work)
        assert told.startswith("1 game, then ")
        assert "it may only be read: the file, or its folder, is not ours to write" in told
    finally:
        folder.chmod(0o755)
        path.unlink()
        folder.rmdir()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("moves = 'a1 a1'", "game 1 of games.db cannot be read: a1 is occupied at move 2"),
        ("moves = 'zz'", "'zz' is not a point"),
        ("moves = x'00ff'", "a text or a number is missing"),
        ("game = 'shogi'", "no game is called 'shogi'"),
        ("game = 'evil.py'", "never makes us run code"),
        ("comments = '[]'", "cannot be read"),
        ("comments = '{\"x\": 1}'", "cannot be read"),
        ("comments = '{'", "its comments cannot be read"),
        ("seconds = '[\"a\"]'", "cannot be read"),
        ("seconds = '[1e999]'", "took inf seconds"),
        ("opening = 50", "an opening of 50 plies"),
        ("opening = 'x'", "a text or a number is missing"),
    ],
)
def test_games_that_somebody_damaged(store, change, message):
    store.add_all([random_record("tictactoe", 1)] * 2)
    store._run(f"UPDATE games SET {change} WHERE id = 1")
    with pytest.raises(RecordError, match=message):
        store.get(1)
    assert store.get(2).record.game.spec == "tictactoe"
    assert json.dumps([heading.id for heading in store.headings()]) == "[1, 2]"


def test_a_damaged_file(tmp_path):
    with Store(tmp_path / "games.db") as store:
        store.add_all([random_record("tictactoe", seed) for seed in range(200)])
    data = bytearray((tmp_path / "games.db").read_bytes())
    rng = random.Random(1)
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 200)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        (tmp_path / "games.db").write_bytes(damaged[: rng.randint(1, len(damaged))] if rng.random() < 0.3 else damaged)
        try:
            with Store(tmp_path / "games.db") as store:
                list(store.games())
                store.matches()
        except TengenError:
            pass


def test_moves_that_cannot_be_read_again_are_refused(tmp_path):
    game = tengen.load_game("tictactoe")
    game.action_text = lambda action: "a 1"
    with Store(tmp_path / "games.db") as store:
        with pytest.raises(RecordError, match="tictactoe writes action 4 as 'a 1', which cannot be read again"):
            store.add(Record(game, (4,)))
        assert not list(store.games())
