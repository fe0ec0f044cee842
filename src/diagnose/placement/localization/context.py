"""The code around a place: the function that it is in, and what conditions and handlers stand around it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import lru_cache

from diagnose.placement.machine import Meeting
from diagnose.placement.model import Spot
from diagnose.placement.semantics import Function, calls, lines_of, nodes, reads

#: What conditions of code say that does one thing on a GPU and another one elsewhere.
OF_DEVICES = ("cuda", "gpu", "cpu", "device")


@lru_cache(maxsize=8)
def classes_of(tree: ast.Module) -> dict[str, list[ast.ClassDef]]:
    """The classes of a file, by their names."""
    found: dict[str, list[ast.ClassDef]] = {}
    for one in nodes(tree, ast.ClassDef):
        found.setdefault(one.name, []).append(one)
    return found


@lru_cache(maxsize=8)
def asks_for_a_device(function: Function) -> bool:
    """Whether a condition within a function asks for a device."""
    tests = (one.test for one in nodes(function, ast.If, ast.IfExp, ast.Assert))
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
    return lines((one.body[0], one.body[-1]) for one in nodes(tree, ast.Try) if one.handlers)


def is_handling(spot: Spot) -> bool:
    """Whether a place is in a handler: the program comes there where something else has failed."""
    return spot.line in _handled(spot.source.tree)


@lru_cache(maxsize=16)
def _handled(tree: ast.Module) -> frozenset[int]:
    """The lines of a file in a handler."""
    return lines((one.body[0], one.body[-1]) for one in nodes(tree, ast.ExceptHandler))


@lru_cache(maxsize=8)
def _guarded(tree: ast.Module) -> frozenset[int]:
    """The lines of a file under a condition, other than that it is the program."""
    return lines(
        (one.body[0], one) for one in nodes(tree, ast.If) if not reads(one.test, "__name__")
    )


def is_expected(meeting: Meeting) -> bool:
    """Whether a test says that what meets here is refused."""
    return any(spot.line in _refused(spot.source.tree) for spot in (meeting.spot, *meeting.calls))


@lru_cache(maxsize=8)
def _refused(tree: ast.Module) -> frozenset[int]:
    """The lines of a file that a test expects an error of."""
    return lines(
        (one.body[0], one)
        for one in nodes(tree, ast.With)
        if any(_EXPECTS.search(ast.unparse(item.context_expr)) for item in one.items)
    )


def lines(spans: Iterable[tuple[ast.stmt, ast.stmt]]) -> frozenset[int]:
    """The lines from the first to the last of two statements."""
    return frozenset(line for first, last in spans for line in lines_of(first, last))


#: Contexts of tests whose bodies fail.
_EXPECTS = re.compile(r"\b(assertRaises|assertRaisesRegex|raises|suppress)\(")


def is_test(spot: Spot) -> bool:
    """Whether a place is in a test: what it asserts, it was seen to hold."""
    function = spot.enclosing
    return function is not None and function.name.startswith("test")


def _is_joined(meeting: Meeting) -> bool:
    """Whether the processes that ask for their rank here were joined elsewhere, where each may have chosen
    its device."""
    tree = meeting.spot.source.tree
    return bool(calls(tree, "get_rank")) and not calls(tree, *_JOINING)


#: What joins processes, or chooses a device for one.
_JOINING = frozenset({"init_process_group", "set_device", "spawn", "start_processes"})
