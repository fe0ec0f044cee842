"""What makes two failures the same: one question, asked by groups of logs and by the store.

Frames count by file and function: line numbers move with every edit and release, folders with every
machine, device numbers with every rank. Frames of torch and of Python itself move with their releases, and
so does the wording of a device error, of which the kinds of devices remain.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from diagnose.model import Frame, Mismatch, Report
from diagnose.patterns import bare, in_package, lazy

#: Stored beside each key. It rises with every change that gives a failure another key.
KEY_VERSION = 1
_FRAMES = 3
_MESSAGE = 200
#: Of a line that a narrow terminal cuts off.
_LINE = 20
#: In the order in which they are replaced.
_MASKS = (
    (lazy(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "#"),
    (lazy(r"\b0x[0-9a-fA-F]+\b"), "#"),
    (lazy(r"(?:[A-Za-z]:)?(?:[\\/][\w.@~+-]+){2,}"), "/#"),
    (lazy(r"\d+"), "#"),
)
_DIGITS = lazy(r"\d+")
_TORCH = "torch"


class Key(NamedTuple):
    """The facts of a failure that stay from run to run.

    ``error`` is the exception's class, ``said`` the kinds of devices that met, or the message without what
    differs between runs; ``places`` are the user's own innermost frame and the innermost ones outside
    torch, ``line`` is the beginning of the statement where that is in no package: many a program has a
    ``forward`` in its ``train.py``. ``libraries``, the outermost and the innermost package, are shown but
    make no difference: whose a file in a checkout is, its folder says, which differs by machine.
    """

    error: str
    said: str
    places: tuple[str, ...]
    line: str
    libraries: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits, the same on every machine."""
        return _digest(self.error, self.said, *self.places, self.line)


def key(report: Report) -> Key:
    """The key of the failure of a report, which must have one."""
    assert report.error is not None
    frames = [frame for frame in report.frames if not _machinery(frame)] or list(report.frames)
    line = frames[-1].code if frames and frames[-1].library is None else None
    own = [frame for frame in frames[:-_FRAMES] if frame.own][-1:]
    own = [] if any(frame.own for frame in frames[-_FRAMES:]) else own
    packages = [name for name in report.libraries if name != _TORCH]
    # A message that was pasted alone has nothing but its words, nor has one that there is no GPU.
    met = report.mismatch if frames and report.mismatch else None
    met = None if met is not None and "no-gpu" in met.says else met
    return Key(
        report.error.type.rsplit(".", 1)[-1],
        _said(met) if met is not None else masked(report.error.message),
        tuple(map(_place, [*own, *frames[-_FRAMES:]])),
        _without_numbers("".join(bare(line or "").split())[:_LINE]),
        tuple(dict.fromkeys((packages[0], packages[-1]))) if packages else (),
    )


#: The functions that made keys of reports in stores, by their version. A store upgraded from an older one
#: knows a failure by the older key, and adds the newer beside it.
KEYS: Mapping[int, Callable[[Report], Key]] = {KEY_VERSION: key}


def exact(report: Report, found: Key) -> str:
    """A narrower digest, by which people divide what a key takes for one failure: its message too."""
    assert report.error is not None
    return _digest("exact", found.digest, masked(report.error.message), *found.libraries)


def digests(report: Report) -> Iterator[tuple[str, int]]:
    """What a failure is looked up by, with the version of each, in this order."""
    for version in sorted(KEYS, reverse=True):
        found = KEYS[version](report)
        yield exact(report, found), version
        yield found.digest, version


def agreeing(one: Key, other: Key) -> tuple[str, ...]:
    """The names of the facts that two keys share, of those that say anything."""
    return tuple(
        name
        for name, a, b in zip(Key._fields, one, other, strict=True)
        if a == b and a  # nothing agrees with nothing
    )


def masked(message: str) -> str:
    """The first line of a message without what differs between two runs of one program: a log's next
    lines may look like more of the message."""
    text = " ".join(message.strip()[: 4 * _MESSAGE].split("\n")[0].split())[:_MESSAGE]
    return _without_numbers(text)


def _without_numbers(text: str) -> str:
    for pattern, put in _MASKS:
        text = pattern.sub(put, text)
    return text


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:12]


def _machinery(frame: Frame) -> bool:
    return frame.stdlib or frame.library == _TORCH or frame.file.startswith("<frozen ")


def _said(mismatch: Mismatch) -> str:
    return " ".join(sorted({device.split(":")[0].lower() for device in mismatch.devices}))


def _place(frame: Frame) -> str:
    path = (in_package(frame.file) or frame.file.rpartition("/")[2]).replace("\\", "/")
    name = path if frame.library else path.rpartition("/")[2]
    return f"{_DIGITS.sub('#', name)}:{(frame.function or '').rsplit('.', 1)[-1]}"
