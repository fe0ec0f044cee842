"""What is looked at in a run: copies, optimizers, models, functions."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch.utils._python_dispatch import _disable_current_modes

from diagnose import tracing
from diagnose.casebase.store import load
from diagnose.hooks.modules import is_replica
from diagnose.kinds import Origin
from diagnose.repair.model import Silent, Terms
from diagnose.repair.observers.checkpoint_fills import Unfilled
from diagnose.repair.observers.module_devices import Models
from diagnose.repair.observers.second_calls import Again, of_a_call
from diagnose.repair.observers.transfers import Leaving, gpus_of_replica
from diagnose.simulation.tensors import is_blank
from diagnose.tracing.auditing import Audit, Finding
from diagnose.tracing.lives import Event
from diagnose.tracing.recorder import Recorder
from diagnose.tracing.stacks import is_of_library
from diagnose.verification import program as checks

#: So many optimizers are kept until the end; of a program with more nothing more is seen.
_OPTIMIZERS = 16
#: After so many steps of each optimizer it is looked who has gradients: models may be gone at the end.
_LOOKED_AT = 2
#: The programs that have run: the process ends without destructors, which in process groups may wait.
_KEPT: list[Any] = []


class Observer:
    """Watches a run; `seen` tells when it is over.

    Args:
        folder: where the program's files are.
        calls: counts the operators that run; those of optimizers are taken out, which step their
            parameters one by one or together, as these lie apart or not.
        terms: how it is run; where devices are not compared, it is looked whether layers compute with
            weights that nobody gave values.
    """

    def __init__(self, folder: Path, calls: Counter[str], terms: Terms) -> None:
        self._calls = calls
        self._before: dict[str, int] = {}
        self._folder = str(folder)
        self._process = os.getpid()
        self._elsewhere = folder.with_name(f".executed-{folder.name}")
        self._watched = terms.watched
        self._checked = terms.checked
        self._optimizers: dict[int, Any] = {}
        self._copies: set[str] = set()
        self._across: set[str] = set()
        self._replicated: set[str] = set()
        self._gpus_of_replicas: set[str] = set()
        self._calls_again = Again(repeats=not terms.once)
        self._unfilled = Unfilled()
        self._leaving = Leaving()
        self._models: Models | None = None
        self._executed: set[str] = set()
        self._counted: dict[str, int] | None = None
        self._steps_of: Counter[int] = Counter()
        self._graded: set[int] = set()
        self._recorder: Recorder | None = None
        self._seen: dict[str, Any] = {}
        self._blank = False
        self._depth = threading.local()
        self._within: Counter[str] = Counter()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """A context that the program runs in."""
        with (
            checks.watching(load()) as checked,
            tracing.trace() as recorder,
            Audit(recorder) as audit,
            self._unfilled.watching(),
        ):
            self._recorder = recorder
            told = recorder.copied

            def copied(tensor: Any, event: Event) -> None:
                if told is not None:
                    told(tensor, event)
                models.copied(tensor, event)
                if tensor.device.type == "cuda" and event.stack:
                    line = event.stack[0]
                    place = f"{line.code.co_filename}:{line.number}"
                    if event.device == "cpu" and tensor.numel() > 1:
                        self._copies.add(place)
                    elif str(event.device).startswith("cuda"):
                        self._leaving.carried(tensor, event, self._running())
                        if not self._shared(tensor, place):
                            self._across.add(place)
                            self._leaving.brought(tensor, event, recorder.tensors)
                if event.stack and self._watched and not is_of_library():
                    life = recorder.tensors.get(tensor)
                    self._calls_again.copied(tensor, event.stack[0], life, recorder.tensors)

            self._models = models = Models(recorder)
            recorder.copied, recorder.moved = copied, models.moved
            hooks = [
                register_module_forward_pre_hook(self._enters),
                register_module_forward_hook(models.called),
                register_module_forward_hook(self._leaves, always_call=True),
                register_optimizer_step_pre_hook(self._steps),
                register_optimizer_step_post_hook(self._stepped),
            ]
            if not self._checked:
                hooks.append(register_module_forward_pre_hook(self._begins))
            if self._watched:
                threading.settrace(self._called)
                sys.settrace(self._called)
            try:
                with self._calls_again.calling() if self._watched else nullcontext():
                    yield
            finally:
                self.over()
                for hook in hooks:
                    hook.remove()
            models.look()
        _KEPT.append(sys.modules["__main__"])
        silent = [_silent(one) for one in audit.findings()]
        silent += [Silent(one.check, (), said=one.sentence) for one in checked]
        self._seen = {
            "homes": models.homes,
            "idle": sorted(models.idle),
            "parked": sorted(models.parked),
            "streamed": sorted(models.streamed),
            "hollow": sorted(models.hollow),
            "saved": sorted(models.saved),
            "hidden": models.hidden,
            "used": sorted(models.used),
            "commuting": models.residence.commuting,
            "beside": sorted(models.residence.beside),
            "unfilled": self._unfilled.names(),
            "trained": list(self._trained()),
            "silent": silent,
        }

    def over(self) -> None:
        """The program has ended: what runs from now on is ours."""
        if self._counted is None:
            self._counted = dict(self._calls)
            self._look_for_gradients()
        if self._watched:
            sys.settrace(None)
            threading.settrace(None)

    def seen(self) -> dict[str, Any]:
        """What was seen, as JSON takes it."""
        rest = {"trained": [], "silent": []} | self._seen
        with suppress(OSError):
            self._executed.update(self._elsewhere.read_text().splitlines())
        return rest | {
            "calls": self._counted or {},
            "within": self._within,
            "blank": self._blank,
            "graded": len(self._graded),
            "to_host": sorted(self._copies),
            "across": sorted(self._across),
            "shared": sorted(self._replicated),
            "weights": sorted(self._leaving.weights),
            "leaving": sorted(self._leaving.layers),
            "after": sorted(self._leaving.after),
            "again": self._calls_again.failing,
            "repeated": sorted(self._calls_again.repeated),
            "handed": self._calls_again.handed,
            "strays": self._calls_again.callers.strays,
            "executed": sorted(self._executed),
        }

    def _enters(self, module: Any, *_: Any) -> None:
        depth = self._depth.__dict__.setdefault("open", [])
        if not depth and self._models is not None:
            self._models.enters(module)
        if is_replica(module) and not any(is_replica(one) for one, _ in depth[-1:]):
            home = {str(getattr(one, "src_device_obj", None)) for one, _ in depth[-1:]}
            self._gpus_of_replicas |= gpus_of_replica(module) - home
        depth.append((module, Counter(self._calls) if not depth else None))

    def _leaves(self, *_: Any) -> None:
        """Counts what the outermost module has computed, and where."""
        if depth := self._depth.__dict__.get("open"):
            _, before = depth.pop()
            if before is not None:
                self._within.update(self._calls - before)

    def _running(self) -> Any:
        """The innermost module that runs in this thread."""
        depth = self._depth.__dict__.get("open")
        return depth[-1][0] if depth else None

    def _shared(self, tensor: Any, place: str) -> bool:
        """Whether replicas of a model share a tensor that is no part of it: each needs its own copy. Or
        what they gave, each on its GPU, is brought together."""
        inside = self._depth.__dict__.get("open") or ()
        life = self._recorder.tensors.get(tensor) if self._recorder is not None else None
        if not any(is_replica(one) for one, _ in inside):
            if gathered := str(tensor.device) in self._gpus_of_replicas:
                self._replicated.add(place)
            return gathered
        held = {id(value) for one, _ in inside for value in vars(one).values()}
        if id(tensor) in held or (life and (life.maker == Origin.WEIGHT or of_a_call(life))):
            return False
        self._replicated.add(place)
        return True

    def _begins(self, module: Any, *_: Any) -> None:
        """Looks whether a layer computes with weights, or buffers, that nobody gave values."""
        if self._blank or torch.compiler.is_compiling():
            return
        with suppress(Exception), _disable_current_modes():  # a module of its own mind
            held = [(one, 1) for one in module._parameters.values() if one is not None]
            held += [(one, 0) for one in module._buffers.values() if one is not None]
            self._blank = any(one.dim() > least and is_blank(one) for one, least in held)

    def _steps(self, *_: Any) -> None:
        self._before = dict(self._calls)

    def _stepped(self, optimizer: Any, *_: Any) -> None:
        self._calls.clear()
        self._calls.update(self._before)
        if len(self._optimizers) < _OPTIMIZERS:
            self._optimizers[id(optimizer)] = optimizer
        self._steps_of[id(optimizer)] += 1
        if self._steps_of[id(optimizer)] <= _LOOKED_AT:
            self._look_for_gradients()

    def _look_for_gradients(self) -> None:
        """Notes the parameters that have one, registered or not."""
        module: Any
        for module in list(self._recorder.modules.things()) if self._recorder is not None else ():
            for one in module._parameters.values():
                if one is not None and one.is_leaf and one.grad is not None:
                    self._graded.add(id(one))

    def _called(self, frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(self._folder):
            place = f"{code.co_filename}:{code.co_firstlineno}"
            if place not in self._executed:
                self._executed.add(place)
                if os.getpid() != self._process:  # a loader's worker, which tells nobody
                    with self._elsewhere.open("a") as stream:
                        stream.write(f"{place}\n")

    def _trained(self) -> Iterator[tuple[str, str, float]]:
        """Of each parameter that an optimizer has stepped its shape, device and sum."""
        with torch.no_grad():
            for optimizer in self._optimizers.values():
                for group in optimizer.param_groups:
                    for one in group["params"]:
                        with suppress(Exception):  # meta, sparse, a subclass of its own mind
                            total = float(one.detach().to("cpu", torch.float64).sum())
                            yield (str(list(one.shape)), str(one.device), total)


def _silent(one: Finding) -> Silent:
    line = one.line
    file, number = (line.code.co_filename, line.number) if line else ("", 0)
    return Silent(one.kind, one.names[:3], file, number)
