"""Kinds of devices."""

from __future__ import annotations


def kind(device: str) -> str:
    """``cpu``, ``meta`` or ``gpu`` for a device as printed."""
    name = device.lower().split(":")[0]
    return name if name in {"cpu", "meta"} else "gpu"
