"""What an object makes once is made anew where it is on another device."""

from __future__ import annotations

from pathlib import Path

from repairing.proposals import proposed

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
