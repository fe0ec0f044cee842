"""Where a module is built, put, moved or forgotten: why its weights, and what its own objects keep, are
where they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from diagnose.kinds import EventKind
from diagnose.placement.devices import is_gpu, is_host
from diagnose.placement.localization.availability import (
    has_device,
    has_parameter,
    held_in,
    is_prepared,
    is_statement,
    key_of,
    sites,
    where_built,
)
from diagnose.placement.localization.host import saving_of, streamed, switch_of
from diagnose.placement.localization.question import Answer, answers
from diagnose.placement.model import Device, Spot, Step
from diagnose.placement.provenance import (
    Reason,
    born_at,
    first_of,
    has,
    is_literal,
    last_move,
    last_of,
)
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame, Object, Value

LOSSES = re.compile(
    r"(Loss|Criterion|CrossEntropy|LPIPS|SSIM|LossNet|Metric|(?<!para)Meter|Tracker|Confusion|Accuracy|F1|AUROC|Perceptual)",
    re.IGNORECASE,
)


class _Built(NamedTuple):
    module: Module
    tensor: Tensor | None = None
    said: str = ""
    then: Sequence[Step] = ()


class Built(_Built):
    """A module whose weights are somewhere: ``tensor`` is one of them, ``said`` what the module is called,
    ``then`` what had happened to it by the call."""

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
    (spot, frame), moved = built.site, last_move(owner.steps)
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


def _beside(built: Built) -> Reason | None:
    """Moved with others of the same variables."""
    spot, frame = built.site
    if frame is None or built.top.owner is not None or not built.top.word:
        return None
    held = held_in(frame)
    sibling, owner = _moved_beside(built.top, held, spot), key_of(built.top, held)
    if sibling is None or owner is None:
        return None
    return Reason(built.cause, sibling, frame, owner=owner)


def _moved_beside(module: Module, held: Mapping[str, Value], spot: Spot) -> Spot | None:
    """The statement that moves another module of the same variables, after this one was built."""
    found: list[Spot] = []
    for other in held.values():
        if isinstance(other, Module) and other is not module and other.owner is None:
            move = last_move(other.steps)
            if move is not None and move.spot.is_beside(spot) and not move.spot.is_above(spot):
                found += [move.spot] if is_statement(move.spot) else []
    alone = [one for one in found if not is_prepared(one)]  # what is not trained is moved by hand
    return max(alone or found, key=lambda one: one.line, default=None)


def _counts(module: Module) -> bool:
    """Whether a module is a metric by its methods: it is told results, and computes from all of them."""
    made = module.made
    return made is not None and all(map(made.find, ("update", "compute")))


def where_kept(cause: str, module: Module, built: Spot, around: Frame | None) -> Reason | None:
    """Where an object that knows a device takes a module as its attribute, which was built where none is
    known; else where one that does makes the object."""
    if module.kept is None or (around is not None and has_device(around, built)):
        return None
    spot, frame = module.kept
    if has_device(frame, spot):
        return Reason(cause, spot, frame)
    holder = frame.this
    name = key_of(module, holder.attributes) if isinstance(holder, Object) else None
    for place, caller in sites(spot, frame):
        if isinstance(holder, Object) and caller is not frame and has_device(caller, place):
            outer = key_of(holder, held_in(caller))
            return Reason(cause, place, caller, owner=f"{outer}.{name}") if outer and name else None
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


def _put_late(module: Module, then: Sequence[Step] = ()) -> Step | None:
    """The step that put a module into one that was moved before, and not again by ``then``."""
    put = first_of(module.steps, EventKind.PUT)
    if put is None or not is_gpu(put.device):
        return None
    made = born_at(module.steps)
    if made is not None and module.owner is not None and _of_its_making(made, module.owner):
        return None
    return None if any(step.what == EventKind.MOVED for step in then or module.steps) else put


def built_for(module: Module) -> Reason | None:
    """Where the module of an optimizer is built: moved there, it is where its optimizer finds it."""
    made = born_at(module.steps)
    if made is None:
        return None
    return Reason("optimizer-state", *where_built(made, module.frame))


_ON_HOST: Answer[Built] = answers(
    ("a part of what was moved", lambda it: _part_of_moved(it.module, it.top)),
    ("others beside it are moved", _beside),
    ("kept by an object", lambda it: where_kept(it.cause, it.top, *it.site)),
    ("built", lambda it: Reason(it.cause, *it.site)),
)

#: Why a module's weights are where they are.
of_module: Answer[Built] = answers(
    ("loaded anywhere", lambda it: it.at(_loaded_anywhere(it), "checkpoint-location")),
    ("held in a plain container", lambda it: it.at(_held(it.top), "unregistered-submodule")),
    ("added after the move", _added_late),
    ("moved to the host", _moved_to_host),
    ("moved to a GPU", _moved_to_gpu, lambda it: it.move is not None),
    ("left on the host", _ON_HOST, _is_left_on_host),
)
