"""Runs a verification program beside a recorder: ``python -m diagnose.hooks.verification PROGRAM ARGS``.

Where the user's script fails in it, the answer follows the traceback, with the lines that made and moved
the tensors that met; where it does not, the audit of `diagnose fix` is told in notes.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from diagnose import tracing
from diagnose.hooks.answers import explained
from diagnose.simulation import simulated_gpus
from diagnose.simulation.runner import GPUS_VARIABLE
from diagnose.verification.program import loaded


def main() -> int:
    """Returns the exit status of the program (`kb/verification/harness.py`)."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--gpus", type=int, help="simulated ones; without it, those of this machine"
    )
    parser.add_argument("--wording", choices=["old", "new"], default="new")
    parser.add_argument("program")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    gpus: Any = nullcontext()
    if options.gpus is not None:
        os.environ[GPUS_VARIABLE] = str(options.gpus)
        gpus = simulated_gpus(options.gpus, wording=options.wording)
    with gpus:
        # Without torch it ends here, and says so.
        program: Any = loaded(Path(options.program).read_text("utf-8"), options.program)
        program.where = _explaining(program.where)
        from diagnose.rendering.audit import lines
        from diagnose.tracing.auditing import Audit

        with tracing.trace() as recorder, Audit(recorder) as audit:
            status: int = program.main(options.args)
        for line in lines(audit.findings()):
            print(f"note: {line}", file=sys.stderr)
    return status


def _explaining(where: Callable[..., str]) -> Callable[..., str]:
    """Says where it failed, once the answer is printed."""

    def told(error: BaseException, *args: Any) -> str:
        explained(error)
        return where(error, *args)

    return told


if __name__ == "__main__":
    sys.exit(main())
