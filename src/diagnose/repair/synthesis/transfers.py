"""Edits that the values in the failing frames speak for: what stands in the call that fails, and is not
where the other values or the called model are, is moved there.

They are tried after those of the answer, which knows where a value comes from.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple

import torch

from diagnose.fixes.codemods.expressions import around, moved
from diagnose.fixes.file_gate import Change
from diagnose.hooks.introspection import attributes, device_of, items
from diagnose.hooks.operands import value
from diagnose.patterns import in_package
from diagnose.placement import Source
from diagnose.repair.synthesis.live_failure import LiveFailure, Proposal, Running, proposed

#: Attributes of a tensor that are as it is, and on its device.
_VIEWS = frozenset({"T", "mT", "H", "mH"})
#: So many of the user's frames are looked at, innermost first.
_FRAMES = 4
#: So many devices are tried of what is joined, each with so many names; so deep are devices looked for in
#: what objects keep.
_MOST, _NAMES, _DEPTH = 2, 2, 2


class Stray(NamedTuple):
    """An expression whose value is elsewhere; ``parts`` says of what kind it is: one tensor, or several in
    a mapping, a sequence or several mappings; ``mixed``: beside other things."""

    node: ast.expr
    parts: str
    mixed: bool = False


def moving(failure: LiveFailure) -> Iterator[Proposal]:
    """The edits: where a model is given what is elsewhere, the outermost call first; else the innermost."""
    inner = failure.running[:_FRAMES]
    models = [one for one in reversed(inner) if model_called(one)]
    for one in (*models, *(one for one in inner if one not in models)):
        for home, where, strays in _meetings(one):
            for device in written_as(home, one.frame, where):
                yield from _edits(one, device, strays)


def _meetings(running: Running) -> Iterator[tuple[str, str, list[Stray]]]:
    """What meets in an expression: a device, an expression that tells it, and what is elsewhere."""
    frame = running.frame
    operands = [one for one in operands_of(running.spot.node) if _devices(_held(one, frame))]
    if (found := model_called(running) or _model_given(running)) is not None:
        model, home = found
        yield home, of_weights(model), strays_of(operands, home, frame)
        if model_called(running):
            return
    for one in sorted(operands, key=lambda o: "cpu" in _devices(_held(o, frame))):
        held = _held(one, frame)
        if isinstance(held, torch.Tensor):
            home = str(held.device)
            yield home, f"{ast.unparse(_viewed(one))}.device", strays_of(operands, home, frame)


def of_weights(model: ast.expr) -> str:
    """How a program asks where a model is."""
    return f"next({ast.unparse(model)}.parameters()).device"


def _held(node: ast.expr, frame: FrameType) -> Any:
    """What an expression is; of a view of a tensor, the tensor that it shows; a gradient."""
    held = value(node, frame)
    if held is None and isinstance(node, ast.Attribute) and node.attr == "grad":
        owner = value(node.value, frame)
        return owner.grad if isinstance(owner, torch.Tensor) and owner.is_leaf else None
    return value(_viewed(node), frame) if held is None else held


def _viewed(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Attribute) and node.attr in _VIEWS else node


def operands_of(node: ast.AST) -> list[ast.expr]:
    """What an expression puts together."""
    match node:
        case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
            return [left, right]
        case ast.Compare(left=left, comparators=rest):
            return [left, *rest]
        case ast.Subscript(value=inner, slice=index):
            return [inner, index]
        case ast.Call(func=func, args=args, keywords=named):
            given = [one.value if isinstance(one, ast.Starred) else one for one in args]
            listed = [
                item
                for one in given
                for item in (one.elts if isinstance(one, ast.List | ast.Tuple) else [one])
            ]
            owner = [func.value] if isinstance(func, ast.Attribute) else []
            return [*owner, *listed, *(one.value for one in named)]
    return []


def called_of(call: ast.AST) -> list[ast.expr]:
    """What a call may be of: ``net`` in ``net(x)``; ``net.generate`` or ``net`` in ``net.generate(x)``."""
    if not isinstance(call, ast.Call):
        return []
    func = call.func
    return [func, func.value] if isinstance(func, ast.Attribute) else [func]


def model_called(running: Running) -> tuple[ast.expr, str] | None:
    """The model that a call is of, unless a module calls itself, and where all of it is."""
    models = (one for one in called_of(running.spot.node) if not is_self(one))
    return _with_home(running, [one for one in models if _is_module(running, one)][:1])


def _model_given(running: Running) -> tuple[ast.expr, str] | None:
    """The one model that a call is given, to run it with the rest (``export(net, (x,))``), and where it
    is."""
    node = running.spot.node
    given = node.args if isinstance(node, ast.Call) else []
    return _with_home(running, [one for one in given if _is_module(running, one)])


def _is_module(running: Running, node: ast.expr) -> bool:
    return isinstance(running.value(node), torch.nn.Module)


def _with_home(running: Running, models: Sequence[ast.expr]) -> tuple[ast.expr, str] | None:
    if len(models) != 1:
        return None
    devices = {str(one.device) for one in running.value(models[0]).parameters()}
    return (models[0], devices.pop()) if len(devices) == 1 else None


def is_self(node: ast.expr) -> bool:
    """Whether an expression is the object of a method."""
    return isinstance(node, ast.Name) and node.id == "self"


def _devices(held: Any) -> set[str]:
    """Where the tensors of a value are."""
    return {str(device_of(one)) for one in _parts(held) if isinstance(one, torch.Tensor)}


def _parts(held: Any) -> list[Any]:
    """A value, what it holds, and what mappings in it hold, as the targets of a detector are."""
    direct = [item for _, item in items(held)]
    inner = [one for item in direct if isinstance(item, dict) for _, one in items(item)]
    return [held, *direct, *inner]


def strays_of(operands: list[ast.expr], home: str, frame: FrameType) -> list[Stray]:
    """Those of some expressions whose values are not on a device."""
    held = ((one, _held(one, frame)) for one in operands)
    return [_stray(one, what) for one, what in held if _devices(what) - {home}]


def _stray(node: ast.expr, held: Any) -> Stray:
    parts, moved_each = "one", [held]
    if isinstance(held, dict) and not hasattr(type(held), "to"):
        parts, moved_each = "mapping", list(held.values())
    elif isinstance(held, list | tuple) and held and all(isinstance(one, dict) for one in held):
        parts, moved_each = "mappings", [value for one in held for value in one.values()]
    elif isinstance(held, list | tuple):
        parts, moved_each = "sequence", list(held)
    return Stray(node, parts, any(not hasattr(type(one), "to") for one in moved_each))


def written_as(home: str, frame: FrameType, where: str) -> Iterator[str]:
    """Expressions of a device: a variable of the program's that holds it, and what tells it."""
    scopes = [("", frame.f_locals), ("self.", attributes(frame.f_locals.get("self")))]
    held = (
        f"{prefix}{name}"
        for prefix, scope in [*scopes, ("", frame.f_globals)]
        for name, held in list(scope.items())
        if isinstance(held, torch.device | str) and _same(str(held), home)
    )
    yield from (*list(held)[:1], where)


def _same(written: str, home: str) -> bool:
    """``cuda`` is the first GPU, as a rule."""
    return written == home or (written == "cuda" and home == "cuda:0")


def _edits(running: Running, device: str, strays: list[Stray]) -> Iterator[Proposal]:
    """The strays moved where they are defined in this function, and where they are used."""
    sources = [running.assigned(one.node) for one in strays]
    if all(sources):
        both = zip(sources, strays, strict=True)
        homes = [one._replace(node=node) for node, one in both if node]
        yield from _made(running, device, homes, "move-input")
    of_a_model = model_called(running) is not None
    yield from _made(running, device, strays, "move-input" if of_a_model else "move-tensor-at-line")


def _made(running: Running, device: str, strays: list[Stray], kind: str) -> Iterator[Proposal]:
    unique = list({id(one.node): one for one in strays}.values())
    names = ", ".join(ast.unparse(one.node) for one in unique)
    kept = any(_is_kept(one.node, running.frame) for one in unique)
    changes = _all_moved, unique, device
    yield from proposed(kind, running.source, *changes, stopgap=kept, moves=(names, device))


def _all_moved(source: Source, strays: Sequence[Stray], device: str) -> list[Change]:
    return [change_of(source, one, device) for one in strays]


def _is_kept(node: ast.expr, frame: FrameType) -> bool:
    """Whether an expression is of what an object keeps, and could have moved; a library's may not."""
    if not isinstance(node, ast.Attribute):
        return False
    kind = type(value(node.value, frame))
    module = sys.modules.get(kind.__module__)
    library = in_package(getattr(module, "__file__", None) or "")
    return library is None or hasattr(kind, "to")


def change_of(source: Source, stray: Stray, device: str) -> Change:
    """The change that moves a stray to a device, given by an expression."""
    each = f'v.to({device}) if hasattr(v, "to") else v' if stray.mixed else f"v.to({device})"
    match stray.parts:
        case "mapping":
            return around(source, stray.node, f"{{k: {each} for k, v in ", ".items()}")
        case "mappings":
            start = f"[{{k: {each} for k, v in one.items()}} for one in "
            return around(source, stray.node, start, "]")
        case "sequence":
            return around(source, stray.node, f"[{each} for v in ", "]")
    return moved(source, stray.node, device)


# --- what was brought to its device in part ---


# --- what one operand shows of the other ---
