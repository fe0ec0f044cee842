"""What calls of torch, of model libraries and of Python's own functions give."""

from __future__ import annotations

import ast

from diagnose.placement.machine import Arguments, Machine, operands
from diagnose.placement.model import Step
from diagnose.placement.models import model_call
from diagnose.placement.python import builtin
from diagnose.placement.tensors import Module
from diagnose.placement.torch_calls import torch_call
from diagnose.placement.values import Frame, Object, Unknown, Value


def library_call_of(
    machine: Machine, dotted: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """The result of calling a name of a library."""
    root, _, last = dotted.partition(".")[0], "", dotted.rpartition(".")[2]
    if root == "builtins":
        return builtin(machine, last, given, node, frame)
    if root == "torch":
        return torch_call(machine, dotted, last, given, node, frame)
    on_host = root in machine.torch.host_libraries
    if on_host or root in ("cv2", "PIL"):
        sides = operands(given)
        if sides and on_host:
            machine.meet("host", node, frame, sides)
        return Object("host") if last[:1].isupper() and on_host else Unknown("array")
    if dotted in ("copy.deepcopy", "copy.copy") and given.listed:
        return _copied(given.listed[0].value, machine.step("made", node, frame))
    if last in machine.torch.model_wrappers:
        return given.listed[0].value if given.listed else Unknown()
    if dotted.endswith(("argparse.Namespace", "SimpleNamespace")):
        named = Object("namespace")
        named.attributes = {name: one.value for name, one in given.named.items()}
        return named
    if root == "argparse":
        return Object("parser")
    if dotted.endswith("getLogger"):
        return Unknown()
    return model_call(machine, dotted, root, last, given, node, frame)


def _copied(value: Value, step: tuple[Step], done: dict[int, Module] | None = None) -> Value:
    """A copy; what a model holds twice, or itself, its copy does too (``done``)."""
    done = {} if done is None else done
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, Module):
        found = done[id(value)] = Module(value.kind, value.device, value.made)
        found.weights, found.steps, found.frame = (
            value.weights,
            (*step, *value.steps[1:]),
            value.frame,
        )
        found.plain = dict(value.plain)
        found.tensors = {k: t.like(t.device) for k, t in value.tensors.items()}
        for name, child in value.children.items():
            copied = _copied(child, step, done)
            assert isinstance(copied, Module)
            copied.owner = found
            found.children[name] = copied
        return found
    return value
