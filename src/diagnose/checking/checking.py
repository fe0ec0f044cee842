"""Many files checked, and mended where that is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from diagnose.bulkhead import missing
from diagnose.checking.analysis import sets_a_default
from diagnose.checking.cache import Cache
from diagnose.checking.fingerprints import fingerprinted
from diagnose.checking.judging import fault, judge
from diagnose.checking.model import CheckedFile, Finding, Options, Report
from diagnose.checking.notebook import spliced
from diagnose.checking.reading import UnreadableError, read
from diagnose.checking.repairs import applicable, applied, with_lines
from diagnose.errors import DiagnoseError, printable
from diagnose.outputs import replacing

#: Files are mended, and checked again, so many times at most.
_ROUNDS = 10
#: From so many files on each process has enough to do to be worth its start.
_FEW = 8


class NotMendedError(DiagnoseError):
    """A file that cannot be written; the message is a sentence."""


class Mended(NamedTuple):
    """A file as it was and as it would be, without carriage returns' or encodings' being touched."""

    path: str
    encoding: str
    before: str
    after: str


def check(
    paths: Sequence[str],
    options: Options,
    jobs: int = 1,
    texts: Mapping[str, str] | None = None,
    *,
    cached: bool = False,
) -> Report:
    """The findings of files, in the order of their places.

    Args:
        paths: the files.
        options: the rules that report.
        jobs: at most so many processes.
        texts: files as they would be, by path, in place of those on disk.
        cached: do not read again what an earlier check has read (`Cache`).
    """
    defaulted = len(paths) > 1 and any(map(sets_a_default, paths))
    work = partial(judge, options=options, texts=texts, defaulted=defaulted)
    cache = Cache(paths, options, defaulted=defaulted) if cached and not texts else None
    found = {path: cache.of(path) if cache is not None else None for path in paths}
    left = [path for path in paths if found[path] is None]
    if jobs < 2 or len(left) < _FEW:
        found |= zip(left, map(work, left), strict=True)
    else:
        from diagnose.pool import each  # not for a few: its imports take as long as checking them

        found |= {one.path: one for _, one in each(work, left, jobs, _died)}
    files = [one for one in found.values() if one is not None]
    if cache is not None and left:
        cache.keep(files)
    return _gathered(files)


def _died(path: str, reason: str) -> CheckedFile:
    return CheckedFile(path, faults=(fault(path, f"its process died, {reason}"),))


def _gathered(files: Iterable[CheckedFile]) -> Report:
    every = sorted(files, key=lambda file: file.path)
    # A file that several others import is told of once.
    findings = {(one.id, one.place): one for file in every for one in file.findings}
    return Report(
        files=len(every),
        findings=tuple(fingerprinted(findings.values())),
        judged=sum(file.judged for file in every),
        unknown=sum(file.unknown for file in every),
        unused=tuple(one for file in every for one in file.unused),
        problems=tuple(file.problem for file in every if file.problem),
        faults=tuple(one for file in every for one in file.faults),
    )


def mend(
    report: Report,
    paths: Sequence[str],
    options: Options,
    *,
    unsafe: bool,
    jobs: int = 1,
    texts: Mapping[str, str] | None = None,
) -> tuple[Report, tuple[Mended, ...]]:
    """What is left when repairs are made, and the files with them; nothing is written.

    Args:
        report: what checking ``paths`` found.
        paths: the files.
        options: the rules that report.
        unsafe: make those too that are called unsafe.
        jobs: at most so many processes.
        texts: as for `check`.
    """
    given = dict(texts or {})
    files: dict[str, Mended] = {}
    made = 0
    for _ in range(_ROUNDS):
        count = 0
        for path, findings in _by_file(report.findings):
            if not (repairs := applicable(findings, unsafe)):
                continue
            file = files.get(path) or _opened(path, given)
            notebook = path.endswith(".ipynb")
            text, some = applied(file.after, repairs, spliced if notebook else with_lines)
            files[path] = file._replace(after=text)
            count += some
        if not count:
            break
        made += count
        edited = {path: file.after for path, file in files.items()}
        report = check(paths, options, jobs, given | edited)
    return report._replace(fixed=made), tuple(files.values())


def _by_file(findings: Iterable[Finding]) -> Iterable[tuple[str, list[Finding]]]:
    found: dict[str, list[Finding]] = {}
    for one in findings:
        found.setdefault(one.place.file, []).append(one)
    return found.items()


def _opened(path: str, texts: Mapping[str, str]) -> Mended:
    file = read(path, texts)
    return Mended(path, file.encoding, file.text, file.text)


def write(files: Iterable[Mended]) -> tuple[str, ...]:
    """Writes mended files, each whole or not at all; returns a sentence for each that is left as it was."""
    problems = []
    for file in files:
        if file.after == file.before:
            continue
        try:
            _write(file)
        except (NotMendedError, UnreadableError) as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{file.path} cannot be written: {error.strerror or error}")
        except UnicodeEncodeError:
            problems.append(f"{file.path} cannot be written: its encoding lacks a character")
        except Exception as error:
            problems.append(fault(file.path, missing("writing", error).fault))
    return tuple(map(printable, problems))


def _write(file: Mended) -> None:
    path = Path(file.path)
    if not path.stat().st_mode & 0o222:
        raise NotMendedError(f"{file.path} cannot be written: it is read-only")
    if read(file.path).text != file.before:
        raise NotMendedError(f"{file.path} is left as it is: it was changed meanwhile")
    with replacing(path) as unfinished:
        unfinished.write_bytes(file.after.encode(file.encoding))
