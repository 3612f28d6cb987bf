"""Damaged files of every kind: a RecordError, or records that the rules allow; never another error, never a crash."""

import random
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tengen
from tengen.records.files import read_records
from tengen.records.movetext import write_moves
from tengen.records.pgn import write_pgn
from tengen.records.piskvork import write_psq, write_rec
from tengen.records.record import Record
from tengen.records.sgf import write_sgf
from tengen.rules.errors import TengenError

PIECES = [
    b"\n",
    b"\r",
    b" ",
    b"\x00",
    b"\x1b[31m",
    b"\xff",
    b"\xef\xbb\xbf",
    "天".encode(),
    b"Piskvorky 15x15, 11:11, 0\n",
]
PIECES += b"( ; ) [ ] \\ B[ W[] AB[aa] TG[ SZ[ TS[ TO[9] CA[big5] , - -- # . .py :size=9 renju go pass a z h8".split()
PIECES += b'{ } (1. e4) 1. 1-0 * $9 O-O exd6 Nf3 [FEN "x"] [A "b"] %'.split()
PIECES += b"0 9 -1 99999999999 nan 1e999 15 1,Renju".split()


def valid_files():
    """Some small files of every format."""
    rng = random.Random(1)
    records = []
    for spec in ("tictactoe", "connect4", "gomoku:size=6,rule=renju", "gomoku:size=20", "reversi:size=4", "go:size=3"):
        position = tengen.load_game(spec).start()
        while position.outcome is None and position.ply < 30:
            position = position.play(rng.choice(position.legal_actions))
        record = Record.of(position, ("Ann", "Bob"), {0: "a [comment]", 2: "two\nlines"})
        records.append(replace(record, opening=1, seconds=(0.5,) * (len(record.moves) - 1), ending="resigned"))
    board = tengen.load_game("chess").from_moves("e4 d5 exd5 e6 dxe6 Nf6 exf7 Ke7")
    mates = tengen.load_game("chess").from_moves("f3 e5 g4 Qh4")
    pgn = [write_pgn(Record.of(board, ("Ann", "Bob"), {1: "a (comment)"}, seconds=(0.5, 1.0)), Record.of(mates))]
    pgn.append("1. e4! $1 {a} (1. d4 (1. c4) d5) 1... e5 ; b\n2. Nf3 1/2-1/2")
    gomoku = [record for record in records if "gomoku" in record.game.spec]
    texts = [write_sgf(*records), write_moves(*records), *map(write_sgf, records), *map(write_moves, records)]
    texts += [*map(write_psq, gomoku), write_rec(gomoku[-1]), *pgn]
    texts += ["(;GM[1]SZ[9]KM[6.5]HA[2]AB[cg][gc];W[ee](;B[cc];W[])(;B[dd]))", "f5d6c3d3c4", "h8i9h9"]
    return [text.encode() for text in texts]


FILES = valid_files()
edits = st.tuples(st.integers(0, 10_000), st.integers(0, 12), st.sampled_from(PIECES) | st.binary(max_size=4))


@st.composite
def damaged_files(draw):
    """A valid file with pieces cut out and others put in."""
    data = draw(st.sampled_from(FILES))
    for place, length, piece in draw(st.lists(edits, min_size=1, max_size=6)):
        place %= len(data) + 1
        data = data[:place] + piece + data[place + length :]
    return data


def check(data):
    """Whether it was read."""
    try:
        records = read_records(data)
    except TengenError as reason:
        assert str(reason).isprintable()
        return False
    for record in records:
        record.check()
        record.end()
    return True


fuzzing = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))


@settings(fuzzing, max_examples=1000)
@given(damaged_files())
def test_damaged_files(data):
    check(data)


@settings(fuzzing, max_examples=300)
@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace")))
def test_random_bytes(data):
    check(data)
    check(b"(;" + data)
    check(b"Piskvorky 15x15, 11:11, 0\n" + data)


def test_many_damaged_files():
    """Without hypothesis, which is slow; so some thousands more are affordable."""
    check_random_damage(4000)


@pytest.mark.long
def test_a_hundred_thousand_damaged_files():
    check_random_damage(100_000)


def check_random_damage(count):
    rng, refused = random.Random(count), 0
    for _ in range(count):
        data = rng.choice(FILES)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(data) + 1)
            piece = rng.choice(PIECES) if rng.random() < 0.8 else rng.randbytes(rng.randint(1, 3))
            data = data[:place] + piece + data[place + rng.randint(0, 3) :]
        try:
            refused += not check(data)
        except Exception as reason:
            raise AssertionError(f"{data!r} is read badly") from reason
    assert count / 2 < refused < count
