"""What the words of kb/effects.toml do that hold for calls of any library, and what methods of lists,
loaders, optimizers and other library objects do.
"""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.assignments import KEY, iterated, put_at
from diagnose.placement.devices import CPU, CURRENT
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.tensor_methods import moved, unknown_arguments
from diagnose.placement.machine import (
    Arguments,
    Given,
    Machine,
    Meets,
    assumed,
    generating,
    operands,
)
from diagnose.placement.model import Device, Spot, Step
from diagnose.placement.tensors import WIDEST, Batch, Module, Optimizer, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Number, Object, Place, Unknown, Value


def same(call: CallSite) -> Value | None:
    """What it is given: the argument that the row tells; else its owner, a model, or the first one."""
    if call.effect.of:
        told = call.argument(call.effect.of)
        return told.value if told is not None else None
    if call.owner is not None:
        return call.owner
    models = (one.value for one in call.given.every() if isinstance(one.value, Module))
    return next(models, call.first)


def same_model(call: CallSite) -> Value | None:
    """The model that it is given first; what else it is given says nothing."""
    return call.first if isinstance(call.first, Module) else None


def unknown(call: CallSite) -> Value:
    """Nobody knows what it gives."""
    return Unknown()


def given(call: CallSite) -> Value:
    """What the row says that a call gives: None, whether something holds, a number, an array, or an object
    of that class."""
    match call.effect.gives:
        case "none":
            return Const(None)
        case "true" | "false":
            return Const(call.effect.gives == "true")
        case "number":
            return Number()
        case "array":
            return Unknown("array")
        case "accelerator-device":
            return Place(call.machine.home())
        case "device-count":
            return Const(call.machine.gpus)
        case "current-device":
            return Number(CURRENT)
        case "rank":
            return Number("rank")
        case "self" if call.owner is not None:
            return call.owner
    return Object(call.effect.gives)


def reads(call: CallSite) -> Value:
    """It reads in the host's memory what it is given."""
    return _read(call, sure=True)


def may_read(call: CallSite) -> Value:
    """It reads what it is given, or hands it on."""
    return _read(call, sure=False)


def _read(call: CallSite, *, sure: bool) -> Value:
    # What a solver hands on to the function that it is given stays what it is.
    named = {name: one for name, one in call.given.named.items() if name != "args"}
    sides = operands(call.given._replace(named=named))
    if not sure:
        sides = [side._replace(tensor=assumed(side.tensor)) for side in sides]
    if sides:
        call.meet(ConstraintKind.HOST, sides)
    return given(call)


def made(call: CallSite) -> Value:
    """A tensor that it makes, on the device of the row."""
    return call.tensor(_device(call), Origin.FACTORY)


def _device(call: CallSite) -> Device | None:
    to = call.effect.to
    if to not in call.effect.takes:
        return CPU if to == "cpu" else call.machine.home()
    told = call.argument(to)
    return CPU if told is None else call.machine.asked(told.value)


def moves(call: CallSite) -> Value | None:
    """It gives, moved, the tensors that it is given; models it leaves where they are."""
    value, said = call.first, call.argument(call.effect.to)
    if value is None or isinstance(value, Module):
        return value
    device = call.machine.asked(said.value) if said is not None else None
    return moved(value, device, call.moves(device))


def moves_in_place(call: CallSite) -> Value | None:
    """As `moves`; the dict that it is given holds them then."""
    value, found = call.first, moves(call)
    if isinstance(value, Batch) and isinstance(found, Batch):
        value.inner = found.inner
    elif isinstance(value, Table) and isinstance(found, Table):
        value.items, value.more = found.items, found.more
    return found


def items(call: CallSite) -> Value | None:
    """One by one what it is given."""
    one = call.given.get("iterable", 0)
    if one is None:
        return Unknown() if call.given.every() else None
    return iterated(call.machine, one.value, call.node, call.frame)


def runs(call: CallSite) -> Value | None:
    """It calls what it is given first with the rest, but for its own options."""
    if call.first is None:
        return None
    own = call.effect.without
    named = {name: one for name, one in call.given.named.items() if name not in own}
    return call.run(call.first, call.given.rest()._replace(named=named))


def starts(call: CallSite) -> Value | None:
    """It runs a function in a thread or in processes, with the arguments that are listed for it (``args``,
    ``kwargs``), told its rank first where the row says so; which GPU is its current one is its own."""
    function = call.argument(call.effect.of)
    if function is None:
        return None
    args, kwargs = call.argument("args"), call.argument("kwargs")
    ranked: list[Value] = [Number("rank")] if call.effect.gives == "rank" else []
    listed = args.value.items if args is not None and isinstance(args.value, Items) else []
    table = kwargs.value.items if kwargs is not None and isinstance(kwargs.value, Table) else {}
    handed = Arguments(
        [Given(function.node, value) for value in (*ranked, *listed)],
        {str(name): Given(function.node, value) for name, value in table.items()},
    )
    current = call.machine.current
    call.run(function.value, handed)
    call.machine.current = current
    return Object("thread")


def unbound(call: CallSite) -> Value | None:
    """A method of a tensor, called as a function."""
    if not isinstance(call.first, Tensor | Unknown):
        return None
    return call.run(call.attribute(call.first, call.last), call.given.rest())


#: What an object has of what it is called with, and of what it was made of: no attributes of a program's.
RESULT, MODEL = "<result>", "model"


def scaled_step(call: CallSite) -> Value:
    """A scaler of gradients steps the optimizer that it is given."""
    first = call.first
    if not isinstance(first, Optimizer | Object):
        return Unknown()
    return call.run(call.attribute(first, "step"), call.given.rest())


def changed(call: CallSite) -> Value:
    """What gives back, changed, what it is given, where that is: a transform of tensors or of graphs."""
    held = [one.value for one in call.given.listed if isinstance(one.value, Tensor | Batch | Items)]
    if not held or len(held) < len(call.given.listed):
        return Unknown()
    return held[0] if len(held) == 1 else Items(list(held))


def submitted(call: CallSite) -> Value:
    """A pool of threads or processes calls what it is given; a future has the result."""
    if call.first is None:
        return Unknown()
    found = Object("concurrent.futures.Future")
    found.attributes[RESULT] = call.run(call.first, call.given.rest())
    return found


def kept(owner: Object, call: CallSite) -> Value:
    """What an object was made of, or has as its result: the attribute that the row tells."""
    return owner.attributes.get(call.effect.of, Unknown())


def pictured(call: CallSite) -> Value:
    """A transform of pictures makes tensors of them, on the cpu; a tensor stays where it is."""
    first = call.first
    return first.like(first.device) if isinstance(first, Tensor) else call.tensor(CPU, Origin.BATCH)


def host_batch(call: CallSite) -> Value:
    """A batch that is made on the cpu, of rows or of tokens."""
    maker = Origin.TOKENS if call.effect.gives == "tokens" else Origin.BATCH
    return Batch(call.tensor(CPU, maker), mutable=True)


def tokens(call: CallSite) -> Value:
    """What a tokenizer or processor gives, where it is asked for tensors; a fast one is told a device."""
    given = call.given
    asked = "return_tensors" in given.named
    if not (asked or given.open) or (
        given.text("return_tensors") is None and call.last != "__call__"
    ):
        return Unknown()  # lists of numbers
    told = "device" in given.named
    made = call.tensor(call.device("device") if told else CPU, Origin.TOKENS)
    return made if call.last == "encode" else Batch(made, mutable=True)


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


def _entry(owner: Table, call: CallSite) -> Value:
    """What a dict has at a key, or is given for it."""
    first, listed = call.first, call.given.listed
    key = first.value if isinstance(first, Const) else None
    if key in owner.items:
        return owner.items[key]
    otherwise = listed[1].value if len(listed) > 1 else None
    if call.name == "setdefault" and otherwise is not None and first is not None:
        put_at(owner, first, otherwise)
        return otherwise
    return owner.more or otherwise or Unknown()


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
            return _entry(owner, call)
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
    where = owner.module.where() if owner.module is not None else None
    owner.loaded = Step(EventKind.LOADED, call.spot, where)
    owner.loading = call.frame
    return Unknown()


def steps(owner: Optimizer, call: CallSite) -> Value:
    """An optimizer's step: its state meets the weights."""
    made = owner.loaded
    if owner.module is None and made is None:
        return Unknown()
    states = [tensor for tensor in tensors_in(owner.state) if not tensor.scalar]
    if made is not None and (
        made.what != EventKind.STEPPED or not states
    ):  # else it is put there anew
        before = (made,) if made.what != EventKind.STEPPED else (*owner.steps[:1], made)
        around = call.frame if made.what == EventKind.LOADED else owner.frame
        states.append(Tensor(made.device, Origin.STATE, before, around, module=owner.module))
    weight = Tensor(None, Origin.WEIGHT)
    if owner.module is not None:
        where, steps = owner.module.where(), owner.module.steps
        weight = Tensor(where, Origin.WEIGHT, steps, module=owner.module)
    for state in states:
        sides = [Meets(call.node, owner, state), Meets(call.node, owner, weight)]
        call.meet(ConstraintKind.STATE, sides)
    if made is None and owner.remembers and weight.device is not None:
        owner.loaded = Step(EventKind.STEPPED, call.spot, weight.device)
    return Unknown()
