"""The forms of a scan's groups, one module each. Text of logs is data here: nothing in it steers a terminal
or a spreadsheet."""

from __future__ import annotations

#: Name of a form, as ``--format`` takes it -> the module that renders it, imported when it is asked for:
#: ``render(grouping, *, columns) -> str``, for a terminal of so many columns. The first is the default.
#: Another form is another module and its line here.
FORMATS = {
    "text": "diagnose.scanning.formats.table",
    "json": "diagnose.scanning.formats.json",
    "csv": "diagnose.scanning.formats.csv",
}
