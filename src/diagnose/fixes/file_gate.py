"""The gate that every edit of a file passes before anybody sees it.

As in `line_gate`, an edit says two things: which characters of the file it replaces, and what that makes of
the syntax tree. Both are done, and only where the edited file, parsed, is just the edited tree is it shown.
Characters that no edit names stay as they are: comments, blank lines, tabs, carriage returns.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from diagnose.fixes.line_gate import Refused
from diagnose.fixes.no_ops import moves_nothing
from diagnose.placement.model import Source


class Splice(NamedTuple):
    """Characters ``start`` to ``end`` of a file become ``text``."""

    start: int
    end: int
    text: str


class Change(NamedTuple):
    """Splices, and what ``node`` becomes by them: one node, several statements in its place, or none.

    ``aside`` marks what the edit only needs, such as an import.
    """

    splices: tuple[Splice, ...]
    node: ast.AST
    becomes: tuple[ast.AST, ...]
    aside: bool = False


class Lines(NamedTuple):
    """Lines of a file, from number ``line`` on, before and after."""

    line: int
    before: tuple[str, ...]
    after: tuple[str, ...]


def rewritten(source: Source, changes: Sequence[Change]) -> str:
    """The text of the edited file.

    Args:
        source: the file.
        changes: what to change in it.

    Raises:
        Refused: it would not be just what the changes say, or they change nothing.
    """
    text = source.text
    if not changes:
        raise Refused("the file shows nothing that this edit changes")
    if "\r" in text.replace("\r\n", ""):
        raise Refused("carriage returns without line feeds end some lines of the file")
    new = spliced(text, splices(changes))
    if new == text:
        raise Refused("the file already reads so")
    swaps = {id(change.node): change.becomes for change in changes}
    if len(swaps) < len(changes):
        raise Refused("two changes of one place")
    idle = any(_MOVE.search(splice.text) for splice in splices(changes))
    for first, last in _regions(source, changes):
        try:
            read = ast.parse(_region(source, changes, first, last)).body
            same = _alike(read, source.tree.body[first : last + 1], swaps)
            idle = idle and moves_nothing(ast.parse(_region(source, (), first, last)).body, read)
        except (SyntaxError, ValueError) as error:
            raise Refused("the edited file would be no Python") from error
        except (RecursionError, MemoryError) as error:
            raise Refused("the file is nested too deeply") from error
        if not same:
            raise Refused("the edited file would read otherwise than meant")
    if idle:
        raise Refused("it moves what is there already, or a copy that nobody keeps")
    return new


_MOVE = re.compile(r"\.(to|cuda|cpu|xpu|npu|to_empty)\(")


# Parsing takes longer than all the rest. Statements at the top of a file read the same whatever stands
# beside them, so only those are parsed again that changes touch.


def _regions(source: Source, changes: Sequence[Change]) -> list[tuple[int, int]]:
    """The first and last of the neighbouring statements of the file that changes touch, in order."""
    starts = statement_lines(source.tree)
    lines: set[int] = set()
    for change in changes:
        lines.add(getattr(change.node, "lineno", 1))
        for splice in change.splices:
            lines |= {line_of(source, splice.start), line_of(source, splice.end)}
    touched = sorted({max(0, bisect_right(starts, line) - 1) for line in lines})
    found = list[tuple[int, int]]()
    for number in touched:
        # Statements of one line belong together.
        while number > 0 and (source.tree.body[number - 1].end_lineno or 0) >= starts[number]:
            number -= 1
        end = number
        while end + 1 < len(starts) and starts[end + 1] <= (source.tree.body[end].end_lineno or 0):
            end += 1
        if found and found[-1][1] >= number - 1:
            number, end = found[-1][0], max(end, found.pop()[1])
        found.append((number, end))
    return found


@lru_cache(maxsize=8)
def statement_lines(tree: ast.Module) -> Sequence[int]:
    """The lines that the statements of a file begin in, their decorators among them."""
    return [
        min([one.lineno, *(d.lineno for d in getattr(one, "decorator_list", ()))])
        for one in tree.body
    ]


def _region(source: Source, changes: Sequence[Change], first: int, last: int) -> str:
    """The edited lines of statements of the file, as far as to the next one."""
    starts = statement_lines(source.tree)
    start = offset_of_line(source, starts[first]) if first > 0 else 0
    end = offset_of_line(source, starts[last + 1]) if last + 1 < len(starts) else len(source.text)
    inside = [
        s._replace(start=s.start - start, end=s.end - start)
        for s in splices(changes)
        if start <= s.start <= s.end <= end
    ]
    return spliced(source.text[start:end], inside)


def line_of(source: Source, offset: int) -> int:
    """The line of an offset in characters, counted from 1."""
    return bisect_right(source.offsets, offset, hi=len(source.lines))


def splices(changes: Sequence[Change]) -> list[Splice]:
    """The splices of all changes in the order of the file; two at one place keep the changes' order."""
    return sorted((s for change in changes for s in change.splices), key=lambda s: (s.start, s.end))


def spliced(text: str, ordered: Sequence[Splice]) -> str:
    """A text with its splices made. Raises `Refused` where two of them replace the same characters."""
    parts, done = [], 0
    for splice in ordered:
        if not done <= splice.start <= splice.end <= len(text):
            raise Refused("two changes of one place")
        parts += [text[done : splice.start], splice.text]
        done = splice.end
    return "".join([*parts, text[done:]])


def changed_lines(source: Source, changes: Sequence[Change]) -> list[Lines]:
    """The lines that changes replace, in order, without those that stay at their beginning and end."""
    groups: list[tuple[int, int, list[Splice]]] = []  # first and last line, counted from 0
    for splice in splices(changes):
        first, last = (line_of(source, at) - 1 for at in (splice.start, splice.end))
        if groups and groups[-1][1] >= first - 1:
            start, end, together = groups.pop()
            groups.append((start, max(end, last), [*together, splice]))
        else:
            groups.append((first, last, [splice]))
    found = []
    for first, last, together in groups:
        offset = offset_of_line(source, first + 1)
        before = "\n".join(source.lines[first : last + 1])
        moved = [s._replace(start=s.start - offset, end=s.end - offset) for s in together]
        found.append(_trimmed(first + 1, before.split("\n"), spliced(before, moved).split("\n")))
    return [lines for lines in found if lines.before or lines.after]


def _trimmed(line: int, before: list[str], after: list[str]) -> Lines:
    """Lines without those that stay, before and after those that change."""
    while before and after and before[0] == after[0]:
        del before[0], after[0]
        line += 1
    while before and after and before[-1] == after[-1]:
        del before[-1], after[-1]
    return Lines(line, tuple(before), tuple(after))


def offset_of_line(source: Source, number: int) -> int:
    """The offset in characters of a line, counted from 1."""
    return source.offsets[number - 1]


def _same(new: object, old: object, swaps: Mapping[int, Sequence[ast.AST]]) -> bool:
    """Whether a tree is another one with some of its nodes swapped."""
    if isinstance(old, ast.AST) and id(old) in swaps:
        becomes = swaps[id(old)]
        return len(becomes) == 1 and _alike(new, becomes[0], swaps)
    return _alike(new, old, swaps)


def _alike(new: object, old: object, swaps: Mapping[int, Sequence[ast.AST]]) -> bool:
    """`_same`, for a node that is not swapped itself."""
    if type(new) is not type(old):
        return False
    if isinstance(old, ast.AST):
        fields = (name for name in old._fields if name not in ("ctx", "type_comment", "kind"))
        return all(_same(getattr(new, f, None), getattr(old, f, None), swaps) for f in fields)
    if isinstance(old, list) and isinstance(new, list):
        # Each with whether it may be swapped still: what a node became may hold the node itself.
        wanted = [
            (one, id(item) not in swaps) for item in old for one in swaps.get(id(item), (item,))
        ]
        return len(new) == len(wanted) and all(
            (_same if open_ else _alike)(a, b, swaps)
            for a, (b, open_) in zip(new, wanted, strict=True)
        )
    return repr(new) == repr(old)
