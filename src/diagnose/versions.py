"""Versions of distributions, and sets of them: as much of PEP 440 as bugs of libraries need.

Here rather than from `packaging`, which an answer would have to import.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_VERSION = (
    r"v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>alpha|beta|preview|pre|rc|[abc])[-_.]?(?P<pre_n>\d*))?"
    r"(?P<post>-(?P<post_n>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_m>\d*))?"
    r"(?P<dev>[-_.]?dev[-_.]?(?P<dev_n>\d*))?"
    r"(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?"
)
_CLAUSE = r"(?P<operator>~=|==|!=|<=|>=|<|>)\s*(?P<version>[^\s,*]+?)(?P<any>\.\*)?"
_PRE = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}
#: Before every pre-release of its release, and behind them all.
_FIRST, _LAST = (-1, 0), (3, 0)
#: Longer texts are no versions of anything.
_LONGEST = 100


class Version(NamedTuple):
    """A version in its order; what was built locally (``+cu118``) makes no difference.

    ``pre`` is the kind and number of a pre-release, ``post`` the number of a later one (-1: none),
    ``dev`` that of a development release.
    """

    epoch: int
    release: tuple[int, ...]
    pre: tuple[int, int]
    post: int
    dev: float

    @property
    def preliminary(self) -> bool:
        """Whether it comes before its release."""
        return self.pre != _LAST or self.dev != float("inf")

    def base(self) -> tuple[int, tuple[int, ...]]:
        """What it is a pre-release or a later one of."""
        return self.epoch, self.release


def version(text: str) -> Version | None:
    """A version as PEP 440 writes it (``4.41.0.dev0``, ``2.6.0+cu124``); None of anything else."""
    found = _matched(text.strip())
    if found is None:
        return None
    numbers = [int(number) for number in found["release"].split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    post = int(found["post_n"] or found["post_m"] or 0) if found["post"] else -1
    dev = int(found["dev_n"] or 0) if found["dev"] else float("inf")
    pre = (_PRE[found["pre"].lower()], int(found["pre_n"] or 0)) if found["pre"] else _LAST
    if not found["pre"] and post < 0 and found["dev"]:
        pre = _FIRST
    return Version(int(found["epoch"] or 0), tuple(numbers), pre, post, dev)


def _matched(text: str) -> re.Match[str] | None:
    """Compiled when it is first asked for: most answers compare no versions."""
    return re.fullmatch(_VERSION, text, re.IGNORECASE) if len(text) <= _LONGEST else None


class _Clause(NamedTuple):
    """One condition of a set: ``>=0.6.0``, ``==2.3.*``."""

    operator: str
    bound: Version
    #: The first numbers that are asked for, of ``==2.3.*`` and ``~=2.3.1``.
    prefix: tuple[int, ...]

    def holds(self, one: Version) -> bool:
        """Whether a version is among those that the condition names."""
        if self.operator in ("==", "!="):
            same = self._begins(one) if self.prefix else one == self.bound
            return same == (self.operator == "==")
        if self.operator == "<":
            early = one.preliminary and not self.bound.preliminary
            # What comes before a post-release is no pre-release of it, but its own.
            own = self.bound.post < 0 or (one.pre, one.post) == (self.bound.pre, self.bound.post)
            return one < self.bound and not (early and own and one.base() == self.bound.base())
        if self.operator == ">":
            late = one.post >= 0 > self.bound.post and one.pre == self.bound.pre
            return one > self.bound and not (late and one.base() == self.bound.base())
        if self.operator == "<=":
            return one <= self.bound
        return one >= self.bound and (self.operator == ">=" or self._begins(one))

    def _begins(self, one: Version) -> bool:
        numbers = one.release + (0,) * len(self.prefix)
        return one.epoch == self.bound.epoch and numbers[: len(self.prefix)] == self.prefix


class VersionSet(NamedTuple):
    """The versions for which all of some conditions hold."""

    clauses: tuple[_Clause, ...]

    def holds(self, one: Version) -> bool:
        """Whether a version is in it; pre-releases are as good as others."""
        return all(clause.holds(one) for clause in self.clauses)


def version_set(text: str) -> VersionSet | None:
    """A set as PEP 440 writes it (``>=0.6.0,<0.7.1``); None of anything else, and of an empty one."""
    clauses = [_clause(part.strip()) for part in text.split(",")]
    known = tuple(clause for clause in clauses if clause is not None)
    return VersionSet(known) if len(known) == len(clauses) else None


def _clause(text: str) -> _Clause | None:
    found = re.fullmatch(_CLAUSE, text)
    bound = version(found["version"]) if found else None
    if found is None or bound is None:
        return None
    operator = found["operator"]
    if found["any"]:
        plain = not bound.preliminary and bound.post < 0 and "+" not in found["version"]
        prefix = _numbers(found["version"])
        return _Clause(operator, bound, prefix) if plain and operator in ("==", "!=") else None
    if operator == "~=":
        prefix = _numbers(found["version"])[:-1]
        return _Clause(operator, bound, prefix) if prefix else None
    return _Clause(operator, bound, ())


def _numbers(text: str) -> tuple[int, ...]:
    """The numbers of a version's release as they are written, zeros at its end included."""
    found = _matched(text)
    return tuple(map(int, found["release"].split("."))) if found else ()
