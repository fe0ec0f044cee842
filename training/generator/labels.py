"""The label of a pair, in the form that `diagnose evaluate` and the benchmarks read."""

from __future__ import annotations

import re
from typing import Any

from .model import Host, Mistake
from .tables import read

_DEVICE = re.compile(r"\b(cuda:\d+|cpu|meta)\b")
#: What a failure that is about devices says, in any of torch's, accelerate's and the libraries' words.
_ABOUT = re.compile(
    r"device|cuda|\bcpu\b|meta tensor|Pointer argument|is not supported for `8-bit`|no data", re.I
)
_ENDS = re.compile(r"^(?:\[rank\d+\]:\s*)?((?:\w+\.)*\w*(?:Error|Exception|Exit))\b:? ?(.*)$")
#: Errors of a program's text, which planting must not lead to.
_OF_TEXTS = (
    "",
    "NameError",
    "AttributeError",
    "ImportError",
    "KeyError",
    "SyntaxError",
    "UnboundLocalError",
)


def looks_alike() -> dict[str, Any]:
    """Of each cause what a reader accepts besides it, and what mends it; what else tells of one."""
    return read("looks_alike.toml")


def accepted(mistake: Mistake, message: str) -> set[str]:
    """The causes that a careful reader would accept besides a mistake's own."""
    table = looks_alike()
    told = {"message": message, "operand": mistake.operand}
    seen = {
        one["also"]
        for one in table["seen"]
        if mistake.cause in one["of"] and re.search(one["pattern"], told[one["in"]], re.I)
    }
    return {*table["cause"][mistake.cause]["also"], *mistake.also, *seen} - {mistake.cause}


def ending(err: str) -> tuple[str, str]:
    """The class of the exception that ended a program, and its message."""
    for row in reversed(err.splitlines()):
        if found := _ENDS.match(row.strip()):
            return found[1].rpartition(".")[2], found[2]
    return "", ""


def is_about_devices(err: str) -> bool:
    """Whether a program ended in an error that speaks of devices, and not in one of its text."""
    kind, message = ending(err)
    return bool(_ABOUT.search(message)) and kind not in _OF_TEXTS


def label(
    host: Host, mistake: Mistake, name: str, err: str, wording: str, form: str
) -> dict[str, Any]:
    """What is true of a failure, by how it was made."""
    kind, message = ending(err)
    devices = list(dict.fromkeys(_DEVICE.findall(message)))[:2]
    file = mistake.file or f"{name}.py"
    in_trace = bool(re.search(rf"{re.escape(file)}\", line {mistake.line}\b", err))
    return {
        "id": name,
        "cause": mistake.cause,
        "also_ok": sorted(accepted(mistake, message)),
        "fix_kinds": looks_alike()["cause"][mistake.cause]["fixes"],
        "family": "device-placement",
        "exception": kind,
        "devices": devices,
        "certainty": "confirmed",
        "culprit": {"file": file, "line": mistake.line, "in_trace": in_trace},
        "also_lines": list(mistake.lines),
        "culprit_tensor": mistake.operand,
        "fix_line_before": mistake.after,
        "fix_line_after": mistake.before,
        "run": {
            "gpus": host.gpus,
            "wording": wording,
            "args": list(host.args),
            "env": dict(host.env),
        },
        "host": {
            "name": host.name,
            "package": host.package,
            "model": host.family,
            "style": host.style,
            "features": list(host.features),
            "operator": mistake.operator,
            "form": form,
        },
    }
