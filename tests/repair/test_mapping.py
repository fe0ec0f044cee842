"""Quantized models that were loaded to another GPU than the one that trains."""

from __future__ import annotations

from pathlib import Path

from repair.proposals import proposed

_PROGRAM = """\
import torch
from torch import nn


def load(device_map):
    return nn.Linear(3, 2).to(torch.device("cuda", device_map[""]))


def prepare(model):
    if next(model.parameters()).get_device() != torch.cuda.current_device():
        raise ValueError(
            "You can't train a model that has been loaded in 8-bit or 4-bit precision "
            "on a different device than the one you're training on."
        )


prepare(load({"": torch.cuda.device_count() - 1}))
"""


def test_the_map_names_the_gpu_of_the_process(tmp_path: Path) -> None:
    assert ('prepare(load({"": torch.cuda.current_device()}))',) in proposed(tmp_path, _PROGRAM)
