"""Which line an answer names where its first edit changes another one than the suspect stands in."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.model import Edit, Fix, Frame


def edited(culprit: Frame | None, fixes: Sequence[Fix]) -> Frame | None:
    """The line that the first edit changes; the one that was found where the edit shows it, or only adds
    lines.

    Args:
        culprit: the line that was found.
        fixes: of the first cause, in their order.
    """
    edit = next((fix.edit for fix in fixes if fix.patch), None)
    if edit is None or not _replaces(edit) or (culprit is not None and _covers(edit, culprit)):
        return culprit
    beside = culprit if culprit is not None and edit.file == culprit.file else Frame(edit.file)
    return beside._replace(line=edit.line, code=edit.before.partition("\n")[0].strip())


def _replaces(edit: Edit) -> bool:
    """Whether an edit changes a line, and does not only add some."""
    return edit.line is not None and bool(edit.before) and edit.before not in edit.after.split("\n")


def _covers(edit: Edit, frame: Frame) -> bool:
    """Whether a line is one of those that an edit shows."""
    shown = range(edit.line or 0, (edit.line or 0) + edit.before.count("\n") + 1)
    return edit.file == frame.file and frame.line in shown
