"""The edits of a definition, by families: where a value comes from rather than where it fails.

A module's ``KINDS`` say which fixes it makes: id of the fix -> a function of the `Suspect`, and of what
torch calls its things, that returns the changes of its file, or raises `Refused` where the file does not
show enough. Another edit is another function or module, its name below, and its recorded cases in
tests/fixes/codemods.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from diagnose.fixes.codemods import (
    arguments,
    factory,
    fixed_device,
    inputs,
    metrics,
    order,
    ranks,
    registration,
    release_pins,
    removals,
    replacements,
    shard_crossings,
    transfers,
)
from diagnose.fixes.codemods.positions import ancestors
from diagnose.fixes.destinations import hold, written
from diagnose.fixes.file_edit import FileEdit, file_edit
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Source, Suspect

Definition = Callable[[Suspect, TorchNames], Sequence[Change]]

_DECLARED: Sequence[Mapping[str, Definition]] = (
    arguments.KINDS,
    shard_crossings.KINDS,
    factory.KINDS,
    fixed_device.KINDS,
    inputs.KINDS,
    replacements.KINDS,
    metrics.KINDS,
    transfers.KINDS,
    order.KINDS,
    release_pins.KINDS,
    ranks.KINDS,
    registration.KINDS,
    removals.KINDS,
)
#: Fix id of the taxonomy -> the edit that makes it, if the file shows enough.
DEFINITIONS: Mapping[str, Definition] = {
    kind: make for kinds in _DECLARED for kind, make in kinds.items()
}


def define(
    kind: str, suspect: Suspect, *others: Suspect, torch: TorchNames, aside: bool = False
) -> FileEdit:
    """The edit that a fix of this kind makes of what a suspect comes from.

    Args:
        kind: fix id of the taxonomy.
        suspect: why a value is where it is, and the node to edit.
        others: suspects of the same file that the same fix mends, edited with it.
        torch: what torch and its libraries call their things.
        aside: the edit's lines are those of the suspect; the others' stand in its diff alone.

    Raises:
        Refused: the file does not show enough, or no definition is edited by such a fix.
    """
    make = DEFINITIONS.get(kind)
    if make is None:
        raise Refused("it edits no definition")
    source = suspect.spot.source
    if any(other.spot.source.path != source.path for other in others):
        raise Refused("the suspects stand in different files")
    changes = {(change.splices, id(change.node)): change for change in make(suspect, torch)}
    for change in (change for other in others for change in make(other, torch)):
        key = (change.splices, id(change.node))
        changes.setdefault(key, change._replace(aside=change.aside or aside))
    for change in changes.values():
        _hold(change, suspect, torch)
    return file_edit(source, list(changes.values()))


def _hold(change: Change, suspect: Suspect, torch: TorchNames) -> None:
    """Lets pass a change whose devices nothing refutes. Raises `Refused` for the others."""
    source = suspect.spot.source
    try:
        within = ancestors(source, change.node)
    except Refused:
        within = []
    hold(change.node, change.becomes, within, torch)
    for device in written([change.node], change.becomes):
        said = device.value if isinstance(device, ast.Constant) else None
        if said == "cpu" == str(suspect.device):
            raise Refused(f"{suspect.name} is on the cpu already")
        inside = any(isinstance(one, ast.FunctionDef) for one in within)
        if inside and str(said).startswith("cuda") and _leaves_choice(source, str(said)):
            raise Refused("the file is a library's, and leaves the choice of a GPU to its callers")


def _leaves_choice(source: Source, device: str) -> bool:
    """Whether a file runs nothing of itself, and a GPU by its number, or any where the file names none, is
    chosen by who imports it."""
    runs = any(
        isinstance(one, ast.For | ast.With | ast.While)
        or (isinstance(one, ast.If) and "TYPE_CHECKING" not in ast.unparse(one.test))
        or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Call))
        for one in source.tree.body
    )
    return not runs and (":" in device or "cuda" not in ast.unparse(source.tree))  # comments aside
