"""`Frames`: where it failed, and whose lines those are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from itertools import dropwhile, islice

from diagnose.bulkhead import guarded
from diagnose.model import Edits, Frame, Line, Report, Statement
from diagnose.patterns import in_package, lazy
from diagnose.scene import files
from diagnose.scene.place import Place
from diagnose.sources import Sources

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
            self.report = report._replace(frames=files.with_lines(sources, report.frames))
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
        return files.statement(frame, file) if file is not None else None

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
