"""What a form for machines that read lines says of a failure: where to look, and a sentence."""

from __future__ import annotations

from typing import NamedTuple

from diagnose.model import Diagnosis, Frame
from diagnose.rendering.answer import answer
from diagnose.rendering.brief import brief, reason
from diagnose.rendering.words import clean, code


class Said(NamedTuple):
    """A place of a file (``line`` is None where only the file is known), and what is said of it."""

    file: str
    line: int | None
    text: str


def said(diagnosis: Diagnosis) -> tuple[Said, ...]:
    """The failure at the user's line that failed, then each change of the one edit at its line; empty for
    an input without an error.

    Where the traceback shows no line of a file it is a line of the input.
    """
    first, report = brief(diagnosis), diagnosis.report
    if first is None or report.error is None:
        return ()
    site = _site(diagnosis)
    if site is None or not _is_file(site.file):
        at = Said(clean(report.source), report.error.at, "")
    else:
        at = Said(clean(site.file), site.line, "")
    if (because := first.because) is not None:
        told = reason(because, diagnosis.lang)
        kind = diagnosis.causes[0].id
    else:
        shown = answer(diagnosis, clean(report.source))
        told = shown.unknown.rstrip(":：") or shown.ending
        kind = report.error.family or "other"
    text = ": ".join(clean(part) for part in (report.error.type, told) if part)
    found = [at._replace(text=f"{text} [{clean(kind)}]")]
    edit = first.do.fix.edit if first.do is not None else None
    if first.do is None or edit is None or not _is_file(edit.file):
        return tuple(found)
    for change in first.do.changes:
        lines = [f"- {line.strip()}" for line in change.gone]
        lines += [f"+ {line.strip()}" for line in change.come]
        found.append(Said(clean(edit.file), change.line, "\n".join(map(code, lines))))
    return tuple(found)


def _site(diagnosis: Diagnosis) -> Frame | None:
    """The frame to show: of the user's own files where there is one, as nobody edits an installed one."""
    places = [one for one in (diagnosis.site, diagnosis.culprit) if one is not None]
    inner = [*places, *reversed(diagnosis.report.frames)]
    return next((one for one in inner if one.own and _is_file(one.file)), next(iter(places), None))


def _is_file(name: str) -> bool:
    """False for what was typed (``<stdin>``), and for a frame that was pasted without its file."""
    return bool(clean(name)) and not name.startswith("<")
