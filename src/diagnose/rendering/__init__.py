"""The forms of an answer, one module each: text for people and JSON for tools (each brief, or all
of it), Markdown for issue threads."""

from __future__ import annotations

#: Name of a form, as ``--format`` takes it -> the module that renders it, imported when it is asked for:
#: ``render(diagnosis, *, columns, color) -> str``, for a terminal of so many columns, with its styles or
#: without. The first is the default. Another form is another module and its line here.
FORMATS = {
    "text": "diagnose.rendering.text",
    "full": "diagnose.rendering.full",
    "json": "diagnose.rendering.json",
    "json-full": "diagnose.rendering.json_full",
    "markdown": "diagnose.rendering.markdown",
    "gcc": "diagnose.rendering.gcc",
    "github": "diagnose.rendering.github",
}

#: Name of a form -> the name of the same form with all of the answer, which ``--full`` asks for.
FULL = {"text": "full", "json": "json-full"}
