"""What calls of libraries give: as kb/effects.toml says, else by their names and what their owners are.

The words of its rows are functions of the modules beside this one that take a call, or its owner and a
call, and give None where the row does not hold.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType

from diagnose.kinds import EventKind, Origin
from diagnose.placement import modules
from diagnose.placement.libraries import (
    datasets,
    device_maps,
    general,
    layers,
    models,
    module_methods,
    python,
    tensor_methods,
    torch_calls,
    trainers,
    weights,
)
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.general import (
    HELD,
    dict_method,
    library_call,
    list_method,
    unbound,
)
from diagnose.placement.libraries.models import may_fill, unlisted
from diagnose.placement.libraries.module_methods import other_method
from diagnose.placement.libraries.tensor_methods import (
    move,
    names_some,
    other_tensor_method,
    target,
)
from diagnose.placement.libraries.torch_calls import distribution_method, has_method
from diagnose.placement.libraries.weights import filled_elsewhere, may_be_filled
from diagnose.placement.machine import Arguments, Given, Machine
from diagnose.placement.model import Step
from diagnose.placement.python_types import record_method, text_method
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

_MODULES = (
    datasets,
    device_maps,
    general,
    layers,
    models,
    module_methods,
    python,
    tensor_methods,
    torch_calls,
    trainers,
    weights,
)
_OWNERS = {one.__name__: one for one in (Batch, Module, Object, Optimizer, Tensor)}
_Word = Callable[..., "Value | None"]


def _words(module: ModuleType) -> Iterator[tuple[str, _Word]]:
    for name, one in vars(module).items():
        parameters = list(getattr(one, "__annotations__", ()))[:-1]
        own = getattr(one, "__module__", "") == module.__name__ and not name.startswith("_")
        if own and parameters in (["call"], ["owner", "call"]):
            yield name.replace("_", "-"), one


#: Word -> what it stands for.
WORDS: Mapping[str, _Word] = dict(word for module in _MODULES for word in _words(module))


def done(call: CallSite, name: str, within: str = "") -> Value | None:
    """What a call gives, by the most exact row of its name that holds; None where none does.

    Args:
        call: the call.
        name: what is called, with its packages or its class.
        within: what a pattern for it has to begin with.
    """
    for effect in call.machine.torch.effects.of(name, within):
        found = _done(call._replace(effect=effect))
        if found is not None:
            return found
    return None


def _done(call: CallSite) -> Value | None:
    if call.effect.fills:
        may_fill(call)
    word = WORDS[call.effect.does]
    kind = word.__annotations__.get("owner")
    if kind is None:
        return word(call)
    return word(call.owner, call) if isinstance(call.owner, _OWNERS[kind]) else None


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
    if isinstance(owner, Module) and may_be_filled(name, node, frame.source):
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
