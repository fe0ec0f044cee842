"""What a program keeps on the host by a setting that stands elsewhere than the line that goes around it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.codemods.positions import text_of
from diagnose.fixes.codemods.replacements import called_instead
from diagnose.fixes.codemods.settings import is_switch, turned_off
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.kinds import EventKind
from diagnose.placement.control_dependence import switched_by
from diagnose.placement.model import Source, Spot, Suspect
from diagnose.placement.semantics import assigned, called, calls

_CAUSES = frozenset({"offloaded-to-cpu", "low-memory-mode"})
_HOOKS = frozenset({"cpu_offload_with_hook", "cpu_offload"})


def switched_off(suspect: Suspect) -> Change:
    """The switch by which a program offloads what is met on the host is turned off; of a call that offloads
    a whole of which only a part is called, the part is offloaded."""
    if suspect.cause not in _CAUSES or (spot := _step(suspect, EventKind.OFFLOADED)) is None:
        raise Refused("nothing there turns offloading on")
    if spot.source is not suspect.spot.source:
        raise Refused("another file turns offloading on")
    _check_call(suspect)
    switch = _switch(spot)
    if switch is not None and isinstance(switch.node, ast.expr) and is_switch(switch.node):
        return turned_off(switch.source, switch.node)
    call = spot.node
    if isinstance(call, ast.Call) and called(call) in _HOOKS and call.args:
        whole, part = ast.unparse(call.args[0]), suspect.name
        inside = part.startswith(f"{whole}.") and part.count(".") == whole.count(".") + 1
        if inside and isinstance(suspect.spot.node, ast.Attribute):
            return replaced(spot.source, call.args[0], part)
    raise Refused("nothing there turns offloading on")


def _check_call(suspect: Suspect) -> None:
    """Raises `Refused` where the layer can be called, for which its weights are brought."""
    try:
        called_instead(suspect)
    except Refused:
        return
    raise Refused("the layer can be called in place of its weight being read")


def _switch(spot: Spot) -> Spot | None:
    """The switch of a statement that offloads, else that of the only call of the function it is in."""
    if (switch := switched_by(spot)) is not None or spot.function is None:
        return switch
    name = spot.function.rpartition(".")[2]
    found = calls(spot.source.tree, name)
    return switched_by(spot._replace(node=found[0])) if len(found) == 1 else None


def mapped_to_gpu(suspect: Suspect) -> Change:
    """The entry of a written map of devices that puts on the host what is met there goes to a GPU."""
    spot = _step(suspect, EventKind.MOVED)
    if suspect.cause not in _CAUSES or spot is None or called(spot.node) != "dispatch_model":
        raise Refused("no call makes a map of devices")
    source, call = spot.source, spot.node
    assert isinstance(call, ast.Call)
    given = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "device_map")]
    if len(given) != 1 or source is not suspect.spot.source:
        raise Refused("the call names no map of devices")
    _check_call(suspect)
    entries = [one for one in _entries(source, given[0]) if one[1].value in ("cpu", "disk")]
    if len(entries) > 1:
        part = suspect.name.removesuffix(".weight").rpartition(".")[2]
        entries = [one for one in entries if one[0].rpartition(".")[2] == part]
    if len(entries) != 1:
        raise Refused("it is not known which entry of the map puts it there")
    gpus = [value for _, value in _entries(source, given[0]) if value.value not in ("cpu", "disk")]
    return replaced(source, entries[0][1], text_of(source, gpus[0]) if gpus else "0")


def _entries(source: Source, given: ast.expr) -> Iterator[tuple[str, ast.Constant]]:
    """The written entries of the map that an expression is: its keys, and the devices."""
    maps = [given]
    if isinstance(given, ast.Name):
        maps = [one.value for one in assigned(source.tree, given.id)]
    for one in maps:
        if not isinstance(one, ast.Dict):
            raise Refused("the map of devices is not written in the file")
        for key, value in zip(one.keys, one.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                yield str(key.value), value


def _step(suspect: Suspect, what: EventKind) -> Spot | None:
    """The place of the last step of a kind in the life of what is misplaced."""
    return next((one.spot for one in reversed(suspect.steps) if one.what == what), None)
