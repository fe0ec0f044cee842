"""Lines as gcc prints errors: editors and problem matchers jump to them."""

from __future__ import annotations

from diagnose.model import Diagnosis
from diagnose.rendering.lines import said


def render(diagnosis: Diagnosis, *, columns: int = 80, color: bool = False) -> str:
    """``file:line: error: sentence [id]`` and a ``note`` for each change; nothing without an error."""
    lines = []
    for number, one in enumerate(said(diagnosis)):
        where = one.file if one.line is None else f"{one.file}:{one.line}"
        text = one.text.replace("\n", "  ")
        lines.append(f"{where}: {'note' if number else 'error'}: {text}\n")
    return "".join(lines)
