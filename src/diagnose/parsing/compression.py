"""gzip, bzip2, xz and zstandard, told by their first bytes and read as a stream.

A file that breaks off is read as far as it goes: the job that wrote it has died, which is why it is read.
What follows a whole file and is no further one is left out, as gzip(1) does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from diagnose.errors import DiagnoseError
from diagnose.parsing.bytestream import ByteStream, Chunks, peek, read_fully

_CHUNK = 1 << 18
#: A stream that grows beyond this and by more than this factor is no log: a hundred kilobytes can be
#: made to expand for hours. Reading ends there.
_PLENTY, _STEEPEST = 4 << 30, 5000
#: What xz may take: xz -9 needs 65 MiB. (zstd's own limit is 128 MiB, what --long=27 needs.)
_MEMORY = 192 << 20


class CompressionError(DiagnoseError):
    """Compressed data that cannot be read; the message is the end of a sentence about the input."""


class _Decompressor(Protocol):
    """One member of a file, as `bz2`, `lzma` and `compression.zstd` read it."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Kind(NamedTuple):
    magic: bytes
    name: str
    #: Makes what makes decompressors.
    library: Callable[[], Callable[[], _Decompressor]]


def is_compressed(head: bytes) -> bool:
    """True for the first bytes of a file that `decompressed` decompresses."""
    return any(head.startswith(kind.magic) for kind in _KINDS)


def decompressed(stream: ByteStream) -> ByteStream:
    """The stream, decompressed where it is compressed; otherwise as it is.

    Reading from the result raises `CompressionError` where the data is damaged at its very beginning or
    zstandard cannot be read here.
    """
    head, stream = peek(stream, 6)
    for kind in _KINDS:
        if head.startswith(kind.magic):
            counted = _Counted(stream)
            return Chunks(_tolerant(_members(counted, kind), counted, kind.name))
    return stream


class _Counted:
    """A stream that knows how much was read from it."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int = _CHUNK, /) -> bytes:
        data = self._stream.read(size) or b""
        self.count += len(data)
        return data


def _tolerant(unpacked: Iterator[bytes], packed: _Counted, name: str) -> Iterator[bytes]:
    """The chunks up to the first damage or a bomb's steep rise."""
    made = 0
    try:
        for chunk in unpacked:
            made += len(chunk)
            yield chunk
            if made > _PLENTY and made > _STEEPEST * packed.count:
                return
    except CompressionError:
        raise
    except Exception as error:  # each library has errors of its own
        if not made:
            raise CompressionError(f"is no valid {name} file: {error}") from error


def _members(stream: _Counted, kind: _Kind) -> Iterator[bytes]:
    """The members of a file, one after another, as ``cat a.xz b.xz`` makes them."""
    new = kind.library()
    decompressor = new()
    data = b""
    made = False
    while True:
        if decompressor.eof:
            data = _next_member(decompressor.unused_data, stream, kind.magic)
            if not data:
                return
            decompressor = new()
        if not data and decompressor.needs_input and not (data := stream.read(_CHUNK)):
            if not made:
                raise CompressionError(
                    f"is no valid {kind.name} file: it breaks off before anything in it"
                )
            return
        if chunk := decompressor.decompress(data, _CHUNK):
            made = True
            yield chunk
        made = made or decompressor.eof
        data = b""


def _next_member(data: bytes, stream: _Counted, magic: bytes) -> bytes:
    """The beginning of the next member, behind zeros that pad; none where something else follows."""
    while not (data := data.lstrip(b"\0")):
        if not (data := stream.read(_CHUNK)):
            return b""
    if len(data) < len(magic):
        data += read_fully(stream, len(magic) - len(data))
    return data if data.startswith(magic) else b""


class _Gzip:
    """A member of a gzip file. Of one that is damaged, all that stands before the damage is given, as
    gzip(1) does; then comes the error."""

    def __init__(self) -> None:
        import zlib

        self._zlib = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        self._failure: zlib.error | None = None
        self._full = False

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    @property
    def needs_input(self) -> bool:
        return not (self._full or self._zlib.unconsumed_tail or self._failure)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        import zlib

        if self._failure is not None:
            raise self._failure
        data = self._zlib.unconsumed_tail + data
        before = self._zlib.copy()
        try:
            made = self._zlib.decompress(data, max(max_length, 0))
        except zlib.error as error:
            self._failure = error
            return _until_damage(before, data)
        self._full = len(made) == max_length
        return made


def _until_damage(state: Any, data: bytes) -> bytes:
    """What a decompressor makes of data before it fails on it."""
    import zlib

    made = b""
    try:
        for at in range(len(data)):
            made += state.decompress(data[at : at + 1])
    except zlib.error:
        pass
    return made


def _gzip() -> Callable[[], _Decompressor]:
    return _Gzip


def _bzip2() -> Callable[[], _Decompressor]:
    from bz2 import BZ2Decompressor

    return BZ2Decompressor


def _xz() -> Callable[[], _Decompressor]:
    from lzma import LZMADecompressor

    return lambda: LZMADecompressor(memlimit=_MEMORY)


def _zstandard() -> Callable[[], _Decompressor]:
    for library in ("compression.zstd", "backports.zstd"):  # Python 3.14's own, and the same before
        with contextlib.suppress(ImportError):
            new: Callable[[], _Decompressor] = import_module(library).ZstdDecompressor
            return new
    raise CompressionError(
        "is compressed with zstandard: pip install backports.zstd, or pipe it through zstd -dc"
    )


_KINDS = (
    _Kind(b"\x1f\x8b", "gzip", _gzip),
    _Kind(b"BZh", "bzip2", _bzip2),
    _Kind(b"\xfd7zXZ\0", "xz", _xz),
    _Kind(b"\x28\xb5\x2f\xfd", "zstandard", _zstandard),
)
