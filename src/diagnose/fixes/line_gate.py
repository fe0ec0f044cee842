"""The gate that every edit of a user's line passes before anybody sees it.

An edit says two things: which characters it replaces, and what that makes of the syntax tree. Both are
done, and only where the edited text, parsed as the original was, gives just the edited tree is it shown.
What is cut off, mistaken in its columns, or would bind differently is thereby never printed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from diagnose.model import Frame, Report, TorchNames
from diagnose.placement.semantics import path_to
from diagnose.scene import Meeting, Place, Scene, sourceline
from diagnose.scene.sourceline import SourceLine


class Refused(Exception):
    """The line does not show enough to be sure of an edit; the message says what is missing."""


class Site(NamedTuple):
    """The line to edit and what met there, in its scene; for the operands that facts are about, how much
    these speak for the cause that is to be mended."""

    place: Place
    met: Meeting
    scene: Scene
    blamed: Mapping[str, float] = MappingProxyType({})

    @property
    def frame(self) -> Frame:
        """The frame whose line it is."""
        return self.place.frame

    @property
    def report(self) -> Report:
        """What the message says."""
        return self.scene.report

    @property
    def line(self) -> SourceLine:
        """The parsed line."""
        return self.met.line

    @property
    def torch(self) -> TorchNames:
        """What torch calls its things."""
        return self.scene.knowledge.torch

    @property
    def within(self) -> list[ast.AST]:
        """The class and function of the line, where its file is at hand, and its statement."""
        source, around = self.scene.source_of(self.frame), list[ast.AST]()
        if (
            source is not None
            and (function := source.function_at(self.frame.line or 0)) is not None
        ):
            around = path_to(source.tree, function)
        return [*around, *self.line.tree.body]

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


def replaced(site: Site, node: ast.expr, text: str) -> Change:
    """The change of an expression to another one. Raises `Refused` where ``text`` is none."""
    try:
        becomes = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Refused(f"{text} is no Python expression") from error
    return Change(*site.line.span(node), text, node, becomes)


def without_keyword(site: Site, call: ast.Call, keyword: ast.keyword) -> Change:
    """The change that takes a keyword and one comma out of a call. Raises `Refused` where it is cut off."""
    line = site.line
    if not line.whole(keyword):
        raise Refused(f"{keyword.arg}= is cut off")
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


def applied(line: SourceLine, changes: Sequence[Change]) -> str:
    """The changed text.

    Args:
        line: the parsed line.
        changes: what to change.

    Raises:
        Refused: it would not be just what the changes say, or they change nothing.
    """
    if not changes:
        raise Refused("the line shows nothing that this edit changes")
    quoted = _within_strings(line)
    for change in changes:
        if id(change.node) in quoted:
            raise Refused("what is to change stands in an f-string")
        within = 0 <= change.start <= change.end <= len(line.text)
        if not within or not line.settled(change.start, change.end):
            raise Refused("what is to change is cut off")
    text, last = line.text, len(line.text)
    for change in sorted(changes, key=lambda change: -change.start):
        if change.end > last:
            raise Refused("two changes of one place")
        text, last = text[: change.start] + change.text + text[change.end :], change.start
    if text == line.text:
        raise Refused("the line already reads so")
    tree = sourceline.read(text, line.reading)
    try:
        swaps = {id(change.node): change.becomes for change in changes}
        same = tree is not None and _shape(tree, {}) == _shape(line.tree, swaps)
    except RecursionError as error:
        raise Refused("the line is nested too deeply") from error
    if not same:
        raise Refused(f"the edited text would read otherwise than meant: {text}")
    return text


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
