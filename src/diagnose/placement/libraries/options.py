"""Options: what a program is run with, as far as its parser or the variables of its environment tell."""

from __future__ import annotations

import re

from diagnose.kinds import OptionState
from diagnose.placement.devices import asks_for_gpu, named_so, written
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.machine import Arguments, Given, Machine
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.tensors import Table
from diagnose.placement.values import Const, Number, Object, Unknown, Value

#: What people call an option that lists GPUs, or names them in one text.
_OF_GPUS = re.compile(r"(^|_)(gpu|cuda|device|dev)(_?id)?s$", re.IGNORECASE)


def parsed(owner: Object, call: CallSite) -> Value:
    """What a parser parses: its options are attributes."""
    found = Object("namespace")
    found.attributes = dict(owner.attributes)
    return Items([found, Unknown()]) if call.effect.gives == "several" else found


def adds_option(owner: Object, call: CallSite) -> Value:
    """A parser gets an option: a flag, a default, or nothing where it is left out."""
    machine, given = call.machine, call.given
    names = [str(one.value.value) for one in given.listed if isinstance(one.value, Const)]
    dashed = [one for one in names if one.startswith("-")]
    if not dashed:
        return Unknown()
    said = next((one for one in dashed if one.startswith("--")), dashed[0])
    name = given.text("dest") or said.lstrip("-").replace("-", "_")
    default, action = given.named.get("default"), given.text("action") or ""
    machine.has_options = True
    flag, by_default = (
        action in ("store_true", "store_false"),
        machine.options == OptionState.DEFAULT,
    )
    machine.has_flags |= flag
    if flag and machine.options != OptionState.OPEN:
        if by_default or asks_for_gpu(name) is None:
            on = (action == "store_true") == (machine.options == OptionState.TURNED_ON)
            told = default.value if default is not None and by_default else None
            owner.attributes[name] = told if isinstance(told, Const) else Const(on)
    elif default is not None and not machine.defaults:
        owner.attributes[name] = Unknown(name)
    elif default is not None:
        other = _elsewhere(machine, default.value, said, name, given.named.get("choices"))
        value = other or _default(machine, default.value, name)
        owner.attributes[name] = _converted(call, value)
    elif by_default and "required" not in given.named and "action" not in given.named:
        owner.attributes[name] = Const(None)
    return Unknown()


def environment(call: CallSite) -> Value:
    """What ``os.environ.get`` and ``os.getenv`` give: of a device what the program takes by default."""
    machine, given = call.machine, call.given
    name, told = given.text("key", 0) or "", given.get("default", 1)
    held = machine.replaced.get("os.environ")
    if isinstance(held, Table) and name in held.items:
        return held.items[name]
    if told is None or not machine.defaults:
        return Unknown(name)
    if (other := _elsewhere(machine, told.value, name, name)) is not None:
        return other
    device = written(given.text("default", 1) or "")
    return told.value if device is not None or _is_another(told.value, name) else Unknown(name)


def _converted(call: CallSite, value: Value) -> Value:
    """An option that names another GPU as its ``type=`` makes it of a text; others stay what they are."""
    by = call.given.named.get("type")
    text = isinstance(value, Const) and isinstance(value.value, str)
    if by is None or not call.machine.elsewhere or not text:
        return value
    return call.run(by.value, Arguments([Given(by.node, value)]))


def _default(machine: Machine, value: Value, name: str) -> Value:
    """The default of an option: a device is taken for what the program is run with, all else is open."""
    told = value.value if isinstance(value, Const) else None
    if isinstance(told, str) and written(told) is not None:
        machine.has_flags |= told == "cpu"
        turned = machine.options == OptionState.TURNED_ON and told == "cpu"
        return Const("cuda") if turned else value
    if _is_another(value, name):
        return value
    plain = isinstance(
        value, Const | Items
    )  # argparse leaves a list as it is, whatever its ``type``
    if machine.options == OptionState.DEFAULT and plain:
        return value
    return Number(name) if isinstance(told, int | float) else Unknown(name)


def _is_another(value: Value, name: str) -> bool:
    """Whether a default is the number of a GPU, and not the first one, which is what anybody names."""
    told = value.value if isinstance(value, Const) else None
    return type(told) is int and bool(told) and named_so(name)


def _elsewhere(
    machine: Machine, value: Value, said: str, name: str, choices: Given | None = None
) -> Value | None:
    """Another GPU than the first one, which an option names by default, where the program is followed so;
    None where it is not, and for other options."""
    other = _other_gpu(value, name)
    if other is None or (choices is not None and not _is_among(other, choices.value)):
        return None
    machine.first_gpu.setdefault(said)
    return other if machine.elsewhere else None


def _is_among(value: Value, choices: Value) -> bool:
    """Whether an option may have a value, by its ``choices=``."""
    told = value.value if isinstance(value, Const) else None
    listed = choices.items if isinstance(choices, Items) else ()
    return told in [one.value for one in listed if isinstance(one, Const)]


def _other_gpu(value: Value, name: str) -> Value | None:
    several = _OF_GPUS.search(name) is not None
    if isinstance(value, Items):
        first = [one.value for one in value.items if isinstance(one, Const)] == [0]
        listed = several and first and value.more is None
        return Items([Const(1), Const(2)], kind=value.kind) if listed else None
    match value.value if isinstance(value, Const) else None:
        case "cuda:0":
            return Const("cuda:1")
        case "0" if several:
            return Const("1,2")
        case "0" if named_so(name):
            return Const("1")
        case int(number) if number == 0 and number is not False and named_so(name):
            return Const(1)
    return None
