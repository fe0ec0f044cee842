"""The forms of a check's findings, one module each. Source is data: nothing in it steers a terminal."""

from __future__ import annotations

#: Name of a form, as ``--format`` takes it -> the module that renders it, imported when it is asked for:
#: ``render(report, lang) -> str``. The first is the default. Another form is another module and its line.
FORMATS = {
    "text": "diagnose.checking.formats.text",
    "json": "diagnose.checking.formats.json",
    "sarif": "diagnose.checking.formats.sarif",
    "github": "diagnose.checking.formats.github",
    "gcc": "diagnose.checking.formats.gcc",
}
