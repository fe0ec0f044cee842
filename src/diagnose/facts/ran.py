"""What the lines on the way show to have run before it failed, and what they were fed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from diagnose.facts.values import CALLING, at
from diagnose.model import Fact, TorchNames
from diagnose.placement.semantics import dotted, holds, names
from diagnose.scene import Scene, calls, provenance
from diagnose.scene.devices import kind


def earlier_layer(scene: Scene) -> Iterator[Fact]:
    """Weights are on the cpu, and another layer of the same object had run before in the statement:
    ``self.head(self.trunk(x))``, ``self.atoms(z), self.bonds(e)``. The model was moved."""
    roles = scene.roles
    if not scene.in_layer or kind(roles.get("weight", "")) != "cpu":
        return
    for frame in reversed(scene.report.frames):
        if not frame.own or frame.function != "forward" or frame.statement is None:
            continue
        part = scene.place(frame).part if frame.statement.carets else None
        line = scene.place(frame).line
        if line is None or not isinstance(part, ast.Call) or _layer(part) is None:
            continue
        for node in calls.calls(line.nodes):
            name = _layer(node)
            if name is not None and name != _layer(part) and _before(node, part):
                yield at("earlier-layer-ran", frame, name=name)
                return


def _layer(call: ast.Call) -> str | None:
    """The name of an attribute of ``self`` that is called, or taken from a list there."""
    function = call.func.value if isinstance(call.func, ast.Subscript) else call.func
    name = dotted(function) or ""
    return name if name.startswith("self.") and name.count(".") == 1 else None


def _before(node: ast.Call, part: ast.Call) -> bool:
    """Whether a call ends before another begins, or is among what that is given."""
    if any(holds(one, node) for one in part.args):
        return True
    ends = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return ends <= (part.lineno, part.col_offset)


def fed_from_cpu(scene: Scene) -> Iterator[Fact]:
    """Two GPUs met in a model that was given what the caller's line made on the cpu: the model moves its
    input, and parts of its own are on both."""
    if scene.pair != "gpu-gpu":
        return
    torch = scene.knowledge.torch
    frames = [frame for frame in scene.report.frames if frame.function not in CALLING]
    for caller, inner in pairwise(frames):
        if not (caller.own and inner.own) or inner.function != "forward":
            continue
        given = provenance.arguments(scene.place(caller), scene.place(inner), torch) or ()
        tensors = [one.node for one in given if not calls.is_number(one.node, torch)]
        if tensors and all(calls.makes_tensor(node, torch) for node in tensors):
            yield at("fed-from-cpu", caller)
        return


def made_by_own_call(scene: Scene) -> Iterator[Fact]:
    """The operand on the cpu came to a library by its name, and is what a function of the user's own
    gave: ``net(ids, position_ids=self.places(ids))``."""
    met, site, torch = scene.met, scene.site, scene.knowledge.torch
    if met is None or site is None or site.frame.own or len(met.strays) != 1:
        return
    node: ast.AST = calls.root(met.strays[0].node, torch)
    for inner, caller in pairwise((site, *scene.above)):
        if not isinstance(node, ast.Name) or not caller.frame.own:
            continue  # a library hands a keyword on under its name
        for one in provenance.arguments(caller, inner, torch) or ():
            if one.keyword == node.id and _is_own_call(one.node, torch):
                yield at("made-by-own-call", caller.frame, name=node.id)
        return


def _is_own_call(call: ast.expr, torch: TorchNames) -> bool:
    """True for a method of the object and for a function that is called by its name alone."""
    if not isinstance(call, ast.Call):
        return False
    name = dotted(call.func) or ""
    return name.startswith("self.") or (
        isinstance(call.func, ast.Name) and name not in torch.numbers
    )


def handed_in_on_cpu(scene: Scene) -> Iterator[Fact]:
    """All variables that met on the cpu and a GPU are what the caller passes by these names."""
    met, site, torch = scene.met, scene.site, scene.knowledge.torch
    if met is None or site is None or not scene.above or "cpu" not in (scene.pair or ""):
        return
    given = provenance.arguments(scene.above[0], site, torch) or ()
    met_names = {name for one in met.strays if not one.layer for name in names(one.node)}
    if len(met.strays) < 2 or len(met_names) < 2 or any(one.spread for one in given):
        return
    if all(any(one.is_called(name) for one in given) for name in met_names):
        yield at("handed-in-on-cpu", site.frame)
