"""What the steps of a value's life tell."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from diagnose.kinds import DeviceType, EventKind
from diagnose.placement.devices import SPLIT, is_host
from diagnose.placement.machine import Meets
from diagnose.placement.model import Spot, Step
from diagnose.placement.semantics import argument, called
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame


class Reason(NamedTuple):
    """A cause and the place to edit."""

    cause: str
    spot: Spot
    frame: Frame | None = None
    name: str = ""
    move: Spot | None = None
    owner: str | None = None
    beside: Spot | None = None
    #: Expressions for the wanted device, where they are known with it.
    devices: tuple[str, ...] | None = None


def first_of(steps: Iterable[Step], *what: EventKind) -> Step | None:
    """The first step of any of some kinds."""
    return next((one for one in steps if one.what in what), None)


def last_of(steps: Sequence[Step], *what: EventKind) -> Step | None:
    """The last step of any of some kinds."""
    return first_of(reversed(steps), *what)


def has(steps: Iterable[Step], *what: EventKind) -> bool:
    """Whether something of some kind happened."""
    return first_of(steps, *what) is not None


def last_move(steps: Sequence[Step]) -> Step | None:
    """The last step that moved a value."""
    return last_of(steps, EventKind.MOVED, EventKind.GATHERED)


def is_literal(step: Step) -> bool:
    """Whether a move names its device itself: ``.cuda()``, ``.to("cuda:1")``."""
    node = step.spot.node
    if step.what == EventKind.MADE:
        legacy = isinstance(node, ast.Call) and ast.unparse(node.func).startswith("torch.cuda.")
        return legacy or isinstance(device_argument(step.spot), ast.Constant)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "cuda":
            return all(isinstance(arg, ast.Constant) for arg in node.args)
        given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "device")]
        return bool(given) and isinstance(given[0], ast.Constant)
    return False


def born_at(steps: Sequence[Step]) -> Step | None:
    """The step that made or loaded a value."""
    return first_of(steps, EventKind.MADE, EventKind.LOADED)


def made_as(cause: str, steps: Sequence[Step], frame: Frame | None) -> Reason | None:
    """A cause at the step that made or wrapped something."""
    step = first_of(steps, EventKind.MADE, EventKind.LOADED, EventKind.WRAPPED)
    return Reason(cause, step.spot, frame) if step is not None else None


def device_argument(spot: Spot) -> ast.expr | None:
    """What a factory is given as ``device=``; a generator takes nothing else, and no name is needed."""
    if not isinstance(spot.node, ast.Call):
        return None
    return argument(spot.node, "device", 0 if called(spot.node) == "Generator" else None)


def on_cpu(tensor: Tensor) -> bool:
    """Whether a tensor is known to be on the cpu."""
    return is_host(tensor.device)


def replicated(module: Module | None) -> bool:
    """Whether a module or one that it belongs to is wrapped for several GPUs."""
    owners = module.owners() if module is not None else ()
    return any(step.what == EventKind.WRAPPED for one in owners for step in one.steps)


def said_as(node: ast.AST) -> str:
    """An expression as text."""
    return ast.unparse(node) if isinstance(node, ast.expr) else ""


def is_on(side: Meets, kind: DeviceType) -> bool:
    """Whether an operand is known to be on a kind of device."""
    return side.tensor.device is not None and side.tensor.device.type == kind


def is_offloaded(module: Module | None) -> bool:
    """Whether a module, or one that it belongs to, is offloaded; what a library spread may be. What is in a
    plain list no library reaches from above."""
    for one in module.owners() if module is not None else ():
        if one.device == SPLIT or has(one.steps, EventKind.OFFLOADED):
            return True
        if has(one.steps, EventKind.HELD):
            return False
    return False
