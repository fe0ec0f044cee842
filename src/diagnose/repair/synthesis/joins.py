"""Edits of lists whose parts are on several devices where a call joins them: all are brought to one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

import torch

from diagnose.fixes.codemods.expressions import around, moved, replaced
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.file_edit import file_edit
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.introspection import attributes, items
from diagnose.hooks.operands import assigned, value
from diagnose.hooks.positions import Text, Texts
from diagnose.placement import Spot
from diagnose.repair.synthesis.transfers import Move, own_spots

#: So many devices are tried, each with so many names.
_MOST, _NAMES = 2, 2
#: So deep are devices looked for in what objects keep.
_DEPTH = 2


def joining(error: BaseException) -> Iterator[Move]:
    """The edits, in the innermost running line whose call is given such a list.

    Args:
        error: a live failure.
    """
    texts = Texts()
    for frame, spot in own_spots(error, texts):
        text = texts.of(spot.file)
        given = spot.node.args if isinstance(spot.node, ast.Call) else []
        for one in given if text is not None else ():
            assert text is not None
            held = _held(one, frame)
            homes = list(dict.fromkeys(str(part.device) for part in held))
            if len(homes) > 1 and "meta" not in homes and not _apart(one, text, homes):
                for home in sorted(homes, key="cpu".__eq__)[:_MOST]:
                    for device in _told(home, homes[0], one, frame):
                        yield from _brought(spot, text, one, device)
                return


def _apart(given: ast.expr, text: Text, homes: list[str]) -> bool:
    """Whether parts that are on the host and on a GPU are written one by one: then one of them is wrong
    where it comes from. What one expression gives, now here and now there, is not."""
    made = assigned(given, text.function(given), given.lineno) or given
    return "cpu" in homes and not isinstance(made, ast.ListComp)


def _held(node: ast.expr, frame: FrameType) -> list[torch.Tensor]:
    """The tensors of a list, a tuple or the values of a dict, if that is all that it holds."""
    match node:
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner], keywords=[]):
            return _held(inner, frame)
        case ast.Call(func=ast.Attribute(value=inner, attr="values"), args=[], keywords=[]):
            held = value(inner, frame)
            parts = list(dict.values(held)) if isinstance(held, dict) else []
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            parts = [value(one, frame) for one in elts]
        case _:
            held = value(node, frame)
            parts = list(held) if type(held) in (list, tuple) else []
    return parts if all(isinstance(one, torch.Tensor) for one in parts) else []


def _told(home: str, first: str, given: ast.expr, frame: FrameType) -> list[str]:
    """Expressions of a device: what the running function and its object call one, and that of a part."""
    found = [name for name, held in _devices("", dict(frame.f_locals), _DEPTH) if held == home]
    found = found[: _NAMES - 1]
    if home != first:
        return found
    match given:
        case ast.Name() | ast.Attribute():
            return [*found, f"{ast.unparse(given)}[0].device"]
        case ast.Call(func=ast.Name(), args=[ast.Call() as values]):
            return [*found, f"next(iter({ast.unparse(values)})).device"]
    return found


def _devices(owner: str, held: dict[str, Any], depth: int) -> Iterator[tuple[str, str]]:
    """The devices that variables hold, and what the objects and dicts in them keep, nearest first."""
    inner: list[tuple[str, Any]] = []
    for name, one in held.items():
        if isinstance(one, torch.device):
            yield f"{owner}{name}", str(one)
        elif isinstance(one, dict):
            for subscript, part in items(one):
                if isinstance(part, torch.device):
                    yield f"{owner}{name}{_quoted(subscript)}", str(part)
        elif type(one) in (list, tuple):
            for at, part in enumerate(one[:_MOST]):
                if isinstance(part, torch.device):
                    yield f"{owner}{name}[{at}]", str(part)
        elif depth and not isinstance(one, torch.Tensor):
            inner.append((name, one))
    for name, one in inner:
        kept = {key: part for key, part in attributes(one).items() if not key.startswith("_")}
        registered = attributes(one).get("_modules") if isinstance(one, torch.nn.Module) else None
        yield from _devices(f"{owner}{name}.", {**kept, **(registered or {})}, depth - 1)


def _quoted(subscript: str) -> str:
    """A subscript as programs write it."""
    return subscript.replace("'", '"')


def _brought(spot: Spot, text: Text, given: ast.expr, device: str) -> Iterator[Move]:
    """The edit that brings all parts of a list to a device: each where it is written, else together."""
    with suppress(Refused):
        edit = file_edit(spot.source, _changes(spot, text, given, device))
        yield Move("move-tensor-at-line", edit, moves=(ast.unparse(given), device))


def _changes(spot: Spot, text: Text, given: ast.expr, device: str) -> list[Change]:
    if isinstance(given, ast.List | ast.Tuple):
        return [moved(spot.source, one, device) for one in given.elts]
    written = assigned(given, text.function(spot.node), spot.line)
    itself = isinstance(given, ast.Name) and device.startswith(f"{given.id}[")
    if isinstance(written, ast.ListComp) and not itself:
        return [moved(spot.source, written.elt, device)]
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Name):
        listed = text_of(spot.source, given.args[0])
        return [replaced(spot.source, given, f"[v.to({device}) for v in {listed}]")]
    return [around(spot.source, given, f"[v.to({device}) for v in ", "]")]
