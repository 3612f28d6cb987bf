"""A run's positions as a Parquet file: they are those of its games, seen through the game's own rules."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
parquet = pytest.importorskip("pyarrow.parquet")

from silent import Silent  # noqa: E402

from tengen.games import load_game  # noqa: E402
from tengen.learn import dataset  # noqa: E402
from tengen.learn.dataset import export_positions  # noqa: E402
from tengen.learn.run import RunError, newest_games  # noqa: E402
from tengen.learn.settings import load_settings  # noqa: E402
from tengen.learn.training import Training  # noqa: E402
from tengen.rules.errors import TengenError  # noqa: E402

SMALL = [
    "run.generations=2",
    "training.window_share=1",
    "net.blocks=1",
    "net.channels=8",
    "selfplay.games=8",
    "selfplay.positions=100",
]
SMALL += ["selfplay.simulations=4", "selfplay.opening=2", "training.batch=32", "evaluation.every=0"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "small"
    training = Training(folder, load_settings("tictactoe", SMALL), load_game("tictactoe"), Silent())
    training.go_on(float("inf"))
    training.close()
    return folder


def test_each_row_is_a_position_of_a_game(run, tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "PART", 7)  # several parts a generation
    told = []
    count = export_positions(run, tmp_path / "positions.parquet", progress=told.append)
    table = parquet.read_table(tmp_path / "positions.parquet")
    rows, game = table.to_pylist(), load_game("tictactoe")
    assert count == len(rows) == told[-1] > 50
    assert table.schema.metadata[b"game"] == b"tictactoe"
    assert table.schema.metadata[b"planes"].decode().split("\n") == list(game.planes)
    played = {}  # (generation, game) to moves and result, from the run's own files
    for generation, arrays in newest_games(run):
        moves = np.split(arrays["moves"], np.cumsum(arrays["lengths"])[:-1])
        played |= {(generation, number): own for number, own in enumerate(moves)}
    assert {generation for generation, _ in played} == {1, 2}
    for row in rows:
        moves = played[row["generation"], row["game"]]
        positions = [game.start()]
        for move in moves:
            positions.append(positions[-1].play(int(move)))
        position = positions[row["ply"]]
        assert row["to_play"] == position.to_play and row["action"] == moves[row["ply"]]
        assert row["value"] == positions[-1].outcome.value_for(position.to_play)
        assert np.array_equal(row["planes"], position.encode().ravel())
        assert sum(row["policy"]) == pytest.approx(1, abs=1e-3)
        assert {action for action, share in enumerate(row["policy"]) if share} <= set(position.legal_actions)


def test_what_is_no_run_and_where_nothing_can_be_written(run, tmp_path):
    with pytest.raises(RunError, match="is no run"):
        export_positions(tmp_path, tmp_path / "positions.parquet")
    with pytest.raises(TengenError, match=r"positions.parquet cannot be written: No such file"):
        export_positions(run, tmp_path / "nowhere" / "positions.parquet")
    assert not list(tmp_path.iterdir())


def test_a_game_is_not_named_where_it_would_change_nothing(run, tmp_path):
    with pytest.raises(TengenError, match=r"plays .*, which is no file: leave --game gomoku out"):
        export_positions(run, tmp_path / "positions.parquet", "gomoku")


def test_a_run_cannot_name_a_file_to_be_run(run, tmp_path):
    (tmp_path / "mine.py").write_text("raise SystemExit('it ran')")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.toml").write_text(f'[run]\ngame = "{tmp_path}/mine.py"\n')
    with pytest.raises(TengenError, match=r"which runs only if you name it: --game .*mine\.py"):
        export_positions(folder, tmp_path / "positions.parquet")
    (folder / "config.toml").write_text("[run]\n")
    with pytest.raises(RunError, match="damaged: it does not say which game"):
        export_positions(folder, tmp_path / "positions.parquet")
