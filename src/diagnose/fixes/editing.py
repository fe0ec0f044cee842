"""The gate that every edit of a user's line passes before anybody sees it.

An edit says two things: which characters it replaces, and what that makes of the syntax tree. Both are
done, and only where the edited text, parsed as the original was, gives just the edited tree is it shown.
What is cut off, mistaken in its columns, or would bind differently is thereby never printed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from diagnose import sourceline
from diagnose.facts.stray import Meeting
from diagnose.model import Frame, Report
from diagnose.sourceline import SourceLine


class Site(NamedTuple):
    """The line to edit, what met there, and what the message says."""

    frame: Frame
    met: Meeting
    report: Report

    @property
    def line(self) -> SourceLine:
        """The parsed line."""
        return self.met.line

    def text(self, node: ast.expr) -> str:
        """A node as it stands in the line."""
        return self.line.segment(node)


class Change(NamedTuple):
    """Characters ``start`` to ``end`` of the line become ``text``, and with them ``node`` of its tree
    becomes ``becomes``."""

    start: int
    end: int
    text: str
    node: ast.AST
    becomes: ast.AST


def replaced(site: Site, node: ast.expr, text: str) -> Change | None:
    """The change of an expression to another one; None where ``text`` is none."""
    try:
        becomes = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return Change(*site.line.span(node), text, node, becomes)


def without_keyword(site: Site, call: ast.Call, keyword: ast.keyword) -> Change | None:
    """The change that takes a keyword and one comma out of a call."""
    line = site.line
    if not line.whole(keyword):
        return None
    start, end = line.span(keyword)
    after = line.text[end:]
    if after.lstrip().startswith(","):
        end += after.index(",") + 1
        rest = line.text[end:]
        if rest.strip() and not rest.lstrip().startswith((")", "#")):
            end += len(rest) - len(rest.lstrip(" "))
        else:
            start = _before_comma(line.text, start)
    else:
        start = _before_comma(line.text, start)
    becomes = copy.copy(call)
    becomes.keywords = [k for k in call.keywords if k is not keyword]
    return Change(start, end, "", call, becomes)


def _before_comma(text: str, start: int) -> int:
    """Where the comma before an offset stands, else the offset."""
    before = text[:start].rstrip()
    return len(before) - 1 if before.endswith(",") else start


def applied(line: SourceLine, changes: Sequence[Change | None]) -> str | None:
    """The changed text; None where it would not be just what the changes say.

    Args:
        line: the parsed line.
        changes: what to change; None among them, or no change at all, gives None.
    """
    sure = [change for change in changes if change is not None]
    if not sure or len(sure) < len(changes):
        return None
    quoted = _within_strings(line)
    for change in sure:
        if id(change.node) in quoted or not 0 <= change.start <= change.end <= len(line.text):
            return None
    text, last = line.text, len(line.text)
    for change in sorted(sure, key=lambda change: -change.start):
        if change.end > last:
            return None  # two changes of one place
        text, last = text[: change.start] + change.text + text[change.end :], change.start
    if text == line.text:
        return None
    tree = sourceline.read(text, line.reading)
    try:
        swaps = {id(change.node): change.becomes for change in sure}
        same = tree is not None and _shape(tree, {}) == _shape(line.tree, swaps)
    except RecursionError:
        return None
    return text if same else None


def _within_strings(line: SourceLine) -> set[int]:
    """The nodes inside of f-strings: before Python 3.12 they have no columns, and may hold no quotes."""
    return {
        id(inner)
        for node in line.nodes
        if isinstance(node, ast.JoinedStr)
        for inner in ast.walk(node)
    }


def _shape(node: object, swaps: Mapping[int, ast.AST]) -> object:
    """A tree as nested tuples, with some of its nodes swapped for others."""
    if isinstance(node, ast.AST):
        node = swaps.get(id(node), node)
        fields = (name for name in node._fields if name not in ("ctx", "type_comment"))
        return (type(node), *(_shape(getattr(node, name, None), swaps) for name in fields))
    if isinstance(node, list):
        return tuple(_shape(item, swaps) for item in node)
    return (type(node), repr(node))
