"""Other forms of patches, as the tests ask for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from diagnose.repair.patch import Patch
from diagnose.repair.refinement.minimization import Trimmed, trimmed


def shorter(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Trimmed]:
    """The forms of edited files without what they do not need."""
    return trimmed({file: Patch(before[file], text) for file, text in after.items()})
