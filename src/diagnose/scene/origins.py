"""What the user's files say of a failure: they are analysed, never run (`diagnose.placement`)."""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, takewhile
from typing import Any, NamedTuple

from diagnose.kinds import DeviceType, OptionState
from diagnose.model import Frame, TorchNames
from diagnose.model import Line as Numbered
from diagnose.placement import (
    Imported,
    Source,
    Suspect,
    check,
    control_dependence,
    device_patterns,
    syntax_patterns,
)
from diagnose.placement.analysis import Program, analyse, doubted, suspects
from diagnose.placement.devices import HOME
from diagnose.placement.localization import call_stack
from diagnose.placement.model import Device, Spot
from diagnose.placement.semantics import calls, dotted, lines_of, reads
from diagnose.placement.stack_trace import Line, StackTrace
from diagnose.scene.calls import names_device
from diagnose.sources import SourceFile, Sources

#: Larger files take longer to analyse than an answer may.
_LARGEST = 400_000


class Origins(NamedTuple):
    """What the user's files say: the suspects, likeliest first, the files that were analysed, the
    analysed program, what the traceback shows of them, the devices that the message names; ``again``
    analyses them with one file edited, and the traceback's lines where they are then."""

    suspects: tuple[Suspect, ...] = ()
    sources: tuple[Source, ...] = ()
    program: Program | None = None
    trace: StackTrace = StackTrace()
    devices: tuple[str, ...] = ()
    again: Callable[[Source, StackTrace], Program] | None = None


def of_failure(
    frames: Sequence[Frame], devices: Sequence[str], sources: Sources, torch: TorchNames
) -> Origins:
    """What the files of a failure say; nothing where they are not at hand.

    Args:
        frames: of the traceback, outermost first.
        devices: those that the message names.
        sources: finds the files.
        torch: what torch and its libraries call their things.
    """
    own = [frame for frame in frames if frame.own and frame.line is not None]
    found = [(frame, file) for frame in own if (file := sources.of(frame)) is not None]
    parsed = _Parsed(sources)
    files = dict.fromkeys(file for _, file in found)
    read = [source for file in files if (source := parsed.source(file)) is not None]
    if not read:
        return Origins()
    first = parsed.source(found[0][1])
    main = read[0] is first and _is_run(frames, found[0][0])
    stack = [Line(file.path, frame.line) for frame, file in found if frame.line is not None]
    trace = StackTrace(stack, _called(frames, stack), of_main=main)
    look = partial(_analysed, read, parsed.imported, torch=torch, gpus=_gpus(devices))
    program = look(trace=trace)
    said, known = suspects(program, stack, devices), look
    for is_open, way in () if program.is_long else _WAYS:
        if is_open(program, said):
            other = look(trace=trace, **way)
            if met := suspects(other, stack, devices):
                program, said, known = other, met, partial(look, **way)

    def edited(source: Source, shown: StackTrace) -> Program:
        return known(edited=source, trace=shown)

    again = None if program.is_long else edited
    analysed = tuple(program.sources.values())
    return Origins(said, analysed, program, trace, tuple(devices), again)


def _analysed(
    read: Sequence[Source],
    imported: Imported,
    edited: Source | None = None,
    *,
    torch: TorchNames,
    **options: Any,
) -> Program:
    """The analysed program, with one of its files edited."""

    def current(source: Source | None) -> Source | None:
        return edited if source and edited and source.path == edited.path else source

    first, *rest = (current(one) or one for one in read)
    return analyse(first, torch, lambda *asked: current(imported(*asked)), rest, **options)


def _called(frames: Sequence[Frame], stack: Sequence[Line]) -> set[int]:
    """The places of the lines that the one before calls, with no library but torch between them."""
    found, at, called = set[int](), 0, False
    for frame in frames:
        if not frame.own:
            called &= frame.library == "torch" or frame.stdlib
        elif at < len(stack) and frame.line == stack[at].number:
            found |= {at} if called else set()
            at, called = at + 1, True
        else:
            called = False
    return found


def _is_run(frames: Sequence[Frame], first: Frame) -> bool:
    """Whether a file may be the program that was run: nothing shows another that imported it."""
    programs = [frame.file for frame in frames if frame.own and frame.function == "<module>"]
    return programs[:1] in ([], [first.file])


def of_missing_gpu(frames: Sequence[Frame], sources: Sources, torch: TorchNames) -> Origins:
    """The call of the user's innermost line that writes a GPU down, on a machine without one, where the
    program around it goes by a device of its own; nothing where all of it needs a GPU.

    What is moved tells no device: it is about to get one.
    """
    own = [frame for frame in frames if frame.own and frame.line is not None]
    file = sources.of(own[-1]) if own else None
    source = _Parsed(sources).source(file) if file is not None else None
    for call in calls(source.tree) if source is not None else ():
        asked = [call, *device_patterns.destinations(call, "device", "map_location")]
        if own[-1].line not in lines_of(call) or not any(names_device(n, torch) for n in asked):
            continue
        assert source is not None
        at = Spot(source, call, own[-1].function)
        moved = (isinstance(call.func, ast.Attribute) and dotted(call.func.value)) or ""
        told = chain(
            device_patterns.of_program(at, literal=False), device_patterns.nearby(at, None)
        )
        known = (one for one in told if not device_patterns.is_written_down(one, source.tree))
        devices = dict.fromkeys(one for one in known if not reads(ast.parse(one), moved))
        if devices:
            cpu, gpu = Device(DeviceType.CPU), Device(DeviceType.CUDA)
            name = moved or ast.unparse(call)
            found = Suspect("hardcoded-device", name, at, gpu, cpu, tuple(devices), meets=at)
            return Origins((found,), (source,))
    return Origins()


def of_code(blocks: Sequence[Numbered], path: str, torch: TorchNames) -> tuple[Suspect, ...]:
    """What will fail, or stay behind, in blocks of code that somebody shows, each a file of its own.

    Args:
        blocks: the blocks, each with its first line in the input.
        path: the input's name.
        torch: what torch and its libraries call their things.
    """
    found: list[Suspect] = []
    for block in blocks:
        code = textwrap.dedent(block.text).split("\n")
        source = _parse(SourceFile(path, path, (*[""] * (block.number - 1), *code)))
        if source is not None:
            found += (one for one in check(source, torch).suspects if one.sure)
    return tuple(found)


def _is_by_option(program: Program, said: tuple[Suspect, ...]) -> bool:
    """Whether a failure is unexplained, or explained by an option, which may have been another."""
    options = any("add_argument" in source.text for source in program.sources.values())
    return options and (not said or "add_argument" in said[0].spot.code)


#: How else a program may have been run, where what is known of it does not explain the failure: with other
#: options than their defaults, with all of these, with each flag; and a second round of its loops, for what
#: one round leaves the next one meets.
_WAYS: tuple[tuple[Callable[[Program, tuple[Suspect, ...]], bool], dict[str, Any]], ...] = (
    (_is_by_option, {"defaults": False}),
    (lambda it, said: it.has_options and not said, {"options": OptionState.DEFAULT}),
    (lambda it, said: it.has_flags and not said, {"options": OptionState.TURNED_ON}),
    (lambda _, said: not said, {"rounds": 2}),
)


def _gpus(devices: Sequence[str]) -> int:
    """How many GPUs the machine has that a message is from: two where it does not tell of more."""
    numbers = (device.partition(":")[2] for device in devices)
    told = (int(number) for number in numbers if number.isdecimal() and len(number) < 3)
    return max([2, *(number + 1 for number in told)])


#: Cause -> the causes whose line to edit is its own, too, where the analysis names those.
_AKIN = {
    "loss-or-metric-state": ("unregistered-submodule", "unregistered-tensor", "module-not-moved"),
    "module-not-moved": ("offloaded-to-cpu", "loss-or-metric-state"),
    "meta-tensor": ("offloaded-to-cpu",),
    "low-memory-mode": ("offloaded-to-cpu",),
    "fake-or-compile-device": ("created-without-device", "unregistered-tensor"),
    "dataparallel-replica-state": ("unregistered-tensor", "hardcoded-device"),
    "created-without-device": ("unregistered-tensor", "input-not-moved", "hardcoded-device"),
    "rank-device": ("hardcoded-device",),
    "hardcoded-device": ("rank-device", "checkpoint-location", "dataparallel-replica-state"),
    "input-not-moved": ("checkpoint-location", "hardcoded-device", "created-without-device"),
}


def akin(cause: str, suspect: Suspect) -> Suspect | None:
    """A suspect of another cause whose line is to be edited for this one as well."""
    if (suspect.sure or suspect.cause == "checkpoint-location") and suspect.cause in _AKIN.get(
        cause, ()
    ):
        return suspect._replace(cause=cause)
    return None


def unexplained(
    cause: str, operand: str | None, frames: Sequence[Frame], origins: Origins, torch: TorchNames
) -> Suspect | None:
    """What an operand of the failing lines would be suspected of, were it not where it is taken to be, or
    where the calls of the traceback say that it is defined; else the one place of the files that has the
    form of a cause (`diagnose.placement.syntax_patterns`)."""
    if origins.program is not None:
        looked = doubted(origins.program, origins.trace.lines, origins.devices)
        found = next((one for one in looked if one.cause == cause), None)
        defined = _defined(cause, operand, origins, torch)
        if defined is not None and (found is None or _fails_at(found, origins)):
            return defined
        if found is not None:
            return found
    own = [frame for frame in frames if frame.own]
    shown = [frame.code for frame in own if frame.code]
    functions = [frame.function.rpartition(".")[2] for frame in own if frame.function]
    found = syntax_patterns.suspect(cause, origins.sources, shown, functions, torch)
    return found or (_asked_for(origins) if cause == "hardcoded-device" else None)


#: Causes of a module, whose weights a line reads.
_OF_MODULES = frozenset({"module-not-moved", "loss-or-metric-state"})
_OF_INPUTS = frozenset({"input-not-moved"})


def _defined(
    cause: str, operand: str | None, origins: Origins, torch: TorchNames
) -> Suspect | None:
    """Where what the innermost line is handed is defined, outside of that line's function."""
    stack = _calls(origins)
    if not stack or (origins.devices and not any(map(_is_host, origins.devices))):
        return None
    value: ast.expr | None = None
    if cause in _OF_MODULES:
        value = call_stack.layer(stack[0], torch)
    elif cause in _OF_INPUTS:
        told = ast.parse(operand, mode="eval").body if operand is not None else None
        value = told or call_stack.given(stack[0], torch)
    spot = call_stack.definition(value, stack, torch) if value is not None else None
    if spot is None or (spot.source is stack[0].source and spot.enclosing is stack[0].function):
        return None
    devices = tuple(device_patterns.of_program(spot, literal=False))
    name = ast.unparse(value) if value is not None else ""
    return Suspect(cause, name, spot, Device(DeviceType.CPU), HOME, devices, sure=False)


def _is_host(device: str) -> bool:
    return device.casefold() == "cpu" or (device.startswith("torch.") and "cuda" not in device)


def _calls(origins: Origins) -> list[call_stack.Line]:
    """The user's lines that call one another, innermost first: as far as no library but torch calls."""
    by_path = {source.path: source for source in origins.sources}
    known = takewhile(lambda line: line.path in by_path, origins.trace.calling())
    return [call_stack.Line(by_path[line.path], line.number) for line in known]


def _fails_at(found: Suspect, origins: Origins) -> bool:
    """Whether a suspect stands in the innermost line."""
    last = origins.trace.lines[-1:]
    return any((found.spot.file, found.spot.line) == (one.path, one.number) for one in last)


def _asked_for(origins: Origins) -> Suspect | None:
    """Where the device is set that the failing lines ask for, and that the machine lacks."""
    for source in origins.sources:
        lines = [line.number for line in reversed(origins.trace.lines) if line.path == source.path]
        spot = control_dependence.chosen_at(source, lines) if lines else None
        if spot is not None:
            return Suspect("hardcoded-device", "", spot, sure=False)
    return None


class _Parsed:
    """The parsed files of one analysis."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._known: dict[str, Source | None] = {}
        self._files: dict[str, SourceFile] = {}

    def source(self, file: SourceFile) -> Source | None:
        """The file with its tree, None for one that does not parse."""
        if file.path not in self._known:
            self._files[file.path] = file
            self._known[file.path] = _parse(file)
        return self._known[file.path]

    def imported(self, module: str, level: int, by: Source) -> Source | None:
        """The user's own file that an import names."""
        importer = self._files.get(by.path)
        file = self._sources.imported(module, importer, level) if importer is not None else None
        return self.source(file) if file is not None else None


def _parse(file: SourceFile) -> Source | None:
    text = "\n".join(file.lines)
    if len(text) > _LARGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Source(file.path, file.lines, ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
