"""`sl9`: a policy from records. Which move did the player choose? Cross-entropy, and accuracy on held-out games."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from tengen.alphago.dataset import Positions, Progress, positions_of, read_records
from tengen.alphago.networks import PolicyNetwork, new_network
from tengen.alphago.stage import Arrays, Boards, Learner, Metrics, StageTraining
from tengen.rules.errors import BadParameter

OWN_RECORDS = Path(__file__).parent / "go9.sgf.gz"  # GNU Go's games, made by `tengen records corpus`
MOST_HELD_OUT = 100_000  # positions that are measured after each generation


class SupervisedTraining(StageTraining):
    """Learns to choose as the players of records do."""

    def prepare(self) -> None:
        own = self.settings.training
        self.learner = Learner(self._new_model(), self.device, own.weight_decay, own.longest_gradient)
        self._read_data()

    def _new_model(self) -> nn.Module:
        """A fresh network; hidden planes have no weight in it."""
        model = new_network(self.game, self.metadata())
        assert isinstance(model, PolicyNetwork)
        with torch.no_grad():
            model.tower[0].get_parameter("convolution.weight")[:, self.settings.hidden()] = 0
        return model

    def _read_data(self) -> None:
        data = self.settings.data
        source = Path(data.records) if data.records else OWN_RECORDS
        records = read_records(source, self.game, self._progress("reading records"))
        self.watcher.say(records.words())
        held_out = [number for number in range(len(records.games)) if records.is_held_out(number, data.held_out)]
        learned = sorted(set(range(len(records.games))) - set(held_out))
        if not held_out or not learned:
            raise BadParameter(
                f"of {len(records.games)} games {len(held_out)} are held out: some must be, and not all; "
                "more records are needed, or another share: --set data.held_out=0.2"
            )
        parts, progress = [], self._progress("encoding positions")
        for numbers in (learned, held_out):
            part = positions_of(self.game, [records.games[number] for number in numbers], data.players, progress)
            if not len(part.actions):
                raise BadParameter(
                    f"{source.name}: {len(numbers)} games have no move of a player called {data.players!r}; "
                    "more records are needed, or other names: --set data.players=*"
                )
            parts.append(part)
        self.watcher.say(
            f"{len(parts[0].actions):,} positions of {len(learned):,} games to learn from, "
            f"{len(parts[1].actions):,} of {len(held_out):,} held out"
        )
        self.counters.games = len(learned)
        self.boards, self.actions = self._on_device(parts[0])
        self.held_out, self.held_out_actions = self._on_device(parts[1])

    def _progress(self, what: str) -> Progress:
        return lambda done, total: self.watcher.doing(f"{what}: {done:,} of {total:,}")

    def _on_device(self, positions: Positions) -> tuple[Boards, torch.Tensor]:
        planes = positions.planes.copy()
        planes[:, self.settings.hidden()] = 0
        actions = torch.as_tensor(positions.actions.astype(np.int64), device=self.device)
        return Boards(self.game, planes, self.device), actions

    def save(self) -> Arrays:
        return self.learner.save("policy")

    def restore(self, arrays: Arrays) -> None:
        self.learner.restore("policy", arrays)

    def model_to_write(self) -> nn.Module:
        return self.learner.model

    def generation(self, number: int) -> Metrics:
        def measure(logits: torch.Tensor, chosen: torch.Tensor, turns: torch.Tensor) -> tuple[torch.Tensor, ...]:
            targets = self.boards.turned(self.actions[chosen], turns)
            return functional.cross_entropy(logits, targets), (logits.argmax(1) == targets).float().mean()

        means, metrics = self.learn(number, self.done, measure)
        if not means:
            return {}
        own = self.settings.training
        self.counters.positions += own.steps * own.batch
        return {**self.accuracy(), "learned_top1": means[1], **metrics, "loss": {"policy": means[0]}}

    def accuracy(self) -> Metrics:
        """Top-1, top-5 and cross-entropy on held-out games."""
        count = min(len(self.held_out), MOST_HELD_OUT)
        spread = torch.linspace(0, len(self.held_out) - 1, count, device=self.device).long()
        first, five, total = 0.0, 0.0, 0.0
        for chosen, logits in self.answers(self.held_out, spread):
            targets = self.held_out_actions[chosen]
            best = logits.topk(5, 1).indices == targets[:, None]
            first += float(best[:, 0].sum())
            five += float(best.any(1).sum())
            total += float(functional.cross_entropy(logits, targets, reduction="sum"))
        return {"top1": first / count, "top5": five / count, "held_out_loss": total / count}
