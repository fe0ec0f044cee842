"""Values that the sentences of facts are filled with."""

from __future__ import annotations

from diagnose.model import Fact, Frame, Report


def kind(device: str) -> str:
    """``cpu``, ``meta`` or ``gpu`` for a device as printed."""
    name = device.lower().split(":")[0]
    return name if name in {"cpu", "meta"} else "gpu"


def pair(report: Report) -> str | None:
    """The kinds of the first two devices as printed, such as ``gpu-cpu``."""
    if report.mismatch is None or not report.mismatch.devices:
        return None
    return "-".join(kind(device) for device in report.mismatch.devices[:2])


def common(report: Report) -> dict[str, str]:
    """The values that every sentence may use."""
    values = {}
    if report.error is not None:
        message = " ".join(report.error.message.split())
        values["message"] = message if len(message) <= 140 else f"{message[:139]}…"
    mismatch = report.mismatch
    if mismatch is not None:
        values["devices"] = " / ".join(mismatch.devices) or "another device"
        values["op"] = mismatch.op or "?"
        values["argument"] = mismatch.argument or "?"
        values["found"] = mismatch.found or "?"
        values["expected"] = mismatch.expected or "?"
    return values


def short(path: str) -> str:
    """The end of a path: enough to recognise the file in a sentence."""
    parts = path.replace("\\", "/").split("/")
    return path if len(parts) <= 4 else "/".join(parts[-3:])


def at(fact: str, frame: Frame, **values: str) -> Fact:
    """A fact that rests on a frame."""
    values |= {
        "file": short(frame.file),
        "line": str(frame.line) if frame.line is not None else "?",
        "function": frame.function or "?",
        "code": frame.code or "?",
        "library": frame.library or "?",
    }
    return Fact(fact, frame.at, values)
