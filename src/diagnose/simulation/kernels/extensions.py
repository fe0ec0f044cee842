"""Compiled CUDA extensions that kb/extensions.toml knows: what they ask about their tensors, asked here.

An installed one would not do: its code sees the CPU's memory behind a simulated GPU, and refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from types import ModuleType
from typing import Any, NamedTuple

import torch

from diagnose.simulation.checks import DeviceChecks
from diagnose.simulation.kernels.arithmetic import COMPUTED
from diagnose.simulation.kernels.importable import Offers
from diagnose.simulation.tables import read_table


class Question(NamedTuple):
    """What an extension asks of some of its arguments, and the sentence with which it refuses them."""

    of: tuple[str, ...]
    says: str
    like_first: bool = False


class Function(NamedTuple):
    """A function of an extension: its module and name, its parameters, and what it asks, in that order."""

    module: str
    name: str
    parameters: tuple[str, ...]
    asks: tuple[Question, ...]


@lru_cache(maxsize=1)
def known_functions() -> tuple[Function, ...]:
    """The functions of kb/extensions.toml."""
    return tuple(map(_function, read_table("extensions.toml")["function"]))


def _function(entry: Mapping[str, Any]) -> Function:
    module, _, name = entry["name"].rpartition(".")
    asks = tuple(Question(**{**ask, "of": tuple(ask["of"])}) for ask in entry["asks"])
    return Function(module, name, tuple(entry["parameters"]), asks)


def offer(offers: Offers, checks: DeviceChecks) -> None:
    """Let programs import the extensions, whether they are installed or not."""
    modules: dict[str, dict[str, Callable[..., Any]]] = {}
    for function in known_functions():
        modules.setdefault(function.module, {})[function.name] = _asking(function, checks)
    for module, functions in modules.items():
        offers.instead(module, partial(_fill, functions))


def _fill(functions: Mapping[str, Callable[..., Any]], module: ModuleType) -> None:
    vars(module).update(functions)


def _asking(function: Function, checks: DeviceChecks) -> Callable[..., Any]:
    full_name = f"{function.module}.{function.name}"

    def call(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(function.parameters, args, strict=False)) | kwargs
        if checks.enforced or not torch.cuda.device_count():  # without a GPU no kernel runs
            for question in function.asks:
                _ask(question, given)
        if full_name not in COMPUTED:
            raise NotImplementedError(
                f"simulated GPUs know what {full_name} asks about its tensors, which are where it wants"
                " them, and not what it computes"
            )
        with torch.no_grad():
            return COMPUTED[full_name](*args, **kwargs)

    call.__name__ = call.__qualname__ = function.name
    return call


def _ask(question: Question, given: Mapping[str, Any]) -> None:
    for name in question.of:
        tensors = list(_tensors(given.get(name)))
        for tensor in tensors if question.like_first else tensors[:1]:
            fits = tensor.device == tensors[0].device if question.like_first else tensor.is_cuda
            if not fits:
                raise RuntimeError(question.says.replace("{argument}", name))


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for part in value:
            yield from _tensors(part)
