"""Options of a command line: what a program is run with, as far as its parser tells."""

from __future__ import annotations

import ast

from diagnose.placement.devices import asks_for_gpu, named_so, written
from diagnose.placement.machine import Arguments, Machine
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Const, Frame, Number, Object, Unknown, Value

#: How options are taken: open, but for a device that is named; as their defaults are; with each flag
#: set, and on the GPU where the default is the cpu.
OPEN, DEFAULTS, TURNED_ON = "open", "defaults", "on"


def parsed(
    machine: Machine, owner: Object, name: str, given: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """An `argparse` parser: what it parses are attributes."""
    if name == "add_argument":
        _add(machine, owner, given)
    if name in ("parse_args", "parse_known_args"):
        found = Object("namespace")
        found.attributes = dict(owner.attributes)
        return found if name == "parse_args" else Items([found, Unknown()])
    return owner if name in ("add_argument_group", "add_mutually_exclusive_group") else Unknown()


def _add(machine: Machine, owner: Object, given: Arguments) -> None:
    names = [one.value.value for one in given.listed if isinstance(one.value, Const)]
    said = next((str(one) for one in names if str(one).startswith("--")), None)
    if said is None:
        return
    name = given.text("dest") or said.removeprefix("--").replace("-", "_")
    default, action = given.named.get("default"), given.text("action") or ""
    machine.has_options = True
    if action in ("store_true", "store_false") and machine.options != OPEN:
        if machine.options == DEFAULTS or asks_for_gpu(name) is None:
            on = (action == "store_true") == (machine.options == TURNED_ON)
            told = default.value if default is not None and machine.options == DEFAULTS else None
            owner.attributes[name] = told if isinstance(told, Const) else Const(on)
        return
    if default is not None and not machine.defaults:
        owner.attributes[name] = Unknown(name)
    elif default is not None:
        owner.attributes[name] = _default(machine, default.value, name)
    elif (
        machine.options == DEFAULTS
        and "required" not in given.named
        and "action" not in given.named
    ):
        owner.attributes[name] = Const(None)


def _default(machine: Machine, value: Value, name: str) -> Value:
    """The default of an option: a device is taken for what the program is run with, all else is open."""
    told = value.value if isinstance(value, Const) else None
    if isinstance(told, str) and written(told) is not None:
        other = machine.options == TURNED_ON and told == "cpu"
        return Const("cuda") if other else value
    if type(told) is int and told and named_so(name):  # the first is what anybody names
        return value
    plain = isinstance(
        value, Const | Items
    )  # argparse leaves a list as it is, whatever its ``type``
    if machine.options == DEFAULTS and plain:
        return value
    return Number(name) if isinstance(told, int | float) else Unknown(name)
