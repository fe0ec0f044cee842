"""The expression for the device that is wanted, as it may be written at a suspect's spot."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from diagnose.fixes.definitions.expressions import expression
from diagnose.fixes.definitions.places import class_around, functions_around
from diagnose.fixes.editing import Refused
from diagnose.placement.model import Source, Suspect
from diagnose.scene import sourceline


def target_device(suspect: Suspect) -> str:
    """The expression for the device that is wanted, in scope at the suspect's spot.

    Raises:
        Refused: none is in scope, and the device has no name that is sure on another machine.
    """
    for device in suspect.devices:
        try:
            expression(device)
        except Refused:
            continue
        return device
    wanted = suspect.wanted
    if (known := _by_name(suspect) or _by_neighbours(suspect)) is not None:
        return known
    if wanted is not None and (wanted.type == "cpu" or wanted.number is not None):
        return f'"{wanted}"'
    raise Refused("no expression for the device is in scope")


def _by_name(suspect: Suspect) -> str | None:
    """What programs call the device they compute on, if the spot sees it: ``device``, or that of the
    object's own library or weights. None where another GPU than the first is meant."""
    wanted, source, node = suspect.wanted, suspect.spot.source, suspect.spot.node
    if wanted is not None and (wanted.type != "cuda" or (wanted.number and not wanted.home)):
        return None
    functions, line = functions_around(source, node), getattr(node, "lineno", 0)
    for function in functions if wanted is not None else ():
        if any(isinstance(one, ast.arg) and one.arg == "device" for one in ast.walk(function)):
            return "device"
        for name in _devices(ast.walk(function)):
            if name.lineno < line:
                return name.id
    if (own := _of_object(source, node)) is not None:
        return own
    for name in _devices(walk_top(source)) if wanted is not None else ():
        if functions or name.lineno < line:
            return name.id
    return None


def _devices(nodes: Iterable[ast.AST]) -> Iterator[ast.Name]:
    """The names among nodes that programs give their device."""
    for node in nodes:
        match node:
            case ast.Name(id="device" | "DEVICE", ctx=ast.Store()):
                yield node


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


def _by_neighbours(suspect: Suspect) -> str | None:
    """The expression by which others are moved in the same function, such as ``args.device``, if all are
    moved by one and what it begins with is bound above. None where another GPU than the first is meant."""
    wanted, source, node = suspect.wanted, suspect.spot.source, suspect.spot.node
    if wanted is None or wanted.type != "cuda" or (wanted.number and not wanted.home):
        return None
    functions, line = functions_around(source, node), getattr(node, "lineno", 0)
    inside = list(ast.walk(functions[0]) if functions else walk_top(source))
    told = set[str]()
    for one in inside:
        match one:
            case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Attribute() as given, *_]):
                if given.attr == "device" and sourceline.dotted(given):
                    told.add(ast.unparse(given))
    if len(told) != 1:
        return None
    [device] = told
    root = device.partition(".")[0]
    bound = (
        (isinstance(one, ast.arg) and one.arg == root)
        or (
            isinstance(one, ast.Name)
            and isinstance(one.ctx, ast.Store)
            and one.id == root
            and one.lineno < line
        )
        for one in [*inside, *(walk_top(source) if functions else ())]
    )
    return device if any(bound) else None


def walk_top(source: Source) -> Iterator[ast.AST]:
    """The nodes of a file outside of functions and classes."""
    for statement in source.tree.body:
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from ast.walk(statement)
