"""Whether an operand may be none, or one number, which any device takes.

What a tensor, a checkpoint or an unknown call holds may be a number. It is none where the operation takes
none: what is put in a row, multiplied as a matrix or picked by positions has dimensions.
"""

from __future__ import annotations

import ast

from diagnose.kinds import ConstraintKind, Origin
from diagnose.placement.machine import Meeting, Meets
from diagnose.placement.semantics import called

#: Functions and methods of torch whose operands have dimensions, in place with _ at the end.
_OF_DIMENSIONS = frozenset(
    {"cat", "concat", "concatenate", "stack", "hstack", "vstack", "matmul", "mm", "bmm", "addmm"}
    | {"gather", "scatter", "scatter_add", "index_select", "index_add", "index_copy"}
    | {"take_along_dim", "linear", "embedding", "conv1d", "conv2d", "conv3d", "bilinear", "cdist"}
    | {"cross_entropy", "nll_loss", "layer_norm", "batch_norm", "group_norm", "grid_sample"}
    | {"embedding_bag", "baddbmm", "scaled_dot_product_attention"}
)


def may_be_none(side: Meets, meeting: Meeting) -> bool:
    """Whether an operand may be none, or one number: what a checkpoint or a tensor holds, but where none
    is taken."""
    if (
        side.tensor.element
        and meeting.what in (ConstraintKind.JOIN, ConstraintKind.INDEX)
        and not _takes_none(meeting)
    ):
        return True
    if side.tensor.maker != Origin.LOAD or not side.tensor.guessed:
        return side.tensor.guessed
    return not _is_product(meeting.spot.node) and meeting.what not in (
        ConstraintKind.CALL,
        ConstraintKind.INDEX,
        ConstraintKind.HOST,
        ConstraintKind.STATE,
    )


def is_of_an_element(meeting: Meeting) -> bool:
    """Whether an index is itself one of a row of them: a number, which any list or tensor takes."""
    node = meeting.spot.node
    index = node.slice if isinstance(node, ast.Subscript) else None
    one = index.slice if isinstance(index, ast.Subscript) else None
    number = isinstance(one, ast.Constant) and isinstance(one.value, int)
    return meeting.what == ConstraintKind.INDEX and (number or isinstance(one, ast.Name))


def _takes_none(meeting: Meeting) -> bool:
    """Whether an operation takes no number: each of its operands has dimensions."""
    node = meeting.spot.node
    return _is_product(node) or called(node).rstrip("_") in _OF_DIMENSIONS


def _is_product(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult)
