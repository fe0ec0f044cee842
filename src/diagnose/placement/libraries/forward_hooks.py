"""Hooks of a module's forward: what is called before it and after it, with what goes in and comes out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from diagnose.kinds import DeviceType, EventKind
from diagnose.placement.devices import CPU
from diagnose.placement.machine import Arguments, Given, Machine
from diagnose.placement.model import Step
from diagnose.placement.provenance import is_offloaded, last_move
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Unknown, Value


def hooked(
    machine: Machine,
    module: Module,
    given: Arguments,
    node: ast.AST,
    frame: Frame,
    work: Callable[[Arguments], Value],
) -> Value:
    """What a module gives, its hooks called before and after ``work``, which runs it."""
    if not module.hooks and not module.before:
        return work(given)
    scope = [(one, one.device, one.steps) for one in module.family()]
    # Of a whole model the program may say itself that it stays on the host: that line tells why.
    told = last_move(module.steps) if module.owner is None else None
    kept = told is not None and told.device == CPU
    for hook in module.before:
        made = _run(machine, hook, [module, _listed(given)], node, frame)
        if isinstance(made, Items):
            nodes = [one.node for one in given.listed] or [ast.Name("hook")]
            listed = [Given(nodes[min(n, len(nodes) - 1)], one) for n, one in enumerate(made.items)]
            given = given._replace(listed=listed)
    found = seen(machine, module, given, work(given), node, frame)
    for one, device, steps in scope:
        if one.device == device:  # what was brought, and taken back, is where it was
            one.steps = steps if kept else (*steps, *_offloaded(one, steps))
    return found


def seen(
    machine: Machine, module: Module, given: Arguments, found: Value, node: ast.AST, frame: Frame
) -> Value:
    """What comes out of a module, after its hooks have seen it, each of which may give something else."""
    for hook in module.hooks:
        made = _run(machine, hook, [module, _listed(given), found], node, frame)
        if not isinstance(made, Unknown) and not (isinstance(made, Const) and made.value is None):
            found = made
    return found


def within(
    machine: Machine, part: Module, given: Arguments, found: Tensor, node: ast.AST, frame: Frame
) -> None:
    """What the hooks of a part of a library's model see, of which only where it runs is known."""
    for hook in part.before:
        _run(machine, hook, [part, Items([found.like(found.device)])], node, frame)
    if part.hooks:
        seen(machine, part, given, found, node, frame)


def _offloaded(module: Module, before: Sequence[Step]) -> list[Step]:
    """The step of the hook that takes a module back to the host, which another brought to an accelerator
    for its forward: so it is offloaded."""
    since = [step for step in module.steps if step not in before]
    brought = any(step.device is not None and step.device.type == DeviceType.CUDA for step in since)
    if not brought or module.device != CPU or is_offloaded(module):
        return []
    return [since[-1]._replace(what=EventKind.OFFLOADED)]


def _run(machine: Machine, hook: Value, values: list[Value], node: ast.AST, frame: Frame) -> Value:
    listed = [Given(ast.Name("hook"), one) for one in values]
    return machine.invoke(machine, hook, Arguments(listed), node, frame)


def _listed(given: Arguments) -> Items:
    return Items([one.value for one in given.listed])
