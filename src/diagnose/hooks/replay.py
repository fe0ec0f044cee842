"""From what a recorder saw of a failure to a meeting of placement analysis, which tells cause and line.

The analysis runs a program on abstract values (docs/placement.md). Where the program really ran, the
values are known: here they are put in the form in which `diagnose.placement` reasons about them.

What only the process knows corrects the suspect: its rank, and how much of a model is on meta.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from diagnose.hooks import non_dispatch
from diagnose.hooks.introspection import related, traced
from diagnose.hooks.live_values import Lives
from diagnose.hooks.non_dispatch import (
    Operand,
    Running,
    of_check,
    of_generator,
    of_optimizer,
    of_own_optimizer,
    of_wrapper,
)
from diagnose.hooks.operands import at_position, listed, only_other
from diagnose.hooks.positions import Texts
from diagnose.hooks.shown_operands import absent_from, computed, misplaced_in, told
from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.model import LiveOperand
from diagnose.placement import Spot, Step, Suspect
from diagnose.placement.devices import META, written
from diagnose.placement.localization.question import Question
from diagnose.placement.localization.suspects import explain, of_kernel, of_meeting
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.provenance import born_at, has
from diagnose.placement.semantics import around
from diagnose.placement.tensors import Tensor
from diagnose.placement.values import Frame, Generator, Value
from diagnose.scene import Scene
from diagnose.tracing.failures import Failed
from diagnose.tracing.lives import MOVES, Life
from diagnose.tracing.recorder import Recorder
from diagnose.tracing.stacks import Line, is_own

#: Frames of a traceback that are looked at.
_FRAMES = 2_000
_HOST = frozenset({"numpy", "__array__", "tolist", "_pack_padded_sequence"})
_COPIES = frozenset({"to", "cuda", "cpu"})
#: Functions that take from a table by an index: both are the first two tensors of their arguments.
_INDEX = frozenset(
    {
        *("__getitem__", "__setitem__", "index_put_", "index_put", "index_select"),
        *("take", "take_along_dim", "gather"),
    }
)


class Known(NamedTuple):
    """What a recorder knows of a failure."""

    operands: tuple[LiveOperand, ...]
    suspects: tuple[Suspect, ...]


class Met(NamedTuple):
    """What met in a failure: the meeting, what is known of its operands, and of the program around it."""

    meeting: Meeting
    operands: tuple[Operand, ...]
    lives: Lives
    asked: str | None


def met(recorder: Recorder, error: BaseException) -> Met | None:
    """What met in a failure; None where the recorder saw nothing of it.

    Args:
        recorder: what was running.
        error: the live exception.
    """
    failed, frames = _of(recorder, error)
    own = [one for one in frames if is_own(one.line.code)]
    lines = [one.line for one in own] or list(reversed(failed.stack if failed is not None else ()))
    texts = Texts()
    spot = texts.spot(lines[-1]) if lines else None
    if spot is None:
        return None
    lives = Lives(recorder, texts, own, spot, frames or frames_of(error))
    calls = tuple(one for line in lines[:-1] if (one := texts.spot(line)) is not None)
    what, operands = _met(failed, frames, lives, spot)
    frame = lives.scopes.frame(lines[::-1])
    if not operands or frame is None:
        return None
    meeting = Meeting(what, spot, tuple(one.side for one in operands), calls, frame)
    asked = (
        "cuda" if what == ConstraintKind.KERNEL else failed.asked if failed is not None else None
    )
    return Met(meeting, tuple(operands), lives, asked)


def known(recorder: Recorder, error: BaseException, scene: Scene) -> Known | None:
    """The operands of the failing call and the suspects; None where the recorder saw nothing of the
    failure.

    Args:
        recorder: what was running.
        error: the live exception.
        scene: of its report.
    """
    mismatch = scene.report.mismatch
    devices = mismatch.devices if mismatch is not None else ()
    seen = met(recorder, error)
    if seen is None:
        return None
    meeting, operands, lives, asked = seen
    found: dict[tuple[str, str, int], Suspect] = {}
    for by_rules in _suspects(meeting, devices, split=lives.whereabouts.several_cards()):
        suspect = corrected(by_rules, meeting, lives)
        found.setdefault((suspect.cause, suspect.spot.file, suspect.spot.line), suspect)
    suspects = tuple(found.values())
    misplaced = tuple(misplaced_in(meeting, suspects, devices, asked))
    return Known(tuple(told(operands, meeting, misplaced, lives)), suspects)


def _suspects(meeting: Meeting, devices: Sequence[str], *, split: bool) -> Iterator[Suspect]:
    """Who was misplaced, likeliest first: what is on meta, whatever it met."""
    if meeting.what == ConstraintKind.KERNEL:
        yield from filter(None, (of_kernel(side, meeting) for side in meeting.sides))
        return
    absent, other = absent_from(meeting)
    if absent is not None and meeting.what != ConstraintKind.META:
        if (suspect := explain(Question(absent, meeting, other))) is not None:
            yield suspect
        return
    yield from of_meeting(meeting, devices or ("?", "cpu"), split=split)


def _as_input(side: Meets, spot: Spot) -> None:
    """Takes a tensor of which nothing is known for an input: it was given to a module."""
    tensor = side.tensor
    if tensor.maker == Origin.OTHER and not has(tensor.steps, EventKind.MADE, EventKind.LOADED):
        tensor.maker = Origin.BATCH
        tensor.steps = (Step(EventKind.MADE, spot._replace(node=side.node)), *tensor.steps)


def _of(recorder: Recorder, error: BaseException) -> tuple[Failed | None, list[Running]]:
    """The recorded call that an exception, or one behind it, comes from, and the frames that ran it."""
    failed, frames = recorder.failed, frames_of(error)
    if failed is None:
        return None, frames
    first = next((one for one in related(error) if failed.is_of(one)), None)
    inner = frames_of(first) if first is not None else []
    if any(is_own(one.line.code) for one in inner):
        return failed, inner
    if first is None and not failed.is_within(error):
        return None, frames
    # Raised again: by `Module.to`, in the same frames, or by DataParallel, in another thread's.
    own = [one.line.code for one in frames if is_own(one.line.code)]
    same = own[-1:] == [line.code for line in failed.stack[:1]]
    return failed, frames if same else inner


def frames_of(error: BaseException) -> list[Running]:
    """The frames of its traceback, outermost first."""
    return [
        Running(one.tb_frame, Line(one.tb_frame.f_code, one.tb_lasti, one.tb_lineno))
        for one in islice(traced(error), _FRAMES)
    ]


def _met(
    failed: Failed | None, frames: Sequence[Running], lives: Lives, spot: Spot
) -> tuple[ConstraintKind, list[Operand]]:
    """What kind of meeting it was, and what met."""
    for special in (of_optimizer, of_wrapper):
        if frames and (found := special(frames, lives, spot)) is not None:
            return found
    if failed is None:
        refused = (one(frames, lives, spot) for one in (of_generator, of_check) if frames)
        return next(filter(None, refused), (ConstraintKind.JOIN, []))
    operands = _operands(failed, lives, spot)
    if of_own_optimizer(frames, lives, operands):
        return ConstraintKind.STATE, operands
    what = _what(failed, [one.side for one in operands], spot)
    if what == ConstraintKind.CALL:  # the module first, then what it is given
        operands.sort(key=lambda one: one.side.tensor.maker != Origin.WEIGHT)
        for one in operands:
            _as_input(one.side, spot)
    return what, operands


def _what(failed: Failed, sides: Sequence[Meets], spot: Spot) -> ConstraintKind:
    if failed.function in _HOST:
        return ConstraintKind.HOST
    if any(isinstance(side.value, Generator) for side in sides):
        return ConstraintKind.GENERATOR
    if failed.function in _COPIES and any(side.tensor.device == META for side in sides):
        return ConstraintKind.META
    if failed.function in _INDEX and len(sides) > 1:
        # Where a library takes from a table, the user's line handed it what is to be taken.
        return (
            ConstraintKind.INDEX
            if at_position(spot.node, failed.function, "0") is not None
            else ConstraintKind.CALL
        )
    return (
        ConstraintKind.CALL
        if any(side.tensor.maker == Origin.WEIGHT for side in sides)
        else ConstraintKind.JOIN
    )


def _operands(failed: Failed, lives: Lives, spot: Spot) -> list[Operand]:
    """The operands of the call, each with the expression that stands for it."""
    found: list[Operand] = []
    unplaced: list[int] = []
    taken: set[ast.AST] = set()
    for operand in failed.operands:
        if failed.function == "_pack_padded_sequence" and operand.name == "0":
            continue  # only the lengths have to be on the host
        thing = operand.tensor()
        node = non_dispatch.node_of(lives, thing, spot) if thing is not None else None
        exact = node is not None
        if operand.shape is None:
            found.append(non_dispatch.generator(lives, thing, operand.device, node, spot))
            continue
        device, scalar = written(operand.device), operand.shape == ()
        tensor = lives.lived(operand.life or Life(Origin.OTHER), device, thing, scalar=scalar)
        value: Value = tensor
        kept = has(tensor.steps, EventKind.KEPT)
        if (
            node is None
            and tensor.maker == Origin.WEIGHT
            and tensor.module is not None
            and not kept
        ):
            node, value = (
                non_dispatch.node_of_module(lives, tensor.module, spot),
                tensor.module,
            )
        if node is None and value is tensor:
            node = at_position(spot.node, failed.function, operand.name)
            if node is None:
                unplaced.append(len(found))
        if node is not None:
            taken.add(node)
            non_dispatch.constructed(lives, tensor, node, spot)
        if failed.function in _HOST:
            tensor.steps = computed(tensor)  # where its module was built is no matter there
            if (item := listed(spot.node, spot.source.tree)) is not None:
                step = Step(EventKind.LISTED, spot._replace(node=item), device)
                tensor.steps = (*tensor.steps, step)
        non_dispatch.looped(lives, tensor, node, spot)
        if tensor.maker == Origin.BATCH and (bound := non_dispatch.bound(node, spot)) is not None:
            tensor.steps = (*tensor.steps, bound)
        side = Meets(node or spot.node, value, tensor)
        found.append(Operand(side, operand.device, operand.shape, thing, operand.life, exact=exact))
    if len(unplaced) == 1 and (rest := only_other(spot.node, taken)) is not None:
        at = unplaced[0]
        found[at] = found[at]._replace(side=found[at].side._replace(node=rest))
    return found


def corrected(suspect: Suspect, meeting: Meeting, lives: Lives) -> Suspect:
    """A suspect by the rules of placement, as what is known of the process changes it."""
    if suspect.cause == "hardcoded-device" and _ignores_rank(suspect, meeting):
        return suspect._replace(cause="rank-device")
    if suspect.cause == "meta-tensor" and meeting.what == ConstraintKind.META:
        spot = _put_on_meta(meeting.sides[0].tensor, meeting.spot, lives)
        return suspect._replace(spot=spot or suspect.spot)
    return suspect


def _ignores_rank(suspect: Suspect, meeting: Meeting) -> bool:
    """Whether something is on the first GPU that met what is on the one of this process's rank."""
    rank = os.environ.get("LOCAL_RANK", "")
    if not rank.isdecimal() or suspect.device is None or suspect.device.number == int(rank):
        return False
    places = (side.tensor.device for side in meeting.sides)
    return any(one is not None and one.number == int(rank) for one in places)


def _put_on_meta(tensor: Tensor, failed: Spot, lives: Lives) -> Spot | None:
    """Where what cannot be copied was put on meta; None where the move itself is to be another.

    `to_empty` in the move's place would lose what the rest of the model holds, and cannot be written where
    a library moves.
    """
    born = born_at(tensor.steps)
    if born is None or not (lives.is_partly(META, tensor.module) or not _is_move(failed.node)):
        return None
    spot: Spot | None = born.spot
    frame: Frame | None = tensor.frame
    while spot is not None:
        block = next(around(spot.source.tree, spot.node, ast.With), None)
        if block is not None and "meta" in ast.unparse(block.items[0]):
            return spot._replace(node=block)
        spot, frame = (frame.call, frame.caller) if frame is not None else (None, None)
    return born.spot if _is_move(failed.node) else None


def _is_move(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in MOVES
    return False
