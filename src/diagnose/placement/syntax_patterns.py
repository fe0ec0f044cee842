"""Where a program does what a cause is about, for causes that no meeting of values explains.

The analysis says what met where; a library that moves, wraps or loads is beyond it. What the traceback
tells the cause of is looked for by its form then, and taken where only one place of the program has it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from diagnose.model import TorchNames
from diagnose.patterns import bare
from diagnose.placement.control_dependence import turned_on
from diagnose.placement.devices import HOME
from diagnose.placement.model import Source, Spot, Suspect
from diagnose.placement.semantics import argument, called, calls, holds, names, nodes, path_to

Form = Callable[[ast.AST, TorchNames], "ast.AST | None"]

_META = re.compile(r"device\(['\"]meta['\"]\)|init_empty_weights|device=['\"]meta['\"]")
_ORDINAL = re.compile(r"(cuda|xpu|npu|hpu):[1-9]\d*")
#: What a traceback calls the code outside of functions.
_TOP = "<module>"
_RANK = re.compile(r"rank", re.IGNORECASE)


def suspect(
    cause: str,
    sources: Sequence[Source],
    shown: Iterable[str],
    functions: Iterable[str],
    torch: TorchNames,
) -> Suspect | None:
    """The one place of the user's files that has the form of a cause; None for none or several.

    Args:
        cause: id of the root cause.
        sources: the user's files.
        shown: the user's lines that the traceback shows; of several places one that binds a name that
            stands in them is taken, or that is one of them.
        functions: the functions of the traceback; of several places one within them is taken.
        torch: what torch and its libraries call their things.
    """
    form = _FORMS.get(cause)
    if form is None:
        return None
    shown = [bare(one).rstrip() for one in shown]  # as answers quote source
    found = _having(form, sources, torch)
    if not found and cause in _ELSE:
        found = _having(_ELSE[cause], sources, torch)
    if cause in _SHOWN:
        found = [one for one in found if bare(one.code).rstrip() in shown]
    if len(found) > 1 and cause in _RATHER:
        found = [one for one in found if _RATHER[cause](one.node, torch)] or found
    if len(found) > 1:
        found = _on_the_way(found, shown, functions)
    if len(found) != 1:
        return None
    place = turned_on(cause, found[0])
    devices = tuple(_beside(place))
    wanted = HOME if devices else None
    return Suspect(cause, _name(found[0]) or "", place, wanted=wanted, devices=devices, sure=False)


def _on_the_way(found: list[Spot], shown: Sequence[str], functions: Iterable[str]) -> list[Spot]:
    """Of several places those that bind a name of the lines that are shown, within their functions; of
    several such those that are shown."""
    text = "\n".join(shown)
    names = [one for one in found if _bound(one, text)]
    inside = {None if one == _TOP else one for one in functions}
    here = [one for one in names or found if one.function in inside]
    found = here if here or not names else names
    return [one for one in found if bare(one.code).rstrip() in shown] if len(found) > 1 else found


def _having(form: Form, sources: Sequence[Source], torch: TorchNames) -> list[Spot]:
    return [
        Spot(source, node, _function(source, inner))
        for source in sources
        for inner in nodes(source.tree, ast.AST)
        if (node := form(inner, torch)) is not None
    ]


def _function(source: Source, node: ast.AST) -> str | None:
    """The name of the function around a node; its own, of one that is a function."""
    path = reversed(path_to(source.tree, node))
    return next((one.name for one in path if isinstance(one, ast.FunctionDef)), None)


def _name(spot: Spot) -> str | None:
    """The name that the statement of a place binds, without what it is an attribute of."""
    for node in nodes(spot.source.tree, ast.Assign):
        if spot.node is node or holds(node.value, spot.node):
            return ast.unparse(node.targets[0]).rpartition(".")[2]
    return None


def _bound(spot: Spot, text: str) -> bool:
    name = _name(spot)
    return name is not None and re.search(rf"\b{re.escape(name)}\b", text) is not None


def _called(node: ast.AST) -> str:
    """What a call calls, dotted; empty for what is no call."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _has(node: ast.AST, keyword: str) -> bool:
    return isinstance(node, ast.Call) and any(one.arg == keyword for one in node.keywords)


# --- the forms -----------------------------------------------------------------------------------------


def _meta(node: ast.AST, _: TorchNames) -> ast.AST | None:
    if isinstance(node, ast.With):
        for item in node.items:
            if _META.search(ast.unparse(item.context_expr)):
                return item.context_expr
    offloads = called(node) in ("cpu_offload", "disk_offload")
    return node if offloads or _has(node, "low_cpu_mem_usage") else None


def _left_empty(node: ast.AST, torch: TorchNames) -> ast.AST | None:
    """New layers that are made on meta, and that nothing is loaded into."""
    made = called(node) in torch.adapter_makers
    return node if made and _has(node, "low_cpu_mem_usage") else None


def _mapped_by(node: ast.AST, _: TorchNames) -> ast.AST | None:
    """A map of devices that accelerate makes without being told which blocks stay whole."""
    if called(node) not in ("infer_auto_device_map", "get_balanced_memory"):
        return None
    assert isinstance(node, ast.Call)
    whole = argument(node, "no_split_module_classes")
    return node if whole is None or (isinstance(whole, ast.List) and not whole.elts) else None


def _exported(node: ast.AST, torch: TorchNames) -> ast.AST | None:
    """A program that was exported, where it is loaded; what a model is exported with, where a factory
    makes that on no device."""
    match node:
        case ast.FunctionDef(body=body):
            given = {
                name
                for call in calls(node, "export")
                if _called(call).endswith("export.export")
                for inner in call.args[1:2]
                for name in names(inner)
            }
            made = [value for value in _bound_to(body, given) if _is_made(value, torch)]
            return made[0] if len(made) == 1 else None
    return node if _called(node).endswith("export.load") else None


def _bound_to(body: Iterable[ast.stmt], names: set[str]) -> Iterator[ast.expr]:
    """What the statements of a function bind to names."""
    for one in body:
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in names:
                yield value


def _is_made(value: ast.expr, torch: TorchNames) -> bool:
    """Whether a call makes a tensor and is told no device."""
    last = called(value)
    return last in torch.factories and not _has(value, "device")


def _wrapped(node: ast.AST, _: TorchNames) -> ast.AST | None:
    """What copies a model to several GPUs, or is told on which one it is."""
    last = called(node)
    told = last in ("DistributedDataParallel", "DDP") and _has(node, "device_ids")
    return node if last == "DataParallel" or told else None


def _moved(node: ast.AST, torch: TorchNames) -> ast.AST | None:
    """A move that is all that a statement does."""
    match node:
        case (
            ast.Expr(value=ast.Call(func=ast.Attribute(attr=name)) as call)
            | ast.Assign(value=ast.Call(func=ast.Attribute(attr=name)) as call)
        ):
            return call if name in torch.moves else None
    return None


def _mapped(node: ast.AST, _: TorchNames) -> ast.AST | None:
    if _has(node, "device_map") or called(node) in ("dispatch_model", "parallelize"):
        return node
    return None


def _drawn(node: ast.AST, _: TorchNames) -> ast.AST | None:
    return node if called(node) == "Generator" else None


def _loaded(node: ast.AST, _: TorchNames) -> ast.AST | None:
    last = called(node)
    loads = _called(node) in ("torch.load", "th.load") or last == "load_from_checkpoint"
    return node if loads and not _has(node, "map_location") else None


def _held(node: ast.AST, torch: TorchNames) -> ast.AST | None:
    """Layers in a list or dict that is an attribute."""
    match node:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"))], value=value):
            shown = isinstance(value, ast.List | ast.Dict | ast.ListComp | ast.DictComp | ast.Tuple)
            return node if shown and any(_builds(one, torch) for one in calls(value)) else None
    return None


def _builds(node: ast.AST, torch: TorchNames) -> bool:
    root, _, last = _called(node).rpartition(".")
    own = root.partition(".")[0] not in sys.stdlib_module_names
    return own and last[:1].isupper() and last not in torch.factories


def _put(node: ast.AST, torch: TorchNames) -> ast.AST | None:
    """A layer that is put into a model from outside."""
    match node:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id=owner))], value=ast.Call() as value
        ):
            return value if owner != "self" and _builds(value, torch) else None
        case ast.Call(func=ast.Attribute(attr=name)) if name in torch.growing:
            return node
        case ast.Call(args=[*_, ast.Constant(), layer]) if _hangs(node):
            return layer
    return None


def _hangs(node: ast.AST) -> bool:
    """Whether a call hangs a parametrization on a weight."""
    return called(node) == "register_parametrization"


def _beside(spot: Spot) -> Iterator[str]:
    """The device of the weight on which a parametrization is hung, or of the model that is exported with
    what a name is set to."""
    bound = _name(spot)
    for node in calls(spot.source.tree):
        match node:
            case ast.Call(args=[module, ast.Constant(value=str(name)), layer]) if _hangs(node):
                if layer is spot.node:
                    yield f"{ast.unparse(module)}.{name}.device"
            case ast.Call(args=[model, given, *_]) if _called(node).endswith("export.export"):
                if bound in names(given):
                    yield f"next({ast.unparse(model)}.parameters()).device"


def _ranked(node: ast.AST, _: TorchNames) -> ast.AST | None:
    if _called(node) == "torch.device" and _RANK.search(ast.unparse(node)):
        return node
    return node if _called(node).endswith("cuda.set_device") else None


def _numbered(node: ast.AST, _: TorchNames) -> ast.AST | None:
    """An accelerator that is written down by a number that a machine may lack."""
    match node:
        case ast.Constant(value=str(text)):
            return node if _ORDINAL.fullmatch(text) else None
        case ast.Call(
            func=ast.Attribute(attr="cuda" | "set_device"), args=[ast.Constant(value=int(n))]
        ):
            return node if n > 0 else None
    return None


#: Causes whose form counts in the lines alone that the traceback shows.
_SHOWN = frozenset({"quantized-placement", "offloaded-to-cpu", "host-copy-needed"})
#: Forms that are likelier than others of a cause's, where several places have one.
_RATHER: dict[str, Form] = {"meta-tensor": _left_empty}


#: What DeepSpeed calls its optimizers of the host's: ``...Adam``, ``...Adagrad``, ``...Lion``.
_ON_HOST = "DeepSpeedCPU"
#: Methods, and functions, that copy what they are called of or given, and leave the copy where it is.
_COPIES = frozenset({"clone", "copy", "detach"})
_COPYING = frozenset({"copy", "deepcopy", "dict"})


def host_optimizer(node: ast.AST, _: TorchNames) -> ast.AST | None:
    """An optimizer of the host's, or the setting by which DeepSpeed takes one."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()) if name.startswith(_ON_HOST):
            return node
        case ast.Attribute(attr=name) if name.startswith(_ON_HOST):
            return node
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                named = isinstance(key, ast.Constant) and key.value == "offload_optimizer"
                if named and isinstance(value, ast.Dict):
                    return value
    return None


def put_state(node: ast.AST, _: TorchNames) -> ast.AST | None:
    """A statement that gives a weight of an optimizer the state that was kept elsewhere, as a whole or by
    its values: as it was kept, or a copy of that."""
    match node:
        case (
            ast.Assign(
                targets=[ast.Subscript(value=ast.Attribute(attr="state"), slice=ast.Name())],
                value=value,
            )
            | ast.Call(
                func=ast.Attribute(
                    value=ast.Subscript(value=ast.Attribute(attr="state"), slice=ast.Name()),
                    attr="update",
                ),
                args=[value],
            )
        ):
            return node if _as_kept(value) else None
        case ast.Assign(
            targets=[
                ast.Subscript(
                    value=ast.Subscript(value=ast.Attribute(attr="state"), slice=ast.Name()),
                    slice=key,
                )
            ],
            value=value,
        ):
            counted = isinstance(key, ast.Constant) and key.value == "step"
            return node if _as_kept(value) and not counted else None
    return None


def _as_kept(value: ast.expr) -> bool:
    """Whether an expression is something that was kept, or a copy of it that is where that is."""
    match value:
        case ast.Name() | ast.Subscript():
            return True
        case ast.DictComp(value=ast.IfExp(body=each, orelse=other)):
            return _as_kept(each) and _as_kept(other)
        case ast.DictComp(value=each):
            return _as_kept(each)
    held = copied(value)
    return held is not None and _as_kept(held)


def copied(value: ast.AST) -> ast.expr | None:
    """What a call copies where it is: ``copy.deepcopy(x)``, ``dict(x)``, ``x.clone()``; None for others."""
    match value:
        case ast.Call(func=ast.Attribute(value=held, attr=name), args=[], keywords=[]):
            return held if name in _COPIES else None
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(attr=name), args=[held], keywords=[]
        ) if name in _COPYING:
            return held
    return None


def orders_rows(node: ast.AST, _: TorchNames) -> ast.AST | None:
    """A loader that draws the order of its rows by itself; where torch draws on the GPU by default its
    generator on the host cannot."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name.endswith(
            "DataLoader"
        ):
            told = {one.arg: one.value for one in node.keywords}
            shuffles = getattr(told.get("shuffle"), "value", None) is True
            return node if shuffles and "generator" not in told else None
    return None


def _to_numpy(node: ast.AST, _: TorchNames) -> ast.expr | None:
    """``x.numpy()``."""
    match node:
        case ast.Call(func=ast.Attribute(attr="numpy"), args=[]):
            return node
    return None


_FORMS: dict[str, Form] = {
    "host-copy-needed": _to_numpy,
    "quantized-placement": _moved,
    "offloaded-to-cpu": _moved,
    "hardcoded-device": _numbered,
    "meta-tensor": _meta,
    "dataparallel-home-device": _wrapped,
    "cross-shard-op": _mapped_by,
    "zero-offload": host_optimizer,
    "optimizer-state": put_state,
    "fake-or-compile-device": _exported,
    "device-map-under-training": lambda node, torch: _wrapped(node, torch) or _mapped(node, torch),
    "generator-device": _drawn,
    "checkpoint-location": _loaded,
    "unregistered-submodule": _held,
    "submodule-added-after-move": _put,
    "rank-device": _ranked,
}

#: Forms of a cause that count where no place has the first one.
_ELSE: dict[str, Form] = {"generator-device": orders_rows}
