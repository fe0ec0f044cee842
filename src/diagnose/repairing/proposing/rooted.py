"""Edits of where the program tells the device in whose place another edit, at a use, writes another one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from diagnose.fixes.diff import patched
from diagnose.repairing.comparing import changed, diff_of
from diagnose.repairing.model import Candidate
from diagnose.repairing.proposing.rooting import rooting
from diagnose.repairing.workspace import Workspace

#: So many of them are tried.
_MOST = 4


def rooted(found: Sequence[Candidate], workspace: Workspace) -> list[Candidate]:
    """The edits, tried after all others: who asks for the device elsewhere is told the new one, too. What
    speaks for the edit of the use speaks for these.

    Args:
        found: edits of a failure.
        workspace: the files.
    """
    made: dict[str, Candidate] = {}
    for one in found:
        with suppress(OSError, ValueError, SyntaxError):
            before = workspace.text(one.file)
            for text in rooting(before, patched(before, one.patch)):
                line = next(changed(before, text))[0].start + 1
                diff = diff_of({one.file: before}, {one.file: text})
                root = one._replace(line=line, patch=diff, source="origins")
                made.setdefault(diff, root)
    return list(made.values())[:_MOST]
