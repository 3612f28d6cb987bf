"""Nets of strangers: what is refused before it is asked, what is tried out apart, and answers that are none."""

import sys
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tengen import load_agent, load_game
from tengen.nets import runtime
from tengen.nets.export import export_onnx, halved
from tengen.nets.inspection import Refused, inspect
from tengen.nets.metadata import Architecture, NetError, NetMetadata
from tengen.nets.networks import build_model
from tengen.nets.runtime import Net, load_net

GAME = load_game("tictactoe")
PLANES, CELLS = len(GAME.planes), GAME.cells
FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def constant(name, values, kind=np.int64):
    return numpy_helper.from_array(np.asarray(values, kind), name)


def tensor(name, *shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def write_net(path, nodes=(), weights=(), logits="plain", values="even", opsets=(), change=lambda model: None):
    """A net of tic-tac-toe's shape. Its answers are named, of these or of the given nodes' outputs."""
    usual = [
        helper.make_node("Flatten", ["planes"], ["flat"], axis=1),
        helper.make_node("MatMul", ["flat", "to_cells"], ["plain"]),
        helper.make_node("MatMul", ["flat", "to_one"], ["one"]),
        helper.make_node("Squeeze", ["one", "last"], ["even"]),
    ]
    zeros = [np.zeros((PLANES * CELLS, size), np.float32) for size in (CELLS, 1)]
    own = [numpy_helper.from_array(*pair) for pair in zip(zeros, ("to_cells", "to_one"), strict=True)]
    answers = [helper.make_node("Identity", [name], [to]) for name, to in ((logits, "logits"), (values, "values"))]
    graph = helper.make_graph(
        [*usual, *nodes, *answers],
        "net",
        [tensor("planes", "batch", PLANES, *GAME.shape)],
        [tensor("logits", "batch", CELLS), tensor("values", "batch")],
        [*own, constant("last", [1]), *weights],
    )
    imports = [helper.make_opsetid("", 17), *opsets]
    model = helper.make_model(graph, ir_version=8, opset_imports=imports)
    helper.set_model_props(model, NetMetadata.of(GAME, Architecture()).texts())
    change(model)
    path.write_bytes(model.SerializeToString())
    return path


def endless(path):
    """A loop that goes on for as long as it likes."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["on"], ["still"]), helper.make_node("Identity", ["x"], ["y"])],
        "body",
        [tensor("i", kind=INT), tensor("on", kind=BOOL), tensor("x", "batch", CELLS)],
        [tensor("still", kind=BOOL), tensor("y", "batch", CELLS)],
    )
    node = helper.make_node("Loop", ["ever", "true", "plain"], ["turned"], body=body)
    return write_net(path, [node], [constant("ever", 2**62), constant("true", True, np.bool_)], logits="turned")


def hidden(path):
    """The same behind an operator that is plain by its name."""

    def change(model):
        node = next(node for node in model.graph.node if node.op_type == "Loop")
        node.op_type = "Relu"

    model = onnx.load(endless(path))
    change(model)
    path.write_bytes(model.SerializeToString())
    return path


def elsewhere(path):
    def change(model):
        weight = model.graph.initializer[0]
        weight.ClearField("raw_data")
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="location", value="weights.bin")

    return write_net(path, change=change)


def claimed(path):
    """Weights of which there is next to nothing."""

    def change(model):
        weight = model.graph.initializer[0]
        weight.ClearField("raw_data")
        weight.ClearField("dims")
        weight.dims.extend([10**6, 10**6])

    return write_net(path, change=change)


def large_as_the_board_says(path):
    """A stone on the board would make it as large as it likes."""
    nodes = [
        helper.make_node("ReduceMax", ["flat"], ["most"], axes=[0, 1], keepdims=0),
        helper.make_node("Mul", ["most", "much"], ["wide"]),
        helper.make_node("Cast", ["wide"], ["width"], to=INT),
        helper.make_node("Max", ["width", "some"], ["size"]),
        helper.make_node("ConstantOfShape", ["size"], ["zeros"]),
        helper.make_node("ReduceSum", ["zeros"], ["none"], keepdims=0),
        helper.make_node("Add", ["plain", "none"], ["sum"]),
    ]
    return write_net(path, nodes, [constant("much", [1e12], np.float32), constant("some", [1])], logits="sum")


def large(path):
    """A tensor of 10^12 numbers from a file of a kilobyte."""
    nodes = [
        helper.make_node("Expand", ["plain", "size"], ["wide"]),
        helper.make_node("ReduceSum", ["wide", "first"], ["sum"], keepdims=0),
        helper.make_node("Flatten", ["sum"], ["sums"], axis=1),
    ]
    return write_net(path, nodes, [constant("size", [10**11, 1, 1]), constant("first", [0])], logits="sums")


def foreign(path):
    node = helper.make_node("Gelu", ["plain"], ["bent"], domain="com.microsoft")
    return write_net(path, [node], logits="bent", opsets=[helper.make_opsetid("com.microsoft", 1)])


def moody(path):
    return write_net(path, [helper.make_node("RandomNormalLike", ["plain"], ["luck"])], logits="luck")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (endless, "operator 'Loop', which is not among those that we know to be harmless"),
        (hidden, r"an attribute in it has more to it than a plain net needs \(field 6\)"),
        (moody, "operator 'RandomNormalLike'"),
        (foreign, "operator 'com.microsoft.Gelu'"),
        (elsewhere, r"a tensor in it has more to it than a plain net needs \(field 13\)"),
        (claimed, "weights that are larger than what is there of them"),
        (large_as_the_board_says, "what is on the board decides how large the answer of ConstantOfShape is"),
        (large, "net.onnx cannot answer: .*llocate"),
    ],
)
def test_a_file_that_is_more_than_a_net_is_not_asked(tmp_path, make, says):
    net = make(tmp_path / "net.onnx")
    with pytest.raises(NetError, match=says):
        load_net(str(net), GAME)
    with pytest.raises(NetError, match=says):  # and nothing is tried twice
        load_net(str(net), GAME)


def test_a_first_answer_has_its_time(tmp_path, monkeypatch):
    """However the process ends that was to answer, the one that asked goes on, and says so."""
    begin = "from tengen.nets import inspection; inspection.SECONDS = 1; inspection.limit_this_process(0)\n"
    for code, patience, says in (
        (f"{begin}while True: pass", 120, "net.onnx took too much time or memory for its first answer"),
        ("import time; time.sleep(600)", 0.1, "net.onnx gave no answer within 0.1 seconds"),
        (
            f"{begin}bytearray(5 * 2**30)",
            120,
            "net.onnx took too much time or memory for its first answer .MemoryError",
        ),
    ):
        monkeypatch.setattr(runtime, "_found_wrong", {})
        monkeypatch.setattr(runtime, "PATIENCE", patience)
        monkeypatch.setattr(runtime, "TRIAL", [sys.executable, "-P", "-c", code])
        with pytest.raises(NetError, match=says):
            load_net(str(write_net(tmp_path / "net.onnx")), GAME)


def test_what_is_tried_is_tried_once_and_never_what_we_ship(tmp_path, monkeypatch):
    tried = []
    monkeypatch.setattr(runtime, "_found_wrong", {})
    monkeypatch.setattr(runtime, "what_is_wrong", lambda content: tried.append(content) or "")
    net = write_net(tmp_path / "net.onnx")
    for _ in range(3):
        load_net(str(net), GAME)
        load_net("tictactoe", GAME)
    assert tried == [net.read_bytes()]


@pytest.mark.parametrize("architecture", [Architecture(pooling=True, blocks=2), Architecture("gobang")], ids=str)
def test_our_own_nets_are_plain(tmp_path, architecture):
    content = export_onnx(build_model(GAME, architecture), NetMetadata.of(GAME, architecture))
    for net in (content, halved(content)):
        inspect(net)
        (tmp_path / "net.onnx").write_bytes(net)
        assert load_net(str(tmp_path / "net.onnx"), GAME).metadata.architecture == architecture


def test_sizes_may_be_computed_from_sizes(tmp_path):
    """As torch's exporter does, for a transformer above all."""
    nodes = [
        helper.make_node("Shape", ["planes"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["batch_"], axis=0),
        helper.make_node("Concat", ["batch_", "cells"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["plain", "wanted"], ["shaped"]),
    ]
    weights = [constant("zero", [0]), constant("cells", [CELLS])]
    net = load_net(str(write_net(tmp_path / "net.onnx", nodes, weights, logits="shaped")), GAME)
    assert net(np.zeros((3, PLANES, CELLS), np.float32))[0].shape == (3, CELLS)


def test_no_part_of_a_file_may_be_missing_or_wrong(tmp_path):
    """Wherever a byte is changed or the file ends, it is read to its end or refused in words."""
    content, rng = write_net(tmp_path / "net.onnx").read_bytes(), np.random.default_rng(1)
    for place in rng.integers(len(content), size=400):
        changed = bytearray(content)
        changed[place] = rng.integers(256)
        for file in (bytes(changed), content[:place]):
            try:
                inspect(file)
            except Refused as reason:
                assert str(reason).startswith(("is damaged, or no ONNX file: ", "is no net that can be trusted: "))


# Answers.


def saying(path, logit=0.0, value=0.0):
    """A net that says the same of every board."""
    weights = [constant("logit", logit, np.float32), constant("value", value, np.float32)]
    nodes = [helper.make_node("Add", ["plain", "logit"], ["likes"]), helper.make_node("Add", ["even", "value"], ["is"])]
    return write_net(path, nodes, weights, logits="likes", values="is")


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"logit": np.nan}, "net.onnx is damaged: it answers nan, which is not between -1e.30 and 1e.30"),
        ({"logit": -np.inf}, "net.onnx is damaged: it answers -inf"),
        ({"logit": 3e38}, "net.onnx is damaged: it answers 3"),
        ({"value": np.nan}, "net.onnx is damaged: it answers nan, which is not between -1 and 1"),
        ({"value": 1.5}, "net.onnx is damaged: it answers 1.5, which is not between -1 and 1"),
    ],
)
@pytest.mark.parametrize("agent", ["puct:simulations=5,memory=1", "gumbel:simulations=5,memory=1", "policy:"])
def test_a_net_that_answers_nonsense_does_not_play(tmp_path, said, says, agent):
    player = load_agent(f"{agent},net={saying(tmp_path / 'net.onnx', **said)}", GAME)
    with pytest.raises(NetError, match=says):
        player.choose(GAME.start())


def test_a_value_that_rounds_to_more_than_one_is_one(tmp_path):
    above = np.nextafter(np.float32(1), np.float32(2))
    net = load_net(str(saying(tmp_path / "net.onnx", value=above)), GAME)
    assert net(np.zeros((2, PLANES, CELLS), np.float32))[1].tolist() == [1, 1]


def test_answers_are_as_many_as_the_boards(tmp_path):
    node = helper.make_node("ReduceMean", ["plain"], ["mean"], axes=[0], keepdims=1)
    net = load_net(str(write_net(tmp_path / "net.onnx", [node], logits="mean")), GAME)
    assert net(np.zeros((1, PLANES, CELLS), np.float32))[0].shape == (1, CELLS)
    with pytest.raises(NetError, match=r"it answers with float32 \(1, 9\) instead of float32 \(3, 9\)"):
        net(np.zeros((3, PLANES, CELLS), np.float32))


# Files and metadata.


def test_files_that_are_too_large_or_none(tmp_path, monkeypatch):
    net = write_net(tmp_path / "net.onnx")
    monkeypatch.setattr(runtime, "LARGEST_FILE", net.stat().st_size)
    Net(net)
    monkeypatch.setattr(runtime, "LARGEST_FILE", net.stat().st_size - 1)
    with pytest.raises(NetError, match=r"net.onnx is no net: it has more than"):
        Net(net)
    with pytest.raises(NetError, match="cannot be read: it is no file"):
        Net(tmp_path)


DEEP = "[" * 50_000


@pytest.mark.parametrize(
    "metadata",
    [
        *({key: DEEP} for key in ("game", "planes", "architecture", "rating")),
        {"game": "5"},
        {"planes": '"abc"'},
        {"planes": "[[]]"},
        {"shape": "[3]"},
        {"shape": '["3", 3]'},
        {"shape": "[3, -3]"},
        {"actions": "true"},
        {"actions": "1e999"},
        {"step": "9" * 5000},
        {"run": "[]"},
        {"rating": "NaN"},
        {"architecture": "[]"},
        {"architecture": '{"blocks": "many"}'},
        {"architecture": '{"blocks": 1e9}'},
        {"architecture": '{"pooling": {}}'},
        {"architecture": '{"depth": 3}'},
    ],
    ids=lambda metadata: "-".join(f"{key}={value[:20]}" for key, value in metadata.items()),
)
def test_metadata_that_are_none(metadata):
    true = NetMetadata.of(GAME, Architecture()).texts()
    assert NetMetadata.read("net.onnx", true) == NetMetadata.of(GAME, Architecture())
    with pytest.raises(NetError, match=r"net.onnx is damaged: its metadata cannot be read \("):
        NetMetadata.read("net.onnx", {**true, **metadata})


def test_metadata_of_every_kind_come_back():
    metadata = replace(NetMetadata.of(GAME, Architecture(pooling=True)), run="r", step=2**40, rating=1200)
    assert NetMetadata.read("net.onnx", metadata.texts()) == metadata
