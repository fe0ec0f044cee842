"""What is meant to be on the host: what code that works there is given, what a program leaves there to save
memory, and a module that a library keeps there, whose forward is gone around.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from diagnose.kinds import ConstraintKind, EventKind, Origin
from diagnose.placement.control_dependence import set_at
from diagnose.placement.devices import is_gpu
from diagnose.placement.libraries.device_maps import SHARDING
from diagnose.placement.localization.availability import frames, handed_on
from diagnose.placement.localization.question import Question
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Source, Spot
from diagnose.placement.provenance import Reason, born_at, first_of, has, last_move, said_as
from diagnose.placement.semantics import called, calls, names, nodes, returned
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Frame, Object, Value

_OFFLOADS = re.compile(r"offload", re.IGNORECASE)
#: What brings a layer's weights for the forward of that layer alone, and not for that of its model.
_BY_LAYERS = frozenset({"cpu_offload", "disk_offload", "dispatch_model"})
#: What shards a model, by the names that programs import it by.
_SHARDING = frozenset({*SHARDING, "FSDP"})


def gone_around(asked: Question) -> Reason:
    """Where the forward of an offloaded module is gone around: by its other methods, or its weights."""
    meeting, module = asked.meeting, asked.module
    assert module is not None
    parents = [one for one in module.owners() if has(one.steps, EventKind.OFFLOADED)]
    whole = {id(one) for one in parents or module.owners()}
    seen, offloaded = asked.first(EventKind.READ), asked.first(EventKind.OFFLOADED)
    if offloaded is not None and called(offloaded.spot.node) == "enable_sequential_cpu_offload":
        return Reason("offloaded-to-cpu", offloaded.spot, module.frame)  # its weights are on meta
    if offloaded is not None and module.made is None and _runs_by_method(meeting):
        return Reason("offloaded-to-cpu", offloaded.spot, module.frame)
    spot, frame = asked.use, meeting.frame
    if offloaded is not None and called(offloaded.spot.node) in _SHARDING:
        return Reason("zero-offload", spot, frame)
    if seen is not None:
        spot = seen.spot
        by_layers = offloaded is not None and called(offloaded.spot.node) in _BY_LAYERS
        if by_layers and seen.spot.function == meeting.spot.function:
            return Reason("offloaded-to-cpu", spot, frame)
    for around in frames(meeting.frame):
        if id(around.this) in whole and around.call is not None and around.caller is not None:
            spot, frame = around.call, around.caller
    return Reason("offloaded-to-cpu", spot, frame)


def taken_away(asked: Question) -> Reason | None:
    """Where a program moves a weight of an offloaded module, or the whole, whose weights are on meta until
    its forward runs; None for what else has no memory."""
    module, meeting = asked.tensor.module, asked.meeting
    if meeting.what != ConstraintKind.META:
        return None
    if module is None or asked.first(EventKind.OFFLOADED) is None:
        return None
    if isinstance(asked.stray.value, Module):
        return Reason("offloaded-to-cpu", meeting.spot, meeting.frame)
    return gone_around(asked)


def offload_turned_on(found: Reason, tensor: Tensor, other: Meets | None) -> Reason:
    """What a setting leaves on the host, where that is set; a copy of it that was brought to the GPU
    belongs beside it, and what the function makes for it is met where it is used."""
    offloaded = first_of(tensor.steps, EventKind.OFFLOADED)
    if offloaded is None or offloaded.of is None or other is None:
        return found
    steps = list(other.tensor.steps)
    life = [step.what for step in steps]
    if any(step.spot == offloaded.spot for step in steps) and EventKind.COPIED in life:
        moved = [
            step for step in steps[life.index(EventKind.COPIED) :] if step.what == EventKind.MOVED
        ]
        if moved:
            return found._replace(spot=moved[0].spot, frame=None)
    made = born_at(other.tensor.steps)
    here = made is not None and other.tensor.module is None and made.spot.function is not None
    if here and made is not None and made.spot.function == found.spot.function:
        return found
    spot = set_at(offloaded.of)
    return found._replace(spot=spot) if spot is not None else found


def left_there(found: Reason | None, asked: Question) -> Reason | None:
    """A module that is left on the host to save memory is to stay there: what uses it does not know."""
    saving = found is not None and found.cause in ("offloaded-to-cpu", "low-memory-mode")
    if not saving or found is None or found.owner or asked.module is None:
        return found
    if last_move(asked.module.whole().steps) is not None:
        return found
    stray, meeting, whole = asked.stray, asked.meeting, asked.tensor.module
    own = whole is not None and any(one is meeting.frame.this for one in whole.owners())
    if own and isinstance(stray.node, ast.Attribute) and _brings(meeting.frame.this):
        # The class itself says what it brings.
        return asked.used(found.cause)
    return gone_around(asked)._replace(cause=found.cause)


def _brings(this: Value | None) -> bool:
    """Whether the class of an object says that it offloads, or moves something itself."""
    made = this.made if isinstance(this, Module | Object) else None
    moves = ("to", "cuda", "cpu")
    return made is not None and any(one.attr in moves for one in nodes(made.node, ast.Attribute))


def handed_to_host(meeting: Meeting) -> Reason | None:
    """Where the method of an object that offloads is handed what is on an accelerator, or reads a gradient
    or a weight there, and computes with it on the host on purpose."""
    frame = meeting.frame
    made = frame.this.made if isinstance(frame.this, Module | Object) else None
    if made is None or not _offloads(made.node):
        return None
    for side in meeting.sides:
        if not is_gpu(side.tensor.device):
            continue
        if (
            frame.call is not None
            and isinstance(side.node, ast.Name)
            and side.node.id in frame.given
        ):
            given = frame.call._replace(node=frame.given[side.node.id])
            return Reason("zero-offload", given, frame.caller, said_as(side.node))
        if (gradient := _gradient(side.node, frame)) is not None:
            return Reason("zero-offload", meeting.spot._replace(node=gradient), frame)
        if side.tensor.maker == Origin.WEIGHT:
            return Reason("zero-offload", meeting.spot._replace(node=side.node), frame)
    return None


@lru_cache(maxsize=64)
def _offloads(made: ast.AST) -> bool:
    """Whether a class speaks of offloading; it is asked of each suspect in its methods."""
    return _OFFLOADS.search(ast.unparse(made)) is not None


def _gradient(operand: ast.AST, frame: Frame) -> ast.expr | None:
    """The expression that reads a gradient: the operand, or what one of its variables is bound to."""
    by = map(frame.bound.get, names(operand))
    for said in (operand, *(one.value for one in by if isinstance(one, ast.Assign))):
        if any(one.attr == "grad" for one in nodes(said, ast.Attribute)):
            return said if isinstance(said, ast.expr) else None
    return None


def _runs_by_method(meeting: Meeting) -> bool:
    """Whether a model is run by a method of its library, which goes around its forward: there is no line
    of the program's that does."""
    return called(meeting.spot.node) == "generate"


#: Calls that ask a tensor for its array.
_ASKING = ("numpy", "asarray", "array", "__array__")
#: What makes one tensor of those of a list.
_JOINS = frozenset({"cat", "stack", "concat"})


def on_the_way_to_the_host(asked: Question) -> Reason | None:
    """What host code is given: at the call where it stands there, else where it was made."""
    stray, meeting, tensor, made = asked.stray, asked.meeting, asked.tensor, asked.made
    name, use = called(meeting.spot.node), Reason("host-copy-needed", asked.use, tensor.frame)
    loaded = first_of(tensor.steps, EventKind.LOADED)
    if loaded is not None and name.startswith("set_rng_state"):
        # It was loaded with all the rest, to where that goes.
        return Reason("checkpoint-location", loaded.spot)
    listings = [step for step in tensor.steps if step.what == EventKind.LISTED]
    kept = [step for step in listings if _is_kept(step.spot)]
    listed = next(iter((*kept[-1:], *listings)), None)
    if _is_asked_here(asked, name):
        given = _handed_over(stray, meeting) if name in ("asarray", "array") else None
        if given is None or listed is None:
            return given or use
    if _meets_others(stray.node, meeting):
        return use
    if listed is not None:
        apart = listed.spot.function != meeting.spot.function
        if not apart and (joined := _joined(stray.node, meeting)) is not None:
            return use._replace(spot=joined, frame=meeting.frame)
        return use._replace(spot=(_returned(listed.spot) if apart else None) or listed.spot)
    if tensor.maker == Origin.FACTORY and (given := _handed_over(stray, meeting)) is not None:
        return given  # computed of what was made on the accelerator, for another use
    spot = made.spot if made is not None else meeting.spot
    if made is not None and (spot.function or "").endswith(".forward"):
        return use  # it is no host's code
    return use if _is_of_several(tensor) else use._replace(spot=spot)  # which gives no tensor


def _is_asked_here(asked: Question, name: str) -> bool:
    """Whether host code is given a tensor as it is, of which no other use is to be expected."""
    node = asked.stray.node
    wants = name == "pack_padded_sequence"  # torch's own: its lengths are to be on the host
    computed = isinstance(node, ast.BinOp)  # there, and of no use to anything else
    written = isinstance(asked.meeting.spot.node, ast.stmt)  # into an array, which is no call
    here = wants or computed or written or asked.made is None or name in _ASKING
    return here and asked.stray.value is asked.tensor and isinstance(node, ast.expr)


def _meets_others(node: ast.AST, meeting: Meeting) -> bool:
    """Whether a name that host code is given meets other tensors in its function, which go on where they
    are: as what is indexed by a name, or an argument of torch's beside another."""
    scope = meeting.spot.enclosing or meeting.spot.source.tree
    name = node.id if isinstance(node, ast.Name) else None
    for one in nodes(scope, ast.Subscript, ast.Call):
        match one:
            case ast.Subscript(value=ast.Name(id=used), slice=index):
                if used == name and not isinstance(index, ast.Constant | ast.Slice | ast.Tuple):
                    return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch" | "F")), args=given):
                names = [each.id for each in given if isinstance(each, ast.Name)]
                if name in names and len(names) > 1:
                    return True
    return False


def _is_of_several(tensor: Tensor) -> bool:
    """Whether a tensor was computed from what a model of transformers gives, an object of several."""
    kind = tensor.module.kind if tensor.module is not None else ""
    return kind.startswith("transformers.")


def _is_kept(listed: Spot) -> bool:
    """Whether a tensor is put into a list that an object keeps."""
    return id(listed.node) in _kept(listed.source.tree)


@lru_cache(maxsize=8)
def _kept(tree: ast.Module) -> frozenset[int]:
    """What the calls of a file are given that are methods of an attribute."""
    return frozenset(
        id(one)
        for node in calls(tree)
        if isinstance(node.func, ast.Attribute)
        if isinstance(node.func.value, ast.Attribute)
        for one in node.args
    )


def _returned(listed: Spot) -> Spot | None:
    """What a function that lists tensors returns, where that is all of them in one, and nothing else."""
    function = listed.enclosing
    match returned(function) if function is not None else []:
        case [ast.Call(func=ast.Attribute(attr="cat" | "stack" | "concat")) as joined]:
            return listed._replace(node=joined)
    return None


def _joined(node: ast.AST, meeting: Meeting) -> Spot | None:
    """What joined the tensors of a list to the one that host code is given by name."""
    for bound in map(meeting.frame.bound.get, names(node)):
        if isinstance(bound, ast.Assign) and called(bound.value) in _JOINS:
            return meeting.spot._replace(node=bound.value)
    return None


def _handed_over(stray: Meets, meeting: Meeting) -> Reason | None:
    """Where a function that works on the host is given what it makes an array of; else None."""
    node, spot, frame = handed_on(stray.node, meeting.spot, meeting.frame)
    if frame is meeting.frame:
        return None
    return Reason("host-copy-needed", spot._replace(node=node), frame)


_LOW_MEMORY = re.compile(
    r"low_?(v?ram|mem)|med_?vram|offload|keep_?on_?cpu|save_?memory", re.IGNORECASE
)


def saving_of(source: Source) -> str | None:
    """The cause of what a program leaves on the host to save memory, by what it calls that; None where it
    does not."""
    return _saving(tuple(source.lines))


@lru_cache(maxsize=8)
def switch_of(tree: ast.Module) -> str | None:
    """The cause of what a program leaves where it was built to save memory: it asks whether to."""
    return _saving(tuple(ast.unparse(one.test) for one in nodes(tree, ast.If, ast.IfExp)))


def streamed(module: Module) -> str | None:
    """The cause of what a class leaves where it was built to save memory, if it says so itself."""
    classes = (one.made for one in module.owners() if one.made is not None)
    said = (f"{made.node.name} {ast.get_docstring(made.node) or ''}" for made in classes)
    return _saving(tuple(said))


@lru_cache(maxsize=8)
def _saving(lines: tuple[str, ...]) -> str | None:
    found = _LOW_MEMORY.search("\n".join(lines))
    if found is None:
        return None
    return "offloaded-to-cpu" if "offload" in found[0].casefold() else "low-memory-mode"
