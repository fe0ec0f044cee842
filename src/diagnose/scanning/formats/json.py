"""The groups of a scan as one JSON object."""

from __future__ import annotations

import json

from diagnose.scanning.formats.records import record
from diagnose.scanning.groups import Grouping


def render(grouping: Grouping, *, columns: int = 100) -> str:
    """One object: ``logs``, ``unread`` and ``faults`` (sentences), and ``failures``, one object a group."""
    document = {
        "schema": 1,
        "logs": grouping.logs,
        "unread": grouping.problems,
        "faults": grouping.faults,
        "failures": [record(group) for group in grouping.ordered()],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
