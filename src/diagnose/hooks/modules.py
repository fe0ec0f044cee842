"""The torch modules of a failing program: which contain which, and what their tensors are called."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from diagnose.hooks.frames import LiveFrame
from diagnose.hooks.introspection import attributes, entries, fields, is_a, items, label

#: Bounds of one walk: the answer must come soon, and a larger model looks no different.
_MODULES = 20_000
_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Root:
    """A module that no other seen module contains: how the program calls it, where it was seen."""

    name: str
    module: Any
    frame: int


@dataclass(slots=True)
class Modules:
    """All modules reachable from the frames. ``paths`` maps id(module) to (id(root), dotted path);
    ``selves`` are the modules whose methods were running: id(module) to index of the innermost frame."""

    roots: dict[int, Root] = field(default_factory=dict)
    paths: dict[int, tuple[int, str]] = field(default_factory=dict)
    selves: dict[int, int] = field(default_factory=dict)

    def failing(self) -> Root | None:
        """The root that holds the innermost running module; the first root if none runs."""
        for key, _ in sorted(self.selves.items(), key=lambda pair: -pair[1]):
            if key in self.paths:
                return self.roots[self.paths[key][0]]
        return next(iter(self.roots.values()), None)


def find(frames: list[LiveFrame], module_class: type) -> Modules:
    """All modules in the local variables of the frames, and one level into other objects there."""
    found = Modules()
    deadline = time.thread_time() + _SECONDS
    for live in frames:
        for name, module in _candidates(live, module_class):
            if name == "self":
                found.selves[id(module)] = live.index
            if id(module) not in found.paths:
                _add(found, Root(name, module, live.index), deadline)
    for live in frames:
        _drop_listed(found, live.locals.get("self"))
    return found


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


def _add(found: Modules, root: Root, deadline: float) -> None:
    """Record a root and all it contains; roots that turn out to be part of it are roots no more."""
    key = id(root.module)
    parts = {}
    for path, module in walk(root.module):
        parts[id(module)] = path
        if time.thread_time() > deadline:
            break
    for inner in parts:
        found.roots.pop(inner, None)
    found.roots[key] = root
    for inner, path in parts.items():
        known = found.paths.get(inner)
        # What two roots share keeps its first name, unless that root is now a part of this one.
        if known is None or known[0] not in found.roots:
            found.paths[inner] = (key, path)


def _drop_listed(found: Modules, owner: Any) -> None:
    """A module that a running one keeps in a plain list or dict is no root: it is unregistered."""
    if id(owner) not in found.paths:
        return
    for _, value in fields(owner):
        for _, item in items(value):
            if item is not owner and found.roots.pop(id(item), None) is not None:
                parts = [key for key, (root, _) in found.paths.items() if root == id(item)]
                for key in parts:
                    del found.paths[key]


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


def joined(path: str, name: str) -> str:
    """A dotted name of a path and one more part."""
    return dotted(path, label(name))


def dotted(*parts: str) -> str:
    """The parts that are not empty, with dots between them."""
    return ".".join(part for part in parts if part)
