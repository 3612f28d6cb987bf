"""Files of games: any of them is recognised by its content, and written by its ending, whole or not at all."""

import os

import pytest

import tengen
from tengen.records.files import read_records, write_records
from tengen.records.record import Record, RecordError
from tengen.rules.errors import TengenError

RECORD = Record.of(tengen.load_game("gomoku:size=20").from_moves("k10 l11 k11"), ("Ann", "Bob"))


@pytest.mark.parametrize("ending", [".sgf", ".psq", ".rec", ".txt", ".SGF"])
def test_what_is_written_is_recognised(tmp_path, ending):
    path = tmp_path / f"game{ending}"
    write_records(path, [RECORD])
    kept = RECORD if ending != ".txt" else Record(RECORD.game, RECORD.moves)  # lines of moves have no names
    assert read_records(path) == read_records(str(path)) == read_records(path.read_bytes()) == [kept]
    assert read_records(b"\xef\xbb\xbf" + path.read_bytes()) == [kept]
    assert read_records(path.read_bytes().replace(b"\n", b"\r\n")) == [kept]
    (tmp_path / "renamed").write_bytes(path.read_bytes())
    assert read_records(tmp_path / "renamed") == [kept]
    assert set(os.listdir(tmp_path)) == {path.name, "renamed"}


def test_sgf_after_other_text_and_in_its_own_charset():
    assert len(read_records("a letter says:\n(;GM[4]CA[shift_jis]PB[表];B[hh])".encode("shift_jis"))) == 1


@pytest.mark.parametrize("data", [b"", b"hello", b"\x00\xff" * 100, b"[]", b"# nothing but a remark\n"])
def test_what_is_no_record(data):
    with pytest.raises(RecordError, match="no record that we know: SGF begins with"):
        read_records(data)


def test_errors_name_the_file(tmp_path):
    (tmp_path / "broken.psq").write_text("Piskvorky 99x99, 11:11, 0\n")
    with pytest.raises(RecordError, match=r"broken.psq: size=99 is out of range"):
        read_records(tmp_path / "broken.psq")
    with pytest.raises(RecordError, match=r"missing.sgf: the file cannot be read: No such file"):
        read_records(tmp_path / "missing.sgf")
    with pytest.raises(RecordError, match="Is a directory"):
        read_records(tmp_path)


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(
        RecordError, match=r"x.pdf: the ending says how a game is written; choose from .sgf, .pgn, .psq"
    ):
        write_records(tmp_path / "x.pdf", [RECORD])
    with pytest.raises(RecordError, match=r"a .psq file holds one game, not 2; write them as .sgf"):
        write_records(tmp_path / "x.psq", [RECORD, RECORD])
    with pytest.raises(RecordError, match=r"cannot be written: No such file"):
        write_records(tmp_path / "no folder" / "x.sgf", [RECORD])
    (tmp_path / "old.sgf").write_text("old")
    with pytest.raises(TengenError, match="occupied"):
        write_records(tmp_path / "old.sgf", [RECORD, Record(RECORD.game, (0, 0))])
    assert (tmp_path / "old.sgf").read_text() == "old"
    assert os.listdir(tmp_path) == ["old.sgf"]
