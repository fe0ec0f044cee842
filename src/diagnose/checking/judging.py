"""The findings of one file: what the analysis suspects, by the rules, without what comments ignore."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping

from diagnose.bulkhead import collecting, missing
from diagnose.casebase.store import load
from diagnose.checking.accelerator import KIND, RULE, Portable, portable
from diagnose.checking.analysis import checked
from diagnose.checking.ignoring import Ignored, ignored, unused
from diagnose.checking.model import (
    CheckedFile,
    Finding,
    Happened,
    Options,
    Place,
    Repair,
    Unused,
)
from diagnose.checking.notebook import Cells, spliced
from diagnose.checking.reading import Read, UnreadableError, read
from diagnose.checking.repairs import repair, replacements, reread
from diagnose.checking.timing import TooLong, limited
from diagnose.errors import DiagnoseError
from diagnose.model import AcceleratorRule, CheckRule, Lang
from diagnose.placement import Checked, Source, Spot, Suspect

#: Seconds that one file may take.
LIMIT = 20.0
#: Lines that its repairs may read again; those that are left are made once the first are.
REREAD = 30_000


def judge(
    path: str,
    options: Options,
    texts: Mapping[str, str] | None = None,
    limit: float = LIMIT,
    *,
    defaulted: bool = False,
) -> CheckedFile:
    """Checks a file; one that cannot be read, or a fault of ours, is told and not raised.

    Args:
        path: the file.
        options: the rules that report.
        texts: files as they would be, by path, in place of those on disk.
        limit: seconds that it may take.
        defaulted: a file that is checked with it sets where tensors are made.

    Raises:
        DiagnoseError: the case base cannot be read.
    """
    try:
        with limited(limit), collecting() as lost:
            file = read(path, texts)
            file = file._replace(source=file.source._replace(defaulted=defaulted))
            judged = _judged(file, options, texts or {})
            faults = dict.fromkeys(fault(path, piece.fault) for piece in lost)
            return judged._replace(faults=tuple(faults))
    except UnreadableError as error:
        return CheckedFile(path, problem=str(error))
    except TooLong:
        return CheckedFile(path, problem=f"{path} is not checked: it takes more than {limit:g} s")
    except DiagnoseError:
        raise
    except Exception as error:
        return CheckedFile(path, faults=(fault(path, missing("checking", error).fault),))


def fault(path: str, what: str) -> str:
    """The sentence about what a fault of ours has cost."""
    return f"{path}: internal error: {what}"


def _judged(file: Read, options: Options, texts: Mapping[str, str]) -> CheckedFile:
    casebase = load(lang=options.lang)
    rules = {rule.id: rule for rule in casebase.checks()}
    torch = casebase.knowledge.torch
    path = file.source.path
    own = casebase.accelerator() if RULE in options.rules else None
    only = options.rules == {RULE}
    said, also = (Checked(), ()) if only else checked(file.source, torch, texts)
    comments: dict[str, Mapping[int, tuple[Ignored, ...]]] = {path: ignored(file.source)}
    silenced = set[tuple[int, str]]()
    findings, left = [], REREAD
    for suspect in said.suspects:
        rule, source = rules.get(suspect.cause), suspect.spot.source
        if rule is None or rule.id not in options.rules or not (suspect.sure or options.likely):
            continue
        if source.path not in comments:
            comments[source.path] = ignored(source)
        if lines := list(_covering(suspect.spot, rule.id, comments[source.path])):
            silenced.update((line, rule.id) for line in lines if source.path == path)
            continue
        made = repair(rule, suspect, options.lang, torch) if left > 0 else None
        left -= reread(suspect.spot)
        findings.append(_finding(suspect, rule, file, options.lang, made))
    if own is not None:
        for one in portable(file.source, own):
            lines = list(_covering(one.spot, RULE, comments[path]))
            silenced.update((line, RULE) for line in lines)
            findings += [] if lines else [_portable(one, own, file)]
    idle = unused(comments[path], silenced, options.rules, rules)
    return CheckedFile(
        path,
        tuple(dict.fromkeys(findings)),
        said.judged,
        said.unknown,
        tuple(_unused(file, *one, rules) for one in idle),
        said.problem,
        read=tuple(also),
    )


def _covering(spot: Spot, rule: str, comments: Mapping[int, tuple[Ignored, ...]]) -> Iterator[int]:
    """The lines of a node whose comments ignore a rule."""
    last = getattr(spot.node, "end_lineno", None) or spot.line
    for line in comments:
        if spot.line <= line <= last and any(one.covers(rule) for one in comments[line]):
            yield line


def _finding(
    suspect: Suspect, rule: CheckRule, file: Read, lang: Lang, made: Repair | None
) -> Finding:
    cells = file.cells
    own = cells if suspect.spot.source is file.source else None

    def at(spot: Spot) -> Place:
        return place(spot, cells if spot.source is file.source else None)

    return Finding(
        id=rule.id,
        sentence=rule.says.replace("{name}", f"`{suspect.name}`"),
        place=at(suspect.spot),
        device=str(suspect.device) if suspect.device else None,
        wanted=str(suspect.wanted) if suspect.wanted else None,
        steps=tuple(
            Happened(step.what.value, at(step.spot), str(step.device) if step.device else None)
            for step in suspect.steps
        ),
        meets=at(suspect.meets) if suspect.meets else None,
        sure=suspect.sure,
        because=(
            Happened(suspect.because.kind.value, at(suspect.because.spot))
            if suspect.because is not None
            else None
        ),
        repair=_in_cells(made, own),
    )


def _portable(found: Portable, rule: AcceleratorRule, file: Read) -> Finding:
    """The finding of what is for CUDA alone."""
    made = None
    if found.edit is not None:
        changes = replacements(file.source.lines, found.edit.text.split("\n"))
        made = Repair(KIND, "unsafe" if found.because else "safe", changes, found.because)
    says = (rule.left if found.left else rule.says).replace("{name}", f"`{found.name}`")
    at = place(found.spot, file.cells)
    return Finding(RULE, says, at, repair=_in_cells(made, file.cells))


def _in_cells(found: Repair | None, cells: Cells | None) -> Repair | None:
    """A repair of a notebook's program as one of its cells, where it is of lines of cells."""
    if found is None or cells is None:
        return found
    changes = [cells.within(change) for change in found.replacements]
    told = tuple(change for change in changes if change is not None)
    if len(told) < len(changes) or spliced(cells.document, told) is None:
        return None
    return found._replace(replacements=told)


def place(spot: Spot, cells: Cells | None = None) -> Place:
    """Where a node stands, in characters."""
    node, lines = spot.node, spot.source.lines
    line = spot.line
    end = getattr(node, "end_lineno", None) or line
    cell, first = cells.places[line - 1] if cells else (None, line)
    return Place(
        spot.file,
        first,
        _column(lines[line - 1], getattr(node, "col_offset", 0)),
        first + end - line,
        _column(lines[end - 1], getattr(node, "end_col_offset", None) or 0),
        lines[line - 1].rstrip("\r"),
        spot.function,
        cell,
    )


def _column(line: str, offset: int) -> int:
    """A column from 1 in characters, of one from 0 in bytes."""
    return len(line.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore")) + 1


def _unused(file: Read, line: int, comment: Ignored, rule: str, known: Collection[str]) -> Unused:
    source: Source = file.source
    cell, number = file.cells.places[line - 1] if file.cells else (None, line)
    code = source.lines[line - 1].rstrip("\r")
    place = Place(source.path, number, comment.column, number, len(code) + 1, code, None, cell)
    near = [] if rule in known else difflib.get_close_matches(rule, known, n=1)
    return Unused(place, rule, next(iter(near), ""))
