"""Reads all of kb/ strictly: models out, and every mistake of every file at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from diagnose.bulkhead import debug, place
from diagnose.compiling import crosschecks
from diagnose.compiling.kberror import KbError
from diagnose.compiling.kbfile import Files, program_of, text_of, toml_of
from diagnose.compiling.models import KINDS, Kind
from diagnose.compiling.models.strict import Known
from diagnose.compiling.told import mistake, mistakes
from diagnose.parsing.families import OTHER

_Model = TypeVar("_Model", bound=BaseModel)


class Kb(NamedTuple):
    """What kb/ holds: a model for each TOML file and the text of each program, by file name.

    Where ``problems`` are, what they are about is missing from the rest.
    """

    models: Mapping[str, BaseModel]
    programs: Mapping[str, str]
    problems: tuple[KbError, ...]

    def one(self, name: str, model: type[_Model]) -> _Model:
        """The model of a file that is as it should be."""
        found = self.models[name]
        assert isinstance(found, model)
        return found

    def all(self, glob: str, model: type[_Model]) -> dict[str, _Model]:
        """The models of all files of a kind, by name."""
        return {name: self.one(name, model) for name in self.models if fnmatchcase(name, glob)}


def read(files: Files) -> Kb:
    """Reads all files of a kb/.

    Never stops at a mistake: `Kb.problems` has all of them, by file and line.
    """
    if not any(name.startswith("causes/") for name in files):
        return Kb(
            {},
            {},
            (
                KbError(
                    "causes",
                    "-",
                    "is missing: this folder is not a case base. Run this in a checkout",
                ),
            ),
        )
    problems: list[KbError] = []
    documents: dict[str, dict[str, Any]] = {}
    kinds = dict(_kinds(files))
    for name in kinds:
        try:
            documents[name] = toml_of(files, name)
        except KbError as error:
            problems.append(error)
    known = known_ids(files)
    models = {}
    for name, document in documents.items():
        try:
            models[name] = kinds[name].model.model_validate(document, context=known)
        except ValidationError as error:
            text = text_of(files, name)
            problems += mistakes(name, text, document, kinds[name].model, error)
        except (
            Exception
        ) as error:  # a fault of ours at one file: the others are checked all the same
            debug(f"reading {name} failed", error)
            reason = f"cannot be read: internal error: {place(error)}"
            problems.append(KbError(name, "-", reason))
    for name, path, reason in crosschecks.all_of(documents):
        problems.append(mistake(name, text_of(files, name), documents[name], path, reason))
    problems += _of_no_cause(files)
    programs = {}
    for name, functions in _programs(files):
        programs[name], wrong = program_of(files, name, functions)
        problems += wrong
    problems += _strangers(files, {*kinds, *programs})
    return Kb(models, programs, tuple(sorted(problems, key=lambda problem: problem.order)))


def _kinds(files: Files) -> Iterator[tuple[str, Kind]]:
    """The TOML files there are or must be, with their kinds."""
    for kind in KINDS:
        found = [name for name in files if fnmatchcase(name, kind.glob)]
        for name in found if found or "*" in kind.glob else [kind.glob]:
            yield name, kind


def _of_no_cause(files: Files) -> Iterator[KbError]:
    """Descriptions of a cause that there is none of."""
    for name in files:
        cause = PurePosixPath(name).stem
        known = cause == OTHER or f"causes/{cause}.toml" in files
        if fnmatchcase(name, "descriptions/*.toml") and not known:
            yield KbError(name, "-", f"is called by no cause, and not {OTHER}.toml")


def _programs(files: Files) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The programs there are or must be, with the functions that each must define."""
    for name in files:
        path = PurePosixPath(name)
        if fnmatchcase(name, "causes/*.toml"):
            yield str(path.with_suffix(".py")), ("mistake", "fixed")
        elif fnmatchcase(name, "cases/*/case.toml"):
            yield str(path.with_name("reproduce.py")), ()
        elif fnmatchcase(name, "verification/*.py"):
            yield name, ()


def known_ids(files: Files) -> Known:
    """The ids that the files of a kb/ define, by kind; a kind whose file cannot be read is not there."""
    names = map(PurePosixPath, files)
    checks = {path.stem.replace("_", "-") for path in map(PurePosixPath, files)
              if path.match("verification/*/*.py")}  # fmt: skip
    known: dict[str, Mapping[str, str] | set[str]] = {
        "cause": {path.stem for path in names if path.match("causes/*.toml")},
        "check": checks,
    }
    for kind, name in (("fact", "facts.toml"), ("fix", "fixes.toml"), ("family", "families.toml")):
        with suppress(KbError):
            table = toml_of(files, name)
            known[kind] = crosschecks.families(table) | {OTHER} if kind == "family" else set(table)
    with suppress(KbError):
        known["library"] = crosschecks.names(toml_of(files, "libraries.toml"), "library", "name")
    with suppress(KbError):
        known["topic"] = crosschecks.topics(toml_of(files, "messages.toml"))
    with suppress(KbError):
        known["words"] = crosschecks.word_lists(
            toml_of(files, "words.toml"),
            crosschecks.with_aten(toml_of(files, "torch.toml"), toml_of(files, "aten.toml")),
        )
    return known


def _strangers(files: Files, known: set[str]) -> Iterator[KbError]:
    """Files that nothing reads: a name with a slip of the pen."""
    for name, content in files.items():
        if name in known or name.endswith(".txt"):
            continue
        if isinstance(content, KbError):
            yield content
        elif name.endswith(".toml"):
            allowed = ", ".join(kind.glob for kind in KINDS if not kind.glob.startswith("*"))
            yield KbError(name, "-", f"is no file that is known here; allowed: {allowed}")
        elif fnmatchcase(name, "causes/*.py"):
            yield KbError(name, "-", "is the example of no cause: there is no .toml of its name")
