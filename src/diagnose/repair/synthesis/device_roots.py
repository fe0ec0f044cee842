"""A patch that takes another device where one is used, with that device where the program tells it: all who
ask for it are told the right one then."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress

from diagnose.fixes.codemods.expressions import replaced
from diagnose.fixes.diff import patched
from diagnose.fixes.file_gate import rewritten
from diagnose.fixes.line_gate import Refused
from diagnose.placement import Source
from diagnose.placement.semantics import around, dotted, functions, nodes
from diagnose.repair.comparison import diff_of
from diagnose.repair.model import Candidate
from diagnose.repair.patch import Patch, patch_of
from diagnose.repair.workspace import Workspace

#: So many edits beside those of a failure are tried.
_MOST = 4


def rooting(patch: Patch) -> Iterator[str]:
    """The text as it was, with the new device where the old one is bound, or where a property gives it.

    Args:
        patch: a file, before and after: one line asks for another device.
    """
    if [(len(one.gone), len(one.made)) for one in patch.hunks] != [(1, 1)]:
        return
    old, before, after = patch.old, patch.before, patch.after
    source, texts = Source("", before.split("\n"), old), Source("", after.split("\n"), patch.new)
    pair = _apart(old, patch.new)
    if pair is None:
        return
    was, now = pair
    given = ast.get_source_segment(texts.text, now) or ast.unparse(now)
    for node, code in (*_bound(old, was, now, given), *_of_property(old, was, given)):
        with suppress(Refused):
            yield rewritten(source, [replaced(source, node, code)])


def rooted(found: Sequence[Candidate], workspace: Workspace) -> list[Candidate]:
    """The edits, tried after all others: who asks for the device elsewhere is told the new one, too. What
    supports the edit of the use supports these.

    Args:
        found: edits of a failure.
        workspace: the files.
    """
    made: dict[str, Candidate] = {}
    for one in found:
        with suppress(OSError, ValueError, SyntaxError):
            before = workspace.text(one.file)
            for text in rooting(patch_of(before, patched(before, one.patch))):
                line = patch_of(before, text).hunks[0].gone.start + 1
                diff = diff_of({one.file: before}, {one.file: text})
                root = one._replace(line=line, patch=diff, source="origins")
                made.setdefault(diff, root)
    return list(made.values())[:_MOST]


def _apart(old: ast.AST, new: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The one name, or attribute, of a tree in the place of which another tree has another expression."""
    if isinstance(old, ast.Name | ast.Attribute) and isinstance(new, ast.expr):
        return old, new
    if type(old) is not type(new):
        return None
    found = []
    for (_, one), (_, other) in zip(ast.iter_fields(old), ast.iter_fields(new), strict=True):
        ones, others = (each if isinstance(each, list) else [each] for each in (one, other))
        if len(ones) != len(others):
            return None
        for a, b in zip(ones, others, strict=True):
            if isinstance(a, ast.AST) and isinstance(b, ast.AST):
                if ast.dump(a) != ast.dump(b):
                    found.append(_apart(a, b))
            elif a != b:
                return None
    return found[0] if len(found) == 1 else None


def _bound(
    tree: ast.Module, was: ast.expr, now: ast.expr, given: str
) -> Iterator[tuple[ast.expr, str]]:
    """The GPU written down where a name, or what a class keeps, is bound that others ask for, too."""
    scope = _scope(tree, was)
    if scope is None:
        return
    name = ast.unparse(was)
    names = [one for one in nodes(scope, ast.Name, ast.Attribute) if ast.unparse(one) == name]
    asked = [one for one in names if isinstance(one.ctx, ast.Load)]
    values = [
        node.value
        for node in nodes(scope, ast.Assign)
        if any(ast.unparse(one) == name for one in node.targets)
    ]
    if len(asked) < 2 or len(values) != 1 or len(names) - len(asked) != 1:
        return
    for node in nodes(values[0], ast.Constant):
        if str(node.value).startswith("cuda"):
            if isinstance(now, ast.JoinedStr | ast.Constant):
                yield node, given
            else:
                yield values[0], given


def _scope(tree: ast.Module, was: ast.expr) -> ast.AST | None:
    """What binds an expression: for a name the file, for what an object keeps the class around it."""
    if isinstance(was, ast.Name):
        return tree
    if not (isinstance(was, ast.Attribute) and dotted(was.value) == "self"):
        return None
    return next(around(tree, was, ast.ClassDef), None)


def _of_property(tree: ast.Module, was: ast.expr, given: str) -> Iterator[tuple[ast.expr, str]]:
    """What a property of the program returns, told of the object itself."""
    match was:
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            pass
        case _:
            return
    for node in functions(tree):
        if node.name == name:
            marks = [ast.unparse(one) for one in node.decorator_list]
            returns = [one.value for one in nodes(node, ast.Return)]
            if "property" in marks and len(returns) == 1 and returns[0] is not None:
                told = ast.parse(given, mode="eval")
                named = (n for n in ast.walk(told) if isinstance(n, ast.Name))
                roots = [n for n in named if n.id == owner]  # of a tree that is changed
                for one in roots:
                    one.id = "self"
                if roots:
                    yield returns[0], ast.unparse(told)
