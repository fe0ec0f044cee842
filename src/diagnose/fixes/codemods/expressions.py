"""The changes of an expression or a call that all edits of definitions are made of."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from diagnose.fixes.codemods.positions import ancestors, line_end, span, text_of
from diagnose.fixes.file_gate import Change, Splice
from diagnose.fixes.line_gate import Refused
from diagnose.placement.model import Source
from diagnose.placement.semantics import argument


def expression(text: str) -> ast.expr:
    """Parses an expression, over several lines too. Raises `Refused` where the text is none."""
    try:
        return ast.parse(f"({text}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Refused(f"{text} is no Python expression") from error


def replaced(source: Source, node: ast.expr, text: str) -> Change:
    """The change of an expression to another one, comments in it excepted: they would be lost."""
    start, end = writable(source, node)
    if source.text[start:end].count("#") > text.count("#"):
        raise Refused("a comment stands in what is to change")
    return Change((Splice(start, end, text),), node, (expression(text),))


def around(source: Source, node: ast.expr, before: str, after: str) -> Change:
    """The change that writes text before and after an expression, which itself stays as it is; put into
    parentheses, where those are needed and there are none."""
    start, end = writable(source, node)
    becomes = _with_node(expression(f"{before}_{after}"), node)
    outer = _parentheses(source, node) if after.startswith(".") or before else None
    bare = isinstance(node, ast.Tuple) and not text_of(source, node).startswith("(")
    if outer is not None:
        start, end = outer
    elif bare or (after.startswith(".") and not _is_atom(source, node)):
        before, after = f"{before}(", f"){after}"  # not seen in the tree
    return Change((Splice(start, start, before), Splice(end, end, after)), node, (becomes,))


def moved(source: Source, node: ast.expr, device: str) -> Change:
    """The change of an expression ``x`` to ``x.to(device)``."""
    return around(source, node, "", f".to({device})")


def writable(source: Source, node: ast.AST) -> tuple[int, int]:
    """The span of a node, unless it is in an f-string, whose nodes have no columns before Python 3.12."""
    if any(isinstance(outer, ast.JoinedStr) for outer in ancestors(source, node)[:-1]):
        raise Refused("what is to change stands in an f-string")
    return span(source, node)


def _with_node(template: ast.expr, node: ast.expr) -> ast.expr:
    """An expression with ``node`` for its name ``_``."""

    class Put(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            return node if name.id == "_" else name

    # A copy: what the node becomes holds the node as it was.
    node = copy.copy(node)
    made = Put().visit(template)
    assert isinstance(made, ast.expr)
    return made


def _is_atom(source: Source, node: ast.expr) -> bool:
    """Whether ``.to`` can be written after an expression as it stands."""
    if isinstance(node, (ast.Call, ast.Subscript, ast.Attribute)):
        # An owner over several lines is held together by brackets, which end with the expression.
        return "\n" not in text_of(source, node) or isinstance(node, (ast.Call, ast.Subscript))
    return isinstance(node, (ast.Name, ast.List, ast.Dict, ast.ListComp, ast.DictComp))


def _parentheses(source: Source, node: ast.expr) -> tuple[int, int] | None:
    """The span of an expression with the parentheses that only group it; None where it has none."""
    outer = ancestors(source, node)[-2]
    if isinstance(outer, (ast.Call, ast.ClassDef)) and outer.__dict__.get("func") is not node:
        return None  # they may be those of the call
    start, end = span(source, node)
    before, after = source.text[:start].rstrip(), source.text[end:].lstrip()
    if not (before.endswith("(") and after.startswith(")")):
        return None
    return len(before) - 1, len(source.text) - len(after) + 1


def method_start(source: Source, call: ast.Call) -> int:
    """Where what is called on an expression begins: the dot of ``.to(device)``, white space included."""
    func = call.func
    if not isinstance(func, ast.Attribute):
        raise Refused("it is no call of a method")
    before = source.text[: span(source, func)[1] - len(func.attr)].rstrip()
    if not before.endswith("."):
        raise Refused("a comment stands in what is to change")
    return len(before[:-1].rstrip())


def with_method(source: Source, call: ast.Call, text: str) -> Change:
    """The change of a method's call: ``x.cuda()`` becomes ``x.to(d)`` for the text ``to(d)``."""
    end = writable(source, call)[1]
    func, made = call.func, expression(f"_.{text}")
    if not isinstance(func, ast.Attribute) or not isinstance(made, ast.Call):
        raise Refused("it is no call of a method")
    assert isinstance(made.func, ast.Attribute)
    start = span(source, func)[1] - len(func.attr)
    if "#" in source.text[start:end]:
        raise Refused("a comment stands in what is to change")
    method = ast.Attribute(func.value, made.func.attr, ast.Load())
    becomes = ast.Call(method, made.args, made.keywords)
    return Change((Splice(start, end, text),), call, (becomes,))


def without_method(source: Source, call: ast.Call) -> Change:
    """The change of ``x.method(...)`` to ``x``."""
    start, end = method_start(source, call), writable(source, call)[1]
    if "#" in source.text[start:end]:
        raise Refused("a comment stands in what is to change")
    assert isinstance(call.func, ast.Attribute)
    return Change((Splice(start, end, ""),), call, (call.func.value,))


def with_argument(source: Source, call: ast.Call, name: str, value: str) -> Change:
    """The change of a call that gets a keyword after its other arguments, or another value for it."""
    writable(source, call)
    if (given := argument(call, name)) is not None:
        return replaced(source, given, value)
    becomes = ast.Call(
        call.func, call.args, [*call.keywords, ast.keyword(arg=name, value=expression(value))]
    )
    text = f"{name}={value}"
    given_all: Sequence[ast.AST] = [*call.args, *call.keywords]
    if not given_all:
        end = span(source, call)[1] - 1
        return Change((Splice(end, end, text),), call, (becomes,))
    last = max(given_all, key=lambda node: span(source, node)[1])
    start, end = _grouped(source, last, call)
    line_start = source.text.rfind("\n", 0, start) + 1
    indent = source.text[line_start:start]
    # An argument on a line of its own gets a neighbour on a line of its own.
    join = f",{line_end(source, start)}{indent}" if not indent.strip() else ", "
    return Change((Splice(end, end, f"{join}{text}"),), call, (becomes,))


def _grouped(source: Source, last: ast.AST, call: ast.Call) -> tuple[int, int]:
    """The span of a call's last argument with the parentheses that group it."""
    start, end = span(source, last)
    stop = span(source, call)[1] - 1
    for at in range(end, stop):
        if source.text[at] == ")":
            end = at + 1
        elif not source.text[at].isspace():
            break
    return start, end


def without_argument(source: Source, call: ast.Call, name: str) -> Change:
    """The change that takes a keyword and one comma out of a call."""
    writable(source, call)
    keyword = next((k for k in call.keywords if k.arg == name), None)
    if keyword is None:
        raise Refused(f"the call has no {name}=")
    start, end = span(source, keyword)
    text = source.text
    given: Sequence[ast.AST] = [*call.args, *call.keywords]
    following = [span(source, one)[0] for one in given if span(source, one)[0] > start]
    before = text[:start].rstrip()
    line = text.rfind("\n", 0, start) + 1
    rest = text[end:].partition("\n")[0].lstrip(",")
    if following and not text[line:start].strip() and rest.strip()[:1] in ("", "#"):
        # Its line goes, with the comment on it.
        at = text.index("\n", end) + 1
        start, end = (line, at) if min(following) > at else (start, min(following))
        return Change((Splice(start, end, ""),), call, (_without(call, keyword),))
    if following:
        end = min(following)
    elif before.endswith(","):
        start = len(before) - 1
    else:
        rest = text[end : span(source, call)[1] - 1]
        end += len(rest) if rest.strip() in ("", ",") else 0
    if "#" in text[start:end]:
        raise Refused("a comment stands in what is to change")
    return Change((Splice(start, end, ""),), call, (_without(call, keyword),))


def _without(call: ast.Call, keyword: ast.keyword) -> ast.Call:
    return ast.Call(call.func, call.args, [k for k in call.keywords if k is not keyword])
