"""Which line an answer names where its first edit changes another one than the suspect stands in."""

from __future__ import annotations

from collections.abc import Sequence

from diagnose.model import Edit, Fix, Frame
from diagnose.placement.model import Suspect

#: Fixes of a setting: what a program asks for is what a person would change, wherever it fails.
_OF_SETTINGS = frozenset(
    {
        *("change-device-map", "disable-offload", "drop-device-map", "pin-device-map"),
        *("upgrade-library", "downgrade-library"),
    }
)


def settled(culprit: Frame | None, fixes: Sequence[Fix]) -> Frame | None:
    """The line that the first of some fixes changes, where that is a setting of the program that stands
    elsewhere than the line that was found."""
    first = next((fix for fix in fixes if fix.patch is not None), None)
    if first is None or first.edit is None or first.kind not in _OF_SETTINGS:
        return None
    if not _replaces(first.edit) or (culprit is not None and _covers(first.edit, culprit)):
        return None
    return _at(first.edit, Frame(first.edit.file))


def edited(culprit: Frame | None, suspect: Suspect | None, fixes: Sequence[Fix]) -> Frame | None:
    """Of a statement over several lines the one that the first edit changes, if it changes any of it."""
    edit = next((fix.edit for fix in fixes if fix.patch), None)
    if culprit is None or suspect is None or edit is None or edit.line is None:
        return culprit
    if not _replaces(edit):
        return culprit
    spot = suspect.line
    last = getattr(spot.node, "end_lineno", None) or spot.line
    if edit.file != culprit.file or not spot.line < edit.line <= last:
        return culprit
    return _at(edit, culprit)


def _replaces(edit: Edit) -> bool:
    """Whether an edit changes a line, and does not only add some."""
    return edit.line is not None and bool(edit.before) and edit.before not in edit.after.split("\n")


def _covers(edit: Edit, frame: Frame) -> bool:
    """Whether a line is one of those that an edit shows."""
    shown = range(edit.line or 0, (edit.line or 0) + edit.before.count("\n") + 1)
    return edit.file == frame.file and frame.line in shown


def _at(edit: Edit, frame: Frame) -> Frame:
    return frame._replace(line=edit.line, code=edit.before.partition("\n")[0].strip())
