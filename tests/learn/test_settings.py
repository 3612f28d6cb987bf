"""What a run is told is checked before any work starts."""

import pytest

from tengen.games import load_game
from tengen.learn.settings import Settings, load_settings, preset_names, read_settings
from tengen.rules.errors import TengenError

PRESETS = {
    "tictactoe",
    "connect4",
    "gomoku8",
    "gomoku8-paper",
    "gobang",
    "gomoku9",
    "gomoku15",
    "renju15",
    "reversi",
    "draughts",
    "hex7",
    "hex11",
    "go9",
    "chess",
}


def test_the_presets_that_there_are():
    assert set(preset_names()) == PRESETS


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_presets_are_sound_and_come_back_from_their_text(name, tmp_path):
    settings = load_settings(name)
    path = tmp_path / "again.toml"
    path.write_text(settings.text())
    assert read_settings(path) == settings
    assert settings.plan().simulations == settings.selfplay.simulations


def test_the_paper_preset_is_the_paper():
    """SEEDS, part A."""
    settings = load_settings("gomoku8-paper")
    assert load_game(settings.run.game) == load_game("gomoku:size=8")
    assert (settings.net.kind, settings.net.channels) == ("resnet", 64)
    assert (settings.selfplay.search, settings.selfplay.simulations, settings.selfplay.exploration) == (
        "puct",
        400,
        5.0,
    )
    assert (settings.training.batch, settings.training.steps) == (512, 1)
    stored = settings.training.window * len(load_game(settings.run.game).symmetries)
    assert stored == 10_000 and settings.window(5000) == settings.training.window
    assert (settings.training.optimiser, settings.training.learning_rate) == ("adam", 2e-3)
    assert settings.evaluation.opponent == "uct:playouts=1000"


def test_a_game_has_settings_without_a_preset():
    assert load_settings("mnk:m=4,n=4,k=4").run.game == "mnk:m=4,n=4,k=4"
    assert load_settings("examples/breakthrough.py").run.game == "examples/breakthrough.py"


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_presets_are_sound_on_a_gpu_too(name):
    settings = load_settings(name, device="cuda")
    assert settings.run.game == load_settings(name).run.game


def test_what_a_gpu_is_told(tmp_path):
    """A file's own [cuda.…] tables, then its plain ones, then what suits a GPU."""
    path = tmp_path / "own.toml"
    path.write_text(
        '[run]\ngame = "tictactoe"\n[selfplay]\ngames = 8\nsimulations = 9\n[cuda.selfplay]\nsimulations = 10\n'
    )
    plain, on_gpu = load_settings(str(path)), load_settings(str(path), device="cuda")
    assert (plain.selfplay.games, plain.selfplay.simulations, plain.training.batch) == (8, 9, 512)
    assert (on_gpu.selfplay.games, on_gpu.selfplay.simulations, on_gpu.training.batch) == (8, 10, 2048)
    assert load_settings("tictactoe", ["training.batch=64"], "cuda").training.batch == 64
    assert load_settings("examples/breakthrough.py", device="cuda").selfplay.games == 8192
    path.write_text('[run]\ngame = "tictactoe"\n[cuda.selfplay]\nsimulatons = 10\n')
    with pytest.raises(TengenError, match=r"\[cuda\]: \[selfplay\] has no key 'simulatons'; did you mean"):
        load_settings(str(path))


def test_changes():
    settings = load_settings("gomoku8", ["selfplay.simulations=64", "net.kind=gobang", "training.samples=0.5"])
    assert (settings.selfplay.simulations, settings.net.kind, settings.training.samples) == (64, "gobang", 0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("selfplay.simulatons=64", r"\[selfplay\] has no key 'simulatons'; did you mean 'simulations'\?"),
        ("selfply.simulations=64", r"there is no table \[selfply\]; did you mean 'selfplay'\?"),
        ("selfplay.simulations=0", "selfplay.simulations=0 is out of range: selfplay.simulations is 1 to 100000"),
        ("selfplay.simulations=many", "selfplay.simulations=many is not a whole number"),
        ("selfplay.simulations=1.5", "selfplay.simulations=1.5 is not a whole number"),
        ("training.learning_rate=-1", "training.learning_rate=-1 is out of range"),
        ("net.kind=resnext", "no network is called 'resnext'; did you mean 'resnet'"),
        ("selfplay.keep=1", "selfplay.keep=1 is not true or false"),
        ("net.heads=locl", "net.heads=locl is unknown; did you mean 'local'"),
        ("run.game=gomoko", "no game is called 'gomoko'; did you mean 'gomoku'"),
        ("run.game=", "nothing says which game"),
        ("simulations", "write table.key=value"),
        ("selfplay.simulations=true", "selfplay.simulations=True is not a whole number"),
        ("selfplay.keep=true", "selfplay.keep is for search = 'puct'"),
        ("selfplay.prior_temperature=0", "selfplay.prior_temperature=0 is out of range"),
        ("selfplay.longest=4", "selfplay.opening=4 is not shorter than the longest game"),
        ("evaluation.gating=0.2", "evaluation.gating=0.2 is 0.5 at least"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    with pytest.raises(TengenError, match=message):
        load_settings("gomoku8", [change])


def test_a_search_without_a_temperature_has_none_to_lower():
    with pytest.raises(TengenError, match="annealing is for search = 'puct'"):
        load_settings("gomoku8", ["selfplay.annealing=30"])


def test_visits_know_no_prior():
    with pytest.raises(TengenError, match="prior_temperature is for search = 'gumbel'"):
        load_settings("gomoku8-paper", ["selfplay.prior_temperature=1.5"])


def test_stones_cannot_be_put_near_in_connect_four():
    with pytest.raises(TengenError, match="opening_near is for games that put a stone on any cell"):
        load_settings("connect4", ["selfplay.opening_near=2"])


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(TengenError, match="cannot be read: No such file"):
        load_settings(str(tmp_path / "none.toml"))
    path = tmp_path / "bad.toml"
    path.write_text("[run\n")
    with pytest.raises(TengenError, match="is not TOML"):
        load_settings(str(path))
    path.write_text("run = 3\n")
    with pytest.raises(TengenError, match="run is a table"):
        load_settings(str(path))
    with pytest.raises(TengenError, match="no preset is called 'gomoku_8'; did you mean 'gomoku8'"):
        load_settings("gomoku_8")


def test_schedules():
    settings = Settings()
    assert settings.learning_rate(0) == pytest.approx(2e-3)
    assert settings.learning_rate(200) == pytest.approx(1e-4)
    growing = load_settings("gomoku8", ["training.window=1000000", "training.window_share=0.5"])
    assert growing.window(0) == growing.selfplay.positions
    assert growing.window(100_000) == 50_000
