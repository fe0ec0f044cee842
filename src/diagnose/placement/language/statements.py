"""Statements of the user's files, executed on abstract values: also functions, classes and imports, and
moves whose results nothing keeps.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import islice

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.assignments import any_item, bind, iterated, loaded, store
from diagnose.placement.devices import differ, is_host
from diagnose.placement.language.control_flow import Ways, matches, truth, with_
from diagnose.placement.libraries.datasets import drawn
from diagnose.placement.machine import (
    Arguments,
    Ends,
    Given,
    Leaves,
    Machine,
    Meets,
    Partial,
    refusal,
)
from diagnose.placement.model import Step
from diagnose.placement.semantics import dotted, holds, lines_of, loads, names, nodes
from diagnose.placement.tensors import WIDEST, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Around,
    Class,
    Const,
    External,
    Frame,
    Function,
    Loader,
    Number,
    Object,
    Unknown,
    Value,
)


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
        if held.scalar and is_host(held.device):  # mixes where it is read, not where it is written
            sides = [Meets(load, held, held), Meets(node.value, value, value)]
            machine.meet(ConstraintKind.JOIN, node, frame, sides)
        value = held.like(held.device)
    elif isinstance(held, Items):
        held.grows = True
        more = machine.evaluate(machine, node.value, frame)
        if isinstance(more, Items):
            held.items += islice(list(more.every()), max(0, WIDEST - len(held.items)))
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
    test, told = truth(machine, node.test, frame), machine.trace.branch(frame.source, node)
    test = told if told is not None else test
    refusal(machine, node, frame, holds=test)
    if test and told is None and isinstance(node.body[-1], ast.Raise):
        test = _passed(node, frame)
    if test is not None:
        _block(machine, node.body if test else node.orelse, frame)
        return
    _forks(machine, (node.body, node.orelse), frame)


def _passed(node: ast.If, frame: Frame) -> bool:
    """False: a run that is worth a word does not end in an ``if`` that raises. What was left out is given
    then, nobody knows what."""
    for name in names(node.test):
        held = frame.names.get(name)
        if isinstance(held, Const) and held.value is None:
            frame.names[name] = Unknown(name)
    return False


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


def function(machine: Machine, node: ast.AST, frame: Frame) -> None:
    """Binds a function of the user's."""
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    owner = frame.owner if frame.is_class_body() and isinstance(frame.owner, Class) else None
    name = f"{owner.node.name}.{node.name}" if owner else node.name
    made = Function(node, frame.source, Around(frame), name, owner)
    made.held = _held(node, frame)
    value: Value = made
    for decorator in reversed(node.decorator_list):
        said = ast.unparse(decorator)
        if said in ("property", "cached_property", "functools.cached_property"):
            held = Object("property")
            held.attributes["get"], value = value, held
        elif said in ("staticmethod", "classmethod"):
            held = Object("static" if said == "staticmethod" else "class")
            if said == "staticmethod" and isinstance(value, Function):
                value.owner = None  # it is given no object
            held.attributes["call"], value = value, held
        else:
            value = _decorated(machine, decorator, value, frame)
        if frame.function is not None and _is_handed(machine, decorator, frame):
            machine.hung.append((value, frame))
    if frame.function is not None and machine.trace.is_in(frame.source, node):
        machine.inner.append((made, frame))
    bind(frame, node.name, value, node)


def _held(node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> dict[ast.expr, Value]:
    """The defaults of a function that are variables with tensors: they stay what they are now."""
    defaults = (*node.args.defaults, *node.args.kw_defaults)
    named = {one: frame.get(one.id) for one in defaults if isinstance(one, ast.Name)}
    return {one: value for one, value in named.items() if isinstance(value, Tensor)}


def _is_handed(machine: Machine, decorator: ast.expr, frame: Frame) -> bool:
    """Whether a decorator hands a function to an object that calls it, as ``@app.route("/")`` does."""
    match decorator:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
            return not isinstance(frame.get(name), External | Class | Function | None)
    return False


def _decorated(machine: Machine, decorator: ast.expr, value: Value, frame: Frame) -> Value:
    """What a decorator of the user's makes of a function or class; others are taken to leave it."""
    call = isinstance(decorator, ast.Call)
    by = machine.evaluate(machine, decorator.func if call else decorator, frame)  # type: ignore[attr-defined]
    known = by.attributes.get("call") if isinstance(by, Object) else by
    if not isinstance(known, Function | Class | Partial):
        return value
    if call:
        by = machine.evaluate(machine, decorator, frame)
    given = Arguments([Given(decorator, value)])
    made = machine.invoke(machine, by, given, decorator, frame)
    if isinstance(made, Function) and isinstance(value, Function) and made is not value:
        made.undecorated = value.undecorated or value
        return made
    return made if isinstance(made, Partial | Class) else value


def class_(machine: Machine, node: ast.AST, frame: Frame) -> None:
    """Binds a class of the user's, with its members."""
    assert isinstance(node, ast.ClassDef)
    made = Class(node, frame.source)
    for base in node.bases:
        value = machine.evaluate(machine, base, frame)
        if isinstance(value, Class):
            made.bases.append(value)
        else:
            made.library.append(
                value.dotted if isinstance(value, External) else ast.unparse(base)[:80]
            )
    inner = Frame(frame.source, {}, Around(frame), node.name, owner=made)
    machine.execute(machine, node.body, inner)
    made.members = dict(inner.names)
    found: Value = made
    for decorator in reversed(node.decorator_list):
        found = _decorated(machine, decorator, found, frame)
    bind(frame, node.name, found, node)


def shared(machine: Machine, node: ast.AST, frame: Frame) -> None:
    """``global`` and ``nonlocal``: the names are of variables further out."""
    assert isinstance(node, ast.Global | ast.Nonlocal)
    for name in node.names:
        outer = frame
        while isinstance(outer.around, Around):
            outer = outer.around.frame
            held = name in outer.names and not outer.is_class_body()
            if isinstance(node, ast.Nonlocal) and held:
                break
        if outer is not frame:
            frame.shared[name] = outer


def import_(machine: Machine, node: ast.AST, frame: Frame) -> None:
    """Binds what ``import`` names."""
    assert isinstance(node, ast.Import)
    for alias in node.names:
        if alias.asname is not None:
            value = machine.load(machine, alias.name, 0, frame) or External(alias.name)
            bind(frame, alias.asname, value, node)
        else:
            name, *inner = alias.name.split(".")
            bind(frame, name, _package(machine, name, inner, frame) or External(name), node)


def _package(machine: Machine, name: str, inner: Sequence[str], frame: Frame) -> Value | None:
    """A package of the user's, with the module in it that an import names; None for a library's."""
    held = frame.names.get(name)
    found = held if isinstance(held, Object) else machine.load(machine, name, 0, frame)
    outer = found
    for part in inner:
        name = f"{name}.{part}"
        module = machine.load(machine, name, 0, frame)
        if module is None:
            break
        if not isinstance(outer, Object):  # a folder without an ``__init__.py``
            found = outer = Object("module")
        outer.attributes[part] = module
        outer = module
    return found


def import_from(machine: Machine, node: ast.AST, frame: Frame) -> None:
    """Binds what ``from ... import`` names."""
    assert isinstance(node, ast.ImportFrom)
    base = machine.load(machine, node.module or "", node.level, frame)
    for alias in node.names:
        name = alias.asname or alias.name
        value: Value | None = None
        if isinstance(base, Object):
            value = base.attributes.get(alias.name)
            if value is None:
                path = f"{node.module}.{alias.name}" if node.module else alias.name
                value = machine.load(machine, path, node.level, frame) or Unknown(alias.name)
        # What stands beside the file is no library's, whatever it is called.
        whole = f"{'.' * node.level}{node.module or ''}.{alias.name}"
        bind(frame, name, value or machine.replaced.get(whole) or External(whole), node)


#: What comes from here is a tensor; anything else may be a module, which moves in place.
_OF_TENSORS = frozenset({Origin.FACTORY, Origin.ARRAY})


def lose(machine: Machine, node: ast.Expr | ast.Assign, value: Value, frame: Frame) -> None:
    """A tensor is not moved in place: what a statement moves and does not keep knows that it was to move.

    Args:
        machine: the analysis.
        node: a statement that is about to end: an assignment has not given its value to its name yet.
        value: what its expression gave.
        frame: the variables around it.
    """
    match node.value:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)):
            pass
        case _:
            return
    if not isinstance(value, Tensor) or method not in machine.torch.moves:
        return
    if isinstance(node, ast.Assign) and id(node) not in _lost(frame.source.tree):
        return
    moved = machine.evaluate(machine, owner, frame)
    if isinstance(moved, Tensor):
        step = Step(EventKind.DROPPED, machine.spot(node.value, frame), value.device)
        moved.steps = (*moved.steps, step)
        if moved.maker in _OF_TENSORS and differ(moved.device, value.device):
            side = Meets(owner, moved, moved)
            machine.meet(ConstraintKind.DISCARDED, node.value, frame, [side])


@lru_cache(maxsize=8)
def _lost(tree: ast.Module) -> frozenset[int]:
    """The statements that move the variable of a loop, which nothing reads until the loop sets it anew."""
    return frozenset(id(one) for loop in nodes(tree, ast.For) for one in _lost_by(loop))


def _lost_by(loop: ast.For) -> Iterator[ast.Assign]:
    own, body = names(loop.target), loop.body
    # What a loop within moves, its next round may read.
    rounds = [one for each in body for one in nodes(each, ast.For, ast.AsyncFor, ast.While)]
    for one in (one for each in body for one in nodes(each, ast.Assign)):
        match one:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=moved))),
            ) if name == moved and name in own and not any(holds(each, one) for each in rounds):
                read = (use.lineno for each in body for use in loads(each, name))
                if max(read, default=0) < lines_of(one).stop:
                    yield one


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
