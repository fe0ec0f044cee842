"""Versions of libraries that a log states: lists of packages, reports of environments, greetings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from diagnose.parsing.lines import Peeled
from diagnose.patterns import in_package

_LONGEST = 300
_VERSION = r"v?(?P<{}>\d+\.\d[\w.+!]*)"
#: Names are followed by it where a sentence about another version would not be: `x==1.2`, `x version: 1.2`.
_STATED = (
    r"[`\"'*\])]*(?:\.__version__| version)?(?: \([^()\n]{0,9}\))?"
    r"[`*]*[ \t]*(?:==|[=:])[ \t]*[\"']?"
)


def stated(
    lines: Iterable[Peeled], names: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, str]]:
    """The libraries whose version the lines state, with each version that is stated, as printed.

    Args:
        lines: of the log.
        names: what is looked for: import name -> what logs call it.
    """
    hints = {_first(name) for called in names.values() for name in called}
    text = "\n".join(_speaking(lines, hints)) if hints else ""
    for library, called in names.items():
        found = (match[match.lastgroup or 0] for match in _pattern(called).finditer(text))
        yield from ((library, version.rstrip(".")) for version in dict.fromkeys(found))


def _first(name: str) -> str:
    """The first word of a name, which all its spellings hold."""
    return re.split(r"[-_. ]", name.lower(), maxsplit=1)[0]


def _speaking(lines: Iterable[Peeled], hints: Iterable[str]) -> Iterator[str]:
    """The few lines that may state a version: those of frames hold the name, too."""
    for line in lines:
        text = line.text[:_LONGEST]
        lowered = text.lower()
        named = any(hint in lowered for hint in hints) and in_package(lowered) is None
        if named or lowered.startswith("version:"):
            yield text


@lru_cache(maxsize=64)
def _pattern(called: tuple[str, ...]) -> re.Pattern[str]:
    """What states the version of a library that is called so."""
    words = [re.sub(r"[-_.]", "[-_.]", re.escape(name.replace("-", "_"))) for name in called]
    one = rf"(?:{'|'.join(words)})"
    whole = "|".join(word for word, name in zip(words, called, strict=True) if " " in name)
    begins = r"^\W{0,20}(?:\[\w+\][ \t]*)?"
    forms = [
        # A name and a sign, anywhere but where another package asks for it.
        rf"(?<![\w./@-])(?<!requires ){one}{_STATED}{_VERSION.format('sign')}",
        # The rows of a table, and greetings: nothing but the name before it, and then the line is over.
        rf"{begins}{one}[ \t]+{_VERSION.format('row')}(?=[ \t]*$|:|[ \t]{{2,}}|[ \t]+(?:py|/))",
        rf"^Name: {one}[ \t]*\nVersion: {_VERSION.format('shown')}",
        rf"^Successfully installed (?:.* )?{one}-{_VERSION.format('installed')}(?= |$)",
    ]
    if whole:  # a phrase that nothing else is called by
        forms.append(rf"(?:{whole})(?: version)? \(?{_VERSION.format('phrase')}")
    return re.compile("|".join(forms), re.IGNORECASE | re.MULTILINE)
