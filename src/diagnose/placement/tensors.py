"""Tensors, what holds them, and the modules that they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from diagnose.kinds import DeviceType, EventKind, Origin
from diagnose.placement.devices import is_known, is_open
from diagnose.placement.model import Device, Spot, Step
from diagnose.placement.values import Attributes, Class, Frame, Value


class Tensor(Value):
    """A tensor. ``device`` is None where it is not known.

    ``scalar`` marks those of no dimensions, which mix with any device; ``module`` is whose output or
    weight it is; ``name`` what the module calls it; ``guessed`` that it may be none, or be elsewhere: it
    came of a call of which nothing is known; ``element`` that a number or a loop took it out of a tensor;
    ``floating`` whether it is of a floating-point type, None where that is not known; ``ways`` which tensor
    it is by each of two ways that put it apart.
    """

    __slots__ = (
        "device",
        "element",
        "floating",
        "guessed",
        "maker",
        "module",
        "name",
        "scalar",
        "ways",
    )

    def __init__(
        self,
        device: Device | None,
        maker: Origin = Origin.OTHER,
        steps: tuple[Step, ...] = (),
        frame: Frame | None = None,
        *,
        scalar: bool = False,
        module: Module | None = None,
        name: str = "",
        guessed: bool = False,
    ) -> None:
        super().__init__(steps, frame)
        self.element = False
        self.floating: bool | None = None
        self.ways: tuple[Tensor, ...] = ()
        self.guessed = guessed
        self.device = device
        self.maker = maker
        self.scalar = scalar
        self.module = module
        self.name = name

    def like(self, device: Device | None, *steps: Step, scalar: bool | None = None) -> Tensor:
        """The same tensor elsewhere, or something computed from it."""
        found = Tensor(
            device,
            self.maker,
            (*self.steps[-12:], *steps),
            self.frame,
            scalar=self.scalar if scalar is None else scalar,
            module=self.module,
            name=self.name,
            guessed=self.guessed,
        )
        found.element = self.element
        # What comes without a step may be computed of it, and of another type.
        found.floating = self.floating if steps and scalar is None else None
        return found

    def taken(self, *, scalar: bool | None = None) -> Tensor:
        """Some of the tensor's numbers, or all of them: where it is, and of its type."""
        found = self.like(self.device, scalar=scalar)
        found.floating = self.floating
        return found

    def computed(self, device: Device | None, *, scalar: bool | None = None) -> Tensor:
        """Something computed from the tensor: of a weight it is none, though it is where that is."""
        found = self.like(device, scalar=scalar)
        if self.maker == Origin.WEIGHT:
            found.maker = Origin.COMPUTED if self.module is not None else Origin.OTHER
        return found


class Batch(Attributes, Value):
    """Tensors in a structure that is not known: what a loader yields, what a tokenizer returns."""

    __slots__ = ("inner", "mutable")
    forked = frozenset({"inner"})

    def __init__(self, inner: Tensor, *, mutable: bool = False) -> None:
        super().__init__(inner.steps, inner.frame)
        self.inner = inner
        self.mutable = mutable


class Distribution(Batch):
    """A distribution of ``torch.distributions``, and what stands for the tensors that it is made of."""

    __slots__ = ()


def inside(value: Tensor | Batch) -> Tensor:
    """A tensor, or those of a structure."""
    return value.inner if isinstance(value, Batch) else value


#: Items of a container that are told apart: of more of them, what they are in common is kept.
WIDEST = 64
#: Modules within modules that are looked at.
_DEEPEST = 12
#: Modules of a family that are looked at.
_FAMILY = 5_000


class Sequence(Attributes, Value):
    """A list, tuple, set or generator; ``keeper`` is the module whose plain attribute it is, ``grows`` that
    items were put into it: how many, only a run tells; ``kind`` which of them it is, where known."""

    __slots__ = ("grows", "items", "keeper", "kind", "more")
    forked = frozenset({"grows", "items", "more"})

    def __init__(self, items: list[Value], more: Value | None = None, kind: str = "") -> None:
        super().__init__()
        self.keeper: Module | None = None
        self.grows = False
        self.kind = kind
        self.items = items
        self.more = more

    def every(self) -> Iterator[Value]:
        """What it holds."""
        yield from self.items
        if self.more is not None:
            yield self.more


class Table(Attributes, Value):
    """A dict; ``keeper`` is the module whose plain attribute it is, ``missing`` makes what it lacks."""

    __slots__ = ("items", "keeper", "missing", "more")
    forked = frozenset({"items", "more"})

    def __init__(self, items: dict[object, Value], more: Value | None = None) -> None:
        super().__init__()
        self.keeper: Module | None = None
        self.missing: Value | None = None
        self.items = items
        self.more = more

    def every(self) -> Iterator[Value]:
        """What it holds."""
        yield from self.items.values()
        if self.more is not None:
            yield self.more


class Module(Attributes, Value):
    """An ``nn.Module``.

    ``device`` is where its own weights are (None: not known, or it has none). ``children`` and ``tensors``
    are registered and move with it, ``plain`` is not. ``owner`` is the module that it is registered in,
    ``word`` what the code calls it.
    """

    __slots__ = (
        "before",
        "buffers",
        "children",
        "device",
        "filled",
        "grew",
        "handed",
        "hooks",
        "kept",
        "kind",
        "made",
        "owner",
        "plain",
        "runs",
        "tensors",
        "unsaved",
        "weights",
        "word",
    )
    forked = frozenset(
        {"before", "children", "device", "hooks", "plain", "runs", "steps", "tensors", "weights"}
    )

    def __init__(self, kind: str, device: Device | None, made: Class | None = None) -> None:
        super().__init__()
        self.kind = kind
        self.device = device
        self.made = made
        self.weights = True
        self.word = ""
        self.owner: Module | None = None
        #: The device that a library brings it to for its forward only.
        self.runs: Device | None = None
        #: Whether a function was given it of which nothing is known: that may have moved it.
        self.handed = False
        #: The variables where a method was last called that puts layers into it.
        self.grew: Frame | None = None
        #: The expression that an object got it by, and the variables there; what a weight got as data.
        self.kept: tuple[Spot, Frame] | None = None
        self.filled: Tensor | None = None
        #: What is called before its forward, and after it.
        self.before: list[Value] = []
        self.hooks: list[Value] = []
        #: The names of buffers that are told before they have a value.
        self.buffers: set[str] = set()
        #: The names of buffers that its ``state_dict`` leaves out (``persistent=False``).
        self.unsaved: set[str] = set()
        self.children: dict[str, Module] = {}
        self.tensors: dict[str, Tensor] = {}
        self.plain: dict[str, Value] = {}

    def family(self) -> Iterator[Module]:
        """The module and all that is registered in it, each once."""
        waiting: list[Module] = [self]
        seen = set[int]()
        while waiting and len(seen) < _FAMILY:
            one = waiting.pop()
            if id(one) not in seen:
                seen.add(id(one))
                yield one
                waiting += reversed(one.children.values())

    def owners(self) -> Iterator[Module]:
        """The module and those that it belongs to, innermost first: not all where one is in itself."""
        one: Module | None = self
        for _ in range(_DEEPEST):
            if one is None:
                return
            yield one
            one = one.owner

    def whole(self) -> Module:
        """The outermost module that it belongs to."""
        return list(self.owners())[-1]

    def where(self) -> Device | None:
        """The device of its first weights, as ``next(model.parameters()).device`` is; of those that never
        got memory only where it has no others."""
        empty: Device | None = None
        for one in self.family():
            if one.device is not None and one.weights:
                return one.device
            for tensor in one.tensors.values():
                if tensor.device is not None and tensor.device.type != DeviceType.META:
                    return tensor.device
                empty = tensor.device or empty
        return self.device or empty

    def gather(self, device: Device | None, spot: Spot) -> None:
        """What a trainer does: all moves to one device, wherever the program had put its parts."""
        numbers = {one.device.number for one in self.family() if one.weights and one.device}
        self.move(
            device, Step(EventKind.GATHERED if len(numbers) > 1 else EventKind.MOVED, spot, device)
        )

    def move(self, device: Device | None, step: Step) -> None:
        """What ``.to(device)`` does: all that is registered moves, and nothing else."""
        for one in self.family():
            one.device = device if one.weights else one.device
            one.steps = (*one.steps[-12:], step)
            if one.tensors:
                one.tensors = {name: held.like(device, step) for name, held in one.tensors.items()}
            if one.made is not None and any(map(one.made.find, ("_apply", "to", "cuda"))):
                for name, value in one.plain.items():  # a class that moves what it keeps by itself
                    if isinstance(value, Tensor):
                        one.plain[name] = value.like(device, step)


#: Where branches leave values that have nothing in common, nothing is registered.
Module.kinds = {"children": Module, "tensors": Tensor}


class State(Table):
    """What an optimizer remembers, of all weights or of one."""

    __slots__ = ()


class Optimizer(Value):
    """A ``torch.optim`` optimizer of the weights of a module; ``loaded`` is when its state was made,
    ``loading`` the call that loaded it, ``remembers`` that its first step makes one, ``state`` what the
    program itself puts there, of any weight."""

    __slots__ = ("loaded", "loading", "module", "remembers", "state", "weights")

    def __init__(self, module: Module | None, weights: Value | None = None) -> None:
        super().__init__()
        self.module = module
        self.weights = weights
        self.loaded: Step | None = None
        self.loading: Frame | None = None
        self.remembers = False
        self.state = State({}, State({}))


def leading(tensors: list[Tensor]) -> Tensor:
    """The operand that says where an operation runs: one with dimensions, known to be on an accelerator."""
    wide = [tensor for tensor in tensors if not tensor.scalar] or tensors
    brought = next((t for t in wide if _is_brought(t)), None)
    open_ = next((t for t in wide if is_open(t.device)), None)
    there = next((t for t in wide if is_known(t.device) and t.device.type != DeviceType.CPU), None)
    return there or brought or open_ or wide[0]


def _is_brought(tensor: Tensor) -> bool:
    """Whether a tensor was brought to the host: what is computed with it is there on purpose."""
    move = next((step for step in reversed(tensor.steps) if step.what == EventKind.MOVED), None)
    return move is not None and move.device is not None and move.device.type == DeviceType.CPU


def tensors_in(value: Value) -> Iterator[Tensor]:
    """The tensors that a value holds."""
    for one in within(value):
        if isinstance(one, Tensor):
            yield one
        elif isinstance(one, Batch):
            yield one.inner


def modules_in(value: Value) -> Iterator[Module]:
    """The modules that a plain container holds."""
    return (one for one in within(value) if isinstance(one, Module))


#: Values that are looked at within one, and how many of a container: a list may hold itself.
_LOOKED_AT = 100
_OF_EACH = 20


def within(value: Value) -> Iterator[Value]:
    """A value and what its containers hold, in their order."""
    waiting = [value]
    for _ in range(_LOOKED_AT):
        if not waiting:
            return
        one = waiting.pop()
        yield one
        if isinstance(one, Sequence | Table):
            waiting += reversed(list(islice(one.every(), _OF_EACH)))
