"""The files of kb/, each read once: whatever keeps one from being read is a `KbError`."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from diagnose import casebase
from diagnose._toml import TOMLDecodeError, loads
from diagnose.compiling.digest import SUFFIXES
from diagnose.compiling.kberror import KbError

#: The largest file that is read; the largest of ours has less than a tenth of it.
_MOST = 8 << 20
#: What `diagnose explain` knows of words: read in the package, checked with kb/.
SYMPTOMS = Path(casebase.__file__).with_name("symptoms.toml")
#: What an incident's failing variant printed, recorded by `diagnose kb record`.
TRACE = "trace.txt"
_AT_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")

#: Names relative to kb/, and what the files hold; a `KbError` for one that cannot be read.
Files = Mapping[str, bytes | KbError]


def files(kb: Path) -> dict[str, bytes | KbError]:
    """Every file that the case base of the folder ``kb`` is compiled from, and `SYMPTOMS`, read once."""
    paths = {
        path.relative_to(kb).as_posix(): path
        for path in kb.rglob("*")
        if path.suffix in SUFFIXES and not path.is_dir()
    }
    paths[PurePosixPath(os.path.relpath(SYMPTOMS, kb)).as_posix()] = SYMPTOMS
    for folder in (kb / "cases").glob("[!_.]*/"):  # an empty one lacks its file
        if folder.is_dir():
            paths.setdefault(f"cases/{folder.name}/case.toml", folder / "case.toml")
    return {name: _content(paths[name], name) for name in sorted(paths, key=PurePosixPath)}


def _content(path: Path, name: str) -> bytes | KbError:
    """What a file holds; no device or pipe, which might never end."""
    try:
        if not path.exists():
            return KbError(name, "-", "is missing")
        if not path.is_file():
            return KbError(name, "-", "is no regular file")
        if (size := path.stat().st_size) > _MOST:
            return KbError(name, "-", f"has {size} bytes, at most {_MOST} are read")
        return path.read_bytes()
    except OSError as error:
        return KbError(name, "-", error.strerror or str(error))


def text_of(read: Files, name: str) -> str:
    """The text of a file.

    Raises:
        KbError: it is missing, cannot be read or is not UTF-8.
    """
    content = read.get(name, KbError(name, "-", "is missing"))
    if isinstance(content, KbError):
        raise content
    try:
        return content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise KbError(name, "-", f"is not UTF-8: {error.reason}", line) from None


def toml_of(read: Files, name: str) -> dict[str, Any]:
    """The table of a TOML file; it is not to be changed.

    Raises:
        KbError: as `text_of`, or it is no TOML.
    """
    text = text_of(read, name)
    table = _parsed(text)
    if isinstance(table, str):
        reason, line = table, None
        if match := _AT_LINE.search(table):
            reason = table[: match.start()]
            line = int(match[1]) if match[1] else len(text.splitlines()) or 1
        raise KbError(name, "-", f"is no TOML: {reason}", line)
    return table


@lru_cache(maxsize=2048)
def _parsed(text: str) -> dict[str, Any] | str:
    """The table, or the parser's sentence."""
    try:
        table: dict[str, Any] = loads(text)
    except TOMLDecodeError as error:
        return str(error)
    except RecursionError:
        return "it is nested too deeply"
    return table


def program_of(read: Files, name: str, functions: Iterable[str] = ()) -> tuple[str, list[KbError]]:
    """A Python file's text, checked to compile and to define ``functions``, and its mistakes."""
    try:
        text = text_of(read, name)
    except KbError as error:
        return "", [error]
    try:
        tree = ast.parse(text, name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        return "", [KbError(name, "-", f"is no Python program: {reason}", line)]
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    wanted = [function for function in functions if function not in defined]
    return text, [KbError(name, function, "is not defined", 1) for function in wanted]
