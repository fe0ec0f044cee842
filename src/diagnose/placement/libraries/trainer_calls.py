"""What a trainer that is given a module runs of it, and when: Lightning's ``fit``, ``validate``, ``test``
and ``predict`` (its documentation, "LightningModule", "Hooks")."""

from __future__ import annotations

import ast
from typing import NamedTuple

from diagnose.kinds import EventKind, Origin
from diagnose.placement.libraries.tensor_methods import moved
from diagnose.placement.machine import Arguments, Given, Machine
from diagnose.placement.model import Device, Step
from diagnose.placement.tensors import Batch, Module, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Function, Loader, Number, Object, Unknown, Value

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
