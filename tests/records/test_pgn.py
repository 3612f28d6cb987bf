"""PGN, with python-chess as the judge: what we write it reads, and what it writes we read."""

import io
import random
from dataclasses import replace

import chess
import chess.pgn
import pytest

import tengen
from tengen.records.files import read_records, write_records
from tengen.records.pgn import clock_text, read_pgn, write_pgn
from tengen.records.record import Record, RecordError

GAME = tengen.load_game("chess")
MATE = GAME.from_moves("f3 e5 g4 Qh4")


def random_record(rng, most):
    position = GAME.start()
    while position.outcome is None and position.ply < most:
        position = position.play(rng.choice(position.legal_actions))
    return Record.of(position, ("Ann", "Bob"))


def judged(text):
    """The games that python-chess reads."""
    stream, games = io.StringIO(text), []
    while (game := chess.pgn.read_game(stream)) is not None:
        assert game.errors == []
        games.append(game)
    return games


def uci_moves(record):
    return [before.uci_text(action) for before, action in zip(record.positions(), record.moves, strict=False)]


def written_by_python_chess(moves, **tags):
    game = chess.pgn.Game()
    for name, value in tags.items():
        game.headers[name] = value
    node = game
    for move in moves:
        node = node.add_variation(chess.Move.from_uci(move))
    return game


def test_two_hundred_random_games():
    """Read by python-chess they are the same, with the same result; written by it they are ours again."""
    rng = random.Random(1)
    records = [random_record(rng, rng.choice([0, 10, 40, 80, 400])) for _ in range(200)]
    assert len({record.result for record in records}) == 4
    text = write_pgn(*records)
    assert all(len(line) <= 80 for line in text.splitlines())
    games = judged(text)
    assert [[move.uci() for move in game.mainline_moves()] for game in games] == list(map(uci_moves, records))
    results = {"B+": "1-0", "W+": "0-1", "0": "1/2-1/2", "?": "*"}
    assert [game.headers["Result"] for game in games] == [results[record.result] for record in records]
    assert read_pgn(text) == records
    theirs = "\n\n".join(str(game) for game in games)
    assert read_pgn(theirs) == records


def test_a_whole_file():
    record = Record.of(MATE, ("Ann", 'Bob "the" \\'), {0: "well", 2: "oh\nno"}, date="2026-07-29")
    assert (
        write_pgn(record)
        == r"""[Event "?"]
[Site "?"]
[Date "2026.07.29"]
[Round "?"]
[White "Ann"]
[Black "Bob \"the\" \\"]
[Result "0-1"]

{well} 1. f3 e5 {oh
no} 2. g4 Qh4# 0-1
"""
    )
    assert read_pgn(write_pgn(record)) == [record]


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"result": "B+R", "ending": "Bob resigned"},
        {"result": "W+T"},
        {"result": "W+F", "ending": 'Ann played e9 } ] "so"'},
        {"result": "0"},
        {"result": "?", "date": "2026"},
        {"date": "2026-07"},
        {"date": "yesterday"},
        {"opening": 2},
        {"opening": 1, "seconds": (0.5, 83.123, 0.1 + 0.2)},
        {"opening": 1, "seconds": (0.0, 3599.9999, 1e-7, 2.5)},  # the last move was not played
        {"seconds": (86400.25,)},
        {"comments": {0: "begin", 1: "% first\n% second", 4: "end ; ( ) [x] $1"}},
        {"comments": {2: "timed"}, "seconds": (1.0, 2.0)},
        {"players": ("", "")},
    ],
)
def test_what_is_kept(facts):
    record = replace(Record.of(GAME.from_moves("e4 e5 Nf3 Nc6"), ("Ann", "Bob")), **facts)
    text = write_pgn(record)
    assert [move.uci() for move in judged(text)[0].mainline_moves()] == uci_moves(record)
    (read,) = read_pgn(text)
    wanted = dict(record.comments)
    if 1 in wanted:
        wanted[1] = "% first\n % second"
    assert read == replace(record, comments=wanted)


def test_a_game_with_parameters():
    game = tengen.load_game("chess:quiet=20")
    record = Record.of(game.from_moves("e4 e5"))
    assert '[TengenGame "chess:quiet=20"]' in write_pgn(record)
    assert read_pgn(write_pgn(record)) == [record]
    assert read_pgn("1. e4 e5 *", game) == [record]


@pytest.mark.parametrize(
    "text",
    [
        "1. e4 e5 2. Nf3 Nc6 *",
        "1.e4 e5 2.Nf3 Nc6",
        "1. e4 1... e5 2. Nf3 2... Nc6 *",
        "1. e4 e5 2 Nf3 Nc6 *",
        '[Event "x"]\n\n1. e4! e5?! 2. Nf3!! $1 $255 Nc6?? *',
        "1. e4 (1. d4 d5 {a (b} (1... Nf6; rest ) of it\n)) 1... e5 (1... c5) 2. Nf3 (2. f4 1-0) Nc6 *",
        "% a line for one program\n1. e4 e5\n% another [ { (\n2. Nf3 Nc6 *",
        "1. e2e4 e7e5 2. Ng1f3 Nb8c6 *",
        "\ufeff1. e4 e5 2. Nf3 Nc6 *",
        '[White "?"] [Black "?"] 1. e4 e5 2.\tNf3\r\nNc6 *',
        "1.e4 e5 2.Nf3 ... Nc6 *",
    ],
)
def test_what_others_write(text):
    (record,) = read_records(text.encode())
    assert uci_moves(record) == ["e2e4", "e7e5", "g1f3", "b8c6"]
    assert (record.result, record.players, record.comments) == ("?", ("", ""), {})


def test_notations():
    """Castling with noughts, promotions with and without a sign, en passant, more or less said than must be."""
    text = "1. e4 e6 2. e5 d5 3. exd6e.p. Nf6 4. dxc7 Be7 5. cxb8=N Rxb8 6. Nf3 0-0 7. Be2 b6 8. O-O Ne4 9. d4 *"
    (record,) = read_pgn(text)
    assert uci_moves(record)[4:11] == ["e5d6", "g8f6", "d6c7", "f8e7", "c7b8n", "a8b8", "g1f3"]
    with_less = text.replace("b8=N", "b8N").replace("0-0", "O-O").replace(" e.p.", "").replace("Nf3", "Ngf3+?")
    assert read_pgn(with_less) == [record]


def test_comments_and_remarks():
    (record,) = read_pgn("{a} {b} 1. e4 {c} ; d\n e5 ;e\n 2. Nf3 {} (2. f4 {not this}) *")
    assert record.comments == {0: "a\nb", 1: "c\nd", 2: "e"}


def test_several_games_and_those_that_do_not_end():
    tags = '[White "Ann"]\n[Result "1-0"]\n'
    games = read_pgn(f"{tags}1. e4 1-0 {tags}1. d4\n{tags}1-0 1. c4 * 1/2-1/2")
    assert [len(record.moves) for record in games] == [1, 1, 0, 1, 0]
    assert [record.result for record in games] == ["B+", "B+", "B+", "?", "0"]
    assert [record.players[0] for record in games] == ["Ann", "Ann", "Ann", "", ""]
    assert read_pgn("") == []


@pytest.mark.parametrize(
    ("result", "termination", "known"),
    [
        ("1-0", "normal", "B+"),
        ("0-1", "Time forfeit", "W+T"),
        ("1-0", "White won by resignation", "B+R"),
        ("0-1", "rules infraction", "W+F"),
        ("1/2-1/2", "time forfeit", "0"),
        ("*", "unterminated", "?"),
    ],
)
def test_how_games_end(result, termination, known):
    (record,) = read_pgn(f'[Termination "{termination}"] 1. e4 {result}')
    assert record.result == known


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1. e4 e4 *", r"'e4' is no legal move here.* \(line 1, column 7\)"),
        ('[White "Ann"]\n\n1. e4 e5\n2. Ke3 *', r"'Ke3' is no legal move here.* \(line 4, column 4\)"),
        (
            "1. Nf3 Nf6 2. Nc3 Nc6 3. Rb1 Rb8 4. Nd5 Nd4 5. Nf4 h6 6. Nd3 h5 7. Nc5 h4 8. Nb3 a6 9. Nd4 *",
            "no legal|may be",
        ),
        ("1. e4 1-0 1. e5 *", r"game 2: 'e5' is no legal move here"),
        ("1. e4 {never", r"line 1, column 7 on: a comment that never ends; a } is missing"),
        ("1. e4 (1. d4", "a variation that never ends"),
        ('1. e4 (1. d4 [White "x"] *', "a variation that never ends"),
        ("1. e4 ) *", r"a \) without its \("),
        ("(1. e4)", "SGF"),
        ("{x} (1. e4) 1. d4 *", "no record that we know|a variation stands before the first move"),
        ("1. (e4) d4 *", "a variation stands before the first move"),
        ('[White "Ann"', r'a tag is written as \[White "Ann"\]'),
        ('[White "Ann"]\n[White "Bob"]\n*', "the tag White stands twice"),
        ("1. e4 e5 <x> *", "'<x> \\*' has no meaning here"),
        ("1. f3 e5 2. g4 Qh4# 1-0", "the file says 1-0, but by the moves it is won"),
        ("1. f3 e5 2. g4 Qh4# 3. e4 *", "the game is over"),
        ('[FEN "8/8/8/8/8/8/8/K1k5 w - - 0 1"] 1. Ka2 *', r"begins from a diagram \(FEN\): that is not supported"),
        ('[SetUp "1"] *', "begins from a diagram"),
        ('[Variant "Atomic"] *', "the game is Atomic, which is no game of ours"),
        ('[TengenGame "./x.py"] *', "never makes us run code"),
        ('[TengenGame "go"] *', "the file is of chess; the game that was given is go"),
        ('[TengenOpening "x"] *', "TengenOpening is 'x'; it is a whole number"),
        ('[TengenOpening "3"] 1. e4 *', "an opening of 3 plies does not fit"),
    ],
)
def test_what_cannot_be_read(text, reason):
    with pytest.raises(RecordError, match=reason):
        read_records(text.encode())


def test_a_move_that_may_be_two():
    with pytest.raises(RecordError, match="'Nd2' may be any of Nbd2, Nfd2"):
        read_pgn("1. Nf3 d6 2. d3 d5 3. Nd2 *")


def test_other_games_are_not_pgn(tmp_path):
    record = Record.of(tengen.load_game("tictactoe").from_moves("a1"))
    with pytest.raises(RecordError, match=r"PGN is for chess; write tictactoe as \.sgf"):
        write_pgn(record)
    with pytest.raises(RecordError, match="the game that was given is tictactoe"):
        read_pgn("1. e4 *", record.game)
    write_records(tmp_path / "mate.pgn", [Record.of(MATE), Record.of(MATE)])
    assert len(read_records(tmp_path / "mate.pgn")) == 2


@pytest.mark.parametrize("seconds", [0.0, 1.5, 59.999, 60.0, 3661.25, 1e-7, 123456.0])
def test_clocks(seconds):
    """As python-chess understands them, to its thousandths of a second."""
    record = replace(Record.of(GAME.from_moves("e4")), seconds=(seconds,))
    assert judged(write_pgn(record))[0].next().emt() == pytest.approx(seconds, abs=1e-3)
    assert clock_text(3661.25) == "1:01:01.25"


def test_python_chess_writes_all_it_can():
    """Tags, comments, signs, variations: the main line comes through."""
    game = written_by_python_chess(["e2e4", "e7e5", "g1f3"], White="Ann", Black="Bob", Date="2026.??.??", Result="1-0")
    node = game.next()
    node.comment, node.nags = "best by test", {1, 18}
    game.add_variation(chess.Move.from_uci("d2d4")).add_variation(chess.Move.from_uci("d7d5"))
    (record,) = read_pgn(str(game))
    assert uci_moves(record) == ["e2e4", "e7e5", "g1f3"]
    assert (record.players, record.date, record.result) == (("Ann", "Bob"), "2026", "B+")
    assert record.comments == {1: "best by test"}
