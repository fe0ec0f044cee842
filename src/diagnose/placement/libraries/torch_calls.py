"""What calls of torch give: factories, operations, devices, optimizers."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.device_guards import assumed, is_open, kind_of
from diagnose.placement.devices import CPU, CURRENT, HOME
from diagnose.placement.libraries.checkpoints import loaded, loaded_from, saved
from diagnose.placement.libraries.cluster_ranks import asked_rank
from diagnose.placement.libraries.datasets import data_call
from diagnose.placement.libraries.distributions import distribution_of
from diagnose.placement.libraries.factories import factory
from diagnose.placement.libraries.layers import built, layer, loaded_model
from diagnose.placement.libraries.offload import SHARDING, sharded
from diagnose.placement.libraries.sequences import sequences, wide
from diagnose.placement.libraries.tensor_methods import unknown_arguments
from diagnose.placement.machine import (
    Arguments,
    Given,
    Machine,
    generating,
    operands,
    origin,
)
from diagnose.placement.model import Step
from diagnose.placement.provenance import born_at, last_move, on_cpu
from diagnose.placement.tensors import Module, Optimizer, Tensor, leading, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.type_narrowing import is_instance
from diagnose.placement.values import (
    Const,
    External,
    Frame,
    Generator,
    Number,
    Object,
    Place,
    Unknown,
    Value,
)

#: What starts processes that are told their rank first.
_SPAWNING = ("torch.multiprocessing.spawn", "torch.multiprocessing.start_processes")


def torch_call(
    machine: Machine, dotted: str, last: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What a call of torch gives."""
    if dotted in ("torch.device", "torch.cuda.device"):
        said = given.get("device", 0)
        device = machine.asked(said.value) if said is not None else None
        if len(given.listed) > 1 and device is not None:
            device = machine.asked(given.listed[1].value) or HOME
        machine.bind(device, node, frame)
        of = origin(said.value) if said is not None else None
        return Place(device or HOME, machine.step(EventKind.MADE, node, frame, device, of))
    if dotted.startswith("torch.cuda.") and last.endswith("Tensor"):
        device = machine.home()
        return Tensor(
            device, Origin.FACTORY, machine.step(EventKind.MADE, node, frame, device), frame
        )
    if last == "GradScaler":
        return Object("scaler")
    if dotted.startswith(("torch.cuda.", "torch.backends", "torch.accelerator.")):
        return _cuda(machine, last, given, node, frame)
    if dotted == "torch.is_tensor" and given.listed:
        told = is_instance(given.listed[0].value, External("torch.Tensor"))
        return Unknown() if told is None else Const(told)
    if dotted == "torch.is_floating_point" and given.listed:
        asked = given.listed[0].value
        told = asked.floating if isinstance(asked, Tensor) else None
        return Unknown() if told is None else Const(told)
    if dotted == "torch.set_default_device" and given.listed:
        chosen = given.listed[0].value
        none = isinstance(chosen, Const) and chosen.value is None
        machine.default = CPU if none else machine.asked(chosen) or machine.default
        return Const(None)
    if dotted == "torch.set_default_tensor_type" and given.listed:
        kind = given.listed[0].value
        name = kind.dotted if isinstance(kind, External) else given.text("t", 0) or ""
        machine.default = machine.home() if ".cuda." in name else CPU
        return Const(None)
    if dotted.startswith("torch.sparse.") and last.endswith("Tensor"):
        return factory(machine, "sparse_coo_tensor", given, node, frame)
    if last in ("shape_as_tensor", "_shape_as_tensor"):
        return Tensor(CPU, Origin.FACTORY, machine.step(EventKind.MADE, node, frame, CPU), frame)
    if last in machine.torch.factories or (last.endswith("_like") and dotted.count(".") == 1):
        return factory(machine, last, given, node, frame)
    if dotted == "torch.Generator":
        said = given.get("device", 0)
        device = machine.asked(said.value) if said is not None else CPU
        found = Generator(device or HOME)
        found.steps, found.frame = machine.step(EventKind.MADE, node, frame, device), frame
        return found
    if dotted == "torch.manual_seed":  # gives the generator of the cpu
        found = Generator(CPU)
        found.steps, found.frame = machine.step(EventKind.MADE, node, frame, CPU), frame
        return found
    if last in ("set_rng_state", "set_rng_state_all"):  # of any device: its bytes are on the host
        machine.meet(ConstraintKind.HOST, node, frame, operands(given))
        return Const(None)
    if dotted == "torch.save":
        return saved(machine, given)
    if dotted == "torch.load":
        return loaded(machine, given, node, frame)
    if dotted == "torch.jit.load":  # it comes back where it was saved
        whole = loaded_from(machine, given.get("map_location", 1), node, frame)
        return loaded_model(machine, whole.inner)
    if dotted == "torch.hub.load":
        return built(machine, last, node, frame)
    if dotted in ("torch.compile", "torch.jit.script", "torch.jit.trace", "torch.jit.freeze"):
        return given.listed[0].value if given.listed else Unknown()
    if dotted.startswith("torch.utils.data"):
        return data_call(machine, last, given, node, frame)
    drawn_from = dotted.startswith("torch.distributions.")
    if drawn_from and (made := distribution_of(machine, last, given)) is not None:
        return made
    if dotted.startswith("torch.optim") and not dotted.startswith("torch.optim.lr_scheduler"):
        return optimizer(machine, last, given, node, frame)
    if dotted in ("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.Buffer"):
        value = given.listed[0].value if given.listed else None
        # What is made of what is not known is made anew while a module is built, and is taken over later.
        new = value is None or (frame.function or "").endswith("__init__")
        made = value if isinstance(value, Tensor) else Tensor(machine.default if new else None)
        where = (machine.emptied if dotted != "torch.nn.Buffer" else None) or made.device
        weight = made.like(where, Step(EventKind.MADE, machine.spot(node, frame), where))
        weight.maker, weight.frame = Origin.WEIGHT, frame
        return weight
    first = given.listed[0].value if given.listed else None
    if last == "register_parametrization" and isinstance(first, Module):
        return _parametrized(machine, first, given, node, frame)
    if dotted.startswith("torch.nn.utils.") and isinstance(first, Module):
        return first  # a layer whose weights are computed anew
    if dotted.startswith("torch.nn.Embedding") and last == "from_pretrained":
        return _given_weights(machine, given, node, frame)
    if last == "convert_sync_batchnorm" and first is not None:
        return first
    if last == "generate_square_subsequent_mask":
        return factory(machine, "full", given, node, frame)
    if dotted.startswith("torch.nn.") and last[:1].isupper():
        return layer(machine, last, given, node, frame)
    if dotted in _SPAWNING and given.listed:
        return _spawned(machine, given, node, frame)
    if dotted.startswith("torch.distributed") and last in ("get_rank", "get_node_local_rank"):
        return asked_rank(last, far=bool(machine.lacking))
    # Of an operator by its dispatcher's name nobody says what it gives: packed weights, say.
    if last in SHARDING and (kept := sharded(machine, last, given, node, frame)) is not None:
        return kept
    nothing = ("torch.nn.init", "torch.distributed", "torch.save", "torch.is_", "torch.ops.")
    if dotted.startswith(nothing):
        return Unknown()
    if (row := sequences(machine, last, given, node, frame)) is not None:
        return row
    return _operation(machine, last, given, node, frame)


def _parametrized(
    machine: Machine, layer: Module, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A layer of which a module of its own computes a weight: at once, and whenever that is read."""
    by = given.get("parametrization", 2)
    if by is not None and isinstance(by.value, Module):
        modules.put(
            machine, layer, f"parametrizations.{len(layer.children)}", by.value, node, frame
        )
        weight = Tensor(layer.where(), Origin.WEIGHT, layer.steps, layer.frame, module=layer)
        machine.invoke(machine, by.value, Arguments([Given(by.node, weight)]), node, frame)
    return layer


def _operation(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A function of torch: its tensors meet."""
    torch = machine.torch
    held = {name: one for name, one in given.named.items() if name not in torch.scalar_keywords}
    if last in torch.losses:
        held = {name: _of_classes(name, one) for name, one in held.items()}
    given = given._replace(named=held)
    sides = operands(given)
    if last in torch.joins:  # they refuse numbers of another device, too
        sides = [side._replace(tensor=wide(side.tensor)) for side in sides]
    if last in torch.shaping or last in torch.bringing:
        sides = sides[:1]
    drawn = generating(given.named.get("generator"))
    if drawn is not None and sides:
        machine.meet(ConstraintKind.GENERATOR, node, frame, [drawn, sides[0]])
    if sides:
        index = last in torch.indexing or last == "gather"
        first = last in torch.shaping or last in torch.bringing
        open_ = [] if index or first else unknown_arguments(given)
        every = [*sides, *open_]
        if len(every) > 1:
            machine.meet(
                ConstraintKind.INDEX if index else kind_of(machine, last), node, frame, every
            )
    if not sides:
        return Tensor(None, Origin.OTHER, (), frame) if last in torch.tensor_results else Unknown()
    known = leading([side.tensor for side in sides])
    if last.rstrip("_") not in torch.operations:
        known = assumed(known)
    if is_open(machine, last, given):
        return known.computed(None)
    if last in torch.several_results:
        return Items([], known.like(known.device))
    alone = len(given.every()) == 1
    scalar = last in torch.losses or (last in torch.reductions and alone)
    if last in torch.joins:
        if any(_is_filled_with_unknown(one.value) for one in given.listed[:1]):
            return known.computed(None)
        return _as_one(machine, wide(known), given, node, frame)
    if known.scalar and last not in torch.shaping and last not in torch.widening:
        # A number mixes with a tensor anywhere, and is then where that is.
        if any(isinstance(one.value, Unknown) for one in given.every()):
            return known.computed(None)
        return known.computed(known.device, scalar=True)
    return known.computed(known.device, scalar=scalar)


def _of_classes(name: str, given: Given) -> Given:
    """What a loss is given by name: the weights of classes have a dimension."""
    if name not in ("weight", "pos_weight") or not isinstance(given.value, Tensor):
        return given
    return given._replace(value=wide(given.value))


def _is_filled_with_unknown(value: Value) -> bool:
    """Whether a list is filled with what is not known, too: it may be that alone that it holds."""
    if not isinstance(value, Items) or not value.grows:
        return False
    return any(isinstance(one, Unknown) for one in value.every())


def _as_one(
    machine: Machine, result: Tensor, given: Arguments, node: ast.AST, frame: Frame
) -> Tensor:
    """What is made of tensors that were listed elsewhere: where they become one, one move is enough."""
    made, move = born_at(result.steps), last_move(result.steps)
    own = result.maker in (Origin.FACTORY, Origin.ARRAY) and result.module is None
    listed = made is not None and any(step.what == EventKind.LISTED for step in result.steps)
    if not own or not listed or move is not None or not on_cpu(result):
        return result
    step = machine.step(EventKind.MADE, node, frame, result.device)
    return Tensor(result.device, result.maker, step, frame)


def _given_weights(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A layer that takes a tensor as its weights, where that is."""
    found = built(machine, "Embedding", node, frame)
    weights = next(tensors_in(given.listed[0].value), None) if given.listed else None
    if weights is not None:
        found.device = weights.device
    return found


def _spawned(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Runs the function of a process, which is told its rank first."""
    said = given.get("args", 1)
    rest = said.value.items if said is not None and isinstance(said.value, Items) else []
    first = given.listed[0]
    worker = [Given(first.node, Number("rank")), *(Given(first.node, value) for value in rest)]
    machine.invoke(machine, first.value, Arguments(worker), node, frame)
    return Const(None)


def _cuda(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    match last:
        case "is_available":
            return Const(True)
        case "current_accelerator":
            return Place(machine.home())
        case "set_device" | "set_device_index" | "set_device_idx":
            value = given.listed[0].value if given.listed else None
            place = machine.asked(value)
            if not isinstance(value, Place):  # which was noted where it was made
                machine.bind(place, node, frame)
            machine.current = (place or HOME)._replace(home=True)
            return Const(None)
        case "device_count":
            return Const(machine.gpus)
        case "current_device" | "current_device_index" | "current_device_idx":
            return Number(CURRENT)
    return Unknown()


def optimizer(machine: Machine, last: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """An optimizer of the weights that it is given."""
    held = (t for one in given.every() for t in tensors_in(one.value) if t.maker != Origin.COMPUTED)
    weights = [tensor for tensor in held if tensor.module is not None]
    part = weights[0].module if weights else None
    module = part.whole() if part is not None else None
    found = Optimizer(module, weights[0] if weights else None)
    found.steps = machine.step(EventKind.MADE, node, frame, module.where() if module else None)
    if last in machine.torch.early_optimizers:
        found.loaded = found.steps[0]
    found.remembers = last in machine.torch.late_optimizers
    found.frame = frame
    return found


def wrapped_optimizer(
    machine: Machine, dotted: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """An optimizer around another that copies its weights when it is made; None for other calls."""
    inner = given.listed[0].value if given.listed else None
    if not isinstance(inner, Optimizer) or dotted not in machine.torch.early_optimizers:
        return None
    found = Optimizer(inner.module, inner.weights)
    where = inner.module.where() if inner.module else None
    found.steps, found.frame = machine.step(EventKind.MADE, node, frame, where), frame
    found.loaded = found.steps[0]
    return found
