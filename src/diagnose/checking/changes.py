"""Which findings a change has to do with: those on lines that differ from a commit, as git has it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from diagnose.checking.model import Finding, Place, Report
from diagnose.errors import DiagnoseError

#: A repository may name programs that git is to run; what is checked is never run.
_GIT = ("git", "-c", "core.fsmonitor=false", "--literal-pathspecs")
_DIFF = ("diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


class ChangeError(DiagnoseError):
    """What changed cannot be told; the message is a sentence."""


def since(report: Report, base: str) -> Report:
    """The report with those findings only of which a line has changed: the one that is reported, or the one
    where the value meets another device. Of a file that git does not know all lines have, and of a notebook
    that has changed all cells.

    Args:
        report: what was found.
        base: a commit, as git takes it.

    Raises:
        ChangeError: there is no git, no such commit, or a file is in no repository.
    """
    lines = cache(lambda file: _lines(Path(file), base))
    kept = tuple(one for one in report.findings if _has_changed(one, lines))
    return report._replace(findings=kept)


def _has_changed(finding: Finding, lines: Callable[[str], Sequence[range] | None]) -> bool:
    return any(
        _is_among(place, lines(place.file)) for place in (finding.place, finding.meets) if place
    )


def _is_among(place: Place, lines: Sequence[range] | None) -> bool:
    if lines is None or place.cell is not None:
        return lines is None or bool(lines)
    return any(one.start <= place.end_line and place.line < one.stop for one in lines)


def _lines(file: Path, base: str) -> list[range] | None:
    """The lines of a file that are new or differ; None for all of them."""
    commit = _git(file, "rev-parse", "--verify", "--end-of-options", f"{base}^{{commit}}").strip()
    if _git(file, "ls-files", "--others", "--", file.name):
        return None
    hunks = _HUNK.findall(_git(file, *_DIFF, commit, "--", file.name))
    return [range(int(first), int(first) + int(count or 1)) for first, count in hunks]


def _git(file: Path, *words: str) -> str:
    """What git prints in a file's folder."""
    try:
        ran = subprocess.run([*_GIT, *words], cwd=file.parent, capture_output=True, check=True)
    except OSError as error:
        raise ChangeError(f"git cannot be run: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise ChangeError(f"git cannot tell what changed of {file}: {said}") from error
    return ran.stdout.decode("utf-8", "surrogateescape")
