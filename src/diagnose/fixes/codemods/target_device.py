"""The expression for the device that is wanted, as it may be written at a suspect's spot."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain

from diagnose.fixes.codemods.expressions import expression
from diagnose.fixes.codemods.positions import ancestors, class_around, functions_around
from diagnose.fixes.destinations import asks_own_weights, is_rebound, is_unbound
from diagnose.fixes.line_gate import Refused
from diagnose.kinds import DeviceType
from diagnose.placement.device_patterns import (
    by_neighbours,
    has_parameters,
    moved_in,
    nearby,
    of_class,
    of_program,
    of_sources,
)
from diagnose.placement.devices import is_gpu
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import (
    Binding,
    bindings,
    dotted,
    names,
    parameters,
    reads,
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
    at, wanted = suspect.spot, suspect.wanted
    literal = suspect.cause not in ("hardcoded-device", "rank-device")  # there it is at fault
    main = is_gpu(wanted) and (not wanted.number or wanted.home)
    for device in in_scope(suspect):
        # A name that the function moves others by is read more easily than weights.
        named = by_neighbours(at, literal=literal) if main and device.startswith("next(") else []
        return next((one for one in named if not one.startswith('"')), device)
    known = of_class(at) if wanted is None else of_program(at, literal=literal) if main else ()
    gpu = wanted is not None and wanted.type != DeviceType.CPU
    gpu_else = otherwise is not None and "cuda" in otherwise
    beside = nearby(at, suspect.meets) if gpu or gpu_else else ()
    if wanted is None:
        beside = of_sources(at, suspect.meets)
    for device in chain(known, beside):  # a GPU's number is another one on another machine
        if _is_in_scope(device, suspect):
            return device
    if wanted is not None and (not gpu or wanted.number is not None):
        return f'"{wanted}"'
    if otherwise is not None:
        return otherwise
    raise Refused("no expression for the device is in scope")


def in_scope(suspect: Suspect) -> Iterator[str]:
    """The expressions for the wanted device that may be written at a suspect's spot, best first."""
    return (one for one in suspect.devices if _is_in_scope(one, suspect))


def _is_in_scope(device: str, suspect: Suspect) -> bool:
    """Whether an expression for a device may be written at a suspect's spot."""
    source, node = suspect.spot.source, suspect.spot.node
    try:
        written = expression(device)
    except Refused:
        return False
    if asks_own_weights(written) and not has_parameters(class_around(source, node)):
        return False
    within = ancestors(source, node)
    statement = next((one for one in reversed(within) if isinstance(one, ast.stmt)), node)
    leaving = (one for one in moved_in(statement) if is_rebound(one, statement))
    if any(reads(written, dotted(one) or "") for one in leaving):
        return False  # it is where it is about to leave
    return not any(is_unbound(one, within, suspect.spot.line) for one in names(written))


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
