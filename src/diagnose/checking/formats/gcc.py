"""A line a finding, as gcc prints warnings: editors jump to them."""

from __future__ import annotations

from diagnose.checking.formats.escaping import shown
from diagnose.checking.model import Report
from diagnose.model import Lang


def render(report: Report, lang: Lang = "en") -> str:
    """``file:line:column: warning: sentence [id]``; nothing where nothing was found."""
    return "".join(
        f"{shown(one.place.file)}:{one.place.line}:{one.place.column}: warning: "
        f"{shown(one.sentence)} [{one.id}]\n"
        for one in report.findings
    )
