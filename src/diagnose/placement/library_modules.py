"""Methods of libraries' modules of which more is known than their names."""

from __future__ import annotations

import ast

from diagnose.placement.devices import CPU
from diagnose.placement.machine import Arguments, Machine, operands
from diagnose.placement.model import Step
from diagnose.placement.tensors import Batch, Module, Tensor
from diagnose.placement.values import Const, Frame, Unknown, Value

#: Functions of sentence_transformers that bring together themselves what they are given.
_SEARCHING = frozenset({"semantic_search", "paraphrase_mining", "community_detection"})


def library_method(
    machine: Machine, owner: Module, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """What a method of a library's module gives; None for others."""
    if owner.kind == "sentence_transformers.SentenceTransformer":
        return _sentences(machine, owner, name, given, node, frame)
    if owner.kind.startswith("torchmetrics") and name == "compute":
        step = machine.step("made", node, frame, owner.where())
        return Tensor(owner.where(), "output", step, frame, module=owner)
    return None


def _sentences(
    machine: Machine, owner: Module, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """A model of sentences: its tokens are on the cpu, it goes where it is told to encode, and gives arrays
    unless it is told to give tensors."""
    if name == "tokenize":
        made = machine.step("made", node, frame, CPU)
        return Batch(Tensor(CPU, "tokens", made, frame), mutable=True)
    if name == "similarity":
        sides = operands(given)
        if len(sides) == len(given.every()):
            machine.meet("join", node, frame, sides)
        arrays = given.every() and all(_is_array(one.value) for one in given.every())
        device = CPU if arrays else sides[0].tensor.device if sides else None
        return Tensor(device, "library", machine.step("made", node, frame, device), frame)
    said = given.named.get("device")
    if name.startswith("encode") and said is not None:
        device = machine.asked(said.value)
        none = isinstance(said.value, Const) and said.value.value is None
        if not none:
            owner.move(device, Step("moved", machine.spot(node, frame), device))
    return None


def _is_array(value: Value) -> bool:
    return isinstance(value, Unknown) and value.word == "array"


def searching(last: str) -> bool:
    """Whether a function brings together itself what it is given."""
    return last in _SEARCHING
