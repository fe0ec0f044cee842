"""Where tensors and modules of a program are made, kept and moved, read from its source; nothing is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from diagnose.model import TorchNames
from diagnose.placement.model import Checked, Device, Source, Spot, Step, Suspect

if TYPE_CHECKING:
    from diagnose.placement.interpreter import Program

__all__ = ["Checked", "Device", "Imported", "Source", "Spot", "Step", "Suspect", "check"]

#: Finds the file that an import names: module, its level (dots), the importing file.
Imported = Callable[[str, int, Source], "Source | None"]


def check(source: Source, torch: TorchNames, imported: Imported | None = None) -> Checked:
    """What will fail, or stay behind, when a file meets a GPU.

    Args:
        source: the file.
        torch: what torch and its libraries call their things.
        imported: finds the user's other files.

    Returns:
        One suspect a place to edit, in the order of the file.
    """
    # The nouns are imported by every answer, the analysis by those that have files to analyse.
    from diagnose.placement.interpreter import analyse
    from diagnose.placement.libraries.options import DEFAULTS, TURNED_ON
    from diagnose.placement.reasons.suspects import of_meeting

    program = analyse(source, torch, imported)
    found = _by_place(program, of_meeting)
    if program.has_options:
        usual, turned = (
            _by_place(analyse(source, torch, imported, options=one), of_meeting)
            for one in (DEFAULTS, TURNED_ON)
        )
        # What fails only where an option is given was given none by those who run the program.
        found = {
            place: one._replace(sure=one.sure and place in usual and usual[place].sure)
            for place, one in {**turned, **usual, **found}.items()
        }
    ordered = sorted(found.values(), key=lambda s: (s.spot.file, s.spot.line, s.cause))
    return Checked(tuple(ordered), program.judged, program.unknown)


def _by_place(
    program: Program, of_meeting: Callable[..., Iterator[Suspect]]
) -> dict[tuple[str, str, int], Suspect]:
    """The first suspect of each cause at each place to edit."""
    found: dict[tuple[str, str, int], Suspect] = {}
    for suspect in _suspected(program, of_meeting):
        found.setdefault((suspect.cause, suspect.spot.file, suspect.spot.line), suspect)
    return found


def _suspected(program: Program, of_meeting: Callable[..., Iterator[Suspect]]) -> Iterator[Suspect]:
    away: set[int] = set()  # what is not at home: all that it meets is off then, and no finding
    for meeting in program.meetings:
        if away & {id(side.value) for side in meeting.sides}:
            continue
        for suspect in of_meeting(meeting, split=program.split):
            yield suspect
            if meeting.what == "home":
                away |= {id(side.value) for side in meeting.sides}
