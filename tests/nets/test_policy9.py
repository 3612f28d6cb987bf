"""Policy and value nets of the AlphaGo way: torch, ONNX and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch")

from tengen.alphago.networks import export_net, import_net, new_network  # noqa: E402
from tengen.games import load_game  # noqa: E402
from tengen.nets.export import halved  # noqa: E402
from tengen.nets.metadata import NetError  # noqa: E402
from tengen.nets.policy9 import FORMAT, PlaneNetMetadata, PolicyNet, ValueNet  # noqa: E402
from tengen.nets.runtime import Net  # noqa: E402

GAME = load_game("go:size=9,komi=5.5")


def network(kind: str) -> tuple[torch.nn.Module, PlaneNetMetadata]:
    """A small network whose norms have seen something."""
    torch.manual_seed(1)
    metadata = PlaneNetMetadata(kind, GAME.spec, channels=8, layers=3, run="test", step=7)
    model = new_network(GAME, metadata)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    with torch.no_grad():
        model(torch.rand(32, 27, 9, 9))
    return model.eval(), metadata


def random_planes(count: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 2, (count, 27, 81)).astype(np.uint8)


@pytest.mark.parametrize(("kind", "net"), [("policy", PolicyNet), ("value", ValueNet)])
def test_a_file_answers_as_the_network(tmp_path: Path, kind: str, net: type) -> None:
    model, metadata = network(kind)
    path = tmp_path / "net.onnx"
    path.write_bytes(export_net(model, GAME, metadata))
    loaded, planes = net(path), random_planes(5)
    with torch.no_grad():
        expected = model(torch.from_numpy(planes).float().view(5, 27, 9, 9)).numpy()
    answer = loaded(planes)
    assert answer.shape == ((5, 82) if kind == "policy" else (5,)) and answer.dtype == np.float32
    assert np.abs(answer - expected).max() < 1e-4
    assert loaded.metadata == metadata


@pytest.mark.parametrize("kind", ["policy", "value"])
def test_an_imported_net_is_the_exported_one(tmp_path: Path, kind: str) -> None:
    model, metadata = network(kind)
    path = tmp_path / "net.onnx"
    path.write_bytes(export_net(model, GAME, metadata))
    again, same = import_net(path, GAME)
    assert same == metadata
    planes = torch.from_numpy(random_planes(4)).float().view(4, 27, 9, 9)
    with torch.no_grad():
        assert (again(planes) - model(planes)).abs().max() < 1e-4
    assert export_net(again, GAME, metadata) == path.read_bytes()
    path.write_bytes(halved(path.read_bytes()))
    rounded, _ = import_net(path, GAME)
    for weight, other in zip(again.parameters(), rounded.parameters(), strict=True):
        np.testing.assert_allclose(weight.detach().numpy(), other.detach().numpy(), rtol=1e-3, atol=1e-6)


def test_every_point_has_its_own_bias_and_a_pass_one_logit() -> None:
    model, _ = network("policy")
    assert model.points[1].bias.shape == (1, 1, 9, 9)
    with torch.no_grad():
        before = model(torch.zeros(1, 27, 9, 9))
        model.points[1].bias[0, 0, 2, 3] += 1
        after = model(torch.zeros(1, 27, 9, 9))
    assert torch.nonzero((after - before).abs() > 0.5).tolist() == [[0, 2 * 9 + 3]]


@pytest.mark.parametrize(("kind", "net"), [("policy", PolicyNet), ("value", ValueNet)])
def test_answers_that_are_none(kind: str, net: type) -> None:
    model, metadata = network(kind)
    with torch.no_grad():
        next(model.parameters()).fill_(float("nan"))
    with pytest.raises(NetError, match="this net is damaged: it answers nan"):
        net(export_net(model, GAME, metadata))(random_planes(2))


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ({"game": "TRAP"}, r"is a net for .*trap\.py, a file, which is not run on a net's word"),
        ({"kind": "[]"}, r"its metadata cannot be read \(kind is \[\]\)"),
        ({"run": "[" * 50_000}, r"its metadata cannot be read \(run: "),
        ({"channels": '"8"'}, r"its metadata cannot be read \(channels is"),
    ],
)
def test_metadata_that_are_none(tmp_path: Path, metadata: dict[str, str], says: str) -> None:
    (tmp_path / "trap.py").write_text("raise SystemExit('it was run')")
    metadata = {key: f'"{tmp_path / "trap.py"}"' if value == "TRAP" else value for key, value in metadata.items()}
    model, true = network("policy")
    net = onnx.load_from_string(export_net(model, GAME, true))
    onnx.helper.set_model_props(net, {**true.texts(), **metadata})
    with pytest.raises(NetError, match=says):
        PolicyNet(net.SerializeToString())


def test_a_file_that_is_more_than_a_net_is_not_asked(tmp_path: Path) -> None:
    model, metadata = network("policy")
    net = onnx.load_from_string(export_net(model, GAME, metadata))
    net.graph.node.add(op_type="RandomNormal", output=["luck"], name="luck")
    onnx.save(net, tmp_path / "net.onnx")
    with pytest.raises(NetError, match=r"net.onnx is no net that can be trusted: it has the operator 'RandomNormal'"):
        PolicyNet(tmp_path / "net.onnx")


def test_wrong_files_are_told_apart(tmp_path: Path) -> None:
    model, metadata = network("policy")
    content = export_net(model, GAME, metadata)
    with pytest.raises(NetError, match="is a policy net; a value net is needed"):
        ValueNet(content)
    with pytest.raises(NetError, match=f"has format {FORMAT}"):
        Net(content)
    with pytest.raises(NetError, match="no policy or value net"):
        PolicyNet(Path("src/tengen/models/gomoku9.onnx"))
    with pytest.raises(NetError, match="damaged, or no ONNX file"):
        PolicyNet(content[:100])
    with pytest.raises(NetError, match="no net is called"):
        PolicyNet("nothing")
    (tmp_path / "broken.onnx").write_bytes(content[:100])
    with pytest.raises(NetError, match=r"broken\.onnx is damaged"):
        import_net(tmp_path / "broken.onnx", GAME)
    net = PolicyNet(content)
    with pytest.raises(NetError, match="is asked about"):
        net(np.zeros((1, 7, 81), np.uint8))
    with pytest.raises(NetError, match="is a net for"):
        net.check_for(load_game("go:size=7"))
    net.check_for(load_game("go:size=9"))
