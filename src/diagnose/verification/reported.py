"""What of a report may go into a program: values of strict forms; text of a log can never become code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from diagnose.model import Frame, Report
from diagnose.patterns import lazy

_DEVICE = lazy(r"(?:cpu|meta|(?:cuda|hip|xpu|npu|hpu|mps|xla)(?::\d{1,3})?)", re.ASCII)
_OPERATION = lazy(r"[A-Za-z_][\w.:]{0,79}", re.ASCII)
_FILE = lazy(r"\w[\w.-]{0,79}\.py", re.ASCII)
_LAST_LINE = 10_000_000
_MOST_DEVICES = 8


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
