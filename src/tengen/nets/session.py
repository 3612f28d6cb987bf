"""ONNX Runtime, without its telemetry. No other module imports it.

Its packages report to their maker how they are used, unless they are told not to before they are loaded: they look up a
host, and keep a number for the device in the user's cache.
"""

from __future__ import annotations

import os
import threading
import time
from functools import cache
from typing import Any

LONGEST_ANSWER = 120.0  # seconds; a net that takes longer is stopped, or whoever asks it would wait forever
GLANCE = 1.0  # seconds between two looks at those who answer
PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}


def onnx_runtime() -> Any:
    """The module `onnxruntime`, which reports nothing. It takes a fifth of a second, and most commands do without."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # what it reads as it is loaded
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # Windows has a telemetry of its own, and another switch for it
    return onnxruntime


def open_session(model: bytes, device: str = "cpu") -> Any:
    """A session for one model, without threads of its own; raises whatever ONNX Runtime does if it is no model."""
    onnxruntime = onnx_runtime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # errors alone
    return onnxruntime.InferenceSession(model, options, providers=[PROVIDERS[device]])


def answer(session: Any, inputs: dict[str, Any]) -> list[Any]:
    """The outputs of a session for `inputs`, by name; raises what ONNX Runtime raises, also if it takes too long."""
    watch = watchdog()
    options = watch.new_options()
    key = id(options)
    watch.running[key] = time.monotonic(), options
    try:
        found: list[Any] = session.run(None, inputs, options)
    finally:
        del watch.running[key]
    return found


class AnswerWatchdog:
    """A thread that stops answers which take too long."""

    def __init__(self) -> None:
        self.new_options = onnx_runtime().RunOptions
        self.running: dict[int, tuple[float, Any]] = {}  # when each answer began, and how to stop it
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            time.sleep(GLANCE)
            now = time.monotonic()
            for began, options in list(self.running.values()):
                if now - began > LONGEST_ANSWER:
                    options.terminate = True


@cache
def watchdog() -> AnswerWatchdog:
    return AnswerWatchdog()
