"""What the words of kb/effects.toml do that hold for calls of any library."""

from __future__ import annotations

from diagnose.kinds import ConstraintKind, Origin
from diagnose.placement.device_guards import assumed
from diagnose.placement.devices import CPU, CURRENT
from diagnose.placement.iteration import iterated
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.tensor_methods import moved
from diagnose.placement.machine import Arguments, Given, operands
from diagnose.placement.model import Device
from diagnose.placement.tensors import Batch, Module, Optimizer, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Number, Object, Place, Unknown, Value


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
