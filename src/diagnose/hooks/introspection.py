"""Looks at objects of unknown classes without running any of their code.

A local variable may be anything: its ``__class__`` may raise, its properties may sleep, its tensors
may be intercepted, its metaclass may lie. So types are asked of ``type()``, what a class is and has of
``type``'s own getters, attributes of the instance's own ``__dict__``, items of the built-in containers,
and tensors by torch's own getters with its interception switched off.

`printable` makes of an exception, and of all that it carries, a copy that consists of built-in parts:
whatever prints the copy runs nothing of the program. Where the class's ``__str__`` is Python code, the
copy's text is that of the arguments.
"""

from __future__ import annotations

import builtins
import sys
from collections import UserDict, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import (
    BuiltinFunctionType,
    FrameType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
    TracebackType,
    WrapperDescriptorType,
)
from typing import Any

from diagnose.model import Frame, Report
from diagnose.simulation import is_active

_ITEMS = 64
_KEY = 60

_BASES = vars(type)["__mro__"].__get__
_NAMESPACE = vars(type)["__dict__"].__get__
_NAME = vars(type)["__name__"].__get__


def is_a(value: object, kind: type) -> bool:
    """`isinstance` by the real type; no class is asked for its opinion."""
    return type.__subclasscheck__(kind, type(value))


def exactly(value: object, *kinds: type) -> bool:
    """Whether an object's class is one of these; a comparison would ask its metaclass."""
    return any(type(value) is kind for kind in kinds)


def bases(kind: type) -> tuple[type, ...]:
    """A class and those that it inherits from, in the order of look-up."""
    found: tuple[type, ...] = _BASES(kind)
    return found


def namespace(kind: type) -> Mapping[str, Any]:
    """What a class itself defines."""
    found: Mapping[str, Any] = _NAMESPACE(kind)
    return found


def class_name(value: object) -> str:
    """The name of an object's class."""
    return str(_NAME(type(value)))


def attributes(value: object) -> dict[str, Any]:
    """The instance's own attributes; empty where it has no ``__dict__`` or its class hides it."""
    for kind in bases(type(value)):
        getter = namespace(kind).get("__dict__")
        if getter is not None:
            own = exactly(getter, GetSetDescriptorType, MemberDescriptorType)
            found = getter.__get__(value) if own else None
            return found if type(found) is dict else {}
    return {}


def fields(value: object) -> list[tuple[str, Any]]:
    """The instance's own attributes that have a plain string for a name."""
    return [(name, field) for name, field in list(attributes(value).items()) if type(name) is str]


def entries(value: object) -> list[tuple[str, Any]]:
    """The entries of a dict that have a plain string for a key; empty for anything else."""
    if not is_a(value, dict):
        return []
    mapping: Any = value
    return [(key, item) for key, item in list(dict.items(mapping)) if type(key) is str]


def items(value: object) -> Iterator[tuple[str, Any]]:
    """The first items of a list, tuple or dict, each with the subscript that names it.

    Subclasses count (``ModelOutput``, named tuples), read by the built-in's own methods, and so do
    mappings around a dict, as transformers' ``BatchEncoding`` is.
    """
    if is_a(value, UserDict):
        value = attributes(value).get("data")
    if is_a(value, dict):
        mapping: Any = value
        for key, item in list(islice(dict.items(mapping), _ITEMS)):
            if exactly(key, str, int):
                yield f"[{subscript(key)}]", item
    elif is_a(value, list):
        for index, item in enumerate(islice(list.__iter__(value), _ITEMS)):  # type: ignore[arg-type]
            yield f"[{index}]", item
    elif is_a(value, tuple):
        for index, item in enumerate(islice(tuple.__iter__(value), _ITEMS)):  # type: ignore[arg-type]
            yield f"[{index}]", item


def subscript(key: str | int) -> str:
    """A key as it stands in a subscript: printable, and not too long."""
    return repr(key[:_KEY] if isinstance(key, str) else key)


def label(part: str) -> str:
    """A part of a dotted name, safe to print whatever the program called it."""
    return part[:_KEY] if part.isprintable() else ascii(part[:_KEY])


def loaded_torch() -> Any:
    """torch; None where the program has not imported all of it, or has put a thing of its own there."""
    torch = sys.modules.get("torch")
    whole = type(torch) is ModuleType and type(vars(torch).get("_C")) is ModuleType
    return torch if whole else None


def device_of(tensor: Any) -> str | None:
    """Where a tensor is, as torch prints it; None where it does not say."""
    device = _asked(tensor, "device")
    return None if device is None else str(device)


def shape_of(tensor: Any) -> tuple[int, ...]:
    """The sizes; empty where they are symbolic or not known yet."""
    if is_a(tensor, sys.modules["torch"].nn.parameter.UninitializedTensorMixin):
        return ()
    sizes = tuple(_asked(tensor, "shape") or ())
    return sizes if all(type(size) is int for size in sizes) else ()


def _asked(tensor: Any, name: str) -> Any:
    """An attribute by torch's own getter, whatever a subclass defines under that name; None where the
    getter refuses or Python code would have to answer."""
    if _answers_itself(tensor):
        return None
    try:
        if name == "device" and is_active():  # simulated GPUs stand beside what C++ knows
            from diagnose.simulation.placement import device_of as simulated

            return simulated(tensor)
        for base in bases(sys.modules["torch"].Tensor):
            getter = namespace(base).get(name)
            if type(getter) is GetSetDescriptorType:  # of torch's C++, whatever the base is called
                return getter.__get__(tensor)
    except Exception:
        return None
    return None


def _answers_itself(tensor: Any) -> bool:
    """Whether torch's C++ may ask a subclass's own `__torch_dispatch__` for device and shape: there is
    no way to know whether it would. Those of torch (FakeTensor, DTensor) are no code of the program."""
    torch = sys.modules["torch"]
    if exactly(tensor, torch.Tensor, torch.nn.Parameter):
        return False
    for base in bases(type(tensor)):
        found = namespace(base).get("__torch_dispatch__")
        if found is not None:
            module = namespace(base).get("__module__")
            ours = type(module) is str and module.partition(".")[0] == "torch"
            return not ours and type(found) is not BuiltinFunctionType
    return False


#: How many exceptions of a chain or group are read, and how deep groups may lie in each other.
_EXCEPTIONS = 200
_DEPTH = 10
#: Characters that are kept of each end of a message; arguments and notes that are read.
_END = 100_000
_ARGUMENTS = 50

_CAUSE = vars(BaseException)["__cause__"].__get__
_CONTEXT = vars(BaseException)["__context__"].__get__
_SUPPRESSED = vars(BaseException)["__suppress_context__"].__get__
_TRACEBACK = vars(BaseException)["__traceback__"].__get__
_ARGS = vars(BaseException)["args"].__get__
_MODULE = vars(type)["__module__"].__get__
_QUALNAME = vars(type)["__qualname__"].__get__

_SCALARS = (str, bytes, int, float, complex, bool, type(None))
_SEQUENCES = (tuple, list, set, frozenset)
_SYNTAX = ("msg", "filename", "lineno", "offset", "text", "end_lineno", "end_offset")


def traceback_of(error: BaseException) -> TracebackType | None:
    """Its traceback."""
    found: TracebackType | None = _TRACEBACK(error)
    return found


def related(error: BaseException) -> Iterator[BaseException]:
    """The exception itself, then those that it carries: causes, contexts, members of a group."""
    pending, seen = [error], set[int]()
    while pending and len(seen) < _EXCEPTIONS:
        exception = pending.pop(0)
        if id(exception) not in seen:
            seen.add(id(exception))
            yield exception
            others = (_CAUSE(exception), _CONTEXT(exception), *_members(exception))
            pending += [other for other in others if other is not None]


def printable(error: BaseException) -> BaseException:
    """A copy with the same class name, text, notes, traceback, chain and members, for printing."""
    copies: dict[int, BaseException] = {}
    chain = list(related(error))
    for exception in chain:
        _copied(exception, copies, _DEPTH)
    for exception in chain:
        copy: Any = copies[id(exception)]
        copy.__cause__ = copies.get(id(_CAUSE(exception)))
        copy.__context__ = copies.get(id(_CONTEXT(exception)))
        copy.__suppress_context__ = _SUPPRESSED(exception)
    return copies[id(error)]


def text_of(error: BaseException) -> str:
    """What Python prints behind the class: ``str(error)`` where that is built in and prints built-in
    values only, else the arguments."""
    args = _ARGS(error)
    if members := _members(error):
        message = args[0] if args else ""
        return f"{_said(message)} ({len(members)} sub-exception{'s' * (len(members) > 1)})"
    printer: Any = None
    for base in bases(type(error)):
        printer = namespace(base).get("__str__")
        if printer is not None:
            break
    # A class may have been given the method of another, which calls methods of its own.
    built_in = type(printer) is WrapperDescriptorType and printer.__objclass__ is base
    parts = [part for name, part in _slots(error, base)] if built_in else []
    if built_in and all(map(_plain, [*args, *parts])):
        return str(printer(error))
    if len(args) == 1:
        return _said(args[0])
    return f"({', '.join(map(_shown, args[:_ARGUMENTS]))})" if args else ""


def _copied(error: BaseException, copies: dict[int, BaseException], depth: int) -> BaseException:
    """The copy of one exception and of the members that it groups, without causes and contexts."""
    if id(error) in copies:
        return copies[id(error)]
    members = [_copied(member, copies, depth - 1) for member in _members(error)] if depth else []
    text, group = text_of(error), _group()
    base: Any = SyntaxError if is_a(error, SyntaxError) else Exception
    arguments: tuple[Any, ...] = ()
    if members:
        base, arguments = group, (text, members)
    module = _MODULE(type(error))
    parts = {
        "__module__": module if type(module) is str else "<unknown>",
        "__qualname__": _QUALNAME(type(error)),
        "__str__": lambda self: text,
    }
    copy: BaseException = type(class_name(error), (base,), parts)(*arguments)
    if base is SyntaxError:
        for name, part in _slots(error, SyntaxError):
            if name in _SYNTAX and exactly(part, str, int):
                setattr(copy, name, part)
    copy.__traceback__ = traceback_of(error)
    notes = attributes(error).get("__notes__")
    if type(notes) is list:
        copy.__notes__ = [_said(note) for note in notes[:_ARGUMENTS]]  # type: ignore[attr-defined]
    copies[id(error)] = copy
    return copy


def _slots(error: BaseException, kind: type) -> Iterator[tuple[str, Any]]:
    """What a built-in class of exceptions keeps beside the arguments, as OSError its file name."""
    for name, slot in namespace(kind).items():
        if type(slot) is MemberDescriptorType:
            try:
                yield name, slot.__get__(error)
            except AttributeError:  # not set
                continue


def _group() -> Any:
    """The class of exception groups; before Python 3.11 that of the package exceptiongroup, if loaded."""
    package = sys.modules.get("exceptiongroup")
    found = vars(builtins) if type(package) is not ModuleType else vars(package) | vars(builtins)
    return found.get("BaseExceptionGroup")


def _members(error: BaseException) -> Sequence[BaseException]:
    """The exceptions that a group holds; none for others."""
    group = _group()
    if group is None or not is_a(error, group):
        return ()
    slot = namespace(group)["exceptions"]
    if type(slot) is MemberDescriptorType:
        found = slot.__get__(error)
    else:
        found = attributes(error).get("_exceptions")
    if not exactly(found, tuple, list):
        return ()
    return [member for member in found[:_EXCEPTIONS] if is_a(member, BaseException)]


def _plain(value: object, depth: int = 3) -> bool:
    """Whether printing a value runs built-in code only, and not for long."""
    if exactly(value, *_SCALARS):
        return not exactly(value, str, bytes, int) or _size(value) <= _END
    if exactly(value, dict, *_SEQUENCES):
        held: Any = value
        parts = [*held, *held.values()] if type(value) is dict and len(held) <= _ARGUMENTS else held
        return (
            depth > 0 and len(held) <= _ARGUMENTS and all(_plain(part, depth - 1) for part in parts)
        )
    torch = loaded_torch()
    return exactly(value, getattr(torch, "device", str), getattr(torch, "dtype", str))


def _size(value: Any) -> int:
    return value.bit_length() if type(value) is int else len(value)


def _said(value: Any) -> str:
    """`str` of an argument or note."""
    if not is_a(value, str):
        return _shown(value)
    if str.__len__(value) <= 2 * _END:
        return str.__str__(value)
    left_out = str.__len__(value) - 2 * _END
    first = str.__getitem__(value, slice(None, _END))
    last = str.__getitem__(value, slice(-_END, None))
    return f"{first}\n[{left_out} characters left out]\n{last}"


def _shown(value: Any) -> str:
    """`repr` of an argument; of what is not built in only the class."""
    if type(value) is str:
        return repr(_said(value))
    return repr(value) if _plain(value) else f"<{class_name(value)} object>"


_ENTRIES = 20_000
_LOCALS = 2000
#: What Python gives for the locals of a function: a dict, since 3.13 a proxy.
_LOCALS_PROXY = (lambda: type(sys._getframe().f_locals))()


@dataclass(frozen=True, slots=True)
class LiveFrame:
    """A frame of the report with its index there and a snapshot of its local variables."""

    index: int
    frame: Frame
    locals: dict[str, Any]


def live_frames(error: BaseException, report: Report) -> list[LiveFrame]:
    """The frames of the report that are still alive, outermost first.

    Frames of another process or thread that only stand quoted in a message have no live frame.
    """
    alive: dict[tuple[str, int | None, str | None], list[FrameType]] = defaultdict(list)
    for exception in reversed(list(related(error))):
        for step in traced(exception):
            code = step.tb_frame.f_code
            alive[code.co_filename, step.tb_lineno, code.co_name].append(step.tb_frame)
    found = []
    for index in reversed(range(len(report.frames))):
        frame = report.frames[index]
        candidates = alive.get((frame.file, frame.line, frame.function))
        if candidates:
            found.append(LiveFrame(index, frame, _variables(candidates.pop())))
    return found[::-1]


def traced(error: BaseException) -> Iterator[TracebackType]:
    """The entries of its traceback, outermost first."""
    trace = traceback_of(error)
    for _ in range(_ENTRIES):
        if trace is None:
            return
        yield trace
        trace = trace.tb_next


def _variables(frame: FrameType) -> dict[str, Any]:
    """The variables that a person can name; a namespace of the program's own making has none."""
    space: Any = frame.f_locals
    if type(space) is _LOCALS_PROXY:
        pairs = iter(space.items())
    elif is_a(space, dict):
        pairs = iter(dict.items(space))
    else:
        return {}
    try:
        return {
            name: value
            for name, value in islice(pairs, _LOCALS)
            if type(name) is str and name.isidentifier()
        }
    except RuntimeError:  # another thread went on changing it
        return {}
