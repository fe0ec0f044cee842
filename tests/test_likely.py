"""Which of several operands is likely the misplaced one."""

from __future__ import annotations

import pytest

from diagnose.casebase.store import Casebase
from diagnose.parsing import parse
from diagnose.scene import Scene, operands

ELEMENTWISE = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices,"
    " cuda:0 and cpu!"
)


def shares(casebase: Casebase, code: str, **causes: float) -> dict[str, float]:
    log = f"""Traceback (most recent call last):
  File "/home/me/kelp/grow.py", line 8, in <module>
    out = bed(batch)
          ^^^^^^^^^^
  File "/home/me/kelp/bed.py", line 31, in forward
    {code}
{ELEMENTWISE}
"""
    report = parse(log.encode(), knowledge=casebase.knowledge)
    named = {cause.replace("_", "-"): share for cause, share in causes.items()}
    return operands.shares(Scene(report, casebase.knowledge), named)


@pytest.mark.parametrize(
    ("cause", "first"),
    [("unregistered_tensor", "self.tide"), ("input_not_moved", "x")],
)
def test_the_cause_chooses_between_what_is_kept_and_what_was_passed(
    cause: str, first: str, casebase: Casebase
) -> None:
    code = "h = (x + self.tide)\n" + "         ~~^~~~~~~~~~~"
    found = shares(casebase, code, **{cause: 0.9, "library_version_bug": 0.1})
    assert next(iter(found)) == first
    assert found[first] > 0.6
    assert sum(found.values()) == pytest.approx(1.0)


def test_a_line_without_operands_has_no_shares(casebase: Casebase) -> None:
    assert shares(casebase, "pass", input_not_moved=1.0) == {}
