"""What the words of a failure (`diagnose.facts.words`) add to the score of each cause.

Learned from labelled failures beside the corrections of the experts' beliefs (training/learn.py).
"""

from __future__ import annotations

from diagnose.naming.table import Table, shipped

#: How many rows the table has.
ROWS = 1 << 14


def table() -> Table:
    """The table that comes with the package; its columns are the causes' ids."""
    return shipped("causes")
