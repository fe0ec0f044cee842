"""What of an expression and its place may tell where its value comes from.

The same features are taken of a failing line and, when the shares are learned (training/), of the source
of whole packages.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

#: Parts of a name: ``position_ids2`` -> position, ids; ``maskSize`` -> mask, Size.
_PARTS = re.compile(r"[A-Za-z][a-z]*|[A-Z]+(?![a-z])")
#: How long a name may be that is still looked at letter by letter.
_LONGEST = 40


class Use(NamedTuple):
    """How an expression is used: ``takes`` is the last name of the call that takes it or the sign of the
    operation, ``place`` the number or keyword of the argument; both empty where it is used otherwise."""

    takes: str = ""
    place: str = ""


def features(node: ast.expr, function: str, use: Use) -> list[str]:
    """The features of an expression, as strings.

    Args:
        node: the expression as it stands, such as ``batch["ids"]``.
        function: the name of the function it stands in, ``<module>`` outside.
        use: how it is used there.
    """
    shape, names, key = _taken_apart(node)
    name = names[-1] if names else ""
    found = ["all", f"shape={shape}", f"function={function}", f"shape={shape} function={function}"]
    found += [f"takes={use.takes}", f"takes={use.takes} {use.place}"]
    found += [f"takes={use.takes} shape={shape}", f"name={name}", f"name={name} shape={shape}"]
    found += [f"owner={owner}" for owner in names[:-1]]
    found += [f"key={key}"] if key else []
    found += [f"part={part} {shape}" for part in _parts(name)]
    found += [f"letters={some}" for some in _letters(name)]
    found += [f"in={part}" for part in _parts(function)]
    found += [f"name={name} takes={use.takes}", f"name={name} function={function}"]
    return found


def uses(tree: ast.AST) -> dict[int, Use]:
    """How each expression below a node is used, by ``id(node)``."""
    found: dict[int, Use] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=func, args=args, keywords=keywords):
                name = _last(func)
                found[id(func)] = Use("()", "")
                for number, argument in enumerate(args):
                    found[id(argument)] = Use(name, str(number))
                for keyword in keywords:
                    found[id(keyword.value)] = Use(name, keyword.arg or "**")
                if isinstance(func, ast.Attribute):
                    found.setdefault(id(func.value), Use(f".{name}", ""))
            case ast.BinOp(left=left, op=op, right=right):
                found[id(left)] = Use(type(op).__name__, "left")
                found[id(right)] = Use(type(op).__name__, "right")
            case ast.AugAssign(target=left, op=op, value=right):
                found[id(left)] = Use(type(op).__name__, "left")
                found[id(right)] = Use(type(op).__name__, "right")
            case ast.Compare(left=left, comparators=others):
                for number, side in enumerate((left, *others)):
                    found[id(side)] = Use("compare", str(number))
            case ast.Subscript(value=value, slice=index):
                found[id(value)] = Use("[]", "value")
                found[id(index)] = Use("[]", "index")
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                outer = found.get(id(node), Use())
                for element in elements:
                    found[id(element)] = outer
    return found


def _last(func: ast.expr) -> str:
    match func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _taken_apart(node: ast.expr) -> tuple[str, list[str], str]:
    """The shape of an expression, the names it is made of, outermost owner first, and its last text key."""
    shape, names, key = "", [], ""
    while True:
        match node:
            case ast.Name(id=name):
                first = "self" if name in {"self", "cls"} else "name"
                if first == "name":
                    names.append(name)
                return first + shape, names[::-1], key
            case ast.Attribute(value=value, attr=name):
                names.append(name)
                shape, node = "." + shape, value
            case ast.Subscript(value=value, slice=ast.Constant(value=str(text))):
                key = key or text
                shape, node = "['']" + shape, value
            case ast.Subscript(value=value):
                shape, node = "[]" + shape, value
            case ast.Call(func=ast.Attribute(value=value)):
                shape, node = ".()" + shape, value
            case ast.Call(func=ast.Name(id=name)):
                return "()" + shape, [name], key
            case ast.UnaryOp(operand=value):
                node = value
            case _:
                return type(node).__name__ + shape, names[::-1], key


def _parts(name: str) -> Iterator[str]:
    yield from dict.fromkeys(part.lower() for part in _PARTS.findall(name[:_LONGEST]))


def _letters(name: str) -> Iterator[str]:
    """Three letters in a row, with marks for beginning and end."""
    marked = f"^{name[:_LONGEST].lower()}$"
    yield from dict.fromkeys(marked[k : k + 3] for k in range(len(marked) - 2))
