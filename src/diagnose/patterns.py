"""Regular expressions that are compiled when they are first used.

Reading all printed forms takes some two hundred patterns, an ordinary traceback a third of them; compiling
the others would be a tenth of the time that an answer takes.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Lazy:
    """A pattern's source; the first use of a method compiles it and keeps the compiled one's methods."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """Whatever `re.Pattern` has; found once, it stands in the instance's own dictionary."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, found)
        return found


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, which runs when a method or an attribute of the pattern is first asked for.

    ``match.re`` of a match is the compiled pattern, not the object that this returns.

    Raises:
        re.error: the pattern is wrong; raised at that first use.
    """
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, int(flags)))


#: Folders that packages are installed into.
INSTALLED_FOLDERS = frozenset({"site-packages", "dist-packages"})
_INSTALLED = lazy(
    r"(?:.*[\\/]|^)(?:site|dist)-packages[\\/]+(?:[^\\/]+\.egg[\\/])?(?=.)",
    re.IGNORECASE | re.DOTALL,
)


def in_package(path: str) -> str | None:
    """The path of an installed file from its package on (``torch/nn/functional.py``), None where a path of
    any system is of no installed package."""
    found = _INSTALLED.match(path)
    return path[found.end() :] if found else None


#: Files that torch_geometric writes for a layer, in the folder for temporary ones: nobody edits them.
GENERATED = lazy(r"(?:^|[\\/])[\w.]+_(?:propagate|edge_updater)_[a-z0-9_]{8}\.py$")

#: A string of Python, which may lack its end, or a comment.
_STRING_OR_COMMENT = lazy(
    r"(?P<prefix>\b[A-Za-z]{1,2})?"
    r"(?:(?P<three>\"{3}|'{3})(?P<long>(?:\\.|(?!(?P=three))[^\\])*)(?P<closed>(?P=three))?"
    r"|(?P<one>[\"'])(?P<short>(?:\\.|(?!(?P=one))[^\\\n])*)(?P<ended>(?P=one))?)"
    r"|(?<![ \t])[ \t]*#[^\n]*",
    re.DOTALL,
)
#: The text of a string that is a word of a program: a key, a device, the name of a file, the equation of an
#: einsum, whose axes have short names.
_WORD = lazy(r"[\w./:%+=~@,>-]*|(?:\w{1,2}\b|[ ,.()])*->(?:\w{1,2}\b|[ ,.()])*")
#: The parts of a formatted string that are code.
_FIELD = lazy(r"(\{[^{}\n]*\})")


def bare(code: str) -> str:
    """Source that was pasted, as an answer may quote it: without comments, which anybody may have written
    for whoever reads the answer, and without characters that nobody sees (control characters, marks that
    turn the direction of text). A string that lacks its end keeps what stands before a ``#``."""
    code = "".join(c for c in code if c.isprintable() or c in "\t\n")
    if "#" not in code:
        return code
    return _STRING_OR_COMMENT.sub(
        lambda it: it[0] if it["closed"] or it["ended"] else it[0].partition("#")[0].rstrip(), code
    )


def proposed(code: str) -> str:
    """Source that was pasted, as a proposal may repeat it: `bare`, and with ``…`` in place of the text of a
    string that is more than a word. It has as many lines as before."""
    return _STRING_OR_COMMENT.sub(_shortened, bare(code))


def _shortened(string: re.Match[str]) -> str:
    text, mark = string["long"] or string["short"] or "", string["three"] or string["one"] or ""
    parts = _FIELD.split(text) if "f" in (string["prefix"] or "").lower() else [text]
    words = [proposed(part) if row % 2 else _word(part) for row, part in enumerate(parts)]
    end = string["closed"] or string["ended"] or ""
    return f"{string['prefix'] or ''}{mark}{''.join(words)}{end}"


def _word(text: str) -> str:
    return text if _WORD.fullmatch(text) else "\n".join(line and "…" for line in text.split("\n"))
