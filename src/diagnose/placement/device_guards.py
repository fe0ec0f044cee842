"""What the user's own code refuses, by a ``raise`` or an assertion about a device, and what torch does."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind
from diagnose.placement.devices import CPU
from diagnose.placement.machine import Arguments, Machine, Meets
from diagnose.placement.semantics import nodes
from diagnose.placement.tensors import Tensor
from diagnose.placement.values import Frame, Unknown

#: The attributes that tell where a tensor is.
ASKED = frozenset({"is_cuda", "is_cpu", "device"})


def kind_of(machine: Machine, name: str) -> ConstraintKind:
    """What a meeting in a function of torch or a method of a tensor is: nobody says of all that they refuse
    tensors of several devices."""
    torch, plain = machine.torch, name.rstrip("_")
    if name in torch.indexing:
        return ConstraintKind.INDEX
    known = (
        torch.takes,
        torch.elementwise,
        torch.joins,
        torch.losses,
        torch.computing,
        torch.refusing,
    )
    return (
        ConstraintKind.JOIN
        if any(one in names for names in known for one in (name, plain))
        else ConstraintKind.LIBRARY
    )


def is_open(machine: Machine, name: str, given: Arguments) -> bool:
    """Whether a function of torch of which little is known is given first what may be anywhere, as its
    result then is."""
    first = given.listed[0].value if given.listed else None
    return isinstance(first, Unknown) and kind_of(machine, name) == ConstraintKind.LIBRARY


def assumed(tensor: Tensor) -> Tensor:
    """The same tensor, of which something is taken for likely that nobody has listed."""
    found = tensor.like(tensor.device)
    found.guessed = True
    return found


def refusal(
    machine: Machine, node: ast.If | ast.Assert, frame: Frame, *, holds: bool | None
) -> None:
    """Notes the tensors of whose devices a statement asks that may raise: they meet there, one meets the
    GPU that it has to be on. ``holds`` is whether what it asks is so; None where that is not known."""
    if isinstance(node, ast.If) and not any(
        isinstance(one, ast.Raise) for one in (*node.body, *node.orelse)
    ):
        return
    asked = [one.value for one in nodes(node.test, ast.Attribute) if one.attr in ASKED]
    values = [(one, machine.evaluate(machine, one, frame)) for one in asked]
    sides = [Meets(one, value, value) for one, value in values if isinstance(value, Tensor)]
    if sides:
        machine.meet(
            ConstraintKind.JOIN if len(sides) > 1 else ConstraintKind.ASKED, node, frame, sides
        )
    on_host = [one for one in sides if one.tensor.device == CPU]
    if on_host and _raises(node, holds):
        machine.meet(ConstraintKind.REFUSED, node, frame, on_host)


def _raises(node: ast.If | ast.Assert, holds: bool | None) -> bool:
    """Whether a statement is known to raise."""
    if isinstance(node, ast.Assert):
        return holds is False
    block = node.body if holds else node.orelse
    return holds is not None and any(isinstance(one, ast.Raise) for one in block)
