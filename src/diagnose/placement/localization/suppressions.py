"""What the code around an operand says against a suspect: somebody has seen to its device, out of sight.

* A test keeps the modules where it likes that stand for others; what names no device stays on the host.
* A file that sets the default device, or what kind of tensor is made, means what it makes without one.
* A factory that is told a device by whoever calls its function, which nothing here calls.
* A module on meta whose tensors the function itself puts into place, one by one.
* A library's model that the program spread by hand: which part takes the input only the library knows;
  one of which it moved parts, and not the whole: which run before it is stopped, nobody sees either.
* What a model of another package gives, or does with a structure that it is handed.
* Where an object's method left what another one uses, and nothing calls either.
* What is handed to NumPy in the branch that a flag leaves to machines without a GPU.
* A process that is bound to its GPU, so that ``cuda`` is its own.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import PurePath

from diagnose.kinds import ConstraintKind, Origin
from diagnose.placement.localization.availability import is_called
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Suspect
from diagnose.placement.provenance import born_at, device_argument, last_move
from diagnose.placement.semantics import calls, dotted, lines_of, nodes, stored_attributes
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Object

#: Calls by which all that follows is made elsewhere.
DEFAULTS = ("set_default_tensor_type", "set_default_device")
#: How the kinds of models begin of which it is known what they do with what they are given.
_SEEN = ("torch", "transformers", "diffusers", "timm", "sentence_transformers", "peft", "loaded")


def is_doubtful(suspect: Suspect, stray: Meets | None, meeting: Meeting) -> bool:
    """Whether the code around a suspect speaks against it.

    Args:
        suspect: what is said of a meeting.
        stray: the operand that is misplaced; None where that is not one of them.
        meeting: what met.
    """
    tree = meeting.spot.source.tree
    match suspect.cause:
        case "meta-tensor":
            return _is_put_together(meeting)
        case "input-on-wrong-shard" | "cross-shard-op" if _is_within_another(meeting):
            return True
        case "rank-device" if suspect.device is not None and suspect.device.number is None:
            return bool(calls(tree, "set_device"))
        case "module-not-moved" if stray is not None and _is_moved_in_parts(stray):
            return True
    if meeting.what == ConstraintKind.HOST and _is_without_gpu(meeting):
        return True
    if stray is not None and (_is_of_unseen(stray, meeting) or _is_given_whole(stray, meeting)):
        return True
    if is_called(meeting.frame):
        return False
    if meeting.spot.source.defaulted or calls(tree, *DEFAULTS):
        return True
    if any(side.tensor.guessed for side in meeting.sides):
        return True
    return _is_of_tests(meeting) or _is_told(stray) or _is_left_by_another(stray, meeting)


def _is_moved_in_parts(stray: Meets) -> bool:
    """Whether parts of a library's model were moved, and it was not."""
    model = stray.value
    if (
        not isinstance(model, Module)
        or model.made is not None
        or last_move(model.steps) is not None
    ):
        return False
    parts = (one for one in model.family() if one is not model)
    return any(last_move(one.steps) is not None for one in parts)


def _is_without_gpu(meeting: Meeting) -> bool:
    """Whether a program comes to a line where a flag says that there is no GPU."""
    flags = (one for one in nodes(meeting.spot.source.tree, ast.If) if one.orelse)
    return any(
        isinstance(one.test, ast.Name | ast.Attribute)
        and any(word in ast.unparse(one.test).casefold() for word in ("gpu", "cuda"))
        and meeting.spot.line in lines_of(one.orelse[0], one.orelse[-1])
        for one in flags
    )


def _is_of_unseen(stray: Meets, meeting: Meeting) -> bool:
    """Whether NumPy is handed what a model gives that nobody sees: it may be on the host, or no tensor."""
    tensor = stray.tensor
    unseen = tensor.module is not None and _is_unseen(tensor.module.whole())
    return meeting.what == ConstraintKind.HOST and (
        tensor.guessed or (tensor.maker == Origin.OUTPUT and unseen)
    )


def _is_given_whole(stray: Meets, meeting: Meeting) -> bool:
    """Whether a model of a package that is not at hand takes a structure: what it does with which of the
    tensors in it nobody sees."""
    model = meeting.sides[0].value
    unseen = isinstance(model, Module) and _is_unseen(model)
    return meeting.what == ConstraintKind.CALL and unseen and not isinstance(stray.value, Tensor)


def _is_unseen(model: Module) -> bool:
    """Whether a model is of a package that is not at hand, and that is not known."""
    return model.made is None and "." in model.kind and not model.kind.startswith(_SEEN)


def _is_left_by_another(stray: Meets | None, meeting: Meeting) -> bool:
    """Whether a method that nothing calls brought an operand where it is: in which order they are called,
    only their callers know."""
    move = last_move(stray.tensor.steps) if stray is not None else None
    if move is None or not isinstance(meeting.frame.this, Object):
        return False
    there = move.spot.function or ""
    return not there.endswith("__init__") and there != (meeting.spot.function or "")


def _is_of_tests(meeting: Meeting) -> bool:
    """Whether a test's file has modules that stand for others, or a test of it names no device."""
    tree, name = meeting.spot.source.tree, PurePath(meeting.spot.file).stem
    if not (name.startswith("test_") or name.endswith("_test")) or not _imports_tests(tree):
        return False
    function = meeting.spot.enclosing
    said = ast.unparse(function).casefold() if function is not None else ""
    return isinstance(meeting.frame.this, Module) or not ("device" in said or "cuda" in said)


@lru_cache(maxsize=8)
def _imports_tests(tree: ast.Module) -> bool:
    """Whether a file defines tests: functions or classes by whose names they are found."""
    named = nodes(tree, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = (one.name for one in named)
    return any(name.startswith(("test", "Test")) or name.endswith("Test") for name in names)


def _is_told(stray: Meets | None) -> bool:
    """Whether whoever calls may tell a factory its device."""
    made = born_at(stray.tensor.steps) if stray is not None else None
    told = device_argument(made.spot) if made is not None else None
    return told is not None and not isinstance(told, ast.Constant)


def _is_put_together(meeting: Meeting) -> bool:
    """Whether attributes of what has no memory are assigned before it moves."""
    node, function = meeting.spot.node, meeting.spot.enclosing
    func = node.func if isinstance(node, ast.Call) else None
    moved = func.value if isinstance(func, ast.Attribute) else None
    if function is None or not isinstance(moved, ast.Name):
        return False
    own = (one for one in stored_attributes(function) if dotted(one.value) == moved.id)
    return any(one.lineno < meeting.spot.line for one in own)


def _is_within_another(meeting: Meeting) -> bool:
    """Whether it is a part of a library's model that an input was compared with, and that was not called
    itself: which part is first, only the library knows."""
    entered = meeting.sides[0].tensor.module
    whole = entered.whole() if entered is not None else None
    return whole is not None and whole is not entered and whole.made is None
