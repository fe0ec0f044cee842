"""The torch modules of a failing program: which contain which, what their tensors are called, where they
are, and what libraries wrap around them.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from diagnose.hooks.introspection import (
    LiveFrame,
    attributes,
    class_name,
    device_of,
    entries,
    fields,
    is_a,
    items,
    label,
)
from diagnose.kinds import DeviceType, EventKind
from diagnose.placement import Device
from diagnose.placement.devices import SPLIT, written

if TYPE_CHECKING:  # they import torch, which a failing program may not have
    from diagnose.tracing.lives import Event
    from diagnose.tracing.recorder import Recorder

#: Where a module keeps what it registers.
REGISTERED = ("_parameters", "_buffers", "_modules")
#: Bounds of one walk: the answer must come soon, and a larger model looks no different.
_MODULES = 20_000
_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Root:
    """A module that no other seen module contains: how the program calls it, where it was seen."""

    name: str
    module: Any
    frame: int


class Modules:
    """All modules in the local variables of the frames, and one level into other objects there. ``paths``
    maps id(module) to (id(root), dotted path); ``selves`` are the modules whose methods were running:
    id(module) to index of the innermost frame."""

    def __init__(self, frames: Sequence[LiveFrame], module_class: type) -> None:
        self.roots: dict[int, Root] = {}
        self.paths: dict[int, tuple[int, str]] = {}
        self.selves: dict[int, int] = {}
        deadline = time.thread_time() + _SECONDS
        for live in frames:
            for name, module in _candidates(live, module_class):
                if name == "self":
                    self.selves[id(module)] = live.index
                if id(module) not in self.paths:
                    self._add(Root(name, module, live.index), deadline)
        for live in frames:
            self._drop_listed(live.locals.get("self"))

    def failing(self) -> Root | None:
        """The root that holds the innermost running module; the first root if none runs."""
        for key, _ in sorted(self.selves.items(), key=lambda pair: -pair[1]):
            if key in self.paths:
                return self.roots[self.paths[key][0]]
        return next(iter(self.roots.values()), None)

    def _add(self, root: Root, deadline: float) -> None:
        """Record a root and all it contains; roots that turn out to be part of it are roots no more."""
        parts = {}
        for path, module in walk(root.module):
            parts[id(module)] = path
            if time.thread_time() > deadline:
                break
        for inner in parts:
            self.roots.pop(inner, None)
        self.roots[id(root.module)] = root
        for inner, path in parts.items():
            known = self.paths.get(inner)
            # What two roots share keeps its first name, unless that root is now a part of this one.
            if known is None or known[0] not in self.roots:
                self.paths[inner] = (id(root.module), path)

    def _drop_listed(self, owner: Any) -> None:
        """A module that a running one keeps in a plain list or dict is no root: it is unregistered."""
        for _, at, item in unregistered(owner) if id(owner) in self.paths else ():
            if at and item is not owner and self.roots.pop(id(item), None) is not None:
                for key in [key for key, (root, _) in self.paths.items() if root == id(item)]:
                    del self.paths[key]


def _candidates(live: LiveFrame, module_class: type) -> Iterator[tuple[str, Any]]:
    """Named modules of a frame; of torch's own frames only the module that runs."""
    in_torch = live.frame.library == "torch" or live.frame.stdlib
    for name, value in live.locals.items():
        if in_torch and name not in {"self", "module"}:
            continue
        if is_a(value, module_class):
            yield name, value
        elif name == "self":
            for attribute, inner in fields(value):
                if is_a(inner, module_class):
                    yield f"self.{label(attribute)}", inner


def walk(module: Any) -> Iterator[tuple[str, Any]]:
    """A module and all registered in it, each once, with its dotted path; the shallow ones first."""
    pending, seen = deque([("", module)]), set[int]()
    while pending and len(seen) < _MODULES:
        path, inner = pending.popleft()
        if id(inner) in seen:
            continue
        seen.add(id(inner))
        yield path, inner
        pending += [
            (joined(path, name), child)
            for name, child in entries(attributes(inner).get("_modules"))
            if child is not None
        ]


def located(tensor: Any) -> Device | None:
    """Where a live tensor is."""
    text = device_of(tensor)
    return None if text is None else written(text)


def registered(module: Any) -> Iterator[tuple[str, str, Any]]:
    """Name, kind and tensor of the parameters and buffers of a module, without those of its parts."""
    for kind in ("parameter", "buffer"):
        for name, tensor in entries(attributes(module).get(f"_{kind}s")):
            if is_a(tensor, sys.modules["torch"].Tensor):
                yield name, kind, tensor


def unregistered(owner: Any) -> Iterator[tuple[str, str, Any]]:
    """What ``.to()`` does not reach: the attribute of a tensor that an object keeps, the attribute and the
    subscript of a tensor or a module in a plain container there."""
    torch = sys.modules["torch"]
    for name, value in fields(owner):
        for at, one in (("", value), *items(value)) if name not in REGISTERED else ():
            if is_a(one, torch.Tensor) or (at and is_a(one, torch.nn.Module)):
                yield name, at, one


def states(optimizer: Any) -> Iterator[tuple[Any, str, Any]]:
    """The tensors of an optimizer's state: of which parameter, the subscript, the tensor."""
    state: Any = attributes(optimizer).get("state")
    for parameter, values in list(dict.items(state)) if is_a(state, dict) else ():
        for subscript, item in items(values):
            if is_a(item, sys.modules["torch"].Tensor):
                yield parameter, subscript, item


def joined(path: str, name: str) -> str:
    """A dotted name of a path and one more part."""
    return dotted(path, label(name))


def dotted(*parts: str) -> str:
    """The parts that are not empty, with dots between them."""
    return ".".join(part for part in parts if part)


#: Hooks that keep a module on the host but for its forward, and what in a registry of hooks does.
_OFFLOADS = frozenset({"CpuOffload", "UserCpuOffloadHook"})
_GROUPS = frozenset({"group_offloading", "layerwise_offloading"})


def is_offloaded(module: Any) -> bool:
    """Whether accelerate or diffusers keeps a module's weights on the host, or on meta, between calls."""
    held = attributes(module)
    hooks = [held.get("_hf_hook")]
    hooks += [hook for _, hook in items(attributes(hooks[0]).get("hooks"))]
    registry = attributes(held.get("_diffusers_hook")).get("hooks")
    return any(map(_offloads, hooks)) or any(name in _GROUPS for name, _ in entries(registry))


def _offloads(hook: Any) -> bool:
    return class_name(hook) in _OFFLOADS or attributes(hook).get("offload") is True


def is_replica(module: Any) -> bool:
    """Whether a module is the copy that DataParallel runs on one GPU."""
    return bool(attributes(module).get("_is_replica"))


#: Modules that are asked where they are.
_LIVE_MODULES = 5_000


def is_restored(events: Sequence[Event]) -> bool:
    """Whether something is where it was saved, or has the data that a checkpoint gave it."""
    whats = {event.what for event in events}
    return EventKind.LOADED in whats and EventKind.MOVED not in whats


class Whereabouts:
    """Where modules are.

    Args:
        recorder: knows all modules, and which of them a checkpoint brought.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def of(self, module: Any) -> Device | None:
        """The device of all tensors of a module; ``split`` where somebody brought them to several
        accelerators."""
        found = set[Device]()
        restored = self._is_only_restored(module)
        for _, one in islice(walk(module), _LIVE_MODULES) if module is not None else ():
            if restored or not self._is_only_restored(one):
                found |= set(_places(one))
            if sum(one.type == DeviceType.CUDA for one in found) > 1:
                return SPLIT
        return found.pop() if len(found) == 1 else None

    def is_partly(self, device: Device, module: Any) -> bool:
        """Whether some tensors of a module are on a device, and others are not."""
        parts = islice(walk(module), _LIVE_MODULES) if module is not None else ()
        return len({one == device for _, part in parts for one in _places(part)}) > 1

    def several_cards(self) -> bool:
        """Whether the program has modules on several accelerators; where a checkpoint left one, no line put
        it."""
        found = set[Device]()
        for module in islice(self._recorder.modules.things(), _LIVE_MODULES):
            if not (is_replica(module) or self._is_only_restored(module)):
                found |= set(_places(module))
        return sum(one.type == DeviceType.CUDA for one in found) > 1

    def _is_only_restored(self, module: Any) -> bool:
        """Whether a module is where it was saved."""
        life = self._recorder.modules.get(module)
        return life is not None and is_restored(life.events)


def _places(module: Any) -> Iterator[Device]:
    """Where a module's tensors are, without those of its parts."""
    for _, _, tensor in registered(module):
        if (device := located(tensor)) is not None:
            yield device
