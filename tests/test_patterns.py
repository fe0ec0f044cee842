"""Patterns that compile late must still be right: every one of the package compiles, and works as compiled."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

from diagnose.patterns import _Lazy, lazy


def held() -> list[tuple[str, _Lazy]]:
    """Every late pattern that a module of the parsing, the facts and the ranking holds, with its name."""
    found: list[tuple[str, _Lazy]] = []
    for package in ("parsing", "facts", "ranking", "fixes", "rendering", "casebase"):
        root = importlib.import_module(f"diagnose.{package}")
        for module in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
            names = vars(importlib.import_module(module.name))
            found += [(f"{module.name}.{k}", v) for k, v in names.items() if isinstance(v, _Lazy)]
    return found


def test_every_pattern_compiles() -> None:
    patterns = held()
    assert len(patterns) > 50
    for name, pattern in patterns:
        assert pattern.search, (
            name
        )  # compiled by that; what an earlier test has compiled is not compiled anew


def test_it_does_what_the_compiled_one_does() -> None:
    pattern = lazy(r"(?P<device>cuda:\d+)", re.IGNORECASE)
    assert pattern.search("on CUDA:1")["device"] == "CUDA:1"  # type: ignore[index]
    assert pattern.sub("cpu", "x.to(cuda:0)") == "x.to(cpu)"
    assert lazy(rb"\d+").findall(b"1 2") == [b"1", b"2"]


def test_a_wrong_pattern_is_told_at_its_first_use() -> None:
    pattern = lazy("(")
    with pytest.raises(re.error):
        pattern.match("x")
