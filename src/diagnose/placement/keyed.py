"""Caches by their form: a dict that outlives the function which fills it, and the key that it asks by."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from diagnose.placement.signatures import parameters
from diagnose.placement.walking import walk

_Function = ast.FunctionDef | ast.AsyncFunctionDef
#: Methods of a dict that are given a key.
_BY_KEY = frozenset({"get", "pop", "setdefault"})


def key_of_cache(function: _Function) -> ast.expr | None:
    """The key of a dict that outlives a function, which fills it where the key is missing, on the device
    that it is told: without that in the key the dict gives what is on another GPU.

    Returns:
        What the key's name is bound to; the key where it is asked for first, if that is written there or is
        a parameter; None where the device is in it, and for functions that keep nothing so.
    """
    if device_told(function) is None:
        return None
    for cache, key in _filled(function):
        same = [
            one for one in _keys(_asking(function), cache) if ast.unparse(one) == ast.unparse(key)
        ]
        if not same or not _outlives(cache, function):
            continue
        written = _written(same[0], function)
        if written is not None and "device" not in ast.unparse(written):
            return written
    return None


def is_by_device(tree: ast.Module, attribute: str) -> bool:
    """Whether an object's dict is filled by keys alone in which a device is: each device finds its own."""
    filled = [
        _written(key, function)
        for function in walk(tree)
        if isinstance(function, _Function)
        for cache, key in _filled(function)
        if isinstance(cache, ast.Attribute) and cache.attr == attribute
    ]
    return bool(filled) and all(key is not None and "device" in ast.unparse(key) for key in filled)


def keys(scope: ast.AST, cache: ast.expr) -> list[ast.expr]:
    """The keys by which a scope asks a dict or fills it, in the order of the file."""
    return _keys(walk(scope), cache)


def _keys(nodes: Iterable[ast.AST], cache: ast.expr) -> list[ast.expr]:
    held = ast.unparse(cache)
    found = list[ast.expr]()
    for node in nodes:
        match node:
            case ast.Subscript(value=of, slice=key):
                pass
            case ast.Call(func=ast.Attribute(value=of, attr=name), args=[key, *_]) if (
                name in _BY_KEY
            ):
                pass
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[of]):
                pass
            case _:
                continue
        if ast.unparse(of) == held:
            found.append(key)
    return sorted(found, key=lambda one: (one.lineno, one.col_offset))


def cache_of(function: _Function, key: ast.expr) -> ast.expr | None:
    """The dict that a function asks by a key as it is written there."""
    caches = (cache for cache, _ in _filled(function))
    return next((one for one in caches if any(key is each for each in keys(function, one))), None)


def device_told(function: _Function) -> str | None:
    """The device on which a function makes something, if it is that of a parameter: the parameter
    ``device``, or ``x.device``."""
    said = {ast.unparse(one) for one in _devices(function)}
    names = parameters(function)
    candidates = ("device", *(f"{name}.device" for name in names if name not in ("self", "cls")))
    return next((one for one in candidates if one in said and one.split(".")[0] in names), None)


def _devices(function: _Function) -> Iterator[ast.expr]:
    """The expressions by which a function says where it makes or brings something."""
    for node in walk(function):
        match node:
            case ast.keyword(arg="device", value=said):
                yield said
            case ast.Call(func=ast.Attribute(attr="to"), args=[said, *_]):
                yield said


def _filled(function: _Function) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The dicts that a function puts something into, each with the key."""
    for node in walk(function):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            yield node.value, node.slice


def _asking(function: _Function) -> Iterator[ast.AST]:
    """The nodes of a function that ask whether a dict has a key, or try to read what is there."""
    for node in walk(function):
        match node:
            case ast.Compare() | ast.Call(func=ast.Attribute(attr="get")):
                yield node
            case ast.Try(body=body, handlers=[ast.ExceptHandler(type=ast.Name(id="KeyError"))]):
                tried = (one for each in body for one in walk(each))
                yield from (one for one in tried if isinstance(one, ast.Subscript))


def _written(key: ast.expr, function: _Function) -> ast.expr | None:
    """The key as it is written: where its name is bound, else where it is asked for."""
    bound = [
        one.value
        for one in walk(function)
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == ast.unparse(key)
    ]
    if bound or (isinstance(key, ast.Name) and key.id not in parameters(function)):
        return bound[0] if len(bound) == 1 else None
    return key


def _outlives(cache: ast.expr, function: _Function) -> bool:
    if isinstance(cache, ast.Attribute):
        return isinstance(cache.value, ast.Name)
    return isinstance(cache, ast.Name) and not any(
        isinstance(one, ast.Name) and one.id == cache.id and isinstance(one.ctx, ast.Store)
        for one in walk(function)
    )
