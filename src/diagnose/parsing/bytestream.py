"""Streams of bytes that can be looked into before they are read, and that are decoded on the way."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Protocol

_CHUNK = 1 << 18


class ByteStream(Protocol):
    """What is read here: files, standard input, decompressors."""

    def read(self, size: int, /) -> bytes | None:
        """Up to so many bytes; none at the end."""
        ...


def read_fully(stream: ByteStream, size: int) -> bytes:
    """So many bytes, fewer only where the stream ends. Never reads past an end that it has met: a
    terminal would ask for a second one."""
    data = stream.read(size) or b""
    if len(data) == size or not data:
        return data
    parts = [data]
    missing = size - len(data)
    while missing and (more := stream.read(missing)):
        parts.append(more)
        missing -= len(more)
    return b"".join(parts)


def peek(stream: ByteStream, size: int) -> tuple[bytes, ByteStream]:
    """The first bytes, and the stream as it was; fewer than ``size`` bytes are all there are."""
    head = read_fully(stream, size)
    return head, _Peeked(head, stream if len(head) == size else None)


class _Peeked:
    def __init__(self, head: bytes, rest: ByteStream | None) -> None:
        self._head = head
        self._at = 0
        self._rest = rest

    def read(self, size: int, /) -> bytes:
        if self._at < len(self._head):
            data = self._head[self._at : self._at + size]
            self._at += len(data)
            return data
        self._head = b""
        data = (self._rest.read(size) or b"") if self._rest is not None else b""
        if not data:
            self._rest = None
        return data


class Chunks:
    """A stream of what an iterator makes, as it is asked for; reading raises what the iterator raises."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._held = b""

    def read(self, size: int, /) -> bytes:
        """Up to so many bytes; none at the end."""
        while not self._held:
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._held = chunk
        data, self._held = self._held[:size], self._held[size:]
        return data


def chunks(stream: ByteStream, size: int = _CHUNK) -> Iterator[bytes]:
    """What is left of a stream, piece by piece."""
    while data := stream.read(size):
        yield data


def recoded(stream: ByteStream, encoding: str) -> ByteStream:
    """The stream in UTF-8; what cannot be decoded becomes U+FFFD."""

    def utf8() -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        for chunk in chunks(stream):
            yield decoder.decode(chunk).encode("utf-8", errors="replace")
        yield decoder.decode(b"", final=True).encode("utf-8", errors="replace")

    return Chunks(utf8())
