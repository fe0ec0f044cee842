"""The recorder: sees what makes, moves and registers tensors, and the call that failed.

Nothing that goes wrong here reaches the program: a tensor is then not known.
"""

from __future__ import annotations

import threading
import traceback
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules import module as nn_module
from torch.optim.optimizer import register_optimizer_step_post_hook

from diagnose.kinds import EventKind, Origin
from diagnose.simulation.tracebacks import hide, stripping
from diagnose.tracing import given, modes
from diagnose.tracing.arrivals import ARRAYS, Arrivals
from diagnose.tracing.failures import Failed, Operand
from diagnose.tracing.lives import MOVES, Event, Life, ModuleLife, Table
from diagnose.tracing.quiet import quiet
from diagnose.tracing.registered import Registered
from diagnose.tracing.stacks import Stack, stack, started_by
from diagnose.tracing.wrapping import wrap

#: What they make is made there, also where a tensor says how many.
_FACTORIES = frozenset(
    {
        "arange",
        "zeros",
        "ones",
        "full",
        "empty",
        "rand",
        "randn",
        "randint",
        "randperm",
        "linspace",
        "eye",
    }
)
_VIEWS = frozenset({"t", "transpose", "permute", "view", "reshape", "detach", "__get__", "flatten"})
#: What `torch.Tensor` is built on; its name is not the same in all versions.
_BASE: Any = torch.Tensor.__mro__[1]
_SET_DATA = vars(_BASE)["data"].__set__
_GET_GRAD = vars(_BASE)["grad"].__get__
#: The modules of `autograd.Function`s that copy between devices, on simulated GPUs too.
_COPYING = ("torch.nn.parallel", "diagnose.simulation")
#: So many optimizer steps are recorded in full before steps are left out.
_FIRST = 3


class Recorder:
    """What is remembered of one run; see `diagnose.tracing.trace`. Entered once, in the thread that runs
    the program; threads that are started meanwhile are recorded too."""

    def __init__(self, every: int = 1) -> None:
        self.tensors: Table[Life] = Table()
        self.modules: Table[ModuleLife] = Table()
        self.loaders: Table[Life] = Table()
        #: Who else is told of a tensor that is copied elsewhere.
        self.copied: Callable[[Any, Event], None] | None = None
        #: Who else is told of a module that was moved.
        self.moved: Callable[[Any, Event], None] | None = None
        #: The last call that raised.
        self.failed: Failed | None = None
        self._backward: tuple[Event, ...] = ()
        self._every = every
        self._steps = 0
        self._threads: Table[Stack] = Table()
        self._registered = Registered(self.tensors, self.modules, self._has_moved)
        self._arrivals = Arrivals(self.tensors, self._registered, self._made)
        self._mode = modes.Births(self)
        self._leave = ExitStack()

    def __enter__(self) -> Recorder:
        hide(str(Path(__file__).parent))
        with ExitStack() as undo:
            for owner, name, wrapper in self._wrappers():
                if name in vars(owner):  # an older torch lacks some, and cannot do that either
                    undo.callback(wrap(owner, name, wrapper))
            for register, hook in (
                (nn_module.register_module_module_registration_hook, self._registered.put_module),
                (
                    nn_module.register_module_parameter_registration_hook,
                    self._registered.put_tensor,
                ),
                (nn_module.register_module_buffer_registration_hook, self._registered.put_tensor),
            ):
                undo.callback(register(quiet(hook)).remove)
            if self._every > 1:
                undo.callback(register_optimizer_step_post_hook(self._stepped).remove)
            undo.callback(modes.take, self._mode)
            modes.put(self._mode)
            self._leave = undo.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self._leave.close()

    def _wrappers(self) -> list[tuple[Any, str, Callable[[Any], Any]]]:
        loaders: Any = torch.utils.data.dataloader
        return [
            (torch.nn.Module, "__init__", self._registered.building),
            (torch.nn.Module, "__setstate__", self._registered.restoring),
            (torch.nn.Module, "_apply", self._registered.applying),
            (torch.nn.Parameter, "__new__", self._registered.wrapping),
            (torch.utils, "swap_tensors", self._swapping),
            (loaders._BaseDataLoaderIter, "__next__", self._arrivals.yielding),
            (torch.utils.data.DataLoader, "__init__", self._building_loader),
            (torch, "load", self._arrivals.loading),
            *((torch, name, self._arrivals.taking) for name in ARRAYS),
            (torch.autograd.Function, "apply", self._arrivals.computing),
            (torch.autograd.function.BackwardCFunction, "apply", self._going_back),
            (threading.Thread, "start", self._starting),
            (threading.Thread, "_bootstrap_inner", self._running),
            (traceback.TracebackException, "__init__", stripping),
        ]

    # --- calls of torch ---

    def seen(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """Notes what a call gave."""
        if isinstance(result, torch.Tensor):
            if func == _GET_GRAD:
                self._grown(args[0], result)
            self._made(func.__name__, args, kwargs, result)
        elif isinstance(result, tuple | list):
            for one in result:
                if isinstance(one, torch.Tensor):
                    self._made(func.__name__, args, kwargs, one)
        elif result is None and func == _SET_DATA:
            self._assigned(*args)
        elif result is None and func.__name__ == "backward":
            self._backward = (Event(EventKind.COMPUTED, *stack(2)),)

    def _made(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """Notes a tensor that was not known before: made, moved, or computed from others."""
        if self.tensors.get(result) is not None:
            return
        life: Life | None = None
        weight: Life | None = None
        anything = False
        for one in given.tensors(args, kwargs) if name not in _FACTORIES else ():
            anything = True
            # What is computed from it shares whatever turns out to be known of it.
            known = self.tensors.get(one) or self._unknown(one)
            if known.maker == Origin.WEIGHT:
                weight = weight or known
            else:
                life = life or known
        if name in MOVES and args and result.device != args[0].device:
            lines, caller = stack(3)
            before = life or weight or Life(Origin.OTHER)
            event = Event(EventKind.MOVED, lines, caller, str(result.device))
            self.tensors.set(result, before.then(event))
            if not self._registered.is_moving():
                self.tensors.set(args[0], before.then(event._replace(what=EventKind.COPIED)))
                if self.copied is not None:
                    self.copied(args[0], event)
        elif weight is not None and (life is not None or name not in _VIEWS):
            # What a layer gives is where its weights are; a view of a weight is the weight.
            event = Event(EventKind.COMPUTED, *stack(3))
            self.tensors.set(result, Life(Origin.OUTPUT, (event,), weight.module, weight.name))
        elif anything:
            self.tensors.set(result, life or weight or Life(Origin.OTHER))
        else:
            self.tensors.set(result, Life(Origin.FACTORY, (Event(EventKind.MADE, *stack(3)),)))

    def _has_moved(self, module: Any, event: Event) -> None:
        if self.moved is not None:
            self.moved(module, event)

    def _known(self, operand: Any) -> Life | None:
        if isinstance(operand, torch.Tensor):
            return self.tensors.get(operand) or self._unknown(operand)
        return None

    def _unknown(self, tensor: Any) -> Life:
        """The life of what no call was seen to make: a view that C++ took of something known shares its."""
        base = self.tensors.get(tensor._base) if tensor._is_view() else None
        life = base or Life(Origin.OTHER, (Event(EventKind.SEEN, *stack(1)),))
        self.tensors.set(tensor, life)
        return life

    def _grown(self, parameter: Any, gradient: Any) -> None:
        """Notes a gradient: it was computed where the program went backward."""
        known = self.tensors.get(parameter)
        if known is not None and self.tensors.get(gradient) is None:
            self.tensors.set(
                gradient, Life(Origin.GRADIENT, self._backward, known.module, known.name)
            )

    def _assigned(self, tensor: Any, value: Any) -> None:
        """Notes ``tensor.data = value``, with which modules move what they hold."""
        life, other = self.tensors.get(tensor), self.tensors.get(value)
        moves = [event for event in other.events if event.what == EventKind.MOVED] if other else []
        if moves and (life is None or moves[-1] not in life.events):
            self.tensors.set(tensor, (life or Life(Origin.OTHER)).then(moves[-1]))

    def failing(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: BaseException
    ) -> None:
        """Notes the call that raised; of calls within each other the innermost."""
        if self.failed is not None and self.failed.is_of(error):
            return
        operands = tuple(
            Operand(name, weakref.ref(x), str(x.device), given.shape(x), self._known(x))
            for name, x in given.operands(args, kwargs)
        )
        running = tuple(map(weakref.ref, given.running(torch.nn.Module)))
        said = given.words(error)
        asked = given.asked(func.__name__, args, kwargs)
        self.failed = Failed(func.__name__, operands, stack()[0], running, id(error), said, asked)

    # --- swaps, threads, steps ---

    def _swapping(self, original: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        """Around `torch.utils.swap_tensors`, which refuses what somebody refers to weakly."""

        def forget(one: Any, other: Any) -> tuple[Life | None, Life | None]:
            if self.failed is not None and self.failed.was_given(one, other):
                self.failed = None
            return self.tensors.pop(one), self.tensors.pop(other)

        forget = quiet(forget)

        def swap_tensors(t1: Any, t2: Any) -> None:
            known = forget(t1, t2) or (None, None)
            try:
                original(t1, t2)
                known = known[::-1]
            finally:
                for tensor, life in zip((t1, t2), known, strict=True):
                    if life is not None:
                        self.tensors.set(tensor, life)

        return swap_tensors

    def _building_loader(self, original: Callable[..., None]) -> Callable[..., None]:
        """Around `DataLoader.__init__`: what a loader makes for itself, a generator, is born there."""
        note = quiet(
            lambda loader: self.loaders.set(
                loader, Life(Origin.LOADER, (Event(EventKind.MADE, *stack(3)),))
            )
        )

        def __init__(loader: Any, *args: Any, **kwargs: Any) -> None:
            note(loader)
            original(loader, *args, **kwargs)

        return __init__

    def _starting(self, original: Callable[..., None]) -> Callable[..., None]:
        note = quiet(lambda thread: self._threads.set(thread, stack(3)[0]))

        def start(thread: Any) -> None:
            note(thread)
            original(thread)

        return start

    def _running(self, original: Callable[..., None]) -> Callable[..., None]:
        def run(thread: Any) -> None:
            started_by(self._threads.get(thread) or ())
            with modes.Births(self):
                original(thread)

        return run

    def _going_back(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Around the backward of an `autograd.Function`: torch runs it within a call that a mode has been
        told of, and tells it of none in there."""

        def apply(node: Any, *gradients: Any) -> Any:
            with modes.Births(self):
                return original(node, *gradients)

        return apply

    def _stepped(self, *_: Any) -> None:
        """Takes the mode off for the steps that are left out: a mode that does nothing costs as well."""
        self._steps += 1
        if self._steps < _FIRST or (self._steps + 1) % self._every == 0:
            modes.put(self._mode)
        else:
            modes.take(self._mode)
