"""What is meant to be on the host: what code that works there is given, what a program leaves there to save
memory, and a module that a library keeps there, whose forward is gone around.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from diagnose.kinds import EventKind, Origin
from diagnose.placement.devices import is_gpu
from diagnose.placement.localization.availability import frames
from diagnose.placement.localization.question import Question
from diagnose.placement.machine import Meeting
from diagnose.placement.model import Source
from diagnose.placement.provenance import Reason, has, said_as
from diagnose.placement.semantics import called, nodes
from diagnose.placement.tensors import Module, Tensor
from diagnose.placement.values import Object

_OFFLOADS = re.compile(r"offload", re.IGNORECASE)
#: What brings a layer's weights for the forward of that layer alone, and not for that of its model.
_BY_LAYERS = frozenset({"cpu_offload", "disk_offload", "dispatch_model"})


def gone_around(asked: Question) -> Reason:
    """Where the forward of an offloaded module is gone around: by its other methods, or its weights."""
    meeting, module = asked.meeting, asked.module
    assert module is not None
    parents = [one for one in module.owners() if has(one.steps, EventKind.OFFLOADED)]
    whole = {id(one) for one in parents or module.owners()}
    seen, offloaded = asked.first(EventKind.READ), asked.first(EventKind.OFFLOADED)
    spot, frame = asked.use, meeting.frame
    if seen is not None:
        spot = seen.spot
        by_layers = offloaded is not None and called(offloaded.spot.node) in _BY_LAYERS
        if by_layers and seen.spot.function == meeting.spot.function:
            return Reason("offloaded-to-cpu", spot, frame)
    for around in frames(meeting.frame):
        if id(around.this) in whole and around.call is not None and around.caller is not None:
            spot, frame = around.call, around.caller
    return Reason("offloaded-to-cpu", spot, frame)


def handed_to_host(meeting: Meeting) -> Reason | None:
    """Where the method of an object that offloads is handed what is on an accelerator, or reads a weight
    there, and computes with it on the host on purpose."""
    frame = meeting.frame
    made = frame.this.made if isinstance(frame.this, Module | Object) else None
    if made is None or not _offloads(made.node):
        return None
    for side in (one for one in meeting.sides if is_gpu(one.tensor.device)):
        node = side.node
        if frame.call is not None and isinstance(node, ast.Name) and node.id in frame.given:
            given = frame.call._replace(node=frame.given[node.id])
            return Reason("zero-offload", given, frame.caller, said_as(node))
        if side.tensor.maker == Origin.WEIGHT:
            return Reason("zero-offload", meeting.spot._replace(node=node), frame)
    return None


@lru_cache(maxsize=64)
def _offloads(made: ast.AST) -> bool:
    """Whether a class speaks of offloading; it is asked of each suspect in its methods."""
    return _OFFLOADS.search(ast.unparse(made)) is not None


#: Calls that ask a tensor for its array.
_ASKING = ("numpy", "asarray", "array", "__array__")


def on_the_way_to_the_host(asked: Question) -> Reason | None:
    """What host code is given: at the call where it stands there, else where it was made."""
    tensor, made = asked.tensor, asked.made
    use = Reason("host-copy-needed", asked.use, tensor.frame)
    if made is None or _is_asked_here(asked):
        return use
    if (listed := asked.first(EventKind.LISTED)) is not None:
        return use._replace(spot=listed.spot)
    by_model = (made.spot.function or "").endswith(".forward")  # it is no host's code
    return use if by_model or _is_of_several(tensor) else use._replace(spot=made.spot)


def _is_asked_here(asked: Question) -> bool:
    """Whether host code is given a tensor as it is, of which no other use is to be expected."""
    node, name = asked.stray.node, called(asked.meeting.spot.node)
    wants = name == "pack_padded_sequence"  # torch's own: its lengths are to be on the host
    computed = isinstance(node, ast.BinOp)  # there, and of no use to anything else
    written = isinstance(asked.meeting.spot.node, ast.stmt)  # into an array, which is no call
    here = wants or computed or written or name in _ASKING
    return here and asked.stray.value is asked.tensor and isinstance(node, ast.expr)


def _is_of_several(tensor: Tensor) -> bool:
    """Whether a tensor was computed from what a model of transformers gives, an object of several."""
    kind = tensor.module.kind if tensor.module is not None else ""
    return kind.startswith("transformers.")


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
