"""What of a module is on meta, without memory: what saved weights cannot fill, and who else may."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from diagnose.kinds import EventKind, Origin
from diagnose.placement.devices import CPU, META
from diagnose.placement.model import Device, Source, Spot, Step
from diagnose.placement.provenance import is_offloaded, last_of
from diagnose.placement.semantics import called, calls, nodes
from diagnose.placement.tensors import Module, Tensor

#: Methods that go through the parts or the buffers of a module.
_GOING_THROUGH = frozenset({"modules", "named_modules", "buffers", "named_buffers"})
#: Those that hand what it holds to a function, which may fill it.
_HANDING = frozenset({"apply", "_apply"})
#: Functions and methods that take the memory of weights, and bring them for their layer's forward only.
_TAKING = frozenset(
    {"cpu_offload", "disk_offload", "dispatch_model", "enable_sequential_cpu_offload"}
)
#: Methods by which a class fills by itself what its saved weights lack.
_FILLING = ("_load_from_state_dict", "_apply")


def empty_tensors(module: Module) -> Iterator[tuple[Module, str, Tensor]]:
    """The tensors of a module and its parts that have no memory, each with its owner and its name there."""
    for one in module.family():
        for name, tensor in one.tensors.items():
            if tensor.device == META:
                yield one, name, tensor


def keep_unsaved(module: Module, empty: list[tuple[Module, str, Tensor]], spot: Spot) -> None:
    """Leaves on meta what was there when the weights of a module were put in the place of its own, and is
    in no ``state_dict``.

    Args:
        module: the module, whose tensors have all been taken for loaded.
        empty: its `empty_tensors` before that.
        spot: the line that loads.
    """
    for one, name, tensor in empty:
        fills = one.made is not None and any(map(one.made.find, _FILLING))
        if name in one.unsaved and not fills:
            unfilled = tensor.like(META, Step(EventKind.UNFILLED, spot, META))
            one.tensors = {**one.tensors, name: unfilled}


def filled_elsewhere(module: Module, step: Step) -> None:
    """What has no memory may have got it by ``step``: from then on nobody knows where it is."""
    for one, name, tensor in list(empty_tensors(module)):
        one.tensors = {**one.tensors, name: tensor.like(None, step)}


def may_fill(name: str, node: ast.AST, source: Source) -> bool:
    """Whether a call of a method of a module is what others may fill it by: a loop, a function."""
    through = name in _GOING_THROUGH and id(node) not in _counting(source.tree)
    return through or name in _HANDING


@lru_cache(maxsize=8)
def _counting(tree: ast.Module) -> frozenset[int]:
    """The calls within the comprehensions of a file that give something, and do nothing by the way."""
    alone = {id(one.value) for one in nodes(tree, ast.Expr)}
    return frozenset(
        id(call)
        for one in nodes(tree, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        if id(one) not in alone
        for call in calls(one)
    )


def is_taken(module: Module) -> bool:
    """Whether a library keeps the weights of a module on meta now, for none of its forwards runs."""
    waits = any(one.runs is not None for one in module.owners())
    last = last_of(module.steps, EventKind.OFFLOADED)
    if last is None or not waits or module.where() != CPU:
        return False
    by = last.spot.node
    if not isinstance(by, ast.Call):
        return True  # ``device_map=`` of a model that is loaded
    return called(by) in _TAKING and not any(map(_keeps_the_host, by.keywords))


def _keeps_the_host(said: ast.keyword) -> bool:
    """Whether an argument says that what is mapped to the host runs there, with the memory that it has."""
    given = said.value.value if isinstance(said.value, ast.Constant) else None
    return said.arg == "main_device" and given == "cpu"


def released(module: Module) -> None:
    """The weights of an offloaded module are brought back: from then on nobody knows where they are."""
    if not is_offloaded(module):
        return
    for one in module.family():
        one.device, one.runs = None, None
        one.tensors = {name: tensor.like(None) for name, tensor in one.tensors.items()}


def taken_weight(tensor: Tensor) -> Tensor | None:
    """A weight that is read of a module that has none now, as it is then; None for others."""
    module = tensor.module
    if (
        tensor.maker != Origin.WEIGHT
        or module is None
        or tensor.device != CPU
        or not is_taken(module)
    ):
        return None
    own = module.made is None or any(called(one.spot.node) == "Parameter" for one in tensor.steps)
    return tensor.like(META) if own else None


def has_no_memory(tensor: Tensor, device: Device | None, told: ast.AST | None) -> Tensor | None:
    """A tensor that is moved and has no memory that could be copied; None for others.

    Args:
        tensor: what is moved.
        device: where to; None where that is not known.
        told: the expression that says so.
    """
    if device is not None and device != META and tensor.device == META:
        return tensor
    known = device not in (None, META) or (
        isinstance(told, ast.Attribute) and told.attr == "device"
    )
    return taken_weight(tensor) if known else None
