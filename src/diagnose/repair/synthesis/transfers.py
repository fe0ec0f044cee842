"""Edits that the values in the failing frames speak for: what stands in the call that fails, and is not
where the other values or the called model are, is moved there.

They are tried after those of the answer, which knows where a value comes from.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType
from typing import Any, NamedTuple

import torch

from diagnose.fixes.codemods.expressions import around, moved
from diagnose.fixes.file_edit import FileEdit, file_edit
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.hooks.introspection import attributes, device_of, items
from diagnose.hooks.operands import assigned, value
from diagnose.hooks.positions import Text, Texts
from diagnose.patterns import in_package
from diagnose.placement import Spot
from diagnose.tracing.stacks import Line, is_own

#: Attributes of a tensor that are as it is, and on its device.
_VIEWS = frozenset({"T", "mT", "H", "mH"})
#: So many of the user's frames are looked at, innermost first.
_FRAMES = 4


class Move(NamedTuple):
    """An edit of a file, with the fix it amounts to; ``stopgap`` where what an object keeps is moved each
    time it is used; ``moves`` the expressions that are moved and the device; ``cause`` where only one is
    meant, ``says`` the sentence about it that says more than the fix does."""

    kind: str
    edit: FileEdit
    stopgap: bool = False
    moves: tuple[str, str] | None = None
    cause: str = ""
    says: str = ""


class Stray(NamedTuple):
    """An expression whose value is elsewhere; ``parts`` says of what kind it is: one tensor, or several in
    a mapping, a sequence or several mappings; ``mixed``: beside other things."""

    node: ast.expr
    parts: str
    mixed: bool = False


def moves(error: BaseException, own: Callable[[str], bool]) -> Iterator[Move]:
    """The edits: where a model is given what is elsewhere, the outermost call first; else the innermost.

    Args:
        error: a live failure; its frames are looked at, and nothing in them is run.
        own: tells which files are the user's.
    """
    texts = Texts()
    inner = [(f, s) for f, line in frames_of(error, own) if (s := texts.spot(line))][-_FRAMES:]
    calls = [(frame, spot) for frame, spot in inner if model_called(spot.node, frame)]
    rest = [one for one in reversed(inner) if one not in calls]
    for frame, spot in [*calls, *rest]:
        text = texts.of(spot.file)
        for home, where, strays in _meetings(spot, frame):
            for place in written_as(home, frame, where):
                if text is not None:
                    yield from _edits(spot, text, frame, place, strays)


def frames_of(error: BaseException, own: Callable[[str], bool]) -> Iterator[tuple[FrameType, Line]]:
    """The frames of a traceback in some files, outermost first."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if own(code.co_filename):
            yield trace.tb_frame, Line(code, trace.tb_lasti, trace.tb_lineno)
        trace = trace.tb_next


def own_frames(error: BaseException) -> list[tuple[FrameType, Line]]:
    """The frames of a traceback in the program's own code, outermost first."""
    return [one for one in frames_of(error, lambda _: True) if is_own(one[1].code)]


def own_spots(error: BaseException, texts: Texts) -> list[tuple[FrameType, Spot]]:
    """The places at which the program's own code stands, as far as its text shows them, innermost first."""
    frames = reversed(own_frames(error))
    return [(frame, spot) for frame, line in frames if (spot := texts.spot(line)) is not None]


def _meetings(spot: Spot, frame: FrameType) -> Iterator[tuple[str, str, list[Stray]]]:
    """What meets in an expression: a device, an expression that tells it, and what is elsewhere."""
    node = spot.node
    operands = [one for one in operands_of(node) if _devices(_held(one, frame))]
    if (found := model_called(node, frame)) is not None:
        model, home = found
        yield (
            home,
            f"next({ast.unparse(model)}.parameters()).device",
            strays_of(operands, home, frame),
        )
        return
    if (given := _model_given(node, frame)) is not None:
        model, home = given
        where = f"next({ast.unparse(model)}.parameters()).device"
        yield home, where, strays_of(operands, home, frame)
    for one in sorted(operands, key=lambda o: "cpu" in _devices(_held(o, frame))):
        held = _held(one, frame)
        if isinstance(held, torch.Tensor):
            home = str(held.device)
            yield home, f"{ast.unparse(_viewed(one))}.device", strays_of(operands, home, frame)


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


def model_called(node: ast.AST, frame: FrameType) -> tuple[ast.expr, str] | None:
    """The model that a call is of, ``net(x)`` or ``net.generate(x)``, and where all of it is."""
    if not isinstance(node, ast.Call):
        return None
    func = node.func
    candidates = [func, func.value] if isinstance(func, ast.Attribute) else [func]
    for node in candidates:
        held = value(node, frame)
        if isinstance(held, torch.nn.Module) and not _is_self(node):
            devices = {str(one.device) for one in held.parameters()}
            return (node, devices.pop()) if len(devices) == 1 else None
    return None


def _model_given(node: ast.AST, frame: FrameType) -> tuple[ast.expr, str] | None:
    """The one model that a call is given, to run it with the rest (``export(net, (x,))``), and where it
    is."""
    given = node.args if isinstance(node, ast.Call) else []
    models = [one for one in given if isinstance(value(one, frame), torch.nn.Module)]
    if len(models) == 1:
        devices = {str(one.device) for one in value(models[0], frame).parameters()}
        return (models[0], devices.pop()) if len(devices) == 1 else None
    return None


def _is_self(node: ast.expr) -> bool:
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
    found = []
    for one in operands:
        held = _held(one, frame)
        if _devices(held) - {home}:
            found.append(_stray(one, held))
    return found


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
    for prefix, scope in [*scopes, ("", frame.f_globals)]:
        for name, held in list(scope.items()):
            if isinstance(held, torch.device | str) and _same(str(held), home):
                yield f"{prefix}{name}"
                break
        else:
            continue
        break
    yield where


def _same(written: str, home: str) -> bool:
    """``cuda`` is the first GPU, as a rule."""
    return written == home or (written == "cuda" and home == "cuda:0")


def _edits(
    spot: Spot, text: Text, frame: FrameType, device: str, strays: list[Stray]
) -> Iterator[Move]:
    """The strays moved where they are defined in this function, and where they are used."""
    if not strays:
        return
    scope, line = text.function(spot.node), getattr(spot.node, "lineno", 1)
    sources = [assigned(one.node, scope, line) for one in strays]
    if all(sources):
        both = zip(sources, strays, strict=True)
        homes = [one._replace(node=node) for node, one in both if node]
        yield from _made(spot, frame, device, homes, "move-input")
    of_a_model = model_called(spot.node, frame) is not None
    kind = "move-input" if of_a_model else "move-tensor-at-line"
    yield from _made(spot, frame, device, strays, kind)


def _made(
    spot: Spot, frame: FrameType, device: str, strays: list[Stray], kind: str
) -> Iterator[Move]:
    unique = {id(one.node): one for one in strays}.values()
    with suppress(Refused):
        edit = file_edit(spot.source, [change_of(spot, one, device) for one in unique])
        names = ", ".join(ast.unparse(one.node) for one in unique)
        kept = any(_is_kept(one.node, frame) for one in unique)
        yield Move(kind, edit, kept, (names, device))


def _is_kept(node: ast.expr, frame: FrameType) -> bool:
    """Whether an expression is of what an object keeps, and could have moved; a library's may not."""
    if not isinstance(node, ast.Attribute):
        return False
    kind = type(value(node.value, frame))
    module = sys.modules.get(kind.__module__)
    library = in_package(getattr(module, "__file__", None) or "")
    return library is None or hasattr(kind, "to")


def change_of(spot: Spot, stray: Stray, device: str) -> Change:
    """The change that moves a stray to a device, given by an expression."""
    each = f'v.to({device}) if hasattr(v, "to") else v' if stray.mixed else f"v.to({device})"
    if stray.parts == "mapping":
        return around(spot.source, stray.node, f"{{k: {each} for k, v in ", ".items()}")
    if stray.parts == "mappings":
        start = f"[{{k: {each} for k, v in one.items()}} for one in "
        return around(spot.source, stray.node, start, "]")
    if stray.parts == "sequence":
        return around(spot.source, stray.node, f"[{each} for v in ", "]")
    return moved(spot.source, stray.node, device)
