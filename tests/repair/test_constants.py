"""Buffers that nobody writes to, and that may be meant to be trained."""

from __future__ import annotations

import pytest
from repair.guards import told_by

from diagnose.repair.validation.constants import learned

MIX = """\
class Mix(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.scores = {made}
        self.gain = nn.Parameter(torch.ones(1))

    def forward(self, layers):
        return self.gain * ({use} * layers).sum(0)
"""
USE = "torch.softmax(self.scores, 0)"


@pytest.mark.parametrize(
    ("made", "use", "told"),
    [
        ("torch.zeros(count, 1)", USE, True),
        ("torch.ones(count).view(-1, 1)", "self.scores", True),
        ("torch.randn(count, 1)", USE, False),  # a fixed projection
        ("torch.ones(count, count).tril()", "self.scores", False),  # a mask
        ("torch.zeros(count, 1)", "self.cell(layers, self.scores)", False),  # a first state
    ],
)
def test_equal_numbers_that_nobody_writes_are_asked_about(made: str, use: str, told: bool) -> None:
    before = MIX.format(made=made, use=use)
    after = before.replace(f"self.scores = {made}", f'self.register_buffer("scores", {made})')
    assert [one.id for one in told_by(learned, before, after)] == ["learned"] * told


@pytest.mark.parametrize(
    "more",
    [
        "        self.scores.add_(1)\n",
        "        self.scores[0] = layers.mean()\n",
        "        self.scores = 0.9 * self.scores\n",
    ],
)
def test_what_is_written_is_no_constant(more: str) -> None:
    before = MIX.format(made="torch.zeros(count, 1)", use=USE)
    before = before.replace("        return", f"{more}        return")
    after = before.replace(
        "self.scores = torch.zeros(count, 1)",
        'self.register_buffer("scores", torch.zeros(count, 1))',
    )
    assert before != after and not list(told_by(learned, before, after))


def test_a_class_that_learns_nothing_has_constants() -> None:
    before = MIX.format(made="torch.zeros(count, 1)", use=USE).replace("nn.Parameter", "float")
    after = before.replace(
        "self.scores = torch.zeros(count, 1)",
        'self.register_buffer("scores", torch.zeros(count, 1))',
    )
    assert not list(told_by(learned, before, after))
