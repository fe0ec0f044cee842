"""The expression for the device that is wanted, as it may be written at a suspect's spot."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from diagnose.fixes.codemods.expressions import expression
from diagnose.fixes.codemods.nearby_devices import within_reach
from diagnose.fixes.codemods.positions import ancestors, class_around, functions_around
from diagnose.fixes.line_gate import Refused
from diagnose.kinds import DeviceType
from diagnose.placement.devices import is_gpu
from diagnose.placement.localization.availability import main_lines
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import (
    Binding,
    around,
    bindings,
    bound_names,
    calls_around,
    dotted,
    names,
    nodes,
    parameters,
    top,
)


def target_device(suspect: Suspect, otherwise: str | None = None) -> str:
    """The expression for the device that is wanted, in scope at the suspect's spot.

    Args:
        suspect: what is misplaced, and where it is mended.
        otherwise: what is written where no such expression is in scope.

    Raises:
        Refused: none is in scope, the device has no name that is sure on another machine, and nothing is
            to be written otherwise.
    """
    for device in suspect.devices:
        try:
            written = expression(device)
        except Refused:
            continue
        if not _is_in_scope(written, suspect):
            continue
        # A name that the function moves others by is read more easily than a model's weights.
        named = _by_neighbours(suspect) if device.startswith("next(") else None
        return named if named is not None and not named.startswith('"') else device
    wanted = suspect.wanted
    neighbours = _by_neighbours(suspect)
    unbound = _unbound_yet(suspect.spot.source, suspect.spot.node)
    told = (_by_name(suspect), neighbours, _by_model(suspect))
    known = [one for one in told if one is not None and one.partition(".")[0] not in unbound]
    if known:
        # What is written down comes last, as the function's others are written.
        return min(known, key=lambda device: device.startswith('"'))
    gpu = wanted is not None and wanted.type != DeviceType.CPU
    gpu_else = otherwise is not None and "cuda" in otherwise
    if not unbound and (gpu or gpu_else) and (seen := within_reach(suspect)) is not None:
        return seen  # a GPU's number is another one on another machine
    if wanted is not None and (not gpu or wanted.number is not None):
        return f'"{wanted}"'
    if otherwise is not None:
        return otherwise
    raise Refused("no expression for the device is in scope")


def _is_in_scope(written: ast.expr, suspect: Suspect) -> bool:
    """Whether the plain name that an expression is may be read at a suspect's spot: it is not bound in
    other functions alone. What is longer was found there."""
    source, node = suspect.spot.source, suspect.spot.node
    root = next(iter(names(written)), None)
    within = functions_around(source, node)
    if root is not None and (root in _unbound_yet(source, node) or _is_mains(root, source, within)):
        return False
    if not isinstance(written, ast.Name):
        return True
    seen = (*within, *top(source.tree))
    return _binds(written.id, *seen) or not _binds(written.id, source.tree)


def _is_mains(name: str, source: Source, within: Sequence[ast.AST]) -> bool:
    """Whether only ``if __name__ == "__main__"`` binds a name, and no function reads it from there: who
    imports the file has none."""
    if not within or _binds(name, *within):
        return False
    lines = main_lines(source.tree)
    bound = [one.lineno for one in top(source.tree) if _binds(name, one)]
    uses = [one for one in nodes(source.tree, ast.Name) if one.id == name]
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    read = any(
        one.lineno not in lines and not _binds(name, *around(source.tree, one, *functions))
        for one in uses
    )
    return bool(bound) and lines.issuperset(bound) and not read


def _unbound_yet(source: Source, node: ast.AST) -> set[str]:
    """The parameters of a function of which a node is a default: that is computed before they are bound."""
    for outer, inner in pairwise(ancestors(source, node)):
        if isinstance(outer, ast.arguments) and inner in (*outer.defaults, *outer.kw_defaults):
            return {*bound_names(outer)}
    return set()


def _binds(name: str, *scopes: ast.AST) -> bool:
    """Whether one of some nodes binds a name, or imports it."""
    imported = (one.asname or one.name for each in scopes for one in nodes(each, ast.alias))
    return any(name in bound_names(each) for each in scopes) or name in imported


def _by_name(suspect: Suspect) -> str | None:
    """What programs call the device they compute on, if the spot sees it: ``device``, or that of the
    object's own library or weights. None where another GPU than the first is meant."""
    wanted, source, node = suspect.wanted, suspect.spot.source, suspect.spot.node
    if wanted is not None and not _is_main(suspect):
        return None
    functions, line = functions_around(source, node), getattr(node, "lineno", 0)
    if wanted is None:
        return _of_object(source, node)
    outside = math.inf if functions else line
    return (
        _device(name for one in functions for name in bound_names(one, line))
        or _of_object(source, node)
        or _device(name for one in top(source.tree) for name in bound_names(one, outside))
    )


def _device(known: Iterable[str]) -> str | None:
    """The first of some names that programs give their device."""
    return next((one for one in known if one in ("device", "DEVICE")), None)


def _of_object(source: Source, node: ast.AST) -> str | None:
    """The device that the classes of libraries tell in their methods."""
    owner, functions = class_around(source, node), functions_around(source, node)
    if owner is None or not functions or functions[-1] not in owner.body:
        return None
    bases = [ast.unparse(base).rpartition(".")[2] for base in owner.bases]
    made = functions[-1].name != "__init__"
    if any(base.endswith("Trainer") for base in bases):
        return "self.args.device"  # transformers' and what derives from it
    if "LightningModule" in bases and made:
        return "self.device"
    return "next(self.parameters()).device" if "Module" in bases and made else None


#: torch's own layers that always have a weight; a normalization may be built without.
_WEIGHTED = re.compile(r"(?:.+\.)?(Linear|Conv(Transpose)?[123]d|Embedding(Bag)?)")


def of_weight(source: Source, node: ast.AST) -> str | None:
    """The device of a layer's weight that the class around a node builds: replicas
    have those, and no ``parameters()``."""
    owner = class_around(source, node)
    for one in bindings(owner) if owner is not None else ():
        match one:
            case Binding(
                target=ast.Attribute(value=ast.Name(id="self"), attr=name),
                value=ast.Call(func=built),
            ):
                if _WEIGHTED.fullmatch(dotted(built) or ""):
                    return f"self.{name}.weight.device"
    return None


def given_beside(source: Source, node: ast.AST) -> str | None:
    """The parameter of the function around a node that is an operand of the same call or operator."""
    functions = functions_around(source, node)
    if not functions:
        return None
    given = {one.arg for one in parameters(functions[0])} - {"self"}
    for outer in reversed(ancestors(source, node)[:-1]):
        match outer:
            case ast.List(elts=beside) | ast.Tuple(elts=beside):
                pass
            case ast.BinOp(left=left, right=right):
                beside = [left, right]
            case ast.stmt():
                return None
            case _:
                continue
        for one in beside:
            if isinstance(one, ast.Name) and one.id in given:
                return one.id
    return None


def _is_main(suspect: Suspect) -> bool:
    """Whether the device that the program computes on is wanted, and no other GPU than that."""
    wanted = suspect.wanted
    return is_gpu(wanted) and (not wanted.number or wanted.home)


def _by_neighbours(suspect: Suspect) -> str | None:
    """The expression by which others are moved in the same function, such as ``args.device``, if all are
    moved by one and what it begins with is bound above."""
    if not _is_main(suspect):
        return None
    at_fault = suspect.cause in ("hardcoded-device", "rank-device")  # the current device itself
    told = set[str]()
    for one in calls_around(suspect.spot.source.tree, suspect.spot.node):
        match one:
            case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Attribute() as given, *_]):
                if given.attr == "device" and dotted(given):
                    told.add(ast.unparse(given))
            case ast.Call(func=ast.Attribute(attr="cuda"), args=[], keywords=[]) if not at_fault:
                told.add('"cuda"')
            case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Constant(value="cuda")]):
                told |= set() if at_fault else {'"cuda"'}
    if len(told) != 1:
        return None
    [device] = told
    return device if device.startswith('"') or _is_bound(device, suspect) else None


_MODELS = re.compile(
    r"(\w+_)?(model|net|network|encoder|decoder|backbone|unet|vae|student|actor|critic|classifier)"
)


def _by_model(suspect: Suspect) -> str | None:
    """The device of the one model that the function calls."""
    if not _is_main(suspect):
        return None
    models = {
        one.func.id
        for one in calls_around(suspect.spot.source.tree, suspect.spot.node)
        if isinstance(one.func, ast.Name)
        and _MODELS.fullmatch(one.func.id)
        and _is_bound(one.func.id, suspect)
    }
    return f"next({models.pop()}.parameters()).device" if len(models) == 1 else None


def _is_bound(name: str, suspect: Suspect) -> bool:
    """Whether what a dotted name begins with is a parameter or was set above a suspect's spot."""
    source, node = suspect.spot.source, suspect.spot.node
    root, line = name.partition(".")[0], getattr(node, "lineno", 0)
    scopes = (*functions_around(source, node)[:1], *top(source.tree))
    return any(root in bound_names(one, line) for one in scopes)
