"""Python files that come with a request, singly, zipped or as JSON: bounded, in memory, not stored."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import IO

from werkzeug.datastructures import FileStorage

from diagnose.model import Diagnosis
from diagnose.sources import Given
from diagnose.sources.reader import LARGEST
from diagnose.sources.trees import SKIPPED, components
from diagnose.web.refusals import InputError, size

#: By name; bytes are decoded where they are used.
Files = Mapping[str, "str | bytes"]

MOST = 100
#: Names in a zip, files of any kind.
_MOST_ENTRIES = 20_000
_LONGEST_NAME = 400
_SKIPPED = SKIPPED | {"__MACOSX"}
#: Others may take gigabytes to unpack a few bytes.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def from_uploads(uploads: Iterable[FileStorage], max_bytes: int) -> Files:
    """The Python files among what was chosen, those in zips included; the zip's own folders are kept.

    Raises:
        InputError: there are too many, they are too large together, or a zip cannot be read.
    """
    return _bounded(_unpacked(uploads, max_bytes), max_bytes)


def from_json(value: object, max_bytes: int) -> Files:
    """The value of ``files``: texts by name, or null.

    Raises:
        InputError: it is anything else, there are too many, or they are too large together.
    """
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise InputError(400, "error-files")
    return _bounded(value.items(), max_bytes)


def from_kept(text: str, max_bytes: int) -> Files:
    """What `kept` wrote into a page.

    Raises:
        InputError: somebody else wrote it.
    """
    try:
        return from_json(json.loads(text) if text else None, max_bytes)
    except (ValueError, RecursionError):
        raise InputError(400, "error-files") from None


def kept(files: Files, diagnosis: Diagnosis) -> str:
    """The files that an answer used, for its page to send along with the next question, as JSON."""
    given = Given(files)
    used = {path: "\n".join(given.lines(path) or ()) for path in diagnosis.sources}
    return json.dumps(used) if used else ""


def _unpacked(uploads: Iterable[FileStorage], max_bytes: int) -> Iterator[tuple[str, bytes]]:
    for upload in uploads:
        name = upload.filename or ""
        if upload.stream.read(2) == b"PK":
            yield from _zipped(upload.stream, name, max_bytes)
        elif name.endswith(".py"):
            upload.stream.seek(0)
            yield name, upload.stream.read()


def _zipped(stream: IO[bytes], name: str, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """The Python files in a zip; what its directory says of sizes is not believed."""
    try:
        with zipfile.ZipFile(stream) as archive:
            entries = archive.infolist()
            if len(entries) > _MOST_ENTRIES:
                raise InputError(413, "error-files-many", most=MOST)
            for entry in filter(_wanted, entries):
                if entry.flag_bits & 1 or entry.compress_type not in _METHODS:
                    raise InputError(400, "error-zip", name=name[:_LONGEST_NAME])
                with archive.open(entry) as file:
                    yield entry.filename, file.read(min(LARGEST, max_bytes) + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError):
        raise InputError(400, "error-zip", name=name[:_LONGEST_NAME]) from None


def _wanted(entry: zipfile.ZipInfo) -> bool:
    parts = components(entry.filename)
    hidden = any(part.startswith(".") or part in _SKIPPED for part in parts)
    return entry.filename.endswith(".py") and not hidden


def _bounded(files: Iterable[tuple[str, str | bytes]], max_bytes: int) -> Files:
    """The files, when they are not too many and not too large; those of one name are the last one."""
    found: dict[str, str | bytes] = {}
    total = 0
    for name, content in files:
        total += len(content)
        if total > max_bytes:
            raise InputError(413, "error-files-large", limit=size(max_bytes))
        found[name[:_LONGEST_NAME]] = content
        if len(found) > MOST:
            raise InputError(413, "error-files-many", most=MOST)
    return found
