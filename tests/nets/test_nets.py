"""Nets: the same answers from torch and from ONNX Runtime, metadata that come back, wrong files explained."""

import itertools
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from torch.nn import functional

from tengen import load_agent, load_game
from tengen.nets import graph
from tengen.nets.export import export_onnx, halved
from tengen.nets.layers import folded
from tengen.nets.metadata import Architecture, NetError, NetMetadata
from tengen.nets.networks import build_model
from tengen.nets.runtime import Net, load_net
from tengen.rules.errors import BadParameter

torch.set_num_threads(1)
GAMES = ["tictactoe", "connect4", "gomoku:size=8", "reversi"]
ARCHITECTURES = [Architecture(), Architecture(pooling=True, blocks=2), Architecture("gobang")]
LOCAL = Architecture(heads="local", blocks=2, pooling=True, policy_channels=6)
SMALL = Architecture(blocks=1, channels=4)


def lively_model(game, architecture):
    """A model as if it had been trained: no weight is special, and its norms have seen boards."""
    torch.manual_seed(1)
    model = build_model(game, architecture)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
        for _ in range(3):
            model(torch.rand(64, len(game.planes), *game.shape))
    return model


def random_planes(game, count):
    return np.random.default_rng(1).random((count, len(game.planes), game.cells), np.float32)


def write_net(path, spec, **metadata):
    """A small net in a file; metadata that are given are written in place of the true ones."""
    game = load_game(spec)
    true = NetMetadata.of(game, SMALL)
    path.parent.mkdir(parents=True, exist_ok=True)
    model = onnx.load_from_string(export_onnx(build_model(game, SMALL), true))
    onnx.helper.set_model_props(model, {**true.texts(), **metadata})
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize(
    ("spec", "architecture"),
    [*itertools.product(GAMES, ARCHITECTURES), ("gomoku:size=8", LOCAL), ("reversi", LOCAL)],
    ids=str,
)
def test_torch_and_onnx_agree(spec, architecture):
    game = load_game(spec)
    model = lively_model(game, architecture)
    exported = export_onnx(model, NetMetadata.of(game, architecture))
    onnx.checker.check_model(onnx.load_from_string(exported), full_check=True)
    assert model.training  # it is left as it was
    by_onnx, by_half, planes = Net(exported), Net(halved(exported)), random_planes(game, 9)
    board = torch.from_numpy(planes).reshape(9, -1, *game.shape)
    with torch.inference_mode():
        plain, without_norms = model.eval()(board), folded(model)(board)
    for one, other, third, half in zip(by_onnx(planes), plain, without_norms, by_half(planes), strict=True):
        assert one.dtype == half.dtype == np.float32
        np.testing.assert_allclose(one, other.numpy(), atol=1e-4)
        np.testing.assert_allclose(one, third.numpy(), atol=1e-4)
        np.testing.assert_allclose(one, half, atol=0.03)
    assert len(halved(exported)) < 0.8 * len(exported) or len(exported) < 100_000
    logits, values = by_onnx(planes[:1])
    assert logits.shape == (1, game.actions)
    assert values.shape == (1,)


@pytest.mark.parametrize("architecture", [*ARCHITECTURES, LOCAL], ids=str)
def test_a_fresh_net_has_no_opinion(architecture):
    game = load_game("gomoku:size=8")
    torch.manual_seed(1)
    with torch.inference_mode():
        board = torch.from_numpy(random_planes(game, 32)).reshape(32, -1, *game.shape)
        logits, values = folded(build_model(game, architecture))(board)
    assert np.ptp(logits.numpy()) < 1
    assert abs(values).max() < 0.2


def test_pooling_sees_the_whole_board():
    """One block of 3×3 convolutions reaches three cells from the middle; with pooling it sees the far corner."""
    game = load_game("gomoku:size=15")
    corner = torch.zeros(2, len(game.planes), *game.shape)
    corner[1, :, 0, 0] = 1
    for pooling in (False, True):
        tower = lively_model(game, Architecture(blocks=1, pooling=pooling)).eval().tower
        with torch.inference_mode():
            empty, changed = tower(corner)[:, :, 14, 14]
        assert torch.equal(empty, changed) != pooling


def test_the_same_weights_make_the_same_file_and_the_same_answers():
    game = load_game("connect4")
    planes = random_planes(game, 5)
    one, other = (export_onnx(lively_model(game, SMALL), NetMetadata.of(game, SMALL)) for _ in range(2))
    assert one == other
    net = Net(one)
    expected = net(planes)
    with ThreadPoolExecutor(4) as threads:
        for answers in threads.map(net, [planes] * 40):
            assert np.array_equal(answers[0], expected[0])
            assert np.array_equal(answers[1], expected[1])


def test_local_heads_know_no_cell_by_its_place():
    """The same stones elsewhere, out of reach of the edge, have the same logits; and any board takes the weights."""
    large, small = load_game("gomoku:size=19"), load_game("gomoku:size=9")
    model = lively_model(large, replace(LOCAL, blocks=1, pooling=False)).eval()
    board = torch.zeros(2, len(large.planes), *large.shape)
    board[0, 0, 6:8, 6:8] = board[1, 0, 9:11, 10:12] = 1
    with torch.inference_mode():
        one, other = model(board)[0].reshape(2, *large.shape)
    assert torch.allclose(one[4:10, 4:10], other[7:13, 8:14], atol=1e-6)
    assert one[4:10, 4:10].std() > 0.001
    build_model(small, replace(LOCAL, blocks=1, pooling=False)).load_state_dict(model.state_dict())


def test_local_heads_are_for_games_that_play_on_cells():
    with pytest.raises(BadParameter, match="connect4 has 7 actions"):
        build_model(load_game("connect4"), LOCAL)


@pytest.mark.parametrize("architecture", [*ARCHITECTURES, LOCAL], ids=str)
@pytest.mark.parametrize("spec", ["reversi", "gomoku:size=7", "chess"])  # two columns at a time, one by one; planes
def test_fewer_kernels_answer_the_same(spec, architecture, monkeypatch):
    """What a GPU computes, with cuDNN's fused functions written out for a CPU."""

    def fused(x, weight, bias, stride, padding, dilation, groups):
        return functional.relu(functional.conv2d(x, weight, bias, stride, padding, dilation, groups))

    def fused_sum(x, weight, other, scale, bias, stride, padding, dilation, groups):
        return functional.relu(functional.conv2d(x, weight, bias, stride, padding, dilation, groups) + scale * other)

    def plain(x, weight, padding, stride, dilation, groups, *_):
        return functional.conv2d(x, weight, None, stride, padding, dilation, groups)

    monkeypatch.setattr(torch, "cudnn_convolution_relu", fused)
    monkeypatch.setattr(torch, "cudnn_convolution_add_relu", fused_sum)
    monkeypatch.setattr(torch, "cudnn_convolution", plain)
    game = load_game(spec)
    model = lively_model(game, architecture).eval()
    board = torch.from_numpy(random_planes(game, 9)).reshape(9, -1, *game.shape)
    playing = graph.PlayingNet(model, game.shape[1])
    wide = torch.zeros(9, playing.planes, *game.shape)
    wide[:, : len(game.planes)] = board
    with torch.inference_mode():
        for one, other in zip(playing(wide), model(board), strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), atol=1e-4)


def test_metadata_come_back():
    game = load_game("gomoku:size=8,rule=renju")
    architecture = Architecture(blocks=1, channels=8, pooling=True)
    metadata = NetMetadata.of(game, architecture, run="renju-1", step=1200, rating=1534.5)
    net = Net(export_onnx(build_model(game, architecture), metadata))
    assert net.metadata == metadata
    assert (metadata.game, metadata.shape, metadata.actions) == ("gomoku:size=8,rule=renju", (8, 8), 64)


def test_nets_by_file_run_and_name(tmp_path, monkeypatch):
    game = load_game("tictactoe")
    monkeypatch.setattr("tengen.nets.runtime.SHIPPED", tmp_path / "models")
    write_net(tmp_path / "models" / "small.onnx", "tictactoe")
    for step in ("000100", "000900", "000300"):
        write_net(tmp_path / "run" / "nets" / f"{step}.onnx", "tictactoe")
    (tmp_path / "run" / "nets" / "001000.onnx.part").write_bytes(b"half")
    assert load_net("small", game).name == "small.onnx"
    assert load_net(str(tmp_path / "run"), game).name == "000900.onnx"
    assert load_net(str(tmp_path / "run" / "nets" / "000100.onnx"), game).name == "000100.onnx"


@pytest.mark.parametrize(
    ("trained", "asked"),
    [
        ("gomoku:size=8", "gomoku:size=9"),
        ("gomoku:size=8", "gomoku:size=8,rule=renju"),
        ("gomoku:size=8", "reversi"),
        ("go:size=5,komi=5.5", "go:size=5,komi=0.5"),
    ],
)
def test_a_net_for_another_game(tmp_path, trained, asked):
    net = write_net(tmp_path / "other.onnx", trained)
    trained, asked = load_game(trained), load_game(asked)
    assert load_net(str(net), trained).metadata.game == trained.spec
    with pytest.raises(NetError) as caught:
        load_net(str(net), asked)
    assert str(caught.value) == f"other.onnx is a net for {trained.spec}; this is {asked.spec}"


def test_a_game_of_another_name_is_the_same_game(tmp_path):
    net = write_net(tmp_path / "net.onnx", "tictactoe")
    assert load_net(str(net), load_game("mnk:m=3,n=3,k=3")).metadata.game == "tictactoe"


def test_a_users_game_may_move(tmp_path):
    """It is known by its class and its parameters; the file that a net names is never run."""
    file = Path(__file__).parent.parent.parent / "examples" / "breakthrough.py"
    net = write_net(tmp_path / "net.onnx", f"{file}:size=5")
    moved = shutil.copy(file, tmp_path / "moved.py")
    assert load_net(str(net), load_game(f"{moved}:size=5")).metadata.rules == "Breakthrough(size=5)"
    with pytest.raises(NetError, match=r"is a net for .*breakthrough.py:size=5; this is .*moved.py:size=6"):
        load_net(str(net), load_game(f"{moved}:size=6"))
    changed = file.read_text().replace("return self.size**4", "return self.size**4 + 1")
    (tmp_path / "changed.py").write_text(changed)
    with pytest.raises(NetError, match=r"is for 625 actions on \(5, 5\); .*changed.py:size=5 has 626 on \(5, 5\)"):
        load_net(str(net), load_game(f"{tmp_path / 'changed.py'}:size=5"))
    (tmp_path / "trap.py").write_text("raise SystemExit('it was run')")
    trap = write_net(tmp_path / "trap.onnx", "tictactoe", game=f'"{tmp_path / "trap.py"}"')
    with pytest.raises(NetError, match=r"trap.onnx is a net for .*trap.py; this is tictactoe"):
        load_net(str(trap), load_game("tictactoe"))


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"planes": '["one"]'}, "net.onnx is damaged: it takes [('planes', "),
        ({"format": "2"}, "net.onnx has format 2; this version of Tengen reads format 1"),
        ({"game": '"hex"'}, "net.onnx is a net for hex; this is tictactoe"),
        ({"actions": "7"}, "net.onnx is damaged: it takes [('planes', "),
        ({"architecture": '{"heads": "loyal"}'}, "its metadata cannot be read (no heads are called 'loyal'"),
        ({"shape": "3×3"}, "net.onnx is damaged: its metadata cannot be read"),
    ],
)
def test_metadata_that_do_not_fit(tmp_path, metadata, message):
    net = write_net(tmp_path / "net.onnx", "tictactoe", **metadata)
    with pytest.raises(NetError) as caught:
        load_net(str(net), load_game("tictactoe"))
    assert message in str(caught.value)


def test_other_planes(tmp_path):
    game = load_game("tictactoe")
    names = ", ".join(f'"plane {i}"' for i in range(len(game.planes)))
    net = write_net(tmp_path / "net.onnx", "tictactoe", planes=f"[{names}]")
    with pytest.raises(NetError, match=r"net.onnx was shown the planes \(plane 0, .*\); tictactoe has \(own"):
        load_net(str(net), game)


def test_files_that_are_no_nets(tmp_path, monkeypatch):
    game = load_game("tictactoe")
    monkeypatch.setattr("tengen.nets.runtime.SHIPPED", tmp_path / "models")
    with pytest.raises(NetError, match=r"no net is called 'gomoku8', nor a file or a run folder$"):
        load_net("gomoku8", game)
    whole = write_net(tmp_path / "models" / "gomoku8.onnx", "gomoku:size=8")
    with pytest.raises(NetError, match=r"no net is called 'gomoku'.*; did you mean 'gomoku8'\?"):
        load_net("gomoku", game)
    for size in (0, 1000, whole.stat().st_size - 1000):
        (tmp_path / "damaged.onnx").write_bytes(whole.read_bytes()[:size])
        with pytest.raises(NetError, match=r"damaged.onnx is damaged, or no ONNX file"):
            load_net(str(tmp_path / "damaged.onnx"), game)
    foreign = onnx.load(whole)
    foreign.ClearField("metadata_props")
    onnx.save(foreign, tmp_path / "foreign.onnx")
    with pytest.raises(NetError, match=r"foreign.onnx is not a net of Tengen's: nothing in it says which game"):
        load_net(str(tmp_path / "foreign.onnx"), game)
    (tmp_path / "run").mkdir()
    with pytest.raises(NetError, match=r"run is a folder without nets: a run keeps them as .*run/nets/\*.onnx"):
        load_net(str(tmp_path / "run"), game)
    with pytest.raises(NetError, match="device=tpu is unknown"):
        load_net("gomoku8", load_game("gomoku:size=8"), device="tpu")


def test_batches_of_another_shape(tmp_path):
    net = Net(write_net(tmp_path / "net.onnx", "tictactoe"))
    with pytest.raises(NetError, match=r"net.onnx is asked about \(2, 1, 9\); it takes \[states, \d, 9\]"):
        net(np.zeros((2, 1, 9), np.float32))


@pytest.mark.parametrize("agent", ["puct:simulations=20,memory=4", "gumbel:simulations=8,memory=4", "policy:"])
@pytest.mark.parametrize("spec", GAMES)
def test_nets_play(tmp_path, spec, agent):
    net, game = write_net(tmp_path / "net.onnx", spec), load_game(spec)
    games = []
    for _ in range(2):
        player, position = load_agent(f"{agent},net={net}", game), game.start()
        while position.outcome is None:
            position = position.play(player.choose(position).action)
        games.append(position.moves)
    assert games[0] == games[1]


def test_wrong_architectures():
    game = load_game("tictactoe")
    with pytest.raises(BadParameter, match=r"no network is called 'resent'; did you mean 'resnet'\?"):
        build_model(game, Architecture("resent"))
    with pytest.raises(BadParameter, match=r"net\.pooling is nothing that net\.kind=gobang knows"):
        build_model(game, Architecture("gobang", pooling=True))
    with pytest.raises(BadParameter, match="resnet has no option 'width'"):
        build_model(game, Architecture(options="width=3"))
    with pytest.raises(BadParameter, match="blocks=0"):
        Architecture(blocks=0)


def test_cuda_agrees():
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device here: what a GPU computes was tested on the CPU alone")
    game = load_game("gomoku:size=8")
    model, planes = lively_model(game, Architecture(pooling=True)), random_planes(game, 64).round()
    net = graph.GraphNet(game, model.cuda(), 64, symmetry=False)
    net.planes.copy_(torch.from_numpy(planes))
    graph.recorded(net.answer, torch.cuda.Stream()).replay()
    torch.cuda.synchronize()
    plain = model.cpu().eval()(torch.from_numpy(planes).reshape(64, -1, *game.shape))
    for one, other in zip((net.logits, net.values), plain, strict=True):
        np.testing.assert_allclose(one.cpu().numpy(), other.detach().numpy(), atol=0.1)  # bfloat16 has eight bits


def test_a_go_net_serves_the_usual_komi():
    """A net that learned at a komi of 7 plays at those beside it; a komi far away is another game."""
    metadata = NetMetadata.of(load_game("go:size=9,komi=7"), SMALL)
    assert all(metadata.is_for(load_game(f"go:size=9,komi={komi}")) for komi in (5.5, 6.5, 7, 7.5))
    assert not any(metadata.is_for(load_game(f"go:size=9,{other}")) for other in ("komi=0.5", "komi=7,suicide=1"))
    assert not metadata.is_for(load_game("go:size=13,komi=7"))
    assert not NetMetadata.of(load_game("gomoku:size=9"), SMALL).is_for(load_game("gomoku:size=8"))
