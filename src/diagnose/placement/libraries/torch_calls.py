"""What calls of torch give: devices, tensors and distributions, where they are made; generators, weights,
optimizers, operations; the rank of a process.
"""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.devices import CPU, HOME
from diagnose.placement.libraries.call_site import CallSite, weight_of
from diagnose.placement.libraries.layers import CLASS_WEIGHTS, loaded_model
from diagnose.placement.libraries.tensor_methods import unknown_arguments
from diagnose.placement.libraries.weights import loaded_from
from diagnose.placement.machine import (
    Arguments,
    Given,
    Meets,
    assumed,
    generating,
    is_open,
    kind_of,
    operands,
    origin,
)
from diagnose.placement.model import Device, Step
from diagnose.placement.provenance import born_at, last_move, on_cpu
from diagnose.placement.python_types import is_instance
from diagnose.placement.tensors import (
    Batch,
    Distribution,
    Module,
    Optimizer,
    Table,
    Tensor,
    leading,
    tensors_in,
)
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Const,
    External,
    Frame,
    Generator,
    Place,
    Unknown,
    Value,
)


def device(call: CallSite) -> Value:
    """``torch.device``: by its name, or by its type and number."""
    said = call.given.get("device", 0)
    place = call.device("device", 0)
    if len(call.given.listed) > 1 and place is not None:
        place = call.machine.asked(call.given.listed[1].value) or HOME
    of = origin(said.value) if said is not None else None
    return Place(place or HOME, call.step(EventKind.MADE, place, of))


def chosen_device(call: CallSite) -> Value:
    """A process chooses its GPU."""
    place = call.machine.asked(call.first)
    call.machine.current = (place or HOME)._replace(home=True)
    return Const(None)


def tells(call: CallSite) -> Value | None:
    """Whether something is a tensor, or one of a floating-point type."""
    first = call.first
    told = first.floating if isinstance(first, Tensor) else None
    if call.effect.gives == "tensor" and first is not None:
        told = is_instance(first, External("torch.Tensor"))
    return None if told is None else Const(told)


def default_device(call: CallSite) -> Value | None:
    """Where tensors are made from here on that are told nothing."""
    if call.first is None:
        return None
    none = isinstance(call.first, Const) and call.first.value is None
    call.machine.default = CPU if none else call.machine.asked(call.first) or call.machine.default
    return Const(None)


def default_type(call: CallSite) -> Value | None:
    """The same, by the type that tensors have from here on."""
    if call.first is None:
        return None
    kind = call.first
    name = kind.dotted if isinstance(kind, External) else call.given.text("t", 0) or ""
    call.machine.default = call.machine.home() if ".cuda." in name else CPU
    return Const(None)


def generator(call: CallSite) -> Value:
    """A generator: of the cpu, unless it is told another device."""
    said = call.argument("device")
    place = call.machine.asked(said.value) if said is not None else CPU
    found = Generator(place or HOME)
    found.steps, found.frame = call.step(EventKind.MADE, place), call.frame
    return found


def loaded_program(call: CallSite) -> Value:
    """A compiled program comes back where it was saved."""
    said = call.given.get("map_location", 1)
    whole = loaded_from(call, said.value if said is not None else None)
    return loaded_model(call, whole.inner)


def parameter(call: CallSite) -> Value:
    """A weight, or a buffer, where the tensor is that it is made of."""
    # What is made of what is not known is made anew while a module is built, and is taken over later.
    new = call.first is None or (call.frame.function or "").endswith("__init__")
    default = call.machine.default if new else None
    made = call.first if isinstance(call.first, Tensor) else Tensor(default)
    emptied = call.machine.emptied if call.effect.gives != "buffer" else None
    where = emptied or made.device
    weight = made.like(where, Step(EventKind.MADE, call.spot, where))
    weight.maker, weight.frame = Origin.WEIGHT, call.frame
    return weight


def parametrized(call: CallSite) -> Value | None:
    """A layer of which a module of its own computes a weight: at once, and whenever that is read."""
    layer, by = call.first, call.given.get("parametrization", 2)
    if not isinstance(layer, Module):
        return None
    if by is not None and isinstance(by.value, Module):
        name = f"parametrizations.{len(layer.children)}"
        modules.put(call.machine, layer, name, by.value, call.node, call.frame)
        call.run(by.value, Arguments([Given(by.node, weight_of(layer))]))
    return layer


def operation(call: CallSite) -> Value:
    """A function of torch: its tensors meet."""
    torch, last = call.machine.torch, call.last
    named = call.given.named.items()
    held = {name: one for name, one in named if name not in torch.scalar_keywords}
    if last in torch.losses:
        held = {name: _of_classes(name, one) for name, one in held.items()}
    given = call.given._replace(named=held)
    sides = operands(given)
    if last in torch.joins:  # they refuse numbers of another device, too
        sides = [side._replace(tensor=wide(side.tensor)) for side in sides]
    first = last in torch.shaping or last in torch.bringing
    sides = sides[:1] if first else sides
    drawn = generating(given.named.get("generator"))
    if drawn is not None and sides:
        call.meet(ConstraintKind.GENERATOR, [drawn, sides[0]])
    if not sides:
        some = last in torch.tensor_results
        return Tensor(None, Origin.OTHER, (), call.frame) if some else Unknown()
    index = last in torch.indexing or last == "gather"
    every = [*sides, *([] if index or first else unknown_arguments(given))]
    if len(every) > 1:
        call.meet(ConstraintKind.INDEX if index else kind_of(call.machine, last), every)
    return _result(call, given, leading([side.tensor for side in sides]))


def _result(call: CallSite, given: Arguments, known: Tensor) -> Value:
    """What a function of torch gives of what it is given, the first of which is known."""
    torch, last = call.machine.torch, call.last
    if last.rstrip("_") not in torch.operations:
        known = assumed(known)
    if is_open(call.machine, last, given):
        return known.computed(None)
    if last in torch.several_results:
        return Items([], known.like(known.device))
    if last in torch.joins:
        if any(_is_filled_with_unknown(one.value) for one in given.listed[:1]):
            return known.computed(None)
        return _as_one(call, wide(known))
    if known.scalar and last not in torch.shaping and last not in torch.widening:
        # A number mixes with a tensor anywhere, and is then where that is.
        if any(isinstance(one.value, Unknown) for one in given.every()):
            return known.computed(None)
        return known.computed(known.device, scalar=True)
    alone = len(given.every()) == 1
    scalar = last in torch.losses or (last in torch.reductions and alone)
    return known.computed(known.device, scalar=scalar)


def _of_classes(name: str, given: Given) -> Given:
    """What a loss is given by name: the weights of classes have a dimension."""
    if name not in CLASS_WEIGHTS or not isinstance(given.value, Tensor):
        return given
    return given._replace(value=wide(given.value))


def _is_filled_with_unknown(value: Value) -> bool:
    """Whether a list is filled with what is not known, too: it may be that alone that it holds."""
    if not isinstance(value, Items) or not value.grows:
        return False
    return any(isinstance(one, Unknown) for one in value.every())


def _as_one(call: CallSite, result: Tensor) -> Tensor:
    """What is made of tensors that were listed elsewhere: where they become one, one move is enough."""
    made, move = born_at(result.steps), last_move(result.steps)
    own = result.maker in (Origin.FACTORY, Origin.ARRAY) and result.module is None
    listed = made is not None and any(step.what == EventKind.LISTED for step in result.steps)
    if not own or not listed or move is not None or not on_cpu(result):
        return result
    return call.tensor(result.device, result.maker)


def optimizer(call: CallSite) -> Value:
    """An optimizer of the weights that it is given."""
    held = (t for one in call.given.every() for t in tensors_in(one.value))
    weights = [t for t in held if t.maker != Origin.COMPUTED and t.module is not None]
    part = weights[0].module if weights else None
    module, torch = part.whole() if part is not None else None, call.machine.torch
    found = Optimizer(module, weights[0] if weights else None)
    found.steps = call.step(EventKind.MADE, module.where() if module else None)
    if call.last in torch.early_optimizers:
        found.loaded = found.steps[0]
    found.remembers, found.frame = call.last in torch.late_optimizers, call.frame
    return found


def wrapped_optimizer(call: CallSite) -> Value | None:
    """An optimizer around another that copies its weights when it is made; None for other values."""
    if not isinstance(inner := call.first, Optimizer):
        return None
    found = Optimizer(inner.module, inner.weights)
    found.steps = call.step(EventKind.MADE, inner.module.where() if inner.module else None)
    found.frame, found.loaded = call.frame, found.steps[0]
    return found


def packed(call: CallSite) -> Value | None:
    """``pack_padded_sequence``: its lengths are read on the host."""
    lengths, of = call.argument("lengths"), call.argument("input")
    if lengths is None:
        return None
    sides = [Meets(lengths.node, one, one) for one in tensors_in(lengths.value)]
    call.meet(ConstraintKind.HOST, sides)
    return of.value if of is not None else Unknown()


def unpacked(call: CallSite) -> Value | None:
    """``pad_packed_sequence``: the tensor, and its lengths on the cpu."""
    if call.first is None:
        return None
    first = next(tensors_in(call.first), None)
    return Items([first or Unknown(), call.tensor(CPU, Origin.OTHER)])


def put_together(call: CallSite) -> Value | None:
    """One tensor of several, where the first is."""
    if call.first is None:
        return None
    first = next(tensors_in(call.first), None)
    return wide(first) if first is not None else Unknown()


def wide(tensor: Tensor) -> Tensor:
    """A tensor that is no number."""
    found = tensor.like(tensor.device, scalar=False)
    found.element = False
    return found


def factory(call: CallSite) -> Tensor:
    """What is made of sizes and numbers: on the default device, or the one that is told."""
    open_ = "device" not in call.given.named and _may_be_told(call)
    return _made(call, None if open_ else call.machine.default)


def empty(call: CallSite) -> Tensor:
    """The same; without elements it is there until something takes its place, and mixes with any."""
    if not _is_empty(call.given):
        return factory(call)
    return _made(call, None, scalar=True)


def like_another(call: CallSite) -> Tensor:
    """What resembles a tensor, and is where that is."""
    first = call.first
    return _made(call, first.device if isinstance(first, Tensor) else None)


def of_values(call: CallSite) -> Tensor:
    """What is made of values that may be tensors, and is where these are."""
    said = call.argument(call.effect.of)
    if said is None or not isinstance(said.value, Tensor | Batch | Unknown):
        return factory(call)
    return _made(call, next((one.device for one in tensors_in(said.value)), None))


def of_data(call: CallSite) -> Tensor:
    """What is made of numbers, lists of such or an array; or of a tensor, where that is."""
    first, default = call.first, call.machine.default
    array = isinstance(first, Unknown) and first.word == "array"
    # Of what is not known it may be a number's, which mixes with tensors anywhere.
    number = not array and not isinstance(first, Items | Table | Tensor | Batch)
    maker = Origin.ARRAY if array else Origin.FACTORY
    if _may_be_tensor(call.given, call.frame):
        return _made(call, None, maker, scalar=number)
    if inner := next(tensors_in(first), None) if first else None:
        # Of a list the numbers are taken out; what is read of the result may be a number's, too.
        kept = not isinstance(first, Items) or inner.device == default
        return _made(call, inner.device if kept else None, maker, scalar=number)
    open_ = "device" not in call.given.named and _may_be_told(call)
    return _made(call, None if open_ else default, maker, scalar=number)


def of_array(call: CallSite) -> Tensor:
    """What shares the memory of an array."""
    return _made(call, CPU, Origin.ARRAY)


def drawn(call: CallSite) -> Tensor:
    """Numbers around those of a tensor, or of a size that is told."""
    if len(call.given.listed) > 2 or "size" in call.given.named:
        return factory(call)
    held = next((t for one in call.given.every() for t in tensors_in(one.value)), None)
    return _made(call, held.device if held is not None else None)


def _made(
    call: CallSite,
    device: Device | None,
    maker: Origin = Origin.FACTORY,
    *,
    scalar: bool = False,
) -> Tensor:
    """What a factory makes: where it is told, or what it writes into is; else on ``device``."""
    said, into = call.given.named.get("device"), call.given.named.get("out")
    first, drawn = call.first, generating(call.given.named.get("generator"))
    if into is not None and isinstance(into.value, Tensor | Batch | Unknown):
        device = next((one.device for one in tensors_in(into.value)), None)
    if said is not None and not (isinstance(said.value, Const) and said.value.value is None):
        device = call.machine.asked(said.value)
        if isinstance(said.value, Unknown) and device == HOME and said.value.word != "device":
            device = None
    if drawn is not None:
        here = call.tensor(device, Origin.FACTORY)
        call.meet(ConstraintKind.GENERATOR, [drawn, Meets(call.node, here, here)])
    nothing = isinstance(first, Items) and not first.items and first.more is None
    of = origin(said.value) if said is not None else call.machine.default_of
    made = call.step(EventKind.MADE, device, of)
    found = Tensor(device, maker, made, call.frame, scalar=scalar or nothing)
    found.floating = _is_floating(call)
    return found


def _is_empty(given: Arguments) -> bool:
    """Whether a factory is told to make no element: what stands in for a tensor."""
    first = given.listed[0].value if len(given.listed) == 1 else None
    if isinstance(first, Items) and len(first.items) == 1 and first.more is None:
        first = first.items[0]
    return isinstance(first, Const) and first.value == 0


def _is_floating(call: CallSite) -> bool | None:
    """Whether a factory makes numbers of a floating-point type; None where that is not known."""
    torch = call.machine.torch
    if "dtype" not in call.given.named:
        return _either(call.last in torch.floating_factories, call.last in torch.integral_factories)
    told = call.given.named["dtype"].value
    root, _, name = told.dotted.partition(".") if isinstance(told, External) else ("", "", "")
    kinds = (torch.floating_types, torch.integral_types)
    return _either(*(root == "torch" and name.startswith(tuple(each)) for each in kinds))


def _either(one: bool, other: bool) -> bool | None:
    return one if one or other else None


def _may_be_told(call: CallSite) -> bool:
    """Whether what a function is handed by ``**`` may name a device: of one that nothing calls it may."""
    node, within = call.node, call.frame.call
    entered = within.node if within is not None else None
    spread = isinstance(node, ast.Call) and any(one.arg is None for one in node.keywords)
    open_ = "**" in call.given.named or isinstance(entered, ast.FunctionDef | ast.AsyncFunctionDef)
    return spread and open_


def _may_be_tensor(given: Arguments, frame: Frame) -> bool:
    """Whether a method of a module is handed what it makes a tensor of: a copy, where it is one already."""
    first = given.listed[0] if given.listed else None
    if first is None or not isinstance(frame.this, Module) or not isinstance(first.value, Unknown):
        return False
    if (frame.function or "").endswith(".__init__"):  # which is told numbers
        return False
    node = first.node
    while isinstance(node, ast.Subscript | ast.Starred):
        node = node.value
    return isinstance(node, ast.Name) and frame.lines.get(node.id) == 0


#: Methods that compute with a value that they are given.
_OF_A_VALUE = frozenset({"log_prob", "cdf", "icdf"})
#: Methods that give the same distribution in another shape.
_SAME = frozenset({"expand"})
#: Methods that draw numbers, or describe the distribution.
_OWN = frozenset({"sample", "rsample", "sample_n", "entropy", "enumerate_support", "perplexity"})
#: What it holds: tensors of its own.
_TOLD = frozenset({"mean", "stddev", "variance", "mode", "loc", "scale", "probs", "logits"})


def distribution_of(call: CallSite) -> Value | None:
    """A distribution of tensors; None for other calls, and where it is made of numbers.

    It stays where its tensors were, but for parameters, which move with their module: what else it is made
    of then stands for it.
    """
    parts = [side.tensor for side in operands(call.given)]
    if call.last not in call.machine.torch.distributions or not parts:
        return None
    wide = [part for part in parts if not part.scalar] or parts
    inner = next((part for part in wide if part.maker != Origin.WEIGHT), wide[0])
    together = all(part.device == inner.device for part in wide)
    return Distribution(inner if together else inner.like(None))


def has_method(name: str) -> bool:
    """Whether distributions have a method of a name that is known."""
    return name in _OF_A_VALUE or name in _SAME or name in _OWN


def told(owner: Distribution, name: str) -> Tensor | None:
    """A tensor that a distribution has as an attribute; None for other names."""
    return owner.inner.computed(owner.inner.device) if name in _TOLD else None


def distribution_method(owner: Distribution, call: CallSite) -> Value:
    """What a method of a distribution gives: it meets the value that it is given."""
    own = owner.inner
    if call.name in _SAME:
        return owner
    if call.name in _OWN:
        return own.computed(own.device)
    sides = operands(call.given)
    if not sides or not isinstance(call.node, ast.Call):
        return Unknown()
    asked = call.node.func.value if isinstance(call.node.func, ast.Attribute) else call.node
    call.meet(ConstraintKind.JOIN, [Meets(asked, owner, own), *sides])
    there: Tensor = next((side.tensor for side in sides if not side.tensor.scalar), own)
    return there.computed(there.device if there.device == own.device else None)
