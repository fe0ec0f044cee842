"""From the user's files to what met where: a program is run on abstract values, never on real ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

from diagnose.kinds import OptionState, Origin
from diagnose.model import TorchNames
from diagnose.placement import Imported
from diagnose.placement.devices import SPLIT, is_gpu
from diagnose.placement.entry_points import guarded, hung, uncalled
from diagnose.placement.language import attributes, calls, expressions, statements
from diagnose.placement.libraries.cluster_ranks import far_environment
from diagnose.placement.machine import BUDGET, Machine, Meeting
from diagnose.placement.model import Source
from diagnose.placement.provenance import last_move
from diagnose.placement.values import Frame, Object, Value


class Program(NamedTuple):
    """An analysed program: its files by path, what met in the order of execution, and counts.

    ``split`` tells that it has modules on several accelerators, ``has_options`` that a parser gives it
    options, ``has_flags`` that some can be turned on, ``first_gpu`` which of them, or of the environment's
    variables, name the first GPU by default; ``called`` how many of the meetings are of what the program
    calls: they are the first.
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
    first_gpu: tuple[str, ...] = ()
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
    defaults: bool = True,
    options: OptionState = OptionState.OPEN,
    rounds: int = 1,
    gpus: int = 2,
    elsewhere: bool = False,
    lacking: frozenset[int] = frozenset(),
) -> Program:
    """Runs a file as the main program, then what it never called.

    Args:
        entry: the file that was run.
        torch: what torch and its libraries call their things.
        imported: finds the user's other files.
        also: files that the program uses through a library, run as modules.
        all_functions: run functions and classes that nothing called too, on arguments of which only the
            names are known.
        defaults: take options that name a device to have their defaults.
        options: how all others are taken.
        rounds: how often a loop runs whose items are not known; what one round leaves, the next meets.
        gpus: of the machine; what fails with one fails with two, and not the other way round.
        elsewhere: options that name the first GPU by default name other ones.
        lacking: the process is one of a machine that is not the first of its job, with its environment; the
            numbers of GPUs that it can only ask for because it is that one.

    Returns:
        What was seen until the end, or until the budget was spent.
    """
    machine = Machine(torch)
    machine.defaults, machine.rounds, machine.gpus = defaults, rounds, gpus
    machine.options, machine.elsewhere = options, elsewhere
    if lacking:
        machine.lacking, machine.replaced["os.environ"] = lacking, far_environment(torch)
    loading = _Loading(machine, imported)
    machine.evaluate = expressions.evaluate
    machine.execute = statements.execute
    machine.invoke = calls.invoke
    machine.attribute = attributes.attribute
    machine.load = loading.load
    complete = True
    for source in (entry, *also):
        complete = guarded(machine, partial(loading.run, source)) and complete
    called = len(machine.meetings)
    if all_functions:
        for frame in list(loading.frames.values()):
            complete = uncalled(machine, frame) and complete
        complete = hung(machine) and complete
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
        machine.has_options,
        machine.has_flags,
        tuple(machine.first_gpu),
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
