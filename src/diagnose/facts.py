"""What a report shows, as an expert reads it off: `Report` in, `Fact` objects out.

Most facts are data: a table of kb/facts.toml with regular expressions. Those that need more than that
(operand roles, syntax trees, counting) are the functions below, each registered under its id there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

import regex

from diagnose import seen, sourceline, views
from diagnose.model import Fact, FactRule, Frame, Report

_SECONDS = 0.1  # limit of one pattern on one text, against hostile input

Roles = Mapping[str, Mapping[str, str]]
Finder = Callable[[Report, Roles], "Iterator[Fact]"]
_FINDERS: list[Finder] = []


def finder(function: Finder) -> Finder:
    """Registers a function that computes facts."""
    _FINDERS.append(function)
    return function


def read(report: Report, rules: Mapping[str, FactRule], operands: Roles) -> dict[str, Fact]:
    """All facts that the report shows, by id.

    Args:
        report: what was parsed.
        rules: kb/facts.toml.
        operands: kb/operands.toml, for each aten op the role of each argument.
    """
    found: dict[str, Fact] = {}
    for rule in rules.values():
        if rule.when or rule.frame:
            fact = _matched(report, rule)
            if fact is not None:
                found[fact.id] = fact
    for find in _FINDERS:
        for fact in find(report, operands):
            found.setdefault(fact.id, fact)
    return found


# --- facts that are data --------------------------------------------------------------------------


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)


def _hit(pattern: str, text: str | None) -> bool:
    if text is None:
        return False
    try:
        return _compiled(pattern).search(text[:4000], timeout=_SECONDS) is not None
    except TimeoutError:
        return False


def _matched(report: Report, rule: FactRule) -> Fact | None:
    """The fact, if all matchers of its rule hold."""
    texts = _texts(report)
    line = report.error.at if report.error else None
    values = common(report)
    for key, pattern in rule.when.items():
        if key == "library":
            if not any(_hit(pattern, name) for name in report.libraries):
                return None
            line = next(
                (f.at for f in report.frames if f.library and _hit(pattern, f.library)), None
            )
        elif key == "context":
            note = next((n for n in report.context if _hit(pattern, n.text)), None)
            if note is None:
                return None
            line, values = note.number, values | {"text": note.text.strip()[:120]}
        elif not _hit(pattern, texts[key]):
            return None
    if rule.frame:
        frame = next(
            (f for f in views.chosen(report, rule.frame["which"]) if _frame_hit(rule.frame, f)),
            None,
        )
        if frame is None:
            return None
        return _at(rule.id, frame, **values)
    return Fact(rule.id, line, values)


def _frame_hit(matchers: Mapping[str, str], frame: Frame) -> bool:
    shown = {
        "file": frame.file.replace("\\", "/"),
        "function": frame.function,
        "code": frame.code,
        "library": frame.library,
    }
    return all(_hit(p, shown[key]) for key, p in matchers.items() if key != "which")


def _texts(report: Report) -> dict[str, str | None]:
    mismatch, error = report.mismatch, report.error
    return {
        "wording": mismatch.wording if mismatch else None,
        "op": mismatch.op if mismatch else None,
        "argument": mismatch.argument if mismatch else None,
        "pair": pair(report),
        "type": error.type if error else None,
        "message": error.message if error else None,
    }


# --- values for the sentences -----------------------------------------------------------------------


def kind(device: str) -> str:
    """``cpu``, ``meta`` or ``gpu`` for a device as printed."""
    name = device.lower().split(":")[0]
    return name if name in {"cpu", "meta"} else "gpu"


def pair(report: Report) -> str | None:
    """The kinds of the first two devices as printed, such as ``gpu-cpu``."""
    if report.mismatch is None or not report.mismatch.devices:
        return None
    return "-".join(kind(device) for device in report.mismatch.devices[:2])


def common(report: Report) -> dict[str, str]:
    """The values that every sentence may use."""
    values = {}
    if report.error is not None:
        message = " ".join(report.error.message.split())
        values["message"] = message if len(message) <= 140 else f"{message[:139]}…"
    mismatch = report.mismatch
    if mismatch is not None:
        values["devices"] = " / ".join(mismatch.devices) or "another device"
        values["op"] = mismatch.op or "?"
        values["argument"] = mismatch.argument or "?"
        values["found"] = mismatch.found or "?"
        values["expected"] = mismatch.expected or "?"
    return values


def short(path: str) -> str:
    """The end of a path: enough to recognise the file in a sentence."""
    parts = path.replace("\\", "/").split("/")
    return path if len(parts) <= 4 else "/".join(parts[-3:])


def _at(fact: str, frame: Frame, **values: str) -> Fact:
    """A fact that rests on a frame."""
    values |= {
        "file": short(frame.file),
        "line": str(frame.line) if frame.line is not None else "?",
        "function": frame.function or "?",
        "code": frame.code or "?",
        "library": frame.library or "?",
    }
    return Fact(fact, frame.at, values)


# --- facts that are computed: devices and operands --------------------------------------------------


@finder
def gpu_numbers(report: Report, _: Roles) -> Iterator[Fact]:
    """Whether a GPU other than the first takes part, and what it met."""
    devices = [d.lower() for d in report.mismatch.devices] if report.mismatch else []
    line = report.error.at if report.error else None
    later = [d for d in devices if kind(d) == "gpu" and d.partition(":")[2] not in {"", "0"}]
    first = [d for d in devices if kind(d) == "gpu" and d.endswith(":0")]
    if later and "cpu" in devices:
        yield Fact("later-gpu-and-cpu", line, common(report))
    if later and first:
        yield Fact("default-gpu-and-later", line, common(report))


@finder
def ranks(report: Report, _: Roles) -> Iterator[Fact]:
    """Which processes failed."""
    line = report.error.at if report.error else None
    if len(report.ranks) > 1:
        yield Fact("several-ranks", line, {"ranks": ", ".join(map(str, report.ranks[:8]))})
    elif report.ranks and report.ranks[0] > 0:
        yield Fact("later-rank", line, {"rank": str(report.ranks[0])})


_BY_NAME = {
    "weight": "weight",
    "bias": "weight",
    "running_mean": "weight",
    "mat1": "input",
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
    if mismatch.wording.startswith("torch.conv."):
        return _convolution(report)
    argument = mismatch.argument or ""
    table = _arguments(mismatch.op, operands)
    role = table.get(argument) or _BY_NAME.get(argument)
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


_TYPES = regex.compile(r"Input type \(([\w.]++)\) and (?:weight|bias) type \(([\w.]++)\)")


def _convolution(report: Report) -> dict[str, str]:
    """A convolution names tensor types: torch.cuda.FloatTensor is on a GPU, torch.FloatTensor not."""
    types = _TYPES.search(report.error.message[:2000]) if report.error else None
    if types is None:
        return {}
    sides = ["cpu" if name.startswith("torch.") and name.count(".") == 1 else "GPU" for name in types.groups()]
    return {"input": sides[0], "weight": sides[1]}


def _arguments(op: str | None, operands: Roles) -> Mapping[str, str]:
    """The roles of an op's arguments; the longest known op name that ends the method's name wins."""
    name = (op or "").removeprefix("aten.").removeprefix("aten::").split(".")[0]
    known = [key for key in operands if name == key or name.endswith(f"_{key}")]
    return operands[max(known, key=len)] if known else {}


@finder
def elementwise(report: Report, _: Roles) -> Iterator[Fact]:
    """An elementwise operation failed: a message without a method name, and not because it was cut."""
    mismatch, innermost = report.mismatch, views.innermost(report)
    if mismatch is None or not mismatch.wording.startswith(_ELEMENTWISE):
        return
    in_layer = innermost is not None and "torch/nn/" in innermost.file.replace("\\", "/")
    line = report.error.at if report.error else None
    if not in_layer:
        yield Fact("says-elementwise", line, common(report))
    elif innermost is not None and innermost.function == "embedding" and pair(report) == "gpu-gpu":
        yield Fact("ids-across-gpus", line, common(report))


_ELEMENTWISE = (
    "torch.tensor_iterator",
    "torch.gpu_kernel",
    "torch.same_device.cut",
    "torch.two_devices.cut",
)


@finder
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


# --- facts that are computed: the frames ------------------------------------------------------------


@finder
def whose_line(report: Report, _: Roles) -> Iterator[Fact]:
    """Whether the line that called the failing op is the user's own."""
    frame = views.site(report)
    if frame is not None:
        yield _at("fails-in-own-code" if frame.own else "fails-in-library", frame)


@finder
def depth(report: Report, _: Roles) -> Iterator[Fact]:
    """How many modules are entered before it fails."""
    entered = [
        frame
        for frame in report.frames
        if frame.function in {"forward", "_conv_forward"}
        and "torch/nn/modules/module" not in frame.file
    ]
    if entered:
        name = "shallow" if len(entered) <= 2 else "deep"
        yield _at(name, entered[-1], depth=str(len(entered)))


# --- facts that are computed: the failing line ------------------------------------------------------

_CONSTANTS = regex.compile(
    r"(?i)(^|_)(mean|std|var|pe|pos(ition)?s?|anchors?|grid|cache|table|bank|codebook|prior|bias"
    r"|mask|scale|shift|freqs?|cos|sin|buffer|proto(type)?s?|kernel|ab|beta|alpha|eye|offsets?"
    r"|weights?|temperature|stats?|images?|features?|memory|logvar)\d*(_|$)"
)
_HEADS = regex.compile(
    r"(?i)(^|_)(head|heads|classifier|out_head|lm_head|score|fc|cls|adapter|lora|prompt|prefix|out)\d*(_|$)"
)
#: Attributes that hold settings, not tensors.
_SETTINGS = regex.compile(
    r"^(weight|bias|device|dtype|training|config|cfg|args|opt|options|hparams|mode|version|name|stride"
    r"|padding|dilation|groups|eps|epsilon|p|k|dim|lr|momentum|dropout|discount|gamma|temperature"
    r"|temp|tau|scale_factor|\w+_size|\w+_dim|\w+_rate|num_\w+|n_\w+|use_\w+|is_\w+|max_\w+|min_\w+)$"
)
_SECOND = regex.compile(
    r"(?i)(^|_)(teacher|target(_net)?|ema|vgg|lpips|vae|encoder|decoder|disc(riminator)?|critic"
    r"|reward|ref(erence)?|vocoder|perceptual|inception|clip|text_encoder|extractor|backbone"
    r"|scaling_layer|feature)(_|$|\w*model|\w*net)"
)


def _lines(report: Report) -> list[tuple[Frame, sourceline.SourceLine]]:
    """The parsed lines that are closest to the failing op: the site's and the user's own."""
    frames = [views.site(report), views.own(report)]
    found: list[tuple[Frame, sourceline.SourceLine]] = []
    for frame in frames:
        if frame is not None and all(frame is not seen for seen, _ in found):
            line = sourceline.parse(frame.code)
            if line is not None:
                found.append((frame, line))
    return found


@finder
def attributes(report: Report, _: Roles) -> Iterator[Fact]:
    """Data attributes of ``self`` among the operands, and what is indexed by what."""
    for frame, line in _lines(report)[:1]:
        called = {id(node.func) for node in line.walk() if isinstance(node, ast.Call)}
        for node in line.walk():
            if isinstance(node, ast.Subscript) and _is_index(node.slice):
                name, index = line.segment(node.value), line.segment(node.slice)
                plain = isinstance(node.value, ast.Attribute)
                own_attribute = plain and name.startswith("self.")
                fact = "indexes-attribute" if own_attribute else "indexes"
                yield _at(fact, frame, name=name, index=index)
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
                and id(node) not in called
                and not _SETTINGS.search(node.attr)
            ):
                if _owner_is_called(node, line):
                    continue
                yield _at("uses-own-attribute", frame, name=f"self.{node.attr}")
                if _CONSTANTS.search(node.attr):
                    yield _at("uses-cached-attribute", frame, name=f"self.{node.attr}")


def _is_index(node: ast.expr) -> bool:
    """True for an index that may be a tensor: not a constant, a slice or a tuple of those."""
    if isinstance(node, ast.Tuple):
        return any(_is_index(element) for element in node.elts)
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return not isinstance(node, (ast.Constant, ast.Slice))


def _owner_is_called(attribute: ast.Attribute, line: sourceline.SourceLine) -> bool:
    """True where the attribute is a module or object whose method or submodule is called."""
    for node in line.walk():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            inner = node.func.value
            while isinstance(inner, (ast.Attribute, ast.Subscript)):
                if inner is attribute:
                    return node.func.attr not in _TENSOR_METHODS
                inner = inner.value
        match node:
            case ast.Call(func=ast.Subscript(value=owner)) if owner is attribute:
                return True
    return False


_TENSOR_METHODS = frozenset(
    {
        *("t", "to", "cpu", "cuda", "float", "half", "long", "type_as", "clone", "detach", "numpy"),
        *("view", "reshape", "expand", "expand_as", "repeat", "unsqueeze", "squeeze", "transpose"),
        *("permute", "size", "sum", "mean", "pow", "gather", "index_select"),
        *("mul", "add", "sub", "div", "matmul"),
    }
)


@finder
def made_tensors(report: Report, _: Roles) -> Iterator[Fact]:
    """Tensor factories without a device, in the failing line or in the lines shown around it."""
    for frame, line in _lines(report):
        for node in line.walk():
            if sourceline.makes_tensor(node):
                yield _at("makes-tensor", frame)
    for frame, code in _shown(report):
        parsed = sourceline.parse(code)
        if parsed and any(sourceline.makes_tensor(node) for node in parsed.walk()):
            yield (
                _at("makes-tensor-nearby", frame)
                if code == frame.code
                else Fact("makes-tensor-nearby", frame.at, {"code": code.strip()})
            )


@finder
def fixed_devices(report: Report, _: Roles) -> Iterator[Fact]:
    """Devices that are written into the shown lines of the user's code."""
    for frame, code in _shown(report):
        parsed = sourceline.parse(code)
        if parsed and any(sourceline.names_device(node) for node in ast.walk(parsed.tree)):
            yield Fact("names-device", frame.at, {"code": code.strip()})


def _shown(report: Report) -> Iterator[tuple[Frame, str]]:
    """The lines of the innermost frames outside torch that the traceback shows, with their context."""
    places = {id(f): f for f in (views.site(report), views.own(report)) if f is not None}
    for frame in places.values():
        if frame.code:
            yield frame, frame.code
        for _, code in frame.context[-12:]:
            yield frame, code


@finder
def called_modules(report: Report, _: Roles) -> Iterator[Fact]:
    """What the innermost call of a module outside torch is called."""
    innermost = views.innermost(report)
    in_layer = innermost is not None and innermost.library == "torch"
    for position, (frame, line) in enumerate(_lines(report)):
        for node in line.walk():
            if not isinstance(node, ast.Call):
                continue
            name = sourceline.dotted(node.func)
            at_site = in_layer and position == 0
            if isinstance(node.func, ast.Subscript) and at_site:
                yield _at("calls-listed-module", frame)
            if name is None or name.split(".")[0] in {"torch", "F", "nn", "np", "super"}:
                continue
            if at_site and name.startswith("self."):
                yield _at("calls-own-module", frame, name=name)
                if _HEADS.search(name.rpartition(".")[2]):
                    yield _at("calls-head", frame, name=name)
            if any(_SECOND.search(part) for part in name.split(".")):
                yield _at("calls-second-model", frame, name=name)


@finder
def joined_locals(report: Report, _: Roles) -> Iterator[Fact]:
    """The failing line joins nothing but local variables."""
    for frame, line in _lines(report)[:1]:
        names = [sourceline.root(node) for node in sourceline.operands(line)]
        if len(names) > 1 and all(isinstance(n, ast.Name) and n.id != "self" for n in names):
            yield _at("local-operands", frame)


# --- facts that a live hook saw ---------------------------------------------------------------------


@finder
def seen_tensors(report: Report, _: Roles) -> Iterator[Fact]:
    """Tensors of the failing frames that sit on another device than most of their kind."""
    for name, values in seen.facts(report) if report.tensors else ():
        yield Fact(name, None, values)  # no line of the input shows it
