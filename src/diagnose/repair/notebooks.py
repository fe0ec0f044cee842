"""Notebooks: their code cells run as one program, and edits go back into the cells."""

from __future__ import annotations

from difflib import SequenceMatcher

from diagnose.checking.model import Replacement
from diagnose.checking.notebook import Cells, cells, spliced
from diagnose.errors import DiagnoseError


def code_of(data: bytes, name: str) -> Cells:
    """The code of a notebook. Raises DiagnoseError where it is none."""
    try:
        return cells(data)
    except ValueError as error:
        raise DiagnoseError(f"{name} is no notebook: {error}") from error


def written(code: Cells, text: str) -> str | None:
    """The notebook with the edited text of its code; None where an edit is of no single cell."""
    old, new = code.text.split("\n"), text.split("\n")
    changes = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        change = code.within(Replacement(a + 1, b - a, tuple(new[c:d])))
        if change is None:
            return None
        changes.append(change)
    return spliced(code.document, changes)
