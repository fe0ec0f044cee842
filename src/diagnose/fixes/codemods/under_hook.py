"""A part of an offloaded model that is run past the model's hook is run where its weights are by then."""

from __future__ import annotations

import ast

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.positions import statement_of, text_of
from diagnose.fixes.codemods.statements import before_statement
from diagnose.fixes.codemods.target_device import target_device
from diagnose.fixes.file_gate import Change
from diagnose.kinds import EventKind
from diagnose.placement.model import Suspect
from diagnose.placement.semantics import bound, called, dotted, scope_of

#: What keeps the weights of a model on the host as they are, and brings all of them for its forward. Others
#: leave nothing there that has a device to go to.
_WHOLE = frozenset({"cpu_offload_with_hook", "enable_model_cpu_offload"})


def run_there(suspect: Suspect) -> Change | None:
    """``model.part(x)`` becomes ``model.part(x.to(where the part is)).to(x.device)``; None for other
    uses of what is offloaded."""
    source, call = suspect.spot.source, suspect.spot.node
    if not _is_whole(suspect) or not isinstance(call, ast.Call):
        return None
    if len(call.args) != 1 or call.keywords or not isinstance(call.func, ast.Attribute):
        return None
    given, part = dotted(call.args[0]), _run(suspect, call)
    if given is None or part is None:
        return None
    run = f"{text_of(source, call.func)}({given}.to(next({part}.parameters()).device))"
    return replaced(source, call, f"{run}.to({given}.device)")


def brought_first(suspect: Suspect) -> Change | None:
    """A statement ``model.to(device)`` above the one that calls a method or a part of the model with more
    than a variable, or by a name of its own; None for other uses of what is offloaded."""
    source, call = suspect.spot.source, suspect.spot.node
    if not _is_whole(suspect) or not isinstance(call, ast.Call):
        return None
    part = _run(suspect, call)
    if part is None:
        return None
    code = f"{part}.to({target_device(suspect)})"
    return before_statement(source, statement_of(source, call), code)


def _is_whole(suspect: Suspect) -> bool:
    """Whether all weights of the model are kept on the host as they are, for its forward."""
    spots = (one.spot for one in reversed(suspect.steps) if one.what == EventKind.OFFLOADED)
    offloaded = next(spots, None)
    return offloaded is not None and called(offloaded.node) in _WHOLE


def _run(suspect: Suspect, call: ast.Call) -> str | None:
    """The part of a model that is called, or of which a method is; None where it has no name there."""
    is_part = suspect.name == ast.unparse(call)
    called_by = call.func
    if isinstance(called_by, ast.Name) and not is_part:
        called_by = _bound_to(suspect, called_by.id) or called_by
    if not isinstance(called_by, ast.Attribute):
        return None
    part = dotted(called_by if is_part else called_by.value)
    return None if part == "self" else part


def _bound_to(suspect: Suspect, name: str) -> ast.expr | None:
    """What the function around a suspect's spot binds a name to, where that is one statement of it."""
    source, node = suspect.spot.source, suspect.spot.node
    found = bound(scope_of(source.tree, node), name)
    return found[0].value if len(found) == 1 else None
