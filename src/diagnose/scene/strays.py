"""Which operands of a failing line may be the misplaced one, as its message, carets and syntax tell.

CPython's carets tell which operation of the line failed, the message which of its operands is where
("argument mat2"), the syntax tree what stood there. What none of them tells stays open.

Where the message is of one tensor, or tells a rule instead of an argument, the syntax tells more:
"indices should be ... on the same device as the indexed tensor (cpu)" names neither, and the line has a
subscript; a generator stands at ``generator=``, what becomes an array is what NumPy is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diagnose.model import Mismatch, TorchNames
from diagnose.placement.semantics import dotted
from diagnose.scene import calls
from diagnose.scene.meeting import Meeting, Operand, Said, decided, kind, operand


def compared(met: Meeting, said: Said, torch: TorchNames) -> Meeting:
    """The operands of an elementwise operation, whose message names none of them.

    Between two GPUs the first operand's device comes first; between cpu and GPU always the GPU.
    """
    mismatch = said.mismatch
    if mismatch.argument == "other":
        return met._replace(strays=tuple(operand(met, node) for node in _others(met, torch)))
    if not said.elementwise:
        return met
    pair = underlined(met.part, torch)
    devices = mismatch.devices[:2]
    if len(pair) == 2:
        gpus = len(devices) == 2 and all(kind(device) == "gpu" for device in devices)
        known: Sequence[str | None] = devices if gpus else (None, None)
        sides = [operand(met, node, at) for node, at in zip(pair, known, strict=True)]
        shown = [side for side in sides if not calls.is_number(side.node, torch)]
        if not gpus and len(shown) == 2 and (stray := _surely_on_cpu(shown, torch)) is not None:
            others = tuple(side for side in shown if side is not stray)
            return met._replace(strays=(stray,), others=others)
        return met._replace(strays=tuple(shown))
    return met._replace(strays=tuple(operand(met, node) for node in _leaves(met, torch)))


def underlined(part: ast.AST | None, torch: TorchNames) -> list[ast.expr]:
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


def named(met: Meeting, said: Said, torch: TorchNames) -> Meeting | None:
    """The operand that the message names, and the one that it was compared with."""
    mismatch = said.mismatch
    if _joins(mismatch.op, torch) or mismatch.element is not None:
        return _elements(met, mismatch, torch)
    argument, found, expected = mismatch.argument, mismatch.found, mismatch.expected
    if argument is not None and found is not None:
        meant, other = _sides(met, argument, said.role, torch)
        if meant is not None and (shown := decided(met, [(meant, found), (other, expected)])):
            return shown
    if len(said.roles) < 2:
        return None
    by_role = ((_by_role(met, role, said, torch), device) for role, device in said.roles.items())
    shown = decided(met, list(by_role))
    return _with_state(shown) if shown is not None and said.recurrent else shown


def _with_state(met: Meeting) -> Meeting:
    """A recurrent layer multiplies its weights with the input and with the state: either may be it."""
    for call in calls.calls(met.nodes):
        if len(call.args) == 2 and [one.node for one in met.strays] == call.args[:1]:
            return met._replace(strays=(*met.strays, operand(met, call.args[1])))
    return met


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
            counted = operand(met, rest.pop(mismatch.element), mismatch.found)
            others = tuple(operand(met, node, mismatch.expected) for node in rest)
            return met._replace(strays=(counted,), others=others)
        sides = [mismatch.expected, mismatch.found]
        if len(joined.elements) == 2 and None not in sides:
            return decided(met, list(zip(joined.elements, sides, strict=True)))
        return met._replace(strays=tuple(operand(met, node) for node in joined.elements))
    return None


class Side(NamedTuple):
    """An expression that may be the misplaced one, and its device as far as the message tells it."""

    node: ast.expr
    device: str | None = None


def sides_of_line(
    nodes: Sequence[ast.AST],
    part: ast.AST | None,
    mismatch: Mismatch,
    torch: TorchNames,
    *,
    in_layer: bool,
) -> tuple[Side, ...]:
    """What may be misplaced in a line; nothing where the message is of another kind.

    Args:
        nodes: of the part of the line that failed.
        part: that part, where it is known.
        mismatch: what the message says.
        torch: how torch's functions call their operands.
        in_layer: whether it failed inside torch, called by the line.
    """
    if "index" in mismatch.says and mismatch.argument is None:
        return tuple(_indexed(nodes, mismatch.expected))
    if "generator" in mismatch.says:
        return tuple(_generators(nodes, mismatch.found))
    if "numpy" in mismatch.says:
        return tuple(_arrays(nodes, mismatch.found))
    if "lengths" in mismatch.says:
        return tuple(_lengths(nodes, mismatch.found, torch))
    if mismatch.argument is not None and (side := _keyword(nodes, mismatch, torch)) is not None:
        return (side,)
    weights = {"home-device", "meta"} & {*mismatch.says} or "meta" in (
        mismatch.found,
        mismatch.expected,
    )
    return tuple(_layer(nodes, part, torch)) if in_layer and weights else ()


def is_index(node: ast.expr) -> bool:
    """True for an index that may be a tensor: not a constant, a slice or a tuple of those."""
    if isinstance(node, ast.Tuple):
        return any(is_index(element) for element in node.elts)
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return not isinstance(node, (ast.Constant, ast.Slice))


def _indexed(nodes: Sequence[ast.AST], device: str | None) -> Iterator[Side]:
    """The index and what it indexes, of the one subscript that has a tensor for an index."""
    found = [node for node in nodes if isinstance(node, ast.Subscript) and is_index(node.slice)]
    if len(found) != 1:
        return
    [subscript] = found
    listed = subscript.slice.elts if isinstance(subscript.slice, ast.Tuple) else [subscript.slice]
    yield from (Side(one) for one in listed if is_index(one))
    yield Side(subscript.value, device)


def _generators(nodes: Sequence[ast.AST], device: str | None) -> Iterator[Side]:
    for call in calls.calls(tuple(nodes)):
        for keyword in call.keywords:
            if keyword.arg == "generator" and not isinstance(keyword.value, ast.Constant):
                yield Side(keyword.value, device)
                return


#: What a tensor is taken by before it becomes an array.
_TAKEN = frozenset({"detach", "numpy", "data"})
_NUMPY = frozenset({"np", "numpy", "cupy"})


def _arrays(nodes: Sequence[ast.AST], device: str | None) -> Iterator[Side]:
    """What ``x.detach().numpy()``, else ``np.asarray(x)``, makes an array of, if only one."""
    listed = list(calls.calls(tuple(nodes)))
    methods = [
        call.func.value
        for call in listed
        if isinstance(call.func, ast.Attribute) and call.func.attr == "numpy"
    ]
    given = [
        call.args[0]
        for call in listed
        if (dotted(call.func) or "").partition(".")[0] in _NUMPY and call.args
    ]
    found = methods or given
    if len(found) == 1 and not isinstance(found[0], ast.Starred):
        yield Side(_taken(found[0]), device)


def _taken(node: ast.expr) -> ast.expr:
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=[]) if name in _TAKEN:
            return _taken(value)
        case ast.Attribute(value=value, attr="data"):
            return _taken(value)
    return node


def _lengths(nodes: Sequence[ast.AST], device: str | None, torch: TorchNames) -> Iterator[Side]:
    for call in calls.calls(tuple(nodes)):
        given = calls.parameters(call, torch).get("lengths")
        if given is not None:
            yield Side(given, device)
            return


def _keyword(nodes: Sequence[ast.AST], mismatch: Mismatch, torch: TorchNames) -> Side | None:
    """What a call passes by the name of the argument that the message names."""
    named = mismatch.argument or ""
    for call in calls.calls(tuple(nodes)):
        for keyword in call.keywords:
            if keyword.arg in (named, *torch.keywords.get(named, ())):
                return Side(keyword.value, mismatch.found)
    return None


def _layer(nodes: Sequence[ast.AST], part: ast.AST | None, torch: TorchNames) -> Iterator[Side]:
    """The one layer that is called, whose weights are not where they are looked for."""
    listed = [part] if isinstance(part, ast.Call) else list(calls.calls(tuple(nodes)))
    called = [call for call in listed if not calls.of_tensors(call, torch)]
    if len(called) != 1 or calls.is_known(called[0], torch):
        return
    if isinstance(called[0].func, (ast.Attribute, ast.Subscript, ast.Name)):
        yield Side(called[0].func)


def told(met: Meeting, said: Said, torch: TorchNames) -> Meeting:
    """What met in the failing line, as its message and its syntax tell.

    Args:
        met: where it was.
        said: what the message says.
        torch: how torch's functions call their operands.
    """
    return named(met, said, torch) or _alone(met, said, torch) or compared(met, said, torch)


def _alone(met: Meeting, said: Said, torch: TorchNames) -> Meeting | None:
    """What a message of one tensor is about."""
    if said.role == "class-weight" and said.in_layer and isinstance(met.part, ast.Call):
        return decided(met, [(met.part.func, said.mismatch.found)])
    if (apart := _beside_meta(met, said.mismatch, torch)) is not None:
        return apart
    sides = sides_of_line(met.nodes, met.part, said.mismatch, torch, in_layer=said.in_layer)
    strays = tuple(operand(met, side.node, side.device) for side in sides)
    return met._replace(strays=strays) if strays else None


def _beside_meta(met: Meeting, mismatch: Mismatch, torch: TorchNames) -> Meeting | None:
    """The operand on meta: the first is the one that "the expected device" is taken from."""
    pair = underlined(met.part, torch)
    sides = list(zip(pair, (mismatch.expected, mismatch.found), strict=False))
    away = [side for side in sides if side[1] == "meta"]
    if len(pair) != 2 or len(away) != 1:
        return None
    strays, others = (
        tuple(operand(met, node, device) for node, device in some)
        for some in (away, [side for side in sides if side not in away])
    )
    return met._replace(strays=strays, others=others)
