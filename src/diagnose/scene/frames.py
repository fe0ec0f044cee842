"""`Frames`: where it failed, and whose lines those are, with whole statements from a frame's file; parsed,
never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from itertools import dropwhile, islice

from diagnose.bulkhead import guarded
from diagnose.model import Carets, Edits, Frame, Line, Report, Statement, indentation
from diagnose.patterns import in_package, lazy
from diagnose.scene import sourceline
from diagnose.scene.meeting import Place
from diagnose.sources import SourceFile, Sources

#: Of a larger file only the line itself is used: parsing it would take longer than all of the answer.
_LARGEST_PARSED = 250_000
_CONTEXT = 3


def with_lines(sources: Sources, frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames; those of the user's own whose line was not printed have it from their file."""
    sources.about(frames)

    def told(frame: Frame) -> Frame:
        file = sources.of(frame) if frame.own and not frame.code else None
        if file is None or frame.line is None:
            return frame
        return frame._replace(code=file.lines[frame.line - 1].strip())

    return tuple(guarded("sources", partial(told, frame), frame) for frame in frames)


def whole_statement(frame: Frame, file: SourceFile) -> Statement | None:
    """The whole statement of a frame in its file.

    None for the last line of a file that does not end in a line feed: no diff of it would apply.

    Args:
        frame: a frame of a report.
        file: the file in which its line stands.
    """
    lines = file.lines
    if frame.line is None or frame.line >= len(lines):
        return None
    first, last = _extent(lines, frame.line)
    text = _text(lines, first, last)
    if sourceline.parse(text) is None:
        first = last = frame.line
        text = _text(lines, first, last)
    return Statement(
        text=text,
        line=first,
        carets=_carets(frame, lines, first),
        raw=tuple(lines[first - 1 : last]),
        above=tuple(lines[max(0, first - 1 - _CONTEXT) : first - 1]),
        below=tuple(lines[last : min(last + _CONTEXT, len(lines) - 1)]),
    )


def _text(lines: Sequence[str], first: int, last: int) -> str:
    """The lines of a statement without the first one's indentation."""
    return "\n".join(line.removesuffix("\r") for line in lines[first - 1 : last]).strip()


def _extent(lines: Sequence[str], number: int) -> tuple[int, int]:
    """First and last line of the statement that a line belongs to; of a compound one its header."""
    if sum(map(len, lines)) > _LARGEST_PARSED:
        return number, number
    try:
        body: Sequence[ast.AST] = ast.parse("\n".join(lines)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return number, number
    while (found := _holding(body, number)) is not None:
        last = getattr(found, "end_lineno", number)
        blocks = _blocks(found)
        if not blocks:
            return getattr(found, "lineno", number), last
        first = min(getattr(node, "lineno", number) for node in blocks)
        if getattr(found, "lineno", number) <= number < first and not isinstance(found, _DEFINES):
            return getattr(found, "lineno", number), first - 1
        body = blocks
    return number, number


_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _holding(body: Sequence[ast.AST], number: int) -> ast.AST | None:
    """The statement or handler that a line stands in."""
    for node in body:
        if getattr(node, "lineno", 0) <= number <= getattr(node, "end_lineno", 0):
            return node
    return None


def _blocks(node: ast.AST) -> list[ast.AST]:
    """What stands in the blocks of a compound statement."""
    names = ("body", "orelse", "finalbody", "handlers", "cases")
    return [inner for name in names for inner in getattr(node, name, ())]


def _carets(frame: Frame, lines: Sequence[str], first: int) -> Carets | None:
    """The carets' place in the statement of the file."""
    printed = frame.statement
    if printed is None or printed.carets is None or frame.line is None:
        return None
    carets, rows = printed.carets, printed.text.split("\n")
    offset = frame.line - first

    def column(row: int, printed_column: int) -> int | None:
        at = frame.line - 1 + row if frame.line is not None else 0
        if row >= len(rows) or at >= len(lines) or lines[at].strip() != rows[row].strip():
            return None
        moved = indentation(lines[at]) - indentation(rows[row])
        stripped = indentation(lines[first - 1]) if offset + row == 0 else 0
        return printed_column + moved - stripped

    start, end = column(carets.line, carets.column), column(carets.end_line, carets.end)
    if start is None or end is None:
        return None
    return Carets(carets.line + offset, start, carets.end_line + offset, end)


#: Files whose frames are no place of anybody's code.
_GENERATED = ("<eval_with_key>", "<frozen ", "<string>", "<__array_function__", "<decorator-gen")
#: Wrappers that only pass a call on: no line of theirs joins tensors.
_MACHINERY = lazy(r"accelerate/(hooks|utils/operations|utils/memory)\.py$")

#: Lines of a file that are shown before and after the line to edit.
_AROUND = 5


class Frames:
    """The frames of a report, each with its statement, looked up once.

    Args:
        report: what was parsed.
        sources: finds the files that frames name; none are read if None.
    """

    def __init__(self, report: Report, sources: Sources | None) -> None:
        self.sources = sources
        self.report = report
        if sources is not None:
            self.report = report._replace(frames=with_lines(sources, report.frames))
        self._places: dict[int, Place] = {}

    @cached_property
    def innermost(self) -> Frame | None:
        """The last frame."""
        return self.report.frames[-1] if self.report.frames else None

    @cached_property
    def outermost(self) -> Frame | None:
        """The first frame."""
        return self.report.frames[0] if self.report.frames else None

    @cached_property
    def site(self) -> Place | None:
        """The innermost frame outside torch and the standard library: the line that called the op."""
        frame = next((f for f in self._peopled if f.library != "torch"), None)
        return self.place(frame) if frame is not None else None

    @cached_property
    def own(self) -> Place | None:
        """The innermost frame of the user's own code."""
        frame = next((f for f in self._peopled if f.own), None)
        return self.place(frame) if frame is not None else None

    @cached_property
    def near(self) -> tuple[Place, ...]:
        """The places that are closest to the failing op: the site and the user's own, each once."""
        return tuple(dict.fromkeys(one for one in (self.site, self.own) if one is not None))

    @cached_property
    def above(self) -> tuple[Place, ...]:
        """The places whose calls led to the site, outside torch, innermost first."""
        if self.site is None:
            return ()
        site = self.site.frame
        begun = dropwhile(lambda frame: frame is not site, self._peopled)
        return tuple(self.place(f) for f in islice(begun, 1, None) if f.library != "torch")

    @cached_property
    def _peopled(self) -> tuple[Frame, ...]:
        """The frames that hold somebody's code, no generated code or mere wrapper; innermost first."""
        return tuple(
            frame
            for frame in reversed(self.report.frames)
            if not (frame.stdlib or frame.file.startswith(_GENERATED))
            and not _MACHINERY.search(frame.file.replace("\\", "/"))
        )

    def place(self, frame: Frame) -> Place:
        """A frame with its statement; the same place for the same frame."""
        found = self._places.get(id(frame))
        if found is None:
            statement = frame.statement
            if self.sources is not None:
                statement = guarded("sources", partial(self._read, frame), None) or statement
            found = self._places[id(frame)] = Place(frame, statement, carets=self.has_carets)
        return found

    @cached_property
    def has_carets(self) -> bool:
        """True where the traceback underlines what failed, as Python does since 3.11."""
        return any(f.statement is not None and f.statement.carets for f in self.report.frames)

    def _read(self, frame: Frame) -> Statement | None:
        file = self.sources.of(frame) if self.sources is not None else None
        return whole_statement(frame, file) if file is not None else None

    def around(self, place: Place) -> tuple[Line, ...]:
        """The lines of a place's file around its line, empty where the file was not read."""
        file = self.sources.of(place.frame) if self.sources is not None else None
        if file is None or place.frame.line is None:
            return ()
        first = max(1, place.frame.line - _AROUND)
        last = min(place.frame.line + _AROUND, len(file.lines) - (not file.lines[-1]))
        shown = file.lines[first - 1 : last]
        return tuple(Line(n, text.rstrip("\r")) for n, text in enumerate(shown, first))

    def chosen(self, which: str) -> Iterator[Frame]:
        """The frames that a matcher's ``which`` names, innermost first."""
        if which == "any":
            yield from reversed(self.report.frames)
        elif which in ("site", "own"):
            place = self.site if which == "site" else self.own
            if place is not None:
                yield place.frame
        else:
            frame = self.innermost if which == "innermost" else self.outermost
            if frame is not None:
                yield frame

    def line_to_edit(self, edits: Edits = "own") -> Place | None:
        """The line to edit, or to look at first.

        The innermost line of the user's own code, or of the library that called the failing op where
        none of the user's code is shown. ``checkout`` and ``library`` make it the failing line even in a
        library: one that is not installed but lies in a checkout, where its user edits it, or any.
        """
        site = self.site
        if site is not None and (
            edits == "library" or (edits == "checkout" and in_package(site.frame.file) is None)
        ):
            return site
        if (found := self.own or site) is not None:
            return found
        return self.place(self.innermost) if self.innermost is not None else None
