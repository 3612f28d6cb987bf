"""Records: whatever is played comes back from SGF, sgfmill reads it too, and a wrong file is told what is wrong."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from piece_games import KINGS_AND_PAWNS
from sgfmill import sgf, sgf_grammar

import tengen
from tengen.records.grammar import MOST_NODES, read_games
from tengen.records.record import LONGEST, Record, RecordError, result_text
from tengen.records.sgf import Variation, move_text, read_sgf, read_variations, write_sgf, write_variations
from tengen.rules.errors import IllegalMove
from tengen.rules.game import Outcome

BREAKTHROUGH = str(Path(__file__).parent.parent.parent / "examples" / "breakthrough.py")
GAMES = [
    "tictactoe",
    "mnk:m=5,n=4,k=4",
    "connect4",
    "gomoku:size=8",
    "gomoku:size=20,rule=standard",
    "renju",
    "reversi",
    "draughts",
    "reversi:size=6",
    "go:size=9",
    "go:size=9,komi=5.5,handicap=4",
    "tromp-taylor:size=5,komi=-0.5",
]


def random_game(spec, seed):
    """The end of a game of random moves."""
    rng, position = random.Random(seed), tengen.load_game(spec).start()
    while position.outcome is None:
        position = position.play(rng.choice(position.legal_actions))
    return position


@pytest.mark.parametrize("spec", GAMES)
def test_random_games_come_back(spec):
    records = [
        Record.of(random_game(spec, seed), (f"random {seed}", "also random"), {0: "the start", 3: "the third move"})
        for seed in range(5)
    ]
    text = write_sgf(*records)
    assert read_sgf(text) == records
    assert read_sgf(text.encode()) == records
    for record in records:
        end = record.end()
        assert record.outcome == end.outcome
        assert read_sgf(write_sgf(record))[0].end() == end


@pytest.mark.parametrize("spec", ["connect4", "tictactoe", "gomoku:size=8", "reversi", "go:size=9"])
def test_opening_times_and_ending_come_back(spec):
    record = Record.of(random_game(spec, 3).undo(), ("a", "b"))
    plies = len(record.moves)
    times = tuple(0.1 * ply + 1e-7 for ply in range(plies - 2))
    for changed in (
        replace(record, opening=2, seconds=times),
        replace(record, opening=2, seconds=(*times, 61.5), result="B+T", ending="White's time was up"),  # not played
        replace(record, opening=plies),
        replace(record, seconds=(0.5, 2)),  # nobody took the later times
        replace(record, ending="an engine [died]: \\o/"),
    ):
        assert read_sgf(write_sgf(changed)) == [changed]


def test_what_others_call_a_game_comment_is_not_an_ending():
    assert read_sgf("(;GM[4]GC[a fine game];B[hh])")[0].ending == ""


def test_breakthrough_and_connect_four_write_their_own_moves():
    connect4 = write_sgf(Record.of(tengen.load_game("connect4:columns=8,rows=7").from_moves("8 1")))
    assert "GM[0]SZ[8:7]TG[connect4:columns=8,rows=7]" in connect4
    assert connect4.endswith(";B[8];W[1])\n")
    pawns = write_sgf(Record.of(tengen.load_game(f"{BREAKTHROUGH}:size=5").from_moves("a2a3 e4e3")))
    assert pawns.endswith(";B[a2a3];W[e4e3])\n")
    assert write_sgf(Record.of(tengen.load_game("tictactoe").from_moves("b2 a1"))).endswith(";B[bb];W[ac])\n")


def test_pieces_that_stand_at_the_start_are_set_up_as_their_owners():
    game = tengen.load_game(str(KINGS_AND_PAWNS))
    text = write_sgf(Record.of(game.from_moves("b4 e3 dxe3")))
    assert "AB[ae][be][ce][de][ee][fe][df]" in text.replace("\n", "")
    assert "AW[da][ab][bb][cb][db][eb][fb]" in text.replace("\n", "")
    assert read_sgf(text, game)[0].end() == game.from_moves("b4 e3 dxe3")


def test_a_user_s_game_comes_back_only_to_who_has_it():
    game = tengen.load_game(f"{BREAKTHROUGH}:size=5")
    record = Record.of(random_game(game.spec, 1))
    text = write_sgf(record)
    assert read_sgf(text, game) == [record]
    with pytest.raises(RecordError, match="give that game"):
        read_sgf(text)
    with pytest.raises(RecordError, match=r"size=5; the one that was given is .*breakthrough.py \(line 1, column 2\)$"):
        read_sgf(text, tengen.load_game(BREAKTHROUGH))


def test_a_record_never_runs_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("evil.py", "gomoku:size=8.py"):
        (tmp_path / name).write_text("raise SystemExit('this ran')")
        with pytest.raises(RecordError, match="never makes us run code"):
            read_sgf(f"(;TG[{name}])")
    with pytest.raises(RecordError, match=r"SZ\[8.py\] is not the size"):
        read_sgf("(;GM[4]SZ[8.py])")


@pytest.mark.parametrize("spec", ["gomoku:size=8", "renju", "reversi", "go:size=9"])
def test_sgfmill_sees_the_same_moves(spec):
    """The judge counts rows from below: its (row, column) is our cell, turned over."""
    record = Record.of(random_game(spec, 7), ("Ann", "Bob"))
    game = sgf.Sgf_game.from_string(write_sgf(record))
    size = record.game.shape[0]
    assert game.get_size() == size
    assert (game.get_player_name("b"), game.get_player_name("w")) == ("Ann", "Bob")
    assert game.get_root().get("AP")[0] == "tengen"
    for before, action, node in zip(record.positions(), record.moves, game.get_main_sequence()[1:], strict=False):
        colour, point = node.get_move()
        assert colour == "bw"[before.to_play]
        assert point == (None if action == size * size else (size - 1 - action // size, action % size))


def test_sgfmill_sees_the_facts_of_go():
    position = tengen.load_game("go:size=9,komi=5.5,handicap=2").from_moves("e5 pass pass")
    game = sgf.Sgf_game.from_string(write_sgf(Record.of(position)))
    assert (game.get_komi(), game.get_handicap(), game.get_winner()) == (5.5, 2, "w")
    assert game.get_root().get("RE") == "W+6.5"
    assert game.get_root().get_setup_stones() == ({(2, 2), (6, 6)}, set(), set())


def test_what_a_file_looks_like():
    position = tengen.load_game("connect4").from_moves("4455")
    text = write_sgf(Record.of(position, ("a]b\\c", "two\nlines"), {2: "why?"}))
    (tree,) = sgf_grammar.parse_sgf_collection(text.encode())
    root, *moves = tree.sequence
    assert {name: root[name] for name in ("GM", "SZ", "TG", "RE")} == {
        "GM": [b"0"],
        "SZ": [b"7:6"],
        "TG": [b"connect4"],
        "RE": [b"?"],
    }
    assert moves == [{"B": [b"4"]}, {"W": [b"4"], "C": [b"why?"]}, {"B": [b"5"]}, {"W": [b"5"]}]
    assert read_sgf(text)[0].players == ("a]b\\c", "two lines")


def test_text_is_escaped():
    comment = "a [bracket], a \\ backslash;\n(;B[aa]) and 天元"
    record = Record.of(tengen.load_game("tictactoe").start(), ("]", "\\"), {0: comment})
    assert read_sgf(write_sgf(record)) == [record]


def test_results():
    go, gomoku = tengen.load_game("go"), tengen.load_game("gomoku")
    assert [result_text(go, Outcome(1, -3.5)), result_text(go, Outcome(0, 1.0))] == ["W+3.5", "B+1"]
    assert [result_text(gomoku, Outcome(0, 1.0)), result_text(gomoku, Outcome(None, 0.0))] == ["B+", "0"]
    said = {"B+": Outcome(0, 1.0), "W+3.5": Outcome(1, -3.5), "W+R": Outcome(1, -1.0), "B+Time": Outcome(0, 1.0)}
    said |= {"0": Outcome(None, 0.0), "Draw": Outcome(None, 0.0), "?": None, "Void": None, "B+.": Outcome(0, 1.0)}
    assert {text: Record(go, (), result=text).outcome for text in said} == said


def test_records_are_checked_when_written():
    game = tengen.load_game("gomoku:size=8")
    with pytest.raises(IllegalMove, match="a8 is occupied at move 2"):
        write_sgf(Record(game, (0, 0)))
    with pytest.raises(RecordError, match="comment on ply 3; the game has plies 0 to 1"):
        write_sgf(Record(game, (0,), comments={3: "too late"}))
    with pytest.raises(RecordError, match="an opening of 2 plies does not fit a game of 1"):
        write_sgf(Record(game, (0,), opening=2))
    with pytest.raises(RecordError, match="there are 3 times; 1 plies follow the opening"):
        write_sgf(Record(game, (0,), seconds=(1, 2, 3)))
    with pytest.raises(RecordError, match="move 1 took inf seconds"):
        write_sgf(Record(game, (0,), seconds=(float("inf"),)))
    with pytest.raises(RecordError, match="properties of ply 2; the game has plies 0 to 1"):
        write_sgf(Record(game, (0,), properties={2: {"TR": ("aa",)}}))


# What others wrote.


def test_go_of_others():
    text = """(;GM[1]FF[4]SZ[9]KM[6.5]RU[Japanese]PB[Ann]PW[Bob]RE[B+R]DT[2024-01-01];B[ee];W[gc]
      (;B[cg]C[main];W[])(;B[gg]C[a variation]))"""
    (record,) = read_sgf(text)
    assert record.game.spec == "go:size=9,komi=6.5"
    assert [record.game.action_text(action) for action in record.moves] == ["e5", "g7", "c3", "pass"]
    assert (record.players, record.result, record.date) == (("Ann", "Bob"), "B+R", "2024-01-01")
    assert record.comments == {3: "main"}


def test_go_of_others_with_handicap():
    (record,) = read_sgf("(;SZ[9]HA[2]AB[cg][gc]KM[0.5];W[ee])")
    assert record.game.spec == "go:size=9,komi=0.5,handicap=2"
    with pytest.raises(RecordError, match="sets up stones that are not the start of go"):
        read_sgf("(;SZ[9]HA[2]AB[aa][bb];W[ee])")


@pytest.mark.parametrize(
    ("told", "meant"),
    [("375", 7.5), ("3.75", 7.5), ("325", 6.5), ("650", 6.5), ("750", 7.5), ("7.5", 7.5), ("0", 0), ("-5.5", -5.5)],
)
def test_komi_as_servers_write_it(told, meant):
    """Fox writes stones, which are two points each, in hundredths; books write stones."""
    (record,) = read_sgf(f"(;GM[1]SZ[19]KM[{told}];B[dd])")
    assert record.game.parameters.komi == meant


PROBLEM = "(;GM[1]SZ[5]AB[bb][cb:db]AW[bc];AE[db]AB[ee];C[what now?]W[cc]N[best]TR[bb]CR[cc];B[aa])"


def test_a_problem_begins_from_its_stones():
    with pytest.raises(RecordError, match="sets up stones that are not the start of go"):
        read_sgf(PROBLEM)
    (record,) = read_sgf(PROBLEM, with_setup=True)
    assert record.start().diagram() == "...../.XX../.O.../...../....X"
    assert record.start().to_play == 1  # who moves first
    assert [record.game.action_text(action) for action in record.moves] == ["c3", "a5"]
    assert record.properties == {1: {"N": ("best",), "TR": ("bb",), "CR": ("cc",)}}
    assert read_sgf(write_sgf(record), with_setup=True) == [record]
    (alone,) = read_sgf("(;SZ[5]AB[aa]PL[W])", with_setup=True)
    assert (alone.moves, alone.start().to_play) == ((), 1)
    (other,) = read_sgf("(;GM[4]SZ[8]AB[aa][bb]AW[hh];W[cc])", with_setup=True)
    assert other.start().to_play == 1
    with pytest.raises(RecordError, match=r"is no point of the board to set a stone up on"):
        read_sgf("(;SZ[5]AB[aa:bb:cc])", with_setup=True)
    with pytest.raises(RecordError, match="has no liberty"):
        read_sgf("(;SZ[5]AB[aa]AW[ab][ba])", with_setup=True)


def test_a_free_handicap_begins_from_its_stones():
    (record,) = read_sgf("(;SZ[9]HA[2]AB[aa][ii]KM[0.5];W[ee])", with_setup=True)
    assert record.start().to_play == 1
    assert record.game.parameters.handicap == 2


def test_two_moves_of_one_colour_have_a_pass_between():
    (record,) = read_sgf("(;SZ[9];B[aa];B[bb];W[cc])")
    assert [record.game.action_text(action) for action in record.moves] == ["a9", "pass", "b8", "c7"]
    with pytest.raises(RecordError, match="Black moves after its own pass, at move 2"):
        read_sgf("(;SZ[9];B[];B[bb])")


def test_what_a_record_has_no_place_for_is_kept():
    text = """(;GM[1]SZ[9]KM[7]RU[Japanese]EV[Cup]RO[3]BR[9p]WR[2d]TM[3600]OT[5x30 byo-yomi]GN[final]DT[2024-05-01]
      ;B[ee]BL[3590.5]LB[aa:1][bb:A]C[hello];W[gc]WL[12]OW[3]TR[cc][dd])"""
    (record,) = read_sgf(text)
    assert record.properties[0]["EV"] == ("Cup",)
    assert record.properties[1]["LB"] == ("aa:1", "bb:A")
    again = write_sgf(record)
    for kept in ("RU[Japanese]", "BR[9p]", "TM[3600]", "OT[5x30 byo-yomi]", "BL[3590.5]", "OW[3]", "TR[cc][dd]"):
        assert kept in again
    assert again.count("RU[") == 1
    assert read_sgf(again) == [record]
    (own,) = read_sgf(write_sgf(Record(tengen.load_game("go:size=9"), (0, 1))))
    assert own.properties == {}


def test_variations_stay_in_their_order():
    text = "(;GM[1]SZ[9];B[aa](;W[bb];B[cc](;W[dd])(;W[ee]TR[ee]))(;W[ff])(;W[gg](;B[hh])(;B[ii])))"
    (record,), (lines, left_out) = read_sgf(text), read_variations(text)
    again = write_variations(record, lines)
    assert left_out == []
    assert read_variations(again) == (lines, [])
    order = [again.index(f"[{point * 2}]") for point in "abcdefghi"]
    assert order == sorted(order)
    assert "W[ee]TR[ee]" in again


def test_gomoku_of_others():
    (record,) = read_sgf("(;GM[4]SZ[15]RU[Renju];B[hh];W[h9];B[gg])")
    assert record.game == tengen.load_game("renju")
    assert [record.game.action_text(action) for action in record.moves] == ["h8", "h9", "g9"]


def test_othello_of_others_leaves_passes_out():
    games = (random_game("reversi", seed) for seed in range(100))
    record = next(Record.of(end) for end in games if 64 in end.moves)
    whole = write_sgf(record).replace("TG[reversi]", "")
    without = whole.replace("B[]", "").replace("W[]", "")
    assert without != whole
    assert read_sgf(without) == read_sgf(whole) == [record]


def test_charsets():
    for charset in ("utf-8", "gb18030", "shift_jis", "euc-jp"):
        text = f"(;GM[4]CA[{charset}]PB[呉清源]PW[表];B[hh])"  # 表 ends in a backslash in Shift JIS
        assert read_sgf(text.encode(charset))[0].players == ("呉清源", "表")
    assert read_sgf(b"(;GM[4]PB[\xff\xfe];B[hh])")[0].players[0] == "\ufffd\ufffd"
    with pytest.raises(RecordError, match="the charset 'rot13' is not known"):
        read_sgf(b"(;CA[rot13])")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"the file is not SGF: it has no \(; that begins a game"),
        ("(;GM[1", r"from line 1, column 5 on: a value that never ends; a \] is missing"),
        ("(;GM[4]\n;B[hh]\n", r"from line 3, column 1 on: the file ends in the middle of a game; a \) is missing"),
        ("(;GM[4]\n;B[hh])\n;W[hg])", r"from line 3, column 1 on: a game begins with \(;"),
        ("(;GM[4]\n\n  ;B[hh]W;)", r"from line 3, column 10 on: W has no value; write W\[…\]"),
        ("(;GM[4] ?;B[hh])", r"from line 1, column 9 on: '\?' has no meaning here"),
        ("(;GM[4](;B[hh]);W[hg])", "column 16 on: a node stands after a variation"),
        ("(;[4])", "column 3 on: a value without the name of its property"),
        ("(;GM[4]();B[hh])", "column 9 on: a game without a node"),
        ("(;GM[4](()))", "column 9 on: a variation stands before the first node"),
        ("(;GM[4](B[hh]))", "column 9 on: a property outside a node"),
        ("(;GM[3];W[e2e4])", r"no game of ours is GM\[3\]; Go is GM\[1\], Reversi is GM\[2\], Gomoku is GM\[4\]"),
        ("(;TG[gomokku])", "no game is called 'gomokku'; did you mean 'gomoku'"),
        ("(;GM[4]SZ[99])", "size=99 is out of range"),
        ("(;GM[4]SZ[15:19])", r"SZ\[15:19\]: the board must be square"),
        ("(;KM[six])", "komi=six is not a number"),
        ("(;GM[4];B[hh];W[hh])", r"^h8 is occupied at move 2 \(line 1, column 14\)$"),
        ("(;GM[4];B[hh])(;GM[4];B[hh];W[hh])", r"^game 2: h8 is occupied at move 2 \(line 1, column 28\)$"),
        ("(;GM[4];B[hh];B[hi])", "it is White's turn at move 2"),
        ("(;GM[4]SZ[8];B[hi])", r"\[hi\] is off the board, which has 8 columns and 8 rows, at move 1"),
        ("(;GM[4];B[])", "'' is not a point"),
        ("(;GM[4];B[hh]W[hi])", "one node has 2 moves, at move 1"),
        ("(;GM[2];B[aa])", "a1 flips nothing at move 1"),
        ("(;GM[1]AB[aa];W[bb])", "sets up stones that are not the start"),
        ("(;GM[1];B[bb];AW[aa])", "stones are set up after move 1: that is not supported"),
        ("(;TG[connect4];B[9])", "'9' is not a column; they are 1 to 7, at move 1"),
        ("(;TG[connect4];B[4]TS[1];W[4];B[4]TS[1])", r"TS belongs .* without a gap \(line 1, column 30\)"),
        ("(;TG[connect4]TO[1];B[4]TS[1])", "TS belongs into the nodes of moves after the opening"),
        ("(;TG[connect4]TO[2];B[4])", "an opening of 2 plies does not fit a game of 1"),
        ("(;TG[connect4]TO[-1];B[4])", r"TO\[-1\] is not a whole number"),
        ("(;TG[connect4];B[4]TS[nan])", "move 1 took nan seconds"),
        ("(;TG[connect4];B[4]TS[-1])", "move 1 took -1.0 seconds"),
        ("(;GM[\x1b[31m])", r"no game of ours is GM\[\ufffd\[31m\]"),
    ],
)
def test_errors(text, message):
    with pytest.raises(RecordError, match=message):
        read_sgf(text)


def test_the_grammar_is_sgfmill_s():
    """Both judge damaged files alike, but for what stands after a game, which sgfmill passes over."""
    rng = random.Random(5)
    whole = write_sgf(Record.of(random_game("connect4", 1), ("a", "b"), {0: "c", 4: "\\ and ]"}))
    agreed = {True: 0, False: 0}
    for _ in range(3000):
        damaged = list(whole)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(damaged))
            damaged[at : at + rng.randint(0, 3)] = rng.choice(
                ["]", "[", "(", ")", ";", "\\", "B[", "(;", "b", " \n", "3"]
            )
        text = "".join(damaged)
        theirs, left_over = main_line_of_sgfmill(text)
        try:
            ours = [[dict(node) for node in root.line()] for root in read_games(text)]
        except RecordError:
            assert theirs is None or left_over, text
            agreed[False] += theirs is None
        else:
            assert ours[0] == theirs, text
            agreed[True] += 1
    assert min(agreed.values()) > 500


def main_line_of_sgfmill(text):
    """The nodes of the first game, None if there is none; and what stands after it."""
    try:
        tree = sgf_grammar.parse_sgf_game(text.encode())
    except ValueError:
        return None, ""
    nodes = sgf_grammar.main_sequence_iter(tree)
    line = [{name: [value.decode() for value in values] for name, values in node.items()} for node in nodes]
    return line, text.encode()[sgf_grammar.tokenise(text.encode())[1] :].strip()


def test_bombs():
    with pytest.raises(RecordError, match="up to 134,217,728 are read"):
        read_sgf(b" " * (LONGEST + 1))
    with pytest.raises(RecordError, match="more than 100,000 nodes"):
        read_sgf("(" + ";" * (MOST_NODES + 2) + ")")
    depth = 50_000
    assert read_sgf("(;" * depth + ")" * depth)[0].moves == ()
    with pytest.raises(RecordError, match="ends in the middle"):
        read_sgf("(;" * depth)


def test_odd_charsets_are_read_and_comments_name_none():
    for charset in ("utf8", "ASCII", "", "ISO-8859-15", "Windows-1252"):
        assert read_sgf(f"(;GM[4]CA[{charset}];B[hh])".encode())[0].moves == (112,)
    assert read_sgf(rb"(;GM[4]C[we met at XCA[1\] in town];B[hh])")[0].comments == {0: "we met at XCA[1] in town"}


FIVE = "B[aa];W[ba];B[ab];W[bb];B[ac];W[bc];B[ad];W[bd];B[ae]"


def test_the_rules_say_who_won_where_the_file_does_not():
    assert read_sgf(f"(;GM[4];{FIVE})")[0].result == "B+"
    assert read_sgf(f"(;GM[4]RE[B+];{FIVE})")[0].result == "B+"
    assert read_sgf("(;GM[4]RE[W+R];B[aa])")[0].result == "W+R"
    with pytest.raises(RecordError, match=r"RE\[W\+\] says who won, but by the moves it is B\+"):
        read_sgf(f"(;GM[4]RE[W+];{FIVE})")
    assert read_sgf("(;GM[1]SZ[9]KM[0]RE[W+3];B[aa];W[];B[])")[0].result == "W+3"  # what was dead they agreed on


def test_an_ending_of_several_lines_comes_back():
    record = Record(tengen.load_game("tictactoe"), (4,), ending="x failed\n    command: y", result="B+F")
    assert read_sgf(write_sgf(record))[0].ending == record.ending


def test_another_user_s_game_is_not_taken_for_the_given_one():
    game = tengen.load_game(str(Path(__file__).parents[2] / "examples/breakthrough.py"))
    text = write_sgf(Record(game, ()))
    assert read_sgf(text, game)[0].game == game
    with pytest.raises(RecordError, match="the one that was given is"):
        read_sgf(text.replace("breakthrough.py", "hexchess.py"), game)


def test_a_large_margin_is_still_a_result():
    class Scored:
        parameters = tengen.load_game("reversi").parameters

    text = result_text(Scored, Outcome(0, 1234567.25))
    assert text == "B+1234567.25"
    assert Record(tengen.load_game("reversi"), (), result=text).outcome == Outcome(0, 1234567.25)


# Variations.


def random_lines(spec, seed, count):
    """A random game with random variations of it and of each other."""
    rng, end = random.Random(seed), random_game(spec, seed)
    positions = [[end]]
    while positions[0][0].previous is not None:
        positions[0].insert(0, positions[0][0].previous)
    variations = []
    for number in range(1, count + 1):
        of = rng.randrange(number)
        ply = rng.choice([ply for ply, position in enumerate(positions[of]) if position.outcome is None])
        line = positions[of][: ply + 1]
        for _ in range(rng.randint(1, 6)):
            if line[-1].outcome is None:
                line.append(line[-1].play(rng.choice(line[-1].legal_actions)))
        moves = tuple(position.action for position in line[ply + 1 :])
        comments = {at: f"line {number} ]" for at in range(ply, len(line)) if rng.random() < 0.3}
        variations.append(Variation(of, ply, moves, comments))
        positions.append(line)
    return Record.of(end, comments={0: "the start", 1: "a move"}), variations


def whole_lines(record, variations):
    """All moves of each line, and the comments of its own, in any order."""
    lines = [list(record.moves)]
    for variation in variations:
        lines.append(lines[variation.of][: variation.ply] + list(variation.moves))
    return sorted(
        zip(lines, [record.comments, *(variation.comments for variation in variations)], strict=True), key=str
    )


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "gomoku:size=8", "reversi:size=6", "go:size=5"])
def test_variations_come_back(spec):
    for seed in range(5):
        record, variations = random_lines(spec, seed, 12)
        text = write_variations(record, variations)
        (main,) = read_sgf(text)
        assert (main.moves, main.comments, main.result) == (record.moves, record.comments, record.result)
        found, problems = read_variations(text)
        assert problems == []
        assert whole_lines(main, found) == whole_lines(record, variations)


def test_sgfmill_sees_the_same_variations():
    record, variations = random_lines("gomoku:size=8", 3, 12)
    lines = []

    def walk(node, line):
        raw = [(colour, node.get_raw(colour).decode()) for colour in "BW" if node.has_property(colour)]
        for child in node:
            walk(child, line + raw)
        if not len(node):
            lines.append(line + raw)

    walk(sgf.Sgf_game.from_string(write_variations(record, variations)).get_root(), [])
    wanted = [
        [("BW"[ply % 2], move_text(record.game, action)) for ply, action in enumerate(moves)]
        for moves, _ in whole_lines(record, variations)
    ]
    assert {str(line) for line in lines} <= {str(line) for line in wanted}
    assert {
        str(line) for line in wanted if not any(line == other[: len(line)] and line != other for other in wanted)
    } <= {str(line) for line in lines}


def test_what_variations_look_like():
    record = Record.of(tengen.load_game("tictactoe").from_moves("b2 a1 c3"))
    text = write_variations(
        record, [Variation(0, 1, (2, 3), {2: "better"}), Variation(1, 2, (8,)), Variation(0, 3, (1,))]
    )
    tree = text.partition(";B[bb]")[2].replace("\n", "")
    assert tree == "(;W[ac];B[ca](;)(;W[ba]))(;W[ca]C[better](;B[ab])(;B[cc])))"
    assert read_variations(text)[0] == [
        Variation(0, 1, (2, 3), {2: "better"}),
        Variation(0, 3, (1,)),
        Variation(1, 2, (8,)),
    ]


@pytest.mark.parametrize(
    ("variation", "message"),
    [
        (Variation(1, 0, (4,)), "variation 1 leaves line 1 after move 0"),
        (Variation(0, 4, (4,)), "after move 4"),
        (Variation(-1, 0, (4,)), "no such place"),
        (Variation(0, 1, (2,), {3: "far"}), "has plies 1 to 2, and a comment on 3"),
    ],
)
def test_variations_that_lead_nowhere_are_not_written(variation, message):
    with pytest.raises(RecordError, match=message):
        write_variations(Record.of(tengen.load_game("tictactoe").from_moves("b2 a1 c3")), [variation])
    with pytest.raises(IllegalMove):
        write_variations(Record.of(tengen.load_game("tictactoe").from_moves("b2")), [Variation(0, 1, (4,))])


def test_a_wrong_variation_is_cut_short_and_said():
    """The game is read nevertheless."""
    text = "(;GM[4]SZ[9];B[aa](;W[bb])(;W[cc];B[cc];W[dd](;B[ee])(;B[ff]))\n(;W[dd];AB[ee])(;C[only words]))"
    assert len(read_sgf(text)[0].moves) == 2
    variations, problems = read_variations(text)
    assert [(line.of, line.ply, len(line.moves)) for line in variations] == [(0, 1, 1), (0, 1, 1), (0, 1, 0)]
    assert variations[2].comments == {1: "only words"}
    assert "occupied" in problems[0] and "line 1, column 34" in problems[0]
    assert "stones are set up" in problems[1] and "line 2" in problems[1]
    text = "(;GM[4]SZ[9];B[aa]" + "(;W[bb])" * 20 + ")"
    assert len(read_variations(text, most=5)[0]) == 5
    assert read_variations(text, most=5)[1] == ["the game has more variations than the 5 that are read"]
    assert len(read_variations(text, most_moves=5)[0]) == 6
    deep = 20_000
    assert len(read_variations("(;GM[4]" + "(;(;)" * deep + ")" * deep + ")")[0]) == deep - 1
