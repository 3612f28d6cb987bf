"""Networks by name, from a file, from a package: they learn, are exported and play; wrong ones are explained."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tengen import load_agent, load_game
from tengen.learn.settings import load_settings
from tengen.learn.training import Training
from tengen.nets import networks
from tengen.nets.export import export_onnx
from tengen.nets.graph import PlainNet
from tengen.nets.layers import folded
from tengen.nets.metadata import Architecture, NetMetadata
from tengen.nets.networks import build_model
from tengen.nets.runtime import Net, try_out
from tengen.rules.errors import BadParameter, TengenError

SEPARABLE = Path(__file__).parent.parent.parent / "examples" / "separable.py"
TWO = Path(__file__).parent.parent / "learn" / "two_targets.py"
GAME = load_game("connect4")
QUICK = ["run.generations=1", "run.groups=1", "evaluation.every=0", "selfplay.games=8", "selfplay.positions=64"]
QUICK += ["selfplay.simulations=4", "training.batch=16"]
PLAIN = """
import torch
from torch import nn


class Linear(nn.Module):
    "looks at the board at once"

    def __init__(self, game, width: int = 8, *, sure: bool = False):
        super().__init__()
        self.first = nn.Linear(len(game.planes) * game.cells, width)
        self.policy, self.value = nn.Linear(width, game.actions), nn.Linear(width, 1)
        self.told = width, sure

    def forward(self, planes):
        x = torch.relu(self.first(planes.flatten(1)))
        return self.policy(x), torch.tanh(self.value(x)).squeeze(1)


class Broken(nn.Module):
    def __init__(self, game):
        raise ValueError("no luck")


class Needy(nn.Module):
    def __init__(self, game, depth: int):
        super().__init__()


class NoModule:
    def __init__(self, game):
        pass

    def forward(self, planes):
        pass
"""


class Silent:
    def say(self, text):
        pass

    def doing(self, what):
        pass

    def show(self, metrics):
        self.metrics = metrics


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.py"
    path.write_text(PLAIN)
    return path


def planes_of(count=5):
    random = np.random.default_rng(1)
    return random.integers(2, size=(count, len(GAME.planes), GAME.cells)).astype(np.float32)


def architectures(plain):
    return [
        Architecture("transformer", blocks=2),
        Architecture("transformer", blocks=1, channels=16, heads="dense", value_channels=3),
        Architecture(f"{SEPARABLE}:Separable", blocks=2, channels=8, options="size=5"),
        Architecture(f"{plain}:Linear", options="width=4,sure=true"),
    ]


@pytest.mark.parametrize("number", range(4))
def test_a_network_answers_the_same_through_onnx_runtime(plain, number):
    """Whatever torch's exporter makes of it passes the inspection, and names no folder of this machine."""
    architecture = architectures(plain)[number]
    torch.manual_seed(number)
    model = build_model(GAME, architecture).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    content = export_onnx(model, NetMetadata.of(GAME, architecture))
    try_out(content, "net.onnx")
    net, planes = Net(content), planes_of()
    with torch.no_grad():
        logits, values = model(torch.from_numpy(planes).view(-1, len(GAME.planes), *GAME.shape))
        plain_logits, _ = PlainNet(model, len(GAME.planes))(torch.from_numpy(planes).view(-1, 4, *GAME.shape))
    answers = net(planes)
    np.testing.assert_allclose(answers[0], logits, atol=1e-4)
    np.testing.assert_allclose(answers[1], values, atol=1e-4)
    np.testing.assert_allclose(plain_logits, logits, atol=1e-6)
    assert net.metadata.architecture == architecture
    told = content.replace(str(plain).encode(), b"").replace(str(SEPARABLE).encode(), b"")  # its own name it keeps
    assert str(Path(__file__).parent.parent.parent).encode() not in told


def test_options_are_the_constructors(plain):
    told = build_model(GAME, Architecture(f"{plain}:Linear", options="width=4,sure=true")).told
    assert told == (4, True)
    assert build_model(GAME, Architecture(f"{plain}:Linear")).told == (8, False)
    separable = build_model(GAME, Architecture(str(SEPARABLE), blocks=2))
    assert (len(separable.blocks), separable.channels) == (2, 32)


@pytest.mark.parametrize(
    ("kind", "options", "reason"),
    [
        ("transfomer", "", "no network is called 'transfomer'; did you mean 'transformer'?"),
        ("./net", "", "a file's name ends in .py"),
        ("FILE", "", "has several networks; write one of them: "),
        ("FILE:Linaer", "", "has no network 'Linaer'; did you mean 'Linear'?"),
        ("FILE:Linear,width=3", "", "write its options as net.options='width=3'"),
        ("FILE:Linear", "wide=3", "net.options: "),
        ("FILE:Linear", "width", "'width' is not an option; write name=value"),
        ("FILE:Broken", "", "cannot be made for connect4: ValueError: no luck (line "),
        ("FILE:Needy", "", "needs net.options=depth=… (int"),
        ("FILE:NoModule", "", "is no torch.nn.Module"),
        ("transformer", "width=3", "transformer has no option 'width'"),
    ],
)
def test_what_is_wrong_is_said(plain, kind, options, reason):
    with pytest.raises(TengenError) as caught:
        build_model(GAME, Architecture(kind.replace("FILE", str(plain)), options=options))
    assert reason in str(caught.value)
    with pytest.raises(BadParameter, match="a transformer's are a multiple of 16"):
        build_model(GAME, Architecture("transformer", channels=24))


def test_a_network_that_cannot_be_exported_says_so(tmp_path):
    path = tmp_path / "fickle.py"
    path.write_text(
        PLAIN.replace("return self.policy(x), ", "x = x if x.sum() > 0 else -x\n        return self.policy(x), ")
    )
    architecture = Architecture(f"{path}:Linear")
    with pytest.raises(BadParameter, match="cannot be exported to ONNX, which is how nets are played"):
        export_onnx(build_model(GAME, architecture), NetMetadata.of(GAME, architecture))


def test_a_package_offers_networks(monkeypatch, plain):
    class Entry:
        name = "linear"

        def load(self):
            return networks.network_class(f"{plain}:Linear")

    offered = {"linear": Entry()}
    for module in ("metadata", "networks"):
        monkeypatch.setattr(f"tengen.nets.{module}.packaged", lambda group: offered)
    assert build_model(GAME, Architecture("linear")).told == (8, False)
    assert load_settings("connect4", ["net.kind=linear"]).net.kind == "linear"
    with pytest.raises(BadParameter, match="no network is called 'linaer'; did you mean 'linear'"):
        load_settings("connect4", ["net.kind=linaer"])


@pytest.mark.parametrize(
    "changes",
    [
        ["net.kind=transformer", "net.blocks=1", f'net.targets="{TWO}:Reply,{TWO}:PliesLeft"'],
        [f"net.kind={SEPARABLE}:Separable", "net.blocks=1", "net.channels=8", 'net.options="size=5"'],
    ],
    ids=["transformer", "a file"],
)
def test_a_network_trains_plays_and_goes_on(tmp_path, changes):
    settings = load_settings("connect4", [*QUICK, *changes])
    watcher, folder = Silent(), tmp_path / "run"
    training = Training(folder, settings, GAME, watcher)
    training.go_on()
    training.close()
    assert np.isfinite(watcher.metrics["loss"]["total"])
    agent = load_agent(f"puct:net={folder},simulations=8", GAME)
    assert agent.choose(GAME.start()).nodes == 8
    again = Training(folder, load_settings("connect4", [*QUICK, *changes]), GAME, watcher)  # it goes on as it was
    assert again.counters.generation == 1
    again.close()


def test_positions_turn_pairs_of_numbers_by_how_far_cells_are_apart():
    """What attention compares does not change when all cells move by as much."""
    from tengen.nets.transformer import HEAD, AttentionBlock

    block = AttentionBlock(16, (6, 7))
    asks, keys = torch.randn(2, HEAD)
    placed = [block.turned(numbers.expand(1, 1, 42, HEAD))[0, 0] for numbers in (asks, keys)]
    products = (placed[0] @ placed[1].T).view(6, 7, 6, 7)
    assert torch.allclose(products[0, 0, 2, 3], products[3, 2, 5, 5], atol=1e-4)
    assert torch.allclose(products[4, 6, 1, 2], products[3, 4, 0, 0], atol=1e-4)
    assert not torch.allclose(products[0, 0, 2, 3], products[0, 0, 3, 2], atol=1e-2)


def test_ours_are_folded_and_others_are_left_as_they_are():
    model = build_model(GAME, Architecture(str(SEPARABLE)))
    assert folded(model).state_dict().keys() >= {"first.weight", "blocks.0.1.running_mean"}
