"""The guards: what may speak against a patch, each by the id of its objections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from diagnose.repair.model import Guard, Sentence
from diagnose.repair.patch import Patch, Transfer
from diagnose.repair.validation import (
    callee_moves,
    constants,
    contracts,
    device_names,
    differential,
    host_residency,
    optional,
    options,
    partial_fixes,
    patch_context,
    patch_edits,
    redundant_moves,
    removed_features,
    removed_wrappers,
    residency,
)
from diagnose.repair.validation.case import Case


class OfFile(NamedTuple):
    """A guard that reads a file before and after its edits; its first objection counts."""

    id: str
    look: Callable[[Patch], Iterator[Sentence]]


class OfMove(NamedTuple):
    """A guard that reads a move that a patch adds; its first objection to each counts."""

    id: str
    look: Callable[[Transfer, Patch], Iterator[Sentence]]


#: The guards that need no run.
STATIC: tuple[OfFile | OfMove, ...] = (
    OfFile("absent", optional.absent),
    OfFile("gives-up", optional.emptied),
    OfFile("gives-up", removed_features.out_of_branch),
    OfFile("taken", removed_features.taken),
    OfFile("gives-up", removed_features.left_whole),
    OfFile("gives-up", removed_features.filled),
    OfFile("gives-up", removed_features.planned),
    OfFile("halves", removed_features.kept_whole),
    OfFile("gives-up", removed_wrappers.unwrapped),
    OfFile("gives-up", patch_context.undone),
    OfFile("gives-up", patch_context.chosen),
    OfFile("back", patch_context.back),
    OfFile("scattered", patch_context.parts),
    OfMove("twice", redundant_moves.twice),
    OfMove("asked", redundant_moves.for_its_device),
    OfMove("deaf", redundant_moves.deaf),
    OfMove("back", redundant_moves.at_once),
    OfMove("put-away", redundant_moves.inline),
    OfMove("absent", redundant_moves.missing),
    OfMove("gives-up", redundant_moves.sent_elsewhere),
    OfFile("gives-up", redundant_moves.flipped),
    OfFile("deaf", callee_moves.handed_on),
    OfFile("gives-up", partial_fixes.given_back),
    OfFile("parted", partial_fixes.left_alone),
    OfMove("parted", partial_fixes.far),
    OfFile("halves", partial_fixes.for_one_method),
    OfFile("twice", partial_fixes.hops),
    OfFile("halves", partial_fixes.for_one_call),
    OfFile("alters", partial_fixes.alters),
    OfFile("learned", constants.learned),
    OfMove("indexed", contracts.picked),
    OfMove("strayed", contracts.of_arrays),
    OfMove("copied", contracts.each_time),
    OfMove("deaf", contracts.untold),
    OfMove("absent", contracts.by_what_is_left_out),
    OfFile("gives-up", contracts.alike),
    OfFile("back", contracts.made_to_fit),
    OfFile("counted", contracts.by_global_rank),
    OfFile("gives-up", contracts.kept_out),
    OfFile("cached", contracts.never_found),
    OfFile("rows", host_residency.rows),
    OfFile("rows", host_residency.picked),
    OfFile("gives-up", options.unread),
    OfFile("gives-up", options.chosen),
    OfFile("absent", options.unbound),
    OfFile("literal", device_names.literal),
    OfFile("chosen", device_names.for_gpus_alone),
    OfFile("cached", device_names.for_all_callers),
    OfFile("private", device_names.hidden_names),
    OfFile("numbered", patch_edits.written_down),
    OfFile("counted", patch_edits.counted),
    OfFile("indexed", patch_edits.indexed),
)

#: A guard that looks at a run, and says of itself whether it holds.
OfRun = Callable[[Case], Iterator[Guard]]
#: The guards of the run that showed that the program runs with a patch.
RAN: tuple[OfRun, ...] = (
    differential.homes,
    differential.hidden,
    differential.hollow,
    differential.state,
    host_residency.put_away,
    differential.on_gpu,
    differential.across,
    differential.silent,
    residency.kept,
    residency.placed,
    residency.unnamed,
    residency.carried,
    residency.parted,
    residency.lasting,
    residency.spread,
    residency.measured,
)
#: The guards of the patch as a whole.
WHOLE: tuple[OfRun, ...] = (patch_edits.stopgap, patch_edits.agreed)
#: The guards of a run that is watched.
WATCHED: tuple[OfRun, ...] = (
    differential.scattered,
    differential.strayed,
    differential.exercised,
)


def without_run(patch: Patch) -> Iterator[Guard]:
    """What a file's edits tell against themselves."""
    for guard in STATIC:
        yield from objections(guard, patch)


def objections(guard: OfFile | OfMove, patch: Patch) -> Sequence[Guard]:
    """What a guard tells against a file's edits, each sentence once."""
    found = list[Guard]()
    each = (
        [guard.look(patch)]
        if isinstance(guard, OfFile)
        else (guard.look(one, patch) for one in patch.transfers)
    )
    for sentence in (one for told in each for one in islice(told, 1)):
        if (one := Guard(guard.id, False, sentence)) not in found:
            found.append(one)
    return found


def of_run(case: Case) -> Iterator[Guard]:
    """What the run of a patch tells, and its text."""
    for guard in RAN:
        yield from guard(case)
    for patch in case.patches.values():
        yield from without_run(patch)
    for guard in WHOLE:
        yield from guard(case)
