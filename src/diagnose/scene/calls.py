"""What torch's functions and methods call their operands, in the order in which they take them.

Names are those of torch's own schemas where a message may print them (``mat2``, ``src``), or roles of
kb/operands.toml (``class-weight``) where a message about the op below prints another name than the
function has. The receiver of a method is its first parameter. Read off torch's documentation and its
native_functions.yaml.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from diagnose.scene import sourceline

_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    name: tuple(parameters.split())
    for names, parameters in (
        ("linear", "input weight bias"),
        ("conv1d conv2d conv3d conv_transpose1d conv_transpose2d", "input weight bias"),
        ("mm bmm mv dot inner matmul", "input mat2"),
        ("addmm addbmm addmv", "self mat1 mat2"),
        ("baddbmm", "self batch1 batch2"),
        ("embedding embedding_bag", "index weight"),
        ("cross_entropy nll_loss binary_cross_entropy", "input target class-weight"),
        ("binary_cross_entropy_with_logits", "input target class-weight"),
        ("mse_loss l1_loss smooth_l1_loss huber_loss kl_div soft_margin_loss", "input target"),
        ("ctc_loss", "input targets"),
        ("batch_norm", "input running_mean running_var weight bias"),
        ("layer_norm", "input normalized_shape weight bias"),
        ("group_norm", "input num_groups weight bias"),
        ("gather", "input dim index"),
        ("scatter scatter_ scatter_add scatter_add_ scatter_reduce", "input dim index src"),
        ("index_select", "input dim index"),
        ("index_add index_add_ index_copy index_copy_", "input dim index source"),
        ("index_fill index_fill_", "input dim index value"),
        ("take", "input index"),
        ("take_along_dim", "input indices dim"),
        ("masked_fill masked_fill_", "input mask value"),
        ("masked_select", "input mask"),
        ("masked_scatter masked_scatter_", "input mask source"),
        ("cdist", "x1 x2"),
        ("isin", "elements test_elements"),
        ("searchsorted", "sorted_sequence input"),
        ("bucketize", "input boundaries"),
        ("grid_sample", "input grid"),
        ("scaled_dot_product_attention", "query key value attn_mask"),
    )
    for name in names.split()
}
#: Elementwise operations that are also called as a method or a function of torch.
_ELEMENTWISE = frozenset(
    name + end
    for name in (
        *("add", "sub", "mul", "div", "true_divide", "remainder", "fmod", "pow", "atan2"),
        *("eq", "ne", "lt", "le", "gt", "ge", "where", "maximum", "minimum", "lerp", "masked_fill"),
        *("logical_and", "logical_or", "bitwise_and", "bitwise_or", "addcmul", "addcdiv"),
    )
    for end in ("", "_")
)
_JOINS = frozenset({"cat", "stack", "concat", "hstack", "vstack"})
#: Names under which torch's functions are called; what else has such a method is a tensor.
_OF_TORCH = frozenset({"torch", "th", "F", "nn.functional", "torch.nn.functional", "functional"})
#: What a function calls a parameter that `_PARAMETERS` names by a role or by torch's schema.
_KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "class-weight": ("weight",),
    "index": ("index", "input"),
    "self": ("input", "self"),
    "mat2": ("mat2", "other", "tensor", "vec"),
}


class Joined(NamedTuple):
    """What a call joins to one tensor (``torch.cat([a, b])``); None where it is no list in the line."""

    elements: tuple[ast.expr, ...] | None


def name(call: ast.Call) -> str:
    """The last part of what is called: ``gather`` for ``x.gather(...)`` and ``torch.gather(...)``."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def is_known(call: ast.Call) -> bool:
    """True for a function or method whose parameters are known here."""
    return name(call) in _PARAMETERS


def of_torch(call: ast.Call) -> bool:
    """True for a function of torch, False for a method or a function of somebody else."""
    if isinstance(call.func, ast.Attribute):
        return sourceline.dotted(call.func.value) in _OF_TORCH
    return isinstance(call.func, ast.Name)  # imported by its name


def parameters(call: ast.Call) -> dict[str, ast.expr]:
    """The operands of a known call by name, as far as they stand there one by one."""
    names = _PARAMETERS.get(name(call), ())
    positional = list(call.args)
    if isinstance(call.func, ast.Attribute) and not of_torch(call):
        positional.insert(0, call.func.value)
    found: dict[str, ast.expr] = {}
    for parameter, given in zip(names, positional, strict=False):
        if isinstance(given, ast.Starred):
            break
        found[parameter] = given
    for parameter in names:
        for keyword in call.keywords:
            means = keyword.arg == parameter or (
                keyword.arg not in names and keyword.arg in _KEYWORDS.get(parameter, ())
            )
            if means:
                found.setdefault(parameter, keyword.value)
    return found


def elementwise(call: ast.Call) -> list[ast.expr]:
    """What an elementwise function of torch, or such a method of a tensor, is given."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _ELEMENTWISE:
        return []
    tensors = [arg for arg in call.args if not isinstance(arg, ast.Starred)]
    return tensors if of_torch(call) else [call.func.value, *tensors]


def joined(call: ast.Call) -> Joined | None:
    """What the call joins; None where it is no such call."""
    if name(call) not in _JOINS or not (call.args or call.keywords):
        return None
    listed = call.args[0] if call.args else call.keywords[0].value
    if not isinstance(listed, (ast.List, ast.Tuple)):
        return Joined(None)
    if any(isinstance(element, ast.Starred) for element in listed.elts):
        return Joined(None)
    return Joined(tuple(listed.elts))


def calls(nodes: tuple[ast.AST, ...]) -> Iterator[ast.Call]:
    """The calls among nodes."""
    yield from (node for node in nodes if isinstance(node, ast.Call))


def is_number(node: ast.expr) -> bool:
    """True for what is surely no tensor: constants, sizes, settings written in capitals."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    if isinstance(node, ast.Call):
        name = (sourceline.dotted(node.func) or "").rpartition(".")[2]
        return name in {"len", "float", "int", "size", "dim", "sqrt", "item"}
    if isinstance(node, ast.Subscript):
        return (sourceline.dotted(node.value) or "").endswith(".shape")
    return False
