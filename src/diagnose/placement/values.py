"""What a variable may hold, as far as placement goes: abstract values that the interpreter computes with.

A value that is not understood is `Unknown`, and what is computed from it is unknown too.

Attributes of values, and the dicts and lists that they hold, are written down before they change, so
that a branch's changes can be undone: a way of the program begins at a `Changes.mark`, and what it did
is taken back before the next one begins.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextvars import ContextVar
from itertools import count
from types import MappingProxyType
from typing import Any, TypeVar

from diagnose.placement.model import Device, Source, Spot, Step

_K = TypeVar("_K")
_V = TypeVar("_V")

#: What stands for the attribute where a container has changed itself.
CONTENT = ""
#: What is changed, which of its attributes (or its `CONTENT`), and what that was before.
Change = tuple[Any, str, object]

#: Each mark has a number of its own: a container that was written down since needs no second copy.
_MARKS = count(1)


class Changes(list[Change]):
    """The changes of one analysis, in their order."""

    epoch = 0

    def mark(self) -> int:
        """Where a way begins: how many changes there are."""
        self.epoch = next(_MARKS)
        return len(self)

    def since(self, mark: int) -> dict[tuple[int, str], Change]:
        """What has changed since a mark, and what it is now."""
        return {
            (id(one), name): (one, name, one.copy() if name == CONTENT else getattr(one, name))
            for one, name, _ in self[mark:]
        }

    def take_back(self, mark: int) -> dict[tuple[int, str], Change]:
        """Undoes all changes since a mark; what each was until then."""
        if len(self) == mark:
            return {}
        found = self.since(mark)
        while len(self) > mark:
            one, name, before = self.pop()
            if name == CONTENT:
                one.restore(before)
            else:
                object.__setattr__(one, name, before)
        self.mark()
        return found


#: The changes of the analysis that runs; None where nobody asks.
_CHANGES: ContextVar[Changes | None] = ContextVar("_CHANGES", default=None)


def begun() -> Changes:
    """The changes of an analysis that begins: it grows by each."""
    changes = Changes()
    _CHANGES.set(changes)
    return changes


def noted(value: object, name: str) -> None:
    """Writes down that an attribute of a value is about to be set."""
    changes = _CHANGES.get()
    if changes is not None and hasattr(value, name):  # a new value has nothing to go back to
        changes.append((value, name, getattr(value, name)))


class Attributes:
    """Whose attributes of the names in ``forked`` a branch sets for itself alone; the dicts and lists among
    them are kept as `KeptDict` and `KeptList`. A dict in ``kinds`` holds values of that kind alone."""

    __slots__ = ()

    forked: frozenset[str] = frozenset()
    kinds: Mapping[str, type] = MappingProxyType({})

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.forked:
            noted(self, name)
            if type(value) is dict:
                value = KeptDict(value, self.kinds.get(name, object))
            elif type(value) is list:
                value = KeptList(value)
        object.__setattr__(self, name, value)


class KeptDict(dict[_K, _V]):
    """A dict whose changes are written down; what is put back of another kind is left out."""

    __slots__ = ("epoch", "kind")

    def __init__(self, content: Mapping[_K, _V], kind: type = object) -> None:
        self.kind = kind
        self.restore(content)

    def restore(self, content: Mapping[_K, _V]) -> None:
        """Puts back what it held."""
        dict.clear(self)
        dict.update(self, {key: one for key, one in content.items() if isinstance(one, self.kind)})


class KeptList(list[_V]):
    """A list whose changes are written down."""

    __slots__ = ("epoch",)

    def restore(self, content: Sequence[_V]) -> None:
        """Puts back what it held."""
        list.__setitem__(self, slice(None), content)


def _noting(method: Callable[..., Any]) -> Callable[..., Any]:
    def change(kept: Any, *given: Any, **named: Any) -> Any:
        changes = _CHANGES.get()
        if changes is not None and getattr(kept, "epoch", None) != changes.epoch:
            changes.append((kept, CONTENT, kept.copy()))
            kept.epoch = changes.epoch
        return method(kept, *given, **named)

    return change


_OF_BOTH = ("__setitem__", "__delitem__", "pop", "clear")
for _name in (*_OF_BOTH, "update", "setdefault", "popitem", "__ior__"):
    setattr(KeptDict, _name, _noting(getattr(dict, _name)))
for _name in (*_OF_BOTH, "append", "extend", "insert", "remove", "sort", "reverse", "__iadd__"):
    setattr(KeptList, _name, _noting(getattr(list, _name)))


class Value:
    """Anything; ``steps`` tell what happened to it, ``frame`` whose variables were in scope where it was
    made."""

    __slots__ = ("frame", "steps")

    def __init__(self, steps: tuple[Step, ...] = (), frame: Frame | None = None) -> None:
        self.steps = steps
        self.frame = frame


class Frame(Attributes):
    """The variables of a call, or of a file."""

    __slots__ = (
        "around",
        "bound",
        "call",
        "caller",
        "function",
        "given",
        "lines",
        "names",
        "owner",
        "result",
        "returns",
        "shared",
        "source",
        "this",
        "within",
        "yields",
    )
    forked = frozenset({"names"})

    def __init__(
        self,
        source: Source,
        names: MutableMapping[str, Value] | None = None,
        around: Mapping[str, Value] | None = None,
        function: str | None = None,
        this: Value | None = None,
        owner: Value | None = None,
    ) -> None:
        self.source = source
        self.names: MutableMapping[str, Value] = {} if names is None else names
        self.around: Mapping[str, Value] = {} if around is None else around
        self.function = function
        self.this = this
        self.owner = owner
        self.result: list[Value] = []
        #: The statements that gave it.
        self.returns: list[ast.Return] = []
        #: Whether ``result`` holds what a generator yields.
        self.yields = False
        #: Where it yields last, and what runs there: the body of the ``with`` that it is the context of.
        self.within: tuple[ast.AST, Callable[[Value], None]] | None = None
        #: Who called, and where.
        self.caller: Frame | None = None
        self.call: Spot | None = None
        #: name -> the statement that bound it last.
        self.bound: dict[str, ast.AST] = {}
        #: parameter -> the expression that it was given, in the caller's file.
        self.given: dict[str, ast.expr] = {}
        #: name -> the line that bound it first.
        self.lines: dict[str, int] = {}
        #: name -> the variables further out that ``global`` or ``nonlocal`` says it is of.
        self.shared: dict[str, Frame] = {}

    def get(self, name: str) -> Value | None:
        """The value of a variable, here or around."""
        found = self.names.get(name)
        return self.around.get(name) if found is None else found

    def is_class_body(self) -> bool:
        """Whether these are the members of a class while its body runs."""
        return isinstance(self.owner, Class) and self.function == self.owner.node.name


class Around(dict[str, Value]):
    """The variables around a function, as they are when it runs; of a method those of no class."""

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self.frame = frame

    def get(self, name: str, otherwise: Value | None = None) -> Value | None:  # type: ignore[override]
        """The variable of a name, as it is now."""
        inside = self.frame.is_class_body()
        found = self.frame.around.get(name) if inside else self.frame.get(name)
        return otherwise if found is None else found


class Unknown(Value):
    """Nothing is known; ``word`` is what the code calls it (the name of a parameter or an attribute),
    ``device`` where a parameter of what nothing calls is, should it be a tensor."""

    __slots__ = ("device", "word")

    def __init__(self, word: str = "", device: Device | None = None) -> None:
        super().__init__()
        self.word = word
        self.device = device


class Number(Value):
    """A number, a truth value: nothing that has a device; ``word`` is what the code calls it."""

    __slots__ = ("word",)

    def __init__(self, word: str = "") -> None:
        super().__init__()
        self.word = word


class Const(Value):
    """A literal, or a literal computed from such."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


class Place(Value):
    """A `torch.device`, or what becomes one."""

    __slots__ = ("device",)

    def __init__(self, device: Device, steps: tuple[Step, ...] = ()) -> None:
        super().__init__(steps)
        self.device = device


class External(Value):
    """A name of a library: ``torch.nn.Linear``."""

    __slots__ = ("dotted",)

    def __init__(self, dotted: str) -> None:
        super().__init__()
        self.dotted = dotted


class Function(Value):
    """A function of the user's, with the variables around it and the object that it is bound to."""

    __slots__ = ("around", "held", "name", "node", "owner", "source", "this", "undecorated")

    def __init__(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        source: Source,
        around: Mapping[str, Value],
        name: str,
        owner: Class | None = None,
        this: Value | None = None,
    ) -> None:
        super().__init__()
        self.node = node
        self.source = source
        self.around = around
        self.name = name
        self.owner = owner
        self.this = this
        #: The function that a decorator has put this one in the place of.
        self.undecorated: Function | None = None
        #: Defaults that are variables, as they were where the function was made.
        self.held: Mapping[ast.expr, Value] = {}

    def bound(self, this: Value) -> Function:
        """The method of an object."""
        found = Function(self.node, self.source, self.around, self.name, self.owner, this)
        found.undecorated, found.held = self.undecorated, self.held
        return found


class Class(Value):
    """A class of the user's. ``bases`` are its user classes, ``library`` the names of the others."""

    __slots__ = ("bases", "library", "members", "node", "source")

    def __init__(self, node: ast.ClassDef, source: Source) -> None:
        super().__init__()
        self.node = node
        self.source = source
        self.bases: list[Class] = []
        self.library: list[str] = []
        self.members: dict[str, Value] = {}

    def line(self) -> Iterator[Class]:
        """The class and its user bases, each once."""
        waiting: list[Class] = [self]
        seen = set[int]()
        while waiting:
            one = waiting.pop()
            if id(one) not in seen:
                seen.add(id(one))
                yield one
                waiting += reversed(one.bases)

    def find(self, name: str) -> Value | None:
        """A member of the class or of its bases."""
        return next((c.members[name] for c in self.line() if name in c.members), None)

    def foreign(self) -> tuple[str, ...]:
        """The names of those of its bases, and of theirs, of which no source is at hand."""
        return tuple(name for one in self.line() for name in one.library)

    def names(self) -> Iterator[str]:
        """The names of the class and of all its bases."""
        for one in self.line():
            yield one.node.name
            yield from one.library


class Object(Attributes, Value):
    """An object of a user's class that is no module, or of a library whose kind is ``kind``."""

    __slots__ = ("attributes", "kind", "made")
    forked = frozenset({"attributes"})

    def __init__(self, kind: str, made: Class | None = None) -> None:
        super().__init__()
        self.kind = kind
        self.made = made
        self.attributes: dict[str, Value] = {}

    @property
    def is_library_object(self) -> bool:
        """Whether it is of a library's class that rows name in full: several of them are as one."""
        return self.made is None and bool(self.kind.rpartition(".")[0])


def static(member: Value | None) -> Function | None:
    """The function of a static method; None for other members of a class."""
    if isinstance(member, Object) and member.kind == "static":
        called = member.attributes.get("call")
        return called if isinstance(called, Function) else None
    return None


class Method(Value):
    """A method of a library's object."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Value, name: str) -> None:
        super().__init__()
        self.owner = owner
        self.name = name


class Generator(Value):
    """A ``torch.Generator``; ``agreed`` tells that it drew somewhere for what is on its device."""

    __slots__ = ("agreed", "device")

    def __init__(self, device: Device) -> None:
        super().__init__()
        self.device = device
        self.agreed = False


class Loader(Value):
    """A data set or loader, what one item of it is, and what it draws their order with."""

    __slots__ = ("generator", "item")

    def __init__(self, item: Value) -> None:
        super().__init__()
        self.item = item
        self.generator: Value | None = None
