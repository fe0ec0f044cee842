"""Objects of libraries of which more is known than their names: what their methods give."""

from __future__ import annotations

import ast

from diagnose.kinds import EventKind, Origin
from diagnose.placement.devices import CPU
from diagnose.placement.machine import Arguments, Machine
from diagnose.placement.tensors import Batch, Optimizer, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import External, Frame, Object, Unknown, Value


def scaler(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A scaler of gradients: it gives the loss, and steps its optimizer."""
    first = given.listed[0].value if given.listed else Unknown()
    if name == "step" and isinstance(first, Optimizer | Object):
        method = machine.attribute(machine, first, "step", node, frame)
        return machine.invoke(machine, method, given.rest(), node, frame)
    return first if name == "scale" else Unknown()


def exported(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A program that was exported: its module is the one that was."""
    return owner.attributes["model"] if name == "module" else Unknown()


def passing(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What gives back, changed, what it is given, where that is: a transform of tensors or of graphs."""
    held = [one.value for one in given.listed if isinstance(one.value, Tensor | Batch | Items)]
    if name != "__call__" or not held or len(held) < len(given.listed):
        return Unknown()
    return held[0] if len(held) == 1 else Items(list(held))


#: What the result of a future is kept as: no attribute of a program's.
_RESULT = "<result>"


def executor(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A pool of threads or processes: it calls what it is given, and ``future`` has the result."""
    if name == "submit" and given.listed:
        found = Object("future")
        found.attributes[_RESULT] = machine.invoke(
            machine, given.listed[0].value, given.rest(), node, frame
        )
        return found
    if name in ("map", "imap", "imap_unordered"):
        return machine.invoke(machine, External("builtins.map"), given, node, frame)
    return Unknown()


def future(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What an executor called: its result."""
    return owner.attributes[_RESULT] if name == "result" else Unknown()


def transform(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A transform of pictures: it makes tensors of them, on the cpu; a tensor stays where it is."""
    first = given.listed[0].value if given.listed else Unknown()
    if name != "__call__" or isinstance(first, Tensor):
        return first.like(first.device) if isinstance(first, Tensor) else Unknown()
    return Tensor(CPU, Origin.BATCH, machine.step(EventKind.MADE, node, frame, CPU), frame)
