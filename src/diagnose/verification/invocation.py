"""The commands that prove a repair on the user's own script, as an answer prints them."""

from __future__ import annotations

import shlex

from diagnose.model import Diagnosis
from diagnose.placeholders import named_script, script

#: Where the docs have a pasted traceback kept; standard input has no name to give.
_KEPT = "traceback.txt"


def proof(diagnosis: Diagnosis) -> str:
    """The one shell line that proves the first cause of an answer.

    ``diagnose fix --gpus 2 train.py`` where the report names the script, which repairs and runs it on
    simulated GPUs; else `invocation`.
    """
    named = named_script(diagnosis.report)
    if named is None:
        return invocation(diagnosis)
    return f"diagnose fix --gpus {_gpus(diagnosis)} {named}"


def _gpus(diagnosis: Diagnosis) -> int:
    """How many GPUs show the failure: those that the message counts to, or that its cause takes."""
    mismatch = diagnosis.report.mismatch
    devices = mismatch.devices if mismatch is not None else ()
    numbers = (device.partition(":")[2] for device in devices)
    counted = (int(number) + 1 for number in numbers if number.isdecimal() and len(number) < 3)
    return max(diagnosis.causes[0].gpus, *counted, 1)


def invocation(diagnosis: Diagnosis) -> str:
    """``diagnose run --verify=train.log train.py``: one shell line for the first cause of an answer.

    It names the report, whose devices and line it keeps. A live exception has none: its line names the
    cause.
    """
    report = diagnosis.report
    if report.live:
        return f"diagnose run --verify={diagnosis.causes[0].id} {script(report)}"
    source = report.source
    if source == "-" or not source.isprintable():
        source = _KEPT
    elif source.startswith("-"):
        source = f"./{source}"
    return f"diagnose run --verify={shlex.quote(source)} {script(report)}"
