"""The edits of a line, one module each.

A module's ``KINDS`` say which fixes it makes: id of the fix -> a function of the `Site` that returns
the changes of the line, or raises `Refused` where the line does not show enough. Another edit is another
module, its name below, and its recorded cases in tests/fixes/edits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from diagnose.fixes.edits import (
    argument,
    checkpoint,
    device_map,
    factory,
    fixed_device,
    host_copy,
    in_place,
    index,
    operand,
)
from diagnose.fixes.line_gate import Change, Site

Edit = Callable[[Site], Sequence[Change]]

_DECLARED: Sequence[Mapping[str, Edit]] = (
    argument.KINDS,
    checkpoint.KINDS,
    device_map.KINDS,
    factory.KINDS,
    fixed_device.KINDS,
    host_copy.KINDS,
    in_place.KINDS,
    index.KINDS,
    operand.KINDS,
)
#: Fix id of the taxonomy -> the edit that makes it, if the line shows enough.
EDITS: Mapping[str, Edit] = {kind: make for kinds in _DECLARED for kind, make in kinds.items()}
