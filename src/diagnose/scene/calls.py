"""What the calls of a line are, by what torch calls its functions, methods and operands (kb/torch.toml)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from diagnose.model import TorchNames
from diagnose.placement.semantics import argument, dotted


class Joined(NamedTuple):
    """What a call joins to one tensor (``torch.cat([a, b])``); None where it is no list in the line."""

    elements: tuple[ast.expr, ...] | None


def name(call: ast.Call) -> str:
    """The last part of what is called: ``gather`` for ``x.gather(...)`` and ``torch.gather(...)``."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def is_known(call: ast.Call, torch: TorchNames) -> bool:
    """True for a function or method whose parameters are known; ``self.embedding(x)`` is a layer."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="self")):
            return False
    return name(call) in torch.takes


def of_torch(call: ast.Call, torch: TorchNames) -> bool:
    """True for a function of torch, False for a method or a function of somebody else."""
    if isinstance(call.func, ast.Attribute):
        owner = dotted(call.func.value) or ""
        return owner in torch.of_torch or owner.startswith(("torch.", "nn."))
    return isinstance(call.func, ast.Name)  # imported by its name


def of_tensors(call: ast.Call, torch: TorchNames) -> bool:
    """True for a tensor's method, as ``.mean()`` in ``loss_fn(x, y.view(-1)).mean()``, and for a function
    of a package."""
    method = isinstance(call.func, ast.Attribute) and (
        call.func.attr in torch.of_tensors or isinstance(call.func.value, ast.Call)
    )
    return method or of_package(call.func, torch)


def parameters(call: ast.Call, torch: TorchNames) -> dict[str, ast.expr]:
    """The operands of a known call by name, as far as they stand there one by one."""
    names = torch.takes.get(name(call), ())
    if "equation" in names and len(call.args) != len(names):
        return {}  # an einsum of more or fewer operands multiplies them in an order of its own
    positional = list(call.args)
    if isinstance(call.func, ast.Attribute) and not of_torch(call, torch):
        positional.insert(0, call.func.value)
    found: dict[str, ast.expr] = {}
    for parameter, given in zip(names, positional, strict=False):
        if isinstance(given, ast.Starred):
            break
        found[parameter] = given
    for parameter in names:
        for keyword in call.keywords:
            means = keyword.arg == parameter or (
                keyword.arg not in names and keyword.arg in torch.keywords.get(parameter, ())
            )
            if means:
                found.setdefault(parameter, keyword.value)
    return found


def elementwise(call: ast.Call, torch: TorchNames) -> list[ast.expr]:
    """What an elementwise function of torch, or such a method of a tensor, is given."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in torch.elementwise:
        return []
    tensors = [arg for arg in call.args if not isinstance(arg, ast.Starred)]
    return tensors if of_torch(call, torch) else [call.func.value, *tensors]


def joined(call: ast.Call, torch: TorchNames) -> Joined | None:
    """What the call joins; None where it is no such call."""
    if name(call) not in torch.joins or not (call.args or call.keywords):
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


def root(node: ast.AST, torch: TorchNames) -> ast.AST:
    """What an operand is made of before indexing, methods and transposition: ``a`` for ``a.t()[0]``."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if of_package(node.func, torch):
                return node
            node = node.func.value
        elif isinstance(node, ast.UnaryOp):
            node = node.operand
        else:
            return node


def makes_tensor(node: ast.AST, torch: TorchNames) -> bool:
    """True for a call such as ``torch.zeros(3)`` without ``device=``."""
    if not isinstance(node, ast.Call) or argument(node, "device") is not None:
        return False
    name = dotted(node.func)
    if name is None:
        return False
    owner, _, function = name.rpartition(".")
    return owner in torch.torch and function in torch.factories


def beside(outer: ast.AST | None, inner: ast.AST) -> list[ast.expr]:
    """The expressions that take part in the same operation."""
    match outer:
        case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
            found = [left, right]
        case ast.Compare(left=left, comparators=others):
            found = [left, *others]
        case ast.Subscript(value=owner, slice=inside):
            found = [owner, inside]
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            found = list(elements)
        case ast.Call(func=function, args=given, keywords=named):
            receiver = [function.value] if isinstance(function, ast.Attribute) else []
            found = [*receiver, *given, *(keyword.value for keyword in named)]
        case _:
            found = []
    return [node for node in found if node is not inner]


def names_device(node: ast.AST, torch: TorchNames) -> bool:
    """True for ``.cuda()``, ``.cuda(1)``, ``"cuda:0"``, ``device=0`` and the like."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "cuda" and all(isinstance(a, ast.Constant) for a in node.args)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split(":")[0] in torch.accelerators
    return isinstance(node, ast.keyword) and (
        node.arg == "device"
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, int)
    )


def of_package(node: ast.expr, torch: TorchNames) -> bool:
    """True for a chain of names that begins with a package, such as ``torch.fft.fft`` and ``F.linear``."""
    return (dotted(node) or "").partition(".")[0] in torch.packages


def is_number(node: ast.expr, torch: TorchNames) -> bool:
    """True for what is surely no tensor: constants, sizes, settings written in capitals."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand, torch)
    if isinstance(node, ast.BinOp):
        return is_number(node.left, torch) and is_number(node.right, torch)
    if isinstance(node, ast.Call):
        name = (dotted(node.func) or "").rpartition(".")[2]
        return name in torch.numbers
    if isinstance(node, ast.Subscript):
        return (dotted(node.value) or "").endswith(".shape")
    return False
