"""What a report can fill into a sentence, a line of code or a command that is shown to people.

All of it comes from a log, which may hold anything: a name, path or device that does not look like one
is left out, and an operand is printed anew from its syntax tree.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from diagnose.model import Fact, Frame, Report, TorchNames
from diagnose.paths import is_cell, is_plain, of_frame

if TYPE_CHECKING:
    from diagnose.scene import Scene

#: Placeholders that always have a value.
ALWAYS = frozenset({"script", "launch", "gpu"})
#: What `values` may fill in.
PLACEHOLDERS = ALWAYS | {
    *("operand", "operand_devices", "layer", "place", "function", "devices", "op"),
    *("argument", "library", "distribution"),
}
#: With one of these, code belongs before the failing line: their names live there.
LOCAL = frozenset({"operand", "operand_devices", "layer"})

# Not compiled here: most answers ask nothing, and compiling them costs every start.
_PLACEHOLDER = r"\{([a-z_]+)\}"
_UNKNOWN_SCRIPT = "YOUR_SCRIPT.py"
_SCRIPT = r"[\w.][\w./+=@-]{0,200}\.py"
#: How a log's command line started the script, and what starts it on one GPU.
_LAUNCHERS = {
    "torchrun": "torchrun {script}",
    "accelerate launch": "accelerate launch --num_processes 1 {script}",
    "deepspeed": "deepspeed --num_gpus 1 {script}",
}
_DEVICE = r"[a-z]{1,20}(:\d{1,4})?"
_OP = r"(?a)[A-Za-z_][\w.:]{0,80}"
_NAME = r"(?a)[A-Za-z_][\w.]{0,80}"
_KEY = r"(?a)[\w.-]{1,40}"
_LONGEST = 60
#: How `scene.meeting.texts` marks a layer whose own weights may be the stray ones.
_CALLED = "(…)"


def placeholders(text: str) -> set[str]:
    """The names of the placeholders in a text; other braces are left alone."""
    return set(re.findall(_PLACEHOLDER, text))


def fill(text: str, known: Mapping[str, str]) -> str | None:
    """The text with its placeholders filled, None where one has no value."""
    if not placeholders(text) <= known.keys():
        return None
    return re.sub(_PLACEHOLDER, lambda match: known[match[1]], text)


_DROPPED = (r"\s*[(（][^()（）]*\{%s\}[^()（）]*[)）]", r"[:：]\s*\{%s\}(?=[.。]?$)")


def sentence(text: str, known: Mapping[str, str]) -> str | None:
    """As `fill`, for a sentence that can do with less.

    What stands in parentheses, or at the end after a colon, goes where one of its values is missing.
    """
    for name in placeholders(text) - known.keys():
        for pattern in _DROPPED:
            text = re.sub(pattern % name, "", text)
    return fill(text, known)


def in_general(text: str) -> str:
    """A command of the case base as it stands where there is no report."""
    return fill(text, {**_launched(_UNKNOWN_SCRIPT), "gpu": "0", "distribution": "LIBRARY"}) or text


def always(report: Report) -> dict[str, str]:
    """The values of the placeholders that always have one (`ALWAYS`)."""
    return _launched(script(report), report) | {"gpu": _gpu(report)}


def values(scene: Scene, facts: Mapping[str, Fact]) -> dict[str, str]:
    """What a report says for each placeholder, as far as it reads as what it should be.

    All of it comes from a log, which may hold anything: names and devices that do not look like such
    are left out, and operands are printed anew from their syntax tree (`expression`). What may be
    installed says kb/libraries.toml alone: a log can name any package.

    Args:
        scene: the report, looked at.
        facts: what it shows; they name the layer where no operand does.
    """
    report, operands = scene.report, scene.strays
    frame, mismatch = scene.site.frame if scene.site else None, report.mismatch
    known = always(report)
    torch = scene.knowledge.torch
    tensors = _printable((text for text in operands if not text.endswith(_CALLED)), torch)
    called_layers = (text[: -len(_CALLED)] for text in operands if text.endswith(_CALLED))
    layers = _printable(called_layers, torch)
    called = facts.get("calls-own-module")
    if called is not None and not layers and frame is not None and called.line == frame.at:
        layers = _printable([called.values.get("name", "")], torch)
    if len(operands) == 1 and tensors:
        known["operand"] = tensors[0]
    if tensors:
        known["operand_devices"] = ", ".join(f"{tensor}.device" for tensor in tensors[:4])
    if len(layers) == 1:
        known["layer"] = layers[0]
    if frame is not None:
        known |= _of_frame(frame)
        package = next(
            (one for one in scene.knowledge.libraries if one.name == frame.library), None
        )
        if package is not None and package.distribution is not None:
            known["distribution"] = package.distribution
    if mismatch is not None:
        if mismatch.devices and all(
            re.fullmatch(_DEVICE, device) for device in mismatch.devices[:4]
        ):
            known["devices"] = " / ".join(mismatch.devices[:4])
        for key, text in (("op", mismatch.op), ("argument", mismatch.argument)):
            if text is not None and re.fullmatch(_OP, text):
                known[key] = text
    return known


def _printable(texts: Iterable[str], torch: TorchNames) -> list[str]:
    """The expressions among the texts, each once."""
    printed = (expression(text, torch) for text in texts)
    return list(dict.fromkeys(text for text in printed if text is not None))


def _of_frame(frame: Frame) -> dict[str, str]:
    known: dict[str, str] = {}
    place = of_frame(frame)
    if frame.line is not None and is_plain(frame.file):
        known["place"] = place
    if frame.function is not None and re.fullmatch(_NAME, frame.function):
        known["function"] = frame.function
    if frame.library is not None and re.fullmatch(_NAME, frame.library):
        known["library"] = frame.library
    return known


def script(report: Report) -> str:
    """The program to run again, as `named_script`; where the report does not show it, a word that is
    plainly not its name."""
    return named_script(report) or _UNKNOWN_SCRIPT


def named_script(report: Report) -> str | None:
    """The program to run again, fit for a shell: the file whose top level called all the rest."""
    for frame in report.frames:
        if frame.own and frame.function == "<module>" and not is_cell(frame.file):
            name = frame.file.replace("\\", "/")
            name = name.rpartition("/")[2] if name.startswith("/") or ":" in name else name
            if re.fullmatch(_SCRIPT, name):
                return shlex.quote(name)
    return None


def _launched(script: str, report: Report | None = None) -> dict[str, str]:
    """The script, and the command that runs it: by the launcher that stands with it in the log."""
    name = script.strip("'").rpartition("/")[2]
    for line in report.context if report is not None else ():
        for launcher, command in _LAUNCHERS.items():
            if re.search(rf"\b{launcher} (.* )?(\S*/)?{re.escape(name)}\b", line.text):
                return {"script": script, "launch": command.format(script=script)}
    return {"script": script, "launch": f"python {script}"}


def _gpu(report: Report) -> str:
    """The number of the GPU that is meant where the message names one beside the first."""
    devices = report.mismatch.devices if report.mismatch else ()
    numbers = (re.fullmatch(r"(?a)[a-z]{1,20}:(\d{1,3})", device) for device in devices)
    return next((found[1] for found in numbers if found and found[1] != "0"), "0")


def expression(text: str, torch: TorchNames) -> str | None:
    """``self.pe[:, 0]`` for such a chain of names, attributes and plain subscripts, else None.

    Methods that keep the device are taken off: ``mask`` for ``mask.unsqueeze(1)``. What is returned is
    printed from the syntax tree, so that it cannot hold anything else.
    """
    if not text.isascii() or len(text) > _LONGEST:
        return None
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr not in torch.same_device:
            return None
        node = node.func.value
    printed = _printed(node)
    # torch.sum(x) is no method of `torch`.
    return printed if printed and printed.partition(".")[0] not in torch.packages else None


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
            return f'"{key}"' if re.fullmatch(_KEY, key) else None
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
