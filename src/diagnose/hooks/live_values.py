"""Live tensors and modules as values of placement analysis: where they are, what the program calls them,
and the steps of their lives.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from types import FrameType, FunctionType
from typing import Any

from diagnose.hooks.introspection import (
    attributes,
    class_name,
    exactly,
    is_a,
    namespace,
    shape_of,
)
from diagnose.hooks.modules import Whereabouts, is_offloaded, is_replica, is_restored, located
from diagnose.hooks.object_graph import Kept, ObjectGraph
from diagnose.hooks.operands import reads
from diagnose.hooks.positions import Steps, Texts, statement_of
from diagnose.hooks.scopes import Scopes
from diagnose.kinds import DeviceType, EventKind, Origin
from diagnose.placement import Device, Source, Spot, Step
from diagnose.placement.devices import META, written
from diagnose.placement.provenance import is_offloaded as brought
from diagnose.placement.semantics import around, bindings_by, calls, last_name, nodes
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Generator
from diagnose.tracing.lives import Event, Life, ModuleLife
from diagnose.tracing.recorder import Recorder
from diagnose.tracing.stacks import Line, Stack, is_own

#: Files of libraries in which tokenizers and processors make what they return.
_TOKENIZERS = ("tokenization", "tokenizers", "processing_")


class Lives:
    """What a recorder knows, in the form in which placement analysis reasons.

    Args:
        recorder: what was running.
        texts: the program's files.
        alive: the user's frames of the traceback that are still alive, outermost first.
        spot: the expression that failed.
        seen: all frames of the traceback, outermost first.
    """

    def __init__(
        self,
        recorder: Recorder,
        texts: Texts,
        alive: Sequence[tuple[FrameType, Line]],
        spot: Spot,
        seen: Sequence[tuple[FrameType, Line]] = (),
    ) -> None:
        self.torch: Any = sys.modules["torch"]
        self.tensor = self.torch.Tensor
        self.recorder = recorder
        self.texts = texts
        self.spot = spot
        self.alive = alive
        self.seen = seen
        self._modules: dict[int, Module] = {}
        self._live: dict[int, Any] = {}
        self.steps = Steps(texts)
        self.whereabouts = Whereabouts(recorder)
        self.scopes = Scopes(recorder, texts, alive, self.module_value)

    @cached_property
    def graph(self) -> ObjectGraph:
        """What the program calls what it holds, and which of it modules keep."""
        own, others = (
            [frame for frame, line in reversed(self.seen) if is_own(line.code) == is_users]
            for is_users in (True, False)
        )
        return ObjectGraph(self.torch, self.recorder.tensors, own, others, self._running())

    def _running(self) -> list[Any]:
        """The modules whose methods were running, innermost first."""
        failed = self.recorder.failed
        running = [ref() for ref in failed.running] if failed is not None else []
        return [one for one in running if one is not None]

    def is_partly(self, device: Device, module: Module | None) -> bool:
        """Whether the model that a module belongs to is on a device with a part of its tensors only."""
        owners = list(module.owners()) if module is not None else []
        return bool(owners) and self.whereabouts.is_partly(device, self._live.get(id(owners[-1])))

    # --- tensors ---

    def tensor_value(self, tensor: Any) -> Tensor:
        """A live tensor, with the steps of its life."""
        life = self.recorder.tensors.get(tensor) or Life(Origin.OTHER)
        return self.lived(life, located(tensor), tensor, scalar=not shape_of(tensor))

    def lived(self, life: Life, device: Device | None, tensor: Any, *, scalar: bool) -> Tensor:
        """What is known of a tensor's life, which may be over; then ``tensor`` is None."""
        if life.module is None and (kept := self.graph.registered(tensor)) is not None:
            life = Life(Origin.WEIGHT, life.events, self.life_of(kept.owner), kept.name)
        stack = _birth(life.events)
        module = self.module_of(life.module)
        steps = self.steps.of(life.events)
        maker = _maker(life)
        if maker == Origin.BATCH:
            steps = (*steps, *self.steps.bound(life.events))
        elif maker == Origin.OUTPUT and module is not None:  # it is where its module is
            steps = (*module.steps, *steps)
        steps = _placed(steps, device, maker, module)
        name, free = life.name, maker not in (Origin.WEIGHT, Origin.OUTPUT)
        if maker == Origin.WEIGHT and self.replica is not None and _is_whole(life):
            steps = (*steps, Step(EventKind.KEPT, self.spot, device))
        if free and (kept := self.graph.unregistered(tensor, life)) is not None:
            module, name = self.module_value(kept.owner), kept.name
            spot = self._keeping(kept, stack)
            if spot is not None:
                steps = (*steps, Step(EventKind.HELD if kept.at else EventKind.KEPT, spot, device))
        elif (
            free
            and self.replica is not None
            and (used := self._kept_outside(tensor, life)) is not None
        ):
            module, name = self.module_value(self.replica), used[0]
            steps = (*steps, Step(EventKind.KEPT, used[1], device))
        frame = self.scopes.frame(stack)
        return Tensor(device, maker, steps, frame, scalar=scalar, module=module, name=name)

    def _keeping(self, kept: Kept, stack: Stack) -> Spot | None:
        """The statement that sets the attribute: one that made the value, else one of the owner's class."""
        for line in stack:
            spot = self.texts.spot(line)
            if spot is not None and _sets(statement := statement_of(spot), kept.name):
                return spot._replace(node=statement)
        for source in self._files_of(kept.owner):
            for made in nodes(source.tree, ast.ClassDef):
                if made.name == class_name(kept.owner):
                    for one in nodes(made, ast.stmt):
                        if _sets(one, kept.name):
                            method = next(around(source.tree, one, ast.FunctionDef), None)
                            function = f"{made.name}.{getattr(method, 'name', '')}"
                            return Spot(source, one, function)
        return None

    def _files_of(self, owner: Any) -> Iterator[Source]:
        """The files that may hold an object's class: where it is built, and those of the failing frames."""
        codes = [
            one.__code__ for one in namespace(type(owner)).values() if exactly(one, FunctionType)
        ]
        life = self.recorder.modules.get(owner)
        codes += [event.stack[0].code for event in life.events if event.stack] if life else []
        codes += [line.code for _, line in self.alive]
        for file in dict.fromkeys(code.co_filename for code in codes):
            if (source := self.texts.of(file)) is not None:
                yield source

    @cached_property
    def replica(self) -> Any:
        """The outermost module of a copy of `DataParallel` that was running."""
        return next((one for one in reversed(self._running()) if is_replica(one)), None)

    def _kept_outside(self, tensor: Any, life: Life) -> tuple[str, Spot] | None:
        """The attribute of an object, which no copy of a module has of its own, that keeps a tensor; and
        where it is read."""
        holder = self.graph.keeper(tensor, life)
        name = holder.attribute() if holder is not None else ""
        if not name:
            return None
        if reads(self.spot.node, name):
            return name, self.spot
        for source in filter(None, map(self.texts.of, self._files())):
            for node in nodes(source.tree, ast.Return):
                if reads(node, name):
                    return name, Spot(source, node, None)
        return None

    def _files(self) -> Sequence[str]:
        """The user's files that the failure passed through."""
        failed = self.recorder.failed
        lines = [line for _, line in self.seen if is_own(line.code)]
        lines += failed.stack if failed is not None else ()
        return list(dict.fromkeys(line.code.co_filename for line in lines))

    def generator(self, generator: str, thing: Any, node: ast.AST | None = None) -> Generator:
        """A ``torch.Generator`` of this device: the place of the program that makes it, if only one does,
        or one makes what is called so; of what a loader made for itself, where the loader is built."""
        value = Generator(written(generator) or Device(DeviceType.CPU))
        made = [
            Spot(source, node, None)
            for source in filter(None, map(self.texts.of, self._files()))
            for node in calls(source.tree)
            if ast.unparse(node.func).endswith("Generator")
        ]
        if len(made) > 1:
            called = {
                one.rpartition(".")[2]
                for one in (ast.unparse(node) if node is not None else "", self.graph.name(thing))
            }
            made = [
                spot for spot in made if called & {*map(last_name, _targets(statement_of(spot)))}
            ]
        if len(made) == 1:
            value.steps = (Step(EventKind.MADE, made[0], value.device),)
            value.frame = self.scopes.around(made[0])
        elif not made and (life := self.loader()) is not None:
            value.steps = tuple(s._replace(device=value.device) for s in self.steps.of(life.events))
            value.frame = self.scopes.frame(_birth(life.events))
        return value

    def loader(self) -> Life | None:
        """What is known of the data loader of which a part was running."""
        owners = {
            id(frame.f_locals.get("self")) for frame, line in self.seen if not is_own(line.code)
        }
        for loader in self.recorder.loaders.things():
            held = attributes(loader)
            parts = (loader, held.get("sampler"), held.get("batch_sampler"))
            if owners & {id(part) for part in parts if part is not None}:
                return self.recorder.loaders.get(loader)
        return None

    # --- modules ---

    def module_of(self, life: ModuleLife | None) -> Module | None:
        """A module by what is remembered of it."""
        if life is None:
            return None
        known = self._modules.get(id(life))
        if known is not None:
            return known
        module = life.module()
        value = self._modules[id(life)] = Module(life.kind, self.whereabouts.of(module))
        self._live[id(value)] = module
        value.steps = self.steps.of(life.events)
        value.frame = self.scopes.frame(_birth(life.events))
        value.word = life.name or self._variable(module)
        value.owner = self.module_of(life.owner)
        if is_replica(module) or is_a(module, self.torch.nn.DataParallel):
            value.steps = (*value.steps, Step(EventKind.WRAPPED, self.spot))
        if is_offloaded(module):
            value.steps = (*value.steps, Step(EventKind.OFFLOADED, self.spot))
        if life.owner is None and module is not None:
            self._held(value, module, life)
        return value

    def _held(self, value: Module, module: Any, life: ModuleLife) -> None:
        """Notes of a module that another keeps it in a plain list or dict."""
        kept = self.graph.unregistered(module)
        spot = self._keeping(kept, _birth(life.events)) if kept is not None else None
        if kept is not None and spot is not None:
            value.owner, value.word = self.module_value(kept.owner), kept.name + kept.at
            value.steps = (*value.steps, Step(EventKind.HELD, spot))

    def _variable(self, module: Any) -> str:
        """What a variable of the running frames calls a module."""
        spaces = [frame.f_locals for frame, _ in reversed(self.alive)]
        spaces += [frame.f_globals for frame, _ in self.alive[-1:]]
        named = ((str(name), value) for space in spaces for name, value in list(space.items()))
        found = (name for name, value in named if value is module and name != "self")
        return next(found, "") if module is not None else ""

    def held_as(self, value: Module) -> str:
        """What the program calls a module that is in none of its variables."""
        return self.graph.name(self._live.get(id(value)))

    def module_value(self, module: Any) -> Module | None:
        """A live module."""
        return self.module_of(self.life_of(module))

    def life_of(self, module: Any) -> ModuleLife:
        """What is known of a live module."""
        life = self.recorder.modules.get(module)
        if life is None:
            life = ModuleLife(module)
            self.recorder.modules.set(module, life)
        return life


def _is_whole(life: Life) -> bool:
    """Whether a weight belongs to a module that is no copy of `DataParallel`."""
    module = life.module.module() if life.module is not None else None
    return module is not None and not is_replica(module)


def _birth(events: Sequence[Event]) -> Stack:
    """The stack of what made or loaded something; of a weight whose maker was not seen, of its
    registration."""
    for what in (EventKind.MADE, EventKind.LOADED, EventKind.PUT):
        for event in events:
            if event.what == what:
                return event.stack
    return events[0].stack if events else ()


def _targets(statement: ast.AST) -> Iterator[ast.Name | ast.Attribute]:
    """The names and attributes that a statement binds."""
    for one in bindings_by(statement):
        yield from nodes(one.target, ast.Name, ast.Attribute)


def _sets(statement: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Attribute) and one.attr == name for one in _targets(statement))


def _placed(
    steps: tuple[Step, ...], device: Device | None, maker: Origin, module: Module | None
) -> tuple[Step, ...]:
    """The steps of a life, with where it began if that is where it is."""
    if device == META and not brought(module):  # nothing moves there: it was made so
        made = (EventKind.MADE, EventKind.PUT)
        return tuple(
            s._replace(what=EventKind.MADE, device=META) if s.what in made else s for s in steps
        )
    if maker == Origin.WEIGHT or any(step.what == EventKind.MOVED for step in steps):
        return steps
    return tuple(s._replace(device=device) if s.what == EventKind.MADE else s for s in steps)


def _maker(life: Life) -> Origin:
    """What made a tensor, by whose code did; a weight of a module that was built, and whose data is as a
    checkpoint gave it, is what that loaded."""
    makers = [one.caller.co_filename for one in life.events if one.caller]
    if any(name in maker for maker in makers for name in _TOKENIZERS):
        return Origin.TOKENS
    built = life.module is None or all(e.what != EventKind.LOADED for e in life.module.events)
    restored = life.maker == Origin.WEIGHT and built and is_restored(life.events)
    return Origin.LOAD if restored else life.maker
