"""Edits of one printed source line: which operand moves, and to whose device.

Every function takes a `Site` and returns the changed line, or None where the line does not show
enough to be sure of the edit. Lines are parsed, never run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import NamedTuple

from diagnose import sourceline
from diagnose.model import Frame, Report
from diagnose.sourceline import SourceLine


class Site(NamedTuple):
    """The line to edit and what the message says about it."""

    frame: Frame
    line: SourceLine
    report: Report

    def replaced(self, node: ast.expr, text: str) -> str:
        """The line with ``node`` replaced by ``text``."""
        start, end = self.line.span(node)
        return self.line.text[:start] + text + self.line.text[end:]


Edit = Callable[[Site], "str | None"]


def patch(kind: str, frame: Frame | None, report: Report) -> str | None:
    """A unified diff of the frame's line for a fix of this kind, or None.

    Args:
        kind: fix id of the taxonomy.
        frame: the line to edit, with its source.
        report: what the message says.
    """
    line = sourceline.parse(frame.code) if frame is not None else None
    edit = EDITS.get(kind)
    if frame is None or line is None or edit is None:
        return None
    changed = edit(Site(frame, line, report))
    if changed is None or changed == line.text:
        return None
    return unified(frame, line.text, changed)


def unified(frame: Frame, before: str, after: str) -> str:
    """A unified diff of one line; the path is printed without control characters."""
    path = "".join(c for c in frame.file.replace("\\", "/").lstrip("/") if c.isprintable())
    number = frame.line or 1
    code = frame.code or ""
    indent = code[: len(code) - len(code.lstrip())]
    return f"--- a/{path}\n+++ b/{path}\n@@ -{number} +{number} @@\n-{indent}{before}\n+{indent}{after}\n"


# --- which operand moves ----------------------------------------------------------------------------


def _name(node: ast.expr) -> str | None:
    """What an operand is called, without methods and subscripts; None for constants and calls."""
    return sourceline.dotted(sourceline.root(node))


def _postfix(site: Site, node: ast.expr) -> str:
    """The operand's text in a form that ``.to(...)`` can follow."""
    text = site.line.segment(node)
    atom = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
    wrapped = text.startswith("(") and text.endswith(")") and text.count("(") == 1
    return text if isinstance(node, atom) or wrapped else f"({text})"


def _anchor(site: Site, node: ast.expr) -> str | None:
    """An expression without calls whose device is the operand's: a name or a constant subscript."""
    while True:
        if isinstance(node, (ast.Name, ast.Attribute)) and sourceline.dotted(node):
            return site.line.segment(node)
        if isinstance(node, ast.Subscript):
            if _container(node):
                return site.line.segment(node)
            node = node.value
        else:
            root = sourceline.root(node)
            if root is node or not isinstance(root, ast.expr):
                return _first_leaf(site, node)
            node = root


def _container(node: ast.Subscript) -> bool:
    """True for ``outputs[0]`` and ``batch["ids"]``: the container itself may have no device."""
    return isinstance(node.slice, ast.Constant) and not isinstance(node.value, ast.Call)


def _first_leaf(site: Site, node: ast.expr) -> str | None:
    """The first operand of a compound expression that has a name."""
    if isinstance(node, ast.BinOp):
        return _anchor(site, node.left) or _anchor(site, node.right)
    return None


def _is_state(name: str) -> bool:
    """True for what belongs to the object rather than to the batch: ``self.pe``, ``MEAN``."""
    return name.startswith("self.") or name.isupper()


#: Comparisons that look at each element, and so at the device; ``is`` and ``in`` do not.
_ELEMENTWISE = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _pairs(site: Site) -> list[tuple[ast.expr, ast.expr]]:
    """The operands that meet in the line, innermost operation first, left to right."""
    found: list[tuple[int, tuple[ast.expr, ast.expr]]] = []
    for node in site.line.nodes:
        if isinstance(node, ast.BinOp):
            found.append((_height(node), (node.left, node.right)))
        elif isinstance(node, ast.Compare) and isinstance(node.ops[-1], _ELEMENTWISE):
            if len(node.comparators) == 1:
                found.append((_height(node), (node.left, node.comparators[0])))
        elif isinstance(node, ast.AugAssign):
            found.append((_height(node.value) + 1, (node.target, node.value)))
    found.sort(key=lambda item: item[0])
    return [pair for _, pair in found if not any(isinstance(n, ast.Constant) for n in pair)]


def _height(node: ast.expr) -> int:
    """How many operators are nested in an expression."""
    parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
    return isinstance(node, (ast.BinOp, ast.Compare)) + max(map(_height, parts), default=0)


def _to(site: Site, mover: ast.expr, anchor: str | None) -> str | None:
    """The line with ``mover`` taken to the anchor's device."""
    if anchor is None:
        return None
    return site.replaced(mover, f"{_postfix(site, mover)}.to({anchor}.device)")


def move_operand(site: Site) -> str | None:
    """``a + b`` becomes ``a + b.to(a.device)``; state moves to the batch, not the other way."""
    joined = _joined(site)
    if joined is not None:
        return joined
    argument = _named_argument(site)
    if argument is not None:
        return argument
    pairs = [
        (one, two, name_one, name_two)
        for one, two in _pairs(site)
        if (name_one := _name(one) or _anchor(site, one))
        and (name_two := _name(two) or _anchor(site, two))
        and name_one != name_two
    ]
    if not pairs:
        return None
    mixed = [p for p in pairs if _is_state(p[2]) != _is_state(p[3])]
    one, two, name_one, _ = (mixed or pairs)[0]
    if mixed and _is_state(name_one) and not _is_assigned(site, one):
        return _to(site, one, _anchor(site, two))
    return _chain(site, one, two) or _to(site, two, _anchor(site, one))


def _chain(site: Site, first: ast.expr, second: ast.expr) -> str | None:
    """``a + b + c`` becomes ``a + b.to(a.device) + c.to(a.device)``: any of them may be the stray."""
    anchor, movers, inner = _anchor(site, first), [second], second
    for node in reversed(list(site.line.nodes)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            within = isinstance(node.left, ast.BinOp) and node.left.right is inner
            if within and isinstance(node.right, (ast.Name, ast.Attribute)):
                inner = node.right
                movers.append(inner)
    if anchor is None or len(movers) < 2:
        return None
    text = site.line.text
    for mover in reversed(movers):
        start, end = site.line.span(mover)
        text = f"{text[:start]}{_postfix(site, mover)}.to({anchor}.device){text[end:]}"
    return text


def _is_assigned(site: Site, node: ast.expr) -> bool:
    return any(isinstance(n, ast.AugAssign) and n.target is node for n in site.line.nodes)


def _joined(site: Site) -> str | None:
    """``torch.cat([a, b])``: the elements that the message does not name first follow the other."""
    for node in site.line.nodes:
        if not (isinstance(node, ast.Call) and node.args):
            continue
        called = (sourceline.dotted(node.func) or "").rpartition(".")[2]
        elements = node.args[0]
        if called not in {"cat", "stack", "concat", "hstack", "vstack"}:
            continue
        if not isinstance(elements, (ast.List, ast.Tuple)) or len(elements.elts) != 2:
            return None
        first, second = elements.elts
        devices = site.report.mismatch.devices if site.report.mismatch else ()
        if devices[:1] == ("cpu",):
            return _to(site, first, _anchor(site, second))
        return _to(site, second, _anchor(site, first))
    return None


#: Where the argument that a message names stands among the positional arguments of the call.
_POSITIONS: Mapping[str, int] = {"target": 1, "index": -1, "weight": 2, "mat2": 1, "other": 1}


def _named_argument(site: Site) -> str | None:
    """``loss_fn(logits, labels)`` with ``target`` named becomes ``labels.to(logits.device)``."""
    argument = (site.report.mismatch.argument if site.report.mismatch else None) or ""
    position = _POSITIONS.get(argument)
    for node in site.line.nodes:
        if not isinstance(node, ast.Call) or position is None:
            continue
        keyword = next((k.value for k in node.keywords if k.arg == argument), None)
        if keyword is None and argument == "weight":
            continue
        mover = keyword
        if mover is None and len(node.args) > 1:
            mover = node.args[position]
        anchor = node.args[0] if node.args else None
        if argument == "index" and isinstance(node.func, ast.Attribute):
            owner = sourceline.dotted(node.func.value)
            if node.func.attr in {"gather", "scatter", "scatter_add", "index_add", "take"}:
                anchor = node.args[0] if owner == "torch" else node.func.value
            elif node.func.attr != "index_select":
                continue
            mover = mover or (node.args[-1] if node.args else None)
        if mover is None or anchor is None or mover is anchor or not _name(mover):
            continue
        return _to(site, mover, _anchor(site, anchor))
    return None


def move_index(site: Site) -> str | None:
    """``table[ids]`` becomes ``table[ids.to(table.device)]``."""
    for node in site.line.nodes:
        if isinstance(node, ast.Subscript):
            elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            movable = [e for e in elements if isinstance(e, (ast.Name, ast.Attribute, ast.Call))]
            anchor = _anchor(site, node.value)
            if not movable or anchor is None:
                continue
            text = site.line.text
            for element in reversed(movable):
                start, end = site.line.span(element)
                text = f"{text[:start]}{text[start:end]}.to({anchor}.device){text[end:]}"
            return text
    return _named_argument(site)


#: Factories that take no ``device=``, or none but the cpu.
_WITHOUT_DEVICE = ("Tensor", "from_numpy")


def make_on_device(site: Site) -> str | None:
    """``torch.zeros(n)`` becomes ``torch.zeros(n, device=x.device)`` for an ``x`` of the same line."""
    for node in site.line.nodes:
        if isinstance(node, ast.Call) and sourceline.makes_tensor(node):
            inside = {id(n) for n in ast.walk(node)}
            for other in site.line.nodes:
                if not isinstance(other, ast.Name) or id(other) in inside:
                    continue
                if _is_value(other, site):
                    start, end = site.line.span(node)
                    call = site.line.text[start:end]
                    if not call.endswith(")"):
                        return None
                    if (sourceline.dotted(node.func) or "").endswith(_WITHOUT_DEVICE):
                        return site.replaced(node, f"{call}.to({other.id}.device)")
                    comma = ", " if node.args or node.keywords else ""
                    fixed = f"{call[:-1].rstrip().rstrip(',')}{comma}device={other.id}.device)"
                    return site.line.text[:start] + fixed + site.line.text[end:]
    return None


def _is_value(name: ast.Name, site: Site) -> bool:
    """True for a name that reads like a tensor: loaded, not called, not a module or builtin."""
    if not isinstance(name.ctx, ast.Load) or sourceline.is_builtin(name.id):
        return False
    if name.id in {"self", "torch", "np", "F", "nn", "math", "th"}:
        return False
    return not any(
        isinstance(n, ast.Call) and sourceline.root(n.func) is name and isinstance(n.func, ast.Name)
        for n in site.line.nodes
    )


def host_copy(site: Site) -> str | None:
    """``x.numpy()`` becomes ``x.detach().cpu().numpy()``; ``np.array(x)`` copies its argument."""
    for node in site.line.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == "numpy" and not node.args:
            owner = node.func.value
            text = site.line.segment(owner)
            if text.endswith(".detach()"):
                return site.replaced(owner, f"{text}.cpu()")
            return site.replaced(owner, f"{_postfix(site, owner)}.detach().cpu()")
        called = sourceline.dotted(node.func) or ""
        if called.split(".")[0] in {"np", "numpy"} and node.args and _name(node.args[0]):
            return site.replaced(
                node.args[0], f"{_postfix(site, node.args[0])}.detach().cpu().numpy()"
            )
    return None


def map_location(site: Site) -> str | None:
    """``torch.load(path)`` becomes ``torch.load(path, map_location="cpu")``."""
    for node in site.line.nodes:
        if isinstance(node, ast.Call) and sourceline.dotted(node.func) in {"torch.load", "th.load"}:
            if any(k.arg == "map_location" for k in node.keywords) or len(node.args) > 1:
                return None
            text = site.line.segment(node)
            if text.endswith(")"):
                return site.replaced(node, f'{text[:-1].rstrip().rstrip(",")}, map_location="cpu")')
    return None


def keep_in_place(site: Site) -> str | None:
    """``model.to(device)`` becomes ``model``."""
    for node in site.line.nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in {"to", "cuda"}
            and sourceline.dotted(node.func.value)
        ):
            name = site.line.segment(node.func.value)
            whole = site.line.segment(node) == site.line.text
            return (
                f"pass  # {name} stays where it was loaded" if whole else site.replaced(node, name)
            )
    return None


def device_of_other(site: Site) -> str | None:
    """``torch.zeros(n).cuda()`` and ``.to("cuda")`` take the device of another operand."""
    for node in site.line.nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        fixed = any(sourceline.names_device(n) for n in (node, *node.args, *node.keywords))
        if node.func.attr not in {"to", "cuda"} or not fixed:
            continue
        inside = {id(n) for n in ast.walk(node)}
        for other in site.line.nodes:
            if isinstance(other, ast.Name) and id(other) not in inside and _is_value(other, site):
                owner = site.line.segment(node.func.value)
                return site.replaced(node, f"{owner}.to({other.id}.device)")
    return make_on_device(site) or move_operand(site)


def move_arguments(site: Site) -> str | None:
    """``model(ids)`` becomes ``model(ids.to(next(model.parameters()).device))``."""
    for node in site.line.nodes:
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            continue
        model = sourceline.dotted(node.func)
        argument = node.args[0]
        if model is None or not isinstance(argument, (ast.Name, ast.Attribute)):
            continue
        if model.split(".")[0] in {"torch", "F", "nn", "np"} or sourceline.is_builtin(model):
            continue
        name = site.line.segment(argument)
        return site.replaced(argument, f"{name}.to(next({model}.parameters()).device)")
    return move_operand(site)


def drop_device_map(site: Site) -> str | None:
    """Takes ``device_map=...`` out of the call."""
    return _device_map(site, None)


def pin_device_map(site: Site) -> str | None:
    """``device_map="auto"`` becomes one device for this process."""
    return _device_map(site, '{"": torch.cuda.current_device()}')


def _device_map(site: Site, value: str | None) -> str | None:
    for node in site.line.nodes:
        if not isinstance(node, ast.Call):
            continue
        for keyword in node.keywords:
            if keyword.arg != "device_map":
                continue
            start, end = site.line.span(keyword.value)
            text = site.line.text
            key = text.rindex("device_map", 0, start)
            if value is not None:
                return f"{text[:start]}{value}{text[end:]}"
            before, after = text[:key].rstrip(), text[end:].lstrip()
            if after.startswith(","):
                return before + ("" if before.endswith("(") else " ") + after[1:].lstrip()
            return before.rstrip(",") + after
    return None


EDITS: Mapping[str, Edit] = {
    "move-tensor-at-line": move_operand,
    "patch-library-line": move_operand,
    "index-to-device": move_index,
    "create-on-device": make_on_device,
    "use-like-device-of-other": device_of_other,
    "cpu-before-numpy": host_copy,
    "map-location": map_location,
    "no-to-on-quantized": keep_in_place,
    "move-input": move_arguments,
    "drop-device-map": drop_device_map,
    "pin-device-map": pin_device_map,
}
