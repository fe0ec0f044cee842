"""Runs a verification program beside a recorder: ``python -m diagnose.hooks.verifying PROGRAM ARGS``.

Where the user's script fails in it, the answer follows the traceback, with the lines that made and moved
the tensors that met.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

from diagnose import tracing
from diagnose.hooks.answering import explained
from diagnose.simulation import simulated_gpus
from diagnose.simulation.runner import GPUS_VARIABLE


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
        program: Any = _loaded(options.program)  # without torch it ends here, and says so
        program.where = _explaining(program.where)
        with tracing.trace():
            status: int = program.main(options.args)
    return status


def _loaded(path: str) -> ModuleType:
    spec = spec_from_file_location("verify", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = sys.modules["verify"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _explaining(where: Callable[..., str]) -> Callable[..., str]:
    """Says where it failed, once the answer is printed."""

    def told(error: BaseException, *args: Any) -> str:
        explained(error)
        return where(error, *args)

    return told


if __name__ == "__main__":
    sys.exit(main())
