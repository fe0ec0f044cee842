"""What nothing calls is run at the end, on arguments of which only the names are known."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from types import MappingProxyType

from diagnose import bulkhead
from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import CPU, HOME, DeviceVariable, is_open, named_so
from diagnose.placement.entry_arguments import devices, is_of, other_calls, usual
from diagnose.placement.evidence import of_attributes
from diagnose.placement.language import calls
from diagnose.placement.language.control_flow import Ways
from diagnose.placement.libraries.trainers import BEFORE
from diagnose.placement.libraries.weights import copied
from diagnose.placement.machine import BUDGET, Arguments, Exhausted, Given, Machine, Meeting
from diagnose.placement.model import Evidence, Source, Step
from diagnose.placement.semantics import dotted, nodes, stored_attributes
from diagnose.placement.stack_trace import StackTrace
from diagnose.placement.tensors import Module, Tensor
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
    """Whether some of the analysis came to its end; a fault of our own costs no more than that part."""

    def ends() -> bool:
        try:
            work()
        except (Exhausted, RecursionError):
            return False
        return True

    try:
        return bulkhead.guarded("analysis", ends, False)
    finally:
        machine.calls.clear()
        machine.changes.clear()
        machine.depths.clear()


def _apart(machine: Machine, work: Callable[[], object]) -> bool:
    """The same, and what it sets for the whole program holds for it alone."""
    before = machine.default, machine.default_of, machine.current
    complete = guarded(machine, work)
    machine.default, machine.default_of, machine.current = before
    return complete


def uncalled(machine: Machine, frame: Frame, *, made_alone: bool = False) -> bool:
    """Runs the functions and methods of a file that nothing called; ``made_alone``: only the methods of
    classes of which the program makes objects."""
    complete = True
    turned = _assigned_twice(frame.source.tree)
    for value in sorted(frame.names.values(), key=partial(_is_out_of, machine.trace, frame.source)):
        if isinstance(value, Class) and value.source is frame.source:
            if not made_alone or id(value.node) in machine.objects:
                complete = _class(machine, value, frame, turned) and complete
        elif isinstance(value, Function) and value.source is frame.source and not made_alone:
            complete = _entered(machine, value.undecorated or value, frame) and complete
    return complete


def _is_out_of(trace: StackTrace, source: Source, value: Value) -> bool:
    """Whether a traceback names no line of a function or class of a file."""
    return not (isinstance(value, Class | Function) and trace.is_in(source, value.node))


def followed(
    machine: Machine,
    files: Sequence[Source],
    run: Callable[[Source], Frame],
    node: ast.AST,
    frame: Frame,
) -> Value | None:
    """The function that a call went on to, as a traceback shows; None where it does not.

    Args:
        machine: the analysis.
        files: the files of the traceback.
        run: the variables of a file.
        node: the call.
        frame: the variables around it.
    """
    line = machine.trace.entered(frame.source, node)
    if line is None:
        return None
    source = next((one for one in files if one.path == line.path), None)
    entered = source.function_at(line.number) if source is not None else None
    if source is None or entered is None or not machine.trace.fits(node, entered.name):
        return None
    file = run(source)
    for value in list(file.names.values()):
        if isinstance(value, Function) and (value.undecorated or value).node is entered:
            return value
        if isinstance(value, Class) and value.source is source:
            method = next((one for one in _methods(value) if one.node is entered), None)
            if method is not None:
                return method.bound(_object_of(machine, value, file))
    return None


def _object_of(machine: Machine, made: Class, frame: Frame) -> Value:
    """The object of a class that the program makes, or else one as nobody made it."""
    if (known := machine.objects.get(id(made.node))) is not None:
        return known
    given = Arguments((), _devices_of(made))
    this = calls.construct(machine, made, given, made.node, frame)
    _forget_devices(this, made)
    if isinstance(this, Module):
        _bring(machine, this, made, frame)
    machine.objects[id(made.node)] = this
    return this


def hung(machine: Machine) -> bool:
    """Runs the functions that objects of libraries are given to call."""
    complete = True
    for value, frame in machine.hung:
        if isinstance(value, Function):
            complete = _entered(machine, value.undecorated or value, frame) and complete
    return complete


def _class(machine: Machine, made: Class, frame: Frame, turned: frozenset[str]) -> bool:
    """Runs the methods of a class that nothing called; ``turned`` are attributes that are set again."""
    waiting = [one for one in _methods(made) if _waits(machine, one)]
    if not waiting:
        return True
    machine.left = BUDGET // 3
    complete, known = True, machine.objects.get(id(made.node))
    this = known
    if this is None:
        complete, this = _built(machine, made, frame)
    _forget_devices(this, made)
    _forget_switches(this, turned)
    for member in waiting if known is not None and _is_given_back(this) else ():
        if _turn(member) == 0:
            complete = _entered(machine, member.bound(this), frame) and complete
    taken = known is not None and _taken_again(this)
    if isinstance(this, Module) and known is not None and not taken and _stays(this):
        this, known = copied(this, ()), None  # what the program made stays where it is
    _open(machine, this, made)
    for member in _in_turn(machine, made, this, frame, moves=known is None):
        complete = _entered(machine, member, frame) and complete
    return complete


def _in_turn(
    machine: Machine, made: Class, this: Value, frame: Frame, *, moves: bool
) -> Iterator[Function]:
    """The methods of an object that nothing called, none that only build it: what is called before its
    module ``moves`` first, and ``forward`` last."""
    building = {"__init__", *_only_of_init(made)}
    waiting = [one for one in _methods(made) if _waits(machine, one)]
    for member in sorted(waiting, key=_turn):
        ran = machine.trace.is_in(made.source, member.node)
        if member.name.rpartition(".")[2] in building and not ran:
            continue
        if isinstance(this, Module) and moves and _turn(member) > 0:
            _bring(machine, this, made, frame)
        yield member if member.owner is None else member.bound(this)  # static: of none


def otherwise(machine: Machine, frame: Frame) -> bool:
    """Runs what nothing called of a file once more for each default that another call would turn: of the
    functions, of the methods, and of an ``__init__`` whose objects the program does not make."""
    complete = True
    for value in list(frame.names.values()):
        if isinstance(value, Function) and value.source is frame.source:
            complete = _turned(machine, value.undecorated or value, frame) and complete
        elif isinstance(value, Class) and value.source is frame.source:
            complete = _class_otherwise(machine, value, frame) and complete
    return complete


def _class_otherwise(machine: Machine, made: Class, frame: Frame) -> bool:
    if id(made.node) in machine.objects:
        return True
    complete, start = True, made.find("__init__")
    others = _other_calls(machine, start.bound(made)) if isinstance(start, Function) else ()
    for given in chain([{}], others):
        mark = len(machine.meetings)
        whole, this = _built(machine, made, frame, given)
        # Tensors are on the host where a module is built, whatever it goes by later.
        met = bound(machine.meetings[mark:])
        machine.meetings[mark:] = [one for one in met if one.because is None]
        _forget_devices(this, made)
        _open(machine, this, made)
        enter = _entered if given else _turned
        for member in _in_turn(machine, made, this, frame, moves=True):
            whole = enter(machine, member, frame) and whole
        complete = complete and whole
    return complete


def _other_calls(machine: Machine, function: Function) -> Iterator[dict[str, Given]]:
    """What other calls give a function, as long as the file has not taken long."""
    for given in other_calls(machine, function):
        if machine.spent <= BUDGET // 2:
            yield given


def _turned(machine: Machine, function: Function, frame: Frame) -> bool:
    complete = True
    for given in _other_calls(machine, function) if _waits(machine, function) else ():
        complete = _run(machine, function, frame, usual(machine, function) | given) and complete
    return complete


def _built(
    machine: Machine, made: Class, frame: Frame, turned: Mapping[str, Given] = MappingProxyType({})
) -> tuple[bool, Value]:
    """Whether the analysis of an ``__init__`` came to its end, and what it makes."""
    given = Arguments((), {**_devices_of(made), **turned})
    built: list[Value] = [Object(made.node.name, made)]

    def build() -> None:
        built.append(calls.construct(machine, made, given, made.node, frame))

    return _apart(machine, build), built[-1]


def _devices_of(made: Class) -> Mapping[str, Given]:
    """The devices that an ``__init__`` is given by whoever makes an object."""
    start = made.find("__init__")
    return devices(start.bound(made)) if isinstance(start, Function) else {}


def _bring(machine: Machine, this: Module, made: Class, frame: Frame) -> None:
    """A module that nobody makes is moved to an accelerator, for its class may be."""
    this.move(HOME, Step(EventKind.MOVED, machine.spot(made.node, frame), HOME))


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
    return 0 if last in BEFORE and is_of(method, "LightningModule") else 1 + (last == "forward")


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
    for method in (each for one in made.line() for each in _methods(one)):
        for one in nodes(method.node, ast.Attribute):
            if dotted(one.value) == "self":
                called.setdefault(one.attr, set()).add(method.name.endswith(".__init__"))
    return frozenset(name for name, by in called.items() if by == {True})


def _waits(machine: Machine, function: Function) -> bool:
    """Whether a function is to be run for itself: what nothing calls, and, where something may say what it
    is given, what only that calls."""
    calling = machine.entered if machine.placing is None else machine.called
    return id(function.node) not in calling and not isinstance(function.node, ast.Lambda)


def _entered(machine: Machine, function: Function, frame: Frame) -> bool:
    """Runs a function that nothing called, on arguments of which only names and uses are known."""
    return not _waits(machine, function) or _run(machine, function, frame, usual(machine, function))


def _run(machine: Machine, function: Function, frame: Frame, given: Mapping[str, Given]) -> bool:
    """Whether the run of a function on some arguments came to its end."""
    machine.left, mark = BUDGET // 3, len(machine.meetings)

    def work() -> None:
        ways = Ways(machine)
        ways.end()  # for what is entered next, nobody knows whether this one was
        calls.run(machine, function, Arguments((), given), function.node, frame)
        ways.end()
        ways.join()

    complete = _apart(machine, work)
    machine.meetings[mark:] = bound(machine.meetings[mark:])
    return complete


def bound(meetings: Sequence[Meeting]) -> list[Meeting]:
    """What met in a run of a function, with its devices bound: what meets tensors on an accelerator is
    there, and so is what the code around says that of. The others are not known."""
    while beside := _beside_accelerators(meetings):
        for one in beside:
            one.bind(HOME)
    found = list[Meeting]()
    for meeting in meetings:
        because: Evidence | None = None
        for side in meeting.sides:
            device = side.tensor.device
            if is_open(device) and (told := device.told()) is not None:
                device.bind(HOME, told)
            if is_open(device):
                side.tensor.device = None
            elif isinstance(device, DeviceVariable):
                because = because or device.because
        found.append(meeting._replace(because=because))
    return found


def _open(machine: Machine, this: Value, made: Class) -> None:
    """The device of an attribute that methods move, or ask for its device, is a variable."""
    held = _plain(this)
    for name, told in of_attributes(made).items() if machine.placing is not None else ():
        value = held.get(name)
        if isinstance(value, Unknown) or (isinstance(value, Tensor) and value.device is None):
            held[name] = Tensor(DeviceVariable(partial(_itself, told)), Origin.GIVEN)


def _itself(told: Evidence) -> Evidence:
    return told


def _beside_accelerators(meetings: Sequence[Meeting]) -> set[DeviceVariable]:
    """The open devices of what has to be where tensors on an accelerator are that it meets."""
    found = set[DeviceVariable]()
    for one in meetings:
        devices = [side.tensor.device for side in one.sides]
        if one.what in _TOGETHER and HOME in devices[one.what == ConstraintKind.INDEX :]:
            found |= set(filter(is_open, devices))
    return found


#: Constraints by which operands are on one device.
_TOGETHER = frozenset({ConstraintKind.JOIN, ConstraintKind.CALL, ConstraintKind.INDEX})
