"""What calls of libraries do to devices, by the names of what is called (kb/effects.toml)."""

# Annotations are evaluated here: of strings `NamedTuple` would compile each, at every start.
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

#: What stands for more than itself.
_OPEN = re.compile(r"\*|\[A-Z\]")


class Effect(NamedTuple):
    """What a call does, by a word of `diagnose.placement.libraries.effects`.

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
            patterns = (
                effect
                for first, last, pattern, effect in self._patterns
                if name.startswith(first) and name.endswith(last) and pattern.startswith(within)
                if _expression(pattern).fullmatch(name)
            )
            self._found[name, within] = (*self._written_out.get(name, ()), *patterns)
        return self._found[name, within]

    @cached_property
    def _written_out(self) -> Mapping[str, Sequence[Effect]]:
        found = defaultdict[str, list[Effect]](list)
        for name, effect in self._by_name:
            found[name].append(effect)
        return found

    @cached_property
    def _patterns(self) -> Sequence[tuple[str, str, str, Effect]]:
        """What each pattern begins and ends with, the pattern, and its effect: the most exact first."""
        found = [(*_ends(name), name, one) for name, one in self._by_name if _OPEN.search(name)]
        return sorted(found, key=lambda row: (len(row[0]), len(row[1]), len(row[2])), reverse=True)

    @cached_property
    def _by_name(self) -> Sequence[tuple[str, Effect]]:
        return [
            (name, Effect(**{key: row[key] for key in row if key != "names"}))
            for row in self._rows
            for name in row["names"]
        ]


def is_guess(name: str) -> bool:
    """Whether a name holds for callables of any package."""
    return name.startswith("*")


def _ends(pattern: str) -> tuple[str, str]:
    """What a pattern begins and ends with."""
    parts = _OPEN.split(pattern)
    return parts[0], parts[-1].lstrip(".")


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    """The regular expression that a pattern stands for.

    A ``*`` that is a whole part stands for packages, none at all too, and at the end for all that is below;
    within a part it stands for letters, and at the beginning for packages as well. ``[A-Z]`` is a letter.
    """
    body = re.escape(pattern.removeprefix("*.")).replace(r"\[A\-Z\]", "[A-Z]")
    body = re.sub(r"\\\.\\\*$", r"\..+", body).replace(r"\.\*\.", r"\.(?:.*\.)?")
    packages = r"(?:.*\.)?" if is_guess(pattern) else ""
    return re.compile(packages + body.replace(r"\*", r"\w*"))
