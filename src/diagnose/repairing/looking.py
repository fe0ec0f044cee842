"""Where the models of a run are, looked at while they are called: many are gone when the program ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from diagnose.tracing.lives import ModuleLife, Table
from diagnose.tracing.recorder import Recorder

#: So many calls of a model are looked at.
_CALLS = 2


class Models:
    """What is seen of all models that no other one holds, by their class, a number and a name.

    ``homes`` tells where each parameter and buffer was last; ``idle`` those on the cpu that never were on a
    GPU; ``hollow`` those with NaN in them, which simulated memory holds that nobody wrote to; ``hidden``
    where the parameters are that layers in plain lists and dicts hold, which no optimizer and no state_dict
    reaches; ``used`` the devices of the parameters of all modules that were called.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._names: Table[str] = Table()
        self._calls: Counter[int] = Counter()
        self._count: Counter[str] = Counter()
        self.homes: dict[str, str] = {}
        self.idle: set[str] = set()
        self.hollow: set[str] = set()
        self.hidden: dict[str, str] = {}
        self.used: set[str] = set()

    def called(self, module: Any, *_: Any) -> None:
        """A hook: after a module's forward."""
        if torch.compiler.is_compiling() or self._calls[id(module)] >= _CALLS:
            return
        self._calls[id(module)] += 1
        with suppress(Exception):  # a module of the program's may do anything when it is asked
            self.used.update(
                str(one.device) for one in module._parameters.values() if one is not None
            )
            self._look(module)

    def look(self) -> None:
        """Looks at all models that are alive."""
        for module in list(self._recorder.modules.things()):
            with suppress(Exception):
                self._look(module)

    def _look(self, root: Any) -> None:
        life = self._recorder.modules.get(root)
        if life is None or life.owner is not None:
            return
        name = self._name(root)
        for part, module in root.named_modules():
            above = self._recorder.modules.get(module)
            for slot, one in [*module._parameters.items(), *module._buffers.items()]:
                if one is not None:
                    self._found(".".join(filter(None, (name, part, slot))), one, above)
        known = {id(one) for one in root.parameters()}
        for part, one in _listed(root):
            if id(one) not in known and one.requires_grad:
                self.hidden[f"{name}.{part}"] = str(one.device)

    def _found(self, name: str, one: Any, life: ModuleLife | None) -> None:
        self.homes[name] = str(one.device)
        if _is_hollow(one):
            self.hollow.add(name)
        moved = any(e.what == "moved" and e.device != "cpu" for e in life.events) if life else True
        if one.device.type == "cpu" and not moved:
            self.idle.add(name)
        else:
            self.idle.discard(name)

    def _name(self, root: Any) -> str:
        if (known := self._names.get(root)) is None:
            kind = type(root).__name__
            self._count[kind] += 1
            known = f"{kind}#{self._count[kind]}"
            self._names.set(root, known)
        return known


def _listed(root: Any) -> Iterator[tuple[str, Any]]:
    """The parameters of layers in plain lists, tuples and dicts of a model."""
    for part, module in root.named_modules():
        for attribute, held in vars(module).items():
            if attribute.startswith("_") or not isinstance(held, dict | list | tuple):
                continue
            for key, layer in held.items() if isinstance(held, dict) else enumerate(held):
                if isinstance(layer, torch.nn.Module):
                    for name, one in layer.named_parameters():
                        yield ".".join(filter(None, (part, f"{attribute}[{key!r}]", name))), one


def _is_hollow(one: Any) -> bool:
    """Whether a tensor holds NaN; this is counted as no call of the program's."""
    if one.is_meta or not one.is_floating_point():
        return False
    with suppress(Exception), _disable_current_modes(), torch._C.DisableTorchFunction():
        return bool(torch.isnan(one.detach()).any())
    return False
