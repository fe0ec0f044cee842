"""``a + b`` becomes ``a + b.to(a.device)``: one operand follows the other."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from contextlib import suppress

from diagnose.fixes.line_gate import Change, Refused, Site, applied
from diagnose.fixes.operands import (
    device_of,
    is_moved,
    is_number,
    is_tensor_like,
    made_of,
    mostly_number,
    moved,
    numeric,
)
from diagnose.scene import calls, provenance

#: How much more must speak for one of two operands, in log-odds of the cause.
_SPEAKS = 0.3
#: Names of what is made and kept together, so that one is where the other is.
_TWINS = (("cos", "sin"), ("mean", "std"), ("mean", "scale"), ("mean", "var"), ("shift", "scale"))
#: In a longer formula nobody could tell by convention which operand is meant.
_MOST_PAIRS = 24
#: Comparisons that look at each element, and so at the device; ``is`` and ``in`` do not.
_ELEMENTWISE = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def changes(site: Site) -> Sequence[Change]:
    """The operand that the message means, or else the one that follows the other by convention.

    State of an object (``self.pe``, ``MEAN``) moves to the batch, not the other way; what is assigned to
    stays where it is; else the second operand follows the first.
    """
    met = site.met
    named = site.report.mismatch.devices if site.report.mismatch is not None else ()
    if len(named) == 1 and named[0].casefold() not in ("cpu", "meta"):
        raise Refused("the host wants what is on the GPU: there is nothing to follow")
    if any(one.casefold() == "meta" for one in named):
        raise Refused("what is on meta has no values to copy")
    sides = [one for one in (*met.strays, *met.others) if not one.layer]
    if len(met.strays) == 1:
        [stray] = met.strays
        partner = next((one for one in met.others if not one.layer), None)
        if stray.layer:
            raise Refused(
                f"{stray.text} is a layer: its weights are misplaced, no operand of the line"
            )
        if _is_assigned(site, stray.node):
            raise Refused(f"{stray.text} is assigned to")
        return _follow(site, stray.node, partner.node if partner else _company(site, stray.node))
    if met.part is not None and len(sides) == 2:
        return _one_of(site, sides[0].node, sides[1].node)
    joined = _joined(site)
    if joined is not None:
        return joined
    if site.report.mismatch is not None and site.report.mismatch.argument not in (None, "other"):
        raise Refused("the message names an operand, and the line does not show which that is")
    every = _pairs(site)[:_MOST_PAIRS]
    pairs = [p for p in every if all(is_tensor_like(site, node) for node in p)]
    if (told := _blamed(site, every)) is not None:
        return _follow(site, told, _met_by(site, told))
    pairs.sort(key=lambda pair: any(mostly_number(site, n) for n in pair))
    mixed = [pair for pair in pairs if _is_state(site, pair[0]) != _is_state(site, pair[1])]
    for one, two in (mixed or pairs)[:1]:
        if (
            not (mixed or _blame(site, one) or _blame(site, two))
            and every[0] != pairs[0]
            and pairs[1:]
        ):
            raise Refused("the first operands of the line read like numbers: it may be any other")
        return _chain(site, one, two) or _one_of(site, one, two)
    raise Refused("the line shows no two operands that meet")


def _follow(site: Site, mover: ast.expr, other: ast.expr | None) -> Sequence[Change]:
    """The move of an operand and of its like: ``x * cos + half(x) * sin`` fails again if one moves."""
    if other is None:
        raise Refused(f"the line shows nothing that {site.text(mover)} meets")
    device = device_of(site, other)
    first = moved(site, mover, device)
    alike = [node for node in _terms(site) if node is not mover and _is_like(site, node, mover)]
    found = [first]
    for node in alike:
        with suppress(Refused):
            found.append(moved(site, node, device, known=site.text(node) == site.text(mover)))
    with suppress(Refused):
        applied(site.line, found)
        return found
    return (first,)


def _terms(site: Site) -> list[ast.expr]:
    """The operands of the line's operators."""
    both = [(n.left, n.right) for n in site.line.nodes if isinstance(n, ast.BinOp)]
    return [node for pair in both for node in pair]


def _is_like(site: Site, node: ast.expr, mover: ast.expr) -> bool:
    """Whether an operand is another one again, is made of the same tensor, or goes by the name that goes
    with its name."""
    text, other = site.text(node), site.text(mover)
    if text == other or site.text(made_of(site, node)) == site.text(made_of(site, mover)):
        return True
    return any(
        re.sub(rf"(?<![^\W_]){one}(?![^\W_])", two, other, count=1) == text
        for pair in _TWINS
        for one, two in (pair, pair[::-1])
    )


def _one_of(site: Site, one: ast.expr, two: ast.expr) -> Sequence[Change]:
    """The change of one of two operands of which either may be the stray."""
    if is_moved(site, one) and is_moved(site, two):
        raise Refused(f"{site.text(one)} and {site.text(two)} are placed already")
    for side in (one, two):
        if not is_tensor_like(site, side):
            raise Refused(f"{site.text(side)} does not read like a tensor")
    first = is_moved(site, two) or (not is_moved(site, one) and _is_first(site, one, two))
    if first and not _is_assigned(site, one):
        return _follow(site, one, two)
    return _follow(site, two, one)


def _is_first(site: Site, one: ast.expr, two: ast.expr) -> bool:
    """Whether the first of two operands follows the second: the one that what speaks for the cause is
    about, else the one that is no result of the network, else state of an object, else not."""
    first, second = (_blame(site, node) for node in (one, two))
    if abs(first - second) >= _SPEAKS:
        return first > second
    results = [_is_result(site, node) for node in (one, two)]
    if any(results) and not all(results):
        return results[1]
    return _is_state(site, one) and not _is_state(site, two)


def _blamed(site: Site, pairs: Sequence[tuple[ast.expr, ast.expr]]) -> ast.expr | None:
    """The operand that the facts support more than any other; None where they support none."""
    sides = [n for pair in reversed(pairs) for n in reversed(pair) if not isinstance(n, ast.BinOp)]
    terms = {site.text(side): side for side in sides}
    told = sorted((_blame(site, node) for node in terms.values()), reverse=True)
    if not told or told[0] - (told[1] if told[1:] else 0.0) < _SPEAKS:
        return None
    stray = max(terms.values(), key=lambda node: _blame(site, node))
    free = is_tensor_like(site, stray) and not is_moved(site, stray)
    return stray if free and not _is_assigned(site, stray) else None


def _met_by(site: Site, stray: ast.expr) -> ast.expr | None:
    """What an operand meets, next to it or further out, which the fewest would take for a number."""
    met = list[ast.expr]()
    inner: ast.AST = stray
    for node in reversed(site.met.nodes):  # the innermost first
        match node:
            case ast.BinOp(left=left, right=right) if inner in (left, right):
                met.append(left if inner is right else right)
            case ast.AugAssign(target=left, value=right) if inner is right:
                met.append(left)
            case ast.Compare(left=left, comparators=[right]) if inner in (left, right):
                met.append(left if inner is right else right)
            case _:
                continue
        inner = node
    own = device_of(site, stray)
    told = [(device_of(site, other), other) for other in met]
    homes = [(numeric(site, home), other) for home, other in told if home and home != own]
    return min(homes, key=lambda one: one[0], default=(0, None))[1]


def _is_result(site: Site, node: ast.expr) -> bool:
    """True for what reads like a result of the network: ``logits``, ``out``."""
    return bool(site.scene.knowledge.words.results.search(provenance.name(node)))


def _blame(site: Site, node: ast.expr) -> float:
    """How much speaks for the cause of what an operand is or is made of."""
    numbers = site.scene.knowledge.words.lone_numbers
    parts = [site.text(part) for part in ast.walk(node) if isinstance(part, ast.expr)]
    told = [t for t in parts if "." not in t or not numbers.search(t.rpartition(".")[2])]
    return max((site.blamed.get(text, 0.0) for text in told), default=0.0)


def _company(site: Site, stray: ast.expr) -> ast.expr | None:
    """Another operand of the call or operation that the stray stands in."""
    for node in site.met.nodes:
        given: list[ast.expr] = []
        if isinstance(node, ast.Call):
            given = [*node.args, *(k.value for k in node.keywords)]
            if isinstance(node.func, ast.Attribute) and not calls.of_torch(node, site.torch):
                given.insert(0, node.func.value)
        elif isinstance(node, ast.BinOp):
            given = [node.left, node.right]
        if stray in given:
            others = (other for other in given if other is not stray)
            return next((o for o in others if device_of(site, o) is not None), None)
    return None


def _is_state(site: Site, node: ast.expr) -> bool:
    """True for what belongs to the object rather than to the batch: ``self.pe``, ``MEAN``."""
    name = device_of(site, node) or ""
    return name.startswith("self.") or name.removesuffix(".device").isupper()


def _is_assigned(site: Site, node: ast.expr) -> bool:
    """True for the target of ``+=``, and for what a method that ends in _ works on."""
    for other in site.line.nodes:
        if isinstance(other, ast.AugAssign) and other.target is node:
            return True
        if isinstance(other, ast.Call) and isinstance(other.func, ast.Attribute):
            name = other.func.attr
            if other.func.value is node and name.endswith("_") and not name.startswith("_"):
                return True
    return False


def _pairs(site: Site) -> list[tuple[ast.expr, ast.expr]]:
    """The operands that meet in the failing part, innermost operation first, left to right."""
    found: list[tuple[int, tuple[ast.expr, ast.expr]]] = []
    for node in site.met.nodes:
        match node:
            case ast.BinOp(left=left, right=right):
                found.append((_height(node), (left, right)))
            case ast.Compare(left=left, comparators=[right], ops=[operator]):
                if isinstance(operator, _ELEMENTWISE):
                    found.append((_height(node), (left, right)))
            case ast.AugAssign(target=left, value=right):
                found.append((_height(right) + 1, (left, right)))
    found.sort(key=lambda item: item[0])
    pairs = (pair for _, pair in found if not any(calls.is_number(n, site.torch) for n in pair))
    return [(_factor(site, one), _factor(site, two)) for one, two in pairs]


def _factor(site: Site, node: ast.expr) -> ast.expr:
    """What has a device of an expression: ``g`` of ``(1 - beta) * g``."""
    match node:
        case ast.BinOp(left=left, right=right) if is_number(site, left):
            return _factor(site, right)
        case ast.BinOp(left=left, right=right) if is_number(site, right):
            return _factor(site, left)
    return node


def _height(node: ast.expr) -> int:
    """How many operators are nested in an expression."""
    parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
    return isinstance(node, (ast.BinOp, ast.Compare)) + max(map(_height, parts), default=0)


def _chain(site: Site, first: ast.expr, second: ast.expr) -> Sequence[Change]:
    """``a + b + c`` becomes ``a + b.to(a.device) + c.to(a.device)``: any of them may be the stray."""
    device, movers, inner = device_of(site, first), [second], second
    for node in reversed(site.line.nodes):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            within = isinstance(node.left, ast.BinOp) and node.left.right is inner
            if within and isinstance(node.right, (ast.Name, ast.Attribute)):
                inner = node.right
                movers.append(inner)
    if len(movers) < 2:
        return ()
    return [moved(site, mover, device) for mover in movers]


def _joined(site: Site) -> Sequence[Change] | None:
    """``torch.cat([a, b])``: the element that the message does not name first follows the other."""
    for call in calls.calls(site.met.nodes):
        joined = calls.joined(call, site.torch)
        if joined is None:
            continue
        if joined.elements is None or len(joined.elements) != 2:
            raise Refused("what is joined is not two tensors that stand in the line")
        first, second = joined.elements
        devices = site.report.mismatch.devices if site.report.mismatch else ()
        if devices[:1] == ("cpu",):
            return _follow(site, first, second)
        return _follow(site, second, first)
    return None


KINDS = {"move-tensor-at-line": changes, "patch-library-line": changes}
