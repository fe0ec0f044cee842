"""The expression that stands for the misplaced tensor in the failing line, as far as it shows one.

The message tells a role ("argument mat2"); the syntax tree of the line tells what stood there.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from diagnose import sourceline, views
from diagnose.facts.operands import Roles, is_elementwise, roles
from diagnose.facts.values import kind
from diagnose.model import Mismatch, Report
from diagnose.sourceline import SourceLine

#: Where a role's operand stands among the positional arguments of torch's functions.
_PLACES: Mapping[str, Mapping[str, int]] = {
    "linear": {"input": 0, "weight": 1},
    "mm": {"input": 0, "weight": 1, "tensor": 1},
    "bmm": {"input": 0, "weight": 1, "tensor": 1},
    "matmul": {"input": 0, "weight": 1, "tensor": 1},
    "addmm": {"input": 1, "weight": 2},
    "embedding": {"index": 0, "weight": 1},
    "cross_entropy": {"input": 0, "target": 1, "class-weight": 2},
    "nll_loss": {"input": 0, "target": 1, "class-weight": 2},
}
_CONVOLUTIONS = ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d")
#: Elementwise operations that are also called as a method or a function of torch.
_ELEMENTWISE_CALLS = frozenset(
    name + end
    for name in (
        *("add", "sub", "mul", "div", "true_divide", "remainder", "fmod", "pow", "atan2"),
        *("eq", "ne", "lt", "le", "gt", "ge", "where", "maximum", "minimum", "lerp", "masked_fill"),
        *("logical_and", "logical_or", "bitwise_and", "bitwise_or", "addcmul", "addcdiv"),
    )
    for end in ("", "_")
)
_JOINS = frozenset({"cat", "stack", "concat", "hstack", "vstack"})


def strays(report: Report, operands: Roles) -> tuple[str, ...]:
    """The texts of the operands that may be the misplaced one, such as ``self.pe[:, : x.size(1)]``.

    One where the message tells the role and the line shows what stood there; all operands of the line
    where an elementwise operation failed, whose message always names the GPU first; none otherwise.
    Between cpu and accelerator it is the one on the cpu; of two GPUs both sides are told.

    A layer's own weights are told as the layer's call, ``self.fc(…)``.

    Args:
        report: what was parsed.
        operands: kb/operands.toml, for each aten op the role of each argument.
    """
    frame, mismatch = views.site(report), report.mismatch
    line = sourceline.parse(frame.code) if frame is not None else None
    if frame is None or line is None or mismatch is None:
        return ()
    where = roles(report, operands)
    cpu = [role for role, device in where.items() if kind(device) == "cpu"]
    nodes: Sequence[ast.expr | None] = ()
    if len(where) > 1:
        innermost = views.innermost(report)
        layer = innermost is not frame and innermost is not None and innermost.library == "torch"
        nodes = [_by_role(line, role, layer=layer) for role in (cpu or where)]
    elif _joins(mismatch.op):
        nodes = _elements(line, mismatch)
    elif is_elementwise(report):
        nodes = _leaves(line)
    elif mismatch.argument == "other":
        nodes = _others(line)
    called = {id(node.func) for node in line.nodes if isinstance(node, ast.Call)}
    texts = [
        f"{line.segment(node)}(…)" if id(node) in called else line.segment(node)
        for node in nodes
        if node is not None
    ]
    # What stands for the cut rest of a line has no name.
    return tuple(dict.fromkeys(text for text in texts if text.strip("([{_")))


def _joins(op: str | None) -> bool:
    return op is not None and op.rpartition("_")[2].split(".")[0] in _JOINS


def _by_role(line: SourceLine, role: str, *, layer: bool) -> ast.expr | None:
    """The operand of a role: of torch's function where the line calls one, else of a layer."""
    calls = [node for node in line.nodes if isinstance(node, ast.Call)]
    for call in calls:
        name = (sourceline.dotted(call.func) or "").rpartition(".")[2]
        places = {"input": 0, "weight": 1} if name in _CONVOLUTIONS else _PLACES.get(name)
        if places is not None:
            named = next((k.value for k in call.keywords if k.arg == role), None)
            place = places.get(role, 99)
            return named or (call.args[place] if place < len(call.args) else None)
    for node in line.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return {"input": node.left, "weight": node.right, "tensor": node.right}.get(role)
    if not layer or len(calls) != 1:
        return None
    [call] = calls
    if role == "weight":
        return call.func if isinstance(call.func, (ast.Attribute, ast.Subscript)) else None
    place = {"input": 0, "index": 0, "target": 1, "state": 1}.get(role, 99)
    found = call.args[place] if place < len(call.args) else None
    return None if isinstance(found, ast.Starred) else found


def _elements(line: SourceLine, mismatch: Mismatch) -> list[ast.expr | None]:
    """Of a list that is joined, the element on the cpu where there are two, else all."""
    for node in line.nodes:
        name = (sourceline.dotted(node.func) or "") if isinstance(node, ast.Call) else ""
        if name.rpartition(".")[2] in _JOINS and isinstance(node, ast.Call) and node.args:
            listed = node.args[0]
            if not isinstance(listed, (ast.List, ast.Tuple)):
                return []
            sides = [kind(d) for d in (mismatch.expected, mismatch.found) if d]
            if len(listed.elts) == 2 and sorted(sides) == ["cpu", "gpu"]:
                return [listed.elts[sides.index("cpu")]]
            return list(listed.elts)
    return []


def _leaves(line: SourceLine) -> list[ast.expr | None]:
    """What the line's operators join, without plain numbers and without the compound parts."""
    found: list[ast.expr | None] = []
    for node in line.nodes:
        sides: list[ast.expr] = []
        if isinstance(node, ast.BinOp):
            sides = [node.left, node.right]
        elif isinstance(node, ast.AugAssign):
            sides = [node.target, node.value]
        elif isinstance(node, ast.Compare) and not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call):
            sides = _given(node)
        found += [
            side for side in sides if not isinstance(side, ast.BinOp) and not _is_number(side)
        ]
    return found


def _others(line: SourceLine) -> list[ast.expr | None]:
    """The second operands: what torch's signatures call ``other``."""
    found: list[ast.expr | None] = []
    for node in line.nodes:
        if isinstance(node, ast.BinOp):
            found.append(node.right)
        elif isinstance(node, ast.Compare):
            found.append(node.comparators[0])
        elif isinstance(node, ast.Call):
            found += _given(node)[1:2]
    return found


def _given(call: ast.Call) -> list[ast.expr]:
    """What an elementwise function of torch, or such a method of a tensor, is given."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _ELEMENTWISE_CALLS:
        return []
    tensors = [arg for arg in call.args if not isinstance(arg, ast.Starred)]
    of_torch = sourceline.dotted(call.func.value) in ("torch", "F")
    return tensors if of_torch else [call.func.value, *tensors]


def _is_number(node: ast.expr) -> bool:
    """True for what is surely no tensor: constants, sizes, settings written in capitals."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    if isinstance(node, ast.Call):
        name = (sourceline.dotted(node.func) or "").rpartition(".")[2]
        return name in {"len", "float", "int", "size", "dim", "sqrt", "item"}
    if isinstance(node, ast.Subscript):
        return (sourceline.dotted(node.value) or "").endswith(".shape")
    return False
