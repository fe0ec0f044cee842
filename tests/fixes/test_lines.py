"""The line that an answer names is the one that its first edit changes."""

from __future__ import annotations

from diagnose.fixes.lines import edited
from diagnose.model import Edit, Fix, Frame

FIRST = Frame("net.py", 1, None, "self.steps = [")


def _named(line: int, before: str, after: str) -> int | None:
    fix = Fix("register-module", "", "a patch", edit=Edit("net.py", line, before, after))
    named = edited(FIRST, [fix])
    assert named is not None
    return named.line


def test_a_line_that_is_changed() -> None:
    assert _named(2, "    nn.Linear(3, 3),", "    nn.Linear(3, 3, device=device),") == 2


def test_a_statement_that_another_one_is_added_to() -> None:
    assert _named(3, "]", "]\nself.layers = nn.ModuleList(self.steps)") == 1


def test_a_line_of_another_file_that_is_changed() -> None:
    fix = Fix(
        "move-input", "", "a patch", edit=Edit("train.py", 9, "    net(x)", "    net(x.cuda())")
    )
    assert edited(FIRST, [fix]) == Frame("train.py", 9, None, "net(x)")


def test_a_fix_that_changes_no_line() -> None:
    assert edited(FIRST, [Fix("single-gpu", "")]) == FIRST
