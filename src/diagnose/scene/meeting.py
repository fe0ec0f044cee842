"""What met in a failing line: the line with its frame, the expressions that stand for the tensors, what is
said of them, and which is on which device by the message's own words.

Which of them may be misplaced, `diagnose.scene.strays` tells.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from diagnose.model import Frame, Mismatch, Report, Roles, Statement
from diagnose.patterns import lazy
from diagnose.scene import calls, sourceline
from diagnose.scene.sourceline import SourceLine


def kind(device: str) -> str:
    """``cpu``, ``meta`` or ``gpu`` for a device as printed."""
    name = device.lower().split(":")[0]
    return name if name in {"cpu", "meta"} else "gpu"


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


def decided(met: Meeting, sides: Sequence[tuple[ast.expr | None, str | None]]) -> Meeting | None:
    """Between cpu and accelerator the operand on the cpu is the stray; of two GPUs both may be."""
    cpu = [(node, device) for node, device in sides if device is not None and kind(device) == "cpu"]
    strays, others = (cpu, [side for side in sides if side not in cpu]) if cpu else (sides, [])
    shown, rest = (
        tuple(
            operand(met, node, device)
            for node, device in some
            if node is not None and not isinstance(node, ast.Starred)
        )
        for some in (strays, others)
    )
    return met._replace(strays=shown, others=rest) if shown else None


def operand(met: Meeting, node: ast.expr, device: str | None = None) -> Operand:
    """An expression of the line as an operand; one that is called is a layer."""
    called = any(call.func is node for call in calls.calls(met.line.nodes))
    return Operand(node, met.line.segment(node), called, device)


class Place:
    """A frame with its statement, as printed or as its file holds it, and what that parses to."""

    def __init__(self, frame: Frame, statement: Statement | None, *, carets: bool) -> None:
        self.frame = frame
        self.statement = statement
        self._carets = carets

    @cached_property
    def line(self) -> sourceline.SourceLine | None:
        """The parsed statement: all of its lines where they were seen, else the line shown."""
        if self.statement is not None:
            whole = sourceline.parse(self.statement.text)
            if whole is not None:
                return whole
        return sourceline.parse(self.frame.code)

    @cached_property
    def part(self) -> ast.AST | None:
        """The operation of the line that failed, by CPython's carets.

        Where other frames have carets and this one has none, they would underline all of the line.
        """
        line = self.line
        if line is None:
            return None
        printed = self.statement.carets if self.statement else None
        if printed is not None:
            return sourceline.failing(line, printed)
        return sourceline.outermost(line) if self._carets else None

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """The nodes of the part that failed; of the whole line where it is not known."""
        return sourceline.inside(self.line, self.part) if self.line is not None else ()

    @property
    def meeting(self) -> Meeting | None:
        """The line, of which nothing is told; None where it cannot be parsed."""
        return Meeting(self.line, self.nodes, self.part) if self.line is not None else None


_BY_NAME = {
    "weight": "weight",
    "bias": "weight",
    "running_mean": "weight",
    "mat1": "input",
    "mat2": "weight",
    "input": "input",
    "index": "index",
    "indices": "index",
    "target": "target",
    "hx": "state",
    "hidden": "state",
    "parameter": "weight",
}


def told(report: Report, operands: Roles) -> dict[str, str]:
    """The device of each operand role that the message tells, such as ``{"weight": "cpu"}``."""
    mismatch = report.mismatch
    if mismatch is None:
        return {}
    if "input-and-weight-types" in mismatch.says:
        return _convolution(report)
    if "expected-type" in mismatch.says:
        return _object_type(report, mismatch.argument)
    table = _arguments(mismatch.op, operands)
    role = role_of(mismatch, operands)
    found, expected = mismatch.found, mismatch.expected
    if role is None or found is None:
        return {}
    first = table.get("first")
    if first is None:
        first = (
            "input"
            if role in {"weight", "state"}
            else "weight"
            if role in {"input", "index"}
            else ""
        )
    if not expected:
        # "Tensor for argument 'self' is on CPU, but expected it to be on GPU" names one side only.
        expected = "the GPU"
    if first == role:  # the reference itself is the stray: what it meets is the other side
        first = "input" if role == "weight" else "tensor"
    return {first: expected, role: found} if first else {role: found}


def role_of(mismatch: Mismatch, operands: Roles) -> str | None:
    """The role of the argument that the message names."""
    argument = mismatch.argument or ""
    return _arguments(mismatch.op, operands).get(argument) or _BY_NAME.get(argument)


_OBJECT = lazy(
    r"type (?:Variable\[)?(torch\.[\w.]+)\]? but found type (?:Variable\[)?(torch\.[\w.]+)"
)


def _side(tensor_type: str) -> str:
    """Where a tensor of a printed type is: ``torch.cuda.FloatTensor`` is on a GPU."""
    on_cpu = tensor_type.startswith("torch.") and tensor_type.count(".") == 1
    return "cpu" if on_cpu else "GPU"


def _object_type(report: Report, argument: str | None) -> dict[str, str]:
    """Torch 0.3 and 0.4 name the types of the first operand and of the argument."""
    types = _OBJECT.search(report.error.message[:2000]) if report.error else None
    role = _BY_NAME.get(argument or "")
    if types is None or role is None:
        return {}
    expected, found = map(_side, types.groups())
    if expected == found:
        return {}
    other = "input" if role in {"weight", "target"} else "weight"
    return {other: expected, role: found}


_TYPES = lazy(r"Input type \(([\w.]+)\) and (?:weight|bias) type \(([\w.]+)\)")


def _convolution(report: Report) -> dict[str, str]:
    """A convolution names tensor types: torch.cuda.FloatTensor is on a GPU, torch.FloatTensor not."""
    types = _TYPES.search(report.error.message[:2000]) if report.error else None
    if types is None:
        return {}
    given, weight = map(_side, types.groups())
    return {"input": given, "weight": weight}


#: What a method's name ends with beside the op: the in-place mark and overloads, as in scatter__value.
_VARIANT = lazy(r"_?(?:_(?:value|src|reduce|two|out))*$")


def _arguments(op: str | None, operands: Roles) -> Mapping[str, str]:
    """The roles of an op's arguments; the longest known op name that ends the method's name wins."""
    name = (op or "").removeprefix("aten.").removeprefix("aten::").split(".")[0]
    name = _VARIANT.sub("", name, count=1)
    known = [key for key in operands if name == key or name.endswith(f"_{key}")]
    return operands[max(known, key=len)] if known else {}


def is_elementwise(report: Report) -> bool:
    """True for the wordings of operations that take their operands one by one, without names."""
    mismatch = report.mismatch
    return mismatch is not None and "elementwise" in mismatch.says
