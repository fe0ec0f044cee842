"""What a program keeps on the cpu by choice, as its text shows."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from diagnose.placement.semantics import functions, nodes
from diagnose.repair.syntax import tree_of

#: Devices of an edit, by name.
DEVICES = re.compile(r"(?:device\s*=\s*|\.to\(\s*|\btorch\.device\(\s*)([A-Za-z_][\w.]*)")
#: What says that something is on the cpu by choice.
_CPU = re.compile(r"""["']cpu["']""")
#: What an expression is sent to.
_SENT = re.compile(r"\.to\((?:device=)?([A-Za-z_][\w.]*)")
#: A choice that only asks whether there is a GPU.
_AVAILABLE = re.compile(r"is_available|device_count")
#: What a name that does not say that it is a device is bound to, if it is one by choice.
_CHOICE = r"""\bdevice\(["']cpu["']\)|["']cpu["']\)?\s+if\b|\belse\b.*["']cpu["']"""
#: A copy of what a model's parameters are, and a move.
_COPIES = re.compile(r"\.clone\(\).*\b(?:named_)?parameters\(\)|\bparameters\(\).*\.clone\(\)")
_MOVED = re.compile(r"\.(?:to|cuda|cpu)\(|device=")
#: What makes something on the cpu, or brings it there.
_TO_CPU = re.compile(r"""device=["']cpu["']|\.cpu\(\)|\.to\(["']cpu["']""")


def is_chosen(name: str, text: str) -> bool:
    """Whether a name that says more than that it is a device is the cpu's somewhere in the program, by
    choice."""
    last = name.rpartition(".")[2]
    if last in ("device", "dev"):
        return False
    told = re.compile("" if re.search("(?i)dev", last) else _CHOICE)
    bound = re.compile(rf"\b{re.escape(last)}\b(?:\s*:[^=\n]*)?\s*=(?!=)([^\n]*)")
    return any(
        _CPU.search(found[1]) and told.search(found[1]) and not _AVAILABLE.search(found[1])
        for found in bound.finditer(text)
    )


def hosted(before: str, row: str) -> bool:
    """Whether an edited line brings something to what the program keeps on the cpu by choice, or leaves
    copies of parameters where an offload keeps these."""
    if takes_weights(row):
        return True
    named = [name for name in _SENT.findall(row) if name]
    return any(
        is_chosen(name, before)
        or (name.endswith(".device") and _kept(name.removesuffix(".device"), before))
        for name in named
    )


def _kept(name: str, text: str, depth: int = 4) -> bool:
    """Whether a name is bound to a call that makes something on a device of the program's choice, or on
    the cpu, or brings it there; or something like what is; or goes over what is."""
    if not depth:
        return False
    bound = re.compile(rf"(?m)^[ \t]*{re.escape(name)}\s*=(?!=)([^\n]*)")
    for found in bound.finditer(text):
        devices = [one for one in DEVICES.findall(found[1]) if is_chosen(one, text)]
        if devices or _TO_CPU.search(found[1]):
            return True
        like = re.search(r"_like\(([\w.]+)", found[1])
        if like and _kept(like[1], text, depth - 1):
            return True
        called = re.match(r"\s*(?:self\.)?(\w+)\(", found[1])
        if called and _gives_hosted(called[1], text):
            return True
    listed = re.findall(rf"\b{re.escape(name)}\.append\(([^\n]*)", text)
    parts = {part for one in listed for part in re.findall(r"[A-Za-z_][\w.]*", one)}
    return any(_kept(one, text, depth - 1) for one in {*_over(name, text), *parts})


def _over(name: str, text: str) -> set[str]:
    """What loops and comprehensions that bind a name go over."""
    return {over for bound, over in _loops(text) if name in bound}


@lru_cache(maxsize=4)
def _loops(text: str) -> tuple[tuple[frozenset[str], str], ...]:
    """The names that the loops and comprehensions of a file bind, and what these go over: for ``m`` in
    ``for p, m in zip(self.params, self.state)`` that is ``self.state``."""
    found = list[tuple[frozenset[str], str]]()
    for node in nodes(tree_of(text), ast.For, ast.comprehension):
        match node.target, node.iter:
            case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=given):
                pairs = [*zip(targets, given, strict=False)]
            case ast.Tuple(elts=[_, target]), ast.Call(func=ast.Name(id="enumerate"), args=[one]):
                pairs = [(target, one)]
            case target, one:
                pairs = [(target, one)]
        found += [(_bound_by(target), ast.unparse(one)) for target, one in pairs]
    return tuple(found)


def _bound_by(target: ast.expr) -> frozenset[str]:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return frozenset(map(ast.unparse, parts))


def _gives_hosted(name: str, text: str) -> bool:
    """Whether a function of the program returns what it tells a call to make on a device of its choice."""
    for one in functions(tree_of(text)):
        if one.name == name:
            given = [node.value for node in nodes(one, ast.Return)]
            named = [device for row in given if row for device in DEVICES.findall(ast.unparse(row))]
            return any(is_chosen(device, text) for device in named)
    return False


def takes_weights(row: str) -> bool:
    """Whether a line copies the parameters of a model and leaves the copies where those are."""
    return bool(_COPIES.search(row)) and not _MOVED.search(row)
