"""What a program does without, or otherwise: a split model is not wrapped, an offloaded layer is called."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.codemods.expressions import replaced, without_argument
from diagnose.fixes.codemods.imports import spelled
from diagnose.fixes.codemods.positions import ancestors, statement_of, text_of
from diagnose.fixes.codemods.statements import without_statement
from diagnose.fixes.codemods.target_device import target_device
from diagnose.fixes.codemods.transfers import value_of
from diagnose.fixes.codemods.under_hook import brought_first, run_there
from diagnose.fixes.file_gate import Change
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import argument, bindings, called, calls, dotted, nodes, scope_of

_DDP = ("DistributedDataParallel", "DDP")


def otherwise(suspect: Suspect, _: TorchNames) -> Sequence[Change]:
    """A model that is split stays as it is; the weight of an offloaded layer is not read."""
    if suspect.cause == "device-map-under-training":
        return _unwrapped(suspect)
    if suspect.cause in ("offloaded-to-cpu", "meta-tensor", "low-memory-mode"):
        if (there := run_there(suspect) or brought_first(suspect)) is not None:
            return [there]
        return called_instead(suspect)
    raise Refused("it edits no definition")


def _unwrapped(suspect: Suspect) -> Sequence[Change]:
    """``DataParallel(model)`` is the model, ``DDP(model, device_ids=[0])`` is told no device; the condition
    for it asks where the model is."""
    source = suspect.spot.source
    asked = suspect.beside.node if suspect.beside is not None else None
    if isinstance(asked, ast.expr) and suspect.name.isidentifier():
        test = text_of(source, asked)
        test = (
            f"({test})" if isinstance(asked, ast.BoolOp) and isinstance(asked.op, ast.Or) else test
        )
        alone = f"len({{weight.device for weight in {suspect.name}.parameters()}}) == 1"
        return [replaced(source, asked, f"{test} and {alone}")]
    for call in calls(value_of(suspect)):
        if called(call) == "DataParallel" and call.args:
            return [bare(source, call)]
        if called(call).endswith(_DDP):
            named = [k.arg for k in call.keywords]
            told = [name for name in named if name in ("device_ids", "output_device")]
            if len(told) == len(named) > 1 and len(call.args) == 1:
                alone = f"{text_of(source, call.func)}({text_of(source, call.args[0])})"
                return [replaced(source, call, alone)]
            if len(told) != 1 or told[0] is None:
                raise Refused("the call does not name the devices, or says more of them")
            return [without_argument(source, call, told[0])]
    raise Refused("nothing there wraps the model")


def bare(source: Source, call: ast.Call) -> Change:
    """``model = wrap(model, ...)`` goes; of another such call the model stays."""
    model, statement = text_of(source, call.args[0]), statement_of(source, call)
    if getattr(statement, "value", None) is call:
        kept = statement.targets if isinstance(statement, ast.Assign) else ()
        if {ast.unparse(one) for one in kept} <= {model} and not isinstance(statement, ast.Return):
            return without_statement(source, statement)
    return replaced(source, call, model)


def called_instead(suspect: Suspect) -> Sequence[Change]:
    """``F.linear(x, head.weight, head.bias)`` becomes ``head(x)``, for which its hook brings them."""
    source, node = suspect.spot.source, suspect.spot.node
    weight = next((one for one in nodes(node, ast.Attribute) if one.attr == "weight"), None)
    layer = dotted(weight.value) if weight is not None else None
    if weight is None or layer is None:
        raise Refused("the line reads no weight of a layer that has a name")
    statement = statement_of(source, weight)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is weight:
            scope = scope_of(source.tree, node)
            uses = [one for one in nodes(scope, ast.Name) if one.id == name]
            if len(uses) != 2:  # where it is bound, and one more
                return _all_rows(suspect, weight, layer)
            used = next(one for one in uses if isinstance(one.ctx, ast.Load))
            made = _computed(source, used, layer)
            return [without_statement(source, statement), made]
    return [_computed(source, weight, layer)]


def _all_rows(suspect: Suspect, weight: ast.expr, layer: str) -> Sequence[Change]:
    """``table.weight`` of an embedding becomes the rows that it gives for all of its indices."""
    source = suspect.spot.source
    if not any(called(call) == "Embedding" for call in _built(source, layer)):
        raise Refused("the weight that is read there is used more than once")
    name, needed = spelled(source, "torch.arange", weight)
    rows = f"{name}({layer}.num_embeddings, device={target_device(suspect)})"
    return [replaced(source, weight, f"{layer}({rows})"), *needed]


def _built(source: Source, layer: str) -> list[ast.Call]:
    """The calls that build what a layer of that name is."""
    last = layer.rpartition(".")[2]
    return [
        call
        for one in bindings(source.tree)
        if one.value is not None and (dotted(one.target) or "").rpartition(".")[2] == last
        for call in calls(one.value)
    ]


def _computed(source: Source, weight: ast.expr, layer: str) -> Change:
    """The change of what is computed with the weight of a layer as its forward does to the layer's call."""
    for around in reversed(ancestors(source, weight)[:-1]):
        if isinstance(around, ast.stmt):
            break
        if isinstance(around, ast.expr) and (given := _given(around, weight)) is not None:
            computed, bias = given
            if bias is None and not _has_no_bias(source, layer, called(around)):
                raise Refused("the layer may add a bias, which is not added there")
            if bias is not None and ast.unparse(bias) not in (f"{layer}.bias", "None"):
                raise Refused("another bias than the layer's is added there")
            return replaced(source, around, f"{layer}({text_of(source, computed)})")
    raise Refused("what is computed there is not what a layer computes")


def _given(node: ast.expr, weight: ast.expr) -> tuple[ast.expr, ast.expr | None] | None:
    """The input and the bias of what a layer's forward computes by a weight; None for anything else."""
    match node:
        case ast.Call(args=[given, second], keywords=[]) if called(node) in ("linear", "embedding"):
            return (given, None) if second is weight else None
        case ast.Call(args=[given, second, bias], keywords=[]) if called(node) == "linear":
            return (given, bias) if second is weight else None
        case ast.Call(args=[given, second], keywords=[ast.keyword(arg="bias", value=bias)]):
            return (given, bias) if second is weight and called(node) == "linear" else None
        case ast.BinOp(left=given, op=ast.MatMult(), right=right) if _turned(right) is weight:
            return given, None
        case ast.Call(args=[given, right], keywords=[]) if called(node) == "matmul":
            return (given, None) if _turned(right) is weight else None
    return None


def _turned(node: ast.expr) -> ast.expr | None:
    """What an expression transposes."""
    match node:
        case ast.Attribute(value=value, attr="T" | "mT"):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr="t"), args=[], keywords=[]):
            return value
    return None


def _has_no_bias(source: Source, layer: str, by: str) -> bool:
    """Whether a layer adds nothing to what its weight gives: an embedding, or one that is built so."""
    built = [call for call in _built(source, layer) if called(call) == "Linear"]
    without = [ast.unparse(argument(call, "bias") or call) == "False" for call in built]
    return by == "embedding" or (bool(without) and all(without))


KINDS = {"other": otherwise}
