"""The command that verifies the user's own script, as an answer prints it."""

from __future__ import annotations

import shlex

from diagnose.model import Diagnosis
from diagnose.placeholders import script

#: Where the docs have a pasted traceback kept; standard input has no name to give.
_KEPT = "traceback.txt"


def invocation(diagnosis: Diagnosis) -> str:
    """``diagnose verify --from train.log train.py``: one shell line for the first cause of an answer.

    It names the report, whose devices and line it keeps. A live exception has none: its line names the
    cause.
    """
    report = diagnosis.report
    if report.live:
        return f"diagnose verify {diagnosis.causes[0].id} {script(report)}"
    source = report.source
    if source == "-" or not source.isprintable():
        source = _KEPT
    elif source.startswith("-"):
        source = f"./{source}"
    return f"diagnose verify --from {shlex.quote(source)} {script(report)}"
