"""Parts of a program that are put away before their last use."""

from __future__ import annotations

from pathlib import Path

import pytest
from repair.proposals import proposed

HEAD = """\
import torch
from torch import nn


class Pipe:
    def __init__(self):
        self.text, self.body = nn.Linear(3, 3), nn.Linear(3, 2)

    def enter(self, part):
        return part.to("cuda")

    def leave(self, part):
        part.to("cpu")
        torch.cuda.empty_cache()

    def run(self, x, y):
"""
CALL = """
x = torch.ones(2, 3, device="cuda")
Pipe().run(x, x)
"""


@pytest.mark.parametrize(
    ("body", "row"),
    [
        (
            """\
        text = self.enter(self.text)
        a = text(x)
        self.leave(text)
        b = text(y)
        return a + b
""",
            "self.leave(text)",
        ),
        (
            """\
        self.enter(self.text)
        a = self.text(x)
        self.text.cpu()  # makes room
        if y is not None:
            a = a + self.text(y)
        return a
""",
            "self.text.cpu()  # makes room",
        ),
    ],
)
def test_what_is_put_away_too_early_is_put_away_after_its_last_use(
    tmp_path: Path, body: str, row: str
) -> None:
    program = HEAD + body + CALL
    assert any(row in one for one in proposed(tmp_path, program))


@pytest.mark.parametrize(
    "body",
    [
        # nothing can follow the use
        """\
        text = self.enter(self.text)
        a = text(x)
        self.leave(text)
        return a + text(y)
""",
        # the next turn of a loop uses it
        """\
        self.enter(self.text)
        for one in (x, y):
            a = self.text(one)
            self.leave(self.text)
        return a
""",
    ],
)
def test_what_is_used_where_the_function_ends_or_begins_again_is_left(
    tmp_path: Path, body: str
) -> None:
    rows = {row for one in proposed(tmp_path, HEAD + body + CALL) for row in one}
    assert not rows & {"self.leave(text)", "self.leave(self.text)"}
