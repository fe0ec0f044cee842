"""Which part of a program runs, and under what: conditions, branches and what is known where they meet
again, patterns of ``match``, and what a ``with`` chooses for its body (within a generator of the user's
it runs where that yields).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import zip_longest
from typing import Any

from diagnose.placement.assignments import bind, part, special, store
from diagnose.placement.devices import CPU, META, asks_for_gpu, is_known, named_so
from diagnose.placement.lattice import joined
from diagnose.placement.machine import Leaves, Machine
from diagnose.placement.semantics import argument, calls, decorators, nodes
from diagnose.placement.tensors import Batch, Module, Tensor
from diagnose.placement.values import (
    CONTENT,
    Change,
    Class,
    Const,
    Frame,
    Function,
    Number,
    Place,
    Unknown,
    Value,
)

#: So many entries of a dict or list are copied in the time of a node.
_COPIED = 4


class Ways:
    """What variables and values are by each of the ways on which a program goes on from here.

    Each starts as it was here and ends by `end`, which undoes what it did; `join` is what they meet with.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._mark = machine.changes.mark()
        self._after: list[dict[tuple[int, str], Change]] = []

    def leave(self) -> None:
        """Notes a way that goes on from here behind what is left; it is another's to undo it."""
        self._after.append(self._machine.changes.since(self._mark))

    def end(self, *, goes_on: bool = True) -> None:
        """Undoes what a way did; it is noted if the program goes on from there."""
        after = self._machine.changes.take_back(self._mark)
        if goes_on:
            self._after.append(after)

    def left(self) -> bool:
        """Whether a way was noted."""
        return bool(self._after)

    def join(self) -> None:
        """Makes variables and values what the ways have in common."""
        changed = {key: one for after in self._after for key, one in after.items()}
        for key, (value, name, _) in changed.items():
            self._machine.spend(len(value) // _COPIED if name == CONTENT else 0)
            now = value if name == CONTENT else getattr(value, name)
            each = [after[key][2] if key in after else now for after in self._after]
            if name == CONTENT:
                value.restore(_content(each))
            else:
                setattr(value, name, _met(name, now, each))


def _met(name: str, now: Any, each: Sequence[Any]) -> object:
    """An attribute where ways meet: where they put something apart, nobody knows where it is. What
    led there is told as the way tells it on which most was done."""
    if name == "device":
        others = [one for one in each if one != now]
        # What a mode sends back to the host, and nothing else moves, is what fails next.
        back = now != CPU and all(one == CPU for one in others)
        return CPU if others and back else each[0] if len(set(each)) == 1 else None
    if held := [one for one in each if isinstance(one, Value)]:
        return _common(held)
    if isinstance(now, dict | list):
        return _content(each)
    return max(each, key=len) if name == "steps" else each[-1]


def _content(each: Sequence[Any]) -> Any:
    """What a dict or list holds where ways meet: at each name or place what is in common to those that have
    one there."""
    if isinstance(each[0], dict):
        names = dict.fromkeys(name for one in each for name in one)
        return {name: _common([one[name] for one in each if name in one]) for name in names}
    return [_common([one for one in at if one is not None]) for at in zip_longest(*each)]


def _common(each: Sequence[Value]) -> Value:
    first = each[0]
    # Most are the same, and nothing is to be joined.
    return first if all(one is first for one in each) else reduce(joined, each)


def truth(machine: Machine, node: ast.expr, frame: Frame) -> bool | None:
    """Whether a test holds, on a machine with GPUs; None where source does not tell."""
    match node:
        case ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()]):
            return frame.source is machine.main
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            told = truth(machine, operand, frame)
            return None if told is None else not told
    value = machine.evaluate(machine, node, frame)
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, Number | Unknown):
        return asks_for_gpu(value.word)
    if isinstance(value, Module | Tensor | Function | Class | Batch):
        return True if not isinstance(value, Tensor) else None
    return None


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
        if is_known(value.device):
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


def matches(
    machine: Machine, pattern: ast.pattern, subject: Value, frame: Frame, node: ast.stmt
) -> bool | None:
    """Whether a pattern fits a value; None where that is not known. The names that it has are bound."""
    match pattern:
        case ast.MatchValue(value=value):
            wanted = machine.evaluate(machine, value, frame)
            if isinstance(wanted, Const) and isinstance(subject, Const):
                return wanted.value == subject.value
            return None
        case ast.MatchSingleton(value=value):
            return subject.value is value if isinstance(subject, Const) else None
        case ast.MatchOr(patterns=patterns):
            told = [matches(machine, one, subject, frame, node) for one in patterns]
            return True if True in told else None if None in told else False
        case ast.MatchAs(pattern=inner, name=name):
            if name is not None:
                bind(frame, name, subject, node)
            return True if inner is None else matches(machine, inner, subject, frame, node)
        case ast.MatchSequence(patterns=patterns):
            for position, one in enumerate(patterns):
                matches(machine, one, part(subject, position), frame, node)
        case ast.MatchClass(patterns=patterns, kwd_patterns=named):
            for one in (*patterns, *named):
                matches(machine, one, Unknown(), frame, node)
        case ast.MatchMapping(patterns=patterns):
            for one in patterns:
                matches(machine, one, Unknown(), frame, node)
    return None
