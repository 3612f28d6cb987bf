"""The three stages in small: games in lockstep, what is learned, and runs that are killed and gone on with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from typer.testing import CliRunner  # noqa: E402

from tengen.alphago.dataset import TWICE, is_chosen, read_records  # noqa: E402
from tengen.alphago.games import Lockstep, both_seats, play_match, play_rows  # noqa: E402
from tengen.alphago.networks import PolicyNetwork, export_net  # noqa: E402
from tengen.alphago.reinforce import Experience, ReinforceTraining, log_policy  # noqa: E402
from tengen.alphago.settings import load_stage  # noqa: E402
from tengen.alphago.stage import Boards, StageTraining, as_boards  # noqa: E402
from tengen.alphago.supervised import OWN_RECORDS, SupervisedTraining  # noqa: E402
from tengen.alphago.values import ValueTraining, play_samples  # noqa: E402
from tengen.apps.cli import app  # noqa: E402
from tengen.games import load_game  # noqa: E402
from tengen.knowledge.go_planes import encode_states  # noqa: E402
from tengen.learn.run import RunError  # noqa: E402
from tengen.nets.policy9 import PlaneNetMetadata, PolicyNet, ValueNet  # noqa: E402
from tengen.records.record import Record  # noqa: E402
from tengen.records.sgf import write_sgf  # noqa: E402
from tengen.rules.contract import ONGOING  # noqa: E402
from tengen.rules.errors import BadParameter, TengenError  # noqa: E402

GAME = load_game("go:size=9,komi=5.5")


class Quiet:
    """Watches a run, and says nothing."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def say(self, text: str) -> None:
        self.told.append(text)

    def doing(self, what: str) -> None: ...

    def show(self, metrics: dict[str, Any]) -> None: ...


def uniform(planes: np.ndarray) -> np.ndarray:
    return np.zeros((len(planes), 82), np.float32)


def passing(planes: np.ndarray) -> np.ndarray:
    logits = uniform(planes)
    logits[:, 81] = 50
    return logits


# Games in lockstep.


def test_moves_in_lockstep_are_legal_and_results_are_those_of_the_rules() -> None:
    table = Lockstep(GAME, both_seats(12), seed=1, longest=400)
    moves: list[list[int]] = [[] for _ in range(12)]
    while (table.results == ONGOING).any():
        rows = np.flatnonzero(table.results == ONGOING)
        for row, action in zip(rows, table.step(rows, uniform), strict=True):
            moves[row].append(int(action))
    for row, line in enumerate(moves):
        position = GAME.start()
        for action in line:
            assert action in position.legal_actions
            position = position.play(action)
        assert position.outcome is not None
        assert table.results[row] == {0: 1, 1: 2}[position.outcome.winner or 0]
        assert table.values()[row] == position.outcome.value_for(int(table.seats[row]))


def test_a_policy_is_asked_only_about_its_own_moves_and_plays_both_colours() -> None:
    seen: list[np.ndarray] = []

    def watched(planes: np.ndarray) -> np.ndarray:
        seen.append(planes[:, 5, 0].copy())  # whether Black is to move
        return uniform(planes)

    table = Lockstep(GAME, both_seats(8), seed=2, longest=6)
    kept = table.play((watched, uniform), keep=True)
    assert np.concatenate(seen).mean() == 0.5
    assert sum(len(part.actions) for part in kept) == 8 * 3
    assert (np.bincount(np.concatenate([part.rows for part in kept])) == 3).all()


def test_moves_are_drawn_as_often_as_the_policy_says() -> None:
    rows, rng = 4000, np.random.default_rng(1)
    position = GAME.from_moves("d6 e6 c5 f5 d4 e4 e5 d5")  # with a ko
    states = GAME.new_states(rows)
    states[:] = position.states[0]
    planes = np.repeat(encode_states(GAME, position.states), rows, 0)
    logits = np.repeat(rng.normal(0, 1.5, (1, 82)).astype(np.float32), rows, 0)
    shown = as_boards(torch.from_numpy(planes[:1]), GAME)
    expected = log_policy(torch.from_numpy(logits[:1]), shown).exp()[0].numpy()
    assert abs(expected.sum() - 1) < 1e-5
    assert {int(action) for action in np.flatnonzero(expected)} == set(position.legal_actions)
    actions, results = np.zeros(rows, np.int64), np.full(rows, ONGOING, np.int8)
    seeds = rng.integers(0, 2**63, rows).astype(np.uint64)
    never = np.zeros((rows, 2), np.int64)
    play_rows(GAME.parameters, states, planes, seeds, never, np.arange(rows), logits, 1.0, 400, actions, results)
    found = np.bincount(actions, minlength=82) / rows
    assert np.abs(found - expected).max() < 0.03
    assert found[expected == 0].sum() == 0


def test_a_better_policy_wins_the_match() -> None:
    score = play_match(GAME, (uniform, passing), 20, seed=3, longest=200)
    assert score.count == 20 and score.wins >= 18


# The recipe of positions for the value net.


def test_a_sample_is_the_position_after_the_random_move() -> None:
    times = np.array([0, 0, 1, 5])
    samples = play_samples(GAME, passing, times, seed=4, longest=50)
    assert len(samples.values) == 3  # the last game was over before its random move
    planes = np.unpackbits(samples.planes, axis=2, count=81, bitorder="little")
    stones = planes[:, 0].sum(1) + planes[:, 1].sum(1)
    assert stones.tolist() == [1, 1, 1]
    # One black stone owns the board, and White is to move; after a white stone, Black is.
    assert samples.values.tolist() == [-1, -1, -1]
    assert planes[:, 5, 0].tolist() == [0, 0, 1]


# Batches.


def test_batches_turn_planes_and_actions_alike() -> None:
    position = GAME.from_moves("d6 e6 c5 f5 d4 e4 e5 d5")
    packed = np.packbits(encode_states(GAME, position.states), axis=2, bitorder="little")
    boards = Boards(GAME, packed, torch.device("cpu"))
    for turn in range(8):
        turned = GAME.from_actions([int(GAME.action_symmetries[turn, move]) for move in position.moves])
        planes = boards.planes(torch.tensor([0]), torch.tensor([turn]))
        assert np.array_equal(planes[0].numpy().reshape(27, 81), encode_states(GAME, turned.states)[0])
        actions = boards.turned(torch.tensor([0, 40, 81]), torch.tensor([turn] * 3))
        assert actions.tolist() == [int(GAME.action_symmetries[turn, action]) for action in (0, 40, 81)]


# Runs.


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games in which both play their lowest legal point: a habit that is soon learned."""
    folder = tmp_path_factory.mktemp("records")
    texts = []
    for number in range(12):
        position = GAME.from_actions([number, 80 - number])
        while position.ply < 30:
            position = position.play(position.legal_actions[0])
        texts.append(write_sgf(Record.of(position, opening=2)))
    (folder / "games.sgf").write_text("".join(texts))
    return folder


SMALL = ("net.channels=8", "net.layers=2", "training.batch=64", "training.steps=15")


def supervised(folder: Path, records: Path, *changes: str) -> SupervisedTraining:
    given = (f"data.records={records}", "data.players=*", "data.held_out=0.25", "run.generations=4")
    return SupervisedTraining(folder, load_stage("sl9", [*given, *SMALL, *changes]), Quiet())


def metrics_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def weights(training: StageTraining) -> dict[str, np.ndarray]:
    return training.save()


def test_a_habit_is_learned_from_records(tmp_path: Path, records: Path) -> None:
    training = supervised(tmp_path / "run", records, "training.steps=40")
    training.go_on()
    training.close()
    found = metrics_of(tmp_path / "run")
    assert [entry["generation"] for entry in found] == [1, 2, 3, 4]
    assert found[-1]["loss"]["policy"] < 0.5 * found[0]["loss"]["policy"]
    assert found[-1]["top1"] > 0.5 and found[-1]["top5"] >= found[-1]["top1"]
    assert PolicyNet(tmp_path / "run").metadata.step == 160
    assert "held out" in (tmp_path / "run/report.html").read_text()


def test_a_corpus_must_have_games_to_hold_out(tmp_path: Path, records: Path) -> None:
    with pytest.raises(BadParameter, match=r"games 0 are held out.*data\.held_out=0\.2"):
        supervised(tmp_path / "run", records, "data.held_out=0.0001")
    assert not (tmp_path / "run/config.toml").exists()  # what could not begin binds nobody


def test_a_stopped_run_ends_with_the_weights_of_one_that_never_was(tmp_path: Path, records: Path) -> None:
    straight = supervised(tmp_path / "straight", records)
    straight.go_on()
    straight.close()
    for _ in range(8):
        training = supervised(tmp_path / "stopped", records)
        training.go_on(0.0) if training.is_complete else training._generation()
        training.close()
    assert training.is_complete
    for name, array in weights(straight).items():
        assert np.array_equal(array, weights(training)[name]), name


def test_a_run_keeps_its_settings_but_files_may_move(tmp_path: Path, records: Path) -> None:
    supervised(tmp_path / "run", records).close()
    with pytest.raises(RunError, match=r"training\.batch = 64, not 32"):
        supervised(tmp_path / "run", records, "training.batch=32")
    moved = tmp_path / "moved"
    moved.mkdir()
    (moved / "games.sgf").write_bytes((records / "games.sgf").read_bytes())
    supervised(tmp_path / "run", moved).close()


def test_hidden_planes_do_not_matter_to_the_net(tmp_path: Path, records: Path) -> None:
    training = supervised(tmp_path / "run", records, "data.hide=ladders,last", "run.generations=1")
    training.go_on()
    training.close()
    net, planes = PolicyNet(tmp_path / "run"), np.random.default_rng(1).integers(0, 2, (3, 27, 81)).astype(np.uint8)
    other = planes.copy()
    other[:, [3, 4, 24, 25, 26]] ^= 1
    assert np.array_equal(net(planes), net(other))
    with pytest.raises(BadParameter, match="no group of planes 'ladder'"):
        load_stage("sl9", ["data.hide=ladder"])


def policy_file(path: Path) -> Path:
    """An untrained policy that seldom passes."""
    torch.manual_seed(3)
    model = PolicyNetwork(27, GAME.shape, 8, 2)
    with torch.no_grad():
        model.rest[1].bias.fill_(-3)
    path.write_bytes(export_net(model, GAME, PlaneNetMetadata("policy", GAME.spec, channels=8, layers=2)))
    return path


def reinforced(folder: Path, start: Path, *changes: str) -> ReinforceTraining:
    given = (f"policy.start={start}", "run.generations=2", "play.games=16", "play.longest=60", "training.batch=256")
    small = ("training.baseline_channels=4", "training.baseline_layers=2", "pool.every=1", "evaluation.every=1")
    settings = load_stage("rl9", [*given, *small, "evaluation.games=8", *changes])
    return ReinforceTraining(folder, settings, Quiet())


def test_reinforcement_measures_itself_against_the_supervised_policy_and_resumes(tmp_path: Path) -> None:
    start = policy_file(tmp_path / "start.onnx")
    straight = reinforced(tmp_path / "straight", start)
    straight.go_on()
    straight.close()
    for entry in metrics_of(tmp_path / "straight"):
        (match,) = entry["matches"]
        assert match["wins"] + match["draws"] + match["losses"] == 8
        assert entry["distance"] >= 0 and entry["entropy"] > 0
    training = reinforced(tmp_path / "stopped", start)
    training._generation()
    training.close()
    start.unlink()  # the folder has its own
    training = reinforced(tmp_path / "stopped", start)
    training.go_on()
    assert training.pool() == [0, 1, 2]
    training.close()
    for name, array in weights(straight).items():
        assert np.array_equal(array, weights(training)[name]), name
    assert PolicyNet(tmp_path / "stopped").metadata.run == "stopped"


def test_a_stage_that_cannot_begin_leaves_its_folder_to_the_next(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.onnx"
    wrong.write_bytes(b"no net")
    with pytest.raises(TengenError, match="damaged, or no ONNX file"):
        reinforced(tmp_path / "run", wrong)
    reinforced(tmp_path / "run", policy_file(tmp_path / "start.onnx")).close()


def test_damaged_nets_of_a_stage_are_written_again_left_out_or_named(tmp_path: Path) -> None:
    start = policy_file(tmp_path / "start.onnx")
    training = reinforced(tmp_path / "run", start)
    training.go_on()
    training.close()
    first, opponent, newest = (tmp_path / f"run/nets/00000{number}.onnx" for number in (0, 1, 2))
    whole, before = newest.read_bytes(), first.read_bytes()
    for path in (opponent, newest):
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    training = reinforced(tmp_path / "run", start)
    assert newest.read_bytes() == whole
    assert training.pool() == [0, 2]
    training.close()
    told = [line for line in training.watcher.told if "is damaged" in line]
    assert len(told) == 2 and "written again" in told[0] and "no opponent any more" in told[1]
    place = len(before) // 2  # inside its weights
    first.write_bytes(before[:place] + bytes([before[place] ^ 1]) + before[place + 1 :])
    with pytest.raises(RunError, match=r"000000.onnx is damaged: .*: put the policy back"):
        reinforced(tmp_path / "run", start)


def test_what_won_becomes_likelier_and_the_bounds_hold(tmp_path: Path) -> None:
    training = reinforced(tmp_path / "run", policy_file(tmp_path / "start.onnx"), "training.distance=0.0")
    planes = as_boards(torch.from_numpy(np.repeat(encode_states(GAME, GAME.start().states), 8, 0)), GAME)

    def chance() -> float:
        with torch.no_grad():
            return float(log_policy(training.learner.model(planes[:1]), planes[:1])[0, 40])

    before, ones = chance(), torch.ones(8)
    told = Experience(torch.full((8,), 40), ones, ones, torch.full((8,), before))
    for _ in range(200):
        gain, *_, clipped = training._step(planes, told, 1e-3)
    after = chance()
    assert before + 0.15 < after < before + 0.5  # bound to a factor of 1.2, but for the momentum of Adam
    assert clipped == 1 and abs(float(gain) - 1.2) < 1e-4
    training.close()


def test_plain_reinforce_makes_what_won_likelier_without_bounds(tmp_path: Path) -> None:
    """The gradient of a step is that of the paper's algorithm 1: the mean of R_T ∇ log π(a|s)."""
    start = policy_file(tmp_path / "start.onnx")
    given = (f"policy.start={start}", "training.method=plain", "training.longest_gradient=0", "play.games=2")
    training = ReinforceTraining(tmp_path / "run", load_stage("rl9", given), Quiet())
    planes = as_boards(torch.from_numpy(np.repeat(encode_states(GAME, GAME.start().states), 4, 0)), GAME)
    actions, ends = torch.tensor([40, 40, 30, 20]), torch.tensor([1.0, 1.0, -1.0, 0.0])
    model = training.learner.model
    learned = [weight for weight in model.parameters() if weight.requires_grad]
    logs = log_policy(model(planes), planes)
    expected = torch.autograd.grad(-(2 * logs[0, 40] - logs[0, 30]) / 4, learned)
    boards = Boards(GAME, encode_states(GAME, GAME.start().states), torch.device("cpu"))
    experience, more = training._experience(boards, actions.numpy(), ends.numpy())
    assert more == {} and torch.equal(experience.advantages, ends)
    seen = []
    training.learner.step = lambda loss, rate: seen.extend(torch.autograd.grad(loss, learned))
    _, error, *_, clipped = training._step(planes, experience, 1e-3)
    assert all(torch.allclose(one, other, atol=1e-6) for one, other in zip(seen, expected, strict=True))
    assert (error, clipped) == (0, 0)
    training.close()


def test_a_generation_of_several_rounds_is_one_opponent_and_as_many_updates(tmp_path: Path) -> None:
    start = policy_file(tmp_path / "start.onnx")
    given = (f"policy.start={start}", "training.method=plain", "run.generations=2", "play.games=4", "play.rounds=3")
    small = ("play.longest=40", "training.batch=1000000", "training.epochs=1", "pool.every=1", "evaluation.games=4")
    training = ReinforceTraining(tmp_path / "run", load_stage("rl9", [*given, *small]), Quiet())
    training.go_on()
    training.close()
    first, second = metrics_of(tmp_path / "run")
    assert (first["step"], second["step"]) == (3, 6)  # an update a round
    assert first["games"] == 12 and set(first["loss"]) == {"policy"}
    with pytest.raises(BadParameter, match=r"training\.clip has no effect with training\.method = 'plain'"):
        load_stage("rl9", ["training.method=plain", "training.clip=0.1"])


def test_values_are_learned_from_one_position_a_game(tmp_path: Path) -> None:
    start = policy_file(tmp_path / "start.onnx")
    given = (f"policy.net={start}", "run.generations=4", "samples.generations=2", "samples.games=24")
    few = ("samples.latest=20", "samples.longest=60", "samples.held_out=0.3", "training.batch=16", "training.steps=5")
    settings = load_stage("value9", [*given, *few, "net.channels=4", "net.layers=2"])
    for _ in range(4):
        training = ValueTraining(tmp_path / "run", settings, Quiet())
        training._generation()
        training.close()
    found = metrics_of(tmp_path / "run")
    assert training.is_complete and found[1]["positions"] <= 48
    assert found[-1]["mean_error"] > 0 and "held_out_error" in found[-1]
    assert ValueNet(tmp_path / "run")(encode_states(GAME, GAME.start().states)).shape == (1,)
    training = ValueTraining(tmp_path / "run", settings, Quiet())
    training.go_on()
    training.close()
    assert "always saying the mean" in (tmp_path / "run/report.html").read_text()


def test_settings_are_checked_and_come_back(tmp_path: Path) -> None:
    for stage in ("sl9", "rl9", "value9"):
        settings = load_stage(stage)
        (tmp_path / "config.toml").write_text(settings.text())
        assert type(settings).read(tmp_path / "config.toml") == settings
    with pytest.raises(BadParameter, match=r"\[training\] has no key 'bach'"):
        load_stage("sl9", ["training.bach=3"])
    with pytest.raises(BadParameter, match="leaves none to learn"):
        load_stage("value9", ["samples.generations=90"])
    with pytest.raises(BadParameter, match="27 planes are for Go"):
        load_stage("sl9", ["run.game=go"])


def test_the_command_trains_a_stage(tmp_path: Path, records: Path) -> None:
    given = [f"data.records={records}", "data.players=*", "data.held_out=0.25", "run.generations=1", *SMALL]
    command = ["train", "sl9", "--device", "cpu", "--run", str(tmp_path / "run")]
    result = CliRunner().invoke(app, [*command, *(word for change in given for word in ("--set", change))])
    assert result.exit_code == 0, result.output
    assert "generation 1 of 1" in result.output and "top-1" in result.output and "complete" in result.output


def test_the_games_that_come_along():
    """A few thousand, whole and legal; the teacher's moves are most of them."""
    found = read_records(OWN_RECORDS, GAME)
    assert len(found.games) > 2400
    assert set(found.left_out) <= {TWICE}
    chosen = [wanted for one in found.games for wanted in is_chosen(one, "gnugo*")]
    assert 0.7 < np.mean(chosen) < 1
