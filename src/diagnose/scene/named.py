"""The operands of an operation whose message names an argument ("argument mat2") or an element."""

from __future__ import annotations

import ast

from diagnose.model import Mismatch, TorchNames
from diagnose.scene import calls
from diagnose.scene.meeting import Meeting, Said, decided, operand


def named(met: Meeting, said: Said, torch: TorchNames) -> Meeting | None:
    """The operand that the message names, and the one that it was compared with."""
    mismatch = said.mismatch
    if _joins(mismatch.op, torch) or mismatch.element is not None:
        return _elements(met, mismatch, torch)
    argument, found, expected = mismatch.argument, mismatch.found, mismatch.expected
    if argument is not None and found is not None:
        meant, other = _sides(met, argument, said.role, torch)
        if meant is not None and (shown := decided(met, [(meant, found), (other, expected)])):
            return shown
    if len(said.roles) < 2:
        return None
    by_role = ((_by_role(met, role, said, torch), device) for role, device in said.roles.items())
    shown = decided(met, list(by_role))
    return _with_state(shown) if shown is not None and said.recurrent else shown


def _with_state(met: Meeting) -> Meeting:
    """A recurrent layer multiplies its weights with the input and with the state: either may be it."""
    for call in calls.calls(met.nodes):
        if len(call.args) == 2 and [one.node for one in met.strays] == call.args[:1]:
            return met._replace(strays=(*met.strays, operand(met, call.args[1])))
    return met


Sides = tuple["ast.expr | None", "ast.expr | None"]


def _sides(met: Meeting, argument: str, role: str | None, torch: TorchNames) -> Sides:
    """The operand that the message names, and the other one, of a product or a known function."""
    for node in met.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            if met.part not in (None, node):
                continue
            if argument in torch.second_factors:
                return node.right, node.left
            if argument in torch.first_factors:
                return node.left, node.right
        elif isinstance(node, ast.Call) and calls.is_known(node, torch):
            if met.part is not None and isinstance(met.part, ast.Call) and node is not met.part:
                continue
            given = calls.parameters(node, torch)
            name = _parameter(given, argument, role)
            if name is None:
                continue
            others = (
                n for key, n in given.items() if key != name and not _is_setting(key, n, torch)
            )
            return given[name], next(others, None)
    return None, None


def _parameter(given: dict[str, ast.expr], argument: str, role: str | None) -> str | None:
    """Which of a call's parameters the message means: by its own name, else by the role."""
    for name in ("input" if argument == "self" else argument, role):
        if name is not None and name in given and not (name == "weight" and role == "class-weight"):
            return name
    if role == "class-weight":
        return None
    return {"input": "input", "weight": "mat2"}.get(role or "") if "mat2" in given else None


def _is_setting(name: str, node: ast.expr, torch: TorchNames) -> bool:
    return name in torch.size_operands or calls.is_number(node, torch)


#: What a layer is called by: an attribute, one of a list, a name that a loop gives it.
_LAYERS = (ast.Attribute, ast.Subscript, ast.Name)


def _by_role(met: Meeting, role: str, said: Said, torch: TorchNames) -> ast.expr | None:
    """The operand of a role: of torch's function where the line calls one, else of a layer."""
    listed = [
        call for call in calls.calls(met.nodes) if met.part is None or call is met.part
    ] or list(calls.calls(met.nodes))
    for call in listed:
        if calls.is_known(call, torch):
            given = calls.parameters(call, torch)
            second = given.get("mat2") if role in ("weight", "tensor") else None
            return given.get(role) or second
    for node in met.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return {"input": node.left, "weight": node.right, "tensor": node.right}.get(role)
    if not said.in_layer or len(listed) != 1:
        return None
    [call] = listed
    if role == "weight":
        return call.func if isinstance(call.func, _LAYERS) else None
    place = {"input": 0, "index": 0, "target": 1, "state": 1}.get(role, 99)
    found = call.args[place] if place < len(call.args) else None
    return None if isinstance(found, ast.Starred) else found


# --- lists that are joined ----------------------------------------------------------------------------


def _joins(op: str | None, torch: TorchNames) -> bool:
    return op is not None and op.rpartition("_")[2].split(".")[0] in torch.joins


def _elements(met: Meeting, mismatch: Mismatch, torch: TorchNames) -> Meeting | None:
    """Of a list that is joined, the element that the message counts, or of two that on the cpu."""
    for call in calls.calls(met.nodes):
        joined = calls.joined(call, torch)
        if joined is None:
            continue
        if joined.elements is None:
            return None
        if mismatch.element is not None and mismatch.element < len(joined.elements):
            rest = list(joined.elements)
            counted = operand(met, rest.pop(mismatch.element), mismatch.found)
            others = tuple(operand(met, node, mismatch.expected) for node in rest)
            return met._replace(strays=(counted,), others=others)
        sides = [mismatch.expected, mismatch.found]
        if len(joined.elements) == 2 and None not in sides:
            return decided(met, list(zip(joined.elements, sides, strict=True)))
        return met._replace(strays=tuple(operand(met, node) for node in joined.elements))
    return None
