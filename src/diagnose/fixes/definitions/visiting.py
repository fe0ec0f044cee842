"""A part of an offloaded model that is run past the model's hook is run where its weights are by then."""

from __future__ import annotations

import ast

from diagnose.fixes.definitions.expressions import replaced
from diagnose.fixes.definitions.places import called, text_of
from diagnose.fixes.rewriting import Change
from diagnose.placement.model import Suspect
from diagnose.scene import sourceline

#: What keeps the weights of a model on the host as they are, and brings all of them for its forward. Others
#: leave nothing there that has a device to go to.
_WHOLE = frozenset({"cpu_offload_with_hook", "enable_model_cpu_offload"})


def run_there(suspect: Suspect) -> Change | None:
    """``model.part(x)`` becomes ``model.part(x.to(where the part is)).to(x.device)``; None for other
    uses of what is offloaded."""
    source, call = suspect.spot.source, suspect.spot.node
    spots = (one.spot for one in reversed(suspect.steps) if one.what == "offloaded")
    offloaded = next(spots, None)
    if offloaded is None or called(offloaded.node) not in _WHOLE or not isinstance(call, ast.Call):
        return None
    if len(call.args) != 1 or call.keywords or not isinstance(call.func, ast.Attribute):
        return None
    given = sourceline.dotted(call.args[0])
    is_part = suspect.name == ast.unparse(call)  # else a method of the model is called
    part = sourceline.dotted(call.func if is_part else call.func.value)
    if given is None or part is None or part == "self":
        return None
    run = f"{text_of(source, call.func)}({given}.to(next({part}.parameters()).device))"
    return replaced(source, call, f"{run}.to({given}.device)")
