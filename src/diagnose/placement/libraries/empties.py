"""What of a module is on meta, without memory: what saved weights cannot fill, and who else may."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from diagnose.placement.devices import META
from diagnose.placement.model import Source, Spot, Step
from diagnose.placement.tensors import Module, Tensor

#: Methods that go through the parts or the buffers of a module.
_GOING_THROUGH = frozenset({"modules", "named_modules", "buffers", "named_buffers"})
#: Those that hand what it holds to a function, which may fill it.
_HANDING = frozenset({"apply", "_apply"})
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
            one.tensors[name] = tensor.like(META, Step("unfilled", spot, META))


def filled_elsewhere(module: Module, step: Step) -> None:
    """What has no memory may have got it by ``step``: from then on nobody knows where it is."""
    for one, name, tensor in list(empty_tensors(module)):
        one.tensors[name] = tensor.like(None, step)


def may_fill(name: str, node: ast.AST, source: Source) -> bool:
    """Whether a call of a method of a module is what others may fill it by: a loop, a function."""
    through = name in _GOING_THROUGH and id(node) not in _counting(source.tree)
    return through or name in _HANDING


@lru_cache(maxsize=8)
def _counting(tree: ast.Module) -> frozenset[int]:
    """The calls within the comprehensions of a file that give something, and do nothing by the way."""
    kinds = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    alone = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    return frozenset(
        id(call)
        for one in ast.walk(tree)
        if isinstance(one, kinds) and id(one) not in alone
        for call in ast.walk(one)
        if isinstance(call, ast.Call)
    )
