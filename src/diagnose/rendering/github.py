"""A failure as GitHub's workflow commands, which annotate the lines of a pull request."""

from __future__ import annotations

import os
from collections.abc import Mapping

from diagnose.model import Diagnosis
from diagnose.rendering.lines import said


def render(diagnosis: Diagnosis, *, columns: int = 80, color: bool = False) -> str:
    """An ``::error`` for the failure and a ``::notice`` for each change; nothing without an error."""
    lines = []
    for number, one in enumerate(said(diagnosis)):
        parts: dict[str, object] = {"file": _below(one.file)}
        if one.line is not None:
            parts["line"] = one.line
        parts["title"] = "diagnose"
        lines.append(command("notice" if number else "error", parts, one.text))
    return "".join(lines)


def command(level: str, properties: Mapping[str, object], text: str) -> str:
    """``::error file=train.py,line=3::text``, with what would end a part of it escaped."""
    told = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{level} {told}::{_data(text)}\n"


def _below(path: str) -> str:
    """A path as the repository knows it, where that is the working directory."""
    here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118
    return path.removeprefix(here)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
