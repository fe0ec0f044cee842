"""The frames of a report as an expert looks at them: where it failed, whose line that is."""

from __future__ import annotations

from collections.abc import Iterator

from diagnose.model import Edits, Frame, Report
from diagnose.patterns import lazy

#: Files whose frames are no place of anybody's code.
_GENERATED = ("<eval_with_key>", "<frozen ", "<string>", "<__array_function__", "<decorator-gen")


#: Wrappers that only pass a call on: no line of theirs joins tensors.
_MACHINERY = lazy(r"accelerate/(hooks|utils/operations|utils/memory)\.py$")
_INSTALLED = lazy(r"[\\/](?:site|dist)-packages[\\/]")


def _place(frame: Frame) -> bool:
    """True for frames that hold somebody's code, not generated code or a mere wrapper."""
    if frame.stdlib or frame.file.startswith(_GENERATED):
        return False
    return not _MACHINERY.search(frame.file.replace("\\", "/"))


def innermost(report: Report) -> Frame | None:
    """The last frame."""
    return report.frames[-1] if report.frames else None


def outermost(report: Report) -> Frame | None:
    """The first frame."""
    return report.frames[0] if report.frames else None


def site(report: Report) -> Frame | None:
    """The innermost frame outside torch and the standard library: the line that called the op."""
    for frame in reversed(report.frames):
        if _place(frame) and frame.library != "torch":
            return frame
    return None


def own(report: Report) -> Frame | None:
    """The innermost frame of the user's own code."""
    for frame in reversed(report.frames):
        if _place(frame) and frame.own:
            return frame
    return None


def chosen(report: Report, which: str) -> Iterator[Frame]:
    """The frames that a matcher's ``which`` names, innermost first."""
    if which == "any":
        yield from reversed(report.frames)
        return
    views = {"innermost": innermost, "outermost": outermost, "site": site, "own": own}
    frame = views[which](report)
    if frame is not None:
        yield frame


def culprit(report: Report, edits: Edits = "own") -> Frame | None:
    """The line to edit, or to look at first.

    The innermost line of the user's own code, or of the library that called the failing op where none
    of the user's code is shown. ``checkout`` and ``library`` make it the failing line even in a library:
    one that is not installed but lies in a checkout, where its user edits it, or any.
    """
    failing = site(report)
    if failing is not None and (
        edits == "library" or (edits == "checkout" and not _INSTALLED.search(failing.file))
    ):
        return failing
    return own(report) or failing or innermost(report)
