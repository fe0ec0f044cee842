"""What a repair says to people, in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.repair.model import Guard, Program, Proof, Ran, Repair, objection, said
from diagnose.repair.output import lines

_PROGRAM = Program(Path("/p"), Path("/p"), "train.py")


def test_what_speaks_against_a_patch_is_read_first() -> None:
    guards = (
        Guard("output", True, said("output")),
        Guard("gpus-0", None, said("not-there-either", where=said("where-0"))),
        objection("agreed", "agreed", file="train.py", line=2),
    )
    repair = Repair("repaired", Ran(1), proof=Proof("same-numbers", guards, ("f (train.py:3)",)))
    repair = repair._replace(applied=())
    rows = list(lines(repair, _PROGRAM._replace(script="book.ipynb"), 2))
    at = [next(i for i, row in enumerate(rows) if guard in row) for guard in
          ("points elsewhere", "matches the reference", "does not run", "f (train.py:3)")]  # fmt: skip
    assert at == sorted(at)
    assert rows[at[0]].startswith("Proof")


@pytest.mark.parametrize(
    ("status", "errors", "hinted"),
    [
        (2, "usage: train.py x\ntrain.py: error: the following arguments are required: x", True),
        (2, "Error: Missing argument 'DATA'.", True),
        (1, "the key is required", False),
        (2, "ls: cannot access 'x'", False),
    ],
)
def test_a_script_that_needs_arguments_is_told_where_they_go(
    status: int, errors: str, hinted: bool
) -> None:
    rows = list(lines(Repair("not-reproducible", Ran(status, errors=errors)), _PROGRAM, 2))
    assert any("diagnose fix train.py --its --arguments" in row for row in rows) is hinted
