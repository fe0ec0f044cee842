"""An edit of a file as people and tools take it: lines before and after, a diff, all of the text."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from diagnose.fixes.file_gate import Change, Lines, changed_lines, rewritten
from diagnose.placement.model import Source


class FileEdit(NamedTuple):
    """An edit of a file: ``before`` and ``after`` are whole lines, from ``line`` on, that hold all that it
    changes but what stands aside: imports, and what is mended elsewhere in the same way.

    Args:
        file: its path.
        line: the first of those lines. Where lines only come or go, the line beside them is the first.
        before: those lines of the file, without a line feed at the end.
        after: what they become.
        diff: all changes as a unified diff that applies in the file's folder; None for what is no file.
        text: all of the edited file.
    """

    file: str
    line: int
    before: str
    after: str
    diff: str | None
    text: str

    @property
    def name(self) -> str:
        """The file's name in its folder."""
        return _name(self.file)


def file_edit(source: Source, changes: Sequence[Change]) -> FileEdit:
    """The edit that changes make of a file. Raises `Refused` where the gate does (`file_gate`)."""
    text = rewritten(source, changes)
    main = changed_lines(source, [change for change in changes if not change.aside])
    first, end = main[0].line, main[-1].line + len(main[-1].before)
    after = list(source.lines[first - 1 : end - 1])
    for lines in reversed(main):
        start = lines.line - first
        after[start : start + len(lines.before)] = lines.after
    if end == first or not after:  # lines only come or go: a line beside them says where
        above = first > 1
        first, end = (first - 1, end) if above else (first, end + 1)
        after = [source.lines[first - 1], *after] if above else [*after, source.lines[end - 2]]
    before = source.lines[first - 1 : end - 1]
    return FileEdit(
        source.path,
        first,
        "\n".join(before),
        "\n".join(after),
        _diff(source, changed_lines(source, changes)),
        text,
    )


def joined(source: Source, first: FileEdit, text: str) -> FileEdit:
    """An edit with others that follow it, as one: its own lines, and a diff of all.

    Args:
        source: the file as it is.
        first: the edit.
        text: all of the file after the others, too.
    """
    after = text.split("\n")
    blocks = SequenceMatcher(None, source.lines, after, autojunk=False).get_opcodes()
    changed = [
        Lines(start + 1, tuple(source.lines[start:end]), tuple(after[to:last]))
        for tag, start, end, to, last in blocks
        if tag != "equal"
    ]
    return first._replace(diff=_diff(source, changed), text=text)


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


_CONTEXT = 3


def _diff(source: Source, changed: Sequence[Lines]) -> str | None:
    """A unified diff with three lines of context, from the folder that the file is in."""
    name = _name(source.path)
    if source.path.startswith("<") or not name.isprintable():
        return None  # a notebook's cell, a string that was executed
    printed, shift = [f"--- a/{name}", f"+++ b/{name}"], 0
    for hunk in _hunks([_with_last_line(source, one) for one in changed]):
        first, last = hunk[0], hunk[-1]
        start = max(1, first.line - _CONTEXT)
        end = min(_length(source.lines) + 1, last.line + len(last.before) + _CONTEXT)
        body, at = list[str](), start
        for one in hunk:
            body += _printed(" ", source.lines, at, one.line)
            at = one.line + len(one.before)
            body += _printed("-", source.lines, one.line, at)
            body += _added(one, ends=at > len(source.lines))
        body += _printed(" ", source.lines, at, end)
        taken = sum(line[0] in " -" for line in body)
        given = sum(line[0] in " +" for line in body)
        printed.append(f"@@ -{start},{taken} +{start + shift},{given} @@")
        printed += body
        shift += given - taken
    return "\n".join(printed) + "\n"


def _hunks(changed: Sequence[Lines]) -> list[list[Lines]]:
    """Lines so near to each other that they share context stand in one hunk."""
    hunks: list[list[Lines]] = []
    for one in changed:
        last = hunks[-1][-1] if hunks else None
        if last is not None and one.line - last.line - len(last.before) <= 2 * _CONTEXT:
            hunks[-1].append(one)
        else:
            hunks.append([one])
    return hunks


def _with_last_line(source: Source, one: Lines) -> Lines:
    """Lines behind a last one that lacks its line feed change that too: it gets one."""
    if one.line <= len(source.lines):
        return one
    last = source.lines[-1]
    return Lines(one.line - 1, (last, *one.before), (last, *one.after))


_NO_LINE_FEED = "\\ No newline at end of file"


def _length(lines: Sequence[str]) -> int:
    """How many lines a file has: what stands after the last line feed is none, if it is empty."""
    return len(lines) - (lines[-1] == "")


def _printed(sign: str, lines: Sequence[str], start: int, end: int) -> list[str]:
    """Lines ``start`` to before ``end`` of the file, of which the last one may lack its line feed."""
    printed = [f"{sign}{line}" for line in lines[start - 1 : min(end - 1, _length(lines))]]
    if printed and end > len(lines) and lines[-1]:
        printed.append(_NO_LINE_FEED)
    return printed


def _added(one: Lines, ends: bool) -> list[str]:
    """The lines that come, which end the file where ``ends`` says so."""
    after = one.after[:-1] if ends and one.after[-1:] == ("",) else one.after
    printed = [f"+{line}" for line in after]
    if ends and after == one.after and after:
        printed.append(_NO_LINE_FEED)
    return printed
