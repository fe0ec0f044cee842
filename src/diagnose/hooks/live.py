"""`explain`: from a live exception to a `Diagnosis`.

A copy of the exception is printed and read again as any pasted traceback is: chains, groups, replicas
and quoted tracebacks then mean the same in all doors. What only a live process has, the tensors in the
frames, is added to the report.

Of the tensors in the frames only ``device`` and ``shape`` are read; nothing is computed, printed,
copied or kept.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Any

from diagnose import tracing
from diagnose.bulkhead import guarded
from diagnose.hooks.introspection import (
    class_name,
    device_of,
    is_a,
    items,
    label,
    live_frames,
    loaded_torch,
    printable,
    shape_of,
)
from diagnose.hooks.modules import (
    Modules,
    dotted,
    joined,
    registered,
    states,
    unregistered,
    walk,
)
from diagnose.hooks.shell import name_cells
from diagnose.model import Diagnosis, Lang, SeenTensor
from diagnose.scene import Scene
from diagnose.scene.live import Seen

#: The innermost frames of a traceback that are read; recursion can make thousands.
_FRAMES = 1000


def explain(error: BaseException, *, lang: Lang = "en", top: int = 3) -> Diagnosis:
    """Say why an exception happened.

    Args:
        error: a live exception; its frames are looked at, nothing in them is computed or changed.
        lang: language of the answer.
        top: how many causes the answer holds at most.

    Returns:
        The diagnosis; its evidence counts the lines of the traceback as Python prints it. It holds
        no reference to the exception, its frames or its tensors.

    Raises:
        CasebaseError: the case base cannot be read.
    """
    from diagnose import pipeline
    from diagnose.casebase.store import load
    from diagnose.parsing import parse
    from diagnose.sources import Sources, read_cached

    casebase = load(lang=lang)
    guarded("cells", partial(name_cells, error), None)
    report = parse(printed(error), "traceback", knowledge=casebase.knowledge)
    return pipeline.explain(
        report._replace(live=True),
        casebase=casebase,
        top=top,
        sources=Sources(read=read_cached),
        look=partial(look, error),
    )


def printed(error: BaseException) -> str:
    """The exception as Python prints it, whatever `sys.tracebacklimit` says; no code of its class runs."""
    copy = printable(error)
    exception = traceback.TracebackException(
        type(copy), copy, _of_program(copy.__traceback__), limit=-_FRAMES, compact=True
    )
    return "".join(exception.format())


def _of_program(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames in which IPython runs a cell, or pytest a test; neither prints
    them."""
    step = trace
    while step is not None:
        name = dict.get(step.tb_frame.f_globals, "__name__")
        if type(name) is not str or not name.startswith(_RUNNERS):
            return step
        step = step.tb_next
    return trace


#: Modules that run what people wrote.
_RUNNERS = ("IPython.core.", "_pytest.", "pluggy.")
_TENSORS = 20_000
#: Of the processor: by the clock, a machine that does much else would see less.
_SECONDS = 0.3
#: How many of the innermost frames outside torch are asked for their variables.
_OWN_FRAMES = 5


def look(error: BaseException, scene: Scene) -> Seen:
    """The tensors of the failing frames, and what a recorder knows of those that met; empty where torch is
    not loaded or nothing can be seen."""
    torch = loaded_torch()
    if torch is None:
        return Seen()
    with torch._C.DisableTorchFunction():
        seen = guarded("tensors", partial(_tensors, torch, error, scene), ())
        if (recorder := tracing.witness(error)) is None:
            return Seen(seen)
        from diagnose.hooks import replay  # most programs run without a recorder

        known = guarded("births", partial(replay.known, recorder, error, scene), None)
        return Seen(seen) if known is None else Seen(seen, known.operands, known.suspects)


def _tensors(torch: Any, error: BaseException, scene: Scene) -> tuple[SeenTensor, ...]:
    try:
        return tuple(islice(_Observer(torch, error, scene).tensors(), _TENSORS))
    except Exception:
        return ()


class _Observer:
    """One look at one failure: the frames, the modules in them, and which tensors were named."""

    def __init__(self, torch: Any, error: BaseException, scene: Scene) -> None:
        self.tensor, self.optimizer = torch.Tensor, torch.optim.Optimizer
        self.frames = live_frames(error, scene.report)
        site = scene.site.frame if scene.site else None
        near = [f for f in self.frames[::-1] if f.frame is site or f.frame.own]
        #: The line that called the failing op and the user's own around it, innermost first.
        self.near = near[:_OWN_FRAMES]
        self.modules = Modules(self.frames, torch.nn.Module)
        self.deadline = time.thread_time() + _SECONDS
        self.names: dict[int, str] = {}

    def tensors(self) -> Iterator[SeenTensor]:
        """All of them: first what modules hold, then what only variables and optimizers hold."""
        for part in (self.registered, self.unregistered, self.optimizers, self.variables):
            for tensor in part():
                yield tensor
                if time.thread_time() > self.deadline:
                    return

    def seen(self, name: str, tensor: Any, **where: Any) -> Iterator[SeenTensor]:
        """The tensor under its first name; nothing for one that has a name already."""
        if id(tensor) in self.names:
            return
        self.names[id(tensor)] = name
        device = device_of(tensor)
        if device is not None:
            yield SeenTensor(name, device, shape=shape_of(tensor), **where)

    def registered(self) -> Iterator[SeenTensor]:
        """Parameters and buffers, named from the outermost module."""
        failing = self.modules.failing()
        roots = sorted(self.modules.roots.values(), key=lambda root: root is not failing)
        for root in roots:
            start = "" if root is failing else root.name
            for path, module in walk(root.module):
                place = self.modules.selves.get(id(module), root.frame)
                for name, kind, tensor in registered(module):
                    full = joined(dotted(start, path), name)
                    where = {"owner": class_name(module), "frame": place, "root": root.name}
                    yield from self.seen(full, tensor, kind=kind, **where)

    def unregistered(self) -> Iterator[SeenTensor]:
        """What ``.to()`` does not reach: tensors in attributes, modules in plain lists and dicts."""
        for live in self.frames[::-1]:
            owner = live.locals.get("self")
            running = self.modules.selves.get(id(owner)) == live.index
            if not (running or live in self.near):
                continue
            where = {"owner": class_name(owner), "frame": live.index}
            for attribute, at, item in unregistered(owner):
                name = f"self.{label(attribute)}{at}"
                if is_a(item, self.tensor):
                    yield from self.seen(name, item, kind="attribute", **where)
                    continue
                for path, module in walk(item) if id(item) not in self.modules.paths else ():
                    for inner, _, tensor in registered(module):
                        full = joined(dotted(name, path), inner)
                        yield from self.seen(full, tensor, kind="unregistered", **where)

    def variables(self) -> Iterator[SeenTensor]:
        """Local variables of the innermost frames outside torch, one level into containers."""
        for live in self.near:
            for name, value in live.locals.items():
                for full, item in ((name, value), *((name + key, v) for key, v in items(value))):
                    if is_a(item, self.tensor):
                        yield from self.seen(full, item, frame=live.index)

    def optimizers(self) -> Iterator[SeenTensor]:
        """State of optimizers that is not where its parameter is."""
        done = set[int]()
        for live in self.frames[::-1]:
            for name, value in live.locals.items():
                if is_a(value, self.optimizer) and id(value) not in done:
                    done.add(id(value))
                    yield from self.state(name, value, live.index)

    def state(self, name: str, optimizer: Any, frame: int) -> Iterator[SeenTensor]:
        """The state of one optimizer; counters without a dimension may be anywhere."""
        where = {"kind": "state", "owner": class_name(optimizer), "frame": frame}
        for parameter, subscript, tensor in states(optimizer):
            if (
                is_a(parameter, self.tensor)
                and shape_of(tensor)
                and device_of(tensor) != device_of(parameter)
            ):
                known = self.names.get(id(parameter), "…")
                yield from self.seen(f"{name}.state[{known}]{subscript}", tensor, **where)
