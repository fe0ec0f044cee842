"""Layers in plain lists and dicts: what the values show, the text does not have to."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import added, proposed, repaired

_PROGRAM = """\
import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, kept):
        super().__init__()
        self.stem = nn.Linear(4, 4)
        self.kept = kept

    def forward(self, x):
        x = self.stem(x)
        for layer in {layers}:
            x = layer(x)
        return x


made = {made}
tower = Tower({given}).to("cuda")
tower(torch.ones(2, 4, device="cuda"))
"""


def test_a_list_that_was_handed_in_is_registered(tmp_path: Path) -> None:
    program = _PROGRAM.format(
        layers="self.kept", made="[nn.Linear(4, 4) for _ in range(2)]", given="made[:]"
    )
    assert ("self.kept = nn.ModuleList(kept)",) in proposed(tmp_path, program)


def test_a_dict_of_names_is_registered(tmp_path: Path) -> None:
    program = _PROGRAM.format(
        layers="self.kept.values()", made='{"up": nn.Linear(4, 4)}', given="made | {}"
    )
    assert ("self.kept = nn.ModuleDict(kept)",) in proposed(tmp_path, program)


def test_a_dict_whose_keys_are_no_names_stays_and_its_layers_are_listed_beside(
    tmp_path: Path,
) -> None:
    program = _PROGRAM.format(
        layers="self.kept.values()", made="{7: nn.Linear(4, 4)}", given="made | {}"
    )
    beside = ("self.kept_registered = nn.ModuleList(self.kept.values())",)
    assert beside in proposed(tmp_path, program)


def test_a_list_that_holds_other_things_too_stays(tmp_path: Path) -> None:
    program = _PROGRAM.format(
        layers="self.kept[:1]", made='[nn.Linear(4, 4), "name"]', given="made[:]"
    )
    assert not any("ModuleList" in row for rows in proposed(tmp_path, program) for row in rows)


def test_replicas_share_what_a_list_holds_though_it_is_registered_elsewhere(
    tmp_path: Path,
) -> None:
    program = """\
import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.order = reversed_of([self.first])

    def forward(self, x):
        for layer in self.order:
            x = layer(x)
        return x


def reversed_of(layers):
    return layers[::-1]


stack = nn.DataParallel(Stack().to("cuda"), device_ids=[0, 1])
stack(torch.ones(4, 4, device="cuda"))
"""
    edit = ("self.order = nn.ModuleList(reversed_of([self.first]))",)
    assert edit in proposed(tmp_path, program)


@pytest.mark.parametrize(
    ("made", "rows"),
    [
        (
            "self.cells = []\n        for _ in range(2):\n            self.cells.append([nn.Linear(4, 4)])",
            ("self.cells = nn.ModuleList()", "self.cells.append(nn.ModuleList([nn.Linear(4, 4)]))"),
        ),
        (
            "self.cells = [[nn.Linear(4, 4)] for _ in range(2)]",
            ("self.cells = nn.ModuleList([nn.ModuleList([nn.Linear(4, 4)]) for _ in range(2)])",),
        ),
    ],
)
def test_lists_in_a_list_are_registered_with_it(
    tmp_path: Path, made: str, rows: tuple[str, ...]
) -> None:
    program = f"""\
import torch
from torch import nn


class Grid(nn.Module):
    def __init__(self):
        super().__init__()
        {made}
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        for row in self.cells:
            x = sum(cell(x) for cell in row)
        return self.out(x)


Grid().to("cuda")(torch.ones(2, 4, device="cuda"))
"""
    assert rows in proposed(tmp_path, program)


BY_NUMBER = """\
import torch
from torch import nn


class Votes(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 4)
        self.kept = {{}}
        for scale in (1, 2):
            self.kept[scale] = nn.Linear(4, 4)

    def forward(self, x):
        x = self.stem(x)
        for scale in {scales}:
            x = self.kept[scale](x)
        return x


torch.manual_seed(0)
votes = Votes().to("cuda")
print(votes(torch.ones(2, 4, device="cuda")).sum().item())
"""


def test_a_dict_of_numbers_is_registered_by_their_texts(tmp_path: Path) -> None:
    edit = (
        "self.kept = nn.ModuleDict()",
        "self.kept[str(scale)] = nn.Linear(4, 4)",
        "x = self.kept[str(scale)](x)",
    )
    assert edit in proposed(tmp_path, BY_NUMBER.format(scales="(1, 2)"))


def test_a_dict_of_numbers_that_is_used_otherwise_is_listed_beside_once_it_is_filled(
    tmp_path: Path,
) -> None:
    outcome, level, diff = repaired(tmp_path, BY_NUMBER.format(scales="self.kept"))
    assert (outcome, level) == ("repaired", "proven"), diff
    assert added(diff) == ("self.kept_registered = nn.ModuleList(self.kept.values())",)
    assert diff.index("self.kept[scale] = nn.Linear") < diff.index("self.kept_registered")
