"""gzip, bzip2, xz and zstandard, told by their first bytes and read as a stream.

A file that breaks off is read as far as it goes: the job that wrote it has died, which is why it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Protocol, cast

from diagnose.errors import DiagnoseError
from diagnose.parsing.bytestream import ByteStream, Chunks, chunks, peek

_CHUNK = 1 << 18
#: A stream that grows beyond this and by more than this factor is no log: a hundred kilobytes can be
#: made to expand for hours. Reading ends there.
_PLENTY, _STEEPEST = 4 << 30, 5000
#: What a decompressor may take: xz -9 needs 65 MiB, zstd --long=27 128 MiB.
_MEMORY = 192 << 20


class CompressionError(DiagnoseError):
    """Compressed data that cannot be read; the message is the end of a sentence about the input."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def decompressed(stream: ByteStream) -> ByteStream:
    """The stream, decompressed where it is compressed; otherwise as it is.

    Reading from the result raises `CompressionError` where the data is damaged at its very beginning or
    zstandard is not installed.
    """
    head, stream = peek(stream, 6)
    for magic, name, unpack in _KINDS:
        if head.startswith(magic):
            counted = _Counted(stream)
            return Chunks(_tolerant(unpack(counted), counted, name))
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
        if not made and not isinstance(error, EOFError):
            raise CompressionError(f"is no valid {name} file: {error}") from error


def _gzip(stream: _Counted) -> Iterator[bytes]:
    import gzip

    return chunks(gzip.GzipFile(fileobj=cast(IO[bytes], stream), mode="rb"))


def _bzip2(stream: _Counted) -> Iterator[bytes]:
    import bz2

    return _members(stream, bz2.BZ2Decompressor)


def _xz(stream: _Counted) -> Iterator[bytes]:
    import lzma

    return _members(stream, lambda: lzma.LZMADecompressor(memlimit=_MEMORY))


def _zstandard(stream: _Counted) -> Iterator[bytes]:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]

        return _members(stream, zstd.ZstdDecompressor)
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError as error:
        raise CompressionError(
            "is compressed with zstandard: pip install zstandard, or pipe it through zstd -dc"
        ) from error
    decompressor = zstandard.ZstdDecompressor(max_window_size=_MEMORY)
    return chunks(decompressor.stream_reader(cast(IO[bytes], stream), read_across_frames=True))


def _members(stream: _Counted, new: Callable[[], _Decompressor]) -> Iterator[bytes]:
    """The members of a file, one after another, as ``cat a.xz b.xz`` makes them."""
    decompressor = new()
    data = b""
    while True:
        if decompressor.eof:
            data = decompressor.unused_data.lstrip(b"\0")  # xz pads with zeros
            decompressor = new()
        if not data and decompressor.needs_input and not (data := stream.read(_CHUNK)):
            return
        if chunk := decompressor.decompress(data, _CHUNK):
            yield chunk
        data = b""


_KINDS: tuple[tuple[bytes, str, Callable[[_Counted], Iterator[bytes]]], ...] = (
    (b"\x1f\x8b", "gzip", _gzip),
    (b"BZh", "bzip2", _bzip2),
    (b"\xfd7zXZ\0", "xz", _xz),
    (b"\x28\xb5\x2f\xfd", "zstandard", _zstandard),
)
