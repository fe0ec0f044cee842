"""One printed source line as a syntax tree: tracebacks show lines, often only a part of a statement."""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_MAX_LENGTH = 2000
_PRINTED = "<printed line>"

# What Python thinks of a stranger's line ("invalid escape sequence") is nothing to tell the reader of an
# answer. A filter for this name alone, rather than `catch_warnings`, which is not for threads.
warnings.filterwarnings("ignore", module=_PRINTED)

#: Functions of torch that make a new tensor, on the default device unless told otherwise.
FACTORIES = frozenset(
    {
        *("tensor", "Tensor", "FloatTensor", "LongTensor", "IntTensor", "BoolTensor"),
        *("zeros", "ones", "full", "empty", "arange", "range", "linspace", "logspace", "eye"),
        *("rand", "randn", "randint", "randperm", "normal", "from_numpy", "as_tensor"),
        *("tril_indices", "triu_indices", "hann_window", "hamming_window", "bartlett_window"),
    }
)


class SourceLine(NamedTuple):
    """A parsed line: the tree, and how many characters were put before the line to make it parse.

    Column offsets in ``tree`` minus ``shift`` are offsets into ``text``, the line without its
    indentation. ``nodes`` are those that stand in the line itself, outermost first.
    """

    text: str
    tree: ast.Module
    shift: int = 0
    nodes: tuple[ast.AST, ...] = ()

    def segment(self, node: ast.expr) -> str:
        """The text of ``node`` as it stands in the line."""
        start, end = self.span(node)
        return self.text[start:end]

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Start and end of ``node`` in ``text``; offsets are characters, not bytes."""
        start, end = node.col_offset, node.end_col_offset or 0
        if not self.text.isascii():
            encoded = (" " * self.shift + self.text).encode()
            start = len(encoded[:start].decode(errors="replace"))
            end = len(encoded[:end].decode(errors="replace"))
        # What was put after the line to make it parse may belong to a node.
        return start - self.shift, min(end - self.shift, len(self.text))


@lru_cache(maxsize=256)
def parse(code: str | None) -> SourceLine | None:
    """Parses a printed line; None where no reading of it is Python.

    Incomplete statements are completed: open brackets are closed, a compound statement gets a body,
    a lone argument is put into a call, ``elif`` is
    read as ``if``. The line is only parsed, never compiled or run.
    """
    text = (code or "").strip()
    if text.startswith("elif "):
        text = text[2:]
    if not text or len(text) > _MAX_LENGTH or "\n" in text:
        return None
    closers = _missing_closers(text)
    for before, after in (
        ("", ""),
        ("", " pass"),
        ("", closers),
        ("", f"_{closers}"),
        ("", f"{closers}: pass"),
        ("", f"_{closers}: pass"),
        ("_(", f"{closers})"),
        ("_(_ ", f"{closers})"),
    ):
        try:
            tree = ast.parse(f"{before}{text}{after}", filename=_PRINTED)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        line = SourceLine(text, tree, len(before))
        return line._replace(nodes=tuple(_standing(line)))
    return None


def _standing(line: SourceLine) -> Iterator[ast.AST]:
    """The nodes without those that were put there to make the line parse."""
    for node in ast.walk(line.tree):
        if not isinstance(node, ast.expr):
            yield node
        elif node.lineno == 1 and node.col_offset >= line.shift:
            start, end = line.span(node)
            if start < end <= len(line.text):
                yield node


def _missing_closers(text: str) -> str:
    """The brackets that would close what ``text`` leaves open; strings are skipped roughly."""
    stack: list[str] = []
    quote = ""
    for character in text:
        if quote:
            if character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character == "#":
            break
        elif character in _CLOSERS:
            stack.append(_CLOSERS[character])
        elif stack and character == stack[-1]:
            stack.pop()
    return "".join(reversed(stack))


def dotted(node: ast.AST) -> str | None:
    """``self.encoder.embed`` for such a chain of names and attributes, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def root(node: ast.AST) -> ast.AST:
    """What an operand is made of before indexing, methods and transposition: ``a`` for ``a.t()[0]``."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = dotted(node.func.value)
            if owner in {"torch", "F", "nn", "np", "torch.nn.functional", "math"}:
                return node
            node = node.func.value
        elif isinstance(node, ast.UnaryOp):
            node = node.operand
        else:
            return node


def makes_tensor(node: ast.AST) -> bool:
    """True for a call such as ``torch.zeros(3)`` without ``device=``."""
    if not isinstance(node, ast.Call) or any(k.arg == "device" for k in node.keywords):
        return False
    name = dotted(node.func)
    if name is None:
        return False
    owner, _, function = name.rpartition(".")
    return owner in {"torch", "th"} and function in FACTORIES


def names_device(node: ast.AST) -> bool:
    """True for ``.cuda()``, ``.cuda(1)``, ``"cuda:0"``, ``device=0`` and the like."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "cuda" and all(isinstance(a, ast.Constant) for a in node.args)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split(":")[0] in {"cuda", "mps", "xpu", "npu", "hpu"}
    return isinstance(node, ast.keyword) and (
        node.arg == "device"
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, int)
    )


def is_builtin(name: str) -> bool:
    """True for names of the builtins module, which are no operands."""
    return hasattr(builtins, name)


def operands(line: SourceLine) -> list[ast.expr]:
    """The expressions that meet in the line's operation, left to right: both sides of a binary
    operator or in-place assignment, the arguments of a call, the elements of a list that is joined."""
    best: list[ast.expr] = []
    for node in line.nodes:
        if isinstance(node, ast.AugAssign):
            return [node.target, node.value]
        if isinstance(node, ast.BinOp) and not best:
            best = [node.left, node.right]
        elif isinstance(node, ast.Compare) and not best:
            best = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and not best:
            listed = node.args[0] if node.args else None
            if isinstance(listed, (ast.List, ast.Tuple)):
                best = list(listed.elts)
            elif len(node.args) + len(node.keywords) > 1:
                best = [*node.args, *(k.value for k in node.keywords)]
    return best
