"""The guards: what may speak against a patch, each by the id of its objections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from diagnose.repair.model import Guard, Sentence
from diagnose.repair.patch import Patch, Transfer
from diagnose.repair.validation import (
    callee_moves,
    device_names,
    differential,
    options,
    patch_context,
    patch_edits,
    redundant_moves,
    removed_features,
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
    OfFile("gives-up", removed_features.out_of_branch),
    OfFile("taken", removed_features.taken),
    OfFile("gives-up", removed_features.left_whole),
    OfFile("gives-up", removed_features.filled),
    OfFile("gives-up", removed_features.planned),
    OfFile("scattered", patch_context.parts),
    OfMove("twice", redundant_moves.twice),
    OfMove("deaf", redundant_moves.deaf),
    OfMove("put-away", redundant_moves.inline),
    OfFile("gives-up", redundant_moves.flipped),
    OfFile("twice", redundant_moves.hops),
    OfFile("deaf", callee_moves.handed_on),
    OfFile("gives-up", options.unread),
    OfFile("absent", options.unbound),
    OfFile("literal", device_names.literal),
    OfFile("numbered", patch_edits.written_down),
)

#: A guard that looks at a run, and says of itself whether it holds.
OfRun = Callable[[Case], Iterator[Guard]]
#: The guards of the run that showed that the program runs with a patch.
RAN: tuple[OfRun, ...] = (
    differential.homes,
    differential.hidden,
    differential.hollow,
    differential.state,
    differential.on_gpu,
    differential.across,
    differential.silent,
    residency.put_away,
    residency.kept,
    residency.carried,
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
