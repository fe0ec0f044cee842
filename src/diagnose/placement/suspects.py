"""From what met to why it was there: which operand is the stray, and the line to edit for it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diagnose.placement.devices import META, differ, is_said, named_so, written
from diagnose.placement.frames import Frame, Meeting, Meets
from diagnose.placement.model import Device, Spot, Step, Suspect
from diagnose.placement.values import Const, Module, Object, Place, Tensor, Unknown, Value

_LOW_MEMORY = re.compile(
    r"low_?(v?ram|mem)|med_?vram|offload|keep_?on_?cpu|save_?memory", re.IGNORECASE
)
_LOSSES = re.compile(
    r"(Loss|Criterion|LossNet|Metric|Meter|Accuracy|F1|AUROC|Perceptual)", re.IGNORECASE
)
_METHODS = frozenset(
    {"__init__", "forward", "training_step", "validation_step", "reset_parameters"}
)


def of_meeting(
    meeting: Meeting, devices: Sequence[str] = (), *, split: bool = False
) -> Iterator[Suspect]:
    """The suspects of a meeting, likeliest first.

    Args:
        meeting: operands that have to be on one device.
        devices: the devices that a message names, in its order; none where there was no failure, and then
            only operands whose devices are known to differ are suspects.
        split: the program has modules on several accelerators.
    """
    if meeting.what == "library" and not devices:
        return
    if devices and meeting.what in ("join", "call", "library") and _agree(meeting):
        return
    if split and devices and not any(map(_names_cpu, devices)) and (across := _across(meeting)):
        yield across
    for stray, other in _strays(meeting, devices):
        suspect = explain(stray, other, meeting)
        if suspect is not None:
            yield suspect


def _crossing(side: Meets, cause: str, meeting: Meeting) -> Spot:
    """Where an operand is to cross to the other part: where it was last moved, else where it is used."""
    move = _last_move(side.tensor.steps)
    if (
        cause == "input-on-wrong-shard"
        and move is not None
        and isinstance(move.spot.node, ast.Call)
    ):
        return move.spot
    return meeting.spot._replace(
        node=side.node if isinstance(side.node, ast.expr) else meeting.spot.node
    )


def _agree(meeting: Meeting) -> bool:
    """Whether all operands are known to be on one device, of which there may be copies."""
    first = meeting.sides[0].tensor.device
    same = all(differ(first, side.tensor.device) is False for side in meeting.sides)
    return same and not any(_of_replica(side) for side in meeting.sides)


def _of_replica(side: Meets) -> bool:
    """Whether an operand is kept by a module that is copied to several GPUs, and is not copied with it."""
    kept = any(step.what in ("kept", "held") for step in side.tensor.steps)
    return kept and not _on(side, "cpu") and _replicated(side.tensor.module)


def _names_cpu(device: str) -> bool:
    return device.partition(":")[0].casefold() in ("cpu", "meta")


def _across(meeting: Meeting) -> Suspect | None:
    """Two parts of a split model that meet: the input of a part that is elsewhere, or two outputs."""
    first = meeting.sides[0]
    for side in meeting.sides[1:]:
        if not differ(first.tensor.device, side.tensor.device):
            continue
        made = {"output", "weight"}
        if (
            meeting.what == "call"
            and first.tensor.maker == "weight"
            and side.tensor.maker not in made
        ):
            cause = "input-on-wrong-shard"
        elif side.tensor.maker in made and first.tensor.maker in made:
            cause = "cross-shard-op"
        else:
            continue
        spot = _crossing(side, cause, meeting)
        return Suspect(
            cause,
            _said(side.node),
            spot,
            side.tensor.device,
            first.tensor.device,
            (),
            side.tensor.steps,
            meeting.spot,
        )
    return None


def _strays(meeting: Meeting, devices: Sequence[str]) -> Iterator[tuple[Meets, Meets | None]]:
    """The operands that may be misplaced, each with one that it met."""
    sides = meeting.sides
    if meeting.what == "host":
        for side in sides:
            device = side.tensor.device
            if (device is not None and device.type == "cuda") or (devices and device is None):
                yield side, None
    elif meeting.what == "meta":
        yield sides[0], None
    elif meeting.what == "index" and len(sides) > 1 and sides[1].tensor.scalar:
        return
    elif meeting.what == "index" and _on(sides[0], "cpu") and not _on(sides[1], "cpu"):
        if devices or _on(sides[1], "cuda"):
            table = sides[0].tensor
            kept = table.maker == "weight" or any(s.what in ("kept", "held") for s in table.steps)
            if kept and table.module is not None:  # the table should have moved with its module
                yield sides[0], sides[1]
            else:
                yield sides[1], sides[0]
    elif not devices:
        for stray, other in _pairs(sides):
            if differ(stray.tensor.device, other.tensor.device) and not _mixes(stray, meeting):
                yield stray, other
                return
    elif any(map(_names_cpu, devices)):
        yield from _of_cpu(meeting)
    else:
        yield from _of_gpus(meeting, devices)


def _of_cpu(meeting: Meeting) -> Iterator[tuple[Meets, Meets | None]]:
    """Between cpu and accelerator the operands on the cpu, then those of which nothing is known."""
    sides = meeting.sides
    known = [s for s in sides if _on(s, "cpu")]
    known = [s for s in known if not _mixes(s, meeting)] or known
    rest = [s for s in sides if s not in known]
    if meeting.what == "generator":
        known = [s for s in sides if s.tensor.maker == "generator"]
    for stray in known:
        yield stray, next((s for s in rest if s is not stray), None)
    if not known:
        open_ = [s for s in rest if s.tensor.device is None and not _last_move(s.tensor.steps)]
        for stray in open_:
            yield stray, next((s for s in rest if s is not stray), None)


def _of_gpus(meeting: Meeting, devices: Sequence[str]) -> Iterator[tuple[Meets, Meets | None]]:
    """Between two accelerators: what a line fixes by number, what was loaded, what was kept."""
    sides = meeting.sides
    told = [s for s in sides if _suspicion(s) > 0]
    for stray in sorted(told, key=_suspicion, reverse=True):
        here = stray.tensor.device
        if here is not None and not any(is_said(here, device) for device in devices):
            continue
        replica = _of_replica(stray)
        other = next(
            (
                s
                for s in sides
                if s is not stray and (replica or differ(s.tensor.device, here) is not False)
            ),
            None,
        )
        if other is not None:
            yield stray, other


def _suspicion(side: Meets) -> int:
    """How much speaks for an operand being the misplaced one of two on accelerators."""
    tensor = side.tensor
    if tensor.maker in ("output", "weight") and not any(
        s.what in ("kept", "held") for s in tensor.steps
    ):
        return 0
    if tensor.maker == "load" and tensor.device is None:
        return 5
    if any(step.what in ("kept", "held") for step in tensor.steps):
        return 4
    last = _last_move(tensor.steps) or _born(tensor.steps)
    if last is not None and last.device is not None and last.device.type == "cuda":
        if _is_literal(last):
            return 3
        if last.of is not None:
            return 0 if last.device.ranked else 1
    return 1 if tensor.maker in ("home", "generator", "state") else 0


def _on(side: Meets, kind: str) -> bool:
    return side.tensor.device is not None and side.tensor.device.type == kind


def _pairs(sides: Sequence[Meets]) -> Iterator[tuple[Meets, Meets]]:
    """Two operands at a time, the one that is likelier misplaced first."""
    ordered = sorted(sides, key=_rank)
    for position, stray in enumerate(ordered):
        for other in ordered[position + 1 :]:
            yield stray, other


def _rank(side: Meets) -> tuple[bool, bool, int]:
    device = side.tensor.device
    return (device is None, device is not None and device.type != "cpu", -_suspicion(side))


def _mixes(side: Meets, meeting: Meeting) -> bool:
    """Whether an operand may be on the cpu: one without dimensions, or an index."""
    if side.tensor.scalar:
        return True
    if meeting.what == "index":
        return side is not meeting.sides[0]
    return False


def _last_move(steps: Sequence[Step]) -> Step | None:
    return next((s for s in reversed(steps) if s.what == "moved"), None)


def _is_literal(step: Step) -> bool:
    """Whether a move names its device itself: ``.cuda()``, ``.to("cuda:1")``."""
    node = step.spot.node
    if step.what == "made":
        return isinstance(_device_argument(step.spot), ast.Constant)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "cuda":
            return all(isinstance(arg, ast.Constant) for arg in node.args)
        given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "device")]
        return bool(given) and isinstance(given[0], ast.Constant)
    return False


# --- why it is there -----------------------------------------------------------------------------------


class Reason(NamedTuple):
    """A cause and the place to edit."""

    cause: str
    spot: Spot
    frame: Frame | None = None
    name: str = ""
    move: Spot | None = None
    owner: str | None = None
    beside: Spot | None = None


def explain(stray: Meets, other: Meets | None, meeting: Meeting) -> Suspect | None:
    """Why an operand is where it is; None where its origin was not seen."""
    tensor = stray.tensor
    wanted = other.tensor.device if other is not None else None
    found = _reason(stray, meeting)
    if found is None:
        return None
    if found.cause == "hardcoded-device" and other is not None:
        found = _of_rank(found, other) or found
    return Suspect(
        found.cause,
        found.name or _said(stray.node),
        found.spot,
        tensor.device,
        wanted,
        tuple(in_scope(found.frame, found.spot, wanted)) if found.frame is not None else (),
        tensor.steps,
        meeting.spot,
        found.move,
        found.owner,
        found.beside,
        sure=tensor.device is not None,
    )


def _of_rank(found: Reason, other: Meets) -> Reason | None:
    """A device that ignores the rank by which the other side's was chosen."""
    last = _last_move(other.tensor.steps) or _born(other.tensor.steps)
    if last is None or last.device is None or not last.device.ranked:
        return None
    # `.cuda()` is right once the process has chosen its device, where the rank is known.
    node = found.spot.node
    bare = isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Attribute)
    return found._replace(cause="rank-device", spot=last.of if bare and last.of else found.spot)


def _reason(stray: Meets, meeting: Meeting) -> Reason | None:
    value, tensor = stray.value, stray.tensor
    born = _born(tensor.steps)
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
            return _built(tensor.module) or _made_as("optimizer-state", tensor.steps, tensor.frame)
        case "host":
            return _on_the_way_to_the_host(stray, meeting)
        case "index" if stray is meeting.sides[1]:
            made = _born(tensor.steps)
            fixed = made is not None and tensor.maker == "factory" and _device_argument(made.spot)
            spot = (
                made.spot if made is not None and fixed else meeting.spot._replace(node=stray.node)
            )
            return Reason("index-device", spot, tensor.frame)
    if isinstance(value, Module):
        return _of_module(value, said=_said(stray.node))
    if (
        tensor.module is not None
        and tensor.name
        and _LOSSES.search(tensor.module.kind)
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
    move = _last_move(weight.steps)
    if wrapped is None:
        return None
    if wrapper.device is not None and wrapper.device.ranked:
        if move is None:
            return None
        spot = move.spot if _is_literal(move) else move.of or move.spot
        return Reason("rank-device", spot, weight.frame)
    if (
        move is not None
        and move.spot.file == wrapped.spot.file
        and move.spot.line > wrapped.spot.line
    ):
        return Reason("dataparallel-home-device", move.spot, wrapper.frame)
    return Reason("dataparallel-home-device", wrapped.spot, wrapper.frame)


def _built(module: Module) -> Reason | None:
    """Where the module of an optimizer is built: moved there, it is where its optimizer finds it."""
    made = _born(module.steps)
    return (
        Reason("optimizer-state", *_where_built(made, module.frame)) if made is not None else None
    )


def _on_the_way_to_the_host(stray: Meets, meeting: Meeting) -> Reason | None:
    """What host code is given: at the call where it stands there, else where it was made."""
    tensor = stray.tensor
    made = _born(tensor.steps)
    node = meeting.spot.node
    called = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    if called in ("numpy", "asarray", "array", "__array__") or made is None:
        if stray.value is tensor and isinstance(stray.node, ast.expr):
            return Reason("host-copy-needed", meeting.spot._replace(node=stray.node), tensor.frame)
    if made is not None:
        return Reason("host-copy-needed", made.spot, tensor.frame)
    return Reason("host-copy-needed", meeting.spot, tensor.frame)


def _of_weight(tensor: Tensor, module: Module) -> Reason | None:
    """Why a weight is there: held in a plain list, a copy from before its module moved, or as its module."""
    held = next((s for s in tensor.steps if s.what == "held"), None)
    if held is not None and not any(s.what == "put" for s in tensor.steps):
        return Reason("unregistered-submodule", held.spot, tensor.frame, f"self.{tensor.name}")
    if _on_cpu(tensor) and differ(module.where(), tensor.device):
        return _built(module)
    return _of_module(module, tensor)


def _of_tensor(stray: Meets, meeting: Meeting, kept: Step | None) -> Reason | None:
    tensor = stray.tensor
    move = _last_move(tensor.steps)
    dropped = next((s for s in tensor.steps if s.what == "dropped"), None)
    if dropped is not None and tensor.device != dropped.device:
        return Reason("input-not-moved", dropped.spot, tensor.frame)
    if kept is not None and isinstance(tensor.module, Module) and not _on_cpu(tensor):
        cause = (
            "dataparallel-replica-state" if _replicated(tensor.module) else "unregistered-tensor"
        )
        return Reason(cause, kept.spot, tensor.frame, f"self.{tensor.name}")
    if move is not None and tensor.device == move.device and move.device is not None:
        if _is_literal(move):
            return Reason("hardcoded-device", move.spot, tensor.frame)
        if move.of is not None and tensor.device.type == "cuda":
            return Reason("hardcoded-device", move.of, tensor.frame)
        return None
    if (
        kept is not None
        and tensor.module is not None
        and not _on_cpu(tensor)
        and _replicated(tensor.module)
    ):
        return Reason("dataparallel-replica-state", kept.spot, tensor.frame, f"self.{tensor.name}")
    if kept is not None and tensor.module is not None:
        owner = tensor.module
        loss = _LOSSES.search(owner.kind) and not any(s.what == "moved" for s in owner.steps)
        cause = "loss-or-metric-state" if loss else "unregistered-tensor"
        return Reason(cause, kept.spot, tensor.frame, f"self.{tensor.name}")
    held = next((s for s in tensor.steps if s.what == "held"), None)
    if held is not None and not _on_cpu(tensor) and _replicated(tensor.module):
        return Reason("dataparallel-replica-state", held.spot, tensor.frame, f"self.{tensor.name}")
    if held is not None and tensor.module is not None:
        return Reason("unregistered-tensor", held.spot, tensor.frame, f"self.{tensor.name}")
    made = _born(tensor.steps)
    if made is None:
        return None
    stored = next((s for s in tensor.steps if s.what == "stored"), None)
    if stored is not None and _LOSSES.search((stored.spot.function or "").partition(".")[0]):
        return Reason("loss-or-metric-state", made.spot, tensor.frame)
    match tensor.maker:
        case "factory" | "array":
            if tensor.device is not None and tensor.device.type == "cuda":
                fixed = _device_argument(made.spot)
                return (
                    Reason("hardcoded-device", made.spot, tensor.frame)
                    if isinstance(fixed, ast.Constant)
                    else None
                )
            if isinstance(_device_argument(made.spot), ast.Constant):
                return Reason("hardcoded-device", made.spot, tensor.frame)
            if _is_input(tensor, meeting):
                return Reason("input-not-moved", made.spot, tensor.frame)
            return Reason("created-without-device", made.spot, tensor.frame)
        case "tokens":
            return Reason("input-not-moved", *_where_built(made, tensor.frame))
        case "batch":
            bound = next((s for s in reversed(tensor.steps) if s.what == "bound"), None)
            if bound is not None and isinstance(bound.spot.node, ast.For):
                beside = _moved_within(bound.spot, bound.spot.node)
                if beside is not None:
                    return Reason("input-not-moved", bound.spot, tensor.frame, beside=beside)
                bound = None
            spot = bound.spot if bound is not None else meeting.spot._replace(node=stray.node)
            return Reason("input-not-moved", spot, tensor.frame)
        case "load":
            return Reason("checkpoint-location", made.spot, tensor.frame)
        case "output" if tensor.module is not None:
            return _of_module(tensor.module)
    return None


def _on_cpu(tensor: Tensor) -> bool:
    return tensor.device is not None and tensor.device.type == "cpu"


def _replicated(module: Module | None) -> bool:
    """Whether a module or one that it belongs to is wrapped for several GPUs."""
    for _ in range(12):
        if module is None:
            return False
        if any(step.what == "wrapped" for step in module.steps):
            return True
        module = module.owner
    return False


def _born(steps: Sequence[Step]) -> Step | None:
    return next((s for s in steps if s.what in ("made", "loaded")), None)


def _made_as(cause: str, steps: Sequence[Step], frame: Frame | None) -> Reason | None:
    step = next((s for s in steps if s.what in ("made", "loaded", "wrapped")), None)
    return Reason(cause, step.spot, frame) if step is not None else None


def _device_argument(spot: Spot) -> ast.expr | None:
    if isinstance(spot.node, ast.Call):
        return next((k.value for k in spot.node.keywords if k.arg == "device"), None)
    return None


def _is_input(tensor: Tensor, meeting: Meeting) -> bool:
    """A tensor that a script makes outside of any module and hands to one."""
    frame = tensor.frame
    within = frame is not None and isinstance(frame.this, Module)
    return not within and meeting.what == "call"


def _of_module(module: Module, tensor: Tensor | None = None, said: str = "") -> Reason | None:
    """Why a module's weights are where they are."""
    top = module
    for _ in range(12):
        if any(step.what == "held" for step in top.steps) or _put_late(top) is not None:
            break
        if top.owner is None:
            break
        top = top.owner
    made = _born(top.steps)
    held = next((s for s in top.steps if s.what == "held"), None)
    move = _last_move(top.steps)
    if held is not None and top.owner is not None:
        return Reason("unregistered-submodule", held.spot, top.frame)
    late = _put_late(top)
    if late is not None and made is not None and top.owner is not None:
        moved = _last_move(top.owner.steps)
        spot, frame = _where_built(made, top.frame)
        return Reason("submodule-added-after-move", spot, frame, move=moved.spot if moved else None)
    where = tensor.device if tensor is not None else top.where()
    if move is not None and move.device is not None and move.device.type == "cpu":
        low = _LOW_MEMORY.search(move.spot.source.text)
        saving = low is not None and "offload" not in low[0].casefold()
        return Reason("low-memory-mode" if saving else "offloaded-to-cpu", move.spot, top.frame)
    if move is not None:
        if (
            where is not None
            and where.type == "cuda"
            and (_is_literal(move) or move.of is not None)
        ):
            return Reason(
                "hardcoded-device",
                move.spot if _is_literal(move) else move.of or move.spot,
                top.frame,
            )
        return None
    if made is not None and (where is None or where.type == "cpu"):
        loss = any(map(_LOSSES.search, (top.kind, top.word, said)))
        spot, frame = _where_built(made, top.frame)
        cause = "loss-or-metric-state" if loss else "module-not-moved"
        if _LOW_MEMORY.search(made.spot.source.text):  # what a program does to save memory
            cause = "low-memory-mode"
        sibling = _moved_beside(top, frame, spot)
        if sibling is not None and top.word:
            return Reason(cause, sibling, frame, owner=top.word)
        return Reason(cause, spot, frame)
    return None


def _moved_within(spot: Spot, loop: ast.For) -> Spot | None:
    """The statement of a loop that moves another of the values that the loop binds."""
    names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    for statement in loop.body:
        if isinstance(statement, ast.Assign):
            for node in ast.walk(statement.value):
                match node:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="to" | "cuda")):
                        if name in names:
                            return spot._replace(node=statement)
    return None


def _moved_beside(module: Module, frame: Frame | None, spot: Spot) -> Spot | None:
    """The statement that moves another module of the same variables, after this one was built."""
    if frame is None or module.owner is not None:
        return None
    held = dict(frame.names)
    if isinstance(frame.this, Object):
        held |= frame.this.attributes
    found: list[Spot] = []
    for other in held.values():
        if isinstance(other, Module) and other is not module and other.owner is None:
            move = _last_move(other.steps)
            if move is None or move.spot.function != spot.function or move.spot.file != spot.file:
                continue
            if move.spot.line >= spot.line and _is_statement(move.spot):
                found.append(move.spot)
    return max(found, key=lambda one: one.line, default=None)


def _is_statement(spot: Spot) -> bool:
    """Whether a call is all of a statement, such as ``model.to(device)``, or prepares what it is given."""
    if isinstance(spot.node, ast.Call) and ast.unparse(spot.node.func).endswith(".prepare"):
        return True
    return any(
        isinstance(node, ast.Expr) and node.value is spot.node
        for node in ast.walk(spot.source.tree)
    )


def _where_built(made: Step, frame: Frame | None) -> tuple[Spot, Frame | None]:
    """Where something is built: the innermost call on the way to it beside which a device is known."""
    spot, around = made.spot, frame
    while around is not None:
        if _has_device(around, spot):
            return spot, around
        if around.call is None or isinstance(around.call.node, ast.ClassDef | ast.FunctionDef):
            break
        spot, around = around.call, around.caller
    return made.spot, frame


def _has_device(frame: Frame, spot: Spot) -> bool:
    """Whether a device is among the variables of a call, or of its object."""
    held: dict[str, Value] = {}
    if isinstance(frame.this, Module):
        held = frame.this.plain
    elif isinstance(frame.this, Object):
        held = frame.this.attributes
    names = (name for name in frame.names if frame.lines.get(name, 0) <= spot.line)
    values = [*((name, frame.names[name]) for name in names), *held.items()]
    return any(_tells_device(name, value) for name, value in values)


def _tells_device(name: str, value: Value) -> bool:
    if isinstance(value, Object):
        told = value.kind == "namespace" and any(
            _tells_device(*one) for one in value.attributes.items()
        )
        return told or value.kind == "accelerator"
    if isinstance(value, Const):
        return isinstance(value.value, str) and written(value.value) is not None
    return isinstance(value, Place) or (isinstance(value, Unknown) and named_so(name))


def _put_late(module: Module) -> Step | None:
    """The step that put a module into one that was moved before, and not again."""
    put = next((s for s in module.steps if s.what == "put"), None)
    if put is None or put.device is None or put.device.type != "cuda":
        return None
    position = module.steps.index(put)
    return None if any(step.what == "moved" for step in module.steps) and position >= 0 else put


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
