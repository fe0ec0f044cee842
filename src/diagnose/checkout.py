"""In a checkout: whether kb/ was edited after the case base that answers was compiled from it."""

from __future__ import annotations

import os
from pathlib import Path

from diagnose.casebase.connection import connect
from diagnose.casebase.store import default_location

#: Where kb/ stands beside src/diagnose. An installed wheel has nothing there, and asks no more than that.
_KB = Path(__file__).parents[2] / "kb"


def stale(kb: Path = _KB) -> str | None:
    """A sentence where the compiled case base is not that of ``kb``; None where it is, or without a ``kb``.

    Times of change are compared first, and contents only where one is later than the compiled file. Of a
    case base that was chosen with $DIAGNOSE_CASEBASE nothing is said.

    Raises:
        OSError: a file went away meanwhile, or cannot be read.
        CasebaseError: the case base cannot be read.
    """
    if os.environ.get("DIAGNOSE_CASEBASE") or not (kb / "causes").is_dir():
        return None
    compiled = Path(default_location())
    if _latest(kb) <= compiled.stat().st_mtime_ns:
        return None
    from diagnose.compiling.digest import digest

    found = digest(kb)
    if [(found,)] == connect(compiled).rows("SELECT value FROM meta WHERE key = 'digest'"):
        os.utime(compiled)  # the same contents, written anew: a look at the times will do next time
        return None
    return f"{kb} was changed since the case base was compiled: run `diagnose kb build` to see it"


def _latest(folder: Path) -> int:
    """When something in a folder was last changed, added or removed, in nanoseconds."""
    latest = folder.stat().st_mtime_ns
    left = [str(folder)]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                latest = max(latest, entry.stat(follow_symlinks=False).st_mtime_ns)
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
    return latest
