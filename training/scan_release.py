"""Reads what a release of a library says about devices, and prints what neither kb/messages.toml nor
kb/grammar.toml reads.

    python training/scan_release.py torch transformers some.whl folder/   # a table
    python training/scan_release.py --unread folder/                      # and the texts

A release is an installed package, a wheel, or a folder of sources; nothing of it is run. Texts are those of
raise, assert, warn and check in Python, with plausible values in the slots, and literals of C++ in sources
and binaries. Of these the ones count that name a device, or devices, beside what must be or was found.
"""

from __future__ import annotations

import argparse
import ast
import importlib.metadata
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from diagnose.casebase.store import load
from diagnose.model import DEVICE_FAMILY
from diagnose.parsing.judging import Judge

SOURCES = {".cpp", ".cu", ".cuh", ".h", ".hpp", ".cc", ".mm"}
BINARIES = {".so", ".dylib", ".pyd"}
TESTS = {"test", "tests", "testing", "benchmarks", "examples"}
#: Calls whose texts are messages, beside those of `raise`.
CALLS = re.compile(r"^(?:warn|warning|warning_once|_check\w*|unimplemented\w*|raise_\w+)$")
_DEVICE = re.compile(
    r"(?i)\bdevices?\b|(?<![\w.-])(?:cpu|cuda|gpu|npu|xpu|mps)(?::\d)?(?![\w.-])"
    r"|accelerator\b|\bmesh|DTensor"
)
_RELATION = re.compile(
    r"(?i)\b(?:must|should|expect\w*|got|found|same|different|mismatch\w*|match\w*|require\w*|only|cannot|can't"
    r"|not|unsupported|wrong|incompatible|on|current)\b"
)
#: What makes a device's name in a message no word about tensors.
_PROGRAM = re.compile(
    r"(?i)out of memory|available|install|compiled|driver|toolkit|version|capability|detected"
    r"|no (?:cuda|gpu)|environment|backend|memory|kernel|graph|stream|event|device_map|count\b"
    r"|number of|\bwarn|deprecat|experimental"
)
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_CHECK = re.compile(r"\b\w*CHECK\w*\s*\((.{1,1500}?)\);", re.DOTALL)
_PRINTABLE = re.compile(rb"[\x20-\x7e]{20,400}")
_SLOT = re.compile(r"%\(?\w*\)?[sdr]|\{[^{}]{0,80}\}")


class Reader(Enum):
    """Who reads a text."""

    LIST = "list"
    GRAMMAR = "grammar"
    NOBODY = "unread"


class Text(NamedTuple):
    """A message of a release, with its exception and file."""

    file: str
    exception: str
    message: str


class Release(NamedTuple):
    """A library's name, its version and its files."""

    name: str
    version: str
    files: Iterator[tuple[str, bytes]]


def release(where: str) -> Release:
    """An installed package, a wheel or a folder. Raises SystemExit where there is none."""
    path = Path(where)
    if path.suffix == ".whl":
        name, version, *_ = path.name.split("-")
        return Release(name, version, _of_wheel(path))
    if path.is_dir():
        return Release(path.resolve().name, "", _of_folder(path))
    try:
        found = importlib.metadata.distribution(where)
    except importlib.metadata.PackageNotFoundError:
        raise SystemExit(
            f"{where}: no package that is installed here, no wheel and no folder"
        ) from None
    files = ((str(file), Path(str(file.locate()))) for file in found.files or ())
    return Release(
        where,
        found.version,
        ((name, at.read_bytes()) for name, at in files if _counts(name) and at.exists()),
    )


def _counts(name: str) -> bool:
    path = Path(name)
    known = path.suffix == ".py" or path.suffix in SOURCES | BINARIES or ".so." in path.name
    return known and TESTS.isdisjoint(path.parts) and not path.name.startswith("test_")


def _of_wheel(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        yield from ((name, archive.read(name)) for name in archive.namelist() if _counts(name))


def _of_folder(path: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(path.rglob("*")):
        if file.is_file() and _counts(str(file.relative_to(path))):
            yield str(file.relative_to(path)), file.read_bytes()


def texts(found: Release) -> Iterator[Text]:
    """The messages of a release that are about devices, each once."""
    seen = set()
    for name, data in found.files:
        for text in _texts(name, data):
            message = " ".join(text.message.split())
            if message not in seen and about_devices(message):
                seen.add(message)
                yield text._replace(message=message)


def about_devices(message: str) -> bool:
    """Whether a message names a device or speaks of devices, beside what must be or was found."""
    plain = _DEVICE.search(message) and _RELATION.search(message) and not _PROGRAM.search(message)
    return bool(plain) and len(message) > 12


def _texts(name: str, data: bytes) -> Iterator[Text]:
    if name.endswith(".py"):
        yield from of_python(name, data)
    elif Path(name).suffix in SOURCES:
        yield from of_cpp(name, data.decode("utf-8", "replace"))
    else:
        for match in _PRINTABLE.finditer(data):
            yield Text(name, "RuntimeError", match[0].decode())


def of_python(name: str, data: bytes) -> Iterator[Text]:
    """The texts of raise, assert, warn and check."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        exception, parts = "RuntimeError", []
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            exception, parts = ast.unparse(node.exc.func), _arguments(node.exc)
        elif isinstance(node, ast.Assert) and node.msg is not None:
            exception, parts = "AssertionError", [node.msg]
        elif isinstance(node, ast.Call) and (
            called := CALLS.match(ast.unparse(node.func).split(".")[-1])
        ):
            exception = "UserWarning" if called[0].startswith("warn") else exception
            parts = _arguments(node)
        for part in parts:
            if message := filled(part):
                yield Text(name, exception.split(".")[-1], message)


def _arguments(call: ast.Call) -> list[ast.expr]:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return [part.body if isinstance(part, ast.Lambda) else part for part in given]


def filled(node: ast.expr, places: Iterator[str] | None = None) -> str:
    """The text of an expression with a plausible value in each slot; empty where it is no text."""
    places = places or cycle(("cuda:0", "cpu"))
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr():
            return "".join(filled(part, places) for part in node.values)
        case ast.FormattedValue():
            return _value(ast.unparse(node.value), places)
        case ast.BinOp(op=ast.Add()):
            return filled(node.left, places) + filled(node.right, places)
        case ast.BinOp(op=ast.Mod(), left=text, right=value):
            given = value.elts if isinstance(value, ast.Tuple) else [value]
            return _slots(filled(text, places), given, places)
        case ast.Call(func=ast.Attribute(value=text, attr="format"), args=given):
            return _slots(filled(text, places), given, places)
    return ""


def _slots(text: str, given: list[ast.expr], places: Iterator[str]) -> str:
    values = iter([_value(ast.unparse(one), places) for one in given])
    return _SLOT.sub(lambda _: next(values, "x"), text)


def _value(code: str, places: Iterator[str]) -> str:
    if "dtype" in code:
        return "torch.float32"
    if "shape" in code or "size" in code or "len(" in code:
        return "3"
    if "device" in code.lower() and "mesh" not in code.lower():
        return next(places)
    return (re.findall(r"[A-Za-z_]\w*", code) or ["x"])[-1]


def of_cpp(name: str, text: str) -> Iterator[Text]:
    """The literals of each check, put together, with values for what stands between them."""
    for check in _CHECK.finditer(text):
        places = cycle(("cuda:0", "cpu"))
        parts, end = [], None
        for literal in _LITERAL.finditer(check[1]):
            between = check[1][end : literal.start()].strip(" \n\t,<+") if end is not None else ""
            parts += [_value(between, places) if between else "", literal[1]]
            end = literal.end()
        if end is not None:
            last = check[1][end:].strip(" \n\t,<+")
            yield Text(
                name, "RuntimeError", "".join([*parts, _value(last, places) if last else ""])
            )


def reader(text: Text, judge: Judge) -> Reader:
    """Who reads a text."""
    family, reading = judge.judged(text.exception, text.message)
    if reading is None or family != DEVICE_FAMILY:
        return Reader.NOBODY
    return Reader.GRAMMAR if reading.mismatch.formed else Reader.LIST


def main() -> None:
    """Prints a table with a row for each release."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("releases", nargs="+", metavar="PACKAGE|WHEEL|FOLDER")
    parser.add_argument(
        "--show", choices=[one.value for one in Reader], help="print these texts too"
    )
    options = parser.parse_args()
    print(f"| release | about devices | {' | '.join(who.value for who in Reader)} |\n|{'---|' * 5}")
    judge, shown = Judge(load().knowledge), []
    for where in options.releases:
        found = release(where)
        read = [(text, reader(text, judge)) for text in texts(found)]
        counts = Counter(who for _, who in read)
        row = (f"{found.name} {found.version}".strip(), len(read), *(counts[who] for who in Reader))
        print(f"| {' | '.join(map(str, row))} |")
        shown += [
            f"{t.file}: {t.exception}: {t.message}" for t, who in read if who.value == options.show
        ]
    sys.stdout.writelines(f"{line}\n" for line in shown)


if __name__ == "__main__":
    main()
