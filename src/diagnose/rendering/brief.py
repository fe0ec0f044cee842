"""What a person whose job just died reads first, chosen once for every skin.

What failed and where; the one edit; the one fact that decides; the one command that proves it; in a line
each what else it may be and what it resembles. `diagnose.rendering.answer` has the rest.
Texts from the log are as they were printed: each skin makes them harmless in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from diagnose.model import (
    DEVICE_FAMILY,
    Diagnosis,
    Edit,
    Evidence,
    Fix,
    IncidentMatch,
    Lang,
    Met,
    Question,
    RankedCause,
)
from diagnose.paths import basename, of_frame, place, short
from diagnose.rendering.answer import bug_line
from diagnose.rendering.labels import LABELS
from diagnose.rendering.words import percent
from diagnose.verification.invocation import check, repair

#: A further cause of less confidence is not worth a line.
_WORTH_A_LINE = 0.08
#: An incident that resembles the failure less is not worth one.
_ALIKE = 0.7
_HUNK = "@@ -"
#: A line that begins so ends what stands above it, and tells nothing by itself.
_CLOSING = (")", "]", "}")


class Change(NamedTuple):
    """Neighbouring lines of the user's file that change: where they stand, which go, which come.

    Where lines only come, or those that go close what stands above, ``above`` is the one that they follow
    and that ``place`` names.
    """

    place: str
    line: int | None
    above: tuple[str, ...]
    gone: tuple[str, ...]
    come: tuple[str, ...]


class Do(NamedTuple):
    """The one thing to do: a fix, and the changes that it makes to the user's own lines, if it does. Where
    that is a stop-gap ``lasting`` is the sentence of the fix that mends the cause, if one is known.
    Where no line of the user's is edited, ``remedy`` is what the message itself asks for."""

    fix: Fix
    changes: tuple[Change, ...] = ()
    lasting: str = ""
    remedy: str = ""


class Because(NamedTuple):
    """The first cause, how sure it is, and the fact that speaks most for it, with the input's line.

    ``followed`` is the fact of a value that was followed through files or a process: it says the cause
    as well.
    """

    title: str
    sure: str
    fact: str
    line: int | None
    followed: bool = False


class Other(NamedTuple):
    """A further cause, how sure it is, and what would make it that one."""

    id: str
    title: str
    sure: str
    when: str


class Brief(NamedTuple):
    """The first look at a failure; each part is empty or None where there is none of it.

    ``place``, ``function`` and ``code`` are of the line that failed; ``operands`` those of its operands
    whose devices are known, ``devices`` those of the message where none is, or all that it says. ``do`` and
    ``because`` are of the first cause; ``fix`` is the command that repairs the program, ``check`` the one
    that checks an edit. Where no cause is sure, ``question`` decides between the ``others``, which are all
    of them then; where nothing at hand tells the first cause from the next (not ``decided``), it comes
    first. ``bug`` is the documented one of a library whose version at hand has it.
    """

    type: str
    place: str = ""
    function: str = ""
    stack: tuple[str, ...] = ()
    code: str = ""
    operands: tuple[Met, ...] = ()
    devices: str = ""
    do: Do | None = None
    because: Because | None = None
    fix: str = ""
    check: str = ""
    decided: bool = True
    question: Question | None = None
    others: tuple[Other, ...] = ()
    known: IncidentMatch | None = None
    bug: str = ""


def brief(diagnosis: Diagnosis) -> Brief | None:
    """The first look at an answer in its language; None where the input shows no error."""
    error, site = diagnosis.report.error, diagnosis.site or diagnosis.culprit
    if error is None:
        return None
    head = Brief(
        error.type,
        stack=diagnosis.report.libraries,
        operands=() if diagnosis.report.operands else diagnosis.met,
        devices=_devices(diagnosis),
    )
    if site is not None:
        function = "" if site.function in (None, "<module>") else site.function or ""
        head = head._replace(
            place=of_frame(site), function=function, code=(site.code or "").strip()
        )
    if error.family != DEVICE_FAMILY or not diagnosis.causes:
        return head
    question = diagnosis.questions[0] if diagnosis.questions else None
    if diagnosis.verdict != "diagnosed":
        others = tuple(_other(cause, diagnosis) for cause in diagnosis.causes)
        known = diagnosis.nearest[0] if diagnosis.nearest else None
        return head._replace(question=question, others=others, known=known)
    first, *rest = diagnosis.causes
    return head._replace(
        do=_do(first, diagnosis.remedy),
        because=_because(first, diagnosis),
        fix=repair(diagnosis),
        check=check(diagnosis),
        decided=first.decided or question is None,
        question=question,
        others=tuple(
            _other(cause, diagnosis) for cause in rest if cause.confidence >= _WORTH_A_LINE
        ),
        known=next((one for one in first.incidents if one.similarity >= _ALIKE), None),
        bug=next((bug_line(bug, diagnosis.lang) for bug in first.bugs if bug.version), ""),
    )


def _devices(diagnosis: Diagnosis) -> str:
    """What met, where no operand's device is known; the message where it does not name two devices."""
    report = diagnosis.report
    if report.operands or diagnosis.met:
        return ""
    if report.mismatch is not None and len(report.mismatch.devices) > 1:
        return f" {LABELS[diagnosis.lang]['met']} ".join(report.mismatch.devices)
    return report.error.message if report.error is not None else ""


def _do(cause: RankedCause, remedy: str) -> Do | None:
    """The first fix: those that edit the user's own line stand before all others."""
    if not cause.fixes:
        return None
    first, *rest = cause.fixes
    lasting = next((fix.title for fix in rest if not fix.stopgap), "") if first.stopgap else ""
    edited = changes(first)
    return Do(first, edited, lasting, "" if edited else remedy)


def _because(cause: RankedCause, diagnosis: Diagnosis) -> Because:
    sure = percent(cause.confidence)
    if not cause.evidence:
        return Because(cause.title, sure, "", None)
    # Files and processes tell more than the traceback, and of what they tell the input has no line.
    deeper = diagnosis.basis != "trace" or bool(diagnosis.report.tensors)
    told = [one for one in cause.evidence if deeper and one.line is None]
    strongest = (told or cause.evidence)[0]
    followed = bool(told) and diagnosis.basis != "trace"
    fact = _fact(strongest, diagnosis).rstrip(".。")
    return Because(cause.title, sure, fact, strongest.line, followed)


def reason(because: Because, lang: Lang) -> str:
    """The cause, how sure it is, and the fact, in a sentence. A fact that says the cause stands alone."""
    sure = LABELS[lang]["sure"].format(sure=because.sure)
    if because.fact.startswith(because.title):
        return f"{because.fact}{sure}"
    why = LABELS[lang]["why"].format(fact=because.fact) if because.fact else ""
    return f"{because.title}{sure}{why}"


def _fact(evidence: Evidence, diagnosis: Diagnosis) -> str:
    """A fact without what is shown already: the line that many end in, the folder of the file to edit."""
    text, culprit = evidence.text, diagnosis.culprit
    for frame in (diagnosis.site, culprit):
        line = (frame.code or "").strip() if frame is not None else ""
        if line:
            text = text.removesuffix(f": {line}").removesuffix(f"：{line}")
    return text.replace(short(culprit.file), basename(culprit.file)) if culprit else text


def _other(cause: RankedCause, diagnosis: Diagnosis) -> Other:
    when = (cause.rather or "").removeprefix(LABELS[diagnosis.lang]["rather"])
    return Other(cause.id, cause.title, percent(cause.confidence), when)


# --- the lines that a fix changes -----------------------------------------------------------------


def changes(fix: Fix) -> tuple[Change, ...]:
    """The lines of the user's file that a fix changes, without those around them; empty for other fixes."""
    if fix.edit is None:
        return ()
    if fix.patch is not None:
        return tuple(_hunks(fix.patch, fix.edit))
    return (_between(fix.edit),)


def _between(edit: Edit) -> Change:
    """The lines before and after, without those that stay at either end."""
    gone, come = edit.before.split("\n"), edit.after.split("\n")
    fewer = min(len(gone), len(come))
    head = next((i for i in range(fewer) if gone[i] != come[i]), fewer)
    tail = next((i for i in range(fewer - head) if gone[-1 - i] != come[-1 - i]), fewer - head)
    above = gone[head - 1 : head] if head and head == len(gone) - tail else []
    line = None if edit.line is None else edit.line + head - len(above)
    return Change(
        place(edit.file, line),
        line,
        tuple(above),
        tuple(gone[head : len(gone) - tail]),
        tuple(come[head : len(come) - tail]),
    )


def _hunks(patch: str, edit: Edit) -> Iterator[Change]:
    """The runs of changed lines of a unified diff, by their numbers in the file as it was."""
    number, above = 0, tuple[str, ...]()
    gone, come = list[str](), list[str]()
    for line in (*patch.split("\n")[2:-1], _HUNK):  # the last ends a run
        if line[:1] in ("-", "+"):
            (gone if line[0] == "-" else come).append(line[1:].rstrip("\r"))
            number += line[0] == "-"
            continue
        if gone or come:
            shown = () if gone and not gone[0].lstrip().startswith(_CLOSING) else above
            first = number - len(gone) - len(shown)
            yield Change(place(edit.file, first), first, shown, tuple(gone), tuple(come))
            gone, come = [], []
        if line.startswith(_HUNK):
            number = int(line[len(_HUNK) :].partition(",")[0] or 0)
            above = ()
        elif line.startswith(" "):
            number += 1
            above = (line[1:].rstrip("\r"),)
