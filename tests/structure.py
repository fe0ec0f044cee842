"""What the code of src/diagnose is made of, in counts that may only fall (tests/structure.toml).

    python tests/structure.py [FOLDER]      prints them
    python tests/structure.py --lower       writes those that fell into structure.toml; none is ever raised

A *hand walk* is a function that looks through a syntax tree by itself (`ast.walk`, `ast.iter_child_nodes`, a visitor);
a *look by kind* one that asks the semantic model for all nodes of a sort; a *spelling compared* one that compares what `ast.unparse` gives; a *kind as a string* a comparison of one of the fields
that say what sort of thing something is; *dispatch by name* a branch on a callable's last name. Branches are McCabe's.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
BOUNDS = Path(__file__).with_name("structure.toml")

_WALKS = {"walk", "iter_child_nodes"}
_VISITORS = {"NodeVisitor", "NodeTransformer"}
_KINDS = {"what", "maker", "cause", "kind"}
_NAMES = {"last", "name", "owner", "method", "called", "attr"}
_BRANCHES = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.comprehension,
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: The rooms that are being redesigned.
_INNER = ("placement", "fixes", "repair", "hooks", "scene", "facts")


def counts(package: Path) -> dict[str, int]:
    """The figures of a package's modules."""
    found = dict.fromkeys(
        (
            "lines",
            "lines_of_inner_rooms",
            "modules",
            "hand_walks",
            "looks_by_kind",
            "spellings_compared",
            "kinds_as_strings",
            "dispatch_by_name",
            "functions_over_80_lines",
            "functions_over_20_branches",
        ),
        0,
    )
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = text.count("\n")
        found["lines"] += lines
        found["lines_of_inner_rooms"] += lines * (path.relative_to(package).parts[0] in _INNER)
        found["modules"] += 1
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                found["kinds_as_strings"] += _compares(node, _KINDS)
                found["dispatch_by_name"] += _compares(node, _NAMES)
            elif isinstance(node, ast.ClassDef):
                found["hand_walks"] += any(_last(base) in _VISITORS for base in node.bases)
            elif isinstance(node, _FUNCTIONS):
                own = list(_own(node))
                found["hand_walks"] += any(_calls(one, _WALKS) for one in own)
                found["looks_by_kind"] += any(_calls(one, {"nodes"}) for one in own)
                found["spellings_compared"] += any(map(_compares_spellings, own))
                found["functions_over_80_lines"] += (node.end_lineno or 0) - node.lineno >= 80
                found["functions_over_20_branches"] += _branches(own) > 20
    return found


def _own(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, _FUNCTIONS):
            todo.extend(ast.iter_child_nodes(node))


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _calls(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Call) and _last(node.func) in names


def _compares(node: ast.Compare, names: set[str]) -> bool:
    """Whether one of those names, or an attribute of that name, is held against strings."""
    sides = [node.left, *node.comparators]
    constants = [one for side in sides for one in ast.walk(side) if isinstance(one, ast.Constant)]
    return any(_last(side) in names for side in sides) and any(
        isinstance(one.value, str) for one in constants
    )


def _compares_spellings(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and any(
        _calls(side, {"unparse"}) for side in (node.left, *node.comparators)
    )


def _branches(nodes: list[ast.AST]) -> int:
    return 1 + sum(
        len(node.values) - 1
        if isinstance(node, ast.BoolOp)
        else len(node.cases)
        if isinstance(node, ast.Match)
        else isinstance(node, _BRANCHES)
        for node in nodes
    )


def bounds() -> dict[str, int]:
    """What no count may exceed."""
    return dict(tomllib.loads(BOUNDS.read_text(encoding="utf-8")))


def lower(found: Mapping[str, int]) -> None:
    """Writes the counts that fell."""
    now = {name: min(bound, found[name]) for name, bound in bounds().items()}
    head = [
        line for line in BOUNDS.read_text(encoding="utf-8").splitlines() if line.startswith("#")
    ]
    rows = [f"{name} = {bound}" for name, bound in now.items()]
    BOUNDS.write_text("\n".join([*head, *rows]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments == ["--lower"]:
        lower(counts(ROOT / "src" / "diagnose"))
    else:
        folder = Path(arguments[0]) if arguments else ROOT / "src" / "diagnose"
        for name, count in counts(folder).items():
            print(f"{name:28} {count:7}")
