"""From what met to why it was there: which operand is the stray, and the line to edit for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from diagnose.placement.devices import differ, is_said
from diagnose.placement.frames import Frame, Meeting, Meets
from diagnose.placement.model import Device, Spot, Step, Suspect
from diagnose.placement.values import Module, Object, Place, Tensor

_LOSSES = re.compile(r"(Loss|Criterion|LossNet|Metric|Accuracy|F1|AUROC|Perceptual)", re.IGNORECASE)
_METHODS = frozenset(
    {"__init__", "forward", "training_step", "validation_step", "reset_parameters"}
)


def of_meeting(meeting: Meeting, devices: Sequence[str] = ()) -> Iterator[Suspect]:
    """The suspects of a meeting, likeliest first.

    Args:
        meeting: operands that have to be on one device.
        devices: the devices that a message names, in its order; none where there was no failure, and then
            only operands whose devices are known to differ are suspects.
    """
    for stray, other in _strays(meeting, devices):
        suspect = explain(stray, other, meeting)
        if suspect is not None:
            yield suspect


def _strays(meeting: Meeting, devices: Sequence[str]) -> Iterator[tuple[Meets, Meets | None]]:
    """The operands that may be misplaced, each with one that it met."""
    sides = meeting.sides
    if meeting.what == "host":
        for side in sides:
            device = side.tensor.device
            if (device is not None and device.type == "cuda") or (devices and device is None):
                yield side, None
        return
    if meeting.what == "meta":
        yield sides[0], None
        return
    if not devices:
        for stray, other in _pairs(sides):
            if differ(stray.tensor.device, other.tensor.device) and not _mixes(stray, meeting):
                yield stray, other
                return
        return
    kinds = {device.partition(":")[0] for device in devices}
    if "cpu" in kinds:
        known = [s for s in sides if s.tensor.device is not None and s.tensor.device.type == "cpu"]
        known = [s for s in known if not _mixes(s, meeting)] or known
        rest = [s for s in sides if s not in known]
        for stray in known:
            yield stray, (rest[0] if rest else None)
        if not known:
            for stray in rest:
                if stray.tensor.device is None:
                    yield stray, next((s for s in rest if s is not stray), None)
        return
    for stray, other in _pairs(sides):
        if differ(stray.tensor.device, other.tensor.device):
            yield stray, other
            return
    for stray in sorted(sides, key=_fixed, reverse=True):
        said = [is_said(stray.tensor.device, device) for device in devices]
        if stray.tensor.device is not None and any(said):
            yield stray, next((s for s in sides if s is not stray), None)


def _pairs(sides: Sequence[Meets]) -> Iterator[tuple[Meets, Meets]]:
    """Two operands at a time, the one that is likelier misplaced first."""
    ordered = sorted(sides, key=_rank)
    for position, stray in enumerate(ordered):
        for other in ordered[position + 1 :]:
            yield stray, other


def _rank(side: Meets) -> tuple[bool, bool, bool]:
    device = side.tensor.device
    return (device is None, device is not None and device.type != "cpu", not _fixed(side))


def _fixed(side: Meets) -> bool:
    """Whether a line put it on a device by number or name."""
    device = side.tensor.device
    return device is not None and device.type == "cuda" and not device.home


def _mixes(side: Meets, meeting: Meeting) -> bool:
    """Whether an operand may be on the cpu: one without dimensions, or an index."""
    if side.tensor.scalar:
        return True
    if meeting.what == "index":
        return side is not meeting.sides[0]
    return False


# --- why it is there -----------------------------------------------------------------------------------


def explain(stray: Meets, other: Meets | None, meeting: Meeting) -> Suspect | None:
    """Why an operand is where it is; None where its origin was not seen."""
    tensor = stray.tensor
    wanted = other.tensor.device if other is not None else None
    found = _reason(stray, meeting)
    if found is None:
        return None
    cause, spot, name, move, owner, frame = found
    return Suspect(
        cause,
        name or _said(stray.node),
        spot,
        tensor.device,
        wanted,
        tuple(in_scope(frame, spot, wanted)) if frame is not None else (),
        tensor.steps,
        meeting.spot,
        move,
        owner,
    )


_Reason = tuple[str, Spot, str, "Spot | None", "str | None", "Frame | None"]


def _reason(stray: Meets, meeting: Meeting) -> _Reason | None:
    value, tensor = stray.value, stray.tensor
    if meeting.what == "generator" and tensor.maker == "generator":
        return _at("generator-device", tensor)
    if meeting.what == "home":
        module = value if isinstance(value, Module) else None
        return _at("dataparallel-home-device", tensor, module)
    if meeting.what == "meta":
        return ("meta-tensor", meeting.spot, "", None, None, tensor.frame)
    if meeting.what == "state" and tensor.maker == "state":
        return _at("optimizer-state", tensor)
    if meeting.what == "host":
        return ("host-copy-needed", meeting.spot, "", None, None, tensor.frame)
    if isinstance(value, Module):
        return _of_module(value)
    last_move = next((s for s in reversed(tensor.steps) if s.what == "moved"), None)
    kept = next((s for s in tensor.steps if s.what == "kept"), None)
    if tensor.maker == "weight" and tensor.module is not None and kept is None:
        return _of_module(tensor.module)
    if last_move is not None and tensor.device == last_move.device:
        return ("hardcoded-device", last_move.spot, "", None, None, tensor.frame)
    if kept is not None and tensor.module is not None:
        owner = tensor.module
        cause = "unregistered-tensor"
        if _LOSSES.search(owner.kind) and not any(s.what == "moved" for s in owner.steps):
            cause = "loss-or-metric-state"
        return (cause, kept.spot, f"self.{tensor.name}", None, None, tensor.frame)
    held = next((s for s in tensor.steps if s.what == "held"), None)
    if held is not None and tensor.module is not None:
        return ("unregistered-tensor", held.spot, f"self.{tensor.name}", None, None, tensor.frame)
    made = next((s for s in tensor.steps if s.what in ("made", "loaded")), None)
    if made is None:
        return None
    fixed = _device_argument(made.spot)
    match tensor.maker:
        case "factory" | "array":
            if fixed is not None and tensor.device is not None and tensor.device.type != "cpu":
                return ("hardcoded-device", made.spot, "", None, None, tensor.frame)
            if _is_input(stray, meeting, made):
                return ("input-not-moved", made.spot, "", None, None, tensor.frame)
            return ("created-without-device", made.spot, "", None, None, tensor.frame)
        case "batch":
            return ("input-not-moved", made.spot, "", None, None, tensor.frame)
        case "load":
            return ("checkpoint-location", made.spot, "", None, None, tensor.frame)
        case "output" if tensor.module is not None:
            return _of_module(tensor.module)
    return None


def _at(cause: str, tensor: Tensor, module: Module | None = None) -> _Reason | None:
    steps = module.steps if module is not None else tensor.steps
    step = next((s for s in steps if s.what in ("made", "loaded")), None)
    frame = module.frame if module is not None else tensor.frame
    return (cause, step.spot, "", None, None, frame) if step is not None else None


def _device_argument(spot: Spot) -> ast.expr | None:
    if isinstance(spot.node, ast.Call):
        return next((k.value for k in spot.node.keywords if k.arg == "device"), None)
    return None


def _is_input(stray: Meets, meeting: Meeting, made: Step) -> bool:
    """A tensor that a script makes outside of any module and hands to one."""
    function = (made.spot.function or "").rpartition(".")[2]
    within = function in _METHODS
    return not within and meeting.what == "call" and len(meeting.calls) <= 3


def _of_module(module: Module) -> _Reason | None:
    """Why a module's weights are where they are."""
    top = module
    chain = [module]
    while top.owner is not None and len(chain) < 12:
        held = any(step.what == "held" for step in top.steps)
        late = _put_late(top)
        if held or late is not None:
            break
        top = top.owner
        chain.append(top)
    made = next((s for s in top.steps if s.what == "made"), None)
    held_at = next((s for s in top.steps if s.what == "held"), None)
    moved = next((s for s in reversed(top.steps) if s.what == "moved"), None)
    if held_at is not None and top.owner is not None:
        return ("unregistered-submodule", held_at.spot, "", None, None, top.frame)
    late = _put_late(top)
    if late is not None and made is not None:
        owner = top.owner
        move = (
            next((s for s in reversed(owner.steps) if s.what == "moved"), None) if owner else None
        )
        spot = _value_of(late.spot)
        return (
            "submodule-added-after-move",
            spot,
            "",
            move.spot if move else None,
            None,
            top.frame,
        )
    if moved is not None:
        return ("hardcoded-device", moved.spot, "", None, None, top.frame)
    if made is not None:
        cause = "loss-or-metric-state" if _LOSSES.search(top.kind) else "module-not-moved"
        return (cause, made.spot, "", None, None, top.frame)
    return None


def _put_late(module: Module) -> Step | None:
    """The step that put a module into one that was moved before, and not again."""
    put = next((s for s in module.steps if s.what == "put"), None)
    if put is None or put.device is None or put.device.type == "cpu":
        return None
    position = module.steps.index(put)
    moved = any(step.what == "moved" for step in module.steps[position:])
    before = any(step.what == "moved" for step in module.steps[:position])
    return None if moved or before else put


def _value_of(spot: Spot) -> Spot:
    """The expression that a statement assigns."""
    node = spot.node
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        return spot._replace(node=node.value)
    if isinstance(node, ast.Call) and node.args:
        return spot._replace(node=node.args[-1])
    return spot


def _said(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.expr) else ""


# --- what names the wanted device ----------------------------------------------------------------------


def in_scope(frame: Frame, spot: Spot, wanted: Device | None) -> Iterator[str]:
    """Expressions for a device that may stand at a place, best first."""
    yield from dict.fromkeys(_in_scope(frame, spot, wanted))


def _in_scope(frame: Frame, spot: Spot, wanted: Device | None) -> Iterator[str]:
    line = spot.line
    local = [
        (name, value)
        for name, value in frame.names.items()
        if frame.lines.get(name, line) < line and name.isidentifier()
    ]
    for name, value in local:
        if isinstance(value, Place) and not differ(value.device, wanted):
            yield name
    if frame.function is not None and frame.this is not None:
        held = frame.this.plain if isinstance(frame.this, Module) else {}
        held = frame.this.attributes if isinstance(frame.this, Object) else held
        for name, value in held.items():
            if isinstance(value, Place) and not differ(value.device, wanted):
                yield f"self.{name}"
    inside = (frame.function or "").rpartition(".")[2] == "forward"
    for name, value in local:
        if isinstance(value, Tensor) and value.device is not None and value.device.type != "cpu":
            if inside and not differ(value.device, wanted):
                yield f"{name}.device"
    for name, value in local:
        if isinstance(value, Object) and value.kind == "accelerator":
            yield f"{name}.device"
        if isinstance(value, Tensor) and value.device is not None and value.device.type != "cpu":
            if differ(value.device, wanted) is False:
                yield f"{name}.device"
    for name in getattr(frame.around, "_frame", frame).names if frame.function else ():
        value = frame.around.get(name)
        if isinstance(value, Place) and not differ(value.device, wanted):
            yield name
        if isinstance(value, Object) and value.kind == "accelerator":
            yield f"{name}.device"
    for name, value in local:
        if isinstance(value, Module) and value.where() is not None:
            if differ(value.where(), wanted) is False and name != "self":
                yield f"next({name}.parameters()).device"
