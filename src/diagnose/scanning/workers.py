"""Many logs at once: one process a core, one log at a time each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from diagnose.model import Missing
from diagnose.scanning.log import ScannedLog, fault, scan_log


def cores() -> int:
    """How many processors this process may use; 1 where the system does not tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def scan(logs: Iterable[tuple[str, int]], workers: int = 1) -> Iterator[tuple[ScannedLog, int]]:
    """What each log gave, with its size, as it is done. One worker scans in this process; a log that kills
    its process twice is told as a fault."""
    if workers < 2:
        for name, size in logs:
            yield scan_log(name), size
        return
    from diagnose.pool import each  # not for one log: its imports take as long as a small scan

    for (_, size), scanned in each(_scan, logs, workers, _died):
        yield scanned, size


def _scan(log: tuple[str, int]) -> ScannedLog:
    return scan_log(log[0])


def _died(log: tuple[str, int], reason: str) -> ScannedLog:
    name = log[0]
    return ScannedLog(
        name, faults=(fault(name, Missing("all of it", f"its process died, {reason}")),)
    )
