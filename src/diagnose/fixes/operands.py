"""What can be moved in a line, and to whose device: rules that all edits share."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

from diagnose.fixes.destinations import is_plain
from diagnose.fixes.line_gate import Change, Refused, Site, applied, replaced
from diagnose.model import Report
from diagnose.placement.device_patterns import destinations
from diagnose.placement.semantics import dotted
from diagnose.scene import calls, provenance, sourceline

#: Names of what is no tensor, but may hold some.
_OWNERS = frozenset({"self", "cls", "super"})
#: How much of what goes by a name is a number: from where on it mostly is one, and from where it may be.
_MOSTLY, _PERHAPS = 0.5, 0.2
_HEADERS = ("torch/nn/modules/module.py", "torch/_dynamo/eval_frame.py")


def is_moved(site: Site, node: ast.expr) -> bool:
    """True for ``x.to(...)``, ``x.cuda()`` and the like: its place was chosen."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr in site.torch.moves or node.func.attr in site.torch.host_results)
    )


def is_tensor_like(site: Site, node: ast.expr) -> bool:
    """True for an expression that is a tensor, or may be one, as far as its form and names tell."""
    if _is_known(site, node):
        return True
    torch, words = site.torch, site.scene.knowledge.words
    match node:
        case ast.Name(id=name):
            return _reads_like_one(site, name) and not is_number(site, node)
        case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner)) if (
            words.options.search(owner)
        ):
            return False  # cfg.noise_offset is a number
        case ast.Attribute(attr=name) if dotted(node):
            told = is_plain(node, site.within, site.torch)
            return _reads_like_one(site, name) and name != "T" and not told
        case ast.Attribute(value=owner, attr=name) if name in torch.tensor_attributes:
            return is_tensor_like(site, owner)
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return False
        case ast.Subscript(value=owner):
            return is_tensor_like(site, owner) or isinstance(owner, ast.Subscript)
        case ast.Call(func=ast.Name(id=name)):
            return not sourceline.is_builtin(name) and not words.no_tensors.search(name)
        case ast.Call(func=ast.Attribute(value=ast.Constant() | ast.JoinedStr())):
            return False
        case ast.Call(func=ast.Attribute(value=owner, attr=name)):
            if _keeps_device(site, name) and not _is_module_name(site, owner):
                return is_tensor_like(site, owner)
            return name not in torch.no_tensor_results and name not in torch.tensor_numbers
        case ast.BinOp(left=left, right=right):
            return not is_number(site, node) and (
                is_tensor_like(site, left) or is_tensor_like(site, right)
            )
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return is_tensor_like(site, inner)
    return False


def _is_known(site: Site, node: ast.expr) -> bool:
    """True for the operands of the operator that the carets point at, whatever they are called: devices are
    compared of tensors only; and for what the user's files say is the stray."""
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    if isinstance(site.met.part, ast.BinOp):
        return node in (site.met.part.left, site.met.part.right)
    first = next(iter(site.scene.suspects), None)
    return first is not None and first.sure and first.name == site.text(node)


def _reads_like_one(site: Site, name: str) -> bool:
    return not (
        name in _OWNERS
        or name in site.torch.packages
        or sourceline.is_builtin(name)
        or site.scene.knowledge.words.no_tensors.search(name)
    )


def is_number(site: Site, node: ast.expr) -> bool:
    """Whether an expression is no tensor but a number, as far as the line tells: what mostly is one, in
    arithmetic with a number that is written down or in a quotient with its like."""
    match node:
        case ast.Name(id=name):
            return (mostly_number(site, node) and _counts(site, name)) or _is_plain(site, node)
        case ast.UnaryOp(operand=inner):
            return is_number(site, inner)
        case ast.BinOp(left=left, right=right):
            return is_number(site, left) and is_number(site, right)
    return _is_plain(site, node)


def mostly_number(site: Site, node: ast.expr) -> bool:
    """Whether what goes by such a name mostly is a number; only its line can tell that it is one."""
    return isinstance(node, ast.Name) and _share(site, node.id) >= _MOSTLY


def _is_plain(site: Site, node: ast.expr) -> bool:
    """Whether an expression is a number by its form, or by a name that only numbers and texts have."""
    named = dotted(node) is not None
    if named and is_plain(node, site.within, site.torch):
        return True
    words = site.scene.knowledge.words
    return calls.is_number(node, site.torch) or (
        named and bool(words.no_tensors.search(provenance.name(node)))
    )


def _counts(site: Site, name: str) -> bool:
    """Whether the line computes with a name as with a number, and asks nothing of it that tensors have."""
    found = False
    for node in site.line.nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=owner)) | ast.Subscript(value=ast.Name(id=owner)):
                if owner == name:
                    return False
            case ast.BinOp(left=ast.Name(id=one), op=ast.Div(), right=ast.Name(id=two)):
                found |= name in (one, two) and min(_share(site, n) for n in (one, two)) >= _MOSTLY
            case ast.BinOp(left=left, right=right):
                for side, other in ((left, right), (right, left)):
                    if isinstance(side, ast.Name) and side.id == name:
                        found |= _is_plain(site, other)
    return found


def _share(site: Site, name: str) -> float:
    """How much of what goes by a name, in such lines, is a number."""
    named = (n for n in site.line.nodes if isinstance(n, ast.Name) and n.id == name)
    return max((provenance.here(n, site.place).get("scalar", 0.0) for n in named), default=0.0)


def _keeps_device(site: Site, method: str) -> bool:
    torch = site.torch
    return any(
        method in names
        for names in (torch.same_device, torch.same_device_results, torch.tensor_factories)
    )


def made_of(site: Site, node: ast.expr) -> ast.expr:
    """The tensor whose methods give an operand, on its device: ``x`` of ``x.pow(2).sum(1)``."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if _keeps_device(
            site, name
        ) and not _is_module_name(site, owner):
            return made_of(site, owner)
    return node


def _is_module_name(site: Site, node: ast.expr) -> bool:
    """True for ``torch`` in ``torch.add(...)``, and ``self``."""
    text = dotted(node) or ""
    return text in _OWNERS or text.startswith("cls.") or calls.of_package(node, site.torch)


def device_of(site: Site, node: ast.expr) -> str | None:
    """An expression without calls for the device that a tensor is on; None where the line shows none."""
    match node:
        case ast.Name() | ast.Attribute() if dotted(node):
            callee = any(isinstance(n, ast.Call) and n.func is node for n in site.line.nodes)
            usable = is_tensor_like(site, node) and not callee
            return f"{site.text(node)}.device" if usable else None
        case ast.Attribute(value=owner):
            return device_of(site, owner)
        case ast.Subscript(value=owner, slice=ast.Constant() | ast.Name()) if not isinstance(
            owner, ast.Call
        ):
            # The container of outputs[0], batch["ids"] and state[key] may have no device itself.
            return f"{site.text(node)}.device" if is_tensor_like(site, node) else None
        case ast.Subscript(value=owner):
            return device_of(site, owner)
        case ast.Call(func=ast.Attribute(value=owner, attr="to"), args=[target], keywords=[]):
            text = dotted(target) or ""
            return text if text.rpartition(".")[2] == "device" else None
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if _keeps_device(site, name):
            if not _is_module_name(site, owner):
                return device_of(site, owner)
            given = node.args if calls.of_package(owner, site.torch) else []
            return device_of(site, given[0]) if given else None
        case ast.Call(func=function, args=[ast.Name(id=name) as given]) if _is_set(
            site, name
        ) or _is_added(site, name):
            # What `x = f(x)` names twice is of one kind, and in one place; so it is in `x + f(x)`.
            return None if calls.of_package(function, site.torch) else device_of(site, given)
        case ast.BinOp(left=left, right=right):
            both = [device for side in (left, right) if (device := device_of(site, side))]
            return min(both, key=lambda device: numeric(site, device), default=None)
        case ast.UnaryOp(operand=inner):
            return device_of(site, inner)
    return None


def numeric(site: Site, device: str) -> float:
    """How likely it is that what a device is taken of is a number: a name may be one, rather than that an
    attribute of the object is, ``self.scale`` rather than another."""
    owner = device.removesuffix(".device")
    if not owner.startswith("self."):
        share = _share(site, owner)
        return share if share >= _PERHAPS else 0
    return 3 if site.scene.knowledge.words.lone_numbers.search(owner.rpartition(".")[2]) else 2


def _is_set(site: Site, name: str) -> bool:
    """Whether the line assigns to a name."""
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in site.line.nodes
    )


def _is_added(site: Site, name: str) -> bool:
    """Whether the line adds something to a name."""
    return any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add)
        and any(isinstance(side, ast.Name) and side.id == name for side in (node.left, node.right))
        for node in site.line.nodes
    )


def moved(site: Site, node: ast.expr, device: str | None, *, known: bool = False) -> Change:
    """``node`` becomes ``node.to(device)``. Raises `Refused` for what is no tensor, unless it is ``known``
    to be one, moved already, or cut off."""
    text = site.text(node)
    if device is None:
        raise Refused(f"the line shows no device for {text} to move to")
    if is_moved(site, node):
        raise Refused(f"{text} is placed already")
    if not (known or is_tensor_like(site, node)):
        raise Refused(f"{text} does not read like a tensor")
    if not site.line.whole(node):
        raise Refused(f"{text or 'what would move'} is cut off")
    if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        raise Refused(f"{text} is assigned to")
    if device == f"{text}.device":
        raise Refused(f"{text} would follow itself")
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        return replaced(site, node, f"{text}.to({device})")
    change = replaced(site, node, f"({text}).to({device})")
    # Brackets that already stand around an operand are its own, unless they are a call's.
    around = change._replace(start=change.start - 1, end=change.end + 1)
    if site.line.text[max(0, around.start) : around.end] == f"({text})":
        with suppress(Refused):
            applied(site.line, [around])
            return around
    return change


def alike(site: Site, changes: Sequence[Change]) -> Iterator[Change]:
    """The other parts of what an edit moves a part of, handed to the same call: ``batch["mask"]`` beside
    ``batch["ids"]``, ``data.edge_index`` beside ``data.x``."""
    done = {id(change.node) for change in changes}
    for change in changes:
        whole = _whole(site, change.node)
        to = [ast.unparse(one) for one in destinations(change.becomes)]
        for call in calls.calls(site.line.nodes) if whole is not None and len(to) == 1 else ():
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            for one in given if change.node in given else ():
                follows = to[0].startswith(site.text(one))
                if _whole(site, one) == whole and id(one) not in done and not follows:
                    with suppress(Refused):
                        done.add(id(one))
                        yield moved(site, one, to[0])


def _whole(site: Site, node: ast.AST) -> str | None:
    """What a node is a part of by a name of its own; None for other nodes."""
    match node:
        case ast.Subscript(value=owner, slice=ast.Constant(value=str())):
            return site.text(owner)
        case ast.Attribute(value=ast.Name(id=owner)) if owner not in _OWNERS:
            return owner
    return None


def calls_module(site: Site, call: ast.Call) -> bool:
    """True where the traceback shows that the line's call enters a module, this one.

    The next frame is torch's own ``Module.__call__``; where the line has several calls, the carets or
    its being the only one tell which.
    """
    if not _next_is_module(site.report, site):
        return False
    if isinstance(site.met.part, ast.Call):
        return call is site.met.part
    listed = [n for n in site.line.nodes if isinstance(n, ast.Call)]
    return len(listed) == 1


def _next_is_module(report: Report, site: Site) -> bool:
    frames = report.frames
    for one, after in pairwise(frames):
        if one is site.frame:
            path = after.file.replace("\\", "/")
            return path.endswith(_HEADERS) or after.function == "forward"
    return False
