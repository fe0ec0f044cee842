"""How an edit says which device it means: by what the program calls it, or by what only one machine has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnose.model import Lang
from diagnose.placement.semantics import bindings_by, called, dotted, last_name, nodes
from diagnose.repair.comparison import changed, edited_lines
from diagnose.repair.model import Guard
from diagnose.repair.scopes import FUNCTION, spans
from diagnose.repair.syntax import tree_of
from diagnose.repair.validation.patch_edits import LITERAL
from diagnose.repair.validation.redundant_moves import added
from diagnose.repair.words import say

#: What an expression is moved to, or made on, if that has a name.
_DEVICE = re.compile(r"device\s*=\s*([A-Za-z_][\w.]*)|\.to\(\s*([A-Za-z_][\w.]*)\s*[,)]")
#: A name that a line binds, and to what.
_BOUND = re.compile(r"\s*([A-Za-z_][\w.]*)\s*=(?!=)\s*(.*\S)\s*$")
#: Names of what a program keeps its device in, or its GPUs.
_CALLED = re.compile(r"(?i)(?:^|_)dev(?:ice)?s?$|^(?:main_)?gpus?(?:_ids?)?$")
#: Devices that a call is given as numbers: ``device_ids=[0, 1]``.
_NUMBERS = re.compile(r"\b(?:device_ids|output_device)\s*=\s*\[?\s*\d")


def literal(before: str, after: str, lang: Lang) -> Iterator[Guard]:
    """No edit writes a GPU in the place of a device that the program has an expression for, nor anew where
    the program keeps its device in a name of its own, nor in a class of modules, nor on what a caller
    hands over."""
    kept, tree = _kept(tree_of(before)), tree_of(after)
    for line, old, new in _replaced(before, after):
        literals = sorted(_literals(new) - _literals(old))
        if not literals:
            continue
        gone = sorted((_devices(old) - _devices(new)) | _computed(old, new))
        known = bool(_literals(old)) or _NUMBERS.search(old) is not None
        if not gone and not known:
            others = [name for name in kept if not _by_default(name, old)]
            gone = others[:1] or _given_away(before, tree, after)[:1] or _homeless(tree, line)
        if gone:
            told = say(lang, "literal", line=line, device=literals[0], gone=gone[0])
            yield Guard("literal", False, told)
            return


def for_gpus_alone(before: str, after: str, lang: Lang) -> Iterator[Guard]:
    """No edit hands `cuda` a device that the program chooses: it may be the cpu, which that refuses."""
    tree = tree_of(after)
    for one in added(before, tree, after):
        for device in one.call.args[:1] if called(one.call) == "cuda" else ():
            if last_name(device) == "device" and ("is_available" in before or "cpu" in before):
                said = {"line": one.call.lineno, "device": ast.unparse(device)}
                yield Guard("chosen", False, say(lang, "for-gpus", **said))
                return


def for_all_callers(before: str, after: str, lang: Lang) -> Iterator[Guard]:
    """No edit puts into a table of the whole program what it has moved for one caller: the next one, on
    another device, gets the same."""
    tree = tree_of(after)
    tables = {dotted(one.target) for row in tree.body for one in bindings_by(row)}
    moves = [one.call for one in added(before, tree, after) if isinstance(one.scope, FUNCTION)]
    for node in nodes(tree, ast.Assign):
        match node:
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=name))],
                value=ast.Call(args=[device]) as call,
            ) if call in moves and name in tables and ast.unparse(device).endswith(".device"):
                yield Guard("cached", False, say(lang, "cached", line=node.lineno, name=name))
                return


def hidden_names(before: str, after: str, lang: Lang) -> Iterator[Guard]:
    """No edit asks an object for what is private to another class, if the program does not."""
    known = {name for name, _ in _private(tree_of(before))}
    edited = edited_lines(before, after)
    for name, line in _private(tree_of(after)):
        if line in edited and name not in known:
            yield Guard("private", False, say(lang, "private", line=line, name=name))
            return


def _private(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The attributes that begin with one underscore, and their lines."""
    for node in nodes(tree, ast.Attribute):
        if re.match("_[^_]", node.attr):
            yield node.attr, node.lineno


def _replaced(before: str, after: str) -> Iterator[tuple[int, str, str]]:
    """Lines that stand where others stood, by the number of the first, and both texts."""
    rows = before.splitlines(), after.splitlines()
    for both in changed(before, after):
        if both[1]:
            old, new = (
                "\n".join(text[i] for i in lines) for text, lines in zip(rows, both, strict=True)
            )
            yield both[1][0] + 1, old, new


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


def _given_away(before: str, tree: ast.Module, after: str) -> list[str]:
    """The arguments of functions that an edit moves by itself: they are their callers'."""
    return [
        f"{one.moved.id}.device"
        for one in added(before, tree, after)
        if isinstance(one.moved, ast.Name) and isinstance(one.scope, FUNCTION)
        if one.moved.id in {arg.arg for arg in one.scope.args.args}
    ]
