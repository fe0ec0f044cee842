"""`Scene`: where it failed, whose line that is, what met there, what is on which device.

Facts, questions, edits and hooks ask the scene and not the report, so that a report is looked at once.
Beside the report it holds the files that it names, where these may be read, and the tensors of a live
process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

from diagnose.bulkhead import guarded
from diagnose.model import Frame, Knowledge, Report
from diagnose.placement import Source, Suspect
from diagnose.scene import meeting, provenance
from diagnose.scene.frames import Frames
from diagnose.scene.live import Seen, by_message, ruled
from diagnose.scene.meeting import Meeting, Place, Said, kind, texts
from diagnose.scene.strays import told
from diagnose.sources import Sources

if TYPE_CHECKING:
    from diagnose.scene.origins import Origins
    from diagnose.scene.reanalysis import Reanalysis

#: Asks a live process about a scene's frames.
Look = Callable[["Scene"], Seen]


class Scene(Frames):
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
        super().__init__(report, sources)
        self.knowledge = knowledge
        self.is_live = look is not None
        self._suspects: dict[str, Suspect | None] = {}
        self.seen = guarded("tensors", partial(look, self), Seen()) if look else Seen()
        if look is not None:
            self.report = self.report._replace(tensors=self.seen[0], operands=self.seen[1])

    # --- what the files say ---------------------------------------------------------------------------

    @cached_property
    def suspects(self) -> tuple[Suspect, ...]:
        """What was misplaced and why, likeliest first; none without the user's files."""
        read = self._origins.suspects if self._origins else ()
        return ruled(self.seen, by_message(read, self.report.mismatch))

    @cached_property
    def described(self) -> tuple[Suspect, ...]:
        """What the code blocks of a description surely leave misplaced, in their order."""
        told = self.report.description
        if told is None:
            return ()
        from diagnose.scene import origins

        look = partial(origins.of_code, told.blocks, self.report.source, self.knowledge.torch)
        return guarded("placement", look, ())

    def analysed(self, printed: str) -> Source | None:
        """The analysed file that the traceback knows by a name."""
        sources = self._origins.sources if self._origins is not None else ()
        return next((one for one in sources if self.printed(one.path) == printed), None)

    def after(self, path: str, text: str) -> Reanalysis | None:
        """What fails where it failed, or behind, once a file is edited (`reanalysis`); None where the files
        do not explain the failure as it is."""
        if self._origins is None:
            return None
        from diagnose.scene.reanalysis import reanalysed

        return guarded("placement", partial(reanalysed, self._origins, path, text), None)

    @cached_property
    def _origins(self) -> Origins | None:
        sources, mismatch = self.sources, self.report.mismatch
        if sources is None or not guarded("sources", self._has_files, False):
            return None
        from diagnose.scene import origins  # an answer without files does not wait for the analysis

        devices = mismatch.devices if mismatch is not None else ()
        if mismatch is not None and "gpu-kernel" in mismatch.says and not devices:
            devices = ("CPU",)  # a kernel says only that something is not on its GPU
        torch, frames = self.knowledge.torch, self.report.frames
        look = partial(origins.of_failure, frames, devices, sources, torch)
        if self._lacks_gpu:
            look = partial(origins.of_missing_gpu, frames, sources, torch)
        return guarded("placement", look, None)

    @property
    def _lacks_gpu(self) -> bool:
        mismatch = self.report.mismatch
        return mismatch is not None and "no-gpu" in mismatch.says

    @property
    def is_fixed(self) -> bool:
        """Whether the message says that there is no GPU, and the files that none should be asked for."""
        return self._lacks_gpu and bool(self.suspects)

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
                alone = len(self.strays) == 1 and self.site is self.own
                operand = self.strays[0] if alone else None
                look = partial(origins.unexplained, cause, operand, frames, self._origins, torch)
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

        if kind in settings.OF_RELEASES:
            inside = self.site is not None and not self.site.frame.own and not self.suspects
            library = self.site.frame.library if self.site is not None and inside else None
            return settings.release(cause, self._origins.sources, library)
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

    def source_of(self, frame: Frame) -> Source | None:
        """The analysed file that a frame is of; None where it is not at hand."""
        file = self.sources.of(frame) if self.sources is not None else None
        if file is None or self._origins is None:
            return None
        return next((one for one in self._origins.sources if one.path == file.path), None)

    def printed(self, path: str) -> str:
        """The name by which the traceback knows a file that was found elsewhere, else its path."""
        used = self.sources.used if self.sources is not None else ()
        return next((file.name for file in used if file.path == path), path)

    # --- what met there -------------------------------------------------------------------------------

    @cached_property
    def provenance(self) -> Mapping[str, float] | None:
        """Where the misplaced operand most likely comes from; None where the line shows no operand."""
        met, site = self.met, self.site
        if met is None or site is None:
            return None
        return provenance.of_operands(met.strays, site, self.above, self.knowledge)

    @cached_property
    def roles(self) -> Mapping[str, str]:
        """The device of each operand role that the message tells, such as ``{"weight": "cpu"}``."""
        return meeting.told(self.report, self.knowledge.operands)

    @cached_property
    def elementwise(self) -> bool:
        """True for the wordings of operations that take their operands one by one, without names."""
        return meeting.is_elementwise(self.report)

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
        role = meeting.role_of(mismatch, self.knowledge.operands)
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
