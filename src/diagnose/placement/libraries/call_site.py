"""A call of a library's function or method, as what says what it does sees it."""

from __future__ import annotations

import ast
from typing import NamedTuple

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.model.effects import Effect
from diagnose.placement.machine import Arguments, Given, Machine, Meets
from diagnose.placement.model import Device, Spot, Step
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Const, Frame, Value


class CallSite(NamedTuple):
    """A call: the ``name`` of what is called (of a method its own alone, with its ``owner``), what it is
    given, and where. ``effect`` is what a row of kb/effects.toml says of it."""

    machine: Machine
    name: str
    given: Arguments
    node: ast.AST
    frame: Frame
    owner: Value | None = None
    effect: Effect = Effect("unknown")

    @property
    def last(self) -> str:
        """The name without the packages before it."""
        return self.name.rpartition(".")[2]

    @property
    def root(self) -> str:
        """The package that the name begins with."""
        return self.name.partition(".")[0]

    @property
    def first(self) -> Value | None:
        """The first argument without a name."""
        return self.given.listed[0].value if self.given.listed else None

    @property
    def spot(self) -> Spot:
        """Where it stands."""
        return self.machine.spot(self.node, self.frame)

    def argument(self, name: str) -> Given | None:
        """The argument of a parameter of the row; None where it is left out, or is None."""
        takes = self.effect.takes
        return self.given.told(name, takes.index(name) if name in takes else None)

    def told(self, name: str, position: int | None = None) -> bool | None:
        """Whether an argument is true; None where it is left out, or not known."""
        given = self.given.get(name, position)
        value = given.value.value if given is not None and isinstance(given.value, Const) else None
        return None if value is None else bool(value)

    def device(self, name: str, position: int | None = None) -> Device | None:
        """The device that an argument names; None where it is left out, or not known."""
        given = self.given.get(name, position)
        return self.machine.asked(given.value) if given is not None else None

    def step(
        self, what: EventKind, device: Device | None = None, of: Spot | None = None
    ) -> tuple[Step]:
        """What happens here to a value, as its first step."""
        return (Step(what, self.spot, device, of),)

    def moves(self, device: Device | None, of: Spot | None = None) -> Step:
        """The step of a move to a device."""
        return Step(EventKind.MOVED, self.spot, device, of)

    def tensor(
        self, device: Device | None, maker: Origin, *, module: Module | None = None, name: str = ""
    ) -> Tensor:
        """A tensor that is made here."""
        made = self.step(EventKind.MADE, device)
        return Tensor(device, maker, made, self.frame, module=module, name=name)

    def meet(self, what: ConstraintKind, sides: list[Meets]) -> None:
        """Notes that values meet here."""
        self.machine.meet(what, self.node, self.frame, sides)

    def run(self, function: Value, given: Arguments) -> Value:
        """What a value gives that is called here."""
        return self.machine.invoke(self.machine, function, given, self.node, self.frame)

    def attribute(self, owner: Value, name: str) -> Value:
        """What an attribute holds that is read here."""
        return self.machine.attribute(self.machine, owner, name, self.node, self.frame)


def weight_of(module: Module) -> Tensor:
    """A weight of a module, where that is."""
    return Tensor(module.where(), Origin.WEIGHT, module.steps, module.frame, module=module)
