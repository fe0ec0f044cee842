"""Where tensors and modules of a program are made, kept and moved, read from its source; nothing is run."""

from __future__ import annotations

from collections.abc import Callable

from diagnose.model import TorchNames
from diagnose.placement.model import Checked, Device, Source, Spot, Step, Suspect

__all__ = ["Checked", "Device", "Imported", "Placing", "Source", "Spot", "Step", "Suspect", "check"]

#: Finds the file that an import names: module, its level (dots), the importing file.
Imported = Callable[[str, int, Source], "Source | None"]
#: Finds a file of the package that says where it runs; None where none does.
Placing = Callable[[], "Source | None"]


def check(
    source: Source,
    torch: TorchNames,
    imported: Imported | None = None,
    placing: Placing = lambda: None,
    asking: Placing = lambda: None,
) -> Checked:
    """What will fail, or stay behind, when a file meets a GPU.

    Args:
        source: the file.
        torch: what torch and its libraries call their things.
        imported: finds the user's other files.
        placing: finds another file of the package that goes by a device, None where none does.
        asking: the same of one that asks whether there is a GPU.

    Returns:
        One suspect a place to edit, in the order of the file.
    """
    # The nouns are imported by every answer, the analysis by those that have files to analyse.
    from diagnose.placement.analysis import checked

    return checked(source, torch, imported, placing, asking)
