"""Streams of bytes that can be looked into before they are read, and that others decode on the way."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import Any, Protocol

_CHUNK = 1 << 18


class ByteStream(Protocol):
    """What is read here: files, standard input, decompressors. Everything goes through one buffer."""

    def readinto(self, buffer: Any, /) -> int | None:
        """Fills the buffer from its beginning and tells how far; 0 at the end."""
        ...


def fill(stream: ByteStream, buffer: memoryview) -> int:
    """Reads until the buffer is full or the stream has ended; how far it got. Never reads past an end:
    a terminal would ask for a second one."""
    filled = 0
    while filled < len(buffer):
        count = stream.readinto(buffer[filled:])
        if not count:
            break
        filled += count
    return filled


def peek(stream: ByteStream, size: int) -> tuple[bytes, ByteStream]:
    """The first bytes, and the stream as it was; fewer than ``size`` bytes are all there are."""
    head = bytearray(size)
    filled = fill(stream, memoryview(head))
    del head[filled:]
    return bytes(head), _Peeked(bytes(head), stream if filled == size else None)


class _Peeked(io.RawIOBase):
    def __init__(self, head: bytes, rest: ByteStream | None) -> None:
        self._head = memoryview(head)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if len(self._head):
            count = min(len(buffer), len(self._head))
            buffer[:count] = self._head[:count]
            self._head = self._head[count:]
            return count
        if self._rest is None:
            return 0
        count = self._rest.readinto(buffer) or 0
        if not count:
            self._rest = None
        return count


class Chunks(io.RawIOBase):
    """A stream of what an iterator makes, as it is asked for."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._held = memoryview(b"")

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """As of any stream; raises what the iterator raises."""
        while not len(self._held):
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._held = memoryview(chunk)
        count = min(len(buffer), len(self._held))
        buffer[:count] = self._held[:count]
        self._held = self._held[count:]
        return count


def chunks(stream: ByteStream, size: int = _CHUNK) -> Iterator[bytes]:
    """What is left of a stream, piece by piece."""
    buffer = bytearray(size)
    view = memoryview(buffer)
    while count := stream.readinto(view):
        yield bytes(view[:count])


def recoded(stream: ByteStream, encoding: str) -> ByteStream:
    """The stream in UTF-8; what cannot be decoded becomes U+FFFD."""

    def utf8() -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        for chunk in chunks(stream):
            yield decoder.decode(chunk).encode("utf-8", errors="replace")
        yield decoder.decode(b"", final=True).encode("utf-8", errors="replace")

    return Chunks(utf8())
