"""What says that a function which nothing calls may be given what is on an accelerator.

The device of a parameter is not known where nothing calls its function. The code around it may tell that
the function is meant for a GPU, too: others are moved beside it, or it is a method of a module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Mapping
from functools import lru_cache
from pathlib import PurePath

from diagnose.kinds import EvidenceKind
from diagnose.model import TorchNames
from diagnose.placement import Placing
from diagnose.placement.device_patterns import destinations, moved_in
from diagnose.placement.devices import CPU, written
from diagnose.placement.model import Evidence, Source, Spot
from diagnose.placement.semantics import (
    bindings,
    called,
    calls,
    dotted,
    nodes,
    parameters,
    scope_of,
)
from diagnose.placement.tensors import Module
from diagnose.placement.values import Class, Function


def of_function(function: Function, placing: Placing | None) -> Evidence | None:
    """What says that a function may be given tensors on an accelerator; None where nothing does, or where
    it is what prepares data on the host.

    Args:
        function: the function.
        placing: finds another file of its package that goes by a device; None where nobody asks.
    """
    if placing is None or _prepares(function):
        return None
    source, owner = function.source, function.owner

    def found(kind: EvidenceKind, node: ast.AST | None, where: Source = source) -> Evidence | None:
        name = function.name if where is source else None
        return Evidence(kind, Spot(where, node, name)) if node is not None else None

    def of_package() -> Evidence | None:
        if any(map(is_of_host, PurePath(source.path).parts[-3:])) or (file := placing()) is None:
            return None
        return found(EvidenceKind.PACKAGE, _moves(file.tree) or _follows(file.tree), file)

    of_module = owner.node if owner is not None and isinstance(function.this, Module) else None
    return (
        of_moves(function)
        or found(EvidenceKind.MODULE, of_module)
        or found(EvidenceKind.PEER, _moves(owner.node) if owner is not None else None)
        or found(EvidenceKind.PEER, _follows(source.tree))
        or of_package()
    )


def of_moves(function: Function) -> Evidence | None:
    """Where a function itself moves something to a device, or makes something there."""
    node = None if _prepares(function) else _moves(function.node)
    spot = Spot(function.source, node, function.name) if node is not None else None
    return Evidence(EvidenceKind.MOVED, spot) if spot is not None else None


def of_attributes(made: Class) -> Mapping[str, Evidence]:
    """The attributes that methods of a class move, or ask for their device, and where."""
    found: dict[str, Evidence] = {}
    for one in made.line():
        if not is_of_host(one.node.name):
            for name, node in _moved_attributes(one.node).items():
                spot = Spot(one.source, node, one.node.name)
                found.setdefault(name, Evidence(EvidenceKind.ATTRIBUTE, spot))
    return found


@lru_cache(maxsize=64)
def _moved_attributes(made: ast.ClassDef) -> Mapping[str, ast.expr]:
    found = [one.value for one in nodes(made, ast.Attribute) if one.attr == "device"]
    for one in bindings(made):  # what moves and is not kept may be a module
        found += moved_in(one.value) if one.value is not None else ()
    own = [one for one in found if isinstance(one, ast.Attribute) and dotted(one.value) == "self"]
    ran = {dotted(call.func) for call in calls(made)}
    return {one.attr: one for one in own if dotted(one) not in ran}


def tensors_of(function: Function, torch: TorchNames) -> frozenset[str]:
    """The parameters that a function uses as tensors, and moves nowhere."""
    moved = {one.id for one in moved_in(function.node) if isinstance(one, ast.Name)}
    found = {one.id for one in _used(function, torch) if isinstance(one, ast.Name)}
    given = set[str]()
    for one in parameters(function.node):
        said = ast.unparse(one.annotation) if one.annotation is not None else ""
        if "Tensor" in said or (one.arg in found and not _is_plain(said)):
            given.add(one.arg)
    return frozenset(given - moved)


def _is_plain(annotation: str) -> bool:
    """Whether an annotation names what is no tensor."""
    return re.match(r"(int|float|bool|str|np\.|numpy\.)", annotation) is not None


def _used(function: Function, torch: TorchNames) -> Iterator[ast.expr]:
    """What a function uses as tensors: it calls methods of tensors on it, or torch computes with it."""
    made = torch.factories | torch.host_factories
    for node in nodes(function.node, ast.Attribute):
        if node.attr in torch.of_tensors:
            yield node.value
    for call in calls(function.node):
        if (dotted(call.func) or "").startswith(("torch.", "F.")) and called(call) not in made:
            yield from call.args[:1]


def batches_of(function: Function, torch: TorchNames) -> frozenset[str]:
    """The parameters of which a function uses items as tensors, those that it gives names among them."""
    given = {one.arg for one in parameters(function.node)}
    names: dict[str, str] = {}
    for one in bindings(function.node):
        taken = one.value
        if taken is None and isinstance(one.by, ast.Assign) and isinstance(one.by.value, ast.Name):
            taken = ast.Subscript(one.by.value, ast.Constant(0))  # what it is unpacked into
        if (name := _batch(taken, given)) is not None and isinstance(one.target, ast.Name):
            names[one.target.id] = name
    found = (
        names.get(one.id) if isinstance(one, ast.Name) else _batch(one, given)
        for one in _used(function, torch)
    )
    return frozenset(filter(None, found)) - {"self"}


def _batch(node: ast.AST | None, given: Container[str]) -> str | None:
    """The parameter of which an expression is an item that has a name or a number; None for others."""
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant | ast.Attribute):
        node = node.value
        if isinstance(node, ast.Name) and node.id in given:
            return node.id
    return None


@lru_cache(maxsize=256)
def _moves(function: ast.AST) -> ast.expr | None:
    """The first expression of a function that names a device which is not the host's: what is moved there,
    or made."""
    told = (one for one in destinations(function) if not _stays(one))
    return next((one for one in told if _is_device(one)), next(moved_in(function, ("cuda",)), None))


@lru_cache(maxsize=16)
def _follows(tree: ast.Module) -> ast.expr | None:
    """The first expression of a file that makes something where a parameter is, or moves it there."""
    told = (one for one in destinations(tree) if isinstance(one, ast.Attribute))
    return next((one for one in told if one.attr == "device" and _is_parameter(tree, one)), None)


def _is_parameter(tree: ast.Module, node: ast.Attribute) -> bool:
    """Whether an attribute is one of what a function is given, but for its object."""
    function = scope_of(tree, node)
    name = node.value.id if isinstance(node.value, ast.Name) else None
    given = () if isinstance(function, ast.Module) else parameters(function)
    return name != "self" and any(one.arg == name for one in given)


def _is_device(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=said):
            return isinstance(said, str) and written(said) is not None
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return "type" not in name and not (dotted(node) or "").startswith("torch.")
    return False


def _stays(node: ast.expr) -> bool:
    """Whether an expression names the host."""
    return isinstance(node, ast.Constant) and (
        node.value is None or (isinstance(node.value, str) and written(node.value) == CPU)
    )


#: What functions and classes are called that prepare data on the host.
_OF_HOST = re.compile(
    r"collat|dataset|transform(?!er)|loader|sampler|preprocess|processor|processing|tokeniz|augment|plot|visuali",
    re.IGNORECASE,
)


def is_of_host(name: str) -> bool:
    """Whether a function or class of a name prepares data on the host."""
    return _OF_HOST.search(name) is not None


def _prepares(function: Function) -> bool:
    names = [function.node.name] if not isinstance(function.node, ast.Lambda) else []
    names += function.owner.names() if function.owner is not None else []
    if any(map(is_of_host, names)):
        return True
    return function.owner is not None and function.owner.find("__getitem__") is not None
