"""The fact that a failure is a documented one that came back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnose.model import Fact, IncidentMatch, Report

#: So much alike, in frames and message, it is the same failure again, and its cause is known.
AGAIN = 0.97


def known_again(report: Report, matches: Sequence[IncidentMatch]) -> Iterator[Fact]:
    """The fact, if the first of a cause's incidents, nearest first, is like enough."""
    if matches and matches[0].by == "failure" and matches[0].similarity >= AGAIN:
        line = report.error.at if report.error else None
        yield Fact("same-as-documented", line, {"title": matches[0].title})
