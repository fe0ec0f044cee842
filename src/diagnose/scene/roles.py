"""Which operand of an op is on which device, as far as the message's own words tell."""

from __future__ import annotations

from collections.abc import Mapping

from diagnose.model import Mismatch, Report, Roles
from diagnose.patterns import lazy

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
