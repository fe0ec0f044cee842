"""The line that an answer names, of a statement over several lines that an edit changes."""

from __future__ import annotations

import ast

from diagnose.fixes.lines import edited
from diagnose.model import Edit, Fix, Frame
from diagnose.placement.model import Source, Spot, Suspect

TEXT = """\
self.steps = [
    nn.Linear(3, 3),
]
"""
SOURCE = Source("net.py", TEXT.split("\n"), ast.parse(TEXT))
SUSPECT = Suspect("unregistered-submodule", "self.steps", Spot(SOURCE, SOURCE.tree.body[0]))
FIRST = Frame("net.py", 1, None, "self.steps = [")


def _named(line: int, before: str, after: str) -> int | None:
    fix = Fix("register-module", "", "a patch", edit=Edit("net.py", line, before, after))
    named = edited(FIRST, SUSPECT, [fix])
    assert named is not None
    return named.line


def test_a_line_that_is_changed() -> None:
    assert _named(2, "    nn.Linear(3, 3),", "    nn.Linear(3, 3, device=device),") == 2


def test_a_statement_that_another_one_is_added_to() -> None:
    assert _named(3, "]", "]\nself.layers = nn.ModuleList(self.steps)") == 1
