"""What an object makes once is made anew where it is on another device."""

from __future__ import annotations

from pathlib import Path

from repair.proposals import proposed

_TABLES = """\
import torch


class Phases:
    def __init__(self):
        self._sin = self._cos = None

    def tables(self, x):
        if self._cos is None or len(self._cos) < x.shape[-1]:
            steps = torch.arange(x.shape[-1], device=x.device)
            self._sin, self._cos = steps.sin(), steps.cos()
        return self._sin, self._cos

    def __call__(self, x):
        sin, cos = self.tables(x)
        return x * cos + x * sin


phases = Phases()
phases(torch.ones(3, device="cuda:0"))
print(phases(torch.ones(3, device="cuda:1")))
"""


def test_what_a_method_gives_is_made_anew_in_that_method(tmp_path: Path) -> None:
    asked = "if self._cos is None or len(self._cos) < x.shape[-1] or self._cos.device != x.device:"
    assert (asked,) in proposed(tmp_path, _TABLES)


_TABLE = """\
import torch
from torch import nn


class Rotary(nn.Module):
    tables = {{}}

    def forward(self, x):
        n = x.shape[-1]
        if n not in self.tables:
            angle = torch.arange(n, {made})
            self.tables[n] = angle.cos(), angle.sin()
        cos, sin = self.tables[n]
        return x * cos + x * sin


rotary = Rotary()
rotary(torch.ones(3, device="cuda:0"))
print(rotary(torch.ones(3, device="cuda:1")))
"""


def test_a_table_by_length_is_kept_for_each_device(tmp_path: Path) -> None:
    rows = (
        "if (n, x.device) not in self.tables:",
        "self.tables[(n, x.device)] = angle.cos(), angle.sin()",
        "cos, sin = self.tables[(n, x.device)]",
    )
    assert rows in proposed(tmp_path, _TABLE.format(made="device=x.device"))


def test_a_table_that_is_told_no_device_stays_as_it_is(tmp_path: Path) -> None:
    program = _TABLE.format(made='device="cuda:0"')
    assert not [rows for rows in proposed(tmp_path, program) if "not in" in rows[0]]


def test_a_table_that_a_decorator_keeps_is_kept_for_each_device(tmp_path: Path) -> None:
    program = """\
import torch


def remember(fn):
    store = {}

    def wrapped(length, device):
        key = (length,)
        if key not in store:
            store[key] = fn(length, device)
        return store[key]

    return wrapped


@remember
def positions(length, device):
    return torch.arange(length, device=device).float()


def shifted(x):
    return x + positions(x.shape[-1], x.device)


shifted(torch.ones(3, device="cuda:0"))
print(shifted(torch.ones(3, device="cuda:1")))
"""
    rows = (
        "if (key, device) not in store:",
        "store[(key, device)] = fn(length, device)",
        "return store[(key, device)]",
    )
    assert rows in proposed(tmp_path, program)
