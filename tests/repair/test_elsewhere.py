"""Edits that do what the program does elsewhere: around the same call, with the rest of the same batch."""

from __future__ import annotations

from pathlib import Path

from repair.proposals import proposed

VISITS = """\
from contextlib import contextmanager
import torch
from torch import nn

device = torch.device("cuda")


class Voice:
    def __init__(self):
        self.listener = nn.Linear(4, 2)

    @contextmanager
    def visiting(self, model):
        model.to(device)
        yield model
        model.cpu()

    def heard(self, x):
        with self.visiting(self.listener) as here:
            return self.listener(x)

    def again(self, x):
        heard = self.listener(
            x  # on a GPU
        )
        return heard


voice = Voice()
x = torch.ones(3, 4, device=device)
print((voice.heard(x) - voice.again(x)).sum().item())
"""


def test_a_call_is_made_in_the_block_that_it_is_made_in_elsewhere(tmp_path: Path) -> None:
    wrapped = (
        "with self.visiting(self.listener):",
        "heard = self.listener(",
        "x  # on a GPU",
        ")",
    )
    assert wrapped in proposed(tmp_path, VISITS)


def test_a_block_whose_names_mean_nothing_here_is_not_proposed(tmp_path: Path) -> None:
    foreign = VISITS.replace("self.visiting(self.listener) as", "self.visiting(listener) as")
    foreign = foreign.replace("        with", "        listener = self.listener\n        with")
    assert not [
        rows for rows in proposed(tmp_path, foreign) if rows[0] == "with self.visiting(listener):"
    ]


PARTS = """\
import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 3).to(device)


def score(logits, labels):
    return nn.functional.cross_entropy(logits, labels)


def step(batch):
    batch = {**batch, "x": batch["x"].to(device)}
    return score(model(batch["x"]), batch["y"])


print(step({"x": torch.ones(2, 4), "y": torch.zeros(2).long()}).item())
"""


def test_a_batch_is_brought_whole_where_a_part_of_it_is(tmp_path: Path) -> None:
    whole = ("batch = {k: v.to(device) for k, v in batch.items()}",)
    assert whole in proposed(tmp_path, PARTS)


def test_a_batch_that_holds_more_than_tensors_is_left(tmp_path: Path) -> None:
    named = PARTS.replace('"y": torch.zeros', '"name": "first", "y": torch.zeros')
    assert not [rows for rows in proposed(tmp_path, named) if "batch.items()" in rows[0]]
