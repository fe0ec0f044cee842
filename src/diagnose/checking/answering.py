"""Paths in, findings out: what ``diagnose check PATH...`` does, without its options' parsing."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from diagnose.casebase.store import load
from diagnose.checking.accelerator import RULE
from diagnose.checking.changes import since
from diagnose.checking.checking import Mended, check, mend, write
from diagnose.checking.files import python_files
from diagnose.checking.fingerprints import relative
from diagnose.checking.formats import FORMATS
from diagnose.checking.formats.escaping import shown
from diagnose.checking.model import Options, Report
from diagnose.checking.reading import LARGEST
from diagnose.errors import BAD_INPUT, FAULT, FOUND, DiagnoseError, printable
from diagnose.model import Lang
from diagnose.outputs import write as put


class UnknownRuleError(DiagnoseError):
    """An id that no rule has; the message is a sentence."""


class UnwritableInputError(DiagnoseError):
    """Standard input was to be fixed in its place; the message is a sentence."""


class Wanted(NamedTuple):
    """What is asked for: which rules, whether in preview, what is mended, and in which form it is told.

    With ``diff`` nothing is written; the form is then that of a patch. ``stdin_name`` is what standard
    input is called. Where ``since`` names a commit, findings on lines that it has are left out. With
    ``cache`` what an earlier check of folders has read is not read again, where nothing is fixed.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    preview: bool = False
    exclude: tuple[str, ...] = ()
    form: str = "text"
    fix: bool = False
    unsafe: bool = False
    diff: bool = False
    warn_unused: bool = False
    lang: Lang = "en"
    stdin_name: str = "stdin.py"
    since: str | None = None
    cache: bool = True


def answer(paths: Sequence[str], wanted: Wanted, jobs: int = 1, output: Path | None = None) -> int:
    """Prints the findings of files and folders, after mending the files where that is wanted.

    Args:
        paths: files and folders; ``-`` is standard input.
        wanted: the options.
        jobs: at most so many processes.
        output: where the answer goes instead of standard output.

    Returns:
        The exit status: 0 nothing found, 1 findings, 2 a file that was named cannot be read or one cannot
        be written, 4 a fault of ours. Of a file within a folder that cannot be read is told, no more.

    Raises:
        UnknownRuleError: a rule is wanted that is not there.
        UnwritableInputError: standard input was to be fixed in its place.
        ChangeError: git cannot tell what changed.
        CasebaseError: the case base cannot be read.
        OutputError: the output cannot be written.
    """
    options = Options(rules(wanted), wanted.preview, wanted.lang)
    texts: dict[str, str] = {}
    if "-" in paths:
        if (wanted.fix or wanted.unsafe) and not wanted.diff:
            raise UnwritableInputError("standard input has no file to fix: add --diff")
        texts[wanted.stdin_name] = sys.stdin.buffer.read(LARGEST + 1).decode("utf-8", "replace")
        paths = [wanted.stdin_name if path == "-" else path for path in paths]
    files = list(python_files(paths, wanted.exclude))
    report = check(files, options, jobs, texts, cached=_is_cached(paths, wanted))
    page = import_module(FORMATS[wanted.form]).render
    failed: tuple[str, ...] = ()
    if wanted.fix or wanted.unsafe or wanted.diff:
        mended_report, mended = mend(
            report, files, options, unsafe=wanted.unsafe, jobs=jobs, texts=texts
        )
        if wanted.diff:
            put("".join(map(_diff, mended)), output)
            _tell(report._replace(unused=()))
            return _status(report, paths, bool(report.findings))
        failed = write(mended)
        # Where a file could not be written, what is told is of the files as they are.
        report = check(files, options, jobs) if failed else mended_report._replace(written=True)
    if wanted.since is not None:
        report = since(report, wanted.since)
    if not wanted.warn_unused:
        report = report._replace(unused=())
    put(page(report, wanted.lang), output)
    _tell(report, failed)
    return BAD_INPUT if failed else _status(report, paths, bool(report.findings or report.unused))


def _is_cached(paths: Sequence[str], wanted: Wanted) -> bool:
    """Whether what is found is kept: of folders, which take long, where nothing is fixed."""
    fixes = wanted.fix or wanted.unsafe or wanted.diff
    return wanted.cache and not fixes and any(Path(one).is_dir() for one in paths)


def answer_map(path: Path, model: str, wanted: Wanted, output: Path | None = None) -> int:
    """Prints what is wrong with a device map for a model, as `answer` does for code (`check_map`)."""
    from diagnose.checking.device_map import check_map

    report = check_map(path, model, wanted.lang)
    put(import_module(FORMATS[wanted.form]).render(report, wanted.lang), output)
    return _status(report, (), bool(report.findings))


def rules(wanted: Wanted) -> frozenset[str]:
    """The ids that report: those selected, else all but `RULE`; those in preview if that or they are asked
    for.

    Raises:
        UnknownRuleError: one of them is not there.
        CasebaseError: the case base cannot be read.
    """
    rules = {rule.id: rule for rule in load(lang=wanted.lang).checks()}
    known = [*rules, RULE]
    for one in (*wanted.select, *wanted.ignore):
        if one not in known:
            near = difflib.get_close_matches(one, known)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise UnknownRuleError(f"{one} is not the id of a rule; {hint}")
    chosen = wanted.select or tuple(
        key for key, rule in rules.items() if wanted.preview or not rule.preview
    )
    return frozenset(chosen) - set(wanted.ignore)


def _tell(report: Report, failed: Sequence[str] = ()) -> None:
    for sentence in (*report.problems, *report.faults, *failed):
        print(f"diagnose: {printable(sentence)}", file=sys.stderr)


def _status(report: Report, paths: Sequence[str], found: bool) -> int:
    if report.faults:
        return FAULT
    named = tuple(path for path in paths if not Path(path).is_dir())
    if any(problem.startswith(named) for problem in report.problems if named):
        return BAD_INPUT
    return FOUND if found else 0


def _diff(file: Mended) -> str:
    """A unified diff that `git apply` takes in the working directory."""
    if file.after == file.before:
        return ""
    name = shown(relative(file.path)).lstrip("/")
    before, after = (text.splitlines(keepends=True) for text in (file.before, file.after))
    lines = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
