"""The label of a pair, in the form that `diagnose kb evaluate` and the benchmarks read."""

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
#: What Python says of a call that does not fit a function, whatever its parameters are called.
_OF_CALLS = re.compile(
    r"unexpected keyword argument|multiple values for (keyword )?argument"
    r"|missing \d+ required (positional|keyword-only) argument|takes .*\d+ positional argument"
)
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


def accepted(mistake: Mistake, err: str) -> set[str]:
    """The causes that a careful reader of what was printed would accept besides a mistake's own."""
    table = looks_alike()
    seen = {
        one["also"]
        for one in table["seen"]
        if mistake.cause in one["of"] and _shown(one, mistake, err)
    }
    also = {*table["cause"][mistake.cause]["also"], *mistake.also, *seen} - {mistake.cause}
    return also - {one["also"] for one in table["only"] if not _shown(one, mistake, err)}


def mending(mistake: Mistake, err: str) -> list[str]:
    """The kinds of fixes that mend a mistake, those of its cause first."""
    table = looks_alike()
    more = [
        one["fix"]
        for one in table["mended"]
        if mistake.cause in one["of"] and _shown(one, mistake, err)
    ]
    never = {one["fix"] for one in table["mends"] if not _shown(one, mistake, err)}
    kinds = dict.fromkeys([*table["cause"][mistake.cause]["fixes"], *more])
    return [kind for kind in kinds if kind not in never]


def _shown(rule: dict[str, str], mistake: Mistake, err: str) -> bool:
    """Whether a rule's pattern stands where the rule looks for it."""
    places = {
        "message": ending(err)[1],
        "operand": mistake.operand,
        "line": mistake.after or mistake.before,
        "operator": mistake.operator,
        "trace": err,
    }
    pattern = rule["pattern"].replace("OPERAND", re.escape(mistake.operand))
    return re.search(pattern, places[rule["in"]], re.IGNORECASE) is not None


def ending(err: str) -> tuple[str, str]:
    """The class of the exception that ended a program, and its message."""
    for row in reversed(err.splitlines()):
        if found := _ENDS.match(row.strip()):
            return found[1].rpartition(".")[2], found[2]
    return "", ""


def is_about_devices(err: str) -> bool:
    """Whether a program ended in an error that speaks of devices, and not in one of its text, such as that
    a function has no parameter ``device``."""
    kind, message = ending(err)
    if kind in _OF_TEXTS or (kind == "TypeError" and _OF_CALLS.search(message)):
        return False
    return bool(_ABOUT.search(message))


def tells_of_us(err: str) -> bool:
    """Whether what was printed shows the simulation or the generator, which no report of a user's does."""
    return re.search(r"diagnose/simulation|Simulated GPU|training/generator", err) is not None


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
        "also_ok": sorted(accepted(mistake, err)),
        "fix_kinds": mending(mistake, err),
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
