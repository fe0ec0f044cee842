"""What makes two failures equal, as a short hash that is the same on every machine and in every run.

It is made of the exception's type, what it says about devices (or its first line without numbers,
addresses and folders), the line to edit, and the innermost frames. Frames count by file name and function:
line numbers move with every edit and release, folders with every machine, device numbers with every rank.
"""

from __future__ import annotations

import hashlib
import re

from diagnose.model import Frame, Knowledge, Mismatch, Report
from diagnose.scene import Scene

_FRAMES = 3
_MESSAGE = 200
#: In the order in which they are replaced.
_MASKS = (
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "#"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "#"),
    (re.compile(r"(?:[A-Za-z]:)?(?:[\\/][\w.@~+-]+){2,}"), "/#"),
    (re.compile(r"\d+"), "#"),
)
_DIGITS = re.compile(r"\d+")
#: Whose line it is, the frames alone tell.
_NOTHING = Knowledge()


def fingerprint(report: Report) -> str:
    """Twelve hexadecimal digits for the failure of a report, which must have one."""
    assert report.error is not None
    said = _said(report.mismatch) if report.mismatch else masked(report.error.message)
    culprit = Scene(report, _NOTHING).line_to_edit()
    parts = [
        report.error.type.rsplit(".", 1)[-1],
        said,
        _place(culprit.frame) if culprit else "",
        *(_place(frame) for frame in report.frames[-_FRAMES:]),
    ]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:12]


def masked(message: str) -> str:
    """The first line of a message without what differs between two runs of one program: a log's next
    lines may look like more of the message."""
    text = " ".join(message.strip()[: 4 * _MESSAGE].split("\n")[0].split())[:_MESSAGE]
    for pattern, put in _MASKS:
        text = pattern.sub(put, text)
    return text


def _said(mismatch: Mismatch) -> str:
    kinds = [device.split(":")[0].lower() for device in mismatch.devices]
    return " ".join([mismatch.wording, mismatch.op or "", mismatch.argument or "", *kinds])


def _place(frame: Frame) -> str:
    parts = frame.file.replace("\\", "/").rsplit("/", 2)
    name = "/".join(parts[-2:]) if frame.library else parts[-1]
    return f"{_DIGITS.sub('#', name)}:{(frame.function or '').rsplit('.', 1)[-1]}"
