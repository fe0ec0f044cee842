"""How an edit says which device it means: by what the program calls it, or by what only one machine has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnose.placement.semantics import nodes
from diagnose.repair.model import Sentence, said
from diagnose.repair.patch import Patch
from diagnose.repair.syntax import spans
from diagnose.repair.validation.patch_edits import LITERAL

#: What an expression is moved to, or made on, if that has a name.
_DEVICE = re.compile(r"device\s*=\s*([A-Za-z_][\w.]*)|\.to\(\s*([A-Za-z_][\w.]*)\s*[,)]")
#: A name that a line binds, and to what.
_BOUND = re.compile(r"\s*([A-Za-z_][\w.]*)\s*=(?!=)\s*(.*\S)\s*$")
#: Names of what a program keeps its device in, or its GPUs.
_CALLED = re.compile(r"(?i)(?:^|_)dev(?:ice)?s?$|^(?:main_)?gpus?(?:_ids?)?$")
#: Devices that a call is given as numbers: ``device_ids=[0, 1]``.
_NUMBERS = re.compile(r"\b(?:device_ids|output_device)\s*=\s*\[?\s*\d")


def literal(patch: Patch) -> Iterator[Sentence]:
    """No edit writes a GPU in the place of a device that the program has an expression for, nor anew where
    the program keeps its device in a name of its own, nor in a class of modules, nor on what a caller
    hands over."""
    kept, tree = _kept(patch.old), patch.new
    for hunk in patch.hunks:
        old, new, line = hunk.was, hunk.now, hunk.made.start + 1
        literals = sorted(_literals(new) - _literals(old))
        if not literals:
            continue
        gone = sorted((_devices(old) - _devices(new)) | _computed(old, new))
        known = bool(_literals(old)) or _NUMBERS.search(old) is not None
        if not gone and not known:
            others = [name for name in kept if not _by_default(name, old)]
            gone = others[:1] or _given_away(patch)[:1] or _homeless(tree, line)
        if gone:
            yield said("literal", line=line, device=literals[0], gone=gone[0])


def _devices(text: str) -> set[str]:
    """The expressions of devices in a text."""
    return {one or other for one, other in _DEVICE.findall(text)}


def _literals(text: str) -> set[str]:
    return set(LITERAL.findall(text))


def _computed(old: str, new: str) -> set[str]:
    """What gave a name its value where a GPU is written down now."""
    was, now = _BOUND.match(old), _BOUND.match(new)
    if was is None or now is None or was[1] != now[1] or LITERAL.fullmatch(now[2]) is None:
        return set()
    return {was[2]} if was[2][0] not in "\"'" and LITERAL.search(was[2]) is None else set()


def _kept(tree: ast.Module) -> list[str]:
    """What a program keeps its device in: variables, arguments, attributes that it sets, items that it
    asks for."""
    found = set[str]()
    for node in nodes(tree, ast.expr, ast.arg):
        match node:
            case ast.arg(arg=name):
                pass
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                pass
            case ast.Subscript(slice=ast.Constant(value=str() as name), ctx=ast.Load()):
                pass
            case _:
                continue
        if _CALLED.search(name):
            found.add(node.arg if isinstance(node, ast.arg) else ast.unparse(node))
    return sorted(found)


def _by_default(name: str, text: str) -> bool:
    """Whether a line says what a name is: nothing else in the program may be meant then."""
    return re.search(rf"\b{re.escape(name)}\s*(?::[^=,]*)?=\s*[\"']cpu[\"']", text) is not None


def _homeless(tree: ast.Module, line: int) -> list[str]:
    """The class of modules that a line stands in: who makes one says where it goes."""
    return [
        f"{node.name}().to"
        for node in tree.body
        if isinstance(node, ast.ClassDef) and spans(node, line)
        if any(ast.unparse(base).endswith("Module") for base in node.bases)
    ]


def _given_away(patch: Patch) -> list[str]:
    """The arguments of functions that an edit moves by itself: they are their callers'."""
    return [
        f"{one.moved.id}.device"
        for one in patch.transfers
        if isinstance(one.moved, ast.Name) and one.moved.id in one.given
    ]
