"""Where the nodes of a file stand, and the changes that all edits of definitions are made of."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

from diagnose.fixes.editing import Refused
from diagnose.fixes.rewriting import Change, Splice, offset_of_line
from diagnose.placement.model import Source, Suspect

# --- where nodes stand


def span(source: Source, node: ast.AST) -> tuple[int, int]:
    """Start and end of a node in the text of its file, in characters. Raises `Refused` for one without."""
    line, end_line = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    if line is None or end_line is None:
        raise Refused("what is to change has no place of its own in the file")
    return (
        _offset(source, line, node.col_offset),  # type: ignore[attr-defined]
        _offset(source, end_line, node.end_col_offset),  # type: ignore[attr-defined]
    )


def _offset(source: Source, line: int, column: int) -> int:
    """From a line and a column in bytes of UTF-8, as `ast` counts, to characters."""
    text = source.lines[line - 1]
    characters = column if text.isascii() else len(text.encode()[:column].decode(errors="replace"))
    return offset_of_line(source, line) + characters


def text_of(source: Source, node: ast.AST) -> str:
    """A node as it is written."""
    start, end = span(source, node)
    return source.text[start:end]


def ancestors(source: Source, node: ast.AST) -> list[ast.AST]:
    """What a node stands in, outermost first, itself last. Raises `Refused` where it is not in the file."""
    line = getattr(node, "lineno", None)
    path = _path(source.tree, node, line)
    if path is None:
        raise Refused("what is to change is not in the file")
    return path


def _path(outer: ast.AST, node: ast.AST, line: int | None) -> list[ast.AST] | None:
    if outer is node:
        return [outer]
    if line is not None and not _may_hold(outer, line):
        return None
    for inner in ast.iter_child_nodes(outer):
        if (path := _path(inner, node, line)) is not None:
            return [outer, *path]
    return None


def _may_hold(outer: ast.AST, line: int) -> bool:
    """Whether a line is within a node; decorators stand above the line that a function begins in."""
    first, last = getattr(outer, "lineno", line), getattr(outer, "end_lineno", line)
    return bool(line <= last and (first <= line or getattr(outer, "decorator_list", ())))


def statement_of(source: Source, node: ast.AST) -> ast.stmt:
    """The innermost statement that a node stands in."""
    for outer in reversed(ancestors(source, node)):
        if isinstance(outer, ast.stmt):
            return outer
    raise Refused("what is to change stands in no statement")


def block_of(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    """The statements of the block that a statement stands in."""
    outer = ancestors(source, statement)[-2]
    for field in ("body", "orelse", "finalbody"):
        block = getattr(outer, field, None)
        if isinstance(block, list) and any(one is statement for one in block):
            return block
    raise Refused("the statement stands in no block")


def functions_around(source: Source, node: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions that a node stands in, innermost first."""
    defines = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [a for a in reversed(ancestors(source, node)[:-1]) if isinstance(a, defines)]


def class_around(source: Source, node: ast.AST) -> ast.ClassDef | None:
    """The innermost class that a node stands in."""
    found = (a for a in reversed(ancestors(source, node)[:-1]) if isinstance(a, ast.ClassDef))
    return next(found, None)


# --- changes of expressions


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


# --- changes of calls


def method_start(source: Source, call: ast.Call) -> int:
    """Where what is called on an expression begins: the dot of ``.to(device)``, white space included."""
    func = call.func
    if not isinstance(func, ast.Attribute):
        raise Refused("it is no call of a method")
    before = source.text[: span(source, func)[1] - len(func.attr)].rstrip()
    if not before.endswith("."):
        raise Refused("a comment stands in what is to change")
    return len(before[:-1].rstrip())


def argument(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword of a call."""
    return next((k.value for k in call.keywords if k.arg == name), None)


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


# --- changes of statements


def before_statement(source: Source, statement: ast.stmt, code: str) -> Change:
    """The change that writes statements on lines of their own before one."""
    first = _first_line(statement)
    start = offset_of_line(source, first)
    indent = indentation(source, statement)
    new = statements(code)
    text = _indented(code, indent, line_end(source, start))
    return Change((Splice(start, start, text),), statement, (*new, statement))


def after_statement(source: Source, statement: ast.stmt, code: str) -> Change:
    """The change that writes statements on lines of their own after one."""
    indent = indentation(source, statement)
    last = statement.end_lineno or statement.lineno
    _ends_its_line(source, statement)
    at = offset_of_line(source, last + 1)
    ending = line_end(source, span(source, statement)[0])
    text = _indented(code, indent, ending)
    if last == len(source.lines):  # the file's last line lacks its line feed
        at, text = at - 1, f"{ending}{text.removesuffix(ending)}"
    return Change((Splice(at, at, text),), statement, (statement, *statements(code)))


def first_in_body(source: Source, body: Sequence[ast.stmt], header: int, code: str) -> Change:
    """The change that writes statements before the first one of a body, whose header ends in line
    ``header``, and before its comments."""
    first = body[0]
    line = _first_line(first)
    while line - 1 > header and source.lines[line - 2].strip()[:1] in ("", "#"):
        line -= 1
    start = offset_of_line(source, line)
    text = _indented(code, indentation(source, first), line_end(source, start))
    return Change((Splice(start, start, text),), first, (*statements(code), first))


def without_statement(source: Source, statement: ast.stmt) -> Change:
    """The change that takes a statement away; where it is alone in its block ``pass`` stays."""
    indent = indentation(source, statement)
    _ends_its_line(source, statement)
    start = offset_of_line(source, _first_line(statement))
    end = offset_of_line(source, (statement.end_lineno or statement.lineno) + 1)
    alone = len(block_of(source, statement)) == 1
    text = f"{indent}pass{line_end(source, start)}" if alone else ""
    end = min(end, len(source.text))
    becomes = (ast.Pass(),) if alone else ()
    return Change((Splice(start, end, text),), statement, becomes)


def moved_statement(
    source: Source, statement: ast.stmt, anchor: ast.stmt, *, after: bool
) -> list[Change]:
    """The changes that take a statement to another place of its block, with its comment."""
    if block_of(source, statement) is not block_of(source, anchor):
        raise Refused(
            "the move stands in another block than what it would have to follow or precede"
        )
    indentation(source, anchor)
    taken = without_statement(source, statement)
    (cut,) = taken.splices
    text = source.text[cut.start : cut.end]
    if not text.endswith("\n"):
        raise Refused("the file's last line lacks its line feed")
    if after:
        _ends_its_line(source, anchor)
        at = offset_of_line(source, (anchor.end_lineno or anchor.lineno) + 1)
        if at > len(source.text):
            at, ending = at - 1, line_end(source, cut.start)
            text = f"{ending}{text.removesuffix(ending)}"
        becomes: tuple[ast.AST, ...] = (anchor, statement)
    else:
        at, becomes = offset_of_line(source, _first_line(anchor)), (statement, anchor)
    return [taken, Change((Splice(at, at, text),), anchor, becomes)]


def statements(code: str) -> tuple[ast.stmt, ...]:
    """Parses statements. Raises `Refused` where the code is none."""
    try:
        return tuple(ast.parse(code).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Refused(f"{code} is no Python") from error


def line_end(source: Source, offset: int) -> str:
    """How the line of an offset ends: as most editors, a new line ends as its neighbour does."""
    line = source.lines[source.text.count("\n", 0, offset)]
    return "\r\n" if line.endswith("\r") else "\n"


def _indented(code: str, indent: str, ending: str) -> str:
    return "".join(f"{indent}{line}{ending}" for line in code.split("\n"))


def _first_line(statement: ast.stmt) -> int:
    """The first line of a statement, its decorators among it."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def indentation(source: Source, statement: ast.stmt) -> str:
    """The white space before a statement. Raises `Refused` where anything else stands before it."""
    start = span(source, statement)[0]
    before = source.text[source.text.rfind("\n", 0, start) + 1 : start]
    if before.strip() or source.text[start:].startswith("elif"):
        raise Refused("the statement does not stand on a line of its own")
    return before


def _ends_its_line(source: Source, statement: ast.stmt) -> None:
    """Raises `Refused` where another statement follows on the same line."""
    end = span(source, statement)[1]
    rest = source.text[end:].partition("\n")[0].strip()
    if rest and not rest.startswith("#"):
        raise Refused("the statement does not stand on a line of its own")


# --- what a suspect says


def target_device(suspect: Suspect) -> str:
    """The expression for the device that is wanted, in scope at the suspect's spot.

    Raises:
        Refused: none is in scope, and the device has no name that is sure on another machine.
    """
    for device in suspect.devices:
        try:
            expression(device)
        except Refused:
            continue
        return device
    wanted = suspect.wanted
    if (known := _by_name(suspect)) is not None:
        return known
    if wanted is not None and (wanted.type == "cpu" or wanted.number is not None):
        return f'"{wanted}"'
    raise Refused("no expression for the device is in scope")


def _by_name(suspect: Suspect) -> str | None:
    """What programs call the device they compute on, if the spot sees it: ``device``, or that of the
    module's own weights. None where another GPU than the first is meant."""
    wanted, source, node = suspect.wanted, suspect.spot.source, suspect.spot.node
    if wanted is None or wanted.type != "cuda" or (wanted.number and not wanted.home):
        return None
    functions, line = functions_around(source, node), getattr(node, "lineno", 0)
    for scope in [*functions, source.tree]:
        for one in ast.walk(scope) if scope is not source.tree else walk_top(source):
            if isinstance(one, ast.arg) and one.arg == "device":
                return "device"
            if isinstance(one, ast.Name) and one.id in ("device", "DEVICE"):
                stored = isinstance(one.ctx, ast.Store)
                if stored and (one.lineno < line or (functions and scope is source.tree)):
                    return one.id
    owner = class_around(source, node)
    if owner is None or not functions or functions[-1] not in owner.body:
        return None
    if functions[-1].name != "__init__" and any("Module" in ast.unparse(b) for b in owner.bases):
        return "next(self.parameters()).device"
    return None


def walk_top(source: Source) -> Iterator[ast.AST]:
    """The nodes of a file outside of functions and classes."""
    for statement in source.tree.body:
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from ast.walk(statement)


def called(node: ast.AST) -> str:
    """The last name of what a call calls: ``load`` for ``torch.load(path)``; empty for other nodes."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def walk_calls(node: ast.AST) -> Iterator[ast.Call]:
    """All calls in a node, outermost first."""
    return (one for one in ast.walk(node) if isinstance(one, ast.Call))
