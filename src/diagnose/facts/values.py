"""Values that the sentences of facts are filled with."""

from __future__ import annotations

from diagnose.model import Fact, Frame, Report
from diagnose.paths import of_frame

#: What the sentences of kb/facts.toml may be filled with, where the report shows it.
NAMES = frozenset(
    {
        *("message", "devices", "found", "expected", "op", "argument"),
        *("place", "function", "code", "library", "text", "name", "index"),
        *("device", "other", "names", "count", "depth", "rank", "ranks", "title"),
    }
)


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
        known = {
            "devices": " / ".join(mismatch.devices),
            "op": mismatch.op,
            "argument": mismatch.argument,
            "found": mismatch.found,
            "expected": mismatch.expected,
        }
        values |= {key: value for key, value in known.items() if value}
    return values


def at(fact: str, frame: Frame, **values: str) -> Fact:
    """A fact that rests on a frame; what the frame does not show is no value."""
    shown = {
        "place": of_frame(frame),
        "function": frame.function,
        "code": frame.code,
        "library": frame.library,
    }
    return Fact(fact, frame.at, values | {key: value for key, value in shown.items() if value})
