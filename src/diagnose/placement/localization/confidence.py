"""Whether a suspect is sure where nothing failed, by what it relies on.

A program that is read may be right: whoever runs it has seen to what no file shows. So a suspect is
sure only where its file shows why, and likely otherwise.

* Each operation on the way is listed, and its operands are no elements of tensors (``soundness``).
* Nobody out of sight may move the operand: a library that is handed it, whoever calls the function.
* The operation is known to refuse tensors of several devices.
* What is known of the operand stands in one file: what an import brings has other callers.
* The operand is not what a list holds that is filled meanwhile: only a run tells what is in it.
* A GPU that is only assumed (nothing in the program chooses one, or calls the code) speaks against
  what stands beside it alone: a tensor of sizes made in the function that fails, or kept by
  ``__init__`` and never assigned since. Neither operand came of a function of which nothing is known,
  and no condition of the function asks for a device.
* What only some processes run is no matter of all ranks, nor is what a test expects to fail; what it
  relies on is told (``soundness``).

The code around speaks against it (`is_doubtful`) where somebody has seen to its device, out of sight:

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

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import CPU, is_assumed, is_gpu
from diagnose.placement.localization.availability import is_called
from diagnose.placement.localization.question import (
    asks_for_a_device,
    classes_of,
    is_expected,
    is_of_some,
    is_test,
)
from diagnose.placement.localization.soundness import relies_on_more
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Suspect
from diagnose.placement.provenance import born_at, device_argument, last_move
from diagnose.placement.semantics import (
    called,
    calls,
    dotted,
    lines_of,
    names,
    nodes,
    stored_attributes,
)
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.tensors import Sequence as Items
from diagnose.placement.values import Object, Value


def is_sure(suspect: Suspect, stray: Meets | None, other: Meets | None, meeting: Meeting) -> bool:
    """Whether a suspect of a meeting is sure.

    Args:
        suspect: what is said of the meeting.
        stray: the operand that is misplaced; None where that is not one of them.
        other: one that it meets; None where it meets none.
        meeting: what met.
    """
    if not suspect.sure or not _in_one_file(suspect, meeting):
        return False
    if meeting.what == ConstraintKind.DISCARDED:
        return True  # whoever calls it
    if relies_on_more(suspect, stray, other, meeting) or is_expected(meeting):
        return False
    if is_doubtful(suspect, stray, meeting) or _is_of_some_processes(suspect, meeting):
        return False
    if meeting.what in _TOLD and not _is_told_by_program(meeting):
        return False
    if stray is None:
        return meeting.what != ConstraintKind.LIBRARY  # which may take each operand where it is
    if _may_be_moved(suspect, stray, meeting) or _is_collected(stray, meeting):
        return False
    return not _is_empty(stray.tensor, meeting) and _is_on_known(suspect, stray, other, meeting)


#: What only a program that calls the code is known to do.
_TOLD = frozenset({ConstraintKind.REFUSED, ConstraintKind.STATE})


def _is_told_by_program(meeting: Meeting) -> bool:
    asserted = meeting.what == ConstraintKind.REFUSED and is_test(meeting.spot)
    return is_called(meeting.frame) and not asserted


def _is_of_some_processes(suspect: Suspect, meeting: Meeting) -> bool:
    return suspect.cause == "rank-device" and is_of_some(meeting)


def _is_on_known(suspect: Suspect, stray: Meets, other: Meets | None, meeting: Meeting) -> bool:
    """Whether no device is only assumed of operands, or what speaks against that is seen."""
    if not any(is_assumed(one.tensor.device) for one in (stray, other) if one is not None):
        return True
    if is_called(meeting.frame):  # by a program that was told its device
        assumed = other is not None and is_assumed(other.tensor.device) and _is_made(other)
        return other is None or not assumed or _names_gpu(other)
    return other is not None and _is_seen(suspect, stray, other, meeting)


def _in_one_file(suspect: Suspect, meeting: Meeting) -> bool:
    """Whether all that is known of an operand stands in one file, and the calls that lead to it: but for
    what a class keeps apart from its weights, which whoever moves it leaves behind."""
    spots = [suspect.spot, *(step.spot for step in suspect.steps)]
    if not suspect.cause.startswith("unregistered-"):
        spots += meeting.calls
    if suspect.meets is not None:
        spots.append(suspect.meets)
    return len({spot.file for spot in spots}) == 1


def _is_collected(side: Meets, meeting: Meeting) -> bool:
    """Whether an operand is in a list that the program fills, and not in one that is written out."""
    if not isinstance(side.value, Items):
        return False
    put = [step.spot for step in side.tensor.steps if step.what == EventKind.LISTED]
    if meeting.what == ConstraintKind.HOST:
        # What is put there elsewhere may be numbers, or come back to the host before it is read.
        here = all(spot.function == meeting.spot.function for spot in put)
        return not (put and here and all(map(_is_read_as_one, side.value.every())))
    return side.value.grows or any(spot.node not in _comprised(spot.source.tree) for spot in put)


def _is_read_as_one(item: Value) -> bool:
    """Whether an item of a list is a tensor on a GPU, and no number: those may be read one by one."""
    if not isinstance(item, Tensor) or item.scalar or item.element or item.guessed:
        return False
    return is_gpu(item.device)


@lru_cache(maxsize=8)
def _comprised(tree: ast.Module) -> frozenset[ast.expr]:
    """What the comprehensions of a file make their items of."""
    return frozenset(one.elt for one in nodes(tree, ast.ListComp, ast.SetComp, ast.GeneratorExp))


# --- who else may move it -----------------------------------------------------------------------------


def _may_be_moved(suspect: Suspect, stray: Meets, meeting: Meeting) -> bool:
    """Whether somebody out of sight may move an operand."""
    # Who calls a function may have moved what is handed to it.
    handed = suspect.cause == "input-not-moved" and not is_called(meeting.frame)
    model = stray.value if isinstance(stray.value, Module) else None
    handed |= model is not None and any(o.handed for o in (*model.owners(), *model.family()))
    return handed or _is_open(suspect, meeting) or _are_brought(stray, meeting)


def _is_open(suspect: Suspect, meeting: Meeting) -> bool:
    """Whether a library may move what it is given, or the host is named and may be what was meant."""
    named = suspect.cause == "hardcoded-device" and suspect.device == CPU
    scripted = meeting.what == ConstraintKind.CALL and _is_given_to_a_script(meeting)
    return (
        meeting.what == ConstraintKind.LIBRARY
        or named
        or scripted
        or _is_librarys_loss(meeting.sides[0])
    )


def _is_given_to_a_script(meeting: Meeting) -> bool:
    """Whether a model that was loaded as a whole is given more than its input: nobody sees what it does
    with the rest."""
    model, node = meeting.sides[0].value, meeting.spot.node
    several = isinstance(node, ast.Call) and len(node.args) + len(node.keywords) > 1
    return several and isinstance(model, Module) and model.kind.startswith("loaded")


#: Models that bring their labels to their logits; those of older versions do not.
_MOVING_LABELS = ("CausalLM", "LMHeadModel", "MaskedLM")


def _are_brought(stray: Meets, meeting: Meeting) -> bool:
    """Whether an operand is the labels of a model that brings them to its logits."""
    model = meeting.sides[0].tensor.module
    given = meeting.spot.node.keywords if isinstance(meeting.spot.node, ast.Call) else []
    labels = any(one.arg == "labels" and one.value is stray.node for one in given)
    return labels and model is not None and model.kind.endswith(_MOVING_LABELS)


def _is_librarys_loss(side: Meets) -> bool:
    """Whether an operand is a loss of a library other than torch, of which no weights are known: at most
    it was moved with what it belongs to."""
    loss = side.value
    if not isinstance(loss, Module) or loss.made is not None or "." not in loss.kind:
        return False
    alone = loss.owner is None or not loss.kind.endswith(("Loss", "Criterion"))
    return side.tensor.device is None or not alone


# --- a GPU that is only assumed -----------------------------------------------------------------------


def _names_gpu(side: Meets) -> bool:
    """Whether an operand was brought to a GPU that the program names, though not by its number."""
    last = last_move(side.tensor.steps) or born_at(side.tensor.steps)
    match last.of.node if last is not None and last.of is not None else None:
        case ast.Call(args=[ast.Constant(value="cuda"), _]):
            return True
        case ast.Call(args=[ast.JoinedStr(values=[ast.Constant(value=str(said)), *_])]):
            return said.startswith("cuda")
    return False


def _is_made(side: Meets) -> bool:
    """Whether an operand was made by a factory."""
    return side.tensor.maker in (Origin.FACTORY, Origin.ARRAY)


def _is_seen(suspect: Suspect, stray: Meets, other: Meets, meeting: Meeting) -> bool:
    """Whether code that nothing calls shows by itself that two operands are apart."""
    function = meeting.spot.enclosing
    if stray.tensor.guessed or other.tensor.guessed:
        return False
    if function is None or asks_for_a_device(function):
        return False
    model = meeting.sides[0].value
    if isinstance(model, Module) and model.made is None and "." in model.kind:
        return False  # of another file, whose forward may bring what it is handed
    if suspect.cause == "index-device":
        return _is_of_sizes(other.tensor) and _is_made_in(other.tensor, meeting)
    if suspect.cause == "unregistered-submodule":
        return _is_kept_for_good(suspect) and _is_forward(meeting)
    if not isinstance(stray.value, Tensor) or stray.tensor.maker != Origin.FACTORY:
        return False
    if suspect.cause == "unregistered-tensor":
        return _is_kept_for_good(suspect)
    if suspect.cause != "created-without-device":
        return False
    return _is_of_sizes(stray.tensor) and _is_made_in(stray.tensor, meeting)


def _is_forward(meeting: Meeting) -> bool:
    """Whether operands meet in the ``forward`` of a module that does not move what it keeps by itself."""
    this = meeting.frame.this
    made = this.made if isinstance(this, Module) else None
    own = made is not None and any(map(made.find, ("_apply", "to", "cuda")))
    return (meeting.spot.function or "").endswith(".forward") and not own


def _is_made_in(tensor: Tensor, meeting: Meeting) -> bool:
    """Whether a tensor is made in the function in which it meets another."""
    made = born_at(tensor.steps)
    return made is not None and made.spot.is_beside(meeting.spot)


#: How factories end that are given values, which may be a tensor's, a number's, or tell a device.
_OF_VALUES = ("tensor", "asarray")


def _is_of_sizes(tensor: Tensor) -> bool:
    """Whether a tensor is made of sizes, or of values that are written out."""
    made = born_at(tensor.steps)
    node = made.spot.node if made is not None else None
    if tensor.maker != Origin.FACTORY or not isinstance(node, ast.Call):
        return False
    maker = ast.unparse(node.func)
    if maker.endswith("_like"):  # it is where that is, and so is what that meets
        return False
    if not maker.endswith(_OF_VALUES) and ".sparse." not in maker:
        return True
    return not any(map(names, node.args))


_LISTED = ast.Tuple | ast.List
#: Factories that are told sizes, and nothing else.
_FILLED = ("zeros", "ones", "empty", "rand", "randn")


def _is_empty(tensor: Tensor, meeting: Meeting) -> bool:
    """Whether a tensor holds nothing, and stands for what is not there yet: that of another function, or
    the default of a parameter."""
    made, here = born_at(tensor.steps), meeting.spot.enclosing
    node = made.spot.node if made is not None else None
    if made is None or not isinstance(node, ast.Call) or tensor.maker != Origin.FACTORY:
        return False
    sizes = [
        size for arg in node.args for size in (arg.elts if isinstance(arg, _LISTED) else [arg])
    ]
    none = any(isinstance(size, ast.Constant) and size.value == 0 for size in sizes)
    first = node.args[0] if node.args else None
    nothing = isinstance(first, ast.List) and not first.elts
    if not nothing and (called(node) not in _FILLED or not none):
        return False
    default = here is not None and here.lineno <= made.spot.line < here.body[0].lineno
    return default or not _is_made_in(tensor, meeting)


def _is_kept_for_good(suspect: Suspect) -> bool:
    """Whether ``__init__`` keeps a tensor as an attribute that no other method assigns."""
    node = suspect.spot.node
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = {one.attr for one in targets if isinstance(one, ast.Attribute)}
    owner = (suspect.spot.function or "").rpartition(".")
    return owner[2] == "__init__" and not names & _assigned_later(
        suspect.spot.source.tree, owner[0]
    )


@lru_cache(maxsize=64)
def _assigned_later(tree: ast.Module, name: str) -> frozenset[str]:
    """The attributes of objects that the methods of a class assign, but for its ``__init__``."""
    methods = (
        one
        for made in classes_of(tree).get(name.rpartition(".")[2], ())
        for one in made.body
        if not (isinstance(one, ast.FunctionDef) and one.name == "__init__")
    )
    return frozenset(one.attr for method in methods for one in stored_attributes(method))


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
