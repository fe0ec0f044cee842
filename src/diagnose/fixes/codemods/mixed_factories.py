"""Factories of a function whose results meet in one expression: on another device than the others one of
them would only fail earlier, so they get the device together."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from diagnose.model import TorchNames
from diagnose.placement.model import Source
from diagnose.placement.semantics import dotted, scope_of


def meeting(
    source: Source, call: ast.Call, torch: TorchNames, open_: Callable[[ast.Call], bool]
) -> list[ast.Call]:
    """The other factories of the function, told no device either, with whose results one's is computed.

    Args:
        source: the file.
        call: a factory.
        torch: what torch calls its things.
        open_: whether a call takes ``device=`` and nothing else in it decides the device.
    """
    reading = _Reading(call, torch, open_)
    for statement in _statements(scope_of(source.tree, call).body):
        reading.read(statement)
    return reading.together[1:]


def _statements(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block and of those in it, in their order, without functions of their own."""
    for statement in block:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        yield statement
        for field in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, field, None) or [])


class _Reading:
    """From which factories each name's value comes; ``together`` are the first one and those it met."""

    def __init__(
        self, first: ast.Call, torch: TorchNames, open_: Callable[[ast.Call], bool]
    ) -> None:
        self.together = [first]
        self._torch = torch
        self._open = open_
        self._made: dict[str, list[ast.Call]] = {}

    def read(self, statement: ast.stmt) -> None:
        value = getattr(statement, "value", None)
        if not isinstance(value, ast.expr):
            return
        found = self._of(value)
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            if isinstance(target, ast.Name):
                self._made[target.id] = found

    def _of(self, node: ast.AST) -> list[ast.Call]:
        """The factories that a tensor is computed from."""
        match node:
            case ast.Name(id=name):
                return self._made.get(name, [])
            case ast.UnaryOp(operand=inner) | ast.Attribute(value=inner):
                return self._of(inner)
            case ast.Subscript(value=inner):  # its index may be on the cpu anyway
                return self._of(inner)
            case ast.BinOp(left=left, right=right):
                return self._met(left, right)
            case ast.Compare(left=left, comparators=others):
                return self._met(left, *others)
            case ast.Call() if self._is_factory(node):
                return [node]
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=args):
                if method in self._torch.moves:
                    return []
                listed = [i for a in args for i in getattr(a, "elts", [a])]
                return self._met(owner, *listed)
        for child in ast.iter_child_nodes(node):
            self._of(child)
        return []

    def _met(self, *nodes: ast.AST) -> list[ast.Call]:
        found = [one for node in nodes for one in self._of(node)]
        if any(one is known for one in found for known in self.together):
            self.together += [
                one for one in found if all(one is not known for known in self.together)
            ]
        return found

    def _is_factory(self, call: ast.Call) -> bool:
        """Whether a function of torch makes a tensor of dimensions here without being told a device."""
        name = dotted(call.func) or ""
        function = name.rpartition(".")[2]
        told = any(keyword.arg == "device" for keyword in call.keywords)
        number = len(call.args) == 1 and isinstance(call.args[0], ast.Constant)
        if not name.startswith("torch.") or told or not self._open(call):
            return False
        return not (number and function in ("tensor", "as_tensor", "scalar_tensor"))
