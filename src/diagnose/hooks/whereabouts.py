"""Where the live modules of a program are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from diagnose.hooks.introspection import attributes, device_of, entries, is_a
from diagnose.hooks.modules import walk
from diagnose.hooks.wrappers import is_replica
from diagnose.kinds import DeviceType, EventKind
from diagnose.placement import Device
from diagnose.placement.devices import SPLIT, written
from diagnose.tracing.recorder import Recorder

#: Modules that are asked where they are.
_MODULES = 5_000


class Whereabouts:
    """Where modules are.

    Args:
        torch: the module.
        recorder: knows all modules, and which of them a checkpoint brought.
    """

    def __init__(self, torch: Any, recorder: Recorder) -> None:
        self._torch = torch
        self._recorder = recorder

    def of(self, module: Any) -> Device | None:
        """The device of all tensors of a module; ``split`` where somebody brought them to several
        accelerators."""
        found = set[Device]()
        restored = self._is_only_restored(module)
        for _, one in islice(walk(module), _MODULES) if module is not None else ():
            if restored or not self._is_only_restored(one):
                found |= set(self._places(one))
            if sum(one.type == DeviceType.CUDA for one in found) > 1:
                return SPLIT
        return found.pop() if len(found) == 1 else None

    def is_partly(self, device: Device, module: Any) -> bool:
        """Whether some tensors of a module are on a device, and others are not."""
        parts = islice(walk(module), _MODULES) if module is not None else ()
        return len({one == device for _, part in parts for one in self._places(part)}) > 1

    def several_cards(self) -> bool:
        """Whether the program has modules on several accelerators; where a checkpoint left one, no line put
        it."""
        found = set[Device]()
        for module in islice(self._recorder.modules.things(), _MODULES):
            if not (is_replica(module) or self._is_only_restored(module)):
                found |= set(self._places(module))
        return sum(one.type == DeviceType.CUDA for one in found) > 1

    def _is_only_restored(self, module: Any) -> bool:
        """Whether a module is where it was saved."""
        life = self._recorder.modules.get(module)
        whats = {event.what for event in life.events} if life is not None else set()
        return EventKind.LOADED in whats and EventKind.MOVED not in whats

    def _places(self, module: Any) -> Iterator[Device]:
        """Where a module's tensors are, without those of its parts."""
        for slot in ("_parameters", "_buffers"):
            for _, tensor in entries(attributes(module).get(slot)):
                text = device_of(tensor) if is_a(tensor, self._torch.Tensor) else None
                if text is not None and (device := written(text)) is not None:
                    yield device
