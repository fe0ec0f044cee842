"""Where a module is built, put, moved or forgotten: why its weights, and what its own objects keep, are
where they are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from diagnose.kinds import EventKind, Origin
from diagnose.placement.devices import is_gpu, is_host
from diagnose.placement.libraries.weights import averages
from diagnose.placement.localization.availability import (
    frames,
    has_device,
    has_parameter,
    held_by,
    held_in,
    key_of,
    knows_device,
    where_built,
)
from diagnose.placement.localization.host import saving_of, streamed, switch_of
from diagnose.placement.localization.peers import (
    forgotten_field,
    kept_beside,
    moved_beside,
    moved_by_holder,
    moved_by_others,
    name_in,
    returned_beside,
)
from diagnose.placement.localization.question import Answer, Question, answers
from diagnose.placement.machine import Meets
from diagnose.placement.model import Device, Spot, Step
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
from diagnose.placement.tensors import Module, Tensor, tensors_in
from diagnose.placement.values import Frame, Function, Object

LOSSES = re.compile(
    r"(Loss|Criterion|CrossEntropy|LPIPS|SSIM|LossNet|Metric|(?<!para)Meter|Tracker|Confusion|Accuracy|F1|AUROC|Perceptual)",
    re.IGNORECASE,
)


class _Built(NamedTuple):
    module: Module
    tensor: Tensor | None = None
    said: str = ""
    used: Frame | None = None
    then: Sequence[Step] = ()


class Built(_Built):
    """A module whose weights are somewhere: ``tensor`` is one of them, ``said`` what the module is called,
    ``used`` are the variables where it was called, ``then`` what had happened to it by that call."""

    @cached_property
    def top(self) -> Module:
        """The module, or the one that it is a part of, which holds what says why."""
        top = self.module
        for top in self.module.owners():
            if has(top.steps, EventKind.HELD, EventKind.LOADED):
                break
            # Of what is built from parts the whole is late, not its parts.
            if self.put_late(top) is not None and not (top.owner and _put_late(top.owner)):
                break
        return top

    def put_late(self, one: Module) -> Step | None:
        """The step that put a module into one that was moved before."""
        return _put_late(one, self.then if one is self.module else ())

    @cached_property
    def made(self) -> Step | None:
        """The step that made it."""
        return born_at(self.top.steps)

    @cached_property
    def move(self) -> Step | None:
        """The step that moved it last."""
        return last_move(self.top.steps)

    @cached_property
    def where(self) -> Device | None:
        """Where the weight is, or the module."""
        return self.tensor.device if self.tensor is not None else self.module.where()

    @property
    def life(self) -> Sequence[Step]:
        """What had happened by then to the weight, else to the module."""
        return self.tensor.steps if self.tensor else self.then or self.top.steps

    @cached_property
    def site(self) -> tuple[Spot, Frame | None]:
        """Where it is built, or the innermost call on the way there beside which a device is known."""
        assert self.made is not None
        return where_built(self.made, self.top.frame)

    @cached_property
    def cause(self) -> str:
        """The cause, of what was built on the host."""
        assert self.made is not None
        loss = any(map(LOSSES.search, (self.top.kind, self.top.word, self.said)))
        saving = switch_of(self.made.spot.source.tree) or streamed(self.module)
        other = "loss-or-metric-state" if loss or _counts(self.top) else "module-not-moved"
        return saving or other

    def at(self, step: Step | None, cause: str) -> Reason | None:
        """A cause at a step of its life, if there is one."""
        return Reason(cause, step.spot, self.top.frame) if step is not None else None


def _loaded_anywhere(built: Built) -> Step | None:
    """The step that loaded a module to wherever it was saved, if nothing moved it since."""
    loaded = last_of(built.top.steps, EventKind.LOADED)
    known = loaded is None or loaded.device is not None or built.move is not None
    return None if known else loaded


def _held(top: Module) -> Step | None:
    return first_of(top.steps, EventKind.HELD) if top.owner is not None else None


def _added_late(built: Built) -> Reason | None:
    late, made, owner = built.put_late(built.top), built.made, built.top.owner
    if late is None or made is None or owner is None:
        return None
    (spot, frame), moved, given = built.site, last_move(owner.steps), _given(late.spot)
    if given is not None and (_is_copy(made) or _is_named(given, spot)):
        spot = given
    return Reason("submodule-added-after-move", spot, frame, move=moved.spot if moved else None)


def _moved_to_host(built: Built) -> Reason | None:
    if built.move is None or not is_host(built.move.device):
        return None
    cause = saving_of(built.move.spot.source) or "offloaded-to-cpu"
    return built.at(built.move, cause)


def _moved_to_gpu(built: Built) -> Reason | None:
    move = built.move
    if move is None or not is_gpu(built.where):
        return None
    spot = move.spot if is_literal(move) else move.of
    return Reason("hardcoded-device", spot, built.top.frame) if spot is not None else None


def _is_left_on_host(built: Built) -> bool:
    return built.made is not None and (built.where is None or is_host(built.where))


def _averages(built: Built) -> Reason | None:
    frame, made = built.site[1], built.made
    if made is None or not averages(built.top) or frame is None or not has_device(frame, made.spot):
        return None
    return Reason(built.cause, made.spot, frame)


def _beside(built: Built) -> Reason | None:
    """Moved with others of the same variables."""
    spot, frame = built.site
    sibling, owner = moved_beside(built.top, frame, spot), name_in(frame, built.top)
    if sibling is None or not built.top.word or owner is None:
        return None
    return Reason(built.cause, sibling, frame, owner=owner)


def _beside_where_used(built: Built) -> Reason | None:
    """Built where nobody knows a device, and used beside one that is moved: it is to be moved there."""
    (spot, frame), top = built.site, built.top
    if frame is not None and has_device(frame, spot):
        return None
    for used in frames(built.used):
        there = spot._replace(source=used.source, function=used.function)
        name = key_of(top, used.names)
        sibling = moved_beside(top, used, there, after=0, bound=True) if name else None
        if sibling is not None:
            return Reason(built.cause, sibling, used, owner=name)
    return where_kept(built.cause, top)


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
            outer = key_of(holder, held_in(frame))
            return Reason(cause, spot, frame, owner=f"{outer}.{name}") if outer and name else None
    return None


def _part_of_moved(module: Module, whole: Module) -> Reason | None:
    """A part that was built on the cpu and put beside parts that were moved before."""
    if module is whole or not _on_accelerator(whole):
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
    node = given.node
    if not given.is_beside(built) or not isinstance(node, ast.Name):
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


_ON_HOST: Answer[Built] = answers(
    ("a part of what was moved", lambda it: _part_of_moved(it.module, it.top)),
    ("its holder moves others", lambda it: moved_by_holder(it.cause, it.top)),
    ("kept beside another that is moved", lambda it: kept_beside(it.cause, it.top)),
    ("another caller moves it", lambda it: moved_by_others(it.cause, it.top.frame)),
    ("returned beside others", lambda it: returned_beside(it.cause, it.top, it.site[1])),
    ("averages the weights of another", _averages),
    ("others beside it are moved", _beside),
    ("others are moved where it is used, or kept", _beside_where_used),
    ("built", lambda it: Reason(it.cause, *it.site)),
)

#: Why a module's weights are where they are.
of_module: Answer[Built] = answers(
    ("filled with values of the host", lambda it: _filled_with(it.module)),
    ("loaded anywhere", lambda it: it.at(_loaded_anywhere(it), "checkpoint-location")),
    ("filled after its move", lambda it: it.at(_assigned_later(it.life), "checkpoint-location")),
    ("held in a plain container", lambda it: it.at(_held(it.top), "unregistered-submodule")),
    ("added after the move", _added_late),
    ("moved to the host", _moved_to_host),
    ("moved to a GPU", _moved_to_gpu, lambda it: it.move is not None),
    ("left on the host", _ON_HOST, _is_left_on_host),
)


def of_kept_object(asked: Question) -> Reason | None:
    """Where a module reads a tensor of an object that it keeps, or a method of the object does for it, if
    no call on the way to what made it knows a device, or what it was made of is brought to the GPU bit by
    bit: who else has the object may need it where it is."""
    stray, meeting, made = asked.stray, asked.meeting, asked.creation
    module, frame = _running(meeting.frame), stray.tensor.frame
    holder = held_by(stray.node, meeting.frame)
    if module is None or not isinstance(holder, Object) or holder.made is None:
        return None
    if not _has(module, holder):
        return None
    if not isinstance(stray.node, ast.expr) or frame is None:
        return None
    if knows_device(frame, made.spot) and not _is_brought(made, meeting.frame):
        return None
    return asked.used("unregistered-tensor")


def _running(frame: Frame) -> Module | None:
    """The module that runs, itself or a method of an object that it calls."""
    for around in frames(frame):
        if isinstance(around.this, Module):
            return around.this
        if not isinstance(around.this, Object):
            return None
    return None


def _is_brought(made: Step, frame: Frame) -> bool:
    """Whether a variable of a call on the way holds a part of something that was brought to the GPU."""
    for around in frames(frame):
        for value in around.names.values():
            for tensor in tensors_in(value):
                move = last_move(tensor.steps)
                there = move is not None and is_gpu(move.device)
                if there and any(step is made for step in tensor.steps):
                    return True
    return False


def _has(module: Module, holder: Object) -> bool:
    """Whether a module keeps an object, or one that does."""
    kept = [one for one in module.plain.values() if isinstance(one, Object)]
    inner = (one for outer in kept for one in outer.attributes.values())
    return any(one is holder for one in (*kept, *inner))
