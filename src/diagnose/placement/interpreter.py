"""From the user's files to what met where: a program is run on abstract values, never on real ones."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from diagnose.model import TorchNames
from diagnose.placement import Imported, attributes, calling, expressions, statements
from diagnose.placement.devices import HOME, SPLIT, named_so
from diagnose.placement.machine import BUDGET, Arguments, Exhausted, Given, Machine, Meeting
from diagnose.placement.model import Source, Step
from diagnose.placement.tensors import Batch, Module, Tensor
from diagnose.placement.values import Class, Frame, Function, Object, Unknown, Value


class Program(NamedTuple):
    """An analysed program: its files by path, what met in the order of execution, and counts.

    ``split`` tells that it has modules on several accelerators.
    """

    sources: dict[str, Source]
    meetings: Sequence[Meeting]
    modules: Sequence[Value]
    judged: int
    unknown: int
    complete: bool
    spent: int = 0
    split: bool = False


def analyse(
    entry: Source,
    torch: TorchNames,
    imported: Imported | None = None,
    also: Sequence[Source] = (),
    *,
    all_functions: bool = True,
) -> Program:
    """Runs a file as the main program, then what it never called.

    Args:
        entry: the file that was run.
        torch: what torch and its libraries call their things.
        imported: finds the user's other files.
        also: files that the program uses through a library, run as modules.
        all_functions: run functions and classes that nothing called too, on arguments of which only the
            names are known.

    Returns:
        What was seen until the end, or until the budget was spent.
    """
    machine = Machine(torch)
    loading = _Loading(machine, imported)
    machine.evaluate = expressions.evaluate
    machine.execute = statements.execute
    machine.invoke = calling.invoke
    machine.attribute = attributes.attribute
    machine.load = loading.load
    complete = True
    for source in (entry, *also):
        complete = _guarded(machine, partial(loading.run, source)) and complete
    if all_functions:
        for frame in list(loading.frames.values()):
            complete = _uncalled(machine, frame) and complete
    held = [value for frame in loading.frames.values() for value in frame.names.values()]
    return Program(
        {source.path: source for source in loading.sources.values()},
        machine.meetings,
        held,
        machine.judged,
        machine.unknown,
        complete,
        machine.spent,
        _split(machine),
    )


def _split(machine: Machine) -> bool:
    """Whether modules of the program are on several accelerators, or a library has spread one."""
    places = {
        side.tensor.device.number
        for meeting in machine.meetings
        for side in meeting.sides
        if side.tensor.maker == "weight"
        and side.tensor.device is not None
        and side.tensor.device.type == "cuda"
    }
    spread = any(module.where() == SPLIT for module in machine.modules)
    return spread or len(places - {None}) > 1


def _guarded(machine: Machine, work: Callable[[], object]) -> bool:
    """Whether some of the analysis came to its end."""
    try:
        work()
    except (Exhausted, RecursionError):
        return False
    finally:
        machine.calls.clear()
        machine.depths.clear()
    return True


class _Loading:
    """The user's files as they are imported, each run once."""

    def __init__(self, machine: Machine, imported: Imported | None) -> None:
        self._machine = machine
        self._imported = imported
        self.frames: dict[str, Frame] = {}
        self.sources: dict[str, Source] = {}

    def run(self, source: Source) -> Frame:
        """The variables of a file after it was run."""
        found = self.frames.get(source.path)
        if found is None:
            found = self.frames[source.path] = Frame(source)
            self.sources[source.path] = source
            self._machine.execute(self._machine, source.tree.body, found)
        return found

    def load(self, machine: Machine, name: str, level: int, frame: Frame) -> Value | None:
        """A module of the user's as an object, None for a library's."""
        if self._imported is None or len(self.frames) > 60:
            return None
        source = self._imported(name, level, frame.source)
        if source is None:
            return None
        found = Object("module")
        found.attributes = self.run(source).names  # type: ignore[assignment]
        return found


def _uncalled(machine: Machine, frame: Frame) -> bool:
    """Runs the functions and methods of a file that nothing called."""
    complete = True
    for value in list(frame.names.values()):
        if isinstance(value, Function) and value.source is frame.source:
            complete = _entered(machine, value, frame) and complete
        elif isinstance(value, Class) and value.source is frame.source:
            complete = _class(machine, value, frame) and complete
    return complete


def _class(machine: Machine, made: Class, frame: Frame) -> bool:
    waiting = [
        member
        for member in made.members.values()
        if isinstance(member, Function) and id(member.node) not in machine.entered
    ]
    if not waiting:
        return True
    machine.left = BUDGET // 3
    objects: list[Value] = []
    if (known := machine.objects.get(id(made.node))) is not None:
        objects.append(known)

    def build() -> None:
        given = Arguments()
        objects.append(calling.construct(machine, made, given, made.node, frame))

    complete = bool(objects) or _guarded(machine, build)
    this: Value = objects[0] if objects else Object(made.node.name, made)
    # What nothing calls may be called before the model moves, but for its ``forward``.
    for member in sorted(waiting, key=lambda one: one.name.endswith(".forward")):
        if isinstance(this, Module) and (known is None or _unmoved(this)):
            this.move(HOME, Step("moved", machine.spot(made.node, frame), HOME))
        if id(member.node) not in machine.entered:
            complete = _entered(machine, member.bound(this), frame) and complete
    return complete


def _unmoved(module: Module) -> bool:
    """Whether the program makes a module, and neither moves it nor runs it."""
    return module.owner is None and not any(step.what == "moved" for step in module.steps)


def _entered(machine: Machine, function: Function, frame: Frame) -> bool:
    """Runs a function on arguments of which only names and uses are known."""
    if id(function.node) in machine.entered or isinstance(function.node, ast.Lambda):
        return True
    machine.left = BUDGET // 3
    used = _used_as_tensors(machine, function)
    given = {
        name: Given(ast.Name(name), _guessed(machine, name, function, used))
        for name in _names(function)
    }
    node = function.node
    return _guarded(
        machine, lambda: calling.run(machine, function, Arguments((), given), node, frame)
    )


def _names(function: Function) -> list[str]:
    args = function.node.args
    names = [each.arg for each in (*args.posonlyargs, *args.args)]
    if function.this is not None:
        names = names[1:]
    with_default = set(names[len(names) - len(args.defaults) :]) if args.defaults else set()
    return [name for name in names if name not in with_default or named_so(name)]


def _used_as_tensors(machine: Machine, function: Function) -> frozenset[str]:
    """The names that a ``forward`` asks for what only tensors have."""
    if not function.name.endswith(".forward") or not isinstance(function.this, Module):
        return frozenset()
    return frozenset(
        node.value.id
        for node in ast.walk(function.node)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.attr in machine.torch.of_tensors
    )


def _guessed(machine: Machine, name: str, function: Function, used: frozenset[str]) -> Value:
    """The value of a parameter: in ``forward`` what is used as a tensor is where the weights are."""
    if name == "batch" and function.name.rpartition(".")[2] in machine.torch.step_methods:
        return Batch(Tensor(HOME, "given"))
    return Tensor(HOME, "given") if name in used else Unknown(name)
