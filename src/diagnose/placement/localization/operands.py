"""Why an operand is where it is, and the place to edit."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.devices import META, differ, is_gpu, is_host
from diagnose.placement.localization.availability import (
    frame_at,
    has_device,
    has_placed,
    where_built,
)
from diagnose.placement.localization.device_expressions import (
    is_forgotten_beside,
    left_out,
    of_grown,
)
from diagnose.placement.localization.host import (
    gone_around,
    handed_to_host,
    left_there,
    on_the_way_to_the_host,
    taken_away,
)
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
from diagnose.placement.localization.module_builds import (
    LOSSES,
    Built,
    built_for,
    of_holder,
    of_kept_object,
    of_module,
    where_kept,
)
from diagnose.placement.localization.optimizers import of_keeper, of_optimizer, of_state
from diagnose.placement.localization.peers import (
    bound_beside,
    computed_last,
    forgotten_variable,
    made_beside,
    moved_within,
)
from diagnose.placement.localization.question import Answer, Question, answers
from diagnose.placement.localization.replicas import CAUSE, away_from_home, shared_by_replicas
from diagnose.placement.localization.shards import told_at
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Spot, Step
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
    made_as,
    on_cpu,
    passed_over,
    replicated,
    said_as,
)
from diagnose.placement.semantics import called, calls, holds, loads, names, nodes
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame, Generator, Value

#: How methods begin that prepare what they are given.
_PREPARES = ("prepare", "setup")


def of_empty(asked: Question) -> Reason | None:
    """Why an operand has no memory; None for one that was not made on meta."""
    meeting, value, tensor, born = asked.meeting, asked.stray.value, asked.tensor, asked.made
    if meeting.what == ConstraintKind.META:
        spot = meeting.spot
        if isinstance(value, Module) and (filled := _filled_at(value)) is not None:
            spot = filled.spot
        elif born is not None and isinstance(value, Module) and value.owner is not None:
            spot = born.spot  # all else was filled
        elif born is not None and not _is_moved_by(meeting):
            inner = next((s for one in _parts(value) for s in one.steps if s.of is not None), born)
            spot = inner.of or inner.spot  # a library prepares it, and moves what it is given
        return Reason("meta-tensor", spot, tensor.frame)
    if born is None or born.device != META or tensor.device not in (META, None):
        return None
    kept = asked.first(EventKind.KEPT)
    if kept is not None and tensor.module is not None and tensor.module.where() != META:
        # The weights were filled; what is no buffer has no one who fills it.
        return asked.at(kept, "meta-tensor", named=True)
    loaded = last_of(tensor.steps, EventKind.LOADED, EventKind.UNFILLED)
    return Reason("meta-tensor", loaded.spot if loaded else born.of or born.spot, tensor.frame)


def _parts(value: Value) -> Iterator[Module]:
    return value.family() if isinstance(value, Module) else iter(())


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
    meeting, value, tensor, born = asked.meeting, asked.stray.value, asked.tensor, asked.made
    agreed = isinstance(value, Generator) and value.agreed
    made = made_as("generator-device", tensor.steps, tensor.frame)
    told = _told_for_it(made, tensor.frame) if made is not None else None
    if born is not None and (call := left_out(born, tensor.frame)) is not None and not agreed:
        return Reason("generator-device", *call)
    if agreed or (told is made and _is_chosen(tensor, meeting)):
        return Reason("generator-device", meeting.spot, meeting.frame)
    return told


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


def _told_for_it(found: Reason, frame: Frame | None) -> Reason:
    """Where a device is told that a parameter hands on to a generator, and to nothing else."""
    said = device_argument(found.spot)
    if frame is None or not isinstance(said, ast.Name) or said.id not in frame.given:
        return found
    other = len(loads(found.spot.source.tree, said.id)) > 1
    if other or frame.call is None or not isinstance(frame.given[said.id], ast.Constant):
        return found
    return Reason(found.cause, frame.call._replace(node=frame.given[said.id]), frame.caller)


def of_index(asked: Question) -> Reason | None:
    """The reason for an index that is elsewhere: made in the same function, by another method of the
    module, or to be returned beside what is there; else where it is used."""
    stray, meeting = asked.stray, asked.meeting
    if not asked.meets(ConstraintKind.INDEX) or stray is not meeting.sides[1]:
        return None
    if left_behind(asked.tensor.steps) is not None:
        return None
    tensor, spot, born = asked.tensor, asked.use, asked.made
    told = born is not None and device_argument(born.spot) is not None
    if told and born is not None and not on_cpu(tensor) and _is_computed(stray, born, meeting):
        pass  # it is there on purpose, for what else it is computed with
    elif born is not None and born.spot.function == meeting.spot.function:
        spot = born.spot if tensor.maker == Origin.FACTORY else spot
    elif born is not None and _made_by_own(tensor, meeting):
        spot = born.spot
    elif born is not None and (given := _returned(born, tensor)) is not None:
        spot = given
    elif born is not None and (handed := _handed(stray, born, meeting)) is not None:
        spot = handed
    if spot.node is stray.node and (taken := _picks_again(stray.node, meeting)) is not None:
        return Reason("index-device", *taken)
    return Reason("index-device", spot, tensor.frame)


def _picks_again(index: ast.AST, meeting: Meeting) -> tuple[Spot, Frame | None] | None:
    """Where a function is given an index that picks from several things and is nothing else: moved where it
    picks from one, it would fail at the next. That is its only call where those are on the host, else its
    parameter."""
    function, frame = meeting.spot.enclosing, meeting.frame
    if function is None or not isinstance(index, ast.Name) or frame.lines.get(index.id) != 0:
        return None
    read = [one for one in nodes(function, ast.Name) if one.id == index.id]
    picking = [one for one in nodes(function, ast.Subscript) if one.slice in read]
    taken = next((one for one in nodes(function, ast.arg) if one.arg == index.id), None)
    if taken is None or len(picking) < 2 or len(read) > len(picking):
        return None
    given, call = frame.given.get(index.id), frame.call
    alone = len(calls(meeting.spot.source.tree, function.name)) == 1
    if given is not None and call is not None and alone and on_cpu(meeting.sides[0].tensor):
        return call._replace(node=given), frame.caller
    return meeting.spot._replace(node=taken), frame


def _is_computed(stray: Meets, born: Step, meeting: Meeting) -> bool:
    """Whether an index is a variable that was computed with what a factory made, and is not that itself."""
    statement = meeting.frame.bound.get(next(iter(names(stray.node)), ""))
    return statement is not None and not holds(statement, born.spot.node)


def _handed(stray: Meets, born: Step, meeting: Meeting) -> Spot | None:
    """Where an index is made that a module's forward is handed, in a function that knows a device, or one
    that is called there."""
    tensor, frame = stray.tensor, meeting.frame
    root = next(iter(names(stray.node)), None)
    if root not in frame.given or frame.lines.get(root) != 0 or not isinstance(frame.this, Module):
        return None
    if (
        tensor.maker != Origin.FACTORY
        or not on_cpu(tensor)
        or device_argument(born.spot) is not None
    ):
        return None
    spot, around = where_built(born, tensor.frame, models=True)
    known = around is not None and not isinstance(around.this, Module)
    return spot if known and around is not None and has_device(around, spot) else None


def _made_by_own(tensor: Tensor, meeting: Meeting) -> bool:
    """Whether another method of the module makes a tensor that it could make where the module is."""
    this = meeting.frame.this
    made_in = tensor.frame.this if tensor.frame is not None else None
    return tensor.maker == Origin.FACTORY and isinstance(this, Module) and made_in is this


def _returned(made: Step, tensor: Tensor) -> Spot | None:
    """Where a function that is handed a tensor of the accelerator makes another on the cpu to return it:
    its factory, or what it returns where a generator draws that; None for others."""
    frame = tensor.frame
    if tensor.maker != Origin.FACTORY or frame is None or not has_placed(frame, 0):
        return None
    if isinstance(frame.this, Module) or made.spot.function != frame.function:
        return None
    given = made.spot.node.keywords if isinstance(made.spot.node, ast.Call) else []
    if not any(one.arg == "generator" for one in given):
        return made.spot
    names = {name for name, one in frame.names.items() if made in one.steps}
    for returned in frame.returns:
        items = returned.value.elts if isinstance(returned.value, ast.Tuple) else [returned.value]
        for item in items:
            if isinstance(item, ast.Name) and item.id in names:
                return Spot(frame.source, item, frame.function)
    return None


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
