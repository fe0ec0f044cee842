"""What calls of libraries do to devices, by the names of what is called (kb/effects.toml)."""

# Annotations are evaluated here: of strings `NamedTuple` would compile each, at every start.
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

#: Names of packages, any number of them, and a part of a name.
_PACKAGES, _PART = r"(?:.*\.)?", r"\w*"


class Effect(NamedTuple):
    """What a call does, by a word of `diagnose.placement.libraries.words`.

    ``of`` is the argument that it is about, ``to`` the device, or the argument that names one, ``gives``
    what comes of it, ``takes`` the parameters in their order, ``without`` those that are not handed on;
    ``fills`` tells that a module on meta may get its memory by it.
    """

    does: str
    of: str = ""
    to: str = ""
    gives: str = ""
    takes: Sequence[str] = ()
    without: Sequence[str] = ()
    fills: bool = False


class Effects:
    """Effects by the names of what is called; a name may be a pattern, of which the most exact comes first.

    Args:
        rows: the effects and the names that each holds for, as the case base keeps them.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]] = ()) -> None:
        self._rows = rows
        self._found: dict[tuple[str, str], Sequence[Effect]] = {}
        self._exact: dict[str, Effect] = {}
        self._by_last = defaultdict[str, list[tuple[str, Effect]]](list)
        self._others: list[tuple[str, Effect]] = []

    def of(self, name: str, within: str = "") -> Sequence[Effect]:
        """The effects of a callable, those of the most exact name first.

        Args:
            name: what is called.
            within: what a pattern for it has to begin with.
        """
        if not self._exact:
            self._index()
        key = (name, within)
        if key not in self._found:
            patterns = [*self._by_last.get(name.rpartition(".")[2], ()), *self._others]
            fitting = [
                (exactness(one), effect)
                for one, effect in patterns
                if one.startswith(within) and matches(one, name)
            ]
            fitting.sort(key=lambda row: row[0], reverse=True)
            exact = [self._exact[name]] if name in self._exact else []
            self._found[key] = (*exact, *(effect for _, effect in fitting))
        return self._found[key]

    def _index(self) -> None:
        for row in self._rows:
            effect = Effect(**{key: row[key] for key in Effect._fields if key in row})
            for name in row["names"]:
                last = name.rpartition(".")[2]
                if is_pattern(last):
                    self._others.append((name, effect))
                elif is_pattern(name):
                    self._by_last[last].append((name, effect))
                else:
                    self._exact[name] = effect


def is_pattern(name: str) -> bool:
    """Whether a name holds for several callables."""
    return "*" in name


def is_guess(name: str) -> bool:
    """Whether a name holds for callables of any package."""
    return name.startswith("*")


def exactness(pattern: str) -> tuple[int, int, int]:
    """How exact a pattern is: by what it begins with, then by what it ends with, then by all it says."""
    parts = re.split(r"\*|\[A-Z\]", pattern)
    return len(parts[0]), len(parts[-1]), len(pattern)


def matches(pattern: str, name: str) -> bool:
    """Whether a callable's name is one that a pattern stands for.

    A ``*`` that is a whole part stands for packages, none at all too, and at the end for all that is below;
    within a part it stands for letters, and at the beginning for packages as well. ``[A-Z]`` is a letter.
    """
    return _compiled(pattern).fullmatch(name) is not None


_COMPILED: dict[str, re.Pattern[str]] = {}


def _compiled(pattern: str) -> re.Pattern[str]:
    if pattern not in _COMPILED:
        body, below = (pattern[:-2], r"\..+") if pattern.endswith(".*") else (pattern, "")
        start = _PACKAGES if body.startswith("*") else ""
        parts = [_PART.join(map(_literal, one.split("*"))) for one in body.split(".*.")]
        told = rf"\.{_PACKAGES}".join(parts)
        if body.startswith("*."):
            told = told.removeprefix(_PART + r"\.")
        _COMPILED[pattern] = re.compile(start + told + below)
    return _COMPILED[pattern]


def _literal(text: str) -> str:
    return re.escape(text).replace(r"\[A\-Z\]", "[A-Z]")
