"""From the user's files to suspects: a program is run on abstract values, never on real ones, in each of
the ways in which it may be started.

Nothing is known of its options, all have their defaults, each flag is set. The suspects of a failure are
what met in the line that failed, by the calls that led there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

from diagnose.kinds import ConstraintKind, OptionState, Origin
from diagnose.model import TorchNames
from diagnose.placement import Imported, Placing, without_gpu
from diagnose.placement.devices import SPLIT, differ, is_gpu
from diagnose.placement.entry_points import bound, followed, guarded, hung, otherwise, uncalled
from diagnose.placement.language import calls, expressions, statements
from diagnose.placement.localization.suspects import of_doubt, of_kernel, of_meeting
from diagnose.placement.machine import BUDGET, Machine, Meeting
from diagnose.placement.model import Checked, Source, Spot, Suspect
from diagnose.placement.provenance import last_move
from diagnose.placement.semantics import dotted
from diagnose.placement.stack_trace import Line, StackTrace
from diagnose.placement.tensors import Module
from diagnose.placement.values import Frame, Object, Value


class Program(NamedTuple):
    """An analysed program: its files by path, what met in the order of execution, and counts.

    ``split`` tells that it has modules on several accelerators, ``has_options`` that a parser gives it
    options, ``has_flags`` that some can be turned on; ``called`` how many of the meetings are of what the
    program calls: they are the first.
    """

    sources: dict[str, Source]
    meetings: Sequence[Meeting]
    modules: Sequence[Value]
    judged: int
    unknown: int
    complete: bool
    spent: int = 0
    split: bool = False
    has_options: bool = False
    has_flags: bool = False
    called: int = 0

    @property
    def is_long(self) -> bool:
        """Whether it takes too long to be run again under other assumptions."""
        return self.spent > BUDGET // 2


def analyse(
    entry: Source,
    torch: TorchNames,
    imported: Imported | None = None,
    also: Sequence[Source] = (),
    *,
    all_functions: bool = True,
    all_files: bool = True,
    defaults: bool = True,
    options: OptionState = OptionState.OPEN,
    rounds: int = 1,
    gpus: int = 2,
    placing: Placing | None = None,
    trace: StackTrace | None = None,
) -> Program:
    """Runs a file as the main program, then what it never called.

    Args:
        entry: the file that was run.
        torch: what torch and its libraries call their things.
        imported: finds the user's other files.
        also: files that the program uses through a library, run as modules.
        all_functions: run functions and classes that nothing called too, on arguments of which only the
            names are known.
        all_files: those of imported files, too; else of these the methods alone of what the program makes.
        defaults: take options that name a device to have their defaults.
        options: how all others are taken.
        rounds: how often a loop runs whose items are not known; what one round leaves, the next meets.
        gpus: of the machine; what fails with one fails with two, and not the other way round.
        placing: finds another file of the package that goes by a device. Where it is given, the code around
            what nothing calls says, too, that this is given what is on an accelerator.
        trace: what a traceback shows of the run. Of files that it does not name nothing runs that nothing
            calls.

    Returns:
        What was seen until the end, or until the budget was spent.
    """
    machine = Machine(torch)
    machine.defaults, machine.rounds, machine.gpus = defaults, rounds, gpus
    machine.options, machine.placing, machine.trace = options, placing, trace or StackTrace()
    machine.main = entry if machine.trace.of_main else None
    loading = _Loading(machine, imported)
    machine.follow = partial(followed, machine, (entry, *also), loading.run)
    machine.evaluate = expressions.evaluate
    machine.execute = statements.execute
    machine.invoke = calls.invoke
    machine.attribute = calls.attribute
    machine.load = loading.load
    complete = True
    for source in (entry, *also):
        complete = guarded(machine, partial(loading.run, source)) and complete
    machine.meetings[:] = bound(machine.meetings)
    called = len(machine.meetings)
    machine.called = frozenset(machine.entered)
    if all_functions:
        for frame in list(loading.frames.values()):
            if trace is not None and not trace.is_of(frame.source):
                continue
            imported_alone = not all_files and frame.source is not entry
            complete = uncalled(machine, frame, made_alone=imported_alone) and complete
        complete = hung(machine) and complete
        if placing is not None:
            complete = otherwise(machine, loading.frames[entry.path]) and complete
    judged = sum(one.is_judged for one in machine.meetings)
    unknown = len(machine.meetings) - judged
    held = [value for frame in loading.frames.values() for value in frame.names.values()]
    return Program(
        {source.path: source for source in loading.sources.values()},
        machine.meetings,
        held,
        judged,
        unknown,
        complete,
        machine.spent,
        _split(machine),
        machine.has_options,
        machine.has_flags,
        called,
    )


def _split(machine: Machine) -> bool:
    """Whether modules of the program are on several accelerators, or a library has spread one. Those that
    one line moves, of as many calls of its function as there are accelerators, are copies and no parts."""
    moved = dict[int, set[tuple[int, int]]]()
    for meeting in machine.meetings:
        for side in meeting.sides:
            module, device = side.tensor.module, side.tensor.device
            if side.tensor.maker != Origin.WEIGHT or not is_gpu(device):
                continue
            move = last_move(side.tensor.steps)
            if device.number is not None:
                call = id(module.frame) if module is not None else 0
                moved.setdefault(id(move and move.spot.node), set()).add((call, device.number))
    places = set[frozenset[int]]()
    for pairs in moved.values():
        numbers = frozenset(number for _, number in pairs)
        copies = len({call for call, _ in pairs}) == len(pairs) == len(numbers)
        places |= {numbers} if copies else {frozenset({number}) for number in numbers}
    apart = any(one.isdisjoint(other) for one, other in combinations(places, 2))
    return apart or any(module.where() == SPLIT for module in machine.modules)


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


#: What is to be edited: a cause, and a line of a file.
_Place = tuple[str, str, int]
_Found = Mapping[_Place, Suspect]


def checked(
    source: Source,
    torch: TorchNames,
    imported: Imported | None,
    placing: Placing,
    asking: Placing,
) -> Checked:
    """What is found in any of the ways, in the order of the file.

    Args:
        source: the file.
        torch: what torch and its libraries call their things.
        imported: finds the user's other files.
        placing: finds another file of the package that goes by a device.
        asking: finds another file of the package that asks whether there is a GPU.
    """
    # What an imported file defines and nobody calls is found when that file is checked.
    run = partial(analyse, source, torch, imported, all_files=False)
    program = run(placing=placing)
    found = _by_place(program)
    if program.has_options:
        by_default = run(options=OptionState.DEFAULT)
        usual = _by_place(by_default)
        turned = _by_place(_called(run(options=OptionState.TURNED_ON))) if program.has_flags else {}
        # With options of one kind, what is called with others alone runs on what is never there then.
        found = _as_by_default({**turned, **_by_place(_called(by_default)), **found}, usual)
    lines = {place[1:] for place in found}
    for one in without_gpu.suspects(source, asking):
        if (one.spot.file, one.spot.line) not in lines:
            found = {**found, (one.cause, one.spot.file, one.spot.line): one}
    ordered = sorted(found.values(), key=lambda s: (s.spot.file, s.spot.line, s.cause))
    return Checked(tuple(ordered), program.judged, program.unknown)


def _called(program: Program) -> Program:
    """The program without what nothing calls."""
    return program._replace(meetings=program.meetings[: program.called])


def _as_by_default(found: _Found, usual: _Found) -> dict[_Place, Suspect]:
    """What fails only where an option is given was given none by those who run the program."""
    return {
        place: one._replace(sure=one.sure and place in usual and usual[place].sure)
        for place, one in found.items()
    }


def _by_place(program: Program) -> dict[_Place, Suspect]:
    """The first suspect of each cause at each place to edit, of the sure ones if there are any."""
    found: dict[_Place, Suspect] = {}
    for suspect in sorted(_suspected(program), key=lambda one: not one.sure):
        found.setdefault((suspect.cause, suspect.spot.file, suspect.spot.line), suspect)
    return found


#: What comes of the order in which methods are called, which nobody knows of what nothing calls.
_OF_ORDER = frozenset({"submodule-added-after-move", "module-not-moved", "optimizer-state"})


def _suspected(program: Program) -> Iterator[Suspect]:
    away: set[int] = set()  # what is not at home: all that it meets is off then, and no finding
    for meeting in program.meetings:
        if away & {id(side.value) for side in meeting.sides}:
            continue
        for suspect in of_meeting(meeting, split=program.split):
            if meeting.because is None or suspect.cause not in _OF_ORDER:
                yield suspect
            if meeting.what == ConstraintKind.HOME:
                away |= {id(part) for side in meeting.sides for part in _parts(side.value)}


def _parts(value: Value) -> Iterable[Value]:
    """A module and what it consists of."""
    return value.family() if isinstance(value, Module) else (value,)


#: What is met by a kernel that wants a GPU: as far as its name tells, a call of anything.
_REFUSING = (ConstraintKind.KERNEL, ConstraintKind.ASKED, ConstraintKind.LIBRARY)


def suspects(
    program: Program, stack: Sequence[Line], devices: Sequence[str]
) -> tuple[Suspect, ...]:
    """The suspects of a failure, likeliest first.

    Args:
        program: the analysed program.
        stack: the user's lines of the traceback, outermost first.
        devices: the devices that the message names, in its order.
    """
    if devices == ("CPU",):  # a kernel that wants a GPU: no two devices met
        return _of_kernel(program, stack)
    for position in range(len(stack) - 1, -1, -1):
        met = [one for one in program.meetings if _at(one.spot, stack[position])]
        met.sort(key=lambda one: -_agreement(one, stack[:position]))
        found: dict[tuple[str, str, int], Suspect] = {}
        for one in met:
            apart = _by_the_way_that_fails(one)
            for each in of_meeting(apart, devices or ("?", "cpu"), split=program.split):
                found.setdefault((each.cause, each.spot.file, each.spot.line), each)
        if found:
            gpus = "cpu" not in (device.casefold() for device in devices)
            return tuple(sorted(found.values(), key=lambda one: not _is_sure(one, gpus=gpus)))
        if met:
            break
    return ()


def apart(program: Program, line: Line) -> Iterator[Suspect]:
    """The suspects of what meets in a line, where it is known that devices differ."""
    return _apart(program, lambda spot: _at(spot, line))


def behind(program: Program, line: Line) -> Iterator[Suspect]:
    """The suspects of what meets behind a line of a function, in that function or in what it calls there,
    where it is known that devices differ."""
    source = program.sources.get(line.path)
    function = source.function_at(line.number) if source is not None else None
    return _apart(
        program,
        lambda spot: (
            spot.source is source and spot.enclosing is function and spot.line > line.number
        ),
        called=True,
    )


def _apart(
    program: Program, is_asked: Callable[[Spot], bool], *, called: bool = False
) -> Iterator[Suspect]:
    for one in program.meetings:
        if one.is_judged and any(map(is_asked, (one.spot, *(one.calls if called else ())))):
            yield from of_meeting(one, split=program.split)


def doubted(program: Program, stack: Sequence[Line], devices: Sequence[str]) -> tuple[Suspect, ...]:
    """The suspects of a failure that the analysis does not explain, for by what it takes for known all
    operands are on one device: each is doubted in turn, that of the innermost lines first.

    Args:
        program: the analysed program.
        stack: the user's lines of the traceback, outermost first.
        devices: the devices that the message names, in its order.
    """
    found: dict[tuple[str, str, int], Suspect] = {}
    for position in range(len(stack) - 1, -1, -1):
        met = [one for one in program.meetings if _at(one.spot, stack[position])]
        met.sort(key=lambda one: -_agreement(one, stack[:position]))
        for one in met:
            for each in of_doubt(one, devices):
                if position + 1 == len(stack) or not _runs(each.spot, stack[position]):
                    found.setdefault((each.cause, each.spot.file, each.spot.line), each)
    return tuple(found.values())


def _runs(spot: Spot, line: Line) -> bool:
    """Whether what a part of an object gives is what a line above the failing one waits for."""
    node = spot.node
    of_object = isinstance(node, ast.Call) and (dotted(node.func) or "").startswith("self.")
    return of_object and _at(spot, line)


def _by_the_way_that_fails(meeting: Meeting) -> Meeting:
    """A constraint of a failure: of what two ways put apart, it met the one that differs from the rest."""
    there = {side.tensor.device for side in meeting.sides} - {None}
    sides = [
        next(
            (
                side._replace(value=way, tensor=way)
                for way in side.tensor.ways
                if any(differ(way.device, one) for one in there)
            ),
            side,
        )
        for side in meeting.sides
    ]
    return meeting._replace(sides=tuple(sides))


def _is_sure(suspect: Suspect, *, gpus: bool) -> bool:
    """Whether it is known where a suspect is; of two GPUs one is that which a checkpoint was saved from."""
    return suspect.sure or (gpus and suspect.cause == "checkpoint-location")


def _of_kernel(program: Program, stack: Sequence[Line]) -> tuple[Suspect, ...]:
    """What a kernel of the GPU's was given on the cpu: where a literal says so, else where it was made."""
    for line in reversed(stack):
        for meeting in program.meetings:
            if meeting.what in _REFUSING and _at(meeting.spot, line):
                found = [of_kernel(side, meeting) for side in meeting.sides]
                if told := [suspect for suspect in found if suspect is not None]:
                    return tuple(told)
    return ()


def _at(spot: Spot, line: Line) -> bool:
    last = getattr(spot.node, "end_lineno", None) or spot.line
    return spot.file == line.path and spot.line <= line.number <= last


def _agreement(meeting: Meeting, stack: Sequence[Line]) -> int:
    """How many of the lines above are calls on the way to a meeting."""
    return sum(any(_at(call, line) for call in meeting.calls) for line in stack)
