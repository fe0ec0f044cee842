"""``x.numpy()`` becomes ``x.detach().cpu().numpy()``; NumPy's functions get such a copy."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnose.fixes.line_gate import Change, Refused, Site, replaced
from diagnose.fixes.operands import is_moved, is_tensor_like
from diagnose.patterns import lazy
from diagnose.placement.semantics import bound, dotted
from diagnose.scene import calls


def changes(site: Site) -> Sequence[Change]:
    """The first tensor of the failing part that NumPy gets is copied to the host, else the operand that the
    message names."""
    for node in site.met.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner = node.func.value
        if node.func.attr == "numpy" and not node.args and is_tensor_like(site, owner):
            return (_copied(site, owner, ""),)
        numpy = isinstance(owner, ast.Name) and owner.id in site.torch.numpy
        takes = numpy and node.func.attr in site.torch.of_arrays and node.args
        if (
            takes
            and isinstance(node.args[0], ast.ListComp)
            and is_tensor_like(site, node.args[0].elt)
        ):
            return (_copied(site, node.args[0].elt, ".numpy()"),)
        if takes and _is_list(site, node):
            raise Refused(f"{site.text(node.args[0])} reads like a list of tensors")
        if takes and is_tensor_like(site, node.args[0]):
            return (_copied(site, node.args[0], ".numpy()"),)
    return _told(site)


def _told(site: Site) -> Sequence[Change]:
    told = [one for one in site.met.strays if not one.layer]
    if site.place is site.scene.site and len(told) == 1:
        (one,) = told  # a device that the message tells is a tensor's
        if one.device is not None or is_tensor_like(site, one.node):
            return (_copied(site, one.node, "", numpy=False),)
    raise Refused("the line shows no tensor that NumPy gets")


def _is_list(site: Site, call: ast.Call) -> bool:
    """Whether NumPy is rather given several tensors: it joins them, or makes an array of what goes by a
    plural and has no method called."""
    name = calls.name(call)
    if name in site.torch.joins or name == "concatenate":
        return True
    plain = dotted(call.args[0])
    return name == "array" and bool(plain and _PLURAL.search(plain))


def _copied(site: Site, node: ast.expr, after: str, *, numpy: bool = True) -> Change:
    text = site.text(node)
    if is_moved(site, node):
        raise Refused(f"{text} is placed already")
    if any(isinstance(one.value, _LISTS) for each in site.within for one in bound(each, text)):
        raise Refused(f"{text} is a list")
    if not site.line.whole(node):
        raise Refused(f"{text} is cut off")
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        text = f"({text})"
    detached = not numpy or (dotted(node) is None and text.endswith(".detach()"))
    return replaced(site, node, f"{text}{'' if detached else '.detach()'}.cpu(){after}")


#: Words in s that are one thing are left: a loss, a bias, logits.
_PLURAL = lazy(r"(?i)(?<![sui])s$(?<!bias)(?<!pos)(?<!logits)")

_LISTS = ast.List | ast.ListComp

KINDS = {"cpu-before-numpy": changes}
