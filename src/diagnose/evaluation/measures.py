"""What is measured, and the score of one answer against its label: 1 right, 0 wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from diagnose.evaluation.labels import NOT_DEVICE, Label, Place
from diagnose.model import Diagnosis, Frame, Report

#: How many causes an answer is asked for, and how many fixes of the first cause count.
TOP = 3

Kind = Literal["share", "mean", "error"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure. ``kind``: a ``share`` of reports, a ``mean`` of values from 0 to 1, or an ``error``, of
    which less is better. ``listed``: its misses are worth a line; others follow from those."""

    id: str
    about: str
    kind: Kind = "share"
    listed: bool = True


#: The order in which they are shown.
MEASURES = {
    measure.id: measure
    for measure in (
        Measure("answered", "no internal error"),
        Measure("top-1", "first cause is defensible"),
        Measure("top-1-strict", "first cause is the label's own", listed=False),
        Measure("top-1-certain", "same as top-1, label not inferred", listed=False),
        Measure("top-3", "a defensible cause among three"),
        Measure("mrr", "mean of 1 / its rank, among three", "mean", listed=False),
        Measure("diagnosed", "verdict diagnosed, not unknown", listed=False),
        Measure("top-1-diagnosed", "top-1 of those", listed=False),
        Measure("fix", "a fix of the label among three"),
        Measure("negatives-rejected", "other failures get no cause"),
        Measure("family", "kind of failure"),
        Measure("exception", "exception's class"),
        Measure("devices", "devices, in the message's order"),
        Measure("op", "operator, as printed"),
        Measure("argument", "argument, as printed"),
        Measure("innermost-frame", "file, line, function"),
        Measure("all-frames", "the whole stack of frames"),
        Measure("libraries-f1", "libraries seen in the frames", "mean"),
        Measure("culprit", "the line to edit"),
        Measure("calibration-error", "confidence against truth (ECE)", "error"),
    )
}


@dataclass(frozen=True, slots=True)
class Score:
    """The value of one measure for one report, and what was wanted and got where it is below 1."""

    measure: str
    value: float
    wanted: str = ""
    got: str = ""


def score(label: Label, diagnosis: Diagnosis | None) -> Iterator[Score]:
    """The scores of an answer for what the label says; no answer (None), where the pipeline failed, is
    wrong throughout."""
    answer = _Answer(diagnosis)
    yield Score("answered", float(diagnosis is not None))
    yield from _causes(label, answer)
    if label.family:
        yield _same("family", label.family, answer.family)
    if label.exception:
        yield _same("exception", _last(label.exception), _last(answer.exception))
    if label.devices:
        yield _same("devices", " ".join(label.devices).lower(), " ".join(answer.devices).lower())
    if label.cause != NOT_DEVICE:
        if label.op:
            yield _same("op", label.op, answer.op)
        if label.argument:
            yield _same("argument", label.argument, answer.argument)
        if label.libraries:
            yield _libraries(label.libraries, answer.libraries)
    yield from _places(label, answer)


class _Answer:
    """What of a diagnosis is compared. ``causes`` is (`NOT_DEVICE`,) for an answer that names none."""

    def __init__(self, diagnosis: Diagnosis | None) -> None:
        shown = diagnosis or Diagnosis(Report("-"), "no-error")
        report = shown.report
        error, mismatch = report.error, report.mismatch
        named = tuple(cause.id for cause in shown.causes[:TOP]) or (NOT_DEVICE,)
        self.verdict = shown.verdict if diagnosis else "nothing"
        self.causes = named if diagnosis else ()
        self.fixes = tuple(fix.kind for cause in shown.causes[:1] for fix in cause.fixes[:TOP])
        self.family = error.family if error else None
        self.exception = error.type if error else ""
        self.devices = mismatch.devices if mismatch else ()
        self.op = mismatch.op if mismatch else None
        self.argument = mismatch.argument if mismatch else None
        self.frames = report.frames
        self.libraries = report.libraries
        self.culprit = shown.culprit


def _causes(label: Label, answer: _Answer) -> Iterator[Score]:
    if label.cause is None:
        return
    accepted = label.accepted
    wanted, got = " or ".join(accepted), ", ".join(answer.causes) or "nothing"
    right = float(not set(answer.causes[:1]).isdisjoint(accepted))
    if label.cause == NOT_DEVICE:
        yield Score("negatives-rejected", right, wanted, got)
        return
    rank = next((n for n, cause in enumerate(answer.causes, 1) if cause in accepted), 0)
    diagnosed = answer.verdict == "diagnosed"
    yield Score("top-1", right, wanted, got)
    yield Score("top-1-strict", float(answer.causes[:1] == (label.cause,)), label.cause, got)
    if label.certainty in ("confirmed", "proposed"):
        yield Score("top-1-certain", right, wanted, got)
    yield Score("top-3", float(rank > 0), wanted, got)
    yield Score("mrr", 1 / rank if rank else 0.0, wanted, got)
    yield Score("diagnosed", float(diagnosed), "diagnosed", answer.verdict)
    if diagnosed:
        yield Score("top-1-diagnosed", right, wanted, got)
    if label.fixes:
        hit = not set(answer.fixes).isdisjoint(label.fixes)
        shown = ", ".join(answer.fixes) or "nothing"
        yield Score("fix", float(hit), " or ".join(label.fixes), shown)


def _places(label: Label, answer: _Answer) -> Iterator[Score]:
    frames = answer.frames
    if label.innermost:
        hit = bool(frames) and _fits(label.innermost, frames[-1])
        yield Score("innermost-frame", float(hit), str(label.innermost), _shown(frames))
    if label.frames:
        # The label's frames are the innermost ones: an outer frame may come from the launcher.
        got = frames[-len(label.frames) :]
        hit = len(got) == len(label.frames) and all(map(_fits, label.frames, got))
        wanted = f"{len(label.frames)} frames to {label.frames[-1]}"
        yield Score("all-frames", float(hit), wanted, f"{len(frames)} frames to {_shown(frames)}")
    if label.culprit:
        found = (answer.culprit,) if answer.culprit else ()
        hit = any(_fits(label.culprit, frame) for frame in found)
        yield Score("culprit", float(hit), str(label.culprit), _shown(found))


def _same(measure: str, wanted: str, got: str | None) -> Score:
    return Score(measure, float(wanted == got), wanted, got or "nothing")


def _libraries(wanted: tuple[str, ...], got: tuple[str, ...]) -> Score:
    """The harmonic mean of precision and recall."""
    common = len(set(wanted) & set(got))
    value = 2 * common / (len(set(wanted)) + len(set(got)))
    return Score("libraries-f1", value, " ".join(wanted), " ".join(got) or "nothing")


def _fits(place: Place, frame: Frame) -> bool:
    """True when the frame is at the place, as far as the place is known."""
    return (
        (place.file is None or _same_file(place.file, frame.file))
        and (place.line is None or place.line == frame.line)
        and (place.function is None or _bare(place.function) == _bare(frame.function or ""))
    )


def _same_file(one: str, other: str) -> bool:
    """True when one path is the end of the other: folders differ between machines, files do not."""
    first, second = _parts(one), _parts(other)
    shared = min(len(first), len(second))
    return shared > 0 and first[-shared:] == second[-shared:]


def _parts(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "~")]


def _bare(function: str) -> str:
    """``forward`` of ``Net.forward(self, x)``."""
    return _last(function.split("(", 1)[0])


def _last(dotted: str) -> str:
    return dotted.rsplit(".", 1)[-1]


def _shown(frames: tuple[Frame, ...]) -> str:
    if not frames:
        return "nothing"
    frame = frames[-1]
    return str(Place(frame.file, frame.line, frame.function))
