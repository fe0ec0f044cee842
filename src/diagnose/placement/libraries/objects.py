"""Objects of libraries of which more is known than their names: what their methods give."""

from __future__ import annotations

from diagnose.kinds import Origin
from diagnose.placement.devices import CPU
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.tensors import Batch, Optimizer, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Object, Unknown, Value

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
