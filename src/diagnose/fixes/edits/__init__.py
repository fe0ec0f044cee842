"""The edits of a line, one module each; which fix of the taxonomy makes which edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from diagnose.fixes.editing import Change, Site
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

Edit = Callable[[Site], "Sequence[Change]"]

#: Fix id of the taxonomy -> the edit that makes it, if the line shows enough.
EDITS: Mapping[str, Edit] = {
    "move-tensor-at-line": operand.changes,
    "patch-library-line": operand.changes,
    "index-to-device": index.changes,
    "create-on-device": factory.changes,
    "use-like-device-of-other": fixed_device.changes,
    "cpu-before-numpy": host_copy.changes,
    "map-location": checkpoint.changes,
    "no-to-on-quantized": in_place.changes,
    "move-input": argument.changes,
    "drop-device-map": device_map.dropped,
    "pin-device-map": device_map.pinned,
}
