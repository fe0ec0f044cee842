"""The semantic model of a file, held against CPython's own symbol tables and against plain walks."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from diagnose.placement.semantics import (
    Function,
    argument,
    arguments,
    around,
    assigned,
    bindings,
    bindings_by,
    bound,
    bound_arguments,
    bound_names,
    called,
    calls,
    calls_around,
    calls_of,
    class_of,
    decorators,
    defaults,
    defined,
    functions,
    functions_by_line,
    given_by_calls,
    holds,
    is_property,
    last_name,
    lines_of,
    loads,
    mentions,
    names,
    nodes,
    parameters,
    parent,
    path_to,
    position_of,
    positional,
    reads,
    scope_of,
    stored,
    stored_attributes,
    top,
)

SOURCES = Path(__file__).parents[2] / "src" / "diagnose"
FILES = [*sorted((SOURCES / "placement").glob("*.py")), *sorted((SOURCES / "fixes").glob("*.py"))]


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_bound_in_a_function_is_what_cpython_says(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    found = {
        (table.get_name(), table.get_lineno()): {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_local() and symbol.is_assigned() and not symbol.is_namespace()
        }
        for table in _tables(symtable.symtable(text, path.name, "exec"))
        if table.get_type() == "function" and table.get_name() not in ("lambda", "genexpr")
    }
    for function in (one for one in ast.walk(tree) if isinstance(one, Function)):
        line = min([function.lineno, *(one.lineno for one in function.decorator_list)])
        wanted = found.get((function.name, line), found.get((function.name, function.lineno)))
        assert wanted is not None
        own = {
            one.target.id
            for one in bindings(function)
            if isinstance(one.target, ast.Name)
            and next(around(tree, one.target, Function), None) is function  # type: ignore[arg-type]
            and not isinstance(one.by, ast.comprehension)
        }
        others = {one.arg for one in parameters(function)} | {
            name
            for one in ast.walk(function)
            for name in (
                [alias.asname or alias.name.partition(".")[0] for alias in one.names]
                if isinstance(one, ast.Import | ast.ImportFrom)
                else [one.name]
                if isinstance(one, ast.ExceptHandler | ast.MatchAs | ast.MatchStar)
                else [one.rest]
                if isinstance(one, ast.MatchMapping)
                else []
            )
            if name
        }
        inner = {
            one.target.id
            for one in bindings(function)
            if isinstance(one.target, ast.Name) and isinstance(one.by, ast.comprehension)
        }
        assert own <= wanted | inner
        assert wanted - others - inner <= own


PROGRAM = """\
class Net:
    def __init__(self, width, depth=2, *, bias=True):
        self.table = make(width)
        (a, self.last), *rest = (1, 2), 3

    def forward(self, x):
        if (n := len(x)) > 1:
            for i, one in enumerate(x):
                x += one
        return self.table[n]


def main():
    net = Net(3, bias=False)
    other = Net(width=4)
    with open("f") as file:
        pass
    return net.forward(file)
"""


def test_a_name_is_bound_by_what_binds_it() -> None:
    tree = ast.parse(PROGRAM)
    said = {ast.unparse(one.target): one.value and ast.unparse(one.value) for one in bindings(tree)}
    assert said == {
        "self.table": "make(width)",
        "a": None,
        "self.last": None,
        "rest": None,
        "n": "len(x)",
        "i": None,
        "one": None,
        "x": None,
        "net": "Net(3, bias=False)",
        "other": "Net(width=4)",
        "file": None,
    }
    assert [ast.unparse(one.by) for one in bound(tree, "self.table")] == [
        "self.table = make(width)"
    ]
    assert bound(tree, "table") == []


def test_a_statement_binds_what_its_blocks_do_not() -> None:
    tree = ast.parse("for a, b in x:\n    c = 1\nwith open(d) as e, f:\n    g = 2")
    found = [[ast.unparse(one.target) for one in bindings_by(row)] for row in tree.body]
    assert found == [["a", "b"], ["e"]]


def test_a_written_tuple_gives_each_its_own() -> None:
    tree = ast.parse("a, (b, c) = x, (y, z)\n[d, *e] = f, g")
    pairs = [(ast.unparse(o.target), o.value and ast.unparse(o.value)) for o in bindings(tree)]
    assert pairs == [("a", "x"), ("b", "y"), ("c", "z"), ("d", None), ("e", None)]


def test_calls_give_parameters_by_name_and_position() -> None:
    tree = ast.parse(PROGRAM)
    [function] = [one for one in functions_by_line(tree).values() if one.name == "__init__"][:1]
    told = {
        one.arg: [value and ast.unparse(value) for value in given_by_calls(tree, function, one.arg)]
        for one in parameters(function)
    }
    assert told == {
        "self": [],
        "width": ["3", "4"],
        "depth": [None, None],
        "bias": ["False", None],
    }
    assert {name: ast.unparse(one) for name, one in defaults(function).items()} == {
        "depth": "2",
        "bias": "True",
    }


def test_calls_of_a_file_are_those_of_its_parts() -> None:
    tree = ast.parse(PROGRAM)
    assert [called(one) for one in calls(tree)] == [
        called(one) for one in ast.walk(tree) if isinstance(one, ast.Call)
    ]
    assert calls(tree, "Net") == [one for one in calls(tree) if called(one) == "Net"]
    assert calls(tree.body[1], "Net") == calls(tree, "Net")
    assert calls(ast.parse("x = 1")) == []
    [one] = calls(tree, "open")
    assert argument(one, "file", 0) is one.args[0]
    assert argument(one, "mode", 1) is None
    assert reads(tree, "file") and not reads(tree, "rest")
    assert names(one) == ["open"]
    [net, _] = calls(tree, "Net")
    assert [ast.unparse(one) for one in arguments(net)] == ["3", "False"]


def test_functions_and_names_are_found_in_what_holds_them() -> None:
    tree = ast.parse(PROGRAM)
    net, main = tree.body
    assert [one.name for one in functions(tree)] == ["main", "__init__", "forward"]
    [one] = calls(tree, "enumerate")
    assert holds(net, one) and holds(one, one) and not holds(main, one)
    assert {one.id for one in stored(tree)} == {
        "net",
        "other",
        "file",
        "a",
        "rest",
        "n",
        "i",
        "one",
        "x",
    }
    assert [type(each) for each in nodes(net, ast.For, ast.With)] == [ast.For]
    assert last_name(one.func) == "enumerate" and last_name(one) == last_name(None) == ""
    outer = parent(tree, one)
    assert isinstance(outer, ast.For) and parent(tree, tree) is None


def test_calls_of_several_names_come_in_the_order_of_the_file() -> None:
    tree = ast.parse("b(a())\na(b())")
    assert list(map(ast.unparse, calls(tree, "a", "b"))) == ["b(a())", "a(b())", "a()", "b()"]


def test_a_call_is_bound_to_the_parameters_of_a_function() -> None:
    tree = ast.parse("def f(self, a, /, b, *, c=1): pass\nf(x, *more, y, c=z, d=w)\nf")
    [function] = functions(tree)
    [call] = calls(tree)
    told = bound_arguments(function, call)
    assert {name: ast.unparse(one) for name, one in told.items()} == {"a": "x", "c": "z"}
    assert bound_arguments(function, tree.body[2]) == {}
    assert list(map(ast.unparse, arguments(call))) == ["x", "*more", "y", "z", "w"]


def test_a_path_leads_from_the_file_to_the_node() -> None:
    tree = ast.parse(PROGRAM)
    [one] = calls(tree, "enumerate")
    path = path_to(tree, one)
    assert path[0] is tree and path[-1] is one
    assert all(inner in list(ast.iter_child_nodes(outer)) for outer, inner in pairwise(path))
    assert [node.name for node in around(tree, one, ast.FunctionDef, ast.ClassDef)] == [
        "forward",
        "Net",
    ]
    assert path_to(ast.parse("x = 1"), one) == []
    assert holds(tree, one) and holds(one, one) and not holds(one, tree)
    [loop] = nodes(tree, ast.For)
    assert list(lines_of(loop)) == [8, 9] and lines_of(loop.body[0]) == range(9, 10)
    assert lines_of(tree.body[0], loop) == range(1, 10)


def test_a_method_is_asked_for_its_class_and_its_calls() -> None:
    tree = ast.parse(PROGRAM)
    main, begins, forward = nodes(tree, ast.FunctionDef, ast.AsyncFunctionDef)
    [net] = nodes(tree, ast.ClassDef)
    assert [class_of(tree, one) for one in (begins, forward, main)] == [net, net, None]
    assert calls_of(tree, begins) == calls(tree, "Net") and calls_of(tree, main) == []
    assert calls_of(tree, forward) == calls(tree, "forward") != []
    assert [one.arg for one in positional(begins)] == ["self", "width", "depth"]
    places = {one.arg: position_of(tree, begins, one.arg) for one in parameters(begins)}
    assert places == {"self": -1, "width": 0, "depth": 1, "bias": None}


def test_what_a_class_sets_and_reads() -> None:
    [net] = nodes(ast.parse(PROGRAM), ast.ClassDef)
    assert sorted(one.attr for one in stored_attributes(net)) == ["last", "table"]
    assert {one.lineno for one in loads(net, "x")} == {7, 8}


def test_a_scope_is_the_innermost_function_else_the_file() -> None:
    tree = ast.parse(PROGRAM + "\nfor each in range(2):\n    main(each)\n")
    [inner], [outer] = calls(tree, "enumerate"), calls(tree, "range")
    scope = scope_of(tree, inner)
    assert isinstance(scope, ast.FunctionDef) and scope.name == "forward"
    assert scope_of(tree, outer) is tree and scope_of(tree, scope) is tree
    assert holds(scope, inner) and holds(inner, inner) and not holds(scope, outer)
    assert top(tree) == tree.body[-1:]
    assert [called(one) for one in calls_around(tree, inner)] == ["enumerate", "len"]
    assert [called(one) for one in calls_around(tree, outer)] == ["range", "main"]


def test_a_name_is_defined_by_functions_and_by_the_class_that_it_makes() -> None:
    tree = ast.parse(PROGRAM)
    assert [one.name for one in defined(tree, "Net")] == ["__init__"]
    assert [one.name for one in defined(tree, "forward")] == ["forward"]
    assert list(defined(tree, "table")) == []


def test_an_assignment_sets_a_name_to_all_of_its_value() -> None:
    tree = ast.parse("a = self.b = f()\na, c = g()\na += 1\na: int = 2\n")
    [first] = assigned(tree, "a")
    assert first is tree.body[0] and assigned(tree, "self.b") == [first]
    assert assigned(tree, "c") == []


def test_names_are_bound_by_parameters_and_above_a_line() -> None:
    tree = ast.parse("def f(x, *rest, y=1):\n    z = x\n    for z in rest:\n        w = z\n")
    assert bound_names(tree) == ["x", "rest", "y", "z", "z", "w"]
    assert bound_names(tree, above=3) == ["x", "rest", "y", "z"]


def test_an_attribute_is_mentioned_where_it_is_read_or_bound() -> None:
    tree = ast.parse("self.table = make(width)\n")
    assert mentions(tree, "self.table") and mentions(tree, "other", "width")
    assert not mentions(tree, "table") and not mentions(tree)
    assert reads(tree, "width") and not reads(tree, "self.table")
    assert reads(ast.parse("self.table.size"), "self.table")


def test_decorators_are_told_by_their_last_names() -> None:
    tree = ast.parse(
        "@dataclasses.dataclass(frozen=True)\nclass A:\n    @property\n    def b(self): ..."
    )
    [made], [method] = nodes(tree, ast.ClassDef), nodes(tree, ast.FunctionDef)
    assert decorators(made) == ["dataclass"] and decorators(method) == ["property"]
    assert is_property(method) and decorators(ast.parse("lambda: 0")) == []
