"""The commands that prove a repair on the user's own script, as an answer prints them."""

from __future__ import annotations

import shlex

from diagnose.model import Diagnosis, Report
from diagnose.placeholders import named_script, script

#: Where the docs have a pasted traceback kept; standard input has no name to give.
_KEPT = "traceback.txt"


def repair(diagnosis: Diagnosis) -> str:
    """``diagnose fix --gpus 2 train.py``, which repairs the script on simulated GPUs; empty where the
    report names no script."""
    named = named_script(diagnosis.report)
    return "" if named is None else f"diagnose fix --gpus {_gpus(diagnosis)} {named}"


def check(diagnosis: Diagnosis) -> str:
    """The shell line that checks an edit of one's own: `invocation`; where the report names no script, the
    one that writes the verification program, and for a live exception or a text without a name none."""
    if named_script(diagnosis.report) is not None:
        return invocation(diagnosis)
    if _is_unnamed(diagnosis.report):
        return ""
    return f"diagnose --verification verify.py {_kept(diagnosis.report.source)}"


def _gpus(diagnosis: Diagnosis) -> int:
    """How many GPUs show the failure: those that the message counts to, or that its cause takes."""
    mismatch = diagnosis.report.mismatch
    devices = mismatch.devices if mismatch is not None else ()
    numbers = (device.partition(":")[2] for device in devices)
    counted = (int(number) + 1 for number in numbers if number.isdecimal() and len(number) < 3)
    return max(diagnosis.causes[0].gpus, *counted, 1)


def invocation(diagnosis: Diagnosis) -> str:
    """``diagnose run --verify=train.log train.py``: one shell line for the first cause of an answer.

    It names the report, whose devices and line it keeps. A live exception has none, nor has a text without
    a name, as from an agent: their line names the cause.
    """
    report = diagnosis.report
    if _is_unnamed(report):
        return f"diagnose run --verify={diagnosis.causes[0].id} {script(report)}"
    return f"diagnose run --verify={_kept(report.source)} {script(report)}"


def _is_unnamed(report: Report) -> bool:
    return report.live or not report.source


def _kept(source: str) -> str:
    """A report's file, as one word of a shell."""
    if source == "-" or not source.isprintable():
        return _KEPT
    return shlex.quote(f"./{source}" if source.startswith("-") else source)
