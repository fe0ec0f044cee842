"""``torch.zeros(n)`` becomes ``torch.zeros(n, device=x.device)`` where it is called."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.codemods.defaults import device_unless_told
from diagnose.fixes.codemods.expressions import moved, with_argument
from diagnose.fixes.codemods.mixed_factories import meeting
from diagnose.fixes.codemods.positions import ancestors, block_of, statement_of
from diagnose.fixes.codemods.target_device import target_device
from diagnose.fixes.codemods.transfers import is_moved, value_of
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import argument, called, dotted
from diagnose.scene.calls import beside, makes_tensor

#: Causes of which a factory without a device is the mistake.
_FORGOTTEN = frozenset({"created-without-device", "fake-or-compile-device"})


def create_on_device(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """A factory gets ``device=``; what cannot take it is followed by ``.to()``, what has it another one.
    So do its twins in the same block, as the states of an LSTM are made by the same call twice, and the
    factories whose results it meets before it fails, and what is made beside it."""
    source, node = suspect.spot.source, value_of(suspect)
    nodes = [node, *_twins(source, node, torch), *_alike(source, node, torch)]
    made = _factory(node, torch)
    if made is not None and suspect.cause in _FORGOTTEN:
        known = [_factory(one, torch) for one in nodes]
        others = meeting(source, made, torch, lambda call: chooses(call, torch))
        nodes += [one for one in others if all(one is not call for call in known)]
    return [_on_device(suspect, one, torch) for one in nodes]


def _twins(source: Source, node: ast.expr, torch: TorchNames) -> list[ast.expr]:
    """The values that the other statements of the block assign and that read as a node does."""
    statement = statement_of(source, node)
    call = _factory(node, torch)
    if not isinstance(statement, ast.Assign) or statement.value is not node:
        return []
    if call is None or not _takes_device(called(call), torch):
        return []
    text = ast.dump(node)
    return [
        other.value
        for other in block_of(source, statement)
        if isinstance(other, ast.Assign)
        and other is not statement
        and ast.dump(other.value) == text
    ]


def _alike(source: Source, node: ast.expr, torch: TorchNames) -> list[ast.expr]:
    """The tensors that are made beside one, in the same list, call or operation."""
    outer = ancestors(source, node)[-2]
    if not isinstance(node, ast.Call) or not makes_tensor(node, torch):
        return []
    return [one for one in beside(outer, node) if makes_tensor(one, torch)]


def _on_device(suspect: Suspect, node: ast.expr, torch: TorchNames) -> Change:
    source, call = suspect.spot.source, _factory(node, torch)
    if call is None:
        raise Refused("no call makes it")
    statement = statement_of(source, node)
    if isinstance(statement, ast.Expr) and statement.value is node:
        raise Refused("what the call returns is not kept")
    name = dotted(call.func) or ""
    root = name.partition(".")[0]
    known = root in torch.host_packages or root in torch.other_packages
    if known or name in ("torch.device", "torch.export.load"):
        raise Refused(f"{name} makes no tensor")
    device = target_device(suspect)
    if called(call).endswith("_like") and device.startswith('"'):
        raise Refused(
            "it is made where what it resembles is, and that is not known to belong elsewhere"
        )
    if argument(call, "device") is not None:
        return with_argument(source, call, "device", device)
    if _is_open(call, torch):
        return with_argument(source, call, "device", device)
    if (parameter := device_unless_told(source, call)) is not None:
        return with_argument(source, call, parameter, device)
    if argument(call, "out") is not None:
        raise Refused("out= decides where the result is")
    return moved(source, call, device)


def _factory(node: ast.expr, torch: TorchNames) -> ast.Call | None:
    """The call that makes a tensor at the root of a chain: ``torch.ones(3)`` of ``torch.ones(3).t()``."""
    found: ast.Call | None = None
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        if is_moved(node, torch):
            raise Refused("it is moved after it is made")
        if isinstance(node, ast.Call):
            found = found if found is not None and _plain_method(node) else node
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if name in torch.factories or _takes_device(name, torch):
                return node
            node = node.func
        else:
            node = node.value
    return found


def _takes_device(function: str, torch: TorchNames) -> bool:
    made = (
        function in torch.factories
        or function in torch.tensor_factories
        or function.endswith("_like")
    )
    return made and function not in torch.host_factories


def _is_open(call: ast.Call, torch: TorchNames) -> bool:
    """Whether a call takes ``device=``, and nothing else in it decides the device: a generator has one of
    its own, pinned memory is the host's, and ``**`` may hold one."""
    given = {keyword.arg for keyword in call.keywords}
    return _takes_device(called(call), torch) and not given & {
        "generator",
        "pin_memory",
        "out",
        None,
    }


def chooses(call: ast.Call, torch: TorchNames) -> bool:
    """Whether a call would choose a device: what resembles a tensor is where that is."""
    return _is_open(call, torch) and not called(call).endswith("_like")


def _plain_method(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name)


KINDS = {"create-on-device": create_on_device}
