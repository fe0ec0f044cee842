"""What an answer says and in which order: one choice for every skin, which only lays it out.

Texts from the log are as they were printed: each skin makes them harmless in its own way.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from diagnose.model import (
    DEVICE_FAMILY,
    Diagnosis,
    Fix,
    IncidentMatch,
    KnownBug,
    Lang,
    LiveOperand,
    Question,
    RankedCause,
    Seen,
    UnusedSource,
)
from diagnose.paths import place, short
from diagnose.rendering.labels import LABELS
from diagnose.rendering.words import counted, percent
from diagnose.verification.invocation import check

#: Fixes of the first cause, and of the others.
_MOST_FIXES, _OTHERS_FIXES = 3, 1
_MOST_RANKS = 8
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
_MOST_FILES = 8
#: Operands of a call, and moves of one of them.
_MOST_OPERANDS, _MOST_MOVES = 4, 2


class ShownCause(NamedTuple):
    """A cause with what is shown of it; ``verify`` is a line of a shell, for the first one only. ``bugs``
    are sentences about the libraries at hand."""

    number: int
    cause: RankedCause
    sure: str
    evidence: tuple[str, ...]
    incidents: tuple[IncidentMatch, ...]
    fixes: tuple[Fix, ...]
    rather: str | None
    verify: str | None
    bugs: tuple[str, ...] = ()


def labelled(fixes: Sequence[Fix]) -> Iterator[tuple[str, Fix]]:
    """Each fix with the id of its label: one is the fix, further ones come as others, stop-gaps as such."""
    label = "fix"
    for fix in fixes:
        yield "stopgap" if fix.stopgap else label, fix
        label = label if fix.stopgap else "or"


class ShownOperand(NamedTuple):
    """A tensor of the failing call: what it is called and is, where it is, its sizes, and the lines of its
    life, each with its words."""

    name: str
    kind: str
    device: str
    shape: str
    lines: tuple[str, ...]


class Answer(NamedTuple):
    """The parts of an answer, each empty or None where there is none of it.

    ``ending`` is the one sentence in place of causes: no error, an internal error, another family;
    ``described`` that there was no traceback to read, ``unknown`` that the causes are only candidates.
    ``nearest`` are incidents where no cause is sure.
    ``sources`` tells which files were read, and which were not used and why; ``seen`` what is remembered.
    ``operands`` are those of the failing call, where a recorder saw them, the misplaced one first.
    """

    devices: str = ""
    ranks: str = ""
    fallout: str = ""
    ending: str = ""
    advice: tuple[str, ...] = ()
    described: str = ""
    unknown: str = ""
    causes: tuple[ShownCause, ...] = ()
    questions: tuple[Question, ...] = ()
    nearest: tuple[IncidentMatch, ...] = ()
    incomplete: str = ""
    sources: str = ""
    seen: str = ""
    operands: tuple[ShownOperand, ...] = ()


def answer(diagnosis: Diagnosis, source: str) -> Answer:
    """The answer in its language; ``source`` is the input's name, fit for the skin."""
    labels, report, error = LABELS[diagnosis.lang], diagnosis.report, diagnosis.report.error
    if report.source in ("-", ""):
        source = labels["standard input"]
    if error is None and diagnosis.verdict == "no-error":
        return Answer(ending=labels["no-error"].format(source=source))
    missing = ", ".join(piece.what for piece in diagnosis.incomplete)
    fallout = counted(failure.type for failure in report.fallout)
    shown = Answer(
        devices=f" {labels['met']} ".join(report.mismatch.devices) if report.mismatch else "",
        ranks=_ranks(diagnosis),
        fallout=labels["fallout"].format(errors=fallout) if fallout else "",
        incomplete=labels["incomplete"].format(pieces=missing) if missing else "",
        sources=sources_line(diagnosis),
        seen=seen_line(diagnosis.seen, diagnosis.lang) if diagnosis.seen else "",
        operands=tuple(_operand(one, diagnosis.lang) for one in report.operands[:_MOST_OPERANDS]),
    )
    if diagnosis.verdict == "failed" or error is None:
        return shown._replace(ending=labels["failed"].format(source=source))
    if error.family != DEVICE_FAMILY:
        named = "other" if error.family not in (None, "other") else "other-kind"
        other = labels[named if error.told else "cut-off"].format(family=error.family)
        return shown._replace(ending=other, advice=diagnosis.advice)
    unknown = diagnosis.verdict == "unknown"
    return shown._replace(
        described=labels["described"] if report.description is not None else "",
        unknown=labels["unknown"] if unknown else "",
        causes=tuple(_cause(n, cause, diagnosis) for n, cause in enumerate(diagnosis.causes, 1)),
        questions=diagnosis.questions,
        nearest=diagnosis.nearest if unknown else (),
    )


def _operand(operand: LiveOperand, lang: Lang) -> ShownOperand:
    labels = LABELS[lang]
    root = [labels["root"].format(name=operand.root.name)] if operand.root is not None else []
    told = (
        [("first-seen" if operand.seen else "born", operand.born)]
        if operand.born is not None
        else []
    )
    told += [("moved", at) for at in operand.moved[-_MOST_MOVES:]]
    return ShownOperand(
        operand.name or labels[f"kind-{operand.kind}"],
        labels[f"kind-{operand.kind}"],
        operand.device,
        "×".join(map(str, operand.shape)),
        (
            *(
                labels[key].format(place=place(at.file, at.line), code=at.code)
                for key, at in told
                if at is not None
            ),
            *root,
        ),
    )


def seen_line(seen: Seen, lang: Lang) -> str:
    """When and where a failure was seen before, and what fixed it; people's own words stand in it."""
    labels = LABELS[lang]
    hosts = labels["comma"].join(seen.hosts[:_MOST_FILES])
    line = labels["seen-once" if seen.count == 1 else "seen-times"].format(
        count=seen.count,
        since=day(seen.first, lang),
        hosts=labels["seen-hosts"].format(hosts=hosts) if hosts else "",
    )
    if seen.status == "regressed":
        line += labels["seen-regressed"].format(version=seen.fixed_in or "")
    for fix in seen.fixes[:1]:
        outcomes = [("worked", fix.worked), ("changed", fix.changed), ("failed", fix.failed)]
        tried = [labels[f"tried-{name}"].format(count=count) for name, count in outcomes if count]
        line += labels["seen-fixed" if fix.worked or fix.changed else "seen-tried"].format(
            by=fix.by,
            commit=labels["seen-commit"].format(commit=fix.commit) if fix.commit else "",
            tried=labels["comma"].join(tried),
            text=fix.text,
        )
        line += f" {fix.link}" if fix.link else ""
    return line


def day(at: int, lang: Lang) -> str:
    """A day in UTC: ``3 Nov 2026``."""
    year, month, number, *_ = time.gmtime(at)
    return LABELS[lang]["day"].format(
        year=year, month=month, day=number, name=_MONTHS[3 * month - 3 : 3 * month]
    )


def why_unused(source: UnusedSource, lang: Lang) -> str:
    """Why a file was not used, such as ``line 12 reads otherwise``."""
    labels = LABELS[lang]
    others = labels["comma"].join(map(short, source.others[:_MOST_FILES]))
    return labels[f"unused-{source.reason}"].format(line=source.line, others=others)


def sources_line(diagnosis: Diagnosis) -> str:
    """Which files were read, and which were not used; a live program's own are not told."""
    labels = LABELS[diagnosis.lang]
    read = [] if diagnosis.report.live else [short(path) for path in diagnosis.sources]
    told = labels["read"].format(files=_listed(read, labels)) if read else ""
    return " ".join(part for part in (told, unused_line(diagnosis)) if part)


def unused_line(diagnosis: Diagnosis) -> str:
    """Which files were not used, and why."""
    labels = LABELS[diagnosis.lang]
    unused = [
        labels["unused-file"].format(file=short(one.file), why=why_unused(one, diagnosis.lang))
        for one in diagnosis.unused
    ]
    return labels["unused"].format(files=_listed(unused, labels)) if unused else ""


def _listed(files: list[str], labels: Mapping[str, str]) -> str:
    more = len(files) - _MOST_FILES
    shown = [*files[:_MOST_FILES], labels["unused-more"].format(count=more)] if more > 0 else files
    return labels["comma"].join(shown)


def _ranks(diagnosis: Diagnosis) -> str:
    """Which processes failed, where the log tells."""
    labels, ranks, alike = LABELS[diagnosis.lang], diagnosis.report.ranks, diagnosis.report.alike
    if len(ranks) > 1:
        return labels["ranks"].format(ranks=", ".join(map(str, ranks[:_MOST_RANKS])))
    if alike > 1:
        return labels["ranks-alike"].format(count=alike)
    return labels["rank"].format(rank=ranks[0]) if ranks else ""


def _cause(number: int, cause: RankedCause, diagnosis: Diagnosis) -> ShownCause:
    labels = LABELS[diagnosis.lang]

    def told(text: str, line: int | None) -> str:
        # In a hook there is no input whose lines could be counted.
        numbered = line is not None and not diagnosis.report.live
        return text.rstrip(".。") + labels["line"].format(line=line) if numbered else text

    return ShownCause(
        number,
        cause,
        percent(cause.confidence),
        tuple(told(evidence.text, evidence.line) for evidence in cause.evidence),
        cause.incidents[:1],
        cause.fixes[: _MOST_FIXES if number == 1 else _OTHERS_FIXES],
        cause.rather if number > 1 else None,
        (check(diagnosis) or None) if number == 1 else None,
        tuple(bug_line(bug, diagnosis.lang) for bug in cause.bugs),
    )


def bug_line(bug: KnownBug, lang: Lang) -> str:
    """A documented bug of a library: what is at hand, or which versions have it, and what to do."""
    labels = LABELS[lang]
    do = labels["upgrade-to" if bug.fixed else "another"].format(fixed=bug.fixed)
    told = labels["bug" if bug.version else "bug-if"].format(
        library=bug.library, version=bug.version, which=_which(bug, labels), do=do
    )
    return told + (labels["bug-change"].format(change=bug.change) if bug.change else "")


def _which(bug: KnownBug, labels: Mapping[str, str]) -> str:
    """Which versions have it: older ones, a single one, or a range as it is written."""
    bad = bug.bad.replace(" ", "")
    if bad == f"<{bug.fixed}":
        return labels["older"].format(fixed=bug.fixed)
    if bad.startswith("==") and not set(bad) & set(",*"):
        return labels["is"].format(one=bad[2:])
    return labels["within"].format(bad=bad)
