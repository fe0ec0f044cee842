"""Where a module is built, put, moved or forgotten: why its weights are where they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from diagnose.kinds import DeviceType, EventKind, Origin
from diagnose.placement.devices import is_gpu, is_host
from diagnose.placement.libraries.copies import averages
from diagnose.placement.localization.availability import (
    has_device,
    has_parameter,
    held_by,
    key_of,
    where_built,
)
from diagnose.placement.localization.memory_saving import saving_of, streamed, switch_of
from diagnose.placement.localization.peers import (
    forgotten_field,
    kept_beside,
    moved_beside,
    moved_by_holder,
    moved_by_others,
    name_in,
    returned_beside,
)
from diagnose.placement.machine import Meets
from diagnose.placement.model import Spot, Step
from diagnose.placement.provenance import (
    Reason,
    born_at,
    first_of,
    has,
    is_literal,
    last_move,
    last_of,
    on_cpu,
)
from diagnose.placement.semantics import nodes
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame, Function, Object

LOSSES = re.compile(
    r"(Loss|Criterion|CrossEntropy|LPIPS|SSIM|LossNet|Metric|(?<!para)Meter|Tracker|Confusion|Accuracy|F1|AUROC|Perceptual)",
    re.IGNORECASE,
)


def of_module(
    module: Module,
    tensor: Tensor | None = None,
    said: str = "",
    used: Frame | None = None,
    then: Sequence[Step] = (),
) -> Reason | None:
    """Why a module's weights are where they are; ``used`` are the variables where it was called,
    ``then`` what had happened to it by that call."""
    if (values := _filled_with(module)) is not None:
        return values
    top = module
    for top in module.owners():
        if has(top.steps, EventKind.HELD, EventKind.LOADED):
            break
        # Of what is built from parts the whole is late, not its parts.
        put = _put_late(top, then if top is module else ())
        if put is not None and not (top.owner and _put_late(top.owner)):
            break
    made = born_at(top.steps)
    loaded = last_of(top.steps, EventKind.LOADED)
    if loaded is not None and loaded.device is None and last_move(top.steps) is None:
        return Reason("checkpoint-location", loaded.spot, top.frame)
    held = first_of(top.steps, EventKind.HELD)
    move = last_move(top.steps)
    if (assigned := _assigned_later(tensor.steps if tensor else then or top.steps)) is not None:
        return Reason("checkpoint-location", assigned.spot, top.frame)
    if held is not None and top.owner is not None:
        return Reason("unregistered-submodule", held.spot, top.frame)
    late = _put_late(top, then if top is module else ())
    if late is not None and made is not None and top.owner is not None:
        moved = last_move(top.owner.steps)
        spot, frame = where_built(made, top.frame)
        given = _given(late.spot)
        if given is not None and (_is_copy(made) or _is_named(given, spot)):
            spot = given
        return Reason("submodule-added-after-move", spot, frame, move=moved.spot if moved else None)
    where = tensor.device if tensor is not None else module.where()
    if move is not None and is_host(move.device):
        cause = saving_of(move.spot.source) or "offloaded-to-cpu"
        return Reason(cause, move.spot, top.frame)
    if move is not None:
        if is_gpu(where) and (is_literal(move) or move.of is not None):
            return Reason(
                "hardcoded-device",
                move.spot if is_literal(move) else move.of or move.spot,
                top.frame,
            )
        return None
    if made is not None and (where is None or where.type == DeviceType.CPU):
        if module is not top and (part := _part_of_moved(module, top)) is not None:
            return part
        loss = any(map(LOSSES.search, (top.kind, top.word, said))) or _counts(top)
        spot, frame = where_built(made, top.frame)
        cause = "loss-or-metric-state" if loss else "module-not-moved"
        cause = switch_of(made.spot.source.tree) or streamed(module) or cause
        if (own := moved_by_holder(cause, top)) is not None:
            return own
        if (beside := kept_beside(cause, top)) is not None:
            return beside
        if (elsewhere := moved_by_others(cause, top.frame)) is not None:
            return elsewhere
        if (returned := returned_beside(cause, top, frame)) is not None:
            return returned
        if averages(top) and frame is not None and has_device(frame, made.spot):
            return Reason(cause, made.spot, frame)
        sibling, owner = moved_beside(top, frame, spot), name_in(frame, top)
        if sibling is not None and top.word and owner is not None:
            return Reason(cause, sibling, frame, owner=owner)
        if frame is None or not has_device(frame, spot):
            # Built where nobody knows a device, and used beside one that is moved: it is to be moved there.
            while used is not None:
                sibling, name = None, key_of(top, used.names)
                there = spot._replace(source=used.source, function=used.function)
                if name is not None:
                    sibling = moved_beside(top, used, there, after=0, bound=True)
                if sibling is not None:
                    return Reason(cause, sibling, used, owner=name)
                used = used.caller
            return where_kept(cause, top) or Reason(cause, spot, frame)
        return Reason(cause, spot, frame)
    return None


def _assigned_later(steps: Sequence[Step]) -> Step | None:
    """The step by which saved weights took the place of those of a model that had been moved."""
    last = last_of(steps, EventKind.LOADED, EventKind.MOVED, EventKind.GATHERED)
    move = last_move(steps)
    on_gpu = move is not None and is_gpu(move.device)
    return last if last is not None and last.what == EventKind.LOADED and on_gpu else None


def _filled_with(module: Module) -> Reason | None:
    """Where the values are made that a weight of a module got, on the cpu and after its last move."""
    values, move = module.filled, last_move(module.steps)
    made = born_at(values.steps) if values is not None else None
    if values is None or made is None or move is None or values.maker != Origin.FACTORY:
        return None
    if not isinstance(move.spot.node, ast.Assign) or not on_cpu(values):
        return None
    return Reason("created-without-device", made.spot, values.frame)


def _counts(module: Module) -> bool:
    """Whether a module is a metric by its methods: it is told results, and computes from all of them."""
    made = module.made
    return made is not None and all(map(made.find, ("update", "compute")))


def of_holder(stray: Meets, frame: Frame) -> Reason | None:
    """Where an object that is no module is made, whose class can move what it holds and was not told to, or
    where it moves its other tensors."""
    if (left := forgotten_field(stray.tensor, stray.node, frame)) is not None:
        return left
    holder = held_by(stray.node, frame)
    if not isinstance(holder, Object) or holder.made is None:
        return None
    movers = [holder.made.find(name) for name in ("to", "cuda")]
    made = born_at(holder.steps)
    if made is None or not any(isinstance(mover, Function) for mover in movers):
        return None
    if last_move(holder.steps) is not None:  # it was made anew since
        return None
    loss = LOSSES.search(holder.kind) is not None
    cause = "loss-or-metric-state" if loss else "unregistered-tensor"
    return Reason(cause, *where_built(made, holder.frame))


def where_kept(cause: str, module: Module) -> Reason | None:
    """Where an object that knows a device takes a module as its attribute, else where one that does makes
    the object."""
    if module.kept is None:
        return None
    spot, frame = module.kept
    if has_device(frame, spot):
        return Reason(cause, spot, frame)
    holder = frame.this
    name = key_of(module, holder.attributes) if isinstance(holder, Object) else None
    while frame.call is not None and frame.caller is not None and isinstance(holder, Object):
        spot, frame = frame.call, frame.caller
        if has_device(frame, spot):
            outer = key_of(holder, frame.names)
            if outer is None and isinstance(frame.this, Object):
                outer = key_of(holder, frame.this.attributes)
                outer = f"self.{outer}" if outer else None
            return Reason(cause, spot, frame, owner=f"{outer}.{name}") if outer and name else None
    return None


def _part_of_moved(module: Module, whole: Module) -> Reason | None:
    """A part that was built on the cpu and put beside parts that were moved before."""
    if not _on_accelerator(whole):
        return None
    for one in module.owners():
        if one is whole or _on_accelerator(one):
            break
        module = one
    made = born_at(module.steps)
    if made is None:
        return None
    if _of_its_making(made, whole):
        told = module.frame is not None and has_parameter(module.frame)
        return Reason("module-not-moved", made.spot, module.frame) if told else None
    spot, frame = where_built(made, module.frame)
    return Reason("submodule-added-after-move", spot, frame)


def _of_its_making(made: Step, whole: Module) -> bool:
    """Whether a module makes a part of its own beside parts that it was given, which had been moved: it
    is late by no move of its own, for there was none."""
    if whole.made is None:
        return False
    start = f"{whole.made.node.name}.__init__"
    moves = (last_move(one.steps) for one in whole.family())
    return made.spot.function == start and not any(
        move is not None and move.spot.function == start for move in moves
    )


def _on_accelerator(module: Module) -> bool:
    """Whether a module or a part of it is on an accelerator."""
    places = (one.where() for one in module.family())
    return any(is_gpu(place) for place in places)


def _is_copy(made: Step) -> bool:
    """Whether a module was made by a copy, which cannot be told a device."""
    node = made.spot.node
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("copy")


def _given(put: Spot) -> Spot | None:
    """The expression of what a statement or a method puts into a model."""
    match put.node:
        case ast.Assign(value=value) | ast.Call(args=[*_, value]):
            return put._replace(node=value)
    return None


def _is_named(given: Spot, built: Spot) -> bool:
    """Whether what is put into a model is a variable of the function that builds it, and nothing is done
    with it between: it is moved as it is put there."""
    node, here = given.node, (given.file, given.function) == (built.file, built.function)
    if not here or not isinstance(node, ast.Name):
        return False
    between = range(built.line + 1, given.line)
    used = (one for one in nodes(given.source.tree, ast.Name) if one.id == node.id)
    return not any(one.lineno in between for one in used)


def _put_late(module: Module, then: Sequence[Step] = ()) -> Step | None:
    """The step that put a module into one that was moved before, and not again by ``then``."""
    put = first_of(module.steps, EventKind.PUT)
    if put is None or not is_gpu(put.device):
        return None
    made = born_at(module.steps)
    if made is not None and module.owner is not None and _of_its_making(made, module.owner):
        return None
    return None if any(step.what == EventKind.MOVED for step in then or module.steps) else put


def built_for(module: Module, inside: Frame | None = None) -> Reason | None:
    """Where the module of an optimizer is built: moved there, it is where its optimizer finds it.

    Where no device is known there, the optimizer is made too early: in the first of the calls that lead
    to where it is made (``inside``) in which one is.
    """
    made = born_at(module.steps)
    if made is None:
        return None
    spot, frame = where_built(made, module.frame)
    if frame is None or not has_device(frame, spot):
        while inside is not None and inside.call is not None and inside.caller is not None:
            call, inside = inside.call, inside.caller
            if has_device(inside, call):
                return Reason("optimizer-state", call, inside)
    return Reason("optimizer-state", spot, frame)
