"""The expressions that stand for the tensors that met in a failing line, as far as it shows them.

CPython's carets tell which operation of the line failed, the message which of its operands is where
("argument mat2"), the syntax tree what stood there. What none of them tells stays open.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from diagnose.model import Mismatch, TorchNames
from diagnose.scene import calls, single
from diagnose.scene.devices import kind
from diagnose.scene.sourceline import SourceLine


class Operand(NamedTuple):
    """An operand of the failing operation: its node, its text in the line, and the device that the
    message gives it. ``layer`` marks a layer that is called, whose own weights are the operand."""

    node: ast.expr
    text: str
    layer: bool = False
    device: str | None = None


class Meeting(NamedTuple):
    """The tensors that met in a line: those that may be misplaced, and those that they met.

    ``part`` is the part of the line that failed, None where the traceback does not tell; ``nodes`` are its
    nodes, or those of the whole line."""

    line: SourceLine
    nodes: tuple[ast.AST, ...]
    part: ast.AST | None = None
    strays: tuple[Operand, ...] = ()
    others: tuple[Operand, ...] = ()


def texts(met: Meeting | None) -> tuple[str, ...]:
    """The texts of the operands that may be the misplaced one, such as ``self.pe[:, : x.size(1)]``.

    One where the message tells the role and the line shows what stood there; all operands of the line
    where an elementwise operation failed, whose message always names the GPU first; none otherwise.
    Between cpu and accelerator it is the one on the cpu; of two GPUs both sides are told.

    A layer's own weights are told as the layer's call, ``self.fc(…)``.
    """
    found = (f"{one.text}(…)" if one.layer else one.text for one in met.strays) if met else ()
    # What stands for the cut rest of a line has no name.
    return tuple(dict.fromkeys(text for text in found if text.strip("([{_")))


class Said(NamedTuple):
    """What a message says of the operation that failed.

    ``role`` is that of the argument that it names, ``roles`` the device of each role that it tells;
    ``elementwise`` where it is of an operation that takes its operands one by one, ``in_layer`` where the
    op failed inside torch, called by the line, ``recurrent`` where that was in a recurrent layer.
    """

    mismatch: Mismatch
    role: str | None
    roles: Mapping[str, str]
    elementwise: bool
    in_layer: bool
    recurrent: bool = False


def told(met: Meeting, said: Said, torch: TorchNames) -> Meeting:
    """What met in the failing line, as its message and its syntax tell.

    Args:
        met: where it was.
        said: what the message says.
        torch: how torch's functions call their operands.
    """
    return _named(met, said, torch) or _alone(met, said, torch) or _compared(met, said, torch)


def _alone(met: Meeting, said: Said, torch: TorchNames) -> Meeting | None:
    """What a message of one tensor is about."""
    if said.role == "class-weight" and said.in_layer and isinstance(met.part, ast.Call):
        return _decided(met, [(met.part.func, said.mismatch.found)])
    if (pair := _beside_meta(met, said.mismatch, torch)) is not None:
        return pair
    sides = single.sides(met.nodes, met.part, said.mismatch, torch, in_layer=said.in_layer)
    strays = tuple(_operand(met, side.node, side.device) for side in sides)
    return met._replace(strays=strays) if strays else None


def _beside_meta(met: Meeting, mismatch: Mismatch, torch: TorchNames) -> Meeting | None:
    """The operand on meta: the first is the one that "the expected device" is taken from."""
    pair = _pair(met.part, torch)
    sides = list(zip(pair, (mismatch.expected, mismatch.found), strict=False))
    away = [side for side in sides if side[1] == "meta"]
    if len(pair) != 2 or len(away) != 1:
        return None
    strays, others = (
        tuple(_operand(met, node, device) for node, device in some)
        for some in (away, [side for side in sides if side not in away])
    )
    return met._replace(strays=strays, others=others)


# --- operations whose messages name an argument -----------------------------------------------------


def _named(met: Meeting, said: Said, torch: TorchNames) -> Meeting | None:
    """The operand that the message names, and the one that it was compared with."""
    mismatch = said.mismatch
    if _joins(mismatch.op, torch) or mismatch.element is not None:
        return _elements(met, mismatch, torch)
    argument, found, expected = mismatch.argument, mismatch.found, mismatch.expected
    if argument is not None and found is not None:
        named, other = _sides(met, argument, said.role, torch)
        if named is not None and (shown := _decided(met, [(named, found), (other, expected)])):
            return shown
    if len(said.roles) < 2:
        return None
    by_role = ((_by_role(met, role, said, torch), device) for role, device in said.roles.items())
    shown = _decided(met, list(by_role))
    return _with_state(shown) if shown is not None and said.recurrent else shown


def _with_state(met: Meeting) -> Meeting:
    """A recurrent layer multiplies its weights with the input and with the state: either may be it."""
    for call in calls.calls(met.nodes):
        if len(call.args) == 2 and [one.node for one in met.strays] == call.args[:1]:
            return met._replace(strays=(*met.strays, _operand(met, call.args[1])))
    return met


def _decided(met: Meeting, sides: Sequence[tuple[ast.expr | None, str | None]]) -> Meeting | None:
    """Between cpu and accelerator the operand on the cpu is the stray; of two GPUs both may be."""
    cpu = [(node, device) for node, device in sides if device is not None and kind(device) == "cpu"]
    strays, others = (cpu, [side for side in sides if side not in cpu]) if cpu else (sides, [])
    shown, rest = (
        tuple(
            _operand(met, node, device)
            for node, device in some
            if node is not None and not isinstance(node, ast.Starred)
        )
        for some in (strays, others)
    )
    return met._replace(strays=shown, others=rest) if shown else None


def _operand(met: Meeting, node: ast.expr, device: str | None = None) -> Operand:
    called = any(call.func is node for call in calls.calls(met.line.nodes))
    return Operand(node, met.line.segment(node), called, device)


Sides = tuple["ast.expr | None", "ast.expr | None"]


def _sides(met: Meeting, argument: str, role: str | None, torch: TorchNames) -> Sides:
    """The operand that the message names, and the other one, of a product or a known function."""
    for node in met.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            if met.part not in (None, node):
                continue
            if argument in torch.second_factors:
                return node.right, node.left
            if argument in torch.first_factors:
                return node.left, node.right
        elif isinstance(node, ast.Call) and calls.is_known(node, torch):
            if met.part is not None and isinstance(met.part, ast.Call) and node is not met.part:
                continue
            given = calls.parameters(node, torch)
            name = _parameter(given, argument, role)
            if name is None:
                continue
            others = (
                n for key, n in given.items() if key != name and not _is_setting(key, n, torch)
            )
            return given[name], next(others, None)
    return None, None


def _parameter(given: dict[str, ast.expr], argument: str, role: str | None) -> str | None:
    """Which of a call's parameters the message means: by its own name, else by the role."""
    for name in ("input" if argument == "self" else argument, role):
        if name is not None and name in given and not (name == "weight" and role == "class-weight"):
            return name
    if role == "class-weight":
        return None
    return {"input": "input", "weight": "mat2"}.get(role or "") if "mat2" in given else None


def _is_setting(name: str, node: ast.expr, torch: TorchNames) -> bool:
    return name in torch.size_operands or calls.is_number(node, torch)


#: What a layer is called by: an attribute, one of a list, a name that a loop gives it.
_LAYERS = (ast.Attribute, ast.Subscript, ast.Name)


def _by_role(met: Meeting, role: str, said: Said, torch: TorchNames) -> ast.expr | None:
    """The operand of a role: of torch's function where the line calls one, else of a layer."""
    listed = [
        call for call in calls.calls(met.nodes) if met.part is None or call is met.part
    ] or list(calls.calls(met.nodes))
    for call in listed:
        if calls.is_known(call, torch):
            given = calls.parameters(call, torch)
            second = given.get("mat2") if role in ("weight", "tensor") else None
            return given.get(role) or second
    for node in met.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return {"input": node.left, "weight": node.right, "tensor": node.right}.get(role)
    if not said.in_layer or len(listed) != 1:
        return None
    [call] = listed
    if role == "weight":
        return call.func if isinstance(call.func, _LAYERS) else None
    place = {"input": 0, "index": 0, "target": 1, "state": 1}.get(role, 99)
    found = call.args[place] if place < len(call.args) else None
    return None if isinstance(found, ast.Starred) else found


# --- lists that are joined ----------------------------------------------------------------------------


def _joins(op: str | None, torch: TorchNames) -> bool:
    return op is not None and op.rpartition("_")[2].split(".")[0] in torch.joins


def _elements(met: Meeting, mismatch: Mismatch, torch: TorchNames) -> Meeting | None:
    """Of a list that is joined, the element that the message counts, or of two that on the cpu."""
    for call in calls.calls(met.nodes):
        joined = calls.joined(call, torch)
        if joined is None:
            continue
        if joined.elements is None:
            return None
        if mismatch.element is not None and mismatch.element < len(joined.elements):
            rest = list(joined.elements)
            counted = _operand(met, rest.pop(mismatch.element), mismatch.found)
            others = tuple(_operand(met, node, mismatch.expected) for node in rest)
            return met._replace(strays=(counted,), others=others)
        sides = [mismatch.expected, mismatch.found]
        if len(joined.elements) == 2 and None not in sides:
            return _decided(met, list(zip(joined.elements, sides, strict=True)))
        return met._replace(strays=tuple(_operand(met, node) for node in joined.elements))
    return None


# --- operations that take their operands one by one -------------------------------------------------


def _compared(met: Meeting, said: Said, torch: TorchNames) -> Meeting:
    """The operands of an elementwise operation, whose message names none of them.

    Between two GPUs the first operand's device comes first; between cpu and GPU always the GPU.
    """
    mismatch = said.mismatch
    if mismatch.argument == "other":
        return met._replace(strays=tuple(_operand(met, node) for node in _others(met, torch)))
    if not said.elementwise:
        return met
    pair = _pair(met.part, torch)
    devices = mismatch.devices[:2]
    if len(pair) == 2:
        gpus = len(devices) == 2 and all(kind(device) == "gpu" for device in devices)
        known: Sequence[str | None] = devices if gpus else (None, None)
        sides = [_operand(met, node, at) for node, at in zip(pair, known, strict=True)]
        shown = [side for side in sides if not calls.is_number(side.node, torch)]
        if not gpus and len(shown) == 2 and (stray := _surely_on_cpu(shown, torch)) is not None:
            others = tuple(side for side in shown if side is not stray)
            return met._replace(strays=(stray,), others=others)
        return met._replace(strays=tuple(shown))
    return met._replace(strays=tuple(_operand(met, node) for node in _leaves(met, torch)))


def _pair(part: ast.AST | None, torch: TorchNames) -> list[ast.expr]:
    """The two operands of the operation that the carets underline."""
    match part:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.AugAssign(target=left, value=right):
            return [left, right]
        case ast.Compare(left=left, comparators=[right]):
            return [left, right]
        case ast.Call() as call:
            given = calls.elementwise(call, torch)
            return given if len(given) == 2 else []
    return []


def _surely_on_cpu(sides: Sequence[Operand], torch: TorchNames) -> Operand | None:
    """The operand that is made without a device, or taken to the cpu, in the line itself."""
    sure = [side for side in sides if calls.makes_tensor(side.node, torch) or _ends_in(side, "cpu")]
    moved = [side for side in sides if _ends_in(side, "cuda")]
    if len(sure) == 1:
        return sure[0]
    if not sure and len(moved) == 1:
        return next(side for side in sides if side is not moved[0])
    return None


def _ends_in(side: Operand, method: str) -> bool:
    match side.node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name == method
    return False


def _leaves(met: Meeting, torch: TorchNames) -> Iterator[ast.expr]:
    """What the line's operators join, without plain numbers and without the compound parts."""
    for node in met.nodes:
        sides: list[ast.expr] = []
        match node:
            case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
                sides = [left, right]
            case ast.Compare(ops=[ast.Is() | ast.IsNot(), *_]):
                pass
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
            case ast.Call():
                sides = calls.elementwise(node, torch)
        yield from (
            s for s in sides if not isinstance(s, ast.BinOp) and not calls.is_number(s, torch)
        )


def _others(met: Meeting, torch: TorchNames) -> Iterator[ast.expr]:
    """The second operands: what torch's signatures call ``other``."""
    for node in met.nodes:
        if isinstance(node, ast.BinOp):
            yield node.right
        elif isinstance(node, ast.Compare):
            yield node.comparators[0]
        elif isinstance(node, ast.Call):
            yield from calls.elementwise(node, torch)[1:2]
