"""What a ``with`` chooses for its body; within a generator of the user's it runs where that yields."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import partial

from diagnose.placement.assignments import store
from diagnose.placement.devices import META, named_so
from diagnose.placement.iteration import special
from diagnose.placement.language.conditions import truth
from diagnose.placement.machine import Leaves, Machine
from diagnose.placement.semantics import argument, calls, decorators, nodes
from diagnose.placement.values import Frame, Function, Place, Unknown, Value


def body_of(
    machine: Machine, function: Function, call: ast.AST
) -> tuple[ast.AST, Callable[[Value], None]] | None:
    """Where a function yields last, and the body that runs there; None for the context of no ``with``.

    Of several places the last one is what the function is there for: one before it, as in ``if not
    self.saving: yield part; return``, leaves things as they are.
    """
    if machine.within is None or machine.within[0] is not call:
        return None
    if not any(one.endswith("contextmanager") for one in decorators(function.node)):
        return None
    yields = nodes(function.node, ast.Yield)
    last = max(yields, key=lambda one: (one.lineno, one.col_offset), default=None)
    return (last, machine.within[1]) if last is not None else None


def yielded(frame: Frame, value: Value, at: ast.AST | None = None) -> None:
    """Runs the body that waits for what a function yields, where it does so last; ``at`` is None where the
    function is over: it has not come so far."""
    if frame.within is not None and at in (None, frame.within[0]):
        _, body = frame.within
        frame.within = None
        body(value)


def with_(
    machine: Machine, node: ast.With | ast.AsyncWith, frame: Frame, block: Callable[[], None]
) -> None:
    """A ``with``: which devices its contexts choose for its body, which ``block`` runs."""
    for item in reversed(node.items):  # several are as if each stood in the one before
        block = partial(_within, machine, item, node, frame, block)
    block()


def _within(
    machine: Machine,
    item: ast.withitem,
    node: ast.With | ast.AsyncWith,
    frame: Frame,
    block: Callable[[], None],
) -> None:
    """A body in one context."""
    default, current = (machine.default, machine.default_of, machine.emptied), machine.current
    left = list[Leaves]()

    def body(value: Value) -> None:
        if item.optional_vars is not None:
            store(machine, item.optional_vars, value, frame, node)
        try:
            block()
        except Leaves as leaves:
            left.append(leaves)

    value, ran = _entered(machine, item.context_expr, frame, body)
    if left:
        raise left[0]
    if ran:
        return
    value = special(machine, value, "__enter__", item.context_expr, frame) or value
    of_cuda = "cuda.device" in ast.unparse(item.context_expr)
    if isinstance(value, Place) and of_cuda:
        machine.current = value.device._replace(home=True)
    elif isinstance(value, Place):
        machine.default = value.device
    elif _chooses_home(value, item.context_expr):
        machine.default = machine.home()
    elif "init_empty_weights" in ast.unparse(item.context_expr):
        machine.emptied = META
        if _with_buffers(machine, item.context_expr, frame):
            machine.default = META
    empty = machine.for_weights() is META and META not in (default[0], default[2])
    if empty or machine.default != default[0]:
        machine.default_of = machine.spot(item.context_expr, frame)
    if item.optional_vars is not None:
        store(machine, item.optional_vars, value, frame, node)
    try:
        block()
    finally:
        machine.default, machine.default_of, machine.emptied = default
        if of_cuda:
            machine.current = current


def _with_buffers(machine: Machine, context: ast.expr, frame: Frame) -> bool:
    """Whether ``init_empty_weights`` is told to leave buffers and all other tensors without memory."""
    told = (argument(one, "include_buffers") for one in calls(context))
    return any(one is not None and truth(machine, one, frame) is True for one in told)


#: Contexts by which a library chooses where what is made in them is.
_LIBRARYS = re.compile(r"\.init_(tensor|module)\(")


def _chooses_home(value: Value, context: ast.expr) -> bool:
    """Whether a context of which only the name is known is a device, or chooses the program's."""
    if isinstance(context, ast.Name | ast.Attribute):
        return isinstance(value, Unknown) and named_so(value.word)
    return _LIBRARYS.search(ast.unparse(context)) is not None


def _entered(
    machine: Machine, context: ast.expr, frame: Frame, body: Callable[[Value], None]
) -> tuple[Value, bool]:
    """The value of a context, and whether the body of its ``with`` has run within it."""
    ran = False

    def once(value: Value) -> None:
        nonlocal ran
        ran, machine.within = True, None
        body(value)

    outer, machine.within = machine.within, (context, once)
    try:
        return machine.evaluate(machine, context, frame), ran
    finally:
        machine.within = outer
