"""``model(ids)`` becomes ``model(ids.to(next(model.parameters()).device))``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.edits import operand
from diagnose.fixes.line_gate import Change, Refused, Site
from diagnose.fixes.operands import calls_module, moved
from diagnose.placement.device_patterns import is_model
from diagnose.placement.semantics import dotted

#: What a layer's forward calls its parameters: where these are the stray, the module has to move.
_WEIGHTS = ("self.weight", "self.bias")


def changes(site: Site) -> Sequence[Change]:
    """The operand that the message means moves; where it means none of the line, a module's input does."""
    met = site.met
    if any(one.text in _WEIGHTS for one in met.strays):
        raise Refused("its own weights are misplaced, and no input")
    if len(met.strays) == 1 and not met.strays[0].layer:
        layer = next((one.node for one in met.others if one.layer), None)
        if layer is None:
            return operand.changes(site)
        return (moved(site, met.strays[0].node, _home(site, layer)),)
    for node in met.nodes:
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            continue
        [argument] = node.args
        if isinstance(argument, (ast.Name, ast.Attribute)) and calls_module(site, node):
            return (moved(site, argument, _home(site, node.func)),)
    return operand.changes(site)


def _home(site: Site, module: ast.expr) -> str | None:
    """Where a module's parameters are; those of a quantized one are packed, on the host."""
    mismatch = site.report.mismatch
    if mismatch is not None and (mismatch.op or "").startswith("quantized::"):
        return '"cpu"'
    match module:
        case ast.Attribute(value=owner) if is_model(owner):
            module = owner  # of a model it may be a method that is called
    if dotted(module) is None:
        return None
    return f"next({site.text(module)}.parameters()).device"


KINDS = {"move-input": changes}
