"""The words by which a row of kb/effects.toml says what a call does: functions of these modules that take a
call, or its owner and a call, and give None where the row does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import ModuleType

from diagnose.placement.libraries import (
    accelerators,
    checkpoints,
    copies,
    datasets,
    device_maps,
    diffusers,
    distributions,
    factories,
    functional,
    general,
    layers,
    models,
    module_methods,
    modules,
    object_methods,
    offload,
    offload_turns,
    options,
    python,
    standard,
    tensor_methods,
    torch_calls,
    trainers,
)
from diagnose.placement.libraries.call_site import CallSite
from diagnose.placement.libraries.models import may_fill
from diagnose.placement.tensors import Batch, Module, Optimizer, Tensor
from diagnose.placement.values import Object, Value

_MODULES = (
    accelerators,
    checkpoints,
    copies,
    datasets,
    device_maps,
    diffusers,
    distributions,
    factories,
    functional,
    general,
    layers,
    models,
    module_methods,
    modules,
    object_methods,
    offload,
    offload_turns,
    options,
    python,
    standard,
    tensor_methods,
    torch_calls,
    trainers,
)
_OWNERS = {one.__name__: one for one in (Batch, Module, Object, Optimizer, Tensor)}
_Word = Callable[..., "Value | None"]


def _words(module: ModuleType) -> Iterator[tuple[str, _Word]]:
    for name, one in vars(module).items():
        parameters = list(getattr(one, "__annotations__", ()))[:-1]
        own = getattr(one, "__module__", "") == module.__name__ and not name.startswith("_")
        if own and parameters in (["call"], ["owner", "call"]):
            yield name.replace("_", "-"), one


#: Word -> what it stands for.
WORDS: Mapping[str, _Word] = dict(word for module in _MODULES for word in _words(module))


def done(call: CallSite, name: str, within: str = "") -> Value | None:
    """What a call gives, by the most exact row of its name that holds; None where none does.

    Args:
        call: the call.
        name: what is called, with its packages or its class.
        within: what a pattern for it has to begin with.
    """
    for effect in call.machine.torch.effects.of(name, within):
        found = _done(call._replace(effect=effect))
        if found is not None:
            return found
    return None


def _done(call: CallSite) -> Value | None:
    if call.effect.fills:
        may_fill(call)
    word = WORDS[call.effect.does]
    kind = word.__annotations__.get("owner")
    if kind is None:
        return word(call)
    return word(call.owner, call) if isinstance(call.owner, _OWNERS[kind]) else None
