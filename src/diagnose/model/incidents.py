"""What the case base holds of an incident that somebody documented."""

# Annotations are evaluated here: of strings `NamedTuple` would compile each, at every start.
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Source(NamedTuple):
    """Where a fact about an incident can be checked: address and what it supports."""

    url: str
    supports: str


class Recording(NamedTuple):
    """What a program's recorded traceback is recognised by; frames as ``path/file.py function``."""

    frames: tuple[str, ...]
    message: str
    libraries: tuple[str, ...]


class Release(NamedTuple):
    """The releases of a library that have the bug of an incident: a set as PEP 440 writes it, the first one
    without it, and the address of the change."""

    library: str
    bad: str
    fixed: str | None = None
    change: str | None = None


class Incident(NamedTuple):
    """A documented incident in one language: what people saw, what it was, what fixed it; ``inferred``
    is what no source shows, each as "field: how it was inferred", in English."""

    id: str
    title: str
    cause: str
    saw: str
    was: str
    mended: str
    url: str
    sources: tuple[Source, ...]
    libraries: tuple[str, ...]
    exception: str | None
    message: str
    devices: tuple[str, ...]
    op: str | None
    argument: str | None
    frames: tuple[str, ...]
    fixes: tuple[str, ...]
    versions: Mapping[str, str] = _NOTHING
    gpus: int = 1
    reproduce: str = ""
    recorded: Recording | None = None
    releases: tuple[Release, ...] = ()
    inferred: tuple[str, ...] = ()
