"""What kind of fix it is that gives a call a device or puts a move around something."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import NamedTuple

from origins import expression, in_index, is_module, kept, origin, place_of
from placing import FACTORIES, NEW, called, direction, moved
from program_tree import Stated, Tree, keeps_attribute, root_of

_LOSSES = re.compile(r"criterion|loss", re.IGNORECASE)


_METRICS = re.compile(r"metric|accuracy|confusion", re.IGNORECASE)


_INPUTS = re.compile(
    r"^(?:batch|inputs?|images?|imgs?|labels?|targets?|data|samples?|x|y|input_ids|attention_mask|tokens?"
    r"|features?|batch_.*|.*_batch|.*_inputs?|.*_ids|.*_labels?|.*_images?|src|tgt|obs|observations?|states?"
    r"|actions?|audio|wavs?|waveform|text|mels?|pixel_values|encodings?|model_inputs)$"
)


#: What is told a device but makes nothing there.
_NO_VALUE = re.compile(r"stream|synchron|memory|autocast|cache|event|propert|rng|seed|capab", re.I)
_HOST = frozenset({"numpy", "tolist", "item"})


#: A function whose items and arguments come from a checkpoint, and from no loader.
_RESTORES = re.compile(r"load|restore|resume|state_dict")
#: Classes that are told a device and are no modules.
_NO_MODULE = re.compile(
    r"Metric|Accuracy|Loader|Config|Trainer|Pipeline|Client|Engine|Tensor|Dict|Batch|Data|Box|Spec|Buffer"
    r"|Storage|Sampler|Env|Stream|Event|Mesh"
)


#: How the methods below are given the rest of an edit: kind, cause, place, expression.
_Made = Callable[[str, str, str, str], "Edit"]


class Edit(NamedTuple):
    """A statement whose placement was changed.

    Args:
        line: of the statement before; where one was put in, the line that stood above it.
        after: its line after.
        function: that holds it, empty at the top.
        kind: the fix (ids of the taxonomy).
        cause: why the value was astray, as far as its definition tells (ids of the taxonomy), or empty.
        place: ``at-definition`` (the statement that makes it, or a rebinding of its name directly
            below), ``at-use``, ``at-entry`` (an argument or a loop's item, rebound), ``in-init``,
            ``at-caller`` (in the arguments of a call of what is no operator of torch), ``at-build`` (where
            a module is built).
        expression: ``factory``, ``load``, ``name``, ``attribute``, ``index``, ``module``, ``call``,
            ``container``, ``operation``, ``statement``.
        to: ``neighbour`` (the device of another value), ``variable``, ``fixed`` or ``host``.
    """

    line: int
    after: int
    function: str
    kind: str
    cause: str
    place: str
    expression: str
    to: str


def edit_of(
    was: Stated, now: Stated, kind: str, cause: str, place: str, expression: str, to: str
) -> Edit:
    """An edit of a statement."""
    return Edit(was.node.lineno, now.node.lineno, now.owner, kind, cause, place, expression, to)


def given(
    was: Stated, now: Stated, tree: Tree, what: str, call: ast.Call, device: ast.expr | None
) -> Edit | None:
    """The edit that gave a call a device, or put it around something."""
    to = direction(what, device)
    if device is not None and "meta" in ast.unparse(device):
        return None  # given up, and on no wrong device
    init = now.owner.rpartition(".")[2] in (
        "__init__",
        "setup",
        "build",
        "reset_parameters",
        "__post_init__",
    )

    def edit(kind: str, cause: str, place: str, expression: str) -> Edit:
        return edit_of(was, now, kind, cause, place, expression, to)

    if what == "map_location":
        return edit("map-location", "checkpoint-location", "at-definition", "load")
    if what == "buffer" or what == "parameter":
        if not keeps_attribute(was.node) or (what == "parameter" and _learned(call)):
            return None
        return edit(
            "register-buffer",
            "unregistered-tensor",
            "in-init" if init else "at-definition",
            "attribute",
        )
    if what == "container":
        if not keeps_attribute(now.node) and not keeps_attribute(was.node):
            return None
        return edit(
            "register-module",
            "unregistered-submodule",
            "in-init" if init else "at-build",
            "container",
        )
    if what in ("device", "like", "cuda-type"):
        return _made(edit, tree, call, to, init=init)
    value = moved(call)
    assert value is not None
    return _brought(edit, tree, call, value, to, init=init)


def _learned(parameter: ast.Call) -> bool:
    """Whether it is made a parameter to be learned, and not only to be moved with the module."""
    told = [*parameter.args[1:], *(k.value for k in parameter.keywords if k.arg == "requires_grad")]
    return not any(isinstance(one, ast.Constant) and one.value is False for one in told)


def _made(edit: _Made, tree: Tree, call: ast.Call, to: str, *, init: bool) -> Edit | None:
    name = called(call)
    if name == "Generator":
        return edit("generator-on-device", "generator-device", "at-definition", "factory")
    if name in FACTORIES or name in NEW:
        kind = "use-like-device-of-other" if to == "neighbour" else "create-on-device"
        stays = init and kept(tree, call)
        return edit(
            kind,
            "unregistered-tensor" if stays else "created-without-device",
            "in-init" if init else "at-definition",
            "factory",
        )
    if name[:1].isupper() and not name.isupper():
        if _NO_MODULE.search(name):
            return None
        return edit("create-on-device", "module-not-moved", "at-build", "module")
    if to not in ("variable", "neighbour") or _NO_VALUE.search(name):
        return None
    return edit("create-on-device", "", "at-caller", "call")


def _brought(
    edit: _Made, tree: Tree, call: ast.Call, value: ast.expr, to: str, *, init: bool
) -> Edit | None:
    name = called(call)
    inner = value
    while (
        isinstance(inner, ast.Call)
        and (
            called(inner)
            in (
                "detach",
                "float",
                "long",
                "half",
                "double",
                "eval",
                "train",
                "unsqueeze",
                "clone",
                "view",
                "reshape",
                "contiguous",
                "bool",
                "expand",
                "repeat",
                "t",
            )
        )
        and isinstance(inner.func, ast.Attribute)
    ):
        inner = inner.func.value
    place = "in-init" if init else place_of(tree, call, inner)
    if name == "cpu" or to == "host":
        above = tree.parents.get(call)
        host = isinstance(above, ast.Attribute) and above.attr in _HOST
        host = host or (
            isinstance(above, ast.Call)
            and ast.unparse(above.func).split(".")[0] in ("np", "numpy", "plt", "sklearn", "cv2")
        )
        if not host:
            return None
        return edit("cpu-before-numpy", "host-copy-needed", "at-use", expression(inner))
    if in_index(tree, call):
        return edit("index-to-device", "index-device", place, expression(inner))
    if isinstance(inner, ast.Name) and inner.id == "self":
        return edit("move-module", "module-not-moved", "in-init" if init else "at-build", "module")
    if isinstance(inner, ast.Call) and called(inner) == "super":
        return None  # an argument handed on
    came = origin(tree, call, inner)
    if came == "factory":
        kind = "use-like-device-of-other" if to == "neighbour" else "create-on-device"
        stays = init and kept(tree, call)
        direct = isinstance(inner, ast.Call)
        if not direct:
            kind = "move-tensor-at-line"
        elif not init:
            place = "at-definition"
        return edit(
            kind,
            "unregistered-tensor" if stays else "created-without-device",
            place,
            "factory" if direct else expression(inner),
        )
    text = ast.unparse(inner).split("(")[0].split(".")[-1].split("[")[0]
    if _LOSSES.search(text) and (
        came == "module" or (isinstance(inner, ast.Call) and text[:1].isupper())
    ):
        return edit("move-loss", "loss-or-metric-state", "at-build", "module")
    if _METRICS.search(text) and (
        came == "module" or (isinstance(inner, ast.Call) and text[:1].isupper())
    ):
        return edit("move-metric", "loss-or-metric-state", "at-build", "module")
    if is_module(tree, call, inner, came):
        return edit(
            "move-module", "module-not-moved", place if place == "in-init" else "at-build", "module"
        )
    if came == "load":
        return edit(
            "map-location" if isinstance(inner, ast.Call) else "move-tensor-at-line",
            "checkpoint-location",
            place,
            "load",
        )
    if name == "type_as":
        return None  # for the type, or for the device: not told
    if came == "plain-attribute":
        return edit("move-tensor-at-line", "unregistered-tensor", place, "attribute")
    function = tree.function(call)
    if function is not None and _RESTORES.search(function.name):
        return edit("move-tensor-at-line", "", place, expression(inner))
    if came == "batch" or (
        came in ("parameter", "")
        and isinstance(inner, ast.Name | ast.Subscript)
        and _INPUTS.match(root_of(inner))
    ):
        return edit("move-input", "input-not-moved", place, expression(inner))
    return edit("move-tensor-at-line", "", place, expression(inner))
