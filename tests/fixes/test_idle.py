"""Edits that change nothing."""

from __future__ import annotations

import ast

import pytest

from diagnose.fixes.no_ops import moves_nothing


@pytest.mark.parametrize(
    ("before", "after", "nothing"),
    [
        ("y = x.to(d)", "y = x.to(d).to(d)", True),
        ("y = x.to(d)", "y = x.to(d).to(e)", False),
        ("x.add_(1)", "x.to(d).add_(1)", True),
        ("y = x.add_(1)", "y = x.to(d).add_(1)", False),
        ("ok = x.is_cuda", "ok = x.to(d).is_cuda", True),
        ("ok = x.device.type == 'cuda'", "ok = x.to(d).device.type == 'cuda'", True),
        ("n = x.shape", "n = x.to(d).shape", False),
    ],
)
def test_a_move_that_nobody_notices_is_none(before: str, after: str, nothing: bool) -> None:
    assert moves_nothing(ast.parse(before).body, ast.parse(after).body) is nothing
