"""Why the state of an optimizer of the user's, or of another keeper of weights, is where it is."""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.control_dependence import is_under_another
from diagnose.placement.localization.availability import (
    has_device,
    held_in,
    is_prepared,
    key_of,
    sites,
)
from diagnose.placement.localization.module_builds import built_for
from diagnose.placement.localization.question import Question
from diagnose.placement.machine import Meeting
from diagnose.placement.model import Spot, Step
from diagnose.placement.provenance import (
    Reason,
    born_at,
    device_argument,
    has,
    last_move,
    made_as,
    on_cpu,
)
from diagnose.placement.semantics import called, calls
from diagnose.placement.tensors import Module, Optimizer, Tensor, tensors_in
from diagnose.placement.values import Frame, Object, Unknown, Value


def of_optimizer(asked: Question) -> Reason | None:
    """State that an optimizer of the user's has made of weights before they were moved."""
    stray, made = asked.stray, asked.made
    this = asked.meeting.frame.this
    if not isinstance(this, Object) or this.kind != "optimizer" or not on_cpu(stray.tensor):
        return None
    put = asked.first(EventKind.STORED)
    if put is not None and stray.tensor.maker == Origin.LOAD:  # where each weight tells its device
        return Reason("optimizer-state", put.spot, stray.tensor.frame)
    frame = stray.tensor.frame
    own = made is not None and frame is not None and frame.this is this
    if made is not None and own and not _resembles(made):
        return Reason("optimizer-state", made.spot, frame)
    weights = next(tensors_in(this.attributes.get("param_groups", Unknown())), None)
    module = weights.module if weights is not None else None
    begun = born_at(this.steps)
    if module is not None and begun is not None and _is_moved_apart(begun, module):
        return Reason("optimizer-state", begun.spot, this.frame)
    return built_for(module, frame) if module is not None else None


def of_state(asked: Question) -> Reason | None:
    """State that an optimizer keeps: of a library's, where its model is built, if it is made or loaded too
    early; where that is moved, if steps have made it."""
    stray, meeting, state = asked.stray, asked.meeting, asked.tensor
    module, made = state.module, asked.made
    if not asked.meets(ConstraintKind.STATE, Origin.STATE) or module is None:
        stored = asked.first(EventKind.STORED) if asked.meets(ConstraintKind.STATE) else None
        return asked.at(stored, "optimizer-state")
    own = made_as("optimizer-state", state.steps, state.frame)
    if has(state.steps, EventKind.STEPPED):
        late = last_move(module.steps)
        if late is None:
            return own
        name = _name_of(stray.value, state.frame, late)
        name = name or _name_of(stray.value, meeting.frame, late)
        return Reason("optimizer-state", late.spot, state.frame, owner=name)
    first = own is not None and made is not None and made.what == EventKind.MADE
    if first and made is not None and (_is_of_step(made, meeting) or _is_moved_apart(made, module)):
        return own
    if own is not None and made is not None and made.what == EventKind.LOADED:
        name = _loaded_early(made, module, state.frame)
        if name is not None:
            return own._replace(owner=name, beside=_moved_behind(made, module))
        loading = stray.value.loading if isinstance(stray.value, Optimizer) else None
        if (early := _loaded_by_call(module, loading)) is not None:
            return early
    return built_for(module) or own


def _loaded_by_call(module: Module, frame: Frame | None) -> Reason | None:
    """The call on the way to what loads the state of an optimizer below which, in the same function, its
    model is moved; None where the model can be moved as it is built."""
    late, built = last_move(module.steps), built_for(module)
    if late is None or not isinstance(late.spot.node, ast.Call):
        return None
    if built is not None and built.frame is not None and has_device(built.frame, built.spot):
        return None
    while frame is not None and frame.call is not None:
        call, frame = frame.call, frame.caller
        if call.is_beside(late.spot):
            moved = late.spot.node.func
            if not isinstance(moved, ast.Attribute) or call.line >= late.spot.line:
                return None
            owner = ast.unparse(moved.value)
            return Reason("optimizer-state", call, frame, move=late.spot, owner=owner)
    return None


def _moved_behind(made: Step, module: Module) -> Spot | None:
    """The move of a model below the call of what loads the state of its optimizer, in one function; None
    where there is none."""
    late, loads = last_move(module.steps), (made.spot.function or "").rpartition(".")[2]
    if late is None or late.spot.source != made.spot.source:
        return None
    function = late.spot.enclosing
    found = calls(function, loads) if function is not None else []
    return late.spot if any(one.lineno < late.spot.line for one in found) else None


def _loaded_early(made: Step, module: Module, frame: Frame | None) -> str | None:
    """What the method that loads the state of an optimizer calls its model, which another one of its class
    builds: it can be moved there, before the state is loaded."""
    built, function = born_at(module.steps), made.spot.function or ""
    if built is None or frame is None or not isinstance(frame.this, Object):
        return None
    classes = {
        (one or "").rpartition(".")[0] for one in (function, frame.function, built.spot.function)
    }
    if built.spot.function == function or "" in classes or len(classes) > 1:
        return None
    if not has_device(frame, made.spot):
        return None
    held = frame.this.attributes.items()
    wholes = {f"self.{name}": one.whole() for name, one in held if isinstance(one, Module)}
    return key_of(module.whole(), wholes)


def _name_of(optimizer: Value, frame: Frame | None, late: Step) -> str | None:
    """What the function of a move calls an optimizer that was made in it, or by what it calls, or that the
    object of its method keeps."""
    whose = (late.spot.function or "").rpartition(".")[0]
    while frame is not None and frame.function != late.spot.function:
        this = frame.this if whose and whose == (frame.function or "").rpartition(".")[0] else None
        if isinstance(this, Object) and (name := key_of(optimizer, this.attributes)) is not None:
            return f"self.{name}"
        frame = frame.caller
    return key_of(optimizer, held_in(frame)) if frame is not None else None


def _is_moved_apart(made: Step, module: Module) -> bool:
    """Whether what moves a model after its optimizer was made cannot do so where it is built: a library
    that prepares it, or a statement under a condition."""
    late = last_move(module.steps)
    if late is None or not late.spot.is_beside(made.spot) or late.spot.is_above(made.spot):
        return False
    return is_prepared(late.spot) or is_under_another(late.spot, made.spot)


def _is_of_step(made: Step, meeting: Meeting) -> bool:
    """Whether the step that failed makes a state itself, where no weight tells it a device."""
    own = (
        made.what == EventKind.MADE and not called(made.spot.node)[:1].isupper()
    )  # torch's are made with it
    return own and made.spot.function == meeting.spot.function and not _resembles(made)


def _resembles(made: Step) -> bool:
    """Whether a factory makes a tensor where another is."""
    named = called(made.spot.node).endswith(("_like", "clone"))
    return named or device_argument(made.spot) is not None


def of_keeper(tensor: Tensor, module: Module, meeting: Meeting) -> Reason | None:
    """Where an object is made that keeps copies of weights, before these moved; of an optimizer, which
    steps, only where a library prepares its model or a condition moves that."""
    keeper = meeting.frame.this
    if not isinstance(keeper, Object) or keeper.made is None:
        return None
    made = born_at(keeper.steps)
    if keeper.made.find("step"):
        for spot, frame in sites(made.spot, keeper.frame) if made and keeper.frame else ():
            if _is_moved_apart(Step(EventKind.MADE, spot), module):
                name = key_of(module.whole(), frame.names)
                return Reason("optimizer-state", spot, frame, owner=name)
        return None
    copied_once = has(tensor.steps, EventKind.COPIED)
    return Reason("unregistered-tensor", made.spot, keeper.frame) if made and copied_once else None
