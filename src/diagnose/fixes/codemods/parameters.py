"""A function that makes tensors gets a parameter for their device, which its other callers leave out."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from diagnose.fixes.codemods.expressions import expression, with_argument
from diagnose.fixes.codemods.factory import chooses
from diagnose.fixes.codemods.positions import span
from diagnose.fixes.file_gate import Change, Splice
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Source
from diagnose.placement.semantics import argument, bound_names, called, calls, dotted, names

#: What the parameter is called.
DEVICE = "device"
#: What makes a generator, which takes a device as factories do.
_GENERATOR = "Generator"


def takes_device(source: Source, function: ast.FunctionDef, torch: TorchNames) -> Sequence[Change]:
    """The changes by which a function takes a device, and makes there what it makes. Without one it makes
    all that as before: ``device=None`` is what factories do themselves.

    Raises:
        Refused: it makes nothing that could be made elsewhere, or knows of devices already.
    """
    if any(DEVICE in name.lower() for name in (*names(function), *bound_names(function.args))):
        raise Refused("the function has a device of its own")
    makers = [one for one in calls(function) if _makes(one, torch)]
    if not makers:
        raise Refused("the function makes no tensor of its own")
    changes = [with_argument(source, one, DEVICE, DEVICE) for one in makers]
    return [with_parameter(source, function), *changes]


def _makes(call: ast.Call, torch: TorchNames) -> bool:
    if argument(call, DEVICE) is not None:
        return False
    root = (dotted(call.func) or "").partition(".")[0]
    return makes_generator(call) or (chooses(call, torch) and root not in torch.host_packages)


def makes_generator(node: ast.AST) -> bool:
    """Whether a call makes a generator, and says nothing of where: it draws on the cpu then."""
    said = isinstance(node, ast.Call) and bool(node.args or node.keywords)
    return called(node) == _GENERATOR and not said


def with_parameter(
    source: Source, function: ast.FunctionDef, default: str | None = "None"
) -> Change:
    """The change of a function's parameters: another one comes last, for a device; None is no default, if
    those before it have none.

    Raises:
        Refused: others that have to be named, or are any number, come last already.
    """
    old = function.args
    if old.vararg or old.kwarg or old.kwonlyargs:
        raise Refused("the function's parameters leave no place for another one")
    parts: list[ast.AST] = [*old.posonlyargs, *old.args, *old.defaults]
    new = copy.copy(old)
    new.args = [*old.args, ast.arg(DEVICE, None)]
    written = f"{DEVICE}={default}" if default is not None else DEVICE
    new.defaults = [*old.defaults, *([expression(default)] if default is not None else [])]
    if parts:
        at = max(span(source, one)[1] for one in parts)
        return Change((Splice(at, at, f", {written}"),), old, (new,))
    at = source.text.index("(", span(source, function)[0]) + 1
    return Change((Splice(at, at, written),), old, (new,))
