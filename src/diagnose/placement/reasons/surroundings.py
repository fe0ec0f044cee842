"""The code around a place: the function that it is in, and what conditions and handlers stand around it."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from diagnose.placement.machine import Meeting
from diagnose.placement.model import Spot
from diagnose.placement.walking import walk

_Function = ast.FunctionDef | ast.AsyncFunctionDef
#: What conditions of code say that does one thing on a GPU and another one elsewhere.
OF_DEVICES = ("cuda", "gpu", "cpu", "device")


def function_of(spot: Spot) -> _Function | None:
    """The innermost function that a place is in."""
    around = [
        one
        for one in _functions(spot.source.tree)
        if one.lineno <= spot.line <= (one.end_lineno or one.lineno)
    ]
    return max(around, key=lambda one: one.lineno, default=None)


@lru_cache(maxsize=8)
def _functions(tree: ast.Module) -> tuple[_Function, ...]:
    return tuple(one for one in walk(tree) if isinstance(one, _Function))


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
    return _is_joined(meeting) or any(_is_guarded(spot) for spot in (meeting.spot, *meeting.calls))


def is_caught(meeting: Meeting) -> bool:
    """Whether the program goes on where code refuses what it is given."""
    return any(
        first <= spot.line <= last
        for spot in (meeting.spot, *meeting.calls)
        for first, last in _tries(spot.source.tree)
    )


@lru_cache(maxsize=8)
def _tries(tree: ast.Module) -> tuple[tuple[int, int], ...]:
    """The lines of each ``try`` of a file."""
    return tuple(
        (one.body[0].lineno, one.body[-1].end_lineno or one.lineno)
        for one in walk(tree)
        if isinstance(one, ast.Try) and one.handlers
    )


def is_handling(spot: Spot) -> bool:
    """Whether a place is in a handler: the program comes there where something else has failed."""
    return any(first <= spot.line <= last for first, last in _handlers(spot.source.tree))


@lru_cache(maxsize=16)
def _handlers(tree: ast.Module) -> tuple[tuple[int, int], ...]:
    """The lines of each handler of a file."""
    return tuple(
        (one.body[0].lineno, one.body[-1].end_lineno or one.body[0].lineno)
        for one in walk(tree)
        if isinstance(one, ast.ExceptHandler)
    )


def _is_guarded(spot: Spot) -> bool:
    """Whether a condition stands around a place, other than that its file is the program."""
    return any(
        first <= spot.line <= last and "__name__" not in test
        for first, last, test in _conditions(spot.source.tree)
    )


@lru_cache(maxsize=8)
def _conditions(tree: ast.Module) -> tuple[tuple[int, int, str], ...]:
    """The lines under each condition of a file, and the condition."""
    return tuple(
        (one.body[0].lineno, one.end_lineno or one.lineno, ast.unparse(one.test))
        for one in walk(tree)
        if isinstance(one, ast.If)
    )


def is_expected(meeting: Meeting) -> bool:
    """Whether a test says that what meets here is refused."""
    return any(
        first <= spot.line <= last
        for spot in (meeting.spot, *meeting.calls)
        for first, last in _refused(spot.source.tree)
    )


@lru_cache(maxsize=8)
def _refused(tree: ast.Module) -> tuple[tuple[int, int], ...]:
    """The lines of a file that a test expects an error of."""
    return tuple(
        (one.body[0].lineno, one.end_lineno or one.lineno)
        for one in walk(tree)
        if isinstance(one, ast.With)
        and any(_EXPECTS.search(ast.unparse(item.context_expr)) for item in one.items)
    )


#: Contexts of tests whose bodies fail.
_EXPECTS = re.compile(r"\b(assertRaises|assertRaisesRegex|raises|suppress)\(")


def is_test(spot: Spot) -> bool:
    """Whether a place is in a test: what it asserts, it was seen to hold."""
    function = function_of(spot)
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
