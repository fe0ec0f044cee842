"""The ways in which a program may be started, and what is found in each.

Nothing is known of its options, all have their defaults, each flag is set. Where an option names the first
GPU by default, and a line does so whatever the option says, one way more: the option names another GPU.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from diagnose.kinds import ConstraintKind, OptionState
from diagnose.model import TorchNames
from diagnose.placement import Imported
from diagnose.placement.interpreter import Program, analyse
from diagnose.placement.libraries.cluster_ranks import FAR_NODE, FAR_RANK
from diagnose.placement.localization.suspects import of_meeting
from diagnose.placement.model import Checked, Source, Suspect
from diagnose.placement.tensors import Module
from diagnose.placement.values import Value

#: What is to be edited: a cause, and a line of a file.
_Place = tuple[str, str, int]
_Found = Mapping[_Place, Suspect]

#: How lines name the first GPU, or the current one.
_FIRST = re.compile(r"""\.cuda\(\s*0?\s*\)|["']cuda(:0)?["']|DataParallel\(|device=0\b""")
#: By these a process has its own first GPU, or another current one, from a place that may be out of sight.
_BOUND = re.compile(r"CUDA_VISIBLE_DEVICES|\bset_device\b")
#: With three GPUs an option can name two, and not the first.
_GPUS = 3
#: An option by which a launcher tells a process its number on its machine, and what asks torch for it.
_LOCAL = re.compile(r"""["']--local[_-]rank["']|\bget_node_local_rank\(""")
#: Processes that the program itself starts are all on its machine.
_SPAWNS = re.compile(r"\bspawn\(|\bstart_processes\(|\bProcess\([^)]*target\s*=")
_HOME = "dataparallel-home-device"


def checked(source: Source, torch: TorchNames, imported: Imported | None) -> Checked:
    """What is found in any of the ways, in the order of the file.

    Args:
        source: the file.
        torch: what torch and its libraries call their things.
        imported: finds the user's other files.
    """
    run = partial(analyse, source, torch, imported)
    program = run()
    found = _by_place(program)
    if program.has_options:
        by_default = run(options=OptionState.DEFAULT)
        usual = _by_place(by_default)
        turned = _by_place(_called(run(options=OptionState.TURNED_ON))) if program.has_flags else {}
        # With options of one kind, what is called with others alone runs on what is never there then.
        found = _as_by_default({**turned, **_by_place(_called(by_default)), **found}, usual)
    if program.first_gpu and _names_the_first(program.sources.values()):
        found = {**found, **_on_another(run, program, found)}
    if lacking := _lacked(program.sources.values(), torch):
        found = {**_far(run, lacking), **found}
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


def _on_another(
    run: Callable[..., Program], program: Program, found: _Found
) -> dict[_Place, Suspect]:
    """What fails only once the options that name the first GPU name another one: whoever gave the program
    such an option meant it to."""
    free, usual = _open_and_usual(partial(run, elsewhere=True, gpus=_GPUS), program.split)
    lines = {place[1:] for place in found}
    met = {_line_met(one) for one in found.values()}
    new = {
        place: one._replace(once=program.first_gpu)
        for place, one in _as_by_default({**usual, **free}, usual).items()
        if place[1:] not in lines and _line_met(one) not in met and _is_left_behind(one)
    }
    homes = {place: one for place, one in new.items() if one.cause == _HOME}
    return homes or new  # what is not at home fails before anything in it does


def _open_and_usual(
    run: Callable[..., Program], split: bool | None = None
) -> tuple[_Found, _Found]:
    """What is found where nothing is known of the options, and where all have their defaults: the same
    where a parser gives the program none."""
    program = run(options=OptionState.OPEN)
    free = _by_place(program, split)
    return free, _by_place(run(options=OptionState.DEFAULT), split) if program.has_options else free


def _far(run: Callable[..., Program], lacking: frozenset[int]) -> dict[_Place, Suspect]:
    """What fails on the machines of a job but for the first: they lack a GPU that is asked for there."""
    free, usual = _open_and_usual(partial(run, lacking=lacking))
    return {
        place: one for place, one in _as_by_default({**usual, **free}, usual).items() if one.far
    }


def _lacked(sources: Iterable[Source], torch: TorchNames) -> frozenset[int]:
    """The numbers that no GPU of a machine has, where files tell a process's number among all from that on
    its machine: who does not may mean to run on one machine."""
    text = "\n".join(source.text for source in sources)
    if _SPAWNS.search(text) or not (_names_any(text, torch.global_ranks) or "get_rank(" in text):
        return frozenset()
    local = _names_any(text, torch.local_ranks) or _LOCAL.search(text) is not None
    if local:
        return frozenset({FAR_RANK, FAR_NODE})
    return frozenset({FAR_NODE}) if "device_count(" in text else frozenset()


def _names_any(text: str, names: Iterable[str]) -> bool:
    """Whether a text quotes any of some names."""
    return any(f"{mark}{name}{mark}" in text for name in names for mark in "\"'")


def _is_left_behind(one: Suspect) -> bool:
    """Whether something is on the first GPU that meets what an option put on another one."""
    if one.device is None or one.wanted is None:
        return False
    here, there = one.device.number, one.wanted.number
    if one.cause == _HOME:
        return None not in (here, there)
    return one.cause == "hardcoded-device" and here == 0 and there is not None


def _line_met(one: Suspect) -> tuple[str, int] | None:
    return (one.meets.file, one.meets.line) if one.meets is not None else None


def _names_the_first(sources: Iterable[Source]) -> bool:
    """Whether files name the first GPU, or the current one, and none chooses which of them that is."""
    texts = [source.text for source in sources]
    return any(map(_FIRST.search, texts)) and not any(map(_BOUND.search, texts))


def _by_place(program: Program, split: bool | None = None) -> dict[_Place, Suspect]:
    """The first suspect of each cause at each place to edit."""
    found: dict[_Place, Suspect] = {}
    for suspect in _suspected(program, program.split if split is None else split):
        found.setdefault((suspect.cause, suspect.spot.file, suspect.spot.line), suspect)
    return found


def _suspected(program: Program, split: bool) -> Iterator[Suspect]:
    away: set[int] = set()  # what is not at home: all that it meets is off then, and no finding
    for meeting in program.meetings:
        if away & {id(side.value) for side in meeting.sides}:
            continue
        for suspect in of_meeting(meeting, split=split):
            yield suspect
            if meeting.what == ConstraintKind.HOME:
                away |= {id(part) for side in meeting.sides for part in _parts(side.value)}


def _parts(value: Value) -> Iterable[Value]:
    """A module and what it consists of."""
    return value.family() if isinstance(value, Module) else (value,)
