"""The snippet that verifies a root cause: a few lines of plain torch, to be read before they run.

It is a template (kb/verification/snippet.py) with what the first check of the cause asserts
(kb/verification/assertions). What it learns from a report are values of strict forms and nothing else:
text of a log can never become code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from diagnose.casebase.store import Casebase
from diagnose.model import Cause, Frame, Report
from diagnose.patterns import lazy

_WIDTH = 100
# What may go from a report into a program; all else is left out.
_DEVICE = lazy(r"(?:cpu|meta|(?:cuda|hip|xpu|npu|hpu|mps|xla)(?::\d{1,3})?)", re.ASCII)
_OPERATION = lazy(r"[A-Za-z_][\w.:]{0,79}", re.ASCII)
_FILE = lazy(r"\w[\w.-]{0,79}\.py", re.ASCII)
_LAST_LINE = 10_000_000
_MOST_DEVICES = 8
_ASSERTION = lazy(r'^def \w+\(.*\n    """(.*)"""\n((?:    .*\n)+)', re.MULTILINE)
#: Blank lines that a reader of forty lines can do without.
_BLANK = lazy(r"\n\n(?=import|\n)")


class Reported(NamedTuple):
    """The devices that met, the operation and its argument, the file's name and line to edit; what is not
    known, or does not look like one, is empty."""

    devices: tuple[str, ...] = ()
    operation: tuple[str, ...] = ()
    culprit: tuple[str, int] | tuple[()] = ()


def reported(report: Report | None, culprit: Frame | None) -> Reported:
    """What a program may know of a report and the line to edit."""
    mismatch = report.mismatch if report else None
    devices: Iterable[str] = mismatch.devices if mismatch else ()
    operation: list[str] = []
    for name in (mismatch.op, mismatch.argument) if mismatch else ():
        if not name or not _OPERATION.fullmatch(name):
            break  # an argument says nothing without its operation
        operation.append(name)
    return Reported(
        tuple(device for device in devices if _DEVICE.fullmatch(device))[:_MOST_DEVICES],
        tuple(operation),
        _spot(culprit),
    )


def _spot(culprit: Frame | None) -> tuple[str, int] | tuple[()]:
    """Base name and line of the culprit, if both are what they ought to be."""
    if culprit is None or type(culprit.line) is not int:
        return ()
    name = re.split(r"[\\/]", culprit.file)[-1]
    if not _FILE.fullmatch(name) or not 0 < culprit.line <= _LAST_LINE:
        return ()
    return name, culprit.line


def snippet(cause: Cause, report: Report | None, culprit: Frame | None, casebase: Casebase) -> str:
    """The source of a cause's snippet.

    Args:
        cause: the root cause to verify.
        report: the report it is made for, None for a snippet that knows of none.
        culprit: the line to edit, as `diagnose.scene.Scene.line_to_edit` finds it.
        casebase: holds the template and the assertions.

    Raises:
        KeyError: the case base lacks the template or the assertion.
    """
    assertion = _ASSERTION.search(
        casebase.snippets[f"assertions/{cause.checks[0].replace('-', '_')}"]
    )
    assert assertion is not None
    text = _BLANK.sub("\n", casebase.snippets["snippet"])
    for mark, value in {
        "<title>": cause.title.replace("\\", "/").replace('"', "'"),
        "<promise>": assertion[1],
        "    # <assertion>\n": assertion[2],
    }.items():
        text = text.replace(mark, value)
    seen = reported(report, culprit)
    first, second, rest = text.split("\n", 2)
    first = _filled(first, "<report>", _met(seen), "")
    second = _filled(second, "<script>", map(str, seen.culprit[:1]), "train.py")
    return "\n".join([first, second, rest])


def _filled(line: str, mark: str, ways: Iterable[str], otherwise: str) -> str:
    """The line with the first way to fill its mark that leaves it within its width."""
    filled = (line.replace(mark, way) for way in ways)
    return next((one for one in filled if len(one) <= _WIDTH), line.replace(mark, otherwise))


def _met(seen: Reported) -> Iterator[str]:
    """What a report says, from all that is known to the devices alone."""
    if seen.devices:
        met = f": {' and '.join(seen.devices)} met"
        place = f" at {seen.culprit[0]}:{seen.culprit[1]}" if seen.culprit else ""
        yield from (f"{met} in {name}{place}" for name in seen.operation[:1])
        yield from (met + place, met)
