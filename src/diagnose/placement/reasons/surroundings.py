"""The code around a place: the function that it is in, and what conditions and handlers stand around it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import lru_cache

from diagnose.placement.machine import Meeting
from diagnose.placement.model import Spot
from diagnose.placement.semantics import walk

_Function = ast.FunctionDef | ast.AsyncFunctionDef
#: What conditions of code say that does one thing on a GPU and another one elsewhere.
OF_DEVICES = ("cuda", "gpu", "cpu", "device")


@lru_cache(maxsize=8)
def classes_of(tree: ast.Module) -> dict[str, list[ast.ClassDef]]:
    """The classes of a file, by their names."""
    found: dict[str, list[ast.ClassDef]] = {}
    for one in walk(tree):
        if isinstance(one, ast.ClassDef):
            found.setdefault(one.name, []).append(one)
    return found


@lru_cache(maxsize=8)
def asks_for_a_device(function: _Function) -> bool:
    """Whether a condition within a function asks for a device."""
    tests = (one.test for one in walk(function) if isinstance(one, ast.If | ast.IfExp | ast.Assert))
    return any(word in ast.unparse(test) for test in tests for word in OF_DEVICES)


def is_of_some(meeting: Meeting) -> bool:
    """Whether a condition decides which processes come to a meeting, or another file where they are."""
    return _is_joined(meeting) or any(
        spot.line in _guarded(spot.source.tree) for spot in (meeting.spot, *meeting.calls)
    )


def is_caught(meeting: Meeting) -> bool:
    """Whether the program goes on where code refuses what it is given."""
    return any(spot.line in _tried(spot.source.tree) for spot in (meeting.spot, *meeting.calls))


@lru_cache(maxsize=8)
def _tried(tree: ast.Module) -> frozenset[int]:
    """The lines of a file in the body of a ``try``."""
    return _lines(
        (one.body[0], one.body[-1])
        for one in walk(tree)
        if isinstance(one, ast.Try) and one.handlers
    )


def is_handling(spot: Spot) -> bool:
    """Whether a place is in a handler: the program comes there where something else has failed."""
    return spot.line in _handled(spot.source.tree)


@lru_cache(maxsize=16)
def _handled(tree: ast.Module) -> frozenset[int]:
    """The lines of a file in a handler."""
    return _lines(
        (one.body[0], one.body[-1]) for one in walk(tree) if isinstance(one, ast.ExceptHandler)
    )


@lru_cache(maxsize=8)
def _guarded(tree: ast.Module) -> frozenset[int]:
    """The lines of a file under a condition, other than that it is the program."""
    return _lines(
        (one.body[0], one)
        for one in walk(tree)
        if isinstance(one, ast.If) and "__name__" not in ast.unparse(one.test)
    )


def is_expected(meeting: Meeting) -> bool:
    """Whether a test says that what meets here is refused."""
    return any(spot.line in _refused(spot.source.tree) for spot in (meeting.spot, *meeting.calls))


@lru_cache(maxsize=8)
def _refused(tree: ast.Module) -> frozenset[int]:
    """The lines of a file that a test expects an error of."""
    return _lines(
        (one.body[0], one)
        for one in walk(tree)
        if isinstance(one, ast.With)
        and any(_EXPECTS.search(ast.unparse(item.context_expr)) for item in one.items)
    )


def _lines(spans: Iterable[tuple[ast.stmt, ast.stmt | ast.ExceptHandler]]) -> frozenset[int]:
    """The lines from the first to the last of two nodes."""
    return frozenset(
        line
        for first, last in spans
        for line in range(first.lineno, (last.end_lineno or last.lineno) + 1)
    )


#: Contexts of tests whose bodies fail.
_EXPECTS = re.compile(r"\b(assertRaises|assertRaisesRegex|raises|suppress)\(")


def is_test(spot: Spot) -> bool:
    """Whether a place is in a test: what it asserts, it was seen to hold."""
    function = spot.enclosing
    return function is not None and function.name.startswith("test")


def _is_joined(meeting: Meeting) -> bool:
    """Whether the processes that ask for their rank here were joined elsewhere, where each may have chosen
    its device."""
    calls = _called(meeting.spot.source.tree)
    return "get_rank" in calls and calls.isdisjoint(_JOINING)


#: What joins processes, or chooses a device for one.
_JOINING = frozenset({"init_process_group", "set_device", "spawn", "start_processes"})


@lru_cache(maxsize=8)
def _called(tree: ast.Module) -> frozenset[str]:
    """The last names of what a file calls."""
    return frozenset(
        one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "")
        for one in walk(tree)
        if isinstance(one, ast.Call)
    )
