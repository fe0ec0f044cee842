"""Why an operand is where it is, and the place to edit."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.kinds import ConstraintKind, DeviceType, EventKind, Origin
from diagnose.placement.devices import differ, is_gpu, is_host
from diagnose.placement.localization.availability import frame_at, has_device, where_built
from diagnose.placement.localization.builder_calls import of_grown
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
from diagnose.placement.localization.missing_device import is_forgotten_beside, left_out
from diagnose.placement.localization.module_builds import (
    LOSSES,
    built_for,
    of_holder,
    of_module,
    where_kept,
)
from diagnose.placement.localization.optimizers import of_keeper, of_library, of_optimizer
from diagnose.placement.localization.ownership import of_kept_object
from diagnose.placement.localization.peers import forgotten_variable, made_beside, moved_within
from diagnose.placement.localization.shards import told_at
from diagnose.placement.localization.wrappers import away_from_home, shared_by_replicas
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Step
from diagnose.placement.provenance import (
    Reason,
    born_at,
    device_argument,
    first_of,
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
from diagnose.placement.semantics import holds
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame


def reason(stray: Meets, meeting: Meeting) -> Reason | None:
    """The cause of an operand's place, None where its origin was not seen."""
    value, tensor = stray.value, stray.tensor
    if meeting.what == ConstraintKind.META and (taken := taken_away(stray, meeting)) is not None:
        return taken
    if (empty := of_empty(stray, meeting)) is not None:
        return empty
    match meeting.what:
        case ConstraintKind.GENERATOR if tensor.maker == Origin.GENERATOR:
            return of_generator(stray, meeting)
        case ConstraintKind.HOME:
            return away_from_home(meeting, stray)
        case ConstraintKind.STATE if tensor.maker == Origin.STATE and tensor.module is not None:
            return of_library(stray, meeting)
        case ConstraintKind.STATE if put := first_of(tensor.steps, EventKind.STORED):
            return Reason("optimizer-state", put.spot, tensor.frame)
        case ConstraintKind.HOST:
            return on_the_way_to_the_host(stray, meeting)
        case ConstraintKind.INDEX if (
            stray is meeting.sides[1] and left_behind(tensor.steps) is None
        ):
            return of_index(stray, meeting)
    whose = value if isinstance(value, Module) else tensor.module
    if (
        whose is not None
        and tensor.maker in (Origin.WEIGHT, Origin.COMPUTED)
        and is_offloaded(whose)
    ):
        return gone_around(stray, whose, meeting)
    if isinstance(value, Module):
        then = tensor.steps if on_cpu(tensor) and tensor.maker == Origin.WEIGHT else ()
        found = of_module(value, None, said_as(stray.node), meeting.frame, then)
        return left_there(found, stray, value, meeting)
    if (
        tensor.module is not None
        and tensor.name
        and LOSSES.search(tensor.module.kind)
        and tensor.maker != Origin.OUTPUT
        and last_move(tensor.module.steps) is None
        and (on_cpu(tensor) or tensor.device is None)
    ):
        made = born_at(tensor.module.steps)
        if made is not None:
            spot, frame = where_built(made, tensor.module.frame)
            kept_by = None
            if frame is None or not has_device(frame, spot):
                kept_by = where_kept("loss-or-metric-state", tensor.module)
            return kept_by or Reason("loss-or-metric-state", spot, frame)
    kept = _kept(tensor, meeting)
    if (
        tensor.maker in (Origin.WEIGHT, Origin.COMPUTED)
        and tensor.module is not None
        and kept is None
    ):
        if _is_brought_back(tensor, tensor.module) and isinstance(stray.node, ast.expr):
            if _is_here(last_move(tensor.steps), meeting):
                return handed_to_host(meeting)
            return Reason("input-not-moved", meeting.spot._replace(node=stray.node), meeting.frame)
        return left_there(_of_weight(tensor, tensor.module, meeting), stray, tensor.module, meeting)
    return _of_tensor(stray, meeting, kept)


def _kept(tensor: Tensor, meeting: Meeting) -> Step | None:
    """The step by which a tensor was kept: by the class that fails with it, where several keep it."""
    keeps = [step for step in tensor.steps if step.what == EventKind.KEPT]
    whose = (meeting.spot.function or "").partition(".")[0]
    own = (one for one in keeps if (one.spot.function or "").partition(".")[0] == whose)
    return next(own, next(iter(keeps), None))


def _is_here(move: Step | None, meeting: Meeting) -> bool:
    """Whether a move stands in the expression that fails: what it brings somewhere is meant to be there."""
    return move is not None and holds(meeting.spot.node, move.spot.node)


def _of_weight(tensor: Tensor, module: Module, meeting: Meeting) -> Reason | None:
    """Why a weight is there: held in a plain list, copied before its module moved, or as its module."""
    held = first_of(tensor.steps, EventKind.HELD)
    if held is not None and not has(tensor.steps, EventKind.PUT):
        return Reason("unregistered-submodule", held.spot, tensor.frame, f"self.{tensor.name}")
    put = first_of(tensor.steps, EventKind.PUT)
    late = (
        put is not None and last_move(module.steps) is not None and last_move(tensor.steps) is None
    )
    if put is not None and late:
        return Reason("submodule-added-after-move", put.spot, tensor.frame)
    if on_cpu(tensor) and differ(module.where(), tensor.device):
        if (made := made_beside(tensor, module)) is not None:
            return Reason("created-without-device", made.spot, tensor.frame)
        return of_keeper(tensor, module, meeting) or built_for(module)
    return of_module(module, tensor)


def _is_brought_back(tensor: Tensor, module: Module) -> bool:
    """Whether a copy of a weight was brought to the host, and its module stayed on an accelerator."""
    move, whole = last_move(tensor.steps), last_move(module.whole().steps)
    back = move is not None and is_host(move.device)
    return back and whole is not None and on_cpu(tensor) and module.where() == whole.device


def _of_tensor(stray: Meets, meeting: Meeting, kept: Step | None) -> Reason | None:
    tensor = stray.tensor
    move = last_move(tensor.steps)
    if (passed := passed_over(tensor.steps)) is not None and isinstance(stray.node, ast.expr):
        spot = meeting.spot._replace(node=stray.node)
        cause = "unregistered-tensor" if _is_of_mover(tensor.steps, passed) else "input-not-moved"
        return Reason(cause, spot, meeting.frame, beside=passed.spot)
    if (left := left_behind(tensor.steps)) is not None:
        return Reason("input-not-moved", left.spot, tensor.frame)
    if (forgotten := forgotten_variable(tensor, stray.node, meeting.spot)) is not None:
        return forgotten
    dropped = first_of(tensor.steps, EventKind.DROPPED)
    if dropped is not None and tensor.device != dropped.device:
        return Reason("input-not-moved", dropped.spot, tensor.frame)
    if (fixed := fixed_in_replica(tensor)) is not None:
        return Reason("dataparallel-replica-state", fixed.spot, tensor.frame)
    if kept is not None and isinstance(tensor.module, Module) and not on_cpu(tensor):
        if replicated(tensor.module):
            return shared_by_replicas(tensor, kept, meeting)
        return Reason("unregistered-tensor", kept.spot, tensor.frame, f"self.{tensor.name}")
    if move is not None and move.device is not None and tensor.device == move.device:
        if is_literal(move):
            there = frame_at(move.spot, meeting.frame)
            if there is None or there.this is None:
                there = tensor.frame
            return Reason("hardcoded-device", move.spot, there)
        if move.of is not None and move.device.type == DeviceType.CUDA:
            return Reason("hardcoded-device", *told_at(move, move.of, tensor, meeting))
        if _is_here(move, meeting):
            return handed_to_host(meeting)
        if on_cpu(tensor) and isinstance(stray.node, ast.expr):  # brought to the host on purpose
            spot = meeting.spot._replace(node=stray.node)
            return Reason("input-not-moved", spot, meeting.frame)
        return None
    if (
        kept is not None
        and tensor.module is not None
        and not on_cpu(tensor)
        and replicated(tensor.module)
    ):
        return shared_by_replicas(tensor, kept, meeting)
    if kept is not None and tensor.module is not None:
        owner = tensor.module
        loss = LOSSES.search(owner.kind) and not has(owner.steps, EventKind.MOVED)
        born = born_at(tensor.steps)
        if born is not None and not loss and _is_remade(born, kept, tensor):
            return Reason("created-without-device", born.spot, tensor.frame)
        cause = "loss-or-metric-state" if loss else "unregistered-tensor"
        return Reason(cause, kept.spot, tensor.frame, f"self.{tensor.name}")
    held = first_of(tensor.steps, EventKind.HELD)
    if held is not None and not on_cpu(tensor) and replicated(tensor.module):
        return shared_by_replicas(tensor, held, meeting)
    if held is not None and tensor.module is not None:
        return Reason("unregistered-tensor", held.spot, tensor.frame, f"self.{tensor.name}")
    grown = first_of(tensor.steps, EventKind.GROWN)
    if grown is not None and tensor.maker == Origin.GROWN:
        return of_grown(tensor, grown)
    made = born_at(tensor.steps)
    if (state := of_optimizer(stray, meeting)) is not None:
        return state
    if made is None:
        return unknown_input(stray, meeting)
    stored = first_of(tensor.steps, EventKind.STORED)
    if stored is not None and (late := of_holder(stray, meeting.frame)) is not None:
        return late
    if stored is not None and LOSSES.search((stored.spot.function or "").partition(".")[0]):
        return Reason("loss-or-metric-state", made.spot, tensor.frame)
    if _is_weight_of_loss(stray, meeting):
        return Reason("loss-or-metric-state", made.spot, tensor.frame)
    if (forgotten := bound_beside(stray, meeting)) is not None:
        return forgotten
    match tensor.maker:
        case Origin.FACTORY | Origin.ARRAY:
            if is_gpu(tensor.device):
                if is_literal(made):
                    return Reason("hardcoded-device", made.spot, tensor.frame)
                if made.of is None:
                    return None
                far = made.spot.function != meeting.spot.function
                told = left_out(made, tensor.frame) if far else None
                return Reason("hardcoded-device", *(told or (made.of, tensor.frame)))
            if (call := left_out(made, tensor.frame)) is not None:
                return Reason("created-without-device", *call)
            if isinstance(device_argument(made.spot), ast.Constant):
                return Reason("hardcoded-device", made.spot, tensor.frame)
            companion = (
                shaped_as_another(made, tensor.frame)
                or is_target(made, meeting)
                or is_forgotten_beside(made)
            )
            if is_input(stray, tensor, meeting) and not companion:
                if (taken := taken_by(stray, made, meeting)) is not None:
                    return taken
                if stored is not None and (drawn := drawn_from_owner(stray, made, meeting)):
                    return drawn
                if (last := computed_last(stray, made, meeting)) is not None:
                    return last
                return Reason("input-not-moved", *where_built(made, tensor.frame, models=True))
            if (kept_of := given_to_owner(stray, made, meeting)) is not None:
                return kept_of
            if (own := of_kept_object(stray, made, meeting)) is not None:
                return own
            return Reason("created-without-device", made.spot, tensor.frame)
        case Origin.TOKENS:
            return Reason("input-not-moved", *where_built(made, tensor.frame, models=True))
        case Origin.BATCH if not on_cpu(tensor) and is_literal(made):
            return Reason("hardcoded-device", made.spot, tensor.frame)
        case Origin.BATCH if _is_made_beside(made, tensor.frame):
            return Reason("input-not-moved", made.spot, tensor.frame)
        case Origin.BATCH if (forgotten := prepared_beside(made, meeting)) is not None:
            return forgotten
        case Origin.BATCH:
            bound = last_of(tensor.steps, EventKind.BOUND)
            if bound is not None and (bound.spot.function or "").endswith(".forward"):
                bound = None  # a part of what the model was handed
            if bound is not None and isinstance(bound.spot.node, ast.For):
                beside = moved_within(bound.spot, bound.spot.node)
                if beside is not None:
                    return Reason("input-not-moved", bound.spot, tensor.frame, beside=beside)
                bound = None
            if bound is None:
                return Reason("input-not-moved", *handed_over(stray, meeting))
            return Reason("input-not-moved", bound.spot, tensor.frame)
        case Origin.LOAD:
            return Reason("checkpoint-location", made.spot, tensor.frame)
        case Origin.OUTPUT if tensor.module is not None:
            return of_module(tensor.module)
    return None


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


def _is_weight_of_loss(stray: Meets, meeting: Meeting) -> bool:
    """Whether an operand is the ``weight=`` of a loss function."""
    called = meeting.spot.node
    if not isinstance(called, ast.Call):
        return False
    loss = ast.unparse(called.func).endswith(("cross_entropy", "nll_loss", "with_logits", "_loss"))
    names = {one.arg for one in called.keywords if one.value is stray.node}
    return loss and bool(names & {"weight", "pos_weight"})
