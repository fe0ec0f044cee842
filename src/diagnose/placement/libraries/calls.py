"""What calls of libraries' functions and classes give: as kb/effects.toml says, else by their names."""

from __future__ import annotations

import ast

from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.general import unbound
from diagnose.placement.libraries.models import unlisted
from diagnose.placement.libraries.words import done
from diagnose.placement.machine import Arguments, Machine
from diagnose.placement.values import Frame, Value


def library_call_of(
    machine: Machine, dotted: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """The result of calling a name of a library."""
    call = CallSite(machine, dotted, given, node, frame)
    found = unbound(call) if dotted.startswith("torch.Tensor.") else None
    found = found or done(call, dotted)
    return unlisted(call) if found is None else found
