"""Models that take turns on the GPU: a hook brings one, and takes the one before back."""

from __future__ import annotations

import ast

from diagnose.kinds import EventKind
from diagnose.placement.devices import CPU
from diagnose.placement.libraries.meta_modules import released
from diagnose.placement.machine import Arguments, Machine
from diagnose.placement.provenance import last_of
from diagnose.placement.tensors import Module
from diagnose.placement.values import Const, Frame, Object, Unknown, Value

#: What such a hook is, and what it and its module are kept by: no attributes of a program's.
HOOK = "offload-hook"
_MODULE, _BEFORE = "<module>", "<before>"


def hook_of(module: Module, before: Value | None) -> Object:
    """The hook of a module that waits on the host, and whose turn ends that of another one's.

    Args:
        module: the module.
        before: ``prev_module_hook=``.
    """
    found = Object(HOOK)
    found.attributes[_MODULE] = module
    if isinstance(before, Object) and before.kind == HOOK:
        module.plain[_BEFORE] = before
    return found


def end_turn_before(module: Module) -> None:
    """A module is brought to the GPU: the one whose hook it was told goes back to the host."""
    before = module.plain.get(_BEFORE)
    if isinstance(before, Object):
        _sent_back(before)


def turn_hook(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What a method of a hook does: ``offload`` takes its module back to the host, others may bring it."""
    module = owner.attributes[_MODULE]
    if name == "offload":
        _sent_back(owner)
    elif isinstance(module, Module):
        released(module)
    return Const(None) if name == "offload" else Unknown()


def _sent_back(hook: Object) -> None:
    module = hook.attributes[_MODULE]
    if not isinstance(module, Module) or module.runs is None:
        return
    offloaded = last_of(module.steps, EventKind.OFFLOADED)
    if offloaded is not None:
        module.move(CPU, offloaded)
