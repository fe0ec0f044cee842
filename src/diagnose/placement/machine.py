"""The state of the abstract interpreter: its budget, the calls on the way, what met where, and what is
refused there: by torch, and by the user's own code (a ``raise`` or an assertion about a device).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, OptionState, Origin
from diagnose.model import TorchNames
from diagnose.placement import Placing
from diagnose.placement.devices import (
    CPU,
    CURRENT,
    HOME,
    RANKED,
    is_gpu,
    is_known,
    is_rank,
    named_so,
    written,
)
from diagnose.placement.model import Device, Evidence, Source, Spot, Step
from diagnose.placement.semantics import nodes
from diagnose.placement.stack_trace import StackTrace
from diagnose.placement.tensors import Module, Table, Tensor, tensors_in
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import (
    Const,
    Frame,
    Function,
    Generator,
    Number,
    Place,
    Unknown,
    Value,
    begun,
)

#: Nodes that are visited at most on the way from one entry of a program, and of all of them.
BUDGET = 150_000
TOTAL = 200_000
#: Calls on the way at most.
DEPTH = 24
#: A function that calls itself is followed so far.
AGAIN = 3
_MEETINGS = 4_000


class Exhausted(Exception):
    """The analysis has visited more than it may."""


class Leaves(Exception):
    """A return, break, continue or raise: what follows in the block is not reached."""


class Ends(Leaves):
    """The same, and nothing goes on from there: a raise, the end of the program, or ways that were all
    noted before."""


class Given(NamedTuple):
    """An argument: its node and its value."""

    node: ast.expr
    value: Value


class Arguments(NamedTuple):
    """The arguments of a call. ``open`` marks one with ``*args`` or ``**kwargs`` that are not known."""

    listed: Sequence[Given] = ()
    named: Mapping[str, Given] = {}
    open: bool = False

    def get(self, name: str, position: int | None = None) -> Given | None:
        """The argument of a name, or at a position."""
        if name in self.named:
            return self.named[name]
        if position is not None and position < len(self.listed):
            return self.listed[position]
        return None

    def told(self, name: str, position: int | None = None) -> Given | None:
        """The argument of a name, or at a position; None where it is left out or is None."""
        given = self.get(name, position)
        if given is not None and isinstance(given.value, Const) and given.value.value is None:
            return None
        return given

    def rest(self) -> Arguments:
        """All arguments but the first."""
        return self._replace(listed=self.listed[1:])

    def every(self) -> list[Given]:
        """All arguments."""
        return [*self.listed, *self.named.values()]

    def changed(self, change: Callable[[Value], Value]) -> Arguments:
        """The same arguments, each with another value."""
        listed = [one._replace(value=change(one.value)) for one in self.listed]
        named = {key: one._replace(value=change(one.value)) for key, one in self.named.items()}
        return Arguments(listed, named, self.open)

    def text(self, name: str, position: int | None = None) -> str | None:
        """A literal string."""
        given = self.get(name, position)
        value = given.value.value if given is not None and isinstance(given.value, Const) else None
        return value if isinstance(value, str) else None


class Partial(Value):
    """A function that some of its arguments are given already, as ``functools.partial`` does."""

    __slots__ = ("function", "given")

    def __init__(self, function: Value, given: Arguments) -> None:
        super().__init__()
        self.function = function
        self.given = given

    def with_(self, given: Arguments) -> Arguments:
        """All of its arguments."""
        listed, named = [*self.given.listed, *given.listed], {**self.given.named, **given.named}
        return Arguments(listed, named, self.given.open or given.open)

    def attribute(self, name: str) -> Value:
        """What ``func``, ``args`` and ``keywords`` hold."""
        if name == "func":
            return self.function
        if name == "args":
            return Items([one.value for one in self.given.listed], kind="tuple")
        return Table({key: one.value for key, one in self.given.named.items()})


class Meets(NamedTuple):
    """An operand: its node, its value, the device of what it brings (of a module, that of its weights)."""

    node: ast.AST
    value: Value
    tensor: Tensor


def generating(given: Given | None) -> Meets | None:
    """The side of a ``torch.Generator`` that is given to what draws with it, None for other values."""
    if given is None or not isinstance(given.value, Generator):
        return None
    made = given.value
    return Meets(given.node, made, Tensor(made.device, Origin.GENERATOR, made.steps, made.frame))


class Meeting(NamedTuple):
    """Operands that have to be on one device. ``calls`` are the calls that lead here, outermost first,
    ``frame`` the variables around it; ``because`` what says that some are on an accelerator, where that is
    supposed."""

    what: ConstraintKind
    spot: Spot
    sides: tuple[Meets, ...]
    calls: tuple[Spot, ...]
    frame: Frame
    because: Evidence | None = None

    @property
    def is_judged(self) -> bool:
        """Whether it is known where all of them are."""
        return self.because is None and all(is_known(one.tensor.device) for one in self.sides)


class Machine:
    """One analysis: its budget, the calls on the way, and what it saw.

    ``torch`` is what torch and its libraries call their things. The functions that evaluate, execute and
    call are put in by `interpreter`: each knows the others only through the machine.
    """

    evaluate: Callable[[Machine, ast.expr | None, Frame], Value]
    execute: Callable[[Machine, Sequence[ast.stmt], Frame], None]
    invoke: Callable[[Machine, Value, Arguments, ast.AST, Frame], Value]
    attribute: Callable[[Machine, Value, str, ast.AST, Frame], Value]
    load: Callable[[Machine, str, int, Frame], Value | None]

    def __init__(self, torch: TorchNames) -> None:
        self.torch = torch
        self.left = BUDGET
        self.spent = 0
        self.calls: list[Spot] = []
        #: What the program changes of shared values.
        self.changes = begun()
        #: Notes a way that leaves the function, or the body of the loop, that runs.
        self.leave: Callable[[], None] = lambda: None
        self.meetings: list[Meeting] = []
        self.default: Device = CPU
        #: Where weights alone are made, while that is told (`init_empty_weights`).
        self.emptied: Device | None = None
        #: What ``cuda`` without a number means.
        self.current = Device(DeviceType.CUDA, 0, home=True)
        #: Where the default device is said, while it is meta.
        self.default_of: Spot | None = None
        self.entered, self.depths, self.nested = set[int](), dict[int, int](), 0
        #: How often the loops on the way run in all, of those that are run item by item.
        self.turns = 1
        #: How often a loop runs of which the items are not known.
        self.rounds = 1
        #: The accelerators of the machine.
        self.gpus = 2
        #: The loops on the way of which the items are not known: what they count is not, either.
        self.uncounted = 0
        #: The modules that the program makes, its objects by their class's node, what it saves where.
        self.modules: list[Module] = []
        self.objects: dict[int, Value] = {}
        self.saved: list[tuple[Value, Value]] = []
        #: What the program has put in the place of a library's names.
        self.replaced: dict[str, Value] = {}
        #: Functions within others that a library's object is given to call, and the variables there.
        self.hung: list[tuple[Value, Frame]] = []
        #: The functions that the program calls.
        self.called = frozenset[int]()
        #: Finds another file of the package that goes by a device; None where what the code around says is
        #: not asked for.
        self.placing: Placing | None = None
        #: What a traceback shows of the run.
        self.trace = StackTrace()
        #: Functions within functions that it names, each with the variables around it.
        self.inner: list[tuple[Function, Frame]] = []
        #: The function that a call went on to, as it shows.
        self.follow: Callable[[ast.AST, Frame], Value | None] = lambda node, frame: None
        #: The file that was run as the program; None where that is none of those at hand.
        self.main: Source | None = None
        #: Whether options are taken to have their defaults.
        self.defaults = True
        #: How the others are taken, and whether there are any.
        self.options = OptionState.OPEN
        self.has_options = self.has_flags = False
        #: The call of a context of the user's on the way, and the body of its ``with``.
        self.within: tuple[ast.AST, Callable[[Value], None]] | None = None

    def for_weights(self) -> Device:
        """Where layers and parameters are made that are told nothing."""
        return self.emptied or self.default

    def home(self) -> Device:
        """The accelerator that ``cuda`` means."""
        return self.current

    def spend(self, count: int = 1) -> None:
        """Counts nodes, or work like theirs. Raises `Exhausted` where the budget is spent."""
        if self.left < count or self.spent + count > TOTAL:
            raise Exhausted
        self.left -= count
        self.spent += count

    def spot(self, node: ast.AST, frame: Frame) -> Spot:
        """A node as a place in its file."""
        return Spot(frame.source, node, frame.function)

    def step(
        self,
        what: EventKind,
        node: ast.AST,
        frame: Frame,
        device: Device | None = None,
        of: Spot | None = None,
    ) -> tuple[Step]:
        """A first step."""
        return (Step(what, self.spot(node, frame), device, of),)

    def meet(
        self, what: ConstraintKind, node: ast.AST, frame: Frame, sides: Sequence[Meets]
    ) -> None:
        """Notes that values met; where there is none, nothing did."""
        fewest = (
            2 if what in (ConstraintKind.JOIN, ConstraintKind.CALL, ConstraintKind.INDEX) else 1
        )
        if len(self.meetings) >= _MEETINGS or len(sides) < fewest:
            return
        if what == ConstraintKind.GENERATOR and isinstance(sides[0].value, Generator):
            here = {side.tensor.device for side in sides}
            sides[0].value.agreed |= len(here) == 1 and None not in here and len(sides) > 1
        spot, way = self.spot(node, frame), tuple(self.calls)
        self.meetings.append(Meeting(what, spot, tuple(sides), way, frame))

    def asked(self, value: Value | None) -> Device | None:
        """The device that a value names where one is asked for: a string, a number, a `torch.device`."""
        if isinstance(value, Place):
            return value.device
        if isinstance(value, Const):
            if isinstance(value.value, str):
                found = written(value.value)
                if is_gpu(found) and found.number is None:
                    return self.home()
                return found
            if isinstance(value.value, int) and not isinstance(value.value, bool):
                return Device(DeviceType.CUDA, value.value)
        if isinstance(value, Tensor):
            return value.device
        if isinstance(value, Number) and value.word == CURRENT:
            return self.home()
        if isinstance(value, Number | Unknown) and is_rank(value.word):
            return RANKED
        if isinstance(value, Number) or (isinstance(value, Unknown) and named_so(value.word)):
            return HOME
        return None


def operands(given: Arguments) -> list[Meets]:
    """The tensors that a call is given, each with the expression that stands for it."""
    return [
        Meets(node, value, tensor)
        for one in given.every()
        for node, value in elements(one)
        for tensor in tensors_in(value)
    ]


def elements(one: Given) -> list[tuple[ast.expr, Value]]:
    """The elements of a list that is written out, with their expressions."""
    match one:
        case Given(node=ast.List(elts=nodes) | ast.Tuple(elts=nodes), value=Items(items=items)):
            return list(zip(nodes, items, strict=True)) if len(nodes) == len(items) else [one]
    return [one]


def origin(value: Value | None) -> Spot | None:
    """The literal that a device was written as, where that is known."""
    if not isinstance(value, Const | Place) or not value.steps:
        return None
    made, of = value.steps[0].spot, value.steps[0].of
    return of if of is not None and of.line != made.line else made


#: The attributes that tell where a tensor is.
ASKED = frozenset({"is_cuda", "is_cpu", "device"})


def kind_of(machine: Machine, name: str) -> ConstraintKind:
    """What a meeting in a function of torch or a method of a tensor is: nobody says of all that they refuse
    tensors of several devices."""
    torch, plain = machine.torch, name.rstrip("_")
    if name in torch.indexing:
        return ConstraintKind.INDEX
    known = (
        torch.takes,
        torch.elementwise,
        torch.joins,
        torch.losses,
        torch.computing,
        torch.refusing,
    )
    return (
        ConstraintKind.JOIN
        if any(one in names for names in known for one in (name, plain))
        else ConstraintKind.LIBRARY
    )


def is_open(machine: Machine, name: str, given: Arguments) -> bool:
    """Whether a function of torch of which little is known is given first what may be anywhere, as its
    result then is."""
    first = given.listed[0].value if given.listed else None
    return isinstance(first, Unknown) and kind_of(machine, name) == ConstraintKind.LIBRARY


def assumed(tensor: Tensor) -> Tensor:
    """The same tensor, of which something is taken for likely that nobody has listed."""
    found = tensor.like(tensor.device)
    found.guessed = True
    return found


def refusal(
    machine: Machine, node: ast.If | ast.Assert, frame: Frame, *, holds: bool | None
) -> None:
    """Notes the tensors of whose devices a statement asks that may raise: they meet there, one meets the
    GPU that it has to be on. ``holds`` is whether what it asks is so; None where that is not known."""
    if isinstance(node, ast.If) and not any(
        isinstance(one, ast.Raise) for one in (*node.body, *node.orelse)
    ):
        return
    asked = [one.value for one in nodes(node.test, ast.Attribute) if one.attr in ASKED]
    values = [(one, machine.evaluate(machine, one, frame)) for one in asked]
    sides = [Meets(one, value, value) for one, value in values if isinstance(value, Tensor)]
    if sides:
        machine.meet(
            ConstraintKind.JOIN if len(sides) > 1 else ConstraintKind.ASKED, node, frame, sides
        )
    on_host = [one for one in sides if one.tensor.device == CPU]
    if on_host and _raises(node, holds):
        machine.meet(ConstraintKind.REFUSED, node, frame, on_host)


def _raises(node: ast.If | ast.Assert, holds: bool | None) -> bool:
    """Whether a statement is known to raise."""
    if isinstance(node, ast.Assert):
        return holds is False
    block = node.body if holds else node.orelse
    return holds is not None and any(isinstance(one, ast.Raise) for one in block)
