"""From what met to why it was there: which operand is the stray, and the line to edit for it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.control_dependence import set_at, turned_on
from diagnose.placement.devices import CPU, HOME, is_assumed, named_so, written
from diagnose.placement.localization.availability import has_device, sites
from diagnose.placement.localization.confidence import is_sure
from diagnose.placement.localization.device_expressions import (
    at_call,
    in_scope,
    of_other,
    told_by_a_call,
)
from diagnose.placement.localization.host import handed_to_host
from diagnose.placement.localization.misplaced import agree, names_cpu, strays
from diagnose.placement.localization.operands import reason
from diagnose.placement.localization.question import Question, is_caught
from diagnose.placement.localization.replicas import of_rank
from diagnose.placement.localization.shards import (
    COMPUTED,
    brought,
    crossing,
    spreads_by_hand,
)
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Suspect
from diagnose.placement.provenance import (
    Reason,
    born_at,
    device_argument,
    first_of,
    is_literal,
    last_move,
    on_cpu,
    said_as,
)
from diagnose.placement.semantics import argument, called, last_name, path_to
from diagnose.placement.tensors import Module
from diagnose.placement.values import Object

CAUSE = "kernel-needs-gpu"


def of_option(side: Meets) -> Suspect | None:
    """Where the option, field or parameter is set that put an operand, or the model that computed
    it, on the cpu; None where no setting says so."""
    tensor = side.tensor
    steps = tensor.module.whole().steps if tensor.module is not None else tensor.steps
    step = last_move(steps) or born_at(steps)
    node = step.spot.node if step is not None else None
    if step is None or not isinstance(node, ast.Call):
        return None
    given = device_argument(step.spot) or (
        node.args[0] if called(node) == "to" and node.args else None
    )
    if not isinstance(given, ast.Name | ast.Attribute):
        return None
    spot = set_at(step.spot._replace(node=given))
    if spot is None or _said(spot.node) != CPU.type.value:
        return None
    return Suspect(CAUSE, said_as(side.node), spot, tensor.device, steps=tensor.steps)


def _said(setting: ast.AST) -> object:
    """What a setting says: a literal, or the default of an option."""
    if isinstance(setting, ast.Call):
        setting = argument(setting, "default") or setting
    return setting.value if isinstance(setting, ast.Constant) else None


#: Meetings that fail only where operands are apart.
_TOGETHER = frozenset(
    {ConstraintKind.JOIN, ConstraintKind.CALL, ConstraintKind.LIBRARY, ConstraintKind.GENERATOR}
)

#: So many expressions for a device are kept, the best: a file of many variables has many for each finding.
_MOST_DEVICES = 8

#: What state that is kept on the host on purpose looks like.
_STATE = frozenset({"input-not-moved", "created-without-device"})


def of_meeting(
    meeting: Meeting, devices: Sequence[str] = (), *, split: bool = False
) -> Iterator[Suspect]:
    """The suspects of a meeting, likeliest first.

    Args:
        meeting: operands that have to be on one device.
        devices: the devices that a message names, in its order; none where there was no failure, and then
            only operands whose devices are known to differ are suspects.
        split: the program has modules on several accelerators.
    """
    failed = bool(devices)
    match meeting.what:
        case ConstraintKind.KERNEL if not failed and not _is_kernel(meeting):
            pass
        case ConstraintKind.KERNEL if not failed:
            yield from filter(None, (of_kernel(side, meeting) for side in meeting.sides))
        case ConstraintKind.ASKED:
            asking = meeting.sides if failed else ()
            yield from filter(None, (of_kernel(side, meeting) for side in asking))
        case ConstraintKind.REFUSED | ConstraintKind.DISCARDED:
            for side in () if failed or is_caught(meeting) else meeting.sides:
                yield from _explained(Question(side, meeting, failed=False))
        case ConstraintKind.HANDED if not failed:
            pass  # a library may bring one to the other
        case ConstraintKind.LIBRARY if not failed and not isinstance(
            meeting.sides[0].value, Module
        ):
            pass  # so may a function that is not seen
        case _ if not failed and _is_brought_next(meeting):
            pass
        case _ if not (failed and meeting.what in _TOGETHER and agree(meeting)):
            yield from _of_operands(meeting, devices, split=split)


def _is_brought_next(meeting: Meeting) -> bool:
    """Whether what is computed is brought to a device at once: it is on the host, and what of it was only
    assumed to be on a GPU."""
    if not any(is_assumed(side.tensor.device) for side in meeting.sides):
        return False
    match path_to(meeting.spot.source.tree, meeting.spot.node)[-3:]:
        case [ast.Call(args=[to, *_]), ast.Attribute(attr="to"), _]:
            said = to.value if isinstance(to, ast.Constant) else last_name(to)
            return isinstance(said, str) and (named_so(said) or written(said) is not None)
        case [ast.Call(), ast.Attribute(attr="cuda"), _]:
            return True
    return False


def _of_operands(meeting: Meeting, devices: Sequence[str], *, split: bool) -> Iterator[Suspect]:
    failed, on_gpus = bool(devices), not any(map(names_cpu, devices))
    if failed and on_gpus and (entered := brought(meeting)):
        yield entered
    if split and on_gpus and (across := crossing(meeting)):
        yield _weighed(across, meeting, failed=failed)
        if not failed:
            return
    apart = split or spreads_by_hand(meeting.spot.source.tree)
    for stray, other in strays(meeting, devices):
        yield from _explained(Question(stray, meeting, other, failed, apart, on_gpus))


def _explained(asked: Question) -> Iterator[Suspect]:
    if (suspect := explain(asked)) is not None:
        met = (asked.stray, asked.other)
        yield _weighed(suspect, asked.meeting, *met, failed=asked.failed)


def _is_brought_by_model(side: Meets) -> bool:
    """Whether a model itself brought an operand to one of its parts."""
    move = last_move(side.tensor.steps)
    return move is not None and (move.spot.function or "").endswith(".forward")


def _enters(asked: Question) -> bool:
    """Whether an operand is what a method of a model was handed, and meets one of its weights."""
    node, frame, other = asked.stray.node, asked.meeting.frame, asked.other
    handed = isinstance(node, ast.Name) and node.id in frame.given
    own = isinstance(frame.this, Module) and asked.tensor.maker not in COMPUTED
    return handed and own and other is not None and other.tensor.maker == Origin.WEIGHT


def _weighed(
    suspect: Suspect,
    meeting: Meeting,
    stray: Meets | None = None,
    other: Meets | None = None,
    *,
    failed: bool,
) -> Suspect:
    """A suspect as sure as it is: what failed is looked for, and need not be."""
    if meeting.because is not None:
        return suspect._replace(sure=False, because=meeting.because)
    sure = failed or is_sure(suspect, stray, other, meeting)
    return suspect if sure else suspect._replace(sure=False)


def _forgets(asked: Question) -> bool:
    """Whether a method makes an operand on a device that its line names, where its object has its own."""
    made, meeting = asked.made, asked.meeting
    if made is None or not isinstance(meeting.frame.this, Object) or asked.move is not None:
        return False
    here = made.spot.function == meeting.spot.function and meeting.what != ConstraintKind.CALL
    return here and is_literal(made) and has_device(meeting.frame, made.spot)


def _is_kernel(meeting: Meeting) -> bool:
    """Whether a library's function is called, and not a class, which may keep its arguments for later."""
    node = meeting.spot.node
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    return not any(part[:1].isupper() and not part.isupper() for part in called.split("."))


def of_doubt(meeting: Meeting, devices: Sequence[str]) -> Iterator[Suspect]:
    """What each operand of a meeting would be suspected of, were it where the message says one is."""
    there = CPU if any(map(names_cpu, devices)) else None
    for side in meeting.sides:
        stray = side._replace(tensor=side.tensor.like(there))
        other = next((one for one in meeting.sides if one is not side), None)
        kernel = len(devices) == 1
        suspect = of_kernel(stray, meeting) if kernel else explain(Question(stray, meeting, other))
        if suspect is not None:
            yield suspect._replace(sure=False)


def of_kernel(side: Meets, meeting: Meeting) -> Suspect | None:
    """Why a kernel of the GPU's was given an operand on the cpu; None for what is not known to be there."""
    tensor, what = side.tensor, meeting.what
    move = last_move(tensor.steps)
    if not on_cpu(tensor):
        return None
    if what == ConstraintKind.ASKED or (what == ConstraintKind.LIBRARY and move is None):
        found = explain(Question(side, meeting))
        if found is None:
            return None
        made = born_at(tensor.steps)
        if (
            made is not None
            and found.spot.line == meeting.spot.line
            and what == ConstraintKind.ASKED
        ):
            found = found._replace(spot=made.spot, devices=())
        # No move that comes after the call is one to go by.
        late = found.beside is not None and any(one.is_above(found.beside) for one in meeting.calls)
        beside = None if late else found.beside
        return found._replace(cause=CAUSE, beside=beside, wanted=found.wanted or HOME)
    if (chosen := of_option(side)) is not None:
        return chosen._replace(meets=meeting.spot)
    last = move or born_at(tensor.steps)
    if last is None:
        return None
    spot, name = turned_on(CAUSE, last.of or last.spot), said_as(side.node)
    return Suspect(CAUSE, name, spot, tensor.device, None, (), tensor.steps, meeting.spot)


def _handed_to_host(found: Reason, asked: Question) -> Reason | None:
    left = found.cause in _STATE and asked.tensor.device == CPU
    return handed_to_host(asked.meeting) if left else None


def _knows_device(found: Reason) -> bool:
    """Whether a device is known where a reason is to be edited, or in a call that leads there."""
    around = sites(found.spot, found.frame) if found.frame is not None else ()
    return any(has_device(frame, spot) for spot, frame in around)


def _past_default(found: Reason, asked: Question) -> Reason | None:
    """Where a function makes an operand on the device that its own parameter names by default, though it is
    given what that meets: the caller of the default knows as little as its writer."""
    made, frame, other = asked.made, asked.tensor.frame, asked.other
    if found.cause != "hardcoded-device" or other is None or made is None or made.of is None:
        return None
    if found.spot.node is not made.of.node or frame is None or made.of.function is None:
        return None
    if not made.of.is_above(made.spot):
        return None
    inner = found._replace(spot=made.spot, frame=frame)
    known = next(in_scope(frame, made.spot, other.tensor.device), None)
    return inner if known or any(of_other(other, inner, asked.meeting)) else None


def _loaded(found: Reason, asked: Question) -> Reason | None:
    """What was loaded is elsewhere, and not an input, where nothing on the way to it knows a device."""
    other = asked.other
    if found.cause != "input-not-moved" or other is None or found.frame is None:
        return None
    whose = other.value.steps if isinstance(other.value, Module) else other.tensor.steps
    loaded = first_of(whose, EventKind.LOADED)
    if loaded is None or last_move(whose) is not None or _knows_device(found):
        return None
    return Reason("checkpoint-location", loaded.spot, other.tensor.frame)


def _in_split_model(found: Reason, asked: Question) -> Reason | None:
    """Where a model is on several devices, no line that names one is wrong by itself."""
    by_model, meeting = _is_brought_by_model(asked.stray), asked.meeting
    if not asked.apart or found.cause != "hardcoded-device" or _forgets(asked):
        return None
    if not (asked.failed or by_model):
        return None
    devices = _devices(found, asked)
    if meeting.what == ConstraintKind.CALL or _enters(asked):
        return found._replace(cause="input-on-wrong-shard", devices=devices)
    if asked.tensor.maker in (Origin.FACTORY, Origin.ARRAY) and not by_model:  # no part gives that
        return found._replace(devices=devices)
    spot = asked.use if isinstance(asked.stray.node, ast.expr) else found.spot
    return found._replace(cause="cross-shard-op", spot=spot, devices=devices)


#: What changes a reason that was found, in this order: how, and whether only where the program failed.
_REFINEMENTS: Sequence[tuple[str, Callable[[Reason, Question], Reason | None], bool]] = (
    ("handed to code of the host", _handed_to_host, False),
    ("loaded, and no input", _loaded, True),
    ("one change at a call is enough", told_by_a_call, True),
    ("not of the process's rank", of_rank, False),
    ("a default of the function that makes it", _past_default, False),
    ("a call leaves out the device", at_call, False),
    ("in a split model", _in_split_model, False),
)


def _devices(found: Reason, asked: Question) -> tuple[str, ...]:
    """Expressions for the wanted device where a reason is to be edited."""
    if found.devices is not None:
        return found.devices
    known = in_scope(found.frame, found.spot, asked.wanted) if found.frame is not None else ()
    return tuple(islice(known, _MOST_DEVICES)) or of_other(asked.other, found, asked.meeting)


def explain(asked: Question) -> Suspect | None:
    """Why an operand is where it is; None where its origin was not seen."""
    found = reason(asked)
    if found is None:
        return None
    for _, refined, only_failed in _REFINEMENTS:
        if asked.failed or not only_failed:
            found = refined(found, asked) or found
    return Suspect(
        found.cause,
        found.name or said_as(asked.stray.node),
        found.spot,
        asked.tensor.device,
        asked.wanted,
        _devices(found, asked),
        asked.tensor.steps,
        asked.meeting.spot,
        found.move,
        found.owner,
        found.beside,
        sure=asked.tensor.device is not None,
    )
