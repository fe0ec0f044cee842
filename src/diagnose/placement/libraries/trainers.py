"""Trainers, pipelines and accelerators of model libraries: where they bring models, loaders and batches,
what of a module they run, and when (Lightning's documentation, "LightningModule", "Hooks").
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import CPU, META, SPLIT
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.layers import built
from diagnose.placement.libraries.tensor_methods import moved
from diagnose.placement.machine import Arguments, Given, Machine, Meets
from diagnose.placement.model import Device, Step
from diagnose.placement.tensors import Batch, Module, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Const,
    Frame,
    Function,
    Loader,
    Number,
    Object,
    Place,
    Unknown,
    Value,
)

#: The attributes by which a trainer knows a model that is spread over GPUs, and leaves it there.
_SPREAD = frozenset({"hf_device_map", "is_parallelizable", "model_parallel"})
#: Where the models are that a trainer is given.
_HOME = "<home>"


def training_arguments(call: CallSite) -> Object:
    """What a trainer is told: its device, and the rest by its names."""
    made = Object("arguments")
    made.attributes = {name: one.value for name, one in call.given.named.items()}
    cpu = [made.attributes[name] for name in ("use_cpu", "no_cuda") if name in made.attributes]
    on_host = any(isinstance(one, Const) and one.value is True for one in cpu)
    unknown = any(not isinstance(one, Const) for one in cpu)
    made.attributes["device"] = (
        Unknown("device") if unknown else Place(CPU if on_host else call.machine.home())
    )
    return made


def fitting_trainer(call: CallSite) -> Value:
    """A trainer that is given its model to fit it, and brings it back to the cpu then (Lightning's)."""
    devices, home = call.given.named.get("devices"), call.machine.home()
    first = None
    if devices is not None and isinstance(devices.value, Items):
        first = next(devices.value.every(), None)
    told = call.machine.asked(first) if first is not None else home
    return _trainer(
        call, "lightning.Trainer", CPU if call.given.text("accelerator") == "cpu" else told
    )


def trainer(call: CallSite) -> Value:
    """A trainer that moves the model that it is given at once."""
    args = call.given.get("args", 1)
    told = args.value.attributes.get("device") if args and isinstance(args.value, Object) else None
    home: Device | None = call.machine.home()
    if told is not None:
        home = told.device if isinstance(told, Place) else None
    found = _trainer(call, "transformers.Trainer", home)
    model = found.attributes.get("model")
    if (
        not isinstance(model, Module)
        or model.where() in (SPLIT, META)
        or _SPREAD & set(model.plain)
    ):
        return found
    if home is None or home == CPU:
        model.move(home, call.moves(home))
        return found
    model.gather(home, call.spot)
    if call.root in call.machine.torch.replicating_libraries:
        model.steps = (*model.steps, Step(EventKind.WRAPPED, call.spot))
    return found


def _trainer(call: CallSite, kind: str, home: Device | None) -> Object:
    found = Object(kind)
    if home is not None:
        found.attributes[_HOME] = Place(home)
    args, callbacks = call.given.get("args", 1), call.given.named.get("callbacks")
    for told_as, one in (("args", args), ("callbacks", callbacks)):
        if one is not None:
            found.attributes[told_as] = one.value
    model = call.given.get("model", 0)
    if model is not None and isinstance(model.value, Module):
        found.attributes["model"] = model.value
    return found


def trainer_loader(owner: Object, call: CallSite) -> Value:
    """A loader of a trainer: its batches are on the trainer's device."""
    return Loader(Batch(call.tensor(_home(owner, call), Origin.BATCH), mutable=True))


def trains(owner: Object, call: CallSite) -> Value:
    """A model that a method of a trainer is given is on its device then."""
    model = _model(call)
    if model is not None:
        model.gather(_home(owner, call), call.spot)
    return Unknown()


def fits(owner: Object, call: CallSite) -> Value:
    """The same of a trainer that runs the steps of the model itself, and gives it back to the cpu."""
    model, home = _model(call), _home(owner, call)
    if model is not None:
        fitting = Fitting(owner, model, home, call.given, call.node, call.frame)
        prepare(call.machine, fitting, call.name)
        model.gather(home, call.spot)
        take_steps(call.machine, fitting, call.name)
        model.move(CPU, Step(EventKind.GIVEN_BACK, call.spot, CPU))
    predicts = call.effect.gives == "predictions"
    return Items([], call.tensor(CPU, Origin.LIBRARY)) if predicts else Unknown()


def _model(call: CallSite) -> Module | None:
    models = (one.value for one in call.given.every() if isinstance(one.value, Module))
    model = next(models, None)
    return model if model is not None and model.where() != SPLIT else None


def _home(owner: Object, call: CallSite) -> Device:
    place = owner.attributes.get(_HOME)
    return place.device if isinstance(place, Place) else call.machine.home()


def pipeline(call: CallSite) -> Value:
    """A pipeline of transformers: it takes the first GPU, unless it is told another device."""
    found, said = Object("transformers.Pipeline"), call.given.named.get("device")
    model = call.given.get("model", 1)
    held = model.value if model is not None else None
    if not isinstance(held, Module):
        held = built(call, "transformers.model")
    home: Device | None = call.machine.home()
    if "device_map" in call.given.named or held.where() == SPLIT:
        home = None
    elif said is not None:
        last = said.value.value if isinstance(said.value, Const) else None
        home = CPU if last == -1 else call.machine.asked(said.value)
        if isinstance(said.value, Const | Place) and last is None:
            home = call.machine.home()
    if held.where() != SPLIT:
        held.move(home, call.moves(home))
    found.attributes = {"model": held, "tokenizer": Object("transformers.PreTrainedTokenizer")}
    if home is not None:
        found.attributes["device"] = Place(home)
    if "return_tensors" in call.given.named:
        found.attributes["<result>"] = Items([], call.tensor(CPU, Origin.LIBRARY))
    return found


#: What runs before the module is moved.
BEFORE = ("prepare_data", "setup", "configure_model")
#: What runs of a module, and of the callbacks, around its steps.
_STARTS = ("on_fit_start", "on_train_start", "on_train_epoch_start", "on_train_batch_start")
_ENDS = ("on_train_batch_end", "on_train_epoch_end")
#: What a method of the trainer does in turn; the second step meets what the hooks between have changed.
_TURNS: dict[str, tuple[str, ...]] = {
    "fit": (
        "configure_optimizers",
        *_STARTS,
        "training_step",
        *_ENDS,
        *_STARTS[2:],
        "training_step",
        "validation_step",
    ),
    "validate": ("validation_step",),
    "test": ("test_step",),
    "predict": ("predict_step",),
}
#: What yields the batches of a step, where the module or a data module has it.
_LOADERS = {
    "training_step": "train_dataloader",
    "validation_step": "val_dataloader",
    "test_step": "test_dataloader",
    "predict_step": "predict_dataloader",
}
#: Methods of a module by which its batches come to it otherwise.
_OWN_WAY = ("transfer_batch_to_device", "on_before_batch_transfer", "on_after_batch_transfer")


class Fitting(NamedTuple):
    """A call of a trainer: the trainer, the module it is given and where it brings that, the arguments and
    the place of the call."""

    trainer: Object
    module: Module
    home: Device
    given: Arguments
    node: ast.AST
    frame: Frame


def prepare(machine: Machine, call: Fitting, method: str) -> None:
    """Runs what a method of a trainer runs of a module, and of a data module, before it moves that."""
    owners = dict.fromkeys((*(one.value for one in call.given.every()), call.module))
    for name in BEFORE:
        for owner in owners:
            _run(machine, call, owner, name, *([Const(method)] if name == "setup" else []))


def take_steps(machine: Machine, call: Fitting, method: str) -> None:
    """Runs the steps of a module and the hooks around them, on batches that the trainer has moved.

    Args:
        machine: the analysis.
        call: the call of the trainer, which has moved the module.
        method: of the trainer: ``fit``, ``validate``, ``test`` or ``predict``; others run nothing.
    """
    callbacks = call.trainer.attributes.get("callbacks")
    hooked = list(callbacks.every()) if isinstance(callbacks, Items) else []
    batches: dict[str, Value] = {}
    for name in _TURNS.get(method, ()):
        step = "training_step" if name.startswith("on_train_batch") else name
        if step in _LOADERS and step not in batches:
            batches[step] = _batch(machine, call, _LOADERS[step])
        handed = [batches[step], Number()] if step in _LOADERS else []
        if name == "on_train_batch_end":
            handed.insert(0, Unknown("outputs"))
        _run(machine, call, call.module, name, *handed)
        for one in hooked if name not in _LOADERS else ():
            _run(machine, call, one, name, call.trainer, call.module, *handed)


def _run(machine: Machine, call: Fitting, owner: Value, name: str, *handed: Value) -> Value:
    """What a method gives of a module, a callback or a data module whose class has it."""
    made = owner.made if isinstance(owner, Object | Module) else None
    method = made.find(name) if made is not None else None
    if not isinstance(method, Function):
        return Unknown()
    given = Arguments([Given(ast.Name(name), one) for one in handed])
    return machine.invoke(machine, method.bound(owner), given, call.node, call.frame)


def _batch(machine: Machine, call: Fitting, name: str) -> Value:
    """A batch, on the trainer's device, of the loader that the trainer is given, or of that of the data
    module or the module."""
    made = call.module.made
    if made is not None and any(made.find(one) is not None for one in _OWN_WAY):
        return Unknown()
    loaders = [one.value for one in call.given.listed if isinstance(one.value, Loader)]
    told = call.given.get(f"{name}s") or call.given.get("dataloaders")
    loader = told.value if told is not None else Unknown()
    if told is None and loaders:
        loader = loaders[-1] if name == "val_dataloader" else loaders[0]
    for owner in (*(one.value for one in call.given.every()), call.module):
        if isinstance(loader, Unknown):
            loader = _run(machine, call, owner, name)
    item = loader.item if isinstance(loader, Loader) else Unknown()
    if not isinstance(item, Unknown) and not any(one.guessed for one in tensors_in(item)):
        step = Step(EventKind.MOVED, machine.spot(call.node, call.frame), call.home)
        return moved(item, call.home, step)
    return Batch(Tensor(call.home, Origin.GIVEN))


#: Whether it moves what it prepares.
_PLACES = "device_placement"


def accelerator(call: CallSite) -> Value:
    """An accelerator, fabric or state of processes, and the device that it stands for."""
    device = _told(call)
    if device is None:
        return Unknown()
    made = Object("accelerator")
    made.attributes["device"] = Place(device)
    if (said := call.argument(_PLACES)) is not None:
        made.attributes[_PLACES] = said.value
    return made


def _told(call: CallSite) -> Device | None:
    cpu, kind = call.told("cpu"), call.argument("accelerator")
    if cpu is None and "cpu" in call.given.named:
        return None
    named = kind.value if kind is not None else None
    if cpu or (isinstance(named, Const) and named.value == "cpu"):
        return CPU
    devices = call.given.named.get("devices")
    listed = devices.value if devices is not None else None
    first = next(listed.every(), None) if isinstance(listed, Items) else None
    return call.machine.asked(first) if isinstance(first, Const) else call.machine.home()


def _is_off(value: Value | None) -> bool:
    return isinstance(value, Const) and value.value is False


def _device_of(owner: Object, call: CallSite) -> Device:
    place = owner.attributes.get("device")
    return place.device if isinstance(place, Place) else call.machine.home()


def brings_batch(owner: Object, call: CallSite) -> Value:
    """A batch or a model, brought to the device of an accelerator."""
    if call.first is None:
        return Unknown()
    return prepared(call, call.first, _device_of(owner, call), batches=True)


def prepares(owner: Object, call: CallSite) -> Value:
    """What an accelerator prepares: models and loaders go to its device, unless it is told not to."""
    given = call.given
    said = [given.named[name].value for name in (_PLACES, "move_to_device") if name in given.named]
    each = said[0].items if said and isinstance(said[0], Items) else []
    stay = any(map(_is_off, said)) or _is_off(owner.attributes.get(_PLACES))
    found = [
        one.value
        if stay or (n < len(each) and _is_off(each[n]))
        else prepared(call, one.value, _device_of(owner, call))
        for n, one in enumerate(given.listed)
    ]
    return found[0] if len(found) == 1 else Items(found)


def prepares_engine(call: CallSite) -> Value | None:
    """An engine around a model, which it brings to the GPU, and what else is made for it."""
    if (whole := call.given.get("model", 1)) is None:
        return None
    engine = prepared(call, whole.value, call.machine.home())
    return Items([engine, *map(Unknown, ("optimizer", "loader", "scheduler"))])


def prepared(call: CallSite, value: Value, home: Device, *, batches: bool = False) -> Value:
    """What a library prepares: modules are moved, loaders yield what is; tensors are where ``batches``."""
    step = call.moves(home)
    if isinstance(value, Module):
        if value.where() == META:
            empty = Tensor(META, Origin.WEIGHT, value.steps, value.frame, module=value)
            call.meet(ConstraintKind.META, [Meets(call.node, value, empty)])
        if value.where() != SPLIT:
            value.gather(home, step.spot)
    elif isinstance(value, Loader):
        return Loader(moved(value.item, home, step))
    elif batches:
        return moved(value, home, step)
    return value


def puts_weight(call: CallSite) -> Value | None:
    """One weight of a model is put on a device by its name."""
    said, name = call.given.get("device", 2), call.given.text("tensor_name", 1)
    *path, last = (name or "").split(".")
    if not isinstance(model := call.first, Module):
        return None
    owner: Module | None = model
    for part in path:
        owner = owner.children.get(part) if owner is not None else None
    if owner is not None and said is not None and last:
        device = call.machine.asked(said.value)
        steps = (*owner.steps, call.moves(device))
        weight = Tensor(device, Origin.WEIGHT, steps, owner.frame, module=owner)
        owner.tensors = {**owner.tensors, last: weight}
    return Const(None)
