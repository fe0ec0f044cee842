"""What a report can fill into a sentence, a line of code or a command that is shown to people.

All of it comes from a log, which may hold anything: a name, path or device that does not look like one
is left out, and an operand is printed anew from its syntax tree.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from diagnose import views
from diagnose.model import Fact, Frame, Report

#: Placeholders that always have a value.
ALWAYS = frozenset({"script"})
#: What `values` may fill in.
PLACEHOLDERS = ALWAYS | {
    *("operand", "operand_devices", "layer", "file", "line", "function", "devices", "op"),
    *("argument", "library"),
}
#: With one of these, code belongs before the failing line: their names live there.
LOCAL = frozenset({"operand", "operand_devices", "layer"})

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_DEFAULT_SCRIPT = "train.py"
_FILE = re.compile(r"[\w./\\:~+ -]{1,200}")
_SCRIPT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,200}\.py")
_DEVICE = re.compile(r"[a-z]{1,20}(:\d{1,4})?")
_OP = re.compile(r"[A-Za-z_][\w.:]{0,80}", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][\w.]{0,80}", re.ASCII)
_KEY = re.compile(r"[\w .-]{1,40}", re.ASCII)
_LONGEST = 60


def placeholders(text: str) -> set[str]:
    """The names of the placeholders in a text; other braces are left alone."""
    return set(_PLACEHOLDER.findall(text))


def fill(text: str, known: Mapping[str, str]) -> str | None:
    """The text with its placeholders filled, None where one has no value."""
    if not placeholders(text) <= known.keys():
        return None
    return _PLACEHOLDER.sub(lambda match: known[match[1]], text)


def values(report: Report, facts: Mapping[str, Fact], operands: Sequence[str]) -> dict[str, str]:
    """What a report says for each placeholder, as far as it reads as what it should be.

    All of it comes from a log, which may hold anything: names and devices that do not look like such
    are left out, and operands are printed anew from their syntax tree (`expression`).

    Args:
        report: what was parsed.
        facts: what it shows; they name the layer where no operand does.
        operands: the operands that may be misplaced, as `facts.stray.strays` gives them.
    """
    frame, mismatch = views.site(report), report.mismatch
    known = {"script": _script(report)}
    tensors = [e for text in operands if not text.endswith("(…)") and (e := expression(text))]
    layers = [e for text in operands if text.endswith("(…)") and (e := expression(text[:-3]))]
    if "calls-own-module" in facts and not layers:
        called = facts["calls-own-module"]
        here = frame is not None and called.line == frame.at
        layers = [e for e in (expression(called.values.get("name", "")),) if e and here]
    if len(operands) == 1 and tensors:
        known["operand"] = tensors[0]
    if tensors:
        known["operand_devices"] = ", ".join(f"{tensor}.device" for tensor in tensors[:4])
    if len(layers) == 1:
        known["layer"] = layers[0]
    if frame is not None:
        known |= _of_frame(frame)
    if mismatch is not None:
        if mismatch.devices and all(map(_DEVICE.fullmatch, mismatch.devices[:4])):
            known["devices"] = " / ".join(mismatch.devices[:4])
        for key, text in (("op", mismatch.op), ("argument", mismatch.argument)):
            if text is not None and _OP.fullmatch(text):
                known[key] = text
    return known


def _of_frame(frame: Frame) -> dict[str, str]:
    known: dict[str, str] = {}
    path = frame.file.replace("\\", "/")
    if frame.line is not None and _FILE.fullmatch(path):
        parts = path.split("/")
        known["file"] = path if len(parts) <= 4 else "/".join(parts[-3:])
        known["line"] = str(frame.line)
    if frame.function is not None and _NAME.fullmatch(frame.function):
        known["function"] = frame.function
    if frame.library is not None and _NAME.fullmatch(frame.library):
        known["library"] = frame.library
    return known


def _script(report: Report) -> str:
    """The program to run again: the file whose top level called all the rest."""
    for frame in report.frames:
        if frame.own and frame.function == "<module>":
            name = frame.file.replace("\\", "/")
            name = name.rpartition("/")[2] if name.startswith("/") or ":" in name else name
            if _SCRIPT.fullmatch(name) and "<" not in name:
                return name
    return _DEFAULT_SCRIPT


def expression(text: str) -> str | None:
    """``self.pe[:, 0]`` for such a chain of names, attributes and plain subscripts, else None.

    What is returned is printed from the syntax tree, so that it cannot hold anything else.
    """
    if not text.isascii() or len(text) > _LONGEST:
        return None
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _printed(node)


def _printed(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=owner, attr=name):
            inner = _printed(owner)
            return inner and f"{inner}.{name}"
        case ast.Subscript(value=owner, slice=index):
            inner, key = _printed(owner), _index(index)
            return inner and key and f"{inner}[{key}]"
    return None


def _index(node: ast.expr | None) -> str | None:
    """A subscript of constants, names and slices of them."""
    match node:
        case ast.Constant(value=int(number)):
            return str(number)
        case ast.Constant(value=str(key)):
            return f'"{key}"' if _KEY.fullmatch(key) else None
        case ast.Constant(value=value) if value is None or value is Ellipsis:
            return "..." if value is Ellipsis else "None"
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            return f"-{number}"
        case ast.Slice(lower=low, upper=high, step=None):
            ends = [end and _index(end) for end in (low, high)]
            bad = any(
                end is not None and not text for end, text in zip((low, high), ends, strict=True)
            )
            return None if bad else f"{ends[0] or ''}:{ends[1] or ''}"
        case ast.Tuple(elts=elements) if elements:
            parts = [_index(element) for element in elements]
            return None if None in parts else ", ".join(part for part in parts if part)
        case ast.Name() | ast.Attribute():
            return _printed(node)
    return None
