"""Many logs: the failures in each, grouped where they are equal."""

from diagnose.scanning.groups import Group, Grouping
from diagnose.scanning.log import Occurrence, ScannedLog, scan_log, scan_stream

__all__ = [
    "Group",
    "Grouping",
    "Occurrence",
    "ScannedLog",
    "scan_log",
    "scan_stream",
]
