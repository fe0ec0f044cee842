"""`Scene`: where it failed, whose line that is, what met there, what is on which device.

Facts, questions, edits and hooks ask the scene and not the report, so that a report is looked at once.
Beside the report it holds the files that it names, where these may be read, and the tensors of a live
process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from itertools import dropwhile, islice
from typing import TYPE_CHECKING

from diagnose.bulkhead import guarded
from diagnose.model import Edits, Frame, Knowledge, Line, Report, Statement
from diagnose.patterns import lazy
from diagnose.placement import Suspect
from diagnose.scene import files, provenance, roles
from diagnose.scene.devices import kind
from diagnose.scene.live import Seen, ruled
from diagnose.scene.meeting import Meeting, Said, texts
from diagnose.scene.place import Place
from diagnose.scene.strays import told
from diagnose.sources import Sources

if TYPE_CHECKING:
    from diagnose.scene.origins import Origins

#: Files whose frames are no place of anybody's code.
_GENERATED = ("<eval_with_key>", "<frozen ", "<string>", "<__array_function__", "<decorator-gen")
#: Wrappers that only pass a call on: no line of theirs joins tensors.
_MACHINERY = lazy(r"accelerate/(hooks|utils/operations|utils/memory)\.py$")
_INSTALLED = lazy(r"[\\/](?:site|dist)-packages[\\/]")

#: Lines of a file that are shown before and after the line to edit.
_AROUND = 5
#: Asks a live process about a scene's frames.
Look = Callable[["Scene"], Seen]


class Scene:
    """A report, looked at: what stands where, each look taken once.

    Args:
        report: what was parsed.
        knowledge: what kb/ holds.
        sources: finds the files that frames name; none are read if None.
        look: asks a live process for the tensors of the failing frames.
    """

    def __init__(
        self,
        report: Report,
        knowledge: Knowledge,
        sources: Sources | None = None,
        look: Look | None = None,
    ) -> None:
        self.sources = sources
        self.report = report
        self.knowledge = knowledge
        if sources is not None:
            self.report = report._replace(frames=files.with_lines(sources, report.frames))
        self._places: dict[int, Place] = {}
        self._suspects: dict[str, Suspect | None] = {}
        self.seen = guarded("tensors", partial(look, self), Seen()) if look else Seen()
        if look is not None:
            self.report = self.report._replace(tensors=self.seen[0], operands=self.seen[1])

    # --- where it failed ------------------------------------------------------------------------------

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
    def provenance(self) -> Mapping[str, float] | None:
        """Where the misplaced operand most likely comes from; None where the line shows no operand."""
        met, site = self.met, self.site
        if met is None or site is None:
            return None
        return provenance.of_operands(met.strays, site, self.above, self.knowledge.torch)

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
            edits == "library" or (edits == "checkout" and not _INSTALLED.search(site.frame.file))
        ):
            return site
        if (found := self.own or site) is not None:
            return found
        return self.place(self.innermost) if self.innermost is not None else None

    @cached_property
    def suspects(self) -> tuple[Suspect, ...]:
        """What was misplaced and why, likeliest first; none without the user's files."""
        return ruled(self.seen, self._origins.suspects if self._origins else ())

    @cached_property
    def elsewhere(self) -> tuple[Suspect, ...]:
        """What else is sure to fail in the user's files; none without files."""
        if self._origins is None:
            return ()
        from diagnose.scene import origins

        return guarded("placement", partial(origins.elsewhere, self._origins), ())

    @cached_property
    def _origins(self) -> Origins | None:
        sources, mismatch = self.sources, self.report.mismatch
        if sources is None or not guarded("sources", self._has_files, False):
            return None
        from diagnose.scene import origins  # an answer without files does not wait for the analysis

        devices = mismatch.devices if mismatch is not None else ()
        torch = self.knowledge.torch
        look = partial(origins.of_failure, self.report.frames, devices, sources, torch)
        return guarded("placement", look, None)

    def _has_files(self) -> bool:
        """Whether any file of the user's is at hand."""
        sources, frames = self.sources, self.report.frames
        return sources is not None and any(f.own and sources.of(f) for f in frames)

    def suspect(self, cause: str) -> Suspect | None:
        """The first suspect of a cause; where the files explain no operand, what looks like the cause."""
        if cause not in self._suspects:
            found = next((one for one in self.suspects if one.cause == cause), None)
            if found is None and self._origins is not None and not self.suspects:
                from diagnose.scene import origins

                frames, torch = self.report.frames, self.knowledge.torch
                look = partial(origins.unexplained, cause, frames, self._origins, torch)
                found = guarded("placement", look, None)
            elif found is None and self.suspects:
                from diagnose.scene import origins

                found = origins.akin(cause, self.suspects[0])
            self._suspects[cause] = found
        return self._suspects[cause]

    def setting(self, kind: str, cause: str) -> Suspect | None:
        """The call of the user's files that a fix edits wherever it stands (`settings`)."""
        if self._origins is None:
            return None
        from diagnose.scene import settings

        return settings.setting(kind, cause, self._origins.sources)

    def definition(self, cause: str) -> Place | None:
        """The statement that a suspect of a cause is to be mended in, which no traceback need show."""
        suspect = self.suspect(cause)
        if suspect is None:
            return None
        spot = suspect.line
        printed = self.printed(spot.file)
        frame = next(
            (f for f in self.report.frames if (f.file, f.line) == (printed, spot.line)), None
        )
        return self.place(frame or Frame(printed, spot.line, spot.function, spot.code))

    def printed(self, path: str) -> str:
        """The name by which the traceback knows a file that was found elsewhere, else its path."""
        used = self.sources.used if self.sources is not None else ()
        return next((file.name for file in used if file.path == path), path)

    # --- what met there -------------------------------------------------------------------------------

    @cached_property
    def roles(self) -> Mapping[str, str]:
        """The device of each operand role that the message tells, such as ``{"weight": "cpu"}``."""
        return roles.told(self.report, self.knowledge.operands)

    @cached_property
    def elementwise(self) -> bool:
        """True for the wordings of operations that take their operands one by one, without names."""
        return roles.is_elementwise(self.report)

    @cached_property
    def in_layer(self) -> bool:
        """True where the op failed inside torch, called by the failing line: in a layer most often."""
        inner, site = self.innermost, self.site
        return (
            inner is not None
            and inner.library == "torch"
            and (site is None or inner is not site.frame)
        )

    @cached_property
    def met(self) -> Meeting | None:
        """What met in the failing line; None where it shows nothing that can be parsed."""
        site, mismatch = self.site, self.report.mismatch
        met = site.meeting if site is not None else None
        if met is None or mismatch is None:
            return met
        role = roles.role_of(mismatch, self.knowledge.operands)
        inner = self.innermost.file.replace("\\", "/") if self.innermost is not None else ""
        said = Said(
            mismatch,
            role,
            self.roles,
            self.elementwise,
            self.in_layer,
            recurrent=inner.endswith("torch/nn/modules/rnn.py"),
        )
        return told(met, said, self.knowledge.torch)

    @cached_property
    def strays(self) -> tuple[str, ...]:
        """The texts of the operands that may be misplaced (`meeting.texts`)."""
        return texts(self.met)

    def meeting_at(self, place: Place | None) -> Meeting | None:
        """What met in the line of a place; operands are told only of the failing line."""
        if place is None:
            return None
        return self.met if place is self.site else place.meeting

    @cached_property
    def pair(self) -> str | None:
        """The kinds of the first two devices as printed, such as ``gpu-cpu``."""
        devices = self.report.mismatch.devices if self.report.mismatch else ()
        return "-".join(kind(device) for device in devices[:2]) or None

    @cached_property
    def values(self) -> Mapping[str, str]:
        """The values that every sentence may use."""
        found = {}
        error, mismatch = self.report.error, self.report.mismatch
        if error is not None:
            message = " ".join(error.message.split())
            found["message"] = message if len(message) <= 140 else f"{message[:139]}…"
        if mismatch is not None:
            known = {
                "devices": " / ".join(mismatch.devices),
                "op": mismatch.op,
                "argument": mismatch.argument,
                "found": mismatch.found,
                "expected": mismatch.expected,
            }
            found |= {key: value for key, value in known.items() if value}
        return found
