"""Which devices met, and which operand of the op is on the wrong one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from diagnose import views
from diagnose.facts.values import common, kind, pair
from diagnose.model import Fact, Mismatch, Report
from diagnose.patterns import lazy

Roles = Mapping[str, Mapping[str, str]]


def gpu_numbers(report: Report) -> Iterator[Fact]:
    """Whether a GPU other than the first takes part, and what it met."""
    devices = [d.lower() for d in report.mismatch.devices] if report.mismatch else []
    line = report.error.at if report.error else None
    later = [d for d in devices if kind(d) == "gpu" and d.partition(":")[2] not in {"", "0"}]
    first = [d for d in devices if kind(d) == "gpu" and d.endswith(":0")]
    if later and "cpu" in devices:
        yield Fact("later-gpu-and-cpu", line, common(report))
    if later and first:
        yield Fact("default-gpu-and-later", line, common(report))


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
}


def roles(report: Report, operands: Roles) -> dict[str, str]:
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
        first = "input" if role == "weight" else "weight" if role in {"input", "index"} else ""
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


def _arguments(op: str | None, operands: Roles) -> Mapping[str, str]:
    """The roles of an op's arguments; the longest known op name that ends the method's name wins."""
    name = (op or "").removeprefix("aten.").removeprefix("aten::").split(".")[0]
    known = [key for key in operands if name == key or name.endswith(f"_{key}")]
    return operands[max(known, key=len)] if known else {}


def elementwise(report: Report) -> Iterator[Fact]:
    """An elementwise operation failed: a message without a method name, and not because it was cut."""
    innermost = views.innermost(report)
    if not is_elementwise(report):
        return
    in_layer = innermost is not None and "torch/nn/" in innermost.file.replace("\\", "/")
    line = report.error.at if report.error else None
    if not in_layer:
        yield Fact("says-elementwise", line, common(report))
    elif innermost is not None and innermost.function == "embedding" and pair(report) == "gpu-gpu":
        yield Fact("ids-across-gpus", line, common(report))


def is_elementwise(report: Report) -> bool:
    """True for the wordings of operations that take their operands one by one, without names."""
    mismatch = report.mismatch
    return mismatch is not None and "elementwise" in mismatch.says


def misplaced_operand(report: Report, operands: Roles) -> Iterator[Fact]:
    """Which operand of the op is on the wrong side."""
    where = roles(report, operands)
    line = report.error.at if report.error else None
    values = common(report)

    def fact(name: str, other: str) -> Fact:
        return Fact(name, line, values | {"other": other})

    def apart(one: str, two: str) -> bool:
        return one in where and two in where and where[one] != where[two]

    cpu = {role for role, device in where.items() if kind(device) == "cpu"}
    for role, other, name in (
        ("weight", "input", "weight-on-cpu"),
        ("input", "weight", "input-on-cpu"),
        ("index", "weight", "index-on-cpu"),
        ("weight", "index", "table-on-cpu"),
        ("target", "input", "target-on-cpu"),
    ):
        if role in cpu and other in where and other not in cpu:
            yield fact(name, where[other])
    if apart("class-weight", "input"):
        yield fact("class-weight-elsewhere", where["input"])
    if cpu:
        return
    if apart("target", "input"):
        yield fact("target-elsewhere", where["input"])
    if apart("input", "weight"):
        yield fact("layer-across-gpus", where["input"])
    if apart("index", "weight"):
        yield fact("ids-across-gpus", where["weight"])
