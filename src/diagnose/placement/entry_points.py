"""What nothing calls is run at the end, on arguments of which only the names are known."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import CPU, HOME, differ, named_so
from diagnose.placement.evidence import (
    batches_of,
    is_of_host,
    of_attributes,
    of_function,
    of_package,
    tensors_of,
)
from diagnose.placement.language import calls
from diagnose.placement.language.control_flow import Ways
from diagnose.placement.libraries.module_methods import GIVEN
from diagnose.placement.libraries.trainers import BEFORE
from diagnose.placement.libraries.weights import copied
from diagnose.placement.machine import BUDGET, Arguments, Exhausted, Given, Machine, Meeting
from diagnose.placement.model import Evidence, Step
from diagnose.placement.semantics import (
    defaults,
    dotted,
    last_name,
    nodes,
    positional,
    stored_attributes,
)
from diagnose.placement.tensors import Batch, Module, Tensor
from diagnose.placement.values import (
    Class,
    Const,
    Frame,
    Function,
    Object,
    Place,
    Unknown,
    Value,
    static,
)


def guarded(machine: Machine, work: Callable[[], object]) -> bool:
    """Whether some of the analysis came to its end."""
    try:
        work()
    except (Exhausted, RecursionError):
        return False
    finally:
        machine.calls.clear()
        machine.changes.clear()
        machine.depths.clear()
    return True


def _apart(machine: Machine, work: Callable[[], object]) -> bool:
    """The same, and what it sets for the whole program holds for it alone."""
    before = machine.default, machine.default_of, machine.current
    complete = guarded(machine, work)
    machine.default, machine.default_of, machine.current = before
    return complete


def uncalled(machine: Machine, frame: Frame) -> bool:
    """Runs the functions and methods of a file that nothing called."""
    complete = True
    turned = _assigned_twice(frame.source.tree)
    for value in list(frame.names.values()):
        if isinstance(value, Function) and value.source is frame.source:
            complete = _entered(machine, value.undecorated or value, frame) and complete
        elif isinstance(value, Class) and value.source is frame.source:
            complete = _class(machine, value, frame, turned) and complete
    return complete


def supposed(machine: Machine, frame: Frame) -> None:
    """Runs once more what the program does not call, where something says that it is given what is on an
    accelerator."""
    for value in list(frame.names.values()):
        if isinstance(value, Function) and value.source is frame.source:
            _suppose(machine, value.undecorated or value, frame, {})
        elif isinstance(value, Class) and value.source is frame.source:
            _suppose_methods(machine, value, frame)


def _suppose_methods(machine: Machine, made: Class, frame: Frame) -> None:
    idle = [one for one in _methods(made) if id(one.node) not in machine.called]
    building = {"__init__", *_only_of_init(made)}
    idle = [one for one in idle if one.name.rpartition(".")[2] not in building]
    if not idle or is_of_host(made.node.name):
        return
    machine.left, mark = BUDGET // 3, len(machine.meetings)
    _, this = _built(machine, made, frame, open_=True)
    del machine.meetings[mark:]
    _forget_devices(this, made)
    held = _plain(this)
    told = of_attributes(made)
    for name in told:
        value = held.get(name)
        if isinstance(value, Unknown) or (isinstance(value, Tensor) and value.device is None):
            held[name] = Tensor(HOME, Origin.GIVEN)
    if isinstance(this, Module):
        this.move(HOME, Step(EventKind.MOVED, machine.spot(made.node, frame), HOME))
    for member in idle:
        bound = member if member.owner is None else member.bound(this)
        _suppose(machine, bound, frame, {} if isinstance(this, Module) else told)


def _suppose(
    machine: Machine, function: Function, frame: Frame, told: Mapping[str, Evidence]
) -> None:
    """Runs a function whose tensors are on an accelerator, as ``told`` says of attributes of its object."""
    node = function.node
    if id(node) in machine.called or isinstance(node, ast.Lambda) or is_of_host(node.name):
        return
    because, given = of_function(function), dict[str, Value]()
    names = set(_names(function))
    tensors = names & tensors_of(function, machine.torch)
    if tensors and because is None:
        because = of_package(function, machine.placing)
    if because is not None:
        given |= {name: Tensor(HOME, Origin.GIVEN) for name in tensors}
        batches = names & batches_of(function, machine.torch) - given.keys()
        given |= {name: Batch(Tensor(HOME, Origin.GIVEN)) for name in batches}
    read = {one.attr for one in nodes(node, ast.Attribute) if dotted(one.value) == "self"}
    because = because or next((told[name] for name in told if name in read), None)
    if because is None or not (given or read):
        return
    machine.because = because
    _run(machine, function, frame, _asked(machine, function), frozenset(), given)
    machine.because = None


def hung(machine: Machine) -> bool:
    """Runs the functions that objects of libraries are given to call."""
    complete = True
    for value, frame in machine.hung:
        if isinstance(value, Function):
            complete = _entered(machine, value.undecorated or value, frame) and complete
    return complete


def _class(machine: Machine, made: Class, frame: Frame, turned: frozenset[str]) -> bool:
    """Runs the methods of a class that nothing called; ``turned`` are attributes that are set again."""
    waiting = [one for one in _methods(made) if id(one.node) not in machine.entered]
    if not waiting:
        return True
    machine.left = BUDGET // 3
    complete, known = True, machine.objects.get(id(made.node))
    this = known
    if this is None:
        complete, this = _built(machine, made, frame)
    _forget_devices(this, made)
    _forget_switches(this, turned)
    building = _only_of_init(made)
    waiting.sort(key=_turn)
    for member in waiting if known is not None and _is_given_back(this) else ():
        if _turn(member) == 0:
            complete = _entered(machine, member.bound(this), frame) and complete
    taken = known is not None and _taken_again(this)
    if isinstance(this, Module) and known is not None and not taken and _stays(this):
        this, known = copied(this, ()), None  # what the program made stays where it is
    # What nothing calls may be called before the model moves, but for its ``forward``.
    for member in waiting:
        if member.name.rpartition(".")[2] in building:
            continue
        if isinstance(this, Module) and known is None and _turn(member) > 0:
            this.move(HOME, Step(EventKind.MOVED, machine.spot(made.node, frame), HOME))
        if id(member.node) not in machine.entered:
            bound = member if member.owner is None else member.bound(this)  # static: of none
            complete = _entered(machine, bound, frame) and complete
    return complete


def _built(
    machine: Machine, made: Class, frame: Frame, *, open_: bool = False
) -> tuple[bool, Value]:
    """Whether the analysis of an ``__init__`` came to its end, and what it makes; ``open_``: its switches
    may be turned on, and what may be None may be given."""
    start = made.find("__init__")
    start = start.bound(made) if isinstance(start, Function) else None
    # A device is whatever the caller says, and not its default.
    names = [one for one in _names(start) if named_so(one)] if start is not None else []
    if open_ and start is not None:
        usual = defaults(start.node).items()
        names += [name for name, one in usual if isinstance(one, ast.Constant) and not one.value]
    given = {name: Given(ast.Name(name), Unknown(name)) for name in names}
    built: list[Value] = [Object(made.node.name, made)]

    def build() -> None:
        built.append(calls.construct(machine, made, Arguments((), given), made.node, frame))

    return _apart(machine, build), built[-1]


def _stays(module: Module) -> bool:
    """Whether a module is where it was made, or on the cpu."""
    return _unmoved(module) or module.where() == CPU


def _unmoved(module: Module) -> bool:
    """Whether the program makes a module, and neither moves it nor what it belongs to."""
    parts = (module, module.whole())
    return not any(step.what == EventKind.MOVED for one in parts for step in one.steps)


def _turn(method: Function) -> int:
    """When a method is called: before its module is moved, after that, or last of all."""
    last = method.name.rpartition(".")[2]
    return 0 if last in BEFORE and _is_of(method, "LightningModule") else 1 + (last == "forward")


def _is_given_back(this: Value) -> bool:
    """Whether a trainer has brought a module back to where it was before."""
    return (
        isinstance(this, Module)
        and this.steps[-1:] != ()
        and this.steps[-1].what == EventKind.GIVEN_BACK
    )


def _taken_again(this: Value) -> bool:
    """What a trainer calls of a module runs where it had brought that; False where it brought none."""
    if not isinstance(this, Module) or not _is_given_back(this):
        return False
    moved = next((one for one in reversed(this.steps[:-1]) if one.device is not None), None)
    if moved is not None:
        this.move(moved.device, moved)
    return moved is not None


def _assigned(node: ast.AST) -> frozenset[str]:
    """The attributes of ``self`` that a method assigns."""
    return frozenset(one.attr for one in stored_attributes(node) if dotted(one.value) == "self")


def _methods(made: Class) -> list[Function]:
    members = [static(one) or one for one in made.members.values()]
    return [one.undecorated or one for one in members if isinstance(one, Function)]


def _plain(this: Value) -> dict[str, Value]:
    """The attributes of an object; of a module those that do not move with it."""
    return this.plain if isinstance(this, Module) else getattr(this, "attributes", {})


def _forget_devices(this: Value, made: Class) -> None:
    """A device that another method assigns is not the one that ``__init__`` left."""
    held = _plain(this)
    # What moves itself may have its layers elsewhere, or nowhere yet.
    moves = any(isinstance(made.find(one), Function) for one in ("to", "_apply", "cuda"))
    others = [one.node for one in _methods(made) if not one.name.endswith(".__init__")]
    for name in frozenset[str]().union(*map(_assigned, others)) & held.keys():
        value = held[name]
        if isinstance(value, Place) or (isinstance(value, Const) and named_so(name)):
            held[name] = Unknown() if moves else Unknown(name)


def _assigned_twice(tree: ast.AST) -> frozenset[str]:
    """The attributes that a file assigns at several places, of whatever objects."""
    times = Counter(one.attr for one in stored_attributes(tree))
    return frozenset(name for name, count in times.items() if count > 1)


def _forget_switches(this: Value, turned: frozenset[str]) -> None:
    """What is turned off at the end of a program was on before."""
    held = _plain(this)
    for name in turned & held.keys():
        value = held[name]
        if isinstance(value, Const) and isinstance(value.value, bool):
            held[name] = Unknown()


def _only_of_init(made: Class) -> frozenset[str]:
    """The methods that ``__init__`` calls, and no other one: they run before the model is moved."""
    called: dict[str, set[bool]] = {}
    for method in _methods(made):
        for one in nodes(method.node, ast.Attribute):
            if dotted(one.value) == "self":
                called.setdefault(one.attr, set()).add(method.name.endswith(".__init__"))
    return frozenset(name for name, by in called.items() if by == {True})


def _entered(machine: Machine, function: Function, frame: Frame) -> bool:
    """Runs a function on arguments of which only names and uses are known."""
    if id(function.node) in machine.entered or isinstance(function.node, ast.Lambda):
        return True
    tensors, elsewhere = _asked(machine, function), _followed(machine, function)
    if function.name.endswith(".forward") and isinstance(function.this, Module):
        elsewhere |= tensors
    mark = len(machine.meetings), machine.judged, machine.unknown
    complete = _run(machine, function, frame, tensors, elsewhere)
    # What meets tensors on an accelerator is on it: with that known, the function runs again.
    if beside := _beside_accelerators(machine.meetings[mark[0] :]) - elsewhere:
        del machine.meetings[mark[0] :]
        _, machine.judged, machine.unknown = mark
        complete = _run(machine, function, frame, tensors, elsewhere | beside)
    return complete


def _run(
    machine: Machine,
    function: Function,
    frame: Frame,
    tensors: frozenset[str],
    elsewhere: frozenset[str],
    known: Mapping[str, Value] = MappingProxyType({}),
) -> bool:
    """Runs a function whose parameters of some names are tensors, of some on the accelerator, and of some
    known."""
    machine.left = BUDGET // 3
    given = {
        name: Given(
            ast.Name(name),
            known.get(name) or _guessed(machine, name, function, tensors, elsewhere),
        )
        for name in _names(function)
    }

    def work() -> None:
        ways = Ways(machine)
        ways.end()  # for what is entered next, nobody knows whether this one was
        calls.run(machine, function, Arguments((), given), function.node, frame)
        ways.end()
        ways.join()

    return _apart(machine, work)


def _beside_accelerators(meetings: Sequence[Meeting]) -> frozenset[str]:
    """The parameters that have to be where tensors on an accelerator are that they meet."""
    found = set[str]()
    for one in meetings:
        there = any(
            side.tensor.device == HOME for side in one.sides[one.what == ConstraintKind.INDEX :]
        )
        if there and one.what in _TOGETHER:
            found |= {side.tensor.name for side in one.sides if _is_given(side.tensor)}
    return frozenset(found)


def _is_given(tensor: Tensor) -> bool:
    return tensor.maker == Origin.GIVEN and tensor.device is None


def _names(function: Function) -> list[str]:
    names = [each.arg for each in positional(function.node)]
    if function.this is not None:
        names = names[1:]
    with_default = set(defaults(function.node))
    if _is_of(function, "Callback"):  # which is handed all by name
        with_default -= set(_MODELS)
    if function.name.endswith(".forward") and function.name != "forward":
        with_default -= {"labels"}  # which a trainer hands over
    return [name for name in names if name not in with_default or named_so(name)]


def _asked(machine: Machine, function: Function) -> frozenset[str]:
    """The names that a function asks for what only tensors have."""
    return frozenset(
        node.value.id
        for node in nodes(function.node, ast.Attribute)
        if isinstance(node.value, ast.Name) and node.attr in machine.torch.of_tensors
    )


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
    return frozenset(one.id for one in followed if isinstance(one, ast.Name)) & set(
        _names(function)
    )


#: Constraints by which operands are on one device.
_TOGETHER = frozenset({ConstraintKind.JOIN, ConstraintKind.CALL, ConstraintKind.INDEX})

#: What the methods of a callback call the model that a trainer hands them.
_MODELS = ("model", "pl_module")


def _is_of(function: Function, kind: str) -> bool:
    """Whether a method is of a class that is built on a library's of a kind, such as its trainer."""
    made = function.owner
    return made is not None and any(
        base.endswith(kind) for one in made.line() for base in one.library
    )


def _guessed(
    machine: Machine,
    name: str,
    function: Function,
    tensors: frozenset[str],
    elsewhere: frozenset[str],
) -> Value:
    """The value of a parameter: in ``forward`` what is used as a tensor is where the weights are."""
    method = function.name.rpartition(".")[2]
    if name == "batch" and method in machine.torch.step_methods:
        this = function.this if isinstance(function.this, Module) else None
        on_host = this is not None and this.where() == CPU
        return Batch(Tensor(CPU if on_host else HOME, Origin.GIVEN))
    if name == "batch" and _is_of(function, "Callback"):
        return Batch(Tensor(HOME, Origin.GIVEN))
    if name in _MODELS and _is_of(function, "Callback"):
        return Module("transformers.model", machine.home())
    of_trainer = method in machine.torch.trainer_steps and _is_of(function, "Trainer")
    if name in ("model", "inputs") and of_trainer:
        home = machine.home()  # a trainer has moved its model, and moves what it hands over
        if name == "model":
            return Module("transformers.model", home)
        return Batch(Tensor(home, Origin.GIVEN), mutable=True)
    if name in GIVEN and method == "__call__" and _generates(function):
        there = any(differ(one.where(), machine.home()) is False for one in machine.modules)
        return Tensor(machine.home(), Origin.GIVEN) if there else Unknown(name)
    if name == "value" and method == "put" and _is_of(function, "Streamer"):
        return Tensor(CPU, Origin.GIVEN)
    if name in elsewhere:
        return Tensor(HOME, Origin.GIVEN)
    if name in tensors:
        return Tensor(None, Origin.GIVEN, name=name)
    return Unknown(name, handed=True)


def _generates(function: Function) -> bool:
    return any(
        _is_of(function, one) for one in ("StoppingCriteria", "LogitsProcessor", "LogitsWarper")
    )
