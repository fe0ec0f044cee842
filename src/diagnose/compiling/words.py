"""kb/words.toml and kb/torch.toml: named lists of words, which the patterns of other files write as
``@name``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

#: How a pattern names a list.
NAME = re.compile(r"@([a-z]+(?:-[a-z]+)*)")

#: How the engine looks for the words of a list in a name (`diagnose.model.Words`).
_SOUGHT = {
    "constants": r"(?i)(^|_)@constants\d*(_|$)",
    "plain_attributes": r"^@plain-attributes$",
    "heads": r"(?i)(^|_)@heads\d*(_|$)",
    "first_layers": r"(?i)(^|_)@first-layers(_|$)",
    "second_models": r"(?i)(^|_)@second-models(_|$|\w*model|\w*net)",
    "tables": r"(?i)^@tables\b(?!\()",
    "labels": r"(?i)^@labels$",
    "loop_names": r"(?i)^@loop-names$",
    "no_tensors": r"(?i)(^|_)@no-tensors$",
    "results": r"(?i)^@results$",
    "options": r"(?i)(^|_)@options$",
    "lone_numbers": r"(?i)^@lone-numbers$",
    "files": r"(?i)^@files$",
    "denials": r"(?i)@denials",
    "attempts": r"(?i)@attempts",
    "advice": r"(?i)@advice",
    "advice_headings": r"(?i)@advice-headings",
    "cause_headings": r"(?i)@cause-headings",
    "fix_headings": r"(?i)@fix-headings",
    "reasons": r"(?i)@reasons",
    "fixed": r"(?i)@fixed",
    "without_cuda": r"(?i)(?<![A-Za-z])@without-cuda(?![A-Za-z])",
    "furniture": r"(?i)@furniture\b(?!-)",
    "furniture_headings": r"(?i)@furniture-headings",
    "homonyms": r"^@homonyms$",
    "software": r"(?i)[`'\"]?\s*@software(?![A-Za-z])",
    "platform": r"(?i)^@platform$",
}


class UnknownListError(ValueError):
    """A pattern names a list that is not there, or one that names itself."""


def patterns(document: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The lists of plain names that torch.toml holds, as patterns; nothing of what is no such list."""
    return {
        name: tuple(map(re.escape, held))
        for name, held in document.items()
        if isinstance(held, (list, tuple)) and held and all(isinstance(one, str) for one in held)
    }


def alternations(lists: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """For each list the pattern that it stands for: ``(?:one|other)``.

    Raises:
        UnknownListError: a list names one that is not there, or itself.
    """
    return {name: alternation(name, lists) for name in lists}


def alternation(name: str, lists: Mapping[str, Sequence[str]]) -> str:
    """The pattern that one list stands for. Raises `UnknownListError`, as `alternations`."""
    return _alternation(name, lists, ())


def expanded(pattern: str, words: Mapping[str, str]) -> str:
    """A pattern in which every ``@name`` is what the list of that name stands for.

    Args:
        pattern: as it stands in kb/.
        words: `alternations` of the lists.

    Raises:
        UnknownListError: there is no such list.
    """

    def found(match: re.Match[str]) -> str:
        if match[1] not in words:
            raise _unknown(match[1])
        return words[match[1]]

    return NAME.sub(found, pattern)


#: The lists that the engine needs.
NEEDED = tuple(dict.fromkeys(name for p in _SOUGHT.values() for name in NAME.findall(p)))


def sought(words: Mapping[str, str]) -> dict[str, str]:
    """The patterns that the engine itself looks for, by their names in `diagnose.model.Words`.

    Raises:
        UnknownListError: words.toml lacks a list that they need.
    """
    return {name: expanded(pattern, words) for name, pattern in _SOUGHT.items()}


def _unknown(name: str) -> UnknownListError:
    return UnknownListError(
        f"names the list @{name}, which neither words.toml nor torch.toml holds"
    )


def _alternation(name: str, lists: Mapping[str, Sequence[str]], within: tuple[str, ...]) -> str:
    if name not in lists:
        raise _unknown(name)
    if name in within:
        raise UnknownListError(f"the list @{name} names itself")

    def inner(match: re.Match[str]) -> str:
        return _alternation(match[1], lists, (*within, name))

    return "(?:" + "|".join(NAME.sub(inner, word) for word in lists[name]) + ")"
