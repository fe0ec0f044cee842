"""Why an operand is where it is, and the place to edit."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import META, differ, is_gpu
from diagnose.placement.localization.availability import (
    frame_at,
    where_built,
)
from diagnose.placement.localization.device_expressions import (
    is_forgotten_beside,
    of_grown,
)
from diagnose.placement.localization.host import (
    gone_around,
    handed_to_host,
    on_the_way_to_the_host,
)
from diagnose.placement.localization.inputs import (
    handed_over,
    is_input,
    is_target,
    moved_within,
    prepared_beside,
    shaped_as_another,
)
from diagnose.placement.localization.module_builds import (
    LOSSES,
    Built,
    built_for,
    of_module,
    where_kept,
)
from diagnose.placement.localization.optimizers import of_optimizer, of_state
from diagnose.placement.localization.question import Answer, Question, answers
from diagnose.placement.localization.replicas import away_from_home, shared_by_replicas
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Step
from diagnose.placement.provenance import (
    Reason,
    born_at,
    device_argument,
    first_of,
    has,
    is_literal,
    is_offloaded,
    last_move,
    last_of,
    made_as,
    on_cpu,
    replicated,
    said_as,
)
from diagnose.placement.semantics import holds, loads, names
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame, Generator

#: How methods begin that prepare what they are given.
_PREPARES = ("prepare", "setup")


def of_empty(asked: Question) -> Reason | None:
    """Why an operand has no memory; None for one that was not made on meta."""
    meeting, value, tensor, born = asked.meeting, asked.stray.value, asked.tensor, asked.made
    if meeting.what == ConstraintKind.META:
        filled = _filled_at(value) if isinstance(value, Module) else None
        spot = filled.spot if filled is not None else meeting.spot
        if filled is None and born is not None and isinstance(value, Module) and value.owner:
            spot = born.spot  # all else was filled
        elif filled is None and born is not None and not _is_moved_by(meeting):
            parts = value.family() if isinstance(value, Module) else ()
            inner = next((s for one in parts for s in one.steps if s.of is not None), born)
            spot = inner.of or inner.spot  # a library prepares it, and moves what it is given
        return Reason("meta-tensor", spot, tensor.frame)
    if born is None or born.device != META or tensor.device not in (META, None):
        return None
    loaded = last_of(tensor.steps, EventKind.LOADED, EventKind.UNFILLED)
    return Reason("meta-tensor", loaded.spot if loaded else born.of or born.spot, tensor.frame)


def _is_moved_by(meeting: Meeting) -> bool:
    """Whether a program's own call moves what has no memory, and no library's."""
    func = meeting.spot.node.func if isinstance(meeting.spot.node, ast.Call) else None
    return not isinstance(func, ast.Attribute) or not func.attr.startswith(_PREPARES)


def _filled_at(module: Module) -> Step | None:
    """The step that was to fill a module, or the one that it belongs to, with saved weights."""
    steps = (step for one in module.owners() for step in reversed(one.steps))
    return first_of(steps, EventKind.LOADED, EventKind.UNFILLED)


def of_generator(asked: Question) -> Reason | None:
    """The reason for a generator that draws elsewhere; None where it was not seen being made."""
    meeting, value, tensor = asked.meeting, asked.stray.value, asked.tensor
    agreed = isinstance(value, Generator) and value.agreed
    made = made_as("generator-device", tensor.steps, tensor.frame)
    told = _told_for_it(made, tensor.frame) if made is not None else None
    if agreed or (told is made and _is_chosen(tensor, meeting)):
        return Reason("generator-device", meeting.spot, meeting.frame)
    return told


def _told_for_it(found: Reason, frame: Frame | None) -> Reason:
    """Where a device is told that a parameter hands on to a generator, and to nothing else."""
    said = device_argument(found.spot)
    if frame is None or not isinstance(said, ast.Name) or said.id not in frame.given:
        return found
    other = len(loads(found.spot.source.tree, said.id)) > 1
    if other or frame.call is None or not isinstance(frame.given[said.id], ast.Constant):
        return found
    return Reason(found.cause, frame.call._replace(node=frame.given[said.id]), frame.caller)


def _is_chosen(tensor: Tensor, meeting: Meeting) -> bool:
    """Whether a generator is on an accelerator that a program has chosen, and draws for what is not told
    any device."""
    made, drawn = born_at(tensor.steps), meeting.spot
    if made is None or on_cpu(tensor) or not isinstance(drawn.node, ast.Call):
        return False
    said = device_argument(made.spot)
    told = said is not None and not isinstance(said, ast.Constant)
    factory = any(one.tensor.maker == Origin.FACTORY for one in meeting.sides)
    return told and factory and device_argument(drawn) is None


def of_index(asked: Question) -> Reason | None:
    """The reason for an index that is elsewhere: made in the same function, else where it is used."""
    stray, meeting, tensor, born = asked.stray, asked.meeting, asked.tensor, asked.made
    if not asked.meets(ConstraintKind.INDEX) or stray is not meeting.sides[1]:
        return None
    here = born is not None and born.spot.function == meeting.spot.function
    if born is not None and here and tensor.maker == Origin.FACTORY:
        told = device_argument(born.spot) is not None and not on_cpu(tensor)
        # One that is computed of what was told its device is there on purpose.
        if not (told and _is_computed(stray, born, meeting)):
            return Reason("index-device", born.spot, tensor.frame)
    return Reason("index-device", asked.use, tensor.frame)


def _is_computed(stray: Meets, born: Step, meeting: Meeting) -> bool:
    """Whether an index is a variable that was computed with what a factory made, and is not that itself."""
    statement = meeting.frame.bound.get(next(iter(names(stray.node)), ""))
    return statement is not None and not holds(statement, born.spot.node)


def _by_module(asked: Question) -> Reason | None:
    module, tensor = asked.stray.value, asked.tensor
    if not isinstance(module, Module):
        return None
    then = tensor.steps if on_cpu(tensor) and tensor.maker == Origin.WEIGHT else ()
    return of_module(Built(module, None, said_as(asked.stray.node), then))


def _by_loss(asked: Question) -> Reason | None:
    """A weight of a loss, or of a metric, that was never moved."""
    tensor, cause = asked.tensor, "loss-or-metric-state"
    module = tensor.module
    if module is None or not tensor.name or not LOSSES.search(module.kind):
        return None
    if tensor.maker == Origin.OUTPUT or not (on_cpu(tensor) or tensor.device is None):
        return None
    made = born_at(module.steps)
    if made is None or last_move(module.steps) is not None:
        return None
    spot, frame = where_built(made, module.frame)
    return where_kept(cause, module, spot, frame) or Reason(cause, spot, frame)


def _by_weight(asked: Question) -> Reason | None:
    """Why a weight is there: a copy of it was brought back, or made before its module moved; else as its
    module."""
    tensor, module, put = asked.tensor, asked.tensor.module, asked.first(EventKind.PUT)
    if module is None:
        return None
    apart = on_cpu(tensor) and differ(module.where(), tensor.device)
    if asked.move is not None and apart and isinstance(asked.stray.node, ast.expr):
        here = holds(asked.meeting.spot.node, asked.move.spot.node)
        return handed_to_host(asked.meeting) if here else asked.used("input-not-moved")
    if (held := asked.first(EventKind.HELD)) is not None and put is None:
        return asked.at(held, "unregistered-submodule", named=True)
    if put is not None and last_move(module.steps) is not None and asked.move is None:
        return asked.at(put, "submodule-added-after-move")
    return built_for(module) if apart else of_module(Built(module, tensor))


def _dropped(asked: Question) -> Reason | None:
    dropped = asked.first(EventKind.DROPPED)
    elsewhere = dropped is not None and asked.tensor.device != dropped.device
    return asked.at(dropped if elsewhere else None, "input-not-moved")


def _is_where_moved(asked: Question) -> bool:
    move = asked.move
    return move is not None and move.device is not None and asked.tensor.device == move.device


def _moved(asked: Question) -> Reason | None:
    move, tensor = asked.move, asked.tensor
    if move is None:
        return None
    if is_literal(move):
        there = frame_at(move.spot, asked.meeting.frame)
        if there is None or there.this is None:
            there = tensor.frame
        return Reason("hardcoded-device", move.spot, there)
    if move.of is not None and is_gpu(move.device):
        known = tensor.frame is not None and move.of.function == tensor.frame.function
        return Reason("hardcoded-device", move.of, tensor.frame if known else None)
    if holds(asked.meeting.spot.node, move.spot.node):
        # What the expression brings there is meant to be there.
        return handed_to_host(asked.meeting)
    on_purpose = on_cpu(tensor) and isinstance(asked.stray.node, ast.expr)
    return asked.used("input-not-moved") if on_purpose else None


def _kept(asked: Question) -> Reason | None:
    kept, tensor, owner = asked.kept, asked.tensor, asked.tensor.module
    if kept is None or owner is None:
        return None
    if not on_cpu(tensor) and replicated(owner):
        return shared_by_replicas(tensor, kept)
    loss = on_cpu(tensor) and LOSSES.search(owner.kind) and not has(owner.steps, EventKind.MOVED)
    return asked.at(kept, "loss-or-metric-state" if loss else "unregistered-tensor", named=True)


def _held(asked: Question) -> Reason | None:
    """A container of a module holds it, which the replicas of that may share."""
    held = asked.first(EventKind.HELD)
    if held is not None and not on_cpu(asked.tensor) and replicated(asked.tensor.module):
        return shared_by_replicas(asked.tensor, held)
    return asked.at(held, "unregistered-tensor", named=True)


def _state_of_metric(asked: Question) -> Reason | None:
    """What an object that is no module, but a loss or a metric, was given to keep."""
    stored = asked.first(EventKind.STORED)
    kind = (stored.spot.function or "").partition(".")[0] if stored is not None else ""
    return asked.at(asked.made if LOSSES.search(kind) else None, "loss-or-metric-state")


def _made_on_gpu(asked: Question) -> Reason | None:
    made = asked.creation
    if is_literal(made):
        return asked.at(made, "hardcoded-device")
    return Reason("hardcoded-device", made.of, asked.tensor.frame) if made.of else None


def _names_its_device(asked: Question) -> bool:
    return isinstance(device_argument(asked.creation.spot), ast.Constant)


def _is_handed_over(asked: Question) -> bool:
    """Whether a factory makes an input of a model, and no companion of something else."""
    made = asked.creation
    if shaped_as_another(made, asked.tensor.frame) or is_target(made, asked.meeting):
        return False
    return not is_forgotten_beside(made) and is_input(asked)


def _made_as_input(asked: Question) -> Reason:
    return Reason("input-not-moved", *where_built(asked.creation, asked.tensor.frame, models=True))


def _batch(asked: Question) -> Reason | None:
    if not on_cpu(asked.tensor) and is_literal(asked.creation):
        return asked.at(asked.made, "hardcoded-device")
    bound = last_of(asked.tensor.steps, EventKind.BOUND)
    handed = bound is None or (bound.spot.function or "").endswith(".forward")  # to the model
    looped = bound is not None and isinstance(bound.spot.node, ast.For)
    beside = moved_within(bound.spot) if bound is not None and not handed else None
    if bound is None or handed or (looped and beside is None):
        return Reason("input-not-moved", *handed_over(asked))
    return Reason("input-not-moved", bound.spot, asked.tensor.frame, beside=beside)


def _loaded_or_computed(asked: Question) -> Reason | None:
    if asked.tensor.maker == Origin.OUTPUT and asked.tensor.module is not None:
        return of_module(Built(asked.tensor.module))
    loaded = asked.tensor.maker == Origin.LOAD
    return asked.at(asked.made if loaded else None, "checkpoint-location")


_OF_FACTORY: Answer[Question] = answers(
    ("made on a GPU", _made_on_gpu, lambda it: is_gpu(it.tensor.device)),
    ("its device is named", lambda it: it.at(it.made, "hardcoded-device"), _names_its_device),
    ("an input", _made_as_input, _is_handed_over),
    ("made without a device", lambda it: it.at(it.made, "created-without-device")),
)

_OF_BATCH: Answer[Question] = answers(
    ("others beside it are prepared", prepared_beside),
    ("bound, or handed over", _batch),
)

#: Why an operand is where it is: each explanation is asked for where those above it have none.
reason: Answer[Question] = answers(
    ("without memory", of_empty),
    ("a generator", of_generator, lambda it: it.meets(ConstraintKind.GENERATOR, Origin.GENERATOR)),
    ("away from home", away_from_home, lambda it: it.meets(ConstraintKind.HOME)),
    ("an optimizer's state", of_state),
    ("wanted on the host", on_the_way_to_the_host, lambda it: it.meets(ConstraintKind.HOST)),
    ("an index", of_index),
    ("its offload hook is gone around", gone_around, lambda it: is_offloaded(it.layer)),
    ("a module", _by_module, lambda it: isinstance(it.stray.value, Module)),
    ("a loss", _by_loss),
    ("a weight", _by_weight, lambda it: it.layer is not None and it.kept is None),
    ("moved for nothing", _dropped),
    (
        "kept on a GPU",
        _kept,
        lambda it: bool(it.kept and it.tensor.module) and not on_cpu(it.tensor),
    ),
    ("moved there", _moved, _is_where_moved),
    ("kept", _kept),
    ("held in a container", _held, lambda it: bool(it.first(EventKind.HELD) and it.tensor.module)),
    ("grown", of_grown),
    ("the state of the user's own optimizer", of_optimizer),
    ("of unknown origin", lambda it: None, lambda it: it.made is None),
    ("the state of a metric", _state_of_metric),
    ("a factory's", _OF_FACTORY, lambda it: it.tensor.maker in (Origin.FACTORY, Origin.ARRAY)),
    ("a tokenizer's", _made_as_input, lambda it: it.tensor.maker == Origin.TOKENS),
    ("a batch", _OF_BATCH, lambda it: it.tensor.maker == Origin.BATCH),
    ("loaded, or a model's output", _loaded_or_computed),
)
