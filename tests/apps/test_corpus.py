"""A corpus: who plays whom is decided by the number of a game alone; what was played is not played again."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tengen.alphago.corpus import RIVALS, TEACHER, Bar, Corpus, KeptGames, make_corpus, store_path, write_corpus
from tengen.apps.cli import app
from tengen.games import load_game
from tengen.records.files import write_records
from tengen.records.record import Record
from tengen.records.sgf import read_sgf
from tengen.records.store import Store
from tengen.rules.errors import BadParameter

GAME = load_game("go:size=9,komi=5.5")
SMALL = load_game("go:size=5,komi=5.5")


@pytest.fixture
def without_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The teacher is played by an agent of our own, so nothing is installed for these tests."""
    monkeypatch.setattr(Corpus, "_teacher", lambda self, rng: ("random", f"gnugo level {rng.randint(1, 10)}"))


def make(out: Path, count: int, corpus: Corpus | None = None) -> KeptGames:
    return make_corpus(corpus or Corpus(SMALL, rivals=("random",)), count, out, 0, Bar(count))


def test_a_number_decides_on_a_game() -> None:
    corpus = Corpus(GAME)
    pairings = list(corpus.pairings(300))
    assert pairings[123] == corpus.pairing(123) == next(corpus.pairings(124, done=range(123)))
    assert pairings[0] != Corpus(GAME, seed=2).pairing(0)
    assert {len(pairing.opening) for pairing in pairings} == set(range(7))
    names = [name for pairing in pairings for name in pairing.names]
    assert {f"gnugo level {level}" for level in range(1, 11)} | set(RIVALS) == set(names)
    against_ours = sum(any(name in RIVALS for name in pairing.names) for pairing in pairings)
    assert 40 < against_ours < 110  # a quarter
    assert {pairing.names[0] in RIVALS for pairing in pairings if set(pairing.names) & set(RIVALS)} == {True, False}


def test_openings_are_legal_and_keep_away_from_the_edge() -> None:
    for number in range(100):
        opening = Corpus(GAME).pairing(number).opening
        GAME.from_actions(opening)
        assert all(2 <= action // 9 <= 6 and 2 <= action % 9 <= 6 for action in opening)


def test_the_level_goes_where_the_command_line_wants_it() -> None:
    assert Corpus(GAME).teacher(7) == f"gtp:{TEACHER} --level 7"
    assert Corpus(GAME, engine="go -l{level} --gtp").teacher(3) == "gtp:go -l3 --gtp"
    here, there = Corpus(GAME, engine="/opt/gnugo --mode gtp"), Corpus(GAME, engine="gnugo --mode gtp")
    assert here.settings() == there.settings() != Corpus(GAME).settings()


@pytest.mark.usefixtures("without_engine")
def test_a_corpus_goes_on_where_it_was_and_can_be_made_longer(tmp_path: Path) -> None:
    out = tmp_path / "corpus.sgf.gz"
    make(out, 3)
    with Store(store_path(out)) as store:
        before = [stored.record for stored in store.games()]
    kept = make(out, 5)
    with Store(store_path(out)) as store:
        after = [stored.record for stored in store.games()]
        assert [stored.number for stored in store.games()] == [0, 1, 2, 3, 4]
    assert after[:3] == before
    records = read_sgf(gzip.decompress(out.read_bytes()))
    assert len(records) == kept.games > 0 and kept.games + kept.left_out.total() == 5
    for record in records:
        assert record.moves[-2:] == (25, 25) and record.result == Record.of(record.end()).result
        assert not record.seconds and not record.date and "gnugo level" in " ".join(record.players)


@pytest.mark.usefixtures("without_engine")
def test_other_settings_are_another_corpus(tmp_path: Path) -> None:
    make(tmp_path / "corpus.sgf", 1)
    with pytest.raises(BadParameter, match="holds another corpus"):
        make(tmp_path / "corpus.sgf", 1, Corpus(SMALL, rivals=("random",), seed=2))


@pytest.mark.usefixtures("without_engine")
def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match=r"corpus\.txt: a file of records ends in \.sgf"):
        make(tmp_path / "corpus.txt", 1)
    assert not list(tmp_path.iterdir())


def random_record(seed: int, **facts: str) -> Record:
    rng, position = random.Random(seed), SMALL.start()
    while position.ply < 8:
        position = position.play(rng.choice(position.legal_actions[:-1]))
    return Record.of(position.play(25).play(25), ("gnugo level 1", "random"), **facts)


def test_games_are_written_once_and_only_if_they_are_whole(tmp_path: Path) -> None:
    one, other = random_record(1), random_record(2)
    turned = Record.of(SMALL.from_actions([int(SMALL.action_symmetries[3, move]) for move in one.moves]))
    cut = Record.of(SMALL.from_actions(random_record(3).moves[:5]), result="B+F", ending="gnugo failed: it died")
    begun = Record.of(SMALL.from_actions(random_record(4).moves[:5]))
    kept = write_corpus(tmp_path / "folder.sgf", [one, other, turned, cut, begun])
    assert kept.games == 2
    assert dict(kept.left_out) == {
        "the same game, perhaps turned, is there already": 1,
        "a player failed, or gave up": 1,
        "it did not end with two passes": 1,
    }
    assert [record.moves for record in read_sgf((tmp_path / "folder.sgf").read_bytes())] == [one.moves, other.moves]
    assert "2 games; 1 left out" in kept.words()
    (tmp_path / "folder").mkdir()
    write_corpus(tmp_path / "folder", [one, other])
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["0000.sgf"]


def test_gnugo_plays_and_the_result_is_told_by_our_rules(gnugo: str, tmp_path: Path) -> None:
    engine = f"{gnugo} --mode gtp --chinese-rules --positional-superko --capture-all-dead --never-resign --level 1"
    given = ["--game", "go:size=7,komi=5.5", "--games", "3", "--workers", "0", "--share", "0", "--seed", "5"]
    out = tmp_path / "corpus.sgf"
    command = ["records", "corpus", "--out", str(out), *given, "--engine", engine + " --seed {level}"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    records = read_sgf(out.read_bytes())
    assert records
    for record in records:
        assert record.moves[-2:] == (49, 49) and record.result == Record.of(record.end()).result
        assert all(name.startswith("gnugo level") for name in record.players)
    command = ["records", "check", str(out), "--game", "go:size=7", "--players", "gnugo*"]
    facts = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert facts["games"] > 0 < facts["moves_to_learn"] and facts["files"] == 1
    shown = CliRunner().invoke(app, command)
    assert f"{len(records)} games" in shown.output and "moves to learn from" in shown.output


def test_an_engine_that_is_not_there_is_told_before_any_game(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["records", "corpus", "--out", str(tmp_path / "c.sgf"), "--engine", "nobody --x"])
    assert result.exit_code != 0 and "no program 'nobody'" in str(result.exception)
    result = CliRunner().invoke(app, ["records", "corpus", "--out", str(tmp_path / "c.sgf"), "--game", "gomoku"])
    assert "the teacher plays Go" in str(result.exception)


def test_what_records_teach_is_counted_for_programs_too(tmp_path: Path) -> None:
    record = Record.of(SMALL.from_moves("c3 b2 d4"), ("gnugo level 1", "random"), result="B+R")
    write_records(tmp_path / "some.sgf", [record, record])
    command = ["records", "check", str(tmp_path / "some.sgf"), "--game", "go:size=5,komi=5.5", "--players", "gnugo*"]
    facts = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert (facts["files"], facts["games"], facts["moves_to_learn"]) == (1, 1, 2)
    assert sum(facts["left_out"].values()) == 1
