"""Where the models of a run are, looked at while they are called: many are gone when the program ends;
which are on a GPU while others compute, and which the program puts away and brings back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, takewhile
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from diagnose.hooks.modules import dotted, is_replica
from diagnose.kinds import EventKind
from diagnose.tracing.lives import Event, ModuleLife, Table
from diagnose.tracing.recorder import Recorder

#: So many calls of a model are looked at, and so many of its moves.
_CALLS, _MOVES = 2, 50


class Models:
    """What is seen of all models that no other one holds, by their class, a number and a name: after their
    first calls, when they have moved, and at the end.

    ``homes`` tells where each parameter and buffer was last; ``idle`` those on the cpu that never
    were on a GPU, ``parked`` those that were moved to the cpu last, ``streamed`` those on the cpu
    that a forward copied to a GPU to use them; ``hollow`` those with NaN in them, which simulated
    memory holds that nobody wrote to;
    ``saved`` the buffers that a state_dict has; ``hidden`` where the parameters are that layers in plain
    lists and dicts hold, which no optimizer and no state_dict reaches; ``used`` the GPUs that they were
    last on; ``residence`` who comes and goes.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._names: Table[str] = Table()
        self._calls: Counter[int] = Counter()
        self._moves: Counter[int] = Counter()
        self._count: Counter[str] = Counter()
        self._gpus: dict[tuple[int, str], tuple[object, str]] = {}
        self.homes: dict[str, str] = {}
        self.idle: set[str] = set()
        self.parked: set[str] = set()
        self.streamed: set[str] = set()
        self.hollow: set[str] = set()
        self.saved: set[str] = set()
        self.hidden: dict[str, str] = {}
        self.used: set[str] = set()
        self.residence = Residence()

    def called(self, module: Any, *_: Any) -> None:
        """A hook: after a module's forward."""
        if torch.compiler.is_compiling() or self._calls[id(module)] >= _CALLS:
            return
        self._calls[id(module)] += 1
        with suppress(Exception):  # a module of the program's may do anything when it is asked
            self._look(self._root(module))

    def enters(self, module: Any) -> None:
        """Is told of an outermost call, before it begins."""
        with suppress(Exception):
            if next(module.parameters(), None) is not None:
                self.residence.called(self._name(self._root(module)))

    def moved(self, module: Any, event: Event) -> None:
        """Is told of a module that has moved."""
        life = self._recorder.modules.get(module)
        path, root = ([], module) if life is None else self._path(life)
        self.residence.moved(".".join([self._name(root), *path]), event)
        self._moves[id(module)] += 1
        if self._moves[id(module)] <= _MOVES:
            self._look(self._root(module))

    def copied(self, tensor: Any, event: Event) -> None:
        """Is told of a tensor that is copied elsewhere."""
        if not isinstance(tensor, torch.nn.Parameter) or tensor.device.type != "cpu":
            return
        used = any(line.code.co_name == "forward" for line in event.stack)
        life = self._recorder.tensors.get(tensor)
        if life is None or life.module is None or not used:
            return
        if str(event.device).startswith("cuda"):
            path, root = self._path(life.module)
            self.streamed.add(dotted(self._name(root), *path, life.name))

    def look(self) -> None:
        """Looks at all models that are alive."""
        for module in list(self._recorder.modules.things()):
            with suppress(Exception):
                self._look(module)
        self.used = {device for _, device in self._gpus.values()}

    def _root(self, module: Any) -> Any:
        """The outermost module that a module belongs to."""
        life = self._recorder.modules.get(module)
        return module if life is None else self._path(life)[1]

    @staticmethod
    def _path(life: ModuleLife) -> tuple[list[str], Any]:
        """The names that lead from the outermost module to one, and the former."""
        above = [
            life,
            *takewhile(lambda one: one.module() is not None, islice(life.above(), 1, None)),
        ]
        return [one.name for one in above[-2::-1]], above[-1].module()

    def _look(self, root: Any) -> None:
        life = self._recorder.modules.get(root)
        if life is None or life.owner is not None or is_replica(root):
            return
        name = self._name(root)
        for part, module in root.named_modules():
            above = self._recorder.modules.get(module)
            for slot, one in [*module._parameters.items(), *module._buffers.items()]:
                if one is not None:
                    self._found(dotted(name, part, slot), one, above)
            kept = {slot for slot, one in module._buffers.items() if one is not None}
            for slot in kept - module._non_persistent_buffers_set:
                self.saved.add(dotted(name, part, slot))
        known = {id(one) for one in root.parameters()}
        for part, one in _listed(root):
            if id(one) not in known and one.requires_grad:
                self.hidden[f"{name}.{part}"] = str(one.device)

    def _found(self, name: str, one: Any, life: ModuleLife | None) -> None:
        self.homes[name] = str(one.device)
        if one.device.type == "cuda":
            slot = name.rpartition(".")[2]
            self._gpus[id(life or one), slot] = (life, str(one.device))
        moves = [e.device for e in life.events if e.what == EventKind.MOVED] if life else ["cuda"]
        moved = any(device != "cpu" for device in moves)
        for found, holds in (
            (self.hollow, _is_hollow(one)),
            (self.parked, moved and moves[-1] == "cpu"),
            (self.idle, not moved and one.device.type == "cpu"),
        ):
            (found.add if holds else found.discard)(name)

    def _name(self, root: Any) -> str:
        if (known := self._names.get(root)) is None:
            kind = type(root).__name__
            self._count[kind] += 1
            known = f"{kind}#{self._count[kind]}"
            self._names.set(root, known)
        return known


def _listed(root: Any) -> Iterator[tuple[str, Any]]:
    """The parameters of layers in plain lists, tuples and dicts, and plain tensors that train."""
    for part, module in root.named_modules():
        for attribute, held in vars(module).items():
            if isinstance(held, torch.Tensor) and held.is_leaf and held.requires_grad:
                yield dotted(part, attribute), held
            if attribute.startswith("_") or not isinstance(held, dict | list | tuple):
                continue
            for subscript, layer in _layers(held):
                for name, one in layer.named_parameters():
                    yield dotted(part, f"{attribute}{subscript}", name), one


def _layers(held: Any, depth: int = 2) -> Iterator[tuple[str, torch.nn.Module]]:
    """The layers in a plain list, tuple or dict, and in those that it holds, by their subscripts."""
    for key, one in held.items() if isinstance(held, dict) else enumerate(held):
        if isinstance(one, torch.nn.Module):
            yield f"[{key!r}]", one
        elif depth > 1 and isinstance(one, dict | list | tuple):
            yield from ((f"[{key!r}]{inner}", layer) for inner, layer in _layers(one, depth - 1))


def _is_hollow(one: Any) -> bool:
    """Whether a tensor holds NaN; this is counted as no call of the program's."""
    if one.is_meta or not one.is_floating_point():
        return False
    with suppress(Exception), _disable_current_modes(), torch._C.DisableTorchFunction():
        return bool(torch.isnan(one.detach()).any())
    return False


class Residence:
    """What is seen of models as they come and go.

    ``commuting`` are those, or parts of them, that the program puts away on the cpu and brings back
    itself; ``beside`` the pairs of a model that is called and another such one that is on a GPU then.
    """

    def __init__(self) -> None:
        self._where: dict[str, list[str]] = {}
        self.beside: set[str] = set()

    @property
    def commuting(self) -> list[str]:
        """The models that were put away, and brought back."""
        return sorted(name for name, moves in self._where.items() if _commutes(moves))

    def moved(self, name: str, event: Event) -> None:
        """Is told of a model, or a part of one, that has moved."""
        kind = str(event.device).partition(":")[0]
        self._where.setdefault(name, [])
        for other, moves in self._where.items():
            if f"{other}.".startswith(f"{name}.") and moves[-1:] != [kind]:
                moves.append(kind)

    def called(self, name: str) -> None:
        """Is told of an outermost call."""
        for other, moves in self._where.items():
            if other != name and moves[-1] == "cuda" and len(moves) > 1:
                self.beside.add(f"{name}|{other}")


def _commutes(moves: list[str]) -> bool:
    """Whether moves, without those that change nothing, lead away from a GPU and back to one."""
    away = moves.index("cpu") if "cpu" in moves else len(moves)
    return "cuda" in moves[away:]
