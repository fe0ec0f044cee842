"""Logs in, their failures out: what ``diagnose DIR`` does, without its options' parsing."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

from diagnose.casebase.store import load
from diagnose.errors import BAD_INPUT, FAULT, FOUND, NOTHING, printable
from diagnose.inputs import InputError
from diagnose.outputs import columns, is_terminal, write
from diagnose.rendering.labels import LABELS
from diagnose.scanning import findings, workers
from diagnose.scanning.formats import FORMATS
from diagnose.scanning.groups import Grouping, problems
from diagnose.scanning.log import again


def scan(
    paths: Sequence[str],
    form: str = "text",
    globs: Sequence[str] = (),
    jobs: int = 1,
    output: Path | None = None,
    server: str | None = None,
) -> int:
    """Prints the failures of logs, equal ones together.

    Args:
        paths: files and folders; ``-`` is standard input.
        form: one of `diagnose.scanning.formats.FORMATS`.
        globs: in folders, read only files with such names.
        jobs: at most so many processes.
        output: where the answer goes instead of standard output.
        server: the address of a service that the first of each kind of failure is reported to, redacted.

    Returns:
        The exit status. A log that cannot be read or fails among others is told, not an error.

    Raises:
        CasebaseError: the case base cannot be read.
        OutputError: the output cannot be written.
    """
    load()  # an unusable case base is told once, and not by each worker
    grouping = _scanned(paths, globs, jobs)
    page: str = import_module(FORMATS[form]).render(grouping, columns=columns(100))
    write(page, output)
    if server is not None:
        _report(grouping, server)
    return _status(grouping)


def _report(grouping: Grouping, server: str) -> None:
    """Reports the first of equal failures, from the log that it stands in; a pipe is not read twice."""
    from diagnose.memory.sending import SendingError, send

    for group in grouping.ordered():
        try:
            diagnosis = again(group.first)
            if diagnosis is not None:
                url = send(server, diagnosis).url
                print(LABELS[diagnosis.lang]["sent"].format(url=printable(url)), file=sys.stderr)
        except (InputError, SendingError) as error:
            print(f"diagnose: {printable(str(error))}", file=sys.stderr)
            if isinstance(error, SendingError):
                return


def _scanned(paths: Sequence[str], globs: Sequence[str], jobs: int) -> Grouping:
    logs = list(findings.logs(paths, globs))
    grouping = Grouping()
    piped = "-" in paths
    with _progress(logs, hidden=piped or not is_terminal(sys.stderr)) as advance:
        for scanned, size in workers.scan(logs, 1 if piped else min(jobs, len(logs))):
            grouping.add(scanned)
            advance(size)
    for problem in problems(grouping):
        print(f"diagnose: {printable(problem)}", file=sys.stderr)
    return grouping


@contextlib.contextmanager
def _progress(logs: Sequence[tuple[str, int]], hidden: bool) -> Iterator[Callable[[int], None]]:
    """What shows on a terminal how many bytes of the logs are done."""
    if hidden:
        yield lambda _: None
        return
    import click  # which takes as long to import as a log of 100 MB to read

    with click.progressbar(
        length=sum(size for _, size in logs) or 1, label=f"{len(logs)} logs", file=sys.stderr
    ) as bar:
        yield bar.update


def _status(grouping: Grouping) -> int:
    if grouping.logs == grouping.unread:
        return BAD_INPUT if grouping.unread else NOTHING
    if grouping.groups:
        return FOUND
    return FAULT if grouping.faults else 0
