"""What the modules of a failing program keep without registering it: plain tensors, and layers in lists."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import islice
from types import FrameType, FunctionType
from typing import Any, NamedTuple

from diagnose.hooks.introspection import (
    class_name,
    entries,
    exactly,
    fields,
    is_a,
    items,
    namespace,
)
from diagnose.hooks.modules import walk
from diagnose.hooks.positions import Text, Texts
from diagnose.placement import Spot
from diagnose.placement.semantics import nodes
from diagnose.tracing.lives import Life
from diagnose.tracing.recorder import Recorder
from diagnose.tracing.stacks import Line, Stack

_REGISTERED = frozenset({"_parameters", "_buffers", "_modules"})
#: Modules that are looked through.
_MODULES = 5_000


class Kept(NamedTuple):
    """Where something is kept: the module, its attribute, and ``at`` which place of a list or dict that is
    (``[0]``), empty where the attribute itself is it."""

    owner: Any
    name: str
    at: str = ""


class Keepers:
    """What is kept, by identity; a tensor also by its life, which what is computed from it shares."""

    def __init__(
        self, torch: Any, recorder: Recorder, texts: Texts, alive: Sequence[tuple[FrameType, Line]]
    ) -> None:
        self._torch = torch
        self._recorder = recorder
        self._texts = texts
        self._alive = alive
        self._known: dict[int, Kept] = {}
        self._registered: dict[int, Kept] = {}
        seen = set[int]()
        for frame, _ in reversed(alive):
            for value in list(frame.f_locals.values()):
                for one in (value, *(held for _, held in fields(value))):
                    if is_a(one, torch.nn.Module):
                        self._look_into(one, seen)
        for ref in recorder.failed.running if recorder.failed is not None else ():
            if (module := ref()) is not None:
                self._look_into(module, seen)

    def of(self, thing: Any, life: Life | None = None) -> Kept | None:
        """Where a tensor or a module is kept, or the tensor that it was computed from."""
        found = self._known.get(id(thing)) if thing is not None else None
        return found or (self._known.get(id(life)) if life is not None else None)

    def registered(self, thing: Any) -> Kept | None:
        """Where a tensor is registered now, whoever put it there."""
        return self._registered.get(id(thing)) if thing is not None else None

    def _look_into(self, root: Any, seen: set[int]) -> None:
        for _, module in islice(walk(root), _MODULES):
            if id(module) in seen:
                continue
            seen.add(id(module))
            for name, value in fields(module):
                if name in _REGISTERED:
                    for inner, tensor in entries(value) if name != "_modules" else ():
                        self._registered.setdefault(id(tensor), Kept(module, inner))
                    continue
                for at, one in (("", value), *items(value)):
                    self._note(one, Kept(module, name, at), seen)

    def _note(self, thing: Any, kept: Kept, seen: set[int]) -> None:
        if is_a(thing, self._torch.Tensor):
            self._known.setdefault(id(thing), kept)
            life = self._recorder.tensors.get(thing)
            if life is not None:
                self._known.setdefault(id(life), kept)
        elif kept.at and is_a(thing, self._torch.nn.Module):
            self._known.setdefault(id(thing), kept)
            self._look_into(thing, seen)

    def statement(self, kept: Kept, stack: Stack) -> Spot | None:
        """The statement that sets the attribute: one that made the value, else one of the owner's class."""
        for line in stack:
            spot = self._texts.spot(line)
            text = self._texts.of(spot.file) if spot is not None else None
            if spot is not None and text is not None:
                statement = text.statement(spot.node)
                if _sets(statement, kept.name):
                    return spot._replace(node=statement)
        for text in self._files(kept.owner):
            for made in nodes(text.source.tree, ast.ClassDef):
                if made.name == class_name(kept.owner):
                    for one in nodes(made, ast.stmt):
                        if _sets(one, kept.name):
                            method = text.around(one, ast.FunctionDef)
                            function = f"{made.name}.{getattr(method, 'name', '')}"
                            return Spot(text.source, one, function)
        return None

    def _files(self, owner: Any) -> Iterator[Text]:
        """The files that may hold an object's class: where it is built, and those of the failing frames."""
        codes = [
            one.__code__ for one in namespace(type(owner)).values() if exactly(one, FunctionType)
        ]
        life = self._recorder.modules.get(owner)
        codes += [event.stack[0].code for event in life.events if event.stack] if life else []
        codes += [line.code for _, line in self._alive]
        for file in dict.fromkeys(code.co_filename for code in codes):
            if (text := self._texts.of(file)) is not None:
                yield text


def _sets(statement: ast.AST, name: str) -> bool:
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    return any(one.attr == name for target in targets for one in nodes(target, ast.Attribute))
