"""Why an operand is where it is, and the place to edit."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import differ, is_gpu, is_host
from diagnose.placement.localization.availability import frame_at, has_device, where_built
from diagnose.placement.localization.builder_calls import of_grown
from diagnose.placement.localization.device_parameters import is_forgotten_beside, left_out
from diagnose.placement.localization.generators import of_generator
from diagnose.placement.localization.hook_bypass import (
    gone_around,
    handed_to_host,
    left_there,
    taken_away,
)
from diagnose.placement.localization.host_code import on_the_way_to_the_host
from diagnose.placement.localization.indices import of_index
from diagnose.placement.localization.input_names import bound_beside, computed_last
from diagnose.placement.localization.inputs import (
    drawn_from_owner,
    given_to_owner,
    handed_over,
    is_input,
    is_target,
    prepared_beside,
    shaped_as_another,
    taken_by,
    unknown_input,
)
from diagnose.placement.localization.meta_tensors import of_empty
from diagnose.placement.localization.module_builds import (
    LOSSES,
    Built,
    built_for,
    of_holder,
    of_module,
    where_kept,
)
from diagnose.placement.localization.optimizers import of_keeper, of_optimizer, of_state
from diagnose.placement.localization.ownership import of_kept_object
from diagnose.placement.localization.peers import forgotten_variable, made_beside, moved_within
from diagnose.placement.localization.question import Answer, Question, answers
from diagnose.placement.localization.shards import told_at
from diagnose.placement.localization.wrappers import away_from_home, shared_by_replicas
from diagnose.placement.model import Step
from diagnose.placement.provenance import (
    Reason,
    born_at,
    device_argument,
    fixed_in_replica,
    has,
    is_literal,
    is_offloaded,
    last_move,
    last_of,
    left_behind,
    on_cpu,
    passed_over,
    replicated,
    said_as,
)
from diagnose.placement.replicas import CAUSE
from diagnose.placement.semantics import called, holds
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame


def _by_module(asked: Question) -> Reason | None:
    module, tensor = asked.stray.value, asked.tensor
    if not isinstance(module, Module):
        return None
    then = tensor.steps if on_cpu(tensor) and tensor.maker == Origin.WEIGHT else ()
    said = said_as(asked.stray.node)
    return left_there(of_module(Built(module, None, said, asked.meeting.frame, then)), asked)


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
    known = frame is not None and has_device(frame, spot)
    return (None if known else where_kept(cause, module)) or Reason(cause, spot, frame)


def _by_weight(asked: Question) -> Reason | None:
    tensor, module = asked.tensor, asked.tensor.module
    if module is None:
        return None
    if _is_brought_back(tensor, module) and isinstance(asked.stray.node, ast.expr):
        if _is_here(asked.move, asked):
            return handed_to_host(asked.meeting)
        return asked.used("input-not-moved")
    return left_there(_of_weight(asked, module), asked)


def _is_here(move: Step | None, asked: Question) -> bool:
    """Whether a move stands in the expression that fails: what it brings somewhere is meant to be there."""
    return move is not None and holds(asked.meeting.spot.node, move.spot.node)


def _of_weight(asked: Question, module: Module) -> Reason | None:
    """Why a weight is there: held in a plain list, copied before its module moved, or as its module."""
    tensor = asked.tensor
    held, put = asked.first(EventKind.HELD), asked.first(EventKind.PUT)
    if held is not None and put is None:
        return asked.at(held, "unregistered-submodule", named=True)
    if put is not None and last_move(module.steps) is not None and asked.move is None:
        return asked.at(put, "submodule-added-after-move")
    if on_cpu(tensor) and differ(module.where(), tensor.device):
        if (made := made_beside(tensor, module)) is not None:
            return asked.at(made, "created-without-device")
        return of_keeper(tensor, module, asked.meeting) or built_for(module)
    return of_module(Built(module, tensor))


def _is_brought_back(tensor: Tensor, module: Module) -> bool:
    """Whether a copy of a weight was brought to the host, and its module stayed on an accelerator."""
    move, whole = last_move(tensor.steps), last_move(module.whole().steps)
    back = move is not None and is_host(move.device)
    return back and whole is not None and on_cpu(tensor) and module.where() == whole.device


def _passed_over(asked: Question) -> Reason | None:
    steps = asked.tensor.steps
    passed = passed_over(steps)
    if passed is None or not isinstance(asked.stray.node, ast.expr):
        return None
    cause = "unregistered-tensor" if _is_of_mover(steps, passed) else "input-not-moved"
    return asked.used(cause, beside=passed.spot)


def _dropped(asked: Question) -> Reason | None:
    dropped = asked.first(EventKind.DROPPED)
    elsewhere = dropped is not None and asked.tensor.device != dropped.device
    return asked.at(dropped if elsewhere else None, "input-not-moved")


def _is_where_moved(asked: Question) -> bool:
    move = asked.move
    return move is not None and move.device is not None and asked.tensor.device == move.device


def _moved(asked: Question) -> Reason | None:
    move, tensor, meeting = asked.move, asked.tensor, asked.meeting
    if move is None:
        return None
    if is_literal(move):
        there = frame_at(move.spot, meeting.frame)
        if there is None or there.this is None:
            there = tensor.frame
        return Reason("hardcoded-device", move.spot, there)
    if move.of is not None and is_gpu(move.device):
        return Reason("hardcoded-device", *told_at(move, move.of, tensor, meeting))
    if _is_here(move, asked):
        return handed_to_host(meeting)
    on_purpose = on_cpu(tensor) and isinstance(asked.stray.node, ast.expr)
    return asked.used("input-not-moved") if on_purpose else None


def _kept(asked: Question) -> Reason | None:
    kept, tensor, owner = asked.kept, asked.tensor, asked.tensor.module
    if kept is None or owner is None:
        return None
    if not on_cpu(tensor):
        return _by_replicas(asked, kept)
    loss = LOSSES.search(owner.kind) and not has(owner.steps, EventKind.MOVED)
    if asked.made is not None and not loss and _is_remade(asked.made, kept, tensor):
        return asked.at(asked.made, "created-without-device")
    return asked.at(kept, "loss-or-metric-state" if loss else "unregistered-tensor", named=True)


def _held(asked: Question) -> Reason | None:
    held = asked.first(EventKind.HELD)
    return _by_replicas(asked, held) if held is not None else None


def _by_replicas(asked: Question, kept: Step) -> Reason | None:
    """What is kept, which the replicas of its module may share."""
    if not on_cpu(asked.tensor) and replicated(asked.tensor.module):
        return shared_by_replicas(asked.tensor, kept, asked.meeting)
    return asked.at(kept, "unregistered-tensor", named=True)


def _by_holder(asked: Question) -> Reason | None:
    stored, made = asked.first(EventKind.STORED), asked.made
    if stored is None or made is None:
        return None
    if (late := of_holder(asked.stray, asked.meeting.frame)) is not None:
        return late
    loss = LOSSES.search((stored.spot.function or "").partition(".")[0])
    return asked.at(made if loss else None, "loss-or-metric-state")


def _weight_of_loss(asked: Question) -> Reason | None:
    """An operand is the ``weight=`` of a loss function."""
    call = asked.meeting.spot.node
    if asked.made is None or not isinstance(call, ast.Call):
        return None
    loss = called(call).endswith(("cross_entropy", "nll_loss", "with_logits", "_loss"))
    named = {one.arg for one in call.keywords if one.value is asked.stray.node}
    found = loss and bool(named & {"weight", "pos_weight"})
    return asked.at(asked.made if found else None, "loss-or-metric-state")


def _made_on_gpu(asked: Question) -> Reason | None:
    made, tensor = asked.creation, asked.tensor
    if is_literal(made):
        return asked.at(made, "hardcoded-device")
    if made.of is None:
        return None
    far = made.spot.function != asked.meeting.spot.function
    told = left_out(made, tensor.frame) if far else None
    return Reason("hardcoded-device", *(told or (made.of, tensor.frame)))


def _left_out(asked: Question) -> Reason | None:
    if (call := left_out(asked.creation, asked.tensor.frame)) is not None:
        return Reason("created-without-device", *call)
    named = isinstance(device_argument(asked.creation.spot), ast.Constant)
    return asked.at(asked.creation if named else None, "hardcoded-device")


def _is_handed_over(asked: Question) -> bool:
    """Whether a factory makes an input of a model, and no companion of something else."""
    made = asked.creation
    if shaped_as_another(made, asked.tensor.frame) or is_target(made, asked.meeting):
        return False
    return not is_forgotten_beside(made) and is_input(asked)


def _made_as_input(asked: Question) -> Reason:
    return Reason("input-not-moved", *where_built(asked.creation, asked.tensor.frame, models=True))


def _made_batch(asked: Question) -> Reason | None:
    made = asked.creation
    if not on_cpu(asked.tensor) and is_literal(made):
        return asked.at(made, "hardcoded-device")
    beside = _is_made_beside(made, asked.tensor.frame)
    return asked.at(made if beside else None, "input-not-moved")


def _batch(asked: Question) -> Reason | None:
    bound = last_of(asked.tensor.steps, EventKind.BOUND)
    handed = bound is None or (bound.spot.function or "").endswith(".forward")  # to the model
    looped = bound is not None and isinstance(bound.spot.node, ast.For)
    beside = moved_within(bound.spot) if bound is not None and not handed else None
    if bound is None or handed or (looped and beside is None):
        return Reason("input-not-moved", *handed_over(asked))
    return Reason("input-not-moved", bound.spot, asked.tensor.frame, beside=beside)


def _is_remade(made: Step, kept: Step, tensor: Tensor) -> bool:
    """Whether a module keeps what a factory makes in that statement, later than in its ``__init__``: it is
    state, and no table that is computed once."""
    frame = tensor.frame
    if not holds(kept.spot.node, made.spot.node):
        return False
    while frame is not None and isinstance(frame.this, Module):
        if (frame.function or "").endswith(".__init__"):
            return False
        frame = frame.caller
    return tensor.maker == Origin.FACTORY and frame is not tensor.frame


def _is_of_mover(steps: Sequence[Step], passed: Step) -> bool:
    """Whether a value was made by the class whose method moves the others."""
    made, mover = born_at(steps), (passed.spot.function or "").rpartition(".")[0]
    return bool(mover) and made is not None and (made.spot.function or "").startswith(f"{mover}.")


def _is_made_beside(made: Step, frame: Frame | None) -> bool:
    """Whether a generator that knows a device makes a part of a batch by a function of torch."""
    node = made.spot.node
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    factory = called.startswith("torch.") and "utils" not in called
    if not factory or frame is None or not frame.yields:
        return False
    return has_device(frame, made.spot, moved=False)


def _loaded_or_computed(asked: Question) -> Reason | None:
    if asked.tensor.maker == Origin.OUTPUT and asked.tensor.module is not None:
        return of_module(Built(asked.tensor.module))
    loaded = asked.tensor.maker == Origin.LOAD
    return asked.at(asked.made if loaded else None, "checkpoint-location")


_OF_INPUT: Answer[Question] = answers(
    ("taken by a function that knows a device", taken_by),
    ("drawn from an object that knows none", drawn_from_owner),
    ("computed last where it had met others", computed_last),
    ("made as an input", _made_as_input),
)

_OF_FACTORY: Answer[Question] = answers(
    ("made on a GPU", _made_on_gpu, lambda it: is_gpu(it.tensor.device)),
    ("its device is left out by a call, or named", _left_out),
    ("an input", _OF_INPUT, _is_handed_over),
    ("given to an object", given_to_owner),
    ("kept by an object of the module", of_kept_object),
    ("made without a device", lambda it: it.at(it.made, "created-without-device")),
)

_OF_BATCH: Answer[Question] = answers(
    ("made on a GPU, or beside a device", _made_batch),
    ("others beside it are prepared", prepared_beside),
    ("bound, or handed over", _batch),
)

#: Why an operand is where it is: each explanation is asked for where those above it have none.
reason: Answer[Question] = answers(
    ("taken away from an offload hook", taken_away),
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
    ("handed on by what moves others", _passed_over),
    ("left behind", lambda it: it.at(left_behind(it.tensor.steps), "input-not-moved")),
    ("forgotten beside other variables", forgotten_variable),
    ("moved for nothing", _dropped),
    ("fixed in a replica", lambda it: it.at(fixed_in_replica(it.tensor), CAUSE)),
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
    ("an input that is not known", unknown_input, lambda it: it.made is None),
    ("held by an object", _by_holder),
    ("the weights of a loss", _weight_of_loss),
    ("bound beside others", bound_beside),
    ("a factory's", _OF_FACTORY, lambda it: it.tensor.maker in (Origin.FACTORY, Origin.ARRAY)),
    ("a tokenizer's", _made_as_input, lambda it: it.tensor.maker == Origin.TOKENS),
    ("a batch", _OF_BATCH, lambda it: it.tensor.maker == Origin.BATCH),
    ("loaded, or a model's output", _loaded_or_computed),
)
