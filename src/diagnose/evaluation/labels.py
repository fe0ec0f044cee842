"""Labelled reports: ``NAME.txt``, what a person would paste, beside ``NAME.json``, the truth about it.

The format is described in docs/evaluating.md. A key that is missing or null is not scored, and keys
that are not listed there are left alone, so that labels may carry notes.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from diagnose.casebase.store import Casebase
from diagnose.errors import DiagnoseError
from diagnose.inputs import InputError, opened
from diagnose.model import DEVICE_FAMILY

#: The cause of a report whose failure is not about devices; also what an answer without causes says.
NOT_DEVICE = "not-device"
CERTAINTIES = ("confirmed", "proposed", "inferred")
#: The key by which a saved run is told from a label.
RUN_MARK = "evaluation"


class LabelError(DiagnoseError):
    """Folders that cannot be evaluated; ``problems`` are sentences, one a mistake."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Place:
    """A line of code in a traceback, as far as the label knows it."""

    file: str | None = None
    line: int | None = None
    function: str | None = None

    def __str__(self) -> str:
        return f"{self.file or '?'}:{self.line or '?'} {self.function or ''}".rstrip()


@dataclass(frozen=True, slots=True)
class Label:
    """The truth about one report; what is None or empty is not scored.

    ``accepted`` holds the cause and the other causes that are defensible, the cause first.
    """

    accepted: tuple[str, ...] = ()
    certainty: str | None = None
    fixes: tuple[str, ...] = ()
    family: str | None = None
    exception: str | None = None
    devices: tuple[str, ...] = ()
    op: str | None = None
    argument: str | None = None
    innermost: Place | None = None
    frames: tuple[Place, ...] = ()
    libraries: tuple[str, ...] = ()
    culprit: Place | None = None

    @property
    def cause(self) -> str | None:
        """The cause, `NOT_DEVICE`, or None where the label names none."""
        return self.accepted[0] if self.accepted else None

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change when anything that is scored does."""
        known = {key: value for key, value in asdict(self).items() if value}
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A report and its label. ``name`` is the folder's name and the file's, without its ending."""

    name: str
    log: Path
    label: Label


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids that a label may use."""

    causes: Collection[str]
    fixes: Collection[str]
    families: Collection[str]


def known_ids(casebase: Casebase) -> Ids:
    """The ids of a case base."""
    families = {rule.family for rule in casebase.knowledge.families}
    return Ids(
        {*casebase.causes, NOT_DEVICE}, set(casebase.fixes), {*families, DEVICE_FAMILY, "other"}
    )


def collect(folders: Sequence[Path], ids: Ids) -> list[Labelled]:
    """The labelled reports of some folders, in their order; subfolders are not read.

    Raises:
        LabelError: with every mistake of all folders: a folder that is missing or holds no report, a
            log without a label or the reverse, a log or label that cannot be read, an unknown id.
    """
    problems: list[str] = []
    found: list[Labelled] = []
    resolved = list(dict.fromkeys(folder.resolve() for folder in folders))
    names = [folder.name for folder in resolved]
    for folder, name in zip(resolved, names, strict=True):
        prefix = name if names.count(name) == 1 else folder.as_posix()
        before = len(found) + len(problems)
        try:
            for log, label in _pairs(folder, problems):
                try:
                    found.append(Labelled(f"{prefix}/{log.stem}", log, read(label, ids)))
                except LabelError as error:
                    problems += error.problems
        except OSError as error:
            problems.append(f"{folder} cannot be read: {error.strerror or error}")
        if len(found) + len(problems) == before:
            problems.append(
                f"{folder} holds no labelled report: NAME.txt with its label NAME.json beside it"
            )
    if problems:
        raise LabelError(problems)
    return found


def _pairs(folder: Path, problems: list[str]) -> Iterator[tuple[Path, Path]]:
    """The logs of a folder with their labels; what has no partner, or is no text, is a problem."""
    files = {path.name: path for path in sorted(folder.iterdir()) if path.is_file()}
    for path in files.values():
        if path.suffix == ".json" and path.with_suffix(".txt").name not in files:
            if not _is_run(path):
                problems.append(f"{path} is a label without a log: {path.stem}.txt is missing")
        elif path.suffix == ".txt":
            label = files.get(path.with_suffix(".json").name)
            if label is None:
                problems.append(f"{path} has no label: {path.stem}.json is missing")
                continue
            try:
                with opened(str(path)):
                    yield path, label
            except InputError as error:
                problems.append(str(error))


def _is_run(path: Path) -> bool:
    """True for a saved run, which may lie among the labels."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and RUN_MARK in content


def read(path: Path, ids: Ids) -> Label:
    """One label.

    Raises:
        LabelError: the file is no JSON object, a value has a wrong type, an id is unknown, or nothing in it
            can be scored.
    """
    try:
        content = json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise LabelError([f"{path} cannot be read: {error.strerror or error}"]) from error
    except (ValueError, RecursionError) as error:
        raise LabelError([f"{path} is no JSON: {error}"]) from error
    if not isinstance(content, dict):
        raise LabelError([f"{path} holds no JSON object"])
    reader = _Reader(path, content)
    label = reader.label(ids)
    if not reader.problems and label == Label():
        reader.problems.append(f"{path} labels nothing: it has no cause, family or other known key")
    if reader.problems:
        raise LabelError(reader.problems)
    return label


class _Reader:
    """Reads the keys of one label and notes what is wrong with them."""

    def __init__(self, path: Path, content: dict[str, Any]) -> None:
        self.path = path
        self.content = content
        self.problems: list[str] = []

    def label(self, ids: Ids) -> Label:
        cause = self._text("cause")
        also = self._texts("also_ok")
        if also and cause is None:
            self._wrong("also_ok", "needs a cause beside it")
        fixes = self._texts("fix_kinds")
        family = self._text("family")
        certainty = self._text("certainty")
        self._known("cause", [cause] if cause else [], ids.causes)
        self._known("also_ok", also, ids.causes)
        self._known("fix_kinds", fixes, ids.fixes)
        self._known("family", [family] if family else [], ids.families)
        self._known("certainty", [certainty] if certainty else [], CERTAINTIES)
        return Label(
            accepted=tuple(dict.fromkeys([cause, *also])) if cause else (),
            certainty=certainty,
            fixes=fixes,
            family=family,
            exception=self._text("exception"),
            devices=self._texts("devices"),
            op=self._text("op"),
            argument=self._text("argument"),
            innermost=self._innermost(),
            frames=self._frames(),
            libraries=self._texts("libraries"),
            culprit=self._culprit(),
        )

    def _wrong(self, key: str, reason: str) -> None:
        self.problems.append(f"{self.path}: {key} {reason}")

    def _text(self, key: str) -> str | None:
        value = self.content.get(key)
        if value is None or isinstance(value, str):
            return value or None
        self._wrong(key, "must be a text")
        return None

    def _texts(self, key: str) -> tuple[str, ...]:
        value = self.content.get(key) or []
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        self._wrong(key, "must be a list of texts")
        return ()

    def _known(self, key: str, values: Sequence[str], known: Collection[str]) -> None:
        for value in values:
            if value not in known:
                near = difflib.get_close_matches(value, known, 1)
                hint = f"; perhaps {near[0]}" if near else ""
                self._wrong(key, f"has the unknown id {value!r}{hint}")

    def _innermost(self) -> Place | None:
        value = self.content.get("innermost")
        place = self._place("innermost", value)
        return place if place and place.file else None

    def _culprit(self) -> Place | None:
        value = self.content.get("culprit")
        place = self._place("culprit", value)
        if value is None or place is None or value.get("in_trace") is False:
            return None
        if place.file is None or place.line is None:
            self._wrong("culprit", "needs a file and a line")
            return None
        return Place(place.file, place.line)

    def _frames(self) -> tuple[Place, ...]:
        value = self.content.get("frames") or []
        if isinstance(value, list) and all(
            isinstance(item, list) and len(item) == 3 for item in value
        ):
            keyed = [dict(zip(("file", "line", "function"), item, strict=True)) for item in value]
            places = [self._place("frames", item) for item in keyed]
            return tuple(place for place in places if place is not None)
        self._wrong("frames", "must be a list of [file, line, function]")
        return ()

    def _place(self, key: str, value: Any) -> Place | None:
        if value is None:
            return None
        if isinstance(value, dict):
            file, line, function = (value.get(name) for name in ("file", "line", "function"))
            texts = all(part is None or isinstance(part, str) for part in (file, function))
            if texts and (line is None or type(line) is int):
                return Place(file, line, function)
        self._wrong(key, "must give a file (text), a line (number) and a function (text), or null")
        return None
