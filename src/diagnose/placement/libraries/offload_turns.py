"""Models that take turns on the GPU: a hook brings one, and takes the one before back."""

from __future__ import annotations

from diagnose.kinds import EventKind
from diagnose.placement.devices import CPU
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.meta_modules import released
from diagnose.placement.provenance import last_of
from diagnose.placement.tensors import Module
from diagnose.placement.values import Const, Object, Unknown, Value

#: What such a hook is, and what it and its module are kept by: no attributes of a program's.
HOOK = "accelerate.UserCpuOffloadHook"
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


def ends_turn(owner: Object, call: CallSite) -> Value:
    """``offload`` takes the module of a hook back to the host."""
    _sent_back(owner)
    return Const(None)


def may_bring(owner: Object, call: CallSite) -> Value:
    """Other methods of a hook may bring its module."""
    module = owner.attributes[_MODULE]
    if isinstance(module, Module):
        released(module)
    return Unknown()


def _sent_back(hook: Object) -> None:
    module = hook.attributes[_MODULE]
    if not isinstance(module, Module) or module.runs is None:
        return
    offloaded = last_of(module.steps, EventKind.OFFLOADED)
    if offloaded is not None:
        module.move(CPU, offloaded)
