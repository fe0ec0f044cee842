"""Layers of torch.nn and of libraries: their methods, the hooks of their forward, and the wrappers that
spread a module over devices.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import islice

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.devices import CPU, SPLIT, differ
from diagnose.placement.libraries.call_site import CallSite, weight_of
from diagnose.placement.libraries.tensor_methods import moved
from diagnose.placement.machine import Arguments, Given, Machine, Meets, operands, origin
from diagnose.placement.model import Device, Spot, Step
from diagnose.placement.provenance import is_offloaded, last_move
from diagnose.placement.tensors import Batch, Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Function, Place, Unknown, Value

#: By what losses are given the weights of classes.
CLASS_WEIGHTS = ("weight", "pos_weight")


def built(call: CallSite, kind: str) -> Module:
    """A module of a library, made here."""
    found = Module(kind, call.machine.for_weights())
    found.steps = call.step(EventKind.MADE, found.device, call.machine.default_of)
    found.frame = call.frame
    call.machine.modules.append(found)
    return found


def layer(call: CallSite) -> Value:
    """A layer of ``torch.nn``."""
    found, torch, last = built(call, call.last), call.machine.torch, call.last
    if "device" in call.given.named:
        _put_at(call, found, call.device("device"))
    if last not in torch.weighted_layers and (
        last in torch.weightless_layers
        or last.startswith(tuple(torch.weightless_prefixes))
        or (last.endswith(tuple(torch.weightless_suffixes)) and not last.endswith("WithLoss"))
    ):
        found.weights, found.device = False, None
    for name, one in call.given.named.items():
        if isinstance(one.value, Tensor) and name in CLASS_WEIGHTS:
            held = one.value.like(one.value.device, scalar=False)
            held.module, held.name = found, name
            found.tensors[name] = held
    return found


def weighted_loss(call: CallSite) -> Value:
    """A loss of torch that may be given the weights of classes first."""
    found = layer(call)
    if isinstance(found, Module) and isinstance(call.first, Tensor):
        found.tensors["weight"] = call.first
    return found


def layer_of_copies(call: CallSite) -> Value:
    """A layer that is made of copies of the one that it is given, and is where that is."""
    found = layer(call)
    if isinstance(found, Module) and isinstance(call.first, Module):
        _put_at(call, found, call.first.where())
    return found


def _put_at(call: CallSite, found: Module, device: Device | None) -> None:
    found.device, found.steps = device, call.step(EventKind.MADE, device)


def container(call: CallSite) -> Value:
    """A module that holds others, and has no weights of its own."""
    found = built(call, call.last)
    found.weights, found.device = False, None
    fill(call, found, call.last)
    return found


def given_weights(call: CallSite) -> Value:
    """A layer that takes a tensor as its weights, where that is."""
    found = built(call, call.effect.gives)
    weights = next(tensors_in(call.first), None) if call.first is not None else None
    if weights is not None:
        found.device = weights.device
    return found


def library_layer(call: CallSite) -> Value:
    """A layer of another library, with weights of its own unless the row says that it has none."""
    found = built(call, f"{call.root}.{call.last}")
    if call.effect.gives == "weightless":
        found.weights, found.device = False, None
    return found


def process_distribution(call: CallSite) -> Value | None:
    """A distribution of gpytorch is where its mean is."""
    mean = next((t for one in call.given.every() for t in tensors_in(one.value)), None)
    return Batch(mean.like(mean.device)) if mean is not None else None


def passed(module: Module, given: Arguments) -> Value | None:
    """What a layer of torch gives that hands its input on, or, without weights, of a tensor on the cpu:
    what that was before still tells why it is there. None of others."""
    if module.kind in ("Identity", "Dropout", "Flatten") and given.listed:
        return given.listed[0].value
    layer = module.made is None and module.kind.isidentifier() and not module.weights
    alone = not (module.tensors or module.children or module.hooks or module.before)
    if not layer or not alone or module.kind.endswith("Loss") or len(given.listed) != 1:
        return None
    inner = given.listed[0].value
    if not isinstance(inner, Tensor) or inner.device is None or inner.device.type != DeviceType.CPU:
        return None
    return inner.computed(inner.device)


def fill(call: CallSite, found: Module, kind: str) -> None:
    """Puts the layers that a container of torch is made of into it."""
    first = call.first
    parts: list[tuple[str, Value]] = []
    if kind == "Sequential" and not isinstance(first, Items | Table):
        parts = [(str(i), one.value) for i, one in enumerate(call.given.listed)]
    elif isinstance(first, Items):
        parts = [(str(i), value) for i, value in enumerate(first.every())]
    elif isinstance(first, Table):
        parts = [(str(key), value) for key, value in first.items.items()]
        parts += [("?", first.more)] if first.more is not None else []
    for name, value in parts:
        if isinstance(value, Batch) and value.inner.maker == Origin.LOAD:
            value = loaded_model(call, value.inner)
        if isinstance(value, Module | Tensor):
            modules.put(call.machine, found, name, value, call.node, call.frame)


def loaded_model(call: CallSite, loaded: Tensor) -> Module:
    """A whole model that was loaded: where it was when it was saved, or is mapped to."""
    found = Module("loaded", loaded.device)
    found.steps, found.frame = loaded.steps, loaded.frame
    call.machine.modules.append(found)
    return found


def library_loss(call: CallSite) -> Module:
    """A loss of another library: it keeps the tensors and the models that it is given; of its own tensors
    none are known."""
    found = built(call, f"{call.root}.{call.last}")
    found.device = None
    listed = ((str(n), one) for n, one in enumerate(call.given.listed))
    for name, one in (*listed, *call.given.named.items()):
        if isinstance(one.value, Module):
            found.children[name] = one.value
        for tensor in islice(tensors_in(one.value), 1):
            held = tensor.like(tensor.device)
            held.module, held.name = found, name
            found.tensors[name] = held
    return found


def replicas(call: CallSite) -> Value:
    """``nn.DataParallel``: its first device is the first of the GPUs, unless it is told others."""
    found, inner = _wrapper(call, call.effect.gives)
    if inner is None:
        return found
    inner.steps = (*inner.steps, Step(EventKind.WRAPPED, call.spot))
    first, _ = _first_id(call)
    _wrap(call, found, call.machine.asked(first) if first else Device(DeviceType.CUDA, 0))
    return found


def scattering(call: CallSite) -> Value:
    """A wrapper of another library that scatters inputs; it is known where it is given a model."""
    whole = call.given.get("module", 0)
    return replicas(call) if whole is not None and isinstance(whole.value, Module) else Unknown()


def wrapper(call: CallSite) -> Value:
    """A wrapper of each process: where it sends inputs, and what it asks of its module's weights."""
    found, inner = _wrapper(call, call.last)
    if inner is None:
        return found
    first, told = _first_id(call)
    home = call.machine.asked(first) if first is not None else None
    if home is None and told:  # a number that is not known: the module's
        home = inner.where()
    ids = call.given.get("device_ids", 1)
    fixed = _first_number(ids.node) if ids is not None else None
    _wrap(call, found, home, call.machine.spot(fixed, call.frame) if fixed is not None else None)
    if home is not None and (home.ranked or is_spread(inner)):
        at_home(call.machine, found, call.node, call.frame)
    return found


def _wrapper(call: CallSite, kind: str) -> tuple[Module, Module | None]:
    """A module around the one that is given, and that."""
    found, inner = built(call, kind), call.given.get("module", 0)
    found.weights, found.device = False, None
    if inner is None or not isinstance(inner.value, Module):
        return found, None
    found.children["module"] = inner.value
    return found, inner.value


def _first_id(call: CallSite) -> tuple[Value | None, bool]:
    """The first device that a wrapper is told, and whether it is told any."""
    ids, single = call.given.get("device_ids", 1), call.given.named.get("device_id")
    first = single.value if single is not None else None
    if ids is not None and isinstance(ids.value, Items):
        first = next(ids.value.every(), None)
    return first, first is not None or (ids is not None and isinstance(ids.value, Unknown))


def _wrap(call: CallSite, found: Module, home: Device | None, by: Spot | None = None) -> None:
    found.plain["device_ids[0]"] = Place(home) if home is not None else Unknown()
    found.steps = call.step(EventKind.WRAPPED, home, by)


def _first_number(listed: ast.AST) -> ast.AST | None:
    """The number that a written list of devices begins with; None for others."""
    match listed:
        case ast.List(elts=[ast.Constant(value=int()) as first, *_]):
            return first
    return None


def is_spread(module: Module) -> bool:
    """Whether a module has its parts on several accelerators."""
    places = {
        one.device.number
        for one in module.family()
        if one.weights and one.device is not None and one.device.type == DeviceType.CUDA
    }
    return len(places - {None}) > 1


def scattered(
    wrapped: Module, given: Arguments, node: ast.AST, machine: Machine, frame: Frame
) -> Arguments:
    """The arguments of a wrapper, which brings them to its first device."""
    home = wrapped.plain.get("device_ids[0]")
    if not isinstance(home, Place):
        return given
    by = next((one.of for one in wrapped.steps if one.what == EventKind.WRAPPED), None)
    step = Step(EventKind.MOVED, machine.spot(node, frame), home.device, by)
    return given.changed(lambda value: moved(value, home.device, step))


def is_away(wrapped: Module) -> bool:
    """Whether the module of `nn.DataParallel` is known to be elsewhere than on its first device."""
    home = wrapped.plain.get("device_ids[0]")
    if wrapped.kind != "DataParallel" or not isinstance(home, Place):
        return False
    return differ(wrapped.children["module"].where(), home.device) is True


def at_home(machine: Machine, wrapped: Module, node: ast.AST, frame: Frame) -> None:
    """``nn.DataParallel`` wants the weights of its module on its first device."""
    home = wrapped.plain.get("device_ids[0]")
    if not isinstance(home, Place):
        return
    inner = wrapped.children["module"]
    where = SPLIT if is_spread(inner) else inner.where()
    weight = Tensor(where, Origin.WEIGHT, inner.steps, inner.frame, module=inner)
    there = Tensor(home.device, Origin.HOME, wrapped.steps, wrapped.frame, module=wrapped)
    machine.meet(
        ConstraintKind.HOME, node, frame, [Meets(node, inner, weight), Meets(node, wrapped, there)]
    )


def sentence_model(call: CallSite) -> Module:
    """A model of sentences: on the first GPU, or where it is told, with the modules that it is given."""
    found, said = built(call, f"{call.root}.{call.last}"), call.given.get("device")
    home = Device(DeviceType.CUDA, 0, home=True)
    found.device = call.machine.asked(said.value) if said else home
    if said is not None:
        spot = call.machine.spot(said.node, call.frame)
        found.steps = (*found.steps, Step(EventKind.MOVED, spot, found.device, origin(said.value)))
    parts = call.given.get("modules", 0)
    for n, part in enumerate(parts.value.items if parts and isinstance(parts.value, Items) else ()):
        if isinstance(part, Module):
            modules.put(call.machine, found, str(n), part, call.node, call.frame)
            part.move(found.device, call.moves(found.device))
    return found


def compares_sentences(call: CallSite) -> Value:
    """How like sentences are: tensors meet; of arrays it makes tensors on the cpu."""
    sides, every = operands(call.given), call.given.every()
    if len(sides) == len(every):
        call.meet(ConstraintKind.JOIN, sides)
    arrays = every and all(is_array(one.value) for one in every)
    return call.tensor(CPU if arrays else sides[0].tensor.device if sides else None, Origin.LIBRARY)


def predicts(owner: Module, call: CallSite) -> Value:
    """A model of sentences goes where it is told, and gives arrays unless it is told to give tensors."""
    if call.given.told("device") is not None:
        device = call.device("device")
        owner.move(device, call.moves(device))
    tensors, arrays = call.told("convert_to_tensor"), call.told("convert_to_numpy")
    if tensors is None and "convert_to_tensor" in call.given.named:
        return Unknown()
    found = call.tensor(owner.where(), Origin.OUTPUT, module=owner)
    if tensors:
        return found
    return Items([], found) if arrays is False else Unknown("array")


def encodes(owner: Module, call: CallSite) -> Value:
    """The same of what runs the modules that it was made of first."""
    found = predicts(owner, call)
    features: Value = Table({}, Tensor(owner.where(), Origin.GIVEN))
    for part in owner.children.values():
        if part.made is not None and isinstance(features, Table):
            features = call.run(part, Arguments([Given(ast.Name("features"), features)]))
    return found


def moves_adapter(owner: Module, call: CallSite) -> Value:
    """An adapter of a model moves, and the model does not."""
    owner.steps = (*owner.steps, call.moves(call.device("device", 1)))
    return Const(None)


def metric_result(owner: Module, call: CallSite) -> Value:
    """What a metric has computed is where that is."""
    return call.tensor(owner.where(), Origin.OUTPUT, module=owner)


def is_array(value: Value) -> bool:
    """Whether a value is an array of NumPy's."""
    return isinstance(value, Unknown) and value.word == "array"


def propagates(owner: Module, call: CallSite) -> Value | None:
    """What a layer of a graph hands from node to node: its own methods are told the values of both ends."""
    named = call.given.named
    first = next((t for one in named.values() for t in tensors_in(one.value)), None)
    if first is None or owner.made is None:
        return None
    if not any(name.endswith("MessagePassing") for name in owner.made.names()):
        return None
    message = owner.made.find("message")
    if isinstance(message, Function):
        ends = {f"{name}_{end}": one for name, one in named.items() for end in "ij"}
        known = {**named, **ends}
        names = [one.arg for one in message.node.args.args[1:]]
        handed = {name: known[name] for name in names if name in known}
        call.run(message.bound(owner), Arguments((), handed))
    return first.computed(first.device)


def keeps_config(module: Module) -> bool:
    """Whether a base of a module's class keeps the config that it is given."""
    names = module.made.names() if module.made is not None else ()
    return any(name.rpartition(".")[2].casefold() == "pretrainedmodel" for name in names)


def keeps_inputs(module: Module) -> bool:
    """Whether a base of a module's class keeps what it is trained with as its own."""
    names = module.made.names() if module.made is not None else ()
    return any(name.endswith("ExactGP") for name in names)


def compare_inputs(
    machine: Machine, owner: Module, given: Arguments, node: ast.AST, frame: Frame
) -> None:
    """What a process is asked about is compared with what it was trained with, and its kernels compute with
    that once their values are asked for."""
    kept = owner.tensors.get("train_inputs")
    if not keeps_inputs(owner) or not (others := operands(given)):
        return
    if isinstance(kept, Tensor):
        machine.meet(ConstraintKind.CALL, node, frame, [Meets(node, owner, kept), *others])
    for one in owner.children.values():
        if one.kind.startswith("gpytorch.") and one.kind.endswith("Kernel"):
            weight = Meets(node, one, weight_of(one))
            machine.meet(ConstraintKind.CALL, node, frame, [weight, *others])


def leaves_new(module: Module) -> bool:
    """Whether a library leaves on the cpu what it puts into a model that was moved."""
    return module.kind.startswith("adapters.") or "<adapters>" in module.plain


def keep_inputs(owner: Module, call: CallSite) -> None:
    """What a process is trained with moves with it, as its likelihood does."""
    likelihood = call.given.get("likelihood", 2)
    if likelihood is not None and isinstance(likelihood.value, Module):
        modules.put(call.machine, owner, "likelihood", likelihood.value, call.node, call.frame)
    for word, one in zip(("train_inputs", "train_targets"), call.given.listed, strict=False):
        if isinstance(one.value, Tensor):
            held = one.value.like(one.value.device)
            held.maker, held.module, held.name = Origin.WEIGHT, owner, word
            modules.put(call.machine, owner, word, held, call.node, call.frame)


def hooked(
    machine: Machine,
    module: Module,
    given: Arguments,
    node: ast.AST,
    frame: Frame,
    work: Callable[[Arguments], Value],
) -> Value:
    """What a module gives, its hooks called before and after ``work``, which runs it."""
    if not module.hooks and not module.before:
        return work(given)
    scope = [(one, one.device, one.steps) for one in module.family()]
    # Of a whole model the program may say itself that it stays on the host: that line tells why.
    told = last_move(module.steps) if module.owner is None else None
    kept = told is not None and told.device == CPU
    for hook in module.before:
        made = _run(machine, hook, [module, _listed(given)], node, frame)
        if isinstance(made, Items):
            nodes = [one.node for one in given.listed] or [ast.Name("hook")]
            listed = [Given(nodes[min(n, len(nodes) - 1)], one) for n, one in enumerate(made.items)]
            given = given._replace(listed=listed)
    found = seen(machine, module, given, work(given), node, frame)
    for one, device, steps in scope:
        if one.device == device:  # what was brought, and taken back, is where it was
            one.steps = steps if kept else (*steps, *_offloaded(one, steps))
    return found


def seen(
    machine: Machine, module: Module, given: Arguments, found: Value, node: ast.AST, frame: Frame
) -> Value:
    """What comes out of a module, after its hooks have seen it, each of which may give something else."""
    for hook in module.hooks:
        made = _run(machine, hook, [module, _listed(given), found], node, frame)
        if not isinstance(made, Unknown) and not (isinstance(made, Const) and made.value is None):
            found = made
    return found


def within(
    machine: Machine, part: Module, given: Arguments, found: Tensor, node: ast.AST, frame: Frame
) -> None:
    """What the hooks of a part of a library's model see, of which only where it runs is known."""
    for hook in part.before:
        _run(machine, hook, [part, Items([found.like(found.device)])], node, frame)
    if part.hooks:
        seen(machine, part, given, found, node, frame)


def _offloaded(module: Module, before: Sequence[Step]) -> list[Step]:
    """The step of the hook that takes a module back to the host, which another brought to an accelerator
    for its forward: so it is offloaded."""
    since = [step for step in module.steps if step not in before]
    brought = any(step.device is not None and step.device.type == DeviceType.CUDA for step in since)
    if not brought or module.device != CPU or is_offloaded(module):
        return []
    return [since[-1]._replace(what=EventKind.OFFLOADED)]


def _run(machine: Machine, hook: Value, values: list[Value], node: ast.AST, frame: Frame) -> Value:
    listed = [Given(ast.Name("hook"), one) for one in values]
    return machine.invoke(machine, hook, Arguments(listed), node, frame)


def _listed(given: Arguments) -> Items:
    return Items([one.value for one in given.listed])
