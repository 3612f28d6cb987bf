"""Gomoku's tournament files: what we write comes back, what Piskvork and the Gomocup write is read."""

import random
from dataclasses import replace

import pytest

import tengen
from tengen.records.piskvork import read_psq, read_rec, write_psq, write_rec
from tengen.records.record import Record, RecordError
from tengen.rules.errors import TengenError


def random_record(spec, seed, plies=10**6):
    rng, position = random.Random(seed), tengen.load_game(spec).start()
    while position.outcome is None and position.ply < plies:
        position = position.play(rng.choice(position.legal_actions))
    return Record.of(position, (f"first {seed}", "zweite, 1"))


@pytest.mark.parametrize("spec", ["gomoku:size=8", "gomoku", "gomoku:size=20,rule=standard", "gomoku:rule=renju"])
def test_games_come_back(spec):
    for seed in range(5):
        record = random_record(spec, seed)
        timed = replace(record, opening=3, seconds=tuple(ply / 8 for ply in range(1, len(record.moves) - 2)))
        assert read_psq(write_psq(record)) == record
        assert read_psq(write_psq(timed)) == timed
        unfinished = replace(random_record(spec, seed, plies=4), result="W+")
        assert read_psq(write_psq(unfinished)) == replace(unfinished, result="W+")
        if record.game.shape[0] == 20:
            assert read_rec(write_rec(timed), record.game) == timed


def test_who_gave_up_is_who_lost():
    record = replace(random_record("gomoku", 1, plies=5), result="B+R", ending="resigned")
    assert read_psq(write_psq(record)).result == "B+"
    assert read_psq(write_psq(replace(record, result="0"))).result == "0"
    assert read_psq(write_psq(replace(record, result="?"))).result == "?"


def test_the_gomocup_s_files():
    text = (
        "Piskvorky 15x15, 11:11, 0\r\n8,8,0\r\n9,7,0\r\n1,15,1234\r\n15,1,20\r\nRAPFI25.zip\r\nEMBRYO25.zip\r\n-1\r\n"
    )
    record = read_psq(text + "2,Standard15_1\r\n")
    assert record.game.spec == "gomoku:rule=standard"
    assert [record.game.action_text(action) for action in record.moves] == ["h8", "i9", "a1", "o15"]
    assert (record.opening, record.seconds) == (2, (1.234, 0.02))
    assert (record.players, record.result) == (("RAPFI25.zip", "EMBRYO25.zip"), "W+")
    assert read_psq(text).game.spec == "gomoku"
    assert read_psq(text, tengen.load_game("renju")).game.spec == "renju"


def test_a_person_s_file_of_piskvork_has_no_names():
    record = read_psq("Piskvorky 10x10, 0:3, 0\n5,5\n6,6\n0\n")
    assert (record.game.spec, record.players, record.seconds) == ("gomoku:size=10", ("", ""), ())


def test_the_second_of_those_named_may_begin():
    text = "Piskvorky 15x15, 11:11, {}\n8,8,5\n9,7,5\nAnn\nBob\n-1\n1,Freestyle\n"
    assert (read_psq(text.format(0)).players, read_psq(text.format(0)).result) == (("Ann", "Bob"), "B+")
    assert (read_psq(text.format(1)).players, read_psq(text.format(1)).result) == (("Bob", "Ann"), "W+")


def test_time_outs_and_forbidden_moves():
    record = read_psq("Piskvorky 15x15, 11:11, 0\n8,8,5\n9,7,5\nAnn\nBob\n15\n")
    assert (record.result, record.ending) == ("W+T", "out of time")
    moves = "h8 a1 i8 a3 g9 a5 g10"  # Black's threes meet in g8
    position = tengen.load_game("renju").from_moves(moves + " a7")
    assert position.forbidden().get(position.game.parse_action("g8")) == "double-three"
    lines = [f"{a % 15 + 1},{a // 15 + 1},7" for a in [*position.moves, position.game.parse_action("g8")]]
    record = read_psq("\n".join(["Piskvorky 15x15, 11:11, 0", *lines, "Ann", "Bob", "-1", "2,Renju15"]))
    assert record.moves == tuple(position.moves)
    assert (record.result, record.ending) == ("W+F", "g8 is forbidden (double-three) at move 9")
    assert len(record.seconds) == 9


def test_old_files():
    record = read_rec("PELA.EXE\nhomo-2\n10,10,0\n11,9,250\n0,19,31\n-1\n")
    assert record.game.spec == "gomoku:size=20"
    assert [record.game.action_text(action) for action in record.moves] == ["k10", "l11", "a1"]
    assert (record.players, record.opening, record.seconds) == (("PELA.EXE", "homo-2"), 1, (0.25, 0.031))


def test_what_cannot_be_written():
    with pytest.raises(RecordError, match=r"Piskvork plays Gomoku; write reversi as .sgf"):
        write_psq(Record.of(tengen.load_game("reversi").start()))
    with pytest.raises(RecordError, match=r"20×20 board; write this 15×15 game as .psq"):
        write_rec(Record.of(tengen.load_game("gomoku").start()))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Piskvorky 15x15\n", r"begins with a line like .* \(line 1\)"),
        ("\n\nPiskvorky 15x19, 11:11, 0\n", r"the board is 15×19; ours are square \(line 3\)"),
        ("Piskvorky 99x99, 11:11, 0\n", "size=99 is out of range"),
        ("Piskvorky 15x15, 11:11, 0\n8,8,0\n8,8,0\n", r"^h8 is occupied at move 2 \(line 3\)$"),
        ("Piskvorky 15x15, 11:11, 0\n8,8,0\n16,8,0\n", r"16,8,0 is off the board, which has 15×15 points \(line 3\)"),
        ("Piskvorky 15x15, 11:11, 0\n8,0,0\n", r"off the board.* \(line 2\)"),
        ("Piskvorky 15x15, 11:11, 0\n8,8,-5\n", r"0 milliseconds or more \(line 2\)"),
        ("Piskvorky 15x15, 11:11, 0\n8,8,0\n9,9\x1b,0\n-1\n", r"'9,9.*' is neither a move nor .* \(line 3\)"),
        ("Piskvorky 15x15, 11:11, 0\n8,8,0\nAnn\n-1\n", r"'Ann' is neither a move nor a name nor a result \(line 3\)"),
        ("Piskvorky 15x15, 11:11, 0\n8,8,0\n-1\n1,Caro15\n", "Caro, which is no game of ours"),
        (
            "Piskvorky 15x15, 11:11, 0\n" + "".join(f"{x},1,0\n{x},3,0\n" for x in range(1, 8)),
            r"give the game if its rule was not freestyle \(line 11\)",
        ),
    ],
)
def test_errors(text, message):
    with pytest.raises(TengenError, match=message):
        read_psq(text)


def test_the_game_that_is_given_must_fit():
    with pytest.raises(RecordError, match="Gomoku on 15×15; the game that was given is gomoku:size=8"):
        read_psq("Piskvorky 15x15, 11:11, 0\n8,8,0\n", tengen.load_game("gomoku:size=8"))
