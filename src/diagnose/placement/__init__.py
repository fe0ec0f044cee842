"""Where tensors and modules of a program are made, kept and moved, read from its source; nothing is run."""

from __future__ import annotations

from diagnose.placement.interpreter import Imported, analyse
from diagnose.placement.model import Checked, Device, Source, Spot, Step, Suspect
from diagnose.placement.suspects import of_meeting

__all__ = ["Checked", "Device", "Imported", "Source", "Spot", "Step", "Suspect", "analyse", "check"]


def check(source: Source, imported: Imported | None = None) -> Checked:
    """What will fail, or stay behind, when a file meets a GPU.

    Args:
        source: the file.
        imported: finds the user's other files.

    Returns:
        One suspect a place to edit, in the order of the file.
    """
    program = analyse(source, imported)
    found: dict[tuple[str, str, int], Suspect] = {}
    for meeting in program.meetings:
        for suspect in of_meeting(meeting):
            found.setdefault((suspect.cause, suspect.spot.file, suspect.spot.line), suspect)
    ordered = sorted(found.values(), key=lambda s: (s.spot.file, s.spot.line, s.cause))
    return Checked(tuple(ordered), program.judged, program.unknown)
