"""An edit is no fix while the line that failed fails still, or one behind it does: the edited file is
analysed again, and what is misplaced then is fixed with it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from diagnose.fixes.file_edit import FileEdit, joined
from diagnose.fixes.line_gate import Refused
from diagnose.model import Edit
from diagnose.placement.model import Source, Suspect
from diagnose.scene import Scene

if TYPE_CHECKING:
    from diagnose.scene.reanalysis import Reanalysis

#: So many edits are added to one.
_MOST = 4


def completed(edit: Edit | FileEdit, scene: Scene) -> Edit | FileEdit | Refused:
    """An edit with what its file needs beside it.

    Args:
        edit: of a file that may have been analysed.
        scene: the report, looked at.

    Returns:
        The refusal where what failed fails after it, too, as far as the files tell.
    """
    source = scene.analysed(edit.file)
    first = _whole(edit, source) if source is not None else None
    if source is None or first is None:
        return edit
    text, left = first.text, scene.after(source.path, first.text)
    if left is not None and left.is_idle:
        return Refused("what failed fails after it, too")
    for _ in range(_MOST):
        if left is None or (added := _added(left, source.path, scene)) is None:
            break
        text, left = added
    if left is not None and left.still:
        return Refused("what failed fails after it, too")
    return edit if text == first.text else joined(source, first, text)


def _whole(edit: Edit | FileEdit, source: Source) -> FileEdit | None:
    """An edit of lines as one of their file; None where they are not in it as they were printed."""
    if isinstance(edit, FileEdit):
        return edit
    before, after = edit.before.split("\n"), edit.after.split("\n")
    start = (edit.line or 0) - 1
    lines = source.lines[start : start + len(before)]
    if start < 0 or [one.strip() for one in lines] != [one.strip() for one in before]:
        return None
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    if not before[0].startswith(indent):
        after = [indent + after[0], *after[1:]]
    whole = [*source.lines[:start], *after, *source.lines[start + len(before) :]]
    return FileEdit(edit.file, start + 1, edit.before, edit.after, None, "\n".join(whole))


def _added(left: Reanalysis, path: str, scene: Scene) -> tuple[str, Reanalysis] | None:
    """The file with one more edit, and what fails then; None where none helps."""
    for suspect in left.left:
        for edited in _defined(suspect, path, scene):
            after = scene.after(path, edited)
            if after and all(one.name != suspect.name for one in after.left):
                return edited, after
    return None


def _defined(suspect: Suspect, path: str, scene: Scene) -> Iterator[str]:
    """A file with a suspect fixed, in each way that its definition allows."""
    from diagnose.fixes.codemods import define

    for fix in scene.knowledge.causes[suspect.cause].fixes if suspect.spot.file == path else ():
        with contextlib.suppress(Refused):
            yield define(fix.kind, suspect, torch=scene.knowledge.torch).text
