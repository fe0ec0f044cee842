"""Whether an incident's program raises the documented error's text itself instead of leading to it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

#: Shorter texts stand in a message by chance.
_SHORTEST = 10
#: What a text leaves open: a field of a format, a conversion.
_GAP = re.compile(r"\{[^{}]*\}|%[sdr]")
_NUMBER = re.compile(r"\d+")


def raised_by_hand(facts: Mapping[str, Any], program: str) -> int | None:
    """The line that raises the incident's own message, in parts or as a whole; None where nothing does.

    Args:
        facts: the incident's case.toml.
        program: the text of its reproduce.py.
    """
    message = _folded(str(facts.get("message") or ""))
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError):
        return None
    named = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, (ast.Raise, ast.Assert)):
            raised = node.exc if isinstance(node, ast.Raise) else node.msg
            for text in _texts(raised, named):
                if any(_same(part, message) for part in _GAP.split(text)):
                    return node.lineno
    return None


def _texts(raised: ast.expr | None, named: Mapping[str, ast.expr]) -> Iterator[str]:
    """The literal texts that an expression is made of, those that have a name included."""
    for node in ast.walk(raised) if raised else ():
        if isinstance(node, ast.Name) and node.id in named:
            yield from _texts(named[node.id], {})
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _same(part: str, message: str) -> bool:
    text = _folded(part)
    return min(len(text), len(message)) >= _SHORTEST and (text in message or message in text)


def _folded(text: str) -> str:
    return _NUMBER.sub("0", " ".join(text.split()).casefold())
