"""Equal failures put together. Groupings merge, so parts of a log store can be grouped apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from diagnose.scanning.log import Occurrence, ScannedLog

#: So many logs are named a group; the others are counted.
_MOST_LOGS = 20
_MOST_PROBLEMS = 1000


class Group:
    """Equal failures: the earliest of them, how many in how many logs, on which ranks.

    The earliest stands in the log that was last written to before the others; logs without a time
    (streams) come after those, by name.
    """

    __slots__ = ("count", "first", "logs", "names", "ranks")

    def __init__(
        self,
        first: Occurrence,
        count: int = 0,
        logs: int = 0,
        ranks: Iterable[int] = (),
        names: Iterable[str] = (),
    ) -> None:
        self.first = first
        self.count = count
        self.logs = logs
        self.ranks = set(ranks)
        self.names = list(names)

    @property
    def fingerprint(self) -> str:
        """The fingerprint that all share."""
        return self.first.fingerprint


class Grouping:
    """The failures of a set of logs by fingerprint, how many logs that were, which were unreadable, and
    what faults of diagnose have cost."""

    __slots__ = ("failed", "faults", "groups", "logs", "problems", "unread")

    def __init__(self) -> None:
        self.groups: dict[str, Group] = {}
        self.logs = 0
        self.failed = 0
        self.unread = 0
        self.problems: list[str] = []
        self.faults: list[str] = []

    def add(self, scanned: ScannedLog) -> None:
        """Counts one log in."""
        self.logs += 1
        self.failed += bool(scanned.occurrences)
        if scanned.problem is not None:
            self.unread += 1
            self.problems = [*self.problems, scanned.problem][:_MOST_PROBLEMS]
        self.faults = [*self.faults, *scanned.faults][:_MOST_PROBLEMS]
        for found in scanned.occurrences:
            self._join(Group(found, found.count, 1, set(found.ranks), [found.log]))

    def merge(self, other: Grouping) -> Grouping:
        """Takes another grouping's logs in, and gives back the whole."""
        self.logs += other.logs
        self.failed += other.failed
        self.unread += other.unread
        self.problems = [*self.problems, *other.problems][:_MOST_PROBLEMS]
        self.faults = [*self.faults, *other.faults][:_MOST_PROBLEMS]
        for group in other.groups.values():
            self._join(group)
        return self

    def ordered(self) -> list[Group]:
        """The groups: of most logs first, then of most occurrences, then by fingerprint."""
        return sorted(self.groups.values(), key=lambda g: (-g.logs, -g.count, g.fingerprint))

    def _join(self, group: Group) -> None:
        known = self.groups.get(group.fingerprint)
        if known is None:
            self.groups[group.fingerprint] = Group(
                group.first, group.count, group.logs, set(group.ranks), list(group.names)
            )
            return
        known.first = min(known.first, group.first, key=_age)
        known.count += group.count
        known.logs += group.logs
        known.ranks |= group.ranks
        known.names = sorted({*known.names, *group.names})[:_MOST_LOGS]


def _age(found: Occurrence) -> tuple[bool, str, str]:
    return found.modified is None, found.modified or "", found.log


def grouped(scanned: Iterable[ScannedLog]) -> Grouping:
    """A grouping of logs, one after another."""
    grouping = Grouping()
    for log in scanned:
        grouping.add(log)
    return grouping


def problems(grouping: Grouping) -> Iterator[str]:
    """The sentences about unreadable logs and about faults of ours, and how many more logs there were."""
    yield from grouping.problems
    if grouping.unread > len(grouping.problems):
        yield f"{grouping.unread - len(grouping.problems)} more logs could not be read"
    yield from grouping.faults
