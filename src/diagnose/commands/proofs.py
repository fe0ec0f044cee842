"""What ``diagnose kb check --run`` prints: each incident that does not hold, and a table by cause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from diagnose.authoring.proof import Proof


@dataclass(frozen=True, slots=True)
class _Column:
    """A share of the incidents of a cause: those that pass, of those that were run and can."""

    title: str
    passes: Callable[[Proof], bool]
    applies: Callable[[Proof], bool] = lambda proof: True

    def cell(self, ran: Sequence[Proof]) -> str:
        able = [proof for proof in ran if self.applies(proof)]
        return f"{sum(map(self.passes, able))}/{len(able)}" if able else "-"


def _fails(proof: Proof) -> bool:
    """The failing variant ends as documented."""
    return proof.failing == 1 and (proof.silent or proof.family == proof.expected_family)


def _fixed(proof: Proof) -> bool:
    return proof.fixed == 0


def _told_apart(proof: Proof) -> bool:
    """The snippet fails on the failing variant and passes on the fixed one."""
    return proof.verify_failing == 1 and proof.verify_fixed == 0


def named(proof: Proof) -> bool:
    """What the cause asserts shows the fault; else the snippet quotes the error."""
    return re.match(r"FAIL: (?!\w+\()", proof.verdict) is not None


def _ranked(proof: Proof) -> bool:
    """There is an error to rank causes for, and it is one of devices."""
    return not proof.silent and proof.expected_family == "device-placement"


_COLUMNS = (
    _Column("fails", _fails),
    _Column("fixed runs", _fixed),
    _Column("told apart", _told_apart),
    _Column("named", named),
    _Column("known again", lambda proof: proof.recognised == proof.cause, _ranked),
    _Column("cause first", lambda proof: proof.rank == 1, _ranked),
    _Column("in first 3", lambda proof: proof.rank is not None and proof.rank <= 3, _ranked),
    _Column("by hand", lambda proof: proof.by_hand),
)
_LEGEND = """\
fails        the failing variant ends in the documented kind of error
fixed runs   the documented fix ends well
told apart   the snippet of the cause fails on the one and passes on the other
named        what the snippet asserts shows the fault, beyond the error; a measure, no failure
known again  the printed traceback, when it comes back, is diagnosed as the documented cause
cause first  in the answer to the printed traceback, the incident itself left out; a measure, no failure
by hand      the program raises the error's text itself instead of leading to it: the fewer, the better"""


def told(proof: Proof) -> Iterator[str]:
    """A line for each thing of an incident that does not hold, or why it was not run."""
    if proof.skipped:
        yield f"{proof.incident}: not run, {proof.skipped}"
    yield from (f"{proof.incident}: {problem}" for problem in proof.problems)


def table(proofs: Iterable[Proof]) -> str:
    """By cause, and over all: how many incidents there are and how many do what."""
    proofs = list(proofs)
    rows = [("cause", "incidents", "run", *(column.title for column in _COLUMNS))]
    for cause in sorted({proof.cause for proof in proofs}):
        rows.append(_row(cause, [proof for proof in proofs if proof.cause == cause]))
    rows.append(_row("all", proofs))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
    rule = "-" * len(lines[0])
    return "\n".join([lines[0], rule, *lines[1:-1], rule, lines[-1], "", _LEGEND, *_share(proofs)])


def _share(proofs: Sequence[Proof]) -> Iterator[str]:
    """How many of all programs raise by hand."""
    if count := sum(proof.by_hand for proof in proofs):
        yield f"\n{count} of {len(proofs)} programs ({count / len(proofs):.1%}) raise by hand"


def _row(name: str, proofs: Sequence[Proof]) -> tuple[str, ...]:
    ran = [proof for proof in proofs if not proof.skipped]
    return name, str(len(proofs)), str(len(ran)), *(column.cell(ran) for column in _COLUMNS)
