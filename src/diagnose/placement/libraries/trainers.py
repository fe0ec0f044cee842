"""Trainers and pipelines of model libraries: where they bring models and batches."""

from __future__ import annotations

from diagnose.kinds import EventKind, Origin
from diagnose.placement.devices import CPU, META, SPLIT
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.layers import built
from diagnose.placement.libraries.trainer_calls import Fitting, prepare, take_steps
from diagnose.placement.model import Device, Step
from diagnose.placement.tensors import Batch, Module
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Loader, Object, Place, Unknown, Value

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
