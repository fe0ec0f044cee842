"""Calls of the user's functions, classes and modules."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.language.control_flow import body_of, yielded
from diagnose.placement.lattice import joined
from diagnose.placement.libraries.device_maps import MAP, brought, given_back
from diagnose.placement.libraries.effects import library_call_of, method_call
from diagnose.placement.libraries.general import library_call
from diagnose.placement.libraries.layers import at_home, compare_inputs, hooked, is_away, scattered
from diagnose.placement.libraries.module_methods import applied
from diagnose.placement.machine import (
    AGAIN,
    DEPTH,
    Arguments,
    Given,
    Machine,
    Meets,
    Partial,
    operands,
)
from diagnose.placement.model import Spot
from diagnose.placement.pass_through import handed, let_through
from diagnose.placement.python_types import filled
from diagnose.placement.semantics import defaults, parameters, positional
from diagnose.placement.tensors import Batch, Module, State, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Around,
    Class,
    Const,
    External,
    Frame,
    Function,
    Method,
    Number,
    Object,
    Unknown,
    Value,
)


def invoke(
    machine: Machine, function: Value, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """The result of calling a value."""
    match function:
        case Function():
            return run(machine, function, given, node, frame)
        case Partial():
            return invoke(machine, function.function, function.with_(given), node, frame)
        case Class():
            return construct(machine, function, given, node, frame)
        case Method(name="__new__", owner=Class() as made):
            return _bare(machine, made, Arguments(), node, frame)
        case Method():
            return method_call(machine, function.owner, function.name, given, node, frame)
        case Module():

            def work(given: Arguments) -> Value:
                return forward(machine, function, given, node, frame)

            return hooked(machine, function, given, node, frame, work)
        case Batch() if function.inner.maker == Origin.LOAD:  # a whole model that was loaded
            given_ = operands(given)
            machine.meet(
                ConstraintKind.CALL, node, frame, [Meets(node, function, function.inner), *given_]
            )
            return Unknown()
        case External():
            return library_call_of(machine, function.dotted, given, node, frame)
        case Object(kind="static"):
            return invoke(machine, function.attributes["call"], given, node, frame)
        case Object():
            called = function.made.find("__call__") if function.made is not None else None
            if isinstance(called, Function):
                return run(machine, called.bound(function), given, node, frame)
            return method_call(machine, function, "__call__", given, node, frame)
    return library_call(machine, None, given, node, frame)


#: Methods by which an object of the user's moves what it holds.
_MOVING = frozenset({"to", "cuda"})


def run(
    machine: Machine, function: Function, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """The result of a function of the user's."""
    machine.entered.add(id(function.node))
    key = _key(function)
    if function.owner is not None and function.this is None and given.listed:
        function, given = function.bound(given.listed[0].value), given.rest()
    if len(machine.calls) >= DEPTH or machine.depths.get(key, 0) >= AGAIN:
        return Unknown()
    inner = Frame(
        function.source, {}, function.around, function.name, function.this, function.owner
    )
    inner.caller, inner.call = frame, Spot(frame.source, node, frame.function)
    _parameters(machine, function, given, inner)
    taken = handed(machine, function, inner)
    inner.within = body_of(machine, function, node)
    machine.depths[key] = machine.depths.get(key, 0) + 1
    machine.calls.append(Spot(frame.source, node, frame.function))
    try:
        if isinstance(function.node, ast.Lambda):
            inner.result = [machine.evaluate(machine, function.node.body, inner)]
            return inner.result[0]
        machine.execute(machine, function.node.body, inner)
        if inner.yields:
            yielded(inner, inner.result[-1])
    finally:
        machine.calls.pop()
        machine.depths[key] -= 1
    let_through(machine, function, taken, inner)
    called = isinstance(node, ast.Call)  # by the program, and not at its end
    if called and isinstance(function.this, Object) and function.node.name in _MOVING:
        function.this.steps += machine.step(EventKind.MOVED, node, frame)
    if inner.result and inner.yields:
        return Items([], _all(inner.result))
    return _all(inner.result) if inner.result else Const(None)


def _key(function: Function) -> int:
    """What tells a function from others: where a call has made it, the variables there do, too."""
    around = function.around
    made = isinstance(around, Around) and around.frame.function is not None
    return hash((id(function.node), id(around))) if made else id(function.node)


def _all(values: list[Value]) -> Value:
    found = values[0]
    for value in values[1:]:
        found = joined(found, value)
    return found


def _parameters(machine: Machine, function: Function, given: Arguments, inner: Frame) -> None:
    args, usual = function.node.args, defaults(function.node)
    names = [each.arg for each in positional(function.node)]
    listed = list(given.listed)
    if function.this is not None and names:
        inner.names[names[0]] = function.this
        names = names[1:]
    elif function.this is not None:
        listed.insert(0, Given(ast.Name("self"), function.this))
    for name in (*names, *(each.arg for each in args.kwonlyargs)):
        at = names.index(name) if name in names else len(listed)
        found = given.named.get(name) or (listed[at] if at < len(listed) else None)
        if found is not None:
            inner.given[name] = found.node
        inner.names[name] = _passed(machine, name, found, usual.get(name), given, inner, function)
    if args.vararg is not None:
        inner.names[args.vararg.arg] = Items([one.value for one in listed[len(names) :]])
    if args.kwarg is not None:
        rest: dict[object, Value] = {
            key: one.value
            for key, one in given.named.items()
            if key not in inner.names and key != "**"
        }
        inner.names[args.kwarg.arg] = Table(rest, Unknown() if given.open else None)
    for name in inner.names:
        inner.lines[name] = 0
    for each in parameters(function.node):
        held = inner.names.get(each.arg)
        if isinstance(held, Tensor) and _is_number(each.annotation):
            inner.names[each.arg] = held.like(held.device, scalar=True)


def _is_number(annotation: ast.expr | None) -> bool:
    """Whether a parameter is said to be a number: a tensor in its place has no dimensions."""
    return isinstance(annotation, ast.Name) and annotation.id in ("int", "float", "bool")


def _passed(
    machine: Machine,
    name: str,
    found: Given | None,
    default: ast.expr | None,
    given: Arguments,
    inner: Frame,
    function: Function,
) -> Value:
    if found is not None:
        return found.value
    if given.open and (rest := given.named.get("**")) is not None:
        return next(iter(tensors_in(rest.value)), Unknown(name))
    if default is not None:
        return function.held.get(default) or machine.evaluate(machine, default, inner)
    return Unknown(name)


def construct(
    machine: Machine, made: Class, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """An object of a user's class."""
    if given.listed and any(name.endswith(("Enum", "Flag")) for name in made.names()):
        return given.listed[0].value  # the member of a value
    found = _bare(machine, made, given, node, frame)
    start = made.find("__init__")
    if isinstance(start, Function):
        run(machine, start.bound(found), given, node, frame)
    elif isinstance(found, Module) and modules.container(machine, found) is not None:
        method_call(machine, found, "__init__", given, node, frame)
    else:
        held = found.plain if isinstance(found, Module) else found.attributes
        held |= filled(machine, made, given, node, frame)
        if isinstance(found, Object) and isinstance(after := made.find("__post_init__"), Function):
            run(machine, after.bound(found), Arguments(), node, frame)
    return found


def _bare(
    machine: Machine, made: Class, given: Arguments, node: ast.AST, frame: Frame
) -> Module | Object:
    """An object of a user's class before its ``__init__`` runs."""
    found: Module | Object
    if modules.of_class(machine, made.foreign()) or modules.runs(machine, made):
        found = Module(made.node.name, None, made)
        found.weights = False
        if (shape := _library_of(machine, made)) is not None:
            found.weights, found.device = shape, machine.for_weights()
    elif any(name.rpartition(".")[2].endswith("Optimizer") for name in made.names()):
        found = Object("optimizer", made)
        weights = next((t for one in given.every() for t in tensors_in(one.value)), None)
        group = Table({"params": Items([], weights)}, Number())
        found.attributes = {"param_groups": Items([], group), "state": State({}, State({}))}
    else:
        found = Object(made.node.name, made)
    found.steps, found.frame = (
        machine.step(EventKind.MADE, node, frame, machine.for_weights()),
        frame,
    )
    if isinstance(found, Module):
        machine.modules.append(found)
    if not isinstance(node, ast.ClassDef):
        machine.objects.setdefault(id(made.node), found)
    return found


def _library_of(machine: Machine, made: Class) -> bool | None:
    """True where a base is a library's model with weights of its own."""
    for name in made.names():
        last = name.rpartition(".")[2]
        holds = last == "Module" or last in machine.torch.module_containers
        if name.startswith("torch.nn.") and not holds:
            return True
        if last.startswith(tuple(machine.torch.model_prefixes)) and "." in name:
            return True
    return None


def forward(
    machine: Machine, module: Module, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """The result of calling a module."""
    machine.spend()
    found: Value
    if module.runs is not None:
        spot = machine.spot(node, frame)
        return brought(
            module, given, spot, lambda moved: forward(machine, module, moved, node, frame)
        )
    if MAP in module.plain and module.owner is None and module.children:
        kept = module.plain.pop(MAP)
        try:
            found = forward(machine, module, given, node, frame)
        finally:
            module.plain[MAP] = kept
        return given_back(found, given, machine.spot(node, frame))
    if module.made is not None:
        called = module.made.find("forward") or module.made.find("__call__")
        if isinstance(called, Function):
            compare_inputs(machine, module, given, node, frame)
            return run(machine, called.bound(module), given, node, frame)
    if module.children and modules.container(machine, module) == "Sequential":
        current = given
        found = Unknown()
        for each in module.children.values():
            found = forward(machine, each, current, node, frame)
            current = Arguments([Given(one.node, found) for one in current.listed[:1]])
        return found
    if module.kind in ("DataParallel", "DistributedDataParallel"):
        if "module" not in module.children:
            return Unknown()  # a wrapper brings inputs along, whatever it has wrapped
        if module.kind == "DataParallel":
            at_home(machine, module, node, frame)
        given = scattered(module, given, node, machine, frame)
        found = forward(machine, module.children["module"], given, node, frame)
        return Unknown() if is_away(module) else found  # it fails there, and nothing comes after
    if not module.weights and list(module.children) == ["module"]:  # an averaged copy
        return forward(machine, module.children["module"], given, node, frame)
    return applied(machine, module, given, node, frame)
