"""Statements of the user's files, executed on abstract values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from itertools import islice

from diagnose.kinds import Origin
from diagnose.placement.assignments import loaded, store
from diagnose.placement.device_guards import refusal
from diagnose.placement.iteration import any_item, iterated
from diagnose.placement.language.arrays import added, written
from diagnose.placement.language.branches import Ways
from diagnose.placement.language.conditions import truth
from diagnose.placement.language.contexts import with_
from diagnose.placement.language.dead_results import lose
from diagnose.placement.language.definitions import class_, function, import_, import_from, shared
from diagnose.placement.language.match_statements import matches
from diagnose.placement.libraries.datasets import drawn
from diagnose.placement.machine import Ends, Leaves, Machine
from diagnose.placement.pass_through import left_by
from diagnose.placement.semantics import dotted
from diagnose.placement.tensors import WIDEST, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Loader, Number, Object, Unknown, Value


def execute(machine: Machine, body: Sequence[ast.stmt], frame: Frame) -> None:
    """Executes a block; ends early where it returns. What follows it meets the state of all ways there."""
    outer, ways = machine.leave, Ways(machine)
    machine.leave = ways.leave
    goes_on = True
    try:
        _block(machine, body, frame)
    except Leaves as leaves:
        goes_on = not isinstance(leaves, Ends)
    finally:
        machine.leave = outer
    if ways.left():
        ways.end(goes_on=goes_on)
        ways.join()


def _block(machine: Machine, body: Sequence[ast.stmt], frame: Frame) -> None:
    for statement in body:
        machine.spend()
        run = _RUN.get(type(statement))
        if run is not None:
            run(machine, statement, frame)


def _forks(machine: Machine, blocks: Sequence[Sequence[ast.stmt]], frame: Frame) -> None:
    """Blocks of which one runs: each from what was there before, joined where it goes on."""
    ways = Ways(machine)
    for block in blocks:
        goes_on = False
        try:
            _block(machine, block, frame)
            goes_on = True
        except Leaves as leaves:
            if not isinstance(leaves, Ends):
                machine.leave()
        finally:
            ways.end(goes_on=goes_on)
    if not ways.left():
        raise Ends
    ways.join()


def _assign(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.Assign)
    value = machine.evaluate(machine, node.value, frame)
    left_by(machine, node.value, value, frame)
    written(machine, node, value, frame)
    lose(machine, node, value, frame)
    for target in node.targets:
        store(machine, target, value, frame, node)


def _annotated(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.AnnAssign)
    if node.value is not None:
        store(machine, node.target, machine.evaluate(machine, node.value, frame), frame, node)


def _augmented(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.AugAssign)
    load = loaded(node.target)
    operation = ast.BinOp(left=load, op=node.op, right=node.value)
    ast.copy_location(operation, node)
    value = machine.evaluate(machine, operation, frame)
    held = machine.evaluate(machine, load, frame)
    if isinstance(value, Const) and not isinstance(value.value, str) and machine.uncounted:
        value = Number()
    if isinstance(held, Tensor) and isinstance(value, Tensor):
        value = held.like(held.device)
    elif isinstance(held, Items):
        held.grows = True
        more = machine.evaluate(machine, node.value, frame)
        if isinstance(more, Items):
            held.items += islice(list(more.every()), max(0, WIDEST - len(held.items)))
        value = held
    elif isinstance(held, Unknown | Object) and added(machine, node, frame):
        value = held
    store(machine, node.target, value, frame, node)


#: Calls that end a program.
_ENDING = frozenset({"exit", "quit", "sys.exit", "os._exit", "os.abort"})


def _expression(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.Expr)
    value = machine.evaluate(machine, node.value, frame)
    called = node.value.func if isinstance(node.value, ast.Call) else None
    if called is not None and dotted(called) in _ENDING:
        raise Ends
    lose(machine, node, value, frame)


def _return(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.Return)
    value = machine.evaluate(machine, node.value, frame) if node.value else Const(None)
    if node.value is not None or not frame.yields:
        frame.result.append(value)
    frame.returns.append(node)
    raise Leaves


def _leave(machine: Machine, node: ast.AST, frame: Frame) -> None:
    raise Ends if isinstance(node, ast.Raise) else Leaves


def _if(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.If)
    test = truth(machine, node.test, frame)
    refusal(machine, node, frame, holds=test)
    if test is not None:
        _block(machine, node.body if test else node.orelse, frame)
        return
    _forks(machine, (node.body, node.orelse), frame)


#: Loops within loops that are run item by item, their items, and turns in all of more loops.
_NESTED, _ITEMS, _TURNS = 2, 8, 32


def _loop(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.For | ast.AsyncFor)
    items = iterated(machine, machine.evaluate(machine, node.iter, frame), node.iter, frame)
    if isinstance(items, Loader):
        drawn(machine, items, node.iter, frame)
    known = _known(items)
    turns = machine.turns * len(known or ())
    known = known if machine.nested < _NESTED or turns <= _TURNS else None
    before, machine.turns = machine.turns, turns if known else machine.turns
    machine.nested += known is not None
    machine.uncounted += known is None
    try:
        for item in known or [any_item(machine.torch, items)] * machine.rounds:
            if isinstance(items, Items):
                _draw(item)
            store(machine, node.target, item, frame, node)
            execute(machine, node.body, frame)
    finally:
        machine.turns = before
        machine.nested -= known is not None
        machine.uncounted -= known is None


def _draw(item: Value) -> None:
    """Tensors that a loop takes out of a list are the batches of a loader that somebody wrote; beside the
    weights of a model they are its state."""
    drawn = list(tensors_in(item)) if not isinstance(item, Tensor) else []
    state = any(tensor.maker == Origin.WEIGHT for tensor in drawn)
    for tensor in drawn if not state else ():
        if tensor.maker in (Origin.FACTORY, Origin.ARRAY) and tensor.module is None:
            tensor.maker = Origin.BATCH


def _known(items: Value) -> list[Value] | None:
    """The items of a loop where there are few and all are known."""
    if isinstance(items, Items) and items.more is None and 0 < len(items.items) <= _ITEMS:
        return list(items.items)
    return None


def _while(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.While)
    machine.uncounted += 1
    try:
        for _ in range(machine.rounds):
            machine.evaluate(machine, node.test, frame)
            execute(machine, node.body, frame)
    finally:
        machine.uncounted -= 1


def _with(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.With | ast.AsyncWith)
    with_(machine, node, frame, partial(_block, machine, node.body, frame))


def _try(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.Try)
    # What a handler does not bind anew is what the block bound: it runs where that failed, and no program
    # is written to fail.
    ways: list[Sequence[ast.stmt]] = [handler.body for handler in node.handlers]
    if not _asks_the_base(node):
        try:
            _block(machine, [*node.body, *node.orelse], frame)
            ways.append(())
        except Leaves as leaves:
            if not ways:
                raise
            if not isinstance(leaves, Ends):
                machine.leave()
    _forks(machine, ways, frame)
    _block(machine, node.finalbody, frame)


def _asks_the_base(node: ast.Try) -> bool:
    """Whether ``__getattr__`` asks its base first, which has not what nothing else had."""
    text = ast.unparse(node.body[0]) if len(node.body) == 1 and node.handlers else ""
    return text.startswith("return super().__getattr__(")


def _match(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.Match)
    subject = machine.evaluate(machine, node.subject, frame)
    open_: list[Sequence[ast.stmt]] = []
    for case in node.cases:
        fits = matches(machine, case.pattern, subject, frame, node)
        if case.guard is not None:
            machine.evaluate(machine, case.guard, frame)
            fits = None if fits else fits
        if fits is not False:
            open_.append(case.body)
        if fits:
            break
    else:
        open_.append(())
    if len(open_) == 1:
        _block(machine, open_[0], frame)
    else:
        _forks(machine, open_, frame)


def _delete(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.Delete)
    for target in node.targets:
        if isinstance(target, ast.Name):
            frame.names.pop(target.id, None)


def _assert(machine: Machine, node: ast.AST, frame: Frame) -> None:
    assert isinstance(node, ast.Assert)
    refusal(machine, node, frame, holds=truth(machine, node.test, frame))
    if isinstance(node.test, ast.Constant) and not node.test.value:
        raise Ends


_RUN = {
    ast.FunctionDef: function,
    ast.AsyncFunctionDef: function,
    ast.ClassDef: class_,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.Return: _return,
    ast.Break: _leave,
    ast.Continue: _leave,
    ast.Raise: _leave,
    ast.If: _if,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Import: import_,
    ast.ImportFrom: import_from,
    ast.Delete: _delete,
    ast.Assert: _assert,
    ast.Match: _match,
    ast.Global: shared,
    ast.Nonlocal: shared,
}
