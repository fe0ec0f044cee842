"""Models that torch quantizes for the host: their layers hold packed weights, which no move reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.kinds import EventKind
from diagnose.placement.devices import CPU
from diagnose.placement.libraries.copies import copied
from diagnose.placement.machine import Arguments, Given, Machine
from diagnose.placement.model import Step
from diagnose.placement.tensors import Module
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, External, Frame, Unknown, Value

#: The layers that ``quantize_dynamic`` has packed forms of, all of which it takes unless it is told some
#: (https://docs.pytorch.org/docs/stable/generated/torch.ao.quantization.quantize_dynamic.html).
_LAYERS = frozenset({"Linear", "LSTM", "GRU", "LSTMCell", "GRUCell", "RNNCell"})


def quantized(
    machine: Machine, dotted: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """What ``quantize_dynamic`` gives: a copy of a model, or the model itself, with packed layers; None for
    other functions."""
    if not dotted.endswith("quantization.quantize_dynamic"):
        return None
    said, inplace = given.get("model", 0), given.get("inplace", 4)
    if said is None or not isinstance(said.value, Module):
        return Unknown()
    own = inplace is not None and not (isinstance(inplace.value, Const) and not inplace.value.value)
    found = (
        said.value if own else copied(said.value, machine.step(EventKind.MADE, node, frame), frame)
    )
    kinds = _kinds(given.told("qconfig_spec", 1))
    if not isinstance(found, Module) or found.where() != CPU:
        return found
    for one in found.family():
        if one.made is None and one.kind in kinds:
            one.packed = True
            one.steps = (*one.steps, Step(EventKind.PACKED, machine.spot(node, frame), CPU))
    return found


def _kinds(said: Given | None) -> frozenset[str]:
    """The kinds of layers that a call packs: all, or those of a set of classes; none where it names parts,
    or that is not known."""
    if said is None:
        return _LAYERS
    return frozenset(_named(said.value)) & _LAYERS


def _named(said: Value) -> Iterator[str]:
    for one in said.items if isinstance(said, Items) else ():
        if isinstance(one, External):
            yield one.dotted.rpartition(".")[2]
