"""What a function that nothing calls is given: arguments of which only names and uses are known, and in
place of each default what another call would give."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice

from diagnose.kinds import EventKind, Origin
from diagnose.model import TorchNames
from diagnose.placement.devices import CPU, HOME, DeviceVariable, differ, named_so
from diagnose.placement.evidence import batches_of, of_function, of_moves, tensors_of
from diagnose.placement.libraries.module_methods import GIVEN
from diagnose.placement.machine import Given, Machine
from diagnose.placement.model import Spot, Step
from diagnose.placement.semantics import (
    bindings,
    called,
    calls,
    defaults,
    dotted,
    last_name,
    names,
    nodes,
    parameters,
    positional,
    stored_attributes,
)
from diagnose.placement.tensors import Batch, Module, Tensor
from diagnose.placement.values import Const, Function, Loader, Unknown, Value

#: So many defaults of one function are turned.
_MOST = 4


def devices(function: Function) -> dict[str, Given]:
    """The devices that a function is given: whatever the caller says, and not their defaults."""
    return {name: _given(name, Unknown(name)) for name in _names(function) if named_so(name)}


def usual(machine: Machine, function: Function) -> dict[str, Given]:
    """Arguments of which only the names and uses are known, for all that has no default."""
    tensors = _tensors(machine, function)
    return {
        name: _given(name, _guessed(machine, name, function, tensors)) for name in _names(function)
    }


def other_calls(machine: Machine, function: Function) -> Sequence[dict[str, Given]]:
    """What other calls would give in place of a function's defaults: each that decides where it makes
    tensors turned alone, then all of these at once, with tensors for those that are None.

    Of an ``__init__`` those decide, too, by which it keeps something or another method makes tensors.
    """
    if not (given := defaults(function.node)):
        return []
    deciding, tensors = _deciding(function, machine.torch), _tensors(machine, function)
    others, absent = dict[str, Given](), dict[str, Given]()
    for name, default in given.items():
        value = default.value if isinstance(default, ast.Constant) else ...
        if named_so(name):
            continue
        if value is None and name in tensors:
            absent[name] = _given(name, tensors[name])
        elif name in deciding:
            turned = Const(not value) if isinstance(value, bool) else Unknown(name)
            others[name] = _given(name, turned)
    single = [{name: one} for name, one in islice(others.items(), _MOST)]
    return [*single, others | absent] if absent or len(others) > 1 else single


def _deciding(function: Function, torch: TorchNames) -> frozenset[str]:
    makers = torch.factories | torch.host_factories

    def makes(block: ast.AST) -> bool:
        return any(called(one) in makers for one in calls(block))

    def keeps(block: ast.AST) -> bool:
        return isinstance(block, ast.expr) or any(stored_attributes(block))

    found = set(_by_tests(function.node, makes))
    if function.owner is not None and function.name.endswith(".__init__"):
        found.update(_by_tests(function.node, keeps))
        for each in function.owner.line():
            found.update(_by_tests(each.node, makes))
        for one in bindings(function.node):
            if dotted(one.target) in found and one.value is not None:
                found.update(names(one.value))
    return frozenset(found)


def _by_tests(scope: ast.AST, decided: Callable[[ast.AST], bool]) -> Iterator[str]:
    """The names and attributes that tests read between what is such and what is not."""
    for one in nodes(scope, ast.If, ast.IfExp):
        blocks = [one.body, one.orelse] if isinstance(one, ast.IfExp) else [*one.body, *one.orelse]
        if any(map(decided, blocks)):
            reads = (dotted(read) for read in nodes(one.test, ast.Name, ast.Attribute))
            yield from filter(None, reads)


def _given(name: str, value: Value) -> Given:
    return Given(ast.Name(name), value)


def _names(function: Function) -> list[str]:
    names = [each.arg for each in positional(function.node)]
    if function.this is not None:
        names = names[1:]
    with_default = set(defaults(function.node))
    if is_of(function, "Callback"):  # which is handed all by name
        with_default -= set(_MODELS)
    if function.name.endswith(".forward") and function.name != "forward":
        with_default -= {"labels"}  # which a trainer hands over
    return [name for name in names if name not in with_default or named_so(name)]


def _tensors(machine: Machine, function: Function) -> Mapping[str, Value]:
    """The parameters that a function uses as tensors, and those of which it uses items so: on devices that
    callers choose. What it follows, and what a model's ``forward`` is given, is where the weights are."""
    told = cache(partial(of_function, function, machine.placing))
    asked = {
        node.value.id
        for node in nodes(function.node, ast.Attribute)
        if isinstance(node.value, ast.Name) and node.attr in machine.torch.of_tensors
    }
    tensors = tensors_of(function, machine.torch)
    found: dict[str, Value] = {
        name: Batch(Tensor(DeviceVariable(told), Origin.GIVEN))
        for name in batches_of(function, machine.torch)
    }
    for name in tensors | asked:  # what it moves is given on any device
        variable = DeviceVariable(told if name in tensors else lambda: None)
        found[name] = Tensor(variable, Origin.GIVEN)
    of_model = function.name.endswith(".forward") and isinstance(function.this, Module)
    there = _followed(machine, function) | (tensors | asked if of_model else frozenset())
    return found | {name: Tensor(HOME, Origin.GIVEN) for name in there}


def _followed(machine: Machine, function: Function) -> frozenset[str]:
    """The parameters whose device a function asks for or follows: it means them to be elsewhere, too."""
    made = machine.torch.tensor_factories
    followed = {
        one.value
        for one in nodes(function.node, ast.Attribute)
        if one.attr in made or one.attr in ("device", "is_cuda", "get_device")
    }
    for call in nodes(function.node, ast.Call):
        if last_name(call.func).endswith(("_like", "type_as")):
            followed.update(call.args[:1])
    given = {one.arg for one in parameters(function.node)}
    return frozenset(one.id for one in followed if isinstance(one, ast.Name)) & given


#: What the methods of a callback call the model that a trainer hands them.
_MODELS = ("model", "pl_module")


def is_of(function: Function, kind: str) -> bool:
    """Whether a method is of a class that is built on a library's of a kind, such as its trainer."""
    made = function.owner
    return made is not None and any(
        base.endswith(kind) for one in made.line() for base in one.library
    )


def _guessed(
    machine: Machine, name: str, function: Function, tensors: Mapping[str, Value]
) -> Value:
    """The value of a parameter: in ``forward`` what is used as a tensor is where the weights are."""
    method = function.name.rpartition(".")[2]
    if name == "batch" and method in machine.torch.step_methods:
        this = function.this if isinstance(function.this, Module) else None
        on_host = this is not None and this.where() == CPU
        return Batch(Tensor(CPU if on_host else HOME, Origin.GIVEN))
    if name == "batch" and is_of(function, "Callback"):
        return Batch(Tensor(HOME, Origin.GIVEN))
    if name in _MODELS and is_of(function, "Callback"):
        return Module("transformers.model", machine.home())
    of_trainer = method in machine.torch.trainer_steps and is_of(function, "Trainer")
    if name in ("model", "inputs") and of_trainer:
        home = machine.home()  # a trainer has moved its model, and moves what it hands over
        if name == "model":
            return Module("transformers.model", home)
        return Batch(Tensor(home, Origin.GIVEN), mutable=True)
    if name in GIVEN and method == "__call__" and _generates(function):
        there = any(differ(one.where(), machine.home()) is False for one in machine.modules)
        return Tensor(machine.home(), Origin.GIVEN) if there else Unknown(name)
    if name == "value" and method == "put" and is_of(function, "Streamer"):
        return Tensor(CPU, Origin.GIVEN)
    if _LOADERS.fullmatch(name):
        node = next(one for one in parameters(function.node) if one.arg == name)
        made = Step(EventKind.MADE, Spot(function.source, node, function.name), CPU)
        return Loader(Batch(Tensor(CPU, Origin.BATCH, (made,))))
    if name in _models(function):
        return Module("torch.nn.Module", DeviceVariable(partial(of_moves, function)))
    return tensors.get(name) or Unknown(name, DeviceVariable(lambda: None))


#: What people call what hands out batches in the host's memory.
_LOADERS = re.compile(r"(\w+_)?(data_?)?loader")
#: Methods of modules that hardly anything else has.
_OF_MODULES = frozenset({"parameters", "named_parameters", "state_dict", "zero_grad"})


def _models(function: Function) -> frozenset[str | None]:
    """The parameters that a function calls, and asks for weights."""
    asking = calls(function.node, *_OF_MODULES)
    asked = {(dotted(one.func) or "").rpartition(".")[0] for one in asking}
    return frozenset(asked & {dotted(one.func) for one in calls(function.node)})


def _generates(function: Function) -> bool:
    return any(
        is_of(function, one) for one in ("StoppingCriteria", "LogitsProcessor", "LogitsWarper")
    )
