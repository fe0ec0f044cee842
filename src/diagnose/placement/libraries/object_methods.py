"""What methods of lists, loaders, optimizers and other library objects do to placement."""

from __future__ import annotations

import ast
from collections.abc import Callable

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.assignments import KEY, put_at
from diagnose.placement.devices import CPU
from diagnose.placement.libraries.accelerators import accelerated
from diagnose.placement.libraries.diffusers import distribution, scheduler
from diagnose.placement.libraries.objects import (
    executor,
    exported,
    future,
    passing,
    scaler,
    transform,
)
from diagnose.placement.libraries.offload_turns import HOOK, turn_hook
from diagnose.placement.libraries.options import parsed
from diagnose.placement.libraries.tensor_methods import unknown_arguments
from diagnose.placement.libraries.trainers import collator, piped, trained
from diagnose.placement.machine import Arguments, Machine, Meets, generating, operands
from diagnose.placement.model import Spot, Step
from diagnose.placement.tensors import (
    WIDEST,
    Batch,
    Module,
    Optimizer,
    Table,
    Tensor,
    tensors_in,
)
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Const,
    Frame,
    Object,
    Unknown,
    Value,
)


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


#: Methods of a list that put items into it.
_GROWING = ("append", "appendleft", "add", "insert", "extend")


def container_method(
    machine: Machine, owner: Value, name: str, given: Arguments, frame: Frame
) -> Value:
    """What a method of a list or dict gives."""
    first = given.listed[0].value if given.listed else None
    if isinstance(owner, Items):
        owner.grows = owner.grows or name in _GROWING
        if name in ("append", "add", "appendleft") and first is not None:
            modules.hold(owner, first)
            listed(machine, first, given.listed[0].node, frame)
            if len(owner.items) < WIDEST:
                owner.items.append(first)
        elif name == "insert" and len(given.listed) > 1:
            modules.hold(owner, given.listed[1].value)
            if len(owner.items) < WIDEST:
                at = first.value if isinstance(first, Const) else None
                position = at if isinstance(at, int) else len(owner.items)
                owner.items.insert(position, given.listed[1].value)
        elif name == "extend" and isinstance(first, Items):
            owner.items.extend(list(first.every())[: max(0, WIDEST - len(owner.items))])
        elif name == "extend" and isinstance(first, Tensor):
            listed(machine, first, given.listed[0].node, frame)
            if len(owner.items) < WIDEST:
                owner.items.append(first)
        elif name in ("pop", "popleft"):
            return next(owner.every(), Unknown())
        elif name == "copy":
            return Items(list(owner.items), owner.more)
        return Const(None) if name in ("append", "extend", "add", "insert") else Unknown()
    assert isinstance(owner, Table)
    match name:
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
            if name == "setdefault" and len(given.listed) > 1 and first is not None:
                put_at(owner, first, given.listed[1].value)
                return given.listed[1].value
            return owner.more or (given.listed[1].value if len(given.listed) > 1 else Unknown())
        case "update":
            if isinstance(first, Table):
                owner.items |= first.items
                owner.more = first.more or owner.more
            for key, one in given.named.items():
                put_at(owner, Const(key), one.value)
            return Const(None)
    return Unknown()


def object_method(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What a method of a library's object gives."""
    if owner.kind == "ctx" and name == "save_for_backward":
        owner.attributes["saved_tensors"] = Items([one.value for one in given.listed])
        return Const(None)
    told = given.named.get("device") if owner.kind == "super" and name == "__init__" else None
    if told is not None and isinstance(frame.this, Object):  # a base that keeps its device
        frame.this.attributes.setdefault("device", told.value)
    run = _OBJECTS.get(owner.kind)
    if run is not None:
        return run(machine, owner, name, given, node, frame)
    return library_call(machine, owner.attributes.get(HELD), given, node, frame)


#: The tensors that a library's object was given when it was made.
HELD = "<held>"


def _host(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    sides = operands(given)
    if sides:
        machine.meet(ConstraintKind.HOST, node, frame, sides)
    return owner if name.startswith("fit") else Unknown("array")


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


def _tokenizer(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if name in machine.torch.tokenizer_methods:
        if given.text("return_tensors") is None and name != "__call__":
            return Unknown()
        if "return_tensors" not in given.named and not given.open:  # lists of numbers
            return Unknown()
        said = given.named.get("device")  # a fast image processor is told one
        device = machine.asked(said.value) if said is not None else CPU
        made = Tensor(
            device, Origin.TOKENS, machine.step(EventKind.MADE, node, frame, device), frame
        )
        return made if name in ("encode",) else Batch(made, mutable=True)
    return Unknown()


_Run = Callable[[Machine, Object, str, Arguments, ast.AST, Frame], Value]


_OBJECTS: dict[str, _Run] = {
    "executor": executor,
    "exported": exported,
    "future": future,
    "scheduler": scheduler,
    "transform": transform,
    "scaler": scaler,
    "tokenizer": _tokenizer,
    "accelerator": accelerated,
    "trainer": trained,
    "fitting": trained,
    "pipeline": piped,
    "collator": collator,
    "distribution": distribution,
    "passing": passing,
    "parser": parsed,
    "host": _host,
    HOOK: turn_hook,
}


def optimizer_method(
    machine: Machine, owner: Optimizer, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What a method of an optimizer does."""
    if name == "load_state_dict" and owner.module is not None:
        where = owner.module.where()
        owner.loaded = Step(EventKind.LOADED, machine.spot(node, frame), where)
        owner.loading = frame
    if name == "step" and owner.module is not None:
        made = owner.loaded
        states = [tensor for tensor in tensors_in(owner.state) if not tensor.scalar]
        if made is not None and (
            made.what != EventKind.STEPPED or not states
        ):  # else it is put there anew
            steps = (made,) if made.what != EventKind.STEPPED else (*owner.steps[:1], made)
            around = frame if made.what == EventKind.LOADED else owner.frame
            states.append(Tensor(made.device, Origin.STATE, steps, around, module=owner.module))
        weight = Tensor(
            owner.module.where(), Origin.WEIGHT, owner.module.steps, module=owner.module
        )
        for state in states:
            sides = [Meets(node, owner, state), Meets(node, owner, weight)]
            machine.meet(ConstraintKind.STATE, node, frame, sides)
        if made is None and owner.remembers and weight.device is not None:
            owner.loaded = Step(EventKind.STEPPED, machine.spot(node, frame), weight.device)
    return Unknown()
