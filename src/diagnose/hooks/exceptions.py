"""Exceptions, read without running code of their classes: no property, no ``__str__``, no metaclass.

`printable` makes of an exception, and of all that it carries, a copy that consists of built-in parts:
whatever prints the copy runs nothing of the program. Where the class's ``__str__`` is Python code, the
copy's text is that of the arguments.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator, Sequence
from types import MemberDescriptorType, ModuleType, TracebackType, WrapperDescriptorType
from typing import Any

from diagnose.hooks.introspection import (
    attributes,
    bases,
    class_name,
    exactly,
    is_a,
    loaded_torch,
    namespace,
)

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
