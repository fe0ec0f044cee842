"""Trainers, pipelines and collators of model libraries: where they bring models and batches."""

from __future__ import annotations

import ast

from diagnose.kinds import EventKind, Origin
from diagnose.placement.devices import CPU, META, SPLIT
from diagnose.placement.libraries.layers import built
from diagnose.placement.libraries.trainer_calls import Fitting, prepare, take_steps
from diagnose.placement.machine import Arguments, Machine
from diagnose.placement.model import Device, Step
from diagnose.placement.tensors import Batch, Module, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Loader, Object, Place, Unknown, Value

#: The attributes by which a trainer knows a model that is spread over GPUs, and leaves it there.
_SPREAD = frozenset({"hf_device_map", "is_parallelizable", "model_parallel"})
#: Libraries whose trainer brings its model back to the cpu when it has ended.
_GIVING_BACK = frozenset({"lightning", "pytorch_lightning"})


def arguments(machine: Machine, given: Arguments) -> Object:
    """What a trainer is told: its device, and the rest by its names."""
    made = Object("arguments")
    made.attributes = {name: one.value for name, one in given.named.items()}
    cpu = [made.attributes[name] for name in ("use_cpu", "no_cuda") if name in made.attributes]
    on_host = any(isinstance(one, Const) and one.value is True for one in cpu)
    unknown = any(not isinstance(one, Const) for one in cpu)
    made.attributes["device"] = (
        Unknown("device") if unknown else Place(CPU if on_host else machine.home())
    )
    return made


def trainer(machine: Machine, root: str, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A library's trainer: some move the model that they are given at once."""
    model, args = given.get("model", 0), given.get("args", 1)
    found = Object("fitting" if root in _GIVING_BACK else "trainer")
    told = args.value.attributes.get("device") if args and isinstance(args.value, Object) else None
    home: Device | None = machine.home()
    if isinstance(told, Place):
        home = told.device
    elif told is not None:
        home = None
    if root in _GIVING_BACK:
        kind, devices = given.text("accelerator"), given.named.get("devices")
        first = None
        if devices is not None and isinstance(devices.value, Items):
            first = next(devices.value.every(), None)
        home = CPU if kind == "cpu" else machine.asked(first) if first is not None else home
    if home is not None:
        found.attributes["<home>"] = Place(home)
    for told_as, one in (("args", args), ("callbacks", given.named.get("callbacks"))):
        if one is not None:
            found.attributes[told_as] = one.value
    if model is None or not isinstance(model.value, Module):
        return found
    found.attributes["model"] = model.value
    free = model.value.where() not in (SPLIT, META) and _SPREAD.isdisjoint(model.value.plain)
    if free and home is not None:
        if home == CPU:
            model.value.move(CPU, Step(EventKind.MOVED, machine.spot(node, frame), CPU))
            return found
        model.value.gather(home, machine.spot(node, frame))
        if root in machine.torch.replicating_libraries:
            model.value.steps = (
                *model.value.steps,
                Step(EventKind.WRAPPED, machine.spot(node, frame)),
            )
    elif free:
        model.value.move(None, Step(EventKind.MOVED, machine.spot(node, frame)))
    return found


def trained(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What a method of a trainer does: batches of its loaders are on its device, and so is a model that it
    is given, until it gives it back."""
    place = owner.attributes.get("<home>")
    home = place.device if isinstance(place, Place) else machine.home()
    if name.startswith("get_") and name.endswith("_dataloader"):
        made = machine.step(EventKind.MADE, node, frame, home)
        return Loader(Batch(Tensor(home, Origin.BATCH, made, frame), mutable=True))
    if name not in machine.torch.trainer_methods:
        return Unknown()
    model = next((one.value for one in given.every() if isinstance(one.value, Module)), None)
    if model is not None and model.where() != SPLIT:
        spot = machine.spot(node, frame)
        if owner.kind == "fitting":
            fitting = Fitting(owner, model, home, given, node, frame)
            prepare(machine, fitting, name)
            model.gather(home, spot)
            take_steps(machine, fitting, name)
            model.move(CPU, Step(EventKind.GIVEN_BACK, spot, CPU))
        else:
            model.gather(home, spot)
    if owner.kind == "fitting" and name == "predict":
        made = machine.step(EventKind.MADE, node, frame, CPU)
        return Items([], Tensor(CPU, Origin.LIBRARY, made, frame))
    return Unknown()


def pipeline(machine: Machine, given: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A pipeline of transformers: it takes the first GPU, unless it is told another device."""
    found, said = Object("pipeline"), given.named.get("device")
    model = given.get("model", 1)
    held = model.value if model is not None else None
    if not isinstance(held, Module):
        held = built(machine, "transformers.model", node, frame)
    home: Device | None = machine.home()
    if "device_map" in given.named or held.where() == SPLIT:
        home = None
    elif said is not None:
        last = said.value.value if isinstance(said.value, Const) else None
        home = CPU if last == -1 else machine.home() if last is None else machine.asked(said.value)
        if not isinstance(said.value, Const | Place):
            home = machine.asked(said.value)
    if held.where() != SPLIT:
        held.move(home, Step(EventKind.MOVED, machine.spot(node, frame), home))
    found.attributes = {"model": held, "tokenizer": Object("tokenizer")}
    if home is not None:
        found.attributes["device"] = Place(home)
    if "return_tensors" in given.named:
        made = machine.step(EventKind.MADE, node, frame, CPU)
        found.attributes["<result>"] = Items([], Tensor(CPU, Origin.LIBRARY, made, frame))
    return found


def piped(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What a pipeline gives: texts and numbers, or tensors of the cpu where it was told so."""
    return owner.attributes.get("<result>", Unknown()) if name == "__call__" else Unknown()


def collator(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """What a library's collator makes of rows: a batch on the cpu."""
    if name != "__call__":
        return Unknown()
    made = Tensor(CPU, Origin.BATCH, machine.step(EventKind.MADE, node, frame, CPU), frame)
    return Batch(made, mutable=True)


def training_call(
    machine: Machine, root: str, last: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """What makes a trainer, its arguments, a pipeline or a collator gives; None for other calls."""
    if last.endswith("Trainer") and last[:1].isupper():
        return trainer(machine, root, given, node, frame)
    if last.endswith("TrainingArguments"):
        return arguments(machine, given)
    if root == "trl" and last.endswith("Config"):
        return arguments(machine, given)
    if last == "pipeline" and root == "transformers":
        return pipeline(machine, given, node, frame)
    if last.startswith("DataCollator") and last[:1].isupper():
        return Object("collator")
    if last == "default_data_collator":
        return collator(machine, Object("collator"), "__call__", given, node, frame)
    return None
