"""What code that works on the host is given: at the call where it stands there, else where it was made."""

from __future__ import annotations

import ast
from functools import lru_cache

from diagnose.kinds import EventKind, Origin
from diagnose.placement.localization.availability import handed_on
from diagnose.placement.localization.question import Question
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.model import Spot
from diagnose.placement.provenance import Reason, first_of
from diagnose.placement.semantics import called, calls, names, nodes, returned
from diagnose.placement.tensors import Tensor

#: Calls that ask a tensor for its array.
_ASKING = ("numpy", "asarray", "array", "__array__")
#: What makes one tensor of those of a list.
_JOINS = frozenset({"cat", "stack", "concat"})


def on_the_way_to_the_host(asked: Question) -> Reason | None:
    """What host code is given: at the call where it stands there, else where it was made."""
    stray, meeting, tensor, made = asked.stray, asked.meeting, asked.tensor, asked.made
    name = called(meeting.spot.node)
    wants = name == "pack_padded_sequence"  # torch's own: its lengths are to be on the host
    loaded = first_of(tensor.steps, EventKind.LOADED)
    if loaded is not None and name.startswith("set_rng_state"):
        # It was loaded with all the rest, to where that goes.
        return Reason("checkpoint-location", loaded.spot)
    computed = isinstance(stray.node, ast.BinOp)  # there, and of no use to anything else
    written = isinstance(meeting.spot.node, ast.stmt)  # into an array, which is no call
    here = wants or computed or written or made is None or name in _ASKING
    listings = [step for step in tensor.steps if step.what == EventKind.LISTED]
    kept = [step for step in listings if _is_kept(step.spot)]
    listed = kept[-1] if kept else next(iter(listings), None)
    if here and stray.value is tensor and isinstance(stray.node, ast.expr):
        given = _handed_over(stray, meeting) if name in ("asarray", "array") else None
        if given is None or listed is None:
            spot = meeting.spot._replace(node=stray.node)
            return given or Reason("host-copy-needed", spot, tensor.frame)
    if _meets_others(stray.node, meeting):
        spot = meeting.spot._replace(node=stray.node)
        return Reason("host-copy-needed", spot, tensor.frame)
    if listed is not None:
        apart = listed.spot.function != meeting.spot.function
        if not apart and (joined := _joined(stray.node, meeting)) is not None:
            return Reason("host-copy-needed", joined, meeting.frame)
        spot = (_returned(listed.spot) if apart else None) or listed.spot
        return Reason("host-copy-needed", spot, tensor.frame)
    if tensor.maker == Origin.FACTORY and (given := _handed_over(stray, meeting)) is not None:
        return given  # computed of what was made on the accelerator, for another use
    inside = made is not None and (made.spot.function or "").endswith(".forward")
    if inside or _is_of_several(tensor):  # it is no host's code, or gives no tensor
        return Reason("host-copy-needed", meeting.spot._replace(node=stray.node), tensor.frame)
    if made is not None:
        return Reason("host-copy-needed", made.spot, tensor.frame)
    return Reason("host-copy-needed", meeting.spot, tensor.frame)


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
