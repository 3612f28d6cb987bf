"""Event files: TensorBoard itself reads what was written."""

import math

import pytest

from tengen.learn.events import EventFile

accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def read_back(folder):
    """{tag: [(step, value, wall time)]} as TensorBoard sees the folder."""
    events = accumulator.EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    return {
        tag: [(event.step, event.value, event.wall_time) for event in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def test_tensorboard_reads_what_was_written(tmp_path):
    events = EventFile(tmp_path / "events")
    events.add(0, {"loss/value": 0.5, "loss/policy": -2.25}, wall_time=1000.5)
    events.add(300, {"loss/value": 0.25}, wall_time=1001.5)
    events.add(2**40, {"größe": 1e9}, wall_time=1002.5)
    assert read_back(tmp_path / "events") == {  # before the file is closed: every event is flushed
        "loss/value": [(0, 0.5, 1000.5), (300, 0.25, 1001.5)],
        "loss/policy": [(0, -2.25, 1000.5)],
        "größe": [(2**40, 1e9, 1002.5)],
    }
    events.close()


def test_what_is_no_number_stays_so(tmp_path):
    EventFile(tmp_path).add(1, {"loss": math.nan})
    assert math.isnan(read_back(tmp_path)["loss"][0][1])


def test_a_resumed_run_goes_on_in_a_new_file(tmp_path):
    first = EventFile(tmp_path)
    for step in (100, 200, 300):
        first.add(step, {"rating": step}, wall_time=float(step))
    first.close()
    second = EventFile(tmp_path, step=200)  # where the last checkpoint was
    second.add(300, {"rating": 333}, wall_time=400.0)
    second.close()
    assert len(list(tmp_path.iterdir())) == 2
    assert read_back(tmp_path)["rating"] == [(100, 100.0, 100.0), (200, 200.0, 200.0), (300, 333.0, 400.0)]


def test_files_are_never_overwritten(tmp_path):
    paths = {EventFile(tmp_path).path for _ in range(5)}
    assert len(paths) == 5
