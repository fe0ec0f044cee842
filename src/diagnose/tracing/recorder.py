"""The recorder: sees what makes, moves and registers tensors, and the call that failed.

Nothing that goes wrong here reaches the program: a tensor is then not known.
"""

from __future__ import annotations

import threading
import traceback
import weakref
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import wraps
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules import module as nn_module
from torch.optim.optimizer import register_optimizer_step_post_hook

from diagnose.simulation.tracebacks import hide, stripping
from diagnose.tracing import given, modes
from diagnose.tracing.failures import Failed, Operand
from diagnose.tracing.lives import Event, Life, ModuleLife, Table
from diagnose.tracing.stacks import stack

_MOVES = frozenset({"to", "cuda", "cpu", "type_as", "xpu", "npu"})
_VIEWS = frozenset({"t", "transpose", "permute", "view", "reshape", "detach", "__get__", "flatten"})
_ARRAYS = frozenset({"from_numpy", "frombuffer", "from_dlpack"})
_SET_DATA = vars(torch._C.TensorBase)["data"].__set__
#: So many optimizer steps are recorded in full before steps are left out.
_FIRST = 3


class Recorder:
    """What is remembered of one run; see `diagnose.tracing.trace`. Entered once, in the thread that runs
    the program; threads that are started meanwhile are recorded too."""

    def __init__(self, every: int = 1) -> None:
        self.tensors: Table[Life] = Table()
        self.modules: Table[ModuleLife] = Table()
        #: Who else is told of a tensor that is copied elsewhere.
        self.copied: Callable[[Any, Event], None] | None = None
        #: The last call that raised.
        self.failed: Failed | None = None
        self._every = every
        self._steps = 0
        self._moving = threading.local()
        self._mode = modes.Births(self)
        self._leave = ExitStack()

    def __enter__(self) -> Recorder:
        hide(str(Path(__file__).parent))
        with ExitStack() as undo:
            for owner, name, wrapper in self._wrappers():
                original = vars(owner)[name]
                setattr(owner, name, wraps(original)(wrapper(original)))
                undo.callback(setattr, owner, name, original)
            for register, hook in (
                (nn_module.register_module_module_registration_hook, self._module_registered),
                (nn_module.register_module_parameter_registration_hook, self._tensor_registered),
                (nn_module.register_module_buffer_registration_hook, self._tensor_registered),
            ):
                undo.callback(register(_quiet(hook)).remove)
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
            (torch.nn.Module, "__init__", self._building),
            (torch.nn.Module, "_apply", self._applying),
            (loaders._BaseDataLoaderIter, "__next__", self._yielding),
            (torch, "load", self._loading),
            (threading.Thread, "_bootstrap_inner", self._running),
            (traceback.TracebackException, "__init__", stripping),
        ]

    # --- calls of torch ---

    def seen(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """Notes what a call gave."""
        if isinstance(result, torch.Tensor):
            self._made(func.__name__, args, kwargs, result)
        elif type(result) is tuple or type(result) is list:
            for one in result:
                if isinstance(one, torch.Tensor):
                    self._made(func.__name__, args, kwargs, one)
        elif result is None and func == _SET_DATA:
            self._assigned(*args)

    def _made(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """Notes a tensor that was not known before: made, moved, or computed from others."""
        if self.tensors.get(result) is not None:
            return
        life: Life | None = None
        weight: Life | None = None
        anything = False
        for one in given.tensors(args, kwargs):
            anything = True
            # What is computed from it shares whatever turns out to be known of it.
            known = self.tensors.get(one) or self._unknown(one)
            if known.maker == "weight":
                weight = weight or known
            else:
                life = life or known
        if name in _MOVES and args and result.device != args[0].device:
            lines, caller = stack(3)
            before = life or weight or Life("other")
            event = Event("moved", lines, caller, str(result.device))
            self.tensors.set(result, before.then(event))
            if not getattr(self._moving, "deep", False):
                self.tensors.set(args[0], before.then(event._replace(what="copied")))
                if self.copied is not None:
                    self.copied(args[0], event)
        elif weight is not None and (life is not None or name not in _VIEWS):
            # What a layer gives is where its weights are; a view of a weight is the weight.
            event = Event("computed", *stack(3))
            self.tensors.set(result, Life("output", (event,), weight.module))
        elif anything:
            self.tensors.set(result, life or weight or Life("other"))
        else:
            maker = "array" if name in _ARRAYS else "factory"
            self.tensors.set(result, Life(maker, (Event("made", *stack(3)),)))

    def _unknown(self, tensor: Any) -> Life:
        life = Life("other")
        self.tensors.set(tensor, life)
        return life

    def _assigned(self, tensor: Any, value: Any) -> None:
        """Notes ``tensor.data = value``, with which modules move what they hold."""
        life, other = self.tensors.get(tensor), self.tensors.get(value)
        moves = [event for event in other.events if event.what == "moved"] if other else []
        if moves and (life is None or moves[-1] not in life.events):
            self.tensors.set(tensor, (life or Life("other")).then(moves[-1]))

    def failing(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: BaseException
    ) -> None:
        """Notes the call that raised; of calls within each other the innermost."""
        if self.failed is not None and self.failed.is_of(error):
            return
        operands = tuple(
            Operand(name, weakref.ref(x), str(x.device), given.shape(x), self.tensors.get(x))
            for name, x in given.operands(args, kwargs)
        )
        running = tuple(map(weakref.ref, given.running(torch.nn.Module)))
        said = given.words(error)
        self.failed = Failed(func.__name__, operands, stack()[0], running, id(error), said)

    # --- modules ---

    def _building(self, original: Callable[..., None]) -> Callable[..., None]:
        def note(module: Any) -> None:
            if self.modules.get(module) is None:
                self.modules.set(module, ModuleLife(module, (Event("made", *stack(3)),)))

        note = _quiet(note)

        def __init__(module: Any, *args: Any, **kwargs: Any) -> None:
            note(module)
            original(module, *args, **kwargs)

        return __init__

    def _module_registered(self, owner: Any, name: str, module: Any) -> None:
        if module is None:
            return
        life, above = self._life_of(module), self._life_of(owner)
        where = above.home() if above.was_moved() else None
        life.owner, life.name = above, name
        life.add(Event("put", *stack(2), where))

    def _tensor_registered(self, owner: Any, name: str, tensor: Any) -> None:
        if not isinstance(tensor, torch.Tensor):
            return
        known = self.tensors.get(tensor)
        if known is not None and known.maker == "weight" and known.module is not None:
            return  # tied: it keeps its first name
        before = known.events if known is not None else ()
        event = Event("put", *stack(2))
        self.tensors.set(tensor, Life("weight", (*before, event), self._life_of(owner), name))

    def _life_of(self, module: Any) -> ModuleLife:
        known = self.modules.get(module)
        if known is None:
            known = ModuleLife(module)
            self.modules.set(module, known)
        return known

    def _applying(self, original: Callable[..., Any]) -> Callable[..., Any]:
        noted = _quiet(self._applied)

        def _apply(module: Any, *args: Any, **kwargs: Any) -> Any:
            if getattr(self._moving, "deep", False):
                return original(module, *args, **kwargs)
            self._moving.deep = True
            before = _quiet(given.home)(module)
            try:
                return original(module, *args, **kwargs)
            finally:
                self._moving.deep = False
                noted(module, before)

        return _apply

    def _applied(self, root: Any, before: str | None) -> None:
        """Notes that a module was moved, if it was."""
        after = given.home(root)
        if after is None or after == before:
            return
        self._moved(root, Event("moved", *stack(3), after))

    def _moved(self, root: Any, event: Event) -> None:
        """Notes what happened to a module and to all that is registered in it."""
        for module in root.modules():
            life = self._life_of(module)
            life.add(event)
            for slot in (module._parameters, module._buffers):
                for name, tensor in slot.items():
                    if tensor is None:
                        continue
                    known = self.tensors.get(tensor)
                    if known is None:
                        self.tensors.set(tensor, Life("weight", (event,), life, name))
                    elif known.events[-1:] != (event,):
                        self.tensors.set(tensor, known.then(event))

    # --- loaders, checkpoints, threads, steps ---

    def _yielding(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def note(item: Any) -> None:
            event = Event("made", *stack(3))
            for tensor in given.held(item):
                known = self.tensors.get(tensor)
                before = known.events if known is not None else ()
                self.tensors.set(tensor, Life("batch", (*before, event)))

        note = _quiet(note)

        def __next__(loader: Any) -> Any:
            item = original(loader)
            note(item)
            return item

        return __next__

    def _loading(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def note(loaded: Any) -> None:
            event = Event("loaded", *stack(3))
            if isinstance(loaded, torch.nn.Module):  # pickled whole: nothing of it was registered
                self._moved(loaded, event)
            for tensor in given.held(loaded):
                self.tensors.set(tensor, Life("load", (event,)))

        note = _quiet(note)

        def load(*args: Any, **kwargs: Any) -> Any:
            loaded = original(*args, **kwargs)
            note(loaded)
            return loaded

        return load

    def _running(self, original: Callable[..., None]) -> Callable[..., None]:
        def run(thread: Any) -> None:
            with modes.Births(self):
                original(thread)

        return run

    def _stepped(self, *_: Any) -> None:
        """Takes the mode off for the steps that are left out: a mode that does nothing costs as well."""
        self._steps += 1
        if self._steps < _FIRST or (self._steps + 1) % self._every == 0:
            modes.put(self._mode)
        else:
            modes.take(self._mode)


def _quiet(note: Callable[..., Any]) -> Callable[..., Any]:
    """A function that never raises."""

    @wraps(note)
    def quiet(*args: Any) -> Any:
        with suppress(Exception):
            return note(*args)
        return None

    return quiet
