"""A run folder outlives whatever happens to its process."""

import errno
import json
import os
import shutil

import numpy as np
import pytest

from tengen.learn.run import Counters, Damaged, Run, RunError, disk_errors_explained, hash_of, write_file
from tengen.learn.settings import load_settings

SETTINGS = load_settings("tictactoe")


def saved(run, generations):
    """Saves some generations, each with a state and games of its own."""
    for generation in generations:
        run.add_metrics({"generation": generation})
        arrays = {"weights": np.full(4, generation), "seeds": np.array([2**63 + generation], np.uint64)}
        run.save(Counters(generation, games=10 * generation), arrays, {"moves": np.arange(generation)}, generation - 2)


def reopened(folder, messages):
    run = Run(folder, SETTINGS, messages.append)
    found = run.newest()
    generations = {generation: games["moves"].tolist() for generation, games in run.games()}
    run.close()
    return found, generations


def test_what_was_saved_comes_back(tmp_path):
    run, messages = Run(tmp_path, SETTINGS), []
    assert run.newest() is None
    saved(run, range(1, 8))
    run.close()
    (counters, arrays), games = reopened(tmp_path, messages)
    assert counters == Counters(7, games=70)
    assert arrays["weights"].tolist() == [7] * 4
    assert arrays["seeds"].tolist() == [2**63 + 7]
    assert games == {5: [0, 1, 2, 3, 4], 6: [0, 1, 2, 3, 4, 5], 7: [0, 1, 2, 3, 4, 5, 6]}
    assert len(list(tmp_path.glob("checkpoints/*.json"))) == 3
    assert len(list(tmp_path.glob("replay/*"))) <= 6
    assert messages == []


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "gone"])
@pytest.mark.parametrize("name", ["checkpoints/000003.json", "checkpoints/000003.safetensors"])
def test_a_damaged_checkpoint_falls_back_to_the_one_before(tmp_path, damage, name):
    run, messages = Run(tmp_path, SETTINGS), []
    saved(run, (1, 2, 3))
    run.close()
    path = tmp_path / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes({"cut": content[:-9], "flip": content, "empty": b"", "gone": b""}[damage])
    if damage == "gone":
        path.unlink()
    found, games = reopened(tmp_path, messages)
    assert found is not None
    assert found[0].generation == 2
    assert list(games) == [1, 2]
    assert [json.loads(line)["generation"] for line in (tmp_path / "metrics.jsonl").open()] == [1, 2]
    if name.endswith("safetensors") or damage != "gone":
        assert "000003" in messages[0]
        assert "checkpoint before" in messages[0]


def test_damaged_games_are_left_out(tmp_path):
    run, messages = Run(tmp_path, SETTINGS), []
    saved(run, (1, 2, 3))
    run.close()
    (tmp_path / "replay/000002.safetensors").write_bytes(b"nothing")
    found, games = reopened(tmp_path, messages)
    assert found is not None
    assert found[0].generation == 3
    assert list(games) == [1, 3]
    assert "its games are left out" in messages[0]


def test_all_checkpoints_damaged_is_an_error_and_nothing_is_deleted(tmp_path):
    run = Run(tmp_path, SETTINGS)
    saved(run, (1, 2))
    run.close()
    for path in tmp_path.glob("checkpoints/*.json"):
        path.write_text("{}")
    with pytest.raises(RunError, match="none of its 2 checkpoints is whole"):
        reopened(tmp_path, [])
    assert len(list(tmp_path.glob("replay/*"))) == 2


@pytest.mark.parametrize("generations", [1, 3])
@pytest.mark.parametrize("left", [("nets", "replay", "games"), ("replay",), ("metrics.jsonl",)])
def test_lost_checkpoints_are_refused_and_nothing_is_touched(tmp_path, generations, left):
    run = Run(tmp_path, SETTINGS)
    run.newest()
    saved(run, range(1, generations + 1))
    for kind in ("nets/{}.onnx", "games/{}.sgf"):
        write_file(tmp_path / kind.format(f"{generations:06}"), b"whole")
    run.close()
    for path in tmp_path.iterdir():
        if path.name not in ("config.toml", "lock", *left):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    run = Run(tmp_path, SETTINGS)
    with pytest.raises(RunError, match=f"files of generation {generations}, and no checkpoint.*Nothing was changed"):
        run.newest()
    run.abandon()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_what_a_kill_in_the_first_generation_leaves_is_no_lost_checkpoint(tmp_path):
    run = Run(tmp_path, SETTINGS)
    run.newest()
    run.add_metrics({"generation": 1})
    for name in ("nets/000000.onnx", "nets/000001.onnx", "games/000001.sgf", "checkpoints/000001.safetensors"):
        write_file(tmp_path / name, b"half")
    run.close()
    found, _ = reopened(tmp_path, [])
    assert found is None


def test_nets_that_are_deleted_are_told_of(tmp_path):
    run, messages = Run(tmp_path, SETTINGS), []
    saved(run, (1, 2, 3))
    for generation in (2, 3):
        run.keep(f"nets/{generation:06}.onnx", b"net")
        (tmp_path / f"checkpoints/{generation:06}.json").unlink()
    run.close()
    reopened(tmp_path, messages)
    assert any("generations 2 to 3 are deleted" in line for line in messages)


def test_lines_of_metrics_are_not_lost_in_silence(tmp_path):
    """Those of later generations are kept apart; that some are missing is told, and new ones are whole lines."""
    run, messages = Run(tmp_path, SETTINGS), []
    saved(run, (1, 2, 3))
    run.close()
    (tmp_path / "checkpoints/000003.json").unlink()
    reopened(tmp_path, messages)
    assert json.loads((tmp_path / "metrics.lost.jsonl").read_text())["generation"] == 3
    assert "after generation 2 is moved to metrics.lost.jsonl" in messages.pop()
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    run = Run(tmp_path, SETTINGS, messages.append)
    run.newest()
    assert "metrics.jsonl is missing or cut" in messages.pop()
    saved(run, (3,))
    run.close()
    assert json.loads(path.read_text().splitlines()[-1])["generation"] == 3
    assert reopened(tmp_path, messages)[0][0].generation == 3
    assert messages == []
    path.unlink()
    reopened(tmp_path, messages)
    assert "metrics.jsonl is missing or cut" in messages.pop()


@pytest.mark.parametrize("damage", [b"nEt", b"ne", None])
def test_what_a_run_keeps_is_read_as_it_was_written(tmp_path, damage):
    run = Run(tmp_path, SETTINGS)
    run.keep("nets/000001.onnx", b"net")
    saved(run, (1,))
    run.close()
    run = Run(tmp_path, SETTINGS)
    run.newest()
    assert run.read("nets/000001.onnx") == b"net"
    path = tmp_path / "nets/000001.onnx"
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage)
    with pytest.raises(Damaged, match=r"000001.onnx is (damaged|missing)"):
        run.read("nets/000001.onnx")
    run.close()


def test_a_checkpoint_of_an_older_version_knows_no_nets(tmp_path):
    run = Run(tmp_path, SETTINGS)
    run.keep("nets/000001.onnx", b"net")
    saved(run, (1,))
    run.close()
    path = tmp_path / "checkpoints/000001.json"
    facts = json.loads(path.read_bytes())
    del facts["files"], facts["hash"]
    path.write_text(json.dumps({**facts, "hash": hash_of(json.dumps(facts).encode())}))
    run = Run(tmp_path, SETTINGS)
    assert run.newest() is not None
    assert run.read("nets/000001.onnx") == b"net"
    run.close()


def test_a_run_whose_folder_is_deleted_writes_no_half_of_another(tmp_path):
    folder = tmp_path / "run"
    run = Run(folder, SETTINGS)
    saved(run, (1,))
    shutil.rmtree(folder)
    with pytest.raises(RunError, match="was moved or deleted while its run went on"):
        saved(run, (2,))
    assert not folder.exists()
    run.close()


def test_what_came_after_the_last_save_is_cleared(tmp_path):
    run = Run(tmp_path, SETTINGS)
    saved(run, (1, 2))
    run.add_metrics({"generation": 3})
    for name in ("replay/000003.safetensors", "nets/000003.onnx", "games/000003.sgf", "nets/.000004.onnx.part"):
        write_file(tmp_path / name, b"half")
    write_file(tmp_path / "nets/000002.onnx", b"whole")
    run.close()
    reopened(tmp_path, [])
    there = {str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*")}
    assert not any("000003" in name or "000004" in name for name in there)
    assert "nets/000002.onnx" in there
    assert len((tmp_path / "metrics.jsonl").read_text().splitlines()) == 2


def test_a_second_process_is_refused(tmp_path):
    run = Run(tmp_path, SETTINGS)
    with pytest.raises(RunError, match="in use by another process"):
        Run(tmp_path, SETTINGS)
    run.close()
    Run(tmp_path, SETTINGS).close()


def test_other_settings_and_other_versions_are_refused(tmp_path):
    Run(tmp_path, SETTINGS).close()
    other = load_settings("tictactoe", ["training.batch=128"])
    with pytest.raises(RunError, match=r"begun with training.batch = \d+, not 128"):
        Run(tmp_path, other)
    config = tmp_path / "config.toml"
    config.write_text(config.read_text().replace("# format 1", "# format 99"))
    with pytest.raises(RunError, match="another version"):
        Run(tmp_path, SETTINGS)


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    run = Run(tmp_path, SETTINGS)
    saved(run, (1,))

    def full(number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        words = r"000002.safetensors: No space left on device.*generation 1 is saved, and the same command goes on"
        with pytest.raises(RunError, match=words), disk_errors_explained(tmp_path):
            saved(run, (2,))
    assert not list(tmp_path.glob("*/.*.part"))
    run.close()
    found, _ = reopened(tmp_path, [])
    assert found is not None
    assert found[0].generation == 1


def test_other_peoples_files_are_left_alone(tmp_path):
    """A folder that holds anything but a run is refused; and in a run's own folder only what is ours is cleared."""
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "20240131.jpg").write_text("")
    with pytest.raises(RunError, match="holds other files and no run"):
        Run(tmp_path, SETTINGS)
    run = Run(tmp_path / "run", SETTINGS)
    saved(run, (1,))
    for name in ("notes/20240131.txt", "nets/mine.onnx", "films/film.part"):
        write_file(tmp_path / "run" / name, b"keep me")
    run.close()
    reopened(tmp_path / "run", [])
    assert (tmp_path / "photos" / "20240131.jpg").exists()
    for name in ("notes/20240131.txt", "nets/mine.onnx", "films/film.part"):
        assert (tmp_path / "run" / name).exists()


def test_groups_are_those_of_the_first_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    Run(tmp_path, SETTINGS).close()
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    run = Run(tmp_path, SETTINGS)
    assert run.settings.run.groups == 3
    run.close()


def test_what_cannot_be_read_now_is_not_damaged(tmp_path):
    """An error of the disk stops the run; nothing is cleared away."""
    run = Run(tmp_path, SETTINGS)
    saved(run, (1, 2))
    run.close()
    path = tmp_path / "checkpoints/000002.safetensors"
    path.unlink()
    path.mkdir()
    with pytest.raises(RunError, match=r"000002.safetensors is not a plain file"):
        reopened(tmp_path, [])
    assert (tmp_path / "replay/000002.safetensors").exists()


def test_a_folder_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be used"):
        Run(tmp_path / "file", SETTINGS)
