"""A device that is written down gives way to one that the program knows: ``"cuda:0"`` to ``x.device``."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from diagnose.fixes.codemods.defaults import device_unless_told
from diagnose.fixes.codemods.expressions import expression, replaced, with_argument, with_method
from diagnose.fixes.codemods.imports import spelled
from diagnose.fixes.codemods.positions import ancestors
from diagnose.fixes.codemods.replica_caches import rebuilt
from diagnose.fixes.codemods.target_device import given_beside, in_scope, of_weight, target_device
from diagnose.fixes.codemods.transfers import is_moved, value_of
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import argument, called

_NUMBERED = re.compile(r"(cuda|xpu|npu|hpu|mps):[1-9][0-9]*")
_DEVICES = (ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.JoinedStr)


def use_device(suspect: Suspect, _: TorchNames) -> Sequence[Change]:
    """The device of a move, of a factory, or where it is written down, becomes the wanted one."""
    if cached := rebuilt(suspect):
        return cached
    source, node = suspect.spot.source, value_of(suspect)
    device = _other_device(suspect, node)
    outer = ancestors(source, node)[-2]
    if isinstance(outer, ast.Call) and node in outer.args and called(outer) == "cuda":
        node = outer  # `x.cuda(1)`: the method itself says which kind of device
    if not isinstance(node, ast.Call):
        if not isinstance(node, _DEVICES) or ast.unparse(node) == suspect.name:
            raise Refused("what is there is no device by its form")
        return [replaced(source, node, device)]
    method = called(node)
    if method in {"cuda", "cpu"}:
        return [_moved_otherwise(source, node, device)]
    if argument(node, "device") is not None:
        return [with_argument(source, node, "device", device)]
    if method == "to" and node.args:
        return [replaced(source, node.args[0], device)]
    if method == "device":
        return [replaced(source, node, device)]  # torch.device("cuda:0")
    if (name := device_unless_told(source, node)) is not None:
        return [with_argument(source, node, name, device)]
    raise Refused("the call names no device")


def _other_device(suspect: Suspect, node: ast.expr) -> str:
    """The expression for the device that is wanted, other than the one that is written down: in a replica
    it is that of what the call is given beside, or of a weight of the module."""
    told = argument(node, "device") if isinstance(node, ast.Call) else node
    written = ast.unparse(told) if told is not None else ""
    source = suspect.spot.source
    if suspect.cause == "dataparallel-replica-state" and (weight := of_weight(source, node)):
        return weight  # a replica has no parameters(), and remembers the first one's device
    if not suspect.devices and (given := given_beside(source, node)) is not None:
        return f"{given}.device"
    device = target_device(suspect, otherwise=_first(node))
    same = (written, repr(str(suspect.device)))
    if ast.unparse(expression(device)) in same:
        raise Refused("no other device is in scope")
    return device


def elsewhere(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """The device of a move to one GPU becomes another's: its expression, or its number as it is written."""
    node, wanted = value_of(suspect), suspect.wanted
    said = [node, *node.args[:1]] if isinstance(node, ast.Call) else [node]
    written = any(isinstance(one, ast.Constant) for one in said)
    if not (is_moved(node, torch) or written) or wanted is None or wanted.number is None:
        raise Refused("no move names the device")
    device = next(in_scope(suspect), f'"{wanted}"' if written else None)
    if device is None:
        raise Refused("no expression for the device is in scope")
    return use_device(suspect._replace(devices=(device,)), torch)


def present(suspect: Suspect, _: TorchNames) -> Sequence[Change]:
    """The number of a GPU that a setting asks for becomes that of the first, which every machine has; the
    numbers of several, those that there are."""
    source, node = suspect.spot.source, value_of(suspect)
    if suspect.cause != "hardcoded-device":
        raise Refused("it edits no definition")
    if isinstance(node, ast.Call) and called(node) == "add_argument":
        node = argument(node, "default") or node
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int(number)) if number > 0:
            return [replaced(source, node, "0")]
        case ast.Constant(value=str(text)) if _NUMBERED.fullmatch(text):
            return [replaced(source, node, f'"{text.partition(":")[0]}:0"')]
        case ast.List(elts=[ast.Constant(value=0), *others]) if _counts_on(others):
            name, needed = spelled(source, "torch.cuda.device_count", node)
            return [replaced(source, node, f"list(range({name}()))"), *needed]
    raise Refused("what is set there is no GPU's number")


def _counts_on(others: Sequence[ast.expr]) -> bool:
    """Whether the numbers of GPUs go on from the first one."""
    numbers = [one.value if isinstance(one, ast.Constant) else None for one in others]
    return bool(numbers) and numbers == list(range(1, len(numbers) + 1))


def _first(node: ast.AST) -> str | None:
    """The accelerator that every machine with one has, in place of one that is written by its number; None
    for what is written otherwise."""
    match node:
        case ast.Constant(value=str(text)) if _NUMBERED.fullmatch(text):
            return f'"{text.partition(":")[0]}"'
    return None


def _moved_otherwise(source: Source, call: ast.Call, device: str) -> Change:
    """``x.cuda(1, non_blocking=True)`` becomes ``x.to(device, non_blocking=True)``."""
    kept = [k for k in call.keywords if k.arg == "non_blocking"]
    if len(call.args) > 1 or len(kept) < len([k for k in call.keywords if k.arg != "device"]):
        raise Refused("the call has arguments that a move has not")
    given = "".join(f", non_blocking={ast.unparse(k.value)}" for k in kept)
    return with_method(source, call, f"to({device}{given})")


KINDS = {"use-like-device-of-other": use_device, "change-launch-flag": present}
