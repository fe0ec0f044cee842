"""How a file calls a name of torch: ``nn.ModuleList``, ``torch.nn.ModuleList``, or with a new import."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnose.fixes.codemods.positions import functions_around
from diagnose.fixes.codemods.statements import after_statement, before_statement
from diagnose.fixes.file_gate import Change
from diagnose.placement.model import Source
from diagnose.placement.semantics import bound_names, dotted


def spelled(source: Source, name: str, at: ast.AST) -> tuple[str, tuple[Change, ...]]:
    """How a name such as ``torch.nn.ModuleList`` is written at a node, and the import that this needs."""
    known = dict(_imported(source, at))
    hidden = _hidden(source, at)
    parts = name.split(".")
    # The longest part of the name that the file has a word for makes the shortest spelling.
    for length in range(len(parts), 0, -1):
        target = ".".join(parts[:length])
        for local, imported in known.items():
            if imported == target and local not in hidden:
                return ".".join([local, *parts[length:]]), ()
    return name, (with_import(source, parts[0]),)


def is_imported(source: Source, name: str, at: ast.AST) -> bool:
    """Whether a name is a package or what one gives, at a node."""
    return name in dict(_imported(source, at)) and name not in _hidden(source, at)


def qualified(source: Source, node: ast.AST) -> str:
    """What a name or a chain of attributes is by the file's imports, such as ``torch.cuda.device_count``;
    empty where no import says it."""
    local, dot, rest = (dotted(node) or "").partition(".")
    known = dict(_imported(source, node)).get(local, "") if local else ""
    return f"{known}{dot}{rest}" if known and local not in _hidden(source, node) else ""


def _imported(source: Source, at: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that imports bind for a node, each with what it stands for."""
    scopes = [source.tree, *functions_around(source, at)]
    for scope in scopes:
        for node in _statements(scope):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.asname:
                        yield alias.asname, alias.name
                    else:
                        root = alias.name.partition(".")[0]
                        yield root, root
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _statements(scope: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a scope, those of functions and classes in it excepted."""
    for field in ("body", "orelse", "finalbody"):
        for statement in getattr(scope, field, ()):
            yield statement
            if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield from _statements(statement)
    for handler in getattr(scope, "handlers", ()):
        yield from _statements(handler)


def _hidden(source: Source, at: ast.AST) -> set[str]:
    """The names that the functions around a node bind otherwise than by an import."""
    return {name for one in functions_around(source, at) for name in bound_names(one)}


def with_import(source: Source, module: str) -> Change:
    """The change that imports a module after the file's last import, or where its first would stand."""
    body = source.tree.body
    imports = [one for one in body if isinstance(one, (ast.Import, ast.ImportFrom))]
    if imports:
        change = after_statement(source, imports[-1], f"import {module}")
    else:
        first = body[0]
        documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        write = after_statement if documented else before_statement
        change = write(source, first, f"import {module}")
    return change._replace(aside=True)
