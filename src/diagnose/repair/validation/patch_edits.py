"""What the text of a patch tells against it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from diagnose.repair.model import Guard, Sentence, objection, said
from diagnose.repair.patch import Patch
from diagnose.repair.validation.case import Case
from diagnose.repair.validation.host_intent import takes_weights

#: Fixes of a value where it is used. Other stop-gaps undo an offload or leave layers unregistered.
_AT_USE = frozenset({"move-tensor-at-line", "move-input", "index-to-device"})
#: Fixes of where something is made, loaded, kept or chosen in the first place.
_AT_ORIGIN = frozenset(
    {
        "create-on-device",
        "generator-on-device",
        "map-location",
        "materialize-meta",
        "move-optimizer-state",
        "register-buffer",
        "register-module",
        "set-rank-device",
        "use-like-device-of-other",
    }
)
#: The cause that is a wrapper whose model is on another GPU than its first: torch's own message says what
#: has to move, and where to.
HOME = "dataparallel-home-device"
#: The move of what an object keeps.
_OF_OWN = re.compile(r"(?:self\.\w+ = )?self\.[\w.]+\.to\((?P<device>[\w.]+)\)")
#: Where something is moved, and what asks whether something is a container.
_MOVED = re.compile(r"\.to\(([\w., =]+)\)")
_CONTAINER = re.compile(r"isinstance\(\w+, \(?(?:list|tuple|dict)\b")
#: A fix that takes back what the program does to save memory.
_UNDOES = "disable-offload"
#: A call that brings something to the cpu.
_BROUGHT = re.compile(r"""\.(?:cpu\(\)|to\(["']cpu["'])""")
#: A GPU other than the first.
_NUMBERED = re.compile(r"\bcuda:[1-9]\d*")
#: A GPU as a string.
LITERAL = re.compile(r"""["'](cuda(?::\d+)?)["']""")
#: A GPU, or that it is one, in any form.
_NAMES = re.compile(
    r"""(?<!accelerator=)["'](?:cuda(?::\d+|:?\{[^}]*\})?)["']|\.cuda\(|\bset_device\("""
)
#: A number that is taken modulo the number of GPUs.
_WRAPPED = re.compile(r"([\w.\[\]\"']+)\)?\s*%\s*[\w.]*device_count\(\)")
#: What is brought to its index.
_INDEXED = re.compile(r"\.to\((?:device=)?([\w.]+)\.device\)\[\s*\1\b")
#: What is brought where only what is picked from it was brought.
_WHOLE = re.compile(r"\.to\(([\w.]+)\)\[\s*([\w.]+)\s*\]\.to\(\1\)")
#: Names of a rank among all machines, and of one on its own.
_RANK = re.compile(r"(?i)(?<!local_)(?<!local)rank|procid")
_STARTS = re.compile(r"\b(?:spawn|start_processes)\(|\bnprocs\b")
_LOCAL = re.compile(r"(?i)local_?rank|localid")


def written_down(patch: Patch) -> Iterator[Sentence]:
    """No edit writes down another GPU than the first by its number, unless the program does too: on another
    machine, or in another rank, that is another one or none."""
    known = set(_NUMBERED.findall(patch.before))
    for line, row in patch.added:
        for device in _NUMBERED.findall(row):
            if device not in known:
                yield said("numbered", line=line, device=device)


def counted(patch: Patch) -> Iterator[Sentence]:
    """No edit wraps the number of a GPU around, unless it is a rank among all machines, and the program
    knows none of its own, nor starts its processes itself: it would take another GPU than was chosen, or
    one that another rank has."""
    before = patch.before
    local = _LOCAL.search(before) or _STARTS.search(before)
    for line, row in patch.added:
        for found in _WRAPPED.finditer(row):
            if found[0] not in before and (local or not _RANK.search(found[1])):
                yield said("counted", line=line, number=found[1])


def indexed(patch: Patch) -> Iterator[Sentence]:
    """No edit brings what is indexed to its index: the index is the smaller one, and goes there."""
    for line, row in patch.added:
        for found, index in ((_INDEXED.search(row), 1), (_WHOLE.search(row), 2)):
            if found and found[0] not in patch.before:
                yield said("indexed", line=line, index=found[index])


def writes_gpu(text: str) -> bool:
    """Whether a text names a GPU as a string."""
    return LITERAL.search(text) is not None


def names_gpu(text: str) -> bool:
    """Whether a text names a GPU, as a string or by a call."""
    return _NAMES.search(text) is not None


def is_numbered(text: str) -> bool:
    """Whether a text names a GPU other than the first."""
    return _NUMBERED.search(text) is not None


def agreed(case: Case) -> Iterator[Guard]:
    """The answer to each failure, which has seen none of its values, points at what is moved there. Where
    something is made, loaded, kept or chosen is no matter of where it fails, nor what torch names."""
    for one in case.applied:
        told = one.kind in _AT_ORIGIN or one.cause == HOME
        more = _is_beside(one.patch) or _goes_through_more(one.patch)
        if not one.agrees and not told and not more:
            yield objection("agreed", "agreed", file=one.file, line=one.line)
            return


def _is_beside(patch: str) -> bool:
    """Whether all that an edit does is to move more of an object where that moves what it keeps."""
    rows = [row for row in patch.splitlines() if row[:3] not in ("---", "+++")]
    added = 0
    for before, row in pairwise(rows):
        if row[:1] == "+":
            one, other = (_OF_OWN.fullmatch(each[1:].strip()) for each in (before, row))
            if one is None or other is None or one["device"] != other["device"]:
                return False
            added += 1
    return added > 0 and not any(row[:1] == "-" for row in rows)


def _goes_through_more(patch: str) -> bool:
    """Whether an edit goes through one container more where the program moves all that it hands over."""
    rows = [row for row in patch.splitlines() if row[:3] not in ("---", "+++")]
    added = "\n".join(row[1:] for row in rows if row[:1] == "+")
    moves = set(_MOVED.findall(added))
    known = {move for row in rows if row[:1] != "+" for move in _MOVED.findall(row)}
    return bool(moves) and moves <= known and _CONTAINER.search(added) is not None


def _stays(patch: str) -> bool:
    """Whether an edit takes away a move to the cpu that the program makes: it wants to have there what it
    brings there."""
    count = {"-": 0, "+": 0, " ": 0}
    for row in patch.splitlines():
        if row[:1] in count and row[:3] not in ("---", "+++"):
            count[row[0]] += len(_BROUGHT.findall(row))
    return count["+"] < count["-"]


def _leaves_copies(patch: str) -> bool:
    """Whether all that an edit does is to leave copies of parameters where an offload keeps these."""
    added = [row[1:] for row in patch.splitlines() if row[:1] == "+" and row[:3] != "+++"]
    return bool(added) and all(map(takes_weights, added))


def stopgap(case: Case) -> Iterator[Guard]:
    """The edits are where what is wrong comes from, and give nothing up that is done on purpose."""
    # What replicas share, and no module holds, is brought to each of them where they use it.
    shared = bool(case.edited) and case.edited <= case.ran.shared
    stopgaps = [one for one in case.applied if one.stopgap and not shared]
    for one in case.applied:
        undone = one.kind == _UNDOES or (one in stopgaps and one.kind not in _AT_USE)
        if (undone and not _leaves_copies(one.patch)) or _stays(one.patch):
            yield objection("gives-up", "gives-up", file=one.file, line=one.line)
            return
    for one in stopgaps[:1]:
        yield objection("stopgap", "stopgap", file=one.file, line=one.line)
    if not stopgaps:
        yield Guard("stopgap", True, said("at-source"))
