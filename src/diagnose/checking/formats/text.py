"""Findings for a terminal: each with its line, its way, and who may mend it."""

from __future__ import annotations

from collections.abc import Iterator

from diagnose.checking.formats.escaping import shown, where
from diagnose.checking.model import Finding, Place, Report
from diagnose.checking.repairs import applicable
from diagnose.checking.words import BECAUSE, STEPS, WORDS
from diagnose.model import Lang

#: Columns of a source line that are shown.
_WIDEST = 160


def render(report: Report, lang: Lang = "en") -> str:
    """All findings, the comments that ignore nothing, and a line with the counts."""
    lines = list[str]()
    for finding in report.findings:
        lines += [*_finding(finding, lang), ""]
    for one in report.unused:
        told = WORDS[lang]["slip" if one.meant else "unused"]
        lines.append(f"{where(one.place)}: {told.format(id=shown(one.id), meant=one.meant)}")
    return "\n".join([*lines, summary(report, lang)]) + "\n"


def _finding(finding: Finding, lang: Lang) -> Iterator[str]:
    place, words = finding.place, WORDS[lang]
    yield f"{where(place)}: {finding.id} {shown(finding.sentence)}"
    number, margin = str(place.line), " " * len(str(place.line))
    yield f"  {number} | {shown(place.code)[:_WIDEST]}"
    before = len(shown(place.code[: place.column - 1]))
    end = place.end_column - 1 if place.end_line == place.line else len(place.code.rstrip())
    width = max(1, len(shown(place.code[place.column - 1 : end])))
    if before < _WIDEST:
        yield f"  {margin} | {' ' * before}{'^' * min(width, _WIDEST - before)}"
    if way := words["between"].join(_way(finding, lang)):
        yield f"  {margin} = {way}"
    if finding.repair is not None:
        because = finding.repair.because or ""
        told = words[finding.repair.safety].format(because=because)
        yield f"  {margin} = {finding.repair.kind}: {told}"


def _way(finding: Finding, lang: Lang) -> Iterator[str]:
    words = WORDS[lang]
    for step in finding.steps:
        on = " " + words["on"].format(device=step.device) if step.device else ""
        what = STEPS[lang].get(step.what, step.what)
        yield f"{what}{on} ({_place(step.place, finding.place, lang)})"
    if finding.meets is not None:
        word = "meets" if finding.wanted else "meets-other"
        place = _place(finding.meets, finding.place, lang)
        yield words[word].format(wanted=finding.wanted, place=place)
    if finding.because is not None:
        place = _place(finding.because.place, finding.place, lang)
        yield BECAUSE[lang][finding.because.what].format(place=place)
    if not finding.sure:
        yield words["likely"]


def _place(place: Place, of: Place, lang: Lang) -> str:
    """A place as seen from another one: its line, and its file where that is another."""
    if place.file != of.file:
        return where(place)
    word = "line" if place.cell is None else "cell"
    return WORDS[lang][word].format(cell=place.cell, line=place.line)


def summary(report: Report, lang: Lang = "en") -> str:
    """How many findings, files, repairs, and operations that could not be judged."""
    words = WORDS[lang]

    def count(n: int, one: str, many: str) -> str:
        return words[one] if n == 1 else words[many].format(n=n)

    checked = count(report.files, "file", "files")
    if report.findings:
        files = len({finding.place.file for finding in report.findings})
        found = count(len(report.findings), "finding", "findings")
        parts = [words["found"].format(findings=found, files=files, checked=checked)]
    else:
        parts = [words["none"].format(checked=checked)]
    if report.fixed:
        parts.append(words["fixed" if report.written else "would"].format(n=report.fixed))
    safe, every = (len(applicable(report.findings, unsafe)) for unsafe in (False, True))
    if every:
        parts.append(words["left"].format(safe=safe, all=every))
    if operations := report.judged + report.unknown:
        parts.append(words["unknown"].format(unknown=report.unknown, all=operations))
    return words["between"].join(parts)
