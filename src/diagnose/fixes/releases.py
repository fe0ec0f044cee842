"""Documented bugs of the libraries that a failure went through: what an upgrade mends, where it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from diagnose.casebase.index import StoredIncidents
from diagnose.model import Incident, IncidentMatch, KnownBug, Release, Report
from diagnose.sources.installed import version as installed

#: An incident that is less alike than this tells nothing about this failure's library.
_NEAR = 0.7


def known_bugs(
    matches: Sequence[IncidentMatch], report: Report, incidents: Mapping[str, Incident]
) -> tuple[KnownBug, ...]:
    """The bugs that near incidents document of libraries in the report's frames, nearest first.

    Of a library whose version is known to be another, nothing is said.

    Args:
        matches: the incidents of a cause, nearest first.
        report: what failed.
        incidents: of the case base.

    Raises:
        CasebaseError: the incidents stand in a database that cannot be read.
    """
    near = [match.id for match in matches if match.similarity >= _NEAR]
    if not near or not report.libraries:
        return ()
    if isinstance(incidents, StoredIncidents):
        releases = incidents.releases(near)
    else:
        releases = {key: incidents[key].releases for key in near}
    found: dict[tuple[str, str], KnownBug] = {}
    for key in near:
        for bug in _at_hand(key, releases.get(key, ()), report):
            found.setdefault((bug.library, bug.bad), bug)
    return tuple(found.values())


def _at_hand(key: str, releases: Sequence[Release], report: Report) -> Iterator[KnownBug]:
    """The releases of an incident that may be the ones at hand."""
    for release in releases:
        if release.library not in report.libraries:
            continue
        bug = KnownBug(release.library, None, *release[1:], key)
        stated = _stated(release.library, report)
        has = [_has(one, release.bad) for one in stated]
        if stated and all(has):
            yield bug._replace(version=stated[-1])
        elif not stated or True in has:  # of several versions nobody knows which one ran
            yield bug


def _stated(library: str, report: Report) -> list[str]:
    """The versions of a library that the log states; of the live process the one that is installed."""
    here = installed(library) if report.live else None
    told = [here] if here else [text for name, text in report.versions if name == library]
    if not told:
        return []
    from diagnose.versions import version  # most answers compare none

    return [text for text in told if version(text) is not None]


def _has(text: str, bad: str) -> bool:
    from diagnose.versions import version, version_set

    one, some = version(text), version_set(bad)
    return one is not None and some is not None and some.holds(one)
