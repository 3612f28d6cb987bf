"""ONNX Runtime keeps to itself: in a process of its own nothing is looked up, nobody is connected, nothing is kept."""

import signal
from importlib.metadata import version

import offline
import pytest

from tengen.nets.runtime import SHIPPED

ASK = """
import numpy as np
from tengen import load_game
from tengen.nets.runtime import load_net
game = load_game("tictactoe")
load_net("tictactoe", game)(np.zeros((1, len(game.planes), game.cells), np.float32))
"""
LEFT_TO_ITSELF = """
import onnxruntime
onnxruntime.InferenceSession({net!r}, providers=["CPUExecutionProvider"])
"""


@pytest.mark.skipif(not offline.IS_POSSIBLE, reason=offline.WHERE)
def test_a_net_is_asked_and_nobody_is_told(tmp_path):
    asked = offline.run_apart(tmp_path, ASK)
    assert asked.returncode == 0, asked.stderr.decode()
    assert offline.files_in(tmp_path) == []
    # The watch works: who connects is killed, and ONNX Runtime left to itself keeps files, if it does not connect.
    for connect in ("create_connection(('127.0.0.1', 9))", "getaddrinfo('example.org', 443)"):
        assert offline.run_apart(tmp_path, f"import socket; socket.{connect}").returncode == -signal.SIGSYS
    left = offline.run_apart(tmp_path, LEFT_TO_ITSELF.format(net=str(SHIPPED / "tictactoe.onnx")))
    if tuple(map(int, version("onnxruntime").split(".")[:2])) >= (1, 29):  # the first that tells
        assert left.returncode == -signal.SIGSYS or offline.files_in(tmp_path) != [], left.stderr.decode()
