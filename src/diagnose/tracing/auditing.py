"""Misplacement that raises nothing, told at the end of a good run."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from torch.optim.optimizer import register_optimizer_step_post_hook

from diagnose.kinds import EventKind
from diagnose.tracing.lives import Event, ModuleLife
from diagnose.tracing.recorder import Recorder
from diagnose.tracing.stacks import Line, is_of_library

#: After so many optimizer steps the models are looked at: they may be gone when the program ends.
_LOOKED_AT = 2
#: So often a tensor is copied in one line before that is told.
_OFTEN = 3
_DEEPEST = 40


class Finding(NamedTuple):
    """Something misplaced.

    ``kind`` is ``not-optimized`` (parameters with gradients that no optimizer steps), ``elsewhere``
    (modules that are not where the rest of their model is), ``meta`` (still without data) or ``copied``
    (one tensor copied again and again in a line). ``names`` are of parameters; ``device`` is where they
    are, or where the copies go; ``times`` counts parameters or copies.
    """

    kind: Literal["not-optimized", "elsewhere", "meta", "copied"]
    names: tuple[str, ...]
    device: str
    line: Line | None
    times: int


class Audit:
    """Watches a recorded run; ``findings`` tells when it is over. A context, entered within the
    recorder's."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._steps: Counter[int] = Counter()
        self._optimized: set[int] = set()
        self._copies: dict[Line, tuple[weakref.ref[Any], str]] = {}
        self._again: Counter[Line] = Counter()
        self._found: dict[tuple[str, str], Finding] = {}

    def __enter__(self) -> Audit:
        self._hook = register_optimizer_step_post_hook(self._stepped)
        self._recorder.copied = self._copied
        return self

    def __exit__(self, *exception: object) -> None:
        self._hook.remove()
        self._recorder.copied = None
        self._look()

    def findings(self) -> tuple[Finding, ...]:
        """What was found, models first."""
        copies = [
            Finding("copied", (), self._copies[line][1], line, count + 1)
            for line, count in self._again.items()
            if count + 1 >= _OFTEN
        ]
        return (*self._found.values(), *copies)

    def _copied(self, tensor: Any, event: Event) -> None:
        """Counts copies of one and the same tensor in one line; what a library's offload brings for a call
        that stands there is its own business."""
        if not event.stack or is_of_library():
            return
        line, known = event.stack[0], self._copies.get(event.stack[0])
        if known is not None and known[0]() is tensor:
            self._again[line] += 1
        else:
            self._copies[line] = (weakref.ref(tensor), event.device or "")

    def _stepped(self, optimizer: Any, *_: Any) -> None:
        for group in optimizer.param_groups:
            self._optimized.update(map(id, group["params"]))
        self._steps[id(optimizer)] += 1
        if self._steps[id(optimizer)] == _LOOKED_AT:
            self._look()

    def _look(self) -> None:
        for root in list(self._recorder.modules.things()):
            life = self._recorder.modules.get(root)
            if life is not None and life.owner is None:
                for finding in self._of(root, life):
                    self._found.setdefault((finding.kind, finding.names[0]), finding)

    def _of(self, root: Any, life: ModuleLife) -> Iterator[Finding]:
        held = list(root.named_parameters())
        where = Counter(str(one.device) for _, one in held)
        made = next((event.stack for event in life.events if event.what == EventKind.MADE), ())
        line = next((one for one in made if one.code.co_name != "__init__"), None)
        absent = tuple(name for name, one in held if one.is_meta)
        if absent:
            yield Finding("meta", absent, "meta", line, len(absent))
        usual = max(
            where, key=lambda device: (device.startswith("cuda"), where[device]), default=""
        )
        odd = tuple(n for n, one in held if str(one.device) == "cpu" and usual.startswith("cuda"))
        if odd:
            yield Finding("elsewhere", odd, "cpu", line, len(odd))
        trained = [n for n, one in held if id(one) in self._optimized]
        missed = tuple(
            n for n, one in held if one.grad is not None and id(one) not in self._optimized
        )
        if trained and missed:
            yield Finding("not-optimized", missed, usual, line, len(missed))
