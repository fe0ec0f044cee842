"""The part of the input that an answer speaks of, with line numbers and the reasons of each mark."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from diagnose.model import Diagnosis

#: An input of so many lines is shown whole.
_SHORT = 120
_AROUND = 2
_LONGEST_LINE = 600

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\].*?(?:\x07|\x1b\\)")
# Control characters, and those that reorder text on the screen so that code reads as what it is not.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the input: its number, its text, and why it is marked: ``error``, ``culprit``, or the
    ranks (1, 2 ...) of the causes whose evidence it is."""

    number: int
    text: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """So many lines that are not shown."""

    lines: int


def excerpt(text: str, diagnosis: Diagnosis) -> tuple[Row | Gap, ...]:
    """The marked lines with their neighbours; the whole input where it is short.

    Lines are counted as the parser counts them.
    """
    separator = "\n" if "\n" in text else "\r"
    lines = text.rstrip("\n").split(separator)
    marks = _marks(diagnosis)
    if len(lines) <= _SHORT:
        shown = list(range(1, len(lines) + 1))
    else:
        near = {n + d for n in marks for d in range(-_AROUND, _AROUND + 1)}
        near |= {n + 1 for n in near if n + 2 in near}  # a gap of one line saves nothing
        shown = sorted(n for n in near if 1 <= n <= len(lines))
    rows: list[Row | Gap] = []
    last = 0
    for number in shown:
        if number > last + 1:
            rows.append(Gap(number - last - 1))
        rows.append(Row(number, visible(lines[number - 1]), marks.get(number, ())))
        last = number
    if last < len(lines):
        rows.append(Gap(len(lines) - last))
    return tuple(rows)


def _marks(diagnosis: Diagnosis) -> Mapping[int, tuple[str, ...]]:
    marks: dict[int, list[str]] = defaultdict(list)
    error, culprit = diagnosis.report.error, diagnosis.culprit
    if error is not None and error.at is not None:
        marks[error.at].append("error")
    if culprit is not None and culprit.at is not None:
        marks[culprit.at].append("culprit")
    for rank, cause in enumerate(diagnosis.causes, 1):
        for evidence in cause.evidence:
            if evidence.line is not None and str(rank) not in marks[evidence.line]:
                marks[evidence.line].append(str(rank))
    return {number: tuple(reasons) for number, reasons in marks.items()}


def visible(line: str) -> str:
    """A line as it may be shown: no colours, nothing invisible, of bounded length."""
    line = _ANSI.sub("", line[: 4 * _LONGEST_LINE])
    line = _INVISIBLE.sub("\N{MIDDLE DOT}", line.rstrip("\r").expandtabs(4))
    return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + " …"
