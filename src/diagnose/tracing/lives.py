"""What is remembered of tensors and modules, and where: beside them, for as long as they live."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from itertools import takewhile
from types import CodeType
from typing import Any, Generic, NamedTuple, TypeVar

from diagnose.kinds import EventKind, Origin
from diagnose.tracing import given
from diagnose.tracing.stacks import Stack

#: Of what happened to one thing the first events and the last ones are kept.
MOST_EVENTS = 12
#: Methods that move a tensor.
MOVES = frozenset({"to", "cuda", "cpu", "type_as", "xpu", "npu"})
#: Modules above each other that are looked at.
_DEEPEST = 64


class Event(NamedTuple):
    """Something that happened. ``caller`` is the code that called torch, which may be a library's;
    ``device`` where the thing was then, as torch prints it, where that was asked for."""

    what: EventKind
    stack: Stack
    caller: CodeType | None = None
    device: str | None = None


class Life:
    """What is known of a tensor: of a weight the ``module`` that it is registered in, under which ``name``;
    of what is computed with it, and of its gradient, those of the weight. What is computed from a tensor
    shares its life."""

    __slots__ = ("events", "maker", "module", "name")

    def __init__(
        self,
        maker: Origin,
        events: tuple[Event, ...] = (),
        module: ModuleLife | None = None,
        name: str = "",
    ) -> None:
        self.maker = maker
        self.events = events
        self.module = module
        self.name = name

    def then(self, event: Event) -> Life:
        """The life with one event more."""
        return Life(self.maker, extended(self.events, event), self.module, self.name)


class ModuleLife:
    """What is known of a module: its class, when and where it was built, put, moved, in which module it is
    registered (``owner``) and under which ``name``; ``module`` refers to it weakly."""

    __slots__ = ("events", "kind", "module", "name", "owner")

    def __init__(self, module: object, events: tuple[Event, ...] = ()) -> None:
        self.module = weakref.ref(module)
        self.kind = type(module).__name__
        self.events = events
        self.owner: ModuleLife | None = None
        self.name = ""

    def add(self, event: Event) -> None:
        """Notes one event more."""
        self.events = extended(self.events, event)

    def home(self) -> str | None:
        """Where the module's tensors are, or those of the one that it belongs to, as torch prints it."""
        alive = takewhile(lambda one: one is not None, (life.module() for life in self.above()))
        return next((found for one in alive if (found := given.home(one)) is not None), None)

    def was_moved(self) -> bool:
        """Whether the module or one that it belongs to was moved."""
        return any(event.what == EventKind.MOVED for life in self.above() for event in life.events)

    def above(self) -> Iterator[ModuleLife]:
        """The module, then those that it belongs to."""
        life: ModuleLife | None = self
        for _ in range(_DEEPEST):
            if life is None:
                return
            yield life
            life = life.owner


def extended(events: tuple[Event, ...], event: Event) -> tuple[Event, ...]:
    """Events and one more; of many the middle is lost."""
    if len(events) >= MOST_EVENTS:
        events = (*events[:2], *events[3 - MOST_EVENTS :])
    return (*events, event)


T = TypeVar("T")


class _Ref(weakref.ref):  # type: ignore[type-arg]
    """A weak reference that carries what is remembered."""

    __slots__ = ("key", "life")

    key: int
    life: Any


class Table(Generic[T]):
    """What is remembered of objects, by identity; forgotten when they die. Keys are never compared: an
    object's class may say what it likes of equality. Safe for threads as far as a dict's own operations
    are."""

    def __init__(self) -> None:
        self._known: dict[int, _Ref] = {}
        known = self._known

        def forget(dead: _Ref) -> None:
            if known.get(dead.key) is dead:
                known.pop(dead.key, None)

        self._forget: Callable[[_Ref], None] = forget

    def get(self, thing: object) -> T | None:
        """What is remembered of an object."""
        found = self._known.get(id(thing))
        if found is None or found() is not thing:
            return None
        life: T = found.life
        return life

    def set(self, thing: object, life: T) -> None:
        """Remembers; an object without weak references is left out."""
        try:
            ref = _Ref(thing, self._forget)
        except TypeError:
            return
        ref.key = id(thing)
        ref.life = life
        self._known[ref.key] = ref

    def pop(self, thing: object) -> T | None:
        """What was remembered of an object, which is now forgotten."""
        found = self.get(thing)
        if found is not None:
            self._known.pop(id(thing), None)
        return found

    def things(self) -> Iterator[object]:
        """The objects that live."""
        for ref in list(self._known.values()):
            if (thing := ref()) is not None:
                yield thing

    def __len__(self) -> int:
        return len(self._known)
