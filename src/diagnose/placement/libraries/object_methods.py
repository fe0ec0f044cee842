"""What methods of lists, loaders, optimizers and other library objects do to placement."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.assignments import KEY, put_at
from diagnose.placement.devices import CPU
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.tensor_methods import unknown_arguments
from diagnose.placement.machine import Arguments, Machine, Meets, generating, operands
from diagnose.placement.model import Spot, Step
from diagnose.placement.tensors import WIDEST, Module, Optimizer, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Object, Unknown, Value


def listed(machine: Machine, value: Value, node: ast.expr, frame: Frame) -> None:
    """Notes that a tensor is put into a list by an expression; of a parameter, by what it was given."""
    if isinstance(value, Tensor):
        while isinstance(node, ast.Name) and node.id in frame.given and frame.caller is not None:
            if _is_one_of_several(frame.given[node.id], frame.call):
                break
            node, frame = frame.given[node.id], frame.caller
        step = Step(EventKind.LISTED, machine.spot(node, frame), value.device)
        value.steps = (*value.steps[-12:], step)
    elif isinstance(node, ast.Tuple) and isinstance(value, Items):
        for one, item in zip(node.elts, value.items, strict=False):
            listed(machine, item, one, frame)


def _is_one_of_several(given: ast.expr, call: Spot | None) -> bool:
    """Whether an argument is handed over with others by one expression, ``*both``."""
    args = call.node.args if call is not None and isinstance(call.node, ast.Call) else []
    return any(isinstance(one, ast.Starred) and given in (one, one.value) for one in args)


def list_method(owner: Items, call: CallSite) -> Value:
    """What a method of a list gives."""
    first, given = call.first, call.given
    room = len(owner.items) < WIDEST
    match call.name:
        case "append" | "add" | "appendleft" | "extend" | "insert":
            owner.grows = True
    match call.name:
        case "append" | "add" | "appendleft" if first is not None:
            modules.hold(owner, first)
            listed(call.machine, first, given.listed[0].node, call.frame)
            owner.items += [first] if room else []
        case "insert" if len(given.listed) > 1:
            modules.hold(owner, given.listed[1].value)
            at = first.value if isinstance(first, Const) else None
            position = at if isinstance(at, int) else len(owner.items)
            if room:
                owner.items.insert(position, given.listed[1].value)
        case "extend" if isinstance(first, Items):
            owner.items.extend(list(first.every())[: max(0, WIDEST - len(owner.items))])
        case "extend" if isinstance(first, Tensor):
            listed(call.machine, first, given.listed[0].node, call.frame)
            owner.items += [first] if room else []
        case "append" | "add" | "extend" | "insert":
            pass
        case "pop" | "popleft":
            return next(owner.every(), Unknown())
        case "copy":
            return Items(list(owner.items), owner.more)
        case _:
            return Unknown()
    return Unknown() if call.name == "appendleft" else Const(None)


def dict_method(owner: Table, call: CallSite) -> Value:
    """What a method of a dict gives."""
    first, given = call.first, call.given
    match call.name:
        case "items":
            pairs: list[Value] = [Items([Const(key), value]) for key, value in owner.items.items()]
            return Items(pairs, Items([Unknown(KEY), owner.more]) if owner.more else None)
        case "keys":
            keys: list[Value] = [Const(key) for key in owner.items]
            return Items(keys, Unknown(KEY) if owner.more else None)
        case "copy":
            return Table(dict(owner.items), owner.more)
        case "values":
            return Items(list(owner.items.values()), owner.more)
        case "get" | "pop" | "setdefault":
            key = first.value if isinstance(first, Const) else None
            if key in owner.items:
                return owner.items[key]
            otherwise = given.listed[1].value if len(given.listed) > 1 else None
            if call.name == "setdefault" and otherwise is not None and first is not None:
                put_at(owner, first, otherwise)
                return otherwise
            return owner.more or otherwise or Unknown()
        case "update":
            if isinstance(first, Table):
                owner.items |= first.items
                owner.more = first.more or owner.more
            for key, one in given.named.items():
                put_at(owner, Const(key), one.value)
            return Const(None)
    return Unknown()


#: The tensors that a library's object was given when it was made.
HELD = "<held>"


def keeps_for_backward(owner: Object, call: CallSite) -> Value:
    """The context of an autograd function keeps tensors for its backward."""
    owner.attributes["saved_tensors"] = Items([one.value for one in call.given.listed])
    return Const(None)


def begins_base(call: CallSite) -> Value | None:
    """The ``__init__`` of a base of an object's class: it keeps the device that it is told."""
    told, this = call.given.named.get("device"), call.frame.this
    if told is not None and isinstance(this, Object):
        this.attributes.setdefault("device", told.value)
    return None


def library_call(
    machine: Machine, held: Value | None, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A call of which nothing is known but the tensors that it is given, and was given before."""
    sides = operands(given)
    if held is not None:
        called = getattr(getattr(node, "func", node), "value", node)
        sides = [*(Meets(called, t, t) for t in tensors_in(held)), *sides]
    models = [
        Meets(one.node, one.value, modules.any_weight(one.value))
        for one in given.every()
        if isinstance(one.value, Module)
    ]
    if models and sides:  # most often it calls one with the other
        machine.meet(ConstraintKind.HANDED, node, frame, [*models, *sides])
    for one in given.every():
        drawn = generating(one)
        if drawn is not None:
            machine.meet(ConstraintKind.GENERATOR, node, frame, [drawn])
    if len(sides) == 1:
        machine.meet(ConstraintKind.LIBRARY, node, frame, [*sides, *unknown_arguments(given)])
    if len(sides) > 1:
        machine.meet(ConstraintKind.LIBRARY, node, frame, sides)
        known = next(
            (s.tensor for s in sides if s.tensor.device not in (None, CPU)), sides[0].tensor
        )
        found = known.like(known.device if known.device != CPU else None)
        found.maker = Origin.LIBRARY if found.maker == Origin.OTHER else found.maker
        found.guessed = True
        return found
    return Unknown()


def loads_optimizer(owner: Optimizer, call: CallSite) -> Value:
    """An optimizer takes over a state, which goes to where its weights are."""
    if owner.module is not None:
        owner.loaded = Step(EventKind.LOADED, call.spot, owner.module.where())
        owner.loading = call.frame
    return Unknown()


def steps(owner: Optimizer, call: CallSite) -> Value:
    """An optimizer's step: its state meets the weights."""
    if owner.module is None:
        return Unknown()
    made = owner.loaded
    states = [tensor for tensor in tensors_in(owner.state) if not tensor.scalar]
    if made is not None and (
        made.what != EventKind.STEPPED or not states
    ):  # else it is put there anew
        before = (made,) if made.what != EventKind.STEPPED else (*owner.steps[:1], made)
        around = call.frame if made.what == EventKind.LOADED else owner.frame
        states.append(Tensor(made.device, Origin.STATE, before, around, module=owner.module))
    weight = Tensor(owner.module.where(), Origin.WEIGHT, owner.module.steps, module=owner.module)
    for state in states:
        sides = [Meets(call.node, owner, state), Meets(call.node, owner, weight)]
        call.meet(ConstraintKind.STATE, sides)
    if made is None and owner.remembers and weight.device is not None:
        owner.loaded = Step(EventKind.STEPPED, call.spot, weight.device)
    return Unknown()
