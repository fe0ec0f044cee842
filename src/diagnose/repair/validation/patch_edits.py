"""What the text of a patch tells against it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from diagnose.placement.semantics import arguments, called, calls, dotted, names
from diagnose.repair.model import Guard, Sentence, objection, said
from diagnose.repair.patch import Patch, goes_to_cpu, move_of, moves
from diagnose.repair.syntax import blocks
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
#: Kinds of containers.
_CONTAINERS = frozenset({"list", "tuple", "dict"})
#: A fix that takes back what the program does to save memory.
_UNDOES = "disable-offload"
#: A GPU as a string.
LITERAL = re.compile(r"""["'](cuda(?::\d+)?)["']""")
#: A GPU, or that it is one, in any form.
_NAMES = re.compile(
    r"""(?<!accelerator=)["'](?:cuda(?::\d+|:?\{[^}]*\})?)["']|\.cuda\(|\bset_device\("""
)


def written_down(patch: Patch) -> Iterator[Sentence]:
    """No edit writes down another GPU than the first by its number, unless the program does too: on another
    machine, or in another rank, that is another one or none."""
    known = _numbered(patch.before)
    for line, row in patch.added:
        for device in sorted(_numbered(row) - known):
            yield said("numbered", line=line, device=device)


def _device(call: ast.Call) -> str:
    """What a move goes to, as it is written."""
    return next(map(ast.unparse, arguments(call)), "")


def writes_gpu(text: str) -> bool:
    """Whether a text names a GPU as a string."""
    return LITERAL.search(text) is not None


def _numbered(text: str) -> set[str]:
    """The GPUs that a text names, but for the first."""
    return {*LITERAL.findall(text)} - {"cuda", "cuda:0"}


def is_numbered(text: str) -> bool:
    """Whether a text names a GPU other than the first."""
    return bool(_numbered(text))


def agreed(case: Case) -> Iterator[Guard]:
    """The answer to each failure, which has seen none of its values, points at what is moved there. Where
    something is made, loaded, kept or chosen is no matter of where it fails, nor what torch names."""
    for one, patch in case.steps:
        told = one.kind in _AT_ORIGIN or one.cause == HOME
        if not (one.agrees or told or _is_beside(patch) or _goes_through_more(patch)):
            yield objection("agreed", "agreed", file=one.file, line=one.line)
            return


def _is_beside(patch: Patch) -> bool:
    """Whether all that an edit does is to move more of an object where that moves what it keeps."""
    if any(hunk.gone for hunk in patch.hunks):
        return False
    beside = {
        one.lineno
        for block in blocks(patch.new)
        for above, one in pairwise(block)
        if (device := _own_to(one)) is not None and device == _own_to(above)
    }
    return bool(patch.edited) and patch.edited <= beside


def _own_to(statement: ast.stmt) -> str | None:
    """The device that a statement brings to what an object keeps."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=moved, attr="to"), args=[device])):
            own = dotted(moved) or ""
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name("self"))],
            value=ast.Call(func=ast.Attribute(value=moved, attr="to"), args=[device]),
        ):
            own = dotted(moved) or ""
        case _:
            return None
    return dotted(device) if own.startswith("self.") else None


def _goes_through_more(patch: Patch) -> bool:
    """Whether an edit goes through one container more where the program moves all that it hands over."""
    made = [one for one in calls(patch.new) if one.lineno in patch.edited]
    asked = any(called(one) == "isinstance" and _CONTAINERS & {*names(one)} for one in made)
    to = {_device(one) for one in made if move_of(one)}
    near = {line for hunk in patch.hunks for line in range(hunk.gone.start - 2, hunk.gone.stop + 4)}
    return asked and bool(to) and to <= {_device(m) for m in moves(patch.old) if m.lineno in near}


def _stays(patch: Patch) -> bool:
    """Whether an edit takes away a move to the cpu that the program makes: it wants to have there what it
    brings there."""
    left, had = (sum(map(goes_to_cpu, moves(tree))) for tree in (patch.new, patch.old))
    return left < had


def _leaves_copies(patch: Patch) -> bool:
    """Whether all that an edit does is to leave copies of parameters where an offload keeps these."""
    return bool(patch.added) and all(takes_weights(row) for _, row in patch.added)


def stopgap(case: Case) -> Iterator[Guard]:
    """The edits are where what is wrong comes from, and give nothing up that is done on purpose."""
    # What replicas share, and no module holds, is brought to each of them where they use it.
    shared = bool(case.edited) and case.edited <= case.ran.shared
    stopgaps = [one for one in case.applied if one.stopgap and not shared]
    for one, patch in case.steps:
        undone = one.kind == _UNDOES or (one in stopgaps and one.kind not in _AT_USE)
        if (undone and not _leaves_copies(patch)) or _stays(patch):
            yield objection("gives-up", "gives-up", file=one.file, line=one.line)
            return
    for one in stopgaps[:1]:
        yield objection("stopgap", "stopgap", file=one.file, line=one.line)
    if not stopgaps:
        yield Guard("stopgap", True, said("at-source"))
