"""Lists and dicts of layers as torch keeps them: ModuleList, ModuleDict, ParameterList, ParameterDict."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial

from diagnose.fixes.codemods.expressions import around
from diagnose.fixes.codemods.imports import spelled
from diagnose.fixes.codemods.positions import class_around, functions_around
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Source
from diagnose.placement.semantics import assigned, called, defined, dotted, nodes

#: Expressions of several values.
_SEVERAL = ast.Tuple | ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp
_LISTS = (ast.List, ast.Tuple, ast.ListComp)
_DICTS = (ast.Dict, ast.DictComp)


def wrapped(
    source: Source, value: ast.expr, target: ast.Attribute, torch: TorchNames
) -> list[Change]:
    """The changes that put a list or dict, and the lists in it, into what registers its elements.

    Args:
        source: the file.
        value: what is assigned.
        target: the attribute that it is assigned to.
        torch: what torch calls its things.

    Raises:
        Refused: it is not seen to be a list or dict of layers, or torch's is used otherwise.
    """
    shown = _shown(source, value)
    if shown is None:
        raise Refused("the file does not show whether it is a list or a dict")
    elements = [*_elements(shown), *_added(source, target)]
    for element in elements:
        _check_element(element, torch)
    parameters = [_is_parameter(element) for element in elements]
    if any(parameters) and not all(parameters):
        raise Refused("it holds parameters and other things")
    kind = "Parameter" if any(parameters) else "Module"
    name = f"{kind}{'Dict' if _is_dict(shown) else 'List'}"
    _check_use(source, target, name, torch)
    if name == "ModuleDict":
        _check_keys(source, shown, torch)
    changes = []
    if shown is value:
        for element in _elements(value):
            if isinstance(element, (*_LISTS, *_DICTS)):
                changes += wrapped(source, element, ast.Attribute(target, "?", ast.Load()), torch)
    spelling, needed = spelled(source, f"torch.nn.{name}", value)
    changes.insert(0, around(source, value, f"{spelling}(", ")"))
    return changes + [one for one in needed if one not in changes]


def returned(source: Source, value: ast.expr) -> ast.expr | None:
    """The only list or dict that the methods return, as they are written, which an expression may call:
    those of other classes return what registers itself. None for no call of an own method."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
            pass
        case _:
            return None
    found = [one for one in _returns(source, name) if isinstance(one, (*_LISTS, *_DICTS))]
    return found[0] if len(found) == 1 else None


def is_several(value: ast.expr) -> bool:
    """Whether an expression is a container of values, or may be one by its condition."""
    if isinstance(value, ast.IfExp):
        return is_several(value.body) or is_several(value.orelse)
    return isinstance(value, _SEVERAL) or called(value) in ("tuple", "list", "dict", "set")


def _shown(source: Source, value: ast.expr) -> ast.expr | None:
    """The list or dict that an expression is: itself, what its name was set to, what a function returns."""
    if isinstance(value, (*_LISTS, *_DICTS)):
        return value
    if isinstance(value, ast.BinOp):
        return next((s for s in (value.left, value.right) if isinstance(s, _LISTS)), None)
    if isinstance(value, ast.IfExp):  # ``layers if layers is not None else []``
        return _shown(source, value.body) or _shown(source, value.orelse)
    if isinstance(value, ast.BoolOp):
        return next((s for s in map(partial(_shown, source), value.values) if s), None)
    if isinstance(value, ast.Name):
        for function in functions_around(source, value):
            found = [one.value for one in assigned(function, value.id)]
            return _shown(source, found[0]) if len(found) == 1 and found[0] is not value else None
    if isinstance(value, ast.Call):
        name = dotted(value.func) or ""
        last = name.rpartition(".")[2]
        if last in {"list", "tuple", "dict", "OrderedDict"}:
            return value
        given = list(_returns(source, last))
        if len(given) == 1 and given[0] is not None:
            return _shown(source, given[0])
    return None


def _returns(source: Source, name: str) -> Iterator[ast.expr | None]:
    """What the functions of a name return, as it is written."""
    for function in defined(source.tree, name):
        yield from (one.value for one in nodes(function, ast.Return))


def _is_dict(shown: ast.expr) -> bool:
    if isinstance(shown, ast.Call):
        return (dotted(shown.func) or "").rpartition(".")[2] in {"dict", "OrderedDict"}
    return isinstance(shown, _DICTS)


def _elements(shown: ast.expr) -> list[ast.expr]:
    """The elements that are written in a list or dict."""
    match shown:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return list(elements)
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
            return [element]
        case ast.DictComp(value=element):
            return [element]
        case ast.Dict(values=values):
            return list(values)
        case ast.Call(args=[inner], keywords=[]):
            return _elements(inner)
        case ast.Call(args=[], keywords=keywords):
            return [keyword.value for keyword in keywords]
    return []


def _added(source: Source, target: ast.Attribute) -> Iterator[ast.expr]:
    """What the class of an attribute puts into it later."""
    name = dotted(target)
    scope = class_around(source, target) if name and "?" not in name else None
    for node in nodes(scope, ast.Call, ast.Assign) if scope is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="append"), args=[added]):
                if dotted(owner) == name:
                    yield added
            case ast.Assign(targets=[ast.Subscript(value=owner)], value=added):
                if dotted(owner) == name:
                    yield added


def _check_element(element: ast.expr, torch: TorchNames) -> None:
    """Raises `Refused` for what is no layer by its form."""
    none = isinstance(element, ast.Constant) and element.value is None
    function = isinstance(element, ast.Lambda) or called(element) == "partial"
    if function or (isinstance(element, ast.Constant) and not none):
        raise Refused("it holds what is no layer")
    if _makes_tensor(element, torch):
        raise Refused("it holds tensors, which no list of torch's registers as buffers")
    name = dotted(element) or ""
    if name.startswith(("F.", "torch.", "nn.functional.")):
        raise Refused(f"it holds the function {name}, which is no layer")


def _makes_tensor(element: ast.expr, torch: TorchNames) -> bool:
    name = dotted(element.func) if isinstance(element, ast.Call) else None
    owner, _, function = (name or "").rpartition(".")
    return owner in torch.torch and function in torch.factories


def _is_parameter(element: ast.expr) -> bool:
    name = dotted(element.func) if isinstance(element, ast.Call) else None
    return (name or "").rpartition(".")[2] == "Parameter"


def _check_use(source: Source, target: ast.Attribute, name: str, torch: TorchNames) -> None:
    """Raises `Refused` where the class calls a method that torch's container has not."""
    owner = dotted(target)
    scope = class_around(source, target) if owner and "?" not in owner else None
    for node in nodes(scope, ast.Call, ast.Subscript) if scope is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(value=called, attr=method)):
                if dotted(called) == owner and method in torch.missing.get(name, ()):
                    raise Refused(f"the class calls {owner}.{method}, which {name} has not")
            case ast.Subscript(value=called, slice=ast.Constant(value=int())):
                if dotted(called) == owner and name == "ModuleDict":
                    raise Refused("its keys are numbers, and a ModuleDict's are text")


def _check_keys(source: Source, shown: ast.expr, torch: TorchNames) -> None:
    """Raises `Refused` for keys that a ModuleDict cannot hold."""
    for key in _keys(source, shown):
        if not isinstance(key, ast.Constant):
            if isinstance(key, (ast.Tuple, ast.BinOp)) and not _is_text(key):
                raise Refused("its keys are no text, and a ModuleDict's are")
            continue
        if not isinstance(key.value, str):
            raise Refused(f"the key {key.value!r} is no text, and a ModuleDict's keys are")
        if not key.value or "." in key.value:
            raise Refused("a ModuleDict's keys have no dot and are not empty")
        if key.value in torch.module_methods or key.value in torch.module_attributes:
            raise Refused(f"a ModuleDict has an attribute {key.value} of its own")


def _is_text(key: ast.expr) -> bool:
    return isinstance(key, ast.BinOp) and any(
        isinstance(part.value, str) for part in nodes(key, ast.Constant)
    )


def _keys(source: Source, shown: ast.expr) -> Sequence[ast.expr | None]:
    """The keys of a dict, as far as the file shows them."""
    match shown:
        case ast.Dict(keys=keys):
            return keys
        case ast.Call(args=[inner]):
            return _keys(source, inner)
        case ast.Call(keywords=keywords):
            return [ast.Constant(keyword.arg) for keyword in keywords if keyword.arg]
        case ast.DictComp(key=ast.Name(id=name), generators=[one, *_]):
            return _iterated(source, name, one)
        case ast.DictComp(key=key):
            return [key]
    return []


def _iterated(source: Source, name: str, loop: ast.comprehension) -> Sequence[ast.expr | None]:
    """The values that a name takes in a loop over what the file writes down."""
    target: ast.expr = loop.target
    iterated = loop.iter
    if isinstance(iterated, ast.Call):
        function = (dotted(iterated.func) or "").rpartition(".")[2]
        first = target.elts[0] if isinstance(target, ast.Tuple) else None
        counted = isinstance(first, ast.Name) and first.id == name
        if function == "range" or (function == "enumerate" and counted):
            return [ast.Constant(0)]
        if function in {"items", "keys"} and isinstance(iterated.func, ast.Attribute):
            iterated = iterated.func.value
    if isinstance(iterated, ast.Name):
        found = assigned(source.tree, iterated.id)
        iterated = found[0].value if len(found) == 1 else iterated
    match iterated:
        case ast.Dict(keys=keys):
            return keys
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return elements if isinstance(target, ast.Name) else []
    return []
