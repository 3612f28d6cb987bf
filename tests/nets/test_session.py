"""ONNX Runtime keeps to itself: in a process of its own nothing is looked up, nobody is connected, nothing is kept."""

import signal
from importlib.metadata import version

import numpy as np
import offline
import pytest
from onnx import TensorProto, helper

from tengen.nets import session
from tengen.nets.metadata import NetError
from tengen.nets.runtime import SHIPPED, outputs_of

ASK = """
import numpy as np
from tengen import load_game
from tengen.nets.runtime import load_net
game = load_game("tictactoe")
load_net("tictactoe", game)(np.zeros((1, len(game.planes), game.cells), np.float32))
"""
ENDLESS = helper.make_model(
    helper.make_graph(
        [
            helper.make_node(
                "Loop",
                ["many", "", "start"],
                ["values"],
                body=helper.make_graph(
                    [helper.make_node("Identity", [name], [f"{name}'"]) for name in ("on", "sum")],
                    "body",
                    [
                        helper.make_tensor_value_info("step", TensorProto.INT64, []),
                        helper.make_tensor_value_info("on", TensorProto.BOOL, []),
                        helper.make_tensor_value_info("sum", TensorProto.FLOAT, [1]),
                    ],
                    [
                        helper.make_tensor_value_info("on'", TensorProto.BOOL, []),
                        helper.make_tensor_value_info("sum'", TensorProto.FLOAT, [1]),
                    ],
                ),
            )
        ],
        "endless",
        [helper.make_tensor_value_info("planes", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("values", TensorProto.FLOAT, [1])],
        [
            helper.make_tensor("many", TensorProto.INT64, [], [2**62]),
            helper.make_tensor("start", TensorProto.FLOAT, [1], [0.0]),
        ],
    ),
    opset_imports=[helper.make_opsetid("", 17)],
    ir_version=8,
)
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


def test_an_answer_without_an_end_is_stopped(monkeypatch):
    """Inspection refuses loops; what it may have overlooked must not hold up every search."""
    monkeypatch.setattr(session, "LONGEST_ANSWER", 0.1)
    with pytest.raises(NetError, match=r"this net cannot answer: .*terminate"):
        outputs_of(session.open_session(ENDLESS.SerializeToString()), "this net", np.zeros(1, np.float32))
    assert session.watchdog().running == {}
