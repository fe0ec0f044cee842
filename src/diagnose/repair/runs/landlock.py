"""Linux's own boundary for a process that restricts itself: where it may write.

Unlike an audit hook it holds for compiled code, for directory descriptors, for links and for all that the
process starts.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on every architecture that torch knows
_ASK_VERSION, _BELOW, _NO_NEW_PRIVILEGES = 1, 1, 38
#: Writing to files, and making and removing what is in folders: bits 1 and 4 to 12 since the first version.
_WRITING = 1 << 1 | sum(1 << bit for bit in range(4, 13))
#: What a file, which holds nothing, can be allowed.
_OF_A_FILE = 1 << 1 | 1 << 14
#: Renaming from folder to folder, which the first version refuses always, and truncating.
_LATER = {2: 1 << 13, 3: 1 << 14}


class _Rules(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64)]


class _Rule(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def version() -> int:
    """What this kernel offers; 0 where that is nothing, or too little for what right programs do."""
    if sys.platform != "linux":
        return 0
    found = int(ctypes.CDLL(None).syscall(_CREATE, None, 0, _ASK_VERSION))
    return found if found >= min(_LATER) else 0


def restrict(own: Iterable[str], others: Iterable[str], never: str) -> bool:
    """From now on this thread, and what it starts, writes only below some folders; says whether it does.

    Args:
        own: folders where it may write.
        others: where it may write, too; those that are missing count for nothing.
        never: a folder that stays as it is: nor may it write to one of the others that holds it, for
            that has one rule for all below.
    """
    if not (known := version()):
        return False
    library = ctypes.CDLL(None)
    writing = _WRITING | sum(bit for since, bit in _LATER.items() if since <= known)
    rules = library.syscall(_CREATE, ctypes.byref(_Rules(writing)), ctypes.sizeof(_Rules), 0)
    if rules < 0:
        return False
    try:
        kept = Path(never)
        apart = (
            p for p in map(Path, others) if p not in kept.parents and kept not in (p, *p.parents)
        )
        for path in (*map(Path, own), *apart):
            _allow(library, rules, path, writing)
        library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        return bool(library.syscall(_RESTRICT, rules, 0) == 0)
    finally:
        os.close(rules)


def _allow(library: ctypes.CDLL, rules: int, path: Path, writing: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        allowed = writing if path.is_dir() else writing & _OF_A_FILE
        rule = _Rule(allowed, opened)
        library.syscall(_ADD, rules, _BELOW, ctypes.byref(rule), 0)
    finally:
        os.close(opened)
