"""What is too much goes: a quantized model's ``.to()``, torch.compile; a value comes to the host."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

from diagnose.fixes.codemods.expressions import around, replaced, without_method
from diagnose.fixes.codemods.positions import ancestors, span, statement_of, text_of
from diagnose.fixes.codemods.statements import without_statement
from diagnose.fixes.codemods.transfers import is_moved, value_of
from diagnose.fixes.file_gate import Change, Splice, offset_of_line
from diagnose.fixes.line_gate import Refused
from diagnose.model import TorchNames
from diagnose.placement.model import Source, Suspect
from diagnose.placement.semantics import called, calls, dotted, nodes

_LITERALS = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.JoinedStr)


def no_move(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """A quantized model stays where it was loaded."""
    source, node = suspect.spot.source, value_of(suspect)
    if not isinstance(node, ast.Call) or not is_moved(node, torch):
        raise Refused("it is no call that moves")
    statement = statement_of(source, node)
    assert isinstance(node.func, ast.Attribute)
    kept = statement.targets if isinstance(statement, ast.Assign) else []
    alone = isinstance(statement, ast.Expr) or (
        [ast.unparse(one) for one in kept] == [ast.unparse(node.func.value)]
    )
    if alone and isinstance(statement, ast.Expr | ast.Assign) and statement.value is node:
        return [without_statement(source, statement)]
    return [without_method(source, node)]


def to_host(suspect: Suspect, torch: TorchNames) -> Sequence[Change]:
    """``x.numpy()`` becomes ``x.detach().cpu().numpy()``, ``np.mean(x)`` ``np.mean(x.detach().cpu())``."""
    source, node = suspect.spot.source, value_of(suspect)
    node = _for_host(node, suspect, torch)
    if isinstance(node, _LITERALS):
        raise Refused("what comes to the host is no tensor by its form")
    if called(node) == "cpu" or called(node) in torch.host_results:
        raise Refused("it is on the host already")
    without = called(node) in torch.without_gradient or isinstance(node, ast.Compare)
    move = ".cpu()" if without or _no_grad(source, node) else ".detach().cpu()"
    return [around(source, node, "", move)]


def _for_host(node: ast.expr, suspect: Suspect, torch: TorchNames) -> ast.expr:
    """What has to come to the host, of a call that needs it there."""
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return _for_host(node.elt, suspect, torch)
    if not isinstance(node, ast.Call):
        return node
    if isinstance(node.func, ast.Attribute) and node.func.attr in {"numpy", "__array__"}:
        return node.func.value
    owner = (dotted(node.func) or "").partition(".")[0]
    if owner in torch.host_packages or called(node).endswith("_score"):
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        named = [one for one in given if ast.unparse(one) == suspect.name]
        if len(named) == 1 or len(given) == 1:
            return _for_host((named or given)[0], suspect, torch)
        raise Refused("it is not known which argument comes to the host")
    return node


def _no_grad(source: Source, node: ast.AST) -> bool:
    """Whether no gradients are kept where a node stands."""
    for outer in ancestors(source, node):
        managers: list[ast.expr] = getattr(outer, "decorator_list", [])
        if isinstance(outer, ast.With):
            managers = [item.context_expr for item in outer.items]
        if any(called(one) in {"no_grad", "inference_mode"} for one in managers):
            return True
    return False


def eagerly(suspect: Suspect, _: TorchNames) -> Sequence[Change]:
    """``torch.compile(model)`` becomes ``model``, and its decorator goes; the file's only one, if the spot
    is another."""
    source, node = suspect.spot.source, suspect.spot.node
    inside = [one for one in calls(node) if _compiles(one)]
    found: list[ast.expr] = [*inside] or list(_compiling(source))
    if len(found) != 1:
        raise Refused(
            "the file calls torch.compile at several places" if found else "nothing is compiled"
        )
    compiled = found[0]
    outer = ancestors(source, compiled)[-2]
    if compiled in getattr(outer, "decorator_list", ()):
        assert isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        return [_without_decorator(source, outer, compiled)]
    if not isinstance(compiled, ast.Call) or not compiled.args:
        raise Refused("torch.compile is not called with what it compiles")
    model = compiled.args[0]
    if isinstance(outer, ast.Assign) and [*map(dotted, outer.targets)] == [dotted(model)] != [None]:
        return [without_statement(source, outer)]
    return [replaced(source, compiled, text_of(source, model))]


def _compiling(source: Source) -> Iterator[ast.expr]:
    """The calls of torch.compile in a file, and the decorators that name it."""
    yield from (one for one in calls(source.tree, "compile") if _compiles(one))
    for node in nodes(source.tree, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
        marks = getattr(node, "decorator_list", ())
        yield from (one for one in marks if dotted(one) == "torch.compile")


def _compiles(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func) == "torch.compile"


def _without_decorator(
    source: Source, defined: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, gone: ast.expr
) -> Change:
    """The change that takes a decorator's lines away."""
    start, end = (
        offset_of_line(source, line) for line in (gone.lineno, (gone.end_lineno or gone.lineno) + 1)
    )
    if source.text[start : span(source, gone)[0]].strip() != "@":
        raise Refused("the decorator does not stand on a line of its own")
    becomes = copy.copy(defined)
    becomes.decorator_list = [one for one in defined.decorator_list if one is not gone]
    return Change((Splice(start, end, ""),), defined, (becomes,))


KINDS = {"no-to-on-quantized": no_move, "cpu-before-numpy": to_host, "disable-compile": eagerly}
