"""What a store remembers of a failure that came before."""

# Annotations are evaluated here: of strings `NamedTuple` would compile each, at every start.
from typing import Literal, NamedTuple

#: What came of a fix when somebody tried it.
Outcome = Literal["worked", "changed", "failed"]
#: ``regressed``: seen again in a version that holds the fix.
Status = Literal["open", "known", "fixed", "regressed"]


class KnownFix(NamedTuple):
    """What fixed a failure, in somebody's words, and how often it worked as written, worked changed, and
    failed; ``at`` in seconds since 1970."""

    text: str
    by: str
    at: int
    commit: str | None = None
    link: str | None = None
    cause: str | None = None
    worked: int = 0
    changed: int = 0
    failed: int = 0


class Seen(NamedTuple):
    """Earlier reports of the same failure: how many in which group, the first and the last in seconds since
    1970, on which hosts, and the fixes, the one that worked most often first."""

    group: str
    count: int  # type: ignore[assignment]  # nobody asks this for tuple.count
    first: int
    last: int
    hosts: tuple[str, ...] = ()
    fixes: tuple[KnownFix, ...] = ()
    status: Status = "open"
    fixed_in: str | None = None
