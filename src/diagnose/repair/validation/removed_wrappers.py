"""Edits that take a wrapper away for all modes of a program, where only one of them splits the model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from diagnose.placement.semantics import calls, nodes
from diagnose.repair.model import Sentence, said
from diagnose.repair.patch import Patch
from diagnose.repair.scopes import blocks


class _Wrapped(NamedTuple):
    """A question after which a model is wrapped, and the one before it that chooses how it is placed."""

    wraps: ast.If
    places: ast.If


def unwrapped(patch: Patch) -> Iterator[Sentence]:
    """No edit takes away a wrapper of what the program places in two ways: one of them wants it."""
    for one in _gone(patch):
        yield said("emptied", line=one.wraps.lineno)


def wrapping(patch: Patch) -> Iterator[str]:
    """The text with the wrapper for the other ways only, or for what is on one device."""
    for wraps, places in _gone(patch):
        yield from _asking(patch.before, wraps.test, f"not ({ast.unparse(places.test)})")
    for question, name in _taken(patch):
        devices = f"len({{one.device for one in {name}.parameters()}}) < 2"
        yield from _asking(patch.before, question.test, devices)


def _asking(text: str, test: ast.expr, other: str) -> Iterator[str]:
    """The text in which a condition asks for something else, too."""
    rows = text.split("\n")
    alone = isinstance(test, ast.Compare | ast.Name | ast.Attribute | ast.Call)
    if test.lineno == test.end_lineno and alone:
        row = rows[test.lineno - 1].encode()
        end = test.end_col_offset or 0
        rows[test.lineno - 1] = (row[:end] + f" and {other}".encode() + row[end:]).decode()
        yield "\n".join(rows)


def _taken(patch: Patch) -> Iterator[tuple[ast.If | ast.IfExp, str]]:
    """The questions after which a model is wrapped, in which an edit has taken the wrapper away; and the
    model's name."""
    left = [ast.unparse(node) for node in nodes(patch.new, ast.If, ast.IfExp)]
    for node in nodes(patch.old, ast.If, ast.IfExp):
        if ast.unparse(node) in left:
            continue
        for call in calls(node):
            match call:
                case ast.Call(func=func, args=[ast.Name(id=name), *_]):
                    if ast.unparse(func).endswith("DataParallel"):
                        yield node, name
                        break


def _gone(patch: Patch) -> Iterator[_Wrapped]:
    left = [ast.unparse(node) for node in nodes(patch.new, ast.If)]
    for block in blocks(patch.old):
        for at, one in enumerate(block):
            if not isinstance(one, ast.If) or not (name := _name(one)):
                continue
            if ast.unparse(one) in left or "DataParallel" not in ast.unparse(one):
                continue
            for other in block[:at]:
                if isinstance(other, ast.If) and other.orelse and _places(other, name):
                    yield _Wrapped(one, other)


def _name(node: ast.AST) -> str:
    """The name of what a question's only statement wraps."""
    match node:
        case ast.If(
            body=[
                ast.Assign(
                    targets=[ast.Name(id=name)], value=ast.Call(args=[ast.Name(id=given), *_])
                )
            ],
            orelse=[],
        ) if name == given:
            return name
    return ""


def _places(node: ast.If, name: str) -> bool:
    """Whether both branches of a question call methods of a name."""
    return all(
        any(
            isinstance(one.value, ast.Name) and one.value.id == name
            for row in branch
            for one in nodes(row, ast.Attribute)
        )
        for branch in (node.body, node.orelse)
    )
