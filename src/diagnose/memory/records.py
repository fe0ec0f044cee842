"""What goes into a store and comes out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from diagnose.model import Status

#: What a token allows: to send and keep reports, to write down fixes, to change failures, to delete.
Scope = Literal["report", "remember", "triage", "admin"]


#: A failure that was never met before, or that a version has which was to hold its fix.
News = Literal["new", "regressed"]
#: Merged with ``other``; split, ``other`` made of it; a status set; a report deleted; a token issued or
#: revoked; the dullest reports deleted; failures imported.
What = Literal["merge", "split", "status", "delete", "issue", "revoke", "evict", "import"]
#: Where a list goes on: when the last one shown was met, and its id.
Place = tuple[int, str]


class FailureError(Exception):
    """A failure that is not there, or that cannot be merged or divided so; the message is a sentence."""


class Input(NamedTuple):
    """What was diagnosed, and who sent it: the text, its name, the files that came along, the replies to
    questions; ``job`` names all ranks of one run."""

    text: str
    source: str = "-"
    lang: str = "en"
    files: Mapping[str, str] = {}  # nobody changes it
    answers: Mapping[str, int] = {}
    host: str | None = None
    job: str | None = None
    ranks: Sequence[int] = ()


class Kept(NamedTuple):
    """A report that is kept: its id, its group, and False where its job had a report already; ``news`` is
    what people want to hear of."""

    id: str
    group: str
    new: bool
    news: News | None = None


class Stored(NamedTuple):
    """A report as it is stored: its input, redacted, what was taken out, by kind, and until when it is
    there (None: for good); ``group`` is None where it is not kept."""

    id: str
    input: Input
    received: int
    expires: int | None
    removed: Mapping[str, int]
    group: str | None


class Token(NamedTuple):
    """Who may do what, until when (None: until it is revoked)."""

    id: str
    name: str
    scopes: frozenset[Scope]
    created: int
    expires: int | None


class Group(NamedTuple):
    """A failure as lists and its page show it."""

    id: str
    facts: Mapping[str, Any]
    cause: str | None
    count: int  # type: ignore[assignment]  # nobody asks this for tuple.count
    first: int
    last: int
    status: Status
    fixed_in: str | None


class Change(NamedTuple):
    """What somebody has changed, when: ``subject`` is the id of a failure, a report or a token, ``other``
    of a second failure; ``details`` say more (the facts that agreed, a status, a token's name)."""

    id: str
    what: What
    subject: str
    other: str | None
    details: Mapping[str, Any]
    by: str
    at: int


class Imported(NamedTuple):
    """How many failures and fixes were new."""

    failures: int
    fixes: int


class Page(NamedTuple):
    """The details of a group: the latest reports, ranks, versions, reports by day, and who changed it."""

    reports: Sequence[tuple[str, int, str | None]]
    ranks: Sequence[int]
    versions: Mapping[str, Sequence[str]]
    days: Sequence[tuple[int, int]]
    changes: Sequence[Change]
    variants: Sequence[tuple[str, int, str]]
