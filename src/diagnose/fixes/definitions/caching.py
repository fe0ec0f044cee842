"""What replicas share follows each of them: a cache asks for the device, what is kept moves when read."""

from __future__ import annotations

import ast

from diagnose.fixes.definitions.expressions import moved, replaced
from diagnose.fixes.definitions.places import (
    ancestors,
    class_around,
    functions_around,
    statement_of,
    text_of,
)
from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change
from diagnose.placement.keyed import cache_of, key_of_cache, keys
from diagnose.placement.model import Suspect
from diagnose.placement.replicas import CAUSE, asked_again, device_of_input, kept_by


def rebuilt(suspect: Suspect) -> list[Change]:
    """``if self.x is None:`` asks as well whether ``self.x.device != device``, the key of a cache holds the
    device; none for what is no cache."""
    source, node = suspect.spot.source, suspect.spot.node
    if suspect.cause != CAUSE:
        return []
    if isinstance(node, ast.expr) and (places := _asked_by(suspect)):
        return [_with_device(suspect, one) for one in places]
    if _is_read(node):
        raise Refused("what is read there is no device")
    kept = node if isinstance(node, ast.stmt) else statement_of(source, node)
    asked = asked_again(source, kept)
    if asked is None or not isinstance(kept, ast.Assign):
        return []
    inside = functions_around(source, kept)
    there = functions_around(source, asked)
    if inside[:1] != there[:1]:  # another method asks, which is given what it computes with
        suspect = suspect._replace(devices=(device_of_input(there[0]) or "",) if there else ())
    device = _device(suspect)
    test = text_of(source, asked.test)
    if isinstance(asked.test, ast.IfExp | ast.Lambda | ast.NamedExpr):
        test = f"({test})"
    name = text_of(source, kept_by(kept)[0])
    return [replaced(source, asked.test, f"{test} or {name}.device != {device}")]


def _is_read(node: ast.AST) -> bool:
    """Whether a node reads what replicas share, and no device."""
    reads = isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load)
    return reads and "device" not in ast.unparse(node)


def _asked_by(suspect: Suspect) -> list[ast.expr]:
    """The places of the key by which a cache is asked, if the spot is one: where its name is bound, else
    all that the function asks and fills it by; none for other spots."""
    source, node = suspect.spot.source, suspect.spot.node
    around = functions_around(source, node)
    if not around or key_of_cache(around[0]) is not node:
        return []
    assert isinstance(node, ast.expr)
    cache = cache_of(around[0], node)
    if cache is None:
        return [node]
    asked = keys(around[0], cache)
    scope = class_around(source, node) if isinstance(cache, ast.Attribute) else source.tree
    if len(keys(scope or source.tree, cache)) > len(asked):
        raise Refused("the cache is asked elsewhere, too")
    if {ast.unparse(one) for one in asked} != {ast.unparse(node)}:
        raise Refused("the function asks the cache by several keys")
    return asked


def _with_device(suspect: Suspect, key: ast.expr) -> Change:
    """The change of a key to one that holds the device."""
    source, device = suspect.spot.source, _device(suspect)
    text = text_of(source, key)
    if isinstance(key, ast.Tuple) and text.startswith("(") and key.elts:
        return replaced(source, key, f"{text[:-1].rstrip().rstrip(',')}, {device})")
    if isinstance(key, ast.Tuple):
        return replaced(source, key, f"{text}, {device}")
    if isinstance(key, ast.BinOp | ast.IfExp | ast.Lambda):
        text = f"({text})"
    bare = isinstance(ancestors(source, key)[-2], ast.Subscript)
    return replaced(source, key, f"{text}, {device}" if bare else f"({text}, {device})")


def _device(suspect: Suspect) -> str:
    """The device of a replica: that of its input, for a replica has no ``parameters()``."""
    for device in filter(None, suspect.devices):
        if "parameters()" not in device and not device.startswith("self."):
            return device
    raise Refused("the function is given nothing whose device it is")


def as_read(suspect: Suspect) -> Change:
    """What the replicas share is moved to the input of each where it is read."""
    source, node = suspect.spot.source, suspect.spot.node
    if suspect.cause != CAUSE or not isinstance(node, ast.expr) or not _is_read(node):
        raise Refused("it edits no definition")
    return moved(source, node, _device(suspect))
