"""What calls of libraries do to devices, by the names of what is called (kb/effects.toml)."""

# Annotations are evaluated here: of strings `NamedTuple` would compile each, at every start.
import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

#: What stands for more than itself.
_OPEN = re.compile(r"\*|\[A-Z\]")


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

    def of(self, name: str, within: str = "") -> Sequence[Effect]:
        """The effects of a callable, those of the most exact name first.

        Args:
            name: what is called.
            within: what a pattern for it has to begin with.
        """
        if (name, within) not in self._found:
            self._found[name, within] = tuple(
                effect
                for pattern, effect in self._by_exactness
                if pattern == name or (pattern.startswith(within) and _matches(pattern, name))
            )
        return self._found[name, within]

    @cached_property
    def _by_exactness(self) -> Sequence[tuple[str, Effect]]:
        found = [
            (name, Effect(**{key: row[key] for key in row if key != "names"}))
            for row in self._rows
            for name in row["names"]
        ]
        return sorted(found, key=lambda row: _exactness(row[0]), reverse=True)


def is_guess(name: str) -> bool:
    """Whether a name holds for callables of any package."""
    return name.startswith("*")


def _exactness(pattern: str) -> tuple[bool, int, int, int]:
    """How exact a name is: no pattern, else by what it begins with, what it ends with, and all it says."""
    parts = _OPEN.split(pattern)
    return len(parts) == 1, len(parts[0]), len(parts[-1]), len(pattern)


@cache
def _literals(pattern: str) -> tuple[str, str, re.Pattern[str]]:
    """What a pattern begins and ends with, and the regular expression that it stands for.

    A ``*`` that is a whole part stands for packages, none at all too, and at the end for all that is below;
    within a part it stands for letters, and at the beginning for packages as well. ``[A-Z]`` is a letter.
    """
    parts = _OPEN.split(pattern)
    body = re.escape(pattern.removeprefix("*.")).replace(r"\[A\-Z\]", "[A-Z]")
    body = re.sub(r"\\\.\\\*$", r"\..+", body).replace(r"\.\*\.", r"\.(?:.*\.)?")
    packages = r"(?:.*\.)?" if is_guess(pattern) else ""
    return parts[0], parts[-1].lstrip("."), re.compile(packages + body.replace(r"\*", r"\w*"))


def _matches(pattern: str, name: str) -> bool:
    """Whether a callable's name is one that a pattern stands for."""
    first, last, whole = _literals(pattern)
    return name.startswith(first) and name.endswith(last) and whole.fullmatch(name) is not None
