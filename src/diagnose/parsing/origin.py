"""Where a frame's file belongs: a third-party package, Python's own library, or the user's code."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from typing import Literal

from diagnose.model import Frame, Library, Words
from diagnose.naming.descriptions import stem
from diagnose.patterns import GENERATED, in_package, lazy

_STDLIB = lazy(
    r"(?:^|/)(?:lib(?:64|32)?|Lib)/(?:python|pypy)?\d?(?:\.\d+)?t?/?(?P<rest>[\w.]+(?:/.*)?)$"
)
_PYTHON_DIR = lazy(
    r"(?:^|/)(?:lib(?:64|32)?/(?:python|pypy)3(?:\.\d+)?t?|[Pp]ython3?\.?\d*/[Ll]ib)/"
)
_WINDOWS_STDLIB = lazy(
    r"(?:^|/)(?:python[\d.]*|anaconda3?|miniconda3?|envs/[^/]+)/lib/\w+", re.IGNORECASE
)
#: Code that a model's repository brings along; transformers runs it from its cache.
_SEPARATORS = lazy(r"[-_. ]")
_REMOTE_CODE = "transformers_modules"


class Origins:
    """Answers for one set of known libraries; remembers paths it has seen."""

    def __init__(self, libraries: Sequence[Library]) -> None:
        self._names = {library.name.lower(): library.name for library in libraries}
        self._marks: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for library in libraries:
            for mark in library.marks:
                parts = tuple(mark.strip("/").lower().split("/"))
                self._marks.setdefault(parts[0], []).append((parts, library.name))
        self._look = lru_cache(maxsize=4096)(self._find)

    def place(self, frame: Frame) -> Frame:
        """The frame with ``library`` and ``stdlib`` set."""
        library, stdlib = self._look(frame.file)
        return frame._replace(library=library, stdlib=stdlib)

    def _find(self, file: str) -> tuple[str | None, bool]:
        path = file.replace("\\", "/")
        if path.startswith("<frozen "):
            return None, True
        if path.startswith("<"):
            return None, False
        if installed := in_package(path):
            return _import_name(installed), False
        if _REMOTE_CODE in path:
            return None, False
        if GENERATED.search(path):
            return "torch_geometric", False
        if _PYTHON_DIR.search(path) or (_WINDOWS_STDLIB.search(path) and ":" in path[:3]):
            return None, True
        return self._checkout(path), False

    def _checkout(self, path: str) -> str | None:
        """The library whose source tree holds the file: by its marks, or because the package's folder
        stands in src/ or in a folder of its own name (unsloth/unsloth, peft-fork/peft)."""
        parts = [part.lower() for part in path.split("/") if part not in ("", ".", "~")]
        for index, part in enumerate(parts):
            for mark, name in self._marks.get(part, ()):
                if tuple(parts[index : index + len(mark)]) == mark:
                    return name
            if 0 < index < len(parts) - 1 and part in self._names:
                parent = parts[index - 1]
                if parent == "src" or _SEPARATORS.sub("", parent).startswith(
                    _SEPARATORS.sub("", part)
                ):
                    return self._names[part]
        return None


def libraries_of(frames: Iterable[Frame]) -> tuple[str, ...]:
    """Import names of the third-party packages in the frames, outermost first, each once."""
    return tuple(dict.fromkeys(frame.library for frame in frames if frame.library))


def _import_name(rest: str) -> str:
    """The name that is imported: the folder's, or the single module's without what follows it."""
    first, _, inside = rest.partition("/")
    return first if inside else first.split(".")[0]


#: Names are compared without what separates their words: Stable-Baselines3, stable_baselines3.
_TOKEN = lazy(r"(?<![\w./@-])[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*(?![\w@])", re.ASCII)
#: A name of two words: Segment Anything.
_TWO = lazy(r"(?<![\w./@-])[A-Z]\w+ [A-Z]\w+(?![\w@])", re.ASCII)
#: What stands before a name or after it where it is no word of English: an import, a version, a command.
_BEFORE = lazy(
    r"(?:\b(?:import|from|pip3? install|install|upgrade|package)|[`'\"/])\s*$", re.IGNORECASE
)
_AFTER = lazy(r"[`'\"]|\s*(?:==|>=|<=|[=:]?\s*v?\d+\.\d)|\.[a-z_]+|\s+launch")
_ADDRESS = lazy(
    r"git(?:hub|lab|ee)\.com/[\w.-]{1,39}/([\w.-]{2,60}?)(?:\.git)?(?=[/\s#?)\]>'\"`,;:]|$)"
)
_IMPORT = lazy(
    r"(?:^\s*(?:>>> )?(?:from|import)|\bpip3? install(?: -\S+)*) ([a-z_][\w-]+)", re.MULTILINE
)
_HAN = lazy(r"[\u3400-\u9fff]")
_PREVIEW = 20
#: A name that is no word of English or Chinese.
_PROPER = lazy(r"(?=.*[A-Z])(?=.*[a-z])(?=.+[A-Z\d-])[A-Za-z][\w-]{2,}", re.ASCII)
#: Kinds of libraries that run models themselves: who names one says nothing of transformers by a model.
_RUNNING = frozenset({"serving", "sharding", "diffusion"})
#: A title in Chinese that begins with the name of its subject, at most a line of the site above it.
_TITLE = lazy(
    r"(?:.*\n)??\W*(?:\[[^\]]*\]\W*)?((?=[\w-]*[a-z])[A-Z](?=[\w-]*[A-Z\d-])[\w-]{2,39})\s*[\u3400-\u9fff]",
    re.ASCII,
)
_OF_AN_API = r"(?<![\w@-])(?:{})(?![\w@])"


def named(
    text: str, libraries: Sequence[Library], words: Words, usual: Container[str] = ()
) -> tuple[str, ...]:
    """Import names of the third-party packages that a text names, or names of whose API it has, in its
    order; of a repository whose address it gives, the repository's name.

    Args:
        text: what somebody wrote.
        libraries: those that are known.
        words: names that are English words too, and what belongs to Python or torch itself.
        usual: words that people use, which are no names of a project that nobody knows.
    """
    known = _import_names(tuple(libraries))
    found, apis = _by_apis(text, tuple(libraries))
    for match in (*_TWO.finditer(text), *_TOKEN.finditer(text)):
        if match.start() in apis:
            continue
        name = known.get(_squashed(match[0])) or known.get(_squashed(match[0].partition(".")[0]))
        if name is None and words.software.match(text, match.end()):
            proper = _PROPER.fullmatch(match[0]) or _is_new(match[0], usual)
            name = match[0] if proper else None
        if name and (not words.homonyms.search(name) or _is_name(match, text, words)):
            found.setdefault(name, match.start())
    for match in (*_ADDRESS.finditer(text), *_IMPORT.finditer(text)):
        found.setdefault(known.get(_squashed(match[1]), match[1]), match.start())
    title = _TITLE.match(text)
    if title and title.start(1) not in apis and _is_new(title[1], usual):
        found.setdefault(known.get(_squashed(title[1]), title[1]), title.start(1))
    kinds = {one.kind for one in libraries if one.name in found}
    for pattern, library in _apis(tuple(libraries), "models"):
        if kinds.isdisjoint(_RUNNING) and (told := pattern.search(text)):
            found.setdefault(library, told.start())
    ordered = sorted(found, key=lambda name: found[name])
    return tuple(name for name in ordered if not words.platform.search(name))


@lru_cache(maxsize=2)
def _import_names(libraries: tuple[Library, ...]) -> dict[str, str]:
    """The import names, by themselves and by what pip calls them."""
    return {
        _squashed(name): one.name
        for one in libraries
        for name in (one.name, one.distribution or "")
    }


def _by_apis(text: str, libraries: tuple[Library, ...]) -> tuple[dict[str, int], dict[int, int]]:
    """The libraries of whose API a text has names, each with its place, and the places that such names
    cover: of several the longest, since NeMo Automodel is not NeMo."""
    found: dict[str, int] = {}
    covered: dict[int, int] = {}
    spans = [
        (match.end() - match.start(), match.start(), library)
        for pattern, library in _apis(libraries)
        for match in pattern.finditer(text)
    ]
    for length, start, library in sorted(spans, reverse=True):
        if covered.get(start, 0) <= length:
            found[library] = min(start, found.get(library, start))
            covered |= dict.fromkeys(range(start, start + length), length)
    return found, covered


@lru_cache(maxsize=4)
def _apis(
    libraries: tuple[Library, ...], of: Literal["apis", "models"] = "apis"
) -> list[tuple[re.Pattern[str], str]]:
    """What finds the names of each library's API, or of the models that people run with it."""
    return [
        (re.compile(_OF_AN_API.format("|".join(map(_letters, names))), re.ASCII), one.name)
        for one in libraries
        if (names := getattr(one, of))
    ]


def _is_new(name: str, usual: Container[str]) -> bool:
    """Whether people do not use the name's words when they describe failures, as far as is known."""
    parts = {name.lower(), *_SEPARATORS.split(name.lower())}
    return bool(usual) and not any(stem(part) in usual for part in parts)


def _letters(api: str) -> str:
    return r"\w*".join(map(re.escape, api.split("*")))


def _is_name(match: re.Match[str], text: str, words: Words) -> bool:
    """Whether a word of English is a name where it stands: by what is around it, or by its capital letter
    within a sentence; in Chinese always."""
    before = text[max(0, match.start() - _PREVIEW) : match.start()]
    after = text[match.end() : match.end() + _PREVIEW]
    left, right = before.rstrip(" ")[-1:], after.lstrip(" ")[:1]
    capital = match[0] != match[0].lower() and left and left not in ".!?:;\n-*#|>[("
    return not after.startswith("()") and bool(
        _BEFORE.search(before)
        or _AFTER.match(after)
        or words.software.match(after)
        or capital
        or _HAN.search(left + right)
    )


def _squashed(name: str) -> str:
    return _SEPARATORS.sub("", name).lower()
