"""What calls of libraries give: as kb/effects.toml says, else by their names and what their owners are."""

from __future__ import annotations

import ast

from diagnose.kinds import EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.distributions import distribution_method, has_method
from diagnose.placement.libraries.general import unbound
from diagnose.placement.libraries.meta_modules import filled_elsewhere, may_fill
from diagnose.placement.libraries.models import unlisted
from diagnose.placement.libraries.module_methods import other_method
from diagnose.placement.libraries.object_methods import HELD, dict_method, library_call, list_method
from diagnose.placement.libraries.tensor_methods import (
    move,
    names_some,
    other_tensor_method,
    target,
)
from diagnose.placement.libraries.words import done
from diagnose.placement.machine import Arguments, Given, Machine
from diagnose.placement.model import Step
from diagnose.placement.records import record_method
from diagnose.placement.strings import text_method
from diagnose.placement.tensors import Batch, Distribution, Module, Optimizer, Table, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Class,
    Const,
    External,
    Frame,
    Generator,
    Loader,
    Object,
    Unknown,
    Value,
    static,
)


def library_call_of(
    machine: Machine, dotted: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """The result of calling a name of a library."""
    call = CallSite(machine, dotted, given, node, frame)
    found = unbound(call) if dotted.startswith("torch.Tensor.") else None
    found = found or done(call, dotted)
    return unlisted(call) if found is None else found


def method_call(
    machine: Machine, owner: Value, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """The result of a method of a library's object."""
    if isinstance(owner, Tensor) and owner.maker == Origin.LOAD and name in _OF_DICTS:
        owner = Batch(owner)
    call = CallSite(machine, name, given, node, frame, owner)
    if isinstance(owner, Module) and may_fill(name, node, frame.source):
        filled_elsewhere(owner, Step(EventKind.FILLED, call.spot))
    return _by_class(owner, call) or _other(owner, call)


#: What is asked of a checkpoint that is a dict.
_OF_DICTS = ("items", "keys", "values", "get")
#: What rows call the classes of objects that have a short name elsewhere.
_CALLED = {"accelerator": "accelerate.Accelerator", "host": "sklearn.base.BaseEstimator"}
#: The classes of abstract values under which rows name their methods.
_CLASSES = {
    Tensor: "torch.Tensor",
    Module: "torch.nn.Module",
    Optimizer: "torch.optim.Optimizer",
    Loader: "torch.utils.data.Dataset",
    Batch: "transformers.BatchEncoding",
}


def _by_class(owner: Value, call: CallSite) -> Value | None:
    """What a method gives by the row of its class: of a library's own class, or of all such values."""
    found = None
    if isinstance(owner, Object | Module):
        kind = _CALLED.get(owner.kind, owner.kind)
        found = done(call, f"{kind}.{call.name}", f"{kind.partition('.')[0]}.")
    if found is None and (general := _CLASSES.get(type(owner))) is not None:
        found = done(call, f"{general}.{call.name}", f"{general}.")
    return found


def _other(owner: Value, call: CallSite) -> Value:
    """What a method gives that no row names."""
    machine, name, given, node, frame = call.machine, call.name, call.given, call.node, call.frame
    match owner:
        case Tensor():
            return other_tensor_method(owner, call)
        case Distribution() if has_method(name):
            return distribution_method(owner, call)
        case Batch():
            return method_call(machine, owner.inner, name, given, node, frame)
        case Module():
            return other_method(owner, call)
        case Items():
            return list_method(owner, call)
        case Table():
            return dict_method(owner, call)
        case Object() if (made := record_method(owner, name, given)) is not None:
            return made
        case Object():
            return library_call(machine, owner.attributes.get(HELD), given, node, frame)
        case Generator():
            return owner
        case Class():
            return _class(owner, call)
        case Const() if isinstance(owner.value, str):
            return text_method(machine, owner, name, given, node, frame)
        case Unknown() if name in machine.torch.moves and not names_some(given):
            device = target(call)
            return Tensor(device, Origin.OTHER, (move(call, device),), frame)
        case Unknown() if name in machine.torch.indexing and given.every():  # a tensor, then
            return method_call(machine, Tensor(None), name, given, node, frame)
        case Unknown() if name == "with_format":
            return method_call(machine, Loader(owner), name, given, node, frame)
        case External(dotted="os.environ") if name == "get":
            return Unknown(given.text("", 0) or "")
    return Unknown()


def _class(owner: Class, call: CallSite) -> Value:
    if call.name in call.machine.torch.model_loaders and modules.of_class(
        call.machine, owner.foreign()
    ):
        made = call.run(owner, Arguments())
        if call.name == "load_from_checkpoint" and isinstance(made, Module):
            device = call.device("map_location")
            made.move(device, Step(EventKind.LOADED, call.spot, device))
        return made
    if call.name == "apply" and isinstance(owner.find("forward"), Object):
        return _autograd(owner, call)
    return Unknown()


def _autograd(owner: Class, call: CallSite) -> Value:
    """An autograd function: its forward, and its backward on a gradient that is where the result is."""
    context = Object("torch.autograd.function.FunctionCtx")

    def run(name: str, given: Arguments) -> Value:
        function = static(owner.find(name))
        return call.run(function.bound(context), given) if function is not None else Unknown()

    found = run("forward", call.given)
    run("backward", Arguments([Given(ast.Name("gradient"), found)]))
    return found
