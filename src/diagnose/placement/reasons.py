"""Why an operand is where it is, and the place to edit."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.placement.building import LOSSES, built_for, moved_within, of_module, where_built
from diagnose.placement.devices import META, differ
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Spot, Step
from diagnose.placement.steps import (
    Reason,
    born_at,
    device_argument,
    is_literal,
    last_move,
    on_cpu,
    replicated,
    said_as,
)
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame


def of_rank(found: Reason, other: Meets) -> Reason | None:
    """A device that ignores the rank by which the other side's was chosen."""
    last = last_move(other.tensor.steps) or born_at(other.tensor.steps)
    if last is None or last.device is None or not last.device.ranked:
        return None
    # `.cuda()` is right once the process has chosen its device, where the rank is known.
    node = found.spot.node
    bare = isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Attribute)
    return found._replace(cause="rank-device", spot=last.of if bare and last.of else found.spot)


def reason(stray: Meets, meeting: Meeting) -> Reason | None:
    """The cause of an operand's place, None where its origin was not seen."""
    value, tensor = stray.value, stray.tensor
    born = born_at(tensor.steps)
    if (
        born is not None
        and born.device == META
        and meeting.what != "meta"
        and tensor.device in (META, None)
    ):
        loaded = next((s for s in reversed(tensor.steps) if s.what == "loaded"), None)
        return Reason("meta-tensor", loaded.spot if loaded else born.of or born.spot, tensor.frame)
    match meeting.what:
        case "generator" if tensor.maker == "generator":
            return _made_as("generator-device", tensor.steps, tensor.frame)
        case "home":
            return _at_home(meeting, stray)
        case "meta":
            return Reason("meta-tensor", meeting.spot, tensor.frame)
        case "state" if tensor.maker == "state" and tensor.module is not None:
            return built_for(tensor.module) or _made_as(
                "optimizer-state", tensor.steps, tensor.frame
            )
        case "host":
            return _on_the_way_to_the_host(stray, meeting)
        case "index" if stray is meeting.sides[1]:
            fixed = born is not None and tensor.maker == "factory" and device_argument(born.spot)
            spot = (
                born.spot if born is not None and fixed else meeting.spot._replace(node=stray.node)
            )
            return Reason("index-device", spot, tensor.frame)
    if isinstance(value, Module):
        return of_module(value, said=said_as(stray.node), used=meeting.frame)
    if (
        tensor.module is not None
        and tensor.name
        and LOSSES.search(tensor.module.kind)
        and tensor.maker != "output"
    ):
        return _made_as("loss-or-metric-state", tensor.module.steps, tensor.module.frame)
    kept = next((s for s in tensor.steps if s.what == "kept"), None)
    if tensor.maker == "weight" and tensor.module is not None and kept is None:
        return _of_weight(tensor, tensor.module)
    return _of_tensor(stray, meeting, kept)


def _at_home(meeting: Meeting, stray: Meets) -> Reason | None:
    """A wrapper whose module is not at home: the last move if it came later, else where it was wrapped."""
    weight, wrapper = meeting.sides[0].tensor, meeting.sides[-1].tensor
    wrapped = next((s for s in wrapper.steps if s.what == "wrapped"), None)
    move = last_move(weight.steps)
    if wrapped is None:
        return None
    if wrapper.device is not None and wrapper.device.ranked:
        if move is None:
            return None
        spot = move.spot if is_literal(move) else move.of or move.spot
        return Reason("rank-device", spot, weight.frame)
    if (
        move is not None
        and move.spot.file == wrapped.spot.file
        and move.spot.line > (getattr(wrapped.spot.node, "end_lineno", None) or 0)
    ):
        return Reason("dataparallel-home-device", move.spot, wrapper.frame)
    return Reason("dataparallel-home-device", wrapped.spot, wrapper.frame)


def _on_the_way_to_the_host(stray: Meets, meeting: Meeting) -> Reason | None:
    """What host code is given: at the call where it stands there, else where it was made."""
    tensor = stray.tensor
    made = born_at(tensor.steps)
    node = meeting.spot.node
    called = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    here = called in ("numpy", "asarray", "array", "__array__") or made is None
    if here and stray.value is tensor and isinstance(stray.node, ast.expr):
        return Reason("host-copy-needed", meeting.spot._replace(node=stray.node), tensor.frame)
    listed = next((s for s in reversed(tensor.steps) if s.what == "listed"), None)
    if listed is not None:
        return Reason("host-copy-needed", listed.spot, tensor.frame)
    if made is not None:
        return Reason("host-copy-needed", made.spot, tensor.frame)
    return Reason("host-copy-needed", meeting.spot, tensor.frame)


def _of_weight(tensor: Tensor, module: Module) -> Reason | None:
    """Why a weight is there: held in a plain list, copied before its module moved, or as its module."""
    held = next((s for s in tensor.steps if s.what == "held"), None)
    if held is not None and not any(s.what == "put" for s in tensor.steps):
        return Reason("unregistered-submodule", held.spot, tensor.frame, f"self.{tensor.name}")
    put = next((s for s in tensor.steps if s.what == "put"), None)
    late = (
        put is not None and last_move(module.steps) is not None and last_move(tensor.steps) is None
    )
    if put is not None and late:
        return Reason("submodule-added-after-move", put.spot, tensor.frame)
    if on_cpu(tensor) and differ(module.where(), tensor.device):
        return built_for(module)
    return of_module(module, tensor)


def _of_tensor(stray: Meets, meeting: Meeting, kept: Step | None) -> Reason | None:
    tensor = stray.tensor
    move = last_move(tensor.steps)
    dropped = next((s for s in tensor.steps if s.what == "dropped"), None)
    if dropped is not None and tensor.device != dropped.device:
        return Reason("input-not-moved", dropped.spot, tensor.frame)
    if kept is not None and isinstance(tensor.module, Module) and not on_cpu(tensor):
        cause = "dataparallel-replica-state" if replicated(tensor.module) else "unregistered-tensor"
        return Reason(cause, kept.spot, tensor.frame, f"self.{tensor.name}")
    if move is not None and move.device is not None and tensor.device == move.device:
        if is_literal(move):
            return Reason("hardcoded-device", move.spot, tensor.frame)
        if move.of is not None and move.device.type == "cuda":
            frame = tensor.frame
            known = frame is not None and move.of.function == frame.function
            return Reason("hardcoded-device", move.of, frame if known else None)
        return None
    if (
        kept is not None
        and tensor.module is not None
        and not on_cpu(tensor)
        and replicated(tensor.module)
    ):
        return Reason("dataparallel-replica-state", kept.spot, tensor.frame, f"self.{tensor.name}")
    if kept is not None and tensor.module is not None:
        owner = tensor.module
        loss = LOSSES.search(owner.kind) and not any(s.what == "moved" for s in owner.steps)
        cause = "loss-or-metric-state" if loss else "unregistered-tensor"
        return Reason(cause, kept.spot, tensor.frame, f"self.{tensor.name}")
    held = next((s for s in tensor.steps if s.what == "held"), None)
    if held is not None and not on_cpu(tensor) and replicated(tensor.module):
        return Reason("dataparallel-replica-state", held.spot, tensor.frame, f"self.{tensor.name}")
    if held is not None and tensor.module is not None:
        return Reason("unregistered-tensor", held.spot, tensor.frame, f"self.{tensor.name}")
    grown = next((s for s in tensor.steps if s.what == "grown"), None)
    if grown is not None and tensor.maker == "grown":
        return Reason("submodule-added-after-move", grown.spot, tensor.frame)
    made = born_at(tensor.steps)
    if made is None:
        return None
    stored = next((s for s in tensor.steps if s.what == "stored"), None)
    if stored is not None and LOSSES.search((stored.spot.function or "").partition(".")[0]):
        return Reason("loss-or-metric-state", made.spot, tensor.frame)
    if _is_weight_of_loss(stray, meeting):
        return Reason("loss-or-metric-state", made.spot, tensor.frame)
    match tensor.maker:
        case "factory" | "array":
            if tensor.device is not None and tensor.device.type == "cuda":
                if is_literal(made):
                    return Reason("hardcoded-device", made.spot, tensor.frame)
                return Reason("hardcoded-device", made.of, tensor.frame) if made.of else None
            if isinstance(device_argument(made.spot), ast.Constant):
                return Reason("hardcoded-device", made.spot, tensor.frame)
            if _is_input(stray, tensor, meeting):
                return Reason("input-not-moved", made.spot, tensor.frame)
            return Reason("created-without-device", made.spot, tensor.frame)
        case "tokens":
            return Reason("input-not-moved", *where_built(made, tensor.frame))
        case "batch":
            bound = next((s for s in reversed(tensor.steps) if s.what == "bound"), None)
            if bound is not None and isinstance(bound.spot.node, ast.For):
                beside = moved_within(bound.spot, bound.spot.node)
                if beside is not None:
                    return Reason("input-not-moved", bound.spot, tensor.frame, beside=beside)
                bound = None
            spot = bound.spot if bound is not None else _handed_over(stray, meeting)
            return Reason("input-not-moved", spot, tensor.frame)
        case "load":
            return Reason("checkpoint-location", made.spot, tensor.frame)
        case "output" if tensor.module is not None:
            return of_module(tensor.module)
    return None


def _made_as(cause: str, steps: Sequence[Step], frame: Frame | None) -> Reason | None:
    step = next((s for s in steps if s.what in ("made", "loaded", "wrapped")), None)
    return Reason(cause, step.spot, frame) if step is not None else None


def _handed_over(stray: Meets, meeting: Meeting) -> Spot:
    """Where an input is handed to the model: the argument of that call, wherever it failed."""
    if (meeting.spot.function or "").endswith(".forward"):
        for call in reversed(meeting.calls):
            if (call.function or "").endswith(".forward") or not isinstance(call.node, ast.Call):
                continue
            given = [*call.node.args, *(one.value for one in call.node.keywords)]
            return call._replace(node=given[0] if len(given) == 1 else call.node)
    return meeting.spot._replace(node=stray.node)


def _is_weight_of_loss(stray: Meets, meeting: Meeting) -> bool:
    """Whether an operand is the ``weight=`` of a loss function."""
    called = meeting.spot.node
    if not isinstance(called, ast.Call):
        return False
    loss = ast.unparse(called.func).endswith(("cross_entropy", "nll_loss", "with_logits", "_loss"))
    names = {one.arg for one in called.keywords if one.value is stray.node}
    return loss and bool(names & {"weight", "pos_weight"})


def _is_input(stray: Meets, tensor: Tensor, meeting: Meeting) -> bool:
    """A tensor that a script makes outside of any module and hands to one."""
    frame = tensor.frame
    while frame is not None:
        if isinstance(frame.this, Module):
            return False
        frame = frame.caller
    if meeting.what == "call" and not (meeting.spot.function or "").endswith(".forward"):
        return True
    # Within the module it is what was handed over, and no constant that stands around it.
    root = next((n.id for n in ast.walk(stray.node) if isinstance(n, ast.Name)), None)
    inside = isinstance(meeting.frame.this, Module)
    return inside and root is not None and root != "self" and root in meeting.frame.names
