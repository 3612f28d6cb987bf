"""Records as a dataset: what is read, what is left out, and what the positions are."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np
import pytest
from sgfmill import sgf as sgfmill
from sgfmill import sgf_moves

from tengen.alphago.dataset import (
    TWICE,
    RecordedGame,
    Records,
    game_key,
    is_chosen,
    positions_of,
    read_records,
)
from tengen.games import load_game
from tengen.knowledge.go_planes import encode_states
from tengen.records.record import Record
from tengen.records.sgf import write_sgf
from tengen.rules.errors import BadParameter
from tengen.rules.game import Position

GAME = load_game("go:size=9,komi=5.5")


def random_game(seed: int, plies: int = 60) -> Position:
    rng, position = random.Random(seed), GAME.start()
    while position.outcome is None and position.ply < plies:
        position = position.play(rng.choice(position.legal_actions))
    return position


def read(folder: Path, *texts: str) -> Records:
    for number, text in enumerate(texts):
        (folder / f"{number}.sgf").write_text(text)
    return read_records(folder, GAME)


def unpacked(bits: np.ndarray) -> np.ndarray:
    """Planes [positions, planes, cells] that are packed as bits [positions, planes, bytes]."""
    return np.unpackbits(bits, axis=2, count=81, bitorder="little")


def stones(positions: np.ndarray, players: list[int]) -> np.ndarray:
    """Boards [positions, rows, columns] as Black, White and empty, from planes as the players to move see them."""
    own, other = unpacked(positions)[:, 0], unpacked(positions)[:, 1]
    is_white = np.array(players)[:, np.newaxis] == 1
    black, white = np.where(is_white, other, own), np.where(is_white, own, other)
    return (black + 2 * white).reshape(-1, 9, 9)


def test_positions_and_moves_are_those_that_sgfmill_finds(tmp_path: Path) -> None:
    handicap = "(;GM[1]SZ[9]HA[3]AB[gc][cg]AB[gg];W[ee];B[ce];W[];B[ec];W[tt])"
    setup = "(;GM[1]SZ[9]AB[aa:ca]AW[ab][bb]PL[W];W[cb];B[ee])"
    games = [write_sgf(Record.of(random_game(seed), result="B+")) for seed in range(5)] + [handicap, setup]
    records = read(tmp_path, *games)
    assert len(records.games) == 7 and not records.left_out
    for text, one in zip(games, records.games, strict=True):
        judge = sgfmill.Sgf_game.from_string(text)
        board, plays = sgf_moves.get_setup_and_moves(judge)
        moves = [81 if place is None else (8 - place[0]) * 9 + place[1] for _, place in plays]
        assert one.moves == moves and one.to_play == "bw".index(plays[0][0])
        positions = positions_of(GAME, [one])
        assert positions.actions.tolist() == moves
        players = [(one.to_play + ply) % 2 for ply in range(len(moves))]
        for ours, (colour, place) in zip(stones(positions.planes, players), plays, strict=True):
            theirs = [[" bw".index(board.get(8 - y, x) or " ") for x in range(9)] for y in range(9)]
            assert ours.tolist() == theirs
            if place is not None:
                board.play(*place, colour)


def test_planes_are_those_of_the_positions() -> None:
    end = random_game(7)
    one = RecordedGame(np.zeros(81, np.int8), 0, end.moves, ("", ""), 0, -1)
    positions, position = positions_of(GAME, [one]), GAME.start()
    for ply, action in enumerate(end.moves):
        assert np.array_equal(unpacked(positions.planes[ply : ply + 1]), encode_states(GAME, position.states))
        position = position.play(action)


LEFT_OUT = {
    "(;GM[1]SZ[19];B[aa])": "another board than 9×9",
    "(;GM[2]SZ[9];B[aa])": "another game than Go",
    "(;GM[1]SZ[9];B[aa];W[aa])": "an illegal move",
    "(;GM[1]SZ[9]AB[ba][ab];W[aa])": "an illegal move",  # suicide
    "(;GM[1]SZ[9];B[aa];B[bb])": "a player moves out of turn",
    "(;GM[1]SZ[9];B[zz])": "a move that cannot be read",
    "(;GM[1]SZ[9];B[!])": "a move that cannot be read",
    "(;GM[1]SZ[9];B[aa];AW[bb])": "stones are set up during the game",
    "(;GM[1]SZ[9]AB[ba][ab]AW[aa];B[ee])": "stones without a liberty",
    "(;GM[1]SZ[9])": "no moves",
    "(;GM[1]SZ[9];B[aa": "the file is not SGF, or broken from some place on",
    "no game": "the file is not SGF, or broken from some place on",
    "(;GM[1]SZ[9]CA[klingon];B[aa])": "the file is too long, or in an unknown charset",
}


def test_what_cannot_be_learned_from_is_left_out_and_counted(tmp_path: Path) -> None:
    records = read(tmp_path, "(;GM[1]SZ[9];B[ee];W[cc])", *LEFT_OUT)
    assert len(records.games) == 1
    expected: dict[str, int] = {}
    for reason in LEFT_OUT.values():
        expected[reason] = expected.get(reason, 0) + 1
    assert dict(records.left_out) == expected
    assert "left out: an illegal move" in records.words()


def test_games_before_broken_grammar_are_kept_and_damaged_gzip_is_left_out(tmp_path: Path) -> None:
    whole = gzip.compress(b"(;GM[1]SZ[9];B[cc])" * 100)
    (tmp_path / "a.sgf.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "b.sgf").write_text("(;GM[1]SZ[9];B[ee])(;GM[1]SZ[9];B[ce])(;GM[1]SZ[9];B")
    (tmp_path / "c.sgf.gz").write_bytes(whole)
    records = read_records(tmp_path, GAME)
    assert len(records.games) == 3
    assert records.left_out == {
        "the file cannot be read": 1,
        "the file is not SGF, or broken from some place on": 1,
        TWICE: 99,
    }


def test_moves_after_two_passes_are_no_part_of_the_game(tmp_path: Path) -> None:
    records = read(tmp_path, "(;GM[1]SZ[9];B[ee];W[];B[];W[aa];B[bb])")
    assert [one.moves for one in records.games] == [[40, 81, 81]]


def test_a_game_that_is_turned_is_the_same_game(tmp_path: Path) -> None:
    moves, other = random_game(1).moves, random_game(2).moves
    turned = [[int(actions[move]) for move in moves] for actions in GAME.action_symmetries]
    texts = [write_sgf(Record.of(GAME.from_actions(one))) for one in [*turned, other]]
    records = read(tmp_path, *texts)
    assert len(records.games) == 2 and records.left_out == {TWICE: 7}
    assert len({game_key(GAME, one) for one in turned}) == 1
    board = np.zeros(81, np.int8)
    board[0] = 1
    assert game_key(GAME, moves, board) != game_key(GAME, moves)


def test_games_are_held_out_whole_and_a_growing_dataset_keeps_its_division(tmp_path: Path) -> None:
    texts = [write_sgf(Record.of(random_game(seed, 20))) for seed in range(60)]
    few, many = tmp_path / "few", tmp_path / "many"
    few.mkdir(), many.mkdir()
    small, large = read(few, *texts[:30]), read(many, *texts)
    held = {key: small.is_held_out(number, 0.3) for number, key in enumerate(small.keys)}
    assert 2 < sum(held.values()) < 20
    for number, key in enumerate(large.keys):
        assert held.get(key, large.is_held_out(number, 0.3)) == large.is_held_out(number, 0.3)


def test_only_moves_that_were_chosen_by_the_players_wanted_are_learned_from(tmp_path: Path) -> None:
    records = read(tmp_path, "(;GM[1]SZ[9]PB[uct]PW[gnugo level 3]TO[3];B[ee];W[cc];B[gg];W[cg];B[gc];W[])")
    (one,) = records.games
    assert is_chosen(one, "gnugo*") == [False, False, False, True, False, True]
    assert positions_of(GAME, [one], "gnugo*").actions.tolist() == [6 * 9 + 2, 81]
    assert len(positions_of(GAME, [one]).actions) == 3


def test_a_source_without_games_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="not there"):
        read_records(tmp_path / "nothing", GAME)
    with pytest.raises(BadParameter, match="a folder without"):
        read_records(tmp_path, GAME)
    with pytest.raises(BadParameter, match="no game to learn from"):
        read(tmp_path, "(;GM[1]SZ[19];B[aa])")
