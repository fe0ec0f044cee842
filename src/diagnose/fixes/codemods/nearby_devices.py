"""What tells the device at a place of a file where the analysis knows none: what is written beside it, what
the functions and the class around it move by, their weights."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from diagnose.fixes.codemods.positions import class_around, functions_around
from diagnose.placement.model import Source, Spot, Suspect
from diagnose.placement.semantics import (
    Function,
    argument,
    bound_names,
    calls,
    dotted,
    nodes,
    parameters,
    path_to,
)

#: Attributes that tensors have and hardly anything else.
_OF_TENSORS = frozenset({"dtype", "shape", "ndim"})
_DEVICE = re.compile(r"_?(\w+_)?dev(ice)?", re.IGNORECASE)
#: What is named so has a device of its own.
_HAVING = re.compile(r"(\w+_)?(accelerator|model|net|args|config|cfg|opt|trainer)")
_MODULE = re.compile(r"(\w*Module|\w*Model|PreTrainedModel|\w+Layer)")
#: Methods of a tensor that are given an index, or another tensor, that has to be where it is.
_TAKING = frozenset({"index_select", "gather", "scatter", "masked_fill"})

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def within_reach(suspect: Suspect) -> str | None:
    """The expression of a GPU that a place can read; None where nothing there tells one."""
    source, node = suspect.spot.source, suspect.spot.node
    found = itertools.chain(
        _operand(suspect.meets, node),
        _told(source, node),
        _weights(source, node),
        _shaped_as(source, node),
        _by_default(source),
    )
    return next(found, None)


def _operand(meets: Spot | None, node: ast.AST) -> Iterator[str]:
    """What a value meets in the expression that it stands in."""
    for outer in nodes(meets.node, ast.Call, ast.BinOp) if meets is not None else ():
        match outer:
            case ast.Call(func=ast.Attribute(value=other, attr=name), args=args):
                if name not in _TAKING or node not in args:
                    continue
            case ast.BinOp(left=left, right=right) if node in (left, right):
                other = right if left is node else left
            case _:
                continue
        if (read := dotted(other)) is not None:  # which may be read once more
            yield f"{read}.device"


def _told(source: Source, node: ast.AST) -> Iterator[str]:
    """The one expression by which the functions around a node, else the methods of its class, say a
    device."""
    functions, owner = functions_around(source, node), class_around(source, node)
    line = getattr(node, "lineno", 0)
    for function in functions[:1]:
        inside = set(_said(function))
        if len(inside) == 1 and _is_bound(name := inside.pop(), function, line):
            yield name
    if owner is None or not functions or functions[-1] not in owner.body:
        return
    own = {one for one in _said(owner) if one.startswith("self.")}
    if len(own) == 1 and functions[-1].name != "__init__":
        yield own.pop()


def _said(scope: ast.AST) -> Iterator[str]:
    """The names and attributes that the moves and factories of a scope are told as a device."""
    for call in calls(scope):
        moves = isinstance(call.func, ast.Attribute) and call.func.attr == "to"
        given = argument(call, "device", 0 if moves else None)
        name = dotted(given) if given is not None else None
        if name is not None and _DEVICE.fullmatch(name.rpartition(".")[2]):
            yield name


def _is_bound(name: str, function: Function, line: int) -> bool:
    """Whether what a dotted name begins with is a parameter of a function, or bound in it above a line: a
    device, or what has one. What is computed there may be as misplaced."""
    root, _, rest = name.partition(".")
    if any(one.arg == root for one in parameters(function)):
        return True
    has_one = not rest or _HAVING.fullmatch(root) is not None
    return has_one and root in bound_names(function, line)


def _weights(source: Source, node: ast.AST) -> Iterator[str]:
    """The weights of the module that a method belongs to, which are known once it is built."""
    owner, functions = class_around(source, node), functions_around(source, node)
    if owner is None or not functions or functions[-1] not in owner.body:
        return
    bases = [ast.unparse(base).rpartition(".")[2] for base in owner.bases]
    if functions[-1].name != "__init__" and any(map(_MODULE.fullmatch, bases)):
        yield "next(self.parameters()).device"


def _shaped_as(source: Source, node: ast.AST) -> Iterator[str]:
    """What a function is given, or a comprehension takes one by one out of that or out of weights, by whose
    shape or type the node's call makes something."""
    given = {one.arg for each in functions_around(source, node)[:1] for one in parameters(each)}
    given |= {
        name for name, of in _taken(source, node) if of in given or of.endswith("parameters()")
    }
    for one in nodes(node, ast.Attribute):
        match one:
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if attr in _OF_TENSORS:
                if name in given:
                    yield f"{name}.device"


def _taken(source: Source, node: ast.AST) -> Iterator[tuple[str, str]]:
    """The variables of the comprehensions around a node, each with what it is taken out of."""
    for one in path_to(source.tree, node):
        if isinstance(one, _COMPREHENSIONS):
            for loop in one.generators:
                if isinstance(loop.target, ast.Name):
                    yield loop.target.id, ast.unparse(loop.iter)


def _by_default(source: Source) -> Iterator[str]:
    """The device that the program makes everything on."""
    chosen = calls(source.tree, "set_default_device")
    if any(dotted(one.func) == "torch.set_default_device" for one in chosen):
        yield "torch.get_default_device()"
