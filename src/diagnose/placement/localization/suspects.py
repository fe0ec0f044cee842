"""From what met to why it was there: which operand is the stray, and the line to edit for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import islice

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.control_dependence import turned_on
from diagnose.placement.devices import CPU, HOME
from diagnose.placement.localization.availability import has_device, knows_device
from diagnose.placement.localization.builder_calls import told_by_a_call
from diagnose.placement.localization.confidence import is_sure
from diagnose.placement.localization.context import is_caught
from diagnose.placement.localization.default_devices import at_call
from diagnose.placement.localization.device_expressions import in_scope, of_other
from diagnose.placement.localization.hook_bypass import handed_to_host, offload_turned_on
from diagnose.placement.localization.kernels import of_argument, of_option, of_unmoved
from diagnose.placement.localization.manual_sharding import spreads_by_hand
from diagnose.placement.localization.misplaced import agree, names_cpu, strays
from diagnose.placement.localization.operands import reason
from diagnose.placement.localization.parameters import taken
from diagnose.placement.localization.question import Question
from diagnose.placement.localization.ranks import of_rank
from diagnose.placement.localization.shard_ingress import brought
from diagnose.placement.localization.shards import COMPUTED, crossing, gathered, sent
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Suspect
from diagnose.placement.provenance import (
    Reason,
    born_at,
    first_of,
    is_literal,
    last_move,
    on_cpu,
    said_as,
)
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Object

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
    if meeting.what == ConstraintKind.KERNEL and not devices:
        for side in meeting.sides if _is_kernel(meeting) else ():
            if (refused := of_kernel(side, meeting)) is not None:
                yield refused
        return
    if meeting.what == ConstraintKind.REFUSED:
        for side in () if devices or is_caught(meeting) else meeting.sides:
            if (told := explain(side, None, meeting, failed=False)) is not None:
                yield _weighed(told, meeting, side, failed=False)
        return
    if meeting.what == ConstraintKind.HANDED and not devices:
        return  # a library may bring one to the other
    if meeting.what == ConstraintKind.LACKED:
        yield _weighed(_of_another_process(meeting), meeting, failed=bool(devices))
        return
    if meeting.what == ConstraintKind.ASKED:
        for side in meeting.sides if devices else ():
            if (refused := of_kernel(side, meeting)) is not None:
                yield refused
        return
    if devices and meeting.what in _TOGETHER and agree(meeting):
        return
    on_gpus = not any(map(names_cpu, devices))
    if devices and on_gpus and (entered := brought(meeting, devices)):
        yield entered
    # What a trainer has gathered is split no longer, whatever is still sent to where a part was.
    whole = gathered(meeting, sure=True) if on_gpus else None
    across = crossing(meeting) if split and on_gpus else None
    spread = gathered(meeting) if devices and on_gpus and whole is None else None
    for found in filter(None, (whole, across, spread)):
        yield _weighed(found, meeting, failed=bool(devices))
        if not devices:
            return
    for stray, other in strays(meeting, devices):
        suspect = explain(stray, other, meeting, failed=bool(devices))
        if suspect is None:
            continue
        named = suspect.cause == "hardcoded-device" and not _forgets(stray, meeting)
        by_model = _is_brought_by_model(stray)
        apart = named and (split or spreads_by_hand(meeting.spot.source.tree))
        if apart and (devices or by_model):
            # Where a model is on several devices, no line that names one is wrong by itself.
            enters = meeting.what == ConstraintKind.CALL or _enters(stray, other, meeting)
            made = stray.tensor.maker in (Origin.FACTORY, Origin.ARRAY) and not by_model
            if not enters and made:  # no part gives that
                given = tuple(_given(other, suspect, meeting))
                suspect = suspect._replace(devices=(*given, *suspect.devices))
                yield _weighed(suspect, meeting, stray, other, failed=True)
                continue
            cause = "input-on-wrong-shard" if enters else "cross-shard-op"
            suspect = suspect._replace(cause=cause)
            if cause == "cross-shard-op" and (by := sent(stray, other, meeting)) is not None:
                suspect = suspect._replace(spot=by[0], devices=by[1])
            elif cause == "cross-shard-op" and isinstance(stray.node, ast.expr):
                suspect = suspect._replace(spot=meeting.spot._replace(node=stray.node))
        elif suspect.cause == "input-not-moved" and suspect.beside is not None and devices:
            # What is handed on between parts of a split model was moved before: to the part it comes from.
            tree = meeting.spot.source.tree
            if not any(map(names_cpu, devices)) and (split or spreads_by_hand(tree)):
                suspect = suspect._replace(cause="cross-shard-op")
        yield _weighed(suspect, meeting, stray, other, failed=bool(devices))


def _is_brought_by_model(side: Meets) -> bool:
    """Whether a model itself brought an operand to one of its parts."""
    move = last_move(side.tensor.steps)
    return move is not None and (move.spot.function or "").endswith(".forward")


def _of_another_process(meeting: Meeting) -> Suspect:
    """A GPU that is numbered as the process is among those of all machines, or as the machine is."""
    asked, spot = meeting.sides[0].tensor, meeting.spot
    return Suspect("rank-device", said_as(spot.node), spot, asked.device, far=True)


def _enters(stray: Meets, other: Meets | None, meeting: Meeting) -> bool:
    """Whether an operand is what a method of a model was handed, and meets one of its weights."""
    handed = isinstance(stray.node, ast.Name) and stray.node.id in meeting.frame.given
    own = isinstance(meeting.frame.this, Module) and stray.tensor.maker not in COMPUTED
    return handed and own and other is not None and other.tensor.maker == Origin.WEIGHT


def _given(other: Meets | None, suspect: Suspect, meeting: Meeting) -> Iterator[str]:
    """The device of the operand that the function was handed in which both meet, wherever that is."""
    match other.node if other is not None else None:
        case ast.Name(id=name) if suspect.spot.function == meeting.spot.function:
            if name in meeting.frame.given:
                yield f"{name}.device"


def _weighed(
    suspect: Suspect,
    meeting: Meeting,
    stray: Meets | None = None,
    other: Meets | None = None,
    *,
    failed: bool,
) -> Suspect:
    """A suspect as sure as it is: what failed is looked for, and need not be."""
    if failed or is_sure(suspect, stray, other, meeting):
        return suspect
    return suspect._replace(sure=False)


def _forgets(stray: Meets, meeting: Meeting) -> bool:
    """Whether a method makes an operand on a device that its line names, where its object has its own."""
    made, frame = born_at(stray.tensor.steps), meeting.frame
    if made is None or not isinstance(frame.this, Object) or meeting.what == ConstraintKind.CALL:
        return False
    here = made.spot.function == meeting.spot.function and last_move(stray.tensor.steps) is None
    return here and is_literal(made) and has_device(frame, made.spot)


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
        unmoved = of_unmoved(stray, meeting) if kernel else None
        suspect = of_kernel(stray, meeting) if kernel else explain(stray, other, meeting)
        suspect = unmoved or suspect
        if suspect is not None:
            yield suspect._replace(sure=False)


def of_kernel(side: Meets, meeting: Meeting) -> Suspect | None:
    """Why a kernel of the GPU's was given an operand on the cpu; None for what is not known to be there."""
    tensor = side.tensor
    asked = meeting.what == ConstraintKind.ASKED
    if asked and on_cpu(tensor) and (unmoved := of_unmoved(side, meeting)) is not None:
        return unmoved._replace(meets=meeting.spot, device=tensor.device)
    if asked and on_cpu(tensor) and (handed := of_argument(side, meeting)) is not None:
        return handed._replace(meets=meeting.spot, device=tensor.device)
    if on_cpu(tensor) and (
        asked or (meeting.what == ConstraintKind.LIBRARY and not last_move(tensor.steps))
    ):
        found = explain(side, None, meeting)
        return _refused(found, tensor, meeting) if found is not None else None
    if on_cpu(tensor) and (chosen := of_option(side)) is not None:
        return chosen._replace(meets=meeting.spot)
    last = last_move(tensor.steps) or born_at(tensor.steps)
    if not on_cpu(tensor) or last is None:
        return None
    cause, spot = "kernel-needs-gpu", last.of or last.spot
    name = said_as(side.node)
    spot = turned_on(cause, spot)
    return Suspect(cause, name, spot, tensor.device, None, (), tensor.steps, meeting.spot)


def _refused(found: Suspect, tensor: Tensor, meeting: Meeting) -> Suspect:
    """A suspect of what a kernel's check refused: where it is made, if all else that is known of it is the
    check; and no move that comes after the call."""
    made, beside = born_at(tensor.steps), found.beside
    if (
        made is not None
        and found.spot.line == meeting.spot.line
        and meeting.what == ConstraintKind.ASKED
    ):
        found = found._replace(spot=made.spot, devices=())
    late = beside is not None and any(
        (call.file, call.function) == (beside.file, beside.function) and call.line < beside.line
        for call in meeting.calls
    )
    return found._replace(
        cause="kernel-needs-gpu", beside=None if late else beside, wanted=found.wanted or HOME
    )


def _loaded(found: Reason, other: Meets | None) -> Reason | None:
    """What was loaded is elsewhere, and not an input, where nothing on the way to it knows a device."""
    if found.cause != "input-not-moved" or other is None or found.frame is None:
        return None
    whose = other.value.steps if isinstance(other.value, Module) else other.tensor.steps
    loaded = first_of(whose, EventKind.LOADED)
    if loaded is None or last_move(whose) is not None or knows_device(found.frame, found.spot):
        return None
    return Reason("checkpoint-location", loaded.spot, other.tensor.frame)


def _by_setting(found: Reason, stray: Meets, other: Meets | None) -> Reason:
    """What a mode or a policy leaves on the host, where the setting stands that asked for it."""
    move = last_move(stray.tensor.steps)
    if move is not None and found.spot.node is move.spot.node:
        spot = turned_on(found.cause, found.spot) if found.cause == "low-memory-mode" else None
        return found._replace(spot=spot) if spot is not None else found
    if found.cause == "zero-offload":
        return offload_turned_on(found, stray.tensor, other)
    return found


def _past_default(found: Reason, stray: Meets, other: Meets, meeting: Meeting) -> Reason | None:
    """Where a function makes an operand on the device that its own parameter names by default, though it is
    given what that meets: the caller of the default knows as little as its writer."""
    made, frame = born_at(stray.tensor.steps), stray.tensor.frame
    if made is None or made.of is None or found.spot.node is not made.of.node or frame is None:
        return None
    own = (made.of.file, made.of.function) == (made.spot.file, made.spot.function)
    inner = found._replace(spot=made.spot, frame=frame)
    if not own or made.of.function is None or made.of.line >= made.spot.line:
        return None
    known = next(in_scope(frame, made.spot, other.tensor.device), None)
    return inner if known or any(of_other(other, inner, meeting)) else None


def explain(
    stray: Meets, other: Meets | None, meeting: Meeting, *, failed: bool = True
) -> Suspect | None:
    """Why an operand is where it is; None where its origin was not seen."""
    tensor = stray.tensor
    wanted = (
        other.tensor.device
        if other is not None
        else CPU
        if meeting.what == ConstraintKind.HOST
        else None
    )
    found = reason(Question(stray, meeting, other, failed))
    if found is None:
        return None
    if found.cause in _STATE and tensor.device == CPU:
        found = handed_to_host(meeting) or found
    if failed:
        found = _by_setting(told_by_a_call(_loaded(found, other) or found), stray, other)
        found = taken(found, stray, meeting)
    if found.cause == "hardcoded-device" and other is not None:
        found = of_rank(found, other) or _past_default(found, stray, other, meeting) or found
    using = found.spot
    if isinstance(found.spot.node, ast.arg) and found.beside is not None:
        using = found.beside  # where a parameter is moved
    known = in_scope(found.frame, using, wanted) if found.frame is not None else ()
    devices = tuple(islice(known, _MOST_DEVICES)) or of_other(other, found, meeting)
    if found.cause == "hardcoded-device" and (left := at_call(found.spot)) is not None:
        found, devices = found._replace(spot=left.spot), left.devices
    return Suspect(
        found.cause,
        found.name or said_as(stray.node),
        found.spot,
        tensor.device,
        wanted,
        devices,
        tensor.steps,
        meeting.spot,
        found.move,
        found.owner,
        found.beside,
        sure=tensor.device is not None,
    )
