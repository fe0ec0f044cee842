"""Findings as GitHub's workflow commands, which annotate the lines of a pull request."""

from __future__ import annotations

from diagnose.checking.fingerprints import relative
from diagnose.checking.formats.escaping import shown
from diagnose.checking.model import Finding, Report
from diagnose.model import Lang
from diagnose.rendering.github import command


def render(report: Report, lang: Lang = "en") -> str:
    """A ``::warning`` a finding; nothing where nothing was found."""
    return "".join(_command(one) for one in report.findings)


def _command(finding: Finding) -> str:
    place = finding.place
    parts = {"file": relative(place.file), "line": place.line, "endLine": place.end_line}
    if place.end_line == place.line:  # GitHub takes columns of one line only
        parts |= {"col": place.column, "endColumn": place.end_column}
    if place.cell is not None:  # a notebook's lines are not the file's
        parts = {"file": parts["file"]}
    parts["title"] = f"diagnose ({finding.id})"
    printable = {key: _printable(str(value)) for key, value in parts.items()}
    return command("warning", printable, shown(finding.sentence))


def _printable(text: str) -> str:
    """A path with its line feeds, which the command escapes as GitHub reads them."""
    return "".join(c if c.isprintable() or c in "\r\n" else shown(c) for c in text)
