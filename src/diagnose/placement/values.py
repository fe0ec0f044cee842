"""What a variable may hold, as far as placement goes: abstract values that the interpreter computes with.

A value that is not understood is `Unknown`, and what is computed from it is unknown too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from diagnose.placement.model import Device, Source, Step

if TYPE_CHECKING:
    from diagnose.placement.frames import Frame


class Value:
    """Anything; ``steps`` tell what happened to it, ``frame`` whose variables were in scope where it was
    made."""

    __slots__ = ("frame", "steps")

    def __init__(self, steps: tuple[Step, ...] = (), frame: Frame | None = None) -> None:
        self.steps = steps
        self.frame = frame


class Unknown(Value):
    """Nothing is known; ``word`` is what the code calls it (a parameter's or an attribute's name)."""

    __slots__ = ("word",)

    def __init__(self, word: str = "") -> None:
        super().__init__()
        self.word = word


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


class Tensor(Value):
    """A tensor. ``device`` is None where it is not known.

    ``maker`` says where it comes from: ``factory``, ``array`` (from NumPy), ``load``, ``batch`` (a loader),
    ``tokens`` (a tokenizer), ``output`` (of a module), ``weight``, ``given`` (a parameter), ``other``.
    ``scalar`` marks those of no dimensions, which mix with any device; ``module`` is whose output or
    weight it is; ``name`` what the module calls it.
    """

    __slots__ = ("device", "maker", "module", "name", "scalar")

    def __init__(
        self,
        device: Device | None,
        maker: str = "other",
        steps: tuple[Step, ...] = (),
        frame: Frame | None = None,
        *,
        scalar: bool = False,
        module: Module | None = None,
        name: str = "",
    ) -> None:
        super().__init__(steps, frame)
        self.device = device
        self.maker = maker
        self.scalar = scalar
        self.module = module
        self.name = name

    def like(self, device: Device | None, *steps: Step, scalar: bool | None = None) -> Tensor:
        """The same tensor elsewhere, or something computed from it."""
        return Tensor(
            device,
            self.maker,
            (*self.steps[-12:], *steps),
            self.frame,
            scalar=self.scalar if scalar is None else scalar,
            module=self.module,
            name=self.name,
        )


class Batch(Value):
    """Tensors in a structure that is not known: what a loader yields, what a tokenizer returns."""

    __slots__ = ("inner", "mutable")

    def __init__(self, inner: Tensor, *, mutable: bool = False) -> None:
        super().__init__(inner.steps, inner.frame)
        self.inner = inner
        self.mutable = mutable


class Sequence(Value):
    """A list, tuple, set or generator; ``keeper`` is the module whose plain attribute it is."""

    __slots__ = ("items", "keeper", "more")

    def __init__(self, items: list[Value], more: Value | None = None) -> None:
        super().__init__()
        self.keeper: Module | None = None
        self.items = items
        self.more = more

    def every(self) -> Iterator[Value]:
        """What it holds."""
        yield from self.items
        if self.more is not None:
            yield self.more


class Table(Value):
    """A dict; ``keeper`` is the module whose plain attribute it is."""

    __slots__ = ("items", "keeper", "more")

    def __init__(self, items: dict[object, Value], more: Value | None = None) -> None:
        super().__init__()
        self.keeper: Module | None = None
        self.items = items
        self.more = more

    def every(self) -> Iterator[Value]:
        """What it holds."""
        yield from self.items.values()
        if self.more is not None:
            yield self.more


class External(Value):
    """A name of a library: ``torch.nn.Linear``."""

    __slots__ = ("dotted",)

    def __init__(self, dotted: str) -> None:
        super().__init__()
        self.dotted = dotted


class Function(Value):
    """A function of the user's, with the variables around it and the object that it is bound to."""

    __slots__ = ("around", "name", "node", "owner", "source", "this")

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

    def bound(self, this: Value) -> Function:
        """The method of an object."""
        return Function(self.node, self.source, self.around, self.name, self.owner, this)


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

    def line(self, seen: int = 0) -> Iterator[Class]:
        """The class and its user bases."""
        yield self
        if seen < 8:
            for base in self.bases:
                yield from base.line(seen + 1)

    def find(self, name: str) -> Value | None:
        """A member of the class or of its bases."""
        return next((c.members[name] for c in self.line() if name in c.members), None)

    def names(self) -> Iterator[str]:
        """The names of the class and of all its bases."""
        for one in self.line():
            yield one.node.name
            yield from one.library


class Object(Value):
    """An object of a user's class that is no module, or of a library whose kind is ``kind``."""

    __slots__ = ("attributes", "kind", "made")

    def __init__(self, kind: str, made: Class | None = None) -> None:
        super().__init__()
        self.kind = kind
        self.made = made
        self.attributes: dict[str, Value] = {}


class Module(Value):
    """An ``nn.Module``.

    ``device`` is where its own weights are (None: not known, or it has none). ``children`` and ``tensors``
    are registered and move with it, ``plain`` is not. ``owner`` is the module that it is registered in,
    ``word`` what the code calls it.
    """

    __slots__ = (
        "children",
        "device",
        "kind",
        "made",
        "owner",
        "plain",
        "tensors",
        "weights",
        "word",
    )

    def __init__(self, kind: str, device: Device | None, made: Class | None = None) -> None:
        super().__init__()
        self.kind = kind
        self.device = device
        self.made = made
        self.weights = True
        self.word = ""
        self.owner: Module | None = None
        self.children: dict[str, Module] = {}
        self.tensors: dict[str, Tensor] = {}
        self.plain: dict[str, Value] = {}

    def family(self, seen: set[int] | None = None) -> Iterator[Module]:
        """The module and all that is registered in it."""
        seen = set() if seen is None else seen
        if id(self) in seen or len(seen) > 500:
            return
        seen.add(id(self))
        yield self
        for child in self.children.values():
            yield from child.family(seen)

    def where(self) -> Device | None:
        """The device of its first weights, as ``next(model.parameters()).device`` is."""
        for one in self.family():
            if one.device is not None and one.weights:
                return one.device
            for tensor in one.tensors.values():
                if tensor.device is not None:
                    return tensor.device
        return self.device

    def move(self, device: Device | None, step: Step) -> None:
        """What ``.to(device)`` does: all that is registered moves, and nothing else."""
        for one in self.family():
            one.device = device if one.weights else one.device
            one.steps = (*one.steps[-12:], step)
            for name, tensor in one.tensors.items():
                one.tensors[name] = tensor.like(device, step)
            if one.made is not None and any(map(one.made.find, ("_apply", "to", "cuda"))):
                for name, value in one.plain.items():  # a class that moves what it keeps by itself
                    if isinstance(value, Tensor):
                        one.plain[name] = value.like(device, step)


class Method(Value):
    """A method of a library's object."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Value, name: str) -> None:
        super().__init__()
        self.owner = owner
        self.name = name


class Optimizer(Value):
    """A ``torch.optim`` optimizer of the weights of a module; ``loaded`` is when its state was made."""

    __slots__ = ("loaded", "module", "weights")

    def __init__(self, module: Module | None, weights: Value | None = None) -> None:
        super().__init__()
        self.module = module
        self.weights = weights
        self.loaded: Step | None = None


class Generator(Value):
    """A ``torch.Generator``."""

    __slots__ = ("device",)

    def __init__(self, device: Device) -> None:
        super().__init__()
        self.device = device


class Loader(Value):
    """A data set or loader, and what one item of it is."""

    __slots__ = ("item",)

    def __init__(self, item: Value) -> None:
        super().__init__()
        self.item = item


def tensors_in(value: Value, depth: int = 0) -> Iterator[Tensor]:
    """The tensors that a value holds."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Batch):
        yield value.inner
    elif isinstance(value, Sequence | Table) and depth < 4:
        for item in list(value.every())[:20]:
            yield from tensors_in(item, depth + 1)


def modules_in(value: Value, depth: int = 0) -> Iterator[Module]:
    """The modules that a plain container holds."""
    if isinstance(value, Module):
        yield value
    elif isinstance(value, Sequence | Table) and depth < 4:
        for item in list(value.every())[:20]:
            yield from modules_in(item, depth + 1)
